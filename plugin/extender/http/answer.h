// What a verb is answered: its body and the plan in, the reply out. Pure.
//
// Without a plan, and for what a plan does not judge, every answer is the one after which Volcano does what it would do
// without us: a job may be let in (abstain), is ready when it has its minimum, a pod fits, no node scores, no queue has
// too much, and about victims we abstain.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/extender/session/decode_task.h"
#include "plugin/extender/session/session_plan.h"
#include "plugin/extender/verbs/verb.h"

namespace gangway::extender {

// What is added to a node's score when the plan has the pod there: more than all of Volcano's plugins together add.
inline constexpr std::int64_t kPlannedScore = 1'000'000;
// volcano: pkg/scheduler/api, StatusSets; the kubernetes code Unschedulable: evicting somebody may help
inline constexpr int kUnschedulable = 2;

struct Answer {
  std::string body;          // JSON
  absl::string_view result;  // for metrics: one of few words
};

struct AnswerOptions {
  // Whether a gang that the plan does not know is kept out, because our watch shows it soon. Null: none is.
  std::function<bool(absl::string_view job)> keep_out_unknown;
};

// Of verbs that are neither of a session nor an event. InvalidArgument: the body is wrong; it begins with the path.
absl::StatusOr<Answer> AnswerVerb(Verb verb, absl::string_view body, const SessionPlan* plan,
                                  const AnswerOptions& options = {});
// Of onSessionOpen, onSessionClose and jobEnqueued; and of an event.
Answer Accepted();
Answer EventAccepted();

}  // namespace gangway::extender
