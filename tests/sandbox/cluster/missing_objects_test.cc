// Pods and claims that name what is not there: they wait with a kubelet's words, and go on when it comes.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cluster_resources.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/translator/examples/embedded_cluster.h"

namespace gangway::sandbox {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class MissingObjectsTest : public ::testing::Test {
 protected:
  // A pod on node-000 that ends well after a second.
  std::string CreatePod(const std::string& spec, const std::string& container = "", const std::string& ns = "default") {
    return cluster_.Create(
        absl::StrCat(
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","annotations":{"sandbox.gangway.io/finish":"1s"}},)",
            R"("spec":{"restartPolicy":"Never","nodeName":"node-000",)", spec,
            R"("containers":[{"name":"c","image":"i")", container, "}]}}"),
        ns);
  }
  // reason: message
  std::vector<std::string> Events(const std::string& kind) {
    std::vector<std::string> out;
    const boost::json::value list = *api::ParseJson(*cluster_.Ask("GET", api::PathOf(api::kEvents, "default")).body);
    for (const boost::json::value& event : list.at("items").as_array()) {
      if (event.at("involvedObject").at("kind").as_string() != kind.c_str()) continue;
      out.push_back(
          absl::StrCat(event.at("reason").as_string().c_str(), ": ", event.at("message").as_string().c_str()));
    }
    return out;
  }
  std::string Phase(const api::Resource& resource, const std::string& name) {
    return cluster_.At(resource, name, "/status/phase");
  }
  std::string Waiting(const char* field) {
    return cluster_.At(api::kPods, "p", absl::StrCat("/status/containerStatuses/0/state/waiting/", field).c_str());
  }
  void ExpectTheEnd() {
    EXPECT_TRUE(cluster_.Until([&] { return Phase(api::kPods, "p") == "Succeeded"; }, absl::Seconds(10)))
        << absl::StrJoin(Events("Pod"), "\n");
  }

  testutil::EmbeddedCluster cluster_{"", {}, {}};
};

TEST_F(MissingObjectsTest, AVolumeOfAConfigMap) {
  ASSERT_EQ(CreatePod(R"("volumes":[{"name":"v","configMap":{"name":"conf"}}],)"), "");
  cluster_.Run(absl::Minutes(5));
  EXPECT_EQ(Phase(api::kPods, "p"), "Pending");
  EXPECT_EQ(Waiting("reason"), "ContainerCreating");
  EXPECT_THAT(Events("Pod"),
              ElementsAre("FailedMount: MountVolume.SetUp failed for volume \"v\" : configmap \"conf\" not found"));
  ASSERT_EQ(cluster_.Create(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"conf"}})"), "");
  ExpectTheEnd();
}

TEST_F(MissingObjectsTest, AKeyOfASecretInTheEnvironment) {
  ASSERT_EQ(CreatePod("", R"(,"env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"keys","key":"k"}}}])"), "");
  cluster_.Run(absl::Minutes(5));
  EXPECT_EQ(Phase(api::kPods, "p"), "Pending");
  EXPECT_EQ(Waiting("reason"), "CreateContainerConfigError");
  EXPECT_EQ(Waiting("message"), "secret \"keys\" not found");
  ASSERT_EQ(cluster_.Create(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"keys"}})"), "");
  cluster_.Run(absl::Seconds(1));
  EXPECT_EQ(Waiting("message"), "couldn't find key k in Secret default/keys");
  cluster_.Ask("PUT", "/api/v1/namespaces/default/secrets/keys",
               R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"keys"},"stringData":{"k":"v"}})");
  ExpectTheEnd();
  EXPECT_THAT(Events("Pod"), Contains("Failed: Error: secret \"keys\" not found"));
}

