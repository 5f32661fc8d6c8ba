#include "plugin/lifecycle/hyper_nodes/hyper_nodes.h"

#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/json.h"
#include "base/hash.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::HyperNode;

// A tier's HyperNode before it has its name.
struct Domain {
  std::int64_t tier = 1;
  std::string label, value;
  friend auto operator<=>(const Domain&, const Domain&) = default;
};
struct Members {
  std::string type;  // the first that has it: its name is in that of the HyperNode
  std::set<Domain> domains;
  std::set<std::string> nodes;  // all that are in it
};

// The same in every run, and not the same for any two values of a cluster.
std::string Suffix(const Domain& domain) {
  return absl::StrFormat("%010x", StableHash(domain.value, StableHash(domain.label)) & 0xffffffffffu);
}

HyperNode ObjectOf(absl::string_view name, const WantedHyperNode& wanted) {
  HyperNode out;
  out.api_version = api::volcano::kHyperNodes.ApiVersion();
  out.kind = std::string(api::volcano::kHyperNodes.kind);
  out.metadata.name = std::string(name);
  out.metadata.labels = {{kTopologySourceLabel, kLabelSourceName}};
  out.metadata.labels[wanted.label] = wanted.value;
  out.spec.tier = wanted.tier;
  out.spec.tier_name = wanted.label;
  for (const std::string& member : wanted.members) {
    api::volcano::MemberSpec& spec = out.spec.members.emplace_back();
    spec.type = wanted.tier == 1 ? "Node" : "HyperNode";
    spec.selector.exact_match = api::volcano::ExactMatch{member};
  }
  return out;
}

kube::Write WriteOfHyperNode(kube::Verb verb, absl::string_view name, const HyperNode* is) {
  kube::Write write;
  write.verb = verb;
  write.resource = &api::volcano::kHyperNodes;
  write.name = std::string(name);
  if (is == nullptr) return write;
  write.uid = is->metadata.uid;
  if (verb == kube::Verb::kMergePatch) write.resource_version = is->metadata.resource_version;
  return write;
}

// "" when it is as it should be.
std::string Difference(const HyperNode& is, HyperNode wanted) {
  HyperNode before;
  before.spec = is.spec;
  before.metadata.labels = is.metadata.labels;
  wanted.metadata.labels.insert(is.metadata.labels.begin(), is.metadata.labels.end());  // ours go first
  HyperNode after = before;
  after.spec = wanted.spec;
  after.metadata.labels = std::move(wanted.metadata.labels);
  const absl::StatusOr<std::string> patch = api::MergePatchDiff(api::Encode(before), api::Encode(after));
  return !patch.ok() || *patch == "{}" ? "" : *patch;  // both are objects that we encoded
}

}  // namespace

bool IsFromLabels(const Labels& of_hyper_node) {
  const auto source = of_hyper_node.find(kTopologySourceLabel);
  return source != of_hyper_node.end() && source->second == kLabelSourceName;
}

std::string HyperNodePrefix(absl::string_view type, std::size_t tier) {
  std::string clean;
  for (const char c : type) {
    const unsigned char byte = static_cast<unsigned char>(c);
    clean += absl::ascii_isalnum(byte) || c == '.' ? absl::ascii_tolower(byte) : '-';
  }
  return absl::StrCat("hypernode-", clean, "-tier", tier);
}

Labels TopologyLabels(const std::vector<TopologyType>& types, const Labels& of_node) {
  Labels out;
  for (const TopologyType& type : types) {
    for (const std::string& label : type.labels) {
      if (const auto at = of_node.find(label); at != of_node.end()) out.insert(*at);
    }
  }
  return out;
}

absl::btree_map<std::string, WantedHyperNode> WantedHyperNodes(const std::vector<TopologyType>& types,
                                                               const NodesByName& nodes, const NodesByName& there) {
  std::map<Domain, Members> domains;
  for (const auto& [node, labels] : nodes) {
    for (const TopologyType& type : types) {
      const Domain* below = nullptr;
      std::int64_t tier = 0;
      for (const std::string& label : type.labels) {
        const auto value = labels.find(label);
        if (value == labels.end()) break;
        const auto [at, fresh] = domains.try_emplace(Domain{++tier, label, value->second});
        if (fresh || type.name < at->second.type) at->second.type = type.name;
        if (below != nullptr) at->second.domains.insert(*below);
        at->second.nodes.insert(node);
        below = &at->first;
      }
    }
  }
  // Names: of those that are there the first by name that says the same.
  std::map<Domain, std::string> names;
  for (const auto& [name, labels] : there) {
    for (const auto& [label, value] : labels) {
      for (std::size_t tier = 1; tier <= kMaxTopologyTiers; ++tier) {
        const auto domain = domains.find(Domain{static_cast<std::int64_t>(tier), label, value});
        if (domain == domains.end()) continue;
        if (absl::StartsWith(name, HyperNodePrefix(domain->second.type, tier) + "-"))
          names.try_emplace(domain->first, name);
      }
    }
  }
  for (const auto& [domain, members] : domains) {
    names.try_emplace(domain, absl::StrCat(HyperNodePrefix(members.type, static_cast<std::size_t>(domain.tier)), "-",
                                           Suffix(domain)));
  }
  absl::btree_map<std::string, WantedHyperNode> out;
  for (const auto& [domain, members] : domains) {
    WantedHyperNode& wanted = out[names.at(domain)];
    wanted = {domain.tier, domain.label, domain.value, {}, static_cast<std::int64_t>(members.nodes.size())};
    if (domain.tier == 1) wanted.members.assign(members.nodes.begin(), members.nodes.end());
    std::set<std::string> below;
    for (const Domain& member : members.domains) below.insert(names.at(member));
    if (domain.tier > 1) wanted.members.assign(below.begin(), below.end());
  }
  return out;
}

kube::Plan ReconcileHyperNode(absl::string_view name, const HyperNode* is, const WantedHyperNode* wanted) {
  kube::Plan plan;
  if (is != nullptr && is->metadata.deleting()) return plan;  // looked at again when it is gone
  if (wanted == nullptr) {
    if (is != nullptr && IsFromLabels(is->metadata.labels))
      plan.stages.push_back({WriteOfHyperNode(kube::Verb::kDelete, name, is)});
    return plan;
  }
  if (is == nullptr) {
    kube::Write create = WriteOfHyperNode(kube::Verb::kCreate, name, nullptr);
    create.body = api::Encode(ObjectOf(name, *wanted));
    plan.stages.push_back({std::move(create)});
    return plan;  // its status when it is there
  }
  if (!IsFromLabels(is->metadata.labels)) return plan;  // somebody else's
  if (std::string patch = Difference(*is, ObjectOf(name, *wanted)); !patch.empty()) {
    kube::Write change = WriteOfHyperNode(kube::Verb::kMergePatch, name, is);
    change.body = std::move(patch);
    plan.stages.push_back({std::move(change)});
    return plan;  // a plan changes an object once
  }
  if (is->status.node_count != wanted->nodes) {
    kube::Write count = WriteOfHyperNode(kube::Verb::kMergePatch, name, is);
    count.subresource = "status";
    count.body = absl::StrCat(R"({"status":{"nodeCount":)", wanted->nodes, "}}");
    plan.stages.push_back({std::move(count)});
  }
  return plan;
}

}  // namespace gangway::lifecycle
