// pytorch: what torch.distributed reads.
//
//   flag                    default          |  env of containers, in this order
//   --master                master           |  MASTER_ADDR   the address of the master task's pod 0
//   --worker                worker           |  MASTER_PORT   --port
//   --port                  23456            |  WORLD_SIZE    replicas of the master and worker tasks
//   --wait-master-enabled   false            |  RANK          master 0, worker index + 1, other tasks none
//   --wait-master-timeout   300 (seconds)    |  and the port pytorchjob-port, unless the number is exposed.
//   --wait-master-image     busybox:1.36.1   |  Without a master task: nothing.
//
// With --wait-master-enabled workers get the init container wait-for-master, once.
#include "absl/strings/str_cat.h"
#include "plugin/lifecycle/job_plugins/flags.h"
#include "plugin/lifecycle/job_plugins/plugins.h"
#include "plugin/lifecycle/job_plugins/pod_draft.h"
#include "plugin/lifecycle/job_plugins/task_hosts.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Job;
using api::volcano::TaskSpec;

constexpr char kWaitForMaster[] = "wait-for-master";

struct PytorchFlags {
  std::string master = "master", worker = "worker", wait_image = "busybox:1.36.1";
  std::int64_t port = 23456, wait_timeout = 300;
  bool wait = false;
};

// Knocks every two seconds, with nc or, in a shell that can, without. `$(date +%s)` is no variable, so the kubelet
// leaves it as it is.
std::string WaitScript(const std::string& address, const PytorchFlags& flags) {
  return absl::StrCat("deadline=$(( $(date +%s) + ", flags.wait_timeout, " ))\n", "until nc -z ", address, " ",
                      flags.port, " 2>/dev/null || (exec 3<>/dev/tcp/", address, "/", flags.port, ") 2>/dev/null; do\n",
                      "  if [ \"$(date +%s)\" -ge \"$deadline\" ]; then echo \"no answer from the master ", address,
                      ":", flags.port, " within ", flags.wait_timeout, " s\" >&2; exit 1; fi\n  sleep 2\ndone\n");
}

void WaitForMaster(const std::string& address, const PytorchFlags& flags, boost::json::object& spec) {
  boost::json::array& containers = ListAt(spec, "initContainers");
  for (const boost::json::value& one : containers) {
    if (one.is_object() && TextAt(one.as_object(), "name") == kWaitForMaster) return;
  }
  containers.push_back(boost::json::object{{"name", kWaitForMaster},
                                           {"image", flags.wait_image},
                                           {"command", boost::json::array{"sh", "-c", WaitScript(address, flags)}}});
}

absl::Status AddToPod(const Job& job, const PytorchFlags& flags, const TaskSpec& task, PodDraft& draft) {
  const TaskSpec* const masters = FindTask(job, flags.master);
  if (masters == nullptr) return absl::OkStatus();
  const TaskSpec* const workers = FindTask(job, flags.worker);
  const std::string address = AddressOf(job, *masters, 0);
  const std::string rank = task.name == flags.worker ? draft.IndexPlus(1) : task.name == flags.master ? "0" : "";
  EachContainer(draft.spec, Containers::kRegular, [&](boost::json::object& container) {
    ExposePort(container, "pytorchjob-port", flags.port);
    AppendEnv(container, "MASTER_ADDR", address);
    AppendEnv(container, "MASTER_PORT", absl::StrCat(flags.port));
    AppendEnv(container, "WORLD_SIZE", absl::StrCat(masters->replicas + (workers == nullptr ? 0 : workers->replicas)));
    if (!rank.empty()) AppendEnv(container, "RANK", rank);
  });
  if (flags.wait && task.name == flags.worker) WaitForMaster(address, flags, draft.spec);
  return absl::OkStatus();
}

}  // namespace

absl::Status AddPytorch(const Job& job, const PluginFlags& texts, PluginEffects& effects) {
  PytorchFlags flags;
  Complain("pytorch",
           ReadFlags(texts, {{"master", &flags.master},
                             {"worker", &flags.worker},
                             {"port", &flags.port},
                             {"wait-master-enabled", &flags.wait},
                             {"wait-master-timeout", &flags.wait_timeout},
                             {"wait-master-image", &flags.wait_image}}),
           effects);
  effects.steps.push_back(
      [&job, flags](const TaskSpec& task, PodDraft& draft) { return AddToPod(job, flags, task, draft); });
  return absl::OkStatus();
}

}  // namespace gangway::lifecycle
