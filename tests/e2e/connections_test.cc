// Gangway, two replicas of each program, on the real API server behind a proxy that does to connections what networks,
// load balancers and restarts do. Whatever it does, a job submitted then has all its pods bound within ten seconds;
// within fifty in the short run, beside which other tests keep the machine busy. The server sends every fiftieth
// request away (--goaway-chance). Without GW_TEST_LONG only the first story runs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/core/pod.h"
#include "api/resource.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/installed_gangway.h"
#include "tests/testing/long_test.h"
#include "tests/testing/tcp_proxy.h"

namespace gangway::testutil {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr int kLeaseLost = 3;  // an exit code

class ConnectionsTest : public ::testing::Test {
 protected:
  struct Replica {
    std::string command;
    std::unique_ptr<GangwayProcess> process;
  };
  static void SetUpTestSuite() {
    if (!ControlPlane::ToolsPresent()) return;
    auto gangway = InstalledGangway::Start(
        {.nodes = 20, .audit = false, .api_server_flags = {"--goaway-chance=0.02"}, .start = false});
    ASSERT_TRUE(gangway.ok()) << gangway.status();
    gangway_ = gangway->release();
    proxy_ = new TcpProxy({plane().api_port()});
    gangway_->ReachThrough(proxy_->url("https"));
    replicas_ = new std::vector<Replica>;
    for (const char* const command : {"scheduler", "controller"}) {
      for (int i = 0; i < 2; ++i) replicas_->push_back({command, gangway_->StartProcess(command)});
    }
    for (const Replica& replica : *replicas_) ASSERT_TRUE(replica.process->WaitReady()) << replica.process->Log();
    ASSERT_TRUE(Eventually([] {
      return absl::StrContains(*plane().Call("GET", api::PathOf(api::kQueues, "", "default")).body,
                               R"("state":"Open")");
    }));
  }
  static void TearDownTestSuite() {
    delete replicas_;
    delete proxy_;
    delete gangway_;
  }
  void SetUp() override {
    if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
    ASSERT_NE(replicas_, nullptr);
  }
  void TearDown() override {
    if (!HasFailure()) return;
    for (const Replica& replica : *replicas_) std::fprintf(stderr, "%s\n", replica.process->Log().c_str());
  }
  static double BoundSeconds() { return LongRun() ? 10 : 50; }
  static ControlPlane& plane() { return gangway_->plane(); }

  // As the kubelet does, though without a pause.
  static void StartEnded() {
    for (Replica& replica : *replicas_) {
      const std::optional<int> code = replica.process->process().Ended();
      if (!code) continue;
      EXPECT_EQ(*code, kLeaseLost) << replica.process->Log();
      replica.process = gangway_->StartProcess(replica.command);
      ++restarts_;
    }
  }
  static std::string Submit() {
    const std::string name = absl::StrCat("job-", ++jobs_);
    const kube::Response reply = plane().Call("POST", api::PathOf(api::kJobs, "default"),
                                              absl::StrFormat(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job",
      "metadata":{"name":"%s"},"spec":{"minAvailable":3,"tasks":[{"name":"w","replicas":3,"template":{"spec":{"restartPolicy":"Never","containers":[
      {"name":"c","image":"busybox","resources":{"requests":{"cpu":"100m"}}}]}}}]}})",
                                                              name));
    EXPECT_EQ(reply.code, 201) << *reply.body;
    return name;
  }
  static bool Bound(const std::string& job) {
    for (int i = 0; i < 3; ++i) {
      const kube::Response reply = plane().Call("GET", api::PathOf(api::kPods, "default", absl::StrCat(job, "-w-", i)));
      const auto pod = api::Decode<api::core::Pod>(*reply.body);
      if (!reply.ok() || !pod.ok() || !pod->bound()) return false;
    }
    return true;
  }
  // From now to the last binding of these.
  static double SecondsUntilBound(const std::vector<std::string>& jobs) {
    const auto begin = std::chrono::steady_clock::now();
    const bool bound = Eventually(
        [&] {
          StartEnded();
          return std::all_of(jobs.begin(), jobs.end(), &Bound);
        },
        std::chrono::seconds(200));
    EXPECT_TRUE(bound);
    for (const std::string& job : jobs) plane().Call("DELETE", api::PathOf(api::kJobs, "default", job));
    return Seconds(std::chrono::steady_clock::now() - begin).count();
  }
  // Something happens to connections at rest, then while jobs are coming.
  static void LivesWith(const char* what, const std::function<void()>& happens) {
    for (int round = 0; round < (LongRun() ? 3 : 1); ++round) {
      EXPECT_LE(SecondsUntilBound({Submit()}), BoundSeconds()) << "before " << what;
      happens();
      const double at_rest = SecondsUntilBound({Submit()});
      std::vector<std::string> jobs;
      for (int i = 0; i < 5; ++i) jobs.push_back(Submit());
      happens();
      for (int i = 0; i < 5; ++i) jobs.push_back(Submit());
      const double at_work = SecondsUntilBound(jobs);
      std::printf("%s: %.1f s at rest, %.1f s at work\n", what, at_rest, at_work);
      EXPECT_LE(at_rest, BoundSeconds()) << what;
      EXPECT_LE(at_work, BoundSeconds()) << what;
    }
  }
  static InstalledGangway* gangway_;
  static TcpProxy* proxy_;
  static std::vector<Replica>* replicas_;
  static int jobs_, restarts_;
};
InstalledGangway* ConnectionsTest::gangway_ = nullptr;
TcpProxy* ConnectionsTest::proxy_ = nullptr;
std::vector<ConnectionsTest::Replica>* ConnectionsTest::replicas_ = nullptr;
int ConnectionsTest::jobs_ = 0;
int ConnectionsTest::restarts_ = 0;

