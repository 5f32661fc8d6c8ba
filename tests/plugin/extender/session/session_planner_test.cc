#include "plugin/extender/session/session_planner.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/extender/session/recordings.h"
#include "tests/plugin/model/cluster_builder.h"
#include "tests/testing/status_matchers.h"

namespace gangway::extender {
namespace {

using testutil::At;
using testutil::Recorded;

// A session of nodes of 16 cpu and one-task gangs of pods of 9.
struct Pod {
  std::string name, node;  // "" = waits
  std::string started = "", more = "";
  int status = 0;  // 0: by the node
  int milli = 9000;
};
struct Job {
  std::string name;
  std::vector<Pod> pods;
  std::string phase = "Inqueue";
  int min = 2;
};

std::string PodText(const Job& job, const Pod& pod) {
  const int status = pod.status != 0 ? pod.status : pod.node.empty() ? 1 : pod.started.empty() ? 16 : 32;
  return absl::StrCat(
      R"({"UID":"u-)", pod.name, R"(","Job":"ns/)", job.name, R"(","Name":")", pod.name,
      R"(","Namespace":"ns","TaskRole":"w","Resreq":{"MilliCPU":)", pod.milli,
      R"(,"Memory":0,"ScalarResources":{"pods":1}},"NodeName":")", pod.node, R"(","Status":)", status,
      R"(,"Priority":0,"Preemptable":true,"Pod":{"metadata":{"name":")", pod.name, R"(","namespace":"ns","uid":"u-)",
      pod.name, R"("},"spec":{"schedulerName":"volcano")",
      pod.node.empty() ? "" : absl::StrCat(R"(,"nodeName":")", pod.node, "\""),
      R"(,"containers":[{"name":"c","resources":{"requests":{"cpu":"9"}}}],"tolerations":[{"operator":"Exists"}])",
      pod.more, R"(},"status":{"phase":")", pod.started.empty() ? "Pending" : "Running", "\"",
      pod.started.empty() ? "" : absl::StrCat(R"(,"startTime":")", pod.started, "\""), "}}}");
}

std::string Session(const std::vector<Job>& jobs, int nodes = 4, const std::string& queue_weight = "1") {
  std::vector<std::string> on(static_cast<std::size_t>(nodes));
  std::string out = R"({"Jobs":{)";
  for (const Job& job : jobs) {
    std::string tasks;
    for (const Pod& pod : job.pods) {
      absl::StrAppend(&tasks, tasks.empty() ? "" : ",", "\"u-", pod.name, "\":", PodText(job, pod));
      for (int node = 0; node < nodes; ++node) {
        std::string& there = on[static_cast<std::size_t>(node)];
        if (pod.node == absl::StrCat("n", node))
          absl::StrAppend(&there, there.empty() ? "" : ",", "\"ns/", pod.name, "\":", PodText(job, pod));
      }
    }
    absl::StrAppend(&out, &job == jobs.data() ? "" : ",", R"("ns/)", job.name, R"(":{"UID":"ns/)", job.name,
                    R"(","Priority":0,"Tasks":{)", tasks, R"(},"PodGroup":{"metadata":{"name":")", job.name,
                    R"(","namespace":"ns","uid":"pg-)", job.name, R"("},"spec":{"minMember":)", job.min,
                    R"(,"queue":"default"},"status":{"phase":")", job.phase, R"("}}})");
  }
  absl::StrAppend(&out, R"(},"Nodes":{)");
  for (int node = 0; node < nodes; ++node)
    absl::StrAppend(&out, node == 0 ? "" : ",", "\"n", node, R"(":{"Name":"n)", node,
                    R"(","Node":{"metadata":{"name":"n)", node,
                    R"("}},"Allocatable":{"MilliCPU":16000,"Memory":1e12,"ScalarResources":{"pods":110}},"Tasks":{)",
                    on[static_cast<std::size_t>(node)], "}}");
  absl::StrAppend(&out, R"(},"Queues":{"default":{"Queue":{"metadata":{"name":"default"},"spec":{"weight":)",
                  queue_weight, R"(},"status":{"state":"Open"}}}}})");
  return out;
}

class SessionPlannerTest : public ::testing::Test {
 protected:
  // Whether the plan of the session before was kept. A plan that is kept says of every gang what a new one would say of
  // those that wait.
  bool Kept(const std::string& body) {
    const auto planned = planner_.Plan(body, {}, hyper_nodes_, options_, At(second_));
    GW_EXPECT_OK(planned);
    if (!planned.ok()) return false;
    plan_ = planned->plan;
    model::Cluster cluster;
    GW_EXPECT_OK(DecodeSession(body, {}, cluster));
    gang::Scratch scratch;
    const auto anew = SessionPlan::Make(cluster, options_, At(second_), scratch);
    for (const PlannedGang& gang : anew->gangs()) {
      const PlannedGang* const has = plan_->Find(gang.job);
      EXPECT_NE(has, nullptr) << gang.job;
      if (has == nullptr || gang.verdict == PlannedGang::Verdict::kSettled) continue;
      EXPECT_EQ(VerdictText(has->verdict), VerdictText(gang.verdict)) << gang.job;
      EXPECT_EQ(has->let_in, gang.let_in) << gang.job;
    }
    EXPECT_EQ(plan_->nodes(), anew->nodes());
    return planned->kept;
  }
  std::string NodeOf(const std::string& pod) const { return std::string(plan_->NodeOf("u-" + pod)); }
  Job Bound(const std::string& phase, const std::string& started) const {
    return {"a", {{"a-w-0", NodeOf("a-w-0"), started}, {"a-w-1", NodeOf("a-w-1"), started}}, phase};
  }

  SessionPlanner planner_;
  std::shared_ptr<const SessionPlan> plan_;
  SessionPlanOptions options_;
  std::vector<model::HyperNodeFacts> hyper_nodes_;
  int second_ = 10;

  const Job waits_{"a", {{"a-w-0", ""}, {"a-w-1", ""}}};
  const Job too_large_{"b", {{"b-w-0", ""}, {"b-w-1", ""}, {"b-w-2", ""}, {"b-w-3", ""}, {"b-w-4", ""}}, "Inqueue", 5};
};

TEST_F(SessionPlannerTest, ASessionThatSaysTheSameKeepsThePlan) {
  EXPECT_FALSE(Kept(Session({too_large_})));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Kept(Session({too_large_}))) << i;
}

