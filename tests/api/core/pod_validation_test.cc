#include "api/core/pod_validation.h"

#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::api::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

boost::json::value Json(absl::string_view text) {
  absl::StatusOr<boost::json::value> parsed = ParseJson(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status() << text;
  return parsed.ok() ? *parsed : boost::json::value();
}

// A good pod with `patch` merged in.
std::vector<std::string> Errors(absl::string_view patch) {
  boost::json::value spec = Json(R"({"containers":[{"name":"c","image":"i"}]})");
  ApplyMergePatch(spec, Json(patch));
  std::vector<std::string> out;
  for (const FieldError& error : CheckPodSpec(spec, "spec"))
    out.push_back(absl::StrCat(std::string(error.Reason()), " ", error.field));
  return out;
}
std::vector<std::string> ContainerErrors(absl::string_view patch) {
  boost::json::value container = Json(R"({"name":"c","image":"i"})");
  ApplyMergePatch(container, Json(patch));
  return Errors(absl::StrCat(R"({"volumes":[{"name":"data","emptyDir":{}}],"containers":[)", ToJson(container), "]}"));
}

struct PodCase {
  std::string name, patch, error;  // "" = accepted
};
void PrintTo(const PodCase& c, std::ostream* os) { *os << c.patch; }

class PodSpecTest : public ::testing::TestWithParam<PodCase> {};
TEST_P(PodSpecTest, Judges) {
  const std::vector<std::string> errors = Errors(GetParam().patch);
  if (GetParam().error.empty()) {
    EXPECT_THAT(errors, IsEmpty());
  } else {
    EXPECT_THAT(errors, ElementsAre(GetParam().error));
  }
}
INSTANTIATE_TEST_SUITE_P(
    All, PodSpecTest,
    ::testing::Values(
        PodCase{"Minimal", "{}", ""},
        PodCase{"NoContainers", R"({"containers":[]})", "FieldValueRequired spec.containers"},
        PodCase{"ContainersAbsent", R"({"containers":null})", "FieldValueRequired spec.containers"},
        PodCase{"ContainersNoList", R"({"containers":{}})", "FieldValueTypeInvalid spec.containers"},
        PodCase{"NullContainer", R"({"containers":[null]})", "FieldValueRequired spec.containers[0]"},
        PodCase{"SameNameTwice", R"({"containers":[{"name":"a","image":"i"},{"name":"a","image":"i"}]})",
                "FieldValueDuplicate spec.containers[1].name"},
        PodCase{"SameNameAsInit", R"({"initContainers":[{"name":"c","image":"i"}]})",
                "FieldValueDuplicate spec.initContainers[0].name"},
        PodCase{"InitWithProbe",
                R"({"initContainers":[{"name":"a","image":"i","readinessProbe":{"exec":{"command":["x"]}}}]})",
                "FieldValueForbidden spec.initContainers[0].readinessProbe"},
        PodCase{
            "SidecarWithProbe",
            R"({"initContainers":[{"name":"a","image":"i","restartPolicy":"Always","readinessProbe":{"exec":{"command":["x"]}}}]})",
            ""},
        PodCase{"RestartPolicy", R"({"restartPolicy":"Sometimes"})", "FieldValueNotSupported spec.restartPolicy"},
        PodCase{"RestartPolicyEmpty", R"({"restartPolicy":""})", ""},
        PodCase{"HostNetworkText", R"({"hostNetwork":"true"})", "FieldValueTypeInvalid spec.hostNetwork"},
        PodCase{"Hostname", R"({"hostname":"Bad.Name"})", "FieldValueInvalid spec.hostname"},
        PodCase{"Grace", R"({"terminationGracePeriodSeconds":-1})",
                "FieldValueInvalid spec.terminationGracePeriodSeconds"},
        PodCase{"Deadline", R"({"activeDeadlineSeconds":0})", "FieldValueInvalid spec.activeDeadlineSeconds"},
        PodCase{"NodeSelector", R"({"nodeSelector":{"a b":"x"}})", "FieldValueInvalid spec.nodeSelector.a b"},
        PodCase{"VolumeWithoutSource", R"({"volumes":[{"name":"a"}]})", ""},
        PodCase{"VolumeWithTwo", R"({"volumes":[{"name":"a","emptyDir":{},"hostPath":{"path":"/x"}}]})",
                "FieldValueForbidden spec.volumes[0]"},
        PodCase{"HostPathWithoutPath", R"({"volumes":[{"name":"a","hostPath":{}}]})",
                "FieldValueRequired spec.volumes[0].hostPath.path"},
        PodCase{"VolumeTwice", R"({"volumes":[{"name":"a","emptyDir":{}},{"name":"a","emptyDir":{}}]})",
                "FieldValueDuplicate spec.volumes[1].name"},
        PodCase{"TolerationOfAll", R"({"tolerations":[{"operator":"Exists"}]})", ""},
        PodCase{"TolerationWithoutKey", R"({"tolerations":[{"value":"x"}]})",
                "FieldValueInvalid spec.tolerations[0].operator"},
        PodCase{"TolerationExistsValue", R"({"tolerations":[{"key":"k","operator":"Exists","value":"x"}]})",
                "FieldValueInvalid spec.tolerations[0].value"},
        PodCase{"TolerationSeconds",
                R"({"tolerations":[{"key":"k","operator":"Exists","effect":"NoSchedule","tolerationSeconds":1}]})",
                "FieldValueInvalid spec.tolerations[0].effect"},
        PodCase{
            "AffinityIn",
            R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"In"}]}]}}}})",
            "FieldValueRequired "
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
            "matchExpressions[0].values"},
        PodCase{
            "AffinityGt",
            R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"Gt","values":["8"]}]}]}}}})",
            ""},
        PodCase{
            "PodLevelTooSmall",
            R"({"resources":{"requests":{"cpu":"2"}},"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"4"}}}]})",
            "FieldValueInvalid spec.resources.requests.cpu"},
        PodCase{"PodLevelAboveLimit", R"({"resources":{"requests":{"cpu":"6"},"limits":{"cpu":"4"}}})",
                "FieldValueInvalid spec.resources.requests.cpu"},
        PodCase{
            "HostPortTwice",
            R"({"containers":[{"name":"a","image":"i","ports":[{"containerPort":1,"hostPort":80}]},{"name":"b","image":"i","ports":[{"containerPort":2,"hostPort":80}]}]})",
            "FieldValueDuplicate spec.containers[1].ports[0].hostPort"},
        PodCase{
            "HostPortOfOtherProtocol",
            R"({"containers":[{"name":"a","image":"i","ports":[{"containerPort":1,"hostPort":80},{"containerPort":1,"hostPort":80,"protocol":"UDP"}]}]})",
            ""}),
    [](const auto& c) { return c.param.name; });

