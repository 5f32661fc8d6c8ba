#include "plugin/extender/http/verb_handler.h"

#include <future>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/extender/http/serving.h"
#include "tests/plugin/extender/http/volcano_client.h"
#include "tests/plugin/extender/http/volcano_session.h"
#include "tests/plugin/extender/session/recordings.h"
#include "tests/plugin/model/cluster_builder.h"
#include "tests/testing/raw_socket.h"

namespace gangway::extender {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using testutil::BrokenPromises;
using testutil::Recorded;
using testutil::RunSession;
using testutil::SessionOutcome;
using testutil::VolcanoClient;

VerbOptions Of(Mode mode) {
  VerbOptions options;
  options.mode = mode;
  options.budget = absl::Seconds(30);  // on a busy machine
  return options;
}

std::string Head(absl::string_view path, std::size_t length, absl::string_view method = "POST") {
  return absl::StrCat(method, " ", path, " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ", length, "\r\n\r\n");
}

std::string Ask(int port, absl::string_view path, absl::string_view body, absl::string_view method = "POST") {
  testutil::RawSocket socket(static_cast<std::uint16_t>(port));
  EXPECT_TRUE(socket.Send(absl::StrCat(Head(path, body.size(), method), body)));
  return socket.ReadAnswer();
}

// A watch whose plan is always this one.
LivePlan Live(const std::shared_ptr<const SessionPlan>& plan, const bool* up_to_date = nullptr) {
  return {[plan](LivePlan::Then then) { then(plan, false); }, [plan] { return plan; },
          [up_to_date] { return up_to_date == nullptr || *up_to_date; }};
}

TEST(VerbHandlerTest, RepliesHaveALengthAndTheConnectionGoesOn) {
  testutil::Serving serving(Of(Mode::kSteer));
  testutil::RawSocket socket(static_cast<std::uint16_t>(serving.port()));
  const std::string body = Recorded("predicate-1").body;
  for (int i = 0; i < 3; ++i) {
    socket.Send(absl::StrCat(Head("/volcano/predicate", body.size()), body));
    EXPECT_THAT(socket.ReadAnswer(),
                AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("Content-Type: application/json"),
                      HasSubstr("Content-Length: 22\r\n"), Not(HasSubstr("chunked")),
                      HasSubstr("\r\n\r\n{\"status\":\"\",\"code\":0}")));
  }
}

// The code; 0: the loop must be asked. By a thread that is not the loop's.
int CodeAtOnce(testutil::Serving& serving, const std::string& verb, const std::string& body) {
  kube::Request request;
  request.method = "POST";
  request.path = absl::StrCat("/x/", verb);
  request.body = body;
  const auto reply = serving.handler().AnswerAtOnce(request, kube::HttpCaller());
  return reply.has_value() ? reply->code : 0;
}

TEST(VerbHandlerTest, ALookUpIsAnsweredWhereItWasRead) {
  testutil::Serving serving(Of(Mode::kFull));
  EXPECT_THAT(Ask(serving.port(), "/x/onSessionOpen", Recorded("onSessionOpen-2").body), StartsWith("HTTP/1.1 200"));
  for (const char* const verb : {"predicate", "prioritize", "jobEnqueueable", "queueOverused", "preemptable"})
    EXPECT_EQ(CodeAtOnce(serving, verb, Recorded(absl::StrCat(verb, "-1")).body), 200) << verb;
  EXPECT_EQ(CodeAtOnce(serving, "predicate", "{}"), 400);
  EXPECT_THAT(serving.metrics().Expose(),
              HasSubstr("gangway_extender_verb_duration_seconds_count{verb=\"predicate\"} 2"));
}

TEST(VerbHandlerTest, WhatTakesLongerIsTheLoops) {
  testutil::Serving full(Of(Mode::kFull));
  EXPECT_EQ(CodeAtOnce(full, "onSessionOpen", Recorded("onSessionOpen-2").body), 0);
  EXPECT_EQ(CodeAtOnce(full, "predicate", std::string((64u << 10) + 1, ' ')), 0);
  EXPECT_EQ(CodeAtOnce(full, "nothing", "{}"), 0);
  VerbOptions options = Of(Mode::kLight);
  std::shared_ptr<const SessionPlan> plan;
  options.live = Live(plan);
  testutil::Serving light(std::move(options));
  EXPECT_EQ(CodeAtOnce(light, "jobEnqueueable", Recorded("jobEnqueueable-1").body), 0);
  EXPECT_EQ(CodeAtOnce(light, "predicate", Recorded("predicate-1").body), 200);
}

