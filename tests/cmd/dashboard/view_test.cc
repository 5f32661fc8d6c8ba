// What a person sees of a cluster, from its objects.
#include "cmd/dashboard/view/view.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cmd/dashboard/view/rows.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cmd/dashboard/cluster_seen.h"

namespace gangway::dashboard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using testutil::At;
using testutil::ClusterSeen;

constexpr char kRuns[] = R"({"phase":"Running","conditions":[
  {"type":"Unschedulable","status":"True","message":"waits for 2","lastTransitionTime":"2026-11-24T07:00:03Z"},
  {"type":"Scheduled","status":"True","lastTransitionTime":"2026-11-24T07:00:05Z"}]})";
constexpr char kWaits[] = R"({"phase":"Inqueue","conditions":[
  {"type":"Unschedulable","status":"True","message":"waits for 2 of 4","lastTransitionTime":"2026-11-24T07:00:03Z"}]})";

std::vector<std::string> QueuesOf(const View& view) {
  std::vector<std::string> names;
  for (const QueueRow& row : view.queues) names.push_back(row.name);
  return names;
}

TEST(QueueRowsTest, SharesAreOfTheWeightsBesideAndWhatIsHeldIsWithThoseBelow) {
  ClusterSeen cluster;
  cluster.Queue("ads", R"({"weight":3})")
      .Queue("ads-a", R"({"weight":1,"parent":"ads","capability":{"cpu":"8","pods":"10"}})")
      .Queue("ads-b", R"({"weight":3,"parent":"ads","deserved":{"cpu":"2"}})", R"({"gangway.io/deserved":"cpu=3"})")
      .Queue("nlp", R"({"weight":1,"deserved":{"cpu":"2"}})")
      .Group("ctr", R"({"queue":"ads-a","minMember":2})", kRuns)
      .Group("big", R"({"queue":"ads-b","minMember":4,"minResources":{"cpu":"12","count/pods":"4"}})", kWaits)
      .Pod("ctr-0", "ctr", "n1", R"({"cpu":"1500m"})")
      .Pod("ctr-1", "ctr", "n1", R"({"cpu":"500m","memory":"1Gi"})")
      .Pod("ctr-2", "ctr", "n1", R"({"cpu":"9"})", "Succeeded")
      .Pod("big-0", "big", "", R"({"cpu":"3"})", "Pending");
  const View view = cluster.View();
  ASSERT_THAT(QueuesOf(view), ElementsAre("ads", "ads-a", "ads-b", "nlp"));
  EXPECT_EQ(view.queues[0].share_permille, 750);
  EXPECT_EQ(view.queues[1].share_permille, 250);
  EXPECT_EQ(view.queues[3].share_permille, 250);
  EXPECT_THAT(view.queues[0].held, UnorderedElementsAre(Pair("cpu", 2000), Pair("memory", 1 << 30)));
  EXPECT_THAT(view.queues[0].asked, ElementsAre(Pair("cpu", 12000)));
  EXPECT_THAT(view.queues[1].capability, ElementsAre(Pair("cpu", 8000)));
  EXPECT_THAT(view.queues[2].deserved, ElementsAre(Pair("cpu", 3000))) << "the scheduler's word goes first";
  EXPECT_THAT(view.queues[3].deserved, ElementsAre(Pair("cpu", 2000)));
  EXPECT_EQ(std::pair(view.queues[1].waiting, view.queues[1].running), std::pair(0, 1));
  EXPECT_EQ(std::pair(view.queues[2].waiting, view.queues[2].running), std::pair(1, 0));
}

TEST(QueueRowsTest, WhoAsksForTooMuchCountsAsAsMuchAsThereCanBe) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  model::NamedAmounts sum{{"cpu", kMost - 1}};
  AddAmounts({{"cpu", 2}, {"memory", 3}}, sum);
  EXPECT_THAT(sum, ElementsAre(Pair("cpu", kMost), Pair("memory", 3)));
  EXPECT_EQ(Sum(-kMost, -2), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(Sum(-2, 5), 3);
}

TEST(QueueRowsTest, CirclesEndAndQueuesThatAreNotThereAreShown) {
  ClusterSeen cluster;
  cluster.Queue("a", R"({"weight":1,"parent":"b"})").Queue("b", R"({"weight":1,"parent":"a"})");
  cluster.Group("ctr", R"({"queue":"gone"})", kWaits);
  EXPECT_THAT(QueuesOf(cluster.View()), UnorderedElementsAre("a", "b", "gone"));
}

