#include "plugin/controller/job_controller.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/volcano/release.h"
#include "base/log.h"
#include "base/strings.h"
#include "kube/plan/writes.h"
#include "plugin/controller/late_commands.h"
#include "plugin/lifecycle/job/pod.h"
#include "plugin/lifecycle/job/reconcile_job.h"
#include "plugin/lifecycle/words.h"

namespace gangway::controller {
namespace {

constexpr std::int32_t kLateRestart = 3;
constexpr absl::Duration kFirstStatusPatience = absl::Seconds(2);
constexpr absl::Duration kLongestPutOff = absl::Seconds(30);  // of a Job that was evicted, while others go

const char* ReasonOf(const kube::Write& write) {
  switch (write.verb) {
    case kube::Verb::kCreate:
      return "FailedCreate";
    case kube::Verb::kDelete:
      return "FailedDelete";
    case kube::Verb::kMergePatch:
    case kube::Verb::kStrategicMergePatch:
    case kube::Verb::kPut:
      return "FailedUpdate";
  }
  return "FailedUpdate";
}

std::unique_ptr<SshKeys> OwnSshKeys(Loop& loop, const SshKeyMakers& ssh) {
  if (ssh.keys != nullptr) return nullptr;
  if (ssh.threads > 0) return std::make_unique<ThreadedSshKeys>(loop, ssh.threads);
  return std::make_unique<LoopSshKeys>(loop);
}

kube::Plan Later(absl::Time when) {
  kube::Plan plan;
  plan.look_again = when;
  return plan;
}

}  // namespace

JobController::JobController(kube::Informers& informers, kube::ComponentOptions options, SshKeyMakers ssh)
    : Component(informers, std::move(options)),
      own_ssh_keys_(OwnSshKeys(loop(), ssh)),
      jobs_(Watch<StoredJob>(api::kJobs, {},
                             [this](const auto& key, const auto& before, const auto& after) {
                               CountRestart(before.get(), after.get());
                               OnJob(key, after.get());
                             })),
      pods_(
          Watch<api::core::Pod>(api::kPods, {.keep = false},
                                [this](const auto& key, const auto&, const auto& after) { OnPod(key, after.get()); })),
      pod_groups_(Watch<api::volcano::PodGroup>(
          api::kPodGroups, {},
          [this](const auto&, const auto& before, const auto& after) { OnPodGroup(before.get(), after.get()); })),
      queues_(Watch<api::volcano::Queue>(api::kQueues, {}, nullptr)),
      namespace_queues_(Watch<api::core::PartialObject>(api::kNamespaces, NamespaceQueues::Selected(), nullptr)),
      losses_(loop(), client(), pod_groups_, [this](const JobKey& key) { driver_.Enqueue(key); }),
      driver_(Drive("job", [this](const JobKey& key, absl::Time now) { return Decide(key, now); })),
      ssh_secrets_(
          loop(), client(), own_ssh_keys_ == nullptr ? *ssh.keys : *own_ssh_keys_,
          [this](const JobKey& key) { driver_.Enqueue(key); },
          [this](const JobKey& key, const absl::Status& why) {
            log::Warning("a job waits for its keys", {{"job", key.ToString()}, {"error", why}});
            Warn(key, "SecretError", std::string(why.message()));
          }) {
  // No pod that a Job's status speaks of is missing only because the list is older; and a release that explains a
  // missing pod is known with it.
  pods_.After(jobs_);
  if (Metrics* const metrics = this->informers().metrics(); metrics != nullptr) {
    constexpr char kRestarts[] = "gangway_job_restarts_total",
                   kHelp[] = "Restarts of Jobs, by which of the Job's they are: its third and later ones are late";
    early_restarts_ = metrics->AddCounter(kRestarts, kHelp, {{"retry", "early"}});
    late_restarts_ = metrics->AddCounter(kRestarts, kHelp, {{"retry", "late"}});
  }
  pod_groups_.After(pods_);
  Watch<api::volcano::Command>(api::kCommands, {}, [this](const auto& key, const auto& before, const auto& after) {
    OnCommand(key, before, after);
  });
  Watch<api::core::PriorityClass>(
      api::kPriorityClasses, {.keep = false},
      [this](const auto& key, const auto&, const auto& after) { OnPriorityClass(key.name, after.get()); });
  Watch<api::core::ConfigMap>(
      api::kConfigMaps, {.keep = false}, [this](const auto& key, const auto&, const auto& after) {
        OnObject(api::kConfigMaps, key, after ? &after->metadata : nullptr, after ? &after->data : nullptr);
      });
  for (const api::Resource* const resource : {&api::kServices, &api::kNetworkPolicies}) {
    Watch<api::core::PartialObject>(*resource, {.keep = false},
                                    [this, resource](const auto& key, const auto&, const auto& after) {
                                      OnObject(*resource, key, after ? &after->metadata : nullptr);
                                    });
  }
  Watch<api::core::PartialObject>(
      api::kPersistentVolumeClaims, {.keep = false},
      [this](const auto& key, const auto&, const auto& after) { OnClaim(key, after != nullptr); });
  driver_.SetOnPermanentError(
      [this](const JobKey& key, const std::string& uid, const kube::Write& write, const absl::Status& status) {
        if (IsThere(key, uid)) Explain(key, write, status);
      });
}

void JobController::OnReply(const kube::Write& write, const kube::Response& response) {
  if (write.resource == &api::kPods && write.verb == kube::Verb::kDelete && response.ok()) {
    const lifecycle::JobPod* const pod = index_.FindPod({write.ns, write.name});
    if (pod != nullptr && pod->uid == write.uid) losses_.Deleted(write.uid);
  }
  Component::OnReply(write, response);
  ssh_secrets_.ObserveReply(write, response);
  const bool status = write.resource == &api::kJobs && write.subresource == "status" && response.ok();
  if (status && IsThere({write.ns, write.name}, write.uid)) status_written_[{write.ns, write.name}] = loop().Now();
}

// Each replica counts what it sees, whichever works.
void JobController::CountRestart(const api::volcano::Job* before, const api::volcano::Job* after) {
  if (before == nullptr || after == nullptr || after->metadata.uid != before->metadata.uid) return;
  const std::int32_t more = after->status.retry_count - before->status.retry_count;
  if (more > 0) (after->status.retry_count < kLateRestart ? early_restarts_ : late_restarts_).Add(more);
}

void JobController::OnJob(const JobKey& key, const api::volcano::Job* job) {
  index_.PutJob(key, job);
  history_.Put(key, job);
  if (job == nullptr) {
    ssh_secrets_.Forget(key);
    status_written_.erase(key);
    evicted_.erase(key);
    losses_.Forget(key);
  }
  driver_.Enqueue(key);
}

void JobController::OnPod(const api::NamespacedName& key, const api::core::Pod* pod) {
  const lifecycle::JobPod* const before = index_.FindPod(key);
  const std::string uid = before == nullptr ? "" : before->uid, job_uid = before == nullptr ? "" : before->job_uid;
  const bool says_why = before == nullptr || before->released || before->out_of_sync;
  const bool named = before != nullptr && before->named;
  const JobKey job = index_.PutPod(key, pod);
  const lifecycle::JobPod* const after = index_.FindPod(key);
  const bool gone = after == nullptr || after->uid != uid;
  if (gone || after->deleting) NoteSettled(uid);
  const bool by_us = gone && losses_.WasDeleted(uid);
  if (after == nullptr && !says_why && !by_us) NoteGone(job, job_uid, key.name, uid, named);
  if (!job.name.empty()) driver_.Enqueue(job);
}

// Of an eviction it may be the PodGroup alone that tells.
void JobController::NoteGone(const JobKey& job, const std::string& job_uid, const std::string& pod,
                             const std::string& uid, bool named) {
  const std::shared_ptr<const api::volcano::PodGroup> group = GroupOf(job, job_uid);
  const api::volcano::PodGroupCondition* const release =
      group == nullptr ? nullptr : api::volcano::LatestRelease(group->status);
  if (named || (release != nullptr && api::volcano::NamesPod(*release, uid))) {
    index_.Release(job, pod);
  } else {
    losses_.Lost(job, pods_.seen_up_to({job.ns, pod}));
  }
}

// What waited for the last deletion goes on.
void JobController::NoteSettled(const std::string& uid) {
  if (!evictions_.IsNamed(uid)) return;
  const bool last = evictions_.Settled(uid, loop().Now());
  driver_.HoldYielding(evictions_.Until(loop().Now()));
  if (!last) return;
  for (const auto& [key, since] : evicted_) driver_.Enqueue(key);
}

void JobController::NoteRelease(const api::volcano::PodGroup* before, const api::volcano::PodGroup& after) {
  const api::volcano::PodGroupCondition* const is = api::volcano::LatestRelease(after.status);
  if (is == nullptr) return;
  const api::volcano::PodGroupCondition* const was =
      before == nullptr ? nullptr : api::volcano::LatestRelease(before->status);
  if (was != nullptr && was->message == is->message) return;
  for (const api::volcano::ReleasedPod& named : api::volcano::ReleasedPods(*is)) {
    const lifecycle::JobPod* const pod = index_.FindPod({after.metadata.ns, named.name});
    if (pod == nullptr || pod->uid != named.uid) continue;
    index_.Name({after.metadata.ns, named.name});
    if (!pod->deleting) evictions_.Named(named.uid, loop().Now());
  }
  driver_.HoldYielding(evictions_.Until(loop().Now()));
}

void JobController::OnPodGroup(const api::volcano::PodGroup* before, const api::volcano::PodGroup* after) {
  if (after != nullptr) NoteRelease(before, *after);
  const api::volcano::PodGroup& group = after != nullptr ? *after : *before;
  const api::OwnerReference* owner = group.metadata.Controller();
  if (owner != nullptr && owner->kind == api::kJobs.kind) driver_.Enqueue({group.metadata.ns, owner->name});
}

void JobController::OnCommand(const api::NamespacedName& key, const JobIndex::CommandPtr& before,
                              const JobIndex::CommandPtr& after) {
  if (const JobKey job = index_.PutCommand(key, before, after); !job.name.empty()) driver_.Enqueue(job);
}

void JobController::OnObject(const api::Resource& resource, const api::NamespacedName& key,
                             const api::ObjectMeta* metadata, const std::map<std::string, std::string>* data) {
  if (const JobKey job = index_.PutObject(resource, key, metadata, data); !job.name.empty()) driver_.Enqueue(job);
}

void JobController::OnClaim(const api::NamespacedName& key, bool exists) {
  for (const JobKey& job : index_.PutClaim(key, exists)) driver_.Enqueue(job);
}

void JobController::OnPriorityClass(const std::string& name, const api::core::PriorityClass* object) {
  if (object == nullptr) {
    priority_classes_.erase(name);
  } else {
    priority_classes_[name] = object->value;
  }
}

void JobController::Wake() {
  jobs_.ForEach([this](const JobKey& key, const auto&) { driver_.Enqueue(key); });
  for (const JobKey& key : index_.Commanded()) driver_.Enqueue(key);
}

kube::Plan JobController::Decide(const JobKey& key, absl::Time now) {
  const std::shared_ptr<const StoredJob> stored = jobs_.Get(key);
  if (stored == nullptr) return RemoveLateCommands(index_.CommandsFor(key), now);
  const api::volcano::Job job = FilledIn(*stored);
  const lifecycle::JobPhase phase = lifecycle::ParsePhase(job.status.state.phase);
  if (lifecycle::Finished(phase)) index_.ForgetLeaving(key);
  if (!lifecycle::KeepsPods(phase)) losses_.Forget(key);
  const std::shared_ptr<const api::volcano::PodGroup> group = GroupOf(key, job.metadata.uid);
  if (group != nullptr && !losses_.KnowsGroup(key, {key.ns, group->metadata.name})) return {};
  if (group == nullptr) {
    if (const auto when = namespace_queues_.LookAgain(key.ns, job.metadata.creation_timestamp.at, now))
      return Later(*when);
  }
  const std::shared_ptr<const api::volcano::Queue> queue = queues_.Get({"", job.spec.queue});
  lifecycle::JobView view;
  view.job = &job;
  if (group == nullptr && lifecycle::KeepsPods(phase)) view.past_runs = history_.Before(*stored);
  view.pod_group = group.get();
  view.queue = queue.get();
  view.namespace_queue = namespace_queues_.Of(key.ns);
  view.priority_classes = &priority_classes_;
  view.pods_current = pods_.seen_up_to() >= job.metadata.Version();
  if (const auto written = status_written_.find(key); written != status_written_.end())
    view.status_written = written->second;
  view.first_status_patience = kFirstStatusPatience;
  index_.Fill(key, job.metadata.uid, view);
  if (!ssh_secrets_.Fill(key, view)) return {};
  if (const std::optional<absl::Time> until = PutOffUntil(key, view, now)) return Later(*until);
  kube::Plan plan = lifecycle::ReconcileJob(view, now);
  plan.uid = job.metadata.uid;
  return plan;
}

std::shared_ptr<const api::volcano::PodGroup> JobController::GroupOf(const JobKey& key, const std::string& uid) const {
  std::shared_ptr<const api::volcano::PodGroup> group =
      pod_groups_.Get({key.ns, lifecycle::PodGroupName(key.name, uid)});
  if (group != nullptr) return group;
  group = pod_groups_.Get(key);
  const api::OwnerReference* const owner = group == nullptr ? nullptr : group->metadata.Controller();
  return owner == nullptr || owner->uid != uid ? nullptr : group;
}

// Who was evicted begins anew when all others that go have been told to, or after a while: until then the API server
// has more urgent things to do, and its room is somebody else's.
std::optional<absl::Time> JobController::PutOffUntil(const JobKey& key, const lifecycle::JobView& view,
                                                     absl::Time now) {
  if (!IsEvicted(view, evictions_)) {
    evicted_.erase(key);
    return std::nullopt;
  }
  const absl::Time over = evictions_.Until(now);
  if (over == absl::InfinitePast()) return std::nullopt;
  const absl::Time latest = evicted_.emplace(key, now).first->second + kLongestPutOff;
  if (now >= latest) return std::nullopt;
  return std::min(over, latest);
}

bool JobController::IsThere(const JobKey& key, const std::string& uid) const {
  const std::shared_ptr<const api::volcano::Job> job = jobs_.Get(key);
  return job != nullptr && job->metadata.uid == uid;
}

void JobController::Warn(const JobKey& key, const char* reason, std::string message) {
  const std::shared_ptr<const api::volcano::Job> job = jobs_.Get(key);
  if (job == nullptr) return;
  recorder().Record(
      {kube::EventNote::Type::kWarning, reason, std::move(message), kube::ReferenceTo(api::kJobs, job->metadata)});
}

void JobController::Explain(const JobKey& key, const kube::Write& write, const absl::Status& status) {
  const bool taken = write.verb == kube::Verb::kCreate && absl::IsAlreadyExists(status);
  if (taken && write.resource == &api::kSecrets && ssh_secrets_.HeldByPredecessor(key)) return;  // it goes by itself
  Warn(key, ReasonOf(write), absl::StrCat(View(write.resource->kind), " ", write.name, ": ", status.message()));
}

}  // namespace gangway::controller
