#include "translator/convert/paddle_rec.h"

#include <algorithm>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/paddle/paddle_rec.h"
#include "api/paddle/runtime_env.h"
#include "api/volcano/defaults.h"
#include "base/strings.h"
#include "translator/convert/kubernetes.h"
#include "translator/convert/names.h"
#include "translator/convert/policies.h"
#include "translator/convert/run_entry.h"
#include "translator/convert/svc_plugin.h"
#include "translator/convert/task_template.h"

namespace gangway::convert {
namespace {

namespace json = boost::json;
using api::paddle::RecBackend;
using api::paddle::RecConfig;
using api::paddle::Role;
using api::paddle::RuntimeVariable;

constexpr char kServerTask[] = "pserver", kTrainerTask[] = "trainer";
constexpr int kRecPort = 30240;
constexpr std::int32_t kRecMaxRestarts = 2;         // Volcano's default, which PaddleRec left standing: three runs
constexpr std::size_t kMaxConfigBytes = 1'000'000;  // of a config map, with room for its metadata
constexpr int kAnybodyMayRun = 0777;                // as PaddleRec mounted it
constexpr char kTaskIndex[] = "metadata.labels['volcano.sh/task-index']";

api::Quantity AtMost(const api::Quantity& limit, absl::string_view most) {
  return std::min(limit, *api::Quantity::Parse(most));
}

class RecTranslator {
 public:
  RecTranslator(const RecSource& source, const RecBackend& backend, const RecConfig& config,
                const TranslateOptions& options)
      : source_(source),
        backend_(backend),
        config_(config),
        options_(options),
        tasks_{{kServerTask, backend.servers}, {kTrainerTask, backend.trainers}} {
    cluster_.servers = HostNames(backend.job_name, tasks_[0], {});
    cluster_.trainers = HostNames(backend.job_name, tasks_[1], {});
    cluster_.ports = {kRecPort, kRecPort, kRecPort};
  }

  void Write(RecTranslation& out) {
    out.before.push_back(ConfigMapOf(Owner(), RecConfigMapName(backend_.job_name),
                                     {{"config.yaml", source_.config_text}}, "what is trained: the pods mount it"));
    api::volcano::Job& job = out.job;
    job.api_version = api::kJobs.ApiVersion();
    job.kind = std::string(api::kJobs.kind);
    job.metadata.name = backend_.job_name;
    job.metadata.ns = source_.ns;
    job.spec.scheduler_name = std::string(api::volcano::kDefaultScheduler);
    job.spec.queue =
        options_.namespace_queue.empty() ? std::string(api::volcano::kDefaultQueue) : options_.namespace_queue;
    job.spec.min_available = backend_.servers + backend_.trainers;
    job.spec.volumes = source_.volumes;
    job.spec.plugins = {{"env", {}}, {"svc", SvcArguments(false, options_)}};
    if (!AddTask(Role::kServer, out) || !AddTask(Role::kTrainer, out)) return;
    AddPolicies(out);
    if (options_.target == Target::kKubernetes) AddObjects(out);
  }

 private:
  CompanionOwner Owner() const { return {backend_.job_name, source_.ns}; }

  // What the launch script added when it had found the pods: here it is known before.
  std::vector<RuntimeVariable> Peers(Role role) const {
    std::vector<RuntimeVariable> env = api::paddle::RuntimeEnv(cluster_, {role, OwnHost(), false});
    env.push_back({"PADDLE_PSERVERS_NUM", absl::StrCat(backend_.servers)});
    env.push_back({"PADDLE_TRAINER_IPS", absl::StrJoin(cluster_.trainers, ","), false, false, true});
    env.push_back({"PADDLE_PSERVER_ID", kTaskIndex, true});
    env.push_back({"PADDLE_CURRENT_IP", "$(POD_IP)"});
    return env;
  }
  std::string OwnHost() const { return absl::StrCat("$(PADDLE_POD_NAME).", backend_.job_name); }

