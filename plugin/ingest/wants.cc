#include "plugin/ingest/wants.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/core/pod_groups.h"
#include "api/field_table.h"
#include "api/selector.h"
#include "plugin/ingest/requests.h"

namespace gangway::ingest {
namespace {

// volcano: plugins/numaaware
constexpr absl::string_view kNumaPolicyAnnotation = "volcano.sh/numa-topology-policy";

// What Volcano's plugin deviceshare, and the one for Ascend, give out card by card: their device plugins start a pod
// only where an annotation of the scheduler's names its cards (volcano: api/devices/nvidia; ascend: npu-core).
bool IsPartOfACard(absl::string_view resource) {
  return resource == "volcano.sh/gpu-memory" || resource == "volcano.sh/gpu-number" ||
         absl::StartsWith(resource, "volcano.sh/vgpu-") || resource == "huawei.com/npu-core";
}

using api::Document;
using api::MakeField;
using api::MakeFields;
using api::core::Container;
using api::core::NodeSelectorTerm;
using api::core::PodSpec;
using api::core::SelectorRequirement;
using model::Op;
using model::TermFacts;
using model::Wants;

// Parts of documents that the views of api/core keep as they were written.

struct PreferredTerm {
  std::int32_t weight = 0;
  NodeSelectorTerm preference;
  static constexpr std::string_view kName = "PreferredSchedulingTerm";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PreferredTerm::weight>("weight", ""),
                      MakeField<&PreferredTerm::preference>("preference", ""));
  }
};

struct AffinityTerm {
  Document label_selector, namespace_selector;
  std::vector<std::string> namespaces, match_label_keys, mismatch_label_keys;
  std::string topology_key;
  static constexpr std::string_view kName = "PodAffinityTerm";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&AffinityTerm::label_selector>("labelSelector", ""),
                      MakeField<&AffinityTerm::namespace_selector>("namespaceSelector", ""),
                      MakeField<&AffinityTerm::namespaces>("namespaces", ""),
                      MakeField<&AffinityTerm::topology_key>("topologyKey", ""),
                      MakeField<&AffinityTerm::match_label_keys>("matchLabelKeys", ""),
                      MakeField<&AffinityTerm::mismatch_label_keys>("mismatchLabelKeys", ""));
  }
};

struct WeightedTerm {
  std::int32_t weight = 0;
  AffinityTerm term;
  static constexpr std::string_view kName = "WeightedPodAffinityTerm";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&WeightedTerm::weight>("weight", ""),
                      MakeField<&WeightedTerm::term>("podAffinityTerm", ""));
  }
};

// Of pods: affinity and anti-affinity have the same fields.
struct PodAffinity {
  std::vector<AffinityTerm> required;
  std::vector<WeightedTerm> preferred;
  static constexpr std::string_view kName = "PodAffinity";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&PodAffinity::required>("requiredDuringSchedulingIgnoredDuringExecution", ""),
                      MakeField<&PodAffinity::preferred>("preferredDuringSchedulingIgnoredDuringExecution", ""));
  }
};

struct SpreadConstraint {
  std::int32_t max_skew = 1, min_domains = 1;
  std::string topology_key, when_unsatisfiable, node_affinity_policy, node_taints_policy;
  Document label_selector;
  std::vector<std::string> match_label_keys;
  static constexpr std::string_view kName = "TopologySpreadConstraint";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&SpreadConstraint::max_skew>("maxSkew", ""),
                      MakeField<&SpreadConstraint::min_domains>("minDomains", ""),
                      MakeField<&SpreadConstraint::topology_key>("topologyKey", ""),
                      MakeField<&SpreadConstraint::when_unsatisfiable>("whenUnsatisfiable", ""),
                      MakeField<&SpreadConstraint::node_affinity_policy>("nodeAffinityPolicy", ""),
                      MakeField<&SpreadConstraint::node_taints_policy>("nodeTaintsPolicy", ""),
                      MakeField<&SpreadConstraint::label_selector>("labelSelector", ""),
                      MakeField<&SpreadConstraint::match_label_keys>("matchLabelKeys", ""));
  }
  bool required() const { return when_unsatisfiable != "ScheduleAnyway"; }
};

struct ResourceClaim {
  std::string name;
  static constexpr std::string_view kName = "PodResourceClaim";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return MakeFields(MakeField<&ResourceClaim::name>("name", "")); }
};

