// What must hold in every history, judged from the journal alone: an API server's audit log gives the same records.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/paddle/paddle_job.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "sandbox/apiserver/journal.h"

namespace gangway::testutil {

// Keeps the state that the journal tells, and what was wrong with it. Feed records in order, then call AtEnd().
class Checker {
 public:
  struct Rules {
    // How long a gang may have some but fewer than minMember of its pods bound.
    absl::Duration part_bound_deadline = absl::Minutes(2);
    // Nothing may be written in the last stretch before the end.
    absl::Duration quiet = absl::Minutes(5);
    // Whether a job that is not named below must be in a final phase at the end.
    bool must_finish = true;
    // The phase each job ends in; jobs that are not named may end in any final phase.
    std::map<std::string, std::string> expected_phase;
    // Restarts a job ends with, where that is certain.
    std::map<std::string, int> expected_retries;
  };

  explicit Checker(Rules rules) : rules_(std::move(rules)) {}

  void OnRecord(const sandbox::JournalRecord& record);
  void AtEnd(absl::Time now);

  // One sentence each, with the revision and the objects; empty: all is well.
  const std::vector<std::string>& violations() const { return violations_; }
  std::size_t records() const { return records_; }

  // The state so far.
  const std::map<api::NamespacedName, api::core::Pod>& pods() const { return pods_; }
  const std::map<api::NamespacedName, api::volcano::Job>& jobs() const { return jobs_; }
  const std::map<api::NamespacedName, api::paddle::PaddleJob>& paddle_jobs() const { return paddle_jobs_; }
  const std::map<api::NamespacedName, api::paddle::kubeflow::PaddleJob>& kubeflow_jobs() const { return kubeflow_jobs_; }
  const std::map<std::string, api::volcano::Queue>& queues() const { return queues_; }
  // Names of commands that are there, and of PodGroups.
  const std::map<api::NamespacedName, std::string>& commands() const { return commands_; }
  bool HasGang(const api::NamespacedName& key) const { return gangs_.contains(key); }

 private:
  struct Gang {
    int min_member = 0;
    std::optional<absl::Time> part_bound_since;
  };

  void OnPod(const sandbox::JournalRecord& record);
  void OnJob(const sandbox::JournalRecord& record);
  void CheckNode(const std::string& node, const sandbox::JournalRecord& record);
  void CheckGang(const api::NamespacedName& key, absl::Time now);
  void CheckGangsUntil(absl::Time now);
  void Violation(std::string text) { violations_.push_back(std::move(text)); }

  const Rules rules_;
  std::map<api::NamespacedName, api::core::Pod> pods_;
  std::map<std::string, api::core::Node> nodes_;
  std::map<api::NamespacedName, Gang> gangs_;
  std::map<api::NamespacedName, api::volcano::Job> jobs_;
  std::map<api::NamespacedName, api::paddle::PaddleJob> paddle_jobs_;
  std::map<api::NamespacedName, api::paddle::kubeflow::PaddleJob> kubeflow_jobs_;
  std::map<std::string, api::volcano::Queue> queues_;
  std::map<api::NamespacedName, std::string> commands_;  // with their UIDs
  std::vector<std::string> violations_;
  std::size_t records_ = 0;
  absl::Time last_write_ = absl::InfinitePast();
  std::string last_write_text_;
};

}  // namespace gangway::testutil
