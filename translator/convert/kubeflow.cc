// PaddleJobs of kubeflow.org (docs/paddlejob.md; kubeflow/training-operator 1.9: pkg/controller.v1/paddlepaddle). Its
// pods meet at one of them, PADDLE_MASTER, and get their ranks there.
#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/json.h"
#include "api/paddle/runtime_env.h"
#include "base/strings.h"
#include "translator/convert/companions.h"
#include "translator/convert/document.h"
#include "translator/convert/explain.h"
#include "translator/convert/job_parts.h"
#include "translator/convert/kubeflow_roles.h"
#include "translator/convert/kubernetes.h"
#include "translator/convert/names.h"
#include "translator/convert/policies.h"
#include "translator/convert/run_entry.h"
#include "translator/convert/task_template.h"
#include "translator/convert/translate.h"

namespace gangway::convert {
namespace {

namespace json = boost::json;
namespace kf = api::paddle::kubeflow;
using api::paddle::RuntimeVariable;

constexpr std::int64_t kWaitForAll = 32;  // pods: with more, all asking for all is a burden on the cluster's DNS

// The port where the pods meet, of the container that trains.
std::int32_t MasterPort(const json::value& pod_template) {
  std::int32_t port = kf::kDefaultPort;
  const json::object* const object = pod_template.if_object();
  const json::object* const spec = object == nullptr ? nullptr : FindObject(*object, "spec");
  if (spec == nullptr) return port;
  ForEachObject(FindList(*spec, "containers"), [&](const json::object& container) {
    if (FindText(container, "name") != View(kf::kContainer)) return;
    ForEachObject(FindList(container, "ports"), [&](const json::object& entry) {
      const json::value* const number = Find(entry, "containerPort");
      if (FindText(entry, "name") != View(kf::kPortName) || number == nullptr) return;
      if (number->is_int64())
        port = static_cast<std::int32_t>(
            std::clamp<std::int64_t>(number->get_int64(), 0, 65536));  // judged with the template
    });
  });
  return port;
}

class KubeflowTranslator {
 public:
  KubeflowTranslator(const kf::PaddleJob& job, const TranslateOptions& options)
      : job_(job),
        policy_(job.spec.run_policy),
        options_(options),
        annotations_(ReadAnnotations(job.metadata.annotations, options.strict, out_.findings)),
        ns_(job.metadata.ns.empty() ? "default" : job.metadata.ns),
        style_{annotations_.absolute_names, ns_, options.cluster_domain},
        etcd_(annotations_.elastic_etcd.empty() ? options.elastic_etcd : annotations_.elastic_etcd),
        parts_(ReadKubeflowRoles(job.spec, annotations_, !etcd_.empty(), options.strict)) {}

  Translation Run() && {
    Take(parts_.lineup.findings);
    out_.lineup = parts_.lineup;
    out_.mode = parts_.lineup.mode;
    CheckRunPolicy();
    Take(CheckName(job_.metadata.name, out_.lineup.tasks, style_));
    if (!HasErrors(parts_.lineup.findings)) {
      CountMembers();
      CheckSizes();
      if (!too_large_) MakeTasks();
    }
    if (out_.ok()) SetPolicies();
    if (out_.ok()) SetJob();
    if (out_.ok() && options_.explain) Explain();
    if (kubernetes()) SetObjects();
    Arrange(out_.findings);
    return std::move(out_);
  }

 private:
  void Take(const Findings& findings) { out_.findings.insert(out_.findings.end(), findings.begin(), findings.end()); }
  // Of parts that both dialects share, whose fields are called otherwise here.
  void TakeRenamed(Findings findings) {
    for (Finding& finding : findings) {
      std::string& field = finding.error.field;
      for (const auto& [theirs, ours] : {std::pair{"spec.schedulingPolicy", "spec.runPolicy.schedulingPolicy"},
                                         std::pair{"spec.worker.requests", "spec.elasticPolicy.minReplicas"},
                                         std::pair{"spec.worker.limits", "spec.elasticPolicy.maxReplicas"}}) {
        if (absl::StartsWith(field, theirs)) field = absl::StrCat(ours, absl::StripPrefix(field, theirs));
      }
      if (field == "spec.elastic") field = "spec.elasticPolicy";
      out_.findings.push_back(std::move(finding));
    }
  }
  void Say(Code code, absl::string_view field, absl::string_view value = {}, absl::string_view rule = {},
           absl::string_view fix = {}) {
    out_.findings.push_back(MakeFinding(code, field, value, rule, fix));
  }
  bool elastic() const { return out_.lineup.elastic; }
  bool kubernetes() const { return options_.target == Target::kKubernetes; }

