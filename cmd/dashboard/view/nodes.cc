#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "cmd/dashboard/view/rows.h"
#include "plugin/ingest/ingest.h"

namespace gangway::dashboard {
namespace {

// "nvidia.com/gpu"; not "hugepages-2Mi", nor what Kubernetes counts of storage and pods.
bool IsDevice(absl::string_view resource) {
  return absl::StrContains(resource, '/') && !absl::StartsWith(resource, "hugepages-") &&
         !absl::StartsWith(resource, "attachable-volumes-");
}

// The device of which the node has most, by name where it has as many of several; else cpu.
std::string LeadingOf(const model::NamedAmounts& allocatable) {
  std::string leading = "cpu";
  std::int64_t most = 0;
  for (const auto& [name, amount] : allocatable) {
    if (!IsDevice(name) || amount <= most) continue;
    leading = name;
    most = amount;
  }
  return leading;
}

bool IsReady(const api::core::Node& node) {
  for (const api::core::NodeCondition& condition : node.status.conditions) {
    if (condition.type == "Ready") return condition.status == "True";
  }
  return false;
}

}  // namespace

std::vector<NodeRow> NodeRows(const Seen& seen) {
  std::map<absl::string_view, std::vector<const PodSeen*>> by_node;
  for (const PodSeen* pod : seen.pods) {
    if (!pod->node.empty() && !pod->ended) by_node[pod->node].push_back(pod);
  }
  std::vector<NodeRow> rows;
  for (const auto& node : seen.nodes) {
    NodeRow row;
    row.name = node->metadata.name;
    row.ready = IsReady(*node);
    row.cordoned = node->spec.unschedulable;
    row.taints = static_cast<int>(node->spec.taints.size());
    const model::NamedAmounts allocatable = ingest::NodeFactsOf(*node).allocatable;
    row.leading = LeadingOf(allocatable);
    row.allocatable = AmountOf(allocatable, row.leading);
    std::map<std::pair<absl::string_view, absl::string_view>, Holder> holders;
    if (const auto pods = by_node.find(row.name); pods != by_node.end()) {
      for (const PodSeen* pod : pods->second) {
        Holder& holder = holders[{pod->ns, pod->holder}];
        const std::int64_t amount = AmountOf(pod->requests, row.leading);
        ++holder.pods;
        holder.amount = Sum(holder.amount, amount);
        row.held = Sum(row.held, amount);
        AddAmounts(pod->requests, row.all_held);
      }
    }
    std::erase_if(row.all_held,
                  [](const auto& of) { return of.first != "cpu" && of.first != "memory" && !IsDevice(of.first); });
    for (auto& [key, holder] : holders) {
      holder.ns = std::string(key.first);
      holder.name = std::string(key.second);
      row.holders.push_back(std::move(holder));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace gangway::dashboard
