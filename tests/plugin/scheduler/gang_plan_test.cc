// What is written about one gang, given what is written already.
#include "plugin/scheduler/gang_plan.h"

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/scheduler/group_status.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::scheduler {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testutil::At;
using testutil::Cpu;

class GangPlanTest : public ::testing::Test {
 protected:
  GangPlanTest() {
    for (const char* name : {"n1", "n2", "n3", "n4", "n5", "n6"}) cluster_.SetNode(testutil::Node(name));
    cluster_.SetGang(testutil::Gang("g", 6));
  }
  void SetPod(int index, const std::string& node = "", model::PodPhase phase = model::PodPhase::kPending) {
    model::PodFacts pod = testutil::Pod("g", "w", index, Cpu(1000));
    pod.node = node;
    pod.phase = phase;
    cluster_.SetPod(pod);
  }
  void TellNoRoom() {
    model::Reason reason;
    reason.missing = reason.min_member = 6;
    telling_.Decide(reason, true, {}, At(0));
    telling_.Advance({absl::Seconds(1), absl::Seconds(1), absl::Seconds(60)}, At(5), [] { return std::nullopt; });
  }
  kube::Plan Plan(int second = 10) {
    const model::GangId id = cluster_.FindGang("default", "g");
    const auto accepted = [this](const model::Task& task) { return accepted_ == task.name; };
    const auto written = [this](const model::Task&) { return written_; };
    const GangView view{cluster_,     id,           &group_,           telling_, accepted, written,
                        leftovers_,   At(0),        absl::Seconds(30), "id",     volumes_, std::nullopt,
                        nominations_, counts_from_, put_off_,          At(12)};
    return PlanGang(view, At(second));
  }
  // "podgroups g", "pods/binding g-w-0", of all stages.
  static std::vector<std::string> Writes(const kube::Plan& plan) {
    std::vector<std::string> out;
    for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
      for (const kube::Write& write : plan.stages[stage]) {
        out.push_back(absl::StrCat(stage, " ", std::string(write.resource->plural),
                                   write.subresource.empty() ? "" : "/", write.subresource, " ", write.name));
      }
    }
    return out;
  }
  static std::vector<std::string> Events(const kube::Plan& plan) {
    std::vector<std::string> out;
    for (const kube::EventNote& note : plan.events) out.push_back(absl::StrCat(note.reason, " ", note.message));
    return out;
  }

  model::Cluster cluster_;
  api::volcano::PodGroup group_;
  Telling telling_;
  std::optional<Leftovers> leftovers_;
  std::string accepted_, written_;
  VolumesOfGang volumes_;
  std::vector<Evictions::Nomination> nominations_;
  absl::Time counts_from_ = absl::InfinitePast();
  bool put_off_ = false;
};

using GangPlanDeathTest = GangPlanTest;

TEST_F(GangPlanDeathTest, OnlyMembersThatAreOnANodeAreDeleted) {
  SetPod(0, "n1");
  SetPod(1);
  cluster_.SetPod(testutil::Pod("other", "w", 0, Cpu(1000)));
  leftovers_.emplace();
  for (const char* const pod : {"g-w-1", "other-w-0"}) {
    leftovers_->released = {cluster_.FindTask("default", pod)};
    EXPECT_DEATH(Plan(40), "kRunning") << pod;
  }
  leftovers_->released = {cluster_.FindTask("default", "g-w-0")};
  EXPECT_THAT(Writes(Plan(40)), ::testing::Contains(HasSubstr("pods g-w-0")));
}