TEST_F(ConnectionsTest, AreDroppedAndFallSilent) {
  LivesWith("dropped", [] { proxy_->Drop(); });
  LivesWith("silent", [] { proxy_->Stall(); });
  EXPECT_EQ(restarts_, 0) << "nobody's lease was lost";
}

TEST_F(ConnectionsTest, EndByHalvesAndBreakOff) {
  GW_LONG_TEST();
  restarts_ = 0;
  LivesWith("closed by half", [] { proxy_->HalfClose(); });
  LivesWith("cut off at once", [] { proxy_->Truncate(0); });
  LivesWith("cut off within an answer", [] { proxy_->Truncate(700); });
  EXPECT_EQ(restarts_, 0);
}

TEST_F(ConnectionsTest, AreSentAwayNowAndThen) {
  GW_LONG_TEST();
  restarts_ = 0;
  double longest = 0;
  for (int i = 0; i < 40; ++i)
    longest = std::max(longest, SecondsUntilBound({Submit(), Submit(), Submit(), Submit(), Submit()}));
  std::printf("five jobs, forty times: at most %.1f s\n", longest);
  EXPECT_LE(longest, BoundSeconds());
  EXPECT_EQ(restarts_, 0);
}

// The proxy accepts, and says nothing to anybody for a while.
TEST_F(ConnectionsTest, LeadNowhereForAWhile) {
  GW_LONG_TEST();
  for (int seconds : {6, 25}) {
    proxy_->StallNew(true);
    proxy_->Stall();
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    EXPECT_TRUE(Eventually([&] {
      StartEnded();
      return std::chrono::steady_clock::now() > until;
    }));
    proxy_->StallNew(false);
    const double took = SecondsUntilBound({Submit()});
    std::printf("nowhere for %d s: %.1f s after it\n", seconds, took);
    EXPECT_LE(took, BoundSeconds());
  }
}

TEST_F(ConnectionsTest, EndWithTheApiServerWhichComesBack) {
  GW_LONG_TEST();
  for (const int signal : {9, 15}) {
    plane().StopApiServer(signal);
    ASSERT_TRUE(plane().StartApiServer().ok());
    const double took = SecondsUntilBound({Submit()});
    std::printf("the API server was ended by signal %d: %.1f s after it was back\n", signal, took);
    EXPECT_LE(took, BoundSeconds());
  }
}

TEST_F(ConnectionsTest, LeadToOneOfTwoApiServers) {
  GW_LONG_TEST();
  ASSERT_TRUE(plane().StartSecondApiServer().ok());
  proxy_->SetTargets({plane().api_port(), plane().second_api_port()});
  restarts_ = 0;
  LivesWith("between two API servers", [] { proxy_->Drop(); });
  plane().StopSecondApiServer();
  const double took = SecondsUntilBound({Submit()});
  std::printf("one of two API servers ended: %.1f s\n", took);
  EXPECT_LE(took, BoundSeconds()) << "every other connection is refused";
  EXPECT_EQ(restarts_, 0);
  proxy_->SetTargets({plane().api_port()});
}

}  // namespace
}  // namespace gangway::testutil
