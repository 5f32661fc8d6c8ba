// Which nodes are alike by a label: for each key that anybody asks about the value on each row, and the rows of each
// value. A part of the Cluster. Used on one loop; const calls may run together.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "plugin/model/names.h"
#include "plugin/model/slot_table.h"
#include "plugin/model/task.h"

namespace gangway::model {

class Nodes;

using TopologyId = int;

class Domains {
 public:
  Domains(const Nodes& nodes, Names& names) : nodes_(nodes), names_(names) {}

  // One user more of the key, or one less.
  TopologyId Use(absl::string_view key);
  void Unuse(TopologyId topology);
  // The node's labels are other ones, or it came or went. `moved` hears of each key for which its value is another.
  template <class F>  // void(TopologyId, int before, int now)
  void RowChanged(Row row, F moved) {
    topologies_.ForEach([&](TopologyId id, const Topology& topology) {
      const int before = ValueOf(id, row), now = LabelOf(row, topology.key);
      if (before == now) return;
      Move(id, row, before, now);
      moved(id, before, now);
    });
  }

  // The value of the label on a row, interned; -1: the node has none, or is not there.
  int ValueOf(TopologyId topology, Row row) const {
    const std::vector<int>& values = topologies_[topology].values;
    return static_cast<std::size_t>(row) < values.size() ? values[static_cast<std::size_t>(row)] : -1;
  }
  // The nodes that have the value, in no order.
  const std::vector<Row>& RowsOf(TopologyId topology, int value) const {
    static const std::vector<Row>& none = *new std::vector<Row>();
    const auto it = topologies_[topology].rows.find(value);
    return it == topologies_[topology].rows.end() ? none : it->second;
  }
  absl::string_view KeyOf(TopologyId topology) const { return names_.Text(topologies_[topology].key); }

  void Audit(std::vector<std::string>& wrong) const;

 private:
  struct Topology {
    int key = 0;  // interned
    int users = 0;
    std::vector<int> values;  // by row
    absl::flat_hash_map<int, std::vector<Row>> rows;
  };
  int LabelOf(Row row, int key) const;
  void Move(TopologyId id, Row row, int before, int now);

  const Nodes& nodes_;
  Names& names_;
  SlotTable<Topology> topologies_;
  absl::flat_hash_map<int, TopologyId> by_key_;
};

}  // namespace gangway::model