class ContainerTest : public ::testing::TestWithParam<PodCase> {};
TEST_P(ContainerTest, Judges) {
  const std::vector<std::string> errors = ContainerErrors(GetParam().patch);
  if (GetParam().error.empty()) {
    EXPECT_THAT(errors, IsEmpty());
  } else {
    const std::size_t space = GetParam().error.find(' ');
    EXPECT_THAT(errors, ElementsAre(absl::StrCat(GetParam().error.substr(0, space + 1), "spec.containers[0]",
                                                 GetParam().error.substr(space + 1))));
  }
}
INSTANTIATE_TEST_SUITE_P(
    All, ContainerTest,
    ::testing::Values(
        PodCase{"NameMissing", R"({"name":null})", "FieldValueRequired .name"},
        PodCase{"NameUpperCase", R"({"name":"Bad_Name"})", "FieldValueInvalid .name"},
        PodCase{"ImageMissing", R"({"image":""})", "FieldValueRequired .image"},
        PodCase{"PullPolicy", R"({"imagePullPolicy":"Maybe"})", "FieldValueNotSupported .imagePullPolicy"},
        PodCase{"CommandText", R"({"command":"python"})", "FieldValueTypeInvalid .command"},
        PodCase{"CommandNumber", R"({"args":["--port",80]})", "FieldValueTypeInvalid .args[1]"},
        PodCase{"PortZero", R"({"ports":[{"containerPort":0}]})", "FieldValueRequired .ports[0].containerPort"},
        PodCase{"PortTooBig", R"({"ports":[{"containerPort":65536}]})", "FieldValueInvalid .ports[0].containerPort"},
        PodCase{"PortName", R"({"ports":[{"containerPort":1,"name":"a-name-that-is-too-long"}]})",
                "FieldValueInvalid .ports[0].name"},
        PodCase{"PortProtocol", R"({"ports":[{"containerPort":1,"protocol":"tcp"}]})",
                "FieldValueNotSupported .ports[0].protocol"},
        PodCase{"EnvWithoutName", R"({"env":[{"value":"x"}]})", "FieldValueRequired .env[0].name"},
        PodCase{"EnvNameWithEquals", R"({"env":[{"name":"a=b"}]})", "FieldValueInvalid .env[0].name"},
        PodCase{"EnvNumber", R"({"env":[{"name":"A","value":8}]})", "FieldValueTypeInvalid .env[0].value"},
        PodCase{"EnvFieldRef", R"({"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}}]})", ""},
        PodCase{"EnvLabelRef",
                R"({"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['x']"}}}]})", ""},
        PodCase{"EnvBadFieldRef", R"({"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"spec.foo"}}}]})",
                "FieldValueNotSupported .env[0].valueFrom.fieldRef.fieldPath"},
        PodCase{"EnvBoth", R"({"env":[{"name":"A","value":"x","valueFrom":{"secretKeyRef":{"name":"n","key":"k"}}}]})",
                "FieldValueInvalid .env[0].valueFrom"},
        PodCase{"EnvNoSource", R"({"env":[{"name":"A","valueFrom":{}}]})", "FieldValueInvalid .env[0].valueFrom"},
        PodCase{"EnvFromNothing", R"({"envFrom":[{}]})", "FieldValueInvalid .envFrom[0]"},
        PodCase{"Mount", R"({"volumeMounts":[{"name":"data","mountPath":"/d"}]})", ""},
        PodCase{"MountOfNoVolume", R"({"volumeMounts":[{"name":"x","mountPath":"/d"}]})",
                "FieldValueNotFound .volumeMounts[0].name"},
        PodCase{"MountWithoutPath", R"({"volumeMounts":[{"name":"data"}]})",
                "FieldValueRequired .volumeMounts[0].mountPath"},
        PodCase{"MountTwice", R"({"volumeMounts":[{"name":"data","mountPath":"/d"},{"name":"data","mountPath":"/d"}]})",
                "FieldValueInvalid .volumeMounts[1].mountPath"},
        PodCase{"SubPathUp", R"({"volumeMounts":[{"name":"data","mountPath":"/d","subPath":"a/../b"}]})",
                "FieldValueInvalid .volumeMounts[0].subPath"},
        PodCase{"RequestAboveLimit", R"({"resources":{"requests":{"cpu":"1500m"},"limits":{"cpu":1}}})",
                "FieldValueInvalid .resources.requests.cpu"},
        PodCase{"RequestEqualInOtherUnits", R"({"resources":{"requests":{"cpu":"1000m"},"limits":{"cpu":1}}})", ""},
        PodCase{"NegativeMemory", R"({"resources":{"requests":{"memory":"-1"}}})",
                "FieldValueInvalid .resources.requests.memory"},
        PodCase{"NoQuantity", R"({"resources":{"requests":{"memory":"1GB"}}})",
                "FieldValueInvalid .resources.requests.memory"},
        PodCase{"UnknownResource", R"({"resources":{"requests":{"gpu":"1"}}})",
                "FieldValueInvalid .resources.requests.gpu"},
        PodCase{"Gpu", R"({"resources":{"requests":{"nvidia.com/gpu":1},"limits":{"nvidia.com/gpu":1}}})", ""},
        PodCase{"GpuLimitOnly", R"({"resources":{"limits":{"nvidia.com/gpu":1}}})", ""},
        PodCase{"GpuWithoutLimit", R"({"resources":{"requests":{"nvidia.com/gpu":1}}})",
                "FieldValueRequired .resources.requests.nvidia.com/gpu"},
        PodCase{"HalfGpu", R"({"resources":{"limits":{"nvidia.com/gpu":"500m"}}})",
                "FieldValueInvalid .resources.limits.nvidia.com/gpu"},
        PodCase{"ProbeWithoutHandler", R"({"readinessProbe":{}})", "FieldValueRequired .readinessProbe"},
        PodCase{"ProbePort", R"({"readinessProbe":{"httpGet":{"port":70000}}})",
                "FieldValueInvalid .readinessProbe.httpGet.port"},
        PodCase{"ProbePortName", R"({"readinessProbe":{"httpGet":{"port":"http"}}})", ""},
        PodCase{"ProbeNegative", R"({"livenessProbe":{"tcpSocket":{"port":1},"periodSeconds":-1}})",
                "FieldValueInvalid .livenessProbe.periodSeconds"}),
    [](const auto& c) { return c.param.name; });

