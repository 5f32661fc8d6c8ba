#include "plugin/controller/controllers.h"

#include <utility>

#include "api/json.h"
#include "base/strings.h"
#include "kube/runtime/recorder.h"
#include "kube/runtime/unreadable.h"
#include "plugin/controller/cron_job_controller.h"
#include "plugin/controller/job_controller.h"
#include "plugin/controller/job_flow_controller.h"
#include "plugin/controller/queue_controller.h"
#include "plugin/controller/workload_group_controller.h"

namespace gangway::controller {
namespace {

kube::RecorderOptions RecorderFor(const ControllersOptions& options) {
  kube::RecorderOptions out;
  out.component = "vc-controller-manager";
  out.metrics = options.metrics;
  return out;
}

kube::DriverOptions DriverFor(const ControllersOptions& options, std::string name) {
  kube::DriverOptions out;
  out.name = std::move(name);
  out.qps = options.qps;
  out.burst = options.burst;
  out.metrics = options.metrics;
  return out;
}

std::unique_ptr<SshKeys> OwnSshKeys(Loop& loop, const ControllersOptions& options) {
  if (options.ssh_keys != nullptr) return nullptr;
  if (options.ssh_key_threads > 0) return std::make_unique<ThreadedSshKeys>(loop, options.ssh_key_threads);
  return std::make_unique<LoopSshKeys>(loop);
}

}  // namespace

class Controllers::Impl {
 public:
  Impl(Loop& loop, kube::Client& client, ControllersOptions options)
      : options_(std::move(options)), standby_(options_.standby), recorder_(loop, client, RecorderFor(options_)),
        caches_(loop, client, options_.metrics, options_.namespaces), own_ssh_keys_(OwnSshKeys(loop, options_)),
        jobs_(loop, client, recorder_, caches_, own_ssh_keys_ == nullptr ? *options_.ssh_keys : *own_ssh_keys_, DriverFor(options_, "job")),
        cron_jobs_(loop, client, recorder_, caches_, DriverFor(options_, "cronjob")),
        job_flows_(loop, client, recorder_, caches_, DriverFor(options_, "jobflow"), DriverFor(options_, "jobtemplate")),
        queues_(loop, client, recorder_, caches_, DriverFor(options_, "queue")),
        workload_groups_(loop, client, recorder_, caches_, options_.scheduler_name, options_.inherit_owner_annotations, DriverFor(options_, "podgroup")) {}

  // Pods are listed after Jobs, so that no pod that a Job's status speaks of is missing only because the list is older; PodGroups after
  // pods, so that a release that explains a missing pod is known with it.
  void Start() {
    jobs_.Sleep();
    cron_jobs_.Sleep();
    job_flows_.Sleep();
    queues_.Sleep();
    workload_groups_.Sleep();
    caches_.SetOnDecodeError([this](const api::ObjectReference& regarding, const absl::Status& status) { unreadable_.Tell(regarding, status); });
    if (options_.cron_jobs) StartCronJobs();
    if (options_.job_flows) StartJobFlows();
    if (!options_.jobs && (options_.cron_jobs || options_.job_flows)) WatchJobs([this] { Begin(); });
    if (options_.jobs) {
      StartJobs();
    } else if (options_.pod_groups) {
      StartPods();
    } else {
      StartPodGroups();
    }
    if (options_.pod_groups) StartWorkloads();
    if (options_.jobs || options_.queues || TellsAdmission()) StartQueues();
    if (NeedNamespaces()) {
      caches_.namespace_queues.Start([this] { Begin(); }, [facts = options_.admission_facts](const std::string& ns, std::optional<std::string> queue) {
        if (facts != nullptr) facts->SetNamespace(ns, std::move(queue));
      });
    }
  }

  void Lead() {
    standby_ = false;
    Begin();
  }
  void Stop() {
    stopped_ = true;
    deciding_ = false;
    unreadable_.End();
    jobs_.Sleep();
    cron_jobs_.Sleep();
    job_flows_.Sleep();
    queues_.Sleep();
    workload_groups_.Sleep();
  }
  bool stopped() const {
    return stopped_ && jobs_.driver().under_way() + cron_jobs_.driver().under_way() + job_flows_.flows().under_way() + job_flows_.templates().under_way() +
           queues_.driver().under_way() + workload_groups_.driver().under_way() == 0;
  }

