// PaddleJobs of paddle-operator become ours and go back (docs/paddlejob-lifecycle.md).
#include "translator/lifecycle/migration.h"

#include <algorithm>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "base/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::paddle_lifecycle {
namespace {

namespace json = boost::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A namespace with one PaddleJob, on which plans are carried out as an API server would.
class Town {
 public:
  Town() {
    Put("paddlejobs",
        R"({"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","metadata":{"name":"wd","namespace":"a","uid":"u1","resourceVersion":"5",
      "finalizers":["finalizers.paddlepaddle.org","other"],"managedFields":[]},
      "spec":{"sampleNobodyKnows":1,"schedulingPolicy":{"priorityClass":"high"},
        "ps":{"replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}},"worker":{"replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}},
      "status":{"phase":"Running"}})");
    for (const char* const name : {"wd-ps-0", "wd-worker-0"}) {
      Put("pods", absl::StrCat(R"({"metadata":{"name":")", name, R"(","namespace":"a","uid":"p-)", name, "\",", kOwned,
                               R"(},"status":{"phase":"Running"}})"));
      Put("services",
          absl::StrCat(R"({"metadata":{"name":")", name, R"(","namespace":"a","uid":"s-)", name, "\",", kOwned, "}}"));
    }
    Put("configmaps", absl::StrCat(R"({"metadata":{"name":"wd","namespace":"a","uid":"c1",)", kOwned, "}}"));
    Put("podgroups",
        R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"wd","namespace":"a","uid":"g1"},"spec":{"minMember":2,"queue":"ads"},"status":{"phase":"Inqueue"}})");
  }

  void Put(const std::string& plural, const std::string& text) {
    json::value object = *api::ParseJson(text);
    objects_[plural][json::value_to<std::string>(object.at("metadata").at("name"))] = std::move(object);
  }
  void Remove(const std::string& plural, const std::string& name) { objects_[plural].erase(name); }
  json::value& At(const std::string& plural, const std::string& name) { return objects_[plural].at(name); }
  std::vector<std::string> Names() const {
    std::vector<std::string> out;
    for (const auto& [plural, objects] : objects_) {
      for (const auto& [name, object] : objects) out.push_back(absl::StrCat(plural, "/", name));
    }
    return out;
  }

  // What one look shows. Valid until the next.
  const MigrationView& Look() {
    view_ = {};
    job_ = *api::Decode<api::paddle::PaddleJob>(api::ToJson(At("paddlejobs", "wd")));
    view_.job = &job_;
    view_.job_json = api::ToJson(At("paddlejobs", "wd"));
    for (const auto& [resource, plural] : {std::pair{&api::kPods, "pods"}, std::pair{&api::kServices, "services"},
                                           std::pair{&api::kConfigMaps, "configmaps"}}) {
      for (const auto& [name, object] : objects_[plural]) {
        const auto pod = *api::Decode<api::paddle::PaddleJob>(
            api::ToJson(object));  // metadata and status.phase are where a pod has them
        if (pod.metadata.Controller() != nullptr) view_.objects.push_back({resource, pod.metadata, pod.status.phase});
      }
    }
    if (objects_["podgroups"].contains("wd")) {
      group_ = *api::Decode<api::volcano::PodGroup>(api::ToJson(At("podgroups", "wd")));
      view_.group = &group_;
      view_.group_json = api::ToJson(At("podgroups", "wd"));
    }
    if (objects_["jobs"].contains("wd")) {
      volcano_job_ = *api::Decode<api::volcano::Job>(api::ToJson(At("jobs", "wd")));
      view_.volcano_job = &volcano_job_;
    }
    if (objects_["configmaps"].contains("gangway-import-wd")) {
      const json::value& record = At("configmaps", "gangway-import-wd");
      record_ =
          api::Decode<api::volcano::PodGroup>(api::ToJson(json::object{{"metadata", record.at("metadata")}}))->metadata;
      view_.record = &record_;
      for (const auto& [key, value] : record.at("data").as_object())
        view_.record_data[std::string(key)] = json::value_to<std::string>(value);
    }
    return view_;
  }

  void CarryOut(const kube::Plan& plan) {
    for (const auto& stage : plan.stages) {
      for (const kube::Write& write : stage) {
        auto& kind = objects_[std::string(write.resource->plural)];
        if (write.verb == kube::Verb::kCreate) {
          json::value object = *api::ParseJson(write.body);
          object.at("metadata").as_object()["uid"] = absl::StrCat("new-", write.name);
          kind[write.name] = std::move(object);
        } else if (write.verb == kube::Verb::kDelete) {
          kind.erase(write.name);
        } else {
          api::ApplyMergePatch(kind.at(write.name), *api::ParseJson(write.body));
        }
      }
    }
  }

  static constexpr char kOwned[] =
      R"("ownerReferences":[{"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","name":"wd","uid":"u1","controller":true}])";

 private:
  std::map<std::string, std::map<std::string, json::value>> objects_;
  MigrationView view_;
  api::paddle::PaddleJob job_;
  api::volcano::PodGroup group_;
  api::volcano::Job volcano_job_;
  api::ObjectMeta record_;
};

