// Whatever happens to a PaddleJob, and wherever our process dies: the end is the same, the same view gives the same
// plan, and when nothing happens any more nothing is written.
#include <functional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/translator/lifecycle/paddle_world.h"

namespace gangway::testutil {
namespace {

std::string Workers(int n, const std::string& extra = "", const std::string& annotations = "") {
  return PaddleJobText("wd", {{"worker", RoleText(n)}}, extra, annotations);
}
std::string Elastic(int n) {
  std::string role = RoleText(n);
  role.insert(1, R"("requests":2,"limits":4,)");
  return PaddleJobText("wd", {{"worker", role}}, "\"elastic\":1");
}
std::string WithConfigMap(int n) {
  return PaddleJobText(
      "wd",
      {{"worker", absl::StrCat(R"({"replicas":)", n, R"(,"template":{"spec":{"containers":[{"name":"paddle","image":"i",
    "envFrom":[{"configMapRef":{"name":"wd"}}]}]}}})")}});
}

// What a user relies on, once everybody is done.
std::string Outcome(const PaddleWorld& world) {
  if (world.Names("paddlejobs").empty()) return "gone";
  if (world.kubeflow()) {
    const auto status = world.kubeflow_status();
    std::string text;
    for (const auto& c : status.conditions)
      absl::StrAppend(&text, c.type, "=", c.status, " ", c.type == "Translated" ? c.message : "", "; ");
    return absl::StrCat(text, world.JobPhase(), " ", absl::StrJoin(world.Pods(), ", "), " ",
                        absl::StrJoin(world.Names("commands"), ","));
  }
  const auto status = world.status();
  return absl::StrCat(status.phase, " restarts ", status.restarts, " elastic ", status.elastic, " gang ",
                      world.Exists("jobs", "wd") ? world.job().spec.min_available : 0, " generation ",
                      status.observed_generation, " ", world.JobPhase(), " ", absl::StrJoin(world.Pods(), ", "));
}

struct Story {
  std::string name, job;
  std::vector<std::function<void(PaddleWorld&)>> events;  // each is followed by all that it causes
};

const std::vector<Story>& Stories() {
  static const std::vector<Story> stories = {
      {"Edited", WithConfigMap(2), {[](PaddleWorld& w) { w.Edit(R"({"spec":{"worker":{"replicas":3}}})"); }}},
      {"Lost", Workers(2), {[](PaddleWorld& w) { w.DeleteJob(); }, [](PaddleWorld& w) { w.DeleteJob(); }}},
      {"Drained", Workers(2), {[](PaddleWorld& w) {
         w.SetPod("wd-worker-0", "Failed", 1);
         w.SetPod("wd-worker-1", "Failed", 1);
         w.Disrupt("wd-worker-0");
         w.Disrupt("wd-worker-1");
         w.PatchJob(R"({"status":{"failed":2}})");
         w.SetJobPhase("Failed");
       }}},
      {"Replaced",
       Elastic(3),
       {[](PaddleWorld& w) { w.SetPod("wd-worker-1", "Failed", 1); },
        [](PaddleWorld& w) {
          w.SetPod("wd-worker-0", "Failed", 1);
          w.SetPod("wd-worker-2", "Failed", 1);
        }}},
      {"Scaled", Elastic(3), {[](PaddleWorld& w) { w.Edit(R"({"spec":{"worker":{"replicas":4}}})"); }}},
      {"Completed",
       Workers(2),
       {[](PaddleWorld& w) { w.SetAll("Succeeded"); },
        [](PaddleWorld& w) { w.Edit(R"({"spec":{"cleanPodPolicy":"Never"}})"); }}},
      {"Suspended",
       KubeflowJobText("wd", {{"Worker", RoleText(2)}}),
       {[](PaddleWorld& w) { w.Edit(R"({"spec":{"runPolicy":{"suspend":true}}})"); },
        [](PaddleWorld& w) { w.Edit(R"({"spec":{"runPolicy":{"suspend":false}}})"); }}},
      {"Overdue",
       KubeflowJobText("wd", {{"Worker", RoleText(1)}}, "\"activeDeadlineSeconds\":60"),
       {[](PaddleWorld& w) { w.Pass(absl::Minutes(2)); }}},
      {"GroupComesLate",
       Workers(3),
       {[](PaddleWorld& w) {
          for (const std::string& pod : w.Names("pods")) w.SetPod(pod, "Pending");  // no program has begun
          w.Add("podgroups", "wd", *api::ParseJson(R"({"spec":{"minMember":2}})"));
        },
        [](PaddleWorld& w) { w.Remove("podgroups", "wd"); },
        [](PaddleWorld& w) { w.Add("podgroups", "wd", *api::ParseJson(R"({"spec":{"minMember":1}})")); }}},
      {"KubeflowLost", KubeflowJobText("wd", {{"Worker", RoleText(1)}}), {[](PaddleWorld& w) { w.DeleteJob(); }}},
  };
  return stories;
}

