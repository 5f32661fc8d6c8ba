// RBAC in the embedded cluster: Gangway's components have the roles of deploy/ there, all that they need and no more.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/cluster/cluster_fixture.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

using ::testing::HasSubstr;
using ::testing::Not;

class ClusterRbacTest : public ClusterTest {
 protected:
  void SetUp() override {
    ClusterOptions options;
    options.api_server.rbac.emplace();
    options.api_server.rbac->token_secret = std::string(32, 's');
    options.kubelets.nodes = MakeNodes({*ParseNodeShape("cpu=16,memory=64Gi")}, 2);
    options.kubelets.behaviour = *Behaviour::Parse({"w=2s"}, {}, {});
    StartWith(std::move(options));
  }
  void Apply() {
    Make(
        api::PathOf(api::kJobs, "default"),
        R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"j"},"spec":{"schedulerName":"volcano",)"
        R"("minAvailable":2,"policies":[{"event":"TaskCompleted","action":"CompleteJob"}],"plugins":{"svc":[]},)"
        R"("tasks":[{"name":"w","replicas":2,"template":{"spec":{"restartPolicy":"Never","containers":[)"
        R"({"name":"c","image":"i"}]}}}]}})");
    loop_.RunFor(absl::Seconds(20));
  }
  std::string Phase() {
    const json::value job = *api::ParseJson(*Ask("GET", api::PathOf(api::kJobs, "default", "j")).body);
    const json::object* const status = job.as_object().if_contains("status")->if_object();
    return std::string(status->at("state").at("phase").as_string());
  }
  std::string Pods() { return *Ask("GET", api::PathOf(api::kPods, "default")).body; }
  // Without `verb` in the rules of that role for `resource`; returns the role as it was.
  std::string Without(const std::string& role, const std::string& resource, const std::string& verb) {
    const std::string path = api::PathOf(api::kClusterRoles, "", role);
    const std::string before = *Ask("GET", path).body;
    json::value changed = *api::ParseJson(before);
    bool found = false;
    json::array& rules = changed.at("rules").as_array();
    for (std::size_t i = rules.size(); i-- > 0;) {
      const json::array& resources = rules[i].at("resources").as_array();
      json::array& verbs = rules[i].at("verbs").as_array();
      const auto at = std::find(verbs.begin(), verbs.end(), json::value(verb));
      if (std::find(resources.begin(), resources.end(), json::value(resource)) == resources.end() || at == verbs.end())
        continue;
      found = true;
      verbs.erase(at);
      if (verbs.empty()) rules.erase(rules.begin() + static_cast<std::ptrdiff_t>(i));
    }
    EXPECT_TRUE(found) << role << ": " << resource << " " << verb;
    EXPECT_EQ(Ask("PUT", path, api::ToJson(changed)).code, 200);
    return before;
  }
  void GiveBack(const std::string& role, const std::string& before) {
    json::value again = *api::ParseJson(before);
    again.at("metadata").as_object().erase("resourceVersion");
    ASSERT_EQ(Ask("PUT", api::PathOf(api::kClusterRoles, "", role), api::ToJson(again)).code, 200);
  }
};

TEST_F(ClusterRbacTest, WithTheRolesOfDeployAJobRunsToItsEnd) {
  Apply();
  EXPECT_EQ(Phase(), "Completed");
}

TEST_F(ClusterRbacTest, AControllerThatMayNotMakePodsMakesNone) {
  const std::string before = Without("gangway-controller-jobs", "pods", "create");
  Apply();
  EXPECT_THAT(Pods(), HasSubstr(R"("items":[])"));
  EXPECT_EQ(Phase(), "Pending");
  GiveBack("gangway-controller-jobs", before);
  loop_.RunFor(absl::Minutes(3));
  EXPECT_EQ(Phase(), "Completed");
}

TEST_F(ClusterRbacTest, ASchedulerThatMayNotBindBindsNothing) {
  const std::string before = Without("gangway-scheduler-jobs", "pods/binding", "create");
  Apply();
  EXPECT_THAT(Pods(), Not(HasSubstr("nodeName")));
  GiveBack("gangway-scheduler-jobs", before);
  loop_.RunFor(absl::Minutes(3));
  EXPECT_EQ(Phase(), "Completed");
}

// Who takes the account its binding away has the same.
TEST_F(ClusterRbacTest, ASchedulerWithoutItsBindingSeesNothing) {
  ASSERT_EQ(Ask("DELETE", api::PathOf(api::kClusterRoleBindings, "", "gangway-scheduler")).code, 200);
  cluster_->Stop(Component::kScheduler);
  cluster_->Start(Component::kScheduler);
  Apply();
  EXPECT_THAT(Pods(), Not(HasSubstr("nodeName")));
  EXPECT_EQ(Phase(), "Pending");
}

}  // namespace
}  // namespace gangway::sandbox
