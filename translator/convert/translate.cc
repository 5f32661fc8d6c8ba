#include "translator/convert/translate.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/name.h"
#include "api/paddle/runtime_env.h"
#include "api/volcano/defaults.h"
#include "base/check.h"
#include "base/counted.h"
#include "base/nearest.h"
#include "base/strings.h"
#include "translator/convert/annotations.h"
#include "translator/convert/explain.h"
#include "translator/convert/job_parts.h"
#include "translator/convert/kubernetes.h"
#include "translator/convert/policies.h"
#include "translator/convert/run_entry.h"
#include "translator/convert/task_template.h"

namespace gangway::convert {
namespace {

namespace json = boost::json;
namespace paddle = api::paddle;
using paddle::RuntimeVariable;

constexpr std::int32_t kMostWaitedFor = 32;            // workers whose names each worker waits for
constexpr std::int64_t kMostPodListBytes = 16 * 1024;  // of all lists of a pod, see FitEnv

struct Task {
  paddle::Role role = paddle::Role::kTrainer;
  const paddle::RoleSpec* spec = nullptr;
  std::optional<json::value> document =
      std::nullopt;  // the template, in the translator's memory; absent: there is none that could be read
  TemplateTraits traits = {};
  TaskTemplate made = {};
  std::string field() const { return absl::StrCat("spec.", name(), ".template"); }
  absl::string_view name() const {
    return role == paddle::Role::kServer ? "ps" : role == paddle::Role::kTrainer ? "worker" : "heter";
  }
};

std::optional<std::int32_t> ReplicasOf(const std::optional<paddle::RoleSpec>& role) {
  return role.has_value() ? std::optional(role->replicas) : std::nullopt;
}

class PaddleTranslator {
 public:
  PaddleTranslator(const paddle::PaddleJob& job, const TranslateOptions& options)
      : job_(job),
        options_(options),
        name_(job.metadata.name),
        ns_(job.metadata.ns.empty() ? "default" : job.metadata.ns) {}

  Translation Take() && {
    annotations_ = ReadAnnotations(job_.metadata.annotations, options_.strict, out_.findings);
    style_ = {annotations_.absolute_names, ns_, options_.cluster_domain};
    ReadLineup();
    ReadWishes();
    if (!HasErrors(out_.lineup.findings)) {
      CountTasks();
      CheckLists();
      ReadTemplates();
      if (!too_large_) MakeTemplates();
    }
    if (out_.ok()) SetPolicies();
    if (out_.ok()) WriteJob();
    if (out_.ok()) WriteCompanions();
    if (kubernetes()) WriteObjects();
    Arrange(out_.findings);
    if (options_.explain && out_.ok()) {
      out_.steps = StepsOf(job_, annotations_, options_, out_);
      if (kubernetes()) out_.steps = StepsForKubernetes(out_.steps, out_.job);
    }
    return std::move(out_);
  }

 private:
  void Say(Code code, absl::string_view field, absl::string_view value = {}, absl::string_view rule = {},
           absl::string_view fix = {}) {
    out_.findings.push_back(MakeFinding(code, field, value, rule, fix));
  }
  void Say(const Findings& findings) { out_.findings.insert(out_.findings.end(), findings.begin(), findings.end()); }

  bool kubernetes() const { return options_.target == Target::kKubernetes; }

  void ReadLineup() {
    const paddle::PaddleJobSpec& spec = job_.spec;
    out_.lineup = LineUp({ReplicasOf(spec.ps), ReplicasOf(spec.worker), ReplicasOf(spec.heter), spec.elastic});
    out_.mode = out_.lineup.mode;
    Say(out_.lineup.findings);
    Say(CheckName(name_, out_.lineup.tasks, style_));
    for (const TaskSize& size : out_.lineup.tasks) {
      Task& task = tasks_.emplace_back();
      task.role = size.name == "ps"       ? paddle::Role::kServer
                  : size.name == "worker" ? paddle::Role::kTrainer
                                          : paddle::Role::kHeter;
      task.spec = task.role == paddle::Role::kServer    ? &*spec.ps
                  : task.role == paddle::Role::kTrainer ? &*spec.worker
                                                        : &*spec.heter;
    }
  }

  // --- what is asked for

  void ReadWishes() {
    ReadScheduling();
    ReadIntranet();
    ReadGloo();
    ReadCleanPolicy();
    ReadSampleSet();
    if (out_.lineup.elastic) ReadElastic();
  }