TEST(GangRowsTest, WhoWaitsStandsFirstWithTheReason) {
  ClusterSeen cluster;
  cluster.Group("a", R"({"minMember":1})", kRuns)
      .Group("b", R"({"minMember":4})", kWaits)
      .Group("c", "{}", R"({"phase":"Pending"})")
      .Group("d", "{}", R"({"phase":"Completed"})")
      .Pod("a-0", "a", "n1", "{}")
      .Pod("a-1", "a", "", "{}", "Pending");
  const View view = cluster.View();
  ASSERT_EQ(view.gangs.size(), 4u);
  EXPECT_EQ(view.gangs[0].owner, "c") << "it has waited since it was created";
  EXPECT_EQ(view.gangs[0].reason, "");
  EXPECT_EQ(view.gangs[1].owner, "b");
  EXPECT_EQ(view.gangs[1].reason, "waits for 2 of 4");
  EXPECT_EQ(view.gangs[1].since, At("2026-11-24T07:00:03Z"));
  EXPECT_EQ(view.gangs[2].owner, "a");
  EXPECT_EQ(view.gangs[2].reason, "") << "its place came after the reason";
  EXPECT_EQ(std::pair(view.gangs[2].pods, view.gangs[2].placed), std::pair(2, 1));
  EXPECT_EQ(view.gangs[3].state, GangState::kEnded);
}

TEST(NodeRowsTest, TheMapIsOfDevicesWhereThereAreSomeByWhoHoldsThem) {
  ClusterSeen cluster;
  cluster.Node("cpu", R"({"cpu":"16","memory":"64Gi"})", R"({"unschedulable":true,"taints":[{"key":"a"}]})")
      .Node("gpu", R"({"cpu":"16","nvidia.com/gpu":"8","hugepages-2Mi":"100"})")
      .Pod("ctr-0", "ctr", "gpu", R"({"cpu":"1","nvidia.com/gpu":"2"})")
      .Pod("ctr-1", "ctr", "gpu", R"({"cpu":"1","nvidia.com/gpu":"2"})")
      .Pod("bert-0", "bert", "gpu", R"({"nvidia.com/gpu":"1"})")
      .Pod("old-0", "old", "gpu", R"({"nvidia.com/gpu":"3"})", "Failed")
      .Pod("ctr-2", "ctr", "cpu", R"({"cpu":"500m"})");
  const View view = cluster.View();
  ASSERT_EQ(view.nodes.size(), 2u);
  EXPECT_EQ(view.nodes[0].leading, "cpu");
  EXPECT_EQ(std::pair(view.nodes[0].held, view.nodes[0].allocatable),
            std::pair(std::int64_t{500}, std::int64_t{16000}));
  EXPECT_TRUE(view.nodes[0].cordoned);
  EXPECT_EQ(view.nodes[0].taints, 1);
  EXPECT_EQ(view.nodes[1].leading, "nvidia.com/gpu");
  EXPECT_EQ(std::pair(view.nodes[1].held, view.nodes[1].allocatable), std::pair(std::int64_t{5}, std::int64_t{8}));
  ASSERT_EQ(view.nodes[1].holders.size(), 2u);
  EXPECT_EQ(view.nodes[1].holders[0].name, "bert");
  EXPECT_EQ(view.nodes[1].holders[1].name, "ctr");
  EXPECT_EQ(std::pair(view.nodes[1].holders[1].pods, view.nodes[1].holders[1].amount), std::pair(2, std::int64_t{4}));
}

