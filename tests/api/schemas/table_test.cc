// What `kubectl get` prints: recordings of kubectl 1.32 against a real control plane, and the cases of Kubernetes'
// printers.
#include "api/schemas/table.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/field_table.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/paddle_resources.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::schemas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

boost::json::value Parse(absl::string_view json) { return api::ParseJson(json).value(); }
std::string Text(const boost::json::value& value) { return {value.get_string().data(), value.get_string().size()}; }
absl::Time At(absl::string_view text) { return api::ParseTime(text).value(); }

// One line a row, as kubectl pads them; cells that are null print nothing.
std::string Print(const boost::json::value& table, bool wide) {
  std::vector<std::vector<std::string>> lines(1);
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < table.at("columnDefinitions").as_array().size(); ++i) {
    const boost::json::value& column = table.at("columnDefinitions").at(i);
    if (!wide && column.at("priority").as_int64() != 0) continue;
    shown.push_back(i);
    lines[0].push_back(absl::AsciiStrToUpper(Text(column.at("name"))));
  }
  for (const boost::json::value& row : table.at("rows").as_array()) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const std::size_t i : shown) {
      const boost::json::value& cell = row.at("cells").at(i);
      line.push_back(cell.is_null() ? "" : cell.is_string() ? Text(cell) : api::ToJson(cell));
    }
  }
  std::string out;
  for (const std::vector<std::string>& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      std::size_t width = 3;
      for (const std::vector<std::string>& other : lines) width = std::max(width, other[i].size());
      out += i + 1 == line.size() ? line[i] : line[i] + std::string(width + 3 - line[i].size(), ' ');
    }
    out += '\n';
  }
  return out;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The text after "$ kubectl <command>" in a recording.
std::string Recorded(const std::string& recording, absl::string_view command) {
  const std::string prompt = absl::StrCat("$ kubectl ", command, "\n");
  const std::size_t at = recording.find(prompt);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + prompt.size();
  return recording.substr(begin, recording.find("\n\n", begin) + 1 - begin);
}

std::string SortedLines(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  std::sort(lines.begin(), lines.end());
  return absl::StrJoin(lines, "\n");
}

class RecordingTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string base = absl::StrCat(GW_SOURCE_DIR, "/tests/golden/volcano/", GetParam());
    text_ = ReadFile(base + ".txt");
    objects_ = Parse(ReadFile(base + ".json"));
  }

  // The recordings do not say at which second each command ran, so one is looked for at which the whole text is right.
  void ExpectRecorded(const api::Resource& resource, absl::string_view command, bool wide) {
    const std::string wanted = Recorded(text_, command);
    if (absl::StartsWith(wanted, "No resources found") || wanted.empty()) return;
    std::vector<Bytes> objects;
    absl::Time newest = absl::InfinitePast();
    for (const boost::json::value& object : objects_.at(std::string(resource.kind)).as_array()) {
      objects.push_back(MakeBytes(api::ToJson(object)));
      newest = std::max(newest, At(Text(object.at("metadata").at("creationTimestamp"))));
    }
    std::string got;
    for (absl::Time now = newest; now < newest + absl::Seconds(60); now += absl::Seconds(1)) {
      got = Print(Parse(RenderTable(resource, objects, now, {})), wide);
      if (SortedLines(got) == SortedLines(wanted)) return;
    }
    ADD_FAILURE() << "kubectl " << command << " printed\n" << wanted << "and at no second do we; at the last\n" << got;
  }

  std::string text_;
  boost::json::value objects_;
};

TEST_P(RecordingTest, PodGroups) {
  ExpectRecorded(api::kPodGroups, "get podgroup", false);
  ExpectRecorded(api::kPodGroups, "get podgroup -o wide", true);
}
TEST_P(RecordingTest, Jobs) {
  ExpectRecorded(api::kJobs, "get vcjob", false);
  ExpectRecorded(api::kJobs, "get vcjob -o wide", true);
}
TEST_P(RecordingTest, Pods) { ExpectRecorded(api::kPods, "get pods -o wide", true); }
TEST_P(RecordingTest, Events) {
  ExpectRecorded(api::kEvents, "get events --sort-by=.metadata.creationTimestamp", false);
}

