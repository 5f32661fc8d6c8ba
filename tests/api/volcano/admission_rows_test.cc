// Rows V1 to V43, M1 to M5 and X1 to X7 of tests/spec/volcano-job.rows. What is allowed is Volcano's; the texts
// are ours, so a refusal is known by its field and what it says of it.
#include <ostream>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json_value.h"
#include "api/volcano/admission.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/api/volcano/recorded_admission.h"

namespace gangway::api::volcano {
namespace {

using ::testing::ElementsAre;

constexpr char kContainers[] = R"("containers":[{"name":"c","image":"i"}])";

std::string Task(const std::string& name, int replicas, const std::string& extra = "",
                 const std::string& pod = kContainers) {
  return absl::StrCat("{", name.empty() ? "" : absl::StrCat(R"("name":")", name, "\","), R"("replicas":)", replicas,
                      ",", extra.empty() ? "" : extra + ",", R"("template":{"spec":{)", pod, "}}}");
}
std::string Tasks(const std::vector<std::string>& tasks) {
  return absl::StrCat(R"("tasks":[)", absl::StrJoin(tasks, ","), "]");
}
// The baseline of 9.7 with some fields of its spec replaced; null removes one.
value JobWith(const std::string& spec) {
  value job = Json(absl::StrCat(
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"job1","namespace":"test"},"spec":{"minAvailable":1,"queue":"default",)",
      Tasks({Task("task-1", 1)}), "}}"));
  ApplyMergePatch(job.as_object().at("spec"), Json(absl::StrCat("{", spec, "}")));
  return job;
}
Verdict Create(value& job) {
  AdmissionRequest request;
  request.resource = &kJobs;
  request.ns = "test";
  return Admit(request, &job, RecordedQueues);
}

struct CreateCase {
  std::string name, spec;
  std::string field, says;  // empty: allowed
  int code = 400;
  friend void PrintTo(const CreateCase& c, std::ostream* out) { *out << c.name; }
};
class CreateRowTest : public ::testing::TestWithParam<CreateCase> {};
TEST_P(CreateRowTest, IsJudged) {
  const CreateCase& c = GetParam();
  value job = JobWith(c.spec);
  const Verdict verdict = Create(job);
  if (c.field.empty()) {
    EXPECT_TRUE(verdict.allowed()) << verdict.message;
    return;
  }
  EXPECT_EQ(verdict.code, c.code) << verdict.message;
  bool found = false;
  for (const FieldError& error : verdict.errors)
    found = found || (error.field == c.field && absl::StrContains(error.ToString(), c.says));
  EXPECT_TRUE(found) << verdict.message;
}

std::string Policies(const std::string& list) { return absl::StrCat(R"("policies":[)", list, "]"); }
std::string Partitioned(int replicas, int size, int total, const std::string& policy = "",
                        const std::string& task = "") {
  return Tasks({Task("task-1", replicas,
                     absl::StrCat(R"("partitionPolicy":{"totalPartitions":)", total, R"(,"partitionSize":)", size,
                                  policy.empty() ? "" : ",", policy, "}", task.empty() ? "" : ",", task))});
}
std::string DependsOn(const std::string& names) { return absl::StrCat(R"("dependsOn":{"name":[)", names, "]}"); }
std::string Cpus(const std::string& limits) {
  return absl::StrCat(R"("containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":")", limits, R"("}}}])");
}
constexpr char kStarAndMore[] = R"({"event":"*","action":"AbortJob"},{"event":"PodFailed","action":"RestartJob"})";
constexpr char kBothTiers[] = R"("networkTopology":{"highestTierAllowed":1,"highestTierName":"rack"})";
// Two containers that ask for as much each, in a pod that asks for `all`.
std::string TwoAsk(absl::string_view resource, absl::string_view each, absl::string_view all) {
  const std::string resources = absl::StrCat(R"("resources":{"requests":{")", resource, R"(":")");
  const std::string container = absl::StrCat(R"(,"image":"i",)", resources, each, R"("}}})");
  return absl::StrCat(resources, all, R"("}},"containers":[{"name":"a")", container, R"(,{"name":"b")", container, "]");
}

