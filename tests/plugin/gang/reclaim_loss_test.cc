// Whom a queue may take back from, and what it costs the other queue.
#include <limits>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/gang/reclaim.h"
#include "tests/plugin/gang/evict_world.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using testutil::Amounts;

class ReclaimLossTest : public testutil::EvictTest {
 protected:
  // What is true before anybody goes.
  struct View {
    explicit View(const ReclaimLossTest& test)
        : overlay(test.cluster),
          reclaim(overlay, test.policy, testutil::At(10)),
          victims(test.cluster, overlay.tree(), test.policy, testutil::At(10)),
          holders(test.cluster, overlay.tree(), test.policy, testutil::At(10)) {}
    Preemptor Of(const std::string& gang) {
      return FindPreemptor(overlay, overlay.cluster().FindGang("default", gang)).value_or(Preemptor());
    }
    Bundle Whole(const std::string& gang) {
      return victims.Whole(overlay.cluster().FindGang("default", gang), false).value_or(Bundle());
    }
    Bundle Gone(const std::string& gang, const Reclaim::Loss& by) {
      Bundle bundle = Whole(gang);
      for (const model::TaskId task : bundle.tasks) overlay.Release(task);
      bundle.loss = by.lack;
      return bundle;
    }
    int Levels(const std::string& gang) {
      return reclaim.EntitledLevels(overlay.cluster().gang(Of(gang).gang).queue, Of(gang).sum);
    }
    absl::Span<const Candidate> Candidates(const std::string& gang) { return reclaim.Candidates(Of(gang), holders); }
    Overlay overlay;
    Reclaim reclaim;
    Victims victims;
    Holders holders;
  };
};

// "org" deserves 8 cpu and holds 7, "lone" 2 and holds 4. With "small" of "org" gone as well, "org" would win 3 by what
// "lone" loses 2 of; with "small" spared, 1.
TEST_F(ReclaimLossTest, WhoIsWorthItOnlyBesideOneThatIsSparedStays) {
  policy.sharing = Sharing::kAsWritten;
  Node("n1", Amounts(7000, 10));
  Node("n2", Amounts(4000, 10));
  Queue("org", Amounts(8000, 20));
  Queue("a", Amounts(4000, 20), {}, "org");
  Queue("b", {}, {}, "org");
  Queue("lone", Amounts(2000));
  OneRuns("stays", "low", "b", Amounts(5000), "n1", /*evictable=*/false);
  OneRuns("small", "low", "b", Amounts(2000), "n1");
  OneRuns("large", "mid", "lone", Amounts(4000), "n2");
  Group("w", "low", 1, "a");
  Waits("w", "w-0", Amounts(4000, 1));
  EXPECT_TRUE(Evicted().empty());
  Group("w", "low", 2, "a");
  Waits("w", "w-1", Amounts(2000, 1));
  EXPECT_THAT(Evicted(), testing::ElementsAre("large", "small")) << "both are needed";
}

// Of 8, of which "q1" holds all, "q2" asks for 2: "q1" deserves 6.
TEST_F(ReclaimLossTest, WhoHoldsMoreThanIsTooMuchIsSparedUnlessMoreIsWanted) {
  Node("n1", Amounts(8000));
  for (const char* name : {"q1", "q2"}) Queue(name);
  OneRuns("large", "low", "q1", Amounts(5000), "n1");
  for (const char* name : {"one", "other", "third"}) OneRuns(name, "low", "q1", Amounts(1000), "n1");
  OneWaits("w", "low", "q2", Amounts(2000));
  View view(*this);
  const Preemptor w = view.Of("w");
  const Reclaim::Loss large = view.reclaim.LossBy(w, view.Whole("large"), {});
  EXPECT_FALSE(large.allowed) << "3 would be lost for 2";
  EXPECT_EQ(large.refused_up_to, 3.0 / 8);
  EXPECT_EQ(view.reclaim.MostGain(w.sum), 2.0 / 8);
  const Reclaim::Loss one = view.reclaim.LossBy(w, view.Whole("one"), {});
  EXPECT_TRUE(one.allowed);
  EXPECT_EQ(one.lack, 0);
  std::vector<Bundle> chosen = {view.Gone("one", one)};
  EXPECT_FALSE(view.reclaim.LossBy(w, view.Whole("large"), chosen).allowed);
  chosen.push_back(view.Gone("other", one));
  for (const char* name : {"large", "third"}) {
    const Reclaim::Loss loss = view.reclaim.LossBy(w, view.Whole(name), chosen);
    EXPECT_FALSE(loss.allowed) << name;
    EXPECT_EQ(loss.refused_up_to, std::numeric_limits<double>::infinity())
        << name << ": no more than is deserved is left, whatever is wanted";
  }
}

// "team" beside "mates" in "dept", which is beside "shop".
struct ReclaimLevelsTest : ReclaimLossTest {
  ReclaimLevelsTest() {
    policy.sharing = Sharing::kAsWritten;
    Node("n1", Amounts(20'000), 20);
    Queue("dept", Amounts(6000));
    Queue("team", Amounts(3000), {}, "dept");
    Queue("mates", Amounts(3000), {}, "dept");
    Queue("shop", Amounts(4000));
  }
};

TEST_F(ReclaimLevelsTest, MoreIsEntitledAtFewerLevels) {
  OneRuns("of-mates", "low", "mates", Amounts(4000), "n1");
  OneRuns("of-shop", "low", "shop", Amounts(6000), "n1");
  OneWaits("two", "low", "team", Amounts(2000));
  OneWaits("three", "low", "team", Amounts(3000));
  OneWaits("four", "low", "team", Amounts(4000));
  View view(*this);
  EXPECT_EQ(view.Levels("two"), 3) << "of its own, of team, and of dept";
  EXPECT_EQ(view.Levels("three"), 2) << "dept would hold 7 of 6";
  EXPECT_EQ(view.Levels("four"), 0);
  EXPECT_EQ(view.Candidates("two").size(), 2u);
  EXPECT_EQ(view.Candidates("three").size(), 1u);
  EXPECT_TRUE(view.Candidates("four").empty());
}

// "dept" holds all GPUs that it deserves and would win cpu alone; once its "mates" have lost them, GPUs as well.
TEST_F(ReclaimLevelsTest, WhoMayNotGoAloneMayBesideOthersOfAnotherLevel) {
  Node("n1", Amounts(20'000, 0, {{testutil::kGpu, 10}}));
  Queue("dept", Amounts(6000, 0, {{testutil::kGpu, 2}}));
  Queue("team", Amounts(3000, 0, {{testutil::kGpu, 1}}), {}, "dept");
  Queue("shop", Amounts(2000));
  OneRuns("of-mates", "low", "mates", Amounts(0, 0, {{testutil::kGpu, 2}}), "n1");
  OneRuns("of-shop", "low", "shop", Amounts(3000), "n1");
  OneWaits("w", "low", "team", Amounts(1000, 0, {{testutil::kGpu, 1}}));
  View view(*this);
  const Preemptor w = view.Of("w");
  EXPECT_FALSE(view.reclaim.LossBy(w, view.Whole("of-shop"), {}).allowed) << "2 of 20 cpu for 1";
  const Reclaim::Loss of_mates = view.reclaim.LossBy(w, view.Whole("of-mates"), {});
  ASSERT_TRUE(of_mates.allowed);
  EXPECT_TRUE(view.reclaim.LossBy(w, view.Whole("of-shop"), {view.Gone("of-mates", of_mates)}).allowed)
      << "for 1 of 20 cpu and 1 of 10 GPUs";
}

}  // namespace
}  // namespace gangway::gang
