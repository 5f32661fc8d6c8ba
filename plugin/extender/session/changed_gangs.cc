#include "plugin/extender/session/changed_gangs.h"

#include <algorithm>

#include "base/log.h"

namespace gangway::extender {

std::vector<const PlannedGang*> ChangedGangs(const SessionPlan* before, const SessionPlan& plan) {
  std::vector<const PlannedGang*> changed;
  for (const PlannedGang& gang : plan.gangs()) {
    const PlannedGang* const was = before == nullptr ? nullptr : before->Find(gang.job);
    const bool known = was != nullptr && was->uid == gang.uid;
    const bool differs = known
                             ? was->verdict != gang.verdict || was->let_in != gang.let_in || was->pinned != gang.pinned
                             : !gang.let_in || gang.verdict == PlannedGang::Verdict::kWaits;
    if (differs) changed.push_back(&gang);
  }
  return changed;
}

void LogChanges(const SessionPlan* before, const SessionPlan& plan) {
  const std::vector<const PlannedGang*> changed = ChangedGangs(before, plan);
  for (std::size_t i = 0; i < std::min(changed.size(), kMaxToldGangs); ++i) {
    const PlannedGang& gang = *changed[i];
    log::Info("gang judged", {{"gang", gang.job},
                              {"verdict", VerdictText(gang.verdict)},
                              {"let_in", gang.let_in},
                              {"placed", gang.placed},
                              {"victims", gang.victims.size()},
                              {"why", gang.why}});
  }
  if (changed.size() > kMaxToldGangs)
    log::Info("more gangs are judged otherwise", {{"gangs", changed.size() - kMaxToldGangs}});
}

}  // namespace gangway::extender
