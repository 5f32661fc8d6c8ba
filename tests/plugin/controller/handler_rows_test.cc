// Rows H1 to H3 and H11, Y4 and G4 of tests/spec/volcano-job.rows, and S36, Y24 to Y26, H14 and H15
// as they come through the caches: what the watches bring, and what the controller makes of it.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/controller/controllers_fixture.h"
#include "tests/plugin/lifecycle/job/world.h"

namespace gangway::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testutil::JobText;

class HandlerRowTest : public ControllersTest {};

TEST_F(HandlerRowTest, H1AJobIsAdded) {
  Start();
  EXPECT_THAT(controllers_->Dump(), HasSubstr(R"("jobs":0)"));
  Create(api::kJobs, JobText("job1", 1, {{"w", 1}}));
  EXPECT_THAT(controllers_->Dump(), HasSubstr(R"("jobs":1)"));
  Run(absl::Seconds(2));
  EXPECT_EQ(Phase("job1"), "Pending") << "it was looked at";
}

// The phase that somebody else wrote is the one that is gone on from.
TEST_F(HandlerRowTest, H2AnUpdateOfAJobIsSeen) {
  Start();
  Create(api::kJobs, JobText("job1", 1, {{"w", 1}}));
  Patch(api::kJobs, "job1", R"({"status":{"state":{"phase":"Aborting"}}})", "status");
  Run();
  EXPECT_EQ(Phase("job1"), "Aborted");
}

// How often the driver's objects were looked at, by how it ended.
std::string PlansOf(absl::string_view driver, const Metrics& metrics) {
  std::string plans;
  for (absl::string_view line : absl::StrSplit(metrics.Expose(), '\n')) {
    if (absl::StartsWith(line, absl::StrCat("gangway_plans_total{driver=\"", driver, "\"")))
      absl::StrAppend(&plans, line, "\n");
  }
  EXPECT_NE(plans, "");
  return plans;
}

// A list that shows what is known already: a watch that broke, and a restart of the server's history.
TEST_F(HandlerRowTest, H3TheSameResourceVersionIsNoNews) {
  Metrics metrics;
  Options options;
  options.metrics = &metrics;
  Start(options);
  StartJob("job1", JobText("job1", 1, {{"w", 1}}));
  Run(absl::Minutes(1));
  const int writes = writes_;
  const std::string plans = PlansOf("job", metrics);
  int lists = 0;
  fate_ = [&](const kube::Request& request) {
    if (absl::EndsWith(request.path, "/jobs") && !sandbox::ApiServer::IsWatch(request)) ++lists;
    return sandbox::RequestFate{};
  };
  server_.BreakWatches();
  ASSERT_TRUE(Ask("POST", api::PathOf(api::kConfigMaps, "default"),
                  R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"other"}})")
                  .ok());
  server_.CompactHistory();
  Run(absl::Minutes(1));
  EXPECT_TRUE(controllers_->synced());
  EXPECT_GT(lists, 0);
  EXPECT_EQ(writes_, writes);
  EXPECT_EQ(PlansOf("job", metrics), plans) << "the job was not even looked at";
  Patch(api::kJobs, "job1", R"({"metadata":{"labels":{"a":"b"}}})");
  Run();
  EXPECT_NE(PlansOf("job", metrics), plans);
  fate_ = nullptr;
  controllers_.reset();  // it counts in the metrics to its end
}

TEST_F(HandlerRowTest, H11AGroupThatChangesItsPhaseIsLookedAt) {
  Start();
  Create(api::kJobs, JobText("job1", 1, {{"w", 1}}));
  Patch(api::kPodGroups, GroupOf("job1"), R"({"status":{"phase":"Pending"}})");
  Run();
  EXPECT_THAT(Names(api::kPods), IsEmpty());
  Patch(api::kPodGroups, GroupOf("job1"), R"({"status":{"phase":"Running"}})");
  Run();
  EXPECT_THAT(Names(api::kPods), ElementsAre("job1-w-0"));
}

