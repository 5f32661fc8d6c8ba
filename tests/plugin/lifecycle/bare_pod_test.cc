// PodGroups for pods that no Job made (fixtures/volcano-golden/raw-podgroup).
#include "plugin/lifecycle/bare_pod.h"

#include "api/volcano/scheduling.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::lifecycle {
namespace {

api::core::Pod Pod(const std::string& metadata, const std::string& scheduler = "volcano") {
  return *api::Decode<api::core::Pod>(R"({"metadata":{"name":"bare","namespace":"ns","uid":"u","resourceVersion":"5")" + metadata + R"(},"spec":{"schedulerName":")" + scheduler +
                                      R"(","containers":[{"resources":{"requests":{"cpu":"2"}}}]}})");
}

TEST(BarePodTest, OnlyThoseThatWaitForOne) {
  EXPECT_TRUE(WantsGroup(Pod(""), "volcano"));
  EXPECT_FALSE(WantsGroup(Pod("", "default-scheduler"), "volcano"));
  EXPECT_FALSE(WantsGroup(Pod(R"(,"annotations":{"scheduling.k8s.io/group-name":"g"})"), "volcano"));
  EXPECT_TRUE(WantsGroup(Pod(R"(,"annotations":{"scheduling.k8s.io/group-name":""})"), "volcano"));
  EXPECT_FALSE(WantsGroup(Pod(R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"), "volcano"));
}

TEST(BarePodTest, GroupThenAnnotation) {
  const kube::Plan plan = ReconcileBarePod(Pod(R"(,"annotations":{"scheduling.volcano.sh/queue-name":"q"})"), false);
  ASSERT_EQ(plan.stages.size(), 2u);
  const auto group = api::Decode<api::volcano::PodGroup>(plan.stages[0][0].body);
  GW_ASSERT_OK(group);
  EXPECT_EQ(group->metadata.name, "podgroup-u");
  EXPECT_EQ(group->metadata.owner_references[0].kind, "Pod");
  EXPECT_EQ(group->spec.min_member, 1);
  EXPECT_EQ(group->spec.queue, "q");
  EXPECT_EQ(group->spec.min_resources.at("cpu").ToString(), "2");
  EXPECT_EQ(plan.stages[1][0].body, R"({"metadata":{"annotations":{"scheduling.k8s.io/group-name":"podgroup-u"}}})");
  EXPECT_EQ(plan.stages[1][0].uid, "u");
}

TEST(BarePodTest, PodsOfOneOwnerShareAGroup) {
  const api::core::Pod pod = Pod(R"(,"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"rs-uid","controller":true}])");
  EXPECT_EQ(GroupNameFor(pod), "podgroup-rs-uid");
  EXPECT_EQ(ReconcileBarePod(pod, true).stages.size(), 1u) << "the group is there";
}

}  // namespace
}  // namespace gangway::lifecycle
