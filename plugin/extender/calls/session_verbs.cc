#include "plugin/extender/calls/session_verbs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/counted.h"
#include "base/status_macros.h"
#include "plugin/explain/cluster_facts.h"
#include "plugin/extender/calls/field_path.h"
#include "plugin/extender/calls/request_facts.h"
#include "plugin/extender/calls/typed_facts.h"
#include "plugin/extender/session/changed_gangs.h"
#include "plugin/model/cluster.h"

namespace gangway::extender {
namespace {

absl::Status CheckName(const std::string& text, absl::string_view field) {
  return text.empty() ? Wrong(field, "must not be empty") : CheckLength(text, field);
}

absl::Status NotOpen(SessionId session) {
  return absl::NotFoundError(
      absl::StrCat("session: ", session, " is not open, or was forgotten; OpenSession gives another"));
}

absl::Status CheckNamesAsked(int names, absl::string_view field) {
  if (names <= kMaxNamesAsked) return absl::OkStatus();
  return Wrong(field, absl::StrCat(names, " are more than one question takes, which is ", kMaxNamesAsked));
}

// Before any of them is made: a few bytes ask for thousands of members, each with its gang's name.
absl::Status CheckGangsAsked(const v1::OpenSessionRequest& request) {
  std::int64_t members = 0;
  for (int i = 0; i < request.gangs_size(); ++i) {
    const v1::Gang& gang = request.gangs(i);
    const std::string path = At("gangs", static_cast<std::size_t>(i));
    GW_RETURN_IF_ERROR(CheckLength(gang.name(), path + ".name"));
    GW_RETURN_IF_ERROR(CheckLength(gang.namespace_(), path + ".namespace"));
    for (const v1::Task& task : gang.tasks()) members += task.has_replicas() ? std::max(0, task.replicas()) : 1;
    if (members > kMaxWaiting)
      return Wrong(path + ".tasks", absl::StrCat("with the gangs before it has ", members,
                                                 " members, more than one session takes, which is ", kMaxWaiting));
  }
  return absl::OkStatus();
}

absl::Status CheckTried(const explain::ClusterFacts& facts) {
  const auto tried = std::count_if(facts.gangs.begin(), facts.gangs.end(), [](const model::GangFacts& gang) {
    return gang.kind == model::GangKind::kVolcano && gang.has_min_resources &&
           (gang.phase == model::GangPhase::kNone || gang.phase == model::GangPhase::kPending);
  });
  const std::size_t nodes = facts.nodes.size();
  if (tried * static_cast<std::int64_t>(nodes) <= kMaxTried) return absl::OkStatus();
  return Wrong("cluster.objects",
               absl::StrCat(tried, " PodGroups that wait to be let in, on ", nodes,
                            " nodes, are more than one session tries whole: their product must be at most ", kMaxTried,
                            "; or say by_sums"));
}

v1::Vote MessageOf(Vote vote) {
  switch (vote) {
    case Vote::kReject:
      return v1::VOTE_REJECT;
    case Vote::kAbstain:
      return v1::VOTE_ABSTAIN;
    case Vote::kPermit:
      return v1::VOTE_PERMIT;
  }
  return v1::VOTE_ABSTAIN;
}

void Put(const PlannedGang& gang, v1::PlannedGang& put) {
  put.set_job(gang.job);
  put.set_verdict(absl::StrReplaceAll(VerdictText(gang.verdict), {{" ", "_"}}));
  put.set_let_in(gang.let_in);
  put.set_placed(gang.placed);
  put.set_why(gang.why);
  for (const std::string& victim : gang.victims) put.add_victims(victim);
}

v1::OpenSessionResponse MessageOf(const SessionPlan& plan) {
  v1::OpenSessionResponse out;
  for (const PlannedGang& gang : plan.gangs()) Put(gang, *out.add_gangs());
  return out;
}

absl::string_view StateText(SessionView::State state) {
  switch (state) {
    case SessionView::State::kPlanning:
      return "planning";
    case SessionView::State::kPlanned:
      return "planned";
    case SessionView::State::kWithoutPlan:
      return "without_plan";
  }
  return "";
}

void PutTime(absl::Time at, google::protobuf::Timestamp& put) {
  put.set_seconds(absl::ToUnixSeconds(at));
  put.set_nanos(static_cast<int>(absl::ToInt64Nanoseconds(at - absl::FromUnixSeconds(put.seconds()))));
}

void PutPlan(const SessionPlan& plan, v1::SessionStatus& put) {
  PutTime(plan.made(), *put.mutable_made());
  put.set_nodes(plan.nodes());
  put.set_pods(plan.tasks());
  put.set_gangs(static_cast<int>(plan.gangs().size()));
  put.set_placed(plan.placed());
  for (const PlannedGang* const gang : plan.Unsettled()) Put(*gang, *put.add_unsettled());
}

std::string WhyOf(const SessionPlan& plan, const std::string& job) {
  const PlannedGang* const gang = plan.Find(job);
  return gang == nullptr ? "" : gang->why;
}

// A session that is being planned; it is closed unless the plan is kept.
class Planning {
 public:
  Planning(SessionStore& store, const std::string& caller, absl::Time now)
      : store_(store), caller_(caller), now_(now), id_(store.Open(caller, now)) {}
  ~Planning() {
    if (!kept_) store_.Close(id_, now_);
  }
  Planning(const Planning&) = delete;
  Planning& operator=(const Planning&) = delete;

