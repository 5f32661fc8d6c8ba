#include "sandbox/kubelet/node_shape.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/json.h"
#include "base/hash.h"
#include "base/status_macros.h"

namespace gangway::sandbox {
namespace {

constexpr absl::string_view kNodePrefix = "node-";

std::string NodeName(std::size_t number) { return absl::StrFormat("%s%03d", kNodePrefix, number); }

// key[=value]:effect
absl::StatusOr<api::core::Taint> ParseTaint(absl::string_view text) {
  const auto colon = text.rfind(':');
  api::core::Taint taint;
  if (colon != absl::string_view::npos) taint.effect = std::string(text.substr(colon + 1));
  if (taint.effect != "NoSchedule" && taint.effect != "PreferNoSchedule" && taint.effect != "NoExecute") {
    return absl::InvalidArgumentError(absl::StrCat(
        "taint \"", text, "\": write KEY[=VALUE]:EFFECT with effect NoSchedule, PreferNoSchedule or NoExecute"));
  }
  const std::pair<std::string, std::string> key_value = absl::StrSplit(text.substr(0, colon), absl::MaxSplits('=', 1));
  taint.key = key_value.first;
  taint.value = key_value.second;
  if (taint.key.empty()) return absl::InvalidArgumentError(absl::StrCat("taint \"", text, "\": the key is missing"));
  return taint;
}

absl::Status ParsePart(absl::string_view part, NodeShape& shape) {
  if (absl::ConsumePrefix(&part, "taint:")) {
    GW_ASSIGN_OR_RETURN(api::core::Taint taint, ParseTaint(part));
    shape.taints.push_back(std::move(taint));
    return absl::OkStatus();
  }
  const bool label = absl::ConsumePrefix(&part, "label:");
  const auto equals = part.find('=');
  if (equals == absl::string_view::npos || equals == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", part, "\": write RESOURCE=QUANTITY, label:KEY=VALUE, taint:KEY=VALUE:EFFECT or count=N"));
  }
  const std::string key(part.substr(0, equals));
  const absl::string_view value = part.substr(equals + 1);
  if (label) {
    shape.labels[key] = std::string(value);
  } else if (key == "count") {
    if (!absl::SimpleAtoi(value, &shape.count) || shape.count < 1)
      return absl::InvalidArgumentError(absl::StrCat("count=", value, ": must be a number from 1"));
  } else {
    auto quantity = api::Quantity::Parse(value);
    if (!quantity.ok())
      return absl::InvalidArgumentError(absl::StrCat(key, "=", value, ": ", quantity.status().message()));
    if (quantity->negative())
      return absl::InvalidArgumentError(absl::StrCat(key, "=", value, ": must not be negative"));
    shape.resources[key] = *quantity;
  }
  return absl::OkStatus();
}

void WriteResources(api::JsonWriter& w, absl::string_view key, const api::ResourceList& resources) {
  w.Key(key).BeginObject();
  for (const auto& [name, quantity] : resources) w.Field(name, quantity.ToString());
  w.EndObject();
}

void WriteCondition(api::JsonWriter& w, const char* type, const char* status, const char* reason, const char* message,
                    const std::string& now) {
  w.BeginObject().Field("type", type).Field("status", status).Field("reason", reason).Field("message", message);
  w.Field("lastHeartbeatTime", now).Field("lastTransitionTime", now).EndObject();
}

}  // namespace

absl::StatusOr<NodeShape> ParseNodeShape(absl::string_view text) {
  NodeShape shape;
  for (const absl::string_view all : {kDefaultNodeShape, text}) {
    for (const absl::string_view part : absl::StrSplit(all, ',', absl::SkipWhitespace())) {
      if (const absl::Status status = ParsePart(part, shape); !status.ok()) {
        return absl::InvalidArgumentError(absl::StrCat("node shape \"", text, "\": ", status.message()));
      }
    }
  }
  return shape;
}

std::vector<SimulatedNode> MakeNodes(const std::vector<NodeShape>& shapes, int nodes) {
  std::vector<SimulatedNode> out;
  for (const NodeShape& shape : shapes) {
    for (int i = 0; i < (shape.count > 0 ? shape.count : nodes); ++i) {
      out.push_back({NodeName(out.size()), shape});
    }
  }
  return out;
}

std::string HostIp(absl::string_view node) {
  constexpr std::uint32_t kHosts = 254, kNets = 256;
  absl::string_view digits = node;
  std::uint32_t number = 0;
  const bool ours = absl::ConsumePrefix(&digits, kNodePrefix) && absl::SimpleAtoi(digits, &number) &&
                    node == NodeName(number) && number < kNets * kHosts;
  if (ours) return absl::StrCat("10.0.", number / kHosts, ".", number % kHosts + 1);
  // Those that somebody else has named are somewhere else.
  const std::uint64_t hash = StableHash(node);
  return absl::StrCat("10.", 128 + hash % 128, ".", hash / 128 % kNets, ".", hash / 128 / kNets % kHosts + 1);
}

std::string NodeBody(const SimulatedNode& node, absl::Time now) {
  const std::string time = api::FormatTime(now);
  std::string out;
  api::JsonWriter w(out);
  w.BeginObject().Field("apiVersion", "v1").Field("kind", "Node");
  w.Key("metadata").BeginObject().Field("name", node.name).Key("labels").BeginObject();
  w.Field("kubernetes.io/arch", "amd64").Field("kubernetes.io/hostname", node.name).Field("kubernetes.io/os", "linux");
  for (const auto& [key, value] : node.shape.labels) w.Field(key, value);
  w.EndObject().EndObject();
  w.Key("spec").BeginObject();
  if (!node.shape.taints.empty()) {
    w.Key("taints").BeginArray();
    for (const api::core::Taint& taint : node.shape.taints) {
      w.BeginObject().Field("key", taint.key);
      if (!taint.value.empty()) w.Field("value", taint.value);
      w.Field("effect", taint.effect).EndObject();
    }
    w.EndArray();
  }
  w.EndObject();
  w.Key("status").BeginObject();
  WriteResources(w, "capacity", node.shape.resources);
  WriteResources(w, "allocatable", node.shape.resources);
  w.Key("conditions").BeginArray();
  WriteCondition(w, "Ready", "True", "KubeletReady", "the simulated kubelet is ready", time);
  w.EndArray();
  w.Key("addresses")
      .BeginArray()
      .BeginObject()
      .Field("type", "InternalIP")
      .Field("address", HostIp(node.name))
      .EndObject();
  w.BeginObject().Field("type", "Hostname").Field("address", node.name).EndObject().EndArray();
  w.Key("nodeInfo").BeginObject();
  for (const char* field : {"machineID", "systemUUID", "bootID", "kernelVersion", "kubeProxyVersion"})
    w.Field(field, "");
  w.Field("osImage", "simulated")
      .Field("containerRuntimeVersion", "simulated://1")
      .Field("kubeletVersion", "v1.36.1-simulated");
  w.Field("operatingSystem", "linux").Field("architecture", "amd64").EndObject();
  w.EndObject().EndObject();
  return out;
}

}  // namespace gangway::sandbox
