// What spec paddle 6.9 and 6.12 say beside the rows: drift, edits of single fields, names that are taken, two
// controllers, queues.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/translator/lifecycle/paddle_world.h"

namespace gangway::testutil {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string Workers(int n, const std::string& extra = "", const std::string& annotations = "") {
  return PaddleJobText("wd", {{"worker", RoleText(n)}}, extra, annotations);
}
json::value OwnedBy(const std::string& api_version, const std::string& kind, const std::string& name,
                    const std::string& uid, const std::string& rest = "{}") {
  json::value object = *api::ParseJson(rest);
  object.as_object()["metadata"] = json::object{
      {"ownerReferences",
       json::array{json::object{
           {"apiVersion", api_version}, {"kind", kind}, {"name", name}, {"uid", uid}, {"controller", true}}}}};
  return object;
}

TEST(PaddleKeep, TheJobIsMadeWithOneStatus) {
  PaddleWorld world(Workers(2));
  world.Step();
  EXPECT_THAT(world.writes(), ElementsAre("create jobs wd", "patch paddlejobs/status wd"));
  const api::OwnerReference owner = *world.job().metadata.Controller();
  EXPECT_EQ(owner.kind, "PaddleJob");
  EXPECT_EQ(owner.uid, world.paddle().metadata.uid);
  EXPECT_FALSE(world.job().metadata.annotations.contains("paddle.gangway.io/restarts")) << "there was none";
  EXPECT_EQ(world.CountEvents("JobCreated"), 1);
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_TRUE(world.Decide().stages.empty());  // before its controller has seen it
}

TEST(PaddleKeep, AJobThatAUserDeletesIsMadeAnew) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  world.DeleteJob();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Restarting");  // its pods have their grace
  EXPECT_EQ(world.status().restarts, 1);
  ASSERT_TRUE(world.ComeBack());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.status().restarts, 1);
  EXPECT_EQ(world.CountEvents("Restarting", "its Job was deleted"), 1);
}

TEST(PaddleKeep, AJobThatMayBeThereUnseenIsNotTakenForDeleted) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  world.DeleteJob();
  world.jobs_current = false;
  EXPECT_EQ(world.Step(), 0);
  EXPECT_EQ(world.look_again(), world.now() + absl::Seconds(1));
}

TEST(PaddleKeep, AJobThatIsDeletedAfterTheEndStaysAway) {
  PaddleWorld world(Workers(1));
  ASSERT_TRUE(world.Start());
  world.SetAll("Succeeded");
  ASSERT_TRUE(world.Settle());
  world.DeleteJob();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_FALSE(world.Exists("jobs", "wd"));
}