  absl::StatusOr<SessionId> Keep(std::shared_ptr<const SessionPlan> plan) {
    kept_ = store_.Planned(caller_, id_, std::move(plan));
    if (kept_) return id_;
    return absl::AbortedError("the session was forgotten before its plan was made: too many were opened after it");
  }

 private:
  SessionStore& store_;
  const std::string caller_;
  const absl::Time now_;
  const SessionId id_;
  bool kept_ = false;
};

absl::Status CheckMinima(const google::protobuf::RepeatedPtrField<v1::MinimumCount>& counts, absl::string_view field) {
  for (int i = 0; i < counts.size(); ++i) {
    const std::string path = At(field, static_cast<std::size_t>(i));
    if (counts[i].ready() < 0) return Wrong(path + ".ready", "must not be negative");
    if (counts[i].min() < 0) return Wrong(path + ".min", "must not be negative");
  }
  return absl::OkStatus();
}

// What it lacks; "" = nothing. HasItsMinimum (session/job_counts.h) counts the same from members.
std::string LackOf(const v1::JobReadyRequest& job) {
  if (job.ready() < job.min_member())
    return absl::StrCat("has ", job.ready(), " of ", Counted(job.min_member(), "member"));
  std::int64_t of_tasks = 0;
  for (const v1::MinimumCount& task : job.tasks()) of_tasks += task.min();
  if (job.min_member() >= of_tasks) {
    for (const v1::MinimumCount& task : job.tasks()) {
      if (task.ready() < task.min())
        return absl::StrCat("has ", task.ready(), " of ", Counted(task.min(), "member"), " of task ",
                            Quoted(task.name()));
    }
  }
  for (const v1::MinimumCount& groups : job.sub_groups()) {
    if (groups.ready() < groups.min())
      return absl::StrCat("has ", groups.ready(), " of ", groups.min(), " sub-groups of ", Quoted(groups.name()));
  }
  return "";
}

absl::StatusOr<v1::VictimsResponse> VictimsFor(EvictAction action, const v1::VictimsRequest& request,
                                               const SessionPlan& plan) {
  GW_RETURN_IF_ERROR(CheckName(request.job(), "job"));
  GW_RETURN_IF_ERROR(CheckNamesAsked(request.offered_size(), "offered"));
  const std::vector<absl::string_view> offered(request.offered().begin(), request.offered().end());
  const VictimsAnswer answer = plan.Victims(action, request.job(), offered);
  v1::VictimsResponse out;
  out.set_vote(MessageOf(answer.vote));
  for (const std::size_t at : answer.victims) out.add_victims(request.offered(static_cast<int>(at)));
  return out;
}

}  // namespace

SessionStoreOptions KeptSessions() {
  SessionStoreOptions options;
  options.max_callers = 8;
  options.max_allocated = 100'000;
  options.max_allocated_bytes = std::size_t{8} << 20;  // of each of 32 sessions
  return options;
}

absl::StatusOr<v1::OpenSessionResponse> OpenSession(const v1::OpenSessionRequest& request, const std::string& caller,
                                                    const gang::Policy& policy, absl::Time now, SessionStore& store,
                                                    StillWanted still_wanted) {
  GW_RETURN_IF_ERROR(CheckLength(request.caller(), "caller"));
  GW_RETURN_IF_ERROR(CheckGangsAsked(request));
  GW_ASSIGN_OR_RETURN(const absl::Time plan_time, NowOf(request, now));
  GW_ASSIGN_OR_RETURN(const explain::ClusterFacts facts, ReadCluster(request.gangs(), request.cluster(), still_wanted));
  if (!request.by_sums()) GW_RETURN_IF_ERROR(CheckTried(facts));
  const std::string& who = request.caller().empty() ? caller : request.caller();
  Planning planning(store, who, now);
  const std::shared_ptr<const SessionPlan> previous = store.Last(who);
  model::Cluster cluster;
  explain::Tell(facts, cluster);
  GW_RETURN_IF_ERROR(still_wanted());
  gang::Scratch scratch;
  SessionPlanOptions options;
  options.policy = policy;
  options.whole_gangs = !request.by_sums();
  std::shared_ptr<const SessionPlan> plan = SessionPlan::Make(cluster, options, plan_time, scratch, previous.get());
  GW_RETURN_IF_ERROR(still_wanted());
  LogChanges(previous.get(), *plan);
  v1::OpenSessionResponse out = MessageOf(*plan);
  GW_ASSIGN_OR_RETURN(const SessionId session, planning.Keep(std::move(plan)));
  out.set_session(session);
  return out;
}

absl::StatusOr<v1::CloseSessionResponse> CloseSession(const v1::CloseSessionRequest& request, absl::Time now,
                                                      SessionStore& store) {
  const std::optional<SessionView> closed = store.Close(request.session(), now);
  if (!closed.has_value()) return NotOpen(request.session());
  v1::CloseSessionResponse out;
  out.set_allocated(static_cast<int>(closed->allocated));
  out.set_elsewhere(static_cast<int>(closed->elsewhere));
  return out;
}

absl::StatusOr<std::shared_ptr<const SessionPlan>> FindPlan(SessionId session, absl::Time now,
                                                            const SessionStore& store) {
  std::shared_ptr<const SessionPlan> plan = store.Find(session, now);
  if (plan == nullptr) return NotOpen(session);
  return plan;
}

absl::StatusOr<v1::JobEnqueueableResponse> JobEnqueueable(const v1::JobEnqueueableRequest& request,
                                                          const SessionPlan& plan) {
  GW_RETURN_IF_ERROR(CheckName(request.job(), "job"));
  v1::JobEnqueueableResponse out;
  out.set_vote(MessageOf(plan.JobEnqueueable(request.job())));
  if (out.vote() == v1::VOTE_REJECT) out.set_why(WhyOf(plan, request.job()));
  return out;
}

absl::StatusOr<v1::JobEnqueuedResponse> JobEnqueued(const v1::JobEnqueuedRequest& request, const SessionPlan&) {
  GW_RETURN_IF_ERROR(CheckName(request.job(), "job"));
  return v1::JobEnqueuedResponse();
}

absl::StatusOr<v1::JobReadyResponse> JobReady(const v1::JobReadyRequest& request, const SessionPlan& plan) {
  GW_RETURN_IF_ERROR(CheckName(request.job(), "job"));
  if (request.ready() < 0) return Wrong("ready", "must not be negative");
  if (request.min_member() < 0) return Wrong("min_member", "must not be negative");
  GW_RETURN_IF_ERROR(CheckMinima(request.tasks(), "tasks"));
  GW_RETURN_IF_ERROR(CheckMinima(request.sub_groups(), "sub_groups"));
  v1::JobReadyResponse out;
  const bool may = plan.MayStart(request.job());
  std::string why = may ? LackOf(request) : WhyOf(plan, request.job());
  out.set_ready(may && why.empty());
  out.set_why(std::move(why));
  return out;
}

absl::StatusOr<v1::QueueOverusedResponse> QueueOverused(const v1::QueueOverusedRequest& request,
                                                        const SessionPlan& plan) {
  GW_RETURN_IF_ERROR(CheckName(request.queue(), "queue"));
  v1::QueueOverusedResponse out;
  out.set_overused(plan.QueueOverused(request.queue()));
  return out;
}

absl::StatusOr<v1::PredicateResponse> Predicate(const v1::PredicateRequest& request, const SessionPlan& plan) {
  GW_RETURN_IF_ERROR(CheckLength(request.job(), "job"));
  GW_RETURN_IF_ERROR(CheckName(request.pod(), "pod"));
  GW_RETURN_IF_ERROR(CheckName(request.node(), "node"));
  PredicateAnswer answer = plan.Predicate(request.job(), request.pod(), request.node());
  v1::PredicateResponse out;
  out.set_fits(answer.fits);
  out.set_why(std::move(answer.why));
  return out;
}

absl::StatusOr<v1::PrioritizeResponse> Prioritize(const v1::PrioritizeRequest& request, const SessionPlan& plan) {
  GW_RETURN_IF_ERROR(CheckName(request.pod(), "pod"));
  GW_RETURN_IF_ERROR(CheckNamesAsked(request.nodes_size(), "nodes"));
  v1::PrioritizeResponse out;
  const absl::string_view node = plan.NodeOf(request.pod());
  if (!node.empty() && std::find(request.nodes().begin(), request.nodes().end(), node) != request.nodes().end())
    out.set_node(std::string(node));
  return out;
}

absl::StatusOr<v1::VictimsResponse> Preemptable(const v1::VictimsRequest& request, const SessionPlan& plan) {
  return VictimsFor(EvictAction::kPreempt, request, plan);
}

absl::StatusOr<v1::VictimsResponse> Reclaimable(const v1::VictimsRequest& request, const SessionPlan& plan) {
  return VictimsFor(EvictAction::kReclaim, request, plan);
}

absl::StatusOr<v1::AllocateResponse> Allocate(const v1::AllocateRequest& request, absl::Time now, SessionStore& store) {
  GW_RETURN_IF_ERROR(CheckName(request.pod(), "pod"));
  GW_RETURN_IF_ERROR(CheckName(request.node(), "node"));
  GW_RETURN_IF_ERROR(FindPlan(request.session(), now, store).status());
  store.Allocate(request.session(), request.pod(), request.node());
  return v1::AllocateResponse();
}

absl::StatusOr<v1::DeallocateResponse> Deallocate(const v1::DeallocateRequest& request, absl::Time now,
                                                  SessionStore& store) {
  GW_RETURN_IF_ERROR(CheckName(request.pod(), "pod"));
  GW_RETURN_IF_ERROR(FindPlan(request.session(), now, store).status());
  store.Deallocate(request.session(), request.pod());
  return v1::DeallocateResponse();
}

v1::ListSessionsResponse ListSessions(const v1::ListSessionsRequest& request, absl::Time now,
                                      absl::Span<const SessionStore* const> stores) {
  v1::ListSessionsResponse out;
  for (const SessionStore* const store : stores) {
    for (const SessionView& view : store->Sessions(now)) {
      if (!request.caller().empty() && request.caller() != view.caller) continue;
      v1::SessionStatus& put = *out.add_sessions();
      put.set_session(view.id);
      put.set_caller(view.caller);
      PutTime(view.opened, *put.mutable_opened());
      put.set_state(std::string(StateText(view.state)));
      put.set_trouble(view.trouble);
      if (view.plan != nullptr) PutPlan(*view.plan, put);
      put.set_allocated(static_cast<int>(view.allocated));
      put.set_elsewhere(static_cast<int>(view.elsewhere));
    }
  }
  std::stable_sort(out.mutable_sessions()->begin(), out.mutable_sessions()->end(),
                   [](const auto& a, const auto& b) { return a.session() < b.session(); });
  return out;
}

}  // namespace gangway::extender
