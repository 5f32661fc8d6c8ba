// Which action a policy of a Job asks for when an event happens (Volcano: pkg/controllers/job/job_controller_util.go,
// applyPolicies).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "api/volcano/job.h"
#include "plugin/lifecycle/words.h"

namespace gangway::api::volcano {
struct PodFailure;  // api/volcano/pod_failure.h
}

namespace gangway::lifecycle {

using api::volcano::PodFailure;

// One thing that happened. Text fields are empty where they do not apply.
struct Happening {
  Event event = Event::kNone;
  std::optional<Action> action;  // commands carry one
  std::string job_uid;
  std::int32_t version = 0;  // of the Job, when the pod was made
  std::string task;
  std::string pod;
  std::int32_t index = -1;                    // of the pod in its task
  std::int32_t exit_code = 0;                 // PodFailed
  std::shared_ptr<const PodFailure> failure;  // what is known of how it came, for whoever is told; may be null
};

struct Resolution {
  Action action = Action::kSyncJob;
  absl::Duration delay = absl::ZeroDuration();  // > 0: act only when it still holds this much later
  friend bool operator==(const Resolution&, const Resolution&) = default;
};

// A policy of the Job: its own, or one of a task's.
struct PolicyRef {
  const api::volcano::LifecyclePolicy* policy = nullptr;  // in the Job
  int task = -1;                                          // in spec.tasks; -1: of the Job itself
  int index = 0;                                          // in the list of policies
};
// The first that matches, of the happening's task, then of the Job. What a command carries is no policy; happenings of
// another UID or an older version match none.
std::optional<PolicyRef> FindPolicy(const api::volcano::Job& job, const Happening& happening);

// The action a command carries, or what FindPolicy's policy says; SyncJob when there is neither.
Resolution Resolve(const api::volcano::Job& job, const Happening& happening);

// Whether the action has anything to act on. Only a task with a partitionPolicy has partitions, and only what happened
// to a pod names one.
bool HasTarget(const api::volcano::Job& job, Action action, const Happening& cause);

// The events that any policy of the Job answers, one bit each; so that nobody looks for the others.
class EventSet {
 public:
  explicit EventSet(const api::volcano::Job& job);
  bool Has(Event event) const { return (bits_ >> static_cast<int>(event) & 1u) != 0; }

 private:
  void Add(const std::vector<api::volcano::LifecyclePolicy>& policies);
  std::uint32_t bits_ = 0;
};

}  // namespace gangway::lifecycle
