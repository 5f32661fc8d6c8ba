#include "plugin/extender/session/decode_session.h"

#include <memory>
#include <string>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/extender/session/decode_task.h"
#include "plugin/extender/session/json_walk.h"
#include "plugin/extender/session/session_plan.h"
#include "tests/plugin/extender/session/recordings.h"
#include "tests/testing/status_matchers.h"

namespace gangway::extender {
namespace {

using model::Cluster;
using ::testing::HasSubstr;
using testutil::Recorded;

std::unique_ptr<Cluster> Read(absl::string_view body) {
  auto cluster = std::make_unique<Cluster>();
  GW_EXPECT_OK(DecodeSession(body, {}, *cluster));
  EXPECT_TRUE(cluster->Audit().empty());
  return cluster;
}

std::string Error(absl::string_view body, const SessionLimits& limits = {}) {
  Cluster cluster;
  return std::string(DecodeSession(body, limits, cluster).message());
}

model::TaskStatus StatusOf(std::int64_t wire) {
  switch (wire) {
    case 1:
      return model::TaskStatus::kPending;
    case 16:
      return model::TaskStatus::kBound;
    case 32:
      return model::TaskStatus::kRunning;
    case 64:
      return model::TaskStatus::kReleasing;
    case 128:
      return model::TaskStatus::kSucceeded;
    default:
      ADD_FAILURE() << "no recording has status " << wire;
      return model::TaskStatus::kUnknown;
  }
}

// Every node has free what the scheduler says is idle, and every job's tasks are where it says; with another reader.
void ExpectAsTheSchedulerSaysItself(const std::string& body) {
  const std::unique_ptr<Cluster> cluster = Read(body);
  const boost::json::value document = boost::json::parse(body);
  const boost::json::object& nodes = document.at("Nodes").as_object();
  EXPECT_EQ(cluster->present_nodes(), static_cast<int>(nodes.size()));
  for (const auto& [name, node] : nodes) {
    const model::Row row = cluster->FindNode({name.data(), name.size()});
    ASSERT_NE(row, model::kNone) << name;
    const boost::json::value& idle = node.at("Idle");
    EXPECT_EQ(static_cast<double>(cluster->free(row, model::kCpu)), idle.at("MilliCPU").to_number<double>()) << name;
    EXPECT_EQ(static_cast<double>(cluster->free(row, model::kMemory)), idle.at("Memory").to_number<double>()) << name;
    const boost::json::value& scalars = idle.at("ScalarResources");
    EXPECT_EQ(static_cast<double>(cluster->free(row, model::kEphemeralStorage)) * 1000,
              scalars.at("ephemeral-storage").to_number<double>())
        << name;
    EXPECT_EQ(static_cast<double>(cluster->free(row, model::kPods)), scalars.at("pods").to_number<double>()) << name;
  }
  for (const auto& [id, job] : document.at("Jobs").as_object()) {
    const model::GangId gang =
        cluster->FindGang(std::string(job.at("Namespace").as_string()), std::string(job.at("Name").as_string()));
    ASSERT_NE(gang, model::kNone) << id;
    EXPECT_TRUE(cluster->gang(gang).known) << id;
    EXPECT_EQ(cluster->gang(gang).min_member, job.at("MinAvailable").as_int64());
    EXPECT_EQ(cluster->PriorityOf(cluster->gang(gang)), job.at("Priority").as_int64());
    EXPECT_EQ(cluster->queue(cluster->gang(gang).queue).name, std::string(job.at("Queue").as_string()));
    EXPECT_TRUE(cluster->queue(cluster->gang(gang).queue).known);
    EXPECT_EQ(cluster->gang(gang).tasks.size(), job.at("Tasks").as_object().size());
    for (const auto& [uid, told] : job.at("Tasks").as_object()) {
      const model::TaskId at =
          cluster->FindTask(std::string(told.at("Namespace").as_string()), std::string(told.at("Name").as_string()));
      ASSERT_NE(at, model::kNone) << uid;
      const model::Task& task = cluster->task(at);
      EXPECT_EQ(task.uid, std::string(uid));
      EXPECT_EQ(task.gang, gang);
      EXPECT_EQ(task.status, StatusOf(told.at("Status").as_int64()));
      EXPECT_EQ(task.row == model::kNone ? "" : std::string(cluster->node_name(task.row)),
                std::string(told.at("NodeName").as_string()));
      EXPECT_EQ(cluster->names().Text(task.role), std::string(told.at("TaskRole").as_string()));
      EXPECT_EQ(task.priority, told.at("Priority").as_int64());
    }
  }
}

class RecordedSessionTest : public ::testing::TestWithParam<int> {};
TEST_P(RecordedSessionTest, IsReadAsTheSchedulerHasIt) {
  ExpectAsTheSchedulerSaysItself(Recorded(absl::StrCat("onSessionOpen-", GetParam())).body);
}
INSTANTIATE_TEST_SUITE_P(All, RecordedSessionTest, ::testing::Range(1, 7));

TEST(DecodeSessionTest, ALargeSessionIsReadAsTheSchedulerHasIt) {
  ExpectAsTheSchedulerSaysItself(testutil::LargeSession());
}

// Its PodGroup is gone, some of its pods are still on their node, and about to go.
TEST(DecodeSessionTest, PodsOfAJobThatIsNotListedAreTheirNodes) {
  const std::unique_ptr<Cluster> cluster = Read(Recorded("onSessionOpen-4").body);
  const model::TaskId task = cluster->FindTask("x-seed", "ctr-volcano-pserver-0");
  ASSERT_NE(task, model::kNone);
  EXPECT_EQ(cluster->task(task).status, model::TaskStatus::kReleasing);
  EXPECT_EQ(cluster->node_name(cluster->task(task).row), "node-005");
}

TEST(DecodeSessionTest, TheOrderOfMembersDoesNotMatter) {
  const std::string body = Recorded("onSessionOpen-3").body;
  const std::size_t nodes = body.find(",\"Nodes\":{"), queues = body.find(",\"Queues\":{");
  ASSERT_NE(nodes, std::string::npos);
  const std::string turned = absl::StrCat("{", body.substr(nodes + 1, queues - nodes - 1), ",",
                                          body.substr(1, nodes - 1), body.substr(queues));
  ExpectAsTheSchedulerSaysItself(turned);
}

TEST(DecodeSessionTest, KeysAreFoundWhateverTheirCase) {
  const std::string body = absl::StrReplaceAll(Recorded("onSessionOpen-2").body, {{"\"Jobs\"", "\"jobs\""},
                                                                                  {"\"Tasks\"", "\"TASKS\""},
                                                                                  {"\"Nodes\"", "\"nODES\""},
                                                                                  {"\"Resreq\"", "\"resreq\""},
                                                                                  {"\"MilliCPU\"", "\"millicpu\""},
                                                                                  {"\"Status\"", "\"sTATUS\""}});
  const std::unique_ptr<Cluster> cluster = Read(body);
  EXPECT_EQ(cluster->present_nodes(), 6);
  const model::TaskId task = cluster->FindTask("x-seed", "ctr-volcano-trainer-0");
  ASSERT_NE(task, model::kNone);
  EXPECT_EQ(cluster->shape(cluster->task(task).shape).request[model::kCpu], 1000);
}

constexpr char kPod[] = R"("Pod":{"metadata":{"name":"p","namespace":"ns"},"spec":{}})";
std::string Body(absl::string_view task) {
  return absl::StrCat(
      R"({"Jobs":{"ns/g":{"UID":"ns/g","PodGroup":{"metadata":{"name":"g","namespace":"ns"},"spec":{"minMember":1}},"Tasks":{"u":{"UID":"u","Job":"ns/g","Name":"p","Namespace":"ns",)",
      task,
      R"(}}}},"Nodes":{"n":{"Name":"n","Node":{"metadata":{"name":"n"}},"Allocatable":{"MilliCPU":4000,"Memory":1e9}}},"Queues":null})");
}

TEST(DecodeSessionTest, TheLastOfSeveralCountsAndNullIsNothing) {
  const std::unique_ptr<Cluster> cluster = Read(Body(absl::StrCat(
      R"("Status":32,"Status":1,"Priority":7,"Priority":null,"unknown":{"a":[1]},"Resreq":{"MilliCPU":1,"MilliCPU":500.2,"ScalarResources":null},)",
      kPod)));
  const model::Task& task = cluster->task(cluster->FindTask("ns", "p"));
  EXPECT_EQ(task.status, model::TaskStatus::kPending);
  EXPECT_EQ(task.priority, 7);
  EXPECT_EQ(cluster->shape(task.shape).request[model::kCpu], 501);  // what is asked for is rounded up
  EXPECT_EQ(cluster->free(cluster->FindNode("n"), model::kMemory), 1'000'000'000);
}

// What Volcano does not say of amounts, the objects do.
TEST(DecodeSessionTest, AmountsThatAreNullAreThoseOfTheObjects) {
  std::string body = absl::StrReplaceAll(
      Body(
          R"("Status":1,"Resreq":null,"Pod":{"metadata":{},"spec":{"containers":[{"resources":{"requests":{"cpu":"3"}}}]}})"),
      {{R"("Allocatable":{"MilliCPU":4000,"Memory":1e9})", R"("Allocatable":null)"},
       {R"({"metadata":{"name":"n"}})", R"({"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"8"}}})"}});
  const std::unique_ptr<Cluster> cluster = Read(body);
  EXPECT_EQ(cluster->shape(cluster->task(cluster->FindTask("ns", "p")).shape).request[model::kCpu], 3000);
  EXPECT_EQ(cluster->free(cluster->FindNode("n"), model::kCpu), 8000);
}

TEST(DecodeSessionTest, OfAJobThatStandsTwiceTheLastOneCounts) {
  const auto job = [](absl::string_view pod, int least) {
    return absl::StrCat(R"("ns/g":{"PodGroup":{"metadata":{"name":"g","namespace":"ns"},"spec":{"minMember":)", least,
                        R"(}},"Tasks":{"u":{"Job":"ns/g","Name":")", pod,
                        R"(","Namespace":"ns","Status":1,"Pod":{"metadata":{}}}}})");
  };
  const std::unique_ptr<Cluster> cluster = Read(absl::StrCat("{\"Jobs\":{", job("a", 1), ",", job("b", 2), "}}"));
  EXPECT_EQ(cluster->FindTask("ns", "a"), model::kNone);
  EXPECT_NE(cluster->FindTask("ns", "b"), model::kNone);
  EXPECT_EQ(cluster->gang(cluster->FindGang("ns", "g")).min_member, 2);
}