INSTANTIATE_TEST_SUITE_P(
    Spec, CreateRowTest,
    ::testing::Values(
        CreateCase{"V1", "", "", ""},
        CreateCase{"V2", Policies(R"({"event":"PodEvicted","action":"RestartTask"})"), "", ""},
        CreateCase{"V3", Tasks({Task("duplicated-task-1", 1), Task("duplicated-task-1", 1)}), "spec.tasks[1].name",
                   R"(Duplicate value: "duplicated-task-1")"},
        CreateCase{"V4",
                   Policies(R"({"event":"PodFailed","action":"AbortJob"},{"event":"PodFailed","action":"RestartJob"})"),
                   "spec.policies[1].event", "Duplicate"},
        CreateCase{"V5", R"("minAvailable":2)", "spec.minAvailable", "must not be greater than"},
        CreateCase{"V6", R"("plugins":{"big_plugin":[]})", "spec.plugins.big_plugin", "there is no such job plugin"},
        CreateCase{"V7", R"("tasks":null)", "spec.tasks", "a job needs at least one task"},
        CreateCase{"V8", Tasks({Task("task-1", -1)}), "spec.tasks[0].replicas", "-1",
                   422},  // ours looks with the schema's eyes as well
        CreateCase{"V9", Policies(R"({"event":"PodFailed","exitCode":-1,"action":"AbortJob"})"),
                   "spec.policies[0].exitCode", "must not be given together with an event"},
        CreateCase{"V10", Policies(R"({"action":"AbortJob"})"), "spec.policies[0].event",
                   "a policy needs an event or an exitCode"},
        CreateCase{"V11", Policies(R"({"event":"someFakeEvent","action":"AbortJob"})"), "spec.policies[0].event",
                   "Unsupported value", 422},
        CreateCase{"V12", Policies(R"({"event":"PodEvicted","action":"someFakeAction"})"), "spec.policies[0].action",
                   "Unsupported value"},
        CreateCase{"V13", Policies(R"({"exitCode":0,"action":"AbortJob"})"), "spec.policies[0].exitCode",
                   "must not be 0"},
        CreateCase{"V14", Policies(R"({"exitCode":1},{"exitCode":1})"), "spec.policies[1].exitCode", "Duplicate"},
        CreateCase{"V15JobLevel", Policies(kStarAndMore), "spec.policies", "the event * includes all others"},
        CreateCase{"V15TaskLevel", Tasks({Task("task-1", 1, Policies(kStarAndMore))}), "spec.tasks[0].policies",
                   "the event * includes all others"},
        CreateCase{"V16", R"("volumes":[{"mountPath":"","volumeClaimName":"pvc1"}])", "spec.volumes[0].mountPath",
                   R"(Invalid value: "": must not be empty)", 422},
        CreateCase{
            "V17",
            R"("volumes":[{"mountPath":"/var","volumeClaimName":"pvc1"},{"mountPath":"/var","volumeClaimName":"pvc2"}])",
            "spec.volumes[1].mountPath", R"(Duplicate value: "/var")"},
        CreateCase{"V18", R"("volumes":[{"mountPath":"/var"}])", "spec.volumes[0].volumeClaimName",
                   "either volumeClaimName"},
        CreateCase{"V19", R"("queue":"not-there")", "spec.queue", "Not found"},
        CreateCase{"V20Container",
                   Tasks({Task("task-1", 1, "",
                               R"("containers":[{"name":"c","image":"i","securityContext":{"privileged":true}}])")}),
                   "", ""},
        CreateCase{
            "V20InitContainer",
            Tasks({Task("task-1", 1, "",
                        absl::StrCat(
                            kContainers,
                            R"(,"initContainers":[{"name":"n","image":"i","securityContext":{"privileged":true}}])"))}),
            "", ""},
        CreateCase{"V21", Tasks({Task("t1", 1, DependsOn(R"("t2")")), Task("t2", 1)}), "", ""},
        CreateCase{"V22", Tasks({Task("t1", 1, DependsOn(R"("t3")")), Task("t2", 1)}),
                   "spec.tasks[0].dependsOn.name[0]", "no task has this name"},
        CreateCase{"V23", Partitioned(8, -1, 8), "spec.tasks[0].partitionPolicy.partitionSize", "-1", 422},
        CreateCase{"V24", Partitioned(8, 8, -1), "spec.tasks[0].partitionPolicy.totalPartitions", "-1", 422},
        CreateCase{"V25", Partitioned(8, 3, 2), "spec.tasks[0].replicas",
                   "must be totalPartitions x partitionSize, 2 x 3 = 6"},
        CreateCase{"V26", Partitioned(8, 4, 2), "", ""},
        CreateCase{"V26MinPartitions", Partitioned(8, 4, 2, R"("minPartitions":1)"), "", ""},
        CreateCase{"V26TierName", Partitioned(8, 4, 2, R"("networkTopology":{"highestTierName":"rack"})"), "", ""},
        CreateCase{"V27Job", kBothTiers, "spec.networkTopology.highestTierName",
                   "must not be given together with highestTierAllowed"},
        CreateCase{"V27Partition", Partitioned(8, 4, 2, kBothTiers),
                   "spec.tasks[0].partitionPolicy.networkTopology.highestTierName", "must not be given together"},
        CreateCase{"V27BothJob", absl::StrCat(kBothTiers, ",", Partitioned(8, 4, 2, kBothTiers)),
                   "spec.networkTopology.highestTierName", "must not"},
        CreateCase{"V27BothPartition", absl::StrCat(kBothTiers, ",", Partitioned(8, 4, 2, kBothTiers)),
                   "spec.tasks[0].partitionPolicy.networkTopology.highestTierName", "must not"},
        CreateCase{"V28", Partitioned(8, 2, 4, R"("minPartitions":1)", R"("minAvailable":4)"),
                   "spec.tasks[0].minAvailable", "must be minPartitions x partitionSize, 1 x 2 = 2"},
        CreateCase{"V29", Partitioned(8, 2, 4, R"("minPartitions":2)", R"("minAvailable":4)"), "", ""},
        CreateCase{"V30", Partitioned(4, 2, 2, R"("minPartitions":0)", R"("minAvailable":4)"), "", ""},
        CreateCase{"V31",
                   absl::StrCat(R"("plugins":{"mpi":["--master=launcher"]},)",
                                Tasks({Task("launcher", 1), Task("worker", 1)})),
                   "", ""},
        CreateCase{"V31LauncherAlone",
                   absl::StrCat(R"("plugins":{"mpi":["--master=launcher"]},)", Tasks({Task("launcher", 1)})), "", ""},
        CreateCase{"V32", absl::StrCat(R"("plugins":{"mpi":["--master=launcher"]},)", Tasks({Task("worker", 1)})),
                   "spec.plugins.mpi", "no task is called launcher"},
        // As with the feature on, which Kubernetes has it by default since 1.34.
        CreateCase{"V33", Tasks({Task("task-1", 1, "", TwoAsk("cpu", "2", "2"))}),
                   "spec.tasks[0].template.spec.resources.requests.cpu",
                   R"("2": must be greater than or equal to aggregate container requests of 4)"},
        CreateCase{"V33Memory", Tasks({Task("task-1", 1, "", TwoAsk("memory", "2Gi", "2Gi"))}),
                   "spec.tasks[0].template.spec.resources.requests.memory",
                   R"("2Gi": must be greater than or equal to aggregate container requests of 4Gi)"},
        CreateCase{"V33Enough", Tasks({Task("task-1", 1, "", TwoAsk("cpu", "2", "4"))}), "", ""},
        CreateCase{
            "V34",
            Tasks({Task("task-1", 1, "",
                        absl::StrCat(R"("resources":{"requests":{"cpu":"6"},"limits":{"cpu":"4"}},)", kContainers))}),
            "spec.tasks[0].template.spec.resources.requests.cpu",
            R"("6": must be less than or equal to cpu limit of 4)"},
        CreateCase{
            "V34Equal",
            Tasks({Task("task-1", 1, "",
                        absl::StrCat(R"("resources":{"requests":{"cpu":"4"},"limits":{"cpu":"4"}},)", kContainers))}),
            "", ""},
        CreateCase{"V35", R"("queue":"root")", "spec.queue", "root"},
        CreateCase{"V36", R"("queue":"q-parent")", "spec.queue", "q-child"},
        CreateCase{"V37", R"("queue":"q-child")", "", ""},
        CreateCase{"V38", Tasks({Task("task-1", 1, R"("topologyPolicy":"restricted")", Cpus("1"))}), "", ""},
        CreateCase{"V38Half", Tasks({Task("task-1", 1, R"("topologyPolicy":"restricted")", Cpus("500m"))}),
                   "spec.tasks[0].template.spec.containers[0].resources.requests.cpu",
                   "must be a whole number of CPUs"},
        CreateCase{
            "V39",
            Tasks({Task("t1", 1, DependsOn(R"("t2","t3")")), Task("t2", 1, DependsOn(R"("t3")")), Task("t3", 1)}), "",
            ""},
        CreateCase{
            "V39OtherWay",
            Tasks({Task("t1", 1, DependsOn(R"("t2","t3")")), Task("t2", 1), Task("t3", 1, DependsOn(R"("t2")"))}), "",
            ""},
        CreateCase{"V40", Tasks({Task("t1", 1, DependsOn(R"("t2")")), Task("t2", 1, DependsOn(R"("t1")"))}),
                   "spec.tasks[1].dependsOn.name", "t1 -> t2 -> t1"},
        CreateCase{"V40Self", Tasks({Task("t1", 1), Task("t2", 1, DependsOn(R"("t2")"))}),
                   "spec.tasks[1].dependsOn.name", "t2 -> t2"},
        CreateCase{"V41", Tasks({Task("t1", 1, DependsOn(R"("t2","t2")")), Task("t2", 1)}),
                   "spec.tasks[0].dependsOn.name[1]", "Duplicate"},
        CreateCase{"V42", R"("queue":"q-closed")", "spec.queue", "Closed"},
        // Volcano's CEL policies, off by default, do not know this action; there are none here (docs/differences.md).
        CreateCase{"V43", Policies(R"({"event":"PodFailed","action":"RestartPartition"})"), "", ""}),
    [](const auto& c) { return c.param.name; });

