#include "plugin/gang/search.h"

#include <algorithm>

#include "plugin/gang/constraint/asks.h"

namespace gangway::gang {
namespace {

using model::Dim;
using model::Row;

// Depth first: group by group, row by row, the most pods first. Rows that are alike are filled in descending order,
// since swapping two of them gives nothing new.
class Search {
 public:
  Search(Overlay& overlay, const std::vector<SearchGroup>& groups, int budget)
      : overlay_(overlay), groups_(groups), budget_(budget), chosen_(groups.size()) {}

  bool Run() { return PlaceGroup(0); }
  std::vector<std::vector<std::pair<Row, int>>> Chosen() { return std::move(chosen_); }

 private:
  struct Level {
    std::vector<int> copies;
    std::vector<std::int64_t> copies_from;  // sum of copies from here on
    std::vector<int> count;
  };

  bool PlaceGroup(std::size_t g) {
    if (g == groups_.size()) return true;
    const SearchGroup& group = groups_[g];
    Level level;
    const std::size_t size = group.rows.size();
    level.count.assign(size, 0);
    level.copies_from.assign(size + 1, 0);
    for (const Row row : group.rows) {
      if (--budget_ < 0) return false;
      level.copies.push_back(overlay_.AsksOf(group.shape).At(row).copies);
    }
    for (std::size_t i = size; i-- > 0;) level.copies_from[i] = level.copies_from[i + 1] + level.copies[i];
    return PlaceRows(g, level, 0, group.count);
  }

  bool PlaceRows(std::size_t g, Level& level, std::size_t i, int left) {
    if (left == 0) return PlaceGroup(g + 1);
    --budget_;
    if (i == level.copies.size()) return false;
    const SearchGroup& group = groups_[g];
    const bool beyond = overlay_.AsksOf(group.shape).changes_beyond();
    if (beyond) level.copies[i] = overlay_.AsksOf(group.shape).At(group.rows[i]).copies;
    int most = std::min(level.copies[i], left);
    if (i > 0 && level.copies[i] == level.copies[i - 1] &&
        Alike(group.rows[i - 1], group.rows[i], level.count[i - 1], g)) {
      most = std::min(most, level.count[i - 1]);
    }
    // All that the rows after this one cannot take: what is left never comes to the end.
    const int least = beyond ? 0 : static_cast<int>(std::max<std::int64_t>(0, left - level.copies_from[i + 1]));
    for (int count = most; count >= least && budget_ > 0; --count) {
      level.count[i] = count;
      if (count > 0) {
        overlay_.Take(group.rows[i], group.shape, count);
        chosen_[g].emplace_back(group.rows[i], count);
      }
      const bool found = PlaceRows(g, level, i + 1, left - count);
      if (count > 0) overlay_.TakeBack();
      if (found) return true;
      if (count > 0) chosen_[g].pop_back();
    }
    return false;
  }

  // Whether the rows were the same for every group before `taken` pods of this group went to the first.
  bool Alike(Row a, Row b, int taken, std::size_t g) const {
    const model::Cluster& cluster = overlay_.cluster();
    const model::Shape& shape = cluster.shape(groups_[g].shape);
    for (Dim dim = 0; dim < cluster.dims().count(); ++dim) {
      if (overlay_.free(a, dim) + shape.request[dim] * taken != overlay_.free(b, dim)) return false;
    }
    return std::all_of(groups_.begin(), groups_.end(), [&](const SearchGroup& group) {
      const constraint::Asks& asks = overlay_.AsksOf(group.shape);
      return !asks.changes_beside_room() && asks.BesideRoom(a).obstacle == asks.BesideRoom(b).obstacle;
    });
  }

  Overlay& overlay_;
  const std::vector<SearchGroup>& groups_;
  int budget_;
  std::vector<std::vector<std::pair<Row, int>>> chosen_;
};

}  // namespace

std::vector<std::vector<std::pair<Row, int>>> SearchPlacement(Overlay& overlay, const std::vector<SearchGroup>& groups,
                                                              int budget) {
  Search search(overlay, groups, budget);
  if (!search.Run()) return {};
  return search.Chosen();
}

}  // namespace gangway::gang
