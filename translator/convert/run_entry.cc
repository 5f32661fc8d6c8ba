#include "translator/convert/run_entry.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/json.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "api/paddle/runtime_env.h"
#include "base/strings.h"
#include "translator/convert/names.h"
#include "translator/convert/svc_plugin.h"
#include "translator/convert/task_template.h"

namespace gangway::convert {
namespace {

namespace json = boost::json;
using api::ListAt;
using api::TextAt;
using api::ValueAt;
using api::paddle::Role;
using api::paddle::RuntimeVariable;

constexpr char kAnnotation[] = "paddle.gangway.io/run-entry";
constexpr char kStartFluid[] = "start_fluid";
constexpr std::int64_t kMostPods =
    10'000;  // of a task: lists of more are longer than Linux passes to a program, whatever the names

// What the script is told, or tells its program, and what is known better here: left out of the user's env. The old
// counts PADDLE_PSERVERS and PADDLE_TRAINERS are of the branch of the script that reads PADDLE_INIT_PORT; the second is
// a list of hosts to programs of today.
constexpr std::array<absl::string_view, 11> kTold{
    "POD_IP",         "PADDLE_CURRENT_IP", "TRAINING_ROLE",       "PADDLE_TRAINING_ROLE", "PADDLE_TRAINER_ID",
    "PADDLE_PORT",    "PADDLE_INIT_PORT",  "PADDLE_TRAINERS_NUM", "PADDLE_PSERVERS_NUM",  "PADDLE_TRAINERS",
    "PADDLE_PSERVERS"};

// Of a variable with a literal value; "" when it has none.
std::string Literal(const json::value& container, absl::string_view name) {
  for (const json::value& one : ListAt(container, {"env"})) {
    if (TextAt(one, {"name"}) == name) return TextAt(one, {"value"});
  }
  return "";
}

bool HasVariable(const json::value& container, absl::string_view name) {
  const json::array& env = ListAt(container, {"env"});
  return std::any_of(env.begin(), env.end(), [&](const json::value& one) { return TextAt(one, {"name"}) == name; });
}

// The regular containers of a pod template, to change.
json::array* ContainersOf(json::value& pod_template) {
  json::object* const top = pod_template.if_object();
  json::value* const spec = top == nullptr ? nullptr : top->if_contains("spec");
  json::object* const fields = spec == nullptr ? nullptr : spec->if_object();
  json::value* const containers = fields == nullptr ? nullptr : fields->if_contains("containers");
  return containers == nullptr ? nullptr : containers->if_array();
}

std::string ContainerField(absl::string_view field, std::size_t index) {
  return api::IndexPath(absl::StrCat(field, ".spec.containers"), index);
}

// A task whose pods run the script.
struct ScriptTask {
  std::size_t index = 0;  // in spec.tasks
  TaskSize size;
  Role role = Role::kTrainer;
  int port = 0;
  std::size_t container = 0;  // the one that runs it
};

std::optional<Role> RoleOf(absl::string_view word) {
  for (const char* const server : {"PSERVER", "pserver", "ps", "server"})
    if (word == server) return Role::kServer;
  for (const char* const trainer : {"TRAINER", "trainer", "worker"})
    if (word == trainer) return Role::kTrainer;
  return std::nullopt;
}

class EntryRewriter {
 public:
  EntryRewriter(json::value job, const Annotations& annotations, const TranslateOptions& options)
      : job_(std::move(job)),
        name_(TextAt(job_, {"metadata", "name"})),
        ns_(TextAt(job_, {"metadata", "namespace"})),
        annotations_(annotations),
        options_(options),
        style_{annotations.absolute_names, ns_.empty() ? "default" : ns_, options.cluster_domain} {}

  EntryRewrite Rewrite() && {
    FindTasks();
    if (out_.ok()) CheckNames();
    if (out_.ok() && !tasks_.empty()) {
      for (ScriptTask& task : tasks_) RewriteTask(task);
      AddSvc(job_);
      DropAnnotation();
      out_.changed = true;
    }
    Arrange(out_.findings);
    if (out_.ok()) out_.json = api::ToJson(job_);
    if (!out_.ok()) out_.before.clear();
    return std::move(out_);
  }

 private:
  void Add(Code code, absl::string_view field, absl::string_view value, absl::string_view rule, absl::string_view fix) {
    out_.findings.push_back(MakeFinding(code, field, value, rule, fix));
  }

