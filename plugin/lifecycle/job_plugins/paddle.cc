// paddle: what the Paddle runtime reads (api/paddle/runtime_env.h), which Volcano has no plugin for.
//
//   flag           default                 |  env of containers: who the pod is before the user's own, who the others
//   are unless the
//   --server       ps, if there is one     |  user says it; the first container exposes the port.
//   --worker       worker, if there is one |  Which tasks there are makes the mode: with servers parameter-server mode,
//   with heter
//   --heter        heter, if there is one  |  trainers too the pipeline of two stages, with workers alone collective.
//   --port         36000; on the host      |  On the host network each role has a port of its own, counted from the
//   port, and declares
//                  network from the name   |  it, so that two such pods never share a node.
//   --with-gloo    false                   |  Needs svc, for the names.
//
// Env is fixed when a pod is made: it names the pods that the Job has then.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/paddle/accelerator.h"
#include "api/paddle/job_roles.h"
#include "api/paddle/runtime_env.h"
#include "base/status_macros.h"
#include "plugin/lifecycle/job_plugins/flags.h"
#include "plugin/lifecycle/job_plugins/plugins.h"
#include "plugin/lifecycle/job_plugins/pod_draft.h"
#include "plugin/lifecycle/job_plugins/task_hosts.h"

namespace gangway::lifecycle {
namespace {

namespace json = boost::json;
namespace paddle = api::paddle;
using api::volcano::Job;
using api::volcano::TaskSpec;

using Lists = std::map<std::string, std::string>;  // by variable

struct PaddleFlags {
  paddle::RoleFlags roles;
  std::int64_t port = 0;  // 0: not given
  bool with_gloo = false;
};

std::string ReadPaddleFlags(const PluginFlags& texts, PaddleFlags& flags) {
  const std::string kNotGiven(1, '\0');
  std::string server = kNotGiven, worker = kNotGiven, heter = kNotGiven;
  std::string complaint = ReadFlags(texts, {{"server", &server},
                                            {"worker", &worker},
                                            {"heter", &heter},
                                            {"port", &flags.port},
                                            {"with-gloo", &flags.with_gloo}});
  const auto keep = [&](const std::string& text, std::optional<std::string>& to) {
    if (text != kNotGiven) to = text;
  };
  keep(server, flags.roles.server);
  keep(worker, flags.roles.worker);
  keep(heter, flags.roles.heter);
  return complaint;
}

// What of a template decides about more than its own pods.
struct PaddleTemplate {
  struct Resources {
    std::map<std::string, api::Document> requests, limits;
    static constexpr std::string_view kName = "ResourceRequirements";
    static constexpr bool kView = true;
    static constexpr auto Fields() {
      return api::MakeFields(api::MakeField<&Resources::requests>("requests", ""),
                             api::MakeField<&Resources::limits>("limits", ""));
    }
  };
  struct Variable {
    std::string name;
    static constexpr std::string_view kName = "EnvVar";
    static constexpr bool kView = true;
    static constexpr auto Fields() { return api::MakeFields(api::MakeField<&Variable::name>("name", "")); }
  };
  struct Container {
    Resources resources;
    std::vector<Variable> env;
    static constexpr std::string_view kName = "Container";
    static constexpr bool kView = true;
    static constexpr auto Fields() {
      return api::MakeFields(api::MakeField<&Container::resources>("resources", ""),
                             api::MakeField<&Container::env>("env", ""));
    }
  };
  struct Spec {
    std::vector<Container> containers;
    bool host_network = false;
    static constexpr std::string_view kName = "PodSpec";
    static constexpr bool kView = true;
    static constexpr auto Fields() {
      return api::MakeFields(api::MakeField<&Spec::containers>("containers", ""),
                             api::MakeField<&Spec::host_network>("hostNetwork", ""));
    }
  };
  Spec spec;
  static constexpr std::string_view kName = "PodTemplateSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&PaddleTemplate::spec>("spec", "")); }
};

PaddleTemplate TemplateOf(const TaskSpec& task) {
  // A template that does not decode asks for nothing; building its pods says what is wrong with it.
  return api::Decode<PaddleTemplate>(task.pod_template.json).value_or(PaddleTemplate{});
}

bool AsksForAccelerator(const PaddleTemplate& pod) {
  return std::any_of(pod.spec.containers.begin(), pod.spec.containers.end(),
                     [](const PaddleTemplate::Container& container) {
                       const auto any = [](const auto& amounts) {
                         return std::any_of(amounts.begin(), amounts.end(),
                                            [](const auto& one) { return paddle::IsAccelerator(one.first); });
                       };
                       return any(container.resources.requests) || any(container.resources.limits);
                     });
}

// The Job as Paddle sees it.
class PaddleJob {
 public:
  PaddleJob(const Job& job, const PaddleFlags& flags, paddle::RoleTasks roles)
      : job_(job), flags_(flags), roles_(std::move(roles)) {
    for (const TaskSpec* const task : Tasks()) host_network_ = host_network_ || TemplateOf(*task).spec.host_network;
  }

