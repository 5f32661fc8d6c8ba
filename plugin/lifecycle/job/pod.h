// Pods of a task: one document per task, spliced per index (Volcano: pkg/controllers/job/job_controller_util.go,
// createJobPod).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/volcano/job.h"
#include "plugin/lifecycle/job_plugins/job_plugin.h"

namespace gangway::lifecycle {

struct PodContext {
  std::int32_t version = 0, retry_count = 0;  // of the Job's status, as it will be when the pods are made
  bool forwarding = false;                    // the queue extends to other clusters
};

class PodDocument {
 public:
  // InvalidArgument when the task's template is no pod template, or a plugin can do nothing with it.
  static absl::StatusOr<PodDocument> Make(const api::volcano::Job& job, const api::volcano::TaskSpec& task,
                                          const PluginEffects& plugins, const PodContext& context);

  // The whole pod, ready to be created.
  std::string ForIndex(std::int32_t index) const;

 private:
  struct Hole {
    enum class Kind : std::uint8_t { kIndex, kPartition } kind = Kind::kIndex;
    std::int32_t plus = 0;  // to the index
  };
  std::vector<std::string> texts_;  // one more than holes
  std::vector<Hole> holes_;
  std::int32_t partition_size_ = 0;
};

// The PodGroup of a Job, and of its pods: "<job>-<uid>".
std::string PodGroupName(const std::string& job, const std::string& uid);
std::string PodGroupName(const api::volcano::Job& job);

// The claim that volume number `index` of the Job mounts: its volumeClaimName, or a name made from the Job's UID and
// the index.
std::string ClaimName(const api::volcano::Job& job, std::size_t index);

}  // namespace gangway::lifecycle
