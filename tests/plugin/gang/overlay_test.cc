#include "plugin/gang/overlay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/gang/constraint/asks.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::kCpu;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testutil::Cpu;
using testutil::Pod;
using testutil::World;

// Two nodes of 4 cpu, a queue below another, and a shape of 1 cpu with a host port.
class OverlayTest : public ::testing::Test {
 protected:
  OverlayTest() {
    testutil::AddNodes(w.cluster, 2, 4);
    model::QueueFacts below = testutil::Queue("below");
    below.parent = "default";
    w.cluster.SetQueue(below);
    model::GangFacts gang = testutil::Gang("g", 1);
    gang.queue = "below";
    w.cluster.SetGang(gang);
    queue = w.cluster.gang(w.cluster.FindGang("default", "g")).queue;
    above = w.cluster.queue(queue).parent;
    model::Wants wants = Cpu(1000);
    wants.host_ports = {{"TCP", "", 80}};
    shape = w.cluster.task(w.cluster.SetPod(Pod("g", "w", 0, wants))).shape;
    a = w.cluster.FindNode("node-000");
    b = w.cluster.FindNode("node-001");
  }
  World w;
  model::QueueId queue = model::kNone, above = model::kNone;
  model::ShapeId shape = model::kNone;
  model::Row a = model::kNone, b = model::kNone;
};

TEST_F(OverlayTest, WhatIsTakenIsNotFreeAndTheClusterStaysAsItIs) {
  Overlay overlay(w.cluster);
  overlay.Take(a, shape, 2);
  EXPECT_EQ(overlay.free(a, kCpu), 2000);
  EXPECT_EQ(overlay.free(b, kCpu), 4000);
  EXPECT_EQ(w.cluster.free(a, kCpu), 4000);
}

TEST_F(OverlayTest, ADroppedTrialLeavesWhatWasKeptBefore) {
  Overlay overlay(w.cluster);
  overlay.Begin();
  overlay.Take(a, shape, 1);
  overlay.TakeFromQueue(queue, w.cluster.shape(shape).request);
  overlay.Keep();
  overlay.Begin();
  overlay.Take(b, shape, 1);
  overlay.Take(a, shape, 1);
  overlay.TakeFromQueue(queue, w.cluster.shape(shape).request);
  EXPECT_THAT(overlay.Drop(), ElementsAre(a, b));
  EXPECT_EQ(overlay.free(a, kCpu), 3000);
  EXPECT_EQ(overlay.free(b, kCpu), 4000);
  EXPECT_EQ(overlay.taken_from(queue)[kCpu], 1000);
  EXPECT_EQ(overlay.AsksOf(shape).ObstacleAt(a), "ports");
  EXPECT_EQ(overlay.AsksOf(shape).ObstacleAt(b), "");
  EXPECT_THAT(overlay.Drop(), IsEmpty());
}

// Room of another kind came after it.
TEST_F(OverlayTest, PortsThatWereHeldFirstMayGoFirst) {
  model::Wants wants = Cpu(1000);
  wants.host_ports = {{"TCP", "", 90}};
  const model::ShapeId other = w.cluster.task(w.cluster.SetPod(Pod("g", "w", 1, wants))).shape;
  Overlay overlay(w.cluster);
  overlay.Hold(a, shape, model::kNone, 1);
  overlay.Take(a, other, 1);
  overlay.Hold(a, shape, model::kNone, -1);
  EXPECT_EQ(overlay.AsksOf(shape).ObstacleAt(a), "");
  EXPECT_EQ(overlay.AsksOf(other).ObstacleAt(a), "ports");
}

TEST_F(OverlayTest, KeptPortsAreTaken) {
  Overlay overlay(w.cluster);
  const model::KeptNodes::Spot spot{.row = a, .amounts = {}, .ports = w.cluster.shape(shape).ports};
  overlay.KeepBesideRoom(spot, 1);
  EXPECT_EQ(overlay.AsksOf(shape).ObstacleAt(a), "ports");
  EXPECT_EQ(overlay.AsksOf(shape).ObstacleAt(b), "");
  EXPECT_EQ(overlay.free(a, kCpu), 4000) << "nothing else is";
  overlay.KeepBesideRoom(spot, -1);
  EXPECT_EQ(overlay.AsksOf(shape).ObstacleAt(a), "");
}

TEST_F(OverlayTest, TheNewestIsTakenBack) {
  Overlay overlay(w.cluster);
  overlay.Begin();
  overlay.Take(a, shape, 1);
  overlay.Take(b, shape, 1);
  overlay.TakeBack();
  EXPECT_EQ(overlay.free(a, kCpu), 3000);
  EXPECT_EQ(overlay.free(b, kCpu), 4000);
}

TEST_F(OverlayTest, QueuesAboveCountWhatIsTakenBelow) {
  Overlay overlay(w.cluster);
  overlay.TakeFromQueue(queue, w.cluster.shape(shape).request);
  EXPECT_EQ(overlay.taken_from(above)[kCpu], 0);
  EXPECT_EQ(overlay.taken_below(above)[kCpu], 1000);
  EXPECT_EQ(overlay.taken_below(queue)[kCpu], 1000);
}

TEST_F(OverlayTest, TrialsDoNotNest) {
  Overlay overlay(w.cluster);
  overlay.Begin();
  overlay.Take(a, shape, 1);
  EXPECT_DEATH(overlay.Begin(), "trial_");
}

}  // namespace
}  // namespace gangway::gang
