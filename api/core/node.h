// core/v1 Node: the fields we read. A view: never encoded.
#pragma once

#include <string>
#include <vector>

#include "api/meta.h"

namespace gangway::api::core {

struct Taint {
  std::string key, value, effect;  // NoSchedule PreferNoSchedule NoExecute
  static constexpr std::string_view kName = "Taint";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Taint::key>("key", ""), MakeField<&Taint::value>("value", ""),
                      MakeField<&Taint::effect>("effect", ""));
  }
};
struct NodeSpec {
  bool unschedulable = false;
  std::vector<Taint> taints;
  static constexpr std::string_view kName = "NodeSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&NodeSpec::unschedulable>("unschedulable", "cordoned"),
                      MakeField<&NodeSpec::taints>("taints", ""));
  }
};
struct NodeCondition {
  std::string type, status, reason, message;
  static constexpr std::string_view kName = "NodeCondition";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&NodeCondition::type>("type", ""), MakeField<&NodeCondition::status>("status", ""),
                      MakeField<&NodeCondition::reason>("reason", ""),
                      MakeField<&NodeCondition::message>("message", ""));
  }
};
struct NodeStatus {
  ResourceList capacity, allocatable;
  std::vector<NodeCondition> conditions;
  static constexpr std::string_view kName = "NodeStatus";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&NodeStatus::capacity>("capacity", ""),
                      MakeField<&NodeStatus::allocatable>("allocatable", ""),
                      MakeField<&NodeStatus::conditions>("conditions", ""));
  }
};
struct Node {
  ObjectMeta metadata;
  NodeSpec spec;
  NodeStatus status;
  static constexpr std::string_view kName = "Node";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return MakeFields(MakeField<&Node::metadata>("metadata", ""), MakeField<&Node::spec>("spec", ""),
                      MakeField<&Node::status>("status", ""));
  }
};

}  // namespace gangway::api::core

extern template struct gangway::api::internal::TypeFor<gangway::api::core::Node>;
