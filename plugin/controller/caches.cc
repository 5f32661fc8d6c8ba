#include "plugin/controller/caches.h"

#include <algorithm>

#include "api/volcano/defaults.h"

namespace gangway::controller {
namespace {

kube::CacheOptions OptionsOf(Metrics* metrics, const std::vector<std::string>& namespaces, bool keep) {
  kube::CacheOptions options;
  options.metrics = metrics;
  options.namespaces = namespaces;
  options.keep_objects = keep;
  return options;
}

// A server need not have all of these.
kube::CacheOptions WorkloadOptions(Metrics* metrics, const std::vector<std::string>& namespaces) {
  kube::CacheOptions options = OptionsOf(metrics, namespaces, false);
  options.optional = true;
  return options;
}

// Whoever came from an older release has no CronJobs yet.
kube::CacheOptions CronJobOptions(Metrics* metrics, const std::vector<std::string>& namespaces) {
  kube::CacheOptions options = OptionsOf(metrics, namespaces, true);
  options.optional = true;
  return options;
}

// A cluster may have Volcano's CRDs without these.
kube::CacheOptions FlowOptions(Metrics* metrics, const std::vector<std::string>& namespaces) {
  kube::CacheOptions options = OptionsOf(metrics, namespaces, true);
  options.optional = true;
  return options;
}

}  // namespace

api::volcano::Job FilledIn(const StoredJob& stored) {
  api::volcano::Job job = stored;
  const bool none = job.spec.min_available == 0;
  job.spec.min_available = std::max(job.spec.min_available, 0);
  api::volcano::ApplyDefaults(job);
  if (none) job.spec.min_available = 0;
  return job;
}

Caches::Caches(Loop& loop, kube::Client& client, Metrics* metrics, const std::vector<std::string>& namespaces)
    : jobs(loop, client, api::kJobs, OptionsOf(metrics, namespaces, true)),
      cron_jobs(loop, client, api::kCronJobs, CronJobOptions(metrics, namespaces)),
      job_flows(loop, client, api::kJobFlows, FlowOptions(metrics, namespaces)),
      job_templates(loop, client, api::kJobTemplates, FlowOptions(metrics, namespaces)),
      pod_groups(loop, client, api::kPodGroups, OptionsOf(metrics, namespaces, true)),
      commands(loop, client, api::kCommands, OptionsOf(metrics, namespaces, true)),
      queues(loop, client, api::kQueues, OptionsOf(metrics, namespaces, true)),
      priority_classes(loop, client, api::kPriorityClasses, OptionsOf(metrics, namespaces, true)),
      pods(loop, client, api::kPods, OptionsOf(metrics, namespaces, false)),
      config_maps(loop, client, api::kConfigMaps, OptionsOf(metrics, namespaces, false)),
      services(loop, client, api::kServices, OptionsOf(metrics, namespaces, false)),
      network_policies(loop, client, api::kNetworkPolicies, OptionsOf(metrics, namespaces, false)),
      claims(loop, client, api::kPersistentVolumeClaims, OptionsOf(metrics, namespaces, false)),
      replica_sets(loop, client, api::kReplicaSets, WorkloadOptions(metrics, namespaces)),
      stateful_sets(loop, client, api::kStatefulSets, WorkloadOptions(metrics, namespaces)),
      daemon_sets(loop, client, api::kDaemonSets, WorkloadOptions(metrics, namespaces)),
      batch_jobs(loop, client, api::kBatchJobs, WorkloadOptions(metrics, namespaces)),
      namespace_queues(loop, client, metrics, namespaces) {}

void Caches::ObserveReply(const kube::Write& write, const kube::Response& response) {
  jobs.ObserveReply(write, response);
  cron_jobs.ObserveReply(write, response);
  job_flows.ObserveReply(write, response);
  job_templates.ObserveReply(write, response);
  pod_groups.ObserveReply(write, response);
  commands.ObserveReply(write, response);
  queues.ObserveReply(write, response);
  pods.ObserveReply(write, response);
  config_maps.ObserveReply(write, response);
  services.ObserveReply(write, response);
  network_policies.ObserveReply(write, response);
  claims.ObserveReply(write, response);
}

bool Caches::synced() const {
  return jobs.synced() && pod_groups.synced() && commands.synced() && queues.synced() && priority_classes.synced() &&
         pods.synced() && config_maps.synced() && services.synced() && network_policies.synced() && claims.synced();
}

bool Caches::workloads_synced() const {
  return replica_sets.synced() && stateful_sets.synced() && daemon_sets.synced() && batch_jobs.synced();
}

bool Caches::flows_synced() const { return job_flows.synced() && job_templates.synced(); }

std::string Caches::problem() const {
  for (std::string problem : {jobs.problem(), cron_jobs.problem(), pod_groups.problem(), commands.problem(), queues.problem(), priority_classes.problem(),
                              pods.problem(), config_maps.problem(), services.problem(), network_policies.problem(), claims.problem(),
                              job_flows.problem(), job_templates.problem(), replica_sets.problem(), stateful_sets.problem(), daemon_sets.problem(), batch_jobs.problem(),
                              namespace_queues.problem()}) {
    if (!problem.empty()) return problem;
  }
  return "";
}

void Caches::DumpSizes(api::JsonWriter& json) const {
  const auto field = [&](const char* name, std::size_t size) { json.Field(name, static_cast<std::int64_t>(size)); };
  field("batchjobs", batch_jobs.size());
  field("commands", commands.size());
  field("configmaps", config_maps.size());
  field("daemonsets", daemon_sets.size());
  field("cronjobs", cron_jobs.size());
  field("jobflows", job_flows.size());
  field("jobs", jobs.size());
  field("jobtemplates", job_templates.size());
  field("namespaces", namespace_queues.size());
  field("networkpolicies", network_policies.size());
  field("persistentvolumeclaims", claims.size());
  field("podgroups", pod_groups.size());
  field("pods", pods.size());
  field("priorityclasses", priority_classes.size());
  field("queues", queues.size());
  field("replicasets", replica_sets.size());
  field("services", services.size());
  field("statefulsets", stateful_sets.size());
}

void Caches::SetOnDecodeError(const std::function<void(const api::ObjectReference&, const absl::Status&)>& on_error) {
  jobs.SetOnDecodeError(on_error);
  cron_jobs.SetOnDecodeError(on_error);
  job_flows.SetOnDecodeError(on_error);
  job_templates.SetOnDecodeError(on_error);
  pod_groups.SetOnDecodeError(on_error);
  commands.SetOnDecodeError(on_error);
  queues.SetOnDecodeError(on_error);
  priority_classes.SetOnDecodeError(on_error);
  pods.SetOnDecodeError(on_error);
  config_maps.SetOnDecodeError(on_error);
  services.SetOnDecodeError(on_error);
  network_policies.SetOnDecodeError(on_error);
  claims.SetOnDecodeError(on_error);
  namespace_queues.SetOnDecodeError(on_error);
  for (kube::Cache<api::core::Workload>* cache : {&replica_sets, &stateful_sets, &daemon_sets, &batch_jobs}) cache->SetOnDecodeError(on_error);
}

}  // namespace gangway::controller
