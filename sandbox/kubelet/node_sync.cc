#include "sandbox/kubelet/node_sync.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "api/json.h"
#include "api/resource.h"

namespace gangway::sandbox {
namespace {

using api::core::Node;
using api::core::NodeCondition;
using api::core::Taint;

constexpr absl::string_view kUnreachable = "node.kubernetes.io/unreachable";

kube::Write Patch(const Node& node, absl::string_view subresource, std::string body) {
  kube::Write write;
  write.verb = subresource.empty() ? kube::Verb::kMergePatch : kube::Verb::kStrategicMergePatch;
  write.resource = &api::kNodes;
  write.subresource = std::string(subresource);
  write.name = node.metadata.name;
  write.uid = node.metadata.uid;
  write.resource_version = node.metadata.resource_version;
  write.body = std::move(body);
  return write;
}

// Conditions merge by their type, so what else the node's say stays.
std::string ReadyBody(const char* status, const char* reason, const char* message, absl::Time now) {
  std::string out;
  api::JsonWriter w(out);
  w.BeginObject().Key("status").BeginObject().Key("conditions").BeginArray();
  w.BeginObject().Field("type", "Ready").Field("status", status).Field("reason", reason).Field("message", message);
  w.Field("lastTransitionTime", api::FormatTime(now)).EndObject();
  w.EndArray().EndObject().EndObject();
  return out;
}

std::string TaintsBody(const Node& node, bool unreachable, absl::Time now) {
  std::string out;
  api::JsonWriter w(out);
  w.BeginObject().Key("spec").BeginObject().Key("taints").BeginArray();
  for (const Taint& taint : node.spec.taints) {
    if (taint.key == kUnreachable) continue;
    w.BeginObject().Field("key", taint.key);
    if (!taint.value.empty()) w.Field("value", taint.value);
    w.Field("effect", taint.effect).EndObject();
  }
  if (unreachable) {
    for (const char* effect : {"NoSchedule", "NoExecute"}) {
      w.BeginObject()
          .Field("key", kUnreachable)
          .Field("effect", effect)
          .Field("timeAdded", api::FormatTime(now))
          .EndObject();
    }
  }
  w.EndArray().EndObject().EndObject();
  return out;
}

}  // namespace

bool IsLost(const Node& node) {
  const auto it = node.metadata.annotations.find(std::string(kLostAnnotation));
  return it != node.metadata.annotations.end() && it->second == "true";
}

kube::Plan SyncNode(const Node& node, const NodeTimes& times, NodeMemory& memory, absl::Time now) {
  kube::Plan plan;
  const bool lost = IsLost(node);
  if (!lost) memory.lost.reset();
  if (lost && !memory.lost) memory.lost = now;
  const auto ready = std::find_if(node.status.conditions.begin(), node.status.conditions.end(),
                                  [](const NodeCondition& c) { return c.type == "Ready"; });
  const bool unknown = ready != node.status.conditions.end() && ready->status == "Unknown";
  const bool tainted = std::any_of(node.spec.taints.begin(), node.spec.taints.end(),
                                   [](const Taint& t) { return t.key == kUnreachable; });

  if (lost && !unknown) {
    if (now < *memory.lost + times.grace) {
      plan.look_again = *memory.lost + times.grace;
    } else {
      plan.stages.push_back(
          {Patch(node, "status",
                 ReadyBody("Unknown", "NodeStatusUnknown", "the simulated kubelet stopped posting its status", now))});
    }
  } else if (!lost && unknown) {
    plan.stages.push_back(
        {Patch(node, "status", ReadyBody("True", "KubeletReady", "the simulated kubelet is ready", now))});
  } else if (unknown != tainted) {
    plan.stages.push_back({Patch(node, "", TaintsBody(node, unknown, now))});
  }
  return plan;
}

absl::Time EvictionTime(const HostedPod& pod, absl::Time tainted, const NodeTimes& times) {
  std::optional<absl::Time> when;
  for (const api::core::Toleration& toleration : pod.spec.tolerations) {
    if (toleration.effect != "NoExecute" && !toleration.effect.empty()) continue;
    if (toleration.key != kUnreachable && !(toleration.key.empty() && toleration.op == "Exists")) continue;
    if (!toleration.toleration_seconds) return absl::InfiniteFuture();
    const absl::Time until = tainted + absl::Seconds(*toleration.toleration_seconds);
    when = std::min(when.value_or(until), until);
  }
  return when.value_or(tainted + times.eviction);
}

}  // namespace gangway::sandbox