// --- Defaults

boost::json::array TasksAfter(const std::string& spec) {
  value job = JobWith(absl::StrCat(R"("minAvailable":null,)", spec));
  const Verdict verdict = Create(job);
  EXPECT_TRUE(verdict.allowed()) << verdict.message;
  return job.at("spec").at("tasks").as_array();
}
std::vector<std::int64_t> MinAvailables(const boost::json::array& tasks) {
  std::vector<std::int64_t> out;
  for (const value& task : tasks) out.push_back(task.at("minAvailable").as_int64());
  return out;
}

TEST(MutationRowTest, M1UnnamedTasks) {
  const std::string partitions = R"("partitionPolicy":{"totalPartitions":1,"partitionSize":1})";
  const boost::json::array tasks =
      TasksAfter(Tasks({Task("", 1), Task("", 2, R"("minAvailable":1)"),
                        Task("", 1, partitions + R"(,"minAvailable":1)"), Task("", 1, partitions)}));
  std::vector<std::string> names;
  for (const value& task : tasks) {
    names.emplace_back(task.at("name").as_string());
    EXPECT_EQ(task.at("maxRetry").as_int64(), 3);
  }
  EXPECT_THAT(names, ElementsAre("default0", "default1", "default2", "default3"));
  EXPECT_THAT(MinAvailables(tasks), ElementsAre(1, 1, 1, 1));
}