TEST(VerbHandlerTest, WhatIsNoVerbIsSaid) {
  testutil::Serving serving(Of(Mode::kFull));
  EXPECT_THAT(Ask(serving.port(), "/x/guess", "{}"),
              AllOf(StartsWith("HTTP/1.1 404"), HasSubstr("there is no verb /x/guess")));
  EXPECT_THAT(Ask(serving.port(), "/x/predicate", "", "GET"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(Ask(serving.port(), "/x/predicate", R"({"task":{"UID":7}})"),
              AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("task.UID: must be a string")));
  EXPECT_THAT(Ask(serving.port(), "/x/onSessionOpen", R"({"Jobs":7})"),
              AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("Jobs: must be an object")));
}

TEST(VerbHandlerTest, ABodyThatIsTooLargeIsRefusedBeforeItIsRead) {
  kube::HttpFrontOptions front = testutil::Serving::Front();
  front.max_body_bytes = 1000;
  testutil::Serving serving(Of(Mode::kSteer), front);
  testutil::RawSocket socket(static_cast<std::uint16_t>(serving.port()));
  socket.Send(Head("/x/onSessionOpen", std::size_t{1} << 40));
  EXPECT_THAT(socket.ReadAnswer(), StartsWith("HTTP/1.1 413"));
}

class SessionTest : public ::testing::TestWithParam<Mode> {};
INSTANTIATE_TEST_SUITE_P(SteerAndFull, SessionTest, ::testing::Values(Mode::kSteer, Mode::kFull), [](const auto& info) {
  return std::string(kModeNames[static_cast<std::size_t>(info.param)]);
});

// What its configuration asks, and whether a gang is ready, which it does not.
testutil::AskedVerbs VerbsOf(Mode mode) { return mode == Mode::kFull ? testutil::kFullVerbs : testutil::AskedVerbs(); }

// Two gangs of four, of which one has room.
TEST_P(SessionTest, AGangIsBoundWholeWhereThePlanHasIt) {
  testutil::Serving serving(Of(GetParam()));
  VolcanoClient client({.port = serving.port()});
  const std::string body = Recorded("onSessionOpen-6").body;
  const SessionOutcome outcome = RunSession(client, body, VerbsOf(GetParam()));
  EXPECT_THAT(outcome.bound, SizeIs(4));
  EXPECT_THAT(outcome.held, IsEmpty());
  EXPECT_THAT(BrokenPromises(body, outcome), IsEmpty());
  EXPECT_THAT(serving.metrics().Expose(),
              AllOf(HasSubstr("gangway_extender_verbs_total{result=\"ok\",verb=\"onSessionOpen\"} 1"),
                    HasSubstr("gangway_extender_verbs_total{result=\"fits\",verb=\"predicate\"} 4"),
                    HasSubstr("gangway_extender_verbs_total{result=\"ready\",verb=\"jobReady\"} 1"),
                    HasSubstr("gangway_extender_budget_exceeded_total{verb=\"onSessionOpen\"} 0"),
                    HasSubstr("gangway_extender_sessions_without_plan_total{why=\"torn\"} 0")));
}

// Without us the second gang takes nodes for a while and gives them back; with us no call of it allocates.
TEST_P(SessionTest, AGangWithoutRoomTakesNothingMeanwhile) {
  testutil::Serving serving(Of(GetParam()));
  VolcanoClient client({.port = serving.port()});
  RunSession(client, Recorded("onSessionOpen-6").body, VerbsOf(GetParam()));
  const std::string metrics = serving.metrics().Expose();
  EXPECT_THAT(metrics, HasSubstr("gangway_extender_verbs_total{result=\"ok\",verb=\"allocateFunc\"} 4"));
  EXPECT_THAT(metrics, Not(HasSubstr("result=\"ok\",verb=\"deallocateFunc\"")));
}