  void ReadScheduling() {
    if (job_.spec.scheduling_policy.has_value()) {
      const paddle::SchedulingPolicy& policy = *job_.spec.scheduling_policy;
      wish_ = {policy.min_available, policy.queue, policy.priority_class, !policy.min_resources.empty()};
    }
    if (options_.group.has_value()) Say({TakeOver(*options_.group, wish_)});
    CheckWish(wish_, "spec.schedulingPolicy", out_.findings);
  }

  // One of these, or it is told and `taken` is what counts.
  bool IsOneOf(std::string_view known, const std::string& text, absl::string_view field, absl::string_view taken) {
    const std::vector<std::string> words = absl::StrSplit(View(known), ',');
    if (std::find(words.begin(), words.end(), text) != words.end()) return true;
    const std::string near = Nearest(text, words);
    Say(options_.strict ? Code::kEnum : Code::kEnumIgnored, field, api::JsonString(text),
        absl::StrCat("is none of ", absl::StrReplaceAll(View(known), {{",", ", "}}),
                     options_.strict ? "" : absl::StrCat("; ", taken)),
        near.empty() ? "" : absl::StrCat("did you mean ", near, "?"));
    return false;
  }

  void ReadIntranet() {
    const std::string& text = job_.spec.intranet;
    if (text.empty() || !IsOneOf(paddle::kIntranets, text, "spec.intranet", "PodIP is taken")) return;
    on_host_ = text == "Host";
    by_service_ = text == "Service";
    if (by_service_) Say(Code::kIntranet, "spec.intranet");
  }

  void ReadGloo() {
    const std::int32_t wanted = job_.spec.with_gloo.value_or(0);
    with_gloo_ = std::clamp(wanted, 0, 2);
    if (with_gloo_ != wanted) {
      Say(options_.strict ? Code::kEnum : Code::kEnumIgnored, "spec.withGloo", absl::StrCat(wanted),
          absl::StrCat("is none of 0, 1, 2", options_.strict ? "" : absl::StrCat("; ", with_gloo_, " is taken")));
    }
    if (with_gloo_ == 0) return;
    if (out_.mode != Mode::kServers) {
      with_gloo_ = 0;
      return Say(Code::kUnused, "spec.withGloo", absl::StrCat(wanted),
                 "Gloo is served by a parameter server, and there is none");
    }
    if (with_gloo_ == 2) Say(Code::kGloo2, "spec.withGloo", absl::StrCat(wanted));
  }

  void ReadCleanPolicy() {
    const paddle::PaddleJobSpec& spec = job_.spec;
    if (!spec.clean_policy.empty()) {
      Say(Code::kDeprecated, "spec.cleanPolicy", api::JsonString(spec.clean_policy), {}, "write cleanPodPolicy");
    }
    const std::string& policy = paddle::CleanPodPolicyOf(spec);
    if (policy.empty()) return;
    const absl::string_view field = spec.clean_pod_policy.empty() ? "spec.cleanPolicy" : "spec.cleanPodPolicy";
    IsOneOf(paddle::kCleanPodPolicies, policy, field, "the pods are kept, as with Never");
    const bool ttl_does_it = policy == "Always" && annotations_.ttl_seconds.has_value();
    if (!options_.kept && !ttl_does_it) Say(Code::kClean, field, api::JsonString(policy));
  }

  void ReadSampleSet() {
    if (!job_.spec.sample_set_ref.has_value()) return;
    const paddle::SampleSetRef& ref = *job_.spec.sample_set_ref;
    constexpr absl::string_view kField = "spec.sampleSetRef";
    if (ref.name.empty())
      Say(Code::kRefused, absl::StrCat(kField, ".name"), {}, "must be the name of a volume claim",
          "name the sample set");
    if (ref.mount_path.empty())
      Say(Code::kRefused, absl::StrCat(kField, ".mountPath"), {}, "must say where the workers see it", "write a path");
    if (!ref.ns.empty() && ref.ns != ns_) {
      return Say(Code::kSampleSet, absl::StrCat(kField, ".namespace"), api::JsonString(ref.ns),
                 absl::StrCat("is not mounted: pods of namespace ", ns_, " cannot use a volume claim of another"),
                 "run the job in its namespace");
    }
    Say(Code::kSampleSet, kField, api::JsonString(ref.name));
    volume_ = {ref.name, ref.mount_path};
  }

  void ReadElastic() {
    etcd_ = annotations_.elastic_etcd.empty() ? options_.elastic_etcd : annotations_.elastic_etcd;
    if (!etcd_.empty()) return;
    Say(Code::kElastic, "spec.elastic", absl::StrCat(job_.spec.elastic.value_or(0)),
        "the workers find each other through an etcd, and none is named",
        absl::StrCat("give --elastic-etcd HOST:PORT, or annotate the job with ", View(kAnnotationPrefix),
                     "elastic-etcd: HOST:PORT"));
  }

