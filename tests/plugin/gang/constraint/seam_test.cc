// A constraint that the table does not have: pods of a shape go to zones of their own. What it says reaches placement,
// search and explanation though nothing there knows of it, and a pod that is placed changes what other rows take.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/kept_room.h"
#include "plugin/gang/place.h"
#include "plugin/gang/preemptor.h"
#include "plugin/gang/search.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::constraint {
namespace {

using gang::Overlay;
using gang::Scratch;
using model::Cluster;
using model::Row;
using model::ShapeId;
using ::testing::Contains;
using ::testing::SizeIs;
using testutil::Cpu;
using testutil::Node;

int ZoneOf(const Cluster& cluster, Row row) { return cluster.node_name(row).front() - 'a'; }

class Zones final : public State {
 public:
  explicit Zones(const Cluster& cluster) : cluster_(cluster) {}
  void Add(Row row, const model::Shape&, int pods) override {
    if (row == model::kNone) return;
    counts_[ZoneOf(cluster_, row)] += pods;
  }
  void Remove(Row row, const model::Shape& shape, int pods) override { Add(row, shape, -pods); }
  int In(int zone) const {
    const auto it = counts_.find(zone);
    return it == counts_.end() ? 0 : it->second;
  }

 private:
  const Cluster& cluster_;
  std::map<int, int> counts_;
};

constexpr CountedPhrase kZoneHasOne("is in a zone that has one", "are in zones that have one", "所在区域已有一个");

class OnePerZone final : public Constraint {
 public:
  OnePerZone(const Cluster& cluster, const Zones& zones) : cluster_(cluster), zones_(zones) {}
  int Copies(Row row) const override { return zones_.In(ZoneOf(cluster_, row)) == 0 ? 1 : 0; }
  Changes changes() const override { return Changes::kBeyond; }
  void Explain(absl::Span<const Refusal> refused, model::RoleReason& reason) const override {
    const int nodes = static_cast<int>(refused.size());
    reason.AddHindrance("zones", nodes, kZoneHasOne(nodes));
  }

