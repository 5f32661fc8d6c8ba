#include "plugin/gang/queue_claims.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/gang/carry_out.h"
#include "plugin/model/reason.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::Decision;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using testutil::At;

// Four nodes of 8 cpu, of which queue `lab` may hold 8 in all, each call a round of a scheduler.
struct QueueClaimsTest : ::testing::Test {
  QueueClaimsTest() {
    testutil::AddNodes(w.cluster, 4, 8);
    w.policy.keeps_after = absl::ZeroDuration();
    w.policy.keeps_same = absl::ZeroDuration();
    w.policy.preempt = w.policy.reclaim = false;
    AddQueue("lab", "", 8);
  }
  // `cpu` 0: it may hold all.
  void AddQueue(const std::string& name, const std::string& parent, int cpu, int guarantee = 0) {
    model::QueueFacts queue = testutil::Queue(name);
    queue.parent = parent;
    if (cpu > 0) queue.capability = {{"cpu", 1000 * cpu}};
    if (guarantee > 0) queue.guarantee = {{"cpu", 1000 * guarantee}};
    w.cluster.SetQueue(queue);
  }
  // `pods` of so many cpus in the queue, let in; those that have a node run there.
  model::GangFacts& Add(const std::string& name, int pods, int cpu, const std::vector<std::string>& nodes = {},
                        int lasts_minutes = 0, const std::string& queue = "lab") {
    model::GangFacts& gang = gangs_[name] = testutil::Gang(name, pods);
    gang.queue = queue;
    gang.created = At(created_++);
    gang.was_whole = !nodes.empty();
    if (!nodes.empty()) gang.phase = model::GangPhase::kRunning;
    w.cluster.SetGang(gang);
    for (int i = 0; i < pods; ++i)
      AddPod(name, i, cpu, nodes.empty() ? "" : nodes.at(static_cast<std::size_t>(i)), lasts_minutes);
    return gang;
  }
  void AddPod(const std::string& gang, int index, int cpu, const std::string& node, int lasts_minutes = 0) {
    model::PodFacts pod = testutil::Pod(gang, "w", index, testutil::Cpu(1000 * cpu));
    if (lasts_minutes > 0) pod.lasts = absl::Minutes(lasts_minutes);
    if (!node.empty()) {
      pod.node = node;
      pod.phase = model::PodPhase::kRunning;
      if (lasts_minutes > 0) pod.ends = now_ + pod.lasts;
    }
    w.cluster.SetPod(pod);
  }
  // A PodGroup that asks to be let in, and has no pods yet.
  model::GangFacts& Ask(const std::string& name, int pods, int cpu) {
    model::GangFacts& gang = Add(name, 0, cpu);
    gang.min_member = pods;
    gang.phase = model::GangPhase::kPending;
    gang.has_min_resources = true;
    gang.min_resources = {{"cpu", 1000 * cpu * pods}};
    w.cluster.SetGang(gang);
    return gang;
  }
  void End(const std::string& gang, int pod = 0) {
    w.cluster.RemovePod("default", absl::StrCat(gang, "-w-", pod));
    if (pod == 0) w.cluster.RemoveGang("default", gang, model::GangKind::kVolcano);
  }
  // Who is placed, or let in.
  std::vector<std::string> Round() {
    std::vector<std::string> begin;
    Scratch scratch;
    const model::Decisions decisions = Schedule(w.cluster, w.policy, now_, scratch);
    reasons_.clear();
    look_again_ = absl::InfiniteFuture();
    for (const Decision& decision : decisions) {
      look_again_ = std::min(look_again_, decision.look_again);
      const std::string name = w.cluster.gang(decision.gang).name;
      if (decision.admit || !decision.placements.empty()) begin.push_back(name);
      if (decision.reason.has_value()) reasons_[name] = model::Render(*decision.reason);
      CarryOut(decision, w.cluster);
    }
    EndRound(decisions, absl::Minutes(5), now_, w.cluster);
    return begin;
  }

  testutil::World w;
  absl::Time now_ = At(100), look_again_;
  std::map<std::string, std::string> reasons_;
  std::map<std::string, model::GangFacts> gangs_;
  int created_ = 0;
};

// Before, whatever of its queue became free went to the small ones, for ever.
TEST_F(QueueClaimsTest, SmallGangsDoNotPassOneThatNeedsMostOfWhatTheirQueueMayHold) {
  Add("r0", 1, 4, {"node-000"});
  Add("r1", 1, 4, {"node-001"});
  Add("big", 2, 4);
  Add("small", 1, 4);
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(reasons_["big"],
            "waits for 2 of 2 tasks: needs cpu 8, queue lab uses 8 of 8, 8 too many; what becomes free there is kept "
            "for it until 2 pods end");
  End("r0");
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(
      reasons_["small"],
      "waits for 1 of 1 task: needs cpu 4, queue lab uses 4 of 8, and what is free of it is kept for default/big");
  EXPECT_EQ(reasons_["big"],
            "waits for 2 of 2 tasks: needs cpu 8, queue lab uses 4 of 8, 4 too many; what becomes free there is kept "
            "for it until 1 pod ends");
  End("r1");
  EXPECT_THAT(Round(), ElementsAre("big"));
  End("big", 1);
  End("big");
  EXPECT_THAT(Round(), ElementsAre("small"));
}

