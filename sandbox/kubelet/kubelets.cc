#include "sandbox/kubelet/kubelets.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/resource.h"
#include "base/status_macros.h"
#include "sandbox/kubelet/free_of_charge.h"
#include "sandbox/kubelet/pod_status.h"
#include "sandbox/kubelet/simulated_runtime.h"

namespace gangway::sandbox {
namespace {

using api::NamespacedName;
using api::core::Node;
using Pod = HostedPod;

// Whether a node that is missed has gone, while that is not certain.
constexpr absl::Duration kAskAgain = absl::Seconds(5);

bool Unreachable(const Node& node) {
  return std::any_of(node.spec.taints.begin(), node.spec.taints.end(), [](const api::core::Taint& taint) {
    return taint.key == "node.kubernetes.io/unreachable" && taint.effect == "NoExecute";
  });
}

// pkg/controller/tainteviction: addConditionAndDeletePod
kube::Plan EvictPod(const Pod& pod, absl::string_view runtime, absl::Time now) {
  kube::Plan plan;
  if (std::none_of(pod.status.conditions.begin(), pod.status.conditions.end(),
                   [](const auto& c) { return c.type == "DisruptionTarget"; })) {
    api::core::PodStatus status = pod.status;
    api::core::PodCondition& condition = status.conditions.emplace_back();
    condition.type = "DisruptionTarget";
    condition.status = "True";
    condition.reason = "DeletionByTaintManager";
    condition.message = "Taint manager: deleting due to NoExecute taint";
    condition.last_transition_time.at = now;
    kube::Write mark;
    mark.verb = kube::Verb::kMergePatch;
    mark.resource = &api::kPods;
    mark.subresource = "status";
    mark.ns = pod.metadata.ns;
    mark.name = pod.metadata.name;
    mark.uid = pod.metadata.uid;
    mark.resource_version = pod.metadata.resource_version;
    mark.body = PodStatusBody(status, pod, runtime);
    plan.stages.push_back({std::move(mark)});
  }
  kube::Write write;
  write.verb = kube::Verb::kDelete;
  write.resource = &api::kPods;
  write.ns = pod.metadata.ns;
  write.name = pod.metadata.name;
  write.uid = pod.metadata.uid;
  plan.stages.push_back({std::move(write)});
  plan.events.push_back(
      {kube::EventNote::Type::kNormal,
       "TaintManagerEviction",
       absl::StrCat("deleted because node ", pod.spec.node_name, " is unreachable"),
       {"v1", "Pod", pod.metadata.ns, pod.metadata.name, pod.metadata.uid, pod.metadata.resource_version, ""}});
  return plan;
}

}  // namespace

Kubelets::Kubelets(kube::Informers& informers, KubeletsOptions options)
    : Component(informers, FreeOfCharge("kubelet")),
      options_(std::move(options)),
      pods_(Watch<Pod>(api::kPods, {},
                       [this](const auto& key, const auto& before, const auto& after) { OnPod(key, before, after); })),
      nodes_(
          Watch<Node>(api::kNodes, {},
                      [this](const auto& key, const auto& before, const auto& after) { OnNode(key, before, after); })),
      config_maps_(Watch<SourceObject>(api::kConfigMaps, {},
                                       [this](const auto& key, const auto&, const auto&) { WakeWaiting(key.ns); })),
      secrets_(Watch<SourceObject>(api::kSecrets, {},
                                   [this](const auto& key, const auto&, const auto&) { WakeWaiting(key.ns); })),
      claims_(Watch<Claim>(api::kPersistentVolumeClaims, {},
                           [this](const auto& key, const auto&, const auto&) { WakeWaiting(key.ns); })),
      sandbox_recorder_(loop(), client(), EventsFreeOfCharge("sandbox")),
      pod_driver_(Drive("pod", [this](const NamespacedName& key, absl::Time now) { return DecidePod(key, now); })),
      node_driver_(Drive("node", [this](const NamespacedName& key, absl::Time now) { return DecideNode(key, now); })) {
  for (const SimulatedNode& node : options_.nodes) unregistered_[node.name] = &node;
  runtime_ = options_.make_runtime
                 ? options_.make_runtime(informers,
                                         [this](const NamespacedName& pod, const std::string& uid, bool changed) {
                                           if (on_pod_) on_pod_(uid);
                                           // Later: it may come from a decision about that very pod.
                                           if (changed) loop().Post(token(), [this, pod] { pod_driver_.Enqueue(pod); });
                                         })
                 : std::make_unique<SimulatedRuntime>(options_.behaviour, options_.times);
}

void Kubelets::Wake() {
  for (const SimulatedNode& node : options_.nodes) node_driver_.Enqueue({"", node.name});
  nodes_.ForEach([this](const NamespacedName& key, const auto&) { node_driver_.Enqueue(key); });
  pods_.ForEach([this](const NamespacedName& key, const auto& pod) {
    if (pod->bound()) pod_driver_.Enqueue(key);
  });
}

void Kubelets::OnReply(const kube::Write& write, const kube::Response& response) {
  Component::OnReply(write, response);
  if (write.resource == &api::kNodes && write.verb == kube::Verb::kCreate && response.ok())
    unregistered_.erase(write.name);
}

void Kubelets::OnPod(const NamespacedName& key, const std::shared_ptr<const Pod>& before,
                     const std::shared_ptr<const Pod>& after) {
  if (before != nullptr && (after == nullptr || after->metadata.uid != before->metadata.uid)) {
    runtime_->Forget(*before);
    pod_ips_.erase(before->status.pod_ip);
    if (before->bound()) pods_by_node_[before->spec.node_name].erase(key);
    waiting_.erase(key);
  }
  if (on_pod_ && before != nullptr) on_pod_(before->metadata.uid);
  if (after == nullptr) return;
  if (!after->bound()) return TellWhenNobodySchedules(before.get(), *after);
  pods_by_node_[after->spec.node_name].insert(key);
  if (!after->status.pod_ip.empty()) pod_ips_.insert(after->status.pod_ip);
  runtime_->See(*after);
  pod_driver_.Enqueue(key);
}

void Kubelets::OnNode(const NamespacedName& key, const std::shared_ptr<const Node>& before,
                      const std::shared_ptr<const Node>& after) {
  if (after == nullptr) {
    node_memory_.erase(key.name);
    unreachable_.erase(key.name);
  } else {
    gone_.erase(key.name);
    unregistered_.erase(key.name);
    node_driver_.Enqueue(key);
  }
  const bool was_lost = before != nullptr && IsLost(*before), was_tainted = before != nullptr && Unreachable(*before);
  const bool is_lost = after != nullptr && IsLost(*after), is_tainted = after != nullptr && Unreachable(*after);
  if ((before == nullptr) == (after == nullptr) && was_lost == is_lost && was_tainted == is_tainted) return;
  for (const NamespacedName& pod : pods_by_node_[key.name]) pod_driver_.Enqueue(pod);
}

// A cluster's own scheduler would take it; here it would wait without a word.
void Kubelets::TellWhenNobodySchedules(const Pod* before, const Pod& pod) {
  if (pod.spec.scheduler_name == options_.scheduler_name || !pod.spec.scheduling_gates.empty() ||
      pod.metadata.deleting())
    return;
  if (before != nullptr && before->metadata.uid == pod.metadata.uid && before->spec.scheduling_gates.empty()) return;
  kube::EventNote note;
  note.type = kube::EventNote::Type::kWarning;
  note.reason = "FailedScheduling";
  note.message = absl::StrCat("nothing in this sandbox schedules pods with schedulerName ", pod.spec.scheduler_name,
                              ": say schedulerName: ", options_.scheduler_name);
  note.regarding = {"v1", "Pod", pod.metadata.ns, pod.metadata.name, pod.metadata.uid, pod.metadata.resource_version,
                    ""};
  sandbox_recorder_.Record(note);
}

void Kubelets::WakeWaiting(const std::string& ns) {
  for (auto it = waiting_.lower_bound({ns, ""}); it != waiting_.end() && it->ns == ns; ++it) pod_driver_.Enqueue(*it);
}

SourceLookup Kubelets::LookupFor(const Pod& pod) const {
  const auto in_namespace = [&](const auto& cache) {
    return [&cache, &pod](const std::string& name) { return cache.Get({pod.metadata.ns, name}).get(); };
  };
  const auto of_claim = [&](auto get) {
    return [this, &pod, get](const std::string& name) -> const std::string* {
      const auto claim = claims_.Get({pod.metadata.ns, name});
      return claim == nullptr ? nullptr : &get(*claim);
    };
  };
  return {in_namespace(config_maps_), in_namespace(secrets_),
          of_claim([](const Claim& claim) -> const std::string& { return claim.status.phase; }),
          of_claim([](const Claim& claim) -> const std::string& { return claim.metadata.uid; })};
}

// pkg/controller/podgc: a node that is missed may be one that the watch has not told of yet, so the API server is
// asked.
NodeState Kubelets::StateOf(const std::string& node) {
  if (const auto object = nodes_.Get({"", node}); object != nullptr)
    return IsLost(*object) ? NodeState::kLost : NodeState::kAlive;
  const auto [it, first] = gone_.try_emplace(node, false);
  if (first) AskWhetherGone(node);
  return it->second ? NodeState::kAbsent : NodeState::kLost;
}

void Kubelets::AskWhetherGone(const std::string& node) {
  kube::Request request;
  request.method = "GET";
  request.path = api::PathOf(api::kNodes, "", node);
  client().Send(std::move(request), token(), [this, node](const absl::StatusOr<kube::Response>& reply) {
    const auto it = gone_.find(node);
    if (it == gone_.end()) return;  // it has appeared
    if (!reply.ok() || reply->code != 404) {
      loop().PostAt(loop().Now() + kAskAgain, token(), [this, node] {
        if (gone_.contains(node)) AskWhetherGone(node);
      });
      return;
    }
    it->second = true;
    for (const NamespacedName& pod : pods_by_node_[node]) pod_driver_.Enqueue(pod);
  });
}

std::string Kubelets::NextPodIp() {
  std::string ip;
  do {
    const std::uint32_t n = next_pod_ip_++ % (254u * 254u * 254u);
    ip = absl::StrCat("10.", 1 + n / (254u * 254u), ".", n / 254u % 254u, ".", n % 254u + 1);
  } while (pod_ips_.contains(ip));
  return ip;
}

kube::Plan Kubelets::DecidePod(const NamespacedName& key, absl::Time now) {
  const auto pod = pods_.Get(key);
  if (pod == nullptr || !pod->bound()) return {};
  const std::string& node_name = pod->spec.node_name;
  const auto node = nodes_.Get({"", node_name});
  absl::Time evict = absl::InfiniteFuture();
  if (node != nullptr && Unreachable(*node) && !pod->metadata.deleting()) {
    evict = EvictionTime(*pod, unreachable_.try_emplace(node_name, now).first->second, options_.node_times);
    if (now >= evict) return EvictPod(*pod, runtime_->name(), now);
  } else if (node != nullptr && !Unreachable(*node)) {
    unreachable_.erase(node_name);
  }
  const SourceLookup sources = LookupFor(*pod);
  PodView view{*pod,
               StateOf(node_name),
               {},
               pod->status.pod_ip,
               HostIp(node_name),
               FindMissingSources(*pod, sources),
               &sources,
               node == nullptr ? nullptr : &node->status.allocatable};
  if (view.missing.mounts.empty() && view.missing.containers.empty()) {
    waiting_.erase(key);
  } else {
    waiting_.insert(key);
  }
  if (view.pod_ip.empty() && view.node == NodeState::kAlive && !pod->metadata.deleting()) {
    view.pod_ip = pod->spec.host_network ? view.host_ip : NextPodIp();
  }
  kube::Plan plan = runtime_->Sync(view, now);
  plan.look_again = std::min(plan.look_again, evict);
  return plan;
}

kube::Plan Kubelets::DecideNode(const NamespacedName& key, absl::Time now) {
  if (const auto node = nodes_.Get(key); node != nullptr)
    return SyncNode(*node, options_.node_times, node_memory_[key.name], now);
  const auto it = unregistered_.find(key.name);
  if (it == unregistered_.end()) return {};
  kube::Write write;
  write.verb = kube::Verb::kCreate;
  write.resource = &api::kNodes;
  write.name = key.name;
  write.body = NodeBody(*it->second, now);
  kube::Plan plan;
  plan.stages.push_back({std::move(write)});
  return plan;
}

absl::StatusOr<std::shared_ptr<const Pod>> Kubelets::Find(const NamespacedName& key, absl::string_view uid) const {
  auto pod = pods_.Get(key);
  if (pod == nullptr || pod->metadata.uid != uid)
    return absl::NotFoundError(absl::StrCat("pods \"", key.name, "\" not found"));
  return pod;
}

absl::StatusOr<ContainerLog> Kubelets::Log(const NamespacedName& key, absl::string_view uid,
                                           absl::string_view container, bool previous) const {
  GW_ASSIGN_OR_RETURN(const std::shared_ptr<const Pod> pod, Find(key, uid));
  return runtime_->Log(*pod, container, previous);
}

absl::Status Kubelets::CheckStream(const NamespacedName& key, absl::string_view uid,
                                   absl::string_view container) const {
  GW_ASSIGN_OR_RETURN(const std::shared_ptr<const Pod> pod, Find(key, uid));
  return runtime_->CheckStream(*pod, container);
}

absl::StatusOr<std::unique_ptr<ContainerStream>> Kubelets::Exec(const NamespacedName& key, absl::string_view uid,
                                                                const ExecOrder& order, StreamEvents events) {
  GW_ASSIGN_OR_RETURN(const std::shared_ptr<const Pod> pod, Find(key, uid));
  return runtime_->Exec(*pod, order, std::move(events));
}

absl::StatusOr<std::unique_ptr<ContainerStream>> Kubelets::Dial(const NamespacedName& key, absl::string_view uid,
                                                                int port, StreamEvents events) {
  GW_ASSIGN_OR_RETURN(const std::shared_ptr<const Pod> pod, Find(key, uid));
  return runtime_->Dial(*pod, port, std::move(events));
}

}  // namespace gangway::sandbox