TEST_P(SessionTest, TheGangThatHasNoRoomIsNotLetIn) {
  testutil::Serving serving(Of(GetParam()));
  VolcanoClient client({.port = serving.port()});
  const SessionOutcome outcome = RunSession(client, Recorded("onSessionOpen-5").body, VerbsOf(GetParam()));
  ASSERT_THAT(outcome.let_in, SizeIs(1));
  EXPECT_THAT(outcome.let_in[0], StartsWith("x-cont/ga-"));
  EXPECT_THAT(serving.Sessions(), HasSubstr("\"sessions\":[]"));
}

TEST_P(SessionTest, SessionsOfOneSchedulerGoOnFromEachOther) {
  testutil::Serving serving(Of(GetParam()));
  VolcanoClient client({.port = serving.port()});
  const std::string body = Recorded("onSessionOpen-6").body;
  std::vector<std::map<std::string, std::string>> bound;
  for (int i = 0; i < 3; ++i) {
    const SessionOutcome outcome = RunSession(client, body, VerbsOf(GetParam()));
    bound.emplace_back(outcome.bound.begin(), outcome.bound.end());
    EXPECT_THAT(bound.back(), SizeIs(4)) << i;
  }
  // Nodes were kept for the gang that had none, or what was placed and did not come to be is no more held to its nodes.
  EXPECT_TRUE(client.OpenSession(body));
  EXPECT_TRUE(bound[0] != bound[1] || absl::StrContains(serving.Sessions(), "\"pinned\":false"));
}

TEST_P(SessionTest, ASessionIsShownWhileItIsOpen) {
  testutil::Serving serving(Of(GetParam()));
  VolcanoClient client({.port = serving.port()});
  EXPECT_TRUE(client.OpenSession(Recorded("onSessionOpen-6").body));
  EXPECT_THAT(serving.Sessions(),
              AllOf(HasSubstr("\"caller\":\"127.0.0.1\""), HasSubstr("\"state\":\"planned\""), HasSubstr("\"nodes\":6"),
                    HasSubstr("\"placed\":4"), HasSubstr("\"verdict\":\"waits\"")));
  client.CloseSession();
  EXPECT_THAT(serving.Sessions(), HasSubstr("\"sessions\":[]"));
}

// A session does not tell HyperNodes: a gang that must lie in one is left to the scheduler, unless we know some.
TEST_P(SessionTest, AGangOfOneHyperNodeLiesInOneWhereSomeAreKnown) {
  std::string body = Recorded("onSessionOpen-6").body;
  const std::string spec = R"("spec":{"minMember":4,)";
  ASSERT_THAT(body, HasSubstr(spec));
  body = absl::StrReplaceAll(
      body, {{spec, R"("spec":{"networkTopology":{"mode":"hard","highestTierAllowed":1},"minMember":4,)"}});
  {
    testutil::Serving serving(Of(GetParam()));
    VolcanoClient client({.port = serving.port()});
    EXPECT_TRUE(client.OpenSession(body));
    EXPECT_THAT(serving.Sessions(), AllOf(HasSubstr("\"verdict\":\"not judged\""), Not(HasSubstr("\"letIn\":false"))));
  }
  VerbOptions options = Of(GetParam());
  options.hyper_nodes = [] {
    std::vector<model::HyperNodeFacts> racks(2);
    for (int rack = 0; rack < 2; ++rack) {
      racks[static_cast<std::size_t>(rack)] = {absl::StrCat("rack-", rack), 1, "", {}, {}};
      for (int node = 0; node < (rack == 0 ? 2 : 4); ++node)
        racks[static_cast<std::size_t>(rack)].members.push_back(
            {true, model::HyperNodeFacts::By::kName, absl::StrCat("node-00", rack == 0 ? node : 2 + node), {}});
    }
    return racks;
  };
  testutil::Serving serving(options);
  VolcanoClient client({.port = serving.port()});
  const SessionOutcome outcome = RunSession(client, body, VerbsOf(GetParam()));
  EXPECT_THAT(outcome.bound, SizeIs(4));
  for (const auto& [pod, node] : outcome.bound) EXPECT_GE(node, "node-002") << pod;  // a node takes one member
}

