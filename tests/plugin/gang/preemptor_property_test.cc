// What few looks find of a gang whose minimum is alike is what all of them find: on many random clusters, over what
// becomes of them. A failure names the seed.
#include "plugin/gang/preemptor.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "plugin/gang/alike_minimum.h"
#include "plugin/gang/schedule.h"
#include "tests/plugin/gang/carried_out.h"
#include "tests/plugin/gang/crowd.h"
#include "tests/plugin/gang/dice.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using model::Cluster;
using model::GangId;
using testutil::Crowd;
using testutil::Dice;

struct Seen {
  int same = 0, forbid = 0, some_forbid = 0, partly_there = 0;
};

bool SomePreempt(const Cluster& cluster, const model::Gang& gang, bool preempt) {
  for (const model::TaskId id : gang.tasks) {
    if (cluster.task(id).status == model::TaskStatus::kPending && cluster.task(id).preempts == preempt) return true;
  }
  return false;
}

void ExpectTheSame(const Cluster& cluster, const Policy& policy, Seen& seen) {
  Overlay overlay(cluster, constraint::AllKinds(), policy.packing);
  for (const GangId id : cluster.waiting()) {
    const model::Gang& gang = cluster.gang(id);
    const std::optional<AlikeMinimum> needs = FindAlikeMinimum(overlay, gang);
    if (!needs.has_value()) continue;
    const std::optional<Preemptor> few = PreemptorOf(overlay, id, *needs);
    if (!few.has_value()) {
      EXPECT_TRUE(SomePreempt(cluster, gang, true) && SomePreempt(cluster, gang, false)) << gang.name;
      ++seen.some_forbid;
      continue;
    }
    const std::optional<Preemptor> all = FindPreemptor(overlay, id);
    ASSERT_TRUE(all.has_value()) << gang.name << " wants nothing";
    EXPECT_EQ(few->preempts, all->preempts) << gang.name;
    EXPECT_EQ(few->count, all->count) << gang.name;
    EXPECT_EQ(few->by_shape, all->by_shape) << gang.name;
    EXPECT_TRUE(*few == *all) << gang.name;
    ++seen.same;
    seen.forbid += few->preempts ? 0 : 1;
    seen.partly_there += gang.ready() > 0 ? 1 : 0;
  }
}

TEST(PreemptorProperty, FewLooksFindWhatAllDo) {
  Seen seen;
  for (unsigned seed = 0; seed < testutil::Worlds(2000) && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Dice dice(seed);
    Crowd crowd;
    MakeCrowd(crowd, dice);
    crowd.wants.push_back(dice.Chance(50) ? model::Wants() : testutil::Cpu(500));
    crowd.cluster.SetPriorityClass({"never", 7, false, /*preempts=*/false});
    Policy policy;
    policy.preempt = policy.reclaim = true;
    for (int i = 0; i < 8; ++i) {
      AddToCrowd(crowd, dice, absl::StrCat("g", i));
      if (!dice.Chance(10)) continue;
      model::GangFacts never = testutil::Gang(absl::StrCat("g", i), 1 + dice.Below(3));
      never.priority_class = "never";
      crowd.cluster.SetGang(never);
    }
    Scratch scratch;
    for (int round = 0; round < 3; ++round) {
      ExpectTheSame(crowd.cluster, policy, seen);
      testutil::CarryOut(crowd.cluster, Schedule(crowd.cluster, policy, testutil::At(100 + 2 * round), scratch));
      PassTime(crowd, dice, /*may_move=*/false);
    }
  }
  EXPECT_GT(seen.same, 10'000);
  EXPECT_GT(seen.forbid, 100);
  EXPECT_GT(seen.some_forbid, 100);
  EXPECT_GT(seen.partly_there, 10);
}

}  // namespace
}  // namespace gangway::gang