TEST_F(MissingObjectsTest, AClaimIsProvisionedAndItsVolumeGoesWithIt) {
  ASSERT_EQ(CreatePod(R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}],)"), "");
  cluster_.Run(absl::Minutes(5));
  EXPECT_THAT(Events("Pod"), ElementsAre(HasSubstr("processing PVC default/data: failed to fetch PVC from API server: "
                                                   "persistentvolumeclaims \"data\" not found")));
  ASSERT_EQ(cluster_.Create(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data"},
    "spec":{"accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}}})"),
            "");
  ExpectTheEnd();
  EXPECT_EQ(Phase(api::kPersistentVolumeClaims, "data"), "Bound");
  EXPECT_EQ(cluster_.At(api::kPersistentVolumeClaims, "data", "/spec/storageClassName"), "standard");
  const std::string volume = cluster_.At(api::kPersistentVolumeClaims, "data", "/spec/volumeName");
  EXPECT_EQ(Phase(api::kPersistentVolumes, volume), "Bound");
  EXPECT_EQ(cluster_.At(api::kPersistentVolumes, volume, "/spec/claimRef/name"), "data");
  cluster_.Ask("DELETE", "/api/v1/namespaces/default/persistentvolumeclaims/data");
  cluster_.Run(absl::Seconds(1));
  EXPECT_THAT(cluster_.Names(api::kPersistentVolumes), IsEmpty());
}

TEST_F(MissingObjectsTest, AClaimOfAClassThatIsNotThereWaitsForIt) {
  ASSERT_EQ(cluster_.Create(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data"},
    "spec":{"storageClassName":"fast","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})"),
            "");
  cluster_.Run(absl::Minutes(5));
  EXPECT_EQ(Phase(api::kPersistentVolumeClaims, "data"), "Pending");
  EXPECT_THAT(Events("PersistentVolumeClaim"),
              ElementsAre("ProvisioningFailed: storageclass.storage.k8s.io \"fast\" not found"));
  ASSERT_EQ(
      cluster_.Create(
          R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"fast"},"provisioner":"sandbox.gangway.io/volumes"})"),
      "");
  EXPECT_TRUE(cluster_.Until([&] { return Phase(api::kPersistentVolumeClaims, "data") == "Bound"; }, absl::Seconds(5)));
}

TEST_F(MissingObjectsTest, AVolumeThatIsThereIsTakenAndReleased) {
  ASSERT_EQ(cluster_.Create(R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"nfs"},
    "spec":{"capacity":{"storage":"5Gi"},"accessModes":["ReadWriteMany"],"nfs":{"server":"s","path":"/"}}})"),
            "");
  ASSERT_EQ(cluster_.Create(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data"},
    "spec":{"storageClassName":"","accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}}})"),
            "");
  EXPECT_TRUE(cluster_.Until(
      [&] {
        return Phase(api::kPersistentVolumeClaims, "data") == "Bound" &&
               Phase(api::kPersistentVolumes, "nfs") == "Bound";
      },
      absl::Seconds(5)));
  EXPECT_EQ(cluster_.At(api::kPersistentVolumeClaims, "data", "/status/capacity/storage"), "5Gi");
  cluster_.Ask("DELETE", "/api/v1/namespaces/default/persistentvolumeclaims/data");
  cluster_.Run(absl::Seconds(1));
  EXPECT_EQ(Phase(api::kPersistentVolumes, "nfs"), "Released");
}

TEST_F(MissingObjectsTest, AServiceAccountThatIsNotThereIsRefused) {
  EXPECT_THAT(
      CreatePod(R"("serviceAccountName":"trainer",)"),
      HasSubstr(
          R"(pods \"p\" is forbidden: error looking up service account default/trainer: serviceaccount \"trainer\" not found)"));
  ASSERT_EQ(cluster_.Create(R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"trainer"}})"), "");
  EXPECT_EQ(CreatePod(R"("serviceAccountName":"trainer",)"), "");
  ExpectTheEnd();
}

TEST_F(MissingObjectsTest, EachNamespaceHasADefaultServiceAccount) {
  ASSERT_EQ(cluster_.Create(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ml"}})"), "");
  EXPECT_EQ(CreatePod("", "", "ml"), "");
  EXPECT_EQ(cluster_.At(api::kPods, "p", "/spec/serviceAccountName", "ml"), "default");
  cluster_.Ask("DELETE", "/api/v1/namespaces/ml/serviceaccounts/default");
  cluster_.Run(absl::Seconds(1));
  EXPECT_THAT(cluster_.Names(api::kServiceAccounts, "ml"), ElementsAre("default"));
  cluster_.Ask("DELETE", "/api/v1/namespaces/ml");
  EXPECT_TRUE(cluster_.Until([&] { return cluster_.Get(api::kNamespaces, "ml", "").is_null(); }, absl::Minutes(1)));
}

