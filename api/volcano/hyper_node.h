// HyperNode: nodes, or other HyperNodes, that are close to each other in the network; the smaller the tier, the closer
// (volcano: pkg/apis/topology/v1alpha1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/field_table.h"
#include "api/meta.h"
#include "api/resource.h"
#include "api/volcano/admission.h"
#include "api/volcano/scheduling.h"

namespace gangway::api::volcano {

inline constexpr Resource kHyperNodes{"topology.volcano.sh", "v1alpha1", "hypernodes", "hypernode",
                                      "HyperNode",           false,      "hn"};

struct ExactMatch {
  std::string name;
  static constexpr std::string_view kName = "ExactMatch";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&ExactMatch::name>("name", "of the member")
                          .Required()
                          .MinLength(1)
                          .MaxLength(253)
                          .Pattern("dns1123subdomain"));
  }
};
struct RegexMatch {
  std::string pattern;
  static constexpr std::string_view kName = "RegexMatch";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&RegexMatch::pattern>("pattern", "of the members' names, in Go's syntax").Required().MinLength(1));
  }
};
struct MemberSelector {
  std::optional<ExactMatch> exact_match;
  std::optional<RegexMatch> regex_match;
  std::optional<LabelSelector> label_match;
  static constexpr std::string_view kName = "MemberSelector";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&MemberSelector::exact_match>("exactMatch", "one of this name; exactly one of the three is given"),
        MakeField<&MemberSelector::regex_match>("regexMatch", "all whose names match"),
        MakeField<&MemberSelector::label_match>("labelMatch", "all that have these labels"));
  }
};
struct MemberSpec {
  std::string type;
  MemberSelector selector;
  static constexpr std::string_view kName = "MemberSpec";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&MemberSpec::type>("type", "what the selector selects").Required().OneOf("Node,HyperNode"),
        MakeField<&MemberSpec::selector>("selector", "which of them"));
  }
};
struct HyperNodeSpec {
  std::int64_t tier = 0;
  std::string tier_name;
  std::vector<MemberSpec> members;
  static constexpr std::string_view kName = "HyperNodeSpec";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&HyperNodeSpec::tier>("tier", "the smaller, the faster is the network between its members")
            .Required()
            .Minimum(0),
        MakeField<&HyperNodeSpec::tier_name>("tierName", "what people call the tier: rack, spine").MaxLength(253),
        MakeField<&HyperNodeSpec::members>("members", "nodes or HyperNodes").MinItems(1));
  }
};

struct HyperNodeCondition {
  std::string type, status, reason, message;
  std::optional<std::int64_t> observed_generation;
  Time last_transition_time;
  static constexpr std::string_view kName = "HyperNodeCondition";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&HyperNodeCondition::type>("type", "of the condition").Required().MaxLength(316),
        MakeField<&HyperNodeCondition::status>("status", "whether it holds").Required().OneOf("True,False,Unknown"),
        MakeField<&HyperNodeCondition::observed_generation>("observedGeneration", "of the HyperNode that it speaks of")
            .Minimum(0),
        MakeField<&HyperNodeCondition::last_transition_time>("lastTransitionTime", "when the status changed")
            .Required(),
        MakeField<&HyperNodeCondition::reason>("reason", "one word").Required().MinLength(1).MaxLength(1024),
        MakeField<&HyperNodeCondition::message>("message", "a sentence").Required().MaxLength(32768));
  }
};
struct HyperNodeStatus {
  std::vector<HyperNodeCondition> conditions;
  std::int64_t node_count = 0;
  static constexpr std::string_view kName = "HyperNodeStatus";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&HyperNodeStatus::conditions>("conditions", "what is known of it"),
        MakeField<&HyperNodeStatus::node_count>("nodeCount", "nodes in it, and in the HyperNodes in it").Minimum(0));
  }
};
struct HyperNode {
  std::string api_version, kind;
  ObjectMeta metadata;
  HyperNodeSpec spec;
  HyperNodeStatus status;
  static constexpr std::string_view kName = "HyperNode";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&HyperNode::api_version>("apiVersion", ""), MakeField<&HyperNode::kind>("kind", ""),
                      MakeField<&HyperNode::metadata>("metadata", ""),
                      MakeField<&HyperNode::spec>("spec", "what is wanted"),
                      MakeField<&HyperNode::status>("status", "what is"));
  }
};

extern const Admission kHyperNodeAdmission;

}  // namespace gangway::api::volcano

extern template struct gangway::api::internal::TypeFor<gangway::api::volcano::HyperNode>;