// A session that arrives torn is refused, and the plan of the one before does not answer for it.
TEST_P(SessionTest, ATornSessionIsAnsweredAsWithoutUs) {
  testutil::Serving serving(Of(GetParam()));
  VolcanoClient client({.port = serving.port(), .ignorable = true});
  const std::string body = Recorded("onSessionOpen-6").body;
  EXPECT_TRUE(client.OpenSession(body));
  EXPECT_FALSE(client.Predicate(testutil::TaskIn(body, "ga-w-0"), R"({"Name":"nowhere"})").fits);
  EXPECT_TRUE(client.OpenSession(body.substr(0, body.size() / 2)));  // ignorable
  EXPECT_TRUE(client.Predicate(testutil::TaskIn(body, "ga-w-0"), R"({"Name":"nowhere"})").fits);
  EXPECT_THAT(serving.Sessions(), HasSubstr("is cut off"));
}

// A plan that takes longer than the budget: the opening is answered, and verbs as without a plan until it is there.
TEST_P(SessionTest, AnOpeningIsAnsweredWithinTheBudget) {
  VerbOptions options = Of(GetParam());
  options.budget = absl::ZeroDuration();
  std::promise<void> answered;
  options.before_plan = [wait = answered.get_future().share()] { wait.wait(); };
  testutil::Serving serving(options);
  VolcanoClient client({.port = serving.port()});
  EXPECT_TRUE(client.OpenSession(testutil::LargeSession()));
  answered.set_value();
  EXPECT_TRUE(testutil::Eventually([&] { return absl::StrContains(serving.Sessions(), "\"state\":\"planned\""); }));
  EXPECT_THAT(serving.metrics().Expose(),
              HasSubstr("gangway_extender_budget_exceeded_total{verb=\"onSessionOpen\"} 1"));
}

// Six pods of one gang on as many nodes, and one of two pods that goes before it, or whose queue has nothing yet.
struct Room {
  std::string name;
  std::string body;
  testutil::AskedVerbs asked;
  std::string verb;
};
class RoomIsMadeTest : public ::testing::TestWithParam<Room> {};
INSTANTIATE_TEST_SUITE_P(
    Each, RoomIsMadeTest,
    ::testing::Values(
        Room{"Preempt", testutil::SessionThatPreempts(), {.overused = true, .preempt = true}, "preemptable"},
        Room{"Reclaim", testutil::SessionThatReclaims(), {.overused = true, .reclaim = true}, "reclaimable"}),
    [](const auto& info) { return info.param.name; });

TEST_P(RoomIsMadeTest, ThoseWhomThePlanEvictsGoAndNobodyElse) {
  testutil::Serving serving(Of(Mode::kFull));
  VolcanoClient client({.port = serving.port()});
  const SessionOutcome outcome = RunSession(client, GetParam().body, GetParam().asked);
  EXPECT_THAT(outcome.bound, IsEmpty());
  ASSERT_THAT(outcome.evicted, SizeIs(2));
  ASSERT_THAT(outcome.pipelined, SizeIs(2)) << "the gang has its minimum once they are gone";
  std::set<std::string> left, taken;
  for (const auto& [pod, node] : outcome.evicted) left.insert(node);
  for (const auto& [pod, node] : outcome.pipelined) taken.insert(node);
  EXPECT_EQ(left, taken);
  const std::string permitted = absl::StrCat("verbs_total{result=\"permit\",verb=\"", GetParam().verb, "\"} 2\n");
  EXPECT_THAT(serving.metrics().Expose(), HasSubstr(permitted)) << "it is the plan that lets them go";
  // Each is asked about where the plan has it.
  EXPECT_TRUE(client.OpenSession(GetParam().body));
  EXPECT_THAT(serving.Sessions(), AllOf(HasSubstr("\"verdict\":\"makes room\""), HasSubstr("\"victims\":2")));
}

// The same without us: whom the scheduler's own plugins allow.
TEST_P(RoomIsMadeTest, ByThePlanOfModeSteerNobodyIsHeldBack) {
  testutil::Serving serving(Of(Mode::kSteer));
  VolcanoClient client({.port = serving.port()});
  EXPECT_THAT(RunSession(client, GetParam().body, GetParam().asked).evicted, SizeIs(2));
  EXPECT_THAT(serving.metrics().Expose(),
              HasSubstr(absl::StrCat("verbs_total{result=\"abstain\",verb=\"", GetParam().verb, "\"}")));
}