// It has no place for a reason that would say that the event is written.
TEST_F(GangPlanTest, OfCoschedulingsGroupTheReasonIsAnEventOnce) {
  model::GangFacts facts = testutil::Gang("c", 6);
  facts.kind = model::GangKind::kCoscheduling;
  const model::GangId id = cluster_.SetGang(facts);
  model::PodFacts pod = testutil::Pod("c", "w", 0, Cpu(1000));
  pod.gang_kind = facts.kind;
  cluster_.SetPod(pod);
  TellNoRoom();
  api::core::CoschedulingPodGroup group;
  group.status.phase = "Pending";
  const auto accepted = [](const model::Task&) { return false; };
  const auto written = [&](const model::Task&) { return written_; };
  const GangView view{cluster_,          id,   &group,  telling_, accepted, written, leftovers_, At(0),
                      absl::Seconds(30), "id", volumes_};
  const kube::Plan plan = PlanGang(view, At(10));
  const auto both = ElementsAre(HasSubstr("Unschedulable waits for 6 of 6 tasks"), HasSubstr("FailedScheduling "));
  EXPECT_THAT(Events(plan), both);
  EXPECT_EQ(plan.events[0].regarding.api_version, "scheduling.x-k8s.io/v1alpha1");
  EXPECT_THAT(Events(PlanGang(view, At(11))), both) << "a plan that was taken back has told nobody";
  written_ = ConditionText("Unschedulable", telling_.text());
  EXPECT_THAT(Events(PlanGang(view, At(12))), IsEmpty());
  written_ = "";
  EXPECT_THAT(Events(PlanGang(view, At(13))), ElementsAre(HasSubstr("FailedScheduling "))) << "of a pod made anew";
}

TEST_F(GangPlanTest, WithoutPodsToTellTheEventOfCoschedulingsGroupIsAllThereIs) {
  model::GangFacts facts = testutil::Gang("c", 6);
  facts.kind = model::GangKind::kCoscheduling;
  const model::GangId id = cluster_.SetGang(facts);
  model::PodFacts pod = testutil::Pod("c", "w", 0, Cpu(1000));
  pod.gang_kind = facts.kind;
  pod.gated = true;
  cluster_.SetPod(pod);
  TellNoRoom();
  api::core::CoschedulingPodGroup group;
  group.status.phase = "Pending";
  const auto accepted = [](const model::Task&) { return false; };
  const auto written = [](const model::Task&) { return std::string(); };
  const GangView view{cluster_,          id,   &group,  telling_, accepted, written, leftovers_, At(0),
                      absl::Seconds(30), "id", volumes_};
  EXPECT_THAT(Events(PlanGang(view, At(10))), ElementsAre(HasSubstr("Unschedulable ")));
  EXPECT_THAT(Events(PlanGang(view, At(11))), IsEmpty());
}

TEST_F(GangPlanTest, TheFirstFourNodesAreNamed) {
  group_.status.phase = "Inqueue";
  for (int i = 0; i < 6; ++i) SetPod(i, absl::StrCat("n", i / 2 + 1));
  EXPECT_THAT(Events(Plan()), ElementsAre("Scheduled 6 of 6 tasks are placed: n1 (2), n2 (2), n3 (2)"));
  for (int i = 0; i < 6; ++i) SetPod(i, absl::StrCat("n", std::min(i + 1, 4)));
  EXPECT_THAT(Events(Plan()), ElementsAre("Scheduled 6 of 6 tasks are placed: n1 (1), n2 (1), n3 (1), n4 (3)"));
  for (int i = 0; i < 6; ++i) SetPod(i, absl::StrCat("n", i + 1));
  EXPECT_THAT(Events(Plan()),
              ElementsAre("Scheduled 6 of 6 tasks are placed: n1 (1), n2 (1), n3 (1), n4 (1) and 2 more"));
  group_.status.phase = "Running";
  EXPECT_THAT(Events(Plan()), IsEmpty());
  group_.status.phase = "Unknown";
  EXPECT_THAT(Events(Plan()), IsEmpty()) << "it was placed before";
}

