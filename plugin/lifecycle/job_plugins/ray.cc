// ray: a cluster of a head and workers.
//
//   flag                default   |  container                               gets
//   --head              head      |  --headContainer of the --head task      ports gcs, dashboard, client-server, each
//   unless exposed;
//   --headContainer     head      |                                          command: ray start --head ...
//   --worker            worker    |  --workerContainer of the --worker task  command: ray start --address=<head
//   0>:<port>
//   --workerContainer   worker    |
//   --port              6379      |  Beside the pods: the Service <job>-head-svc before the head, ports by their names.
//   --dashboardPort     8265      |  A Job without the head task is refused.
//   --clientPort        10001     |
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "plugin/lifecycle/job_plugins/flags.h"
#include "plugin/lifecycle/job_plugins/plugins.h"
#include "plugin/lifecycle/job_plugins/pod_draft.h"
#include "plugin/lifecycle/job_plugins/task_hosts.h"
#include "plugin/lifecycle/words.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Job;
using api::volcano::TaskSpec;

struct RayFlags {
  std::string head = "head", head_container = "head", worker = "worker", worker_container = "worker";
  std::int64_t port = 6379, dashboard_port = 8265, client_port = 10001;

  struct Port {
    const char* name;
    std::int64_t number;
  };
  std::array<Port, 3> ports() const {
    return {{{"gcs", port}, {"dashboard", dashboard_port}, {"client-server", client_port}}};
  }
};

void Run(const std::string& command, boost::json::object& container) {
  container["command"] = boost::json::array{"sh", "-c", command};
}

absl::Status AddToPod(const Job& job, const RayFlags& flags, const TaskSpec& task, PodDraft& draft) {
  EachContainer(draft.spec, Containers::kRegular, [&](boost::json::object& container) {
    const std::string name = TextAt(container, "name");
    if (task.name == flags.head && name == flags.head_container) {
      for (const RayFlags::Port& port : flags.ports()) ExposePort(container, port.name, port.number);
      Run(absl::StrCat("ray start --head --block --dashboard-host=0.0.0.0 --port=", flags.port,
                       " --dashboard-port=", flags.dashboard_port, " --ray-client-server-port=", flags.client_port),
          container);
    }
    if (task.name == flags.worker && name == flags.worker_container) {
      Run(absl::StrCat("ray start --block --address=", AddressOf(job, *FindTask(job, flags.head), 0), ":", flags.port),
          container);
    }
  });
  return absl::OkStatus();
}

WantedObject HeadService(const Job& job, const RayFlags& flags) {
  WantedObject wanted;
  wanted.resource = &api::kServices;
  wanted.name = absl::StrCat(job.metadata.name, "-head-svc");
  api::JsonWriter json(wanted.body);
  json.BeginObject()
      .Field("apiVersion", wanted.resource->ApiVersion())
      .Field("kind", std::string(wanted.resource->kind));
  json.RawField("metadata", OwnedMetadata(job, wanted.name)).Key("spec").BeginObject().Key("selector").BeginObject();
  json.Field(kJobNameKey, job.metadata.name)
      .Field(kJobNamespaceKey, job.metadata.ns)
      .Field(kTaskSpecKey, flags.head)
      .EndObject();
  json.Key("ports").BeginArray();
  for (const RayFlags::Port& port : flags.ports()) {
    json.BeginObject()
        .Field("name", port.name)
        .Field("protocol", "TCP")
        .Field("port", port.number)
        .Field("targetPort", port.name)
        .EndObject();
  }
  json.EndArray().EndObject().EndObject();
  return wanted;
}

}  // namespace

absl::Status AddRay(const Job& job, const PluginFlags& texts, PluginEffects& effects) {
  RayFlags flags;
  Complain("ray",
           ReadFlags(texts, {{"head", &flags.head},
                             {"headContainer", &flags.head_container},
                             {"worker", &flags.worker},
                             {"workerContainer", &flags.worker_container},
                             {"port", &flags.port},
                             {"dashboardPort", &flags.dashboard_port},
                             {"clientPort", &flags.client_port}}),
           effects);
  if (FindTask(job, flags.head) == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("job ", job.metadata.name, " doesn't have head task ", flags.head));
  }
  effects.steps.push_back(
      [&job, flags](const TaskSpec& task, PodDraft& draft) { return AddToPod(job, flags, task, draft); });
  effects.objects.push_back(HeadService(job, flags));
  return absl::OkStatus();
}

}  // namespace gangway::lifecycle
