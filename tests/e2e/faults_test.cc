// What the processes say and do when the API server lacks something or is away; each goes on without a restart.
#include <csignal>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/control_plane.h"
#include "tests/e2e/gangway_process.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using ::testing::HasSubstr;

class FaultsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
  }
  void StartPlane(bool crds) {
    ControlPlaneOptions options;
    options.controller_manager = false;
    options.audit = false;
    options.volcano_crds = crds;
    auto plane = ControlPlane::Start(options);
    ASSERT_TRUE(plane.ok()) << plane.status();
    plane_ = *std::move(plane);
  }
  static bool Says(const GangwayProcess& process, absl::string_view text) {
    return Eventually([&] { return absl::StrContains(process.Log(), text); });
  }
  static bool ReadySays(const GangwayProcess& process, absl::string_view text) {
    return Eventually([&] { return absl::StrContains(process.Get("health", "/readyz"), text); });
  }
  static std::string Crds() { return ReadFile(absl::StrCat(GW_SOURCE_DIR, "/deploy/volcano/crds.yaml")); }

  std::unique_ptr<ControlPlane> plane_;
};

TEST_F(FaultsTest, MissingCrdsAreNamedAndWaitedFor) {
  ASSERT_NO_FATAL_FAILURE(StartPlane(false));
  GangwayProcess scheduler(plane_->folder(), "scheduler", "scheduler", plane_->admin_kubeconfig());
  const std::string why =
      "the API server does not know podgroups.scheduling.volcano.sh (v1beta1): install the CRDs: kubectl apply -f "
      "deploy/volcano/crds.yaml";
  EXPECT_TRUE(Says(scheduler, why)) << scheduler.Log();
  EXPECT_TRUE(ReadySays(scheduler, "install the CRDs")) << scheduler.Get("health", "/readyz");
  EXPECT_THAT(scheduler.Get("health", "/healthz"), HasSubstr("200"));
  ASSERT_TRUE(plane_->Create(Crds()).ok());
  EXPECT_TRUE(scheduler.WaitReady()) << scheduler.Log();
}

TEST_F(FaultsTest, AMissingPermissionIsNamedAndWaitedFor) {
  ASSERT_NO_FATAL_FAILURE(StartPlane(true));
  GangwayProcess controller(plane_->folder(), "controller", "controller",
                            plane_->KubeconfigForUser("nobody-yet", "people"));
  EXPECT_TRUE(
      Says(controller,
           "may not list jobs.batch.volcano.sh: give its role verbs list and watch on resource jobs of API group"))
      << controller.Log();
  EXPECT_TRUE(Says(controller, "deploy/volcano has the roles")) << controller.Log();
  EXPECT_TRUE(ReadySays(controller, "503"));
  ASSERT_TRUE(
      plane_
          ->Create(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"x"},
    "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},
    "subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"nobody-yet"}]})")
          .ok());
  EXPECT_TRUE(controller.WaitReady()) << controller.Log();
}

TEST_F(FaultsTest, AnApiServerThatGoesAndComesBackNeedsNoRestart) {
  ASSERT_NO_FATAL_FAILURE(StartPlane(true));
  GangwayProcess scheduler(plane_->folder(), "scheduler", "scheduler", plane_->admin_kubeconfig());
  ASSERT_TRUE(scheduler.WaitReady()) << scheduler.Log();
  plane_->StopApiServer(SIGKILL);
  EXPECT_TRUE(Says(scheduler, "API server not reached")) << scheduler.Log();
  EXPECT_TRUE(ReadySays(scheduler, "503"));
  ASSERT_TRUE(plane_->StartApiServer().ok());
  EXPECT_TRUE(scheduler.WaitReady()) << scheduler.Log();
  EXPECT_FALSE(scheduler.process().Ended().has_value());
  EXPECT_EQ(scheduler.process().Stop(), 0);
}

TEST_F(FaultsTest, ACleanHandOverDoesNotWaitForTheLeaseToEnd) {
  ASSERT_NO_FATAL_FAILURE(StartPlane(true));
  ASSERT_EQ(plane_
                ->Call("POST", "/api/v1/namespaces",
                       R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"gangway-system"}})")
                .code,
            201);
  const auto leads = [](const GangwayProcess& process) {
    return absl::StrContains(process.Get("health", "/debug/dump"), "\"leading\":true");
  };
  GangwayProcess first(plane_->folder(), "first", "scheduler", plane_->admin_kubeconfig(), {"--leader-elect"});
  ASSERT_TRUE(Eventually([&] { return leads(first); })) << first.Log();
  GangwayProcess second(plane_->folder(), "second", "scheduler", plane_->admin_kubeconfig(), {"--leader-elect"});
  ASSERT_TRUE(second.WaitReady()) << second.Log();
  EXPECT_EQ(first.process().Stop(), 0) << first.Log();
  EXPECT_THAT(first.Log(), HasSubstr("lease released"));
  EXPECT_TRUE(Eventually([&] { return leads(second); })) << second.Log();
}

}  // namespace
}  // namespace gangway::testutil