struct ClaimSource {
  std::string claim_name;
  static constexpr std::string_view kName = "PersistentVolumeClaimVolumeSource";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return MakeFields(MakeField<&ClaimSource::claim_name>("claimName", "")); }
};

// The kinds of volume that any node can provide, and those that are claims.
struct Volume {
  std::string name;
  Document empty_dir, host_path, config_map, secret, downward_api, projected, nfs, image, csi, ephemeral;
  std::optional<ClaimSource> claim;
  static constexpr std::string_view kName = "Volume";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Volume::name>("name", ""), MakeField<&Volume::empty_dir>("emptyDir", ""),
                      MakeField<&Volume::host_path>("hostPath", ""), MakeField<&Volume::config_map>("configMap", ""),
                      MakeField<&Volume::secret>("secret", ""), MakeField<&Volume::downward_api>("downwardAPI", ""),
                      MakeField<&Volume::projected>("projected", ""),
                      MakeField<&Volume::claim>("persistentVolumeClaim", ""), MakeField<&Volume::nfs>("nfs", ""),
                      MakeField<&Volume::image>("image", ""), MakeField<&Volume::csi>("csi", ""),
                      MakeField<&Volume::ephemeral>("ephemeral", ""));
  }
  bool known() const {
    for (const Document* kind :
         {&empty_dir, &host_path, &config_map, &secret, &downward_api, &projected, &nfs, &image, &csi, &ephemeral}) {
      if (!kind->empty()) return true;
    }
    return claim.has_value();
  }
};

template <class T>
std::optional<T> DecodePart(const Document& document) {
  T part;
  if (document.empty()) return part;
  if (!api::DecodeInto(document.json, api::TypeOf<T>(), &part).status.ok()) return std::nullopt;
  return part;
}

std::optional<Op> OpOf(const std::string& text) {
  if (text == "In") return Op::kIn;
  if (text == "NotIn") return Op::kNotIn;
  if (text == "Exists") return Op::kExists;
  if (text == "DoesNotExist") return Op::kDoesNotExist;
  if (text == "Gt") return Op::kGt;
  if (text == "Lt") return Op::kLt;
  return std::nullopt;
}

// Terms that are not understood are left out; UnknownFields has the field.
void AddAffinity(const api::core::NodeAffinity& nodes, Wants& wants) {
  if (nodes.required.has_value()) {
    wants.has_affinity = true;
    for (const NodeSelectorTerm& term : nodes.required->terms) {
      if (std::optional<TermFacts> facts = TermOf(term)) wants.affinity.push_back(*std::move(facts));
    }
  }
  // A preference that is not understood is a wish not granted.
  const auto preferred = DecodePart<std::vector<PreferredTerm>>(nodes.preferred);
  if (!preferred.has_value()) return;
  for (const PreferredTerm& term : *preferred) {
    if (std::optional<TermFacts> facts = TermOf(term.preference))
      wants.preferences.push_back({term.weight, *std::move(facts)});
  }
}

bool Understood(const api::core::NodeAffinity& nodes) {
  return !nodes.required.has_value() ||
         std::all_of(nodes.required->terms.begin(), nodes.required->terms.end(),
                     [](const NodeSelectorTerm& term) { return TermOf(term).has_value(); });
}

bool Reads(const Document& selector) { return selector.empty() || api::LabelSelector::FromJson(selector.json).ok(); }

using Fields = std::vector<std::string>;

// Of what is required: a wish that does not read is one not granted.
void AddSelectorsThatDoNotRead(const PodAffinity& affinity, absl::string_view path, Fields& fields) {
  for (std::size_t i = 0; i < affinity.required.size(); ++i) {
    const std::string term = absl::StrCat(path, ".requiredDuringSchedulingIgnoredDuringExecution[", i, "]");
    if (!Reads(affinity.required[i].label_selector)) fields.push_back(absl::StrCat(term, ".labelSelector"));
    if (!Reads(affinity.required[i].namespace_selector)) fields.push_back(absl::StrCat(term, ".namespaceSelector"));
  }
}

void AddUnknownAffinity(const Document& document, absl::string_view path, Fields& fields) {
  const auto affinity = DecodePart<PodAffinity>(document);
  if (!affinity.has_value()) return fields.push_back(std::string(path));
  AddSelectorsThatDoNotRead(*affinity, path, fields);
}

