// What simulated nodes look like, as one writes it on the command line.
//
//   cpu=16,memory=64Gi,ephemeral-storage=200Gi,pods=110,nvidia.com/gpu=8,label:zone=a,taint:dedicated=ml:NoSchedule,count=2
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/core/node.h"
#include "api/meta.h"

namespace gangway::sandbox {

struct NodeShape {
  api::ResourceList resources;  // capacity, all of it allocatable
  std::map<std::string, std::string> labels;
  std::vector<api::core::Taint> taints;
  int count = 0;  // 0: as many as --nodes says
};

struct SimulatedNode {
  std::string name;  // "node-000"
  NodeShape shape;
};

inline constexpr absl::string_view kDefaultNodeShape = "cpu=16,memory=64Gi,ephemeral-storage=200Gi,pods=110";

// Resources that are not named keep the default shape's amounts. InvalidArgument names the part that is wrong.
absl::StatusOr<NodeShape> ParseNodeShape(absl::string_view text);

// `nodes` of each shape that has no count of its own; numbered through, "node-000" first.
std::vector<SimulatedNode> MakeNodes(const std::vector<NodeShape>& shapes, int nodes);

// The node's address, made from its name; no two that MakeNodes makes have the same.
std::string HostIp(absl::string_view node);

// The Node object a kubelet would register, as JSON.
std::string NodeBody(const SimulatedNode& node, absl::Time now);

}  // namespace gangway::sandbox