TEST_F(SessionPlannerTest, WhatThePlanHasForeseenKeepsIt) {
  EXPECT_FALSE(Kept(Session({waits_, too_large_})));
  EXPECT_EQ(plan_->placed(), 2);
  EXPECT_TRUE(Kept(Session({Bound("Inqueue", ""), too_large_})));
  EXPECT_TRUE(Kept(Session({Bound("Running", ""), too_large_})));
  EXPECT_TRUE(Kept(Session({Bound("Running", "2026-11-21T06:01:52Z"), too_large_})));
  // Of a later plan, too: they run where they ran.
  const Job third{"c", {{"c-w-0", ""}}, "Inqueue", 1};
  Job runs = Bound("Running", "");
  EXPECT_FALSE(Kept(Session({runs, too_large_, third})));
  const Job third_runs{"c", {{"c-w-0", NodeOf("c-w-0")}}, "Running", 1};
  runs.pods[0].started = runs.pods[1].started = "2026-11-21T06:01:52Z";
  EXPECT_TRUE(Kept(Session({runs, too_large_, third_runs})));
}

TEST_F(SessionPlannerTest, WhatWasNotCarriedOutIsPlannedAnew) {
  EXPECT_FALSE(Kept(Session({waits_})));
  EXPECT_FALSE(Kept(Session({waits_}))) << "nobody was bound";
  Job half = Bound("Inqueue", "");
  half.pods[1].node = "";
  EXPECT_FALSE(Kept(Session({half})));
}

TEST_F(SessionPlannerTest, APodElsewhereThanPlannedIsNews) {
  EXPECT_FALSE(Kept(Session({waits_})));
  Job elsewhere = Bound("Inqueue", "");
  for (const char* node : {"n0", "n1", "n2", "n3"}) {
    if (node != NodeOf("a-w-0") && node != NodeOf("a-w-1")) elsewhere.pods[0].node = node;
  }
  EXPECT_FALSE(Kept(Session({elsewhere})));
}

