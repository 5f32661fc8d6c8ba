#include "plugin/extender/calls/session_verbs.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/extender/objects.h"
#include "tests/plugin/extender/requests.h"
#include "tests/testing/status_matchers.h"

namespace gangway::extender {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using testutil::AddObjects;
using testutil::AddTask;
using testutil::ClusterOf;
using testutil::NodeJson;
using testutil::PodGroupJson;
using testutil::PodJson;
using testutil::QueueJson;
using testutil::StatusIs;

const char kBusyOnB[] = R"(,"nodeName":"b")";
const char kIsRunning[] = R"("phase":"Running")";
const char kHighClass[] =
    R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":100})";

v1::Gang& AddGangOf(v1::OpenSessionRequest& request, const std::string& name, int members, const std::string& cpu) {
  v1::Gang& gang = *request.add_gangs();
  gang.set_name(name);
  AddTask(gang, "w", members, cpu);
  return gang;
}

// A session, asked about by its plan; `Open` again is the caller's next one.
class SessionVerbsTest : public ::testing::Test {
 protected:
  absl::StatusOr<v1::OpenSessionResponse> TryOpen(const v1::OpenSessionRequest& request,
                                                  const std::string& caller = "test") {
    return OpenSession(request, caller, policy_, now_, store_, [] { return absl::OkStatus(); });
  }
  v1::OpenSessionResponse Open(const v1::OpenSessionRequest& request) {
    const auto opened = TryOpen(request);
    EXPECT_THAT(opened, testutil::IsOk());
    if (!opened.ok()) return {};
    session_ = opened->session();
    plan_ = *FindPlan(session_, now_, store_);
    return *opened;
  }
  v1::PredicateResponse AskPredicate(const std::string& job, const std::string& pod, const std::string& node) {
    v1::PredicateRequest request;
    request.set_job(job);
    request.set_pod(pod);
    request.set_node(node);
    return *Predicate(request, *plan_);
  }
  std::string AskPrioritize(const std::string& pod, const std::vector<std::string>& nodes) {
    v1::PrioritizeRequest request;
    request.set_pod(pod);
    for (const std::string& node : nodes) request.add_nodes(node);
    return Prioritize(request, *plan_)->node();
  }
  v1::JobEnqueueableResponse AskEnqueueable(const std::string& job) {
    v1::JobEnqueueableRequest request;
    request.set_job(job);
    return *JobEnqueueable(request, *plan_);
  }
  static v1::VictimsRequest Offer(const std::string& job, const std::vector<std::string>& offered) {
    v1::VictimsRequest request;
    request.set_job(job);
    for (const std::string& pod : offered) request.add_offered(pod);
    return request;
  }
  absl::Status Say(const std::string& pod, const std::string& node) {
    v1::AllocateRequest request;
    request.set_session(session_);
    request.set_pod(pod);
    request.set_node(node);
    return Allocate(request, now_, store_).status();
  }
  absl::StatusOr<v1::CloseSessionResponse> Close(SessionId session) {
    v1::CloseSessionRequest request;
    request.set_session(session);
    return CloseSession(request, now_, store_);
  }

