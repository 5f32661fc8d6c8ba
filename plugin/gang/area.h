// The rows that placement is held to: the whole cluster, or those of a HyperNode.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "plugin/gang/choice.h"
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/fit.h"
#include "plugin/model/hyper_nodes.h"
#include "plugin/phrases/words.h"

namespace gangway::gang {

class Area {
 public:
  Area() = default;  // the whole cluster
  // The HyperNode must outlive it.
  explicit Area(const model::HyperDomain& hyper_node) : hyper_node_(&hyper_node) {}

  // nullptr: all of the cluster's.
  const std::vector<model::Row>* rows() const { return hyper_node_ == nullptr ? nullptr : &hyper_node_->rows; }
  bool Contains(const Area& other) const;
  // "s0, tier 1"; "" is the whole cluster.
  Words Text() const;

  // Of the fit of one shape: how many copies there is room for; the best row, nullptr: there is none; and all that take
  // one, best first, until `visit` says no.
  std::int64_t Copies(const ShapeFit& fit) const;
  const Rank* First(const ShapeFit& fit) const;
  void ForEachRank(const ShapeFit& fit, absl::FunctionRef<bool(const Rank&)> visit) const;
  std::vector<Rank> Ranks(const ShapeFit& fit) const;
  Choice ChoiceOf(const constraint::Asks& asks, const ShapeFit& fit) const;

 private:
  const model::HyperDomain* hyper_node_ = nullptr;
};

}  // namespace gangway::gang
