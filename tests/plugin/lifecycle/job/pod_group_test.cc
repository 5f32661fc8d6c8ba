// PodGroups and minResources: rows G1 to G7 and R1 to R12 of tests/spec/volcano-job.rows. G4, the group with
// the name that Volcano used before 1.5, is told with the controller.
#include "plugin/lifecycle/job/pod_group.h"

#include <ostream>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/lifecycle/pod_usage.h"
#include "tests/testing/status_matchers.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::JobSpec;
using api::volcano::PodGroupSpec;
using api::volcano::TaskSpec;

TaskSpec Task(const std::string& name, int replicas, const std::string& cpu, const std::string& priority = "") {
  TaskSpec task;
  task.name = name;
  task.replicas = replicas;
  task.pod_template.json =
      absl::StrCat(R"({"spec":{"priorityClassName":")", priority,
                   R"(","containers":[{"name":"c","resources":{"requests":{"cpu":")", cpu, R"("}}}]}})");
  return task;
}
TaskSpec Partitioned(int replicas, int total, int size, int min) {
  TaskSpec task = Task("task1", replicas, "1");
  task.partition_policy.emplace();
  task.partition_policy->total_partitions = total;
  task.partition_policy->partition_size = size;
  task.partition_policy->min_partitions = min;
  return task;
}
using Texts = std::map<std::string, std::string>;
Texts TextsOf(const absl::StatusOr<api::ResourceList>& resources) {
  Texts texts;
  if (!resources.ok()) return {{"error", std::string(resources.status().message())}};
  for (const auto& [name, quantity] : *resources) texts[name] = quantity.ToString();
  return texts;
}
PodGroupSpec Wanted(const JobSpec& spec) { return *WantedPodGroupSpec(spec, {}, {}); }

struct Row {
  std::string name;
  int members, min_master, min_worker;
  std::string high;  // the task of the higher priority class
  std::string cpu, pods;
  friend void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }
};
class MinResourcesTest : public ::testing::TestWithParam<Row> {};
TEST_P(MinResourcesTest, AreThoseOfTheFirstMembers) {
  const Row& row = GetParam();
  JobSpec spec;
  spec.min_available = row.members;
  spec.tasks = {Task("master", 2, "50m", row.high == "master" ? "high" : "low"),
                Task("worker", 2, "100m", row.high == "worker" ? "high" : "low")};
  spec.tasks[0].min_available = row.min_master;
  spec.tasks[1].min_available = row.min_worker;
  const auto resources = MinResources(spec, {{"high", 1000}, {"low", 10}});
  EXPECT_EQ(TextsOf(resources),
            (Texts{{"cpu", row.cpu}, {"requests.cpu", row.cpu}, {"pods", row.pods}, {"count/pods", row.pods}}));
}
INSTANTIATE_TEST_SUITE_P(
    Spec, MinResourcesTest,
    ::testing::Values(Row{"R1", 2, 1, 2, "", "100m", "2"}, Row{"R2", 2, 2, 1, "", "100m", "2"},
                      Row{"R3", 3, 2, 2, "", "200m", "3"}, Row{"R4", 3, 1, 1, "", "200m", "3"},
                      Row{"R5", 3, 1, 2, "", "250m", "3"}, Row{"R6", 2, 1, 1, "", "150m", "2"},
                      Row{"R7", 3, 2, 1, "", "200m", "3"}, Row{"R8", 3, 1, 1, "master", "200m", "3"},
                      Row{"R9", 3, 1, 1, "worker", "250m", "3"}, Row{"R10", 3, 0, 1, "worker", "250m", "3"},
                      Row{"R11", 4, 2, 1, "worker", "300m", "4"}, Row{"R12", 4, 1, 1, "worker", "300m", "4"}),
    [](const auto& c) { return c.param.name; });

TEST(MinResourcesTest, OfNobodyAreNone) {
  JobSpec spec;
  spec.tasks = {Task("w", 2, "1")};
  EXPECT_TRUE(MinResources(spec, {})->empty());
}

// tests/golden/volcano/seed-ctr-volcano
TEST(MinResourcesTest, OfTheSeedJob) {
  JobSpec spec;
  spec.min_available = 4;
  for (const auto& [name, storage] :
       std::vector<std::pair<std::string, std::string>>{{"pserver", "1Gi"}, {"trainer", "10Gi"}}) {
    TaskSpec& task = spec.tasks.emplace_back();
    task.name = name;
    task.replicas = 2;
    task.min_available = 2;
    task.pod_template.json = absl::StrCat(
        R"({"spec":{"containers":[{"resources":{"limits":{"cpu":10,"memory":"30Gi","ephemeral-storage":"10Gi"},"requests":{"cpu":1,"memory":"100M","ephemeral-storage":")",
        storage, R"("}}}]}})");
  }
  EXPECT_EQ(TextsOf(MinResources(spec, {})), (Texts{{"count/pods", "4"},
                                                    {"pods", "4"},
                                                    {"cpu", "4"},
                                                    {"memory", "400M"},
                                                    {"ephemeral-storage", "22Gi"},
                                                    {"requests.cpu", "4"},
                                                    {"requests.memory", "400M"},
                                                    {"requests.ephemeral-storage", "22Gi"},
                                                    {"limits.cpu", "40"},
                                                    {"limits.memory", "120Gi"},
                                                    {"limits.ephemeral-storage", "40Gi"}}));
}