  void FindTasks() {
    const json::array& tasks = ListAt(job_, {"spec", "tasks"});
    for (std::size_t i = 0; i < tasks.size(); ++i) FindTask(i, tasks[i]);
    if (tasks_.empty() && out_.ok()) {
      Add(Code::kUnused, AnnotationField("run-entry"), R"("on")", "no container of the job runs paddle_k8s start_fluid",
          "remove the annotation");
    }
  }

  void FindTask(std::size_t index, const json::value& task) {
    const json::array& containers = ListAt(task, {"template", "spec", "containers"});
    for (std::size_t i = 0; i < containers.size(); ++i) {
      const json::value& container = containers[i];
      if (!container.is_object() || PaddleK8sVerb(container.get_object()) != kStartFluid) continue;
      const std::string field = ContainerField(absl::StrCat(api::IndexPath("spec.tasks", index), ".template"), i);
      ScriptTask found;
      found.index = index;
      found.container = i;
      found.size.name = TextAt(task, {"name"});
      const json::value* const replicas = ValueAt(task, {"replicas"});
      const std::int64_t pods = replicas != nullptr && replicas->is_int64() ? replicas->get_int64() : 0;
      if (pods < 0 || pods > kMostPods) {
        return Add(Code::kEnvTooLarge, absl::StrCat(api::IndexPath("spec.tasks", index), ".replicas"),
                   absl::StrCat(pods),
                   absl::StrCat("must be from 0 to ", kMostPods, ": longer lists fit into no variable"), "");
      }
      found.size.replicas = static_cast<std::int32_t>(pods);
      if (found.size.name.empty()) found.size.name = absl::StrCat("default", index);  // as admission names it
      if (!TellRole(container, field, found) || !TellPort(container, field, found)) return;
      tasks_.push_back(std::move(found));
      return;
    }
  }

  bool TellRole(const json::value& container, const std::string& field, ScriptTask& task) {
    std::optional<Role> role;
    for (const char* const name : {"TRAINING_ROLE", "PADDLE_TRAINING_ROLE"}) {
      if (!role.has_value()) role = RoleOf(Literal(container, name));
    }
    if (!role.has_value()) role = RoleOf(task.size.name);
    if (!role.has_value()) {
      Add(Code::kEnum, absl::StrCat(field, ".env"), "", "TRAINING_ROLE says neither PSERVER nor TRAINER", "set it");
      return false;
    }
    for (const ScriptTask& other : tasks_) {
      if (other.role != *role) continue;
      Add(Code::kDuplicate, absl::StrCat(field, ".env"), "",
          absl::StrCat("task ", other.size.name, " has the same role: their pods would have the same numbers"),
          "make one task of the two");
      return false;
    }
    task.role = *role;
    return true;
  }

  bool TellPort(const json::value& container, const std::string& field, ScriptTask& task) {
    std::string port = Literal(container, "PADDLE_PORT");
    if (port.empty()) port = Literal(container, "PADDLE_INIT_PORT");
    task.port = api::paddle::kDefaultPort;
    if (port.empty() || (absl::SimpleAtoi(port, &task.port) && task.port > 0 && task.port <= 65535)) return true;
    Add(Code::kRefused, absl::StrCat(field, ".env"), api::JsonString(port), "PADDLE_PORT is no port", "");
    return false;
  }

  void CheckNames() {
    std::vector<TaskSize> sizes;
    for (const ScriptTask& task : tasks_) {
      sizes.push_back(task.size);
      std::vector<std::string>& hosts = task.role == Role::kServer ? cluster_.servers : cluster_.trainers;
      hosts = HostNames(name_, task.size, style_);
      (task.role == Role::kServer ? cluster_.ports.server : cluster_.ports.trainer) = task.port;
    }
    for (Finding& finding : CheckName(name_, sizes, style_)) out_.findings.push_back(std::move(finding));
  }

  // The program of either branch of the script finds what it looked for.
  std::vector<RuntimeVariable> EnvOf(const ScriptTask& task, bool accelerator) const {
    std::vector<RuntimeVariable> env = api::paddle::RuntimeEnv(cluster_, {task.role, OwnHost(), accelerator});
    const std::string servers = absl::StrCat(cluster_.servers.size());
    env.push_back({"PADDLE_PSERVERS_NUM", servers});
    env.push_back({"PADDLE_PSERVERS", servers});
    env.push_back({"PADDLE_INIT_PORT", absl::StrCat(task.port)});
    env.push_back({"PADDLE_TRAINER_IPS", absl::StrJoin(cluster_.trainers, ","), false, false, true});
    env.push_back({"PADDLE_PSERVER_ID", "metadata.labels['volcano.sh/task-index']", true});
    env.push_back({"PADDLE_CURRENT_IP", "$(POD_IP)"});
    return env;
  }
  std::string OwnHost() const {
    const std::string host = absl::StrCat("$(PADDLE_POD_NAME).", name_);
    return style_.absolute ? absl::StrCat(host, ".", style_.ns, ".svc.", style_.cluster_domain) : host;
  }