std::string Spec(Town& town) { return api::ToJson(town.At("paddlejobs", "wd").at("spec")); }

int Import(Town& town) {
  for (int rounds = 1; rounds < 10; ++rounds) {
    const Migration migration = PlanImport(town.Look(), {});
    if (migration.done) return rounds;
    town.CarryOut(migration.next);
  }
  return 0;
}

int Return(Town& town) {
  for (int rounds = 1; rounds < 10; ++rounds) {
    const auto way = PlanReturn(town.Look());
    EXPECT_EQ(way.problem, "");
    if (way.done) return rounds;
    town.CarryOut(way.next);
  }
  return 0;
}

TEST(MigrationTest, ThePlanSaysWhatGoesAndWhatIsTakenOver) {
  Town town;
  const Migration migration = PlanImport(town.Look(), {});
  EXPECT_EQ(migration.state, MigrationState::kRunning);
  EXPECT_EQ(migration.running_pods, 2);
  EXPECT_THAT(migration.goes, ElementsAre("configmap wd", "pod wd-ps-0", "pod wd-worker-0", "podgroup wd",
                                          "service wd-ps-0", "service wd-worker-0"));
  EXPECT_EQ(migration.taken_over, "queue ads, minMember 2");
  EXPECT_FALSE(convert::HasErrors(migration.findings));
  const auto says = [](const Migration& plan, convert::Code code) {
    return std::any_of(plan.findings.begin(), plan.findings.end(),
                       [&](const convert::Finding& one) { return one.code == code; });
  };
  EXPECT_FALSE(says(migration, convert::Code::kMinResources));
  town.At("podgroups", "wd").at("spec").as_object()["minResources"] = {{"cpu", "1"}};
  EXPECT_TRUE(says(PlanImport(town.Look(), {}), convert::Code::kMinResources)) << "they are not taken over";
}

TEST(MigrationTest, TheRecordComesFirstAndTheJobIsOursOnlyWhenAllIsGone) {
  Town town;
  const Migration first = PlanImport(town.Look(), {});
  ASSERT_EQ(first.next.stages.size(), 3u);
  EXPECT_EQ(first.next.stages[0][0].name, "gangway-import-wd");
  EXPECT_THAT(first.next.stages[1][0].body, Not(HasSubstr("managed-by")));
  town.CarryOut(first.next);
  EXPECT_THAT(town.Names(), ElementsAre("configmaps/gangway-import-wd", "paddlejobs/wd"));
  EXPECT_EQ(api::ToJson(town.At("paddlejobs", "wd").at("metadata").at("finalizers")), R"(["other"])")
      << "the operator's would keep the job for ever";
  EXPECT_THAT(Spec(town), HasSubstr(R"("schedulingPolicy":{"priorityClass":"high","queue":"ads","minAvailable":2})"));
  EXPECT_EQ(Import(town), 2);
  EXPECT_EQ(town.At("paddlejobs", "wd").at("metadata").at("annotations").at("paddle.gangway.io/managed-by"), "gangway");
  EXPECT_EQ(PlanImport(town.Look(), {}).state, MigrationState::kOurs);
}

TEST(MigrationTest, WhatIsBeingDeletedIsWaitedFor) {
  Town town;
  town.CarryOut(PlanImport(town.Look(), {}).next);
  town.Put("pods",
           absl::StrCat(
               R"({"metadata":{"name":"wd-ps-0","namespace":"a","uid":"p","deletionTimestamp":"2026-01-01T00:00:00Z",)",
               Town::kOwned, R"(},"status":{"phase":"Running"}})"));
  const Migration migration = PlanImport(town.Look(), {});
  EXPECT_FALSE(migration.done);
  EXPECT_THAT(migration.next.stages, IsEmpty());
  EXPECT_THAT(migration.goes, ElementsAre("pod wd-ps-0"));
}

