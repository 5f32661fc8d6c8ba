// Kinds that definitions declare while the server runs. What the real API server answers to the same is in
// tests/conformance/cases/definitions.yaml; here is what no case can ask for.
#include "sandbox/apiserver/declared_kinds.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/sandbox/apiserver/server_fixture.h"

namespace gangway {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testutil::Answer;

constexpr absl::string_view kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr absl::string_view kTabs = "/apis/example.com/v1/namespaces/default/crontabs";

std::string Version(absl::string_view name, absl::string_view schema, bool storage, absl::string_view more = {}) {
  return absl::StrCat(R"({"name":")", name, R"(","served":true,"storage":)", storage ? "true" : "false",
                      R"(,"schema":{"openAPIV3Schema":)", schema, "}", more, "}");
}

constexpr absl::string_view kSchema =
    R"({"type":"object","properties":{"spec":{"type":"object","required":["cron"],"properties":{
      "cron":{"type":"string","pattern":"^\\S+$"},"replicas":{"type":"integer","default":1,"minimum":0},
      "color":{"type":"string"}}},"status":{"type":"object","properties":{"replicas":{"type":"integer"}}}}})";

std::string Definition(absl::string_view versions, absl::string_view plural = "crontabs",
                       absl::string_view kind = "CronTab", absl::string_view more_names = {}) {
  return absl::StrCat(
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":")", plural,
      R"(.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":")", plural,
      R"(","kind":")", kind, "\"", more_names, R"(},"versions":[)", versions, "]}}");
}

std::string Tab(absl::string_view name, absl::string_view spec, absl::string_view version = "v1") {
  return absl::StrCat(R"({"apiVersion":"example.com/)", version, R"(","kind":"CronTab","metadata":{"name":")", name,
                      R"("},"spec":)", spec, "}");
}

class DeclaredKindsTest : public testutil::ServerTest {
 protected:
  void Declare(absl::string_view versions = Version("v1", kSchema, true)) {
    const Answer made = Post(kDefinitions, Definition(versions));
    ASSERT_EQ(made.code, 201) << made.body;
    Settle();
  }
};

TEST_F(DeclaredKindsTest, ObjectsAreServedFromTheDefinitionOn) {
  EXPECT_EQ(Get(kTabs).code, 404);
  Declare();
  const Answer made = Post(kTabs, Tab("a", R"({"cron":"x","colour":"red"})"));
  ASSERT_EQ(made.code, 201) << made.body;
  EXPECT_EQ(made.Text("spec.replicas"), "1");
  EXPECT_FALSE(made.json().Has("spec.colour"));
  EXPECT_THAT(made.warnings, ElementsAre("unknown field \"spec.colour\""));
  EXPECT_EQ(Get(absl::StrCat(kTabs, "/a")).Text("metadata.generation"), "1");
  EXPECT_THAT(Get("/apis/example.com/v1").body, HasSubstr(R"("name":"crontabs")"));
  EXPECT_THAT(Get("/openapi/v3/apis/example.com/v1").body, HasSubstr("com.example.v1.CronTab"));
}

TEST_F(DeclaredKindsTest, AChangedSchemaJudgesWhatIsWrittenFromThenOn) {
  Declare();
  ASSERT_EQ(Post(kTabs, Tab("a", R"({"cron":"x"})")).code, 201);
  const Answer changed = Patch(absl::StrCat(kDefinitions, "/crontabs.example.com"),
                               absl::StrCat(R"({"spec":{"versions":[)",
                                            Version("v1",
                                                    R"({"type":"object","properties":{"spec":{"type":"object",
                                                       "properties":{"cron":{"type":"string","maxLength":1}}}}})",
                                                    true),
                                            "]}}"));
  ASSERT_EQ(changed.code, 200) << changed.body;
  EXPECT_EQ(Post(kTabs, Tab("b", R"({"cron":"xx"})")).code, 422);
  EXPECT_EQ(Post(kTabs, Tab("b", R"({})")).code, 201);
}

