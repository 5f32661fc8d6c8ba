// Where pods go for the sake of their volumes.
#include "plugin/gang/schedule.h"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/plugin/gang/claim_world.h"

namespace gangway::gang {
namespace {

using model::PodFacts;
using model::PodPhase;
using model::Reason;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using testutil::AddGang;
using testutil::BoundTo;
using testutil::ClaimTest;
using testutil::Cpu;
using testutil::Gang;
using testutil::NodeIn;
using testutil::OpenClaimTest;
using testutil::Pod;
using testutil::Volume;
using testutil::VolumeIn;

TEST_F(ClaimTest, EveryTroubleIsSaid) {
  const auto is = [&](const std::string& what) { EXPECT_EQ(Reason(), "waits for 1 of 1 task: " + what); };
  is("there is no claim data");
  w.cluster.SetClaimsReadable(false);
  is("claim data cannot be read: the scheduler may not list persistentvolumeclaims");
  model::ClaimFacts claim = BoundTo("data", "");
  claim.phase = model::ClaimPhase::kPending;
  w.cluster.SetClaim(claim);
  is("claim data is not bound yet");
  claim.storage_class = "disk";
  w.cluster.SetClaim(claim);
  is("claim data is not bound yet (storage class disk)");
  w.cluster.SetStorageClass({"disk", true, false, {}});
  EXPECT_EQ(Reason(),
            "waits for 1 of 1 task: w needs cpu 1, memory 100M; 2 nodes have no volume for claim data, 0 fit");
  claim.volume = "pv1";
  w.cluster.SetClaim(claim);
  is("claim data is not bound yet (storage class disk)");
  claim.phase = model::ClaimPhase::kLost;
  w.cluster.SetClaim(claim);
  is("claim data has lost its volume pv1");
  claim.phase = model::ClaimPhase::kBound;
  w.cluster.SetClaim(claim);
  is("volume pv1 of claim data is not known: it is gone, or the scheduler may not list persistentvolumes");
  w.cluster.SetVolume(Volume("pv1", "spec.nodeAffinity"));
  is("claim data: spec.nodeAffinity of volume pv1 asks for something this scheduler does not know");
  w.cluster.SetVolume(Volume("pv1"));
  EXPECT_EQ(Reason(), "");
  claim.ending = true;
  w.cluster.SetClaim(claim);
  is("claim data is being deleted");
  w.cluster.RemoveClaim("default", "data");
  is("there is no claim data");
}

TEST_F(ClaimTest, OfSeveralTroublesThatOfTheFirstClaimByNameIsSaid) {
  w.cluster.SetPod(PodWith({"default/b"}));
  w.cluster.SetPod(PodWith({"default/a"}, 1));
  w.cluster.SetPod(PodWith({"default/c"}, 2));
  EXPECT_EQ(Reason(), "waits for 1 of 1 task: there is no claim a");
}

TEST_F(ClaimTest, AVolumeKeepsItsPodsWhereItIs) {
  w.cluster.SetClaim(BoundTo("data", "pv1"));
  w.cluster.SetVolume(VolumeIn("pv1", "b"));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
  w.cluster.SetVolume(VolumeIn("pv1", "c"));
  EXPECT_EQ(Reason(),
            "waits for 1 of 1 task: w needs cpu 1, memory 100M; 2 nodes do not reach volume pv1 (zone=c), 0 fit");
  w.cluster.SetNode(NodeIn("n3", "c"));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n3")));
}

TEST_F(ClaimTest, TwoVolumesInTwoPlacesFitNowhere) {
  w.cluster.SetClaim(BoundTo("data", "pv1"));
  w.cluster.SetClaim(BoundTo("more", "pv2"));
  w.cluster.SetVolume(VolumeIn("pv1", "a"));
  w.cluster.SetVolume(VolumeIn("pv2", "b"));
  w.cluster.SetPod(PodWith({"default/data", "default/more"}));
  EXPECT_EQ(Reason(),
            "waits for 1 of 1 task: w needs cpu 1, memory 100M; 2 nodes do not reach volume pv1 (zone=a), 0 fit");
  w.cluster.SetClaim(BoundTo("more", "pv1"));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n1")));
}

TEST_F(ClaimTest, OnePodAtATimeUsesAClaimThatIsForOne) {
  model::ClaimFacts claim = BoundTo("data", "pv1");
  claim.one_pod = true;
  w.cluster.SetClaim(claim);
  w.cluster.SetVolume(Volume("pv1"));
  w.cluster.SetPod(PodWith({"default/data"}, 1));
  AddGang(w.cluster, "other", 1, 0, 0);
  PodFacts others = Pod("other", "w", 0, Cpu(1000));
  others.wants.claims = {"default/data"};
  w.cluster.SetPod(others);
  EXPECT_EQ(w.Placed().size(), 1u);
  EXPECT_EQ(Reason(),
            "waits for 1 of 2 tasks: claim data is for one pod at a time (ReadWriteOncePod), and another has it");
  EXPECT_EQ(model::Render(*w.Of("other").reason),
            "waits for 1 of 1 task: claim data is for one pod at a time (ReadWriteOncePod), and another has it");
  PodFacts running = PodWith({"default/data"});
  running.node = "n1";
  running.phase = PodPhase::kRunning;
  w.cluster.SetPod(running);
  EXPECT_THAT(w.Placed(), IsEmpty());
  w.cluster.RemovePod("default", running.name);
  EXPECT_EQ(w.Placed().size(), 1u);
}

TEST_F(ClaimTest, WhatNobodyUsesIsForgotten) {
  for (int i = 0; i < 100; ++i) {
    const std::string name = absl::StrCat("c", i), volume = absl::StrCat("pv", i);
    w.cluster.SetPod(PodWith({"default/" + name}));
    w.cluster.SetClaim(BoundTo(name, volume));
    w.cluster.SetVolume(VolumeIn(volume, "a"));
    w.cluster.RemoveClaim("default", name);
    w.cluster.RemoveVolume(volume);
  }
  EXPECT_EQ(w.cluster.volumes().claim_slots(), 1);
  EXPECT_EQ(w.cluster.volumes().volume_slots(), 0);
}

TEST_F(OpenClaimTest, APodGoesWhereAVolumeIs) {
  EXPECT_EQ(Reason(),
            "waits for 1 of 1 task: w needs cpu 1, memory 100M; 2 nodes have no volume for claim data, 0 fit");
  w.cluster.SetVolume(Free("pv1", "b"));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
}

TEST_F(OpenClaimTest, OnlyAVolumeThatSuitsIsTaken) {
  const auto taken = [&](auto change, auto change_claim) {
    model::VolumeFacts volume = Free("pv1", "b");
    change(volume);
    w.cluster.SetVolume(volume);
    model::ClaimFacts claim = Open("data");
    change_claim(claim);
    w.cluster.SetClaim(claim);
    return !w.Placed().empty();
  };
  const auto as_is = [](auto&) {};
  EXPECT_TRUE(taken(as_is, as_is));
  EXPECT_FALSE(taken([](auto& v) { v.bytes = 9; }, as_is));
  EXPECT_FALSE(taken([](auto& v) { v.available = false; }, as_is));
  EXPECT_FALSE(taken([](auto& v) { v.block = true; }, as_is));
  EXPECT_FALSE(taken([](auto& v) { v.storage_class = "other"; }, as_is));
  EXPECT_FALSE(taken([](auto& v) { v.access_modes = {"ReadOnlyMany"}; }, as_is));
  EXPECT_FALSE(taken([](auto& v) { v.claim = "default/other"; }, as_is));
  EXPECT_FALSE(taken([](auto& v) { v.not_modelled = "spec.nodeAffinity"; }, as_is));
  EXPECT_TRUE(taken(
      [](auto& v) {
        v.claim = "default/data";
        v.available = false;
      },
      as_is))
      << "it is kept for the claim";
  EXPECT_FALSE(taken(as_is, [](auto& c) { c.selector = {{"tier", model::Op::kIn, {"x"}}}; }));
  EXPECT_TRUE(taken([](auto& v) { v.labels = {{"tier", "x"}}; },
                    [](auto& c) { c.selector = {{"tier", model::Op::kIn, {"x"}}}; }));
  EXPECT_FALSE(taken(as_is, [](auto& c) { c.selected_node = "n1"; })) << "its volume is being made for another node";
  EXPECT_TRUE(taken(as_is, [](auto& c) { c.selected_node = "n2"; }));
}

TEST_F(OpenClaimTest, AVolumeIsMadeWhereTheClassMakesThem) {
  w.cluster.SetStorageClass(Class(true));
  EXPECT_EQ(w.Placed().size(), 1u);
  model::StorageClassFacts only_b = Class(true);
  only_b.topologies = {{{"zone", model::Op::kIn, {"b"}}}};
  w.cluster.SetStorageClass(only_b);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2")));
}

// Rows A10 and A11 of tests/spec/volcano-scheduler.rows.
TEST_F(OpenClaimTest, A10A11OneVolumeIsNotEnoughForTwoAndTwoAre) {
  w.cluster.SetGang(Gang("g", 2));
  w.cluster.SetPod(PodWith({"default/more"}, 1));
  w.cluster.SetClaim(Open("more"));
  w.cluster.SetVolume(Free("pv1", "a"));
  EXPECT_THAT(w.Placed(), IsEmpty());
  EXPECT_EQ(Reason(),
            "waits for 1 of 2 tasks: w needs cpu 1, memory 100M; with 1 placed, 2 nodes have no volume for claim more, "
            "0 fit");
  w.cluster.SetVolume(Free("pv2", "a"));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n1"), Pair("g-w-1", "n1")));
}

TEST_F(OpenClaimTest, PodsOfOneClaimGoWhereItsVolumeCanBeReached) {
  w.cluster.SetNode(NodeIn("n3", "b"));
  w.cluster.SetGang(Gang("g", 3));
  for (int i = 0; i < 3; ++i) {
    PodFacts pod = PodWith({"default/data"}, i);
    pod.wants.requests.front().second = 12'000;
    w.cluster.SetPod(pod);
  }
  w.cluster.SetNode([] {
    model::NodeFacts node = NodeIn("n4", "b");
    return node;
  }());
  w.cluster.SetVolume(Free("pv1", "a", 10));
  w.cluster.SetVolume(Free("pv2", "b", 20));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "n2"), Pair("g-w-1", "n3"), Pair("g-w-2", "n4")))
      << "the smaller volume is where one pod fits";
}

