#include "plugin/extender/session/task_template.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/extender/session/decode_task.h"
#include "plugin/extender/session/json_walk.h"
#include "plugin/model/cluster.h"
#include "tests/plugin/extender/session/recordings.h"
#include "tests/testing/status_matchers.h"

namespace gangway::extender {
namespace {

std::optional<model::PodFacts> Decoded(absl::string_view text) {
  JsonWalk walk(text);
  DecodedTask task;
  const absl::Status read = DecodeTask(walk, task);
  if (!read.ok() || !walk.End().ok()) return std::nullopt;
  return std::move(task.facts);
}

// To a cluster the one says nothing that the other has not said.
bool Same(const model::PodFacts& a, const model::PodFacts& b) {
  model::Cluster cluster;
  cluster.SetPod(a);
  const std::uint64_t version = cluster.version();
  cluster.SetPod(b);
  return cluster.version() == version && a.ns == b.ns && a.name == b.name;
}

std::vector<std::string> TasksOf(const std::string& body) {
  std::vector<std::string> tasks;
  JsonWalk walk(body);
  GW_EXPECT_OK(walk.Struct([&](absl::string_view key) {
    if (key != "Jobs") return absl::OkStatus();
    return walk.Map([&](absl::string_view) {
      return walk.Struct([&](absl::string_view member) {
        if (member != "Tasks") return absl::OkStatus();
        return walk.Map([&](absl::string_view) {
          absl::string_view text;
          const absl::Status read = walk.Take(text);
          tasks.emplace_back(text);
          return read;
        });
      });
    });
  }));
  return tasks;
}

// Whether `text` is one like `like`, whose facts are then those of its own text.
bool IsLike(const std::string& like, const std::string& text) {
  const auto facts = Decoded(like);
  EXPECT_TRUE(facts.has_value());
  std::optional<TaskTemplate> tmpl = TaskTemplate::Of(like, *facts);
  if (!tmpl.has_value()) return false;
  const std::size_t length = tmpl->Match(absl::StrCat(text, ",\"next\":{}}"));
  if (length == 0) return false;
  EXPECT_EQ(length, text.size());
  const auto own = Decoded(text);
  EXPECT_TRUE(own.has_value()) << text;
  if (own.has_value()) EXPECT_TRUE(Same(tmpl->facts(), *own)) << like << "\n" << text;
  return true;
}

// A pod as Volcano's controller makes it, on its node.
constexpr char kTask[] =
    R"({"UID":"u-1","Job":"ads/ctr","Name":"ctr-worker-1","Namespace":"ads","TaskRole":"worker","Resreq":{"MilliCPU":1000,)"
    R"("Memory":1000,"ScalarResources":{"pods":1}},"NodeName":"node-1","Status":32,"Priority":0,"Preemptable":true,)"
    R"("PodAnnotations":{"volcano.sh/task-index":"1"},"Pod":{"metadata":{"name":"ctr-worker-1","namespace":"ads","uid":"u-1",)"
    R"("resourceVersion":"7","creationTimestamp":"2026-11-21T06:01:50Z","labels":{"volcano.sh/job-name":"ctr",)"
    R"("volcano.sh/task-index":"1","volcano.sh/task-spec":"worker"},"annotations":{"scheduling.k8s.io/group-name":"ctr",)"
    R"("volcano.sh/task-index":"1","volcano.sh/task-spec":"worker"},"managedFields":[{"manager":"m","time":"2026-11-21T06:01:50Z"}]},)"
    R"("spec":{"volumes":[{"name":"kube-api-access-abcde","projected":{}}],"containers":[{"name":"c","image":"i",)"
    R"("env":[{"name":"VC_TASK_INDEX","value":"1"}],"resources":{"requests":{"cpu":"1"}},)"
    R"("volumeMounts":[{"name":"kube-api-access-abcde","mountPath":"/var"}]}],"nodeName":"node-1","hostname":"ctr-worker-1",)"
    R"("schedulerName":"volcano"},"status":{"phase":"Running","conditions":[{"type":"PodScheduled","status":"True",)"
    R"("lastTransitionTime":"2026-11-21T06:01:51Z"}],"hostIP":"10.0.0.1","podIP":"10.1.0.1","podIPs":[{"ip":"10.1.0.1"}],)"
    R"("startTime":"2026-11-21T06:01:52Z","containerStatuses":[{"name":"c","state":{"running":{"startedAt":"2026-11-21T06:01:53Z"}},)"
    R"("containerID":"containerd://abc"}]}}})";

std::string Other(const std::vector<std::pair<absl::string_view, absl::string_view>>& edits) {
  for (const auto& [from, to] : edits) EXPECT_TRUE(absl::StrContains(kTask, from)) << from;
  return absl::StrReplaceAll(kTask, edits);
}

TEST(TaskTemplateTest, APodOfTheSameTaskIsToldByItsGaps) {
  EXPECT_TRUE(IsLike(kTask, kTask));
  EXPECT_TRUE(IsLike(kTask, Other({{"u-1", "another"},
                                   {"ctr-worker-1", "ctr-worker-17"},
                                   {"node-1", "elsewhere"},
                                   {"\"7\"", "\"8888\""},
                                   {"task-index\":\"1\"", "task-index\":\"17\""},
                                   {"\"value\":\"1\"", "\"value\":\"17\""},
                                   {"access-abcde", "access-fghij"},
                                   {"06:01:50Z", "06:02:50Z"},
                                   {"10.1.0.1", "10.1.0.22"},
                                   {"10.0.0.1", "10.0.0.22"},
                                   {"06:01:53Z", "06:07:53Z"},
                                   {"//abc", "//defgh"}})));
}

TEST(TaskTemplateTest, WhatAFactIsMadeFromMakesItAnother) {
  const std::vector<std::pair<absl::string_view, absl::string_view>> edits = {
      {"ads/ctr", "ads/other"},
      {"\"TaskRole\":\"worker\"", "\"TaskRole\":\"ps\""},
      {"\"MilliCPU\":1000", "\"MilliCPU\":2000"},
      {"\"Status\":32", "\"Status\":64"},
      {"\"Priority\":0", "\"Priority\":5"},
      {"\"Preemptable\":true", "\"Preemptable\":false"},
      {"job-name\":\"ctr\"", "job-name\":\"ctr2\""},
      {"\"cpu\":\"1\"", "\"cpu\":\"2\""},
      {"06:01:51Z", "06:01:59Z"},
      {"06:01:52Z", "06:01:59Z"},
      {"\"phase\":\"Running\"", "\"phase\":\"Failed\""},
      {"\"projected\":{}", "\"rbd\":{}"},
      {"u-1\",\"Job\"", "\\u0075-1\",\"Job\""},
      {"\"creationTimestamp\":\"2026-11-21T06:01:50Z\"", "\"creationTimestamp\":\"yesterday\""},
      {"\"NodeName\":\"node-1\"", "\"NodeName\":\"\""},
      {"\"Name\":\"ctr-worker-1\"", "\"Name\":7"},
  };
  for (const auto& edit : edits) EXPECT_FALSE(IsLike(kTask, Other({edit}))) << edit.second;
}

// Whose claims have its name; whose label others are chosen by; whose members stand twice.
TEST(TaskTemplateTest, SomeAreLikeNoOther) {
  for (const auto& edit : std::vector<std::pair<absl::string_view, absl::string_view>>{
           {"\"projected\":{}", "\"ephemeral\":{}"},
           {"\"UID\":\"u-1\"", "\"UID\":\"u-1\",\"uid\":\"u-2\""},
           {"\"NodeName\":\"node-1\"", "\"NodeName\":\"node-1\",\"NODENAME\":\"node-1\""}}) {
    const std::string odd = Other({edit});
    EXPECT_FALSE(IsLike(odd, odd)) << odd;
  }
  const std::string chosen = Other(
      {{"\"schedulerName\"",
        R"("topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","labelSelector":{},"matchLabelKeys":["volcano.sh/task-index"]}],"schedulerName")"},
       {"\"NodeName\":\"node-1\",\"Status\":32", "\"NodeName\":\"\",\"Status\":1"},
       {"\"nodeName\":\"node-1\",", ""}});
  EXPECT_TRUE(IsLike(chosen, chosen));
  EXPECT_FALSE(IsLike(chosen, absl::StrReplaceAll(chosen, {{"task-index\":\"1\"", "task-index\":\"2\""}})));
}

TEST(TaskTemplateTest, RecordedTasksOfAJobAreLikeEachOther) {
  const auto alike = [](const std::vector<std::string>& tasks) {
    std::size_t count = 0;
    for (std::size_t i = 0; i + 1 < tasks.size(); ++i) count += IsLike(tasks[i], tasks[i + 1]) ? 1 : 0;
    return count;
  };
  // One of two tasks of two pods each, and two of four pods.
  EXPECT_EQ(alike(TasksOf(testutil::Recorded("onSessionOpen-2").body)), 2u);
  EXPECT_EQ(alike(TasksOf(testutil::Recorded("onSessionOpen-6").body)), 6u);
  const std::vector<std::string> many = TasksOf(testutil::LargeSession());
  EXPECT_GT(2 * alike(many), many.size());
}

// One byte is another: either it is told, or nothing is made from it.
TEST(TaskTemplateTest, NoByteThatMattersIsOverlooked) {
  const unsigned seed = 7;
  std::mt19937 draw(seed);
  const std::string text = kTask;
  std::size_t alike = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string other = text;
    const char bytes[] = "\"\\{}[],:01aZ \x01\xff";
    other[draw() % other.size()] = bytes[draw() % (sizeof bytes - 1)];
    alike += IsLike(text, other) ? 1 : 0;
  }
  EXPECT_GT(alike, 100u);
}

TEST(TaskTemplateTest, OfAJobTheLastFewAreTried) {
  TaskTemplates templates;
  std::vector<std::string> texts;
  for (int i = 0; i < 10; ++i)
    texts.push_back(Other({{"\"TaskRole\":\"worker\"", absl::StrCat("\"TaskRole\":\"w", i, "\"")}}));
  std::size_t length = 0;
  EXPECT_EQ(templates.Match(texts[0], length), nullptr);
  for (const std::string& text : texts) templates.Add(text, *Decoded(text));
  EXPECT_EQ(templates.Match(texts[0], length), nullptr);
  for (std::size_t i = 2; i < 10; ++i) {
    const model::PodFacts* const facts = templates.Match(texts[i], length);
    ASSERT_NE(facts, nullptr) << i;
    EXPECT_EQ(facts->role, absl::StrCat("w", i));
    EXPECT_EQ(length, texts[i].size());
  }
  templates.Clear();
  EXPECT_EQ(templates.Match(texts[9], length), nullptr);
}

}  // namespace
}  // namespace gangway::extender
