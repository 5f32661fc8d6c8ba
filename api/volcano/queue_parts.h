// Parts of a Queue that Gangway stores and does not read: the nodegroup plugin's affinity, clusters beyond this one,
// reserved nodes. The field tables keep them as they were written.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/meta.h"

namespace gangway::api::volcano {

struct NodeGroups {
  std::vector<std::string> required, preferred;
  static constexpr std::string_view kName = "NodeGroups";
  static constexpr auto Fields() {
    return MakeFields(
        MakeField<&NodeGroups::required>("requiredDuringSchedulingIgnoredDuringExecution", "in these or not at all"),
        MakeField<&NodeGroups::preferred>("preferredDuringSchedulingIgnoredDuringExecution", "rather in these"));
  }
};
struct QueueAffinity {
  std::optional<NodeGroups> near, far;
  static constexpr std::string_view kName = "Affinity";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&QueueAffinity::near>("nodeGroupAffinity", "node groups to use"),
                      MakeField<&QueueAffinity::far>("nodeGroupAntiAffinity", "node groups to keep away from"));
  }
};

struct QueueCluster {
  std::string name;
  std::int32_t weight = 0;
  ResourceList capacity;
  static constexpr std::string_view kName = "Cluster";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&QueueCluster::name>("name", "of the cluster"),
                      MakeField<&QueueCluster::weight>("weight", "its share"),
                      MakeField<&QueueCluster::capacity>("capacity", "what it has"));
  }
};

struct QueueReservation {
  std::vector<std::string> nodes;
  ResourceList resource;
  static constexpr std::string_view kName = "Reservation";
  static constexpr auto Fields() {
    return MakeFields(MakeField<&QueueReservation::nodes>("nodes", "locked for the queue"),
                      MakeField<&QueueReservation::resource>("resource", "what these have"));
  }
};

}  // namespace gangway::api::volcano
