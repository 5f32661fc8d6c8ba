// The HyperNodes that labels of nodes ask for, as Volcano's discovery from labels makes them (volcano:
// pkg/controllers/hypernode, discovery/label):
//
//   tier n, one for each value of its label     called hypernode-<type>-tier<n>-<what tells it from others>
//   members      of tier 1 the nodes with that value, of tier n the HyperNodes of tier n-1 in which such nodes are
//   labels       volcano.sh/network-topology-source: label, and the label with its value
//   tierName     the label
//
// A node counts up to the first label of the type that it does not have. Types with the same label at the same tier
// share its HyperNodes. Values tell HyperNodes apart, whatever is around them: racks of two rows that are both called
// "1" are one.
//
// One that bears such labels keeps its name, also when Volcano made it: whoever takes over changes nothing. Those with
// the source label that no node asks for go; all others are somebody else's. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "api/volcano/hyper_node.h"
#include "kube/plan/plan.h"
#include "plugin/lifecycle/hyper_nodes/label_source.h"

namespace gangway::lifecycle {

inline constexpr char kTopologySourceLabel[] = "volcano.sh/network-topology-source", kLabelSourceName[] = "label";

using Labels = std::map<std::string, std::string>;
using NodesByName = absl::btree_map<std::string, Labels>;

// Whether labels made it, here or in Volcano.
bool IsFromLabels(const Labels& of_hyper_node);
// "hypernode-rdma-tier1": what the names of a type's HyperNodes begin with.
std::string HyperNodePrefix(absl::string_view type, std::size_t tier);
// Of a node's labels those that the types look at.
Labels TopologyLabels(const std::vector<TopologyType>& types, const Labels& of_node);

struct WantedHyperNode {
  std::int64_t tier = 1;
  std::string label, value;
  std::vector<std::string> members;  // sorted; nodes in tier 1, else HyperNodes
  std::int64_t nodes = 0;            // in it, and in the HyperNodes in it
  friend bool operator==(const WantedHyperNode&, const WantedHyperNode&) = default;
};
// By name. `there`: HyperNodes that labels made, with their labels.
absl::btree_map<std::string, WantedHyperNode> WantedHyperNodes(const std::vector<TopologyType>& types,
                                                               const NodesByName& nodes, const NodesByName& there);

// `is` null: there is none of the name; `wanted` null: no node asks for it. Its spec is what is wanted, whoever changed
// it; labels and annotations of others stay.
kube::Plan ReconcileHyperNode(absl::string_view name, const api::volcano::HyperNode* is, const WantedHyperNode* wanted);

}  // namespace gangway::lifecycle