// The name that Volcano gave to groups before 1.5.
TEST_F(HandlerRowTest, Y4G4AGroupWithTheOldNameIsUsedAndGoesWithTheKill) {
  Create(api::kJobs, JobText("old", 1, {{"w", 1}}));
  Create(
      api::kPodGroups,
      absl::StrCat(
          R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"old","ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"old","controller":true,"uid":")",
          Job("old").metadata.uid, R"("}]},"spec":{"minMember":7,"queue":"default"}})"));
  Start();
  EXPECT_THAT(Names(api::kPodGroups), ElementsAre("old"));
  EXPECT_EQ(Get(api::kPodGroups, "old").at("spec").at("minMember").as_int64(), 1) << "updated in place";
  Command("abort", "AbortJob", "old");
  EXPECT_EQ(Phase("old"), "Aborted");
  EXPECT_THAT(Names(api::kPodGroups), IsEmpty());
}

TEST_F(HandlerRowTest, S36AJobThatAlwaysFails) {
  Start();
  StartJob("j", JobText("j", 2, {{"bad", 1}, {"long", 1}},
                        R"("maxRetry":2,"policies":[{"event":"PodFailed","action":"RestartJob"}])"));
  SetPod("j-bad-0", "Failed", 1);
  Delete(api::kPods, "j-long-0");
  LetIn("j");
  RunPods("j");
  ASSERT_EQ(Phase("j"), "Running");
  SetPod("j-bad-0", "Failed", 1);
  Delete(api::kPods, "j-long-0");
  Run(absl::Seconds(5));
  EXPECT_EQ(Phase("j"), "Failed");
  EXPECT_EQ(Job("j").status.retry_count, 2);
  EXPECT_THAT(Names(api::kPods), ElementsAre("j-bad-0"));
}

// Y24 to Y26: up, down, to nothing and back; the hosts follow.
TEST_F(HandlerRowTest, Y24Y25Y26Scaling) {
  Start();
  StartJob("sc", JobText("sc", 1, {{"w", 2, R"("minAvailable":1)"}}, R"("plugins":{"svc":[]})"));
  const auto scale = [&](int replicas) {
    Patch(api::kJobs, "sc",
          absl::StrCat(
              R"({"spec":{"minAvailable":0,"tasks":[)",
              [&] {
                api::volcano::TaskSpec task = Job("sc").spec.tasks[0];
                task.replicas = replicas;
                task.min_available = 0;
                return api::Encode(task);
              }(),
              "]}}"));
    Run();
    for (const std::string& pod : Names(api::kPods)) {
      if (Get(api::kPods, pod).at("metadata").as_object().contains("deletionTimestamp")) Delete(api::kPods, pod);
    }
    RunPods("sc");
    EXPECT_EQ(Names(api::kPods).size(), static_cast<std::size_t>(replicas));
    EXPECT_EQ(Phase("sc"), "Running") << replicas;
    EXPECT_EQ(Get(api::kConfigMaps, "sc-svc").at("data").at("VC_W_NUM").as_string(), absl::StrCat(replicas));
  };
  for (const int replicas : {4, 1, 0, 2}) scale(replicas);
}

TEST_F(HandlerRowTest, SvcsListsFollowAScaleBeforeTheGangIsLetIn) {
  Start();
  Create(api::kJobs, JobText("sc", 2, {{"w", 2, R"("minAvailable":2)"}}, R"("plugins":{"svc":[]})"));
  Run(absl::Seconds(2));
  ASSERT_EQ(Phase("sc"), "Pending");
  api::volcano::TaskSpec task = Job("sc").spec.tasks[0];
  task.replicas = 3;
  Patch(api::kJobs, "sc", absl::StrCat(R"({"spec":{"tasks":[)", api::Encode(task), "]}}"));
  Run();
  EXPECT_EQ(Get(api::kConfigMaps, "sc-svc").at("data").at("VC_W_NUM").as_string(), "3");
}