// The queue that holds all of the cluster, and gets nothing by the plan.
TEST(VerbHandlerTest, OfAQueueThatHasEnoughNothingIsLookedAt) {
  testutil::Serving serving(Of(Mode::kFull));
  VolcanoClient client({.port = serving.port()});
  const SessionOutcome outcome = RunSession(client, testutil::SessionThatReclaims(), testutil::kFullVerbs);
  EXPECT_THAT(outcome.overused, ::testing::ElementsAre("q1"));
}

TEST(VerbHandlerTest, MoreSessionsThanCanBePlannedHaveNoPlan) {
  VerbOptions options = Of(Mode::kSteer);
  options.max_planning = 0;
  testutil::Serving serving(options);
  VolcanoClient client({.port = serving.port()});
  const std::string body = Recorded("onSessionOpen-6").body;
  const SessionOutcome outcome = RunSession(client, body);
  EXPECT_TRUE(outcome.extender_there);
  EXPECT_THAT(outcome.bound, SizeIs(4));  // Volcano's own gang plugin sees to that
  EXPECT_THAT(BrokenPromises(body, outcome), IsEmpty());
  EXPECT_THAT(serving.metrics().Expose(), HasSubstr("gangway_extender_sessions_without_plan_total{why=\"busy\"} 1"));
}

