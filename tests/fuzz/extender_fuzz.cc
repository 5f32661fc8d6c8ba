// Messages of the gRPC service through its real handlers. An input is a line with a method's name and the request in
// protobuf's text format; a line "Object" and a JSON object of a cluster; or any bytes, which are then tried as each of
// the messages. Look-ups are of a session of its own, unless they name another. A refusal names the field; a placement
// is whole, on nodes that are there, within what they have; a cluster that was told of by changes has its books in
// order; a look-up names nobody who was not asked about.
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/extender/calls/decide.h"
#include "plugin/extender/calls/explain_gang.h"
#include "plugin/extender/calls/following.h"
#include "plugin/extender/calls/message_budget.h"
#include "plugin/extender/calls/object_facts.h"
#include "plugin/extender/calls/place_gang.h"
#include "plugin/extender/calls/session_verbs.h"
#include "plugin/model/cluster.h"
#include "proto/gangway/v1/explain.pb.h"
#include "proto/gangway/v1/extender.pb.h"
#include "proto/gangway/v1/lifecycle.pb.h"
#include "proto/gangway/v1/session.pb.h"
#include "tests/fuzz/fuzz_target.h"

namespace gangway::testutil {
namespace {

namespace pb = google::protobuf;

constexpr std::int64_t kMaxEntries = 20'000;

class Silent : public pb::io::ErrorCollector {
  void AddError(int, pb::io::ColumnNumber, const std::string&) override {}
};

int Replicas(const v1::Task& task) { return task.has_replicas() ? task.replicas() : 1; }

void RequireGood(const v1::PlaceGangRequest& request, const v1::PlaceGangResponse& reply, const std::string& shown) {
  Require(reply.placed() || (reply.has_reason() && reply.placements().empty()),
          "a gang that is not placed has a reason and no placement", shown);
  if (!request.cluster().objects().empty() || !request.gang().pod_group().empty())
    return;  // whose nodes and minima these are
  std::map<std::string, int> nodes, tasks;
  for (const v1::Node& node : request.cluster().nodes()) nodes[node.name()];
  for (const v1::Placement& placement : reply.placements()) {
    Require(nodes.contains(placement.node()), "a member is placed on a node that is there", shown);
    ++nodes[placement.node()];
    ++tasks[placement.task()];
  }
  for (const v1::Node& node : request.cluster().nodes())
    Require(!node.unschedulable() || nodes[node.name()] == 0, "nothing is placed on a node that is cordoned", shown);
  const auto& minimums = request.gang().min_task_member();
  std::int64_t sum = 0;
  for (const auto& [task, least] : minimums) sum += least;
  const bool by_task = !request.gang().has_min_member() || request.gang().min_member() >= sum;  // as in Volcano
  for (const v1::Task& task : request.gang().tasks()) {
    const auto least = minimums.find(task.name());
    Require(tasks[task.name()] <= Replicas(task), "no task has more members than replicas", shown);
    Require(!reply.placed() || !by_task || least == minimums.end() ||
                tasks[task.name()] >= std::min(least->second, Replicas(task)),
            "each task has its minimum", shown);
  }
  Require(!reply.placed() || !request.gang().has_min_member() || reply.placements_size() >= request.gang().min_member(),
          "a gang is placed whole", shown);
}

void RequireGood(const v1::DecideRequest& request, const v1::DecideResponse& reply, const std::string& shown) {
  Require(!reply.action().empty() && !reply.phase().empty() && !reply.reason().empty(),
          "a decision has an action, a phase and a reason", shown);
  Require(reply.version() >= request.job().version() && reply.retry_count() >= request.job().retry_count(),
          "versions and retries never go back", shown);
}

absl::StatusOr<v1::PlaceGangResponse> Handle(const v1::PlaceGangRequest& in) {
  return extender::PlaceGang(in, gang::Policy(), [] { return absl::OkStatus(); });
}
void RequireGood(const v1::ExplainRequest&, const v1::ExplainResponse& reply, const std::string& shown) {
  Require(!reply.state().empty() && !reply.sentence().empty(), "an explanation has a state and a sentence", shown);
}

void RequireGood(const v1::FollowRequest& request, const v1::FollowResponse& reply, const std::string& shown) {
  Require(request.decide() || reply.request() == 0, "who does not ask is not answered", shown);
}

absl::StatusOr<v1::ExplainResponse> Handle(const v1::ExplainRequest& in) {
  return extender::ExplainGang(in, gang::Policy(), [] { return absl::OkStatus(); });
}
// A stream of that message twice, the second time changing nothing.
absl::StatusOr<v1::FollowResponse> Handle(const v1::FollowRequest& in) {
  extender::Following stream(std::int64_t{16} << 20);
  const auto take = [&](const v1::FollowRequest& request) {
    return stream.Take(request, gang::Policy(), absl::UnixEpoch(), [] { return absl::OkStatus(); });
  };
  const auto first = take(in);
  if (!first.ok()) return first.status();
  v1::FollowRequest again = in;
  again.clear_scheduler_name();
  if (const auto second = take(again); !second.ok() && !absl::IsInvalidArgument(second.status()))
    return second.status();
  return first->value_or(v1::FollowResponse());
}
absl::StatusOr<v1::DecideResponse> Handle(const v1::DecideRequest& in) { return extender::Decide(in); }

// A plan of a session, and what its gangs are answered from it.
absl::StatusOr<v1::OpenSessionResponse> Handle(const v1::OpenSessionRequest& in) {
  extender::SessionStore store(extender::KeptSessions());
  const absl::Time now = absl::UnixEpoch();
  const auto reply = extender::OpenSession(in, "fuzz", gang::Policy(), now, store, [] { return absl::OkStatus(); });
  if (!reply.ok()) {
    Require(store.Sessions(now).empty(), "a session that is refused is not there", reply.status().ToString());
    return reply;
  }
  const auto plan = extender::FindPlan(reply->session(), now, store);
  Require(plan.ok(), "a session that is open is found", plan.status().ToString());
  for (const v1::PlannedGang& gang : reply->gangs()) {
    v1::JobEnqueueableRequest asked;
    asked.set_session(reply->session());
    asked.set_job(gang.job());
    const auto answer = extender::JobEnqueueable(asked, **plan);
    Require(!answer.ok() || (answer->vote() == v1::VOTE_REJECT) == !gang.let_in(), "who is kept out is told so",
            gang.job());
  }
  return reply;
}
void RequireGood(const v1::OpenSessionRequest&, const v1::OpenSessionResponse& reply, const std::string& shown) {
  for (int i = 0; i < reply.gangs_size(); ++i) {
    const v1::PlannedGang& gang = reply.gangs(i);
    Require(i == 0 || reply.gangs(i - 1).job() < gang.job(), "gangs stand in the order of their names, once", shown);
    Require(gang.let_in() || gang.victims().empty(), "nobody goes for a gang that is kept out", shown);
    Require(gang.placed() >= 0 && !gang.verdict().empty(), "a gang has a verdict", shown);
  }
}

// ---- look-ups in a session

const absl::Time kNow = absl::UnixEpoch();
const char* const kObjects[] = {
    R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4","pods":"9"}}})",
    R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"m"},"status":{"allocatable":{"cpu":"1","pods":"9"}}})",
    R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":100})",
    R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"low","namespace":"d"},"spec":{"minMember":1},"status":{"phase":"Running"}})",
    R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"high","namespace":"d"},"spec":{"minMember":1,"priorityClassName":"high"},"status":{"phase":"Inqueue"}})",
    R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"fits","namespace":"d"},"spec":{"minMember":1},"status":{"phase":"Inqueue"}})",
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"l","namespace":"d","uid":"l","annotations":{"scheduling.k8s.io/group-name":"low"}},"spec":{"schedulerName":"volcano","nodeName":"n","containers":[{"name":"c","resources":{"requests":{"cpu":"3"}}}]},"status":{"phase":"Running"}})",
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"h","namespace":"d","uid":"h","annotations":{"scheduling.k8s.io/group-name":"high"}},"spec":{"schedulerName":"volcano","containers":[{"name":"c","resources":{"requests":{"cpu":"3"}}}]},"status":{"phase":"Pending"}})",
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"f","namespace":"d","uid":"f","annotations":{"scheduling.k8s.io/group-name":"fits"}},"spec":{"schedulerName":"volcano","containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Pending"}})"};

