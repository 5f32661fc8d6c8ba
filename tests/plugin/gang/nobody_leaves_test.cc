// Why nobody leaves for a gang whose queue holds less than its share.
#include "plugin/gang/nobody_leaves.h"

#include <optional>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/plugin/gang/evict_world.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using testutil::Amounts;
using testutil::At;
using testutil::CapacityTest;
using testutil::kGpu;
using Why = NobodyLeaves::Why;

// Four gangs of one queue have all of four nodes, one each; "wants" of another asks for half as much as one of them.
struct NobodyLeavesTest : testutil::EvictTest {
  NobodyLeavesTest() {
    Queue("lab");
    for (int i = 0; i < 4; ++i) {
      Node(absl::StrCat("n", i), Amounts(2000));
      Set(i);
    }
    OneWaits("wants", "low", "default", Amounts(1000));
  }
  void Set(int i, bool evictable = true, int started = -600) {
    const std::string name = absl::StrCat("g", i);
    Group(name, "low", 1, "lab");
    model::PodFacts pod = PodOf(name, name, Amounts(2000), absl::StrCat("n", i));
    pod.evictable = evictable;
    pod.started = At(started);
    pod.labels = {{"name", name}};
    cluster.SetPod(pod);
  }
  std::optional<NobodyLeaves> ForWants() const {
    return WhyNobodyLeaves(cluster, policy, At(10), cluster.FindGang("default", "wants"));
  }
};

TEST_F(NobodyLeavesTest, EachGangIsCountedByWhatKeepsIt) {
  Set(0, /*evictable=*/false);
  Set(1, /*evictable=*/true, /*started=*/5);
  model::QueueFacts lab = testutil::Queue("lab");
  lab.min_runtime = absl::Minutes(1);
  cluster.SetQueue(lab);
  cluster.SetBudget({"default", "kept", {{"name", model::Op::kIn, {"g2", "g3"}}}, 0});
  EXPECT_TRUE(Evicted().empty());
  NobodyLeaves told{Why::kNoneGoes, 4};
  told.never = told.later = 1;
  told.kept_by_budget = 2;
  EXPECT_EQ(ForWants(), told);
  lab.reclaimable = false;
  cluster.SetQueue(lab);
  told = {Why::kNoneGoes, 4};
  told.kept_by_queue = 4;
  EXPECT_EQ(ForWants(), told);
}

TEST_F(NobodyLeavesTest, SomeCouldGoAndThatIsNotEnough) {
  cluster.SetPod(PodOf("wants", "wants", Amounts(3000)));
  EXPECT_TRUE(Evicted().empty());
  NobodyLeaves told{Why::kNoneGoes, 4};
  told.could_go = 4;
  EXPECT_EQ(ForWants(), told) << "no node is that large";
}

TEST_F(NobodyLeavesTest, NobodyIsLookedForWhereNobodyMayBe) {
  policy.reclaim = false;
  EXPECT_EQ(ForWants(), NobodyLeaves{Why::kNothingIsTakenBack});
  policy.reclaim = true;
  model::PodFacts polite = PodOf("wants", "wants", Amounts(1000));
  polite.preempts = false;
  cluster.SetPod(polite);
  EXPECT_EQ(ForWants(), NobodyLeaves{Why::kEvictsNever});
}

// The other three nodes are free, and too small for what is wanted.
TEST_F(NobodyLeavesTest, NobodyHoldsMoreThanItsShare) {
  for (int i = 1; i < 4; ++i) cluster.RemovePod("default", absl::StrCat("g", i));
  for (int i = 1; i < 4; ++i) cluster.RemoveGang("default", absl::StrCat("g", i));
  cluster.SetPod(PodOf("wants", "wants", Amounts(3000)));
  EXPECT_EQ(ForWants(), NobodyLeaves{Why::kNobodyIsAbove});
}

TEST_F(NobodyLeavesTest, NothingIsSaidWhereItHasNoShareToLack) {
  cluster.SetPod(PodOf("wants", "wants", Amounts(6000)));
  EXPECT_EQ(ForWants(), std::nullopt) << "with that its queue would hold more than its share";
  for (int i = 0; i < 4; ++i) cluster.RemovePod("default", absl::StrCat("g", i));
  cluster.SetPod(PodOf("wants", "wants", Amounts(3000)));
  EXPECT_EQ(ForWants(), std::nullopt) << "nobody else holds anything";
}

TEST_F(CapacityTest, AGangWhoseQueueWouldLoseMoreStays) {
  Node("n8", Amounts(4000, 8, {{kGpu, 1}}));
  Queue("q19", {{kGpu, 1}});
  Queue("q20", Amounts(2000, 2));
  OneRuns("a", "low", "q19", Amounts(4000, 4, {{kGpu, 1}}), "n8");
  OneWaits("b", "low", "q20", Amounts(1000, 1));
  NobodyLeaves told{Why::kNoneGoes, 1};
  told.dear = 1;
  EXPECT_EQ(WhyNobodyLeaves(cluster, policy, At(10), cluster.FindGang("default", "b")), told);
}

}  // namespace
}  // namespace gangway::gang
