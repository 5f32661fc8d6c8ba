// What Schedule decided of a gang, as messages.
#pragma once

#include <map>
#include <string>

#include "google/protobuf/repeated_ptr_field.h"
#include "plugin/model/cluster.h"
#include "plugin/model/decision.h"
#include "plugin/model/reason.h"
#include "proto/gangway/v1/extender.pb.h"

namespace gangway::extender {

v1::Reason MessageOf(const model::Reason& reason);

// In the order of the tasks where `task_order` has them, then by index; pods among the objects by name.
void AddPlacements(const model::Cluster& cluster, const std::vector<model::Placement>& placements,
                   const std::map<std::string, int>& task_order, google::protobuf::RepeatedPtrField<v1::Placement>& to);

void AddEvictions(const model::Cluster& cluster, const model::Decision& decision,
                  google::protobuf::RepeatedPtrField<v1::Eviction>& to);

}  // namespace gangway::extender