TEST(PaddleKeep, ThePriorityClassIsCarriedOver) {
  PaddleWorld world(Workers(1, R"("schedulingPolicy":{"priorityClass":"low"})"));
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.CountEvents("TranslationInfo", "I-PRIORITY"), 1);
  const std::string job = world.job().metadata.uid;
  world.Edit(R"({"spec":{"schedulingPolicy":{"priorityClass":"high"}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().spec.priority_class_name, "high");
  EXPECT_EQ(world.job().metadata.uid, job);
  EXPECT_EQ(world.phase(), "Running");
  world.Edit(R"({"spec":{"schedulingPolicy":{"priorityClass":null}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().spec.priority_class_name, "");
}

// An empty schedulingPolicy is none.
TEST(PaddleKeep, APriorityClassOfAJobWithoutPolicyIsCarriedOver) {
  const std::string workers = PaddleJobText("wd", {{"worker", RoleText(1)}}),
                    kubeflow = KubeflowJobText("wd", {{"Worker", RoleText(1)}});
  for (const auto& [text, edit] :
       {std::pair(workers, R"({"spec":{"schedulingPolicy":{"priorityClass":"high"}}})"),
        std::pair(kubeflow, R"({"spec":{"runPolicy":{"schedulingPolicy":{"priorityClass":"high"}}}})")}) {
    PaddleWorld world(text);
    ASSERT_TRUE(world.Start());
    const std::string job = world.job().metadata.uid;
    world.Edit(edit);
    ASSERT_TRUE(world.Settle());
    EXPECT_EQ(world.job().metadata.uid, job) << edit;
    EXPECT_EQ(world.job().spec.priority_class_name, "high");
    EXPECT_EQ(world.JobPhase(), "Running");
  }
}

TEST(PaddleKeep, AnotherQueueAnotherTemplateAnotherJob) {
  for (const char* edit :
       {R"({"spec":{"schedulingPolicy":{"queue":"gold"}}})", R"({"spec":{"withGloo":1,"intranet":"Service"}})",
        R"({"metadata":{"annotations":{"paddle.gangway.io/wait-dns":"off"}}})"}) {
    PaddleWorld world(Workers(2));
    world.queues["gold"] = "Open";
    ASSERT_TRUE(world.Start());
    const std::string job = world.job().metadata.uid;
    world.ForgetWrites();
    world.Edit(edit);
    ASSERT_TRUE(world.Settle());
    EXPECT_EQ(world.phase(), "Restarting") << edit;
    EXPECT_EQ(world.writes()[0], "patch paddlejobs/status wd");  // before what it explains
    EXPECT_EQ(world.writes()[1], "delete jobs wd");
    ASSERT_TRUE(world.ComeBack());
    EXPECT_NE(world.job().metadata.uid, job);
    EXPECT_EQ(world.phase(), "Running");
  }
}

TEST(PaddleKeep, WhatTheJobDoesNotDependOnReplacesNothing) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  const std::string job = world.job().metadata.uid;
  for (const char* edit : {R"({"spec":{"cleanPodPolicy":"Always"}})", R"({"metadata":{"labels":{"team":"ads"}}})",
                           R"({"metadata":{"annotations":{"note":"x"}}})",
                           R"({"metadata":{"annotations":{"paddle.gangway.io/ttl":"10"}}})"}) {
    world.Edit(edit);
    ASSERT_TRUE(world.Settle());
    EXPECT_EQ(world.job().metadata.uid, job) << edit;
  }
  // Another release of ours, another queue of the namespace, another etcd.
  world.namespace_queue = "gold";
  world.options.elastic_etcd = "other:2379";
  world.options.volcano = {1, 16};
  world.options.target = convert::Target::kVolcano;
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().metadata.uid, job);
}

TEST(PaddleKeep, AJobWithoutOurMarkIsTakenAsItIs) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  const std::string mark = world.job().metadata.annotations.at("paddle.gangway.io/translation"),
                    job = world.job().metadata.uid;
  world.PatchJob(R"({"metadata":{"annotations":{"paddle.gangway.io/translation":null}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().metadata.annotations.at("paddle.gangway.io/translation"), mark);
  EXPECT_EQ(world.job().metadata.uid, job);
}

TEST(PaddleKeep, AnEditThatCannotBeTranslatedLeavesTheJobRunning) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  world.Edit(R"({"spec":{"worker":{"replicas":0}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_THAT(world.status().message, HasSubstr("E-EMPTY"));
  EXPECT_EQ(world.Told("Translated").status, "False");
  EXPECT_EQ(world.CountEvents("TranslationError", "E-EMPTY"), 1);
  EXPECT_THAT(world.Pods(), SizeIs(2));
  EXPECT_EQ(world.status().mode, "Collective");  // of what runs
  world.SetAll("Succeeded");                     // and it comes to its end
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_EQ(world.status().message, "") << "a job that has completed has nothing to complain of";
  EXPECT_EQ(world.Told("Translated").status, "True") << "of what ran";
  world.DeleteJob();
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
}

TEST(PaddleKeep, ANegativeNumberIsShownAsNone) {
  PaddleWorld world(Workers(-1));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Failed");
  EXPECT_EQ(world.status().worker->ready, "0/0");
}