TEST_F(QueueClaimsTest, WhoEndsInTimePassesAndNobodyElse) {
  Add("r0", 1, 4, {"node-000"}, 60);
  Add("big", 2, 4);
  Round();
  Add("long", 1, 1, {}, 60);
  Add("short", 1, 1, {}, 59);
  Add("mute", 1, 1);
  EXPECT_THAT(Round(), ElementsAre("short"));
  EXPECT_THAT(Round(), IsEmpty());
}

TEST_F(QueueClaimsTest, BeforeItsPodsAreMadeThePodGroupSaysHowLongTheyLast) {
  Add("r0", 1, 4, {"node-000"}, 60);
  Add("big", 2, 4);
  Round();
  Ask("mute", 1, 1);
  Ask("short", 1, 1).lasts = absl::Minutes(30);
  w.cluster.SetGang(gangs_["short"]);
  EXPECT_THAT(Round(), ElementsAre("short"));
}

TEST_F(QueueClaimsTest, WhoComesBeforeItInOrderGoesBeforeIt) {
  Add("older", 1, 4);
  End("older");
  Add("r0", 1, 4, {"node-000"});
  Add("big", 2, 4);
  Round();
  w.cluster.SetPriorityClass({"high", 10});
  Add("high", 1, 2).priority_class = "high";
  w.cluster.SetGang(gangs_["high"]);
  model::GangFacts older = gangs_["older"];
  w.cluster.SetGang(older);
  AddPod("older", 0, 2, "");
  EXPECT_THAT(Round(), UnorderedElementsAre("high", "older"));
}

// Also not where with them their own queue has all that it may hold.
TEST_F(QueueClaimsTest, GangsOfOtherQueuesAreNotHeldUp) {
  AddQueue("shop", "", 12);
  AddQueue("ads", "shop", 0);
  AddQueue("maps", "shop", 0);
  AddQueue("other", "", 16);
  Add("r0", 1, 4, {"node-000"}, 0, "maps");
  Add("r1", 1, 4, {"node-001"}, 0, "maps");
  Add("r2", 3, 4, {"node-002", "node-002", "node-003"}, 0, "other");
  Add("big", 1, 6, {}, 0, "ads");
  EXPECT_THAT(Round(), IsEmpty());
  Add("elsewhere", 1, 4, {}, 0, "other");
  EXPECT_THAT(Round(), ElementsAre("elsewhere"));
}

TEST_F(QueueClaimsTest, QueuesBelowTheSameLimitLeaveItToo) {
  AddQueue("shop", "", 12);
  AddQueue("ads", "shop", 0);
  AddQueue("maps", "shop", 0);
  Add("r0", 1, 4, {"node-000"}, 0, "maps");
  Add("r1", 1, 4, {"node-001"}, 0, "maps");
  Add("big", 1, 6, {}, 0, "ads");
  Add("small", 1, 4, {}, 0, "maps");
  EXPECT_THAT(Round(), IsEmpty()) << "it deserves 6 of 12, and is the first";
  EXPECT_EQ(reasons_["small"],
            "waits for 1 of 1 task: needs cpu 4, queue shop uses 8 of 12, and what is free of it is kept for "
            "default/big");
  End("r0");
  EXPECT_THAT(Round(), ElementsAre("big"));
}

// Its own queue holds more than it deserves, so that of the other is the first.
TEST_F(QueueClaimsTest, BelowTheSameLimitWhoseTurnComesBeforeItsOwnIsNotHeldUp) {
  AddQueue("shop", "", 12);
  AddQueue("ads", "shop", 0);
  AddQueue("maps", "shop", 0);
  Add("r0", 1, 4, {"node-000"}, 0, "ads");
  Add("r1", 1, 4, {"node-001"}, 0, "ads");
  Add("big", 1, 6, {}, 0, "ads");
  EXPECT_THAT(Round(), IsEmpty());
  ASSERT_TRUE(w.cluster.gang(w.cluster.FindGang("default", "big")).claim.has_value());
  Add("first", 1, 4, {}, 0, "maps");
  EXPECT_THAT(Round(), ElementsAre("first"));
}

TEST_F(QueueClaimsTest, GuaranteesOfOthersAreALimitToo) {
  AddQueue("lab", "", 0);
  AddQueue("kept", "", 0, 24);
  Add("r0", 1, 4, {"node-000"});
  Add("big", 2, 4);
  Add("small", 1, 4);
  EXPECT_THAT(Round(), IsEmpty());
  End("r0");
  EXPECT_THAT(Round(), ElementsAre("big"));
}

