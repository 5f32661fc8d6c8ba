#include "translator/controller/paddle_job_controller.h"

#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/paddle_resources.h"
#include "base/strings.h"
#include "kube/plan/writes.h"
#include "translator/lifecycle/reconcile_paddle_job.h"

namespace gangway::paddle_controller {
namespace {

using api::paddle::PaddleJob;
using KubeflowJob = api::paddle::kubeflow::PaddleJob;

template <class T>
constexpr bool kIsKubeflow = std::is_same_v<T, KubeflowJob>;
template <class T>
using OtherDialect = std::conditional_t<kIsKubeflow<T>, PaddleJob, KubeflowJob>;

template <class T>
const api::Resource& ResourceOf() {
  return kIsKubeflow<T> ? api::paddle::kubeflow::kPaddleJobs : api::paddle::kPaddleJobs;
}

void Put(const PaddleJob* job, paddle_lifecycle::PaddleJobView& view) { view.job = job; }
void Put(const KubeflowJob* job, paddle_lifecycle::PaddleJobView& view) { view.kubeflow_job = job; }

const char* ReasonOf(const kube::Write& write) {
  return write.verb == kube::Verb::kDelete ? "FailedDelete" : "FailedUpdate";
}

}  // namespace

template <class T>
PaddleJobController<T>::PaddleJobController(kube::Informers& informers, kube::ComponentOptions options,
                                            convert::TranslateOptions translate)
    : Component(informers, std::move(options)),
      translate_(std::move(translate)),
      paddle_jobs_(Watch<T>(ResourceOf<T>(), {.optional = true},
                            [this](const auto& key, const auto& before, const auto& after) {
                              OnPaddleJob(key, before.get(), after.get());
                            })),
      around_(informers.Shared<PaddleSurroundings>()),
      driver_(Drive(kIsKubeflow<T> ? "kubeflowpaddlejob" : "paddlejob",
                    [this](const JobKey& key, absl::Time now) { return Decide(key, now); })) {
  // Whoever of the other dialect has the name may have waited for this one to go.
  using Other = OtherDialect<T>;
  Watch<Other>(
      ResourceOf<Other>(), {.optional = true},
      [this](const auto& key, const auto&, const auto& after) {
        if (after == nullptr) Enqueue(key);
      },
      kube::Undecodable::kIgnored);
  around_->Listen(token(), [this](const JobKey& key) { Enqueue(key); }, [this] { EnqueueAll(); });
  for (kube::AnyInformer* const each : around_->watched()) WaitFor(*each);
  driver_.SetOnPermanentError(
      [this](const JobKey& key, const std::string& uid, const kube::Write& write, const absl::Status& status) {
        const auto paddle_job = paddle_jobs_.Get(key);
        if (paddle_job != nullptr && paddle_job->metadata.uid == uid) OnRefused(paddle_job->metadata, write, status);
      });
}

template <class T>
void PaddleJobController<T>::Enqueue(const JobKey& key) {
  if (paddle_jobs_.Get(key) != nullptr) driver_.Enqueue(key);
}

template <class T>
void PaddleJobController<T>::EnqueueAll() {
  paddle_jobs_.ForEach([this](const JobKey& key, const auto&) { driver_.Enqueue(key); });
}

template <class T>
void PaddleJobController<T>::OnPaddleJob(const JobKey& key, const T* before, const T* after) {
  const auto known = memory_.find(key);
  const bool another = before != nullptr && after != nullptr && before->metadata.uid != after->metadata.uid;
  if (known != memory_.end()) {
    if (after == nullptr || another) {
      memory_.erase(known);
    } else if (before != nullptr && (before->metadata.generation != after->metadata.generation ||
                                     before->metadata.annotations != after->metadata.annotations)) {
      known->second.refused.clear();
    }
  }
  driver_.Enqueue(key);
}

template <class T>
void PaddleJobController<T>::FindGroups(const JobKey& key, paddle_lifecycle::PaddleJobView& view,
                                        HeldGroups& held) const {
  held[0] = around_->pod_groups().Get(key);
  view.same_named_group = held[0].get();
  if (view.volcano_job == nullptr) return;
  const std::string& uid = view.volcano_job->metadata.uid;
  view.job_warning = around_->index().EventOf(uid);
  held[1] = around_->pod_groups().Get({key.ns, absl::StrCat(key.name, "-", uid)});
  view.pod_group = held[1].get();
  const api::OwnerReference* owner = held[0] == nullptr ? nullptr : held[0]->metadata.Controller();
  if (view.pod_group == nullptr && owner != nullptr && owner->uid == uid) view.pod_group = held[0].get();
  if (view.pod_group != nullptr) view.group_event = around_->index().EventOf(view.pod_group->metadata.uid).message;
}

template <class T>
kube::Plan PaddleJobController<T>::Decide(const JobKey& key, absl::Time now) {
  const auto paddle_job = paddle_jobs_.Get(key);
  if (paddle_job == nullptr) return {};
  const api::ObjectMeta& metadata = paddle_job->metadata;
  const controller::NamespaceQueues& namespaces = around_->namespace_queues();
  paddle_lifecycle::PaddleJobView view;
  Put(paddle_job.get(), view);
  around_->index().Fill(key, view);
  if (view.volcano_job == nullptr) {
    if (const auto when = namespaces.LookAgain(key.ns, metadata.creation_timestamp.at, now)) {
      kube::Plan later;
      later.look_again = *when;
      return later;
    }
  }
  HeldGroups held;
  FindGroups(key, view, held);
  view.namespace_queue = namespaces.Of(key.ns);
  if (const auto known = memory_.find(key); known != memory_.end()) {
    view.refused = known->second.refused;
    view.status_written = known->second.status_written;
  }
  // Its Job's list may be the older one.
  view.jobs_current = around_->jobs().seen_up_to() >= metadata.Version();
  view.options = translate_;
  view.options.sidecars = namespaces.InjectsSidecars(key.ns);
  kube::Plan plan = paddle_lifecycle::ReconcilePaddleJob(view, now);
  plan.uid = metadata.uid;
  return plan;
}

template <class T>
void PaddleJobController<T>::OnReply(const kube::Write& write, const kube::Response& response) {
  Component::OnReply(write, response);
  if (!response.ok()) return;
  const JobKey key{write.ns, write.name};
  if (write.resource == &ResourceOf<T>() && write.subresource == "status") {
    const auto paddle_job = paddle_jobs_.Get(key);
    if (paddle_job != nullptr && paddle_job->metadata.uid == write.uid) memory_[key].status_written = loop().Now();
  } else if (write.resource == &api::kJobs) {
    if (const auto known = memory_.find(key); known != memory_.end()) known->second.refused.clear();
  }
}

// What cannot be made is said by the status; of the rest nobody else would speak.
template <class T>
void PaddleJobController<T>::OnRefused(const api::ObjectMeta& paddle_job, const kube::Write& write,
                                       const absl::Status& status) {
  const JobKey key{paddle_job.ns, paddle_job.name};
  const std::string why = absl::StrCat(View(write.resource->kind), " ", write.name, ": ", status.message());
  if (write.verb == kube::Verb::kCreate && write.resource != &api::kCommands) {
    std::string& refused = memory_[key].refused;
    if (std::exchange(refused, why) != why) driver_.Enqueue(key);
    return;
  }
  recorder().Record({kube::EventNote::Type::kWarning,
                     write.verb == kube::Verb::kCreate ? "FailedCreate" : ReasonOf(write), why,
                     kube::ReferenceTo(ResourceOf<T>(), paddle_job)});
}

template class PaddleJobController<PaddleJob>;
template class PaddleJobController<KubeflowJob>;

}  // namespace gangway::paddle_controller