TEST(PaddleKeep, AnEditAfterTheEndDoesNotChangeWhatItWas) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  world.SetAll("Succeeded");
  ASSERT_TRUE(world.Settle());
  world.DeleteJob();
  world.Edit(R"({"spec":{"worker":{"replicas":1}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.status().mode, "Collective");
}

TEST(PaddleKeep, ScalingMayBeForbidden) {
  PaddleWorld world(Workers(2, "", R"("paddle.gangway.io/scale":"forbid")"));
  ASSERT_TRUE(world.Start());
  const std::string job = world.job().metadata.uid;
  world.Edit(R"({"spec":{"worker":{"replicas":3}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().metadata.uid, job);
  EXPECT_THAT(world.status().message, HasSubstr("worker=2"));
  EXPECT_EQ(world.status().worker->ready, "2/2");
  EXPECT_EQ(world.CountEvents("ScalingForbidden"), 1);
  world.Edit(R"({"metadata":{"annotations":{"paddle.gangway.io/scale":null}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Restarting");
}

TEST(PaddleKeep, AQueueThatIsAbsentOrClosed) {
  PaddleWorld world(Workers(1, R"("schedulingPolicy":{"queue":"gold"})"));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_THAT(world.status().message, HasSubstr("E-QUEUE"));
  EXPECT_EQ(world.status().queue, "gold");
  EXPECT_FALSE(world.Exists("jobs", "wd"));
  world.queues["gold"] = "Closed";
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(world.status().message, HasSubstr("the queue is Closed"));
  EXPECT_EQ(world.CountEvents("TranslationError", "E-QUEUE"), 2);  // once for each
  world.queues["gold"] = "Open";
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.job().spec.queue, "gold");
}

TEST(PaddleKeep, TheQueueOfTheNamespace) {
  PaddleWorld world(Workers(1));
  world.namespace_queue = "team";
  world.queues["team"] = "Open";
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.job().spec.queue, "team");
  EXPECT_EQ(world.status().queue, "team");
}

TEST(PaddleKeep, AServiceOfSomebodyElse) {
  PaddleWorld world(Workers(1));
  world.Add("services", "wd", OwnedBy("apps/v1", "Deployment", "web", "uid-web"));
  world.Step();
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_THAT(world.status().message, HasSubstr("E-SVC-CLASH"));
  EXPECT_THAT(world.status().message, HasSubstr("deployment web"));
  EXPECT_FALSE(world.Exists("jobs", "wd"));
  world.Remove("services", "wd");
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.phase(), "Running");
}

// An earlier Job of this name would be waited for; one of another name keeps what is its own.
TEST(PaddleKeep, AServiceOfAJobOfAnotherName) {
  PaddleWorld world(Workers(1));
  world.Add("services", "wd", OwnedBy("batch.volcano.sh/v1alpha1", "Job", "web", "uid-web"));
  world.Step();
  EXPECT_THAT(world.status().message, HasSubstr("E-SVC-CLASH"));
  EXPECT_THAT(world.status().message, HasSubstr("service wd belongs to job web"));
}

TEST(PaddleKeep, AJobOfThatNameThatIsNotOurs) {
  PaddleWorld world(Workers(1));
  world.Add("jobs", "wd", *api::ParseJson(R"({"spec":{"minAvailable":1,"tasks":[]},"status":{}})"));
  world.has_job_controller = false;
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_THAT(world.status().message, HasSubstr("job.batch.volcano.sh wd is not the PaddleJob's"));
}

TEST(PaddleKeep, AHandMadePodGroupIsTakenOver) {
  PaddleWorld world(Workers(3));
  world.queues["gold"] = "Open";
  world.Add("podgroups", "wd",
            *api::ParseJson(R"({"spec":{"minMember":2,"queue":"gold","priorityClassName":"high"}})"));
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.job().spec.queue, "gold");
  EXPECT_EQ(world.job().spec.min_available, 2);
  EXPECT_THAT(world.Told("Translated").message, HasSubstr("W-PG-DROPPED"));
  EXPECT_EQ(world.CountEvents("TranslationWarning", "W-PG-DROPPED"), 1);
  world.Remove("podgroups", "wd");  // as the warning says; the job keeps what it took over
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.job().spec.priority_class_name, "high");
}