// Its capability keeps it out until enough has ended; smaller ones were let in all the while.
TEST_F(QueueClaimsTest, ItIsLetInBeforeSmallerOnesThatCameLater) {
  Add("r0", 1, 4, {"node-000"});
  Add("r1", 1, 2, {"node-001"});
  Ask("big", 2, 4);
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(reasons_["big"],
            "waits for 2 of 2 tasks: needs cpu 8, queue lab uses 6 of 8, 6 too many; what becomes free there is kept "
            "for it until 2 pods end");
  End("r0");
  Ask("small", 1, 2);
  EXPECT_THAT(Round(), IsEmpty());
  End("r1");
  EXPECT_THAT(Round(), ElementsAre("big"));
  EXPECT_THAT(Round(), IsEmpty()) << "its pods are being made";
  AddPod("big", 0, 4, "");
  AddPod("big", 1, 4, "");
  EXPECT_THAT(Round(), ElementsAre("big"));
}

TEST_F(QueueClaimsTest, WhoWasLetInBeforeAndHasNoPodsYetKeepsItOutNoLonger) {
  Add("r0", 1, 4, {"node-000"});
  Ask("small", 1, 2);
  EXPECT_THAT(Round(), ElementsAre("small"));
  Ask("big", 2, 4);
  Round();
  End("r0");
  EXPECT_THAT(Round(), ElementsAre("big"));
  AddPod("small", 0, 2, "");
  AddPod("big", 0, 4, "");
  AddPod("big", 1, 4, "");
  EXPECT_THAT(Round(), ElementsAre("small")) << "which came before it";
}

TEST_F(QueueClaimsTest, PodsBeyondAMinimumLeaveIt) {
  Add("elastic", 1, 4, {"node-000"});
  Add("big", 2, 4);
  Round();
  AddPod("elastic", 1, 4, "");
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(reasons_["elastic"],
            "waits for 1 of 2 tasks: needs cpu 4, queue lab uses 4 of 8, and what is free of it is kept for "
            "default/big");
}

TEST_F(QueueClaimsTest, NothingIsClaimedForWhoWouldNotFitAnyway) {
  Add("r0", 1, 4, {"node-000"});
  Add("beyond-queue", 3, 4);
  Add("small", 1, 2);
  EXPECT_THAT(Round(), ElementsAre("small"));
  AddQueue("lab", "", 16);
  End("beyond-queue");
  Add("beyond-nodes", 1, 16);
  Add("small-2", 1, 2);
  EXPECT_THAT(Round(), ElementsAre("small-2"));
}

// Before, in a cluster where nothing else happened the others waited for an hour.
TEST_F(QueueClaimsTest, AClaimThatCannotBeMetAnyMoreIsSeenToBeSoWithinASecond) {
  w.policy.keeps_same = absl::Seconds(1);
  Add("r0", 1, 4, {"node-000"});
  Add("big", 2, 4);
  Add("small", 1, 2);
  EXPECT_THAT(Round(), IsEmpty());
  AddQueue("lab", "", 7);
  now_ += absl::Milliseconds(300);
  EXPECT_THAT(Round(), IsEmpty()) << "what was claimed is not looked at anew at each event";
  EXPECT_EQ(look_again_, At(101));
  now_ = look_again_;
  EXPECT_THAT(Round(), ElementsAre("small"));
}

TEST_F(QueueClaimsTest, WhenNobodyEndsForAnHourOthersHaveTheirTurn) {
  Add("r0", 1, 4, {"node-000"});
  Add("big", 2, 4);
  Add("small", 1, 2);
  Round();
  now_ += absl::Minutes(59);
  EXPECT_THAT(Round(), IsEmpty());
  now_ += absl::Minutes(2);
  EXPECT_THAT(Round(), ElementsAre("small"));
  Add("small-2", 1, 2);
  End("small");
  now_ += absl::Minutes(58);
  EXPECT_THAT(Round(), ElementsAre("small-2")) << "within the hour after it was given up";
  now_ += absl::Minutes(5);
  Round();
  Add("small-3", 1, 2);
  End("small-2");
  EXPECT_THAT(Round(), IsEmpty());
}

TEST_F(QueueClaimsTest, AnotherPodGroupOfTheNameHasNoneOfIt) {
  Add("r0", 1, 4, {"node-000"});
  Add("big", 2, 4);
  Round();
  ASSERT_TRUE(w.cluster.gang(w.cluster.FindGang("default", "big")).claim.has_value());
  gangs_["big"].uid = "another";
  w.cluster.SetGang(gangs_["big"]);
  EXPECT_FALSE(w.cluster.gang(w.cluster.FindGang("default", "big")).claim.has_value());
}

}  // namespace
}  // namespace gangway::gang