INSTANTIATE_TEST_SUITE_P(All, RecordingTest,
                         ::testing::Values("seed-ctr-volcano/02-inqueue", "seed-ctr-volcano/03-running",
                                           "seed-ctr-volcano/04-one-trainer-succeeded", "seed-ctr-volcano/05-completed",
                                           "seed-evict/03-running-again-v1", "seed-evict/06-after-third-restart"));

constexpr absl::string_view kNow = "2026-11-21T06:00:00Z";

// The cells of one object, those of the wide columns included.
std::vector<std::string> Row(const api::Resource& resource, absl::string_view object) {
  const Bytes bytes = MakeBytes(std::string(object));
  const boost::json::value table = Parse(RenderTable(resource, absl::MakeConstSpan(&bytes, 1), At(kNow), {}));
  std::vector<std::string> cells;
  for (const boost::json::value& cell : table.at("rows").at(0).at("cells").as_array()) {
    cells.push_back(cell.is_string() ? Text(cell) : api::ToJson(cell));
  }
  EXPECT_EQ(cells.size(), table.at("columnDefinitions").as_array().size());
  return cells;
}
std::vector<std::string> FirstCells(const api::Resource& resource, absl::string_view object, std::size_t count) {
  std::vector<std::string> cells = Row(resource, object);
  cells.resize(count);
  return cells;
}

struct PodCase {
  const char* name;
  const char* pod;  // without metadata's name
  const char* ready;
  const char* status;
  const char* restarts = "0";
};
class PodRowTest : public ::testing::TestWithParam<PodCase> {};
TEST_P(PodRowTest, ReadyStatusRestarts) {
  const std::vector<std::string> row = Row(api::kPods, GetParam().pod);
  EXPECT_EQ(row[1], GetParam().ready);
  EXPECT_EQ(row[2], GetParam().status);
  EXPECT_EQ(row[3], GetParam().restarts);
}