  bool synced() const {
    if (options_.pod_groups && !caches_.workloads_synced()) return false;
    if (NeedNamespaces() && !caches_.namespace_queues.synced()) return false;
    if (options_.cron_jobs && !(caches_.cron_jobs.synced() && caches_.jobs.synced())) return false;
    if (options_.job_flows && !(caches_.flows_synced() && caches_.jobs.synced())) return false;
    if (options_.jobs) return caches_.synced();
    if ((options_.queues || TellsAdmission()) && !(caches_.queues.synced() && caches_.commands.synced())) return false;
    return caches_.pod_groups.synced() && (!options_.pod_groups || caches_.pods.synced());
  }
  std::string problem() const { return caches_.problem(); }
  std::size_t events_waiting() const { return recorder_.waiting(); }

  std::string Dump() const {
    std::string out;
    api::JsonWriter json(out);
    json.BeginObject().Key("caches").BeginObject();
    caches_.DumpSizes(json);
    json.EndObject();
    const auto driver = [&](const char* name, bool runs, const kube::Driver& of) {
      if (!runs) return;
      json.Key(name).BeginObject().Field("queuedKeys", static_cast<std::int64_t>(of.queued()));
      json.Field("plansUnderWay", static_cast<std::int64_t>(of.under_way())).EndObject();
    };
    json.Key("controllers").BeginObject();
    driver("cronjob", options_.cron_jobs, cron_jobs_.driver());
    driver("job", options_.jobs, jobs_.driver());
    driver("jobflow", options_.job_flows, job_flows_.flows());
    driver("jobtemplate", options_.job_flows, job_flows_.templates());
    driver("podgroup", options_.pod_groups, workload_groups_.driver());
    driver("queue", options_.queues, queues_.driver());
    json.EndObject().Field("eventsWaiting", static_cast<std::int64_t>(recorder_.waiting())).EndObject();
    return out;
  }

 private:
  bool TellsAdmission() const { return options_.admission_facts != nullptr; }
  // Whether PodGroups are made or judged.
  bool NeedNamespaces() const { return options_.jobs || options_.pod_groups || TellsAdmission(); }

  // Whoever looks at Jobs shares one cache of them.
  void WatchJobs(absl::AnyInvocable<void()> on_synced) {
    caches_.jobs.Start(
        [this](const auto& key, const auto& before, const auto& after) {
          if (options_.jobs) jobs_.OnJob(key, after.get());
          if (options_.cron_jobs) cron_jobs_.OnJob(key, before, after);
          if (options_.job_flows) job_flows_.OnJob(key, before, after);
        },
        std::move(on_synced));
  }

  void StartJobs() {
    WatchJobs([this] { StartPods(); });
    caches_.priority_classes.Start(
        [this](const auto&, const auto& before, const auto& after) { jobs_.OnPriorityClass(before.get(), after.get()); },
        [this] { Begin(); });
    caches_.config_maps.Start(
        [this](const auto& key, const auto&, const auto& after) {
          jobs_.OnObject(api::kConfigMaps, key, after ? &after->metadata : nullptr, after ? &after->data : nullptr);
        },
        [this] { Begin(); });
    StartPartial(caches_.services, api::kServices);
    StartPartial(caches_.network_policies, api::kNetworkPolicies);
    caches_.claims.Start([this](const auto& key, const auto&, const auto& after) { jobs_.OnClaim(key, after != nullptr); },
                         [this] { Begin(); });
  }

  void StartCronJobs() {
    caches_.cron_jobs.Start([this](const auto& key, const auto& before, const auto& after) { cron_jobs_.OnCronJob(key, before, after); },
                            [this] { Begin(); });
  }

  void StartJobFlows() {
    caches_.job_flows.Start([this](const auto& key, const auto& before, const auto& after) { job_flows_.OnFlow(key, before, after); },
                            [this] { Begin(); });
    caches_.job_templates.Start([this](const auto& key, const auto&, const auto&) { job_flows_.OnTemplate(key); }, [this] { Begin(); });
  }