TEST(MinResourcesTest, TooLargeASumIsAnError) {
  JobSpec spec;
  spec.min_available = 2'000'000'000;
  spec.tasks = {Task("w", 2'000'000'000, "9E")};
  EXPECT_FALSE(MinResources(spec, {}).ok());
}

TEST(QuotaUsageTest, G7OnePod) {
  api::core::PodSpec pod;
  for (int i = 0; i < 2; ++i) {
    api::core::Container& container = pod.containers.emplace_back();
    for (auto* list : {&container.resources.requests, &container.resources.limits}) {
      (*list)["cpu"] = *api::Quantity::Parse("1");
      (*list)["memory"] = *api::Quantity::Parse("1000Mi");
      (*list)["nvidia.com/gpu"] = *api::Quantity::Parse("1");
      (*list)["hugepages-test"] = *api::Quantity::Parse("2000");
    }
  }
  EXPECT_EQ(TextsOf(QuotaUsage(pod)), (Texts{{"count/pods", "1"},
                                             {"pods", "1"},
                                             {"cpu", "2"},
                                             {"requests.cpu", "2"},
                                             {"limits.cpu", "2"},
                                             {"memory", "2000Mi"},
                                             {"requests.memory", "2000Mi"},
                                             {"limits.memory", "2000Mi"},
                                             {"nvidia.com/gpu", "2"},
                                             {"requests.nvidia.com/gpu", "2"},
                                             {"hugepages-test", "4k"},
                                             {"requests.hugepages-test", "4k"}}));
}

TEST(QuotaUsageTest, InitContainersRunOneAfterTheOtherBesideTheirSidecars) {
  const auto pod = api::Decode<api::core::PodSpec>(
      R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],"overhead":{"cpu":"100m"},
          "initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"500m"}}},{"resources":{"requests":{"cpu":"3"}}}]})");
  GW_ASSERT_OK(pod);
  EXPECT_EQ(PodRequests(*pod)->at("cpu").ToString(), "3600m");
}

TEST(QuotaUsageTest, ThePodLevelFigureCounts) {
  const auto pod = api::Decode<api::core::PodSpec>(
      R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],"resources":{"requests":{"cpu":"2"}}})");
  GW_ASSERT_OK(pod);
  EXPECT_EQ(PodRequests(*pod)->at("cpu").ToString(), "2");
}

TEST(PodGroupTest, G1G2MembersOfAPartitionedTask) {
  JobSpec spec;
  spec.tasks = {Partitioned(6, 2, 3, 0)};
  EXPECT_EQ(Wanted(spec).min_task_member.at("task1"), 6);
  spec.tasks = {Partitioned(6, 2, 3, 1)};
  EXPECT_EQ(Wanted(spec).min_task_member.at("task1"), 3);
}

// Members of tasks that are no more stay.
TEST(PodGroupTest, G3OnlyTheClassChanges) {
  JobSpec spec;
  spec.priority_class_name = "new";
  for (const std::map<std::string, std::int32_t>& members : {std::map<std::string, std::int32_t>{}, {{"task1", 6}}}) {
    PodGroupSpec is = Wanted(spec);
    is.priority_class_name = "old";
    is.min_task_member = members;
    const auto patch = PodGroupPatch(is, Wanted(spec));
    GW_ASSERT_OK(patch);
    ASSERT_EQ(*patch, R"({"spec":{"priorityClassName":"new"}})");
    boost::json::value group{{"spec", *api::ParseJson(api::Encode(is))}};
    api::ApplyMergePatch(group, *api::ParseJson(*patch));
    const auto after = api::Decode<PodGroupSpec>(api::ToJson(group.at("spec")));
    GW_ASSERT_OK(after);
    EXPECT_EQ(after->priority_class_name, "new");
    EXPECT_EQ(after->min_task_member, members);
    EXPECT_EQ(*PodGroupPatch(*after, Wanted(spec)), "") << "and nothing is left to do";
  }
}

TEST(PodGroupTest, G5MembersAreUpdated) {
  JobSpec spec;
  spec.tasks = {Partitioned(6, 2, 3, 0)};
  EXPECT_THAT(*PodGroupPatch(PodGroupSpec{}, Wanted(spec)), ::testing::HasSubstr(R"("minTaskMember":{"task1":6})"));
  PodGroupSpec is = Wanted(spec);
  spec.tasks = {Partitioned(6, 2, 3, 1)};
  EXPECT_EQ(*PodGroupPatch(is, Wanted(spec)), R"({"spec":{"minTaskMember":{"task1":3}}})");
}

