// The way from paddle-operator and back on a real API server, as the sandbox's rehearsal has it.
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/e2e/control_plane.h"
#include "tests/readme/moving.h"
#include "tests/testing/long_test.h"

namespace gangway::testutil {
namespace {

class RealCluster final : public MovingCluster {
 public:
  explicit RealCluster(ControlPlane& plane) : plane_(plane) {
    std::filesystem::create_symlink(GW_GANGWAY, folder() + "/gangway");
  }
  Outcome Kubectl(std::vector<std::string> args, const std::string& input) const override {
    return plane_.Kubectl(std::move(args), input);
  }
  std::string folder() const override { return plane_.folder(); }
  std::string kubeconfig() const override { return plane_.admin_kubeconfig(); }
  std::string KubeconfigOf(const std::string& ns, const std::string& account) const override {
    const auto path = plane_.KubeconfigForServiceAccount(ns, account);
    EXPECT_TRUE(path.ok()) << path.status();
    return path.value_or("/nonexistent");
  }

 private:
  ControlPlane& plane_;
};

// Each of some hundred jobs that come goes through a real API server, which takes most of a minute even with five to
// move: the sandbox's rehearsal is what every run has.
TEST(RealMovingTest, InstalledWithItsRolesUpgradedAndBack) {
  GW_LONG_TEST();
  if (!ControlPlane::ToolsPresent() || !HasKubectl()) GTEST_SKIP() << "there is no control plane on this machine";
  auto plane = ControlPlane::Start({.kwok = true, .audit = false});
  ASSERT_TRUE(plane.ok()) << plane.status();
  ASSERT_TRUE((*plane)->CreateNodes(12).ok());
  Moving(RealCluster(**plane)).ThereUpgradedAndBack(50);
}

}  // namespace
}  // namespace gangway::testutil