  void StartPods() {
    caches_.pods.Start(
        [this](const auto& key, const auto&, const auto& after) {
          if (options_.jobs) jobs_.OnPod(key, after.get());
          if (options_.pod_groups) workload_groups_.OnPod(key, after.get());
        },
        [this] {
          StartPodGroups();
          Begin();
        });
  }

  void StartWorkloads() {
    const auto start = [this](kube::Cache<api::core::Workload>& cache, const api::Resource& resource) {
      cache.Start([this, &resource](const auto& key, const auto&, const auto& after) { workload_groups_.OnOwner(resource, key, after.get()); },
                  [this] { Begin(); });
    };
    start(caches_.replica_sets, api::kReplicaSets);
    start(caches_.stateful_sets, api::kStatefulSets);
    start(caches_.daemon_sets, api::kDaemonSets);
    start(caches_.batch_jobs, api::kBatchJobs);
  }

  void StartPodGroups() {
    caches_.pod_groups.Start(
        [this](const auto& key, const auto& before, const auto& after) {
          if (options_.jobs) jobs_.OnPodGroup(after != nullptr ? *after : *before);
          if (options_.pod_groups) workload_groups_.OnPodGroup(key);
          if (options_.queues) queues_.OnPodGroup(key, after.get());
        },
        [this] { Begin(); });
  }

  void StartQueues() {
    caches_.commands.Start(
        [this](const auto& key, const auto& before, const auto& after) {
          if (options_.jobs) jobs_.OnCommand(key, before, after);
          if (options_.queues) queues_.OnCommand(before, after);
        },
        [this] { Begin(); });
    caches_.queues.Start(
        [this](const auto& key, const auto& before, const auto& after) {
          if (TellsAdmission()) options_.admission_facts->SetQueue(key.name, after.get());
          queues_.OnQueue(key.name, before.get(), after.get());
          const auto open = [](const auto& queue) { return queue != nullptr && queue->status.state == "Open"; };
          if (options_.pod_groups && open(after) && !open(before)) workload_groups_.OnQueueOpened();
        },
        [this] { Begin(); });
  }

  void StartPartial(kube::Cache<api::core::PartialObject>& cache, const api::Resource& resource) {
    cache.Start(
        [this, &resource](const auto& key, const auto&, const auto& after) {
          jobs_.OnObject(resource, key, after ? &after->metadata : nullptr);
        },
        [this] { Begin(); });
  }

  void Begin() {
    if (TellsAdmission() && caches_.queues.synced() && caches_.namespace_queues.synced()) options_.admission_facts->SetComplete();
    if (standby_ || deciding_ || stopped_ || !synced()) return;
    deciding_ = true;
    if (options_.jobs) jobs_.Wake();
    if (options_.cron_jobs) cron_jobs_.Wake();
    if (options_.job_flows) job_flows_.Wake();
    if (options_.queues) queues_.Wake();
    if (options_.pod_groups) workload_groups_.Wake();
    unreadable_.Begin();
  }

  const ControllersOptions options_;
  bool standby_ = false, deciding_ = false, stopped_ = false;
  kube::Recorder recorder_;
  kube::Unreadable unreadable_{recorder_};
  Caches caches_;
  const std::unique_ptr<SshKeys> own_ssh_keys_;  // null: others make them
  JobController jobs_;
  CronJobController cron_jobs_;
  JobFlowController job_flows_;
  QueueController queues_;
  WorkloadGroupController workload_groups_;
};

Controllers::Controllers(Loop& loop, kube::Client& client, ControllersOptions options)
    : impl_(std::make_unique<Impl>(loop, client, std::move(options))) {}
Controllers::~Controllers() = default;
void Controllers::Start() { impl_->Start(); }
void Controllers::Lead() { impl_->Lead(); }
void Controllers::Stop() { impl_->Stop(); }
bool Controllers::stopped() const { return impl_->stopped(); }
bool Controllers::synced() const { return impl_->synced(); }
std::string Controllers::problem() const { return impl_->problem(); }
std::size_t Controllers::events_waiting() const { return impl_->events_waiting(); }
std::string Controllers::Dump() const { return impl_->Dump(); }

}  // namespace gangway::controller
