// GET, lists, selectors, pages and tables.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/apiserver/server_fixture.h"

namespace gangway::testutil {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Names(const Answer& list) {
  std::vector<std::string> names;
  const Json json = list.json();
  for (std::size_t i = 0; i < json.Size("items"); ++i)
    names.push_back(json.Text(absl::StrCat("items.", i, ".metadata.name")));
  return names;
}

class ReadTest : public ServerTest {
 protected:
  void SetUp() override {
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      ASSERT_EQ(Post(kConfigMaps, ConfigMapJson(name, absl::StrCat(R"(,"labels":{"n":")", name, R"("})"))).code, 201);
    }
  }
};

TEST_F(ReadTest, AbsentObjectsAndPaths) {
  const Answer absent = Get(absl::StrCat(kJobs, "/x"));
  EXPECT_EQ(absent.code, 404);
  EXPECT_EQ(absent.Text("message"), "jobs.batch.volcano.sh \"x\" not found");
  EXPECT_EQ(absent.Text("details.group"), "batch.volcano.sh");
  EXPECT_EQ(absent.Text("details.name"), "x");
  EXPECT_EQ(Get("/api/v1/widgets").Text("message"), "the server could not find the requested resource");
  EXPECT_EQ(Get("/api/v1/namespaces/default/pods/x/teapot").code, 404);
  EXPECT_EQ(Get("/nope").code, 404);
}

TEST_F(ReadTest, ListsNameTheirKindAndRevision) {
  const Answer list = Get(kConfigMaps);
  EXPECT_EQ(list.Text("kind"), "ConfigMapList");
  EXPECT_EQ(list.Text("apiVersion"), "v1");
  EXPECT_EQ(list.Text("metadata.resourceVersion"), absl::StrCat(revision()));
  EXPECT_THAT(Names(list), ElementsAre("a", "b", "c", "d", "e"));
}

TEST_F(ReadTest, AllNamespacesInOrder) {
  ASSERT_EQ(Post("/api/v1/namespaces/kube-system/configmaps", ConfigMapJson("0")).code, 201);
  EXPECT_THAT(Names(Get("/api/v1/configmaps")), ElementsAre("a", "b", "c", "d", "e", "0"));
  EXPECT_THAT(Names(Get("/api/v1/configmaps", "fieldSelector=metadata.namespace%3Dkube-system")), ElementsAre("0"));
}

TEST_F(ReadTest, PagesAreOfOneRevisionWhileTheStoreChanges) {
  const Answer first = Get(kConfigMaps, "limit=2");
  EXPECT_THAT(Names(first), ElementsAre("a", "b"));
  EXPECT_EQ(first.Text("metadata.remainingItemCount"), "3");
  const std::string at = first.Text("metadata.resourceVersion");
  ASSERT_EQ(Delete(absl::StrCat(kConfigMaps, "/d")).code, 200);
  ASSERT_EQ(Post(kConfigMaps, ConfigMapJson("bb")).code, 201);
  ASSERT_EQ(Patch(absl::StrCat(kConfigMaps, "/c"), R"({"data":{"a":"new"}})").code, 200);
  const Answer second = Get(kConfigMaps, absl::StrCat("limit=2&continue=", first.Text("metadata.continue")));
  EXPECT_THAT(Names(second), ElementsAre("c", "d"));
  EXPECT_EQ(second.Text("items.0.data.a"), "1");
  EXPECT_EQ(second.Text("metadata.resourceVersion"), at);
  EXPECT_EQ(second.Text("metadata.remainingItemCount"), "1");
  const Answer third = Get(kConfigMaps, absl::StrCat("limit=2&continue=", second.Text("metadata.continue")));
  EXPECT_THAT(Names(third), ElementsAre("e"));
  EXPECT_FALSE(third.json().Has("metadata.continue"));
  EXPECT_FALSE(third.json().Has("metadata.remainingItemCount"));
}

TEST_F(ReadTest, AContinueBeyondTheHistoryIsExpired) {
  const Answer first = Get(kConfigMaps, "limit=2");
  ASSERT_EQ(Delete(absl::StrCat(kConfigMaps, "/d")).code, 200);
  server_.CompactHistory();
  const Answer second = Get(kConfigMaps, absl::StrCat("limit=2&continue=", first.Text("metadata.continue")));
  EXPECT_EQ(second.code, 410);
  EXPECT_EQ(second.Text("reason"), "Expired");
  EXPECT_EQ(Get(kConfigMaps, "continue=garbage").code, 400);
}