// One gang has room, one once a pod of a third goes.
std::shared_ptr<const extender::SessionPlan> PlanOfObjects() {
  v1::OpenSessionRequest in;
  for (const char* const object : kObjects) in.mutable_cluster()->add_objects(object);
  extender::SessionStore store(extender::KeptSessions());
  const auto reply = extender::OpenSession(in, "fuzz", gang::Policy(), kNow, store, [] { return absl::OkStatus(); });
  Require(reply.ok(), "the session opens", reply.status().ToString());
  auto plan = extender::FindPlan(reply->session(), kNow, store);
  Require(plan.ok() && (*plan)->NodeOf("f") == "m" && (*plan)->Find("d/high")->victims.size() == 1,
          "one gang is placed, and a pod goes for another", reply->DebugString());
  return *std::move(plan);
}

class OneSession {
 public:
  OneSession() : id_(store_.Open("fuzz", kNow)) {
    static const std::shared_ptr<const extender::SessionPlan> plan = PlanOfObjects();  // immutable
    store_.Planned("fuzz", id_, plan);
  }
  template <class In>
  In Addressed(In in) const {
    if (in.session() == 0) in.set_session(id_);
    return in;
  }
  extender::SessionStore& store() { return store_; }

 private:
  extender::SessionStore store_{extender::KeptSessions()};
  const extender::SessionId id_;
};