TEST(PaddleKeep, AHandMadePodGroupThatVolcanoWouldTakeForTheJobs) {
  PaddleWorld world(Workers(1));
  world.options.target = convert::Target::kVolcano;
  world.Add("podgroups", "wd", *api::ParseJson(R"({"spec":{"minMember":1}})"));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_THAT(world.status().message, HasSubstr("E-PG-CLASH"));
  world.Remove("podgroups", "wd");
  ASSERT_TRUE(world.Settle());
  EXPECT_TRUE(world.Exists("jobs", "wd"));
}

// The guide's file, from top to bottom: the PaddleJob, then the PodGroup of its name.
TEST(PaddleKeep, E18AHandMadePodGroupThatComesAfterTheJob) {
  PaddleWorld world(Workers(4));
  world.queues["gold"] = "Open";
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  const std::string first = world.job().metadata.uid;
  EXPECT_THAT(world.Pods(), SizeIs(4));
  // They have nodes, and their programs have not begun: a quick scheduler needs less time than kubectl with the second
  // half of a file.
  for (const std::string& pod : world.Names("pods")) {
    world.SetPodStatus(
        pod,
        R"({"phase":"Pending","initContainerStatuses":[{"name":"wait-dns","state":{"running":{}}}],"containerStatuses":[{"name":"paddle","state":{"waiting":{}}}]})");
  }
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Starting");
  world.Add("podgroups", "wd",
            *api::ParseJson(R"({"spec":{"minMember":3,"queue":"gold","priorityClassName":"high"}})"));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.status().message, "its PodGroup wd asks for queue gold, minMember 3, priorityClassName high");
  ASSERT_TRUE(world.ComeBack());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_NE(world.job().metadata.uid, first);
  EXPECT_EQ(world.job().spec.queue, "gold");
  EXPECT_EQ(world.job().spec.min_available, 3);
  EXPECT_EQ(world.job().spec.priority_class_name, "high");
  EXPECT_EQ(world.status().queue, "gold");
  EXPECT_EQ(world.status().restarts, 0);
  EXPECT_THAT(world.Told("Translated").message, HasSubstr("W-PG-DROPPED"));
  EXPECT_EQ(world.CountEvents("TranslationWarning", "W-PG-DROPPED"), 1);
  EXPECT_EQ(world.CountEvents("JobCreated"), 2);
  // Whatever is done with it afterwards.
  const std::string job = world.job().metadata.uid;
  world.Remove("podgroups", "wd");
  ASSERT_TRUE(world.Settle());
  world.Add("podgroups", "wd", *api::ParseJson(R"({"spec":{"minMember":1,"queue":"default"}})"));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.job().metadata.uid, job);
}

TEST(PaddleKeep, ALateHandMadePodGroupThatAsksForWhatTheJobHasIsToldOnce) {
  for (const bool runs : {false, true}) {
    PaddleWorld world(Workers(3));
    ASSERT_TRUE(runs ? world.Start() : world.Settle());
    const std::string job = world.job().metadata.uid;
    world.Add("podgroups", "wd", *api::ParseJson(R"({"spec":{"minMember":3,"queue":"default"}})"));
    ASSERT_TRUE(world.Settle());
    ASSERT_TRUE(runs || world.Start());
    EXPECT_EQ(world.phase(), "Running");
    EXPECT_EQ(world.job().metadata.uid, job);
    EXPECT_EQ(world.Told("Translated").status, "True");
    EXPECT_THAT(world.Told("Translated").message, HasSubstr("what this one asks for is taken over"));
    EXPECT_EQ(world.CountEvents("TranslationWarning", "W-PG-DROPPED"), 1);
  }
}