TEST_F(OpenClaimTest, WhatIsPromisedNobodyElseGets) {
  w.cluster.SetVolume(Free("small", "a", 10));
  w.cluster.SetVolume(Free("large", "a", 20));
  w.cluster.SetVolume(Free("there", "b", 10));
  w.cluster.SetPod(PodWith({"default/more"}, 1));
  w.cluster.SetClaim(Open("more"));
  Assume("g-w-0", "n1");
  EXPECT_EQ(PromisedTo("g-w-0"), "small");
  Assume("g-w-1", "n1");
  EXPECT_EQ(PromisedTo("g-w-1"), "large");
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
  w.cluster.SetVolume([] {
    model::VolumeFacts volume = Free("large", "a", 20);
    volume.claim = "default/stranger";
    return volume;
  }());
  EXPECT_EQ(PromisedTo("g-w-1"), "lost");
  w.cluster.Forget(w.cluster.FindTask("default", "g-w-0"));
  EXPECT_EQ(PromisedTo("g-w-0"), "nothing");
  w.cluster.Forget(w.cluster.FindTask("default", "g-w-1"));
  Assume("g-w-1", "n1");
  EXPECT_EQ(PromisedTo("g-w-1"), "small");
  w.cluster.RemoveVolume("small");
  EXPECT_EQ(PromisedTo("g-w-1"), "lost");
  w.cluster.RemovePod("default", "g-w-1");
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
  EXPECT_EQ(w.cluster.volumes().volume_slots(), 2);
}

