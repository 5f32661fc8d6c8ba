#include "plugin/extender/http/verb_handler.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <list>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json.h"
#include "base/log.h"
#include "kube/serve/pages.h"
#include "plugin/extender/http/answer.h"
#include "plugin/extender/http/unseen_gangs.h"
#include "plugin/extender/http/verb_metrics.h"
#include "plugin/extender/session/changed_gangs.h"
#include "plugin/extender/session/decode_questions.h"
#include "plugin/extender/session/session_planner.h"
#include "plugin/extender/work/work_pool.h"

namespace gangway::extender {
namespace {

using Respond = kube::HttpHandler::Respond;
using SteadyTime = std::chrono::steady_clock::time_point;

constexpr std::size_t kMaxPlanners = 4;            // each keeps its scheduler's cluster
constexpr std::size_t kSmallQuestion = 64u << 10;  // is answered where it was read

absl::Duration Since(SteadyTime begin) { return absl::FromChrono(std::chrono::steady_clock::now() - begin); }

kube::Response JsonResponse(std::string body) {
  kube::Response response;
  response.code = 200;
  response.content_type = "application/json";
  response.body = MakeBytes(std::move(body));
  return response;
}

// Who asks: connections come and go, the machine they are from stays.
absl::string_view CallerOf(absl::string_view peer) { return peer.substr(0, peer.rfind(':')); }

// An opening whose answer is given once: with the plan, or when the budget is used up.
class Opening {
 public:
  explicit Opening(Respond respond) : respond_(std::move(respond)) {}
  // False: it has been given.
  bool Answer(kube::Response response) {
    if (answered_.exchange(true)) return false;
    respond_(std::move(response));
    return true;
  }

 private:
  std::atomic<bool> answered_ = false;
  Respond respond_;
};

}  // namespace

class VerbHandler::Impl {
 public:
  Impl(Loop& loop, VerbOptions options, Metrics& metrics)
      : loop_(loop),
        options_(std::move(options)),
        metrics_(metrics, options_.mode),
        store_(std::make_shared<SessionStore>(options_.store)),
        pool_(std::make_unique<WorkPool>(1, options_.max_planning)) {}
  // Nobody reads the answers of sessions that still wait for the pool's thread.
  ~Impl() { ending_ = true; }

  void Handle(kube::Request request, const kube::HttpCaller& caller, Respond respond) {
    const std::optional<Verb> verb = VerbOfPath(request.path);
    if (!verb.has_value()) return respond(kube::TextPage(404, absl::StrCat("there is no verb ", request.path)));
    if (request.method != "POST") return respond(kube::TextPage(405, "verbs are POSTed"));
    const SteadyTime begin = std::chrono::steady_clock::now();
    if (*verb == Verb::kOnSessionOpen && Serves(options_.mode, *verb))
      return Open(std::move(request.body), CallerOf(caller.peer), std::move(respond), begin);
    if (AsksLive(*verb)) return AskLive(*verb, std::move(request.body), std::move(respond), begin);
    respond(LookUp(*verb, request.body, CallerOf(caller.peer), loop_.Now(), begin));
  }

  // Any thread: of what it uses nothing changes, but what has a lock.
  std::optional<kube::HttpHandler::Reply> AnswerAtOnce(const kube::Request& request, const kube::HttpCaller& caller) {
    const std::optional<Verb> verb = VerbOfPath(request.path);
    if (!verb.has_value() || request.method != "POST" || request.body.size() > kSmallQuestion) return std::nullopt;
    if ((*verb == Verb::kOnSessionOpen && Serves(options_.mode, *verb)) || AsksLive(*verb)) return std::nullopt;
    return LookUp(*verb, request.body, CallerOf(caller.peer), absl::Now(), std::chrono::steady_clock::now());
  }

  std::shared_ptr<const SessionStore> sessions() const { return store_; }
  void SetPolicy(gang::Policy policy) { options_.plan.policy = std::move(policy); }

  std::string DebugSessions() const {
    std::string out;
    api::JsonWriter json(out);
    json.BeginObject().Field("mode", kModeNames[static_cast<std::size_t>(options_.mode)]);
    json.Key("sessions").BeginArray();
    for (const SessionView& view : store_->Sessions(loop_.Now())) Show(view, json);
    json.EndArray();
    if (options_.live.ask) {
      json.Field("upToDate", options_.live.up_to_date()).Key("live");
      const std::shared_ptr<const SessionPlan> plan = options_.live.last();
      plan == nullptr ? json.Null() : json.BeginObject();
      if (plan != nullptr) {
        ShowPlan(*plan, json);
        json.EndObject();
      }
      json.Key("unseen").BeginArray();
      for (const std::string& job : unseen_.Unseen(loop_.Now())) json.String(job);
      json.EndArray();
    }
    json.EndObject();
    return out;
  }

