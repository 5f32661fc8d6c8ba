#include "plugin/extender/http/verb_handler.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json.h"
#include "base/log.h"
#include "kube/serve/pages.h"
#include "plugin/extender/http/answer.h"
#include "plugin/extender/http/verb_metrics.h"
#include "plugin/extender/session/changed_gangs.h"
#include "plugin/extender/work_pool.h"

namespace gangway::extender {
namespace {

using Respond = kube::HttpHandler::Respond;
using SteadyTime = std::chrono::steady_clock::time_point;

constexpr std::size_t kMaxShownGangs = 200;

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
        metrics_(metrics),
        store_(options_.store),
        pool_(std::make_unique<WorkPool>(1, options_.max_planning)) {}

  void Handle(kube::Request request, const kube::HttpCaller& caller, Respond respond) {
    const std::optional<Verb> verb = VerbOfPath(request.path);
    if (!verb.has_value()) return respond(kube::TextPage(404, absl::StrCat("there is no verb ", request.path)));
    if (request.method != "POST") return respond(kube::TextPage(405, "verbs are POSTed"));
    const SteadyTime begin = std::chrono::steady_clock::now();
    if (*verb == Verb::kOnSessionOpen && Serves(options_.mode, *verb))
      return Open(std::move(request.body), CallerOf(caller.peer), std::move(respond), begin);
    const absl::StatusOr<Answer> answer = Serves(options_.mode, *verb)
                                              ? Serve(*verb, request.body, CallerOf(caller.peer))
                                              : AnswerVerb(*verb, request.body, nullptr);
    const absl::Duration took = Since(begin);
    metrics_.Answered(*verb, answer.ok() ? answer->result : "bad_body", request.body.size(), took);
    if (took > options_.budget) metrics_.BudgetExceeded(*verb);
    if (!answer.ok()) return Refuse(*verb, answer.status(), std::move(respond));
    respond(JsonResponse(answer->body));
  }

  void SetPolicy(gang::Policy policy) { options_.plan.policy = std::move(policy); }

  std::string DebugSessions() const {
    std::string out;
    api::JsonWriter json(out);
    json.BeginObject().Field("mode", kModeNames[static_cast<std::size_t>(options_.mode)]);
    json.Key("sessions").BeginArray();
    for (const SessionView& view : store_.Sessions(loop_.Now())) Show(view, json);
    json.EndArray();
    if (options_.live.plan) {
      json.Field("upToDate", options_.live.up_to_date()).Key("live");
      const std::shared_ptr<const SessionPlan> plan = options_.live.plan();
      plan == nullptr ? json.Null() : json.BeginObject();
      if (plan != nullptr) {
        ShowPlan(*plan, json);
        json.EndObject();
      }
    }
    json.EndObject();
    return out;
  }

 private:
  static void Refuse(Verb verb, const absl::Status& status, Respond respond) {
    log::Warning("a verb's body is wrong", {{"verb", VerbName(verb)}, {"error", status.message()}});
    respond(kube::TextPage(400, status.message()));
  }

  absl::StatusOr<Answer> Serve(Verb verb, absl::string_view body, absl::string_view caller) {
    if (options_.mode == Mode::kLight) {
      const std::shared_ptr<const SessionPlan> plan = options_.live.plan ? options_.live.plan() : nullptr;
      return AnswerVerb(verb, body, plan.get(), {.keep_out_unknown = plan != nullptr && options_.live.up_to_date()});
    }
    if (verb == Verb::kOnSessionClose) {
      store_.CloseOldest(caller, loop_.Now());
      return Accepted();
    }
    if (verb == Verb::kAllocateFunc || verb == Verb::kDeallocateFunc) return Note(verb, body, caller);
    return AnswerVerb(verb, body, store_.Newest(caller, loop_.Now()).get());
  }

  absl::StatusOr<Answer> Note(Verb verb, absl::string_view body, absl::string_view caller) {
    const absl::StatusOr<TaskKey> task = DecodeEvent(body);
    if (!task.ok()) return task.status();
    if (verb == Verb::kAllocateFunc) {
      store_.Allocate(caller, task->uid, task->node);
    } else {
      store_.Deallocate(caller, task->uid);
    }
    return EventAccepted();
  }

