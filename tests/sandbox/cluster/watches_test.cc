// What the kubelets and the cluster's own controllers ask of the API server.
#include <map>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/cluster/cluster_fixture.h"

namespace gangway::sandbox {
namespace {

using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class WatchesTest : public ClusterTest {
 protected:
  std::map<std::string, int> WatchesOf(ClusterOptions options) {
    std::map<std::string, int> watches;
    options.faults = [&](Component component) {
      Faults faults;
      if (component != Component::kKubelets) return faults;
      faults.request = [&](const kube::Request& request) {
        if (absl::StrContains(request.query, "watch=")) ++watches[request.path];
        return RequestFate();
      };
      return faults;
    };
    StartWith(std::move(options));
    cluster_.reset();
    return watches;
  }
};

TEST_F(WatchesTest, KubeletsAndControllersWatchAResourceOnceTogether) {
  ClusterOptions options;
  options.workloads = options.budgets = true;
  EXPECT_THAT(
      WatchesOf(std::move(options)),
      UnorderedElementsAre(Pair("/api/v1/pods", 1), Pair("/api/v1/nodes", 1), Pair("/api/v1/configmaps", 1),
                           Pair("/api/v1/secrets", 1), Pair("/api/v1/persistentvolumeclaims", 1),
                           Pair("/api/v1/persistentvolumes", 1), Pair("/apis/storage.k8s.io/v1/storageclasses", 1),
                           Pair("/apis/apps/v1/deployments", 1), Pair("/apis/apps/v1/replicasets", 1),
                           Pair("/apis/policy/v1/poddisruptionbudgets", 1)));
}

TEST_F(WatchesTest, OfControllersThatAreNotPlayedNothingIsWatched) {
  const std::map<std::string, int> watches = WatchesOf({});
  EXPECT_EQ(watches.size(), 7u);
  EXPECT_THAT(watches, Not(Contains(Key("/apis/apps/v1/replicasets"))));
}

}  // namespace
}  // namespace gangway::sandbox
