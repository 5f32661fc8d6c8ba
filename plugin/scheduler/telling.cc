#include "plugin/scheduler/telling.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gangway::scheduler {

using model::Reason;

bool Telling::Decide(const Reason& reason, bool short_of_minimum, std::vector<std::string> would_fit, absl::Time now) {
  absl::btree_set<std::string> fitting(would_fit.begin(), would_fit.end());
  if (reason_ == reason && short_ == short_of_minimum && would_fit_ == fitting) return false;
  // Pods that are being made are progress, not something to explain.
  const bool progress = reason.kind == Reason::Kind::kTooFewTasks && !told_ && reason_ != reason;
  if (!reason_.has_value() || progress) since_ = now;
  reason_ = reason;
  short_ = short_of_minimum;
  would_fit_ = std::move(fitting);
  text_ = model::Render(*reason_);
  return true;
}

absl::Time Telling::NextChange(const TellingRules& rules) const {
  if (!reason_.has_value()) return absl::InfiniteFuture();
  const bool being_made = reason_->kind == Reason::Kind::kTooFewTasks || reason_->kind == Reason::Kind::kClaim;
  if (!told_) return since_ + (being_made ? rules.missing_after : rules.explain_after);
  const bool same_kind = told_kind_ == reason_->kind && told_short_ == short_;
  const bool same = same_kind && told_reason_ == text_ && told_would_fit_ == would_fit_;
  // Who may go by then has had its time to: what is told of it is out of date.
  if (same) return std::max(resting_from_ + rules.explain_after, told_at_ + rules.refresh_after);
  return told_at_ + (same_kind ? rules.refresh_after : rules.explain_after);
}

void Telling::Advance(const TellingRules& rules, absl::Time now,
                      absl::FunctionRef<std::optional<model::Resting>()> find_resting) {
  if (NextChange(rules) > now) return;
  const bool fresh = !told_ || told_kind_ != reason_->kind || told_short_ != short_;
  news_ |= fresh;
  unlogged_ |= fresh;
  told_ = true;
  told_short_ = short_;
  told_kind_ = reason_->kind;
  told_text_ = told_reason_ = text_;
  told_would_fit_ = would_fit_;
  told_at_ = now;
  const bool may_evict = short_ && reason_->kind == Reason::Kind::kNoRoom;
  const std::optional<model::Resting> resting = may_evict ? find_resting() : std::nullopt;
  resting_from_ = resting.has_value() ? resting->from : absl::InfiniteFuture();
  if (resting.has_value()) absl::StrAppend(&told_text_, model::Tell(*resting).English());
}

}  // namespace gangway::scheduler
