// Every recorded request to a real control plane (tests/golden/volcano/admission.json, Volcano ed72c7c81,
// Kubernetes 1.36.1) gets the same verdict here: accepted or refused, HTTP status, reason, fields of the schema's
// causes, and the fields that defaulting and mutation add. Texts are ours.
//
// Deliberate differences:
//  - Removed and rewritten fields of templates ("- /spec/.../foo", `cpu: 10 -> "10"`, `value: ""` dropped) come from
//  Go's types
//    and from pruning. Here documents keep what they hold; pruning is the API server's (api/schemas).
//  - Rows 6 and 7: nothing is derived from a negative number, so only what the user wrote is a cause, not the
//  minAvailable that
//    Volcano's webhook made of it.
#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/volcano/admission.h"
#include "api/volcano/fill_in.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/api/volcano/recorded_admission.h"
#include "tests/testing/status_matchers.h"

namespace gangway::api::volcano {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The differences of two documents in the recordings' words: "+ /spec/maxRetry = 3".
void Mutations(const value& before, const value& after, const std::string& path, std::set<std::string>& out) {
  if (before == after) return;
  if (before.is_object() && after.is_object()) {
    for (const auto& m : before.get_object()) {
      const std::string at = absl::StrCat(path, "/", std::string(m.key()));
      const auto it = after.get_object().find(m.key());
      if (it == after.get_object().end()) {
        out.insert(absl::StrCat("- ", at));
      } else {
        Mutations(m.value(), it->value(), at, out);
      }
    }
    for (const auto& m : after.get_object()) {
      if (!before.get_object().contains(m.key())) {
        out.insert(absl::StrCat("+ ", path, "/", std::string(m.key()), " = ", ToJson(m.value())));
      }
    }
    return;
  }
  if (before.is_array() && after.is_array() && before.get_array().size() == after.get_array().size()) {
    for (std::size_t i = 0; i < before.get_array().size(); ++i) {
      Mutations(before.get_array()[i], after.get_array()[i], absl::StrCat(path, "/", i), out);
    }
    return;
  }
  out.insert(absl::StrCat("~ ", path, ": ", ToJson(before), " -> ", ToJson(after)));
}

// Of the recorded mutations those that are defaults.
std::set<std::string> RecordedDefaults(const Row& row) {
  std::set<std::string> out;
  for (const std::string& m : row.mutations) {
    const bool rewritten = absl::StartsWith(m, "~ ") && absl::StrContains(m, "/template/");
    if (!absl::StartsWith(m, "- ") && !rewritten && m != "accepted") out.insert(m);
  }
  return out;
}

std::set<std::string> Causes(const Verdict& verdict) {
  std::set<std::string> out;
  for (const FieldError& error : verdict.errors)
    out.insert(absl::StrCat(std::string(error.Reason()), " ", error.field));
  return out;
}

Verdict Create(const Resource& resource, value& object) {
  AdmissionRequest request;
  request.resource = &resource;
  request.ns = resource.namespaced ? "g-admission" : "";
  return Admit(request, &object, RecordedQueues);
}

Verdict Update(const Resource& resource, const value& before, value after) {
  AdmissionRequest request;
  request.resource = &resource;
  request.operation = Operation::kUpdate;
  request.ns = resource.namespaced ? "g-admission" : "";
  request.name = NameIn(after);
  request.old_object = &before;
  return Admit(request, &after, RecordedQueues);
}

void ExpectVerdict(const Row& row, const Verdict& verdict) {
  const bool accepted = row.status < 300;
  EXPECT_EQ(verdict.code, accepted ? 0 : row.status) << verdict.message;
  EXPECT_EQ(verdict.allowed(), accepted);
  EXPECT_EQ(verdict.reason, row.reason);
  EXPECT_EQ(verdict.errors.empty(), accepted);
  if (accepted) return;
  for (const FieldError& error : verdict.errors) {
    EXPECT_THAT(verdict.message, HasSubstr(error.field));
    EXPECT_FALSE(error.field.empty());
    EXPECT_FALSE(error.rule.empty() && error.type != FieldError::Type::kDuplicate) << error.ToString();
  }
  if (row.status == 422 && row.number != 6 && row.number != 7) {
    EXPECT_EQ(Causes(verdict), row.causes);
  }
}

void ExpectCreate(const Row& row, const Resource& resource) {
  SCOPED_TRACE(absl::StrCat("row ", row.number, ": ", row.what));
  ASSERT_EQ(row.method, "POST");
  value object = row.input;
  const Verdict verdict = Create(resource, object);
  ExpectVerdict(row, verdict);
  if (!verdict.allowed()) return;
  std::set<std::string> mutations;
  Mutations(row.input, object, "", mutations);
  EXPECT_EQ(mutations, RecordedDefaults(row));
  value again = object;
  EXPECT_TRUE(Create(resource, again).allowed());
  EXPECT_EQ(again, object) << "defaults are applied once";
}

TEST(AdmissionTest, JobCreateVerdictsAreTheRecordedOnes) {
  const std::vector<Row> invalid = RowsOf("Job CREATE invalid"), valid = RowsOf("Job CREATE valid");
  ASSERT_EQ(invalid.size(), 68u);
  ASSERT_EQ(valid.size(), 23u);
  for (const Row& row : invalid) ExpectCreate(row, kJobs);
  for (const Row& row : valid) ExpectCreate(row, kJobs);
}

TEST(AdmissionTest, NegativeReplicasAreReportedWithoutWhatWouldBeDerivedFromThem) {
  value row6 = Rows()[5].input, row7 = Rows()[6].input;
  EXPECT_THAT(Causes(Create(kJobs, row6)), ElementsAre("FieldValueInvalid spec.tasks[0].replicas"));
  EXPECT_THAT(Causes(Create(kJobs, row7)), ElementsAre("FieldValueInvalid spec.tasks[0].minAvailable"));
}

TEST(AdmissionTest, PodGroupCreateVerdictsAreTheRecordedOnes) {
  const std::vector<Row> rows = RowsOf("PodGroup CREATE");
  ASSERT_EQ(rows.size(), 13u);
  for (const Row& row : rows) ExpectCreate(row, kPodGroups);
}

TEST(AdmissionTest, JobUpdateVerdictsAreTheRecordedOnes) {
  const std::vector<Row> rows = RowsOf("Job UPDATE");
  ASSERT_EQ(rows.size(), 22u);
  const value before = BaseJob();
  for (const Row& row : rows) {
    SCOPED_TRACE(absl::StrCat("row ", row.number, ": ", row.what));
    ExpectVerdict(row, Update(kJobs, before, Changed(before, row)));
  }
}

TEST(AdmissionTest, QueueVerdictsAreTheRecordedOnes) {
  const std::vector<Row> rows = RowsOf("Queue");
  ASSERT_EQ(rows.size(), 33u);
  for (const Row& row : rows) {
    SCOPED_TRACE(absl::StrCat("row ", row.number, ": ", row.what));
    const std::vector<std::string> words = absl::StrSplit(row.what, absl::ByAnyChar(" :"));
    if (row.method == "POST") {
      Row create = row;
      // status is dropped by the API server, not by admission.
      if (row.number == 139) create.mutations.pop_back();
      ExpectCreate(create, kQueues);
    } else if (row.method == "DELETE") {
      AdmissionRequest request;
      request.resource = &kQueues;
      request.operation = Operation::kDelete;
      request.name = words.at(1);
      ExpectVerdict(row, Admit(request, nullptr, RecordedQueues));
    } else {
      const value before = QueueJson(words.at(1));
      ExpectVerdict(row, Update(kQueues, before, Changed(before, row)));
    }
  }
}

// A job that is accepted; a case changes one thing of it.
value GoodJob(absl::string_view spec_patch) {
  value job = Json(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"ctr"},"spec":{"tasks":[
    {"name":"ps","replicas":2,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}},
    {"name":"trainer","replicas":2,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})");
  ApplyMergePatch(job.as_object().at("spec"), Json(spec_patch));
  return job;
}

Verdict CreateWith(absl::string_view spec_patch) {
  value job = GoodJob(spec_patch);
  return Create(kJobs, job);
}

TEST(AdmissionTest, SaysEveryErrorInOneAnswerWithPathRuleAndFix) {
  value job = Rows()[66].input;  // "several errors at once"
  const Verdict verdict = Create(kJobs, job);
  EXPECT_EQ(verdict.code, 400);
  std::vector<std::string> fields;
  for (const FieldError& error : verdict.errors) fields.push_back(error.field);
  EXPECT_THAT(fields, ElementsAre("spec.tasks[0].minAvailable", "spec.minAvailable", "spec.tasks[1].name",
                                  "spec.tasks[0].policies[0].action", "spec.policies[0].event", "spec.plugins.nope",
                                  "spec.volumes[0].volumeClaimName", "spec.queue"));
  EXPECT_THAT(verdict.message,
              HasSubstr("job g-admission/multi is refused: spec.tasks[0].minAvailable: Invalid value: 2: must not be "
                        "greater than the task's replicas, 1 (raise replicas or lower minAvailable); "));
}

TEST(AdmissionTest, WrongTypesAreInvalidWithTheirPath) {
  const Verdict verdict = CreateWith(
      R"({"minAvailable":"4","queue":7,"ttlSecondsAfterFinished":99999999999,"plugins":{"svc":null,"env":"x"}})");
  EXPECT_EQ(verdict.code, 422);
  EXPECT_EQ(verdict.reason, "Invalid");
  EXPECT_THAT(Causes(verdict),
              ElementsAre("FieldValueTypeInvalid spec.minAvailable", "FieldValueTypeInvalid spec.plugins.env",
                          "FieldValueTypeInvalid spec.queue", "FieldValueTypeInvalid spec.ttlSecondsAfterFinished"));
  EXPECT_THAT(
      verdict.message,
      HasSubstr(
          "spec.minAvailable: Invalid value: \"4\": must be a whole number, not a string (write it without quotes)"));
}

TEST(AdmissionTest, AnythingThatIsJsonGetsAVerdict) {
  for (const absl::string_view text :
       {"null", "7", "\"x\"", "[]", "{}", R"({"spec":null})", R"({"spec":[]})", R"({"spec":{"tasks":{}}})",
        R"({"metadata":[],"spec":{}})", R"({"metadata":{"name":"j"},"spec":{"tasks":[null]}})",
        R"({"metadata":{"name":"j"},"spec":{"tasks":[7]}})",
        R"({"metadata":{"name":"j"},"spec":{"tasks":[{"template":7}]}})",
        R"({"metadata":{"name":"j"},"spec":{"tasks":[{"template":{"spec":7}}]}})",
        R"({"metadata":{"name":"j"},"spec":{"tasks":[{"template":{"spec":{"containers":[7,null,{}]}}}]}})",
        R"({"metadata":{"name":"j"},"spec":{"tasks":[{"template":{"spec":{"hostNetwork":"yes","containers":{}}}}]}})",
        R"({"metadata":{"name":"j","labels":7},"spec":{"tasks":[]}})"}) {
    for (const Resource* resource : {&kJobs, &kPodGroups, &kQueues}) {
      value object = Json(text);
      const Verdict verdict = Create(*resource, object);
      if (resource == &kJobs) {
        EXPECT_FALSE(verdict.allowed()) << text;
        EXPECT_FALSE(verdict.errors.empty()) << text;
      }
    }
  }
}

TEST(AdmissionTest, NamesThePartiesOfACircle) {
  const Verdict verdict = CreateWith(R"({"tasks":[
    {"name":"a","dependsOn":{"name":["b"]},"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}},
    {"name":"b","dependsOn":{"name":["c"]},"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}},
    {"name":"c","dependsOn":{"name":["a"]},"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]})");
  EXPECT_EQ(verdict.code, 400);
  EXPECT_THAT(verdict.message, HasSubstr("the tasks wait for each other: a -> b -> c -> a"));
}

TEST(AdmissionTest, PluginThatNeedsAMasterReadsItsFlag) {
  EXPECT_TRUE(CreateWith(R"({"plugins":{"mpi":["--master=ps"]}})").allowed());
  EXPECT_TRUE(CreateWith(R"({"plugins":{"mpi":["-master","ps"]}})").allowed());
  EXPECT_THAT(CreateWith(R"({"plugins":{"mpi":["--master=launcher"]}})").message,
              HasSubstr("no task is called launcher"));
}

// A plugin of ours, with the words that the controller's event has.
TEST(AdmissionTest, PaddleNamesTasksThatThereAre) {
  EXPECT_TRUE(CreateWith(R"({"plugins":{"paddle":["--server=ps"]}})").allowed());
  EXPECT_THAT(CreateWith(R"({"plugins":{"paddle":["--server=ps","-worker","main"]}})").message,
              HasSubstr("--worker=main: there is no such task; the tasks are ps"));
  EXPECT_THAT(CreateWith(R"({"plugins":{"paddle":["--server=ps","--port=70000"]}})").message,
              HasSubstr("--port=70000: must be from 1 to 65535"));
}

TEST(AdmissionTest, TopologyPolicyWantsWholeCpus) {
  const auto job = [](absl::string_view resources) {
    return CreateWith(absl::StrCat(
        R"({"tasks":[{"name":"w","replicas":1,"topologyPolicy":"restricted","template":{"spec":{"containers":[
      {"name":"c","image":"i","resources":)",
        resources, "}]}}}]}"));
  };
  EXPECT_TRUE(job(R"({"limits":{"cpu":1}})").allowed());
  EXPECT_TRUE(job(R"({"requests":{"cpu":"2000m"}})").allowed());
  EXPECT_EQ(job(R"({"limits":{"cpu":"500m"}})").code, 400);
  EXPECT_EQ(job("{}").code, 400);
}

TEST(AdmissionTest, QueueWithoutAStateTakesNoJobs) {
  value job = GoodJob("{}");
  AdmissionRequest request;
  request.resource = &kJobs;
  const Verdict verdict = Admit(request, &job, [](absl::string_view) { return QueueFacts{}; });
  EXPECT_EQ(verdict.code, 400);
  EXPECT_THAT(verdict.message,
              HasSubstr("spec.queue: Invalid value: \"default\": the queue takes no jobs: its state is not known yet"));
}

TEST(AdmissionTest, WithoutLookUpNoRuleAboutQueuesIsJudged) {
  value job = GoodJob(R"({"queue":"elsewhere"})");
  AdmissionRequest request;
  request.resource = &kJobs;
  EXPECT_TRUE(Admit(request, &job, nullptr).allowed());
}

TEST(AdmissionTest, GeneratedNamesNeedNoName) {
  value job = GoodJob("{}");
  job.as_object().at("metadata") = {{"generateName", "ctr-"}};
  EXPECT_TRUE(Create(kJobs, job).allowed());
  job = GoodJob("{}");
  job.as_object().at("metadata") = boost::json::object();
  EXPECT_THAT(Causes(Create(kJobs, job)), ElementsAre("FieldValueRequired metadata.name"));
}

TEST(AdmissionTest, UnknownFieldsAreKept) {
  value job = GoodJob(R"({"foo":{"bar":[1,2]}})");
  ASSERT_TRUE(Create(kJobs, job).allowed());
  EXPECT_EQ(job.as_object().at("spec").as_object().at("foo"), Json(R"({"bar":[1,2]})"));
}

TEST(AdmissionTest, UpdateSaysWhichFieldMayNotChange) {
  const value before = BaseJob();
  value after = before;
  after.at_pointer("/spec/tasks/0/template/spec/containers/0/image") = "other";
  const Verdict verdict = Update(kJobs, before, after);
  ASSERT_EQ(verdict.errors.size(), 1u);
  EXPECT_EQ(verdict.errors[0].field, "spec.tasks[0].template.spec.containers[0].image");
  EXPECT_THAT(verdict.message, HasSubstr("from \"example.test/app:v1\" to \"other\""));
}

TEST(AdmissionTest, UpdateComparesByMeaning) {
  const value before = BaseJob();
  value after = before;
  after.at_pointer("/spec/tasks/0/template/spec/containers/0/resources/requests/cpu") = "1000m";
  after.at_pointer("/spec/tasks/0/template/spec").as_object()["tolerations"] = boost::json::array();
  after.at_pointer("/spec/tasks/0/template").as_object().erase("metadata");
  after.at_pointer("/spec").as_object()["volumes"] = nullptr;
  EXPECT_TRUE(Update(kJobs, before, after).allowed()) << Update(kJobs, before, after).message;
  after.at_pointer("/spec/tasks/0/template/spec").as_object()["terminationGracePeriodSeconds"] = 0;
  EXPECT_FALSE(Update(kJobs, before, after).allowed());
}

TEST(AdmissionTest, ControllerMayNameTheClaimItMade) {
  value before = BaseJob();
  before.at_pointer("/spec").as_object()["volumes"] =
      Json(R"([{"mountPath":"/d","volumeClaim":{"accessModes":["ReadWriteOnce"]}}])");
  value after = before;
  after.at_pointer("/spec/volumes/0").as_object()["volumeClaimName"] = "base-pvc-1";
  EXPECT_TRUE(Update(kJobs, before, after).allowed()) << Update(kJobs, before, after).message;
}

TEST(AdmissionTest, QueueCannotMoveBelowItself) {
  const value before = Json(R"({"metadata":{"name":"q-parent"},"spec":{"weight":1,"parent":"root"}})");
  value after = before;
  after.at_pointer("/spec/parent") = "q-child";
  EXPECT_EQ(Update(kQueues, before, after).code, 400);
}

TEST(AdmissionTest, LookUpKnowsParentsChildrenAndPods) {
  std::vector<Queue> queues(3);
  queues[0].metadata.name = "root";
  queues[1].metadata.name = "default";
  queues[1].status.state = "Open";
  queues[1].status.allocated["pods"] = Quantity::FromUnits(2);
  queues[2].metadata.name = "ads";
  queues[2].spec.parent = "default";
  const QueueLookup lookup = LookupIn(queues);
  EXPECT_THAT(lookup("root")->children, ElementsAre("default"));
  EXPECT_THAT(lookup("default")->children, ElementsAre("ads"));
  EXPECT_EQ(lookup("default")->allocated_pods, 2);
  EXPECT_EQ(lookup("default")->state, "Open");
  EXPECT_FALSE(lookup("nope").has_value());
}

TEST(AdmissionTest, ManyErrorsStayShort) {
  std::string tasks;
  for (int i = 0; i < 5000; ++i)
    absl::StrAppend(&tasks, i == 0 ? "" : ",", R"({"name":"w","replicas":1,"minAvailable":2})");
  const Verdict verdict = CreateWith(absl::StrCat(R"({"tasks":[)", tasks, "]}"));
  EXPECT_EQ(verdict.code, 400);
  EXPECT_LE(verdict.errors.size(), 200u);
}

std::string Times(int n, const std::string& item) {
  return absl::StrJoin(std::vector<std::string>(static_cast<std::size_t>(n), item), ",");
}

TEST(AdmissionTest, AListOfTooManyObjectsIsRefusedAndNotEntered) {
  for (const char* list : {"tasks", "policies", "volumes"}) {
    const Verdict verdict = CreateWith(absl::StrCat("{\"", list, "\":[", Times(5001, "7"), "]}"));
    EXPECT_EQ(verdict.code, 422);
    ASSERT_EQ(verdict.errors.size(), 1u) << verdict.message;
    EXPECT_EQ(verdict.errors[0].ToString(),
              absl::StrCat("spec.", list, ": Invalid value: 5001: must have at most 5000 items"));
  }
  value job = Json(absl::StrCat(R"({"metadata":{"name":"j"},"spec":{"tasks":[)", Times(5001, "{}"), "]}}"));
  const value before = job;
  FillIn({.resource = &kJobs, .ns = "default", .name = ""}, job);
  EXPECT_EQ(job, before) << "no defaults";
  EXPECT_EQ(CreateWith(absl::StrCat(R"({"plugins":{"svc":[)", Times(5001, "\"\""), "]}}")).code, 0)
      << "texts are not objects";
}

TEST(AdmissionTest, ALargeObjectThatIsThereMayKeepItsSpec) {
  const value before = Json(absl::StrCat(R"({"metadata":{"name":"j"},"spec":{"tasks":[)", Times(5001, "{}"), "]}}"));
  value after = before;
  after.at_pointer("/metadata").as_object()["labels"] = Json(R"({"a":"b"})");
  EXPECT_TRUE(Update(kJobs, before, after).allowed()) << Update(kJobs, before, after).message;
  after.at_pointer("/spec").as_object()["queue"] = "other";
  EXPECT_FALSE(Update(kJobs, before, after).allowed());
}

TEST(AdmissionTest, WhatIsRepeatedOfARequestIsCut) {
  const std::string name(1'000'000, 'n');
  for (const std::string& metadata :
       {absl::StrCat(R"("name":")", name, "\""), absl::StrCat(R"("generateName":")", name, "\"")}) {
    value job = Json(absl::StrCat("{\"metadata\":{", metadata, R"(},"spec":{"tasks":[)", Times(200, "{}"), "]}}"));
    const Verdict verdict = Create(kJobs, job);
    EXPECT_FALSE(verdict.allowed());
    EXPECT_LT(verdict.message.size(), 300'000u);
  }
  const Verdict flags = CreateWith(absl::StrCat(R"({"plugins":{")", name, "\":[", Times(200, "7"), "]}}"));
  ASSERT_EQ(flags.errors.size(), 100u);
  EXPECT_LT(flags.message.size(), 100'000u);
  EXPECT_THAT(flags.errors[0].field,
              ::testing::AllOf(::testing::StartsWith("spec.plugins.nnn"), ::testing::EndsWith("n...")));
}

TEST(AdmissionTest, OfManyCirclesAHundredAreNamed) {
  std::vector<std::string> names, tasks;
  for (int i = 0; i < 300; ++i) names.push_back(absl::StrCat("\"t", i, "\""));
  for (int i = 0; i < 300; ++i) {
    tasks.push_back(absl::StrCat(R"({"name":"t)", i, R"(","dependsOn":{"name":[)", absl::StrJoin(names, ","),
                                 R"(]},"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}})"));
  }
  const Verdict verdict = CreateWith(absl::StrCat(R"({"tasks":[)", absl::StrJoin(tasks, ","), "]}"));
  EXPECT_EQ(verdict.errors.size(), 100u);
  EXPECT_LT(verdict.message.size(), 300'000u);
}

// Replaces one value somewhere below `at`.
void Damage(value& at, std::mt19937& random) {
  static const char* const kValues[] = {"null",
                                        "true",
                                        "7",
                                        "-1",
                                        "0",
                                        "1.5",
                                        "99999999999",
                                        "18446744073709551615",
                                        "\"\"",
                                        "\"x\"",
                                        "\"Bad_Name\"",
                                        "\"a:b\"",
                                        "\"1e999999\"",
                                        "[]",
                                        "[null]",
                                        "[\"x\"]",
                                        "[[]]",
                                        "{}",
                                        "{\"x\":null}",
                                        "{\"cpu\":\"1\"}",
                                        "[{}]",
                                        "[{\"name\":\"x\"}]"};
  const bool here = random() % 6 == 0;
  if (!here && at.is_object() && !at.get_object().empty()) {
    return Damage((at.get_object().begin() + static_cast<std::ptrdiff_t>(random() % at.get_object().size()))->value(),
                  random);
  }
  if (!here && at.is_array() && !at.get_array().empty())
    return Damage(at.get_array()[random() % at.get_array().size()], random);
  at = Json(kValues[random() % std::size(kValues)]);
}

TEST(AdmissionTest, DamagedObjectsGetAVerdictToo) {
  std::mt19937 random(11);
  std::vector<const Row*> creates;
  for (const Row& row : Rows()) {
    if (row.method == "POST") creates.push_back(&row);
  }
  int allowed = 0;
  for (int round = 0; round < 20'000; ++round) {
    const Row& row = *creates[random() % creates.size()];
    const Resource& resource = row.group[0] == 'J' ? kJobs : row.group[0] == 'P' ? kPodGroups : kQueues;
    value object = row.input;
    for (std::size_t n = 1 + random() % 3; n > 0; --n) Damage(object, random);
    const std::string text = ToJson(object);
    const Verdict verdict = Create(resource, object);
    ASSERT_EQ(verdict.allowed(), verdict.errors.empty()) << text;
    ASSERT_TRUE(verdict.code == 0 || verdict.code == 400 || verdict.code == 422) << text;
    ASSERT_EQ(verdict.allowed(), verdict.message.empty()) << text;
    if (!verdict.allowed()) continue;
    ++allowed;
    value again = object;
    ASSERT_TRUE(Create(resource, again).allowed()) << text;
    ASSERT_EQ(again, object) << text;
    ASSERT_TRUE(Update(resource, object, object).allowed()) << text << Update(resource, object, object).message;
  }
  EXPECT_GT(allowed, 1000);
}

}  // namespace
}  // namespace gangway::api::volcano
