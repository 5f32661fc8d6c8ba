#include "plugin/scheduler/rounds.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "plugin/gang/schedule.h"

namespace gangway::scheduler {

void Rounds::CountIn(Metrics& metrics) {
  waiting_gangs_ = metrics.AddGauge("gangway_waiting_gangs", "PodGroups that wait to be let in or placed");
  short_gangs_ = metrics.AddGauge("volcano_unschedule_job_count", "PodGroups that wait for their minimum");
  waits_since_ = metrics.AddGauge("gangway_longest_waiting_gang_since_timestamp_seconds",
                                  "When the gang that waits longest for its minimum was first seen to; 0: none waits");
  rounds_ = metrics.AddCounter("gangway_schedule_rounds_total", "Scheduling rounds");
}

void Rounds::Want() {
  if (wanted_ || !calls_.deciding()) return;
  wanted_ = true;
  loop_.PostAt(next_, token_, [this] {
    wanted_ = false;
    if (calls_.deciding()) Run();
  });
}

void Rounds::PauseSurplus() {
  const absl::Time now = loop_.Now();
  if (!std::exchange(surplus_paused_, true)) pause_ends_ = now + 4 * times_.surplus_pause;
  surplus_from_ = std::min(now + times_.surplus_pause, pause_ends_);
}

void Rounds::WantWithSurplus() {
  loop_.Cancel(surplus_round_);
  surplus_round_ = loop_.PostAt(surplus_from_, token_, [this] {
    surplus_round_ = 0;
    Want();
  });
}

void Rounds::WantAt(absl::Time when) {
  if (when >= later_) return;
  loop_.Cancel(later_round_);
  later_ = when;
  later_round_ = loop_.PostAt(when, token_, [this] {
    later_round_ = 0;
    later_ = absl::InfiniteFuture();
    Want();
  });
}

void Rounds::NoteWhoWaits(const model::Decisions& decisions, bool of_all, absl::Time now) {
  absl::flat_hash_map<model::GangId, Waits> all;
  if (of_all) all = std::exchange(waits_, {});
  const absl::flat_hash_map<model::GangId, Waits>& waited = of_all ? all : waits_;
  for (const model::Decision& decision : decisions) {
    if (!decision.reason.has_value() || !decision.short_of_minimum) {
      waits_.erase(decision.gang);
      continue;
    }
    const absl::Time created = cluster_.gang(decision.gang).created;
    const auto before = waited.find(decision.gang);
    const bool same = before != waited.end() && before->second.created == created;
    const absl::Time since = same ? before->second.since : now;
    waits_[decision.gang] = {created, since};
  }
  absl::Time first = absl::InfiniteFuture();
  for (const auto& [gang, each] : waits_) first = std::min(first, each.since);
  short_gangs_.Set(static_cast<double>(waits_.size()));
  waits_since_.Set(waits_.empty() ? 0 : absl::ToDoubleSeconds(first - absl::UnixEpoch()));
}

// False: it takes a look at all.
bool Rounds::DecideOnFew(const gang::Policy& policy, absl::Time now) {
  const std::optional<model::Decisions> few = gang::ScheduleFew(cluster_, policy, now, scratch_);
  if (!few.has_value()) return false;
  if (!few->empty()) {
    waiting_ = calls_.carry_out(*few, /*of_all=*/false, now);
    waiting_gangs_.Set(static_cast<double>(waiting_));
    NoteWhoWaits(*few, /*of_all=*/false, now);
  }
  WantAt(scratch_.standstill().until());
  const bool evicts = policy.preempt || policy.reclaim || policy.consolidate;
  if (evicts && waiting_ > 0 && now < evict_from_) WantAt(evict_from_);
  return true;
}

// Others want the processor, too, above all the API server: in the long run rounds have a fortieth of one. Those that
// come after a quiet time, one for each step of a gang that starts, need not wait for that.
void Rounds::Run() {
  constexpr int kTimesItsCost = 40;
  constexpr absl::Duration kAhead = absl::Seconds(1), kRarest = absl::Milliseconds(100);
  const auto thread_time = [this] { return calls_.thread_time ? calls_.thread_time() : absl::ZeroDuration(); };
  const absl::Time now = loop_.Now();
  const absl::Duration begin = thread_time();
  rounds_.Add();
  const absl::Duration interval = Decide(now);
  earned_at_ = std::max(earned_at_, now) + kTimesItsCost * (thread_time() - begin);
  earned_at_ = std::min(earned_at_, now + kAhead + kRarest);
  next_ = now + std::min(std::max(interval, earned_at_ - kAhead - now), kRarest);
}

// Returns the least time until the next round.
absl::Duration Rounds::Decide(absl::Time now) {
  gang::Policy policy = calls_.policy();
  policy.place_surplus = policy.place_surplus && now >= surplus_from_;
  if (now >= surplus_from_) surplus_paused_ = false;
  const bool evicts = policy.preempt || policy.reclaim || policy.consolidate;
  policy.choose_victims = policy.choose_victims && now >= evict_from_;
  if (gang::StandsStill(cluster_, policy, now, scratch_)) {
    WantAt(scratch_.standstill().until());
    if (evicts && waiting_ > 0 && now < evict_from_) WantAt(evict_from_);
    return times_.interval;
  }
  if (DecideOnFew(policy, now)) return times_.interval;
  const model::Decisions decisions = gang::Schedule(cluster_, policy, now, scratch_);
  const std::size_t waiting = waiting_ = calls_.carry_out(decisions, /*of_all=*/true, now);
  if (evicts && waiting > 0) {
    if (now < evict_from_) WantAt(evict_from_);
    if (now >= evict_from_) evict_from_ = now + times_.evictions;
  }
  // Shares change with time alone.
  if (policy.use_half_life.has_value() && waiting > 0)
    WantAt(now + std::clamp(*policy.use_half_life / 100, absl::Seconds(1), absl::Minutes(5)));
  for (const model::Decision& decision : decisions) WantAt(std::max(decision.look_again, evict_from_));
  const bool undecided = std::any_of(decisions.begin(), decisions.end(),
                                     [](const model::Decision& decision) { return decision.rest_undecided; });
  if (undecided && surplus_paused_) WantWithSurplus();
  waiting_gangs_.Set(static_cast<double>(waiting));
  NoteWhoWaits(decisions, /*of_all=*/true, now);
  constexpr absl::Duration kPerWaitingGang = absl::Microseconds(20);
  return times_.interval + kPerWaitingGang * waiting;
}

}  // namespace gangway::scheduler