TEST(PaddleKeep, AHandMadePodGroupThatComesAfterThePodsRestartsNothing) {
  for (const char* group : {R"({"spec":{"minMember":3,"queue":"gold"}})", R"({"spec":{"minMember":30}})"}) {
    PaddleWorld world(Workers(4));
    world.queues["gold"] = "Open";
    ASSERT_TRUE(world.Start());
    const std::string job = world.job().metadata.uid;
    world.Add("podgroups", "wd", *api::ParseJson(group));
    ASSERT_TRUE(world.Settle());
    EXPECT_EQ(world.phase(), "Running");
    EXPECT_EQ(world.job().metadata.uid, job);
    EXPECT_THAT(world.Told("Translated").message, HasSubstr("counts when the job is made anew"));
    EXPECT_EQ(world.Told("Translated").status, "True");
    EXPECT_EQ(world.CountEvents("TranslationWarning", "W-PG-DROPPED"), 1);
    EXPECT_EQ(world.status().message, "");
  }
}

TEST(PaddleKeep, ALateHandMadePodGroupThatCannotBeTakenOver) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Settle());
  const std::string job = world.job().metadata.uid;
  world.Add("podgroups", "wd", *api::ParseJson(R"({"spec":{"minMember":3}})"));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_EQ(world.job().metadata.uid, job);
  EXPECT_THAT(world.status().message, HasSubstr("E-MIN-AVAILABLE"));
  EXPECT_EQ(world.CountEvents("TranslationError", "E-MIN-AVAILABLE"), 1);
  world.Remove("podgroups", "wd");
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.Told("Translated").status, "True");
}

TEST(PaddleKeep, ALateHandMadePodGroupThatVolcanoWouldTakeForTheJobs) {
  PaddleWorld world(Workers(1));
  world.options.target = convert::Target::kVolcano;
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.Exists("jobs", "wd"));
  world.Add("podgroups", "wd", *api::ParseJson(R"({"spec":{"minMember":1}})"));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_THAT(world.status().message, HasSubstr("E-PG-CLASH"));
  EXPECT_EQ(world.Told("Translated").status, "False");
  EXPECT_EQ(world.CountEvents("TranslationError", "E-PG-CLASH"), 1);
  world.Remove("podgroups", "wd");
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.status().message, "");
}

TEST(PaddleKeep, AnotherControllerIsAtWork) {
  PaddleWorld world(Workers(1));
  const std::string uid = world.paddle().metadata.uid;
  json::value pod = OwnedBy("batch.paddlepaddle.org/v1", "PaddleJob", "wd", uid, R"({"status":{"phase":"Running"}})");
  world.Add("pods", "wd-worker-0", pod);
  world.Step();
  EXPECT_THAT(world.writes(), IsEmpty());  // the other one writes the status
  EXPECT_EQ(world.Decide().events.size(), 1u);
  EXPECT_THAT(world.Decide().events[0].message, HasSubstr("E-TWO-CONTROLLERS"));
  // We are chosen; what the other one has made must go first.
  world.Edit(R"({"metadata":{"annotations":{"paddle.gangway.io/managed-by":"gangway"}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_EQ(world.status().message, "waits until pod wd-worker-0 of another controller is gone");
  world.PodGone("wd-worker-0");
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.phase(), "Running");
}

TEST(PaddleKeep, ItsPodGroupAloneTellsOfAnotherController) {
  PaddleWorld world(Workers(1));
  const json::value group = OwnedBy("batch.paddlepaddle.org/v1", "PaddleJob", "wd", world.paddle().metadata.uid,
                                    R"({"spec":{"minMember":1}})");
  world.Add("podgroups", "wd", group);
  world.Step();
  EXPECT_THAT(world.writes(), IsEmpty());
  world.Edit(R"({"metadata":{"annotations":{"paddle.gangway.io/managed-by":"gangway"}}})");
  ASSERT_TRUE(world.Settle());
  EXPECT_TRUE(world.Wrote("delete podgroups wd"));
  EXPECT_TRUE(world.Exists("jobs", "wd"));
}