  // --- how many

  void CountTasks() {
    std::vector<GangTask> counted;
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      counted.push_back({out_.lineup.tasks[i], {tasks_[i].spec->requests, tasks_[i].spec->limits}});
    out_.gang = CountGang(counted, out_.lineup.elastic, wish_);
    Say(out_.gang.findings);
  }

  // Peers that come and go are not listed.
  bool lists_peers() const { return !out_.lineup.elastic || annotations_.elastic_legacy; }

  // The lists are measured before anything is written, so that no number of replicas makes work.
  void CheckLists() {
    std::int64_t pods = 0;
    for (const TaskSize& size : out_.lineup.tasks) {
      pods += size.replicas;
      list_bytes_ += (size.name == "ps" ? 2 : 4) * ListBytes(name_, size, style_);  // at most this often in a pod
      if (lists_peers() && !ListFits(name_, size, style_, absl::StrCat("spec.", size.name, ".replicas"), out_.findings))
        too_large_ = true;
    }
    if (annotations_.per_pod_services) CheckPodServices(pods, out_.findings);
  }

  // --- templates

  void ReadTemplates() {
    for (Task& task : tasks_) {
      std::optional<json::value> document =
          ParseTemplate(task.spec->pod_template, task.field(), json::storage_ptr(&memory_), out_.findings);
      if (document.has_value()) task.traits = TraitsOf(task.document.emplace(*std::move(document)));
      any_on_host_ = any_on_host_ || on_host_ || task.traits.host_network;
    }
  }

  // Who takes part, in the words of the runtime.
  void MakeCluster() {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      std::vector<std::string>& hosts = tasks_[i].role == paddle::Role::kServer    ? cluster_.servers
                                        : tasks_[i].role == paddle::Role::kTrainer ? cluster_.trainers
                                                                                   : cluster_.heters;
      if (lists_peers()) hosts = HostNames(name_, out_.lineup.tasks[i], style_);
      if (tasks_[i].role == paddle::Role::kHeter) cluster_.heter_accelerator = tasks_[i].traits.accelerator;
    }
    if (any_on_host_)
      cluster_.ports = paddle::HostPorts(annotations_.host_port_base.value_or(paddle::HostPortBase(ns_, name_)));
    cluster_.host_network = any_on_host_;
    cluster_.with_gloo = with_gloo_;
    if (out_.gang.bounds.has_value()) {
      const ElasticBounds& bounds = *out_.gang.bounds;
      cluster_.elastic =
          paddle::Elastic{etcd_, bounds.min, bounds.max, absl::StrCat(ns_, "-", name_), annotations_.elastic_legacy};
    }
    own_host_ = absl::StrCat("$(PADDLE_POD_NAME)", HostName(name_, "", 0, style_).substr(PodName(name_, "", 0).size()));
  }

  // Lists that are too long for a pod move into a config map that all of its containers read (6.5.4).
  void MoveLists() {
    if (list_bytes_ <= kMostPodListBytes || !lists_peers()) return;
    const paddle::Role role = cluster_.trainers.empty() ? paddle::Role::kServer : paddle::Role::kTrainer;
    absl::StatusOr<paddle::FittedEnv> fitted = paddle::FitEnv(paddle::RuntimeEnv(cluster_, {role, own_host_, false}));
    if (!fitted.ok())
      return Say(Code::kEnvTooLarge, "metadata.name", api::JsonString(name_), fitted.status().message());
    moved_ = std::move(fitted->config_map);
    // These two differ between roles, so they stay in the pods.
    moved_.erase("PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST");
    moved_.erase("PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST");
    // The eight that are left are within the mebibyte of a config map, since none is longer than ListFits lets it be.
  }

  std::vector<RuntimeVariable> EnvOf(const Task& task, bool accelerator) const {
    return paddle::RuntimeEnv(cluster_, {task.role, own_host_, accelerator},
                              moved_.empty() ? paddle::EnvLists::kAll : paddle::EnvLists::kOwn);
  }

  void MakeTemplates() {
    MakeCluster();
    MoveLists();
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      Task& task = tasks_[i];
      if (!task.document.has_value()) continue;
      if (annotations_.run_entry) ReplacePaddleK8s(*task.document, task.field(), out_.findings);
      const TemplateFacts facts = FactsOf(task);
      task.made = MakeTaskTemplate(*task.document, facts, out_.findings);
      SayHostNodes(out_.lineup.tasks[i], task);
    }
    CheckSchedulers();
  }

