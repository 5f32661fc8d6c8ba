// What pods have mounted of their service account, and from where they know the API server.
#include "sandbox/apiserver/token_volume.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/apiserver/server_fixture.h"

namespace gangway::testutil {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr absl::string_view kAuthority = "-----BEGIN CERTIFICATE-----\n";
constexpr absl::string_view kPlace = "/var/run/secrets/kubernetes.io/serviceaccount";

sandbox::ApiServerOptions WithRootCa() {
  sandbox::ApiServerOptions options;
  options.root_ca = std::string(kAuthority);
  return options;
}

class TokenVolumeTest : public ServerTest {
 protected:
  TokenVolumeTest() : ServerTest(WithRootCa()) { Settle(); }

  Json Pod(const std::string& spec) {
    const std::string name = absl::StrCat("p-", ++made_);
    const Answer made = Post(kPods, absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
                                                 R"("},"spec":{)", spec, "}}"));
    EXPECT_EQ(made.code, 201) << made.body;
    return made.json();
  }
  // Of the pod's only container: what is mounted, in order.
  static std::vector<std::string> Mounts(const Json& pod, const std::string& list = "containers") {
    std::vector<std::string> out;
    const std::string mounts = absl::StrCat("spec.", list, ".0.volumeMounts");
    for (std::size_t i = 0; i < pod.Size(mounts); ++i)
      out.push_back(pod.Text(absl::StrCat(mounts, ".", i, ".mountPath")).substr(0, 100));
    return out;
  }
  static inline const std::string kMain = R"("containers":[{"name":"main","image":"x"}])";

  int made_ = 0;
};

TEST_F(TokenVolumeTest, EachContainerSeesTheTokenOfItsAccount) {
  const Json pod = Pod(absl::StrCat(R"("initContainers":[{"name":"first","image":"x"}],)", kMain));
  EXPECT_THAT(Mounts(pod), ElementsAre(kPlace));
  EXPECT_THAT(Mounts(pod, "initContainers"), ElementsAre(kPlace));
  EXPECT_EQ(pod.Text("spec.containers.0.volumeMounts.0.readOnly"), "true");
  ASSERT_EQ(pod.Size("spec.volumes"), 1u);
  const std::string volume = pod.Text("spec.volumes.0.name");
  EXPECT_TRUE(absl::StartsWith(volume, sandbox::kTokenVolumePrefix)) << volume;
  EXPECT_EQ(volume.size(), sandbox::kTokenVolumePrefix.size() + 5);
  EXPECT_EQ(pod.Text("spec.containers.0.volumeMounts.0.name"), volume);
  const std::string sources = "spec.volumes.0.projected.sources.";
  EXPECT_EQ(pod.Text(sources + "0.serviceAccountToken.path"), "token");
  EXPECT_EQ(pod.Text(sources + "0.serviceAccountToken.expirationSeconds"), "3607");
  EXPECT_EQ(pod.Text(sources + "1.configMap.name"), "kube-root-ca.crt");
  EXPECT_EQ(pod.Text(sources + "2.downwardAPI.items.0.fieldRef.fieldPath"), "metadata.namespace");
  EXPECT_EQ(pod.Text("spec.volumes.0.projected.defaultMode"), "420");
}

TEST_F(TokenVolumeTest, WhoWantsNoneHasNone) {
  EXPECT_THAT(Mounts(Pod(absl::StrCat(R"("automountServiceAccountToken":false,)", kMain))), IsEmpty());
  Post("/api/v1/namespaces/default/serviceaccounts",
       R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"shy"},"automountServiceAccountToken":false})");
  const std::string shy = R"("serviceAccountName":"shy",)";
  const Json of_account = Pod(absl::StrCat(shy, kMain));
  EXPECT_THAT(Mounts(of_account), IsEmpty());
  EXPECT_EQ(of_account.Size("spec.volumes"), 0u);
  EXPECT_THAT(Mounts(Pod(absl::StrCat(R"("automountServiceAccountToken":true,)", shy, kMain))), ElementsAre(kPlace))
      << "the pod's word is the last";
}

TEST_F(TokenVolumeTest, WhatIsThereStays) {
  const Json own = Pod(absl::StrCat(
      R"("volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"main","image":"x","volumeMounts":[)",
      R"({"name":"v","mountPath":")", kPlace, R"("}]}])"));
  EXPECT_THAT(Mounts(own), ElementsAre(kPlace));
  EXPECT_EQ(own.Text("spec.containers.0.volumeMounts.0.name"), "v");
  EXPECT_EQ(own.Size("spec.volumes"), 1u);
  // As `kubectl get -o yaml` gave it, and applied again.
  const Json again = Pod(absl::StrCat(R"("volumes":[{"name":"kube-api-access-abcde","emptyDir":{}}],)", kMain));
  EXPECT_EQ(again.Size("spec.volumes"), 1u);
  EXPECT_EQ(again.Text("spec.containers.0.volumeMounts.0.name"), "kube-api-access-abcde");
}

TEST_F(TokenVolumeTest, EachNamespaceHasTheAuthorityAndKeepsIt) {
  const auto authority = [&](const std::string& ns) -> std::string {
    const Answer answer = Get(absl::StrCat("/api/v1/namespaces/", ns, "/configmaps/kube-root-ca.crt"));
    if (answer.code != 200) return "none";
    return boost::json::value_to<std::string>(answer.json().Find("data")->as_object().at("ca.crt"));
  };
  EXPECT_EQ(authority("kube-system"), kAuthority);
  Post("/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ml"}})");
  EXPECT_EQ(authority("ml"), kAuthority);
  Delete("/api/v1/namespaces/ml/configmaps/kube-root-ca.crt");
  Settle();
  EXPECT_EQ(authority("ml"), kAuthority);
  Delete("/api/v1/namespaces/ml");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(Get("/api/v1/namespaces/ml").code, 404) << "nothing is made anew in what goes";
}

class NoTokenVolumeTest : public ServerTest {};

TEST_F(NoTokenVolumeTest, WithoutAnAuthorityThereIsNeither) {
  EXPECT_EQ(Post(kPods, PodJson("a")).json().Size("spec.volumes"), 0u);
  EXPECT_EQ(Get(absl::StrCat(kConfigMaps, "/kube-root-ca.crt")).code, 404);
}

}  // namespace
}  // namespace gangway::testutil
