#include "plugin/gang/constraint/asks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "plugin/gang/constraint/resources.h"

namespace gangway::constraint {

using model::RoleReason;
using model::Row;

Asks::Asks(const Placed& placed, const model::Shape& shape) : placed_(placed), shape_(shape) {
  parts_.reserve(placed.kinds_.size());
  rankers_.reserve(kLevels);
  for (std::size_t i = 0; i < placed.kinds_.size(); ++i) {
    const Kind& kind = placed.kinds_[i];
    std::unique_ptr<Constraint> constraint = kind.ask(placed, placed.states_[i].get(), shape);
    if (constraint == nullptr) continue;
    if (const std::optional<Level> level = constraint->level(); level.has_value()) {
      rankers_.emplace_back(static_cast<std::size_t>(*level), constraint.get());
    }
    if (constraint->blocks()) blockers_.push_back(constraint.get());
    if (constraint->changes() == Changes::kBeyond) beyond_.push_back(constraint.get());
    changes_beside_room_ = changes_beside_room_ || (constraint->changes() != Changes::kNothing && kind.name != kResources);
    exclusive_ = exclusive_ || constraint->exclusive();
    parts_.push_back({&kind, std::move(constraint)});
  }
  GW_CHECK(!parts_.empty() && parts_.back().kind->name == kResources);
}

RowFit Asks::Look(Row row, std::size_t parts) const {
  RowFit fit;
  if (!placed_.cluster().present(row)) return fit;
  fit.limit = static_cast<std::int16_t>(parts_.size() - 1);
  int copies = kAnyNumber;
  for (std::size_t i = 0; i < parts; ++i) {
    const int takes = parts_[i].constraint->Copies(row);
    if (takes >= copies) continue;
    copies = takes;
    fit.limit = static_cast<std::int16_t>(i);
    if (copies > 0) continue;
    fit.obstacle = fit.limit;
    return fit;
  }
  fit.obstacle = RowFit::kNothing;
  fit.copies = copies;
  return fit;
}

RowFit Asks::At(Row row) const { return Look(row, parts_.size()); }
RowFit Asks::BesideRoom(Row row) const { return Look(row, parts_.size() - 1); }

Scores Asks::ScoresAt(Row row) const {
  Scores scores{};
  for (const auto& [level, constraint] : rankers_) scores[level] += constraint->Score(row);
  return scores;
}

std::vector<std::uint64_t> Asks::Versions() const {
  std::vector<std::uint64_t> versions;
  for (const Constraint* const constraint : beyond_) versions.push_back(constraint->version());
  return versions;
}

bool Asks::ChangedRows(const std::vector<std::uint64_t>& since, std::vector<Row>& rows) const {
  for (std::size_t i = 0; i < beyond_.size(); ++i) {
    if (beyond_[i]->version() != since[i] && !beyond_[i]->ChangedRows(since[i], rows)) return false;
  }
  return true;
}

std::optional<Blocked> Asks::BlockedByFacts() const {
  for (const Constraint* const constraint : blockers_) {
    if (std::optional<Blocked> blocked = constraint->BlockedByFacts()) return blocked;
  }
  return std::nullopt;
}

std::optional<Blocked> Asks::BlockedByPlaced() const {
  for (const Constraint* const constraint : blockers_) {
    if (std::optional<Blocked> blocked = constraint->BlockedByPlaced()) return blocked;
  }
  return std::nullopt;
}

absl::string_view Asks::ObstacleAt(Row row) const {
  const RowFit fit = At(row);
  return fit.obstacle < 0 ? absl::string_view() : parts_[static_cast<std::size_t>(fit.obstacle)].kind->name;
}

RoleReason Asks::Explain(bool fill) const {
  RoleReason reason;
  std::vector<std::vector<Refusal>> refused(parts_.size());
  for (Row row = 0; row < placed_.cluster().rows(); ++row) {
    const RowFit fit = At(row);
    if (fit.obstacle == RowFit::kAbsent) continue;
    ++reason.nodes;
    if (fit.obstacle == RowFit::kNothing && !fill) {
      ++reason.fit;
    } else {
      refused[static_cast<std::size_t>(fit.limit)].push_back({row, fit.copies});
    }
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    order.push_back(i);
    const std::string text = parts_[i].constraint->Text();
    absl::StrAppend(&reason.asks_text, reason.asks_text.empty() || text.empty() ? "" : " and ", text);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return parts_[a].kind->told < parts_[b].kind->told; });
  for (const std::size_t i : order) {
    if (!refused[i].empty()) parts_[i].constraint->Explain(refused[i], reason);
  }
  reason.request_text = RequestText(placed_.cluster(), shape_);
  return reason;
}

}  // namespace gangway::constraint
