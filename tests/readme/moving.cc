#include "tests/readme/moving.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cmd/gangway/gangway_process.h"
#include "tests/readme/readme.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string NewJob(const std::string& name, const std::string& annotations) {
  return absl::StrCat(R"({"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","metadata":{"name":")", name,
                      R"("},"spec":{"worker":{"replicas":1,"template":{"metadata":{"annotations":{)", annotations,
                      R"(}},"spec":{"containers":[{"name":"paddle","image":"p"}]}}}}})");
}

}  // namespace

Moving::Moving(const MovingCluster& cluster) : cluster_(cluster) {}

std::string Moving::Kubectl(std::vector<std::string> args, const std::string& input) const {
  const Outcome outcome = cluster_.Kubectl(args, input);
  EXPECT_EQ(outcome.exit_code, 0) << args[0] << " " << args[1] << ": " << outcome.err;
  return outcome.out;
}

std::vector<std::string> Moving::Lines(std::vector<std::string> args) const {
  return absl::StrSplit(Kubectl(std::move(args)), '\n', absl::SkipEmpty());
}

std::string Moving::Run(const std::string& commands) const {
  const Outcome outcome = RunProgram(
      {"bash", "-ec",
       absl::StrCat("set -o pipefail; cd " GW_SOURCE_DIR "; PATH=", cluster_.folder(), ":$PATH\n", commands)},
      {"KUBECONFIG=" + cluster_.kubeconfig()});
  EXPECT_EQ(outcome.exit_code, 0) << commands << "\n" << outcome.out << outcome.err;
  return outcome.out;
}

void Moving::LetTheOperatorWork() const {
  Kubectl({"create", "namespace", "paddle-system"});
  Kubectl(
      {"apply", "-n", "paddle-system", "-f", "-"},
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"paddle-controller-manager"},"spec":{"replicas":1,
      "selector":{"matchLabels":{"app":"o"}},"template":{"metadata":{"labels":{"app":"o"}},"spec":{"containers":[{"name":"manager","image":"paddleflow/paddle-operator:v0.3.5"}]}}}})");
  MakeJobs({kGuidesJob});
}

void Moving::MakeJobs(const std::vector<std::string>& jobs) const {
  const std::string example = absl::StrReplaceAll(
      ReadFile(GW_SOURCE_DIR "/tests/golden/paddle/guide/volcano.yaml"),
      // Ours sees it only when its pods are there.
      {{"metadata:\n", "metadata:\n  annotations: {paddle.gangway.io/managed-by: paddle-operator}\n"}});
  std::string objects, pods;
  for (const std::string& job : jobs)
    absl::StrAppend(&objects, absl::StrReplaceAll(example, {{kGuidesJob, job}}), "---\n");
  Kubectl({"apply", "-f", "-"}, objects);
  int node = 0;
  for (const std::string& line :
       Lines({"get", "pdj", "-o", R"(jsonpath={range .items[*]}{.metadata.name} {.metadata.uid}{"\n"}{end})"})) {
    const std::pair<std::string, std::string> job = absl::StrSplit(line, ' ');
    if (!absl::c_linear_search(jobs, job.first)) continue;
    for (const std::string role : {"ps", "worker"}) {
      for (const char* const index : {"-0", "-1"}) {
        const std::string name = absl::StrCat(job.first, "-", role, index);
        absl::StrAppend(
            &pods, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
            R"(","labels":{"paddle-res-name":")", name, R"(","paddle-res-type":")", role,
            R"("},"annotations":{"paddle-resource":")", role,
            R"("},"ownerReferences":[{"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","name":")", job.first,
            R"(","uid":")", job.second, R"(","controller":true}]},"spec":{"nodeName":"node-00)", ++node % 6,
            R"(","containers":[{"name":"paddle","image":"p"}]}})", "\n");
      }
    }
  }
  Kubectl({"apply", "-f", "-"}, pods);
  Kubectl({"wait", "pod", "--all", "--for=jsonpath={.status.phase}=Running", "--timeout=120s"});
  Kubectl({"annotate", "pdj", "--all", "paddle.gangway.io/managed-by-"});
}