  void CheckRunPolicy() {
    CheckCleanPodPolicy();
    if (policy_.ttl_seconds_after_finished.value_or(0) < 0) {
      Say(Code::kRefused, "spec.runPolicy.ttlSecondsAfterFinished", absl::StrCat(*policy_.ttl_seconds_after_finished),
          "must be at least 0", "leave it out to keep the job");
    }
    if (policy_.active_deadline_seconds.has_value()) {
      const std::string value = absl::StrCat(*policy_.active_deadline_seconds);
      if (*policy_.active_deadline_seconds < 1) {
        Say(Code::kRefused, "spec.runPolicy.activeDeadlineSeconds", value, "must be at least 1",
            "leave it out to have no deadline");
      } else if (!options_.kept && !kubernetes()) {
        Say(Code::kDeadline, "spec.runPolicy.activeDeadlineSeconds", value);
      }
    }
    if (policy_.scheduling_policy && policy_.scheduling_policy->schedule_timeout_seconds) {
      Say(Code::kUnused, "spec.runPolicy.schedulingPolicy.scheduleTimeoutSeconds",
          absl::StrCat(*policy_.scheduling_policy->schedule_timeout_seconds), "a gang waits for as long as it takes");
    }
    CheckManager();
    CheckAnnotations();
  }

  // What the other dialect alone has a use for.
  void CheckAnnotations() {
    if (annotations_.host_port_base)
      Say(Code::kUnused, AnnotationField("host-port-base"), {},
          "a job of kubeflow.org has no ports of its own on nodes");
    if (annotations_.wrap_command)
      Say(Code::kUnused, AnnotationField("task-index"), {}, "a job of kubeflow.org gets its ranks where its pods meet");
  }

  void CheckCleanPodPolicy() {
    const std::string& policy = policy_.clean_pod_policy;
    const absl::string_view field = "spec.runPolicy.cleanPodPolicy";
    if (policy == "None") {
      Say(Code::kClean, field, api::JsonString(policy),
          "pods that have ended stay; those that still run when the job ends are removed", "write Running");
    } else if (policy == "All" && !options_.kept) {
      Say(Code::kClean, field, api::JsonString(policy));
    } else if (!policy.empty() && policy != "All" && policy != "Running") {
      out_.findings.push_back(NoSuchValue(field, policy, View(kf::kCleanPodPolicies), "None", options_.strict));
    }
  }

  void CheckManager() {
    const std::string& manager = policy_.managed_by;
    const absl::string_view field = "spec.runPolicy.managedBy";
    if (manager.empty() || manager == "kubeflow.org/training-operator") return;
    if (manager == "kueue.x-k8s.io/multikueue") {
      Say(Code::kUnused, field, api::JsonString(manager),
          "a job of another manager: gangway controller leaves it alone", "remove it to run it here");
    } else {
      Say(Code::kEnum, field, api::JsonString(manager), absl::StrCat("must be one of ", View(kf::kManagers)));
    }
  }

  void CountMembers() {
    if (policy_.scheduling_policy) {
      const kf::SchedulingPolicy& policy = *policy_.scheduling_policy;
      wish_ = {policy.min_available, policy.queue, policy.priority_class, !policy.min_resources.empty()};
    }
    if (options_.group) out_.findings.push_back(TakeOver(*options_.group, wish_));
    CheckWish(wish_, "spec.runPolicy.schedulingPolicy", out_.findings);
    std::vector<GangTask> tasks;
    for (const TaskSize& size : out_.lineup.tasks) tasks.push_back({size, {}});
    if (elastic()) tasks[0].bounds = {job_.spec.elastic_policy->min_replicas, job_.spec.elastic_policy->max_replicas};
    out_.gang = CountGang(tasks, elastic(), wish_);
    TakeRenamed(out_.gang.findings);
  }

  // Before anything is written, so that no number of replicas makes work.
  void CheckSizes() {
    for (const TaskSize& task : out_.lineup.tasks) pods_ += task.replicas;
    too_large_ =
        elastic() && annotations_.elastic_legacy &&
        !ListFits(job_.metadata.name, out_.lineup.tasks[0], style_, parts_.roles[0].field + ".replicas", out_.findings);
    if (annotations_.per_pod_services) CheckPodServices(pods_, out_.findings);
  }

