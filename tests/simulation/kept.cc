#include "tests/simulation/kept.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/cluster_resources.h"
#include "api/core/node.h"
#include "api/duration.h"
#include "api/field_table.h"
#include "base/check.h"
#include "tests/simulation/checkers.h"
#include "tests/simulation/gang_name.h"

namespace gangway::testutil {
namespace {

using api::NamespacedName;
using api::core::Pod;
using api::volcano::PodGroup;

bool HoldsRoom(const Pod& pod) { return pod.bound() && !pod.ended(); }

// How long it lasts once it has a node, as it says; infinite: it says nothing.
absl::Duration SaidOf(const Pod& pod) {
  absl::Duration said = absl::InfiniteDuration();
  if (pod.spec.active_deadline_seconds.has_value()) said = absl::Seconds(*pod.spec.active_deadline_seconds);
  const auto it = pod.metadata.annotations.find("gangway.io/expected-runtime");
  if (it == pod.metadata.annotations.end()) return said;
  return std::min(said, api::ParseGoDuration(it->second).value_or(absl::InfiniteDuration()));
}

// "...; on 2 nodes room is kept for it until 3 pods end": 3; 0: no nodes are kept for it.
int EndsToldIn(const PodGroup& group) {
  for (const auto& condition : group.status.conditions) {
    constexpr char kKept[] = " room is kept for it until ";
    const std::size_t at = condition.message.find(kKept);
    if (condition.type != "Unschedulable" || condition.status != "True" || at == std::string::npos ||
        !absl::StrContains(condition.message.substr(0, at), "; on "))
      continue;
    const absl::string_view rest = absl::string_view(condition.message).substr(at + sizeof(kKept) - 1);
    int ends = 0;
    if (absl::SimpleAtoi(rest.substr(0, rest.find(' ')), &ends) &&
        absl::EndsWith(rest, ends == 1 ? " pod ends" : " pods end"))
      return ends;
  }
  return 0;
}

// What of a node decides who fits.
std::string MatterOf(const Bytes& bytes) {
  if (bytes == nullptr) return "";
  const auto node = api::Decode<api::core::Node>(*bytes);
  GW_CHECK(node.ok());
  std::string matter = node->spec.unschedulable ? "cordoned" : "";
  for (const auto& taint : node->spec.taints)
    absl::StrAppend(&matter, " ", taint.key, "=", taint.value, ":", taint.effect);
  for (const auto& [resource, amount] : node->status.allocatable)
    absl::StrAppend(&matter, " ", resource, "=", amount.ToString());
  return matter;
}

}  // namespace

void Kept::WaitForAllThere(Gang& gang, absl::Time now) const {
  gang.there.clear();
  gang.latest = absl::InfinitePast();
  for (const auto& [key, pod] : pods_) {
    if (!HoldsRoom(pod) || gang.own.contains(pod.metadata.uid) || !IsOfSomeGang(pod))
      continue;  // pods of no gang are not waited for
    gang.there.insert(pod.metadata.uid);
    const auto bound = bound_at_.find(pod.metadata.uid);
    const absl::Duration said = SaidOf(pod);
    if (bound != bound_at_.end() && said != absl::InfiniteDuration())
      gang.latest = std::max(gang.latest, bound->second + said);
  }
  gang.since = now;
}

void Kept::OnRecord(const sandbox::JournalRecord& record, const std::string& where) {
  if (record.resource == &api::kNodes && MatterOf(record.before) != MatterOf(record.after)) {
    for (auto& [key, gang] : gangs_) WaitForAllThere(gang, record.time);
  }
  if (record.resource != &api::kPodGroups) return;
  if (record.after == nullptr) {
    gangs_.erase(record.key);
    return;
  }
  const auto group = api::Decode<PodGroup>(*record.after);
  GW_CHECK(group.ok());
  const int ends = EndsToldIn(*group);
  if (ends == 0) {
    gangs_.erase(record.key);
    return;
  }
  const auto it = gangs_.find(record.key);
  const std::string spec = api::Encode(group->spec);
  const bool same = it != gangs_.end() && it->second.uid == group->metadata.uid && it->second.spec == spec;
  if (same && (ends >= it->second.ends || rules_.of_all_nodes)) return;
  Gang& gang = gangs_[record.key];
  gang = {group->metadata.uid, spec, where, group->spec.min_member, ends, {}, {}, {}, {}};
  for (const auto& [key, pod] : pods_) {
    if (IsOfGang(pod, record.key)) gang.own.insert(pod.metadata.uid);
  }
  WaitForAllThere(gang, record.time);
}

void Kept::OnBinding(const Pod& pod, absl::Time now) {
  bound_at_[pod.metadata.uid] = now;
  const absl::Duration said = SaidOf(pod);
  for (auto& [key, gang] : gangs_) {
    if (said != absl::InfiniteDuration() && now + said <= gang.latest) gang.there.insert(pod.metadata.uid);
  }
}

bool Kept::Waits(const NamespacedName& key, Gang& gang, absl::Time now) {
  int bound = 0;
  std::set<std::string> own;
  bool waits = false;
  for (const auto& [name, pod] : pods_) {
    if (IsOfGang(pod, key)) {
      own.insert(pod.metadata.uid);
      bound += pod.bound() ? 1 : 0;
    }
    waits = waits || (HoldsRoom(pod) && gang.there.contains(pod.metadata.uid));
  }
  if (own != gang.own || bound >= gang.min_member) return false;
  if (waits) gang.since = now;
  if (now - std::max(gang.since, disturbed_) <= rules_.takes) return true;
  tell_(Rule::kDelayed, absl::StrCat("gang ", key.ToString(), " has ", bound, " of minMember ", gang.min_member,
                                     " bound ", absl::FormatDuration(now - gang.since),
                                     " after the last of those who were there when room was kept "
                                     "for it until ",
                                     gang.ends, " pods end, at ", gang.where));
  return false;
}

void Kept::Settle(absl::Time now) {
  for (auto it = gangs_.begin(); it != gangs_.end();)
    it = Waits(it->first, it->second, now) ? std::next(it) : gangs_.erase(it);
}

}  // namespace gangway::testutil