// Everybody does what is to be done until all is quiet. `die_at`: our process dies before that write of it, once.
void Live(PaddleWorld& world, int& die_at) {
  for (int quiet = 0, rounds = 0; quiet < 2; ++rounds) {
    ASSERT_LT(rounds, 200) << "it never ends: " << Outcome(world)
                           << "; last written: " << (world.writes().empty() ? "" : world.writes().back());
    const int done = world.Step(die_at >= 0 ? die_at : 1'000'000);
    const bool died = die_at >= 0 && done == die_at;
    die_at = died ? -1 : die_at >= 0 ? die_at - done : die_at;
    const int others = world.StepJob();
    bool moved = done + others > 0 || died;
    if (!moved && world.Settle()) {
      world.DeletedPodsGo();
      if (world.Exists("jobs", "wd") && world.Exists("podgroups", world.GroupName()) && world.Pods().empty())
        world.SetGroupPhase("Inqueue"), moved = true;
      for (const std::string& pod : world.Pods()) {
        if (!absl::StrContains(pod, "Pending")) continue;
        world.SetPod(absl::StrCat("wd-", pod.substr(0, pod.find(' '))), "Running");
        moved = true;
      }
    }
    quiet = moved ? 0 : quiet + 1;
  }
}

std::string Play(const Story& story, int die_at, int* writes) {
  PaddleWorld world(story.job);
  Live(world, die_at);
  for (const auto& event : story.events) {
    event(world);
    Live(world, die_at);
  }
  *writes = static_cast<int>(world.writes().size());
  EXPECT_TRUE(world.Decide().stages.empty());
  return Outcome(world);
}

TEST(PaddleCrash, WhereverOurProcessDiesTheEndIsTheSame) {
  for (const Story& story : Stories()) {
    SCOPED_TRACE(story.name);
    int writes = 0, ignored = 0;
    const std::string expected = Play(story, -1, &writes);
    ASSERT_GT(writes, 2) << story.name;
    for (int n = 0; n < writes; ++n)
      EXPECT_EQ(Play(story, n, &ignored), expected) << story.name << ", dead before write " << n;
  }
}

// --- Anything, in any order.

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : bits_(seed) {}
  int Below(int n) { return static_cast<int>(bits_() % static_cast<std::uint64_t>(n)); }
  template <class T>
  const T& OneOf(const std::vector<T>& of) {
    return of[static_cast<std::size_t>(Below(static_cast<int>(of.size())))];
  }

 private:
  std::mt19937_64 bits_;
};