void AddUnknownSpreads(const Document& document, Fields& fields) {
  const std::string path = "spec.topologySpreadConstraints";
  const auto spreads = DecodePart<std::vector<SpreadConstraint>>(document);
  if (!spreads.has_value()) return fields.push_back(path);
  for (std::size_t i = 0; i < spreads->size(); ++i) {
    const SpreadConstraint& spread = (*spreads)[i];
    if (spread.required() && !Reads(spread.label_selector))
      fields.push_back(absl::StrCat(path, "[", i, "].labelSelector"));
  }
}

void AddPartsOfCards(const std::vector<Container>& containers, absl::string_view path, Fields& fields) {
  for (const Container& container : containers) {
    std::map<std::string, std::string> asked;  // resource, and where it is
    for (const auto& [list, amounts] :
         {std::pair("requests", &container.resources.requests), std::pair("limits", &container.resources.limits)}) {
      for (const auto& [resource, amount] : *amounts) {
        if (IsPartOfACard(resource) && amount > api::Quantity()) asked[resource] = list;
      }
    }
    for (const auto& [resource, list] : asked)
      fields.push_back(absl::StrCat(path, "[", container.name, "].resources.", list, "[", resource, "]"));
  }
}

void AddPorts(const PodSpec& spec, const Container& container, Wants& wants) {
  for (const api::core::ContainerPort& port : container.ports) {
    const int number = spec.host_network && port.host_port == 0 ? port.container_port : port.host_port;
    if (number <= 0) continue;
    wants.host_ports.push_back({port.protocol.empty() ? "TCP" : port.protocol, port.host_ip, number});
  }
}

void AddHostPorts(const PodSpec& spec, Wants& wants) {
  for (const Container& container : spec.containers) AddPorts(spec, container, wants);
  for (const Container& container : spec.init_containers) {
    if (container.restart_policy == "Always") AddPorts(spec, container, wants);
  }
  std::sort(wants.host_ports.begin(), wants.host_ports.end());
  wants.host_ports.erase(std::unique(wants.host_ports.begin(), wants.host_ports.end()), wants.host_ports.end());
}

// A volume that is made with its pod is a claim of both names.
void AddClaims(const api::core::Pod& pod, Wants& wants) {
  const auto volumes = DecodePart<std::vector<Volume>>(pod.spec.volumes);
  if (!volumes.has_value()) return;  // UnknownField has it
  for (const Volume& volume : *volumes) {
    if (volume.claim.has_value()) wants.claims.push_back(absl::StrCat(pod.metadata.ns, "/", volume.claim->claim_name));
    if (volume.ephemeral.empty()) continue;
    wants.claims.push_back(absl::StrCat(pod.metadata.ns, "/", pod.metadata.name, "-", volume.name));
    if (!pod.bound()) wants.made_claims.emplace_back(wants.claims.back(), pod.metadata.uid);
  }
  std::sort(wants.claims.begin(), wants.claims.end());
  wants.claims.erase(std::unique(wants.claims.begin(), wants.claims.end()), wants.claims.end());
}

// The pods of a selector that have the values of these labels that the pod has, or have not.
std::vector<model::RequirementFacts> PodsOf(const api::core::Pod& pod, const Document& selector,
                                            const std::vector<std::string>& same,
                                            const std::vector<std::string>& others) {
  std::vector<model::RequirementFacts> facts = RequirementsOf(selector);
  for (const auto& [keys, op] : {std::pair(&same, Op::kIn), std::pair(&others, Op::kNotIn)}) {
    for (const std::string& key : *keys) {
      const auto label = pod.metadata.labels.find(key);
      if (label != pod.metadata.labels.end()) facts.push_back({key, op, {label->second}});
    }
  }
  std::sort(facts.begin(), facts.end());
  facts.erase(std::unique(facts.begin(), facts.end()),
              facts.end());  // the API server may have added the labels already
  return facts;
}

model::PodTermFacts PodTermOf(const api::core::Pod& pod, const AffinityTerm& term) {
  model::PodTermFacts facts;
  facts.topology_key = term.topology_key;
  facts.selector.namespaces = term.namespaces;
  if (!term.namespace_selector.empty()) facts.selector.namespace_selector = RequirementsOf(term.namespace_selector);
  if (facts.selector.namespaces.empty() && !facts.selector.namespace_selector.has_value())
    facts.selector.namespaces = {pod.metadata.ns};
  facts.selector.pods = PodsOf(pod, term.label_selector, term.match_label_keys, term.mismatch_label_keys);
  return facts;
}

