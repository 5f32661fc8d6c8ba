#include "plugin/scheduler/tellings.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/log.h"
#include "plugin/scheduler/gang_keys.h"
#include "plugin/scheduler/gang_plan.h"

namespace gangway::scheduler {

using api::NamespacedName;

bool Tellings::Decide(const model::Decision& decision, const NamespacedName& key, absl::Time now) {
  const auto known = waiting_.find(key);
  // What it waited for beyond its minimum was not looked at, so that is what it goes on waiting for.
  if (known != waiting_.end() && decision.rest_undecided && known->second.telling.waits_for_rest()) {
    known->second.round = round_;
    return false;
  }
  if (!decision.reason.has_value()) {
    if (known == waiting_.end()) return false;
    waiting_.erase(known);
    return true;
  }
  std::vector<std::string> would_fit;
  for (const model::TaskId task : decision.would_fit) would_fit.push_back(cluster_.task(task).uid);
  Waits& waits = known != waiting_.end() ? known->second : waiting_[key];
  waits.round = round_;
  return waits.telling.Decide(*decision.reason, decision.short_of_minimum, std::move(would_fit), now);
}

std::vector<NamespacedName> Tellings::EndRound() {
  std::vector<NamespacedName> news;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (it->second.round == round_) {
      ++it;
      continue;
    }
    news.push_back(it->first);
    it = waiting_.erase(it);
  }
  ++round_;
  return news;
}

// Numbers of at most ten gangs a second are brought up to date, however many wait: their writes take the API server's
// time from those that start.
TellingRules Tellings::Rules() const {
  constexpr absl::Duration kForEach = absl::Milliseconds(100);
  TellingRules rules = rules_;
  rules.refresh_after = std::max(rules_.refresh_after, kForEach * waiting_.size());
  return rules;
}

Telling& Tellings::Look(const NamespacedName& key, absl::Time now) {
  const auto it = waiting_.find(key);
  if (it == waiting_.end()) return nothing_ = Telling();
  Telling& telling = it->second.telling;
  telling.Advance(Rules(), now, [&] {
    const model::GangId gang = FindGang(cluster_, key);
    return gang == model::kNone ? std::nullopt : find_resting_(gang, now);
  });
  if (telling.TakeUnlogged()) log::Info("gang waits", {{"gang", key.ToString()}, {"reason", telling.text()}});
  return telling;
}

absl::Time Tellings::NextChange(const NamespacedName& key) const {
  const auto it = waiting_.find(key);
  return it == waiting_.end() ? absl::InfiniteFuture() : it->second.telling.NextChange(Rules());
}

void Tellings::Forget(const NamespacedName& key) { waiting_.erase(key); }

// Only pods that wait have such a condition, so only they are kept.
void Tellings::Seen(const api::core::Pod& pod) {
  written_.erase(pod.metadata.uid);
  if (pod.bound() || pod.ended()) return;
  for (const api::core::PodCondition& condition : pod.status.conditions) {
    if (condition.type != "PodScheduled" || condition.status != "False") continue;
    written_[pod.metadata.uid] = ConditionText(condition.reason, condition.message);
  }
}

std::string Tellings::WrittenOf(const model::Task& task) const {
  const auto it = written_.find(task.uid.text());
  return it == written_.end() ? std::string() : it->second;
}

void Tellings::Dump(api::JsonWriter& json, std::size_t max_gangs) const {
  const auto count = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  json.Field("waitingGangs", count(waiting_.size())).Key("gangs").BeginArray();
  for (const auto& [key, waits] : waiting_) {
    if (max_gangs-- == 0) break;
    const model::GangId id = FindGang(cluster_, key);
    if (id == model::kNone) continue;
    const model::Gang& gang = cluster_.gang(id);
    const auto& reason = waits.telling.reason();
    json.BeginObject()
        .Field("gang", key.ToString())
        .Field("admitted", gang.admitted)
        .Field("minMember", gang.min_member);
    json.Field("tasks", count(gang.tasks.size())).Field("placed", gang.scheduled());
    json.Field("reason", reason.has_value() ? model::Render(*reason) : "").EndObject();
  }
  json.EndArray();
}

}  // namespace gangway::scheduler
