#include "plugin/gang/choice.h"

namespace gangway::gang {

using constraint::Scores;
using model::Row;

Choice::Choice(const constraint::Asks& asks, const std::vector<Rank>& ranks) : asks_(asks) {
  candidates_.reserve(ranks.size());
  for (const Rank& rank : ranks) candidates_.push_back({rank.row, rank.scores});
}

// Those that are looked at are fetched when they are.
bool Choice::Has(std::size_t candidate) {
  while (candidate >= candidates_.size()) {
    const Rank* const rank = more_.has_value() ? more_->Next() : nullptr;
    if (rank == nullptr) return false;
    candidates_.push_back({rank->row, rank->scores});
  }
  return true;
}

Row Choice::Next(absl::FunctionRef<bool(Row)> may) {
  Row best = model::kNone;
  Scores best_scores{};
  for (std::size_t i = from_; Has(i); ++i) {
    Candidate& candidate = candidates_[i];
    const bool first = i == from_;
    if (candidate.row != model::kNone && !asks_.AllowedBeyond(candidate.row)) {
      if (first && !asks_.reopens()) ++from_;
      continue;
    }
    if (candidate.row != model::kNone && asks_.CopiesOnRow(candidate.row) == 0) candidate.row = model::kNone;
    if (candidate.row == model::kNone) {
      if (first) ++from_;
      continue;
    }
    if (!may(candidate.row)) continue;
    if (!asks_.ranks_beyond()) return candidate.row;
    Scores scores = asks_.ScoresBeyond(candidate.row);
    for (std::size_t level = 0; level < scores.size(); ++level) scores[level] += candidate.scores[level];
    if (best != model::kNone && scores <= best_scores) continue;
    best = candidate.row;
    best_scores = scores;
  }
  return best;
}

}  // namespace gangway::gang