TEST_F(MissingObjectsTest, AJobWhosePodsMissAClaimGoesOnWhenItComes) {
  ASSERT_EQ(
      cluster_.Create(
          R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"j"},"spec":{"schedulerName":"volcano","minAvailable":2,"tasks":[
    {"name":"w","replicas":2,"template":{"metadata":{"annotations":{"sandbox.gangway.io/finish":"1s"}},"spec":{"restartPolicy":"Never",
     "volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}],"containers":[{"name":"c","image":"i"}]}}}],
    "policies":[{"event":"TaskCompleted","action":"CompleteJob"}]}})"),
      "");
  const auto phase = [&] { return cluster_.At(api::kJobs, "j", "/status/state/phase"); };
  cluster_.Run(absl::Seconds(20));
  EXPECT_EQ(phase(), "Pending");
  ASSERT_EQ(cluster_.Create(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data"},
    "spec":{"accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}}})"),
            "");
  EXPECT_TRUE(cluster_.Until([&] { return phase() == "Completed"; }, absl::Minutes(2))) << phase();
}

TEST_F(MissingObjectsTest, APodThatNobodySchedulesIsTold) {
  ASSERT_EQ(
      cluster_.Create(
          R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})"),
      "");
  cluster_.Run(absl::Minutes(5));
  EXPECT_EQ(Phase(api::kPods, "p"), "Pending");
  EXPECT_THAT(Events("Pod"), ElementsAre("FailedScheduling: nothing in this sandbox schedules pods with schedulerName "
                                         "default-scheduler: say schedulerName: volcano"));
}

TEST_F(MissingObjectsTest, APodOfOurSchedulerIsNotToldThatNobodySchedulesIt) {
  ASSERT_EQ(
      cluster_.Create(
          R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"schedulerName":"volcano","containers":[{"name":"c","image":"i"}]}})"),
      "");
  cluster_.Run(absl::Minutes(1));
  EXPECT_THAT(Events("Pod"), Not(Contains(HasSubstr("nothing in this sandbox"))));
}

TEST_F(MissingObjectsTest, TheObjectsOfAKindGoWithItsDefinition) {
  const auto definition = [](const char* plural, const char* kind) {
    return absl::StrCat(
        R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":")", plural,
        R"(.scheduling.volcano.sh"},
      "spec":{"group":"scheduling.volcano.sh","scope":"Cluster","names":{"plural":")",
        plural, R"(","kind":")", kind,
        R"("},"versions":[{"name":"v1beta1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
  };
  const auto established = [&](const std::string& name) {
    return cluster_.At(api::kCustomResourceDefinitions, name, "/status/conditions/1/status", "");
  };
  ASSERT_EQ(cluster_.Create(definition("queues", "Queue")), "");
  cluster_.Run(absl::Milliseconds(1));
  EXPECT_EQ(established("queues.scheduling.volcano.sh"), "True");
  EXPECT_THAT(cluster_.Names(api::kQueues), ElementsAre("default", "root"));
  cluster_.Ask("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/queues.scheduling.volcano.sh");
  cluster_.Run(absl::Milliseconds(1));
  EXPECT_THAT(cluster_.Names(api::kCustomResourceDefinitions), IsEmpty());
  // A kind that is not there anyway is there with its definition.
  ASSERT_EQ(cluster_.Create(definition("hypernodes", "HyperNode")), "");
  cluster_.Run(absl::Milliseconds(1));
  EXPECT_EQ(established("hypernodes.scheduling.volcano.sh"), "True");
  cluster_.Ask("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/hypernodes.scheduling.volcano.sh");
  cluster_.Run(absl::Milliseconds(1));
  EXPECT_THAT(cluster_.Names(api::kCustomResourceDefinitions), IsEmpty());
}

}  // namespace
}  // namespace gangway::sandbox