  TemplateFacts FactsOf(const Task& task) {
    TemplateFacts facts;
    facts.field = task.field();
    facts.labels = {{"paddle-res-type", std::string(task.name())}};
    facts.annotations = {{"paddle-resource", std::string(task.name())}};
    facts.env = [this, &task](bool accelerator) { return EnvOf(task, accelerator); };
    if (!moved_.empty()) facts.env_source = EnvConfigMapName(name_);
    const int port = cluster_.ports.Of(task.role);
    facts.ports = {{port}};
    if (task.role == paddle::Role::kServer && with_gloo_ > 0 && (on_host_ || task.traits.host_network))
      facts.ports.push_back({port + paddle::kGlooOffset});
    facts.port_per_accelerator = out_.mode != Mode::kServers;
    facts.host_network = on_host_;
    facts.absolute_names = style_.absolute;
    facts.short_names_needed = lists_peers();
    if (out_.lineup.elastic) facts.restart_policy = "OnFailure";
    facts.default_restart_policy = by_service_ && task.role == paddle::Role::kTrainer ? "OnFailure" : "Never";
    if (annotations_.wait_dns && lists_peers() && !out_.lineup.elastic) facts.wait_for = NamesToWaitFor();
    facts.wait_image = annotations_.wait_dns_image;
    if (task.role == paddle::Role::kTrainer && !volume_.claim.empty()) facts.volume = volume_;
    facts.shares_memory = out_.mode == Mode::kCollective;
    facts.any_scheduler = annotations_.any_scheduler;
    facts.no_sidecars = options_.sidecars;
    if (kubernetes()) {
      facts.indexed_job = IndexedJobName(name_, task.name());
    } else {
      facts.index_from_name = annotations_.wrap_command;
    }
    return facts;
  }

  // 6.4: those that a program cannot do without, since n pods that ask for n names each are too much for a DNS.
  std::vector<std::string> NamesToWaitFor() const {
    std::vector<std::string> names = {own_host_};
    names.insert(names.end(), cluster_.servers.begin(), cluster_.servers.end());
    const bool all = cluster_.servers.empty() && cluster_.trainers.size() <= kMostWaitedFor;
    const std::size_t trainers = all ? cluster_.trainers.size() : cluster_.servers.empty() || with_gloo_ > 0 ? 1 : 0;
    names.insert(names.end(), cluster_.trainers.begin(),
                 cluster_.trainers.begin() + static_cast<std::ptrdiff_t>(std::min(trainers, cluster_.trainers.size())));
    if (!cluster_.heters.empty()) names.push_back(cluster_.heters[0]);
    return names;
  }

  void SayHostNodes(const TaskSize& size, const Task& task) {
    if (!task.made.host_network || !options_.nodes.has_value() || size.replicas <= *options_.nodes) return;
    Say(Code::kHostNodes, absl::StrCat("spec.", size.name, ".replicas"), absl::StrCat(size.replicas),
        absl::StrCat("the cluster has ", Counted(*options_.nodes, "node"),
                     ", and on the host network no two pods of a role share one"));
  }

  void CheckSchedulers() {
    std::vector<NamedScheduler> named;
    for (const Task& task : tasks_) named.push_back({task.field(), task.made.scheduler});
    scheduler_ = SchedulerOf(named, out_.findings);
  }

  // --- what comes out