TEST(MigrationTest, ThereAndBackIsAsItWas) {
  Town town;
  const std::string before = Spec(town);
  ASSERT_GT(Import(town), 0);
  town.Put("jobs", absl::StrCat(R"({"metadata":{"name":"wd","namespace":"a","uid":"j1",)", Town::kOwned, "}}"));
  const auto way = PlanReturn(town.Look());
  EXPECT_TRUE(way.stops_job);
  ASSERT_EQ(way.next.stages.size(), 2u);
  EXPECT_THAT(way.next.stages[0][0].body, HasSubstr(R"("paddle.gangway.io/managed-by":"paddle-operator")"))
      << "first, or our controller would make the Job again";
  EXPECT_EQ(way.next.stages[1][0].propagation, kube::Propagation::kForeground)
      << "the operator's pods will have the names of ours";
  ASSERT_GT(Return(town), 0);
  EXPECT_EQ(Spec(town), before);
  EXPECT_THAT(town.Names(), ElementsAre("paddlejobs/wd", "podgroups/wd"));
  EXPECT_EQ(api::ToJson(town.At("podgroups", "wd").at("spec")), R"({"minMember":2,"queue":"ads"})");
  EXPECT_FALSE(town.At("podgroups", "wd").as_object().contains("status"));
}

TEST(MigrationTest, AJobWithoutAnythingOfTheOperatorIsOnlyMarked) {
  Town town;
  for (const char* const name : {"wd-ps-0", "wd-worker-0"}) {
    town.Remove("pods", name);
    town.Remove("services", name);
  }
  town.Remove("configmaps", "wd");
  town.Remove("podgroups", "wd");
  const Migration migration = PlanImport(town.Look(), {});
  EXPECT_EQ(migration.state, MigrationState::kPending);
  EXPECT_EQ(migration.taken_over, "");
  EXPECT_EQ(Import(town), 2);
}

TEST(MigrationTest, TheOperatorsOwnGroupGoesAndIsNotMadeAgain) {
  Town town;
  town.Put("podgroups", absl::StrCat(R"({"metadata":{"name":"wd","namespace":"a","uid":"g2",)", Town::kOwned,
                                     R"(},"spec":{"minMember":2,"queue":"ads"}})"));
  const Migration migration = PlanImport(town.Look(), {});
  EXPECT_EQ(migration.taken_over, "") << "it was made of the job's own words";
  ASSERT_GT(Import(town), 0);
  ASSERT_GT(Return(town), 0);
  EXPECT_THAT(town.Names(), ElementsAre("paddlejobs/wd"));
}

TEST(MigrationTest, FinishedAndUntranslatableJobsStayAsTheyAre) {
  Town town;
  town.At("paddlejobs", "wd").at("status").as_object()["phase"] = "Completed";
  EXPECT_EQ(PlanImport(town.Look(), {}).state, MigrationState::kFinished);
  EXPECT_TRUE(PlanImport(town.Look(), {}).next.empty());
  Town other;
  other.At("paddlejobs", "wd").at("spec").at("worker").as_object()["replicas"] = -1;
  const Migration migration = PlanImport(other.Look(), {});
  EXPECT_EQ(migration.state, MigrationState::kRefused);
  EXPECT_TRUE(migration.next.empty());
  EXPECT_THAT(migration.findings.front().ToString(), HasSubstr("E-REPLICAS spec.worker.replicas"));
}

// The job as our controller has it: nothing of the operator is there, its Job is.
void RunAsOurs(Town& town, absl::string_view manager = {}) {
  for (const char* const name : {"wd-ps-0", "wd-worker-0"}) {
    town.Remove("pods", name);
    town.Remove("services", name);
  }
  town.Remove("configmaps", "wd");
  json::object& job = town.At("paddlejobs", "wd").as_object();
  if (!manager.empty())
    job["metadata"].as_object()["annotations"] = {{"paddle.gangway.io/managed-by", std::string(manager)}};
  job["status"] = {{"phase", "Running"},
                   {"conditions", {{{"type", "Translated"}, {"status", "True"}, {"reason", "JobCreated"}}}}};
  town.Put(
      "jobs",
      absl::StrCat(
          R"({"metadata":{"name":"wd","namespace":"a","uid":"j1","annotations":{"paddle.gangway.io/translation":"0 ps=1"},)",
          Town::kOwned, R"(},"status":{"state":{"phase":"Running"},"running":2}})"));
}