// One container unless said otherwise.
#define SPEC R"("spec":{"containers":[{"name":"c"}]})"
#define INIT_SPEC R"("spec":{"initContainers":[{"name":"i"},{"name":"j"}],"containers":[{"name":"c"}]})"
INSTANTIATE_TEST_SUITE_P(
    All, PodRowTest,
    ::testing::Values(
        PodCase{"Pending", "{" SPEC R"(,"status":{"phase":"Pending"}})", "0/1", "Pending"},
        PodCase{
            "Creating",
            "{" SPEC
            R"(,"status":{"phase":"Pending","containerStatuses":[{"name":"c","state":{"waiting":{"reason":"ContainerCreating"}}}]}})",
            "0/1", "ContainerCreating"},
        PodCase{
            "Running",
            "{" SPEC
            R"(,"status":{"phase":"Running","containerStatuses":[{"name":"c","ready":true,"restartCount":0,"state":{"running":{}}}]}})",
            "1/1", "Running"},
        PodCase{
            "NotReady",
            "{" SPEC
            R"(,"status":{"phase":"Running","containerStatuses":[{"name":"c","ready":false,"state":{"running":{}}}]}})",
            "0/1", "Running"},
        PodCase{
            "Completed",
            "{" SPEC
            R"(,"status":{"phase":"Succeeded","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]}})",
            "0/1", "Completed"},
        PodCase{
            "Error",
            "{" SPEC
            R"(,"status":{"phase":"Failed","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":137,"reason":"Error"}}}]}})",
            "0/1", "Error"},
        PodCase{
            "ExitCode",
            "{" SPEC
            R"(,"status":{"phase":"Failed","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":3}}}]}})",
            "0/1", "ExitCode:3"},
        PodCase{
            "Signal",
            "{" SPEC
            R"(,"status":{"phase":"Failed","containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":137,"signal":9}}}]}})",
            "0/1", "Signal:9"},
        PodCase{
            "CrashLoop",
            "{" SPEC
            R"(,"status":{"phase":"Running","containerStatuses":[{"name":"c","restartCount":4,"state":{"waiting":{"reason":"CrashLoopBackOff"}},
                "lastState":{"terminated":{"exitCode":1,"finishedAt":"2026-11-21T05:59:20Z"}}}]}})",
            "0/1", "CrashLoopBackOff", "4 (40s ago)"},
        PodCase{
            "RestartedWithoutDate",
            "{" SPEC
            R"(,"status":{"phase":"Running","containerStatuses":[{"name":"c","ready":true,"restartCount":2,"state":{"running":{}}}]}})",
            "1/1", "Running", "2"},
        PodCase{"Evicted", "{" SPEC R"(,"status":{"phase":"Failed","reason":"Evicted"}})", "0/1", "Evicted"},
        PodCase{
            "Terminating",
            R"({"metadata":{"deletionTimestamp":"2026-11-21T06:00:00Z"},)" SPEC
            R"(,"status":{"phase":"Running","containerStatuses":[{"name":"c","ready":true,"state":{"running":{}}}]}})",
            "1/1", "Terminating"},
        PodCase{"FinishedIsNotTerminating",
                R"({"metadata":{"deletionTimestamp":"2026-11-21T06:00:00Z"},)" SPEC
                R"(,"status":{"phase":"Succeeded"}})",
                "0/1", "Succeeded"},
        PodCase{"NodeLost",
                R"({"metadata":{"deletionTimestamp":"2026-11-21T06:00:00Z"},)" SPEC
                R"(,"status":{"phase":"Running","reason":"NodeLost"}})",
                "0/1", "Unknown"},
        PodCase{
            "Gated",
            "{" SPEC
            R"(,"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"SchedulingGated"}]}})",
            "0/1", "SchedulingGated"},
        PodCase{
            "Init0",
            "{" INIT_SPEC
            R"(,"status":{"phase":"Pending","initContainerStatuses":[{"name":"i","state":{"waiting":{"reason":"PodInitializing"}}},{"name":"j"}]}})",
            "0/1", "Init:0/2"},
        PodCase{
            "Init1",
            "{" INIT_SPEC
            R"(,"status":{"phase":"Pending","initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":0}}},{"name":"j","state":{"running":{}}}],
                "containerStatuses":[{"name":"c","state":{"waiting":{"reason":"PodInitializing"}}}]}})",
            "0/1", "Init:1/2"},
        PodCase{
            "InitDone",
            "{" INIT_SPEC
            R"(,"status":{"phase":"Pending","initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":0}}},{"name":"j","state":{"terminated":{"exitCode":0}}}],
                "containerStatuses":[{"name":"c","state":{"waiting":{"reason":"PodInitializing"}}}]}})",
            "0/1", "PodInitializing"},
        PodCase{
            "InitError",
            "{" INIT_SPEC
            R"(,"status":{"phase":"Pending","initContainerStatuses":[{"name":"i","restartCount":1,"state":{"terminated":{"exitCode":1,"reason":"Error"}}}]}})",
            "0/1", "Init:Error", "1"},
        PodCase{
            "InitExitCode",
            "{" INIT_SPEC
            R"(,"status":{"phase":"Pending","initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":2}}}]}})",
            "0/1", "Init:ExitCode:2"},
        PodCase{
            "InitCrashLoop",
            "{" INIT_SPEC
            R"(,"status":{"phase":"Pending","initContainerStatuses":[{"name":"i","restartCount":3,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}})",
            "0/1", "Init:CrashLoopBackOff", "3"},
        PodCase{
            "Sidecar",
            R"({"spec":{"initContainers":[{"name":"s","restartPolicy":"Always"}],"containers":[{"name":"c"}]},"status":{"phase":"Running",
                "initContainerStatuses":[{"name":"s","ready":true,"started":true,"state":{"running":{}}}],"containerStatuses":[{"name":"c","ready":true,"state":{"running":{}}}]}})",
            "2/2", "Running"},
        PodCase{
            "OneOfTwoCompleted",
            R"({"spec":{"containers":[{"name":"c"},{"name":"d"}]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"False"}],
                "containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},{"name":"d","ready":true,"state":{"running":{}}}]}})",
            "1/2", "NotReady"}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(TableTest, PodsWide) {
  EXPECT_THAT(Row(api::kPods, R"({"metadata":{"name":"a","creationTimestamp":"2026-11-21T05:00:00Z"},
      "spec":{"nodeName":"n1","containers":[],"readinessGates":[{"conditionType":"g"},{"conditionType":"h"}]},
      "status":{"phase":"Pending","podIPs":[{"ip":"10.0.0.1"}],"conditions":[{"type":"h","status":"True"}]}})"),
              ElementsAre("a", "0/0", "Pending", "0", "60m", "10.0.0.1", "n1", "<none>", "1/2"));
}

