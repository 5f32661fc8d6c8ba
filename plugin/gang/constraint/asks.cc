#include "plugin/gang/constraint/asks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "plugin/gang/constraint/resources.h"
#include "plugin/phrases/phrases.h"

namespace gangway::constraint {

using model::RoleReason;
using model::Row;

Asks::Asks(const Placed& placed, const model::Shape& shape) : placed_(placed), shape_(shape) {
  parts_.reserve(placed.kinds_.size());
  rankers_.reserve(kLevels);
  for (std::size_t i = 0; i < placed.kinds_.size(); ++i) {
    const Kind& kind = placed.kinds_[i];
    std::unique_ptr<Constraint> constraint = kind.ask(placed, placed.state_of_[i], shape);
    if (constraint == nullptr) continue;
    const bool beyond = constraint->changes() == Changes::kBeyond;
    if (const std::optional<Level> level = constraint->level(); level.has_value()) {
      rankers_.push_back({static_cast<std::size_t>(*level), constraint.get(), beyond});
      ranks_beyond_ = ranks_beyond_ || beyond;
    }
    if (constraint->blocks()) blockers_.push_back(constraint.get());
    if (beyond) beyond_.push_back(constraint.get());
    minds_pods_ = minds_pods_ || kind.begin != nullptr;
    reopens_ = reopens_ || constraint->reopens();
    changes_beside_room_ =
        changes_beside_room_ || (constraint->changes() != Changes::kNothing && kind.name != kResources);
    exclusive_ = exclusive_ || constraint->exclusive();
    more_fit_less_ = more_fit_less_ && constraint->more_fit_less();
    const std::vector<Row>* const among = constraint->Among();
    if (among != nullptr && (among_ == nullptr || among->size() < among_->size())) among_ = among;
    parts_.push_back({&kind, std::move(constraint), beyond});
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

int Asks::CopiesOnRow(Row row) const {
  if (!placed_.cluster().present(row)) return 0;
  int copies = kAnyNumber;
  for (auto part = parts_.rbegin(); part != parts_.rend() && copies > 0; ++part) {  // room is lacking most often
    if (!part->beyond) copies = std::min(copies, part->constraint->Copies(row));
  }
  return copies;
}

bool Asks::AllowedBeyond(Row row) const {
  return std::all_of(beyond_.begin(), beyond_.end(),
                     [row](const Constraint* constraint) { return constraint->Copies(row) > 0; });
}

bool Asks::KeptOffBy(const model::Shape& other) const {
  return std::any_of(beyond_.begin(), beyond_.end(),
                     [&](const Constraint* constraint) { return constraint->KeptOffBy(other); });
}

bool Asks::UnsettledBy(const model::Shape& other) const {
  return std::any_of(beyond_.begin(), beyond_.end(),
                     [&](const Constraint* constraint) { return constraint->UnsettledBy(other); });
}

Scores Asks::SumOf(Row row, bool beyond) const {
  Scores scores{};
  for (const Ranker& ranker : rankers_) {
    if (ranker.beyond == beyond) scores[ranker.level] += ranker.constraint->Score(row);
  }
  return scores;
}

Scores Asks::ScoresOnRow(Row row) const { return SumOf(row, false); }
Scores Asks::ScoresBeyond(Row row) const { return SumOf(row, true); }

std::vector<int> Asks::Decides(Row row) const {
  std::vector<int> domains;
  for (const Constraint* const constraint : beyond_) constraint->Decides(row, domains);
  return domains;
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

RoleReason Asks::Explain(bool fill, const std::vector<Row>* rows) const {
  RoleReason reason;
  std::vector<std::vector<Refusal>> refused(parts_.size());
  const std::size_t count = rows == nullptr ? static_cast<std::size_t>(placed_.cluster().rows()) : rows->size();
  for (std::size_t i = 0; i < count; ++i) {
    const Row row = rows == nullptr ? static_cast<Row>(i) : (*rows)[i];
    const RowFit fit = At(row);
    if (fit.obstacle == RowFit::kAbsent) continue;
    ++reason.nodes;
    if (fit.obstacle == RowFit::kNothing && !fill) {
      ++reason.fit;
    } else {
      std::vector<Refusal>& by_limit = refused[static_cast<std::size_t>(fit.limit)];
      if (by_limit.empty()) by_limit.reserve(count - i);
      by_limit.push_back({row, fit.copies});
    }
  }
  std::vector<std::size_t> order;
  std::vector<Words> asks;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    order.push_back(i);
    asks.push_back(parts_[i].constraint->Text());
  }
  reason.asks = Words::Joined(std::move(asks), phrases::kAnd);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return parts_[a].kind->told < parts_[b].kind->told; });
  for (const std::size_t i : order) {
    if (!refused[i].empty()) parts_[i].constraint->Explain(refused[i], reason);
  }
  reason.request_text = RequestText(placed_.cluster(), shape_);
  return reason;
}

}  // namespace gangway::constraint
