#include "plugin/extender/http/verb_metrics.h"

#include <string>
#include <vector>

namespace gangway::extender {
namespace {

// Look-ups take microseconds, sessions up to a second.
const std::vector<double>& VerbBounds() {
  static const std::vector<double>& bounds =
      *new std::vector<double>{1e-5, 1e-4, 1e-3, 5e-3, 2e-2, 0.1, 0.3, 0.5, 0.7, 1, 2, 5};
  return bounds;
}
const std::vector<double>& BodyBounds() {
  static const std::vector<double>& bounds =
      *new std::vector<double>{1 << 10, 1 << 13, 1 << 16, 1 << 19, 1 << 22, 1 << 25, 1 << 28};
  return bounds;
}

}  // namespace

VerbMetrics::VerbMetrics(Metrics& metrics, Mode mode)
    : metrics_(metrics),
      verbs_(metrics, {.call = "verb",
                       .result = "result",
                       .results = {"gangway_extender_verbs_total",
                                   "verbs of Volcano's extender plugin, by what they were answered",
                                   {}},
                       .duration = {"gangway_extender_verb_duration_seconds", "from the whole request to the answer",
                                    VerbBounds()},
                       .bytes = {"gangway_extender_body_bytes", "size of requests", BodyBounds()}}) {
  for (std::size_t i = 0; i < kVerbs; ++i) {
    if (Serves(mode, static_cast<Verb>(i))) BudgetExceededOf(static_cast<Verb>(i));
  }
  if (!Serves(mode, Verb::kOnSessionOpen)) return;
  for (const char* const why : {"torn", "busy"}) WithoutPlan(why);
}

void VerbMetrics::Answered(Verb verb, absl::string_view result, std::size_t body_bytes, absl::Duration took) {
  verbs_.CountResult(VerbName(verb), result);
  verbs_.CountMessage(VerbName(verb), body_bytes, took);
}

Counter VerbMetrics::BudgetExceededOf(Verb verb) {
  return metrics_.AddCounter("gangway_extender_budget_exceeded_total",
                             "verbs that had no answer of their own within the budget",
                             {{"verb", std::string(VerbName(verb))}});
}
Counter VerbMetrics::WithoutPlan(absl::string_view why) {
  return metrics_.AddCounter("gangway_extender_sessions_without_plan_total", "sessions for which no plan was made",
                             {{"why", std::string(why)}});
}

void VerbMetrics::BudgetExceeded(Verb verb) { BudgetExceededOf(verb).Add(); }
void VerbMetrics::NoPlan(absl::string_view why) { WithoutPlan(why).Add(); }

void VerbMetrics::PlanKept() {
  metrics_.AddCounter("gangway_extender_plans_kept_total", "sessions whose plan is that of the one before").Add();
}

void VerbMetrics::Planned(absl::Duration took) {
  metrics_
      .AddHistogram("gangway_extender_plan_duration_seconds", "from the body of a session to its plan", VerbBounds())
      .Observe(absl::ToDoubleSeconds(took));
}

}  // namespace gangway::extender
