// Queues, as the scheduler makes them and tells what they hold and used.
#include "plugin/scheduler/scheduler.h"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "tests/plugin/scheduler/scheduler_fixture.h"

namespace gangway::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace json = boost::json;

TEST_F(SchedulerTest, MissingQueuesAreMade) {
  sandbox::ApiServerOptions bare;
  bare.default_objects = false;
  sandbox::ApiServer server(loop_, std::move(bare));
  sandbox::InProcessClient client(loop_, server, "scheduler");
  RunningScheduler scheduler(loop_, client, {});
  scheduler.Start();
  loop_.RunFor(absl::Seconds(2));
  for (const char* name : {"root", "default"}) {
    kube::Request request;
    request.method = "GET";
    request.path = api::PathOf(api::kQueues, "", name);
    EXPECT_TRUE(server.Handle(request, {"test"}).ok()) << name;
  }
}

// Recording queue-states: a queue without pods has {cpu: 0, memory: 0}; root has what all have.
TEST_F(SchedulerTest, QueuesSayWhatTheirPodsHold) {
  AddNodes(1);
  StartScheduler();
  AddGroup("g", 1);
  AddPod("p", "g", "3");
  loop_.RunFor(absl::Seconds(5));
  const auto allocated = [this](const std::string& queue) {
    return api::ToJson(Get(api::kQueues, queue).at("status").at("allocated"));
  };
  EXPECT_EQ(allocated("default"), R"({"cpu":"3","memory":"0","pods":"1"})");
  EXPECT_EQ(allocated("root"), R"({"cpu":"3","memory":"0","pods":"1"})");
  const std::string version = Text(Get(api::kQueues, "root"), "/metadata/resourceVersion");
  loop_.RunFor(absl::Minutes(5));
  EXPECT_EQ(Text(Get(api::kQueues, "root"), "/metadata/resourceVersion"), version);
  Delete(api::kPods, "p");
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(allocated("root"), R"({"cpu":"0","memory":"0"})");
}

// As the controllers do that count its PodGroups, each time a moment before.
TEST_F(SchedulerTest, WhoWritesTheRestOfAQueuesStatusIsNotInTheWay) {
  int writes = 0, counts = 0;
  fate_ = [&](const kube::Request& request) {
    if (request.method == "PATCH" && absl::EndsWith(request.path, "/queues/default/status")) {
      ++writes;
      Ask("PATCH", request.path, absl::StrCat(R"({"status":{"running":)", ++counts, "}}"),
          "application/merge-patch+json");
    }
    return sandbox::RequestFate();
  };
  AddNodes(1);
  StartScheduler();
  AddGroup("g", 1);
  AddPod("p", "g", "3");
  loop_.RunFor(absl::Seconds(5));
  const boost::json::value queue = Get(api::kQueues, "default");
  EXPECT_EQ(api::ToJson(queue.at("status").at("allocated")), R"({"cpu":"3","memory":"0","pods":"1"})");
  EXPECT_EQ(queue.at("status").at("running").to_number<int>(), counts);
  EXPECT_EQ(writes, 2) << "what it holds at first, and what it holds then";
}

TEST_F(SchedulerTest, SoDoMetrics) {
  Metrics metrics;
  metrics_ = &metrics;
  AddNodes(1);
  StartScheduler();
  AddGroup("g", 1);
  AddPod("p", "g", "3");
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(metrics.Expose(), HasSubstr("volcano_queue_allocated_milli_cpu{queue_name=\"default\"} 3000\n"));
  Delete(api::kPods, "p");
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(metrics.Expose(), HasSubstr("volcano_queue_allocated_milli_cpu{queue_name=\"default\"} 0\n"));
  Crash();
}

// ---- what was used of late

// `ads` had all 16 nodes for three hours; then both want all of them.
class UseTest : public SchedulerTest {
 protected:
  UseTest() {
    options_.policy.preempt = options_.policy.reclaim = false;
    options_.policy.use_half_life = absl::Hours(1);
    AddNodes(4, 4);
    for (const char* queue : {"ads", "lab"}) AddQueue(queue, R"("weight":1)");
  }
  void Come(const std::string& queue, const std::string& name) {
    for (int i = 0; i < 16; ++i) {
      const std::string gang = absl::StrCat(name, i);
      AddGroupIn(queue, gang, 1, "Inqueue");
      AddPod(gang, gang, "1");
    }
  }
  void UseAll() {
    StartScheduler(options_);
    Come("ads", "first");
    loop_.RunFor(absl::Hours(3));
    ASSERT_EQ(Bound(), 16);
  }
  void End() {
    for (int i = 0; i < 16; ++i) Delete(api::kPods, absl::StrCat("first", i));
  }
  int BoundOf(const std::string& name) {
    int bound = 0;
    for (int i = 0; i < 16; ++i)
      bound += Text(Get(api::kPods, absl::StrCat(name, i)), "/spec/nodeName").empty() ? 0 : 1;
    return bound;
  }
  void BothWantAll() {
    Come("ads", "ads");
    Come("lab", "lab");
    loop_.RunFor(absl::Seconds(5));
  }
  Options options_;
};

