#include "sandbox/kubelet/pod_sources.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// A namespace with config map `conf` {a, bin}, secret `keys` {k}, claims `bound` and `unbound`.
MissingSources Missing(absl::string_view spec) {
  const auto object = [](absl::string_view json) { return *api::Decode<SourceObject>(json); };
  const SourceObject conf = object(R"({"metadata":{"name":"conf"},"data":{"a":"1"},"binaryData":{"bin":"MQ=="}})");
  const SourceObject keys = object(R"({"metadata":{"name":"keys"},"data":{"k":"MQ=="}})");
  const std::string bound = "Bound", pending = "Pending";
  const SourceLookup lookup{
      [&](const std::string& name) { return name == "conf" ? &conf : nullptr; },
      [&](const std::string& name) { return name == "keys" ? &keys : nullptr; },
      [&](const std::string& name) { return name == "bound"     ? &bound
                                            : name == "unbound" ? &pending
                                                                : nullptr; },
  };
  const auto pod =
      api::Decode<HostedPod>(absl::StrCat(R"({"metadata":{"name":"p","namespace":"ml"},"spec":)", spec, "}"));
  EXPECT_TRUE(pod.ok()) << pod.status();
  return FindMissingSources(*pod, lookup);
}
std::vector<std::string> MissingOfVolume(absl::string_view volume) {
  return Missing(absl::StrCat(R"({"volumes":[{"name":"v",)", volume, R"(}],"containers":[{"name":"c"}]})")).mounts;
}
std::map<std::string, std::string> MissingOfContainer(absl::string_view container) {
  return Missing(absl::StrCat(R"({"containers":[{"name":"c",)", container, "}]}")).containers;
}

constexpr absl::string_view kSetUp = "MountVolume.SetUp failed for volume \"v\" : ";
constexpr absl::string_view kProcess =
    "Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], failed to process volumes=[v]: "
    "error processing PVC ml/";

TEST(PodSourcesTest, VolumesOfConfigMapsAndSecrets) {
  EXPECT_THAT(
      MissingOfVolume(R"("configMap":{"name":"conf","items":[{"key":"a","path":"x"},{"key":"bin","path":"y"}]})"),
      IsEmpty());
  EXPECT_THAT(MissingOfVolume(R"("configMap":{"name":"x"})"),
              ElementsAre(absl::StrCat(kSetUp, "configmap \"x\" not found")));
  EXPECT_THAT(MissingOfVolume(R"("configMap":{"name":"x","optional":true})"), IsEmpty());
  EXPECT_THAT(MissingOfVolume(R"("configMap":{"name":"conf","items":[{"key":"z","path":"x"}]})"),
              ElementsAre(absl::StrCat(kSetUp, "configmap references non-existent config key: z")));
  EXPECT_THAT(MissingOfVolume(R"("configMap":{"name":"conf","optional":true,"items":[{"key":"z","path":"x"}]})"),
              IsEmpty());
  EXPECT_THAT(MissingOfVolume(R"("secret":{"secretName":"keys"})"), IsEmpty());
  EXPECT_THAT(MissingOfVolume(R"("secret":{"secretName":"x"})"),
              ElementsAre(absl::StrCat(kSetUp, "secret \"x\" not found")));
  EXPECT_THAT(MissingOfVolume(R"("secret":{"secretName":"keys","items":[{"key":"z","path":"x"}]})"),
              ElementsAre(absl::StrCat(kSetUp, "references non-existent secret key: z")));
  EXPECT_THAT(MissingOfVolume(R"("emptyDir":{})"), IsEmpty());
}

TEST(PodSourcesTest, ProjectedVolumesTellAllThatIsMissing) {
  EXPECT_THAT(
      MissingOfVolume(
          R"("projected":{"sources":[{"configMap":{"name":"conf"}},{"secret":{"name":"keys"}},{"downwardAPI":{}}]})"),
      IsEmpty());
  EXPECT_THAT(MissingOfVolume(R"("projected":{"sources":[{"configMap":{"name":"x"}},{"secret":{"name":"y"}}]})"),
              ElementsAre(absl::StrCat(kSetUp, "[configmap \"x\" not found, secret \"y\" not found]")));
}

TEST(PodSourcesTest, ClaimsHaveToBeThereAndBound) {
  EXPECT_THAT(MissingOfVolume(R"("persistentVolumeClaim":{"claimName":"bound"})"), IsEmpty());
  EXPECT_THAT(MissingOfVolume(R"("persistentVolumeClaim":{"claimName":"unbound"})"),
              ElementsAre(absl::StrCat(kProcess, "unbound: PVC is not bound")));
  EXPECT_THAT(MissingOfVolume(R"("persistentVolumeClaim":{"claimName":"x"})"),
              ElementsAre(absl::StrCat(
                  kProcess, "x: failed to fetch PVC from API server: persistentvolumeclaims \"x\" not found")));
}

TEST(PodSourcesTest, EnvironmentsOfConfigMapsAndSecrets) {
  EXPECT_THAT(MissingOfContainer(R"("envFrom":[{"configMapRef":{"name":"conf"}},{"secretRef":{"name":"keys"}}])"),
              IsEmpty());
  EXPECT_THAT(MissingOfContainer(R"("envFrom":[{"configMapRef":{"name":"x"}}])"),
              ElementsAre(Pair("c", "configmap \"x\" not found")));
  EXPECT_THAT(MissingOfContainer(R"("envFrom":[{"secretRef":{"name":"x","optional":true}}])"), IsEmpty());
  EXPECT_THAT(
      MissingOfContainer(
          R"("env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"configMapKeyRef":{"name":"conf","key":"a"}}}])"),
      IsEmpty());
  EXPECT_THAT(MissingOfContainer(R"("env":[{"name":"B","valueFrom":{"configMapKeyRef":{"name":"conf","key":"z"}}}])"),
              ElementsAre(Pair("c", "couldn't find key z in ConfigMap ml/conf")));
  EXPECT_THAT(MissingOfContainer(R"("env":[{"name":"B","valueFrom":{"secretKeyRef":{"name":"x","key":"k"}}}])"),
              ElementsAre(Pair("c", "secret \"x\" not found")));
  EXPECT_THAT(MissingOfContainer(R"("env":[{"name":"B","valueFrom":{"secretKeyRef":{"name":"keys","key":"z"}}}])"),
              ElementsAre(Pair("c", "couldn't find key z in Secret ml/keys")));
  EXPECT_THAT(MissingOfContainer(
                  R"("env":[{"name":"B","valueFrom":{"secretKeyRef":{"name":"keys","key":"z","optional":true}}}])"),
              IsEmpty());
  EXPECT_THAT(MissingOfContainer(R"("env":[{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}])"),
              IsEmpty());
}

TEST(PodSourcesTest, SecretsOfImages) {
  EXPECT_THAT(Missing(R"({"imagePullSecrets":[{"name":"keys"},{"name":"x"}],"containers":[]})").pull_secrets,
              ElementsAre("x"));
}

}  // namespace
}  // namespace gangway::sandbox