TEST_F(DeclaredKindsTest, EachVersionShowsTheSameObjects) {
  Declare(absl::StrCat(Version("v1beta1", kSchema, false, R"(,"deprecated":true)"), ",", Version("v1", kSchema, true)));
  const std::string beta = "/apis/example.com/v1beta1/namespaces/default/crontabs";
  const Answer made = Post(beta, Tab("a", R"({"cron":"x"})", "v1beta1"));
  ASSERT_EQ(made.code, 201) << made.body;
  EXPECT_EQ(made.Text("apiVersion"), "example.com/v1beta1");
  EXPECT_THAT(made.warnings, ElementsAre("example.com/v1beta1 CronTab is deprecated; use example.com/v1 CronTab"));
  EXPECT_EQ(Get(absl::StrCat(kTabs, "/a")).Text("apiVersion"), "example.com/v1");
  EXPECT_EQ(Get(beta).Text("items.0.apiVersion"), "example.com/v1beta1");
  const Answer changed =
      Put(absl::StrCat(beta, "/a"),
          absl::StrCat(R"({"apiVersion":"example.com/v1beta1","kind":"CronTab","metadata":{"name":"a",)",
                       R"("resourceVersion":")", made.Text("metadata.resourceVersion"), R"("},"spec":{"cron":"y"}})"));
  ASSERT_EQ(changed.code, 200) << changed.body;
  EXPECT_EQ(changed.Text("apiVersion"), "example.com/v1beta1");
  EXPECT_EQ(Get(absl::StrCat(kTabs, "/a")).Text("spec.cron"), "y");
  // The same object, so nothing changes.
  const std::uint64_t before = revision();
  EXPECT_EQ(Patch(absl::StrCat(beta, "/a"), R"({"spec":{"cron":"y"}})").code, 200);
  EXPECT_EQ(revision(), before);
}

TEST_F(DeclaredKindsTest, WatchersSeeTheirVersionAndTheEndOfTheKind) {
  Declare(absl::StrCat(Version("v1beta1", kSchema, false), ",", Version("v1", kSchema, true)));
  kube::Request request;
  request.method = "GET";
  request.path = "/apis/example.com/v1beta1/crontabs";
  request.query = "watch=true";
  std::vector<std::string> seen;
  bool ended = false;
  const auto answer = server_.StartWatch(
      request, {"test"},
      [&](std::vector<kube::Frame> frames) {
        for (const kube::Frame& frame : frames) seen.push_back(testutil::Json(*frame.object).Text("apiVersion"));
      },
      [&](const absl::Status&) { ended = true; });
  ASSERT_EQ(Post(kTabs, Tab("a", R"({"cron":"x"})")).code, 201);
  Settle();
  EXPECT_THAT(seen, ElementsAre("example.com/v1beta1"));
  ASSERT_EQ(Delete(absl::StrCat(kDefinitions, "/crontabs.example.com")).code, 200);
  Settle();
  EXPECT_THAT(seen, ElementsAre("example.com/v1beta1", "example.com/v1beta1"));  // added, deleted
  EXPECT_TRUE(ended);
  EXPECT_EQ(Get(kTabs).code, 404);
}

TEST_F(DeclaredKindsTest, ADefinitionGoesWhenItsObjectsHaveGone) {
  Declare();
  ASSERT_EQ(Post(kTabs, Tab("a", R"({"cron":"x"})")).code, 201);
  ASSERT_EQ(Patch(absl::StrCat(kTabs, "/a"), R"({"metadata":{"finalizers":["example.com/wait"]}})").code, 200);
  ASSERT_EQ(Delete(absl::StrCat(kDefinitions, "/crontabs.example.com")).code, 200);
  Settle();
  EXPECT_EQ(Get(absl::StrCat(kTabs, "/a")).Text("metadata.deletionGracePeriodSeconds"), "0");
  const Answer refused = Post(kTabs, Tab("b", R"({"cron":"x"})"));
  EXPECT_EQ(refused.code, 405);
  EXPECT_EQ(refused.Text("message"), "create not allowed while custom resource definition is terminating");
  ASSERT_EQ(Patch(absl::StrCat(kTabs, "/a"), R"({"metadata":{"finalizers":null}})").code, 200);
  Settle();
  EXPECT_EQ(Get(absl::StrCat(kDefinitions, "/crontabs.example.com")).code, 404);
  // Declared again it begins anew.
  Declare();
  EXPECT_EQ(Get(kTabs).json().Size("items"), 0u);
}

TEST_F(DeclaredKindsTest, NamesInUseKeepAKindOutUntilTheyAreFree) {
  Declare();
  ASSERT_EQ(Post(kDefinitions, Definition(Version("v1", kSchema, true), "others", "CronTab")).code, 201);
  Settle();
  const std::string path = absl::StrCat(kDefinitions, "/others.example.com");
  EXPECT_EQ(Get(path).Text("status.conditions.0.reason"), "ListKindConflict");
  EXPECT_EQ(Get(path).Text("status.conditions.1.reason"), "NotAccepted");
  EXPECT_EQ(Get("/apis/example.com/v1/others").code, 404);
  ASSERT_EQ(Delete(absl::StrCat(kDefinitions, "/crontabs.example.com")).code, 200);
  Settle();
  EXPECT_EQ(Get(path).Text("status.conditions.1.status"), "True");
  EXPECT_EQ(Get("/apis/example.com/v1/others").code, 200);
}