TEST(PaddleKeep, AnotherManagerIsNamed) {
  PaddleWorld world(Workers(1, "", R"("paddle.gangway.io/managed-by":"paddle-operator")"));
  world.Step();
  EXPECT_THAT(world.writes(), IsEmpty());
  EXPECT_TRUE(world.Decide().events.empty());
}

TEST(PaddleKeep, OneThatEndedBeforeWeCameIsLeftAlone) {
  for (const char* phase : {"Completed", "Failed"}) {
    PaddleWorld world(Workers(1));
    world.Edit(absl::StrCat(R"({"status":{"phase":")", phase, R"(","mode":"Single"}})"));
    world.Step();
    EXPECT_THAT(world.writes(), IsEmpty()) << phase;
  }
}

TEST(PaddleKeep, CompanionsComeFirstAndFollowTheSpec) {
  // Its template refers to the config map of paddle-operator.
  const std::string role =
      R"({"replicas":2,"template":{"spec":{"containers":[{"name":"paddle","image":"i","envFrom":[{"configMapRef":{"name":"wd"}}]}]}}})";
  PaddleWorld world(PaddleJobText("wd", {{"worker", role}}));
  world.Step();
  EXPECT_THAT(world.writes(), ElementsAre("create configmaps wd", "create jobs wd", "patch paddlejobs/status wd"));
  ASSERT_TRUE(world.Start());
  EXPECT_EQ(world.Object("configmaps", "wd").at("data").at("PADDLE_TRAINERS_NUM"), "2");
  EXPECT_EQ(world.Object("configmaps", "wd").at("metadata").at("ownerReferences").at(0).at("kind"), "PaddleJob");
  world.Edit(R"({"spec":{"worker":{"replicas":3}}})");
  ASSERT_TRUE(world.Settle());
  ASSERT_TRUE(world.ComeBack());
  EXPECT_EQ(world.Object("configmaps", "wd").at("data").at("PADDLE_TRAINERS_NUM"), "3");
  EXPECT_EQ(world.phase(), "Running");
}

TEST(PaddleKeep, CompanionsThatAreDeletedAreMadeAgain) {
  const std::string role =
      R"({"replicas":2,"template":{"spec":{"containers":[{"name":"paddle","image":"i","envFrom":[{"configMapRef":{"name":"wd"}}]}]}}})";
  PaddleWorld world(PaddleJobText("wd", {{"worker", role}}));
  ASSERT_TRUE(world.Start());
  const std::string job = world.job().metadata.uid;
  world.Remove("configmaps", "wd");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.Object("configmaps", "wd").at("data").at("PADDLE_TRAINERS_NUM"), "2");
  EXPECT_EQ(world.job().metadata.uid, job);
}

// What is written for Volcano's own controller lives under ours as well, without delays.
TEST(PaddleKeep, WrittenForVolcano) {
  const auto world = [] {
    PaddleWorld made(PaddleJobText("wd", {{"ps", RoleText(1)}, {"worker", RoleText(2)}}));
    made.options.target = convert::Target::kVolcano;
    EXPECT_TRUE(made.Start());
    return made;
  };
  PaddleWorld succeeds = world();
  succeeds.SetPod("wd-worker-0", "Succeeded");
  succeeds.SetPod("wd-worker-1", "Succeeded");
  ASSERT_TRUE(succeeds.Settle());
  EXPECT_EQ(succeeds.phase(), "Completing");
  succeeds.DeletedPodsGo();
  ASSERT_TRUE(succeeds.Settle());
  EXPECT_EQ(succeeds.phase(), "Completed");
  PaddleWorld fails = world();
  fails.SetPod("wd-worker-1", "Failed", 1, "Error");
  ASSERT_TRUE(fails.Settle());
  EXPECT_EQ(fails.phase(), "Failed");
  EXPECT_EQ(fails.status().message, "wd-worker-1 exit 1");
  PaddleWorld restarts = world();
  restarts.SetPod("wd-worker-1", "Failed", 139);
  ASSERT_TRUE(restarts.Settle());
  ASSERT_TRUE(restarts.ComeBack());
  EXPECT_EQ(restarts.phase(), "Running");
  EXPECT_EQ(restarts.status().restarts, 1);
}

