// What the controllers watch. Pods, config maps and their like are not kept: the indices hold what is needed of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/core/workload.h"
#include "api/json.h"
#include "api/volcano/cron_job.h"
#include "api/volcano/flow.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "kube/runtime/cache.h"
#include "plugin/controller/namespace_queues.h"

namespace gangway::controller {

// As the API server holds it: a minAvailable that is absent is negative, so that it is not taken for a 0, which somebody wrote.
struct StoredJob : api::volcano::Job {
  StoredJob() { spec.min_available = -1; }
};
// No webhook need have filled it in, and a Job without minAvailable would be no gang. A 0 stays: the Job is to run without any of its pods.
api::volcano::Job FilledIn(const StoredJob& job);

struct Caches {
  // `namespaces`: only these; empty: all.
  Caches(Loop& loop, kube::Client& client, Metrics* metrics, const std::vector<std::string>& namespaces = {});

  // Shows the reply to a write of ours to whichever cache it is about.
  void ObserveReply(const kube::Write& write, const kube::Response& response);
  // All but CronJobs, the flows, the workloads and the namespaces, of which the last three have calls of their own.
  bool synced() const;
  bool workloads_synced() const;
  bool flows_synced() const;
  // What keeps a cache from being up to date, in one line for a user; "" when nothing does.
  std::string problem() const;
  // A member of a JSON object for each cache: "pods":12
  void DumpSizes(api::JsonWriter& json) const;
  void SetOnDecodeError(const std::function<void(const api::ObjectReference&, const absl::Status&)>& on_error);

  kube::Cache<StoredJob> jobs;
  kube::Cache<api::volcano::CronJob> cron_jobs;
  kube::Cache<api::volcano::JobFlow> job_flows;
  kube::Cache<api::volcano::JobTemplate> job_templates;
  kube::Cache<api::volcano::PodGroup> pod_groups;
  kube::Cache<api::volcano::Command> commands;
  kube::Cache<api::volcano::Queue> queues;
  kube::Cache<api::core::PriorityClass> priority_classes;
  kube::Cache<api::core::Pod> pods;
  kube::Cache<api::core::ConfigMap> config_maps;
  kube::Cache<api::core::PartialObject> services;
  kube::Cache<api::core::PartialObject> network_policies;
  kube::Cache<api::core::PartialObject> claims;
  kube::Cache<api::core::Workload> replica_sets, stateful_sets, daemon_sets, batch_jobs;
  NamespaceQueues namespace_queues;
};

}  // namespace gangway::controller
