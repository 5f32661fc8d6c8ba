#include "api/resource.h"

#include "gtest/gtest.h"

namespace gangway::api {
namespace {

TEST(ResourceTest, ApiVersionJoinsGroupAndVersion) {
  EXPECT_EQ(kPods.ApiVersion(), "v1");
  EXPECT_EQ(kJobs.ApiVersion(), "batch.volcano.sh/v1alpha1");
  EXPECT_EQ(kQueues.ListKind(), "QueueList");
}

TEST(ResourceTest, PathsOfNamespacedResources) {
  EXPECT_EQ(PathOf(kPods, "default", "ctr-trainer-0", "binding"),
            "/api/v1/namespaces/default/pods/ctr-trainer-0/binding");
  EXPECT_EQ(PathOf(kJobs, "default", "ctr"), "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/ctr");
  EXPECT_EQ(PathOf(kJobs, "default"), "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs");
  EXPECT_EQ(PathOf(kPods, ""), "/api/v1/pods");
}

TEST(ResourceTest, PathsOfClusterResourcesHaveNoNamespace) {
  EXPECT_EQ(PathOf(kNodes, "", "n1", "status"), "/api/v1/nodes/n1/status");
  EXPECT_EQ(PathOf(kQueues, "ignored", "q"), "/apis/scheduling.volcano.sh/v1beta1/queues/q");
  EXPECT_EQ(PathOf(kNamespaces, "", "default"), "/api/v1/namespaces/default");
}

TEST(ResourceTest, NamesCannotLeaveTheirSegment) {
  EXPECT_EQ(PathOf(kPods, "a/b", "c d?e#f%"), "/api/v1/namespaces/a%2Fb/pods/c%20d%3Fe%23f%25");
  EXPECT_EQ(PathOf(kConfigMaps, "d", "a.b-c_d~e"), "/api/v1/namespaces/d/configmaps/a.b-c_d~e");
  EXPECT_EQ(PathOf(kPods, "d", "\xC3\xA9"), "/api/v1/namespaces/d/pods/%C3%A9");
}

}  // namespace
}  // namespace gangway::api