  // What keeps the Job from running at all.
  absl::Status Check() const {
    if (!job_.spec.plugins.contains("svc")) {
      return absl::InvalidArgumentError(
          "the job plugin paddle needs the plugin svc, which makes the headless Service that the pods' names stand in; "
          "add svc: [\"--publish-not-ready-addresses=true\"]");
    }
    for (const TaskSpec* const task : Tasks()) {
      const std::string hostname = HostNamesOf(job_, *task).hostname;
      if (hostname.empty() || task->replicas <= 1) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("task ", task->name, ": its template calls all of its ", task->replicas, " pods ", hostname,
                       ", and Paddle tells pods apart by their names; remove the hostname"));
    }
    if (flags_.port == 0) return absl::OkStatus();
    const int most = host_network_ ? 3 * paddle::kPortsOfARole - 1 : flags_.with_gloo ? paddle::kGlooOffset : 0;
    return paddle::CheckPort(flags_.port, most);
  }

  // What it may fail by.
  std::vector<std::string> Warnings() const {
    std::vector<std::string> out;
    if (!ParseSvcFlags(job_.spec.plugins.at("svc")).publish_not_ready_addresses) {
      out.push_back(
          "svc does not publish the addresses of pods that are not ready, so a program may start before the names it "
          "needs are known, "
          "and a parameter server then ends with code 139; add --publish-not-ready-addresses=true to svc");
    }
    for (const TaskSpec* const task : Tasks()) {
      const std::string domain = HostNamesOf(job_, *task).domain;
      if (domain == job_.metadata.name) continue;
      out.push_back(absl::StrCat("task ", task->name, ": its template's subdomain ", domain,
                                 " needs a headless Service of that name, and svc makes ", job_.metadata.name,
                                 "; remove the subdomain"));
    }
    for (const TaskSpec* const task : Tasks()) {
      std::set<std::string> own;
      for (const PaddleTemplate::Container& container : TemplateOf(*task).spec.containers) {
        for (const PaddleTemplate::Variable& one : container.env) {
          if (paddle::IsIdentity(one.name)) own.insert(one.name);
        }
      }
      if (own.empty()) continue;
      out.push_back(absl::StrCat("task ", task->name, ": its own ", absl::StrJoin(own, ", "),
                                 " are left out, because the plugin says who a pod is; remove them"));
    }
    return out;
  }

  paddle::RuntimeCluster Cluster() const {
    paddle::RuntimeCluster cluster;
    cluster.servers = Hosts(roles_.server);
    cluster.trainers = Hosts(roles_.worker);
    cluster.heters = Hosts(roles_.heter);
    cluster.host_network = host_network_;
    cluster.with_gloo = flags_.with_gloo;
    if (host_network_) {
      cluster.ports = paddle::HostPorts(flags_.port != 0 ? static_cast<int>(flags_.port)
                                                         : paddle::HostPortBase(job_.metadata.ns, job_.metadata.name));
    } else if (flags_.port != 0) {
      const int port = static_cast<int>(flags_.port);
      cluster.ports = {port, port, port};
    }
    if (const TaskSpec* const heter = FindTask(job_, roles_.heter))
      cluster.heter_accelerator = AsksForAccelerator(TemplateOf(*heter));
    return cluster;
  }