 private:
  bool AsksLive(Verb verb) const {
    return options_.live.ask != nullptr && (verb == Verb::kJobEnqueueable || verb == Verb::kJobReady);
  }

  kube::Response LookUp(Verb verb, absl::string_view body, absl::string_view caller, absl::Time now, SteadyTime begin) {
    return Counted(
        verb, Serves(options_.mode, verb) ? Serve(verb, body, caller, now) : AnswerVerb(verb, body, /*plan=*/nullptr),
        body.size(), begin, /*late=*/false);
  }

  // `late`: more than the budget was waited for it.
  kube::Response Counted(Verb verb, const absl::StatusOr<Answer>& answer, std::size_t bytes, SteadyTime begin,
                         bool late) {
    const absl::Duration took = Since(begin);
    metrics_.Answered(verb, answer.ok() ? answer->result : "bad_body", bytes, took);
    if (late || took > options_.budget) metrics_.BudgetExceeded(verb);
    if (answer.ok()) return JsonResponse(answer->body);
    log::Warning("a verb's body is wrong", {{"verb", VerbName(verb)}, {"error", answer.status().message()}});
    return kube::TextPage(400, answer.status().message());
  }

  void AskLive(Verb verb, std::string body, Respond respond, SteadyTime begin) {
    options_.live.ask([this, alive = owner_.token(), verb, body = std::move(body), respond = std::move(respond), begin](
                          const std::shared_ptr<const SessionPlan>& plan, bool late) mutable {
      if (alive.expired()) return;
      AnswerOptions answer;
      if (plan != nullptr && options_.live.up_to_date())
        answer.keep_out_unknown = [this](absl::string_view job) { return IsTooNew(job); };
      respond(Counted(verb, AnswerVerb(verb, body, plan.get(), answer), body.size(), begin, late));
    });
  }

  absl::StatusOr<Answer> Serve(Verb verb, absl::string_view body, absl::string_view caller, absl::Time now) {
    if (verb == Verb::kOnSessionClose) {
      store_->CloseOldest(caller, now);
      return Accepted();
    }
    if (verb == Verb::kAllocateFunc || verb == Verb::kDeallocateFunc) return Note(verb, body, caller);
    return AnswerVerb(verb, body, store_->Newest(caller, now).get());
  }

  // Else the scheduler is left alone with it: a gang that the watch never shows would wait for ever.
  bool IsTooNew(absl::string_view job) {
    const UnseenGangs::Answer answer = unseen_.Ask(job, loop_.Now());
    if (answer == UnseenGangs::Answer::kFirstUnseen) {
      log::Warning("a gang that the scheduler asks about is not shown by our watch: it is left to the scheduler",
                   {{"gang", job}});
    }
    return answer == UnseenGangs::Answer::kTooNew;
  }

  absl::StatusOr<Answer> Note(Verb verb, absl::string_view body, absl::string_view caller) {
    const absl::StatusOr<TaskKey> task = DecodeEvent(body);
    if (!task.ok()) return task.status();
    if (verb == Verb::kAllocateFunc) {
      store_->Allocate(caller, task->uid, task->node);
    } else {
      store_->Deallocate(caller, task->uid);
    }
    return EventAccepted();
  }

  void Open(std::string body, absl::string_view caller, Respond respond, SteadyTime begin) {
    const absl::Time now = loop_.Now();
    const SessionId id = store_->Open(caller, now);
    const std::size_t bytes = body.size();
    const auto opening = std::make_shared<Opening>(std::move(respond));
    auto work = [this, opening, id, now, begin, body = std::move(body), options = options_.plan,
                 hyper_nodes = options_.hyper_nodes ? options_.hyper_nodes() : std::vector<model::HyperNodeFacts>(),
                 who = std::string(caller)]() mutable {
      if (options_.before_plan) options_.before_plan();
      if (!ending_) Plan(*opening, who, id, now, begin, std::move(body), options, hyper_nodes);
    };
    if (pool_->Offer(std::move(work)) != WorkPool::Answer::kTaken) {
      store_->WithoutPlan(id, "other sessions are being planned");
      metrics_.NoPlan("busy");
      metrics_.Answered(Verb::kOnSessionOpen, "no_plan", bytes, Since(begin));
      opening->Answer(JsonResponse(Accepted().body));
      return;
    }
    loop_.PostAt(now + options_.budget, owner_.token(), [this, opening, bytes, begin] {
      if (!opening->Answer(JsonResponse(Accepted().body))) return;
      metrics_.BudgetExceeded(Verb::kOnSessionOpen);
      metrics_.Answered(Verb::kOnSessionOpen, "late", bytes, Since(begin));
    });
  }

