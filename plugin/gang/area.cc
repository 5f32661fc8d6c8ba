#include "plugin/gang/area.h"
#include "plugin/phrases/phrases.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace gangway::gang {

using model::Row;

bool Area::Contains(const Area& other) const {
  if (hyper_node_ == nullptr || other.hyper_node_ == nullptr) return hyper_node_ == nullptr;
  const std::vector<Row>&rows = hyper_node_->rows, &others = other.hyper_node_->rows;
  return std::includes(rows.begin(), rows.end(), others.begin(), others.end());
}

Words Area::Text() const {
  return hyper_node_ == nullptr ? Words() : Words(phrases::kOfTier, hyper_node_->name, hyper_node_->tier);
}

std::int64_t Area::Copies(const ShapeFit& fit) const {
  if (hyper_node_ == nullptr) return fit.copies();
  std::int64_t copies = 0;
  for (const Row row : hyper_node_->rows) copies += fit.copies(row);
  return copies;
}

const Rank* Area::First(const ShapeFit& fit) const {
  if (hyper_node_ == nullptr) return fit.first();
  const Rank* first = nullptr;
  for (const Row row : hyper_node_->rows) {
    if (fit.copies(row) > 0 && (first == nullptr || fit.rank(row) < *first)) first = &fit.rank(row);
  }
  return first;
}

void Area::ForEachRank(const ShapeFit& fit, absl::FunctionRef<bool(const Rank&)> visit) const {
  if (hyper_node_ == nullptr) {
    ShapeFit::Cursor ranks = fit.ranks();
    for (const Rank* rank = ranks.Next(); rank != nullptr && visit(*rank);) rank = ranks.Next();
    return;
  }
  std::vector<Rank> ranks;
  for (const Row row : hyper_node_->rows) {
    if (fit.copies(row) > 0) ranks.push_back(fit.rank(row));
  }
  std::sort(ranks.begin(), ranks.end());
  for (const Rank& rank : ranks) {
    if (!visit(rank)) return;
  }
}

std::vector<Rank> Area::Ranks(const ShapeFit& fit) const {
  std::vector<Rank> ranks;
  ForEachRank(fit, [&](const Rank& rank) {
    ranks.push_back(rank);
    return true;
  });
  return ranks;
}

Choice Area::ChoiceOf(const constraint::Asks& asks, const ShapeFit& fit) const {
  return hyper_node_ == nullptr ? Choice(asks, fit) : Choice(asks, Ranks(fit));
}

}  // namespace gangway::gang