std::unique_ptr<GangwayProcess> Moving::Start(const std::string& name, std::vector<std::string> arguments) const {
  arguments.push_back("--metrics-addr=127.0.0.1:0");
  auto process = std::make_unique<GangwayProcess>(cluster_.folder(), name, std::move(arguments));
  EXPECT_TRUE(Eventually([&] { return process->Ready(); })) << process->log();
  return process;
}

std::unique_ptr<GangwayProcess> Moving::StartInstalled(const std::string& component, const std::string& version) const {
  const std::string name = "gangway-" + component;
  std::vector<std::string> arguments =
      Lines({"get", "deployment", name, "-n", "gangway-system", "-o",
             R"(jsonpath={range .spec.template.spec.containers[0].args[*]}{@}{"\n"}{end})"});
  std::erase_if(arguments, [](const std::string& each) {
    return absl::StartsWith(each, "--health-addr") || absl::StartsWith(each, "--metrics-addr") ||
           absl::StartsWith(each, "--log-format");  // the test's own
  });
  arguments.insert(arguments.end(), {"--kubeconfig", cluster_.KubeconfigOf("gangway-system", name)});
  return Start(absl::StrCat(component, "-", version), std::move(arguments));
}

std::string Moving::PodsOf(const std::vector<std::string>& jobs) const {
  return Kubectl({"get", "pods", "-l", absl::StrCat("volcano.sh/job-name in (", absl::StrJoin(jobs, ","), ")"), "-o",
                  "jsonpath={.items[*].metadata.uid} {.items[*].status.phase}"});
}

void Moving::WaitFor(const std::vector<std::string>& jobs, const std::string& phase) const {
  std::set<std::string> others;
  const auto all_are = [&] {
    others = {jobs.begin(), jobs.end()};
    for (const std::string& line :
         Lines({"get", "pdj", "-o", R"(jsonpath={range .items[*]}{.metadata.name} {.status.phase}{"\n"}{end})"})) {
      const std::pair<std::string, std::string> job = absl::StrSplit(line, ' ');
      if (job.second == phase) others.erase(job.first);
    }
    return others.empty();
  };
  EXPECT_TRUE(Eventually(all_are, std::chrono::seconds(120))) << absl::StrJoin(others, " ") << ": not " << phase;
}

std::string Moving::OperatorsPods() const {
  return Kubectl({"get", "pods", "-l", "paddle-res-type,!volcano.sh/job-name", "-o",
                  "jsonpath={.items[*].metadata.uid} {.items[*].status.phase}"});
}