TEST(PaddleKeep, WhatTheApiServerRefusesIsTold) {
  PaddleWorld world(Workers(1));
  world.refused = "jobs.batch.volcano.sh \"wd\" is forbidden: exceeded quota";
  world.Step();
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_EQ(world.status().message, world.refused);
  EXPECT_EQ(world.Told("Translated").status, "Unknown");
  EXPECT_EQ(world.writes().back(), "create jobs wd");  // tried all the same
}

TEST(PaddleKeep, PodsThatTheApiServerRefusesAreTold) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Settle());
  world.has_job_controller = false;  // what it makes is refused
  world.job_warning = {"FailedCreate",
                       "Pod wd-worker-0: pods \"wd-worker-0\" is forbidden: no PriorityClass with name nope was found"};
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.status().message, "");  // its queue has not let it in: no pod is due
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_EQ(world.status().message, world.job_warning.message);
  EXPECT_EQ(world.Told("Scheduled").status, "False");
  EXPECT_EQ(world.Told("Scheduled").reason, "FailedCreate");
  world.has_job_controller = true;  // the event stays for an hour
  ASSERT_TRUE(world.Settle());
  world.SetAll("Running");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(world.status().message, "");
  EXPECT_NE(world.Told("Scheduled").reason, "FailedCreate");
}

TEST(PaddleKeep, APodThatIsMissedWhileTheOthersRunIsTold) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  world.has_job_controller = false;
  world.PodGone("wd-worker-1");
  world.job_warning = {"FailedCreate", "Pod wd-worker-1: exceeded quota"};
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.Told("Scheduled").status, "False");
  EXPECT_EQ(world.Told("Scheduled").reason, "FailedCreate");
  EXPECT_EQ(world.Told("Scheduled").message, world.job_warning.message);
  world.SetJobPhase("Restarting");  // when none is due, the event is an old one
  ASSERT_TRUE(world.Settle());
  EXPECT_NE(world.Told("Scheduled").reason, "FailedCreate");
}

TEST(PaddleKeep, TheLastWordsOfAProgramAreTold) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  world.SetPodStatus(
      "wd-worker-1",
      R"({"phase":"Failed","containerStatuses":[{"name":"paddle","state":{"terminated":{"exitCode":1,"message":"step 3\nValueError: bad shape\n"}}}]})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.status().message, "wd-worker-1 exit 1: ValueError: bad shape");
}

TEST(PaddleKeep, WhyAJobRestartsIsToldAlsoWhenItsFailureWasNotSeenBefore) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Start());
  world.has_job_controller = false;
  world.SetPod("wd-worker-1", "Failed", 143);
  world.SetJobPhase("Restarting");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Restarting");
  EXPECT_EQ(world.status().message, "wd-worker-1 exit 143");
  world.PodGone("wd-worker-1");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.status().message, "wd-worker-1 exit 143") << "until others come";
}

// While nobody looked: a controller that was away sees neither Running nor Completing.
TEST(PaddleKeep, AJobThatHasCompletedHasNothingToComplainOf) {
  PaddleWorld world(Workers(2));
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  world.SetPodStatus(
      "wd-worker-0",
      R"({"phase":"Pending","containerStatuses":[{"name":"paddle","state":{"waiting":{"reason":"ErrImagePull"}}}]})");
  ASSERT_TRUE(world.Settle());
  ASSERT_EQ(world.status().message, "wd-worker-0 ErrImagePull");
  world.has_job_controller = false;
  world.SetAll("Succeeded");
  world.SetJobPhase("Completed");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_EQ(world.status().message, "");
}