TEST(PodTemplateTest, LabelsAreChecked) {
  const FieldErrors errors = CheckPodTemplate(
      Json(
          R"({"metadata":{"labels":{"app":"has blank"},"annotations":{"a/b/c":"x"}},"spec":{"containers":[{"name":"c","image":"i"}]}})"),
      "spec.tasks[1].template");
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].field, "spec.tasks[1].template.metadata.labels.app");
  EXPECT_EQ(errors[1].field, "spec.tasks[1].template.metadata.annotations.a/b/c");
}

TEST(PodTemplateTest, SaysWhatTheLimitIs) {
  const FieldErrors errors = CheckPodSpec(
      Json(R"({"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}}}]})"),
      "spec");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_THAT(errors[0].ToString(),
              HasSubstr("spec.containers[0].resources.requests.cpu: Invalid value: \"2\": must be less than or "
                        "equal to cpu limit of 1 (raise the limit or lower the request)"));
}

TEST(PodTemplateTest, AbsentTemplateLacksContainers) {
  const FieldErrors errors = CheckPodTemplate(boost::json::value(), "t");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].field, "t.spec.containers");
}

TEST(PodTemplateTest, ErrorsAreBounded) {
  std::string containers;
  for (int i = 0; i < 10'000; ++i) absl::StrAppend(&containers, i == 0 ? "" : ",", "{}");
  EXPECT_LE(CheckPodSpec(Json(absl::StrCat(R"({"containers":[)", containers, "]}")), "spec").size(), 100u);
}

}  // namespace
}  // namespace gangway::api::core