TEST(MigrationTest, WhatRunsAsOursIsNeverTouched) {
  for (const char* const manager : {"", "gangway"}) {
    Town town;  // with a PodGroup of the job's name, whose wishes would make another Job of it
    RunAsOurs(town, manager);
    town.Put(
        "configmaps",
        absl::StrCat(
            R"({"metadata":{"name":"wd-paddle-env","namespace":"a","uid":"e1","annotations":{"paddle.gangway.io/translation":"0"},)",
            Town::kOwned, "}}"));
    const Migration migration = PlanImport(town.Look(), {});
    EXPECT_EQ(migration.state, MigrationState::kOurs) << manager;
    EXPECT_TRUE(migration.has_job && migration.done) << manager;
    EXPECT_TRUE(migration.next.empty()) << manager;
    EXPECT_THAT(migration.goes, Not(::testing::Contains(HasSubstr("wd-paddle-env")))) << "the Job needs it";
  }
}

TEST(MigrationTest, WhatRunsAsOursIsNotJudgedAgain) {
  Town town;
  RunAsOurs(town);
  json::object& spec = town.At("paddlejobs", "wd").at("spec").as_object();
  spec.erase("ps");
  spec["elastic"] = 1;  // whose etcd its controller knows
  EXPECT_EQ(PlanImport(town.Look(), {}).state, MigrationState::kOurs);
}

TEST(MigrationTest, WhatHasEndedAsOursIsNeverTouched) {
  for (const char* const phase : {"Completed", "Failed"}) {
    for (const char* const manager : {"", "gangway"}) {
      Town town;
      RunAsOurs(town, manager);
      town.At("paddlejobs", "wd").at("status").as_object()["phase"] = phase;
      EXPECT_EQ(PlanImport(town.Look(), {}).state, MigrationState::kFinished) << phase;
      EXPECT_TRUE(PlanImport(town.Look(), {}).next.empty()) << phase;
      town.Remove("jobs", "wd");
      EXPECT_EQ(PlanImport(town.Look(), {}).state, MigrationState::kFinished) << phase;
      EXPECT_TRUE(PlanImport(town.Look(), {}).next.empty()) << phase;
    }
  }
}

TEST(MigrationTest, WhatFailedBecauseItDoesNotTranslateHasNotEnded) {
  Town town;
  RunAsOurs(town);
  town.Remove("jobs", "wd");
  town.At("paddlejobs", "wd").at("status") = {
      {"phase", "Failed"},
      {"message", "E-ELASTIC spec.elastic: it needs an etcd"},
      {"conditions", {{{"type", "Translated"}, {"status", "False"}, {"reason", "Invalid"}}}}};
  const Migration migration = PlanImport(town.Look(), {});
  EXPECT_EQ(migration.state, MigrationState::kUntranslated);
  EXPECT_EQ(migration.refusal, "E-ELASTIC spec.elastic: it needs an etcd");
  EXPECT_TRUE(migration.next.empty());
}

TEST(MigrationTest, WhatWaitsForRoomIsGivenIt) {
  Town town;
  RunAsOurs(town);
  town.Remove("jobs", "wd");
  town.At("paddlejobs", "wd").at("status") = {
      {"phase", "Pending"},
      {"conditions",
       {{{"type", "Translated"}, {"status", "False"}, {"reason", "Waiting"}, {"message", "E-PG-CLASH"}}}}};
  const Migration migration = PlanImport(town.Look(), {});
  EXPECT_EQ(migration.state, MigrationState::kPending);
  EXPECT_THAT(migration.goes, ElementsAre("podgroup wd"));
  EXPECT_EQ(migration.taken_over, "queue ads, minMember 2");
}