TEST(JobRowsTest, ALifeIsToldInTheOrderOfTimeWithTheCausesOfItsRestarts) {
  ClusterSeen cluster;
  cluster
      .Job(
          "ctr",
          R"({"minAvailable":2,"maxRetry":3,"tasks":[{"name":"ps","replicas":1},{"name":"trainer","replicas":2}]})",
          R"({"state":{"phase":"Running"},"retryCount":1,"taskStatusCount":{"trainer":{"phase":{"Running":1,"Failed":1}}},
              "conditions":[{"status":"Pending","lastTransitionTime":"2026-11-24T07:00:00Z"},
                            {"status":"Running","lastTransitionTime":"2026-11-24T07:00:06Z"}],
              "controlledResources":{"gangway.io/last-failure":"{\"event\":\"PodFailed\",\"pod\":\"ctr-trainer-1\",\"container\":\"trainer\",\"exitCode\":137,\"reason\":\"OOMKilled\",\"action\":\"RestartJob\",\"at\":\"2026-11-24T07:00:07Z\"}"}})")
      .Group("ctr", "{}", kRuns)
      .Pod("ctr-trainer-0", "ctr", "n2", "{}")
      .Pod("ctr-trainer-1", "ctr", "n1", "{}")
      .Event("ctr", "u", "ExecuteAction", "Start to execute action RestartJob", "2026-11-24T07:00:08Z")
      .Event("ctr", "another", "ExecuteAction", "of a job that is gone", "2026-11-24T07:00:08Z")
      .Event("ctr", "u", "PodGroupPending", "the gang says it", "2026-11-24T07:00:08Z", "Warning");
  const View view = cluster.View();
  ASSERT_EQ(view.jobs.size(), 1u);
  const JobRow& row = view.jobs[0];
  std::vector<std::pair<Moment::What, std::string>> life;
  for (const Moment& moment : row.life) life.emplace_back(moment.what, moment.text);
  EXPECT_THAT(life, ElementsAre(Pair(Moment::What::kCreated, ""), Pair(Moment::What::kAdmitted, ""),
                                Pair(Moment::What::kPlaced, ""), Pair(Moment::What::kPhase, "Running"),
                                Pair(Moment::What::kFailed,
                                     "pod ctr-trainer-1: container trainer ended with exit code 137 "
                                     "(OOMKilled): RestartJob"),
                                Pair(Moment::What::kAction, "Start to execute action RestartJob")));
  EXPECT_EQ(row.life[1].at, At("2026-11-24T07:00:02Z"));
  EXPECT_EQ(row.life[2].at, At("2026-11-24T07:00:05Z"));
  EXPECT_EQ(std::pair(row.restarts, row.most_restarts), std::pair(1, 2));
  ASSERT_EQ(row.tasks.size(), 2u);
  EXPECT_EQ(std::pair(row.tasks[1].running, row.tasks[1].failed), std::pair(1, 1));
  EXPECT_THAT(row.nodes, ElementsAre("n1", "n2"));
}

// The API has whole seconds.
TEST(JobRowsTest, InOneSecondCausesStandBeforeWhatTheyLedTo) {
  constexpr char kAt[] = "2026-11-24T07:00:02Z";  // when the pod was made
  const auto life = [&](const std::vector<std::string>& phases, bool placed) {
    const std::string conditions = absl::StrJoin(phases, ",", [&](std::string* out, const std::string& phase) {
      absl::StrAppend(out, R"({"status":")", phase, R"(","lastTransitionTime":")", kAt, "\"}");
    });
    ClusterSeen cluster;
    cluster
        .Job("ctr", R"({"tasks":[{"name":"ps","replicas":1}]})",
             absl::StrCat(R"({"conditions":[)", conditions,
                          R"(],"controlledResources":{"gangway.io/last-failure":"{\"event\":\"PodFailed\",\"at\":\")",
                          kAt, R"(\"}"}})"))
        .Group("ctr", "{}",
               placed ? absl::StrCat(R"({"conditions":[{"type":"Scheduled","status":"True","lastTransitionTime":")",
                                     kAt, "\"}]}")
                      : "{}")
        .Pod("ctr-ps-0", "ctr", "n2", "{}")
        .Event("ctr", "u", "ExecuteAction", "RestartJob", kAt);
    std::vector<std::string> steps;
    const View view = cluster.View();
    for (const Moment& moment : view.jobs.at(0).life) {
      switch (moment.what) {
        case Moment::What::kCreated:
          steps.emplace_back("created");
          break;
        case Moment::What::kAdmitted:
          steps.emplace_back("admitted");
          break;
        case Moment::What::kPlaced:
          steps.emplace_back("placed");
          break;
        case Moment::What::kFailed:
          steps.emplace_back("failed");
          break;
        case Moment::What::kAction:
          steps.emplace_back("action");
          break;
        case Moment::What::kPhase:
        case Moment::What::kWarning:
          steps.push_back(moment.text);
      }
    }
    return absl::StrJoin(steps, " ");
  };
  EXPECT_EQ(life({"Pending", "Running", "Restarting"}, true),
            "created admitted placed Running failed action Restarting");
  EXPECT_EQ(life({"Restarting", "Pending", "Running"}, true),
            "created failed action Restarting admitted placed Running");
  EXPECT_EQ(life({"Running", "Restarting", "Pending"}, false), "created Running failed action Restarting admitted");
  EXPECT_EQ(life({"Pending", "Running", "Aborting", "Aborted"}, true),
            "created admitted placed Running failed action Aborting Aborted");
}