  void RewriteTask(const ScriptTask& task) {
    json::value& pod_template = job_.at("spec").at("tasks").at(task.index).at("template");
    const std::string field = absl::StrCat(api::IndexPath("spec.tasks", task.index), ".template");
    absl::StatusOr<api::paddle::FittedEnv> fitted = api::paddle::FitEnv(EnvOf(task, false));
    if (!fitted.ok())
      return Add(Code::kEnvTooLarge, "metadata.name", api::JsonString(name_), fitted.status().message(), "");
    DropTold(pod_template.at("spec").at("containers").at(task.container), ContainerField(field, task.container));
    ReplacePaddleK8s(pod_template, field, out_.findings);
    TemplateFacts facts;
    facts.field = field;
    facts.main_container = TextAt(pod_template.at("spec").at("containers").at(task.container), {"name"});
    facts.env = [&](bool accelerator) { return Short(EnvOf(task, accelerator), fitted->config_map); };
    facts.absolute_names = style_.absolute;
    facts.default_restart_policy = "OnFailure";
    if (annotations_.wait_dns) {
      facts.wait_for = cluster_.servers.empty() ? cluster_.trainers : cluster_.servers;
      facts.wait_for.insert(facts.wait_for.begin(), OwnHost());
    }
    facts.wait_image = annotations_.wait_dns_image;
    if (!fitted->config_map.empty()) {
      facts.env_source = EnvConfigMapName(name_);
      if (out_.before.empty())
        out_.before.push_back(
            ConfigMapOf({name_, ns_}, facts.env_source, fitted->config_map, "lists that are too long for a pod's env"));
    }
    const TaskTemplate made = MakeTaskTemplate(pod_template, facts, out_.findings);
    if (!out_.ok()) return;
    absl::StatusOr<json::value> parsed = api::ParseJson(made.json, job_.storage());
    if (parsed.ok()) job_.at("spec").at("tasks").at(task.index).at("template") = *std::move(parsed);
  }

  // Without what the config map has.
  static std::vector<RuntimeVariable> Short(std::vector<RuntimeVariable> env,
                                            const std::map<std::string, std::string>& elsewhere) {
    env.erase(std::remove_if(env.begin(), env.end(),
                             [&](const RuntimeVariable& one) { return elsewhere.contains(one.name); }),
              env.end());
    return env;
  }

  // Says where a count was another than the replicas: the pods would have waited for ever.
  void DropTold(json::value& container, const std::string& field) {
    const auto compare = [&](const char* name, std::size_t real) {
      const std::string given = Literal(container, name);
      if (given.empty() || given == absl::StrCat(real)) return;
      Add(Code::kEnvReserved, absl::StrCat(field, ".env"), api::JsonString(given),
          absl::StrCat(name, " is ", given, ", and the job has ", real, ": ", real, " is taken"), "remove it");
    };
    compare("PADDLE_TRAINERS_NUM", cluster_.trainers.size());
    compare("PADDLE_PSERVERS_NUM", cluster_.servers.size());
    json::value* const env = container.as_object().if_contains("env");
    if (env == nullptr || !env->is_array()) return;
    json::array kept(env->storage());
    for (json::value& one : env->get_array()) {
      const std::string name = TextAt(one, {"name"});
      if (std::find(kTold.begin(), kTold.end(), name) == kTold.end()) kept.push_back(std::move(one));
    }
    env->get_array() = std::move(kept);
  }

  // What it asked for is done.
  void DropAnnotation() {
    json::object& metadata = job_.at("metadata").as_object();
    json::value* const annotations = metadata.if_contains("annotations");
    if (annotations == nullptr || !annotations->is_object()) return;
    json::object& all = annotations->get_object();
    if (const auto at = all.find(kAnnotation); at != all.end()) api::EraseMember(all, at);
    if (all.empty()) metadata.erase("annotations");
  }

