#include "plugin/scheduler/tellings.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "base/log.h"
#include "plugin/scheduler/gang_keys.h"
#include "plugin/scheduler/gang_plan.h"

namespace gangway::scheduler {

using api::NamespacedName;

// What it waited for beyond its minimum was not looked at, so that is what it goes on waiting for.
bool Tellings::KeepsWaiting(const model::Decision& decision, const Telling& telling) const {
  return decision.rest_undecided && telling.waits_for_rest();
}

bool Tellings::Decide(const model::Decision& decision, const NamespacedName& key, absl::Time now) {
  decided_.push_back(key);
  const auto known = tellings_.find(key);
  if (known != tellings_.end() && KeepsWaiting(decision, known->second)) {
    waiting_now_.insert(key);
    return false;
  }
  if (!decision.reason.has_value()) {
    if (known == tellings_.end()) return false;
    tellings_.erase(known);
    return true;
  }
  waiting_now_.insert(key);
  std::vector<std::string> would_fit;
  for (const model::TaskId task : decision.would_fit) would_fit.push_back(cluster_.task(task).uid);
  return tellings_[key].Decide(*decision.reason, decision.short_of_minimum, std::move(would_fit), now);
}

std::vector<NamespacedName> Tellings::EndRound() {
  std::vector<NamespacedName> news;
  for (const NamespacedName& key : waiting_) {
    if (!waiting_now_.contains(key) && tellings_.erase(key) > 0) news.push_back(key);
  }
  waiting_ = std::exchange(waiting_now_, {});
  decided_.clear();
  return news;
}

void Tellings::EndRoundOfFew() {
  for (const NamespacedName& key : std::exchange(decided_, {})) {
    if (!waiting_now_.contains(key)) waiting_.erase(key);
  }
  waiting_.merge(std::exchange(waiting_now_, {}));
}

Telling& Tellings::Look(const NamespacedName& key, absl::Time now) {
  const auto it = tellings_.find(key);
  if (it == tellings_.end()) return nothing_ = Telling();
  Telling& telling = it->second;
  telling.Advance(rules_, now);
  if (telling.TakeUnlogged()) log::Info("gang waits", {{"gang", key.ToString()}, {"reason", telling.text()}});
  return telling;
}

absl::Time Tellings::NextChange(const NamespacedName& key) const {
  const auto it = tellings_.find(key);
  return it == tellings_.end() ? absl::InfiniteFuture() : it->second.NextChange(rules_);
}

void Tellings::Forget(const NamespacedName& key) {
  tellings_.erase(key);
  waiting_.erase(key);
}

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
  for (const NamespacedName& key : waiting_) {
    if (max_gangs-- == 0) break;
    const model::GangId id = FindGang(cluster_, key);
    if (id == model::kNone) continue;
    const model::Gang& gang = cluster_.gang(id);
    const auto telling = tellings_.find(key);
    const auto& reason = telling == tellings_.end() ? std::nullopt : telling->second.reason();
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
