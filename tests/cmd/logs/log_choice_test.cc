#include "cmd/logs/log_choice.h"

#include "api/field_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::cmd {
namespace {

using api::core::Pod;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testutil::StatusIs;

Pod MakePod(const std::string& status = "{}", const std::string& task = "trainer", int index = 0) {
  const auto pod = api::Decode<Pod>(absl::StrCat(
      R"({"metadata":{"name":"j-)", task, "-", index,
      R"(","namespace":"ns","uid":"u","annotations":{"volcano.sh/task-spec":")", task, R"(","volcano.sh/task-index":")",
      index, R"(","kubectl.kubernetes.io/default-container":"b"},"ownerReferences":[{"apiVersion":)",
      R"("batch.volcano.sh/v1alpha1","kind":"Job","name":"j","uid":"job-uid","controller":true}]},"spec":{"nodeName":"n",)",
      R"("initContainers":[{"name":"i"}],"containers":[{"name":"a"},{"name":"b"}]},"status":)", status, "}"));
  GW_EXPECT_OK(pod);
  return *pod;
}

api::volcano::Job MakeJob() {
  return *api::Decode<api::volcano::Job>(
      R"({"metadata":{"name":"j","uid":"job-uid"},"spec":{"tasks":[{"name":"ps"},{"name":"trainer"}]}})");
}

TEST(LogChoiceTest, TasksAndOwners) {
  LogChoice choice;
  EXPECT_TRUE(IsWanted(MakePod(), MakeJob(), choice));
  choice.tasks = {"ps"};
  EXPECT_FALSE(IsWanted(MakePod(), MakeJob(), choice));
  GW_EXPECT_OK(CheckTasks(MakeJob(), choice));
  choice.tasks = {"worker"};
  EXPECT_THAT(CheckTasks(MakeJob(), choice),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--task is one of ps, trainer")));
  Pod stranger = MakePod();
  stranger.metadata.owner_references[0].uid = "another";
  EXPECT_FALSE(IsWanted(stranger, MakeJob(), {}));
}

TEST(LogChoiceTest, PodsStandByTaskThenIndex) {
  std::vector<Pod> pods{MakePod("{}", "trainer", 10), MakePod("{}", "trainer", 9), MakePod("{}", "ps", 1)};
  SortPods(MakeJob(), pods);
  EXPECT_EQ(pods[0].metadata.name, "j-ps-1");
  EXPECT_EQ(pods[1].metadata.name, "j-trainer-9");
  EXPECT_EQ(pods[2].metadata.name, "j-trainer-10");
}

TEST(LogChoiceTest, Containers) {
  LogChoice choice;
  EXPECT_THAT(ContainersOf(MakePod(), choice), ElementsAre("i", "a", "b"));
  choice.all_containers = false;
  EXPECT_THAT(ContainersOf(MakePod(), choice), ElementsAre("b"));
  Pod plain = MakePod();
  plain.metadata.annotations.erase("kubectl.kubernetes.io/default-container");
  EXPECT_THAT(ContainersOf(plain, choice), ElementsAre("a"));
  choice.containers = {"a", "i"};
  EXPECT_THAT(ContainersOf(MakePod(), choice), ElementsAre("i", "a"));
}

TEST(LogChoiceTest, Prefixes) {
  LogChoice choice;
  EXPECT_EQ(PrefixOf(MakePod(), "a", choice), "[trainer-0/a] ");
  Pod single = MakePod();
  single.spec.init_containers.clear();
  single.spec.containers.resize(1);
  EXPECT_EQ(PrefixOf(single, "a", choice), "[trainer-0] ");
  choice.prefix = false;
  EXPECT_EQ(PrefixOf(single, "a", choice), "");
}

TEST(LogChoiceTest, RunsOfAContainer) {
  const auto run = [](const std::string& status) { return RunOf(MakePod(status), "a"); };
  EXPECT_FALSE(run("{}").started);
  const ContainerRun waiting =
      run(R"({"containerStatuses":[{"name":"a","state":{"waiting":{"reason":"ContainerCreating"}}}]})");
  EXPECT_FALSE(waiting.started);
  EXPECT_EQ(waiting.waits, "ContainerCreating");
  const ContainerRun running = run(
      R"({"containerStatuses":[{"name":"a","restartCount":2,"state":{"running":{}},"lastState":{"terminated":{"exitCode":1}}}]})");
  EXPECT_TRUE(running.started && !running.ended && running.had_previous && running.run == 2);
  const ContainerRun between = run(
      R"({"containerStatuses":[{"name":"a","restartCount":1,"state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":1}}}]})");
  EXPECT_TRUE(between.started && between.ended && between.run == 1);
  const ContainerRun ended = run(R"({"containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":1}}}]})");
  EXPECT_TRUE(ended.started && ended.ended && !ended.had_previous);
}

TEST(LogChoiceTest, Requests) {
  LogChoice choice;
  choice.tail = 5;
  choice.since = absl::Milliseconds(1500);
  LogPlace place;
  EXPECT_EQ(LogRequest(MakePod(), "a", choice, place).path, "/api/v1/namespaces/ns/pods/j-trainer-0/log");
  EXPECT_EQ(LogRequest(MakePod(), "a", choice, place).query, "container=a&timestamps=true&tailLines=5&sinceSeconds=2");
  place.first = false;
  place.follow = place.previous = true;
  EXPECT_EQ(LogRequest(MakePod(), "a", choice, place).query, "container=a&timestamps=true&follow=true&previous=true");
  place.from = absl::FromUnixSeconds(0);
  place.first = true;
  EXPECT_EQ(LogRequest(MakePod(), "a", choice, place).query,
            "container=a&timestamps=true&follow=true&previous=true&sinceTime=1970-01-01T00%3A00%3A00Z");
}

}  // namespace
}  // namespace gangway::cmd