  void MakeTasks() {
    std::vector<json::value> templates;
    for (const KubeflowRole& role : parts_.roles) {
      std::optional<json::value> parsed =
          ParseTemplate(role.spec->pod_template, role.field + ".template", {}, out_.findings);
      if (!parsed.has_value()) return;
      ports_.push_back(MasterPort(*parsed));
      templates.push_back(*std::move(parsed));
    }
    master_ = HostName(job_.metadata.name, parts_.roles[0].task, 0, style_);
    std::vector<NamedScheduler> named;
    for (std::size_t i = 0; i < templates.size(); ++i) {
      if (!options_.kept && !kubernetes()) SetDeadline(templates[i]);
      if (annotations_.run_entry) ReplacePaddleK8s(templates[i], parts_.roles[i].field + ".template", out_.findings);
      made_.push_back(MakeTaskTemplate(templates[i], FactsOf(i), out_.findings));
      named.push_back({parts_.roles[i].field + ".template", made_.back().scheduler});
    }
    scheduler_ = SchedulerOf(named, out_.findings);
  }

  // Of a pod it counts from its start. A template's own may be shorter.
  void SetDeadline(json::value& pod_template) const {
    if (!policy_.active_deadline_seconds.has_value() || !pod_template.is_object()) return;
    json::object* const spec = FindObject(pod_template.get_object(), "spec");
    if (spec == nullptr) return;
    std::int64_t deadline =
        std::min<std::int64_t>(*policy_.active_deadline_seconds, std::numeric_limits<std::int32_t>::max());
    const json::value* const own = Find(*spec, "activeDeadlineSeconds");
    if (own != nullptr && own->is_int64()) deadline = std::min(deadline, own->get_int64());
    (*spec)["activeDeadlineSeconds"] = deadline;
  }

  TemplateFacts FactsOf(std::size_t i) const {
    const KubeflowRole& role = parts_.roles[i];
    TemplateFacts facts;
    facts.field = role.field + ".template";
    facts.main_container = std::string(kf::kContainer);
    facts.labels = {{"training.kubeflow.org/job-name", job_.metadata.name},
                    {"training.kubeflow.org/operator-name", "paddlejob-controller"},
                    {"training.kubeflow.org/replica-type", role.task}};
    if (role.task == "master") facts.labels.emplace("training.kubeflow.org/job-role", "master");
    facts.env = [this, i](bool accelerator) { return elastic() ? ElasticEnv(i, accelerator) : Env(i); };
    facts.ports = {{ports_[i], std::string(kf::kPortName)}};
    facts.absolute_names = style_.absolute;
    facts.short_names_needed = !elastic() || annotations_.elastic_legacy;
    facts.restart_policy = elastic() ? "OnFailure" : role.restart_policy;
    if (annotations_.wait_dns && !elastic()) facts.wait_for = Awaited();
    facts.wait_image = annotations_.wait_dns_image;
    facts.shares_memory = out_.mode == Mode::kCollective;
    facts.any_scheduler = annotations_.any_scheduler;
    facts.no_sidecars = options_.sidecars;
    if (kubernetes()) facts.indexed_job = IndexedJobName(job_.metadata.name, role.task);
    return facts;
  }

  // What each pod calls itself: text for text what the others call it.
  std::string OwnHost() const {
    const std::string& task = parts_.roles[0].task;
    return absl::StrCat("$(PADDLE_POD_NAME)", absl::StripPrefix(master_, PodName(job_.metadata.name, task, 0)));
  }

  std::vector<std::string> Awaited() const {
    std::vector<std::string> names{OwnHost(), master_};
    for (const TaskSize& task : out_.lineup.tasks) {
      if (pods_ > kWaitForAll) continue;
      for (std::string& host : HostNames(job_.metadata.name, task, style_)) {
        if (host != master_) names.push_back(std::move(host));
      }
    }
    return names;
  }