void DoSomething(PaddleWorld& world, Chance& chance) {
  const std::vector<std::string> pods = world.Names("pods");
  const std::string pod = pods.empty() ? "" : chance.OneOf(pods);
  switch (chance.Below(15)) {
    case 0:
      return world.Pass(absl::Seconds(chance.Below(30)));
    case 1:
      return world.Edit(absl::StrCat(R"({"spec":{"worker":{"replicas":)", chance.Below(5), "}}}"));
    case 2:
      return world.Edit(absl::StrCat(R"({"spec":{"cleanPodPolicy":")",
                                     chance.OneOf<std::string>({"", "Always", "Never", "OnFailed"}), "\"}}"));
    case 3:
      return world.Edit(
          absl::StrCat(R"({"spec":{"runPolicy":{"suspend":)", chance.Below(2) == 0 ? "true" : "false", "}}}"));
    case 4:
      return world.Edit(
          absl::StrCat(R"({"spec":{"paddleReplicaSpecs":{"Worker":{"replicas":)", chance.Below(4), "}}}}"));
    case 5:
      if (world.Exists("jobs", "wd")) world.DeleteJob();
      return;
    case 6:
      if (world.Exists("jobs", "wd"))
        world.SetJobPhase(
            chance.OneOf<std::string>({"Pending", "Running", "Aborted", "Completing", "Failed", "Terminating", "Odd"}));
      return;
    case 7:
      if (world.Exists("jobs", "wd") && world.Exists("podgroups", world.GroupName()))
        world.SetGroupPhase(chance.OneOf<std::string>({"Pending", "Inqueue", "Running"}));
      return;
    case 8:
      world.queues["default"] = chance.OneOf<std::string>({"Open", "Closed", ""});
      return;
    case 9:
      if (!pod.empty()) world.DeletePod(pod);
      return;
    case 10:
      return world.DeletedPodsGo();
    case 11:
      if (!pod.empty() && chance.Below(2) == 0) world.Disrupt(pod);
      return;
    case 12:
      if (world.Exists("podgroups", "wd")) return world.Remove("podgroups", "wd");
      return world.Add(
          "podgroups", "wd",
          *api::ParseJson(absl::StrCat(R"({"spec":{"minMember":)", chance.Below(5), R"(,"queue":"default"}})")));
    default:
      if (!pod.empty())
        world.SetPod(pod, chance.OneOf<std::string>({"Running", "Running", "Succeeded", "Failed", "Unknown"}),
                     chance.OneOf<int>({0, 1, 137, 143}));
  }
}

std::string Text(const kube::Plan& plan) {
  std::string out = absl::FormatTime(plan.look_again);
  std::set<std::tuple<const api::Resource*, std::string>> changed;
  for (const auto& stage : plan.stages) {
    EXPECT_FALSE(stage.empty());
    for (const kube::Write& write : stage) {
      EXPECT_TRUE(changed.insert({write.resource, write.name}).second) << "changed twice: " << write.name;
      EXPECT_TRUE(write.verb == kube::Verb::kCreate || !write.uid.empty());
      absl::StrAppend(&out, " ", static_cast<int>(write.verb), write.name, write.subresource, write.body);
    }
    out += '|';
  }
  for (const kube::EventNote& note : plan.events) absl::StrAppend(&out, note.reason, note.message);
  return out;
}

TEST(PaddleCrash, WhateverHappensItComesToRest) {
  const std::vector<std::string> jobs = {
      Workers(2),
      WithConfigMap(3),
      Elastic(3),
      PaddleJobText("wd", {{"ps", RoleText(1)}, {"worker", RoleText(2)}}),
      KubeflowJobText("wd", {{"Worker", RoleText(2)}}, "\"activeDeadlineSeconds\":100"),
      KubeflowJobText("wd", {{"Master", RoleText(1)}, {"Worker", RoleText(1)}}, "\"ttlSecondsAfterFinished\":50")};
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    Chance chance(seed);
    PaddleWorld world(jobs[seed % jobs.size()]);
    ASSERT_TRUE(seed % 3 == 0 || world.Start());
    for (int i = 0; i < 25; ++i) {
      DoSomething(world, chance);
      if (!world.Exists("paddlejobs", "wd")) break;
      ASSERT_EQ(Text(world.Decide()), Text(world.Decide())) << "seed " << seed;
      if (chance.Below(3) == 0) {
        world.Step(chance.Below(4));  // and our process dies
      } else {
        ASSERT_TRUE(world.Settle()) << "seed " << seed << ": it never ends, " << Outcome(world);
        ASSERT_TRUE(!world.Exists("paddlejobs", "wd") || world.Decide().stages.empty()) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace gangway::testutil