TEST_F(GangPlanTest, ThatItCannotBeScheduledIsAnEventOnceItsConditionSaysSo) {
  SetPod(0);
  TellNoRoom();
  written_ = ConditionText("Unschedulable", telling_.text());
  EXPECT_THAT(Events(Plan()), ElementsAre("Unschedulable " + telling_.text()));
  EXPECT_THAT(Writes(Plan()), ElementsAre("0 podgroups g"));
  EXPECT_THAT(Events(Plan()), SizeIs(1)) << "until it is written";
  api::volcano::PodGroupCondition condition;
  condition.type = "Unschedulable";
  condition.status = "True";
  condition.reason = std::string(kUnschedulableReason);
  condition.message = telling_.text();
  group_.status.phase = "Inqueue";
  group_.status.conditions.push_back(condition);
  EXPECT_THAT(Events(Plan()), IsEmpty());
  EXPECT_THAT(Writes(Plan()), IsEmpty());
}

TEST_F(GangPlanTest, PodsThatWaitForUsAreToldWhy) {
  group_.status.phase = "Inqueue";
  SetPod(0);
  model::PodFacts others = testutil::Pod("g", "w", 1, Cpu(1000)), gated = testutil::Pod("g", "w", 2, Cpu(1000));
  others.ours = false;
  gated.gated = true;
  cluster_.SetPod(others);
  cluster_.SetPod(gated);
  SetPod(3, "n1");
  SetPod(4);
  TellNoRoom();
  EXPECT_THAT(Writes(Plan()), ElementsAre("0 podgroups g", "0 pods/status g-w-0", "0 pods/status g-w-4"));
  EXPECT_THAT(Events(Plan()), ElementsAre("Unschedulable " + telling_.text(), "FailedScheduling " + telling_.text(),
                                          "FailedScheduling " + telling_.text()));
}

// Deletions that somebody waits for go before it. Where room is kept is more than telling: the next process reads it.
TEST_F(GangPlanTest, ThatPodsWaitYieldsUnlessRoomIsKeptForThem) {
  group_.status.phase = "Inqueue";
  SetPod(0);
  SetPod(1);
  TellNoRoom();
  const auto yields = [this] {
    const kube::Plan plan = Plan();
    std::vector<std::string> out;
    for (const kube::Write& write : plan.stages.at(0)) {
      if (write.yields) out.push_back(write.name);
    }
    return out;
  };
  EXPECT_THAT(yields(), ElementsAre("g", "g-w-0", "g-w-1"));
  nominations_ = {{cluster_.FindTask("default", "g-w-1"), "n1"}};
  EXPECT_THAT(yields(), ElementsAre("g", "g-w-0"));
}

TEST_F(GangPlanTest, WithoutAGroupThePodsThatWaitForUsAreTold) {
  SetPod(0);
  model::PodFacts others = testutil::Pod("g", "w", 1, Cpu(1000)), gated = testutil::Pod("g", "w", 2, Cpu(1000));
  others.ours = false;
  gated.gated = true;
  cluster_.SetPod(others);
  cluster_.SetPod(gated);
  SetPod(3, "n1");
  SetPod(4);
  const model::Gang& gang = cluster_.gang(cluster_.FindGang("default", "g"));
  const auto written = [this](const model::Task&) { return written_; };
  const auto plan_at = [&](absl::Time now) {
    return PlanWithoutGroup(cluster_, gang, "there is no such group", written, At(10), now);
  };
  EXPECT_THAT(Writes(plan_at(At(9))), IsEmpty());
  EXPECT_EQ(plan_at(At(9)).look_again, At(10));
  const kube::Plan plan = plan_at(At(10));
  ASSERT_THAT(Writes(plan), ElementsAre("0 pods/status g-w-0", "0 pods/status g-w-4"));
  for (const kube::Write& write : plan.stages[0]) EXPECT_TRUE(write.yields);
  EXPECT_THAT(Events(plan),
              ElementsAre("FailedScheduling there is no such group", "FailedScheduling there is no such group"));
}

TEST_F(GangPlanTest, ABindingIsSentUntilItIsAccepted) {
  group_.status.phase = "Inqueue";
  for (int i = 0; i < 2; ++i) {
    SetPod(i);
    cluster_.Assume(cluster_.FindTask("default", absl::StrCat("g-w-", i)), cluster_.FindNode("n1"));
  }
  EXPECT_THAT(Writes(Plan()), ElementsAre("0 pods/binding g-w-0", "0 pods/binding g-w-1"));
  accepted_ = "g-w-0";
  EXPECT_THAT(Writes(Plan()), ElementsAre("0 pods/binding g-w-1"));
}

