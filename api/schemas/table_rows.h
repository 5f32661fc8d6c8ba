// The columns and cells of each resource, as kubectl's users know them (kubernetes:
// pkg/printers/internalversion/printers.go; for custom types their definitions'). Internal to this room.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/resource.h"
#include "api/schemas/look.h"
#include "boost/json/value.hpp"

namespace gangway::schemas {

struct Column {
  std::string_view name;
  std::string_view type = "string";
  std::string_view format = {};
  std::string_view description = {};
  std::int32_t priority = 0;
};

// Cells of one row, in the order of the columns: text, integers, booleans and null.
using Cells = std::vector<boost::json::value>;

using MakeCells = void (*)(Look object, absl::Time now, Cells& cells);

struct TableShape {
  std::vector<Column> columns;
  MakeCells cells = nullptr;  // of core resources; custom ones follow their columns' paths
  const api::Resource* resource = nullptr;
};
// Of the catalogue's: made once.
const TableShape& TableShapeOf(const api::Resource& resource);
// Of any resource. Lives no longer than the resource.
TableShape MakeShape(const api::Resource& resource);
// The cells of `object`, whichever resource it is.
Cells CellsOf(const TableShape& shape, Look object, absl::Time now);

// Pods are the long story; table_pods.cc.
void PodCells(Look pod, absl::Time now, Cells& cells);

// "Ready" is text, "Data#" an integer, "Default?" a boolean, "Created At@" a date, "Attacher~" a name, "IP*" only
// wide; several marks may follow one name.
struct CoreTable {
  const api::Resource* resource;
  MakeCells cells;
  std::string_view columns;
};
// Of api/cluster_resources.h; table_cluster.cc.
std::span<const CoreTable> ClusterTables();

boost::json::value NameCell(Look object);
boost::json::value AgeCell(Look object, absl::Time now);
// "a=1,b=2"; `otherwise` for none.
std::string JoinMap(Look map, absl::string_view otherwise);
// A metav1.LabelSelector as kubectl writes it.
std::string JoinSelector(Look selector);
// That field of each container of a workload's template.
std::string JoinContainers(Look workload, absl::string_view field);

// "3m7s" since the RFC 3339 time in `time`; "<unknown>" when it is absent.
std::string Since(Look time, absl::Time now);

// Text as a cell.
inline boost::json::value TextCell(absl::string_view text) {
  return boost::json::string_view(text.data(), text.size());
}

}  // namespace gangway::schemas