  // What PaddleRec's template had besides.
  json::array OwnEnv(Role role) const {
    json::array env;
    const auto add = [&](const char* name, const std::string& value) {
      env.push_back(json::object{{"name", name}, {"value", value}});
    };
    const auto from = [&](const char* name, const char* field) {
      env.push_back(
          json::object{{"name", name}, {"valueFrom", json::object{{"fieldRef", json::object{{"fieldPath", field}}}}}});
    };
    add("PADDLE_JOB_NAME", backend_.job_name);
    add("PADDLE_IS_LOCAL", "0");
    add("CPU_NUM", absl::StrCat(config_.threads));
    add("GLOG_v", absl::StrCat(backend_.log_level));
    add("GLOG_logtostderr", "1");
    if (role == Role::kServer) add("TOPOLOGY", "");
    add("TRAINER_PACKAGE", "/root/paddlejob");
    add("PADDLE_INIT_NICS", "eth2");
    from("NAMESPACE", "metadata.namespace");
    from("POD_NAME", "metadata.name");
    add("FLAGS_rpc_deadline", "36000000");
    if (config_.late) {
      add("PADDLE_PADDLEREC_ROLE", "WORKER");
      add("PADDLEREC_CLUSTER_TYPE", "K8S");
    }
    add("ENTRY",
        absl::StrCat("python -m paddlerec.run -m ", kRecMountPath, "/config.yaml", config_.late ? "" : " -r WORKER"));
    return env;
  }

  json::object Container(Role role) const {
    return {{"name", role == Role::kServer ? kServerTask : kTrainerTask},
            {"image", backend_.image},
            {"imagePullPolicy", "Always"},
            {"command", RunEntryCommand()},
            {"env", OwnEnv(role)},
            {"resources", Resources()},
            {"volumeMounts", json::array{json::object{{"name", "modelconfig"}, {"mountPath", kRecMountPath}}}}};
  }

  // The template asked for a core and a gibibyte whatever the limits were: pods with less were refused.
  json::object Resources() const {
    const std::string memory = backend_.memory.ToString(), storage = backend_.storage.ToString();
    return {{"limits",
             json::object{{"cpu", absl::StrCat(config_.threads)}, {"memory", memory}, {"ephemeral-storage", storage}}},
            {"requests", json::object{{"cpu", "1"},
                                      {"memory", AtMost(backend_.memory, "1Gi").ToString()},
                                      {"ephemeral-storage", AtMost(backend_.storage, "1Gi").ToString()}}}};
  }

  json::value Template(Role role) const {
    const char* const label = role == Role::kServer ? "paddle-job-pserver" : "paddle-job";
    json::object volume{
        {"name", "modelconfig"},
        {"configMap", json::object{{"name", RecConfigMapName(backend_.job_name)}, {"defaultMode", kAnybodyMayRun}}}};
    return {{"metadata", json::object{{"labels", json::object{{label, backend_.job_name}}}}},
            {"spec", json::object{{"restartPolicy", "OnFailure"},
                                  {"imagePullSecrets", json::array{json::object{{"name", "default-secret"}}}},
                                  {"containers", json::array{Container(role)}},
                                  {"volumes", json::array{std::move(volume)}}}}};
  }

  // False after an error.
  bool AddTask(Role role, RecTranslation& out) const {
    absl::StatusOr<api::paddle::FittedEnv> fitted = api::paddle::FitEnv(Peers(role));
    if (!fitted.ok()) {
      out.backend_errors.push_back({api::FieldError::Type::kTooLong, backend_.job_name_field,
                                    api::JsonString(backend_.job_name), std::string(fitted.status().message()), ""});
      return false;
    }
    const TaskSize& size = tasks_[role == Role::kServer ? 0 : 1];
    TemplateFacts facts;
    facts.env = [&](bool) { return fitted->env; };
    facts.ports = {{kRecPort}};
    facts.wait_for = cluster_.servers;
    facts.wait_for.insert(facts.wait_for.begin(), OwnHost());
    if (!fitted->config_map.empty()) {
      facts.env_source = EnvConfigMapName(backend_.job_name);
      // Both roles have the same lists.
      if (role == Role::kServer)
        out.before.push_back(
            ConfigMapOf(Owner(), facts.env_source, fitted->config_map, "lists that are too long for a pod's env"));
    }
    if (options_.target == Target::kKubernetes) facts.indexed_job = IndexedJobName(backend_.job_name, size.name);
    json::value pod_template = Template(role);
    api::volcano::TaskSpec task;
    task.name = size.name;
    task.replicas = size.replicas;
    task.min_available = size.replicas;
    task.pod_template.json = MakeTaskTemplate(pod_template, facts, out.findings).json;
    out.job.spec.tasks.push_back(std::move(task));
    return !HasErrors(out.findings);
  }

