#include "plugin/scheduler/bindings.h"

#include <string>
#include <vector>

#include "api/cluster_resources.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/model/cluster_builder.h"
#include "tests/testing/fake_client.h"

namespace gangway::scheduler {
namespace {

using model::TaskId;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testutil::Cpu;
using testutil::Pod;

// A gang of two pods that are assumed on two nodes.
class BindingsTest : public ::testing::Test {
 protected:
  BindingsTest() {
    testutil::AddNodes(cluster_, 2);
    gang_ = cluster_.SetGang(testutil::Gang("g", 2));
    for (int i = 0; i < 2; ++i) {
      tasks_[i] = cluster_.SetPod(Pod("g", "w", i, Cpu(1000)));
      cluster_.Assume(tasks_[i], i);
    }
    client_.SetHandler([this](const kube::Request& request) { return Answered(request); });
  }
  std::optional<absl::StatusOr<kube::Response>> Answered(const kube::Request& request) {
    if (request.method == "GET") return testutil::Reply(pod_code_, pod_);
    return testutil::Reply(201);
  }
  void Reply(int task, int code) {
    kube::Write write;
    write.resource = &api::kPods;
    write.subresource = "binding";
    write.ns = "default";
    write.name = cluster_.task(tasks_[task]).name;
    write.uid = cluster_.task(tasks_[task]).uid;
    bindings_.OnReply(write, code < 300 ? testutil::Reply(code) : testutil::Refusal(code, "Forbidden"));
    loop_.RunFor(absl::Milliseconds(100));
  }
  bool Assumed(int task) const { return cluster_.task(tasks_[task]).status == model::TaskStatus::kBinding; }
  void Bind(int task) {
    model::PodFacts pod = Pod("g", "w", task, Cpu(1000));
    pod.node = std::string(cluster_.node_name(task));
    pod.phase = model::PodPhase::kRunning;
    cluster_.SetPod(pod);
  }
  std::vector<std::string> Asked() const {
    std::vector<std::string> asked;
    for (const kube::Request& request : client_.requests()) {
      if (request.method == "GET") asked.push_back(request.path);
    }
    return asked;
  }

