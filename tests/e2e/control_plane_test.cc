// The control plane of the end-to-end tests itself: what the other tests here rely on.
#include "tests/e2e/control_plane.h"

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::testutil {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(ControlPlaneTest, ServesRunsPodsCollectsGarbageAndLeavesNothing) {
  if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
  std::string folder;
  {
    auto plane = ControlPlane::Start({.kwok = true});
    ASSERT_TRUE(plane.ok()) << plane.status();
    ControlPlane& cluster = **plane;
    folder = cluster.folder();
    EXPECT_THAT(*cluster.Call("GET", "/version").body,
                HasSubstr(absl::StrCat(R"("gitVersion": "v1.)", ControlPlane::Minor(), ".")));
    ASSERT_TRUE(cluster.CreateNodes(1).ok());
    ASSERT_EQ(
        cluster
            .Call("POST", "/api/v1/namespaces/default/pods",
                  R"({"metadata":{"name":"a"},"spec":{"nodeName":"node-000","containers":[{"name":"c","image":"i"}]}})")
            .code,
        201);
    const auto phase = [&](const std::string& value) {
      return Eventually([&] {
        return cluster.Call("GET", "/api/v1/namespaces/default/pods/a").body->find(R"("phase":")" + value) !=
               std::string::npos;
      });
    };
    EXPECT_TRUE(phase("Running"));
    EXPECT_EQ(cluster
                  .Call("PATCH", "/api/v1/namespaces/default/pods/a",
                        R"({"metadata":{"annotations":{"test.kwok/finish":"fail","test.kwok/exit-code":"9"}}})",
                        "application/merge-patch+json")
                  .code,
              200);
    EXPECT_TRUE(phase("Failed"));
    EXPECT_THAT(*cluster.Call("GET", "/api/v1/namespaces/default/pods/a").body, HasSubstr(R"("exitCode":9)"));
    EXPECT_EQ(cluster.Call("DELETE", "/api/v1/namespaces/default/pods/a").code, 200);
    EXPECT_TRUE(Eventually([&] { return cluster.Call("GET", "/api/v1/namespaces/default/pods/a").code == 404; }));

    cluster.StopApiServer();
    ASSERT_TRUE(cluster.StartApiServer().ok());
    EXPECT_EQ(cluster.Call("GET", "/api/v1/nodes/node-000").code, 200);
    EXPECT_THAT(cluster.AuditLog(), HasSubstr(R"("verb":"delete")"));
    std::ofstream(folder + "/audit.log", std::ios::app) << "{\"half\"";
    EXPECT_THAT(cluster.AuditLog(), EndsWith("}\n")) << "a line that is being written is left out";
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
}  // namespace gangway::testutil