TEST(TableTest, Nodes) {
  EXPECT_THAT(Row(api::kNodes,
                  R"({"metadata":{"name":"n","labels":{"node-role.kubernetes.io/worker":"","kubernetes.io/role":"gpu"}},
      "spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}],
      "addresses":[{"type":"InternalIP","address":"10.1.0.1"}],"nodeInfo":{"kubeletVersion":"v1.36.1"}}})"),
              ElementsAre("n", "Ready,SchedulingDisabled", "gpu,worker", "<unknown>", "v1.36.1", "10.1.0.1", "<none>",
                          "<unknown>", "<unknown>", "<unknown>"));
  EXPECT_EQ(Row(api::kNodes, R"({"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}})")[1], "NotReady");
  EXPECT_EQ(Row(api::kNodes, "{}")[1], "Unknown");
}

TEST(TableTest, Services) {
  EXPECT_THAT(
      Row(api::kServices,
          R"({"metadata":{"name":"s"},"spec":{"type":"ClusterIP","clusterIP":"None","selector":{"b":"2","a":"1"}}})"),
      ElementsAre("s", "ClusterIP", "None", "<none>", "<none>", "<unknown>", "a=1,b=2"));
  EXPECT_THAT(FirstCells(api::kServices, R"({"metadata":{"name":"s"},"spec":{"type":"NodePort","clusterIP":"10.0.0.9",
      "ports":[{"port":80,"nodePort":30080,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}})",
                         5),
              ElementsAre("s", "NodePort", "10.0.0.9", "<none>", "80:30080/TCP,53/UDP"));
  EXPECT_EQ(Row(api::kServices, R"({"spec":{"type":"LoadBalancer"}})")[3], "<pending>");
}

TEST(TableTest, Counts) {
  EXPECT_THAT(Row(api::kConfigMaps, R"({"metadata":{"name":"c"},"data":{"a":"1","b":"2"},"binaryData":{"c":""}})"),
              ElementsAre("c", "3", "<unknown>"));
  EXPECT_THAT(Row(api::kSecrets, R"({"metadata":{"name":"c"},"type":"Opaque","data":{"a":""}})"),
              ElementsAre("c", "Opaque", "1", "<unknown>"));
}

TEST(TableTest, EventsCountAndSeries) {
  EXPECT_THAT(Row(api::kEvents, R"({"metadata":{"name":"e"},"type":"Warning","reason":"R","message":" m\n","count":7,
      "involvedObject":{"kind":"PodGroup","name":"p","fieldPath":"spec"},"source":{"component":"volcano","host":"h"},
      "firstTimestamp":"2026-11-21T05:50:00Z","lastTimestamp":"2026-11-21T05:59:55Z"})"),
              ElementsAre("5s", "Warning", "R", "podgroup/p", "spec", "volcano, h", "m", "10m", "7", "e"));
  EXPECT_THAT(
      Row(api::kEvents,
          R"({"metadata":{"name":"e"},"type":"Normal","involvedObject":{"kind":"Node"},"reportingComponent":"kubelet",
      "eventTime":"2026-11-21T05:59:00.123456Z","series":{"count":3,"lastObservedTime":"2026-11-21T05:59:58.000000Z"}})"),
      ElementsAre("2s", "Normal", "", "node", "", "kubelet", "", "59s", "3", "e"));
}

TEST(TableTest, Workloads) {
  EXPECT_THAT(
      Row(api::kDeployments, R"({"metadata":{"name":"d"},"spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"},
      "matchExpressions":[{"key":"k","operator":"In","values":["y","x"]},{"key":"z","operator":"Exists"}]},
      "template":{"spec":{"containers":[{"name":"c","image":"i"},{"name":"d","image":"j"}]}}},"status":{"readyReplicas":1,"updatedReplicas":2}})"),
      ElementsAre("d", "1/3", "2", "0", "<unknown>", "c,d", "i,j", "a=b,k in (x,y),z"));
}

