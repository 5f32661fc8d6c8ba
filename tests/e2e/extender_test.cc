// `gangway extender --mode light` beside a real API server, whose PodGroups, pods and nodes it follows.
#include "gtest/gtest.h"
#include "tests/cmd/gangway/light_story.h"
#include "tests/e2e/control_plane.h"

namespace gangway::testutil {
namespace {

TEST(ExtenderE2eTest, InModeLightGangsAreLetInThatHaveRoomAndBoundWhole) {
  if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
  auto plane = ControlPlane::Start({.audit = false});
  ASSERT_TRUE(plane.ok()) << plane.status();
  ASSERT_TRUE((*plane)->CreateNodes(6).ok());
  ASSERT_TRUE((*plane)
                  ->Create("apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: default}\n"
                           "spec: {weight: 1}\n")
                  .ok());
  TellOfLight([&](const std::string& method, const std::string& path, const std::string& body,
                  const std::string& type) { return (*plane)->Call(method, path, body, type); },
              (*plane)->admin_kubeconfig());
}

}  // namespace
}  // namespace gangway::testutil
