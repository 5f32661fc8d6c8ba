#include "plugin/controller/late_commands.h"

#include <algorithm>
#include <utility>

#include "api/resource.h"
#include "kube/plan/writes.h"

namespace gangway::controller {

kube::Plan RemoveLateCommands(const std::vector<const api::volcano::Command*>& commands, absl::Time now) {
  kube::Plan plan;
  std::vector<kube::Write> writes;
  for (const api::volcano::Command* command : commands) {
    const absl::Time due = command->metadata.creation_timestamp.at + kCommandPatience;
    if (now < due) {
      plan.look_again = std::min(plan.look_again, due);
      continue;
    }
    writes.push_back(kube::DeletionOf(api::kCommands, command->metadata));
  }
  if (!writes.empty()) plan.stages.push_back(std::move(writes));
  return plan;
}

}  // namespace gangway::controller
