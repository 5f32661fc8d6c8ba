// The real API server's answers to tests/sandbox/rbac/asks.h, which the sandbox's are compared with, and the roles that
// it has from its beginning, which the sandbox has, too. GW_UPDATE_GOLDEN=1 records both.
#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json.h"
#include "api/json_value.h"
#include "base/check.h"
#include "gtest/gtest.h"
#include "kube/client/http_client.h"
#include "tests/e2e/control_plane.h"
#include "tests/e2e/gangway_process.h"
#include "tests/sandbox/rbac/asks.h"
#include "tests/testing/golden.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1/";

class RbacAnswersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
    if (ControlPlane::Minor() != 36) GTEST_SKIP() << "what is recorded is Kubernetes' roles of 1.36";
    auto plane = ControlPlane::Start({.volcano_crds = false, .audit = false});
    ASSERT_TRUE(plane.ok()) << plane.status();
    plane_ = *std::move(plane);
    ASSERT_TRUE(Eventually([&] {  // its controller fills it in
      const auto role = *api::ParseJson(*plane_->Call("GET", kRbac + "clusterroles/view").body);
      return role.at("rules").is_array() && !role.at("rules").as_array().empty();
    }));
  }

  kube::Response Send(const Ask& ask) {
    kube::Connection connection = plane_->admin_connection();
    connection.impersonate.user = ask.as;
    connection.impersonate.groups = ask.groups;
    LoopThread loop;
    const std::pair<std::string, std::string> parts = absl::StrSplit(ask.path, absl::MaxSplits('?', 1));
    kube::Request request;
    request.method = ask.method;
    request.path = parts.first;
    request.query = parts.second;
    request.content_type = ask.content_type;
    request.body = ask.body;
    Inbox<absl::StatusOr<kube::Response>> inbox;
    std::unique_ptr<kube::HttpClient> client;
    Owner owner;
    loop.Run([&] {
      client = *kube::HttpClient::Make(loop.loop(), connection);
      client->Send(request, owner.token(), [&](absl::StatusOr<kube::Response> reply) { inbox.Put(std::move(reply)); });
      return 0;
    });
    auto reply = inbox.Take();
    GW_CHECK(reply.has_value() && reply->ok());
    loop.Join();
    return **std::move(reply);
  }

  std::unique_ptr<ControlPlane> plane_;
};

// What of an object is the cluster's and not this one's.
json::object Kept(const json::object& object, const std::string& kind) {
  json::object out{{"kind", kind}};
  json::object& metadata = out["metadata"].emplace_object();
  for (const char* const field : {"name", "namespace", "labels", "annotations"}) {
    if (const json::value* const value = object.at("metadata").as_object().if_contains(field)) metadata[field] = *value;
  }
  for (const char* const field : {"rules", "aggregationRule", "roleRef", "subjects"}) {
    if (const json::value* const value = object.if_contains(field)) out[field] = *value;
  }
  if (out.contains("aggregationRule")) out.erase("rules");  // its controller's
  return out;
}

TEST_F(RbacAnswersTest, RolesAreThereFromTheBeginning) {
  std::string text;
  for (const auto& [plural, kind] :
       {std::pair("clusterroles", "ClusterRole"), std::pair("clusterrolebindings", "ClusterRoleBinding"),
        std::pair("roles", "Role"), std::pair("rolebindings", "RoleBinding")}) {
    const json::value list = *api::ParseJson(*plane_->Call("GET", kRbac + plural).body);
    for (const json::value& item : list.at("items").as_array())
      absl::StrAppend(&text, api::ToJson(Kept(item.as_object(), kind)), "\n");
  }
  ExpectGolden(GW_SOURCE_DIR "/sandbox/rbac/bootstrap-roles.jsonl", text);
}

TEST_F(RbacAnswersTest, Answers) {
  ExpectGolden(RecordedAnswersFile(), AnswersOf([this](const Ask& ask) { return Send(ask); }));
}

}  // namespace
}  // namespace gangway::testutil
