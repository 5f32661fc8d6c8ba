#include "plugin/extender/session/session_planner.h"

#include <algorithm>

#include "base/status_macros.h"

namespace gangway::extender {
namespace {

// Names that were ever heard stay; with so many more than at first, all is begun anew.
constexpr std::size_t kMoreNames = std::size_t{1} << 20;

}  // namespace

absl::StatusOr<SessionPlanner::Planned> SessionPlanner::Plan(absl::string_view body, const SessionLimits& limits,
                                                             const std::vector<model::HyperNodeFacts>& hyper_nodes,
                                                             const SessionPlanOptions& options, absl::Time now) {
  if (kept_ != nullptr && kept_->cluster.names().bytes() > 2 * kept_->first_bytes + kMoreNames) kept_.reset();
  const bool fresh = kept_ == nullptr;
  std::unique_ptr<Kept> at = fresh ? std::make_unique<Kept>() : std::move(kept_);
  at->retold.Begin(fresh ? nullptr : plan_.get());
  for (const model::HyperNodeFacts& facts : hyper_nodes) at->retold.SetHyperNode(facts);
  GW_RETURN_IF_ERROR(DecodeSession(body, limits, at->retold));
  at->retold.End();
  if (fresh) at->first_bytes = at->cluster.names().bytes();
  kept_ = std::move(at);
  if (StillHolds(options, now)) return Planned{plan_, true};
  kept_->options = options;
  plan_ = SessionPlan::Make(kept_->cluster, options, now, kept_->scratch, plan_.get());
  return Planned{plan_, false};
}

bool SessionPlanner::StillHolds(const SessionPlanOptions& options, absl::Time now) const {
  return plan_ != nullptr && kept_->retold.AsPlanned() &&
         now < std::min(plan_->look_again(), plan_->made() + kKeptFor) && options == kept_->options;
}

}  // namespace gangway::extender
