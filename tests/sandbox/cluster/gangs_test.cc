// Gangs that lose a pod, and gangs that want more than their minimum, on the whole embedded cluster in simulated time.
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/cluster/cluster_fixture.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class GangsTest : public ClusterTest {
 protected:
  void Start(int nodes, absl::Duration start_delay) {
    ClusterOptions options;
    options.kubelets.nodes = MakeNodes({*ParseNodeShape("cpu=16,memory=64Gi")}, nodes);
    options.kubelets.times.start = start_delay;
    StartWith(std::move(options));
  }
  void Apply(const std::string& name, int min_available, int replicas, int cpu, const std::string& metadata = "") {
    const kube::Response reply = Ask(
        "POST", api::PathOf(api::kJobs, "default"),
        absl::StrCat(
            R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")", name, R"(")", metadata,
            R"(},"spec":{"schedulerName":"volcano","minAvailable":)", min_available,
            R"(,"tasks":[{"name":"w","replicas":)", replicas, R"(,"minAvailable":)", min_available,
            R"(,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":")",
            cpu, R"("}}}]}}}]}})"));
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  json::array List(const api::Resource& resource) {
    return api::ParseJson(*Ask("GET", api::PathOf(resource, "default")).body)->at("items").as_array();
  }
  // Pods that have a node, by their UIDs.
  std::map<std::string, std::string> BoundPods(const std::string& job) {
    std::map<std::string, std::string> bound;
    for (const json::value& pod : List(api::kPods)) {
      const std::string name = json::value_to<std::string>(pod.at("metadata").at("name"));
      const bool leaving = pod.at("metadata").as_object().contains("deletionTimestamp");
      if (!absl::StartsWith(name, job + "-") || leaving || !pod.at("spec").as_object().contains("nodeName")) continue;
      bound[json::value_to<std::string>(pod.at("metadata").at("uid"))] = name;
    }
    return bound;
  }
  std::vector<std::string> Events() {
    std::vector<std::string> events;
    for (const json::value& event : List(api::kEvents))
      events.push_back(json::value_to<std::string>(event.at("reason")));
    return events;
  }
};

// One of three pods is deleted while all pull their images; two nodes are free.
TEST_F(GangsTest, APodIsMadeAnewAndTheOthersAreLeftAlone) {
  Start(5, absl::Seconds(300));
  Apply("rel2", 3, 3, 16);
  loop_.RunFor(absl::Seconds(34));
  std::map<std::string, std::string> before = BoundPods("rel2");
  ASSERT_EQ(before.size(), 3u);
  Ask("DELETE", api::PathOf(api::kPods, "default", "rel2-w-2"));
  loop_.RunFor(absl::Minutes(3));
  const std::map<std::string, std::string> after = BoundPods("rel2");
  EXPECT_EQ(after.size(), 3u);
  int same = 0;
  for (const auto& [uid, name] : before) same += after.contains(uid) ? 1 : 0;
  EXPECT_EQ(same, 2) << "only the one that was deleted is another";
  EXPECT_THAT(Events(), Not(Contains(HasSubstr("GangReleased"))));
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(api::ParseJson(*Ask("GET", api::PathOf(api::kJobs, "default", "rel2")).body)
                ->at("status")
                .at("running")
                .to_number<int>(),
            3);
}

// minAvailable 2, 64 x 1 cpu each, on 64 cpu: each begins, and what is left is shared.
TEST_F(GangsTest, ThreeElasticJobsMadeTogetherAllBegin) {
  Start(4, absl::Milliseconds(100));
  for (const char* name : {"m1", "m2", "m3"}) Apply(name, 2, 64, 1);
  loop_.RunFor(absl::Seconds(20));
  EXPECT_EQ(BoundPods("m1").size(), 22u);
  EXPECT_EQ(BoundPods("m2").size(), 21u);
  EXPECT_EQ(BoundPods("m3").size(), 21u);
}

// As kubectl makes the three documents of a file, one after the other; the pods of the first are there before the
// second is.
TEST_F(GangsTest, ElasticJobsMadeSoonAfterEachOtherAllBegin) {
  Start(4, absl::Milliseconds(100));
  for (const char* name : {"m1", "m2", "m3"}) {
    Apply(name, 2, 64, 1);
    loop_.RunFor(absl::Milliseconds(50));
  }
  EXPECT_EQ(BoundPods("m1").size(), 2u) << "minima do not wait";
  loop_.RunFor(absl::Seconds(20));
  EXPECT_EQ(BoundPods("m1").size(), 22u);
  EXPECT_EQ(BoundPods("m2").size(), 21u);
  EXPECT_EQ(BoundPods("m3").size(), 21u);
}

// Gangs that come all the time do not keep others from growing.
TEST_F(GangsTest, TheRestComesThoughGangsKeepComing) {
  Start(4, absl::Milliseconds(100));
  Apply("m1", 2, 40, 1);
  for (int i = 0; i < 40; ++i) {
    loop_.RunFor(absl::Milliseconds(100));
    if (i % 2 == 0) Apply(absl::StrCat("small-", i), 1, 1, 1);
  }
  EXPECT_EQ(BoundPods("m1").size(), 40u);
}

// Half of each node is free: one Job goes to the other, and loses nothing but what it did since its last checkpoint.
TEST_F(GangsTest, AJobThatMayBeMovedMakesRoomForOneThatNeedsAWholeNode) {
  Start(2, absl::Milliseconds(100));
  const std::string movable = R"(,"annotations":{"gangway.io/movable":"true"})";
  for (const char* name : {"fill-0", "fill-1"}) Apply(name, 1, 1, 10);
  loop_.RunFor(absl::Seconds(2));
  for (const char* name : {"a", "b"}) {
    Apply(name, 1, 1, 6, movable);
    loop_.RunFor(absl::Seconds(2));
  }
  for (const char* name : {"fill-0", "fill-1"}) Ask("DELETE", api::PathOf(api::kJobs, "default", name), "");
  loop_.RunFor(absl::Minutes(2));
  ASSERT_EQ(BoundPods("a").size() + BoundPods("b").size(), 2u);
  const auto before = BoundPods("a"), other = BoundPods("b");
  Apply("whole", 1, 1, 16);
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(BoundPods("whole").size(), 1u);
  EXPECT_EQ(BoundPods("a").size() + BoundPods("b").size(), 2u);
  EXPECT_NE(BoundPods("a") == before, BoundPods("b") == other) << "one of them was moved";
  for (const char* name : {"a", "b"}) {
    const json::value job = *api::ParseJson(*Ask("GET", api::PathOf(api::kJobs, "default", name)).body);
    EXPECT_EQ(job.at_pointer("/status/state/phase").as_string(), "Running") << name;
    EXPECT_FALSE(job.at("status").as_object().contains("retryCount")) << name;
  }
  EXPECT_THAT(Events(), Contains("Evict"));
}

}  // namespace
}  // namespace gangway::sandbox
