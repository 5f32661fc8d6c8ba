#include "translator/controller/paddle_job_controller.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"
#include "kube/plan/writes.h"
#include "translator/lifecycle/reconcile_paddle_job.h"

namespace gangway::paddle_controller {
namespace {

const api::Resource& kPaddle = api::paddle::kPaddleJobs;
const api::Resource& kKubeflow = api::paddle::kubeflow::kPaddleJobs;

std::uint64_t VersionOf(const api::ObjectMeta& metadata) {
  std::uint64_t version = 0;
  return absl::SimpleAtoi(metadata.resource_version, &version) ? version : 0;
}

const char* ReasonOf(const kube::Write& write) { return write.verb == kube::Verb::kDelete ? "FailedDelete" : "FailedUpdate"; }

}  // namespace

PaddleJobController::PaddleJobController(Loop& loop, kube::Client& client, kube::Recorder& recorder, PaddleCaches& caches,
                                         convert::TranslateOptions translate, kube::DriverOptions paddle, kube::DriverOptions kubeflow)
    : loop_(loop), caches_(caches), recorder_(recorder), translate_(std::move(translate)),
      paddle_(loop, client, recorder, std::move(paddle), [this](const JobKey& key, absl::Time now) { return Decide(kPaddle, key, now); }),
      kubeflow_(loop, client, recorder, std::move(kubeflow), [this](const JobKey& key, absl::Time now) { return Decide(kKubeflow, key, now); }) {
  for (const api::Resource* resource : {&kPaddle, &kKubeflow}) {
    DriverOf(*resource).SetOnReply([this, resource](const kube::Write& write, const kube::Response& response) { OnReply(*resource, write, response); });
    DriverOf(*resource).SetOnPermanentError(
        [this, resource](const JobKey& key, const std::string& uid, const kube::Write& write, const absl::Status& status) {
          const api::ObjectMeta* const paddle_job = MetadataOf(*resource, key);
          if (paddle_job != nullptr && paddle_job->uid == uid) OnRefused(*resource, *paddle_job, write, status);
        });
  }
}

kube::Driver& PaddleJobController::DriverOf(const api::Resource& resource) { return &resource == &kPaddle ? paddle_ : kubeflow_; }

void PaddleJobController::Enqueue(const JobKey& key) {
  if (key.name.empty()) return;
  if (caches_.paddle_jobs.Get(key) != nullptr) paddle_.Enqueue(key);
  if (caches_.kubeflow_jobs.Get(key) != nullptr) kubeflow_.Enqueue(key);
}

void PaddleJobController::EnqueueAll() {
  caches_.paddle_jobs.ForEach([this](const JobKey& key, const auto&) { paddle_.Enqueue(key); });
  caches_.kubeflow_jobs.ForEach([this](const JobKey& key, const auto&) { kubeflow_.Enqueue(key); });
}

void PaddleJobController::OnPaddleJob(const api::Resource& resource, const JobKey& key, const api::ObjectMeta* before, const api::ObjectMeta* after) {
  const auto known = memory_.find({&resource, key});
  const bool another = before != nullptr && after != nullptr && before->uid != after->uid;
  if (known != memory_.end()) {
    if (after == nullptr || another) {
      memory_.erase(known);
    } else if (before != nullptr && (before->generation != after->generation || before->annotations != after->annotations)) {
      known->second.refused.clear();
    }
  }
  DriverOf(resource).Enqueue(key);
  // Whoever of the other dialect has the name may have waited for this one to go.
  if (after == nullptr) Enqueue(key);
}

void PaddleJobController::OnJob(const JobKey& key, const PaddleIndex::JobPtr& job) {
  index_.PutJob(key, job);
  Enqueue(key);
}

void PaddleJobController::OnPod(const api::NamespacedName& key, const api::core::Pod* pod) { Enqueue(index_.PutPod(key, pod)); }

void PaddleJobController::OnPodGroup(const api::volcano::PodGroup& group) {
  Enqueue({group.metadata.ns, group.metadata.name});
  const api::OwnerReference* owner = group.metadata.Controller();
  if (owner != nullptr && owner->kind == api::kJobs.kind && owner->name != group.metadata.name) Enqueue({group.metadata.ns, owner->name});
}

void PaddleJobController::OnCommand(const api::NamespacedName& key, const PaddleIndex::CommandPtr& before, const PaddleIndex::CommandPtr& after) {
  Enqueue(index_.PutCommand(key, before, after));
}

void PaddleJobController::OnObject(const api::Resource& resource, const api::NamespacedName& key, const api::ObjectMeta* metadata) {
  for (const JobKey& job : index_.PutObject(resource, key, metadata)) Enqueue(job);
}

void PaddleJobController::OnGroupEvent(const api::NamespacedName& key, const api::core::Event* event) {
  if (const auto group = caches_.pod_groups.Get(index_.PutEvent(key, event)); group != nullptr) OnPodGroup(*group);
}

void PaddleJobController::OnJobWarning(const api::NamespacedName& key, const api::core::Event* event) { Enqueue(index_.PutEvent(key, event)); }

void PaddleJobController::OnQueue(const std::string& name, const api::volcano::Queue* queue) {
  if (index_.PutQueue(name, queue)) EnqueueAll();
}

void PaddleJobController::Sleep() {
  paddle_.Sleep();
  kubeflow_.Sleep();
}

void PaddleJobController::Wake() {
  paddle_.Wake();
  kubeflow_.Wake();
  EnqueueAll();
}

void PaddleJobController::FindGroups(const JobKey& key, paddle_lifecycle::PaddleJobView& view,
                                     std::shared_ptr<const api::volcano::PodGroup> (&held)[2]) const {
  held[0] = caches_.pod_groups.Get(key);
  view.same_named_group = held[0].get();
  if (view.volcano_job == nullptr) return;
  view.job_warning = index_.EventOf(view.volcano_job->metadata.uid);
  const std::string& uid = view.volcano_job->metadata.uid;
  held[1] = caches_.pod_groups.Get({key.ns, absl::StrCat(key.name, "-", uid)});
  view.pod_group = held[1].get();
  const api::OwnerReference* owner = held[0] == nullptr ? nullptr : held[0]->metadata.Controller();
  if (view.pod_group == nullptr && owner != nullptr && owner->uid == uid) view.pod_group = held[0].get();
  if (view.pod_group != nullptr) view.group_event = index_.EventOf(view.pod_group->metadata.uid).message;
}

kube::Plan PaddleJobController::Decide(const api::Resource& resource, const JobKey& key, absl::Time now) {
  const auto paddle = &resource == &kPaddle ? caches_.paddle_jobs.Get(key) : nullptr;
  const auto kubeflow = &resource == &kKubeflow ? caches_.kubeflow_jobs.Get(key) : nullptr;
  if (paddle == nullptr && kubeflow == nullptr) return {};
  const api::ObjectMeta& metadata = paddle != nullptr ? paddle->metadata : kubeflow->metadata;
  paddle_lifecycle::PaddleJobView view;
  view.job = paddle.get();
  view.kubeflow_job = kubeflow.get();
  index_.Fill(key, view);
  if (view.volcano_job == nullptr) {
    if (const auto when = caches_.namespace_queues.LookAgain(key.ns, metadata.creation_timestamp.at, now)) {
      kube::Plan later;
      later.look_again = *when;
      return later;
    }
  }
  std::shared_ptr<const api::volcano::PodGroup> held[2];
  FindGroups(key, view, held);
  view.namespace_queue = caches_.namespace_queues.Of(key.ns);
  if (const auto known = memory_.find({&resource, key}); known != memory_.end()) {
    view.refused = known->second.refused;
    view.status_written = known->second.status_written;
  }
  view.jobs_current = caches_.jobs.seen_up_to() >= VersionOf(metadata);
  view.options = translate_;
  view.options.sidecars = caches_.namespace_queues.InjectsSidecars(key.ns);
  kube::Plan plan = paddle_lifecycle::ReconcilePaddleJob(view, now);
  plan.uid = metadata.uid;
  return plan;
}

// Null: there is none. It stands in its cache.
const api::ObjectMeta* PaddleJobController::MetadataOf(const api::Resource& resource, const JobKey& key) const {
  if (&resource == &kPaddle) {
    const auto job = caches_.paddle_jobs.Get(key);
    return job == nullptr ? nullptr : &job->metadata;
  }
  const auto job = caches_.kubeflow_jobs.Get(key);
  return job == nullptr ? nullptr : &job->metadata;
}

void PaddleJobController::OnReply(const api::Resource& resource, const kube::Write& write, const kube::Response& response) {
  caches_.ObserveReply(write, response);
  if (!response.ok()) return;
  const DialectKey key{&resource, {write.ns, write.name}};
  if (write.resource == &resource && write.subresource == "status") {
    const api::ObjectMeta* const paddle_job = MetadataOf(resource, key.second);
    if (paddle_job != nullptr && paddle_job->uid == write.uid) memory_[key].status_written = loop_.Now();
  } else if (write.resource == &api::kJobs) {
    if (const auto known = memory_.find(key); known != memory_.end()) known->second.refused.clear();
  }
}

// What cannot be made is said by the status; of the rest nobody else would speak.
void PaddleJobController::OnRefused(const api::Resource& resource, const api::ObjectMeta& paddle_job, const kube::Write& write, const absl::Status& status) {
  const JobKey key{paddle_job.ns, paddle_job.name};
  const std::string why = absl::StrCat(View(write.resource->kind), " ", write.name, ": ", status.message());
  if (write.verb == kube::Verb::kCreate && write.resource != &api::kCommands) {
    std::string& refused = memory_[{&resource, key}].refused;
    if (std::exchange(refused, why) != why) DriverOf(resource).Enqueue(key);
    return;
  }
  recorder_.Record({kube::EventNote::Type::kWarning, write.verb == kube::Verb::kCreate ? "FailedCreate" : ReasonOf(write), why,
                    kube::ReferenceTo(resource, paddle_job)});
}

}  // namespace gangway::paddle_controller
