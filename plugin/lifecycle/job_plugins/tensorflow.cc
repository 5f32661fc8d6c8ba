// tensorflow: env TF_CONFIG of containers.
//
//   flag          default     |  {"cluster": {"ps": [...], "worker": [...], "chief": [...], "evaluator": [...]},
//   --ps          ps          |   "task": {"type": ..., "index": ...}}
//   --worker      worker      |
//   --chief       chief       |  Lists hold host.domain:port of every pod, empty ones are left out. A task of another
//   name has its
//   --evaluator   evaluator   |  own name as type. A Job of one task with one replica gets nothing.
//   --port        2222        |
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "plugin/lifecycle/job_plugins/flags.h"
#include "plugin/lifecycle/job_plugins/plugins.h"
#include "plugin/lifecycle/job_plugins/pod_draft.h"
#include "plugin/lifecycle/job_plugins/task_hosts.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Job;
using api::volcano::TaskSpec;

struct TensorflowFlags {
  std::string ps = "ps", worker = "worker", chief = "chief", evaluator = "evaluator";
  std::int64_t port = 2222;

  struct Type {
    const char* name;
    const std::string& task;
  };
  std::array<Type, 4> types() const {
    return {{{"ps", ps}, {"worker", worker}, {"chief", chief}, {"evaluator", evaluator}}};
  }
};

std::string TfConfig(const Job& job, const TensorflowFlags& flags, const TaskSpec& own, const std::string& index) {
  std::string text, own_type = own.name;
  api::JsonWriter json(text);
  json.BeginObject().Key("cluster").BeginObject();
  for (const TensorflowFlags::Type& type : flags.types()) {
    if (own.name == type.task) own_type = type.name;
    const TaskSpec* const task = FindTask(job, type.task);
    if (task == nullptr || task->replicas <= 0) continue;
    const HostNames names = HostNamesOf(job, *task);
    json.Key(type.name).BeginArray();
    for (std::int32_t i = 0; i < task->replicas; ++i) {
      const std::string host =
          names.hostname.empty() ? absl::StrCat(job.metadata.name, "-", task->name, "-", i) : names.hostname;
      json.String(absl::StrCat(host, ".", names.domain, ":", flags.port));
    }
    json.EndArray();
  }
  json.EndObject().Key("task").BeginObject().Field("type", own_type).Key("index").Raw(index).EndObject().EndObject();
  return text;
}

}  // namespace

absl::Status AddTensorflow(const Job& job, const PluginFlags& texts, PluginEffects& effects) {
  TensorflowFlags flags;
  Complain("tensorflow",
           ReadFlags(texts, {{"ps", &flags.ps},
                             {"worker", &flags.worker},
                             {"chief", &flags.chief},
                             {"evaluator", &flags.evaluator},
                             {"port", &flags.port}}),
           effects);
  if (job.spec.tasks.size() == 1 && job.spec.tasks[0].replicas == 1) return absl::OkStatus();
  effects.steps.push_back([&job, flags](const TaskSpec& task, PodDraft& draft) {
    const std::string config = TfConfig(job, flags, task, draft.index);
    EachContainer(draft.spec, Containers::kRegular,
                  [&](boost::json::object& container) { AppendEnv(container, "TF_CONFIG", config); });
    return absl::OkStatus();
  });
  return absl::OkStatus();
}

}  // namespace gangway::lifecycle
