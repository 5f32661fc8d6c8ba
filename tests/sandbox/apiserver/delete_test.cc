#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/apiserver/server_fixture.h"

namespace gangway::testutil {
namespace {

using ::testing::HasSubstr;

class DeleteTest : public ServerTest {};

TEST_F(DeleteTest, AnswersWithSuccessAndWhatWasDeleted) {
  const Answer created = Post(kConfigMaps, ConfigMapJson("c"));
  const Answer gone = Delete(absl::StrCat(kConfigMaps, "/c"));
  EXPECT_EQ(gone.code, 200);
  EXPECT_EQ(gone.Text("status"), "Success");
  EXPECT_EQ(gone.Text("details.uid"), created.Text("metadata.uid"));
  EXPECT_EQ(gone.Text("details.kind"), "configmaps");
  EXPECT_EQ(Get(absl::StrCat(kConfigMaps, "/c")).code, 404);
  EXPECT_EQ(Delete(absl::StrCat(kConfigMaps, "/c")).code, 404);
}

TEST_F(DeleteTest, Preconditions) {
  const Answer created = Post(kConfigMaps, ConfigMapJson("c"));
  const std::string path = absl::StrCat(kConfigMaps, "/c");
  const Answer wrong = Delete(path, R"({"preconditions":{"uid":"x"}})");
  EXPECT_EQ(wrong.code, 409);
  EXPECT_THAT(wrong.Text("message"), HasSubstr("the UID in the precondition (x) does not match"));
  EXPECT_EQ(Delete(path, R"({"preconditions":{"resourceVersion":"1"}})").code, 409);
  EXPECT_EQ(Delete(path, absl::StrCat(R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":")",
                                      created.Text("metadata.uid"), R"("}})"))
                .code,
            200);
}

TEST_F(DeleteTest, APodThatNoNodeHasGoesAtOnce) {
  Post(kPods, PodJson("p"));
  EXPECT_EQ(Delete(PodPath("p")).code, 200);
  EXPECT_EQ(Get(PodPath("p")).code, 404);
}

TEST_F(DeleteTest, ABoundPodGetsItsGraceAndGoesWhenTheKubeletSaysSo) {
  Post(kPods, PodJson("p", "", R"(,"terminationGracePeriodSeconds":20)"));
  Bind("p", "n");
  const Answer marked = Delete(PodPath("p"));
  EXPECT_EQ(marked.code, 200);
  EXPECT_EQ(marked.Text("metadata.deletionGracePeriodSeconds"), "20");
  EXPECT_EQ(marked.Text("metadata.deletionTimestamp"), "2026-01-01T00:00:20Z");
  EXPECT_EQ(marked.Text("metadata.generation"), "2");
  const std::uint64_t before = revision();
  EXPECT_EQ(Delete(PodPath("p")).code, 200);  // asking again changes nothing
  EXPECT_EQ(Delete(PodPath("p"), R"({"gracePeriodSeconds":60})").code, 200);
  EXPECT_EQ(revision(), before);
  const Answer shorter = Delete(PodPath("p"), "", "gracePeriodSeconds=5");
  EXPECT_EQ(shorter.Text("metadata.deletionGracePeriodSeconds"), "5");
  EXPECT_EQ(shorter.Text("metadata.deletionTimestamp"), "2026-01-01T00:00:05Z");
  EXPECT_EQ(Delete(PodPath("p"), R"({"gracePeriodSeconds":0})").code, 200);
  EXPECT_EQ(Get(PodPath("p")).code, 404);
}

TEST_F(DeleteTest, AnEndedPodNeedsNoGrace) {
  Post(kPods, PodJson("p"));
  Bind("p", "n");
  ASSERT_EQ(Patch(PodPath("p") + "/status", R"({"status":{"phase":"Succeeded"}})").code, 200);
  EXPECT_EQ(Delete(PodPath("p")).code, 200);
  EXPECT_EQ(Get(PodPath("p")).code, 404);
}

TEST_F(DeleteTest, FinalizersHoldTheObject) {
  Post(kConfigMaps, ConfigMapJson("c", R"(,"finalizers":["x.io/a","x.io/b"])"));
  const std::string path = absl::StrCat(kConfigMaps, "/c");
  const Answer marked = Delete(path);
  EXPECT_EQ(marked.code, 200);
  EXPECT_EQ(marked.Text("metadata.deletionTimestamp"), "2026-01-01T00:00:00Z");
  const Answer more = Patch(path, R"({"metadata":{"finalizers":["x.io/a","x.io/b","x.io/c"]}})");
  EXPECT_EQ(more.code, 422);
  EXPECT_EQ(more.Text("details.causes.0.field"), "metadata.finalizers");
  EXPECT_EQ(Patch(path, R"({"metadata":{"finalizers":["x.io/b"]}})").code, 200);
  EXPECT_EQ(Get(path).code, 200);
  EXPECT_EQ(Patch(path, R"({"metadata":{"finalizers":null}})").code, 200);
  EXPECT_EQ(Get(path).code, 404);
  EXPECT_EQ(journal_.back().after, nullptr);
}

TEST_F(DeleteTest, CollectionsBySelector) {
  Post(kConfigMaps, ConfigMapJson("a", R"(,"labels":{"t":"x"})"));
  Post(kConfigMaps, ConfigMapJson("b"));
  const Answer gone = Delete(kConfigMaps, "", "labelSelector=t%3Dx");
  EXPECT_EQ(gone.code, 200);
  EXPECT_EQ(gone.json().Size("items"), 1u);
  EXPECT_EQ(Get(absl::StrCat(kConfigMaps, "/a")).code, 404);
  EXPECT_EQ(Get(absl::StrCat(kConfigMaps, "/b")).code, 200);
}

TEST_F(DeleteTest, ADeletedNamespaceIsEmptiedAndGoes) {
  ASSERT_EQ(Post("/api/v1/namespaces", R"({"metadata":{"name":"team"}})").code, 201);
  ASSERT_EQ(Post("/api/v1/namespaces/team/configmaps", ConfigMapJson("c")).code, 201);
  ASSERT_EQ(Post("/api/v1/namespaces/team/pods", PodJson("p")).code, 201);
  ASSERT_EQ(Post("/api/v1/namespaces/team/pods/p/binding", R"({"target":{"name":"n"}})").code, 201);
  EXPECT_EQ(Delete("/api/v1/namespaces/team").Text("status.phase"), "Terminating");
  Settle();
  EXPECT_EQ(Get("/api/v1/namespaces/team/configmaps/c").code, 200)
      << "others have five seconds to delete it by its name";
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(Get("/api/v1/namespaces/team/configmaps/c").code, 404);
  EXPECT_EQ(Get("/api/v1/namespaces/team").code, 200) << "its pod has yet to end";
  EXPECT_EQ(Delete("/api/v1/namespaces/team/pods/p", R"({"gracePeriodSeconds":0})").code, 200);
  Settle();
  EXPECT_EQ(Get("/api/v1/namespaces/team").code, 404);
}

TEST_F(DeleteTest, WhatTheClusterNeedsStays) {
  EXPECT_EQ(Delete("/api/v1/namespaces/default").code, 403);
  EXPECT_EQ(Delete("/api/v1/namespaces/kube-system").code, 403);
  EXPECT_GE(Delete(absl::StrCat(kQueues, "/default")).code, 400);
}

}  // namespace
}  // namespace gangway::testutil