  std::vector<RuntimeVariable> Env(std::size_t i) const {
    const bool masters = out_.lineup.mode == Mode::kServers, master = parts_.roles[i].task == "master";
    std::vector<RuntimeVariable> env{{"PADDLE_POD_NAME", "metadata.name", true, true},
                                     {"POD_IP", OwnHost(), false, true}};
    const auto add = [&](absl::string_view name, std::string value) {
      env.push_back({std::string(name), std::move(value)});
    };
    add("PYTHONUNBUFFERED", "1");
    add("PADDLE_JOB_ID", job_.metadata.name);
    add("PADDLE_NNODES", absl::StrCat(pods_));
    add("PADDLE_MASTER", absl::StrCat(master_, ":", ports_[0]));
    if (!masters) return env;
    // The launcher takes a count that is not there for 1: a pod of either role is both, unless it is told otherwise.
    add(master ? "PADDLE_SERVER_NUM" : "PADDLE_TRAINER_NUM", "1");
    if (annotations_.strict_roles) add(master ? "PADDLE_TRAINER_NUM" : "PADDLE_SERVER_NUM", "0");
    return env;
  }

  std::vector<RuntimeVariable> ElasticEnv(std::size_t i, bool accelerator) const {
    api::paddle::RuntimeCluster cluster;
    if (annotations_.elastic_legacy) cluster.trainers = HostNames(job_.metadata.name, out_.lineup.tasks[i], style_);
    cluster.ports = {ports_[i], ports_[i], ports_[i]};
    const ElasticBounds bounds = out_.gang.bounds.value_or(ElasticBounds());
    cluster.elastic = api::paddle::Elastic{etcd_, bounds.min, bounds.max, absl::StrCat(ns_, "-", job_.metadata.name),
                                           annotations_.elastic_legacy};
    std::vector<RuntimeVariable> env = RuntimeEnv(cluster, {api::paddle::Role::kTrainer, OwnHost(), accelerator});
    env.push_back({"PYTHONUNBUFFERED", "1"});
    return env;
  }

  void SetPolicies() {
    Annotations annotations = annotations_;
    annotations.wrap_command = !elastic();  // nothing of this dialect asks for its index
    if (parts_.max_restarts.has_value()) {
      annotations.max_restarts = *parts_.max_restarts;
      annotations.max_restarts_given = true;
    }
    std::vector<PolicyTask> tasks;
    for (std::size_t i = 0; i < parts_.roles.size(); ++i) {
      const KubeflowRole& role = parts_.roles[i];
      tasks.push_back({role.task, role.replicas, made_[i].restart_policy, false, role.by_exit_code && !elastic(),
                       role.container_restarts});
    }
    policies_ = PoliciesFor(tasks, out_.lineup.completing_task, elastic(), annotations, options_);
    TakeRenamed(policies_.findings);
  }

  void SetJob() {
    out_.needed.pod_services = annotations_.per_pod_services;
    for (std::size_t i = 0; annotations_.per_pod_services && i < parts_.roles.size(); ++i) {
      std::vector<Companion> services =
          PodServices({job_.metadata.name, job_.metadata.ns, kubernetes()}, out_.lineup.tasks[i], ports_[i], 1);
      out_.before.insert(out_.before.end(), std::make_move_iterator(services.begin()),
                         std::make_move_iterator(services.end()));
    }
    out_.job = BeginJob(job_.metadata, wish_, annotations_, options_);
    api::volcano::JobSpec& spec = out_.job.spec;
    if (!scheduler_.empty()) spec.scheduler_name = scheduler_;
    if (policy_.ttl_seconds_after_finished.has_value())
      spec.ttl_seconds_after_finished = policy_.ttl_seconds_after_finished;
    spec.min_available = out_.gang.min_available;
    spec.max_retry = policies_.max_retry;
    spec.policies = policies_.policies;
    for (std::size_t i = 0; i < parts_.roles.size(); ++i) {
      api::volcano::TaskSpec task;
      task.name = parts_.roles[i].task;
      task.replicas = parts_.roles[i].replicas;
      task.min_available = out_.gang.task_minimums[i];
      task.max_retry = policies_.tasks[i].max_retry;
      task.policies = policies_.tasks[i].policies;
      task.pod_template.json = std::move(made_[i].json);
      spec.tasks.push_back(std::move(task));
    }
  }