template <class In, class Out>
absl::StatusOr<Out> LookUp(const In& in, absl::StatusOr<Out> (*verb)(const In&, const extender::SessionPlan&)) {
  OneSession one;
  const In asked = one.Addressed(in);
  const auto plan = extender::FindPlan(asked.session(), kNow, one.store());
  if (!plan.ok()) return plan.status();
  return verb(asked, **plan);
}
absl::StatusOr<v1::JobEnqueueableResponse> Handle(const v1::JobEnqueueableRequest& in) {
  return LookUp(in, extender::JobEnqueueable);
}
absl::StatusOr<v1::JobEnqueuedResponse> Handle(const v1::JobEnqueuedRequest& in) {
  return LookUp(in, extender::JobEnqueued);
}
absl::StatusOr<v1::JobReadyResponse> Handle(const v1::JobReadyRequest& in) { return LookUp(in, extender::JobReady); }
absl::StatusOr<v1::QueueOverusedResponse> Handle(const v1::QueueOverusedRequest& in) {
  return LookUp(in, extender::QueueOverused);
}
absl::StatusOr<v1::PredicateResponse> Handle(const v1::PredicateRequest& in) { return LookUp(in, extender::Predicate); }
absl::StatusOr<v1::PrioritizeResponse> Handle(const v1::PrioritizeRequest& in) {
  return LookUp(in, extender::Prioritize);
}
// Both actions ask with it; for the gang that goes before others nobody goes by shares.
absl::StatusOr<v1::VictimsResponse> Handle(const v1::VictimsRequest& in) {
  const auto reclaimed = LookUp(in, extender::Reclaimable);
  Require(!reclaimed.ok() || reclaimed->victims().empty(), "nobody goes by shares", in.DebugString());
  return LookUp(in, extender::Preemptable);
}
// Counted in the session, and told when it is closed.
absl::StatusOr<v1::CloseSessionResponse> Closed(OneSession& one) {
  return extender::CloseSession(one.Addressed(v1::CloseSessionRequest()), kNow, one.store());
}
absl::StatusOr<v1::AllocateResponse> Handle(const v1::AllocateRequest& in) {
  OneSession one;
  auto reply = extender::Allocate(one.Addressed(in), kNow, one.store());
  Require(Closed(one)->allocated() == (reply.ok() ? 1 : 0), "what was allocated is counted", in.DebugString());
  return reply;
}
absl::StatusOr<v1::DeallocateResponse> Handle(const v1::DeallocateRequest& in) {
  OneSession one;
  v1::AllocateRequest before;
  before.set_pod("f");
  before.set_node("m");
  Require(extender::Allocate(one.Addressed(before), kNow, one.store()).ok(), "a pod is allocated", in.pod());
  auto reply = extender::Deallocate(one.Addressed(in), kNow, one.store());
  Require(Closed(one)->allocated() == (reply.ok() && in.pod() == "f" ? 0 : 1), "what is taken back is not counted",
          in.DebugString());
  return reply;
}
absl::StatusOr<v1::CloseSessionResponse> Handle(const v1::CloseSessionRequest& in) {
  OneSession one;
  auto reply = extender::CloseSession(one.Addressed(in), kNow, one.store());
  Require(one.store().Sessions(kNow).empty() == reply.ok(), "a session that is closed is gone", in.DebugString());
  return reply;
}
absl::StatusOr<v1::ListSessionsResponse> Handle(const v1::ListSessionsRequest& in) {
  OneSession one;
  return extender::ListSessions(in, kNow, {&one.store()});
}