TEST_F(UseTest, WhoUsedMuchOfLateGetsLess) {
  UseAll();
  BothWantAll();
  End();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(BoundOf("lab"), 12);  // of the 12.8 and 3.2 that they deserve
  EXPECT_EQ(BoundOf("ads"), 4);
}

TEST_F(UseTest, WithoutAHalfLifeItCountsForNothing) {
  options_.policy.use_half_life.reset();
  UseAll();
  BothWantAll();
  End();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(BoundOf("lab"), 8);
  EXPECT_THAT(json::serialize(Get(api::kQueues, "ads")), ::testing::Not(HasSubstr("gangway.io/usage")));
}

TEST_F(UseTest, TheNextSchedulerKnowsIt) {
  UseAll();
  End();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(Text(Get(api::kQueues, "ads"), "/metadata/annotations/gangway.io~1usage"), HasSubstr("Z cpu=13.9"));
  Crash();
  BothWantAll();
  StartScheduler(options_);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(BoundOf("lab"), 12);
  EXPECT_EQ(BoundOf("ads"), 4);
}

// `ads` used all of late, so that it deserves 3 of the 16 that `lab` holds now; but `lab` goes on using them.
TEST_F(UseTest, WhatMayBeTakenBackGrowsWithTimeAlone) {
  options_.policy.reclaim = true;
  UseAll();
  End();
  Come("lab", "lab");
  loop_.RunFor(absl::Seconds(10));
  ASSERT_EQ(BoundOf("lab"), 16);
  Come("ads", "ads");
  loop_.RunFor(absl::Seconds(10));
  const auto leaving = [&] {
    int pods = 0;
    for (int i = 0; i < 16; ++i)
      pods += Text(Get(api::kPods, absl::StrCat("lab", i)), "/metadata/deletionTimestamp").empty() ? 0 : 1;
    return pods;
  };
  EXPECT_EQ(leaving(), 3);
  loop_.RunFor(absl::Hours(12));
  EXPECT_GE(leaving(), 8);
}

TEST_F(UseTest, ItEvensOut) {
  options_.policy.reclaim = true;
  UseAll();
  BothWantAll();
  End();
  loop_.RunFor(absl::Hours(24));
  for (int hours = 0; hours < 48; ++hours) {  // who is evicted ends
    loop_.RunFor(absl::Hours(1));
    for (const char* name : {"ads", "lab"}) {
      for (int i = 0; i < 16; ++i) {
        const std::string pod = absl::StrCat(name, i);
        if (Text(Get(api::kPods, pod), "/metadata/deletionTimestamp").empty()) continue;
        Delete(api::kPods, pod);
        AddPod(pod, pod, "1");
      }
    }
  }
  EXPECT_GE(BoundOf("ads"), 6);
  EXPECT_GE(BoundOf("lab"), 6);
}

TEST_F(SchedulerTest, WhoWaitsIsToldThatHisQueueIsGone) {
  AddNodes(1);
  const std::string queue =
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"lab"},"spec":{"weight":1}})";
  Create(api::kQueues, queue);
  const std::string path = api::PathOf(api::kQueues, "", "lab");
  ASSERT_TRUE(Ask("PATCH", path + "/status", R"({"status":{"state":"Open"}})", "application/merge-patch+json").ok());
  StartScheduler();
  AddGroup("g", 1, R"(,"queue":"lab")");
  AddPod("p", "g", "99");
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(Conditions(api::kPodGroups, "g"), ElementsAre(HasSubstr("needs cpu 99")));
  ASSERT_TRUE(Ask("PATCH", path + "/status", R"({"status":{"state":"Closed"}})", "application/merge-patch+json").ok());
  ASSERT_TRUE(Ask("DELETE", path).ok());
  loop_.RunFor(absl::Seconds(70));
  EXPECT_THAT(Conditions(api::kPodGroups, "g"), ElementsAre(HasSubstr("there is no queue lab")));
}

TEST_F(SchedulerTest, WhatAQueueIsSaidToHoldIsPutRightAtTheStart) {
  AddNodes(1);
  AddQueue("lab", R"("weight":1)");
  AddGroupIn("lab", "g", 1, "Pending");
  AddPod("p", "g", "3");
  StartScheduler();
  loop_.RunFor(absl::Seconds(5));
  Crash();
  ASSERT_TRUE(Ask("PATCH", api::PathOf(api::kQueues, "", "lab", "status"), R"({"status":{"allocated":{"cpu":"99"}}})",
                  "application/merge-patch+json")
                  .ok());
  StartScheduler();
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(api::ToJson(Get(api::kQueues, "lab").at("status").at("allocated")),
            R"({"cpu":"3","memory":"0","pods":"1"})");
}

}  // namespace
}  // namespace gangway::scheduler
