#include "kube/runtime/refusal.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::kube {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RefusalTest, AMissingCrdIsInstalled) {
  const std::string missing = ExplainNotFound(api::kPodGroups, std::nullopt);
  EXPECT_EQ(missing,
            "the API server does not know podgroups.scheduling.volcano.sh (v1beta1): install the CRDs: kubectl apply "
            "-f deploy/volcano/crds.yaml");
  EXPECT_EQ(ExplainNotFound(api::kPodGroups, std::vector<std::string>{"v1beta1"}), missing)
      << "the group is there, this CRD is not";
}

TEST(RefusalTest, AWrongVersionIsNamed) {
  const ServedVersions served = VersionsFrom(
      R"({"kind":"APIGroup","name":"scheduling.volcano.sh","versions":[{"groupVersion":"a/v1","version":"v1"},{"version":"v2"}]})");
  EXPECT_THAT(*served, ElementsAre("v1", "v2"));
  EXPECT_THAT(ExplainNotFound(api::kQueues, served),
              AllOf(HasSubstr("serves scheduling.volcano.sh in v1, v2 and not in v1beta1"),
                    HasSubstr("deploy/volcano/crds.yaml")));
}

TEST(RefusalTest, KubernetesOwnKindsAreNoMatterOfCrds) {
  EXPECT_THAT(ExplainNotFound(api::kPriorityClasses, std::nullopt), HasSubstr("its Kubernetes is too old"));
}

TEST(RefusalTest, AMissingPermissionNamesTheRule) {
  const std::string text = ExplainRefusal(
      api::kPodGroups, "watch", "ads", absl::PermissionDeniedError("podgroups is forbidden: User \"u\" cannot watch"));
  EXPECT_THAT(text,
              AllOf(HasSubstr("may not watch podgroups.scheduling.volcano.sh in namespace ads"),
                    HasSubstr("verbs list and watch on resource podgroups of API group \"scheduling.volcano.sh\""),
                    HasSubstr("User \"u\"")));
  EXPECT_THAT(ExplainRefusal(api::kPods, "list", "", absl::UnauthenticatedError("Unauthorized")),
              HasSubstr("does not believe who we are"));
}

TEST(RefusalTest, NoAnswerIsSaidWithoutWhatDiffers) {
  EXPECT_TRUE(IsUnreached(absl::UnavailableError("")));
  EXPECT_TRUE(IsUnreached(absl::DeadlineExceededError("")));
  EXPECT_FALSE(IsUnreached(absl::NotFoundError("")));
  EXPECT_EQ(WhyUnreached(absl::UnavailableError(
                "GET http://h:1/api/v1/pods: Failed to connect to h port 1 after 3 ms: Couldn't connect to server")),
            "Couldn't connect to server");
}

}  // namespace
}  // namespace gangway::kube
