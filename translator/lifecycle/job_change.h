// Single changes: of a Volcano Job that stays the Job it is, of a PaddleJob, and commands to the Job's controller.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "kube/plan/plan.h"
#include "translator/lifecycle/judge.h"
#include "translator/lifecycle/record.h"

namespace gangway::paddle_lifecycle {

// One patch of everything that is to be changed.
struct JobChange {
  std::map<std::string, std::optional<std::string>> annotations;  // nullopt: to be removed
  std::optional<std::vector<api::volcano::TaskSpec>> tasks;       // all of them
  std::optional<std::int32_t> min_available;
  std::optional<std::string> priority_class;  // "": none
  bool empty() const {
    return annotations.empty() && !tasks.has_value() && !min_available.has_value() && !priority_class.has_value();
  }
  void Annotate(absl::string_view key, std::optional<std::string> value) {
    annotations[std::string(key)] = std::move(value);
  }
  kube::Write Write(const api::volcano::Job& job) const;
};

// A PaddleJob without paddle-operator's finalizer, which stands for no work and would keep a deleted one; nullopt when
// it has none.
std::optional<kube::Write> ReleaseFromOperator(const api::Resource& resource, const api::ObjectMeta& paddle_job);

// Whether a command is on its way to this Job.
bool IsGiven(absl::string_view action, const api::volcano::Job& job,
             const std::vector<const api::volcano::Command*>& commands);
// The command goes with its Job. It has the same name for the same run of the Job, so that a lost reply gives it once.
kube::Write GiveCommand(absl::string_view action, std::string why, const api::volcano::Job& job);

// The failed workers of an elastic job. Each is counted in the Job's record first; one that is counted goes, and the
// Job makes it anew.
struct FailedWorkers {
  std::vector<NamedPod> counted;    // to be removed
  std::vector<NamedPod> uncounted;  // to be counted now
  std::optional<Replaced> record;   // that counts them
  bool exhausted = false;           // one has failed once too often, and stays
};
FailedWorkers FindFailedWorkers(const api::volcano::Job& job, const JobRecord& record,
                                const std::vector<NamedPod>& failed, absl::string_view worker);

}  // namespace gangway::paddle_lifecycle