TEST_F(DeclaredKindsTest, NamespacesTakeDeclaredObjectsWithThem) {
  Declare();
  ASSERT_EQ(Post("/api/v1/namespaces", R"({"metadata":{"name":"n"}})").code, 201);
  ASSERT_EQ(Post("/apis/example.com/v1/namespaces/n/crontabs", Tab("a", R"({"cron":"x"})")).code, 201);
  ASSERT_EQ(Delete("/api/v1/namespaces/n").code, 200);
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(Get("/api/v1/namespaces/n").code, 404);
  EXPECT_EQ(Get("/apis/example.com/v1/crontabs").json().Size("items"), 0u);
}

TEST_F(DeclaredKindsTest, OwnersMayBeDeclaredObjects) {
  Declare();
  const Answer owner = Post(kTabs, Tab("a", R"({"cron":"x"})"));
  ASSERT_EQ(
      Post(testutil::kConfigMaps,
           ConfigMapJson("c", absl::StrCat(R"(,"ownerReferences":[{"apiVersion":"example.com/v1","kind":"CronTab",)",
                                           R"("name":"a","uid":")", owner.Text("metadata.uid"), R"("}])")))
          .code,
      201);
  Settle();
  EXPECT_EQ(Get(absl::StrCat(testutil::kConfigMaps, "/c")).code, 200);
  ASSERT_EQ(Delete(absl::StrCat(kTabs, "/a")).code, 200);
  Settle();
  EXPECT_EQ(Get(absl::StrCat(testutil::kConfigMaps, "/c")).code, 404);
}

TEST_F(DeclaredKindsTest, SelectableFieldsAreThoseOfTheDefinitionOfNow) {
  Declare();
  ASSERT_EQ(Post(kTabs, Tab("a", R"({"cron":"x","color":"red"})")).code, 201);
  ASSERT_EQ(Post(kTabs, Tab("b", R"({"cron":"x","color":"blue"})")).code, 201);
  EXPECT_EQ(Get(kTabs, "fieldSelector=spec.color=red").code, 400);
  ASSERT_EQ(
      Patch(absl::StrCat(kDefinitions, "/crontabs.example.com"),
            absl::StrCat(R"({"spec":{"versions":[)",
                         Version("v1", kSchema, true, R"(,"selectableFields":[{"jsonPath":".spec.color"}])"), "]}}"))
          .code,
      200);
  const Answer red = Get(kTabs, "fieldSelector=spec.color=red");
  ASSERT_EQ(red.code, 200) << red.body;
  EXPECT_EQ(red.json().Size("items"), 1u);
  EXPECT_EQ(red.Text("items.0.metadata.name"), "a");
}

TEST_F(DeclaredKindsTest, WhatIsNotJudgedIsSaid) {
  constexpr absl::string_view kRuled =
      R"json({"type":"object","x-kubernetes-validations":[{"rule":"has(self.spec)"}]})json";
  const Answer made = Post(kDefinitions, Definition(Version("v1", kRuled, true)));
  EXPECT_EQ(made.code, 201) << made.body;
  EXPECT_THAT(made.warnings, ElementsAre(HasSubstr("x-kubernetes-validations are stored")));
}

TEST_F(DeclaredKindsTest, ThereIsRoomForSoMany) {
  for (std::size_t i = 0; i < sandbox::kMaxDefinitions; ++i) {
    ASSERT_EQ(Post(kDefinitions, Definition(Version("v1", R"({"type":"object"})", true), absl::StrCat("k", i),
                                            absl::StrCat("Kind", i)))
                  .code,
              201);
  }
  const Answer refused = Post(kDefinitions, Definition(Version("v1", R"({"type":"object"})", true)));
  EXPECT_EQ(refused.code, 403);
  EXPECT_THAT(refused.Text("message"), HasSubstr("room for 500 CustomResourceDefinitions"));
  // What is there may still change.
  EXPECT_EQ(Patch(absl::StrCat(kDefinitions, "/k0.example.com"), R"({"metadata":{"labels":{"a":"b"}}})").code, 200);
}

TEST_F(DeclaredKindsTest, TheirTextTogetherHasABound) {
  const std::string large(1'200'000, 'x');
  int made = 0, code = 201;
  for (; code == 201; ++made) {
    code = Post(kDefinitions,
                Definition(Version("v1", absl::StrCat(R"({"type":"object","description":")", large, R"("})"), true),
                           absl::StrCat("k", made), absl::StrCat("Kind", made)))
               .code;
    ASSERT_LT(made, 40);
  }
  EXPECT_EQ(code, 413);
  EXPECT_EQ(made - 1, 27);  // of 32 MiB
}

}  // namespace
}  // namespace gangway