TEST(VerbHandlerTest, InModeLightTheLivePlanAnswersAndSessionsAreNotRead) {
  model::Cluster cluster;
  cluster.SetQueue(testutil::Queue("default"));
  testutil::AddNodes(cluster, 4);
  for (const char* name : {"ga", "gb"}) {
    model::GangFacts gang = testutil::Gang(name, 4);
    gang.phase = model::GangPhase::kPending;
    gang.min_task_member = {{"w", 4}};
    gang.has_min_resources = true;
    gang.min_resources = {{"cpu", 36'000}};
    cluster.SetGang(gang);
  }
  gang::Scratch scratch;
  const auto plan = SessionPlan::Make(cluster, {}, testutil::At(0), scratch);
  VerbOptions options = Of(Mode::kLight);
  bool up_to_date = true;
  options.live = Live(plan, &up_to_date);
  testutil::Serving serving(options);
  VolcanoClient client({.port = serving.port()});
  EXPECT_EQ(client.JobEnqueueable(R"({"UID":"default/ga"})"), 0);
  EXPECT_EQ(client.JobEnqueueable(R"({"UID":"default/gb"})"), -1);
  EXPECT_EQ(client.JobEnqueueable(R"({"UID":"default/new"})"), -1);  // the watch shows it in a moment
  serving.thread().Run([&] { up_to_date = false; });
  EXPECT_EQ(client.JobEnqueueable(R"({"UID":"default/new"})"), 0);
  EXPECT_TRUE(client.JobReady(R"({"UID":"default/ga","MinAvailable":0})"));
  EXPECT_TRUE(client.OpenSession("no session is read"));
  EXPECT_TRUE(client.Predicate(R"({"UID":"u"})", R"({"Name":"n"})").fits);
  EXPECT_THAT(serving.Sessions(), AllOf(HasSubstr("\"mode\":\"light\""), HasSubstr("\"live\":{")));
}

// A PodGroup that our tables cannot read is never shown: its gang does not wait for ever without a word.
TEST(VerbHandlerTest, InModeLightAGangThatTheWatchNeverShowsIsLeftToTheScheduler) {
  SimulatedLoop loop(1);
  Metrics metrics;
  model::Cluster cluster;
  gang::Scratch scratch;
  const auto plan = SessionPlan::Make(cluster, {}, testutil::At(0), scratch);
  VerbOptions options = Of(Mode::kLight);
  options.live = Live(plan);
  VerbHandler handler(loop, options, metrics);
  const auto ask = [&] {
    std::string answer;
    kube::Request request;
    request.method = "POST";
    request.path = "/x/jobEnqueueable";
    request.body = R"({"job":{"UID":"default/odd"}})";
    handler.HandleRequest(std::move(request), {}, [&](kube::Response response) { answer = *response.body; });
    return answer;
  };
  EXPECT_EQ(ask(), R"({"status":-1})");
  for (int second = 1; second < 10; ++second) {
    loop.RunFor(absl::Seconds(1));
    EXPECT_EQ(ask(), R"({"status":-1})") << second;
  }
  EXPECT_THAT(handler.DebugSessions(), HasSubstr("\"unseen\":[]"));
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(ask(), R"({"status":0})");
  EXPECT_THAT(handler.DebugSessions(), HasSubstr("\"unseen\":[\"default/odd\"]"));
}

// A plan that is late: the answer is by the one before, or as without one, and is counted; what needs no plan does not
// wait for one.
TEST(VerbHandlerTest, InModeLightALatePlanIsAnsweredForAndCounted) {
  SimulatedLoop loop(1);
  Metrics metrics;
  model::Cluster cluster;
  cluster.SetQueue(testutil::Queue("default"));
  model::GangFacts gang = testutil::Gang("ga", 4);  // there is no node
  gang.phase = model::GangPhase::kPending;
  gang.min_task_member = {{"w", 4}};
  gang.has_min_resources = true;
  gang.min_resources = {{"cpu", 36'000}};
  cluster.SetGang(gang);
  gang::Scratch scratch;
  const auto last = SessionPlan::Make(cluster, {}, testutil::At(0), scratch);
  std::vector<LivePlan::Then> asked;
  VerbOptions options = Of(Mode::kLight);
  options.live = {[&](LivePlan::Then then) { asked.push_back(std::move(then)); }, [last] { return last; },
                  [] { return true; }};
  VerbHandler handler(loop, options, metrics);
  std::vector<std::string> answers;
  const auto ask = [&](std::string verb, std::string body) {
    kube::Request request;
    request.method = "POST";
    request.path = "/x/" + verb;
    request.body = std::move(body);
    handler.HandleRequest(std::move(request), {},
                          [&](kube::Response response) { answers.emplace_back(*response.body); });
  };
  ask("predicate", R"({"task":{"UID":"u"},"node":{"Name":"n"}})");
  ask("jobEnqueued", R"({"job":{"UID":"default/ga"}})");
  EXPECT_THAT(answers, SizeIs(2));
  EXPECT_THAT(asked, IsEmpty());
  ask("jobEnqueueable", R"({"job":{"UID":"default/ga"}})");
  ask("jobEnqueueable", R"({"job":{"UID":"default/ga"}})");
  EXPECT_THAT(answers, SizeIs(2));
  ASSERT_THAT(asked, SizeIs(2));
  asked[0](last, true);
  asked[1](nullptr, true);
  ASSERT_THAT(answers, SizeIs(4));
  EXPECT_EQ(answers[2], R"({"status":-1})");
  EXPECT_EQ(answers[3], R"({"status":0})");
  EXPECT_THAT(metrics.Expose(), HasSubstr("gangway_extender_budget_exceeded_total{verb=\"jobEnqueueable\"} 2"));
}

// Sixteen callers and two idle connections: others are made anew, and each answer is its own question's.
TEST(VerbHandlerTest, ManyCallersAreAnsweredEach) {
  testutil::Serving serving(Of(Mode::kFull));
  VolcanoClient client({.port = serving.port()});
  const std::string body = testutil::LargeSession();
  ASSERT_TRUE(client.OpenSession(body));
  const std::string task = testutil::TaskIn(body, "p0-0");
  std::vector<std::thread> callers;
  std::atomic<int> right = 0;
  for (int i = 0; i < 16; ++i) {
    callers.emplace_back([&] {
      for (int n = 0; n < 20; ++n) {
        if (n % 2 == 0)
          right += client.Predicate(task, R"({"Name":"node-00001"})").fits ? 1 : 0;
        else
          right += client.QueueOverused(R"({"Name":"nobody's"})") ? 0 : 1;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(right, 16 * 20);
  EXPECT_EQ(client.calls(), 16u * 20 + 1);
}

}  // namespace
}  // namespace gangway::extender