  void SetPolicies() {
    std::vector<PolicyTask> tasks;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      PolicyTask& task = tasks.emplace_back();
      task.name = out_.lineup.tasks[i].name;
      task.replicas = out_.lineup.tasks[i].replicas;
      task.restart_policy = tasks_[i].made.restart_policy;
      task.serves = tasks_[i].role != paddle::Role::kTrainer;
    }
    policies_ = PoliciesFor(tasks, out_.lineup.completing_task, out_.lineup.elastic, annotations_, options_);
    Say(policies_.findings);
  }

  void WriteJob() {
    out_.job = BeginJob(job_.metadata, wish_, annotations_, options_);
    api::volcano::JobSpec& spec = out_.job.spec;
    if (!scheduler_.empty()) spec.scheduler_name = scheduler_;
    spec.min_available = out_.gang.min_available;
    spec.max_retry = policies_.max_retry;
    spec.policies = std::move(policies_.policies);
    // One that is translated has an answer for each of its tasks.
    GW_CHECK(out_.gang.task_minimums.size() == tasks_.size() && policies_.tasks.size() == tasks_.size());
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      api::volcano::TaskSpec& task = spec.tasks.emplace_back();
      task.name = out_.lineup.tasks[i].name;
      task.replicas = out_.lineup.tasks[i].replicas;
      task.min_available = out_.gang.task_minimums[i];
      task.pod_template.json = std::move(tasks_[i].made.json);
      task.policies = std::move(policies_.tasks[i].policies);
      task.max_retry = policies_.tasks[i].max_retry;
    }
  }

  void WriteCompanions() {
    const CompanionOwner owner{name_, job_.metadata.ns, kubernetes()};
    for (const Task& task : tasks_)
      out_.needed.paddle_config_map = out_.needed.paddle_config_map || task.made.config_maps.contains(name_);
    out_.needed.env_config_map = !moved_.empty();
    out_.needed.pod_services = annotations_.per_pod_services;
    if (out_.needed.env_config_map) {
      out_.before.push_back(
          ConfigMapOf(owner, EnvConfigMapName(name_), moved_, "lists that are too long for a pod's env"));
    }
    if (out_.needed.paddle_config_map) {
      out_.before.push_back(
          ConfigMapOf(owner, name_, PaddleConfigMap(), "a template refers to it: what paddle-operator wrote there"));
    }
    if (!out_.needed.pod_services) return;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      std::vector<Companion> services =
          PodServices(owner, out_.lineup.tasks[i], cluster_.ports.Of(tasks_[i].role), paddle::kPortsOfARole);
      std::move(services.begin(), services.end(), std::back_inserter(out_.before));
    }
  }

  void WriteObjects() {
    if (out_.ok()) {
      KubernetesWishes wishes;
      wishes.scheduler = scheduler_.empty() ? options_.scheduler_name : scheduler_;
      wishes.completing_task = out_.lineup.completing_task;
      wishes.network_policy = annotations_.network_policy;
      if (wish_.queue.empty()) wishes.queue_field = "metadata.namespace";
      for (const TaskSize& size : out_.lineup.tasks) wishes.task_fields.push_back(absl::StrCat("spec.", size.name));
      KubernetesObjects made = MakeKubernetesObjects(out_.job, wishes);
      out_.objects = std::move(made.objects);
      Say(made.findings);
      SayUnusedByJobs();
    }
    SayForKubernetes(out_.findings);
  }

  void SayUnusedByJobs() {
    const auto unused = [&](absl::string_view name, absl::string_view why) {
      Say(Code::kUnused, AnnotationField(name), {}, why);
    };
    if (annotations_.wrap_command) unused("task-index", "pods of Jobs are told their index");
    if (annotations_.server_grace_given) unused("server-grace", "no Job ends another");
    if (out_.lineup.elastic && annotations_.max_restarts_given)
      unused("max-restarts", "containers of an elastic job are restarted as often as it takes");
  }

  // The config map of the job's name that paddle-operator made (2.4), with what is true here.
  std::map<std::string, std::string> PaddleConfigMap() const {
    const paddle::Role role = cluster_.servers.empty() ? paddle::Role::kTrainer : paddle::Role::kServer;
    std::map<std::string, std::string> data;
    for (RuntimeVariable& one : paddle::RuntimeEnv(cluster_, {role, own_host_, false})) {
      for (const char* const key :
           {"TRAINER_PORTS_NUM", "PADDLE_PORT", "PADDLE_PSERVERS_IP_PORT_LIST", "PADDLE_TRAINER_ENDPOINTS",
            "PADDLE_TRAINERS", "PADDLE_TRAINERS_NUM", "PADDLE_HETER_ENDPOINTS", "PADDLE_WITH_GLOO",
            "PADDLE_GLOO_RENDEZVOUS", "PADDLE_GLOO_HTTP_ENDPOINT"}) {
        if (one.name == key) data[one.name] = std::move(one.value);
      }
    }
    return data;
  }

  const paddle::PaddleJob& job_;
  const TranslateOptions& options_;
  const std::string& name_;
  const std::string ns_;
  Translation out_;
  Annotations annotations_;
  NameStyle style_;
  GangWish wish_;
  bool on_host_ = false, by_service_ = false;  // intranet
  bool any_on_host_ = false;                   // that, or a template
  int with_gloo_ = 0;
  std::string etcd_, scheduler_, own_host_;
  TemplateVolume volume_;
  std::int64_t list_bytes_ = 0;
  bool too_large_ = false;
  paddle::RuntimeCluster cluster_;
  std::map<std::string, std::string> moved_;  // lists that stand in a config map
  JobPolicies policies_;
  unsigned char first_memory_[16 * 1024];
  json::monotonic_resource memory_{first_memory_, sizeof first_memory_};
  std::vector<Task> tasks_;  // in the order of lineup.tasks
};

}  // namespace

Translation Translate(const paddle::PaddleJob& job, const TranslateOptions& options) {
  return PaddleTranslator(job, options).Take();
}

}  // namespace gangway::convert
