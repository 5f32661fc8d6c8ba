#include "cmd/vcctl/command.h"
#include "cmd/vcctl/queue_list.h"
#include "gtest/gtest.h"

namespace gangway::cmd {
namespace {

using api::volcano::PodGroup;
using api::volcano::Queue;

Queue MakeQueue(const std::string& name, int weight, const std::string& state) {
  Queue queue;
  queue.metadata.name = name;
  queue.metadata.uid = "u-1";
  queue.spec.weight = weight;
  queue.status.state = state;
  return queue;
}

PodGroup GroupIn(const std::string& queue, const std::string& phase) {
  PodGroup group;
  group.spec.queue = queue;
  group.status.phase = phase;
  return group;
}

// vcctl's columns: 25 wide, then 8 each.
TEST(QueueListTest, CountsPodGroupsByQueueAndPhase) {
  const std::vector<PodGroup> groups = {
      GroupIn("ads", "Inqueue"), GroupIn("ads", "Running"), GroupIn("ads", "Running"),  GroupIn("", "Pending"),
      GroupIn("default", ""),    GroupIn("ads", "Unknown"), GroupIn("ads", "Completed")};
  EXPECT_EQ(QueueListText({MakeQueue("ads", 4, "Open"), MakeQueue("default", 1, "Closing")}, groups),
            "Name                     Weight  State   Inqueue Pending Running Unknown \n"
            "ads                      4       Open    1       0       2       1       \n"
            "default                  1       Closing 0       2       0       0       \n");
}

TEST(QueueListTest, WideSaysWhatItHoldsDeservesAndHeldOfLateItsShareAndWhoWaits) {
  Queue ads = MakeQueue("ads", 4, "Open");
  ads.status.allocated = {{"cpu", *api::Quantity::Parse("9")}, {"nvidia.com/gpu", *api::Quantity::Parse("8")}};
  ads.metadata.annotations = {{"gangway.io/deserved", "cpu=6 nvidia.com/gpu=4"},
                              {"gangway.io/usage", "2026-09-21T10:00:00Z cpu=8.5"}};
  const std::map<std::string, QueueNow> now{{"ads", {805, 3}}};
  EXPECT_EQ(
      QueueListText({ads, MakeQueue("lab", 1, "Open")}, {}, &now),
      "Name                     Weight  State   Inqueue Pending Running Unknown   Allocated               Deserved  "
      "              Of-late  Share  Waiting\n"
      "ads                      4       Open    0       0       0       0         cpu=9,nvidia.com/gpu=8  "
      "cpu=6,nvidia.com/gpu=4  cpu=8.5  80.5%  3\n"
      "lab                      1       Open    0       0       0       0         -                       -         "
      "              -        -      -\n");
}

TEST(QueueListTest, AProgramReadsTheSame) {
  Queue ads = MakeQueue("ads", 4, "Open");
  ads.spec.parent = "root";
  ads.spec.capability = {{"cpu", *api::Quantity::Parse("16")}};
  ads.status.allocated = {{"cpu", *api::Quantity::Parse("9")}, {"nvidia.com/gpu", *api::Quantity::Parse("8")}};
  ads.metadata.annotations = {{"gangway.io/deserved", "cpu=6 nvidia.com/gpu=4"},
                              {"gangway.io/usage", "2026-09-21T10:00:00Z cpu=8.5"}};
  EXPECT_EQ(QueueListJson({ads, MakeQueue("lab", 1, "Closed")}, {GroupIn("ads", "Running")}, {{"ads", {805, 3}}}),
            R"({"queues":[{"name":"ads","parent":"root","state":"Open","weight":4,)"
            R"("podGroups":{"inqueue":0,"pending":0,"running":1,"unknown":0},"held":{"cpu":"9","nvidia.com/gpu":"8"},)"
            R"("deserved":{"cpu":"6","nvidia.com/gpu":"4"},"ofLate":{"cpu":"8.5"},"capability":{"cpu":"16"},)"
            R"("share":80.5,"waiting":3},)"
            R"({"name":"lab","parent":"","state":"Closed","weight":1,)"
            R"("podGroups":{"inqueue":0,"pending":0,"running":0,"unknown":0},"held":{},"deserved":{},"ofLate":{},)"
            R"("capability":{}}]})"
            "\n");
  EXPECT_EQ(QueueListJson({}, {}, {}), R"({"queues":[]})"
                                       "\n");
}

TEST(QueueListTest, NothingThere) { EXPECT_EQ(QueueListText({}, {}), "No resources found\n"); }

TEST(QueueCommandObjectTest, IsInNamespaceDefaultAndTargetsTheQueue) {
  const std::string reference =
      R"("apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","name":"ads","uid":"u-1","controller":true,"blockOwnerDeletion":true)";
  EXPECT_EQ(
      api::Encode(QueueCommandObject(MakeQueue("ads", 4, "Open"), "CloseQueue")),
      R"({"apiVersion":"bus.volcano.sh/v1alpha1","kind":"Command","metadata":{"generateName":"ads-closequeue-","namespace":"default",)"
      R"("ownerReferences":[{)" +
          reference + R"(}]},"action":"CloseQueue","target":{)" + reference + "}}");
}

}  // namespace
}  // namespace gangway::cmd
