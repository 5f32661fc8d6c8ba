// What the controller of PaddleJobs watches. Of most things nothing is kept here: the index (paddle_index.h) holds what is needed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/json.h"
#include "api/paddle/paddle_job.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "kube/runtime/cache.h"
#include "plugin/controller/namespace_queues.h"

namespace gangway::paddle_controller {

struct PaddleCaches {
  // `namespaces`: only these; empty: all.
  PaddleCaches(Loop& loop, kube::Client& client, Metrics* metrics, const std::vector<std::string>& namespaces);

  // Shows the reply to a write of ours to whichever cache it is about.
  void ObserveReply(const kube::Write& write, const kube::Response& response);
  bool synced() const;
  // What keeps a cache from being up to date, in one line for a user; "" when nothing does.
  std::string problem() const;
  // A member of a JSON object for each cache: "pods":12
  void DumpSizes(api::JsonWriter& json) const;
  void SetOnDecodeError(const std::function<void(const api::ObjectReference&, const absl::Status&)>& on_error);

  // Either CRD may be missing.
  kube::Cache<api::paddle::PaddleJob> paddle_jobs;
  kube::Cache<api::paddle::kubeflow::PaddleJob> kubeflow_jobs;
  kube::Cache<api::volcano::Job> jobs;  // not kept
  kube::Cache<api::volcano::PodGroup> pod_groups;
  kube::Cache<api::volcano::Command> commands;
  kube::Cache<api::volcano::Queue> queues;  // not kept
  // Pods of Jobs; and those that paddle-operator or the training operator made, for whose end we wait. Not kept.
  kube::Cache<api::core::Pod> pods, operator_pods, kubeflow_pods;
  kube::Cache<api::core::Event> group_events;  // why a queue does not let a PodGroup in; not kept
  kube::Cache<api::core::Event> job_warnings;  // why a Job's pods cannot be made; not kept
  kube::Cache<api::core::PartialObject> services, config_maps;  // not kept
  controller::NamespaceQueues namespace_queues;

 private:
  template <class Visit>
  void ForEachCache(Visit visit);
  template <class Visit>
  void ForEachCache(Visit visit) const {
    const_cast<PaddleCaches*>(this)->ForEachCache(visit);
  }
};

}  // namespace gangway::paddle_controller
