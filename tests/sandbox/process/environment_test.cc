#include "sandbox/process/environment.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using testutil::IsOkAndHolds;
using testutil::StatusIs;

class EnvironmentTest : public ::testing::Test {
 protected:
  PodKnowledge Facts() { return {pod_, "10.1.0.7", "10.0.0.3", &allocatable_, sources_}; }
  HostedContainer Container(const std::string& json) { return *api::Decode<HostedContainer>(json); }
  std::string Field(const std::string& path) {
    const auto value = FieldOf(Facts(), path);
    return value.ok() ? *value : std::string(value.status().message());
  }
  std::string Resource(const std::string& container, const std::string& selector) {
    const auto value = ResourceOf(Facts(), Container(container), *api::Decode<ResourceSelector>(selector));
    return value.ok() ? *value : std::string(value.status().message());
  }

  const HostedPod pod_ = *api::Decode<HostedPod>(R"({
    "metadata": {"name": "ctr-ps-0", "namespace": "ml", "uid": "u1", "labels": {"app": "ctr", "b": "say \"x\""},
                 "annotations": {"note": "n"}},
    "spec": {"nodeName": "node-001", "containers": [
      {"name": "main", "resources": {"limits": {"cpu": "1500m", "memory": "1Gi"}, "requests": {"cpu": "250m"}}}]}})");
  const api::ResourceList allocatable_ = {{"cpu", api::Quantity::FromUnits(16)}};
  const SourceObject conf_ = *api::Decode<SourceObject>(
      R"x({"metadata":{"name":"conf"},"data":{"A":"1","B":"$(X)","not a=name":"x"},"binaryData":{"BIN":"MQ=="}})x");
  const SourceObject keys_ = *api::Decode<SourceObject>(R"({"metadata":{"name":"keys"},"data":{"TOKEN":"c2VjcmV0"}})");
  const SourceLookup sources_{[this](const std::string& name) { return name == "conf" ? &conf_ : nullptr; },
                              [this](const std::string& name) { return name == "keys" ? &keys_ : nullptr; },
                              [](const std::string&) { return nullptr; }};
};

TEST_F(EnvironmentTest, ReferencesAreExpandedAsKubernetesDoes) {
  const std::map<std::string, std::string, std::less<>> known = {{"A", "1"}, {"EMPTY", ""}};
  const auto expand = [&](absl::string_view text) {
    return ExpandReferences(text, [&](absl::string_view name) -> const std::string* {
      const auto it = known.find(std::string(name));
      return it == known.end() ? nullptr : &it->second;
    });
  };
  // kubernetes: third_party/forked/golang/expansion/expand_test.go
  EXPECT_EQ(expand("$(A)-$(A)"), "1-1");
  EXPECT_EQ(expand("$(EMPTY)x"), "x");
  EXPECT_EQ(expand("$(UNKNOWN)"), "$(UNKNOWN)");
  EXPECT_EQ(expand("$$(A)"), "$(A)");
  EXPECT_EQ(expand("$$$(A)"), "$1");
  EXPECT_EQ(expand("$$$$(A)"), "$$(A)");
  EXPECT_EQ(expand("f$(A"), "f$(A");
  EXPECT_EQ(expand("$A $ $"), "$A $ $");
  EXPECT_EQ(expand("$(A)$"), "1$");
}

TEST_F(EnvironmentTest, TheDownwardApi) {
  EXPECT_EQ(Field("metadata.name"), "ctr-ps-0");
  EXPECT_EQ(Field("metadata.namespace"), "ml");
  EXPECT_EQ(Field("metadata.uid"), "u1");
  EXPECT_EQ(Field("metadata.labels['app']"), "ctr");
  EXPECT_EQ(Field("metadata.labels['none']"), "");
  EXPECT_EQ(Field("metadata.annotations['note']"), "n");
  EXPECT_EQ(Field("metadata.labels"), "app=\"ctr\"\nb=\"say \\\"x\\\"\"");
  EXPECT_EQ(Field("spec.nodeName"), "node-001");
  EXPECT_EQ(Field("spec.serviceAccountName"), "default");
  EXPECT_EQ(Field("status.podIP"), "10.1.0.7");
  EXPECT_EQ(Field("status.hostIP"), "10.0.0.3");
  EXPECT_THAT(Field("spec.restartPolicy"), HasSubstr("unsupported fieldPath: spec.restartPolicy"));
}

TEST_F(EnvironmentTest, ResourcesAreInUnitsOfTheDivisorRoundedUp) {
  const std::string main =
      R"({"name":"main","resources":{"limits":{"cpu":"1500m","memory":"1Gi"},"requests":{"cpu":"250m"}}})";
  EXPECT_EQ(Resource(main, R"({"resource":"limits.cpu"})"), "2");
  EXPECT_EQ(Resource(main, R"({"resource":"limits.cpu","divisor":"1m"})"), "1500");
  EXPECT_EQ(Resource(main, R"({"resource":"requests.cpu","divisor":"1m"})"), "250");
  EXPECT_EQ(Resource(main, R"({"resource":"limits.memory","divisor":"1Mi"})"), "1024");
  EXPECT_EQ(Resource(main, R"({"resource":"requests.memory"})"), "0");
  EXPECT_EQ(Resource(R"({"name":"other"})", R"({"resource":"limits.cpu"})"), "16") << "what the node has";
  EXPECT_EQ(Resource(R"({"name":"other"})", R"({"resource":"limits.cpu","containerName":"main"})"), "2");
  EXPECT_THAT(Resource(main, R"({"resource":"limits.cpu","containerName":"nobody"})"), HasSubstr("nobody not found"));
}