// The marks on a Job are anybody's to write: here those of an elastic job, on one without workers in its PaddleJob.
TEST(PaddleKeep, MarksOfAnElasticJobMakeNoWorkersWhereThereAreNone) {
  PaddleWorld world(PaddleJobText("wd", {{"ps", RoleText(2)}}));
  ASSERT_TRUE(world.Settle());
  world.has_job_controller = false;
  const std::string mark = world.job().metadata.annotations.at("paddle.gangway.io/translation");
  world.PatchJob(absl::StrCat(
      R"({"metadata":{"annotations":{"paddle.gangway.io/elastic":"1:4","paddle.gangway.io/translation":")",
      mark.substr(0, mark.find(' ')), R"("}},"spec":{"tasks":[{"name":"worker","replicas":2,"template":{}}]}})"));
  const std::string job = api::ToJson(world.Object("jobs", "wd"));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(api::ToJson(world.Object("jobs", "wd")), job);
}

TEST(PaddleKeep, WhatAContainerWaitsFor) {
  PaddleWorld world(Workers(1));
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  world.SetPodStatus(
      "wd-worker-0",
      R"({"phase":"Pending","containerStatuses":[{"name":"paddle","state":{"waiting":{"reason":"ContainerCreating"}}}]})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.status().message, "");
  world.Pass(absl::Minutes(1));
  world.SetPodStatus(
      "wd-worker-0",
      R"({"phase":"Pending","containerStatuses":[{"name":"paddle","state":{"waiting":{"reason":"ImagePullBackOff","message":"no such image"}}}]})");
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.status().message, "wd-worker-0 ImagePullBackOff: no such image");
}

TEST(PaddleKeep, CountsAreToldTogether) {
  PaddleWorld world(Workers(40));
  ASSERT_TRUE(world.Settle());
  world.SetGroupPhase("Inqueue");
  ASSERT_TRUE(world.Settle());
  world.ForgetWrites();
  world.status_written = world.now();
  for (int i = 0; i < 20; ++i) {
    world.SetPodStatus(
        absl::StrCat("wd-worker-", i),
        R"({"phase":"Pending","containerStatuses":[{"name":"paddle","state":{"waiting":{"reason":"ErrImagePull"}}}]})");
    world.SetPod(absl::StrCat("wd-worker-", i), "Running");
    EXPECT_EQ(world.Step(), 0);
  }
  EXPECT_EQ(world.look_again(), world.status_written + absl::Seconds(1));
  world.Pass(absl::Seconds(1));
  EXPECT_EQ(world.Step(), 1);
  EXPECT_EQ(world.status().worker->ready, "20/40");
  world.SetAll("Running");  // another phase is told at once
  world.status_written = world.now();
  world.Settle();
  EXPECT_EQ(world.phase(), "Running");
}

TEST(PaddleKeep, RefsStandInTheOrderOfIndexes) {
  PaddleWorld world(Workers(12));
  ASSERT_TRUE(world.Start());
  std::vector<std::string> names;
  const auto status = world.status();
  for (const auto& ref : status.worker->refs) names.push_back(ref.name);
  EXPECT_EQ(names[2], "wd-worker-2");
  EXPECT_EQ(names[10], "wd-worker-10");
  EXPECT_EQ(status.worker->refs[0].resource_version, "");  // which would change with every look
}

TEST(PaddleKeep, AStatusStaysSmallerThanAnApiServerTakes) {
  PaddleWorld world(Workers(1));
  ASSERT_TRUE(world.Settle());
  for (int i = 0; i < 1200; ++i) {
    world.Add("pods", absl::StrCat("wd-worker-", i),
              OwnedBy("batch.volcano.sh/v1alpha1", "Job", "wd", world.job().metadata.uid,
                      R"({"status":{"phase":"Pending"}})"));
    world.Annotate("pods", absl::StrCat("wd-worker-", i), "volcano.sh/task-spec", "worker");
  }
  world.Step();
  EXPECT_EQ(world.status().worker->pending, 1200);
  EXPECT_THAT(world.status().worker->refs, SizeIs(1000));
}

}  // namespace
}  // namespace gangway::testutil