  // nullopt: the task plays no role.
  std::optional<paddle::Role> RoleOf(const TaskSpec& task) const {
    if (task.name == roles_.server) return paddle::Role::kServer;
    if (task.name == roles_.worker) return paddle::Role::kTrainer;
    if (task.name == roles_.heter) return paddle::Role::kHeter;
    return std::nullopt;
  }

  // The text that a pod of the task calls itself; the lists hold the same.
  std::string OwnHost(const TaskSpec& task) const {
    const HostNames names = HostNamesOf(job_, task);
    return absl::StrCat(names.hostname.empty() ? "$(PADDLE_POD_NAME)" : names.hostname, ".", names.domain);
  }

  std::string ConfigMapName() const { return absl::StrCat(job_.metadata.name, "-paddle-env"); }

  // Whether the lists could be too long to stand in the pods: cheap, and never wrong in saying no.
  bool MayNeedConfigMap() const {
    std::size_t bytes = 0;
    for (const TaskSpec* const task : Tasks()) {
      const std::size_t entry = AddressOf(job_, *task, task->replicas).size() + sizeof(":65535,");
      bytes += 4 * entry * static_cast<std::size_t>(std::max(task->replicas, 0));
    }
    return bytes > 16 * 1024;
  }

  // Those that stand in a config map, for all roles; empty: they stand in the pods.
  absl::StatusOr<Lists> LongLists() const {
    if (!MayNeedConfigMap()) return Lists{};
    const paddle::RuntimeCluster cluster = Cluster();
    const paddle::Role role = cluster.trainers.empty() ? paddle::Role::kServer : paddle::Role::kTrainer;
    GW_ASSIGN_OR_RETURN(paddle::FittedEnv fitted, paddle::FitEnv(paddle::RuntimeEnv(cluster, {role, "", false})));
    // These two differ between roles, so they stay in the pods.
    fitted.config_map.erase("PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST");
    fitted.config_map.erase("PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST");
    return std::move(fitted.config_map);
  }

 private:
  std::vector<const TaskSpec*> Tasks() const {
    std::vector<const TaskSpec*> out;
    for (const TaskSpec& task : job_.spec.tasks) {
      if (RoleOf(task)) out.push_back(&task);
    }
    return out;
  }
  std::vector<std::string> Hosts(const std::string& task) const {
    const TaskSpec* const found = task.empty() ? nullptr : FindTask(job_, task);
    return found == nullptr ? std::vector<std::string>() : AddressesOf(job_, *found);
  }