// They say that it was let in, and that it is whole, in one write when they have arrived.
TEST_F(GangPlanTest, BindingsThatMakeAGangWholeGoAlone) {
  for (int i = 0; i < 6; ++i) {
    SetPod(i);
    cluster_.Assume(cluster_.FindTask("default", absl::StrCat("g-w-", i)), cluster_.FindNode("n1"));
  }
  accepted_ = "g-w-5";
  EXPECT_THAT(Writes(Plan()), ElementsAre("0 pods/binding g-w-0", "0 pods/binding g-w-1", "0 pods/binding g-w-2",
                                          "0 pods/binding g-w-3", "0 pods/binding g-w-4"));
  EXPECT_TRUE(Plan().stages[0][0].urgent);
  volumes_.ready = false;
  EXPECT_THAT(Writes(Plan()), ElementsAre("0 podgroups g")) << "Inqueue: volumes may take minutes";
  volumes_.ready = true;
  put_off_ = true;
  EXPECT_EQ(Writes(Plan()).front(), "0 podgroups g") << "Inqueue: an API server that fails may do so for long";
  put_off_ = false;
  for (int i = 0; i < 6; ++i) SetPod(i, "n1");
  EXPECT_THAT(Writes(Plan()), ElementsAre("0 podgroups g"));
  EXPECT_THAT(Plan().stages[0][0].body, AllOf(HasSubstr(R"("phase":"Running")"), HasSubstr(R"("type":"Scheduled")")));
}

// Whose claim has none, and the others of its gang; none of them says Unschedulable, for which nodes might be added.
TEST_F(GangPlanTest, PodsSayThatTheyAwaitVolumesWhenThatHasLasted) {
  cluster_.SetGang(testutil::Gang("g", 2));
  for (int i = 0; i < 2; ++i) {
    model::PodFacts pod = testutil::Pod("g", "w", i, Cpu(1000));
    if (i == 0) pod.wants.claims = {"default/data"};
    cluster_.SetPod(pod);
    cluster_.Assume(cluster_.FindTask("default", absl::StrCat("g-w-", i)), cluster_.FindNode("n1"));
  }
  volumes_.ready = false;
  EXPECT_THAT(Writes(Plan(11)), ElementsAre("0 podgroups g"));
  EXPECT_EQ(Plan(11).look_again, At(12));
  const kube::Plan plan = Plan(12);
  EXPECT_THAT(Writes(plan), ElementsAre("0 podgroups g", "0 pods/status g-w-0", "0 pods/status g-w-1"));
  EXPECT_THAT(plan.stages[0][1].body,
              AllOf(HasSubstr(R"("type":"PodScheduled","status":"False","reason":"Schedulable")"),
                    HasSubstr("has room on node n1; is bound when claim data has its volume")));
  EXPECT_THAT(plan.stages[0][2].body,
              HasSubstr("has room on node n1; is bound when the volumes of its gang are there"));
  written_ = ConditionText("Schedulable", "has room on node n1; is bound when the volumes of its gang are there");
  EXPECT_THAT(Writes(Plan(20)), ElementsAre("0 podgroups g", "0 pods/status g-w-0")) << "once";
  accepted_ = "g-w-0";
  EXPECT_THAT(Writes(Plan(20)), ElementsAre("0 podgroups g")) << "the API server says that it is scheduled";
}

// What more it has says nothing of a gang that is whole.
TEST_F(GangPlanTest, AGangThatIsWholeIsToldOfWhileMoreOfItIsBound) {
  for (int i = 0; i < 6; ++i) SetPod(i, "n1");
  SetPod(6);
  cluster_.Assume(cluster_.FindTask("default", "g-w-6"), cluster_.FindNode("n1"));
  EXPECT_THAT(Writes(Plan()), ElementsAre("0 podgroups g", "0 pods/binding g-w-6"));
}

