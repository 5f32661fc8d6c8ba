// `gangway extender` beside a real API server: in mode light it follows PodGroups, pods and nodes; in the others it is
// told of them by a scheduler that does as Volcano's, and follows HyperNodes.
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/cmd/gangway/light_story.h"
#include "tests/cmd/gangway/session_story.h"
#include "tests/e2e/control_plane.h"
#include "tests/testing/long_test.h"

namespace gangway::testutil {
namespace {

class ExtenderE2eTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
    auto plane = ControlPlane::Start({.audit = false});
    ASSERT_TRUE(plane.ok()) << plane.status();
    plane_ = *std::move(plane);
    ASSERT_TRUE(plane_->CreateNodes(6).ok());
    ASSERT_TRUE(plane_
                    ->Create("apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: default}\n"
                             "spec: {weight: 1}\n")
                    .ok());
  }

  std::unique_ptr<ControlPlane> plane_;
  const CallApi call_ = [this](const std::string& method, const std::string& path, const std::string& body,
                               const std::string& type) { return plane_->Call(method, path, body, type); };
};

TEST_F(ExtenderE2eTest, InModeLightGangsAreLetInThatHaveRoomAndBoundWhole) {
  TellOfLight(call_, plane_->admin_kubeconfig());
}

class SessionsE2eTest : public ExtenderE2eTest {
 protected:
  void SetUp() override {
    GW_LONG_TEST();
    ExtenderE2eTest::SetUp();
  }
};

// All that mode full shows, too, but that nobody is evicted.
TEST_F(SessionsE2eTest, InModeSteerGangsAreBoundWholeAndInTheirRacks) {
  TellOfSessions(call_, plane_->admin_kubeconfig(), extender::Mode::kSteer);
}

TEST_F(SessionsE2eTest, InModeFullAGangThatGoesBeforeOthersIsBoundWholeInTheirPlace) {
  TellOfSessions(call_, plane_->admin_kubeconfig(), extender::Mode::kFull);
}

}  // namespace
}  // namespace gangway::testutil