  void SetObjects() {
    if (out_.ok()) {
      KubernetesWishes wishes;
      wishes.scheduler = scheduler_.empty() ? options_.scheduler_name : scheduler_;
      wishes.completing_task = out_.lineup.completing_task;
      wishes.deadline_seconds = policy_.active_deadline_seconds;
      wishes.suspend = policy_.suspend.value_or(false);
      wishes.network_policy = annotations_.network_policy;
      wishes.queue_field = wish_.queue.empty() ? "metadata.namespace" : "spec.runPolicy.schedulingPolicy.queue";
      wishes.min_available_field = "spec.runPolicy.schedulingPolicy.minAvailable";
      for (const KubeflowRole& role : parts_.roles) wishes.task_fields.push_back(role.field);
      KubernetesObjects made = MakeKubernetesObjects(out_.job, wishes);
      out_.objects = std::move(made.objects);
      Take(made.findings);
      if (elastic() && annotations_.max_restarts_given)
        Say(Code::kUnused, AnnotationField("max-restarts"), {},
            "containers of an elastic job are restarted as often as it takes");
      out_.steps = StepsForKubernetes(out_.steps, out_.job);
    }
    SayForKubernetes(out_.findings);
  }

  void Explain() {
    out_.steps = StepsOfMetadata(job_.metadata, out_);
    const auto step = [&](std::string from, std::string to, std::string why) {
      out_.steps.push_back({std::move(from), std::move(to), std::move(why)});
    };
    for (std::size_t i = 0; i < parts_.roles.size(); ++i) {
      const std::string& from = parts_.roles[i].field;
      const std::string to = absl::StrCat("spec.tasks[", i, "]");
      step(from + ".replicas", to + ".replicas", "pods keep their names");
      if (!parts_.roles[i].spec->restart_policy.empty())
        step(from + ".restartPolicy", to + ".policies", "what ends the job and what restarts it");
      step(from + ".template", to + ".template", "with the names that the launcher meets at");
    }
    step("", "spec.tasks[*].template.spec.containers[*].env", absl::StrCat("the pods meet at ", master_));
    if (policy_.scheduling_policy)
      step("spec.runPolicy.schedulingPolicy", "spec.minAvailable, spec.queue, spec.priorityClassName", "the gang");
    if (policy_.ttl_seconds_after_finished)
      step("spec.runPolicy.ttlSecondsAfterFinished", "spec.ttlSecondsAfterFinished", "the same");
    if (policy_.backoff_limit)
      step("spec.runPolicy.backoffLimit", "spec.tasks[*].maxRetry", "restarts of containers, counted for each role");
    if (policy_.active_deadline_seconds && !options_.kept) {
      step("spec.runPolicy.activeDeadlineSeconds", "spec.tasks[*].template.spec.activeDeadlineSeconds",
           "a Job has no deadline, pods have");
    }
    if (!policy_.clean_pod_policy.empty())
      step("spec.runPolicy.cleanPodPolicy", "", options_.kept ? "the controller cleans" : "a Job keeps what has ended");
    if (policy_.suspend) {
      step("spec.runPolicy.suspend", "",
           options_.kept  ? "while it is true the job has no pods"
           : kubernetes() ? "its Jobs are made suspended"
                          : "a Job cannot be made suspended");
    }
    if (!policy_.managed_by.empty()) step("spec.runPolicy.managedBy", "", "whose job it is");
    if (job_.spec.elastic_policy) {
      step("spec.elasticPolicy", elastic() ? "spec.minAvailable, spec.tasks[0].minAvailable" : "",
           elastic() ? "the fewest start together" : "there is no etcd");
    }
    step("", "spec.plugins.svc", "gives pods names that resolve before they are ready");
    if (annotations_.wait_dns && !elastic()) out_.steps.push_back(StepOfWaitDns());
    if (options_.group.has_value())
      step(absl::StrCat("podgroup ", options_.group->name), "",
           "the Job gets one of its own; what this one asks for counts where the job says nothing");
    for (const Companion& one : out_.before)
      step("", absl::StrCat(View(one.resource->singular), " ", one.name), one.why);
  }

  const kf::PaddleJob& job_;
  const kf::RunPolicy& policy_;
  const TranslateOptions& options_;
  Translation out_;
  const Annotations annotations_;
  const std::string ns_;
  const NameStyle style_;
  const std::string etcd_;
  const KubeflowRoles parts_;
  GangWish wish_;
  std::vector<std::int32_t> ports_;  // by role
  std::int64_t pods_ = 0;
  bool too_large_ = false;
  std::string master_, scheduler_;
  std::vector<TaskTemplate> made_;
  JobPolicies policies_;
};

}  // namespace

Translation Translate(const kf::PaddleJob& job, const TranslateOptions& options) {
  return KubeflowTranslator(job, options).Run();
}

}  // namespace gangway::convert