TEST(TableTest, OtherCoreResources) {
  EXPECT_THAT(Row(api::kPodDisruptionBudgets,
                  R"({"metadata":{"name":"b"},"spec":{"minAvailable":"50%"},"status":{"disruptionsAllowed":1}})"),
              ElementsAre("b", "50%", "N/A", "1", "<unknown>"));
  EXPECT_THAT(Row(api::kPriorityClasses,
                  R"({"metadata":{"name":"p"},"value":-5,"globalDefault":true,"preemptionPolicy":"Never"})"),
              ElementsAre("p", "-5", "true", "<unknown>", "Never"));
  EXPECT_THAT(Row(api::kLeases, R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"me"}})"),
              ElementsAre("l", "me", "<unknown>"));
  EXPECT_THAT(FirstCells(api::kPersistentVolumeClaims,
                         R"({"metadata":{"name":"v"},"spec":{"volumeName":"pv","accessModes":["ReadWriteOnce"]},
      "status":{"phase":"Bound","capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce","ReadOnlyMany"]}})",
                         5),
              ElementsAre("v", "Bound", "pv", "1Gi", "RWO,ROX"));
}

TEST(TableTest, VolcanosQueuesAndCommands) {
  EXPECT_THAT(
      FirstCells(api::kQueues,
                 R"({"metadata":{"name":"q"},"spec":{"parent":"root","weight":2},"status":{"state":"Open"}})", 4),
      ElementsAre("q", "root", "Open", "2"));
  EXPECT_THAT(Row(api::kCommands, R"({"metadata":{"name":"c"},"action":"AbortJob","target":{"name":"ctr"}})"),
              ElementsAre("c", "AbortJob", "ctr", "null"));
}

TEST(TableTest, VolcanosCronJobs) {
  EXPECT_THAT(
      FirstCells(
          api::kCronJobs,
          R"({"metadata":{"name":"nightly"},"spec":{"schedule":"30 2 * * *","timeZone":"Asia/Shanghai","suspend":false}})",
          5),
      ElementsAre("nightly", "30 2 * * *", "Asia/Shanghai", "false", "null"));
}

TEST(TableTest, PaddleJobs) {
  EXPECT_THAT(FirstCells(api::paddle::kPaddleJobs,
                         R"({"metadata":{"name":"wd"},"spec":{},"status":{"phase":"Running","queue":"q",
      "mode":"PS","ps":{"ready":"2/2"},"worker":{"ready":"1/2"},"restarts":1,"message":"m"}})",
                         10),
              ElementsAre("wd", "Running", "PS", "2/2", "1/2", "null", "null", "1", "q", "m"));
  EXPECT_THAT(FirstCells(api::paddle::kPaddleJobs, R"({"metadata":{"name":"wd"}})", 5),
              ElementsAre("wd", "null", "null", "null", "null"));
}

// As the training operator's: the newest condition.
TEST(TableTest, KubeflowsPaddleJobsShowTheirLastCondition) {
  EXPECT_THAT(
      FirstCells(
          api::paddle::kubeflow::kPaddleJobs,
          R"({"metadata":{"name":"k"},"status":{"conditions":[{"type":"Created","status":"True"},{"type":"Running","status":"True"}]}})",
          2),
      ElementsAre("k", "Running"));
  for (const char* status : {"{}", R"({"conditions":[]})", R"({"conditions":"?"})"}) {
    EXPECT_THAT(FirstCells(api::paddle::kubeflow::kPaddleJobs,
                           absl::StrCat(R"({"metadata":{"name":"k"},"status":)", status, "}"), 2),
                ElementsAre("k", "null"));
  }
}

TEST(TableTest, EveryResourceHasATable) {
  for (const api::KindRow& kind : api::Kinds()) {
    const api::Resource* const resource = kind.resource;
    EXPECT_EQ(Row(*resource, R"({"metadata":{"name":"x"}})").empty(), false) << resource->kind;
  }
}

