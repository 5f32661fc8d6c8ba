#include "plugin/model/domains.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "plugin/model/nodes.h"

namespace gangway::model {

int Domains::LabelOf(Row row, int key) const { return nodes_.present(row) ? nodes_.LabelOf(row, key) : -1; }

TopologyId Domains::Use(absl::string_view text) {
  const int key = names_.Intern(text);
  if (const auto it = by_key_.find(key); it != by_key_.end()) {
    ++topologies_[it->second].users;
    return it->second;
  }
  const TopologyId id = topologies_.Add();
  topologies_[id].key = key;
  topologies_[id].users = 1;
  by_key_.emplace(key, id);
  for (Row row = 0; row < nodes_.rows(); ++row) Move(id, row, -1, LabelOf(row, key));
  return id;
}

void Domains::Unuse(TopologyId id) {
  if (--topologies_[id].users > 0) return;
  by_key_.erase(topologies_[id].key);
  topologies_.Remove(id);
}

void Domains::Move(TopologyId id, Row row, int before, int now) {
  Topology& topology = topologies_[id];
  if (static_cast<std::size_t>(row) >= topology.values.size())
    topology.values.resize(static_cast<std::size_t>(row) + 1, -1);
  topology.values[static_cast<std::size_t>(row)] = now;
  if (now != -1) topology.rows[now].push_back(row);
  if (before == -1) return;
  const auto it = topology.rows.find(before);
  std::erase(it->second, row);
  if (it->second.empty()) topology.rows.erase(it);
}

void Domains::Audit(std::vector<std::string>& wrong) const {
  topologies_.ForEach([&](TopologyId id, const Topology& topology) {
    std::size_t rows = 0, listed = 0;
    for (const auto& [value, each] : topology.rows) listed += each.size();
    for (Row row = 0; row < nodes_.rows(); ++row) {
      const int value = LabelOf(row, topology.key);
      if (value != -1) ++rows;
      const std::vector<Row>& alike = RowsOf(id, value);
      if (value != -1 && std::find(alike.begin(), alike.end(), row) == alike.end())
        wrong.push_back(
            absl::StrCat("topology ", KeyOf(id), ": node ", nodes_.name(row), " is not among those of its value"));
      if (value != ValueOf(id, row))
        wrong.push_back(
            absl::StrCat("topology ", KeyOf(id), ": another value than the label of node ", nodes_.name(row)));
    }
    if (rows != listed)
      wrong.push_back(absl::StrCat("topology ", KeyOf(id), ": nodes are ", listed, ", one by one ", rows));
  });
}

}  // namespace gangway::model
