// What --until waits for: KIND/[NAMESPACE/]NAME=PHASE, such as job/ctr-volcano=Completed.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/meta.h"

namespace gangway::cmd {

struct Goal {
  enum class Kind { kJob, kPaddleJob, kKubeflowPaddleJob, kJobFlow, kPodGroup, kPod };
  Kind kind = Kind::kJob;
  api::NamespacedName key;  // namespace "default" unless written
  std::string phase;

  std::string ToString() const;
};

// InvalidArgument says which part is wrong and what may stand there; phases are checked against the kind's.
absl::StatusOr<Goal> ParseGoal(absl::string_view text);

}  // namespace gangway::cmd