TEST(MutationRowTest, M2MinPartitions) {
  EXPECT_THAT(MinAvailables(TasksAfter(Partitioned(9, 3, 3, R"("minPartitions":2)"))), ElementsAre(6));
}

TEST(MutationRowTest, M3WithoutMinPartitions) {
  EXPECT_THAT(MinAvailables(TasksAfter(Partitioned(4, 2, 2))), ElementsAre(4));
  EXPECT_THAT(MinAvailables(TasksAfter(Tasks({Task("task-1", 5)}))), ElementsAre(5));
}

TEST(MutationRowTest, M4QueueAndScheduler) {
  value job = JobWith(absl::StrCat(R"("queue":null,)", Tasks({Task("", 1), Task("", 1)})));
  ASSERT_TRUE(Create(job).allowed());
  const value& spec = job.at("spec");
  EXPECT_EQ(spec.at("queue").as_string(), "default");
  EXPECT_EQ(spec.at("schedulerName").as_string(), "volcano");
  EXPECT_EQ(spec.at("tasks").at(0).at("name").as_string(), "default0");
  EXPECT_EQ(spec.at("tasks").at(1).at("name").as_string(), "default1");
}

TEST(MutationRowTest, M5TheSumOfTheTasks) {
  value job = JobWith(absl::StrCat(R"("minAvailable":0,)", Tasks({Task("a", 2), Task("b", 3, R"("minAvailable":1)")})));
  ASSERT_TRUE(Create(job).allowed());
  EXPECT_EQ(job.at("spec").at("minAvailable").as_int64(), 3);
}