TEST(DecodeSessionTest, WhatIsWrongIsNamed) {
  const auto task = [](absl::string_view members) { return Error(Body(absl::StrCat(members, ",", kPod))); };
  const std::string at = R"(Jobs["ns/g"].Tasks["u"])";
  EXPECT_EQ(task(R"("Status":3)"), at + ".Status: 3 is no task status; one of 1, 2, 4 up to 512");
  EXPECT_EQ(task(R"("Status":"1")"), at + ".Status: must be an integer");
  EXPECT_EQ(task(R"("Priority":1.5)"), at + ".Priority: must be an integer");
  EXPECT_EQ(task(R"("SchGated":1)"), at + ".SchGated: must be true or false");
  EXPECT_EQ(task(R"("Resreq":{"MilliCPU":NaN})"), at + ".Resreq.MilliCPU: must be a number");
  EXPECT_EQ(task(R"("Resreq":{"MilliCPU":1e999})"), at + ".Resreq.MilliCPU: must be a number");
  EXPECT_EQ(task(R"("Resreq":{"ScalarResources":{"gpu":"1"}})"),
            at + R"(.Resreq.ScalarResources["gpu"]: must be a number)");
  EXPECT_EQ(task(R"("Resreq":[])"), at + ".Resreq: must be an object");
  EXPECT_EQ(Error(Body(R"("Pod":null)")), at + ": Pod is missing");
  EXPECT_THAT(Error(Body(R"("Pod":{"metadata":{"name":7}})")), HasSubstr(at + ".Pod"));
  EXPECT_EQ(Error(R"({"Jobs":{"a/b":{"PodGroup":{"metadata":{}}}}})"),
            R"(Jobs["a/b"]: PodGroup.metadata.name is missing)");
  EXPECT_THAT(Error(R"({"Nodes":{"n":{"Node":{"status":{"capacity":7}}}}})"),
              HasSubstr(R"(Nodes["n"].Node: status.capacity)"));
  EXPECT_THAT(Error(R"({"Queues":{"q":{"Queue":{"spec":{"weight":"x"}}}}})"),
              HasSubstr(R"(Queues["q"].Queue: spec.weight)"));
}

