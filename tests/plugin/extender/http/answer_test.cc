#include "plugin/extender/http/answer.h"

#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/extender/session/decode_questions.h"
#include "plugin/extender/session/decode_session.h"
#include "tests/plugin/extender/session/recordings.h"
#include "tests/plugin/model/cluster_builder.h"
#include "tests/testing/status_matchers.h"

namespace gangway::extender {
namespace {

using ::testing::HasSubstr;
using testutil::Recorded;
using testutil::Recording;

std::string Body(Verb verb, absl::string_view body, const SessionPlan* plan, const AnswerOptions& options = {}) {
  const absl::StatusOr<Answer> answer = AnswerVerb(verb, body, plan, options);
  GW_EXPECT_OK(answer);
  return answer.ok() ? answer->body : "";
}

std::shared_ptr<const SessionPlan> PlanOf(absl::string_view recording) {
  model::Cluster cluster;
  GW_EXPECT_OK(DecodeSession(Recorded(recording).body, {}, cluster));
  gang::Scratch scratch;
  return SessionPlan::Make(cluster, {}, absl::FromUnixSeconds(1'795'000'000), scratch);
}

// Without a plan every recorded request is answered so that the scheduler does what it would do without us.
class NeutralAnswerTest : public ::testing::TestWithParam<Recording> {};
TEST_P(NeutralAnswerTest, IsWhatTheSchedulerWouldDoWithoutUs) {
  const std::map<std::string, std::string> neutral = {
      {"onSessionOpen", "{}"},
      {"onSessionClose", "{}"},
      {"predicate", R"({"status":"","code":0})"},
      {"prioritize", R"({"nodeScore":{},"errorMessage":""})"},
      {"preemptable", R"({"status":0,"victims":[]})"},
      {"reclaimable", R"({"status":0,"victims":[]})"},
      {"queueOverused", R"({"overused":false})"},
      {"jobEnqueueable", R"({"status":0})"},
      {"jobEnqueued", "{}"},
      {"jobReady", R"({"status":true})"},  // in every recording the job has its minimum
      {"allocateFunc", R"({"errorMessage":""})"},
      {"deallocateFunc", R"({"errorMessage":""})"},
  };
  const std::optional<Verb> verb = VerbOfPath("/" + GetParam().verb);
  ASSERT_TRUE(verb.has_value());
  EXPECT_EQ(Body(*verb, GetParam().body, nullptr), neutral.at(GetParam().verb));
}
INSTANTIATE_TEST_SUITE_P(AllRecordings, NeutralAnswerTest, ::testing::ValuesIn(testutil::AllRecordings()),
                         [](const auto& info) {
                           std::string name = info.param.file.substr(0, info.param.file.find('.'));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Two gangs of four pods of 9 cpu, of which a node of 16 takes one, on six nodes: by sums there is room for both.
TEST(AnswerTest, OfTwoGangsTheOneThatHasNoRoomIsKeptOut) {
  const auto plan = PlanOf("onSessionOpen-5");
  EXPECT_EQ(Body(Verb::kJobEnqueueable, Recorded("jobEnqueueable-2").body, plan.get()), R"({"status":0})");   // ga
  EXPECT_EQ(Body(Verb::kJobEnqueueable, Recorded("jobEnqueueable-3").body, plan.get()), R"({"status":-1})");  // gb
}

TEST(AnswerTest, APodGoesWhereItsGangIsPlaced) {
  const auto plan = PlanOf("onSessionOpen-6");
  EXPECT_EQ(plan->placed(), 4);
  int fits = 0;
  for (int i = 5; i <= 8; ++i) {  // ga-w-0 on four of the six nodes
    const std::string body = Recorded(absl::StrCat("predicate-", i)).body;
    const auto question = DecodePredicate(body);
    const std::string answer = Body(Verb::kPredicate, body, plan.get());
    if (plan->NodeOf(question->task.uid) == question->node) {
      EXPECT_EQ(answer, R"({"status":"","code":0})");
      ++fits;
    } else {
      EXPECT_THAT(answer, HasSubstr("{\"status\":\"gangway: its gang is placed with this pod on node-00"));
      EXPECT_TRUE(absl::EndsWith(answer, "\",\"code\":2}")) << answer;
    }
  }
  EXPECT_EQ(fits, 1) << "the four nodes that were recorded are among the six that the pod could have";
  const auto question = DecodePrioritize(Recorded("prioritize-6").body);
  EXPECT_EQ(Body(Verb::kPrioritize, Recorded("prioritize-6").body, plan.get()),
            absl::StrCat(R"({"nodeScore":{")", plan->NodeOf(question->task.uid), R"(":1000000},"errorMessage":""})"));
  // gb has no room; scored is nothing, and that nodes are null is no error
  EXPECT_EQ(Body(Verb::kPrioritize, Recorded("prioritize-5").body, plan.get()),
            R"({"nodeScore":{},"errorMessage":""})");
}

// Where high may evict low.
void AddNodeAndClasses(model::Cluster& cluster) {
  cluster.SetQueue(testutil::Queue("default"));
  testutil::AddNodes(cluster, 1);
  for (const auto& [name, value] : {std::pair("low", 10), std::pair("high", 1000)}) {
    model::PriorityClassFacts facts;
    facts.name = name;
    facts.value = value;
    cluster.SetPriorityClass(facts);
  }
}

// Of a plan that evicts whom the recording offers: they are echoed byte by byte.
TEST(AnswerTest, VictimsAreEchoedWhole) {
  const std::string body = Recorded("preemptable-3").body;
  const auto question = DecodeVictims(body);
  GW_ASSERT_OK(question);
  model::Cluster cluster;
  AddNodeAndClasses(cluster);
  const std::string& job = question->evictor.job;
  model::GangFacts high = testutil::Gang(job.substr(job.find('/') + 1), 1), low = testutil::Gang("low", 1);
  high.ns = job.substr(0, job.find('/'));
  high.priority_class = "high";
  low.priority_class = "low";
  low.phase = model::GangPhase::kRunning;
  cluster.SetGang(high);
  cluster.SetGang(low);
  model::PodFacts victim = testutil::Pod("low", "w", 0, testutil::Cpu(9000)),
                  evictor = testutil::Pod(high.name, "w", 0, testutil::Cpu(9000));
  victim.uid = question->uids[0];
  victim.node = "node-000";
  victim.phase = model::PodPhase::kRunning;
  evictor.ns = high.ns;
  evictor.uid = question->evictor.uid;
  cluster.SetPod(victim);
  cluster.SetPod(evictor);
  gang::Scratch scratch;
  const auto plan = SessionPlan::Make(cluster, {}, testutil::At(10), scratch);
  EXPECT_EQ(Body(Verb::kPreemptable, body, plan.get()),
            absl::StrCat(R"({"status":1,"victims":[)", question->bodies[0], "]}"));
  EXPECT_EQ(Body(Verb::kPreemptable, body, plan.get()), Recorded("preemptable-3").reply);
  EXPECT_EQ(Body(Verb::kReclaimable, body, plan.get()), R"({"status":-1,"victims":[]})");
}

// Volcano's client takes no reply of more than 10 MiB.
TEST(AnswerTest, OfVictimsAsManyAreEchoedAsAReplyHolds) {
  model::Cluster cluster;
  AddNodeAndClasses(cluster);
  model::GangFacts high = testutil::Gang("ga", 1), low = testutil::Gang("low", 1);
  high.priority_class = "high";
  low.priority_class = "low";
  low.phase = model::GangPhase::kRunning;
  cluster.SetGang(high);
  cluster.SetGang(low);
  cluster.SetPod(testutil::Pod("ga", "w", 0, testutil::Cpu(16'000)));
  std::string body = R"({"evictor":{"UID":"uid-ga-w-0","Job":"default/ga"},"evictees":[)";
  for (int i = 0; i < 4; ++i) {
    model::PodFacts victim = testutil::Pod("low", "w", i, testutil::Cpu(4000));
    victim.node = "node-000";
    victim.phase = model::PodPhase::kRunning;
    cluster.SetPod(victim);
    absl::StrAppend(&body, i == 0 ? "" : ",", R"({"UID":")", victim.uid, R"(","padding":")",
                    std::string(std::size_t{3} << 20, 'x'), "\"}");
  }
  body += "]}";
  gang::Scratch scratch;
  const auto plan = SessionPlan::Make(cluster, {}, testutil::At(10), scratch);
  ASSERT_EQ(plan->Find("default/ga")->victims.size(), 4u);
  const std::string reply = Body(Verb::kPreemptable, body, plan.get());
  EXPECT_LE(reply.size(), std::size_t{10} << 20);
  EXPECT_GT(reply.size(), std::size_t{6} << 20);
  EXPECT_TRUE(absl::EndsWith(reply, "\"}]}"));
}

TEST(AnswerTest, AGangThatTheWatchHasNotShownYetIsKeptOut) {
  const auto plan = PlanOf("onSessionOpen-4");  // no jobs
  const std::string body = Recorded("jobEnqueueable-1").body;
  EXPECT_EQ(Body(Verb::kJobEnqueueable, body, plan.get()), R"({"status":0})");
  std::vector<std::string> asked;
  bool too_new = true;
  const AnswerOptions options{.keep_out_unknown = [&](absl::string_view job) {
    asked.emplace_back(job);
    return too_new;
  }};
  EXPECT_EQ(Body(Verb::kJobEnqueueable, body, plan.get(), options), R"({"status":-1})");
  EXPECT_EQ(asked, std::vector<std::string>{*DecodeJobName(body)});
  too_new = false;
  EXPECT_EQ(Body(Verb::kJobEnqueueable, body, plan.get(), options), R"({"status":0})");
  EXPECT_EQ(Body(Verb::kJobEnqueueable, body, nullptr, options), R"({"status":0})");
}

TEST(AnswerTest, AJobIsReadyWhenItHasItsMinimum) {
  const std::string body = R"({"job":{"UID":"a/b","MinAvailable":2,"Tasks":{"u":{"Status":2},"v":{"Status":)";
  EXPECT_EQ(Body(Verb::kJobReady, body + "2}}}}", nullptr), R"({"status":true})");
  EXPECT_EQ(Body(Verb::kJobReady, body + "1}}}}", nullptr), R"({"status":false})");
}

TEST(AnswerTest, ABodyThatIsWrongIsRefused) {
  for (std::size_t i = 0; i < kVerbs; ++i) {
    const auto verb = static_cast<Verb>(i);
    if (verb == Verb::kOnSessionOpen || verb == Verb::kOnSessionClose) continue;  // the first is decoded elsewhere
    for (const char* body : {"", "{", "[]", "7", "{\"job\":7,\"task\":7,\"queue\":7,\"evictor\":7}", "{}"})
      EXPECT_FALSE(AnswerVerb(verb, body, nullptr).ok()) << VerbName(verb) << " " << body;
  }
}

}  // namespace
}  // namespace gangway::extender
