// mpi: the workers' addresses for mpiexec on the master, over ssh.
//
//   flag       default   |  pods of                                      get, in containers and init containers
//   --master   master    |  every task                                   port mpijob-port, unless the number is exposed
//   --worker   worker    |  the master task                              env MPI_HOST: the workers' addresses, joined
//   by comma
//   --port     22        |  the master task of a Job without workers'    nothing at all
#include "absl/strings/str_join.h"
#include "plugin/lifecycle/job_plugins/flags.h"
#include "plugin/lifecycle/job_plugins/plugins.h"
#include "plugin/lifecycle/job_plugins/pod_draft.h"
#include "plugin/lifecycle/job_plugins/task_hosts.h"

namespace gangway::lifecycle {

absl::Status AddMpi(const api::volcano::Job& job, const PluginFlags& flags, PluginEffects& effects) {
  std::string master = "master", worker = "worker";
  std::int64_t port = 22;
  Complain("mpi", ReadFlags(flags, {{"master", &master}, {"worker", &worker}, {"port", &port}}), effects);
  effects.steps.push_back([&job, master, worker, port](const api::volcano::TaskSpec& task, PodDraft& draft) {
    const bool is_master = task.name == master;
    const api::volcano::TaskSpec* const workers = is_master ? FindTask(job, worker) : nullptr;
    if (is_master && workers == nullptr) return absl::OkStatus();
    const std::string hosts = is_master ? absl::StrJoin(AddressesOf(job, *workers), ",") : "";
    EachContainer(draft.spec, Containers::kAll, [&](boost::json::object& container) {
      ExposePort(container, "mpijob-port", port);
      if (is_master) AppendEnv(container, "MPI_HOST", hosts);
    });
    return absl::OkStatus();
  });
  return absl::OkStatus();
}

}  // namespace gangway::lifecycle
