// HyperNodes: nodes, and other HyperNodes, that are close to each other in the network. A part of the Cluster.
//
// Which nodes a HyperNode selects itself is kept up to date; what it has through others is found by Resolve. Used on
// one loop; const calls may run together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/string_view.h"
#include "base/pattern.h"
#include "plugin/model/facts.h"
#include "plugin/model/labels.h"
#include "plugin/model/task.h"

namespace gangway::model {

// A HyperNode with all its nodes.
struct HyperDomain {
  std::string name;
  std::int64_t tier = 0;
  std::vector<Row> rows;  // present, sorted

  bool Has(Row row) const;
};

class HyperNodes {
 public:
  // A pattern that does not compile selects nothing, nor does what asks for labels and does not read; see broken().
  void Set(const HyperNodeFacts& facts);
  void Remove(absl::string_view name);
  // A node came, its labels are other ones, or it went.
  void SetNode(Row row, absl::string_view name, const LabelList& labels);
  void RemoveNode(Row row);

  // Differs after anything that changed what Resolve says.
  std::uint64_t version() const { return version_; }
  // Those that have nodes, by tier and name. One that is its own member, by however many steps, is so once.
  std::vector<HyperDomain> Resolve() const;
  // Members that select nothing as they are written, by the name of their HyperNode.
  struct Broken {
    std::string name, tier_name;
    std::int64_t tier = 0;
    std::string pattern, why;  // "": it asks for labels
    friend bool operator==(const Broken&, const Broken&) = default;
  };
  std::vector<Broken> broken() const;
  // Ways from a HyperNode over its members back to it, "s0", "s1", "s0": each HyperNode on the first that is found.
  std::vector<std::vector<std::string>> Cycles() const;
  // The widest tier of this name; -1: there is none.
  std::int64_t TierOf(absl::string_view tier_name) const;

 private:
  struct Member {
    HyperNodeFacts::Member facts;
    std::optional<Pattern> pattern;
  };
  struct HyperNode {
    HyperNodeFacts facts;
    std::vector<Member> members;
    absl::btree_set<Row> rows;  // that it selects itself
  };
  struct Node {
    std::string name, labels;  // packed
  };
  static bool Selects(const Member& member, absl::string_view name, absl::string_view labels);
  static bool SelectsNode(const HyperNode& hyper_node, const Node& node);
  template <class F>
  void ForEachInside(const HyperNode& hyper_node, F visit) const;
  void AddRows(const HyperNode& hyper_node, absl::btree_set<std::string>& seen, absl::btree_set<Row>& rows) const;

  absl::btree_map<std::string, HyperNode> by_name_;
  absl::btree_map<Row, Node> nodes_;
  std::uint64_t version_ = 0;
};

}  // namespace gangway::model
