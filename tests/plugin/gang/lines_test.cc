#include "plugin/gang/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/gang/alike_minimum.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using ::testing::ElementsAre;

class LinesTest : public ::testing::Test {
 protected:
  model::GangId Add(const std::string& name, int created) {
    model::GangFacts gang = testutil::Gang(name, 1);
    gang.created = testutil::At(created);
    w_.cluster.SetGang(gang);
    return w_.cluster.FindGang("default", name);
  }
  const Lines::Line& LineOf(model::GangId gang) const { return lines_.lines().at(w_.cluster.gang(gang).queue); }
  testutil::World w_;
  Lines lines_;
};

TEST_F(LinesTest, ThoseWhoNeedTheSameShareANeed) {
  const model::GangId a = Add("a", 2), b = Add("b", 1), c = Add("c", 0);
  lines_.Waits(w_.cluster, a, {7, 2}, false);
  lines_.Waits(w_.cluster, b, {7, 2}, false);
  lines_.Waits(w_.cluster, c, {7, 3}, false);
  ASSERT_EQ(lines_.needs().size(), 2u);
  EXPECT_EQ(lines_.needs()[0].gangs, 2);
  EXPECT_EQ(lines_.needs()[0].created, testutil::At(1)) << "of the first of them";
  EXPECT_EQ(lines_.NeedOf(a), lines_.NeedOf(b));
  lines_.Waits(w_.cluster, a, {7, 3}, false);  // the newest answer counts
  EXPECT_EQ(lines_.NeedOf(a), lines_.NeedOf(c));
  EXPECT_EQ(lines_.needs()[0].gangs, 1);
  lines_.Waits(w_.cluster, b, {7, 3}, /*beside_kept=*/true);
  EXPECT_EQ(lines_.needs().size(), 3u) << "beside nodes that are kept it is another need";
  lines_.Leave(b);
  EXPECT_FALSE(lines_.Knows(b));
  EXPECT_EQ(lines_.needs()[2].gangs, 0);
}

TEST_F(LinesTest, WhoWaitsForMoreOrForItselfHasNoNeedOfItsOwn) {
  const model::GangId a = Add("a", 0), b = Add("b", 0);
  lines_.WaitsForMore(a);
  lines_.NeedsOfAny(7, 1, false);
  lines_.WaitsForItself(b);
  EXPECT_TRUE(lines_.HangsOnMore(a));
  EXPECT_FALSE(lines_.HangsOnMore(b));
  EXPECT_TRUE(lines_.Knows(b));
  EXPECT_EQ(lines_.NeedOf(a), -1);
  EXPECT_EQ(lines_.NeedOf(b), -1);
  ASSERT_EQ(lines_.needs().size(), 1u);
  EXPECT_FALSE(lines_.needs()[0].listed);
}

TEST_F(LinesTest, WhoChangedTakesItsPlaceAnew) {
  const model::GangId a = Add("a", 0), b = Add("b", 1), c = Add("c", 2);
  lines_.SetLine(w_.cluster.gang(a).queue, {a, b});
  lines_.Enter(w_.cluster, w_.policy, c);
  EXPECT_THAT(LineOf(a), ElementsAre(a, b, c));
  Add("c", -1);
  lines_.Enter(w_.cluster, w_.policy, c);
  EXPECT_THAT(LineOf(a), ElementsAre(c, a, b));
  model::GangFacts elsewhere = testutil::Gang("b", 1);
  elsewhere.queue = "other";
  w_.cluster.SetGang(elsewhere);
  lines_.Enter(w_.cluster, w_.policy, b);
  EXPECT_THAT(LineOf(a), ElementsAre(c, a));
  EXPECT_THAT(LineOf(b), ElementsAre(b));
  lines_.Leave(c);
  EXPECT_THAT(LineOf(a), ElementsAre(a));
}

// Its number may be another one's by now.
TEST_F(LinesTest, AnotherGangOfTheSameNumberDoesNotWaitAsBefore) {
  const model::GangId a = Add("a", 0);
  lines_.Waits(w_.cluster, a, {7, 2}, false);
  EXPECT_TRUE(lines_.WaitsAsBefore(w_.cluster, a, {7, 2}));
  EXPECT_FALSE(lines_.WaitsAsBefore(w_.cluster, a, {7, 1}));
  EXPECT_FALSE(lines_.WaitsAsBefore(w_.cluster, a, {8, 2}));
  w_.cluster.RemoveGang("default", "a");
  ASSERT_EQ(Add("b", 0), a);
  EXPECT_FALSE(lines_.WaitsAsBefore(w_.cluster, a, {7, 2}));
}

}  // namespace
}  // namespace gangway::gang
