#include "plugin/gang/evict.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "plugin/gang/admit.h"
#include "plugin/gang/preemptor.h"
#include "plugin/gang/victim_search.h"

namespace gangway::gang {

using model::EvictFor;
using model::Gang;
using model::GangId;
using model::Task;
using model::TaskId;

Eviction::Eviction(Overlay& overlay, Scratch& scratch, const Policy& policy, absl::Time now)
    : overlay_(overlay),
      cluster_(overlay.cluster()),
      policy_(policy),
      now_(now),
      victims_(cluster_, overlay.tree(), now),
      reclaim_(overlay, policy),
      trial_(overlay, scratch, policy) {}

Holders& Eviction::holders() {
  if (!holders_.has_value()) {
    holders_.emplace(cluster_, policy_, now_);
    victims_.Count(holders_->going(), 1);
  }
  return *holders_;
}

// What is quick to see: somebody in its queue has a lower priority; or its queue, or one above, lacks something of what
// it deserves while others hold something.
bool Eviction::MayEvict(const Gang& gang) {
  if (!policy_.choose_victims || (!policy_.preempt && !policy_.reclaim) || !cluster_.Preempts(gang)) return false;
  if (policy_.preempt && holders().AnyLowerInQueue(gang)) return true;
  return policy_.reclaim && holders().AnyInOtherQueues(gang.queue) && reclaim_.LacksSomething(gang.queue);
}

bool Eviction::FindRoom(const Preemptor& preemptor, bool may_evict, EvictFor& action, std::vector<Bundle>& chosen) {
  const bool waits_for_it = cluster_.gang(preemptor.gang).nominated > 0;
  const bool evicts = may_evict && preemptor.preempts;
  std::vector<Candidate> lower, others;
  if (evicts && policy_.preempt) lower = holders().LowerInQueue(preemptor.gang);
  if (evicts && policy_.reclaim) others = reclaim_.Candidates(preemptor, holders());
  if (!waits_for_it && lower.empty() && others.empty()) return false;
  const std::vector<TaskId>& going = holders().going();
  const auto evict = [&](EvictFor what_for, const std::vector<Candidate>& candidates, const BetweenQueues* between) {
    VictimSearch search(cluster_, preemptor, trial_, victims_, between);
    if (!search.Find(candidates)) return false;
    action = what_for;
    chosen = search.chosen();
    return true;
  };
  const BetweenQueues between{overlay_, reclaim_, holders(), placed_, has_nodes_, policy_.preempt};
  overlay_.Mark();
  trial_.TakeAway(going);
  const bool found = (!going.empty() && trial_.CouldFit(preemptor) && trial_.Place(preemptor)) ||
                     evict(EvictFor::kPriority, lower, nullptr) || evict(EvictFor::kShare, others, &between);
  overlay_.Unmark();
  for (const Bundle& bundle : chosen) trial_.GiveBack(bundle.tasks);
  trial_.GiveBack(going);
  return found;
}

bool Eviction::MakeRoom(GangId id, model::Decision& decision) {
  const Gang& gang = cluster_.gang(id);
  const bool waits_for_it = gang.nominated > 0;
  if (!gang.held_back.empty()) return false;
  const bool may_evict = MayEvict(gang);
  if (!may_evict && !waits_for_it) return false;
  const std::optional<Preemptor> preemptor = FindPreemptor(overlay_, id);
  std::vector<Bundle> chosen;
  const bool found = preemptor.has_value() && FindRoom(*preemptor, may_evict, decision.evict_for, chosen);
  if (holders_.has_value()) decision.look_again = std::min(holders_->look_again(), victims_.look_again());
  if (found) {
    Tell(id, chosen, decision);
  } else if (waits_for_it && policy_.choose_victims) {
    decision.nominations.emplace();
  }
  return found;
}

void Eviction::Tell(GangId id, const std::vector<Bundle>& chosen, model::Decision& decision) {
  for (const Bundle& bundle : chosen) {
    decision.evicted.insert(decision.evicted.end(), bundle.tasks.begin(), bundle.tasks.end());
  }
  std::sort(decision.evicted.begin(), decision.evicted.end(), [&](TaskId a, TaskId b) {
    return std::tie(cluster_.task(a).ns, cluster_.task(a).name) < std::tie(cluster_.task(b).ns, cluster_.task(b).name);
  });
  holders().Go(decision.evicted);
  victims_.Evict(decision.evicted);
  decision.nominations = trial_.placements();
  const bool same = std::all_of(decision.nominations->begin(), decision.nominations->end(), [&](const auto& placement) {
    return cluster_.task(placement.task).nominated != model::kNone;
  });
  if (same && decision.evicted.empty()) decision.nominations.reset();
  decision.reason = WhyItWaits(cluster_.gang(id), decision.evicted);
  decision.short_of_minimum = true;
  placed_.push_back(id);
}

// For those who are evicted for it, and who end on its nodes; by name, with what is known of them to others.
model::Reason Eviction::WhyItWaits(const Gang& gang, const std::vector<TaskId>& evicted) const {
  std::set<model::Row> rows;
  for (const model::Placement& placement : trial_.placements()) rows.insert(placement.row);
  const std::set<TaskId> chosen(evicted.begin(), evicted.end());
  std::map<std::string, int> ending;
  int pods = 0;
  for (const TaskId id : holders_->going()) {
    const Task& task = cluster_.task(id);
    if (!chosen.contains(id) && !rows.contains(task.row)) continue;
    ++pods;
    const Gang& other = cluster_.gang(task.gang);
    ++ending[absl::StrCat(other.ns, "/", other.name)];
  }
  model::Reason reason = ReasonOf(model::Reason::Kind::kRoomAwaited, gang);
  reason.ending = pods;
  reason.size = static_cast<int>(ending.size());
  if (!ending.empty()) reason.subject = ending.begin()->first;
  return reason;
}

}  // namespace gangway::gang