  void AddSvc(json::value& job) const {
    json::object& spec = job.at("spec").as_object();
    json::value& plugins = spec["plugins"];
    if (!plugins.is_object()) plugins.emplace_object();
    json::value& svc = plugins.get_object()["svc"];
    if (svc.is_null() || (svc.is_array() && svc.get_array().empty())) {
      json::array& arguments = svc.emplace_array();
      for (const std::string& argument : SvcArguments(annotations_.network_policy, options_))
        arguments.push_back(json::value(argument));
      return;
    }
    const auto publishes = [](const json::value& one) {
      return one.is_string() && absl::StrContains(View(one.get_string()), "publish-not-ready-addresses");
    };
    if (svc.is_array() && std::none_of(svc.get_array().begin(), svc.get_array().end(), publishes)) {
      // In front: Volcano's plugin stops reading at a flag that it does not know.
      svc.get_array().insert(svc.get_array().begin(), json::value("--publish-not-ready-addresses=true"));
    }
  }

  json::value job_;
  const std::string name_, ns_;
  const Annotations& annotations_;
  const TranslateOptions& options_;
  const NameStyle style_;
  std::vector<ScriptTask> tasks_;
  api::paddle::RuntimeCluster cluster_;
  EntryRewrite out_;
};

}  // namespace

json::array RunEntryCommand() { return {"sh", "-c", R"(exec sh -c "$ENTRY")"}; }

std::optional<std::string> PaddleK8sVerb(const json::object& container) {
  std::vector<std::string> words;
  for (const char* const list : {"command", "args"}) {
    const json::value* const given = container.if_contains(list);
    if (given == nullptr || !given->is_array()) continue;
    for (const json::value& word : given->get_array()) {
      if (!word.is_string()) continue;
      for (const absl::string_view part :
           absl::StrSplit(View(word.get_string()), absl::ByAnyChar(" \t\n;&"), absl::SkipEmpty()))
        words.emplace_back(part);
    }
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string base = words[i].substr(words[i].rfind('/') == std::string::npos ? 0 : words[i].rfind('/') + 1);
    if (base == "paddle_k8s" || base == "set_k8s_env.sh") return i + 1 < words.size() ? words[i + 1] : "";
  }
  return std::nullopt;
}

bool ReplacePaddleK8s(json::value& pod_template, absl::string_view field, Findings& findings) {
  json::array* const containers = ContainersOf(pod_template);
  bool found = false;
  for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
    json::object* const container = (*containers)[i].if_object();
    if (container == nullptr || PaddleK8sVerb(*container) != kStartFluid) continue;
    found = true;
    if (!HasVariable((*containers)[i], "ENTRY") && ListAt((*containers)[i], {"envFrom"}).empty()) {
      findings.push_back(MakeFinding(Code::kNoContainer, absl::StrCat(ContainerField(field, i), ".env"), "",
                                     "there is no ENTRY, which says what paddle_k8s runs", "add it"));
    }
    (*container)["command"] = RunEntryCommand();
    container->erase("args");
  }
  return found;
}

EntryRewrite RewriteRunEntry(const json::value& job, const Annotations& annotations, const TranslateOptions& options) {
  return EntryRewriter(job, annotations, options).Rewrite();
}

std::vector<PodLister> PodListersOf(const json::value& job, absl::string_view default_ns) {
  std::vector<PodLister> out;
  const std::string wish = TextAt(job, {"metadata", "annotations", kAnnotation});
  if (wish == "on" || wish == "true") return out;
  const std::string ns = TextAt(job, {"metadata", "namespace"});
  const json::array& tasks = ListAt(job, {"spec", "tasks"});
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const json::array& containers = ListAt(tasks[i], {"template", "spec", "containers"});
    for (std::size_t k = 0; k < containers.size(); ++k) {
      if (!containers[k].is_object() || !PaddleK8sVerb(containers[k].get_object()).has_value()) continue;
      const std::string account = TextAt(tasks[i], {"template", "spec", "serviceAccountName"});
      out.push_back({ns.empty() ? std::string(default_ns) : ns, account.empty() ? "default" : account,
                     ContainerField(absl::StrCat(api::IndexPath("spec.tasks", i), ".template"), k),
                     TextAt(tasks[i], {"name"})});
    }
  }
  return out;
}

std::string AdviceFor(const PodLister& lister, absl::string_view job) {
  return absl::StrCat(
      "pods of task ", lister.task,
      " run paddle_k8s, which lists pods until all servers run: without that right the job waits for ever. Give it to "
      "their service account: "
      "kubectl create role pod-reader --verb=get,list --resource=pods -n ",
      lister.ns, "; kubectl create rolebinding ", job, "-pod-reader --role=pod-reader --serviceaccount=", lister.ns,
      ":", lister.service_account, " -n ", lister.ns,
      "; or annotate the job with paddle.gangway.io/run-entry: \"on\" and translate it, then no right is needed");
}

}  // namespace gangway::convert
