// Who knows already why a gang waits is told the same as who does not, but for what he knows: on many random clusters.
// A failure names the seed.
#include <map>
#include <optional>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "plugin/gang/schedule.h"
#include "tests/plugin/gang/carried_out.h"
#include "tests/plugin/gang/crowd.h"
#include "tests/plugin/gang/dice.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using model::Decision;
using model::Decisions;
using model::GangId;
using model::Reason;
using testutil::Crowd;
using testutil::Dice;

// Some want to be let in, some have to lie close together, or in sub-groups.
void AddToTold(Crowd& crowd, Dice& dice, const std::string& name) {
  AddToCrowd(crowd, dice, name);
  model::GangFacts gang = testutil::Gang(name, 1 + dice.Below(3));
  gang.queue = crowd.queues[static_cast<std::size_t>(dice.Below(static_cast<int>(crowd.queues.size())))];
  gang.created = testutil::At(dice.Below(50));
  if (dice.Chance(40)) {
    gang.phase = model::GangPhase::kPending;
    gang.has_min_resources = true;
    gang.min_resources = {{"cpu", 1000 * gang.min_member * (1 + dice.Below(4))}};
  }
  if (dice.Chance(10)) gang.topology = {true, dice.Below(2), ""};
  if (dice.Chance(10)) gang.sub_groups = {testutil::SubGroupsOfTask("w", 1 + dice.Below(2), 0)};
  crowd.cluster.SetGang(gang);
}

TEST(ToldProperty, OnlyWhatIsKnownIsLeftOut) {
  int left_out = 0, in_full = 0;
  for (unsigned seed = 0; seed < testutil::Worlds(3000); ++seed) {
    Dice dice(seed);
    Crowd crowd;
    MakeCrowd(crowd, dice);
    if (dice.Chance(50)) {
      model::HyperNodeFacts rack;
      rack.name = "rack";
      rack.tier = 1;
      rack.members = {{true, model::HyperNodeFacts::By::kName, "n0", {}}};
      crowd.cluster.SetHyperNode(rack);
    }
    Policy policy;
    policy.keeps_after = absl::Seconds(dice.Below(100));
    policy.place_surplus = dice.Chance(70);
    if (dice.Chance(30)) policy.overcommit_percent.reset();
    for (int i = 0; i < 10; ++i) AddToTold(crowd, dice, absl::StrCat("g", i));
    Scratch of_some, of_all;
    std::map<GangId, Reason::Kind> told;
    const auto is_told = [&](GangId gang, Reason::Kind kind) {
      const auto it = told.find(gang);
      return it != told.end() && it->second == kind;
    };
    for (int round = 0; round < 4; ++round) {
      const absl::Time now = testutil::At(100 + 2 * round);
      Decisions all = Schedule(crowd.cluster, policy, now, of_all);
      Decisions some = Schedule(crowd.cluster, policy, now, of_some, is_told);
      const Decisions decisions = all;
      ASSERT_EQ(all.size(), some.size()) << "seed " << seed << " round " << round;
      for (std::size_t i = 0; i < all.size(); ++i) {
        const bool known = all[i].reason.has_value() && is_told(all[i].gang, all[i].reason->kind);
        left_out += known && some[i] != all[i] ? 1 : 0;
        in_full += all[i].reason.has_value() && !known ? 1 : 0;
        for (Decision* const decision : {&all[i], &some[i]}) {
          if (!known || !decision->reason.has_value()) continue;
          const Reason::Kind kind = decision->reason->kind;
          decision->reason.emplace().kind = kind;
          decision->would_fit.clear();
        }
        ASSERT_EQ(some[i], all[i]) << "seed " << seed << " round " << round << " "
                                   << crowd.cluster.gang(all[i].gang).name;
      }
      testutil::CarryOut(crowd.cluster, decisions);
      PassTime(crowd, dice, /*may_move=*/false);
      for (const Decision& decision : decisions) {
        if (decision.reason.has_value() && !dice.Chance(10)) told[decision.gang] = decision.reason->kind;
      }
    }
  }
  EXPECT_GT(left_out, 5000);
  EXPECT_GT(in_full, 5000);
}

}  // namespace
}  // namespace gangway::gang