void AddPodAffinity(const api::core::Pod& pod, const PodAffinity& affinity, bool anti, Wants& wants) {
  for (const AffinityTerm& term : affinity.required) {
    if (anti && term.label_selector.empty()) continue;  // it keeps nobody off
    (anti ? wants.pod_anti_affinity : wants.pod_affinity).push_back(PodTermOf(pod, term));
  }
  for (const WeightedTerm& term : affinity.preferred)
    wants.pod_preferences.push_back({anti ? -term.weight : term.weight, PodTermOf(pod, term.term)});
}

void AddSpreads(const api::core::Pod& pod, Wants& wants) {
  const auto spreads = DecodePart<std::vector<SpreadConstraint>>(pod.spec.topology_spread_constraints);
  if (!spreads.has_value()) return;  // UnknownFields has it
  for (const SpreadConstraint& spread : *spreads) {
    model::SpreadFacts facts;
    facts.term.topology_key = spread.topology_key;
    facts.term.selector.namespaces = {pod.metadata.ns};
    facts.term.selector.pods = PodsOf(pod, spread.label_selector, spread.match_label_keys, {});
    if (facts.term.selector.pods.empty())
      facts.term.selector.pods = {model::kNoPod};  // kubernetes: podtopologyspread, countPodsMatchSelector
    facts.max_skew = spread.max_skew;
    facts.min_domains = spread.min_domains;
    facts.required = spread.required();
    facts.honors_affinity = spread.node_affinity_policy != "Ignore";
    facts.honors_taints = spread.node_taints_policy == "Honor";
    wants.spreads.push_back(std::move(facts));
  }
}

}  // namespace

std::optional<TermFacts> TermOf(const NodeSelectorTerm& term) {
  TermFacts facts;
  for (const SelectorRequirement& requirement : term.match_expressions) {
    const std::optional<Op> op = OpOf(requirement.op);
    if (!op.has_value()) return std::nullopt;
    facts.push_back({requirement.key, *op, requirement.values});
  }
  for (const SelectorRequirement& requirement : term.match_fields) {
    const std::optional<Op> op = OpOf(requirement.op);
    if (!op.has_value() || requirement.key != "metadata.name") return std::nullopt;
    facts.push_back({"", *op, requirement.values});
  }
  return facts;
}

std::vector<model::RequirementFacts> RequirementsOf(const Document& selector) {
  using Operator = api::LabelSelector::Operator;
  std::vector<model::RequirementFacts> facts;
  const absl::StatusOr<api::LabelSelector> read = api::LabelSelector::FromJson(selector.json);
  if (selector.empty() || !read.ok()) return {model::kNoPod};
  for (const api::LabelSelector::Requirement& requirement : read->requirements()) {
    switch (requirement.op) {
      case Operator::kEquals:
      case Operator::kIn:
        facts.push_back({requirement.key, Op::kIn, requirement.values});
        break;
      case Operator::kNotEquals:
      case Operator::kNotIn:
        facts.push_back({requirement.key, Op::kNotIn, requirement.values});
        break;
      case Operator::kExists:
        facts.push_back({requirement.key, Op::kExists, {}});
        break;
      case Operator::kDoesNotExist:
        facts.push_back({requirement.key, Op::kDoesNotExist, {}});
        break;
      case Operator::kGreaterThan:
      case Operator::kLessThan:
        break;
    }
  }
  return facts;
}

namespace {

// What it takes, and whom it keeps away, wherever it is.
Wants RoomOf(const api::core::Pod& pod) {
  Wants wants;
  wants.requests = PodRequests(pod.spec, pod.status);
  AddHostPorts(pod.spec, wants);
  AddClaims(pod, wants);
  const auto affinity =
      pod.spec.affinity.has_value() ? DecodePart<PodAffinity>(pod.spec.affinity->pod_anti_affinity) : std::nullopt;
  if (affinity.has_value()) AddPodAffinity(pod, {affinity->required, {}}, true, wants);
  return wants;
}

}  // namespace