  gang::Policy policy_;
  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  SessionStore store_{KeptSessions()};
  SessionId session_ = 0;
  std::shared_ptr<const SessionPlan> plan_;
};

// Of 9 cpu one fits a node of 16.
TEST_F(SessionVerbsTest, WhoIsTriedWholeTimesNodesIsBounded) {
  const auto with = [](const std::string& api_version, bool by_sums) {
    v1::OpenSessionRequest request;
    *request.mutable_cluster() = ClusterOf(1'001);
    for (int i = 0; i < 1'000; ++i)
      AddObjects(*request.mutable_cluster(),
                 absl::StrCat(R"({"apiVersion":")", api_version, R"(","kind":"PodGroup","metadata":{"name":"g)", i,
                              R"(","namespace":"default"},"spec":{"minMember":1,"minResources":{"cpu":"1"}}})"));
    request.set_by_sums(by_sums);
    return request;
  };
  EXPECT_THAT(TryOpen(with("scheduling.volcano.sh/v1beta1", false)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       StartsWith("cluster.objects: 1000 PodGroups that wait to be let in, on 1001 nodes, are more")));
  EXPECT_THAT(TryOpen(with("scheduling.volcano.sh/v1beta1", true)), testutil::IsOk());
  EXPECT_THAT(TryOpen(with("scheduling.x-k8s.io/v1alpha1", false)), testutil::IsOk()) << "Volcano does not let them in";
}

TEST_F(SessionVerbsTest, EachMemberOfAGangOfMessagesGoesToItsNodeOfThePlan) {
  v1::OpenSessionRequest request;
  *request.mutable_cluster() = ClusterOf(3);
  AddGangOf(request, "ctr", 3, "9");
  const v1::OpenSessionResponse opened = Open(request);
  ASSERT_EQ(opened.gangs_size(), 1);
  EXPECT_EQ(opened.gangs(0).job(), "default/ctr");
  EXPECT_EQ(opened.gangs(0).verdict(), "placed");
  EXPECT_TRUE(opened.gangs(0).let_in());
  EXPECT_EQ(opened.gangs(0).placed(), 3);
  const std::vector<std::string> nodes = {"node-0", "node-1", "node-2"};
  std::set<std::string> used;
  for (const char* const pod : {"default/ctr/w/0", "default/ctr/w/1", "default/ctr/w/2"}) {
    const std::string mine = AskPrioritize(pod, nodes);
    used.insert(mine);
    for (const std::string& node : nodes) {
      const v1::PredicateResponse answer = AskPredicate("default/ctr", pod, node);
      EXPECT_EQ(answer.fits(), node == mine) << pod << " on " << node;
      EXPECT_EQ(answer.why(), node == mine ? "" : "its gang is placed with this pod on " + mine);
    }
  }
  EXPECT_THAT(used, ElementsAre("node-0", "node-1", "node-2"));
}

TEST_F(SessionVerbsTest, ANodeThatIsNotOfferedIsNotPrioritized) {
  v1::OpenSessionRequest request;
  *request.mutable_cluster() = ClusterOf(1);
  AddGangOf(request, "ctr", 1, "9");
  Open(request);
  EXPECT_EQ(AskPrioritize("default/ctr/w/0", {"other", "node-0"}), "node-0");
  EXPECT_EQ(AskPrioritize("default/ctr/w/0", {"other"}), "");
  EXPECT_EQ(AskPrioritize("default/ctr/w/0", {}), "");
}

TEST_F(SessionVerbsTest, AGangWithoutRoomWaitsAndSaysWhy) {
  v1::OpenSessionRequest request;
  *request.mutable_cluster() = ClusterOf(3);
  AddGangOf(request, "ctr", 4, "9");
  const v1::OpenSessionResponse opened = Open(request);
  EXPECT_EQ(opened.gangs(0).verdict(), "waits");
  EXPECT_EQ(opened.gangs(0).placed(), 0);
  EXPECT_THAT(opened.gangs(0).why(), HasSubstr("waits for 1 of 4 tasks"));
  const v1::PredicateResponse answer = AskPredicate("default/ctr", "default/ctr/w/0", "node-0");
  EXPECT_FALSE(answer.fits());
  EXPECT_EQ(answer.why(), opened.gangs(0).why());
}

// Pods are named by their UIDs, which PodJson makes of their names.
TEST_F(SessionVerbsTest, GangsOfObjectsAreAskedAboutByUid) {
  v1::OpenSessionRequest request;
  AddObjects(*request.mutable_cluster(), NodeJson("a"), NodeJson("b"), QueueJson("default"), PodGroupJson("g", 2),
             PodJson("g-0", "g", "9"), PodJson("g-1", "g", "9"));
  EXPECT_EQ(Open(request).gangs(0).verdict(), "placed");
  const std::string first = AskPrioritize("g-0", {"a", "b"});
  EXPECT_EQ(AskPrioritize("g-1", {"a", "b"}), first == "a" ? "b" : "a");
}

const char kTwoOfNine[] = R"(,"minTaskMember":{"w":2},"minResources":{"cpu":"18","pods":"2"})";

// In sums there is room, 18 of 32 cpu; but a node of 8 takes none of 9.
TEST_F(SessionVerbsTest, AGangThatHasNoRoomWholeIsKeptOutUnlessSumsDecide) {
  v1::OpenSessionRequest request;
  for (const char* const name : {"a", "b", "c", "d"}) AddObjects(*request.mutable_cluster(), NodeJson(name, 8));
  AddObjects(*request.mutable_cluster(), QueueJson("default"), PodGroupJson("g", 2, kTwoOfNine, "Pending"));
  const v1::OpenSessionResponse opened = Open(request);
  EXPECT_FALSE(opened.gangs(0).let_in());
  EXPECT_EQ(AskEnqueueable("default/g").vote(), v1::VOTE_REJECT);
  EXPECT_THAT(AskEnqueueable("default/g").why(), HasSubstr("cpu 9"));
  request.set_by_sums(true);
  EXPECT_TRUE(Open(request).gangs(0).let_in());
  EXPECT_EQ(AskEnqueueable("default/g").vote(), v1::VOTE_ABSTAIN);
  EXPECT_EQ(AskEnqueueable("default/g").why(), "");
}

TEST_F(SessionVerbsTest, WhoIsEvictedAndForWhat) {
  v1::OpenSessionRequest request;
  AddObjects(*request.mutable_cluster(), NodeJson("b", 16), QueueJson("default"), kHighClass,
             PodGroupJson("low", 1, "", "Running"), PodJson("low-0", "low", "12", kBusyOnB, "", kIsRunning),
             PodJson("alone", "", "1", kBusyOnB, "", kIsRunning),
             PodGroupJson("g", 1, R"(,"priorityClassName":"high")"), PodJson("g-0", "g", "12"));
  const v1::OpenSessionResponse opened = Open(request);
  ASSERT_EQ(opened.gangs_size(), 2);
  EXPECT_EQ(opened.gangs(0).job(), "default/g");
  EXPECT_EQ(opened.gangs(0).verdict(), "makes_room");
  EXPECT_THAT(opened.gangs(0).victims(), ElementsAre("low-0"));
  const auto some = Preemptable(Offer("default/g", {"alone", "low-0"}), *plan_);
  GW_ASSERT_OK(some);
  EXPECT_EQ(some->vote(), v1::VOTE_PERMIT);
  EXPECT_THAT(some->victims(), ElementsAre("low-0"));
  const auto nobody = Preemptable(Offer("default/g", {"alone"}), *plan_);
  EXPECT_EQ(nobody->vote(), v1::VOTE_REJECT);
  EXPECT_THAT(nobody->victims(), IsEmpty());
  EXPECT_EQ(Reclaimable(Offer("default/g", {"low-0"}), *plan_)->vote(), v1::VOTE_REJECT);
}

TEST_F(SessionVerbsTest, AQueueThatHasAllItDeservesIsOverusedInItsPlan) {
  v1::OpenSessionRequest request;
  policy_.reclaim = false;
  AddObjects(*request.mutable_cluster(), NodeJson("b", 16), QueueJson("default"), QueueJson("other"),
             PodGroupJson("busy", 1, "", "Running"), PodJson("busy-0", "busy", "12", kBusyOnB, "", kIsRunning),
             PodGroupJson("g", 1, R"(,"queue":"other")"), PodJson("g-0", "g", "12"));
  Open(request);
  v1::QueueOverusedRequest asked;
  asked.set_queue("default");
  EXPECT_TRUE(QueueOverused(asked, *plan_)->overused());
  asked.set_queue("other");
  EXPECT_FALSE(QueueOverused(asked, *plan_)->overused());
}

// volcano: plugins/gang, JobReadyFn; the minima of tasks count only where they are not more than the whole.
TEST_F(SessionVerbsTest, AJobIsReadyWhenItHasItsMinima) {
  Open({});
  const auto ask = [&](const std::function<void(v1::JobReadyRequest&)>& edit) {
    v1::JobReadyRequest request;
    request.set_job("default/ctr");
    request.set_ready(4);
    request.set_min_member(4);
    const auto count = [](v1::MinimumCount& out, const std::string& name, int ready, int min) {
      out.set_name(name);
      out.set_ready(ready);
      out.set_min(min);
    };
    count(*request.add_tasks(), "pserver", 2, 2);
    count(*request.add_tasks(), "trainer", 2, 2);
    count(*request.add_sub_groups(), "racks", 2, 2);
    edit(request);
    const auto answer = JobReady(request, *plan_);
    if (!answer.ok()) return std::string(answer.status().message());
    return answer->ready() ? "ready" + answer->why() : answer->why();
  };
  EXPECT_EQ(ask([](auto&) {}), "ready");
  EXPECT_EQ(ask([](auto& r) { r.set_ready(3); }), "has 3 of 4 members");
  EXPECT_EQ(ask([](auto& r) { r.mutable_tasks(1)->set_ready(1); }), R"(has 1 of 2 members of task "trainer")");
  EXPECT_EQ(ask([](auto& r) { r.mutable_tasks(1)->set_ready(1), r.mutable_tasks(0)->set_min(3); }), "ready");
  EXPECT_EQ(ask([](auto& r) { r.mutable_sub_groups(0)->set_ready(1); }), R"(has 1 of 2 sub-groups of "racks")");
  EXPECT_EQ(ask([](auto& r) { r.set_ready(-1); }), "ready: must not be negative");
  EXPECT_EQ(ask([](auto& r) { r.set_min_member(-1); }), "min_member: must not be negative");
  EXPECT_EQ(ask([](auto& r) { r.mutable_tasks(1)->set_min(-1); }), "tasks[1].min: must not be negative");
  EXPECT_EQ(ask([](auto& r) { r.mutable_sub_groups(0)->set_ready(-1); }), "sub_groups[0].ready: must not be negative");
}

// A gang that waited long has nodes kept for it; who came later has its minimum and may still not start.
TEST_F(SessionVerbsTest, AJobIsNotReadyOnNodesThatAreKeptForAnother) {
  v1::OpenSessionRequest request;
  const std::string old = R"(,"creationTimestamp":"2023-11-14T20:00:00Z"})";
  std::string large = PodGroupJson("large", 2);
  large.replace(large.find(R"("namespace":"default"})") + 21, 1, old);
  AddObjects(*request.mutable_cluster(), NodeJson("a"), NodeJson("b"), QueueJson("default"),
             PodGroupJson("busy", 1, "", "Running"), PodJson("busy-0", "busy", "9", kBusyOnB, "", kIsRunning), large,
             PodJson("large-0", "large", "16"), PodJson("large-1", "large", "16"));
  EXPECT_EQ(Open(request).gangs(1).verdict(), "waits");
  AddObjects(*request.mutable_cluster(), PodGroupJson("small", 1), PodJson("small-0", "small", "9"));
  now_ += absl::Seconds(1);
  Open(request);
  v1::JobReadyRequest asked;
  asked.set_job("default/small");
  asked.set_ready(1);
  asked.set_min_member(1);
  const auto answer = JobReady(asked, *plan_);
  GW_ASSERT_OK(answer);
  EXPECT_FALSE(answer->ready());
  EXPECT_THAT(answer->why(), HasSubstr("default/large"));
}

// As stock Volcano does without an extender.
TEST_F(SessionVerbsTest, WhatThePlanDoesNotKnowIsLeftToTheScheduler) {
  v1::OpenSessionRequest request;
  *request.mutable_cluster() = ClusterOf(1);
  EXPECT_THAT(Open(request).gangs(), IsEmpty());
  EXPECT_EQ(AskEnqueueable("default/none").vote(), v1::VOTE_ABSTAIN);
  EXPECT_TRUE(AskPredicate("default/none", "p", "node-0").fits());
  EXPECT_TRUE(AskPredicate("", "p", "nowhere").fits());
  EXPECT_EQ(AskPrioritize("p", {"node-0"}), "");
  EXPECT_EQ(Preemptable(Offer("default/none", {"p"}), *plan_)->vote(), v1::VOTE_ABSTAIN);
  EXPECT_EQ(Reclaimable(Offer("default/none", {"p"}), *plan_)->vote(), v1::VOTE_ABSTAIN);
  v1::QueueOverusedRequest queue;
  queue.set_queue("none");
  EXPECT_FALSE(QueueOverused(queue, *plan_)->overused());
}

TEST_F(SessionVerbsTest, WhatIsDoneWithPodsIsCountedUntilTheSessionIsClosed) {
  v1::OpenSessionRequest request;
  *request.mutable_cluster() = ClusterOf(2);
  AddGangOf(request, "ctr", 2, "9");
  Open(request);
  const std::string first = AskPrioritize("default/ctr/w/0", {"node-0", "node-1"});
  GW_EXPECT_OK(Say("default/ctr/w/0", first));
  GW_EXPECT_OK(Say("default/ctr/w/1", first));  // not where the plan has it
  GW_EXPECT_OK(Say("other", "node-0"));
  GW_EXPECT_OK(Say("back", "node-0"));
  v1::DeallocateRequest back;
  back.set_session(session_);
  back.set_pod("back");
  GW_EXPECT_OK(Deallocate(back, now_, store_));
  const auto closed = Close(session_);
  GW_ASSERT_OK(closed);
  EXPECT_EQ(closed->allocated(), 3);
  EXPECT_EQ(closed->elsewhere(), 1);
  const auto gone = StatusIs(absl::StatusCode::kNotFound, StartsWith(absl::StrCat("session: ", session_)));
  EXPECT_THAT(Close(session_), gone);
  EXPECT_THAT(FindPlan(session_, now_, store_), gone);
  EXPECT_THAT(Say("default/ctr/w/0", "node-0"), gone);
  EXPECT_THAT(Deallocate(back, now_, store_), gone);
}

TEST_F(SessionVerbsTest, SessionsThatAreNotClosedAreForgotten) {
  Open({});
  const SessionId first = session_;
  EXPECT_THAT(FindPlan(first, now_ + absl::Minutes(2), store_), testutil::IsOk());
  EXPECT_THAT(FindPlan(first, now_ + absl::Minutes(2) + absl::Seconds(1), store_),
              StatusIs(absl::StatusCode::kNotFound));
  for (int i = 0; i < 4; ++i) Open({});
  EXPECT_THAT(FindPlan(first, now_, store_), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(FindPlan(first + 1, now_, store_), testutil::IsOk());
  for (int i = 0; i < 8; ++i) GW_ASSERT_OK(TryOpen({}, absl::StrCat("other-", i)));
  EXPECT_THAT(FindPlan(session_, now_, store_), StatusIs(absl::StatusCode::kNotFound));
}

// Who says its name is the same caller from any address: its plan is gone on from.
TEST_F(SessionVerbsTest, ACallerIsWhomItSaysOrWhereItCallsFrom) {
  v1::OpenSessionRequest request;
  request.set_caller("volcano");
  GW_ASSERT_OK(TryOpen(request, "a"));
  GW_ASSERT_OK(TryOpen({}, "b"));
  EXPECT_NE(store_.Last("volcano"), nullptr);
  EXPECT_EQ(store_.Last("a"), nullptr);
  EXPECT_NE(store_.Last("b"), nullptr);
}

TEST_F(SessionVerbsTest, WorkThatIsNotWantedAnyMoreLeavesNoSession) {
  v1::OpenSessionRequest request;
  *request.mutable_cluster() = ClusterOf(1);
  for (int wanted = 0; wanted < 3; ++wanted) {
    int looks = 0;
    const auto opened = OpenSession(request, "test", policy_, now_, store_,
                                    [&] { return looks++ < wanted ? absl::OkStatus() : absl::CancelledError("gone"); });
    EXPECT_THAT(opened, StatusIs(absl::StatusCode::kCancelled)) << wanted;
    EXPECT_THAT(store_.Sessions(now_), IsEmpty()) << wanted;
  }
}

TEST_F(SessionVerbsTest, WrongFieldsOfAnOpeningAreNamed) {
  const auto refused = [&](const std::function<void(v1::OpenSessionRequest&)>& edit) {
    v1::OpenSessionRequest request;
    *request.mutable_cluster() = ClusterOf(2);
    AddGangOf(request, "ga", 1, "1");
    AddGangOf(request, "gb", 1, "1");
    edit(request);
    const auto opened = TryOpen(request);
    EXPECT_TRUE(opened.ok() || absl::IsInvalidArgument(opened.status()));
    return opened.ok() ? std::string("opened") : std::string(opened.status().message());
  };
  EXPECT_EQ(refused([](auto&) {}), "opened");
  EXPECT_EQ(refused([](auto& r) { r.set_caller(std::string(513, 'c')); }), "caller: is longer than 512 bytes");
  EXPECT_EQ(refused([](auto& r) { r.mutable_gangs(1)->set_name(std::string(513, 'g')); }),
            "gangs[1].name: is longer than 512 bytes");
  EXPECT_EQ(refused([](auto& r) { r.mutable_gangs(1)->set_namespace_(std::string(513, 'g')); }),
            "gangs[1].namespace: is longer than 512 bytes");
  EXPECT_EQ(refused([](auto& r) { r.mutable_gangs(1)->clear_name(); }), "gangs[1].name: must not be empty");
  EXPECT_THAT(refused([](auto& r) { (*r.mutable_gangs(1)->mutable_tasks(0)->mutable_requests())["cpu"] = "much"; }),
              StartsWith(R"(gangs[1].tasks[0].requests["cpu"]: "much" is no quantity)"));
  EXPECT_THAT(refused([](auto& r) {
                for (int i = 0; i < 10; ++i) AddGangOf(r, absl::StrCat("g", i), 10'000, "1");
              }),
              StartsWith("gangs[11].tasks: with the gangs before it has 100002 members"));
  EXPECT_THAT(refused([](auto& r) { r.mutable_now()->set_nanos(-1); }), StartsWith("now"));
  EXPECT_THAT(refused([](auto& r) { AddObjects(*r.mutable_cluster(), R"({"kind":"Node","apiVersion":"v2"})"); }),
              StartsWith("cluster.objects[0]"));
  EXPECT_THAT(store_.Sessions(now_), ::testing::SizeIs(1));  // of the one that was opened
}

// Each says its gang, by name and, where two have it, by namespace.
TEST_F(SessionVerbsTest, MembersThatHaveANodeBelongToTheGangTheyName) {
  v1::OpenSessionRequest request;
  *request.mutable_cluster() = ClusterOf(1);
  AddGangOf(request, "ga", 1, "9").set_min_member(2);
  AddGangOf(request, "ga", 1, "1").set_namespace_("lab");
  AddGangOf(request, "gb", 1, "1");
  v1::Pod& pod = *request.mutable_cluster()->add_pods();
  pod.set_namespace_("default");
  pod.set_name("ga-9");
  pod.set_node("node-0");
  pod.set_gang("ga");
  pod.set_task("w");
  (*pod.mutable_requests())["cpu"] = "1";
  std::vector<std::string> placed;
  const v1::OpenSessionResponse opened = Open(request);
  for (const v1::PlannedGang& gang : opened.gangs()) placed.push_back(gang.job() + " " + gang.verdict());
  EXPECT_THAT(placed, ElementsAre("default/ga placed", "default/gb placed", "lab/ga placed"));
  pod.set_namespace_("lab");  // then one of two is missing in default
  const auto refused = TryOpen(request);
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kInvalidArgument, StartsWith("gangs[0].min_member")));
  pod.set_namespace_("other");
  EXPECT_THAT(TryOpen(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                         StartsWith(R"(cluster.pods[0].gang: there is no gang "ga")")));
  pod.clear_gang();
  EXPECT_THAT(TryOpen(request), StatusIs(absl::StatusCode::kInvalidArgument, StartsWith("cluster.pods[0].gang")));
}

TEST_F(SessionVerbsTest, MoreTasksTimesNodesThanASessionTakesAreRefusedByTheirGangs) {
  v1::OpenSessionRequest request;
  *request.mutable_cluster() = ClusterOf(1'000);
  for (int i = 0; i < 1'001; ++i) AddGangOf(request, absl::StrCat("g", i), 1, "1");
  EXPECT_THAT(TryOpen(request),
              StatusIs(absl::StatusCode::kInvalidArgument, StartsWith("gangs: 1001 tasks on 1000 nodes are more")));
}

// 1,001 PodGroups on 1,000 nodes.
TEST_F(SessionVerbsTest, MoreGangsThanCanBeTriedWholeAreRefusedUnlessSumsDecide) {
  v1::OpenSessionRequest request;
  *request.mutable_cluster() = ClusterOf(1'000);
  for (int i = 0; i < 1'001; ++i)
    AddObjects(*request.mutable_cluster(), PodGroupJson(absl::StrCat("g", i), 2, kTwoOfNine, "Pending"));
  EXPECT_THAT(TryOpen(request), StatusIs(absl::StatusCode::kInvalidArgument,
                                         StartsWith("cluster.objects: 1001 PodGroups that wait to be let in")));
  request.set_by_sums(true);
  EXPECT_THAT(TryOpen(request), testutil::IsOk());
}

TEST_F(SessionVerbsTest, WrongFieldsOfAQuestionAreNamed) {
  Open({});
  const auto wrong = [](const auto& answer, const std::string& message) {
    EXPECT_THAT(answer, StatusIs(absl::StatusCode::kInvalidArgument, message));
  };
  wrong(JobEnqueueable({}, *plan_), "job: must not be empty");
  wrong(JobEnqueued({}, *plan_), "job: must not be empty");
  wrong(JobReady({}, *plan_), "job: must not be empty");
  wrong(QueueOverused({}, *plan_), "queue: must not be empty");
  wrong(Predicate({}, *plan_), "pod: must not be empty");
  wrong(Prioritize({}, *plan_), "pod: must not be empty");
  wrong(Preemptable({}, *plan_), "job: must not be empty");
  wrong(Reclaimable({}, *plan_), "job: must not be empty");
  wrong(Allocate({}, now_, store_), "pod: must not be empty");
  wrong(Deallocate({}, now_, store_), "pod: must not be empty");
  wrong(Say("p", ""), "node: must not be empty");
  wrong(Say(std::string(513, 'p'), "n"), "pod: is longer than 512 bytes");
  v1::PredicateRequest predicate;
  predicate.set_pod("p");
  wrong(Predicate(predicate, *plan_), "node: must not be empty");
  v1::PrioritizeRequest prioritize;
  prioritize.set_pod("p");
  for (int i = 0; i <= kMaxNamesAsked; ++i) prioritize.add_nodes("n");
  wrong(Prioritize(prioritize, *plan_), "nodes: 200001 are more than one question takes, which is 200000");
  v1::VictimsRequest victims = Offer("default/g", {});
  for (int i = 0; i <= kMaxNamesAsked; ++i) victims.add_offered("p");
  wrong(Preemptable(victims, *plan_), "offered: 200001 are more than one question takes, which is 200000");
}

// Two doors: of one process all are shown, by number.
TEST(ListSessionsTest, SessionsOfAllStoresAreShownByNumber) {
  SessionStore one({.first = 10}), other;
  const absl::Time now = absl::FromUnixSeconds(1'795'000'000);
  one.Open("a", now);
  const SessionId torn = other.Open("b", now + absl::Milliseconds(250));
  other.WithoutPlan(torn, "Jobs: is cut off");
  const SessionStore* const stores[] = {&one, &other};
  const v1::ListSessionsResponse all = ListSessions({}, now, stores);
  ASSERT_EQ(all.sessions_size(), 2);
  EXPECT_EQ(all.sessions(0).session(), torn);
  EXPECT_EQ(all.sessions(0).state(), "without_plan");
  EXPECT_EQ(all.sessions(0).trouble(), "Jobs: is cut off");
  EXPECT_EQ(all.sessions(0).opened().nanos(), 250'000'000);
  EXPECT_FALSE(all.sessions(0).has_made());
  EXPECT_EQ(all.sessions(1).session(), 10u);
  EXPECT_EQ(all.sessions(1).state(), "planning");
  EXPECT_EQ(ListSessions({}, now + absl::Hours(1), stores).sessions_size(), 0) << "they were forgotten";
}

// One line for each gang that is judged otherwise than in the caller's session before.
TEST_F(SessionVerbsTest, WhatIsJudgedOtherwiseIsALineOfTheLog) {
  std::vector<std::string> lines;
  log::Options logs;
  logs.repeat_window = absl::ZeroDuration();
  logs.sink = [&](absl::string_view line) { lines.emplace_back(line); };
  log::Configure(std::move(logs));
  v1::OpenSessionRequest request;
  *request.mutable_cluster() = ClusterOf(1);
  AddGangOf(request, "large", 2, "9");
  Open(request);
  EXPECT_THAT(lines, ElementsAre(AllOf(HasSubstr("gang judged"), HasSubstr("default/large"), HasSubstr("waits"))));
  Open(request);
  EXPECT_EQ(lines.size(), 1u) << lines.back();
  *request.mutable_cluster() = ClusterOf(2);
  Open(request);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines.back(), HasSubstr("placed"));
  log::Configure({});
}

}  // namespace
}  // namespace gangway::extender