  const api::NamespacedName key_{"default", "g"};
  model::Cluster cluster_;
  model::GangId gang_ = model::kNone;
  TaskId tasks_[2];
  SimulatedLoop loop_{1};
  testutil::FakeClient client_{loop_};
  kube::Informers informers_{loop_, client_};
  kube::Recorder recorder_{loop_, client_, {}};
  Owner owner_;
  std::vector<std::string> namespaces_;
  int pod_code_ = 404, changes_ = 0, rounds_ = 0, looks_ = 0;
  std::string pod_ = "{}";
  Feed feed_{cluster_, "volcano", namespaces_, [this] { ++changes_; }};
  Bindings bindings_{cluster_,
                     feed_,
                     {loop_, owner_.token(), client_, recorder_, informers_.Of<api::core::Pod>(api::kPods)},
                     {absl::Seconds(5)},
                     {[this](const api::NamespacedName&) { ++looks_; }, [this] { ++rounds_; }}};
};

TEST_F(BindingsTest, AnAcceptedBindingIsRememberedUntilThePodIsShownBound) {
  Reply(0, 201);
  EXPECT_TRUE(bindings_.accepted(cluster_.task(tasks_[0])));
  EXPECT_FALSE(bindings_.accepted(cluster_.task(tasks_[1])));
  bindings_.ForgetPod(cluster_.task(tasks_[0]).uid);
  EXPECT_FALSE(bindings_.accepted(cluster_.task(tasks_[0])));
  EXPECT_THAT(Asked(), IsEmpty());
}

// Who assumes a pod for ever keeps room for nobody.
TEST_F(BindingsTest, ABindingThatIsNotShownIsLookedInto) {
  EXPECT_EQ(bindings_.LookAtAccepted(gang_, loop_.Now()), absl::InfiniteFuture());
  pod_code_ = 200;
  pod_ = R"({"metadata":{"namespace":"default","name":"g-w-0","uid":"uid-g-w-0","resourceVersion":"1"}})";
  const absl::Time taken = loop_.Now();
  Reply(0, 201);
  EXPECT_EQ(bindings_.LookAtAccepted(gang_, loop_.Now()), taken + absl::Seconds(30));
  EXPECT_THAT(Asked(), IsEmpty());
  loop_.RunFor(absl::Seconds(30));
  bindings_.LookAtAccepted(gang_, loop_.Now());
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_THAT(Asked(), ElementsAre("/api/v1/namespaces/default/pods/g-w-0"));
  EXPECT_FALSE(Assumed(0));
  EXPECT_TRUE(Assumed(1));
  EXPECT_EQ(cluster_.gang(gang_).held_back, "the binding of g-w-0 to node-000 was taken, and it has no node");
}

TEST_F(BindingsTest, FromAPodGroupToItsPodsIsMeasured) {
  Metrics metrics;
  bindings_.CountIn(metrics);
  model::GangFacts facts = testutil::Gang("g", 2);
  facts.created = loop_.Now();
  cluster_.SetGang(facts);
  Bind(0);
  Bind(1);
  loop_.RunFor(absl::Milliseconds(100));
  for (int i = 0; i < 2; ++i) bindings_.LookAtHalf(key_, gang_, loop_.Now());
  EXPECT_THAT(metrics.Expose(), ::testing::HasSubstr("volcano_e2e_job_scheduling_latency_milliseconds_sum 100\n"));
  bindings_.Forget(key_);
  facts.was_whole = true;
  cluster_.SetGang(facts);
  bindings_.LookAtHalf(key_, gang_, loop_.Now());
  EXPECT_THAT(metrics.Expose(), ::testing::HasSubstr("volcano_e2e_job_scheduling_latency_milliseconds_count 1\n"))
      << "who was whole before a restart is not counted again";
}

TEST_F(BindingsTest, FromAPodToItsNodeAndItsBindingIsMeasured) {
  Metrics metrics;
  bindings_.CountIn(metrics);
  for (int i = 0; i < 2; ++i) {
    model::PodFacts pod = Pod("g", "w", i, Cpu(1000));
    pod.created = loop_.Now();
    cluster_.SetPod(pod);
  }
  loop_.RunFor(absl::Milliseconds(250));
  for (const TaskId task : tasks_) bindings_.Given(cluster_.task(task));
  loop_.RunFor(absl::Milliseconds(50));
  Reply(0, 201);
  Reply(1, 500);
  const std::string name = "volcano_task_scheduling_latency_milliseconds_";
  EXPECT_THAT(metrics.Expose(),
              AllOf(HasSubstr(name + "sum{stage=\"Assumed\"} 500\n"), HasSubstr(name + "count{stage=\"Bound\"} 1\n"),
                    HasSubstr(name + "sum{stage=\"Bound\"} 300\n")));
}

TEST_F(BindingsTest, AreCountedByWhatBecameOfThem) {
  Metrics metrics;
  bindings_.CountIn(metrics);
  const auto counted = [](int bound, int refused) {
    return AllOf(HasSubstr(absl::StrCat("gangway_bindings_total{result=\"bound\"} ", bound, "\n")),
                 HasSubstr(absl::StrCat("gangway_bindings_total{result=\"refused\"} ", refused, "\n")));
  };
  Reply(0, 201);
  EXPECT_THAT(metrics.Expose(), counted(1, 0));
  Reply(1, 403);
  EXPECT_THAT(metrics.Expose(), counted(1, 1));
}

TEST_F(BindingsTest, ARefusedBindingIsLookedIntoAndTheGangRestsAWhile) {
  pod_code_ = 200;
  pod_ = R"({"metadata":{"namespace":"default","name":"g-w-0","uid":"uid-g-w-0","resourceVersion":"1"}})";
  Reply(0, 403);
  EXPECT_THAT(Asked(), ElementsAre("/api/v1/namespaces/default/pods/g-w-0"));
  EXPECT_FALSE(Assumed(0));
  EXPECT_TRUE(Assumed(1)) << "the other's binding may stand";
  EXPECT_EQ(cluster_.gang(gang_).held_back, "binding g-w-0 to node-000 was refused: Forbidden");
  EXPECT_EQ(cluster_.task(tasks_[0]).nominated, cluster_.names().Find("node-000")) << "nobody else's while it rests";
  EXPECT_EQ(looks_, 1);
  EXPECT_EQ(rounds_, 1);
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(cluster_.gang(gang_).held_back, "");
  EXPECT_EQ(changes_, 1);
}

// The answer about a pod comes when another of its name has been given a node: that one keeps it.
TEST_F(BindingsTest, APodThatWasMadeAnewKeepsItsNode) {
  pod_code_ = 200;
  pod_ = R"({"metadata":{"namespace":"default","name":"g-w-0","uid":"uid-g-w-0","resourceVersion":"1"}})";
  client_.SetHandler([this](const kube::Request& request) {
    if (request.method == "GET") {
      cluster_.RemovePod("default", "g-w-0");
      model::PodFacts pod = Pod("g", "w", 0, Cpu(1000));
      pod.uid = "another";
      tasks_[0] = cluster_.SetPod(pod);
      cluster_.Assume(tasks_[0], 1);
    }
    return Answered(request);
  });
  Reply(0, 403);
  EXPECT_THAT(Asked(), ElementsAre("/api/v1/namespaces/default/pods/g-w-0"));
  EXPECT_TRUE(Assumed(0));
  EXPECT_EQ(cluster_.gang(gang_).held_back, "");
}

TEST_F(BindingsTest, ANodeThatIsGoneIsNobodysRoom) {
  pod_code_ = 200;
  pod_ = R"({"metadata":{"namespace":"default","name":"g-w-0","uid":"uid-g-w-0","resourceVersion":"1"}})";
  cluster_.RemoveNode(std::string(cluster_.node_name(cluster_.task(tasks_[0]).row)));
  Reply(0, 404);
  Asked();
  EXPECT_FALSE(Assumed(0));
  EXPECT_EQ(cluster_.task(tasks_[0]).nominated, model::kNone);
}

TEST_F(BindingsTest, WhatTheDriverTriesAgainIsNoRefusal) {
  for (const int code : {408, 429, 500, 503}) {
    EXPECT_FALSE(bindings_.put_off(cluster_.gang(gang_)));
    Reply(0, code);
    EXPECT_TRUE(bindings_.put_off(cluster_.gang(gang_))) << code;
    bindings_.ForgetPod("uid-g-w-0");
  }
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_TRUE(Assumed(0));
  Reply(0, 503);
  Reply(0, 201);
  EXPECT_FALSE(bindings_.put_off(cluster_.gang(gang_)));
}

TEST_F(BindingsTest, WhoIsGivenUpKeepsWhatWasAccepted) {
  cluster_.Nominate(tasks_[1], cluster_.task(tasks_[1]).row);
  Reply(0, 201);
  bindings_.GiveUp(gang_, "no volume");
  EXPECT_TRUE(Assumed(0));
  EXPECT_FALSE(Assumed(1));
  EXPECT_EQ(cluster_.task(tasks_[1]).nominated, model::kNone) << "its node is chosen anew";
  EXPECT_EQ(cluster_.gang(gang_).held_back, "no volume");
}

TEST_F(BindingsTest, ARestEndsWithTheGang) {
  bindings_.GiveUp(gang_, "no volume");
  bindings_.Forget(key_);
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(cluster_.gang(gang_).held_back, "no volume") << "nobody asks any more";
}

TEST_F(BindingsTest, AHalfIsCountedFromWhenItWasSeenFirst) {
  cluster_.Forget(tasks_[1]);
  Bind(0);
  const absl::Time first = loop_.Now(), later = first + absl::Seconds(9);
  EXPECT_EQ(bindings_.LookAtHalf(key_, gang_, first).since, first);
  const Bindings::Half half = bindings_.LookAtHalf(key_, gang_, later);
  EXPECT_EQ(half.since, first);
  EXPECT_TRUE(half.leftovers.has_value());
  bindings_.Forget(key_);
  EXPECT_EQ(bindings_.LookAtHalf(key_, gang_, later).since, later) << "of another gang of that name";
}

TEST_F(BindingsTest, AGangThatWasWholeOnceIsNoHalf) {
  for (const int task : {0, 1}) Bind(task);
  EXPECT_EQ(bindings_.LookAtHalf(key_, gang_, loop_.Now()).since, absl::InfinitePast());
  cluster_.RemovePod("default", "g-w-1");
  cluster_.SetPod(Pod("g", "w", 1, Cpu(1000)));
  const Bindings::Half half = bindings_.LookAtHalf(key_, gang_, loop_.Now());
  EXPECT_EQ(half.since, absl::InfinitePast());
  EXPECT_FALSE(half.leftovers.has_value());
}

// Its pods' claim has no volume yet.
class AwaitedVolumesTest : public BindingsTest {
 protected:
  AwaitedVolumesTest() {
    model::StorageClassFacts made{"disk", true, true, {}};
    cluster_.SetStorageClass(made);
    model::ClaimFacts claim;
    claim.ns = "default";
    claim.name = "data";
    claim.uid = "c1";
    claim.storage_class = "disk";
    cluster_.SetClaim(claim);
    cluster_.Forget(tasks_[0]);
    model::PodFacts pod = Pod("g", "w", 0, Cpu(1000));
    pod.wants.claims = {"default/data"};
    tasks_[0] = cluster_.SetPod(pod);
    cluster_.Assume(tasks_[0], 0);
  }
};

TEST_F(AwaitedVolumesTest, VolumesThatDoNotComeAreNotWaitedForForEver) {
  const absl::Time start = loop_.Now();
  Bindings::Awaited volumes = bindings_.LookAtVolumes(key_, gang_, absl::Minutes(10), start);
  EXPECT_FALSE(volumes.of_gang.ready);
  EXPECT_EQ(volumes.due, start + absl::Minutes(10));
  EXPECT_THAT(bindings_.awaiting_volumes(), ElementsAre(key_));
  volumes = bindings_.LookAtVolumes(key_, gang_, absl::Minutes(10), start + absl::Minutes(9));
  EXPECT_EQ(volumes.due, start + absl::Minutes(10)) << "from the first look";
  EXPECT_EQ(volumes.of_gang.failed, "");
  volumes = bindings_.LookAtVolumes(key_, gang_, absl::Minutes(10), start + absl::Minutes(10));
  EXPECT_EQ(volumes.of_gang.failed, "no volume came within 10m for claim data on node node-000");
  bindings_.GiveUp(gang_, volumes.of_gang.failed);
  EXPECT_THAT(bindings_.awaiting_volumes(), IsEmpty());
  EXPECT_FALSE(Assumed(0));
}

TEST_F(AwaitedVolumesTest, WhoMayNotWriteWhatItNeedsGivesUp) {
  bindings_.LookAtVolumes(key_, gang_, absl::Minutes(10), loop_.Now());
  kube::Write write;
  write.resource = &api::kPersistentVolumeClaims;
  write.ns = "default";
  write.name = "other";
  bindings_.OnVolumesForbidden(write, "no");
  EXPECT_TRUE(Assumed(0)) << "it was another's";
  write.name = "data";
  bindings_.OnVolumesForbidden(write, "no");
  EXPECT_FALSE(Assumed(0));
  EXPECT_EQ(cluster_.gang(gang_).held_back, "the scheduler may not patch persistentvolumeclaims: no");
}

TEST_F(AwaitedVolumesTest, WhatNeedsNoVolumesIsReady) {
  cluster_.Forget(tasks_[0]);
  const Bindings::Awaited volumes = bindings_.LookAtVolumes(key_, gang_, absl::Minutes(10), loop_.Now());
  EXPECT_TRUE(volumes.of_gang.ready);
  EXPECT_EQ(volumes.due, absl::InfiniteFuture());
  EXPECT_THAT(bindings_.awaiting_volumes(), IsEmpty());
}

}  // namespace
}  // namespace gangway::scheduler