 private:
  const Cluster& cluster_;
  const Zones& zones_;
};

std::unique_ptr<Constraint> AskOnePerZone(const Placed& placed, const State* state, const model::Shape&) {
  return std::make_unique<OnePerZone>(placed.cluster(), static_cast<const Zones&>(*state));
}
std::unique_ptr<State> BeginZones(const Cluster& cluster) { return std::make_unique<Zones>(cluster); }

std::vector<Kind> KindsWithZones() {
  std::vector<Kind> kinds(AllKinds().begin(), AllKinds().end());
  kinds.insert(kinds.end() - 1, Kind{"zones", 8, AskOnePerZone, BeginZones});
  return kinds;
}

// Three zones of two nodes each, with room for two pods on each node.
class SeamTest : public ::testing::Test {
 protected:
  SeamTest() {
    cluster.SetQueue(testutil::Queue("default"));
    for (const char zone : {'a', 'b', 'c'}) {
      for (int i = 0; i < 2; ++i) cluster.SetNode(Node(absl::StrCat(std::string(1, zone), i), 2));
    }
  }
  // Placements by zone, and the reason where there is none.
  std::multiset<int> Place(int min_member, int tasks, std::string* reason = nullptr) {
    testutil::AddGang(cluster, "g", min_member, tasks, 1000);
    Overlay overlay(cluster, kinds);
    gang::GangPlacement placement(overlay, scratch, policy, cluster.FindGang("default", "g"));
    const bool placed = placement.PlaceMinimum();
    if (placed) {
      const gang::KeptRoom kept(overlay, {}, policy.keep_budget);
      while (placement.wants_more() && placement.PlaceOneMore(kept)) {
      }
    }
    model::Decision decision;
    placement.Finish(decision);
    std::multiset<int> zones;
    for (const model::Placement& p : decision.placements) zones.insert(ZoneOf(cluster, p.row));
    if (reason != nullptr && decision.reason.has_value()) *reason = model::Render(*decision.reason);
    return zones;
  }
  Cluster cluster;
  std::vector<Kind> kinds = KindsWithZones();
  gang::Policy policy;
  Scratch scratch;
};

TEST_F(SeamTest, AGangIsPlacedTaskByTask) { EXPECT_EQ(Place(3, 3), (std::multiset<int>{0, 1, 2})); }

TEST_F(SeamTest, WhatIsBeyondTheMinimumIsHeldToIt) {
  std::string reason;
  EXPECT_EQ(Place(2, 4, &reason), (std::multiset<int>{0, 1, 2}));
  EXPECT_EQ(
      reason,
      "waits for 1 of 4 tasks: w needs cpu 1, memory 100M; with 3 placed, 6 nodes are in zones that have one, 0 fit");
}

TEST_F(SeamTest, MoreThanThereAreZonesIsExplained) {
  std::string reason;
  EXPECT_THAT(Place(4, 4, &reason), SizeIs(0));
  EXPECT_EQ(
      reason,
      "waits for 1 of 4 tasks: w needs cpu 1, memory 100M; with 3 placed, 6 nodes are in zones that have one, 0 fit");
}

// What another call's overlay counted is forgotten.
TEST_F(SeamTest, TheNextCallBeginsAnew) {
  scratch.Begin(cluster);
  EXPECT_THAT(Place(3, 3), SizeIs(3));
  scratch.End();
  scratch.Begin(cluster);
  EXPECT_THAT(Place(3, 3), SizeIs(3));
  scratch.End();
}

// Who says nothing of other pods may be kept off by any of them.
TEST_F(SeamTest, RoomThatIsKeptIsKeptFromOthersWhereverTheyGo) {
  testutil::AddGang(cluster, "g", 1, 1, 1000);
  testutil::AddGang(cluster, "other", 1, 1, 500);
  const model::Shape& other = cluster.shape(cluster.task(cluster.FindTask("default", "other-w-0")).shape);
  const auto leaves = [&](const Overlay& overlay, Row row) {
    const gang::KeptRoom kept(overlay, {{cluster.FindGang("default", "g"), gang::Lacking::kTime}}, policy.keep_budget);
    EXPECT_FALSE(kept.empty());
    return kept.Leaves(row, other);
  };
  for (Row row = 0; row < cluster.rows(); ++row) {
    EXPECT_FALSE(leaves(Overlay(cluster, kinds), row)) << row;
    EXPECT_TRUE(leaves(Overlay(cluster), row)) << row;
  }
}

TEST_F(SeamTest, OthersMayUnsettleWhoIsPlaced) {
  testutil::AddGang(cluster, "g", 1, 1, 1000);
  const ShapeId shape = cluster.task(cluster.FindTask("default", "g-w-0")).shape;
  EXPECT_TRUE(Overlay(cluster, kinds).AsksOf(shape).UnsettledBy(cluster.shape(shape)));
  EXPECT_FALSE(Overlay(cluster).AsksOf(shape).UnsettledBy(cluster.shape(shape)));
}

// So what was in vain for some is tried again for more.
TEST_F(SeamTest, MoreDoNotFitLess) {
  testutil::AddGang(cluster, "g", 2, 2, 1000);
  const auto more_fit_less = [&](Overlay overlay) {
    const auto preemptor = gang::FindPreemptor(overlay, cluster.FindGang("default", "g"));
    EXPECT_TRUE(preemptor.has_value());
    return preemptor.has_value() && preemptor->more_fit_less;
  };
  EXPECT_FALSE(more_fit_less(Overlay(cluster, kinds)));
  EXPECT_TRUE(more_fit_less(Overlay(cluster)));
}

// One that knows where alone its pods may go, and is asked of no other row.
class Listed final : public Constraint {
 public:
  explicit Listed(const std::vector<Row>& rows) : rows_(rows) {}
  int Copies(Row row) const override {
    EXPECT_THAT(rows_, Contains(row));
    return kAnyNumber;
  }
  const std::vector<Row>* Among() const override { return &rows_; }
  void Explain(absl::Span<const Refusal>, model::RoleReason&) const override {}

 private:
  const std::vector<Row>& rows_;
};

std::unique_ptr<Constraint> AskListed(const Placed&, const State*, const model::Shape&) {
  static const std::vector<Row> rows = {1, 4};
  return std::make_unique<Listed>(rows);
}

TEST_F(SeamTest, OnlyRowsThatMayBeAllowedAreLookedAt) {
  testutil::AddGang(cluster, "g", 3, 3, 1000);
  kinds = {AllKinds().begin(), AllKinds().end()};
  kinds.insert(kinds.begin(), Kind{"listed", 8, AskListed});
  const Overlay overlay(cluster, kinds);
  scratch.Begin(cluster);
  const ShapeId shape = cluster.task(cluster.FindTask("default", "g-w-0")).shape;
  EXPECT_EQ(scratch.Fit(overlay, shape).copies(), 4);
  scratch.End();
}

TEST_F(SeamTest, TheSearchLooksAnewAtEachRow) {
  testutil::AddGang(cluster, "g", 3, 3, 1000);
  Overlay overlay(cluster, kinds);
  const ShapeId shape = cluster.task(cluster.FindTask("default", "g-w-0")).shape;
  gang::SearchGroup group{shape, 3, {}};
  for (Row row = 0; row < cluster.rows(); ++row) group.rows.push_back(row);
  const auto found = gang::SearchPlacement(overlay, {group}, 1000);
  ASSERT_THAT(found, SizeIs(1));
  std::set<int> zones;
  for (const auto& [row, count] : found[0]) {
    EXPECT_EQ(count, 1);
    zones.insert(ZoneOf(cluster, row));
  }
  EXPECT_THAT(zones, SizeIs(3));
  group.count = 4;
  EXPECT_THAT(gang::SearchPlacement(overlay, {group}, 1000), SizeIs(0));
}

}  // namespace
}  // namespace gangway::constraint
