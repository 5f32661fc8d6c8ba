#include "plugin/scheduler/gang_keys.h"

#include "gtest/gtest.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::scheduler {
namespace {

using api::NamespacedName;
using model::GangKind;

TEST(GangKeysTest, GangsOfOneNameAndThreeKindsHaveThreeKeys) {
  model::Cluster cluster;
  for (const GangKind kind : {GangKind::kVolcano, GangKind::kKubernetes, GangKind::kCoscheduling}) {
    model::GangFacts facts = testutil::Gang("g", 1);
    facts.kind = kind;
    const model::GangId id = cluster.SetGang(facts);
    const NamespacedName key = KeyOfGang(cluster, id);
    EXPECT_EQ(FindGang(cluster, key), id);
    EXPECT_FALSE(IsOfQueue(key));
  }
  EXPECT_EQ(KeyOfGang(GangKind::kVolcano, "default", "g").ToString(), "default/g");
  EXPECT_EQ(KeyOfGang(GangKind::kKubernetes, "default", "g").ToString(), "default/podgroups.scheduling.k8s.io/g");
  EXPECT_EQ(KeyOfGang(GangKind::kCoscheduling, "default", "g").ToString(), "default/podgroups.scheduling.x-k8s.io/g");
}

TEST(GangKeysTest, AGangWithoutItsPodGroupHasNone) {
  model::Cluster cluster;
  cluster.SetPod(testutil::Pod("g", "w", 0, testutil::Cpu(1000)));
  const model::GangId id = FindGang(cluster, {"default", "g"});
  ASSERT_NE(id, model::kNone);
  EXPECT_EQ(KeyOfGang(cluster, id), NamespacedName());
  EXPECT_EQ(KeyOfGang(cluster, model::kNone), NamespacedName());
  EXPECT_EQ(FindGang(cluster, {"default", "other"}), model::kNone);
  EXPECT_EQ(FindGang(cluster, {"default", "nobodys/g"}), model::kNone);
}

TEST(GangKeysTest, AQueueIsNoGang) { EXPECT_TRUE(IsOfQueue(KeyOfQueue("default"))); }

}  // namespace
}  // namespace gangway::scheduler