// --- Updates

struct UpdateCase {
  std::string name, spec, field;  // no field: allowed
  friend void PrintTo(const UpdateCase& c, std::ostream* out) { *out << c.name; }
};
class UpdateRowTest : public ::testing::TestWithParam<UpdateCase> {};
TEST_P(UpdateRowTest, IsJudged) {
  const value before = JobWith(absl::StrCat(R"("minAvailable":5,)", Tasks({Task("task-1", 5)})));
  value after = JobWith(absl::StrCat(R"("minAvailable":5,)", Tasks({Task("task-1", 5)})));
  ApplyMergePatch(after.as_object().at("spec"), Json(absl::StrCat("{", GetParam().spec, "}")));
  AdmissionRequest request;
  request.resource = &kJobs;
  request.operation = Operation::kUpdate;
  request.ns = "test";
  request.name = "job1";
  request.old_object = &before;
  const Verdict verdict = Admit(request, &after, RecordedQueues);
  if (GetParam().field.empty()) {
    EXPECT_TRUE(verdict.allowed()) << verdict.message;
    return;
  }
  EXPECT_EQ(verdict.code, 400);
  std::vector<std::string> fields;
  for (const FieldError& error : verdict.errors) fields.push_back(error.field);
  EXPECT_THAT(fields, ElementsAre(GetParam().field)) << verdict.message;
}
INSTANTIATE_TEST_SUITE_P(
    Spec, UpdateRowTest,
    ::testing::Values(
        UpdateCase{"X1", absl::StrCat(R"("minAvailable":5,)", Tasks({Task("task-1", 6)})), ""},
        UpdateCase{"X2", absl::StrCat(R"("minAvailable":5,)", Tasks({Task("task-1", 4)})), "spec.minAvailable"},
        UpdateCase{"X3", absl::StrCat(R"("minAvailable":3,)", Tasks({Task("task-1", 4)})), ""},
        UpdateCase{"X4", Tasks({Task("task-1", 5), Task("task-2", 5)}), "spec.tasks"},
        UpdateCase{"X5", Tasks({Task("mutated-name", 5)}), "spec.tasks[0].name"},
        UpdateCase{"X6", R"("queue":"mutated-queue")", "spec.queue"},
        UpdateCase{"X7", absl::StrCat(R"("minAvailable":3,)", Tasks({Task("task-1", 4, R"("minAvailable":5)")})),
                   "spec.tasks[0].minAvailable"}),
    [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace gangway::api::volcano
