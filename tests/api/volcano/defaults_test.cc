#include "api/volcano/defaults.h"

#include <fstream>
#include <sstream>
#include <string>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "gtest/gtest.h"

namespace gangway::api::volcano {
namespace {

using boost::json::value;

value Json(absl::string_view text) {
  absl::StatusOr<value> parsed = ParseJson(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? *parsed : value();
}

Job Decoded(absl::string_view json) {
  absl::StatusOr<Job> job = Decode<Job>(json);
  EXPECT_TRUE(job.ok()) << job.status();
  return job.ok() ? *job : Job();
}

TaskSpec Task(std::int32_t replicas) {
  TaskSpec task;
  task.replicas = replicas;
  return task;
}

PartitionPolicySpec Partitions(std::int32_t total, std::int32_t size, std::int32_t min) {
  PartitionPolicySpec policy;
  policy.total_partitions = total;
  policy.partition_size = size;
  policy.min_partitions = min;
  return policy;
}

TEST(DefaultsTest, TasksGetNamesMinAvailableAndRetries) {
  Job job;
  job.spec.tasks = {Task(1), Task(2), Task(9), Task(4)};
  job.spec.tasks[1].min_available = 1;
  job.spec.tasks[2].partition_policy = Partitions(3, 3, 2);
  job.spec.tasks[3].partition_policy = Partitions(2, 2, 0);
  ApplyDefaults(job);
  const auto& tasks = job.spec.tasks;
  EXPECT_EQ(tasks[0].name, "default0");
  EXPECT_EQ(tasks[3].name, "default3");
  EXPECT_EQ(tasks[0].min_available, 1);
  EXPECT_EQ(tasks[1].min_available, 1);
  EXPECT_EQ(tasks[2].min_available, 6);
  EXPECT_EQ(tasks[3].min_available, 4);
  EXPECT_EQ(tasks[0].max_retry, 3);
  EXPECT_EQ(job.spec.min_available, 12);
  EXPECT_EQ(job.spec.queue, "default");
  EXPECT_EQ(job.spec.scheduler_name, "volcano");
  EXPECT_EQ(job.spec.max_retry, 3);
}

TEST(DefaultsTest, WhatIsSetStays) {
  Job job;
  job.spec.queue = "ads";
  job.spec.scheduler_name = "other";
  job.spec.max_retry = 7;
  job.spec.min_available = 1;
  job.spec.tasks = {Task(2), Task(3)};
  job.spec.tasks[0].name = "ps";
  job.spec.tasks[0].max_retry = 1;
  ApplyDefaults(job);
  EXPECT_EQ(job.spec.queue, "ads");
  EXPECT_EQ(job.spec.scheduler_name, "other");
  EXPECT_EQ(job.spec.max_retry, 7);
  EXPECT_EQ(job.spec.min_available, 1);
  EXPECT_EQ(job.spec.tasks[0].name, "ps");
  EXPECT_EQ(job.spec.tasks[0].max_retry, 1);
}

TEST(DefaultsTest, PluginsBringWhatTheyNeed) {
  Job job;
  job.spec.plugins["mpi"] = {"--master=m"};
  ApplyDefaults(job);
  EXPECT_TRUE(job.spec.plugins.contains("svc"));
  EXPECT_TRUE(job.spec.plugins.contains("ssh"));
  Job paddle;
  paddle.spec.plugins["paddle"] = {};
  ApplyDefaults(paddle);
  EXPECT_EQ(paddle.spec.plugins.at("svc"), std::vector<std::string>{"--publish-not-ready-addresses=true"});
  Job plain;
  plain.spec.plugins["hcclrank"] = {};
  ApplyDefaults(plain);
  EXPECT_EQ(plain.spec.plugins.size(), 1u);
}

TEST(DefaultsTest, DocumentAndDecodedJobAgree) {
  std::ifstream in(GW_SOURCE_DIR "/tests/golden/volcano/admission.json");
  std::stringstream text;
  text << in.rdbuf();
  const value rows = Json(text.str());
  int compared = 0;
  for (const value& row : rows.as_array()) {
    if (row.at("group") != value("Job CREATE valid")) continue;
    value document = row.at("input");
    Job job = Decoded(ToJson(document));
    ApplyJobDefaults(document);
    ApplyDefaults(job);
    Job from_document = Decoded(ToJson(document));
    for (TaskSpec& task : from_document.spec.tasks) {
      value pod_template = Json(task.pod_template.json);
      if (pod_template.as_object().at("metadata") == value(boost::json::object()))
        pod_template.as_object().erase("metadata");
      task.pod_template.json = ToJson(pod_template);
    }
    for (TaskSpec& task : job.spec.tasks) task.pod_template.json = ToJson(Json(task.pod_template.json));
    EXPECT_EQ(Encode(from_document), Encode(job)) << row.at("what");
    ++compared;
  }
  EXPECT_EQ(compared, 23);
}

TEST(DefaultsTest, HugeNumbersDoNotOverflow) {
  Job job;
  job.spec.tasks = {Task(2147483647), Task(2147483647)};
  job.spec.tasks[1].partition_policy = Partitions(65536, 65536, 65536);
  ApplyDefaults(job);
  EXPECT_EQ(job.spec.min_available, 2147483647);
}

TEST(DefaultsTest, QueuesAndPodGroups) {
  Queue queue;
  ApplyDefaults(queue);
  EXPECT_EQ(queue.spec.weight, 1);
  EXPECT_EQ(queue.spec.reclaimable, true);
  EXPECT_EQ(queue.spec.dequeue_strategy, "traverse");
  EXPECT_EQ(queue.spec.parent, "");
  PodGroup group;
  ApplyDefaults(group);
  EXPECT_EQ(group.spec.queue, "default");
}

// Volcano: pkg/webhooks/admission/podgroups/mutate
TEST(DefaultsTest, APodGroupThatAsksForNoQueueGetsItsNamespaces) {
  const auto queue = [](const char* asked, absl::string_view namespace_queue) {
    value group = Json(absl::StrCat(R"({"spec":{"minMember":1)", asked, "}}"));
    ApplyPodGroupDefaults(group, namespace_queue);
    return std::string(group.at("spec").at("queue").as_string());
  };
  EXPECT_EQ(queue("", ""), "default");
  EXPECT_EQ(queue(R"(,"queue":"ads")", ""), "ads");
  EXPECT_EQ(queue("", "team"), "team");
  EXPECT_EQ(queue(R"(,"queue":"")", "team"), "team");
  EXPECT_EQ(queue(R"(,"queue":"default")", "team"), "team");
  EXPECT_EQ(queue(R"(,"queue":"ads")", "team"), "ads");
  EXPECT_EQ(queue(R"(,"queue":"team")", "team"), "team");
}

}  // namespace
}  // namespace gangway::api::volcano