TEST(PodGroupTest, G6SubGroups) {
  for (const auto& [total, min] : std::vector<std::pair<int, int>>{{2, 1}, {3, 3}, {2, 0}}) {
    JobSpec spec;
    spec.tasks = {Partitioned(total * 3, total, 3, min)};
    const PodGroupSpec group = Wanted(spec);
    ASSERT_EQ(group.sub_group_policy.size(), 1u);
    EXPECT_EQ(group.sub_group_policy[0].name, "task1");
    EXPECT_EQ(group.sub_group_policy[0].min_sub_groups, min);
    EXPECT_EQ(group.sub_group_policy[0].sub_group_size, 3);
    EXPECT_EQ(group.sub_group_policy[0].label_selector->match_labels.at("volcano.sh/task-spec"), "task1");
    EXPECT_THAT(group.sub_group_policy[0].match_label_keys, ::testing::ElementsAre("volcano.sh/partition-id"));
  }
}

TEST(PodGroupTest, ATaskWithoutPartitionsStandsBeforeOneThatHasThem) {
  JobSpec spec;
  spec.tasks = {Task("ps", 1, "1"), Partitioned(6, 2, 3, 1)};
  const PodGroupSpec group = Wanted(spec);
  ASSERT_EQ(group.sub_group_policy.size(), 1u);
  EXPECT_EQ(group.sub_group_policy[0].name, "task1");
  EXPECT_EQ(group.min_task_member, (std::map<std::string, std::int32_t>{{"ps", 1}, {"task1", 3}}));
}

// Spec 5.1: of the two tiers of a Job the number goes first; partitions keep what they say.
TEST(PodGroupTest, NetworkTopologyOfTheJobAndOfPartitions) {
  JobSpec spec;
  EXPECT_FALSE(Wanted(spec).network_topology.has_value());
  spec.tasks = {Partitioned(4, 2, 2, 0)};
  spec.tasks[0].partition_policy->network_topology.emplace().mode = "soft";
  spec.tasks[0].partition_policy->network_topology->highest_tier_name = "rack";
  spec.network_topology.emplace().mode = "hard";
  spec.network_topology->highest_tier_name = "zone";
  EXPECT_EQ(api::Encode(*Wanted(spec).network_topology), R"({"mode":"hard","highestTierName":"zone"})");
  spec.network_topology->highest_tier_allowed = 2;
  EXPECT_EQ(api::Encode(*Wanted(spec).network_topology), R"({"mode":"hard","highestTierAllowed":2})");
  EXPECT_EQ(
      api::Encode(Wanted(spec).sub_group_policy[0]),
      R"({"name":"task1","subGroupSize":2,"minSubGroups":0,"labelSelector":{"matchLabels":{"volcano.sh/task-spec":"task1"}},)"
      R"("matchLabelKeys":["volcano.sh/partition-id"],"networkTopology":{"mode":"soft","highestTierName":"rack"}})");
}

// Spec 5.1: queue, labels and topology of a group stay as they are.
TEST(PodGroupTest, WhatASyncLeavesAlone) {
  JobSpec spec;
  spec.queue = "a";
  PodGroupSpec is = Wanted(spec);
  spec.queue = "b";
  spec.network_topology.emplace().mode = "soft";
  EXPECT_EQ(*PodGroupPatch(is, Wanted(spec)), "");
}

TEST(PodGroupTest, IsOwnedByTheJobAndCarriesItsLabels) {
  api::volcano::Job job;
  job.metadata.name = "ctr";
  job.metadata.ns = "default";
  job.metadata.uid = "u";
  job.metadata.labels = {{"team", "ads"}};
  job.metadata.annotations = {{"note", "x"}, {"kubectl.kubernetes.io/last-applied-configuration", "{}"}};
  job.spec.tasks = {Task("w", 2, "1")};
  job.spec.min_available = 2;
  job.spec.queue = "q";
  const api::volcano::PodGroup group = NewPodGroup(job, Wanted(job.spec));
  EXPECT_EQ(
      api::Encode(group.metadata),
      R"({"name":"ctr-u","namespace":"default","labels":{"team":"ads"},"annotations":{"note":"x"},"ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"ctr","uid":"u","controller":true,"blockOwnerDeletion":true}]})");
  EXPECT_EQ(group.spec.min_member, 2);
  EXPECT_EQ(group.spec.queue, "q");
}

// So that a scheduler of another name leaves it alone while it has no pods; what users wrote is not taken for it.
TEST(PodGroupTest, SaysWhoWillPlaceItsPods) {
  api::volcano::Job job;
  job.metadata.annotations = {{"gangway.io/scheduler-name", "mine"}};
  EXPECT_EQ(NewPodGroup(job, {}).metadata.annotations.count("gangway.io/scheduler-name"), 0u);
  job.spec.scheduler_name = "other";
  EXPECT_EQ(NewPodGroup(job, {}).metadata.annotations.at("gangway.io/scheduler-name"), "other");
}

TEST(PodGroupTest, NothingToSayIsNothing) {
  JobSpec spec;
  spec.min_available = 1;
  spec.tasks = {Task("w", 2, "1500m")};
  const auto stored = api::Decode<PodGroupSpec>(api::Encode(Wanted(spec)));
  EXPECT_EQ(*PodGroupPatch(*stored, Wanted(spec)), "");
}

}  // namespace
}  // namespace gangway::lifecycle
