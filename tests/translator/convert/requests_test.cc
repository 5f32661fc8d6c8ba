// Requests from limits, and with them the PodGroup that the Job controller makes of a translated gang: the rows of
// table E of tests/spec/paddle.rows that are about resources (docs/paddlejob.md).
#include "translator/convert/requests.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/volcano/job.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/lifecycle/job/pod_group.h"
#include "translator/convert/gang.h"

namespace gangway::convert {
namespace {

std::string Written(const std::string& pod_template) {
  boost::json::value value = api::ParseJson(pod_template).value();
  WriteRequests(value);
  const std::string once = api::ToJson(value);
  WriteRequests(value);
  EXPECT_EQ(api::ToJson(value), once);
  return once;
}

// A template with one container of these resources.
std::string Container(const std::string& resources) {
  return absl::StrCat(R"({"spec":{"containers":[{"name":"c","resources":)", resources, "}]}}");
}

TEST(WriteRequestsTest, ResourceByResource) {
  EXPECT_EQ(Written(Container(R"({"requests":{"cpu":"1"},"limits":{"cpu":"2","nvidia.com/gpu":1}})")),
            Container(R"({"requests":{"cpu":"1","nvidia.com/gpu":1},"limits":{"cpu":"2","nvidia.com/gpu":1}})"));
  EXPECT_EQ(Written(Container(R"({"limits":{"memory":"1Gi"}})")),
            Container(R"({"limits":{"memory":"1Gi"},"requests":{"memory":"1Gi"}})"));
  EXPECT_EQ(Written(Container(R"({"requests":null,"limits":{"cpu":1}})")),
            Container(R"({"requests":{"cpu":1},"limits":{"cpu":1}})"));
  EXPECT_EQ(Written(Container(R"({"requests":{"cpu":"0"},"limits":{"cpu":1}})")),
            Container(R"({"requests":{"cpu":"0"},"limits":{"cpu":1}})"))
      << "zero is a request";
}

TEST(WriteRequestsTest, InitContainersToo) {
  EXPECT_EQ(Written(R"({"spec":{"initContainers":[{"resources":{"limits":{"cpu":1}}}]}})"),
            R"({"spec":{"initContainers":[{"resources":{"limits":{"cpu":1},"requests":{"cpu":1}}}]}})");
}

TEST(WriteRequestsTest, WhatIsNoTemplateStays) {
  for (const std::string text : {"null", "[]", "{}", R"({"spec":1})", R"({"spec":{"containers":{"a":1}}})",
                                 R"({"spec":{"containers":[null,1,{"resources":[]}]}})"}) {
    EXPECT_EQ(Written(text), text);
  }
  for (const std::string resources :
       {"{}", R"({"limits":{}})", R"({"limits":"cpu"})", R"({"requests":[],"limits":{"cpu":1}})"}) {
    EXPECT_EQ(Written(Container(resources)), Container(resources));
  }
}

struct Part {
  TaskSize size;
  std::string pod_template;
};

// The group that the Job of this gang gets.
api::volcano::PodGroupSpec GroupOf(const std::vector<Part>& parts, const GangWish& wish = {}) {
  std::vector<GangTask> tasks;
  for (const Part& part : parts) tasks.push_back({part.size});
  const Gang gang = CountGang(tasks, false, wish);
  EXPECT_FALSE(HasErrors(gang.findings));
  api::volcano::JobSpec job;
  job.min_available = gang.min_available;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    api::volcano::TaskSpec& task = job.tasks.emplace_back();
    task.name = parts[i].size.name;
    task.replicas = parts[i].size.replicas;
    task.min_available = gang.task_minimums[i];
    task.pod_template.json = Written(parts[i].pod_template);
  }
  const auto spec = lifecycle::WantedPodGroupSpec(job, {}, {});
  EXPECT_TRUE(spec.ok()) << spec.status();
  return spec.value_or(api::volcano::PodGroupSpec());
}

using Texts = std::map<std::string, std::string>;
Texts ResourcesOf(const api::volcano::PodGroupSpec& group) {
  Texts texts;
  for (const auto& [name, quantity] : group.min_resources) texts[name] = quantity.ToString();
  return texts;
}
using Minimums = std::map<std::string, std::int32_t>;

const Part kServers{{"ps", 2}, Container(R"({"limits":{"cpu":"300m"}})")},
    kWorkers{{"worker", 2}, Container(R"({"requests":{"cpu":"200m"}})")};

TEST(GroupTest, E1LimitsHereRequestsThere) {
  const auto group = GroupOf({kServers, kWorkers});
  EXPECT_EQ(group.min_member, 4);
  EXPECT_EQ(group.min_task_member, (Minimums{{"ps", 2}, {"worker", 2}}));
  EXPECT_EQ(ResourcesOf(group),
            (Texts{{"cpu", "1"}, {"requests.cpu", "1"}, {"limits.cpu", "600m"}, {"pods", "4"}, {"count/pods", "4"}}));
}

TEST(GroupTest, E2LimitOfAGpuAlone) {
  EXPECT_EQ(ResourcesOf(GroupOf({{{"worker", 2}, Container(R"({"limits":{"nvidia.com/gpu":1}})")}})),
            (Texts{{"nvidia.com/gpu", "2"}, {"requests.nvidia.com/gpu", "2"}, {"pods", "2"}, {"count/pods", "2"}}));
}

TEST(GroupTest, E3TheGpuBesideARequestIsNotLost) {
  EXPECT_EQ(ResourcesOf(GroupOf(
                {{{"worker", 2}, Container(R"({"requests":{"cpu":1},"limits":{"cpu":2,"nvidia.com/gpu":1}})")}})),
            (Texts{{"cpu", "2"},
                   {"requests.cpu", "2"},
                   {"limits.cpu", "4"},
                   {"nvidia.com/gpu", "2"},
                   {"requests.nvidia.com/gpu", "2"},
                   {"pods", "2"},
                   {"count/pods", "2"}}));
}

TEST(GroupTest, E4NoResourcesAnywhere) {
  EXPECT_EQ(ResourcesOf(GroupOf({{{"ps", 2}, Container("{}")}, {{"worker", 2}, Container("{}")}})),
            (Texts{{"pods", "4"}, {"count/pods", "4"}}));
}

TEST(GroupTest, E5OfASmallerGang) {
  const auto group = GroupOf({kServers, kWorkers}, {.min_available = 3});
  EXPECT_EQ(group.min_member, 3);
  EXPECT_EQ(group.min_task_member, (Minimums{{"ps", 2}, {"worker", 1}}));
  EXPECT_EQ(
      ResourcesOf(group),
      (Texts{{"cpu", "800m"}, {"requests.cpu", "800m"}, {"limits.cpu", "600m"}, {"pods", "3"}, {"count/pods", "3"}}));
}

TEST(GroupTest, E11InitContainerThatAsksForMore) {
  const std::string both = R"({"spec":{"initContainers":[{"name":"i","resources":{"requests":{"cpu":4}}}],
    "containers":[{"name":"c","resources":{"requests":{"cpu":1}}}]}})";
  EXPECT_EQ(ResourcesOf(GroupOf({{{"worker", 1}, both}})),
            (Texts{{"cpu", "4"}, {"requests.cpu", "4"}, {"pods", "1"}, {"count/pods", "1"}}));
}

TEST(GroupTest, E12SidecarBesideTheProgram) {
  const std::string both =
      R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":1}}},{"name":"d","resources":{"limits":{"cpu":1}}}]}})";
  EXPECT_EQ(ResourcesOf(GroupOf({{{"worker", 2}, both}})),
            (Texts{{"cpu", "4"}, {"requests.cpu", "4"}, {"limits.cpu", "2"}, {"pods", "2"}, {"count/pods", "2"}}));
}

}  // namespace
}  // namespace gangway::convert
