#include "plugin/extender/http/answer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "api/json.h"
#include "base/status_macros.h"
#include "plugin/extender/session/decode_questions.h"

namespace gangway::extender {
namespace {

// A longer reply is an error to Volcano's client, by which nobody is evicted: rather some of them now.
constexpr std::size_t kMaxReply = std::size_t{8} << 20;

absl::string_view ResultOf(Vote vote) {
  return vote == Vote::kReject ? "reject" : vote == Vote::kPermit ? "permit" : "abstain";
}

Answer VoteAnswer(Vote vote) { return {absl::StrCat("{\"status\":", static_cast<int>(vote), "}"), ResultOf(vote)}; }

absl::StatusOr<Answer> JobEnqueueable(absl::string_view body, const SessionPlan* plan, const AnswerOptions& options) {
  GW_ASSIGN_OR_RETURN(const std::string job, DecodeJobName(body));
  if (plan == nullptr) return VoteAnswer(Vote::kAbstain);
  if (options.keep_out_unknown && plan->Find(job) == nullptr)
    return VoteAnswer(options.keep_out_unknown(job) ? Vote::kReject : Vote::kAbstain);
  return VoteAnswer(plan->JobEnqueueable(job));
}

absl::StatusOr<Answer> JobReady(absl::string_view body, const SessionPlan* plan) {
  GW_ASSIGN_OR_RETURN(const JobCounts counts, DecodeJobCounts(body));
  if (plan != nullptr && !plan->MayStart(counts.job)) return Answer{"{\"status\":false}", "held"};
  if (!HasItsMinimum(counts)) return Answer{"{\"status\":false}", "not_ready"};
  return Answer{"{\"status\":true}", "ready"};
}

absl::StatusOr<Answer> Predicate(absl::string_view body, const SessionPlan* plan) {
  GW_ASSIGN_OR_RETURN(const PredicateQuestion question, DecodePredicate(body));
  PredicateAnswer answer;
  if (plan != nullptr) answer = plan->Predicate(question.task.job, question.task.uid, question.node);
  if (answer.fits) return Answer{R"({"status":"","code":0})", "fits"};
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject().Field("status", absl::StrCat("gangway: ", answer.why)).Field("code", kUnschedulable).EndObject();
  return Answer{std::move(out), "unfit"};
}

absl::StatusOr<Answer> Prioritize(absl::string_view body, const SessionPlan* plan) {
  GW_ASSIGN_OR_RETURN(const PrioritizeQuestion question, DecodePrioritize(body));
  const absl::string_view planned = plan == nullptr ? absl::string_view() : plan->NodeOf(question.task.uid);
  const bool there =
      !planned.empty() && std::find(question.nodes.begin(), question.nodes.end(), planned) != question.nodes.end();
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject().Key("nodeScore").BeginObject();
  if (there) json.Key(planned).Int(kPlannedScore);
  json.EndObject().Field("errorMessage", "").EndObject();
  return Answer{std::move(out), there ? "scored" : "none"};
}

// Victims are echoed as they came, whole: Volcano may evict the very objects of the reply, and a part that is missing
// ends its process.
absl::StatusOr<Answer> Victims(EvictAction action, absl::string_view body, const SessionPlan* plan) {
  GW_ASSIGN_OR_RETURN(const VictimsQuestion question, DecodeVictims(body));
  VictimsAnswer answer;
  if (plan != nullptr) {
    const std::vector<absl::string_view> offered(question.uids.begin(), question.uids.end());
    answer = plan->Victims(action, question.evictor.job, offered);
  }
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject().Field("status", static_cast<int>(answer.vote)).Key("victims").BeginArray();
  for (const std::size_t victim : answer.victims) {
    if (out.size() + question.bodies[victim].size() > kMaxReply) break;
    json.Raw(question.bodies[victim]);
  }
  json.EndArray().EndObject();
  return Answer{std::move(out), ResultOf(answer.vote)};
}

absl::StatusOr<Answer> QueueOverused(absl::string_view body, const SessionPlan* plan) {
  GW_ASSIGN_OR_RETURN(const std::string queue, DecodeQueueName(body));
  if (plan != nullptr && plan->QueueOverused(queue)) return Answer{"{\"overused\":true}", "overused"};
  return Answer{"{\"overused\":false}", "has_room"};
}

}  // namespace

absl::StatusOr<Answer> AnswerVerb(Verb verb, absl::string_view body, const SessionPlan* plan,
                                  const AnswerOptions& options) {
  switch (verb) {
    case Verb::kJobEnqueueable:
      return JobEnqueueable(body, plan, options);
    case Verb::kJobReady:
      return JobReady(body, plan);
    case Verb::kPredicate:
      return Predicate(body, plan);
    case Verb::kPrioritize:
      return Prioritize(body, plan);
    case Verb::kPreemptable:
      return Victims(EvictAction::kPreempt, body, plan);
    case Verb::kReclaimable:
      return Victims(EvictAction::kReclaim, body, plan);
    case Verb::kQueueOverused:
      return QueueOverused(body, plan);
    case Verb::kJobEnqueued:
      GW_RETURN_IF_ERROR(DecodeJobName(body).status());
      return Accepted();
    case Verb::kOnSessionOpen:
    case Verb::kOnSessionClose:
      return Accepted();
    case Verb::kAllocateFunc:
    case Verb::kDeallocateFunc:
      GW_RETURN_IF_ERROR(DecodeEvent(body).status());
      return EventAccepted();
  }
  return absl::InternalError("no such verb");
}

Answer Accepted() { return {"{}", "ok"}; }
Answer EventAccepted() { return {R"({"errorMessage":""})", "ok"}; }

}  // namespace gangway::extender