TEST(JobRowsTest, WhatHasEndedStandsLast) {
  ClusterSeen cluster;
  cluster.Job("a", "{}", R"({"state":{"phase":"Completed"}})").Job("b", "{}", R"({"state":{"phase":"Aborted"}})");
  const View view = cluster.View();
  ASSERT_EQ(view.jobs.size(), 2u);
  EXPECT_EQ(view.jobs[0].name, "b") << "an aborted job may go on";
  EXPECT_TRUE(view.jobs[1].ended);
}

TEST(PaddleRowsTest, BothDialectsWithTheirRoles) {
  ClusterSeen cluster;
  cluster.objects().paddle_jobs.push_back(testutil::Read<api::paddle::PaddleJob>(R"({
    "metadata":{"namespace":"ads","name":"ctr","creationTimestamp":"2026-11-24T07:00:00Z"},
    "spec":{"ps":{"replicas":2},"worker":{"replicas":3}},
    "status":{"phase":"Running","mode":"PS","restarts":1,"ps":{"running":2,"pending":0,"starting":0,"failed":0,"succeeded":0,"unknown":0},
              "worker":{"running":1,"starting":2,"pending":0,"failed":0,"succeeded":0,"unknown":0}}})"));
  cluster.objects().kubeflow_jobs.push_back(testutil::Read<api::paddle::kubeflow::PaddleJob>(R"({
    "metadata":{"namespace":"ads","name":"bert"},"spec":{"paddleReplicaSpecs":{"Worker":{"replicas":2}}},
    "status":{"conditions":[{"type":"Created","status":"True"},{"type":"Succeeded","status":"True","message":"done"}],
              "replicaStatuses":{"Worker":{"succeeded":2}}}})"));
  const View view = cluster.View();
  ASSERT_EQ(view.paddle_jobs.size(), 2u);
  EXPECT_EQ(view.paddle_jobs[0].group, "batch.paddlepaddle.org");
  ASSERT_EQ(view.paddle_jobs[0].roles.size(), 2u);
  EXPECT_EQ(view.paddle_jobs[0].roles[1].name, "worker");
  EXPECT_EQ(view.paddle_jobs[0].roles[1].pending, 2);
  EXPECT_EQ(view.paddle_jobs[0].roles[1].wanted, 3);
  EXPECT_EQ(view.paddle_jobs[1].phase, "Succeeded");
  EXPECT_TRUE(view.paddle_jobs[1].ended);
  EXPECT_EQ(view.paddle_jobs[1].roles[0].succeeded, 2);
}

TEST(SeenTest, AHolderIsTheJobTheGroupTheControllerOrThePodItself) {
  const auto holder = [](const std::string& metadata) {
    return PodSeenOf(*testutil::Read<api::core::Pod>(absl::StrCat(R"({"metadata":)", metadata, "}"))).holder;
  };
  EXPECT_EQ(
      holder(R"({"name":"p","labels":{"volcano.sh/job-name":"j"},"annotations":{"scheduling.k8s.io/group-name":"g"}})"),
      "j");
  EXPECT_EQ(holder(R"({"name":"p","annotations":{"scheduling.k8s.io/group-name":"g"}})"), "g");
  EXPECT_EQ(
      holder(
          R"({"name":"p","ownerReferences":[{"apiVersion":"v","kind":"K","name":"o","uid":"u","controller":true}]})"),
      "o");
  EXPECT_EQ(holder(R"({"name":"p"})"), "p");
}

TEST(ViewTest, NothingIsNothing) {
  const View view = ClusterSeen().View();
  EXPECT_THAT(view.queues, IsEmpty());
  EXPECT_THAT(view.jobs, IsEmpty());
}

}  // namespace
}  // namespace gangway::dashboard
