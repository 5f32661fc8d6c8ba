// hcclrank: the rank of a pod among masters and workers, for Huawei's collective communication.
//
//   flag       default   |  a pod whose template             its annotation hccl/rankIndex
//   --master   master    |  has the annotation               stays
//   --worker   worker    |  has env RANK in a container      that value
//                        |  is of the master task            its index
//                        |  is of the worker task            replicas of the master task + its index
//                        |  is of another task               none
#include "plugin/lifecycle/job_plugins/flags.h"
#include "plugin/lifecycle/job_plugins/plugins.h"
#include "plugin/lifecycle/job_plugins/pod_draft.h"
#include "plugin/lifecycle/job_plugins/task_hosts.h"

namespace gangway::lifecycle {
namespace {

constexpr char kRankIndex[] = "hccl/rankIndex";

std::string RankInEnv(PodDraft& draft) {
  std::string rank;
  EachContainer(draft.spec, Containers::kRegular, [&](boost::json::object& container) {
    const boost::json::value* const env = container.if_contains("env");
    if (!rank.empty() || env == nullptr || !env->is_array()) return;
    for (const boost::json::value& one : env->as_array()) {
      if (one.is_object() && TextAt(one.as_object(), "name") == "RANK" && rank.empty())
        rank = TextAt(one.as_object(), "value");
    }
  });
  return rank;
}

}  // namespace

absl::Status AddHcclrank(const api::volcano::Job& job, const PluginFlags& flags, PluginEffects& effects) {
  std::string master = "master", worker = "worker";
  Complain("hcclrank", ReadFlags(flags, {{"master", &master}, {"worker", &worker}}), effects);
  effects.steps.push_back([&job, master, worker](const api::volcano::TaskSpec& task, PodDraft& draft) {
    if (draft.annotations.contains(kRankIndex)) return absl::OkStatus();
    if (const std::string rank = RankInEnv(draft); !rank.empty()) {
      draft.annotations[kRankIndex] = rank;
    } else if (task.name == master) {
      draft.annotations[kRankIndex] = draft.index;
    } else if (task.name == worker) {
      const api::volcano::TaskSpec* const masters = FindTask(job, master);
      draft.annotations[kRankIndex] = draft.IndexPlus(masters == nullptr ? 0 : masters->replicas);
    }
    return absl::OkStatus();
  });
  return absl::OkStatus();
}

}  // namespace gangway::lifecycle