  void Open(std::string body, absl::string_view caller, Respond respond, SteadyTime begin) {
    const absl::Time now = loop_.Now();
    const SessionId id = store_.Open(caller, now);
    const std::size_t bytes = body.size();
    const auto opening = std::make_shared<Opening>(std::move(respond));
    auto work = [this, opening, id, now, begin, body = std::move(body), options = options_.plan,
                 hyper_nodes = options_.hyper_nodes ? options_.hyper_nodes() : std::vector<model::HyperNodeFacts>(),
                 last = store_.Last(caller)]() mutable {
      model::Cluster cluster;
      for (const model::HyperNodeFacts& facts : hyper_nodes) cluster.SetHyperNode(facts);
      Plan(*opening, id, now, begin, std::move(body), options, cluster, last.get());
    };
    if (pool_->Offer(std::move(work)) != WorkPool::Answer::kTaken) {
      store_.Torn(id, "other sessions are being planned");
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

  // On the pool's thread. `cluster` gets what the body tells.
  void Plan(Opening& opening, SessionId id, absl::Time now, SteadyTime begin, std::string body,
            const SessionPlanOptions& options, model::Cluster& cluster, const SessionPlan* last) {
    const absl::Status read = DecodeSession(body, options_.limits, cluster);
    const std::size_t bytes = body.size();
    std::string().swap(body);
    if (!read.ok()) {
      store_.Torn(id, read.message());
      metrics_.NoPlan("torn");
      log::Warning("a session's body is wrong", {{"error", read.message()}});
      if (opening.Answer(kube::TextPage(400, read.message())))
        metrics_.Answered(Verb::kOnSessionOpen, "bad_body", bytes, Since(begin));
      return;
    }
    gang::Scratch scratch;
    const std::shared_ptr<const SessionPlan> plan = SessionPlan::Make(cluster, options, now, scratch, last);
    LogChanges(last, *plan);
    store_.Planned(id, plan);
    metrics_.Planned(Since(begin));
    if (opening.Answer(JsonResponse(Accepted().body)))
      metrics_.Answered(Verb::kOnSessionOpen, "ok", bytes, Since(begin));
  }

  static void Show(const SessionView& view, api::JsonWriter& json) {
    const absl::string_view state = view.state == SessionView::State::kPlanned ? "planned"
                                    : view.state == SessionView::State::kTorn  ? "without plan"
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
    json.Field("nodes", plan.nodes()).Field("tasks", plan.tasks()).Field("placed", plan.placed());
    json.Field("gangs", static_cast<std::int64_t>(plan.gangs().size())).Key("unsettled").BeginArray();
    std::size_t shown = 0;
    for (const PlannedGang& gang : plan.gangs()) {
      if (gang.let_in && gang.verdict == PlannedGang::Verdict::kSettled) continue;
      if (++shown > kMaxShownGangs) break;
      json.BeginObject()
          .Field("job", gang.job)
          .Field("verdict", VerdictText(gang.verdict))
          .Field("letIn", gang.let_in)
          .Field("mayStart", gang.may_start)
          .Field("pinned", gang.pinned)
          .Field("placed", gang.placed)
          .Field("victims", static_cast<std::int64_t>(gang.victims.size()))
          .Field("why", gang.why)
          .EndObject();
    }
    json.EndArray();
  }

  Loop& loop_;
  VerbOptions options_;
  VerbMetrics metrics_;
  SessionStore store_;
  std::unique_ptr<WorkPool> pool_;  // its thread uses the above
  Owner owner_;
};

VerbHandler::VerbHandler(Loop& loop, VerbOptions options, Metrics& metrics)
    : impl_(std::make_unique<Impl>(loop, std::move(options), metrics)) {}
VerbHandler::~VerbHandler() = default;

void VerbHandler::HandleRequest(kube::Request request, kube::HttpCaller caller, Respond respond) {
  impl_->Handle(std::move(request), caller, std::move(respond));
}
void VerbHandler::SetPolicy(gang::Policy policy) { impl_->SetPolicy(std::move(policy)); }
std::string VerbHandler::DebugSessions() const { return impl_->DebugSessions(); }

}  // namespace gangway::extender