  // On the pool's thread, one session after the other.
  void Plan(Opening& opening, const std::string& caller, SessionId id, absl::Time now, SteadyTime begin,
            std::string body, const SessionPlanOptions& options,
            const std::vector<model::HyperNodeFacts>& hyper_nodes) {
    SessionPlanner& planner = PlannerOf(caller);
    const std::shared_ptr<const SessionPlan> last = planner.last();
    const absl::StatusOr<SessionPlanner::Planned> planned =
        planner.Plan(body, options_.limits, hyper_nodes, options, now);
    const std::size_t bytes = body.size();
    std::string().swap(body);
    if (!planned.ok()) {
      const absl::string_view wrong = planned.status().message();
      store_->WithoutPlan(id, wrong);
      metrics_.NoPlan("torn");
      log::Warning("a session's body is wrong", {{"error", wrong}});
      if (opening.Answer(kube::TextPage(400, wrong)))
        metrics_.Answered(Verb::kOnSessionOpen, "bad_body", bytes, Since(begin));
      return;
    }
    store_->Planned(caller, id, planned->plan);
    if (planned->kept) {
      metrics_.PlanKept();
    } else {
      LogChanges(last.get(), *planned->plan);
      metrics_.Planned(Since(begin));
    }
    if (opening.Answer(JsonResponse(Accepted().body)))
      metrics_.Answered(Verb::kOnSessionOpen, "ok", bytes, Since(begin));
  }

  // On the pool's thread.
  SessionPlanner& PlannerOf(const std::string& caller) {
    const auto known =
        std::find_if(planners_.begin(), planners_.end(), [&](const auto& p) { return p.first == caller; });
    if (known != planners_.end()) {
      planners_.splice(planners_.begin(), planners_, known);
    } else {
      if (planners_.size() == kMaxPlanners) planners_.pop_back();
      planners_.emplace_front(caller, std::make_unique<SessionPlanner>());
    }
    return *planners_.front().second;
  }

  static void Show(const SessionView& view, api::JsonWriter& json) {
    const absl::string_view state = view.state == SessionView::State::kPlanned       ? "planned"
                                    : view.state == SessionView::State::kWithoutPlan ? "without plan"
                                                                                     : "planning";
    json.BeginObject()
        .Field("id", static_cast<std::int64_t>(view.id))
        .Field("caller", view.caller)
        .Field("opened", absl::FormatTime(view.opened, absl::UTCTimeZone()))
        .Field("state", state)
        .Field("allocated", static_cast<std::int64_t>(view.allocated))
        .Field("elsewhere", static_cast<std::int64_t>(view.elsewhere));
    if (!view.trouble.empty()) json.Field("trouble", view.trouble);
    if (view.plan != nullptr) ShowPlan(*view.plan, json);
    json.EndObject();
  }

  static void ShowPlan(const SessionPlan& plan, api::JsonWriter& json) {
    json.Field("made", absl::FormatTime(plan.made(), absl::UTCTimeZone()));
    json.Field("nodes", plan.nodes()).Field("tasks", plan.tasks()).Field("placed", plan.placed());
    json.Field("gangs", static_cast<std::int64_t>(plan.gangs().size())).Key("unsettled").BeginArray();
    for (const PlannedGang* const gang : plan.Unsettled()) {
      json.BeginObject()
          .Field("job", gang->job)
          .Field("verdict", VerdictText(gang->verdict))
          .Field("letIn", gang->let_in)
          .Field("mayStart", gang->may_start)
          .Field("pinned", gang->pinned)
          .Field("placed", gang->placed)
          .Field("victims", static_cast<std::int64_t>(gang->victims.size()))
          .Field("why", gang->why)
          .EndObject();
    }
    json.EndArray();
  }

  Loop& loop_;
  VerbOptions options_;
  VerbMetrics metrics_;
  const std::shared_ptr<SessionStore> store_;
  UnseenGangs unseen_;
  std::atomic<bool> ending_ = false;
  std::list<std::pair<std::string, std::unique_ptr<SessionPlanner>>> planners_;  // by caller; who asked last is first
  std::unique_ptr<WorkPool> pool_;                                               // its thread uses the above
  Owner owner_;
};

VerbHandler::VerbHandler(Loop& loop, VerbOptions options, Metrics& metrics)
    : impl_(std::make_unique<Impl>(loop, std::move(options), metrics)) {}
VerbHandler::~VerbHandler() = default;

void VerbHandler::HandleRequest(kube::Request request, kube::HttpCaller caller, Respond respond) {
  impl_->Handle(std::move(request), caller, std::move(respond));
}
std::optional<kube::HttpHandler::Reply> VerbHandler::AnswerAtOnce(const kube::Request& request,
                                                                  const kube::HttpCaller& caller) {
  return impl_->AnswerAtOnce(request, caller);
}
void VerbHandler::SetPolicy(gang::Policy policy) { impl_->SetPolicy(std::move(policy)); }
std::shared_ptr<const SessionStore> VerbHandler::sessions() const { return impl_->sessions(); }
std::string VerbHandler::DebugSessions() const { return impl_->DebugSessions(); }

}  // namespace gangway::extender
