// env: which pod of its task a container is in: VK_TASK_INDEX and VC_TASK_INDEX, in containers and init containers. No
// flags.
#include "plugin/lifecycle/job_plugins/plugins.h"
#include "plugin/lifecycle/job_plugins/pod_draft.h"

namespace gangway::lifecycle {

absl::Status AddEnv(const api::volcano::Job&, const PluginFlags&, PluginEffects& effects) {
  effects.steps.push_back([](const api::volcano::TaskSpec&, PodDraft& draft) {
    EachContainer(draft.spec, Containers::kAll, [&](boost::json::object& container) {
      AppendEnv(container, "VK_TASK_INDEX", draft.index);
      AppendEnv(container, "VC_TASK_INDEX", draft.index);
    });
    return absl::OkStatus();
  });
  return absl::OkStatus();
}

}  // namespace gangway::lifecycle