TEST_F(EnvironmentTest, LaterNamesWinAndMayNameEarlierOnes) {
  const HostedContainer container = Container(R"x({"name":"main",
    "envFrom":[{"configMapRef":{"name":"conf"}},{"prefix":"S_","secretRef":{"name":"keys"}},{"configMapRef":{"name":"gone","optional":true}}],
    "env":[{"name":"X","value":"x"},{"name":"A","value":"$(A)+$(X)"},{"name":"LATER","value":"$(AFTER)"},{"name":"AFTER","value":"y"},
           {"name":"IP","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}},{"name":"URL","value":"$(IP):80"},
           {"name":"TOKEN","valueFrom":{"secretKeyRef":{"name":"keys","key":"TOKEN"}}},
           {"name":"OPTIONAL","valueFrom":{"configMapKeyRef":{"name":"conf","key":"none","optional":true}}},
           {"name":"PATH","value":"/mine"}],
    "command":["run","$(X)"],"args":["--url=$(URL)","$(NOT)","$(HOME)"]})x");
  const auto declared = EnvironmentOf(Facts(), container);
  GW_ASSERT_OK(declared);
  EXPECT_THAT(Over({{"PATH", "/image"}, {"HOME", "/root"}}, *declared),
              ElementsAre(Pair("PATH", "/mine"), Pair("HOME", "/root"), Pair("A", "1+x"), Pair("B", "$(X)"),
                          Pair("S_TOKEN", "secret"), Pair("X", "x"), Pair("LATER", "$(AFTER)"), Pair("AFTER", "y"),
                          Pair("IP", "10.1.0.7"), Pair("URL", "10.1.0.7:80"), Pair("TOKEN", "secret")));
  EXPECT_THAT(CommandLineOf(container, *declared),
              IsOkAndHolds(ElementsAre("run", "x", "--url=10.1.0.7:80", "$(NOT)", "$(HOME)")));
}

// pkg/kubelet: makeEnvironmentVariables; pkg/kubelet/envvars.
TEST_F(EnvironmentTest, TheApiServerIsToldOfBeneathWhatThePodDeclares) {
  const Environment services = ApiServerEnvironment("10.96.0.1", 443);
  EXPECT_THAT(
      services,
      ElementsAre(Pair("KUBERNETES_SERVICE_HOST", "10.96.0.1"), Pair("KUBERNETES_SERVICE_PORT", "443"),
                  Pair("KUBERNETES_SERVICE_PORT_HTTPS", "443"), Pair("KUBERNETES_PORT", "tcp://10.96.0.1:443"),
                  Pair("KUBERNETES_PORT_443_TCP", "tcp://10.96.0.1:443"), Pair("KUBERNETES_PORT_443_TCP_PROTO", "tcp"),
                  Pair("KUBERNETES_PORT_443_TCP_PORT", "443"), Pair("KUBERNETES_PORT_443_TCP_ADDR", "10.96.0.1")));
  const Environment two = {{"KUBERNETES_SERVICE_HOST", "10.96.0.1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  PodKnowledge facts = Facts();
  facts.services = &two;
  const HostedContainer container = Container(
      R"x({"name":"main","env":[{"name":"AT","value":"$(KUBERNETES_SERVICE_HOST):$(KUBERNETES_SERVICE_PORT)"},)x"
      R"x({"name":"KUBERNETES_SERVICE_PORT","value":"8443"}]})x");
  EXPECT_THAT(EnvironmentOf(facts, container),
              IsOkAndHolds(ElementsAre(Pair("AT", "10.96.0.1:443"), Pair("KUBERNETES_SERVICE_PORT", "8443"),
                                       Pair("KUBERNETES_SERVICE_HOST", "10.96.0.1"))));
}

TEST_F(EnvironmentTest, ReferencesToReferencesStaySmall) {
  const auto times = [](const std::string& name, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) absl::StrAppend(&out, "$(", name, ")");
    return out;
  };
  const std::string kibibyte(1024, 'x');
  const auto container = [&](int levels) {
    std::string env = absl::StrCat(R"({"name":"A0","value":")", kibibyte, R"("})");
    for (int i = 1; i <= levels; ++i)
      absl::StrAppend(&env, R"(,{"name":"A)", i, R"(","value":")", times(absl::StrCat("A", i - 1), 32), R"("})");
    return Container(absl::StrCat(R"({"name":"c","command":["sh",")", times("A2", 3), R"("],"env":[)", env, "]}"));
  };
  const auto fits = EnvironmentOf(Facts(), container(2));
  GW_ASSERT_OK(fits);
  EXPECT_EQ(fits->back().second.size(), std::size_t{1} << 20);
  EXPECT_THAT(CommandLineOf(container(2), *fits),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("command and args: argument list too long")));
  EXPECT_THAT(EnvironmentOf(Facts(), container(8)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("env A3: argument list too long")));
}

TEST_F(EnvironmentTest, WhatIsWrongNamesItsVariable) {
  EXPECT_THAT(
      EnvironmentOf(Facts(),
                    Container(R"({"name":"c","env":[{"name":"V","valueFrom":{"fieldRef":{"fieldPath":"spec.x"}}}]})")),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("env V: unsupported fieldPath: spec.x")));
}

}  // namespace
}  // namespace gangway::sandbox
