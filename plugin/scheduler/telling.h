// What is told to users about one gang that waits: the reason, once it has lasted, and no more often than it helps.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "plugin/model/decision.h"

namespace gangway::scheduler {

struct TellingRules {
  absl::Duration explain_after;  // how long a reason lasts before it is told
  absl::Duration missing_after;  // the same of pods and claims: they may be on their way
  absl::Duration refresh_after;  // how often numbers are brought up to date
};

class Telling {
 public:
  // What it waits for by the newest decision. True when there may be something new to tell.
  bool Decide(const model::Reason& reason, bool short_of_minimum, std::vector<std::string> would_fit, absl::Time now);
  // Brings what is told up to date. `find_resting`: asked only for what is told anew, of one that finds no room for its
  // minimum.
  void Advance(const TellingRules& rules, absl::Time now,
               absl::FunctionRef<std::optional<model::Resting>()> find_resting);
  // When Advance would change something if nothing else happens.
  absl::Time NextChange(const TellingRules& rules) const;

  // For more than its minimum.
  bool waits_for_rest() const { return reason_.has_value() && !short_; }
  const std::optional<model::Reason>& reason() const { return reason_; }
  // Something is told now.
  bool told() const { return told_; }
  bool short_of_minimum() const { return told_ && told_short_; }
  model::Reason::Kind kind() const { return told_kind_; }
  const std::string& text() const { return told_text_; }
  // The pod would find a node if the rest of its gang did.
  bool WouldFit(const std::string& uid) const { return told_would_fit_.contains(uid); }
  // This kind of reason has not been written yet.
  bool news() const { return news_; }
  void NewsWritten() { news_ = false; }
  // Once of each kind of reason that is told.
  bool TakeUnlogged() { return std::exchange(unlogged_, false); }

 private:
  std::optional<model::Reason> reason_;
  bool short_ = false;
  absl::btree_set<std::string> would_fit_;
  std::string text_;
  absl::Time since_ = absl::InfinitePast();

  bool told_ = false, told_short_ = false, news_ = false, unlogged_ = false;
  model::Reason::Kind told_kind_ = model::Reason::Kind::kNoRoom;
  std::string told_reason_, told_text_;  // the second with who could leave for it later
  absl::Time resting_from_ = absl::InfiniteFuture();
  absl::btree_set<std::string> told_would_fit_;
  absl::Time told_at_ = absl::InfinitePast();
};

}  // namespace gangway::scheduler