TEST(MigrationTest, AnImportThatBrokeOffEndsWithoutAnotherJob) {
  Town town;
  town.CarryOut(PlanImport(town.Look(), {}).next);
  RunAsOurs(town);  // by a controller that saw nobody claim it
  const std::string spec = Spec(town);
  const Migration migration = PlanImport(town.Look(), {});
  EXPECT_EQ(migration.state, MigrationState::kOurs);
  EXPECT_FALSE(migration.done);
  ASSERT_GT(Import(town), 0);
  EXPECT_EQ(Spec(town), spec);
  EXPECT_EQ(town.At("paddlejobs", "wd").at("metadata").at("annotations").at("paddle.gangway.io/managed-by"), "gangway");
  EXPECT_TRUE(town.Look().volcano_job != nullptr);
}

TEST(MigrationTest, ARecordOfAnEarlierJobOfThatNameSaysNothingOfThisOne) {
  Town town;
  RunAsOurs(town);
  town.Put(
      "configmaps",
      R"({"metadata":{"name":"gangway-import-wd","namespace":"a","uid":"x","ownerReferences":[{"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","name":"wd","uid":"u0"}]},
    "data":{"paddlejob.json":"{}"}})");
  const Migration migration = PlanImport(town.Look(), {});
  EXPECT_EQ(migration.state, MigrationState::kOurs);
  EXPECT_TRUE(migration.done);
  EXPECT_TRUE(migration.next.empty());
}

TEST(MigrationTest, AWayBackThatBrokeOffIsNotTurnedAround) {
  Town town;
  RunAsOurs(town, "paddle-operator");
  EXPECT_EQ(PlanImport(town.Look(), {}).state, MigrationState::kReturning);
  EXPECT_TRUE(PlanImport(town.Look(), {}).next.empty());
}

TEST(MigrationTest, TranslatedAsTheControllerWould) {
  Town town;
  json::object& spec = town.At("paddlejobs", "wd").at("spec").as_object();
  spec.erase("ps");
  spec["elastic"] = 1;
  town.Remove("podgroups", "wd");
  EXPECT_EQ(PlanImport(town.Look(), {}).state, MigrationState::kRefused);
  EXPECT_EQ(PlanImport(town.Look(), {.elastic_etcd = "etcd.infra:2379"}).state, MigrationState::kRunning);
  MigrationView seen = town.Look();
  seen.sidecars = true;
  const Migration migration = PlanImport(seen, {.elastic_etcd = "etcd.infra:2379"});
  EXPECT_TRUE(std::any_of(migration.findings.begin(), migration.findings.end(),
                          [](const convert::Finding& one) { return one.code == convert::Code::kIstio; }));
}

// What its Job needed goes with it; a PodGroup that somebody has made meanwhile stays.
TEST(MigrationTest, TheWayBackTakesWhatOursMadeAndLeavesWhatIsThere) {
  Town town;
  ASSERT_GT(Import(town), 0);
  town.Put(
      "configmaps",
      absl::StrCat(
          R"({"metadata":{"name":"wd-paddle-env","namespace":"a","uid":"e1","annotations":{"paddle.gangway.io/translation":"0"},)",
          Town::kOwned, "}}"));
  town.Put(
      "configmaps",
      absl::StrCat(
          R"({"metadata":{"name":"wd-going","namespace":"a","uid":"e2","deletionTimestamp":"2026-01-01T00:00:00Z",)",
          Town::kOwned, "}}"));
  town.Put("pods", absl::StrCat(R"({"metadata":{"name":"wd-ps-0","namespace":"a","uid":"p",)", Town::kOwned,
                                R"(},"status":{"phase":"Running"}})"));
  town.Put(
      "podgroups",
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"wd","namespace":"a","uid":"g9"},"spec":{"minMember":1}})");
  ASSERT_GT(Return(town), 0);
  EXPECT_THAT(town.Names(), ElementsAre("configmaps/wd-going", "paddlejobs/wd", "podgroups/wd", "pods/wd-ps-0"));
  EXPECT_EQ(api::ToJson(town.At("podgroups", "wd").at("spec")), R"({"minMember":1})");
}

TEST(MigrationTest, NoWayBackWithoutARecordOfThisJob) {
  Town town;
  EXPECT_THAT(PlanReturn(town.Look()).problem, HasSubstr("there is no config map gangway-import-wd"));
  town.Put("configmaps",
           R"({"metadata":{"name":"gangway-import-wd","namespace":"a","uid":"x"},"data":{"paddlejob.json":"{}"}})");
  EXPECT_THAT(PlanReturn(town.Look()).problem, HasSubstr("is not the record of this job's import"));
}

}  // namespace
}  // namespace gangway::paddle_lifecycle
