// A gang that a ResourceQuota of its namespace has no room for is not let in, and is told so, on the whole embedded
// cluster. The test plays the quota's controller.
#include <string>

#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/resource.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/cluster/cluster_fixture.h"

namespace gangway::sandbox {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class QuotasTest : public ClusterTest {
 protected:
  void StartBy(bool quotas) {
    ClusterOptions options;
    options.kubelets.nodes = MakeNodes({*ParseNodeShape("cpu=16,memory=64Gi")}, 2);
    options.policy.admit_by_quotas = quotas;
    StartWith(std::move(options));
  }
  void AddQuota(const std::string& more = "") {
    Make(api::PathOf(api::kResourceQuotas, "default"),
         absl::StrCat(R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"team"},"spec":{)", more,
                      R"("hard":{"requests.cpu":"8"}}})"));
  }
  void Count(int hard, int used) {
    const kube::Response reply = Ask("PATCH", api::PathOf(api::kResourceQuotas, "default", "team", "status"),
                                     absl::StrCat(R"({"status":{"hard":{"requests.cpu":")", hard,
                                                  R"("},"used":{"requests.cpu":")", used, R"("}}})"));
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  void Apply() {
    Make(
        api::PathOf(api::kJobs, "default"),
        R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"j"},"spec":{"schedulerName":"volcano",)"
        R"("minAvailable":2,"tasks":[{"name":"w","replicas":2,"template":{"spec":{"restartPolicy":"Never","containers":[)"
        R"({"name":"c","image":"i","resources":{"requests":{"cpu":"3"}}}]}}}]}})");
    loop_.RunFor(absl::Seconds(20));
  }
  std::string Groups() { return *Ask("GET", api::PathOf(api::kPodGroups, "default")).body; }
};

TEST_F(QuotasTest, AGangWaitsForItsNamespacesQuota) {
  StartBy(true);
  AddQuota();
  Count(8, 3);
  Apply();
  EXPECT_THAT(Groups(), HasSubstr("needs requests.cpu 6, quota team uses 3 of 8, 1 too many"));
  EXPECT_THAT(Groups(), HasSubstr(R"("phase":"Pending")"));
  EXPECT_THAT(*Ask("GET", api::PathOf(api::kPods, "default")).body, HasSubstr(R"("items":[])"));
  Count(9, 3);
  loop_.RunFor(absl::Seconds(20));
  EXPECT_THAT(Groups(), HasSubstr(R"("phase":"Running")"));
}

// The PodGroup is there before the first quota of its namespace: it waits for room on the nodes, and then for the
// quota.
TEST_F(QuotasTest, AQuotaThatComesAfterThePodGroupCounts) {
  StartBy(true);
  Make(
      api::PathOf(api::kPodGroups, "default"),
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"g"},"spec":{"minMember":1,)"
      R"("minResources":{"cpu":"6","requests.cpu":"6","nvidia.com/gpu":"1"}}})");
  loop_.RunFor(absl::Seconds(20));
  EXPECT_THAT(Groups(), HasSubstr("needs nvidia.com/gpu 1"));
  AddQuota();
  Count(8, 3);
  for (const char* const node : {"node-000", "node-001"})
    Ask("PATCH", api::PathOf(api::kNodes, "", node, "status"),
        R"({"status":{"allocatable":{"nvidia.com/gpu":"1"},"capacity":{"nvidia.com/gpu":"1"}}})");
  loop_.RunFor(absl::Seconds(20));
  EXPECT_THAT(Groups(), HasSubstr("needs requests.cpu 6, quota team uses 3 of 8"));
}

// Which pods it is about a PodGroup does not say; without the plugin none is looked at.
TEST_F(QuotasTest, QuotasWithScopesAreLeftToTheAPIServer) {
  StartBy(true);
  AddQuota(R"("scopes":["NotTerminating"],)");
  Count(8, 8);
  Apply();
  EXPECT_THAT(Groups(), HasSubstr(R"("phase":"Running")"));
}
TEST_F(QuotasTest, WithoutThePluginNoneIsLookedAt) {
  StartBy(false);
  AddQuota();
  Count(8, 8);
  Apply();
  EXPECT_THAT(Groups(), HasSubstr(R"("phase":"Running")"));
  EXPECT_THAT(Groups(), Not(HasSubstr("quota")));
}

}  // namespace
}  // namespace gangway::sandbox