TEST(TableTest, RowsCarryWhatWasAskedFor) {
  const Bytes pod =
      MakeBytes(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u"},"status":{"phase":"Succeeded"}})");
  TableOptions options;
  options.resource_version = "42";
  options.continue_token = "next";
  options.remaining_item_count = 7;
  const boost::json::value table = Parse(RenderTable(api::kPods, absl::MakeConstSpan(&pod, 1), At(kNow), options));
  EXPECT_EQ(api::ToJson(table.at("metadata")), R"({"resourceVersion":"42","continue":"next","remainingItemCount":7})");
  EXPECT_EQ(api::ToJson(table.at("rows").at(0).at("object")),
            R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","uid":"u"}})");
  EXPECT_EQ(table.at("rows").at(0).at("conditions").at(0).at("type"), "Completed");
  options.include = IncludeObject::kObject;
  EXPECT_THAT(RenderTable(api::kPods, absl::MakeConstSpan(&pod, 1), At(kNow), options), HasSubstr(*pod));
  options.include = IncludeObject::kNone;
  options.no_columns = true;
  const boost::json::value bare = Parse(RenderTable(api::kPods, absl::MakeConstSpan(&pod, 1), At(kNow), options));
  EXPECT_TRUE(bare.at("rows").at(0).at("object").is_null());
  EXPECT_TRUE(bare.at("columnDefinitions").is_null());
}

TEST(PartialMetadataTest, OneAndMany) {
  const Bytes objects[] = {MakeBytes(R"({"metadata":{"name":"a"},"spec":{}})"),
                           MakeBytes(R"({"metadata":{"name":"b"}})")};
  EXPECT_EQ(RenderPartialMetadata(*objects[0]),
            R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"}})");
  const boost::json::value list = Parse(RenderPartialMetadataList(objects, {}));
  EXPECT_EQ(list.at("kind"), "PartialObjectMetadataList");
  EXPECT_EQ(list.at("items").at(1).at("metadata").at("name"), "b");
}

TEST(RepresentationOfTest, IsTheFirstWeHave) {
  EXPECT_EQ(RepresentationOf(""), Representation::kObject);
  EXPECT_EQ(RepresentationOf("*/*"), Representation::kObject);
  EXPECT_EQ(RepresentationOf("application/json;as=Table;v=v1;g=meta.k8s.io,application/"
                             "json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"),
            Representation::kTable);
  EXPECT_EQ(RepresentationOf("application/json;as=Table;v=v1beta1;g=meta.k8s.io, application/json"),
            Representation::kObject);
  EXPECT_EQ(RepresentationOf("application/vnd.kubernetes.protobuf, application/json"), Representation::kObject);
  EXPECT_EQ(RepresentationOf("application/json; charset=utf-8"), Representation::kObject);
  EXPECT_EQ(RepresentationOf("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"),
            Representation::kPartialMetadata);
  EXPECT_EQ(RepresentationOf("application/vnd.kubernetes.protobuf"), std::nullopt);
  EXPECT_EQ(RepresentationOf("application/json;q=0, text/html"), std::nullopt);
}

// The cases of k8s.io/apimachinery/pkg/util/duration.
TEST(HumanDurationTest, AsKubectl) {
  const std::pair<absl::Duration, const char*> kCases[] = {{absl::Seconds(-2), "<invalid>"},
                                                           {absl::Seconds(-1), "0s"},
                                                           {absl::ZeroDuration(), "0s"},
                                                           {absl::Seconds(1), "1s"},
                                                           {absl::Seconds(70), "70s"},
                                                           {absl::Seconds(119), "119s"},
                                                           {absl::Minutes(2), "2m"},
                                                           {absl::Seconds(190), "3m10s"},
                                                           {absl::Seconds(70) * 60, "70m"},
                                                           {absl::Minutes(179), "179m"},
                                                           {absl::Hours(3), "3h"},
                                                           {absl::Minutes(219), "3h39m"},
                                                           {absl::Hours(8), "8h"},
                                                           {absl::Hours(47), "47h"},
                                                           {absl::Hours(48), "2d"},
                                                           {absl::Hours(49), "2d1h"},
                                                           {absl::Hours(24 * 8), "8d"},
                                                           {absl::Hours(24 * 400), "400d"},
                                                           {absl::Hours(24 * 365 * 2), "2y"},
                                                           {absl::Hours(24 * 366 * 2), "2y2d"},
                                                           {absl::Hours(24 * 365 * 8), "8y"},
                                                           {absl::Milliseconds(2900), "2s"}};
  for (const auto& [duration, text] : kCases)
    EXPECT_EQ(HumanDuration(duration), text) << absl::FormatDuration(duration);
}

}  // namespace
}  // namespace gangway::schemas