// Whatever a body is cut to, it is refused, and nothing is made of it.
TEST(DecodeSessionTest, ABodyThatIsCutOffIsRefused) {
  const std::string body = Recorded("onSessionOpen-1").body;
  for (std::size_t size = 0; size < body.size(); size += 97)
    EXPECT_NE(Error(absl::string_view(body).substr(0, size)), "") << size;
}

TEST(DecodeSessionTest, ThereAreLimits) {
  const std::string body = Recorded("onSessionOpen-2").body;
  EXPECT_EQ(Error(body, {.max_nodes = 5}), R"(Nodes["node-005"]: more than 5 nodes)");
  EXPECT_THAT(Error(body, {.max_tasks = 3}), HasSubstr("more than 3 tasks"));
  EXPECT_THAT(Error(body, {.max_queues = 1}), HasSubstr("more than 1 queues"));
  EXPECT_THAT(Error(body, {.max_jobs = 0}), HasSubstr("more than 0 jobs"));
  EXPECT_THAT(Error(absl::StrCat("{\"x\":", std::string(5000, '['), std::string(5000, ']'), "}")),
              HasSubstr("too deep"));
}

// What the quotas of a namespace leave lets gangs in or not, where the plugin resourcequota is configured.
TEST(DecodeSessionTest, QuotasOfANamespaceCount) {
  const std::string body =
      R"({"Jobs":{"n/g":{"PodGroup":{"metadata":{"name":"g","namespace":"n","uid":"u"},"spec":{"minMember":4,"queue":"default","minResources":{"cpu":"36","requests.cpu":"36"}},"status":{"phase":"Pending"}}}},"Nodes":{},"Queues":{"default":{"Queue":{"metadata":{"name":"default"},"status":{"state":"Open"}}}},"NamespaceInfo":{"n":{"Name":"n","QuotaStatus":{"q":{"hard":{"requests.cpu":"40","pods":"9"},"used":{"requests.cpu":"5"}}}},"m":{"QuotaStatus":null},"k":null}})";
  gang::Policy policy;
  for (const bool by_quotas : {false, true}) {
    policy.admit_by_quotas = by_quotas;
    const std::unique_ptr<Cluster> cluster = Read(body);
    gang::Scratch scratch;
    const auto plan = SessionPlan::Make(*cluster, {.policy = policy, .whole_gangs = false, .sums = false},
                                        absl::FromUnixSeconds(1'795'000'000), scratch);
    ASSERT_EQ(plan->gangs().size(), 1u);
    for (const PlannedGang& gang : plan->gangs()) {
      EXPECT_EQ(gang.let_in, !by_quotas) << gang.job << ": " << gang.why;
      if (by_quotas) EXPECT_THAT(gang.why, HasSubstr("needs requests.cpu 36, quota q uses 5 of 40, 1 too many"));
    }
  }
  EXPECT_THAT(Error(R"({"NamespaceInfo":{"n":{"QuotaStatus":{"q":{"hard":{"cpu":"much"}}}}}})"),
              HasSubstr(R"(NamespaceInfo["n"].QuotaStatus["q"])"));
  EXPECT_THAT(Error(R"({"NamespaceInfo":{"n":{"QuotaStatus":{"a":{},"b":{}}}}})", {.max_quotas = 1}),
              HasSubstr("more than 1 quotas"));
}

}  // namespace
}  // namespace gangway::extender