TEST_F(OpenClaimTest, AnEventOfAnAssumedPodChangesNoPromise) {
  w.cluster.SetStorageClass(Class(true));
  Assume("g-w-0", "n1");
  EXPECT_EQ(PromisedTo("g-w-0"), "made on n1");
  PodFacts touched = PodWith({"default/data"});
  touched.priority = 7;
  w.cluster.SetPod(touched);
  EXPECT_EQ(PromisedTo("g-w-0"), "made on n1");
  w.cluster.RemoveClaim("default", "data");
  EXPECT_EQ(PromisedTo("g-w-0"), "nothing");
  w.cluster.SetPod(PodWith({"default/other"}));
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
}

TEST_F(OpenClaimTest, TheNextPodOfAClaimGoesWhereItsVolumeIsReached) {
  w.cluster.SetVolume(Free("pv1", "a"));
  Assume("g-w-0", "n1");
  PodFacts next = PodWith({"default/data"}, 1);
  next.wants.requests.front().second = 16'000;
  w.cluster.SetPod(next);
  EXPECT_THAT(w.Placed(), IsEmpty()) << "it would fit on n2";
  next.wants.requests.front().second = 15'000;
  w.cluster.SetPod(next);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-1", "n1")));
}

// kubernetes: plugins/volumebinding, FindPodVolumes
TEST_F(OpenClaimTest, OfTwoClaimsTheSmallerChoosesFirst) {
  w.cluster.SetClaim(Open("data", 6));
  w.cluster.SetClaim(Open("small", 5));
  w.cluster.SetPod(PodWith({"default/data", "default/small"}));
  w.cluster.SetVolume(Free("pv-7", "a", 7));
  w.cluster.SetVolume(Free("pv-8", "a", 8));
  Assume("g-w-0", "n1");
  const model::Volumes& volumes = w.cluster.volumes();
  std::map<std::string, std::string> promised;
  const model::Task& task = w.cluster.task(w.cluster.FindTask("default", "g-w-0"));
  for (const model::ClaimId claim : w.cluster.shape(task.shape).claims)
    promised[volumes.NameOf(claim)] = volumes.PromisedTo(claim).value_or(model::Volumes::Promised()).volume;
  EXPECT_THAT(promised, ElementsAre(Pair("data", "pv-8"), Pair("small", "pv-7")));
}

}  // namespace
}  // namespace gangway::gang