  const Job& job_;
  const PaddleFlags flags_;
  const paddle::RoleTasks roles_;
  bool host_network_ = false;
};

json::object Entry(const paddle::RuntimeVariable& one) {
  if (!one.from_field) return json::object{{"name", one.name}, {"value", one.value}};
  return json::object{{"name", one.name},
                      {"valueFrom", json::object{{"fieldRef", json::object{{"fieldPath", one.value}}}}}};
}

// A pod whose port is not the one in the lists does not find itself there.
absl::Status CheckOwnPort(const json::object& container, int port) {
  const json::value* const env = container.if_contains("env");
  if (env == nullptr || !env->is_array()) return absl::OkStatus();
  for (const json::value& one : env->as_array()) {
    if (!one.is_object() || TextAt(one.as_object(), "name") != "PADDLE_PORT") continue;
    const std::string own = TextAt(one.as_object(), "value");
    if (own.empty() || own == absl::StrCat(port)) continue;
    return absl::InvalidArgumentError(absl::StrCat("container ", TextAt(container, "name"), " sets PADDLE_PORT to ",
                                                   own, ", and its peers expect ", port,
                                                   "; remove the variable, or give the plugin paddle the flag --port"));
  }
  return absl::OkStatus();
}

// Before the user's env, so that it may refer to these. Of what says who the pod is, the user's own goes; of the rest
// it stays instead.
void PutEnv(const std::vector<paddle::RuntimeVariable>& env, json::object& container) {
  json::array& users = ListAt(container, "env");
  std::set<std::string> given;
  for (const json::value& one : users) {
    if (one.is_object()) given.insert(TextAt(one.as_object(), "name"));
  }
  json::array all;
  std::set<std::string> identity;
  for (const paddle::RuntimeVariable& one : env) {
    if (one.identity) identity.insert(one.name);
    if (one.identity || !given.contains(one.name)) all.push_back(Entry(one));
  }
  for (json::value& one : users) {
    if (!one.is_object() || !identity.contains(TextAt(one.as_object(), "name"))) all.push_back(std::move(one));
  }
  users = std::move(all);
}

// Before the user's sources, of which the last one wins.
void PutSource(const std::string& config_map, json::object& container) {
  json::array& sources = ListAt(container, "envFrom");
  sources.insert(sources.begin(), json::object{{"configMapRef", json::object{{"name", config_map}}}});
}

// A port that is taken on the node as well, so that the scheduler sees it.
void ExposeHostPort(json::object& container, int port) {
  ExposePort(container, "", port);
  for (json::value& one : ListAt(container, "ports")) {
    if (one.is_object() && one.as_object().contains("containerPort") && one.at("containerPort") == port)
      one.as_object()["hostPort"] = port;
  }
}

void ExposePorts(const paddle::RuntimeCluster& cluster, paddle::Role role, bool on_host, json::object& container) {
  const int port = cluster.ports.Of(role);
  std::vector<int> ports = {port};
  if (role == paddle::Role::kServer && cluster.with_gloo > 0) ports.push_back(port + paddle::kGlooOffset);
  if (on_host && cluster.servers.empty()) {  // one process for each accelerator
    const int processes =
        static_cast<int>(std::clamp<std::int64_t>(paddle::Accelerators(container), 1, paddle::kPortsOfARole));
    for (int i = 1; i < processes; ++i) ports.push_back(port + i);
  }
  for (const int one : ports) {
    if (on_host)
      ExposeHostPort(container, one);
    else
      ExposePort(container, "", one);
  }
}

absl::Status AddToPod(const PaddleJob& job, const Lists& lists, const TaskSpec& task, PodDraft& draft) {
  const std::optional<paddle::Role> role = job.RoleOf(task);
  if (!role) return absl::OkStatus();
  const paddle::RuntimeCluster cluster = job.Cluster();
  const json::value* const host_network = draft.spec.if_contains("hostNetwork");
  const bool on_host = host_network != nullptr && host_network->is_bool() && host_network->as_bool();
  bool first = true;
  absl::Status status;
  EachContainer(draft.spec, Containers::kRegular, [&](json::object& container) {
    std::vector<paddle::RuntimeVariable> env =
        paddle::RuntimeEnv(cluster, {*role, job.OwnHost(task), paddle::Accelerators(container) > 0});
    std::erase_if(env, [&](const paddle::RuntimeVariable& one) { return lists.contains(one.name); });
    status.Update(paddle::FitEnv(env).status());
    status.Update(CheckOwnPort(container, cluster.ports.Of(*role)));
    PutEnv(env, container);
    if (!lists.empty()) PutSource(job.ConfigMapName(), container);
    if (std::exchange(first, false)) ExposePorts(cluster, *role, on_host, container);
  });
  return status;
}

}  // namespace

absl::Status AddPaddle(const Job& job, const PluginFlags& texts, PluginEffects& effects) {
  PaddleFlags flags;
  Complain("paddle", ReadPaddleFlags(texts, flags), effects);
  std::vector<std::string> tasks;
  for (const TaskSpec& task : job.spec.tasks) tasks.push_back(task.name);
  GW_ASSIGN_OR_RETURN(paddle::RoleTasks roles, paddle::FindRoles(flags.roles, tasks));
  const PaddleJob seen(job, flags, std::move(roles));
  GW_RETURN_IF_ERROR(seen.Check());
  for (const std::string& warning : seen.Warnings()) Complain("paddle", warning, effects);
  GW_ASSIGN_OR_RETURN(Lists lists, seen.LongLists());
  if (!lists.empty()) effects.objects.push_back(OwnedConfigMap(job, seen.ConfigMapName(), lists));
  effects.steps.push_back([seen, lists = std::move(lists)](const TaskSpec& task, PodDraft& draft) {
    return AddToPod(seen, lists, task, draft);
  });
  return absl::OkStatus();
}

}  // namespace gangway::lifecycle
