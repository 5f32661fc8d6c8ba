#include "translator/controller/paddle_caches.h"

namespace gangway::paddle_controller {
namespace {

struct Watched {
  bool keep = false;
  bool optional = false;
  const char* labels = "";
  const char* fields = "";
};

kube::CacheOptions OptionsOf(Metrics* metrics, const std::vector<std::string>& namespaces, const Watched& watched) {
  kube::CacheOptions options;
  options.metrics = metrics;
  options.namespaces = namespaces;
  options.keep_objects = watched.keep;
  options.optional = watched.optional;
  options.label_selector = watched.labels;
  options.field_selector = watched.fields;
  return options;
}

}  // namespace

PaddleCaches::PaddleCaches(Loop& loop, kube::Client& client, Metrics* metrics, const std::vector<std::string>& namespaces)
    : paddle_jobs(loop, client, api::paddle::kPaddleJobs, OptionsOf(metrics, namespaces, {.keep = true, .optional = true})),
      kubeflow_jobs(loop, client, api::paddle::kubeflow::kPaddleJobs, OptionsOf(metrics, namespaces, {.keep = true, .optional = true})),
      jobs(loop, client, api::kJobs, OptionsOf(metrics, namespaces, {})),
      pod_groups(loop, client, api::kPodGroups, OptionsOf(metrics, namespaces, {.keep = true})),
      commands(loop, client, api::kCommands, OptionsOf(metrics, namespaces, {.keep = true})),
      queues(loop, client, api::kQueues, OptionsOf(metrics, namespaces, {})),
      pods(loop, client, api::kPods, OptionsOf(metrics, namespaces, {.labels = "volcano.sh/job-name"})),
      operator_pods(loop, client, api::kPods, OptionsOf(metrics, namespaces, {.labels = "paddle-res-name,!volcano.sh/job-name"})),
      kubeflow_pods(loop, client, api::kPods, OptionsOf(metrics, namespaces, {.labels = "training.kubeflow.org/operator-name=paddlejob-controller,!volcano.sh/job-name"})),
      group_events(loop, client, api::kEvents, OptionsOf(metrics, namespaces, {.fields = "involvedObject.kind=PodGroup,reason=Unschedulable"})),
      job_warnings(loop, client, api::kEvents,
                   OptionsOf(metrics, namespaces, {.fields = "involvedObject.kind=Job,involvedObject.apiVersion=batch.volcano.sh/v1alpha1,type=Warning,"
                                                             "reason!=PodGroupPending"})),
      services(loop, client, api::kServices, OptionsOf(metrics, namespaces, {})),
      config_maps(loop, client, api::kConfigMaps, OptionsOf(metrics, namespaces, {})),
      namespace_queues(loop, client, metrics, namespaces) {}

template <class Visit>
void PaddleCaches::ForEachCache(Visit visit) {
  visit("commands", commands);
  visit("configmaps", config_maps);
  visit("events", group_events);
  visit("jobs", jobs);
  visit("jobwarnings", job_warnings);
  visit("kubeflowpaddlejobs", kubeflow_jobs);
  visit("kubeflowpods", kubeflow_pods);
  visit("operatorpods", operator_pods);
  visit("paddlejobs", paddle_jobs);
  visit("podgroups", pod_groups);
  visit("pods", pods);
  visit("queues", queues);
  visit("services", services);
}

void PaddleCaches::ObserveReply(const kube::Write& write, const kube::Response& response) {
  ForEachCache([&](const char*, auto& cache) { cache.ObserveReply(write, response); });
}

bool PaddleCaches::synced() const {
  bool all = namespace_queues.synced();
  ForEachCache([&](const char*, const auto& cache) { all = all && cache.synced(); });
  return all;
}

std::string PaddleCaches::problem() const {
  std::string first;
  ForEachCache([&](const char*, const auto& cache) {
    if (first.empty()) first = cache.problem();
  });
  return first.empty() ? namespace_queues.problem() : first;
}

void PaddleCaches::DumpSizes(api::JsonWriter& json) const {
  ForEachCache([&](const char* name, const auto& cache) { json.Field(name, static_cast<std::int64_t>(cache.size())); });
  json.Field("namespaces", static_cast<std::int64_t>(namespace_queues.size()));
}

void PaddleCaches::SetOnDecodeError(const std::function<void(const api::ObjectReference&, const absl::Status&)>& on_error) {
  ForEachCache([&](const char*, auto& cache) { cache.SetOnDecodeError(on_error); });
  namespace_queues.SetOnDecodeError(on_error);
}

}  // namespace gangway::paddle_controller
