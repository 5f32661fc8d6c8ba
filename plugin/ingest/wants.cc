#include "plugin/ingest/wants.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/field_table.h"
#include "plugin/ingest/requests.h"

namespace gangway::ingest {
namespace {

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
    return MakeFields(MakeField<&PreferredTerm::weight>("weight", ""), MakeField<&PreferredTerm::preference>("preference", ""));
  }
};

struct RequiredPart {
  std::vector<Document> required;
  static constexpr std::string_view kName = "PodAffinity";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&RequiredPart::required>("requiredDuringSchedulingIgnoredDuringExecution", ""));
  }
};

struct SpreadConstraint {
  std::string when_unsatisfiable;
  static constexpr std::string_view kName = "TopologySpreadConstraint";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&SpreadConstraint::when_unsatisfiable>("whenUnsatisfiable", ""));
  }
};

// The kinds of volume that any node can provide.
struct Volume {
  std::string name;
  Document empty_dir, host_path, config_map, secret, downward_api, projected, claim, nfs, image;
  static constexpr std::string_view kName = "Volume";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Volume::name>("name", ""), MakeField<&Volume::empty_dir>("emptyDir", ""),
                      MakeField<&Volume::host_path>("hostPath", ""), MakeField<&Volume::config_map>("configMap", ""),
                      MakeField<&Volume::secret>("secret", ""), MakeField<&Volume::downward_api>("downwardAPI", ""),
                      MakeField<&Volume::projected>("projected", ""),
                      MakeField<&Volume::claim>("persistentVolumeClaim", ""), MakeField<&Volume::nfs>("nfs", ""),
                      MakeField<&Volume::image>("image", ""));
  }
  bool known() const {
    for (const Document* kind : {&empty_dir, &host_path, &config_map, &secret, &downward_api, &projected, &claim, &nfs, &image}) {
      if (!kind->empty()) return true;
    }
    return false;
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

// Nothing when an operator is unknown, or a field other than the name is asked for.
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

// Fills `wants`; returns the field that is not understood, or "".
std::string AddAffinity(const api::core::Affinity& affinity, Wants& wants) {
  for (const auto& [document, name] : {std::pair(&affinity.pod_affinity, "podAffinity"),
                                       std::pair(&affinity.pod_anti_affinity, "podAntiAffinity")}) {
    const std::optional<RequiredPart> part = DecodePart<RequiredPart>(*document);
    if (!part.has_value() || !part->required.empty()) return absl::StrCat("spec.affinity.", name);
  }
  if (!affinity.node_affinity.has_value()) return "";
  const api::core::NodeAffinity& nodes = *affinity.node_affinity;
  if (nodes.required.has_value()) {
    wants.has_affinity = true;
    for (const NodeSelectorTerm& term : nodes.required->terms) {
      std::optional<TermFacts> facts = TermOf(term);
      if (!facts.has_value()) return "spec.affinity.nodeAffinity";
      wants.affinity.push_back(*std::move(facts));
    }
  }
  // A preference that is not understood is a wish not granted.
  const auto preferred = DecodePart<std::vector<PreferredTerm>>(nodes.preferred);
  if (!preferred.has_value()) return "";
  for (const PreferredTerm& term : *preferred) {
    if (std::optional<TermFacts> facts = TermOf(term.preference)) wants.preferences.push_back({term.weight, *std::move(facts)});
  }
  return "";
}

std::string UnknownField(const PodSpec& spec) {
  const auto claims = DecodePart<std::vector<Document>>(spec.resource_claims);
  if (!claims.has_value() || !claims->empty()) return "spec.resourceClaims";
  const auto spreads = DecodePart<std::vector<SpreadConstraint>>(spec.topology_spread_constraints);
  if (!spreads.has_value()) return "spec.topologySpreadConstraints";
  for (const SpreadConstraint& spread : *spreads) {
    if (spread.when_unsatisfiable != "ScheduleAnyway") return "spec.topologySpreadConstraints";
  }
  const auto volumes = DecodePart<std::vector<Volume>>(spec.volumes);
  if (!volumes.has_value()) return "spec.volumes";
  for (const Volume& volume : *volumes) {
    if (!volume.known()) return absl::StrCat("spec.volumes[", volume.name, "]");
  }
  return "";
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

}  // namespace

Wants HoldsOf(const PodSpec& spec) {
  Wants wants;
  wants.requests = PodRequests(spec);
  AddHostPorts(spec, wants);
  return wants;
}

Wants WantsOf(const PodSpec& spec) {
  Wants wants = HoldsOf(spec);
  wants.selector.assign(spec.node_selector.begin(), spec.node_selector.end());
  for (const api::core::Toleration& toleration : spec.tolerations) {
    if (!toleration.op.empty() && toleration.op != "Equal" && toleration.op != "Exists") continue;  // tolerates nothing
    wants.tolerations.push_back({toleration.key, toleration.value, toleration.effect, toleration.op == "Exists"});
  }
  wants.not_modelled = UnknownField(spec);
  if (spec.affinity.has_value()) {
    std::string field = AddAffinity(*spec.affinity, wants);
    if (wants.not_modelled.empty()) wants.not_modelled = std::move(field);
  }
  return wants;
}

}  // namespace gangway::ingest
