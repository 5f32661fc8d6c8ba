// Volcano's types as older releases ship them, on a real API server, which drops what they do not know and refuses what
// their rules do not allow: jobs run all the same. Whatever Volcano installed goes on being what it was.
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/installed_gangway.h"
#include "tests/testing/long_test.h"
#include "tests/volcano_types/volcano_types.h"

namespace gangway::testutil {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kExamples = GW_SOURCE_DIR "/examples/";

class OlderTypesTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    // The oldest stands for them where time is short: it lacks all that any of them lacks.
    if (GetParam() != VolcanoReleases().front()) GW_LONG_TEST();
    if (!ControlPlane::ToolsPresent() || !HasKubectl()) GTEST_SKIP() << "there is no control plane on this machine";
    auto gangway = InstalledGangway::Start({.nodes = 6, .audit = false, .volcano_types = VolcanoTypes(GetParam())});
    ASSERT_TRUE(gangway.ok()) << gangway.status();
    gangway_ = *std::move(gangway);
  }
  std::string Kubectl(const std::vector<std::string>& args, const std::string& input = {}) const {
    const Outcome outcome = gangway_->plane().Kubectl(args, input);
    EXPECT_EQ(outcome.exit_code, 0) << absl::StrJoin(args, " ") << "\n" << outcome.err << gangway_->Logs();
    return outcome.out;
  }
  void Reaches(const std::string& what, const std::string& path, const std::string& value) const {
    Kubectl({"wait", what, absl::StrCat("--for=jsonpath={", path, "}=", value), "--timeout=120s"});
  }
  Outcome Gangway(std::vector<std::string> args) const {
    args.insert(args.begin(), GW_GANGWAY);
    args.insert(args.end(), {"--kubeconfig", gangway_->plane().admin_kubeconfig()});
    return RunProgram(args, {"KUBECONFIG=", "HOME=" + gangway_->plane().folder()});
  }

  std::unique_ptr<InstalledGangway> gangway_;
};

TEST_P(OlderTypesTest, JobsRunFromApplyToCompleted) {
  const Outcome check = Gangway({"version", "--check"});
  EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
  EXPECT_THAT(check.out, Not(HasSubstr("does not serve")));

  // The seed job: a gang that restarts when a pod is evicted, and completes with its trainers.
  Kubectl({"apply", "-f", kExamples + "ctr-volcano.yaml"});
  Reaches("vcjob/ctr-volcano", ".status.running", "4");
  Reaches("podgroup/" + Kubectl({"get", "podgroup", "-o", "jsonpath={.items[0].metadata.name}"}), ".status.phase",
          "Running");
  Kubectl({"delete", "pod", "ctr-volcano-trainer-0"});
  Reaches("vcjob/ctr-volcano", ".status.retryCount", "1");
  Reaches("vcjob/ctr-volcano", ".status.running", "4");
  // A command of the bus, and back.
  EXPECT_EQ(Gangway({"job", "suspend", "ctr-volcano", "--wait"}).exit_code, 0) << gangway_->Logs();
  Reaches("vcjob/ctr-volcano", ".status.state.phase", "Aborted");
  EXPECT_EQ(Gangway({"job", "resume", "ctr-volcano"}).exit_code, 0) << gangway_->Logs();
  Reaches("vcjob/ctr-volcano", ".status.running", "4");
  Kubectl({"annotate", "pods", "-l", "paddle-job=fluid-ctr", "test.kwok/finish=succeed"});
  Reaches("vcjob/ctr-volcano", ".status.state.phase", "Completed");
  EXPECT_EQ(Kubectl({"get", "vcjob", "ctr-volcano", "-o", "jsonpath={.status.succeeded}"}), "2");

  // What waits says why.
  Kubectl({"apply", "-f", kExamples + "too-large.yaml"});
  EXPECT_TRUE(Eventually([&] {
    return Kubectl({"get", "podgroups", "-o", "jsonpath={.items[*].status.conditions[*].message}"})
               .find("6 nodes have at most 4 free") != std::string::npos;
  }));
  Kubectl({"delete", "-f", kExamples + "too-large.yaml"});

  // A PaddleJob, which becomes one of Volcano's Jobs.
  Kubectl({"apply", "-f", kExamples + "paddle/ps.yaml"});
  Reaches("pdj/wide-and-deep", ".status.phase", "Running");
  Kubectl({"annotate", "pods", "wide-and-deep-worker-0", "wide-and-deep-worker-1", "test.kwok/finish=succeed"});
  Reaches("pdj/wide-and-deep", ".status.phase", "Completed");

  // Queues close and open.
  Kubectl(
      {"apply", "-f", "-"},
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"lab"},"spec":{"weight":1}})");
  Reaches("queue/lab", ".status.state", "Open");
  EXPECT_EQ(Gangway({"queue", "operate", "-n", "lab", "-a", "close"}).exit_code, 0) << gangway_->Logs();
  Reaches("queue/lab", ".status.state", "Closed");
  EXPECT_EQ(Gangway({"queue", "operate", "-n", "lab", "-a", "open"}).exit_code, 0);
  Reaches("queue/lab", ".status.state", "Open");
  EXPECT_THAT(gangway_->Logs(), Not(HasSubstr("write refused")));
}

INSTANTIATE_TEST_SUITE_P(Volcano, OlderTypesTest, ::testing::ValuesIn(VolcanoReleases()),
                         [](const auto& info) { return absl::StrReplaceAll(info.param, {{".", "_"}}); });

}  // namespace
}  // namespace gangway::testutil