TEST_F(SessionPlannerTest, WhateverElseChangesIsPlannedAnew) {
  const auto first = [&](SessionPlanner& planner) {
    planner = SessionPlanner();
    EXPECT_FALSE(Kept(Session({waits_, too_large_})));
    EXPECT_TRUE(Kept(Session({Bound("Running", ""), too_large_})));
  };
  const auto news = [&](const std::string& body) {
    const bool kept = Kept(body);
    first(planner_);
    return !kept;
  };
  first(planner_);
  const Job a = Bound("Running", "");
  EXPECT_TRUE(news(Session({a}))) << "a gang is gone";
  EXPECT_TRUE(news(Session({too_large_}))) << "pods are gone";
  EXPECT_TRUE(news(Session({a, too_large_, {"c", {}, "Pending", 1}}))) << "a gang came";
  EXPECT_TRUE(news(Session({a, too_large_}, 5))) << "a node came";
  EXPECT_TRUE(news(Session({a, too_large_}, 4, "7"))) << "the queue is another";
  Job fewer = too_large_;
  fewer.min = 4;
  EXPECT_TRUE(news(Session({a, fewer}))) << "a minimum is another";
  Job ended = a;
  ended.pods[0].status = 128;
  EXPECT_TRUE(news(Session({ended, too_large_}))) << "a pod ended";
  ended.pods[0].status = 64;
  EXPECT_TRUE(news(Session({ended, too_large_}))) << "a pod is about to go";
  Job resized = a;
  resized.pods[0].milli = 10'000;
  EXPECT_TRUE(news(Session({resized, too_large_}))) << "a pod that runs holds more";
  Job gang = a;
  gang.min = 1;
  EXPECT_TRUE(news(Session({gang, too_large_}))) << "the gang that runs is another";
  options_.whole_gangs = false;
  EXPECT_FALSE(Kept(Session({a, too_large_}))) << "other options";
  EXPECT_TRUE(Kept(Session({a, too_large_})));
}

TEST_F(SessionPlannerTest, ANodeThatGoesIsNews) {
  EXPECT_FALSE(Kept(Session({too_large_}, 5)));
  EXPECT_EQ(plan_->placed(), 5);
  EXPECT_FALSE(Kept(Session({too_large_}, 4)));
  EXPECT_EQ(plan_->placed(), 0);
  EXPECT_EQ(plan_->nodes(), 4);
  EXPECT_TRUE(Kept(Session({too_large_}, 4)));
}

TEST_F(SessionPlannerTest, AHyperNodeThatGoesIsNews) {
  hyper_nodes_ = {{"rack", 1, "", {}, {{true, model::HyperNodeFacts::By::kName, "n0", {}}}}};
  EXPECT_FALSE(Kept(Session({too_large_})));
  EXPECT_TRUE(Kept(Session({too_large_})));
  hyper_nodes_.clear();
  EXPECT_FALSE(Kept(Session({too_large_})));
}

TEST_F(SessionPlannerTest, AHyperNodeThatIsAnotherIsNews) {
  hyper_nodes_ = {{"rack", 1, "", {}, {{true, model::HyperNodeFacts::By::kName, "n0", {}}}}};
  EXPECT_FALSE(Kept(Session({too_large_})));
  hyper_nodes_[0].members[0].text = "n1";
  EXPECT_FALSE(Kept(Session({too_large_})));
  hyper_nodes_[0].tier = 2;
  EXPECT_FALSE(Kept(Session({too_large_})));
  EXPECT_TRUE(Kept(Session({too_large_})));
}

TEST_F(SessionPlannerTest, AfterABodyThatIsWrongAllIsBegunAnew) {
  EXPECT_FALSE(Kept(Session({too_large_})));
  const std::string body = Session({waits_, too_large_});
  EXPECT_FALSE(planner_.Plan(body.substr(0, body.size() - 100), {}, {}, options_, At(second_)).ok());
  EXPECT_FALSE(Kept(Session({too_large_})));
  EXPECT_EQ(plan_->Find("ns/a"), nullptr);
  EXPECT_TRUE(Kept(Session({too_large_})));
}

TEST_F(SessionPlannerTest, NoPlanIsKeptForLong) {
  EXPECT_FALSE(Kept(Session({too_large_})));
  second_ += 14;
  EXPECT_TRUE(Kept(Session({too_large_})));
  second_ += 1;
  EXPECT_FALSE(Kept(Session({too_large_})));
  EXPECT_TRUE(Kept(Session({too_large_})));
}

// Recorded sessions of one scheduler, each as it follows: what is not the same is planned as if all were fresh.
TEST_F(SessionPlannerTest, RecordedSessionsAreTakenOneAfterTheOther) {
  for (const int round : {0, 1}) {
    for (int i = 1; i <= 6; ++i) {
      SCOPED_TRACE(absl::StrCat("round ", round, ", onSessionOpen-", i));
      Kept(Recorded(absl::StrCat("onSessionOpen-", i)).body);
    }
  }
}

}  // namespace
}  // namespace gangway::extender