template <class Names>
bool Holds(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
void RequireGood(const v1::JobEnqueueableRequest&, const v1::JobEnqueueableResponse& reply, const std::string& shown) {
  Require((reply.vote() == v1::VOTE_REJECT) == !reply.why().empty(), "who is kept out is told why", shown);
}
void RequireGood(const v1::JobReadyRequest&, const v1::JobReadyResponse& reply, const std::string& shown) {
  Require(reply.ready() == reply.why().empty(), "who is not ready is told why", shown);
}
void RequireGood(const v1::PredicateRequest&, const v1::PredicateResponse& reply, const std::string& shown) {
  Require(reply.fits() == reply.why().empty(), "who does not fit is told why", shown);
}
void RequireGood(const v1::PrioritizeRequest& request, const v1::PrioritizeResponse& reply, const std::string& shown) {
  Require(reply.node().empty() || Holds(request.nodes(), reply.node()), "the best node was asked about", shown);
}
void RequireGood(const v1::VictimsRequest& request, const v1::VictimsResponse& reply, const std::string& shown) {
  Require((reply.vote() == v1::VOTE_PERMIT) == !reply.victims().empty(), "who permits names whom", shown);
  for (const std::string& victim : reply.victims())
    Require(Holds(request.offered(), victim), "who goes was offered", shown);
}
void RequireGood(const v1::CloseSessionRequest&, const v1::CloseSessionResponse& reply, const std::string& shown) {
  Require(reply.elsewhere() <= reply.allocated(), "what is elsewhere was allocated", shown);
}
void RequireGood(const v1::ListSessionsRequest& request, const v1::ListSessionsResponse& reply,
                 const std::string& shown) {
  Require(reply.sessions_size() == (request.caller().empty() || request.caller() == "fuzz" ? 1 : 0),
          "sessions are those of the caller", shown);
}
void RequireGood(const v1::JobEnqueuedRequest&, const v1::JobEnqueuedResponse&, const std::string&) {}
void RequireGood(const v1::QueueOverusedRequest&, const v1::QueueOverusedResponse&, const std::string&) {}
void RequireGood(const v1::AllocateRequest&, const v1::AllocateResponse&, const std::string&) {}
void RequireGood(const v1::DeallocateRequest&, const v1::DeallocateResponse&, const std::string&) {}

// As the service reads them: counted, parsed, handled.
template <class In>
void TryBytes(absl::string_view bytes) {
  if (!extender::CheckEntries(bytes, *In::descriptor(), kMaxEntries).ok()) return;
  In in;
  if (!in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  const auto reply = Handle(in), again = Handle(in);
  const std::string shown = in.Utf8DebugString();
  Require(reply.status() == again.status() && (!reply.ok() || reply->SerializeAsString() == again->SerializeAsString()),
          "the same request is answered the same", shown);
  if (!reply.ok()) {
    const absl::string_view message = reply.status().message();
    Require((absl::IsInvalidArgument(reply.status()) || absl::IsResourceExhausted(reply.status()) ||
             absl::IsNotFound(reply.status())) &&
                absl::StrContains(message, ": "),
            "a refusal names the field", reply.status().ToString());
    Require(message.size() <= 4'000, "a refusal is short", message);
    Require(std::none_of(message.begin(), message.end(),
                         [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }),
            "a refusal is no terminal's", message);
    return;
  }
  RequireGood(in, *reply, absl::StrCat(shown, reply->Utf8DebugString()));
  ++came_out;
}

// An object of a cluster: told of, told of again, and gone, with the books in order after each.
void TryObject(absl::string_view json) {
  const absl::StatusOr<extender::Fact> fact = extender::FactOf(json, "object", extender::kDefaultScheduler);
  if (!fact.ok()) {
    Require(absl::IsInvalidArgument(fact.status()) && absl::StartsWith(fact.status().message(), "object"),
            "a refusal names the object", fact.status().ToString());
    return;
  }
  model::Cluster cluster;
  extender::Tell(*fact, cluster);
  const std::uint64_t version = cluster.version();
  extender::Tell(*fact, cluster);
  Require(cluster.Audit().empty(), "the books are in order", json);
  Require(!std::holds_alternative<model::PodFacts>(*fact) || cluster.version() == version,
          "a pod that is told of twice changes nothing", json);
  ++came_out;
}

// The service's own way when the text is one; false when it begins like none.
template <class In>
bool TryText(absl::string_view text, absl::string_view method) {
  if (!absl::StartsWith(text, method)) return false;
  In in;
  pb::TextFormat::Parser parser;
  Silent silent;
  parser.RecordErrorsTo(&silent);
  if (parser.ParseFromString(std::string(text.substr(method.size())), &in)) TryBytes<In>(in.SerializeAsString());
  return true;
}

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway;
  const absl::string_view text = testutil::TextOf(data, size);
  if (testutil::TryText<v1::PlaceGangRequest>(text, "PlaceGang\n") ||
      testutil::TryText<v1::ExplainRequest>(text, "Explain\n") ||
      testutil::TryText<v1::FollowRequest>(text, "Follow\n") ||
      testutil::TryText<v1::OpenSessionRequest>(text, "OpenSession\n") ||
      testutil::TryText<v1::DecideRequest>(text, "Decide\n") ||
      testutil::TryText<v1::JobEnqueueableRequest>(text, "JobEnqueueable\n") ||
      testutil::TryText<v1::JobEnqueuedRequest>(text, "JobEnqueued\n") ||
      testutil::TryText<v1::JobReadyRequest>(text, "JobReady\n") ||
      testutil::TryText<v1::QueueOverusedRequest>(text, "QueueOverused\n") ||
      testutil::TryText<v1::PredicateRequest>(text, "Predicate\n") ||
      testutil::TryText<v1::PrioritizeRequest>(text, "Prioritize\n") ||
      testutil::TryText<v1::VictimsRequest>(text, "Victims\n") ||
      testutil::TryText<v1::AllocateRequest>(text, "Allocate\n") ||
      testutil::TryText<v1::DeallocateRequest>(text, "Deallocate\n") ||
      testutil::TryText<v1::CloseSessionRequest>(text, "CloseSession\n") ||
      testutil::TryText<v1::ListSessionsRequest>(text, "ListSessions\n"))
    return 0;
  if (absl::StartsWith(text, "Object\n")) {
    testutil::TryObject(text.substr(7));
    return 0;
  }
  testutil::TryBytes<v1::PlaceGangRequest>(text);
  testutil::TryBytes<v1::ExplainRequest>(text);
  testutil::TryBytes<v1::FollowRequest>(text);
  testutil::TryBytes<v1::OpenSessionRequest>(text);
  testutil::TryBytes<v1::DecideRequest>(text);
  testutil::TryBytes<v1::JobReadyRequest>(text);
  testutil::TryBytes<v1::PredicateRequest>(text);
  testutil::TryBytes<v1::PrioritizeRequest>(text);
  testutil::TryBytes<v1::VictimsRequest>(text);
  testutil::TryBytes<v1::AllocateRequest>(text);
  return 0;
}