TEST_F(GangPlanTest, HowManyRunIsWrittenOnceInAWhile) {
  for (int i = 0; i < 6; ++i) SetPod(i, "n1");
  counts_from_ = At(20);
  EXPECT_THAT(Writes(Plan()), ElementsAre("0 podgroups g")) << "that it is placed";
  group_.status.phase = "Running";
  group_.status.conditions.emplace_back();
  group_.status.conditions[0].type = "Scheduled";
  group_.status.conditions[0].status = "True";
  group_.status.conditions[0].reason = std::string(kScheduledReason);
  SetPod(0, "n1", model::PodPhase::kRunning);
  EXPECT_THAT(Writes(Plan()), IsEmpty());
  EXPECT_EQ(Plan().look_again, At(20));
  EXPECT_THAT(Writes(Plan(20)), ElementsAre("0 podgroups g"));
  for (int i = 0; i < 6; ++i) SetPod(i, "n1", model::PodPhase::kSucceeded);
  EXPECT_THAT(Writes(Plan()), ElementsAre("0 podgroups g")) << "its phase is another";
}

TEST_F(GangPlanTest, LeftoversAreReleasedWhenTheirTimeHasCome) {
  group_.status.phase = "Inqueue";
  SetPod(0, "n1");
  SetPod(1);
  leftovers_ = FindLeftovers(cluster_, cluster_.FindGang("default", "g"));
  TellNoRoom();
  EXPECT_EQ(Plan(29).look_again, At(30));
  EXPECT_THAT(Events(Plan(29)), ::testing::Not(::testing::Contains(HasSubstr("eleased"))));
  const kube::Plan plan = Plan(30);
  EXPECT_THAT(Writes(plan), ElementsAre("0 podgroups g", "0 pods/status g-w-1", "1 pods/status g-w-0", "2 pods g-w-0"));
  EXPECT_EQ(plan.stages[2][0].verb, kube::Verb::kDelete);
  EXPECT_THAT(Events(plan), ::testing::Contains(HasSubstr("GangReleased released 1 of 6 tasks")));
  EXPECT_THAT(plan.stages[0][0].body, HasSubstr("[g-w-0/uid-g-w-0]"));
}

// A release takes the place of that which told it.
TEST_F(GangPlanTest, AReleaseSaysHowOftenTheGangWasEvictedOfLate) {
  model::GangFacts facts = testutil::Gang("g", 6);
  facts.evictions = 3;
  facts.last_evicted = At(0);
  cluster_.SetGang(facts);
  group_.status.phase = "Inqueue";
  SetPod(0, "n1");
  SetPod(1);
  leftovers_ = FindLeftovers(cluster_, cluster_.FindGang("default", "g"));
  const auto says = [&](int second) { return Plan(second).stages[0][0].body; };
  EXPECT_THAT(says(30), HasSubstr("; evicted 3 times of late [g-w-0/uid-g-w-0]"));
  EXPECT_THAT(says(24 * 3600), ::testing::Not(HasSubstr("of late")));
}

TEST_F(GangPlanTest, LeftoversThatStayAreToldOnce) {
  group_.status.phase = "Inqueue";
  model::PodFacts pod = testutil::Pod("g", "w", 0, Cpu(1000));
  pod.node = "n1";
  pod.controlled = false;
  cluster_.SetPod(pod);
  leftovers_ = FindLeftovers(cluster_, cluster_.FindGang("default", "g"));
  EXPECT_THAT(Writes(Plan(30)), ElementsAre("0 podgroups g"));
  EXPECT_THAT(Events(Plan(30)),
              ElementsAre(HasSubstr(
                  "GangPartBound the gang did not become whole within 30s; 1 pod without a controller stays: g-w-0")));
  api::volcano::PodGroupCondition condition;
  condition.type = std::string(kGangPartBound);
  group_.status.conditions.push_back(condition);
  EXPECT_THAT(Events(Plan(31)), IsEmpty());
}

}  // namespace
}  // namespace gangway::scheduler
