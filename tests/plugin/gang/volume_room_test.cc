// Room for volumes that are made, and how many a node can attach.
#include "plugin/gang/schedule.h"

#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gang/claim_world.h"

namespace gangway::gang {
namespace {

using model::PodFacts;
using model::PodPhase;
using model::Reason;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using testutil::BoundTo;
using testutil::ClaimTest;
using testutil::Cpu;
using testutil::Gang;
using testutil::OpenClaimTest;
using testutil::Pod;
using testutil::Volume;

// ---- room for volumes that are made

struct StorageRoomTest : OpenClaimTest {
  StorageRoomTest() {
    model::StorageClassFacts disk = Class(true);
    disk.provisioner = disk.driver = "d";
    w.cluster.SetStorageClass(disk);
    w.cluster.SetCsiDriver({"d", true});
  }
  void Room(const std::string& zone, std::optional<std::int64_t> bytes,
            std::optional<std::int64_t> a_volumes = std::nullopt) {
    w.cluster.SetStorageCapacity({"kube-system", zone, "disk", {{"zone", model::Op::kIn, {zone}}}, bytes, a_volumes});
  }
};

TEST_F(StorageRoomTest, AVolumeIsMadeWhereThereIsRoomForIt) {
  EXPECT_EQ(Reason(),
            "waits for 1 of 1 task: w needs cpu 1, memory 100M; 2 nodes have no storage left for claim data (storage "
            "class disk), 0 fit");
  Room("a", 9);
  Room("b", 10);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
  Room("b", 100, 9);
  EXPECT_THAT(w.Placed(), IsEmpty()) << "of one volume it makes less";
  Room("b", std::nullopt, 10);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
  w.cluster.RemoveStorageCapacity("kube-system", "b");
  EXPECT_THAT(w.Placed(), IsEmpty());
  w.cluster.SetCsiDriver({"d", false});
  EXPECT_EQ(w.Placed().size(), 1u);
}

TEST_F(StorageRoomTest, AVolumeThatIsThereNeedsNoRoom) {
  w.cluster.SetVolume(Free("pv1", "b"));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
}

TEST_F(StorageRoomTest, VolumesOfAGangShareTheRoomOfAZone) {
  w.cluster.SetGang(Gang("g", 2));
  w.cluster.SetPod(PodWith({"default/more"}, 1));
  w.cluster.SetClaim(Open("more"));
  Room("a", 19);
  EXPECT_EQ(Reason(),
            "waits for 1 of 2 tasks: w needs cpu 1, memory 100M; with 1 placed, 2 nodes have no storage left for claim "
            "more (storage class disk), 0 fit");
  Room("a", 20);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n1"), Pair("g-w-1", "n1")));
  Room("a", 19);
  Room("b", 10);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n1"), Pair("g-w-1", "n2")));
}

TEST_F(StorageRoomTest, BothClaimsOfAPodNeedRoom) {
  w.cluster.SetPod(PodWith({"default/data", "default/more"}));
  w.cluster.SetClaim(Open("more"));
  Room("a", 19);
  EXPECT_THAT(w.Placed(), IsEmpty());
  Room("b", 20);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
}

TEST_F(StorageRoomTest, WhatIsPromisedIsTakenUntilTheVolumeIsThere) {
  w.cluster.SetPod(PodWith({"default/more"}, 1));
  w.cluster.SetClaim(Open("more"));
  Room("a", 19);
  Assume("g-w-0", "n1");
  EXPECT_THAT(w.Placed(), IsEmpty());
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
  model::ClaimFacts bound = Open("data");
  bound.phase = model::ClaimPhase::kBound;
  bound.volume = "pv1";
  w.cluster.SetClaim(bound);
  EXPECT_EQ(w.Placed().size(), 1u) << "who makes volumes tells what is left by now";
  w.cluster.SetClaim(Open("data"));
  w.cluster.Forget(w.cluster.FindTask("default", "g-w-0"));
  Assume("g-w-0", "n1");
  EXPECT_THAT(w.Placed(), IsEmpty());
  w.cluster.RemoveStorageCapacity("kube-system", "a");
  Room("a", 19);
  EXPECT_EQ(w.Placed().size(), 1u) << "of another count";
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
  w.cluster.Forget(w.cluster.FindTask("default", "g-w-0"));
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
}

TEST_F(StorageRoomTest, WhereOneCountOfRoomEndsWhatIsPromisedOfOthersStays) {
  for (const char* const name : {"more", "third"}) w.cluster.SetClaim(Open(name));
  for (const char* const zone : {"a", "b"}) Room(zone, 10);
  w.cluster.SetPod(PodWith({"default/more"}, 1));
  w.cluster.SetPod(PodWith({"default/third"}, 2));
  Assume("g-w-0", "n1");
  Assume("g-w-1", "n2");
  w.cluster.RemoveStorageCapacity("kube-system", "a");
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
  EXPECT_THAT(w.Placed(), IsEmpty());
  Room("a", 10);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-2", "n1")));
}

// ---- how many volumes a node can attach

struct AttachLimitTest : ClaimTest {
  AttachLimitTest() {
    for (const char* const node : {"n1", "n2"}) w.cluster.SetCsiNode({node, {{"d", 1}}});
    for (const char* const name : {"data", "more", "other"}) Bound(name, name);
  }
  void Bound(const std::string& claim, const std::string& handle, const std::string& driver = "d") {
    model::VolumeFacts volume = Volume("pv-" + claim);
    volume.driver = driver;
    volume.handle = handle;
    w.cluster.SetVolume(volume);
    w.cluster.SetClaim(BoundTo(claim, "pv-" + claim));
  }
  // A pod of nobody we know.
  void Run(const std::string& name, const std::string& node, const std::string& claim) {
    PodFacts pod = Pod("", "x", 0, Cpu(0));
    pod.name = pod.uid = name;
    pod.ours = false;
    pod.node = node;
    pod.phase = PodPhase::kRunning;
    pod.wants.claims = {claim};
    w.cluster.SetPod(pod);
  }
};

TEST_F(AttachLimitTest, ANodeThatHasAllItCanHaveTakesNoMore) {
  Run("a", "n1", "default/more");
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
  Run("b", "n2", "default/other");
  EXPECT_EQ(Reason(),
            "waits for 1 of 1 task: w needs cpu 1, memory 100M; 2 nodes can attach no more volumes of d (1 at most), "
            "0 fit");
  w.cluster.SetCsiNode({"n2", {{"d", 2}}});
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
  w.cluster.RemoveCsiNode("n1");
  w.cluster.SetCsiNode({"n2", {{"d", 1}}});
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n1"))) << "without a word of it there is no limit";
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
}

TEST_F(AttachLimitTest, OneVolumeOfSeveralPodsCountsOnce) {
  Run("a", "n1", "default/data");
  Run("b", "n2", "default/other");
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n1")));
  Bound("more", "data");
  Run("a", "n1", "default/more");
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n1"))) << "by another claim";
  Bound("more", "data", "e");
  EXPECT_EQ(w.Placed().size(), 1u) << "volumes of other drivers do not count";
}

TEST_F(AttachLimitTest, PodsOfAGangShareWhatANodeCanAttach) {
  w.cluster.SetGang(Gang("g", 3));
  w.cluster.SetPod(PodWith({"default/more"}, 1));
  w.cluster.SetPod(PodWith({"default/more"}, 2));
  EXPECT_EQ(w.Placed().size(), 3u);
  w.cluster.SetPod(PodWith({"default/other"}, 2));
  EXPECT_EQ(Reason(),
            "waits for 1 of 3 tasks: w needs cpu 1, memory 100M; with 2 placed, 2 nodes can attach no more volumes of "
            "d (1 at most), 0 fit");
}

TEST_F(AttachLimitTest, AVolumeOfTwoPodsIsStillThereForAThird) {
  w.cluster.RemoveNode("n1");
  w.cluster.SetGang(Gang("g", 3));
  w.cluster.SetPod(PodWith({"default/more"}, 0));
  PodFacts unlike = PodWith({"default/more"}, 1);
  unlike.wants.requests = Cpu(900).requests;
  w.cluster.SetPod(unlike);
  PodFacts third = PodWith({"default/other"}, 2);
  third.wants.requests = Cpu(800).requests;
  w.cluster.SetPod(third);
  EXPECT_THAT(w.Placed(), IsEmpty());
}

TEST_F(AttachLimitTest, AClaimWithoutAVolumeCountsAsOneOfItsClass) {
  w.cluster.SetStorageClass({"disk", true, true, {}, "x", "d"});
  model::ClaimFacts open;
  open.ns = "default";
  open.name = "data";
  open.storage_class = "disk";
  w.cluster.SetClaim(open);
  Run("a", "n1", "default/more");
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
  Run("b", "n2", "default/other");
  EXPECT_THAT(w.Placed(), IsEmpty());
  w.cluster.SetStorageClass({"disk", true, true, {}, "x", "e"});
  EXPECT_EQ(w.Placed().size(), 1u);
}

TEST_F(AttachLimitTest, WhatIsStillAttachedCounts) {
  w.cluster.SetVolumeAttachment({"va1", "n1", "d", "pv-more"});
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
  w.cluster.SetVolumeAttachment({"va2", "n2", "d", "pv-data"});
  EXPECT_THAT(w.Placed(), IsEmpty()) << "as with Kubernetes: it may be on its way out, and counts beside the pod's";
  Run("b", "n2", "default/data");
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2"))) << "now a pod is there that keeps it";
  w.cluster.RemovePod("default", "b");
  w.cluster.SetVolumeAttachment({"va1", "n2", "d", "pv-more"});
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n1"))) << "it is another one of the same name";
  w.cluster.RemoveVolumeAttachment("va1");
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n1")));
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
}

TEST_F(AttachLimitTest, AnEphemeralVolumesClaimIsThePodsOwn) {
  PodFacts pod = PodWith({"default/data"});
  pod.wants.made_claims = {{"default/data", pod.uid}};
  w.cluster.SetPod(pod);
  EXPECT_EQ(Reason(),
            "waits for 1 of 1 task: claim data is not the pod's own, though its volume is ephemeral: delete that "
            "claim");
  model::ClaimFacts own = BoundTo("data", "pv-data");
  own.owner = pod.uid;
  w.cluster.SetClaim(own);
  EXPECT_EQ(w.Placed().size(), 1u);
}

}  // namespace
}  // namespace gangway::gang
