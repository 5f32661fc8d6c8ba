// Kubernetes' own PodGroups (scheduling.k8s.io/v1alpha2): not there unless asked for, and then before Volcano's, as on
// a cluster.
#include "gmock/gmock.h"
#include "tests/sandbox/apiserver/server_fixture.h"

namespace gangway::testutil {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kVersion[] = "scheduling.k8s.io/v1alpha2";
constexpr char kGroups[] = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups";
constexpr char kAggregated[] = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

sandbox::ApiServerOptions WithAlpha() {
  sandbox::ApiServerOptions options;
  options.alpha_versions = {kVersion};
  return options;
}

class WithoutAlphaTest : public ServerTest {};
class AlphaTest : public ServerTest {
 protected:
  AlphaTest() : ServerTest(WithAlpha()) {}
  Answer Create(const std::string& spec) {
    return Do(
        "POST", kGroups,
        R"({"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"PodGroup","metadata":{"name":"g"},"spec":)" + spec + "}");
  }
};

constexpr char kGang[] = R"({"schedulingPolicy":{"gang":{"minCount":2}}})";

TEST_F(WithoutAlphaTest, NobodyFindsThem) {
  EXPECT_EQ(Do("GET", kGroups).code, 404);
  EXPECT_EQ(Do("GET", "/apis/scheduling.k8s.io/v1alpha2").code, 404);
  EXPECT_EQ(Do("GET", "/apis/scheduling.k8s.io/v1").code, 200);
  EXPECT_THAT(Do("GET", "/apis").body, Not(HasSubstr(kVersion)));
  EXPECT_THAT(Do("GET", "/openapi/v3").body, Not(HasSubstr(kVersion)));
  EXPECT_EQ(Do("GET", "/openapi/v3/apis/scheduling.k8s.io/v1alpha2").code, 404);
  EXPECT_EQ(Do("GET", kPodGroups).code, 200);
}

TEST_F(AlphaTest, TheGroupHasBothVersionsAndPrefersTheOther) {
  const Answer group = Do("GET", "/apis/scheduling.k8s.io");
  EXPECT_EQ(group.Text("preferredVersion.version"), "v1");
  EXPECT_EQ(group.json().Size("versions"), 2u);
  EXPECT_EQ(group.Text("versions.1.groupVersion"), kVersion);
  EXPECT_THAT(Do("GET", "/apis/scheduling.k8s.io/v1alpha2").body, HasSubstr(R"("name":"podgroups/status")"));
  EXPECT_THAT(Do("GET", "/apis/scheduling.k8s.io/v1").body, Not(HasSubstr("podgroups")));
  EXPECT_THAT(Do("GET", "/openapi/v3/apis/scheduling.k8s.io/v1alpha2").body,
              HasSubstr("io.k8s.api.scheduling.v1alpha2.PodGroupSpec"));
  // kubectl takes the first of a name.
  const std::string all = Do("GET", "/apis", "", {.query = {}, .content_type = {}, .accept = kAggregated}).body;
  EXPECT_LT(all.find(R"("resource":"podgroups","responseKind":{"group":"scheduling.k8s.io")"),
            all.find(R"("resource":"podgroups","responseKind":{"group":"scheduling.volcano.sh")"));
}

TEST_F(AlphaTest, AGangIsKeptAndItsSpecStays) {
  const Answer made = Create(kGang);
  ASSERT_EQ(made.code, 201) << made.body;
  EXPECT_EQ(made.Text("spec.schedulingPolicy.gang.minCount"), "2");
  const Answer changed =
      Do("PATCH", std::string(kGroups) + "/g", R"({"spec":{"schedulingPolicy":{"gang":{"minCount":3}}}})",
         {.query = {}, .content_type = "application/merge-patch+json", .accept = {}});
  EXPECT_EQ(changed.code, 422);
  EXPECT_THAT(changed.body, HasSubstr("spec.schedulingPolicy: Invalid value"));
  const Answer status = Do(
      "PATCH", std::string(kGroups) + "/g/status",
      R"({"metadata":{"labels":{"a":"b"}},"status":{"conditions":[{"type":"PodGroupScheduled","status":"True","reason":"Scheduled","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})",
      {.query = {}, .content_type = "application/merge-patch+json", .accept = {}});
  EXPECT_EQ(status.code, 200) << status.body;
  EXPECT_FALSE(status.json().Has("metadata.labels")) << "the status is all that this writes";
  const Answer table = Do("GET", kGroups, "",
                          {.query = {}, .content_type = {}, .accept = "application/json;as=Table;v=v1;g=meta.k8s.io"});
  EXPECT_THAT(table.body, HasSubstr(R"("cells":["g","Gang","<none>","Scheduled",)"));
  EXPECT_EQ(Do("GET", std::string(kPodGroups) + "/g").code, 404) << "Volcano's are others";
}

TEST_F(AlphaTest, OnePolicyAndAGangOfAtLeastOne) {
  EXPECT_THAT(Create(R"({"schedulingPolicy":{}})").body, HasSubstr("exactly one of: `basic`, `gang`"));
  EXPECT_THAT(Create(R"({"schedulingPolicy":{"basic":{},"gang":{"minCount":2}}})").body, HasSubstr("exactly one of"));
  EXPECT_THAT(Create(R"({"schedulingPolicy":{"gang":{"minCount":0}}})").body,
              HasSubstr("spec.schedulingPolicy.gang.minCount: Invalid value: 0"));
  EXPECT_EQ(Create(R"({"schedulingPolicy":{"basic":{}}})").code, 201);
}

TEST_F(AlphaTest, AWorkloadHasTemplates) {
  const Answer made = Do(
      "POST", "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/workloads",
      R"({"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"Workload","metadata":{"name":"w"},"spec":{"podGroupTemplates":[{"name":"a","schedulingPolicy":{"gang":{"minCount":2}}}]}})");
  EXPECT_EQ(made.code, 201) << made.body;
  EXPECT_EQ(made.Text("spec.podGroupTemplates.0.name"), "a");
}

}  // namespace
}  // namespace gangway::testutil
