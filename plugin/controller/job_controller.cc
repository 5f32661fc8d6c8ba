#include "plugin/controller/job_controller.h"

#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/strings.h"
#include "kube/plan/writes.h"
#include "plugin/controller/late_commands.h"
#include "plugin/lifecycle/pod.h"
#include "plugin/lifecycle/reconcile_job.h"
#include "plugin/lifecycle/words.h"

namespace gangway::controller {
namespace {

std::uint64_t VersionOf(const api::ObjectMeta& metadata) {
  std::uint64_t version = 0;
  return absl::SimpleAtoi(metadata.resource_version, &version) ? version : 0;
}

const char* ReasonOf(const kube::Write& write) {
  switch (write.verb) {
    case kube::Verb::kCreate: return "FailedCreate";
    case kube::Verb::kDelete: return "FailedDelete";
    case kube::Verb::kMergePatch:
    case kube::Verb::kStrategicMergePatch:
    case kube::Verb::kPut: return "FailedUpdate";
  }
  return "FailedUpdate";
}

kube::Plan Later(absl::Time when) {
  kube::Plan plan;
  plan.look_again = when;
  return plan;
}

}  // namespace

JobController::JobController(Loop& loop, kube::Client& client, kube::Recorder& recorder, Caches& caches, SshKeys& ssh_keys,
                             kube::DriverOptions options)
    : loop_(loop), caches_(caches), recorder_(recorder),
      driver_(loop, client, recorder, std::move(options), [this](const JobKey& key, absl::Time now) { return Decide(key, now); }),
      ssh_secrets_(loop, client, ssh_keys, [this](const JobKey& key) { driver_.Enqueue(key); },
                   [this](const JobKey& key, const absl::Status& why) {
                     log::Warning("a job waits for its keys", {{"job", key.ToString()}, {"error", why}});
                     Warn(key, "SecretError", std::string(why.message()));
                   }) {
  driver_.SetOnReply([this](const kube::Write& write, const kube::Response& response) {
    caches_.ObserveReply(write, response);
    ssh_secrets_.ObserveReply(write, response);
    const bool status = write.resource == &api::kJobs && write.subresource == "status" && response.ok();
    if (status && IsThere({write.ns, write.name}, write.uid)) status_written_[{write.ns, write.name}] = loop_.Now();
  });
  driver_.SetOnPermanentError([this](const JobKey& key, const std::string& uid, const kube::Write& write, const absl::Status& status) {
    if (IsThere(key, uid)) Explain(key, write, status);
  });
}

void JobController::OnJob(const JobKey& key, const api::volcano::Job* job) {
  index_.PutJob(key, job);
  if (job == nullptr) {
    ssh_secrets_.Forget(key);
    status_written_.erase(key);
  }
  driver_.Enqueue(key);
}

void JobController::OnPod(const api::NamespacedName& key, const api::core::Pod* pod) {
  if (const JobKey job = index_.PutPod(key, pod); !job.name.empty()) driver_.Enqueue(job);
}

void JobController::OnPodGroup(const api::volcano::PodGroup& group) {
  const api::OwnerReference* owner = group.metadata.Controller();
  if (owner != nullptr && owner->kind == api::kJobs.kind) driver_.Enqueue({group.metadata.ns, owner->name});
}

void JobController::OnCommand(const api::NamespacedName& key, const JobIndex::CommandPtr& before, const JobIndex::CommandPtr& after) {
  if (const JobKey job = index_.PutCommand(key, before, after); !job.name.empty()) driver_.Enqueue(job);
}

void JobController::OnObject(const api::Resource& resource, const api::NamespacedName& key, const api::ObjectMeta* metadata,
                             const std::map<std::string, std::string>* data) {
  if (const JobKey job = index_.PutObject(resource, key, metadata, data); !job.name.empty()) driver_.Enqueue(job);
}

void JobController::OnClaim(const api::NamespacedName& key, bool exists) {
  for (const JobKey& job : index_.PutClaim(key, exists)) driver_.Enqueue(job);
}

void JobController::OnPriorityClass(const api::core::PriorityClass* before, const api::core::PriorityClass* after) {
  if (before != nullptr && after == nullptr) priority_classes_.erase(before->metadata.name);
  if (after != nullptr) priority_classes_[after->metadata.name] = after->value;
}

void JobController::Wake() {
  driver_.Wake();
  caches_.jobs.ForEach([this](const JobKey& key, const auto&) { driver_.Enqueue(key); });
  for (const JobKey& key : index_.Commanded()) driver_.Enqueue(key);
}

kube::Plan JobController::Decide(const JobKey& key, absl::Time now) {
  const std::shared_ptr<const StoredJob> stored = caches_.jobs.Get(key);
  if (stored == nullptr) return RemoveLateCommands(index_.CommandsFor(key), now);
  const api::volcano::Job job = FilledIn(*stored);
  if (lifecycle::Finished(lifecycle::ParsePhase(job.status.state.phase))) index_.ForgetLeaving(key);
  std::shared_ptr<const api::volcano::PodGroup> group = caches_.pod_groups.Get({key.ns, lifecycle::PodGroupName(job)});
  if (group == nullptr) {
    group = caches_.pod_groups.Get(key);
    const api::OwnerReference* owner = group == nullptr ? nullptr : group->metadata.Controller();
    if (owner == nullptr || owner->uid != job.metadata.uid) group = nullptr;
  }
  if (group == nullptr) {
    if (const auto when = caches_.namespace_queues.LookAgain(key.ns, job.metadata.creation_timestamp.at, now)) return Later(*when);
  }
  const std::shared_ptr<const api::volcano::Queue> queue = caches_.queues.Get({"", job.spec.queue});
  lifecycle::JobView view;
  view.job = &job;
  view.pod_group = group.get();
  view.queue = queue.get();
  view.namespace_queue = caches_.namespace_queues.Of(key.ns);
  view.priority_classes = &priority_classes_;
  view.pods_current = caches_.pods.seen_up_to() >= VersionOf(job.metadata);
  if (const auto written = status_written_.find(key); written != status_written_.end()) view.status_written = written->second;
  index_.Fill(key, job.metadata.uid, view);
  if (!ssh_secrets_.Fill(key, view)) return {};
  kube::Plan plan = lifecycle::ReconcileJob(view, now);
  plan.uid = job.metadata.uid;
  return plan;
}

bool JobController::IsThere(const JobKey& key, const std::string& uid) const {
  const std::shared_ptr<const api::volcano::Job> job = caches_.jobs.Get(key);
  return job != nullptr && job->metadata.uid == uid;
}

void JobController::Warn(const JobKey& key, const char* reason, std::string message) {
  const std::shared_ptr<const api::volcano::Job> job = caches_.jobs.Get(key);
  if (job == nullptr) return;
  recorder_.Record({kube::EventNote::Type::kWarning, reason, std::move(message),
                    kube::ReferenceTo(api::kJobs, job->metadata)});
}

void JobController::Explain(const JobKey& key, const kube::Write& write, const absl::Status& status) {
  const bool taken = write.verb == kube::Verb::kCreate && absl::IsAlreadyExists(status);
  if (taken && write.resource == &api::kSecrets && ssh_secrets_.HeldByPredecessor(key)) return;  // it goes by itself
  Warn(key, ReasonOf(write), absl::StrCat(View(write.resource->kind), " ", write.name, ": ", status.message()));
}

}  // namespace gangway::controller