  // Neither file has a place for what is told of.
  void AddObjects(RecTranslation& out) const {
    KubernetesWishes wishes;
    wishes.scheduler = options_.scheduler_name;
    wishes.completing_task = kTrainerTask;
    wishes.field = wishes.queue_field = wishes.min_available_field = "";
    KubernetesObjects made = MakeKubernetesObjects(out.job, wishes);
    out.objects = std::move(made.objects);
    for (Finding& finding : made.findings) {
      if (!absl::StartsWith(finding.error.field, "template")) out.findings.push_back(std::move(finding));
    }
    SayForKubernetes(out.findings);
  }

  void AddPolicies(RecTranslation& out) const {
    Annotations wishes;
    wishes.max_restarts = kRecMaxRestarts;
    if (options_.target == Target::kVolcano) wishes.server_grace = absl::ZeroDuration();
    const JobPolicies policies = PoliciesFor(
        {{kServerTask, backend_.servers, "OnFailure", true}, {kTrainerTask, backend_.trainers, "OnFailure", false}},
        kTrainerTask, false, wishes, options_);
    out.job.spec.policies = policies.policies;
    out.job.spec.max_retry = policies.max_retry;
    for (std::size_t i = 0; i < policies.tasks.size(); ++i) {
      out.job.spec.tasks[i].policies = policies.tasks[i].policies;
      out.job.spec.tasks[i].max_retry = policies.tasks[i].max_retry;
    }
    for (Finding finding : policies.findings) {
      if (finding.code == Code::kRestart) continue;  // said in the guide; the files have no place for a wish
      finding.error.field.clear();
      out.findings.push_back(std::move(finding));
    }
  }

  const RecSource& source_;
  const RecBackend& backend_;
  const RecConfig& config_;
  const TranslateOptions& options_;
  const std::vector<TaskSize> tasks_;
  api::paddle::RuntimeCluster cluster_;
};

void CheckNames(const RecBackend& backend, RecTranslation& out) {
  for (const Finding& finding :
       CheckName(backend.job_name, {{kServerTask, backend.servers}, {kTrainerTask, backend.trainers}}, {})) {
    api::FieldError error = finding.error;
    error.field = backend.job_name_field;
    out.backend_errors.push_back(std::move(error));
  }
}

}  // namespace

std::string RecConfigMapName(absl::string_view job) { return absl::StrCat(job, "-modelconfig"); }

RecTranslation TranslateRec(const RecSource& source, const TranslateOptions& options) {
  api::paddle::RecBackendReading backend = api::paddle::ReadRecBackend(source.backend_json);
  api::paddle::RecConfigReading config = api::paddle::ReadRecConfig(source.config_json);
  RecTranslation out;
  if (backend.ok()) CheckNames(backend.backend, out);
  if (source.config_text.size() > kMaxConfigBytes) {
    config.errors.push_back(
        {api::FieldError::Type::kTooLong, "", "",
         absl::StrCat("has ", source.config_text.size(), " bytes, and a config map holds about ", kMaxConfigBytes),
         ""});
  }
  const bool good = backend.ok() && config.ok() && out.ok();
  if (good) RecTranslator(source, backend.backend, config.config, options).Write(out);
  out.backend_errors.insert(out.backend_errors.begin(), backend.errors.begin(), backend.errors.end());
  out.backend_warnings = std::move(backend.warnings);
  out.config_errors = std::move(config.errors);
  if (!out.ok()) {
    out.job = {};
    out.before.clear();
  }
  return out;
}

}  // namespace gangway::convert
