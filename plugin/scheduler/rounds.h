// The scheduler's rounds: when all gangs that wait are decided on, and by which policy.
//
// In: that something changed, or that a gang came. Out: decisions, each time a round is over. Used on the scheduler's
// loop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/loop.h"
#include "base/metrics.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/policy.h"
#include "plugin/model/cluster.h"
#include "plugin/model/decision.h"

namespace gangway::scheduler {

struct RoundTimes {
  // The least time between two rounds; grows with the number of gangs that wait.
  absl::Duration interval;
  // After a gang came, nothing is placed beyond minima for so long, and up to four times as long while more come.
  absl::Duration surplus_pause;
  // The least time between two rounds that may evict: their trials take longer.
  absl::Duration evictions = absl::ZeroDuration();
};

class Rounds {
 public:
  struct Calls {
    std::function<bool()> deciding;  // whether there are rounds now
    std::function<gang::Policy()> policy;
    // Returns how many gangs wait. Not called in a round that decides nothing new (gang::StandsStill). `of_all`: they
    // are about all that wait; else about few, and the others wait for what they did (gang::ScheduleFew).
    std::function<std::size_t(const model::Decisions&, bool of_all, absl::Time now)> carry_out;
    // Processor time that the loop's thread has used. Not set: rounds cost nothing.
    std::function<absl::Duration()> thread_time = nullptr;
  };
  // All that is not a value must outlive it; what is posted ends with the token's owner.
  Rounds(const model::Cluster& cluster, Loop& loop, Token token, RoundTimes times, Calls calls)
      : cluster_(cluster), loop_(loop), token_(token), times_(times), calls_(std::move(calls)) {}

  void CountIn(Metrics& metrics);

  // Soon. Events of one moment share a round; the more gangs wait, and the longer rounds take, the rarer they are.
  void Want();
  // A gang came: those made together with it come first.
  void PauseSurplus();
  // Nobody is evicted for so long.
  void PauseEvictions(absl::Duration pause) { evict_from_ = std::max(evict_from_, loop_.Now() + pause); }
  // How nodes rank may be another now, so what is kept of that is forgotten.
  void ForgetRanks() { scratch_ = gang::Scratch(); }

 private:
  void Run();
  absl::Duration Decide(absl::Time now);
  bool DecideOnFew(const gang::Policy& policy, absl::Time now);
  void NoteWhoWaits(const model::Decisions& decisions, bool of_all, absl::Time now);
  void WantWithSurplus();
  void WantAt(absl::Time when);

  const model::Cluster& cluster_;
  Loop& loop_;
  const Token token_;
  const RoundTimes times_;
  const Calls calls_;
  gang::Scratch scratch_;
  std::size_t waiting_ = 0;
  bool wanted_ = false;
  absl::Time next_ = absl::InfinitePast();
  absl::Time earned_at_ = absl::InfinitePast();  // when what rounds took is their part of the time that has passed
  bool surplus_paused_ = false;
  absl::Time surplus_from_ = absl::InfinitePast(), pause_ends_ = absl::InfinitePast();
  Loop::TimerId surplus_round_ = 0;
  absl::Time evict_from_ = absl::InfinitePast();
  absl::Time later_ = absl::InfiniteFuture();  // when there is a round though nothing happens
  Loop::TimerId later_round_ = 0;
  struct Waits {
    absl::Time created;  // of the gang: its number may be another one's by now
    absl::Time since;
  };
  absl::flat_hash_map<model::GangId, Waits> waits_;  // short of their minimum, in the last round that decided something
  Gauge waiting_gangs_, short_gangs_, waits_since_;
  Counter rounds_;
};

}  // namespace gangway::scheduler