void Moving::ThereUpgradedAndBack(int jobs) const {
  const std::vector<std::string> blocks = BlocksUnder("Moving from paddle-operator, and back");
  ASSERT_THAT(blocks, SizeIs(3));
  Kubectl({"apply", "--server-side", "-k", GW_SOURCE_DIR "/deploy/volcano/crds-paddle"});
  LetTheOperatorWork();
  std::vector<std::string> moved;
  for (int i = 1; i < jobs; ++i) moved.push_back(absl::StrCat("moved-", i));
  MakeJobs(moved);
  moved.push_back(kGuidesJob);
  const auto specs = [&] {
    std::vector<std::string> get{"get", "pdj", "-o", "jsonpath={.items[*].spec}"};
    get.insert(get.begin() + 2, moved.begin(), moved.end());
    return Kubectl(get);
  };
  const std::string before = specs();
  const std::string running = OperatorsPods();
  ASSERT_THAT(running, HasSubstr("Running"));
  // Volcano's controllers.
  const auto volcano =
      Start("volcano", {"controller", "--kubeconfig", cluster_.kubeconfig(), "--only=job,queue,podgroup"});

  const std::size_t render = blocks[0].find("scripts/render ");
  ASSERT_NE(render, std::string::npos);
  EXPECT_THAT(Run(blocks[0].substr(render)), HasSubstr("clusterrole.rbac.authorization.k8s.io/gangway-controller"));
  for (const char* const file : {"scheduler.yaml", "scheduler-rbac.yaml"})
    Kubectl({"apply", "-f", absl::StrCat(GW_SOURCE_DIR "/deploy/volcano/base/", file)});
  std::map<std::string, std::unique_ptr<GangwayProcess>> installed;
  for (const char* const component : {"scheduler", "controller"}) {
    installed[component] = StartInstalled(component, "installed");
    ASSERT_TRUE(installed[component]->Ready());
  }
  // A job that is new runs as ours from the beginning.
  Kubectl({"apply", "-f", "-"}, NewJob("ours", ""));
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(PodsOf({"ours"}), "Running"); }))
      << installed["controller"]->log();
  const std::string ours = PodsOf({"ours"});
  EXPECT_EQ(OperatorsPods(), running) << "what the operator has pods for is left alone";

  std::atomic<bool> done{false};
  std::atomic<int> come{0};
  std::thread users([&] {
    for (int i = 1; !done; come = i++)
      Kubectl({"apply", "-f", "-"}, NewJob(absl::StrCat("new-", i), R"("sandbox.gangway.io/finish":"200ms",
        "test.kwok/finish":"succeed")"));
  });
  EXPECT_THAT(Run(blocks[1]), HasSubstr("done; what was is kept in config map"));
  WaitFor(moved, "Running");
  const std::string pods = PodsOf(moved);
  const std::vector<absl::string_view> words = absl::StrSplit(pods, ' ');
  EXPECT_EQ(absl::c_count(words, "Running"), static_cast<std::ptrdiff_t>(4 * moved.size())) << pods;
  EXPECT_EQ(PodsOf({"ours"}), ours) << "what was ours runs on";

  // The next version starts beside the one that goes, as a Deployment has it; then the one before.
  for (const char* const version : {"upgraded", "rolled-back"}) {
    std::map<std::string, std::unique_ptr<GangwayProcess>> next;
    for (const auto& [component, process] : installed) next[component] = StartInstalled(component, version);
    for (const auto& [component, process] : installed) process->process().Signal(SIGTERM);
    for (const auto& [component, process] : installed) {
      EXPECT_EQ(process->process().Wait(), 0) << process->log();
      EXPECT_THAT(process->log(), Not(HasSubstr("forbidden")));
    }
    installed = std::move(next);
    const std::string job = absl::StrCat("new-", come + 2);  // which began to come later
    EXPECT_TRUE(Eventually([&] { return cluster_.Kubectl({"get", "pdj", job}, "").exit_code == 0; }));
    WaitFor({job}, "Completed");
  }
  done = true;
  users.join();
  std::vector<std::string> came;
  for (int i = 1; i <= come; ++i) came.push_back(absl::StrCat("new-", i));
  WaitFor(came, "Completed");
  EXPECT_EQ(PodsOf(moved), pods) << "no pod is made anew";
  EXPECT_EQ(PodsOf({"ours"}), ours);
  EXPECT_THAT(
      Lines({"get", "vcjob", "-o", R"(jsonpath={range .items[?(@.status.retryCount>0)]}{.metadata.name}{"\n"}{end})"}),
      IsEmpty())
      << "restarted";

  EXPECT_THAT(Run(blocks[2]), HasSubstr("is paddle-operator's again"));
  EXPECT_EQ(PodsOf(moved), " ");
  EXPECT_EQ(specs(), before);
  EXPECT_EQ(PodsOf({"ours"}), ours) << "what began as ours runs on";
  for (const auto& [component, process] : installed) EXPECT_THAT(process->log(), Not(HasSubstr("forbidden")));
}

}  // namespace gangway::testutil