TEST_F(ReadTest, ExactAndFutureRevisions) {
  const std::string at = absl::StrCat(revision());
  ASSERT_EQ(Delete(absl::StrCat(kConfigMaps, "/a")).code, 200);
  EXPECT_THAT(Names(Get(kConfigMaps, absl::StrCat("resourceVersionMatch=Exact&resourceVersion=", at))),
              ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(Names(Get(kConfigMaps, absl::StrCat("resourceVersionMatch=NotOlderThan&resourceVersion=", at))),
              ElementsAre("b", "c", "d", "e"));
  EXPECT_THAT(Names(Get(kConfigMaps, "resourceVersion=0")), ElementsAre("b", "c", "d", "e"));
  const Answer future = Get(kConfigMaps, absl::StrCat("resourceVersion=", revision() + 100));
  EXPECT_EQ(future.code, 504);
  EXPECT_EQ(future.Text("details.causes.0.reason"), "ResourceVersionTooLarge");
}

TEST_F(ReadTest, LabelSelectors) {
  EXPECT_THAT(Names(Get(kConfigMaps, "labelSelector=n%3Db")), ElementsAre("b"));
  EXPECT_THAT(Names(Get(kConfigMaps, "labelSelector=n+in+(a,e)")), ElementsAre("a", "e"));
  EXPECT_THAT(Names(Get(kConfigMaps, "labelSelector=n%21%3Db,n")), ElementsAre("a", "c", "d", "e"));
  EXPECT_THAT(Names(Get(kConfigMaps, "labelSelector=%21n")), IsEmpty());
  // A page of a selection says how to go on, not how many are left.
  const Answer page = Get(kConfigMaps, "labelSelector=n&limit=1");
  EXPECT_TRUE(page.json().Has("metadata.continue"));
  EXPECT_FALSE(page.json().Has("metadata.remainingItemCount"));
}

TEST_F(ReadTest, FieldSelectors) {
  ASSERT_EQ(Post(kPods, PodJson("p")).code, 201);
  ASSERT_EQ(Post(kPods, PodJson("q")).code, 201);
  ASSERT_EQ(Bind("p", "n1").code, 201);
  EXPECT_THAT(Names(Get(kPods, "fieldSelector=spec.nodeName%3Dn1")), ElementsAre("p"));
  EXPECT_THAT(Names(Get(kPods, "fieldSelector=spec.nodeName%3D")), ElementsAre("q"));
  EXPECT_THAT(Names(Get(kPods, "fieldSelector=status.phase%3DPending,metadata.name%21%3Dp")), ElementsAre("q"));
  const Answer unknown = Get(kPods, "fieldSelector=spec.color%3Dred");
  EXPECT_EQ(unknown.code, 400);
  EXPECT_THAT(unknown.Text("message"), HasSubstr("spec.color"));
  EXPECT_EQ(Get(kJobs, "fieldSelector=spec.queue%3Dx").code, 400);
}

TEST_F(ReadTest, EventsOfAnObject) {
  ASSERT_EQ(
      Post(
          "/api/v1/namespaces/default/events",
          R"({"metadata":{"name":"e1"},"involvedObject":{"kind":"Pod","namespace":"default","name":"p","uid":"u1"},"reason":"Started","type":"Normal"})")
          .code,
      201);
  EXPECT_THAT(
      Names(Get("/api/v1/namespaces/default/events", "fieldSelector=involvedObject.uid%3Du1,involvedObject.name%3Dp")),
      ElementsAre("e1"));
  EXPECT_THAT(Names(Get("/api/v1/events", "fieldSelector=type%21%3DNormal")), IsEmpty());
}

TEST_F(ReadTest, EventsExpireAfterAnHourWithoutAWrite) {
  const char* path = "/api/v1/namespaces/default/events";
  for (const char* name : {"e1", "e2"}) {
    ASSERT_EQ(Post(path, absl::StrCat(R"({"metadata":{"name":")", name,
                                      R"("},"involvedObject":{"namespace":"default"},"count":1})"))
                  .code,
              201);
  }
  loop_.RunFor(absl::Minutes(40));
  ASSERT_EQ(Patch(absl::StrCat(path, "/e2"), R"({"count":2})").code, 200);
  loop_.RunFor(absl::Minutes(30));
  EXPECT_THAT(Names(Get(path)), ElementsAre("e2"));
  loop_.RunFor(absl::Minutes(40));
  EXPECT_THAT(Names(Get(path)), IsEmpty());
}

TEST_F(ReadTest, TablesForKubectl) {
  const std::string accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
  const Answer table = Do("GET", kConfigMaps, "", {.query = "limit=2", .accept = accept});
  EXPECT_EQ(table.Text("kind"), "Table");
  EXPECT_EQ(table.json().Size("rows"), 2u);
  EXPECT_TRUE(table.json().Has("metadata.continue"));
  const Answer one = Do("GET", absl::StrCat(kConfigMaps, "/a"), "", {.accept = accept});
  EXPECT_EQ(one.Text("kind"), "Table");
  EXPECT_EQ(one.json().Size("rows"), 1u);
  EXPECT_EQ(Do("GET", kConfigMaps, "", {.accept = "application/vnd.kubernetes.protobuf"}).code, 406);
  EXPECT_EQ(Do("GET", kConfigMaps, "", {.accept = "application/vnd.kubernetes.protobuf,application/json"}).code, 200);
}

TEST_F(ReadTest, EveryoneMayDoEverything) {
  const std::uint64_t before = revision();
  const Answer review = Post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                             R"({"spec":{"resourceAttributes":{"verb":"delete","resource":"pods"}}})");
  EXPECT_EQ(review.code, 201) << review.body;
  EXPECT_EQ(review.Text("status.allowed"), "true");
  EXPECT_EQ(Get("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").code, 405);
  EXPECT_EQ(revision(), before);
}

}  // namespace
}  // namespace gangway::testutil
