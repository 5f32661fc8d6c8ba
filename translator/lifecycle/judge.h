// What the pods of a Job and its PodGroup say about a PaddleJob: counts, phase, message (docs/paddlejob-lifecycle.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "translator/lifecycle/paddle_job_view.h"
#include "translator/lifecycle/progress.h"
#include "translator/lifecycle/wanted.h"

namespace gangway::paddle_lifecycle {

// Phases of the Job: pods are wanted; nothing leaves it; it has no pods until it is resumed.
bool IsActive(const api::volcano::Job& job);
bool IsFinal(const api::volcano::Job& job);
bool IsAborted(const api::volcano::Job& job);
// Another restart would be its end.
bool IsLastRun(const api::volcano::Job& job);
// How often its policies have restarted it. The Job also counts the failure that it did not live through.
std::int32_t RestartsOf(const api::volcano::Job& job);
// "PS", "Collective", "Single".
std::string ModeOf(const api::volcano::Job& job, bool elastic);
// Whether a program of it runs, or has run.
bool HasBegun(const api::volcano::Job& job, const PodTable* pods);

// nullopt: it has none, or has not started.
std::optional<absl::Time> DeadlineOf(const Wanted& wanted, const Progress& progress);
bool EndedByDeadline(const api::volcano::Job& job, std::optional<absl::Time> deadline);

// Whether paddle-operator, or the training operator, makes pods for the PaddleJob.
bool OperatorAtWork(const PaddleJobView& seen, const Wanted& wanted);

// Each role with the pods that `job` controls; null: none. How many are wanted the Job says, as far as there is one.
std::vector<RoleProgress> CountPods(const Wanted& wanted, const api::volcano::Job* job, const PodTable* pods);
// What has succeeded and failed stays counted when the pods of a job that has ended are removed.
void KeepEnded(const std::vector<RoleProgress>& stored, std::vector<RoleProgress>& roles);

// Whether every pod that is wanted runs.
bool AllRun(const std::vector<RoleProgress>& roles);

// The rows of the table below deletion and below the end, in their order. `stored` is the phase until now, `ran`
// whether all pods have run once.
Phase PhaseOf(const api::volcano::Job& job, const std::vector<RoleProgress>& roles, bool elastic, bool ran,
              Phase stored);

// Condition Scheduled: why the gang waits, also for pods that cannot be made, or that it was placed. Without a status
// when there is nothing to say.
Told ScheduledOf(const PaddleJobView& seen, const api::volcano::Job& job);

// The first that there is: how a pod of a job that has failed ended, a node that does not answer, why the gang waits,
// what a container waits for, how one ended that runs again. "" when all is well.
std::string MessageOf(const PaddleJobView& seen, const api::volcano::Job& job, Phase phase, const Told& scheduled);

struct NamedPod {
  const std::string* name = nullptr;
  const PaddlePod* pod = nullptr;
};
// Pods of the Job, in the order of tasks and indexes.
std::vector<NamedPod> PodsOf(const api::volcano::Job& job, const PodTable* pods);

std::vector<NamedPod> FailedPods(const api::volcano::Job& job, const PodTable* pods);

// What the Job itself has counted of those roles that have succeeded and failed: pods may be gone.
std::vector<RoleProgress> CountsOf(const api::volcano::Job& job, const std::vector<RoleProgress>& roles);

// When the first of the pods was taken by its node; else when the Job was Running first; unset: nobody knows.
api::Time EarliestStart(const api::volcano::Job& job, const PodTable* pods);

}  // namespace gangway::paddle_lifecycle