TEST_F(HandlerRowTest, SvcLeavesNothingOfAJobThatFailed) {
  Start();
  StartJob("sc",
           JobText("sc", 1, {{"w", 1}},
                   R"("maxRetry":2,"plugins":{"svc":[]},"policies":[{"event":"PodFailed","action":"RestartJob"}])"));
  SetPod("sc-w-0", "Failed", 1);
  LetIn("sc");
  RunPods("sc");
  ASSERT_EQ(Phase("sc"), "Running");
  SetPod("sc-w-0", "Failed", 1);
  ASSERT_EQ(Phase("sc"), "Failed");
  Run();
  for (const api::Resource* resource : {&api::kConfigMaps, &api::kServices, &api::kNetworkPolicies}) {
    EXPECT_TRUE(Get(*resource, resource == &api::kConfigMaps ? "sc-svc" : "sc").is_null()) << resource->plural;
  }
}

// What is written counts, though its tasks say otherwise: a job that is to run without any of its pods.
TEST_F(HandlerRowTest, AMinAvailableOfZeroIsWhatItSays) {
  Start();
  StartJob("sc", JobText("sc", 2, {{"w", 2, R"("minAvailable":2)"}}));
  Patch(api::kJobs, "sc", R"({"spec":{"minAvailable":0}})");
  Run();
  EXPECT_EQ(api::Decode<api::volcano::PodGroup>(api::ToJson(Get(api::kPodGroups, GroupOf("sc"))))->spec.min_member, 0);
  EXPECT_EQ(Job("sc").status.min_available, 0);
}

TEST(StoredJobTest, AnAbsentMinAvailableIsTheSumOfTheTasks) {
  for (const auto& [text, expected] : std::vector<std::pair<std::string, int>>{
           {"", 3}, {R"("minAvailable":0,)", 0}, {R"("minAvailable":2,)", 2}, {R"("minAvailable":-1,)", 3}}) {
    StoredJob stored;
    const std::string json = absl::StrCat(
        R"({"spec":{)", text, R"("tasks":[{"name":"a","replicas":2},{"name":"b","replicas":3,"minAvailable":1}]}})");
    ASSERT_TRUE(api::DecodeInto(json, api::TypeOf<StoredJob>(), &stored).status.ok());
    const api::volcano::Job job = FilledIn(stored);
    EXPECT_EQ(job.spec.min_available, expected) << text;
    EXPECT_EQ(job.spec.queue, "default");
  }
}

TEST_F(HandlerRowTest, H14ATaskThatRestartsTooOften) {
  Start();
  StartJob("j", JobText("j", 1, {{"w", 1, R"("maxRetry":3)"}},
                        R"("policies":[{"event":"TaskFailed","action":"TerminateJob"}])"));
  Patch(
      api::kPods, "j-w-0",
      R"({"status":{"phase":"Running","containerStatuses":[{"name":"c","image":"i","imageID":"","ready":true,"restartCount":4,"state":{"running":{}}}]}})",
      "status");
  Run();
  EXPECT_THAT(Names(api::kPods), IsEmpty());
  EXPECT_THAT(phases_, ElementsAre("Pending", "Running", "Terminating", "Terminated"));
}

TEST_F(HandlerRowTest, H15APodThatAUserDeletes) {
  Start();
  StartJob("j", JobText("j", 2, {{"w", 2}}, R"("policies":[{"event":"PodEvicted","action":"RestartJob"}])"));
  Delete(api::kPods, "j-w-0");
  Delete(api::kPods, "j-w-1");
  LetIn("j");
  RunPods("j");
  EXPECT_THAT(phases_, ElementsAre("Pending", "Running", "Restarting", "Pending", "Running"));
}

}  // namespace
}  // namespace gangway::controller
