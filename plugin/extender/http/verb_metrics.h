// What is counted of verbs. Thread-safe.
#pragma once

#include <cstddef>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/metrics.h"
#include "plugin/extender/verbs/verb.h"
#include "plugin/extender/work/call_figures.h"

namespace gangway::extender {

class VerbMetrics {
 public:
  // What should stay 0 is there from the beginning, for the verbs of the mode: an increase is seen from the first on.
  VerbMetrics(Metrics& metrics, Mode mode);

  // `result`: one of the few words of Answer::result, or "bad_body".
  void Answered(Verb verb, absl::string_view result, std::size_t body_bytes, absl::Duration took);
  // The answer was given, or came, after the budget.
  void BudgetExceeded(Verb verb);
  // A session has no plan: "torn", "busy".
  void NoPlan(absl::string_view why);
  // From the body to the plan.
  void Planned(absl::Duration took);
  // A session whose plan is that of the one before.
  void PlanKept();

 private:
  Counter BudgetExceededOf(Verb verb);
  Counter WithoutPlan(absl::string_view why);

  Metrics& metrics_;
  CallFigures verbs_;
};

}  // namespace gangway::extender
