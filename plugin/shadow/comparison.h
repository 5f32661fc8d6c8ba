// What another scheduler did with gangs beside what we would have done: which gangs we would have placed earlier, which
// we would not have placed yet, on how many nodes, and why the one who waited did.
//
// Compared is a gang from when its pods exist, before which nobody can place it, until the other has placed it; only
// gangs that were seen waiting are. What the other did within kSame of us, or of the gang's coming, it did at the same
// time.
//
// Pure: time is a parameter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/json.h"

namespace gangway::shadow {

inline constexpr absl::Duration kSame = absl::Seconds(5);
inline constexpr std::size_t kMaxGangs = 100'000;        // that are compared at a time; more are only counted
inline constexpr std::size_t kMaxDisagreements = 1'000;  // kept, the last ones

enum class Who : std::uint8_t { kWe, kThey };

struct Counts {
  int compared = 0;           // placed by the other
  int same = 0, earlier = 0;  // of those we would have placed at the same time, earlier
  int not_yet = 0;            // of those we would not have placed when the other did
  absl::Duration gained;      // by how much earlier, in all
  // That gangs lie on which both have placed.
  std::int64_t nodes_ours = 0, nodes_theirs = 0;
  int only_ours = 0;     // gone, placed by us alone
  int would_evict = 0;   // gangs for which we would have evicted pods
  int not_compared = 0;  // beyond kMaxGangs
};

struct Disagreement {
  absl::Time at;
  std::string gang, queue;
  std::string what;    // "we would have placed it 5m0s earlier"
  std::string reason;  // of the one who waited, as far as it is known
};

class Comparison {
 public:
  explicit Comparison(absl::Time begin) : begin_(begin) {}

  // It waits: its pods exist and it is not whole.
  void Waits(absl::string_view gang, absl::string_view queue, absl::Time now);
  // Why we would not place it now; why the other does not, as its PodGroup says.
  void Refuses(Who who, absl::string_view gang, absl::string_view reason);
  // All of its minimum has a node. What the other places is no longer compared.
  void Places(Who who, absl::string_view gang, int nodes, absl::Time now);
  bool knows(absl::string_view gang) const { return gangs_.contains(gang); }
  void WouldEvictFor(absl::string_view gang);
  void Gone(absl::string_view gang, absl::Time now);

  const Counts& counts() const { return counts_; }
  const std::deque<Disagreement>& disagreements() const { return disagreements_; }
  // Gangs that we have placed, and the other has not yet.
  std::size_t ahead() const;
  // An object: counts, who is ahead now, and the last disagreements.
  void Dump(api::JsonWriter& json, absl::Time now) const;
  // One line for a log.
  std::string Summary() const;
  // What a person reads after a day: the counts as sentences, by queue, the reasons that come most often, the last
  // disagreements.
  std::string Report(absl::Time now) const;

 private:
  struct Gang {
    std::string queue;
    absl::Time waits_from;
    std::optional<absl::Time> placed;  // by us
    int nodes = 0;
    std::string our_reason, their_reason;
    bool evicts = false;
  };
  void Disagree(const std::string& name, const Gang& gang, absl::Time now, std::string what, const std::string& reason);

  const absl::Time begin_;
  absl::btree_map<std::string, Gang> gangs_;
  std::deque<Disagreement> disagreements_;
  Counts counts_;
};

}  // namespace gangway::shadow
