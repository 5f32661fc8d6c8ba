#include "plugin/controller/caches.h"

namespace gangway::controller {
namespace {

kube::CacheOptions Kept(Metrics* metrics) {
  kube::CacheOptions options;
  options.metrics = metrics;
  return options;
}
kube::CacheOptions NotKept(Metrics* metrics) {
  kube::CacheOptions options = Kept(metrics);
  options.keep_objects = false;
  return options;
}

}  // namespace

Caches::Caches(Loop& loop, kube::Client& client, Metrics* metrics)
    : jobs(loop, client, api::kJobs, Kept(metrics)),
      pod_groups(loop, client, api::kPodGroups, Kept(metrics)),
      commands(loop, client, api::kCommands, Kept(metrics)),
      queues(loop, client, api::kQueues, Kept(metrics)),
      priority_classes(loop, client, api::kPriorityClasses, Kept(metrics)),
      pods(loop, client, api::kPods, NotKept(metrics)),
      config_maps(loop, client, api::kConfigMaps, NotKept(metrics)),
      services(loop, client, api::kServices, NotKept(metrics)),
      network_policies(loop, client, api::kNetworkPolicies, NotKept(metrics)),
      claims(loop, client, api::kPersistentVolumeClaims, NotKept(metrics)) {}

void Caches::ObserveReply(const kube::Write& write, const kube::Response& response) {
  jobs.ObserveReply(write, response);
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

void Caches::SetOnDecodeError(const std::function<void(const api::ObjectReference&, const absl::Status&)>& on_error) {
  jobs.SetOnDecodeError(on_error);
  pod_groups.SetOnDecodeError(on_error);
  commands.SetOnDecodeError(on_error);
  queues.SetOnDecodeError(on_error);
  priority_classes.SetOnDecodeError(on_error);
  pods.SetOnDecodeError(on_error);
  config_maps.SetOnDecodeError(on_error);
  services.SetOnDecodeError(on_error);
  network_policies.SetOnDecodeError(on_error);
  claims.SetOnDecodeError(on_error);
}

}  // namespace gangway::controller