// Of what it asked of others' places it goes on to wish for it: whom it had to have near it as little as can be
// (kubernetes: interpodaffinity, HardPodAffinityWeight, 1 by default).
Wants HoldsOf(const api::core::Pod& pod) {
  Wants wants = RoomOf(pod);
  if (!pod.spec.affinity.has_value() || pod.ended()) return wants;
  if (const auto near = DecodePart<PodAffinity>(pod.spec.affinity->pod_affinity)) {
    AddPodAffinity(pod, {{}, near->preferred}, false, wants);
    for (const AffinityTerm& term : near->required) wants.pod_preferences.push_back({1, PodTermOf(pod, term)});
  }
  if (const auto away = DecodePart<PodAffinity>(pod.spec.affinity->pod_anti_affinity))
    AddPodAffinity(pod, {{}, away->preferred}, true, wants);
  return wants;
}

Wants WantsOf(const api::core::Pod& pod) {
  const PodSpec& spec = pod.spec;
  Wants wants = RoomOf(pod);
  wants.selector.assign(spec.node_selector.begin(), spec.node_selector.end());
  for (const api::core::Toleration& toleration : spec.tolerations) {
    if (!toleration.op.empty() && toleration.op != "Equal" && toleration.op != "Exists") continue;  // tolerates nothing
    wants.tolerations.push_back({toleration.key, toleration.value, toleration.effect, toleration.op == "Exists"});
  }
  const std::vector<std::string> unknown = UnknownFields(pod);
  if (!unknown.empty()) wants.not_modelled = unknown.front();
  AddSpreads(pod, wants);
  if (!spec.affinity.has_value()) return wants;
  if (spec.affinity->node_affinity.has_value()) AddAffinity(*spec.affinity->node_affinity, wants);
  // What does not decode UnknownFields has. The required anti-affinity is RoomOf's.
  if (const auto near = DecodePart<PodAffinity>(spec.affinity->pod_affinity)) AddPodAffinity(pod, *near, false, wants);
  if (const auto away = DecodePart<PodAffinity>(spec.affinity->pod_anti_affinity))
    AddPodAffinity(pod, {{}, away->preferred}, true, wants);
  return wants;
}

std::vector<std::string> UnknownFields(const api::core::Pod& pod) {
  const PodSpec& spec = pod.spec;
  std::vector<std::string> fields;
  const auto add = [&fields](bool unknown, std::string field) {
    if (unknown) fields.push_back(std::move(field));
  };
  const auto claims = DecodePart<std::vector<ResourceClaim>>(spec.resource_claims);
  add(!claims.has_value(), "spec.resourceClaims");
  for (const ResourceClaim& claim : claims.value_or(std::vector<ResourceClaim>()))
    add(true, absl::StrCat("spec.resourceClaims[", claim.name, "]"));
  add(!spec.scheduling_group.empty() && api::core::SchedulingGroupOf(spec).empty(), "spec.schedulingGroup");
  add(!spec.workload_ref.empty(), "spec.workloadRef");
  AddUnknownSpreads(spec.topology_spread_constraints, fields);
  const auto volumes = DecodePart<std::vector<Volume>>(spec.volumes);
  add(!volumes.has_value(), "spec.volumes");
  for (const Volume& volume : volumes.value_or(std::vector<Volume>()))
    add(!volume.known(), absl::StrCat("spec.volumes[", volume.name, "]"));
  if (spec.affinity.has_value()) {
    AddUnknownAffinity(spec.affinity->pod_affinity, "spec.affinity.podAffinity", fields);
    AddUnknownAffinity(spec.affinity->pod_anti_affinity, "spec.affinity.podAntiAffinity", fields);
    add(spec.affinity->node_affinity.has_value() && !Understood(*spec.affinity->node_affinity),
        "spec.affinity.nodeAffinity");
  }
  const auto numa = pod.metadata.annotations.find(std::string(kNumaPolicyAnnotation));
  add(numa != pod.metadata.annotations.end() && (numa->second == "restricted" || numa->second == "single-numa-node"),
      absl::StrCat("metadata.annotations[", kNumaPolicyAnnotation, "]"));
  AddPartsOfCards(spec.init_containers, "spec.initContainers", fields);
  AddPartsOfCards(spec.containers, "spec.containers", fields);
  return fields;
}

}  // namespace gangway::ingest
