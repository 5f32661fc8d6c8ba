#include "kube/runtime/write_request.h"

#include "gmock/gmock.h"
#include "tests/testing/status_matchers.h"

namespace gangway::kube {
namespace {

Write PodWrite(Verb verb) {
  Write write;
  write.verb = verb;
  write.resource = &api::kPods;
  write.ns = "default";
  write.name = "ctr-0";
  return write;
}

TEST(WriteRequestTest, CreatesOnTheCollection) {
  Write write = PodWrite(Verb::kCreate);
  write.body = R"({"metadata":{"name":"ctr-0"}})";
  const auto request = RequestFor(write);
  GW_ASSERT_OK(request);
  EXPECT_EQ(request->method, "POST");
  EXPECT_EQ(request->path, "/api/v1/namespaces/default/pods");
  EXPECT_EQ(request->body, write.body);
}

TEST(WriteRequestTest, BindsOnTheObject) {
  Write write = PodWrite(Verb::kCreate);
  write.subresource = "binding";
  write.body = R"({"target":{"name":"n1"}})";
  const auto request = RequestFor(write);
  GW_ASSERT_OK(request);
  EXPECT_EQ(request->path, "/api/v1/namespaces/default/pods/ctr-0/binding");
}

TEST(WriteRequestTest, APatchCarriesWhatItWasDecidedOn) {
  Write write = PodWrite(Verb::kMergePatch);
  write.subresource = "status";
  write.uid = "u1";
  write.resource_version = "42";
  write.body = R"({"status":{"phase":"Running","n":1.5},"metadata":{"labels":{"a":null}}})";
  auto request = RequestFor(write);
  GW_ASSERT_OK(request);
  EXPECT_EQ(request->method, "PATCH");
  EXPECT_EQ(request->content_type, "application/merge-patch+json");
  EXPECT_EQ(request->path, "/api/v1/namespaces/default/pods/ctr-0/status");
  EXPECT_EQ(
      request->body,
      R"({"status":{"phase":"Running","n":1.5},"metadata":{"labels":{"a":null},"uid":"u1","resourceVersion":"42"}})");
  write.body = R"({"status":{}})";
  request = RequestFor(write);
  GW_ASSERT_OK(request);
  EXPECT_EQ(request->body, R"({"status":{},"metadata":{"uid":"u1","resourceVersion":"42"}})");
}

TEST(WriteRequestTest, TheApiServerLooksForNoWarningsThatNobodyReads) {
  Write write = PodWrite(Verb::kMergePatch);
  write.body = "{}";
  for (const Verb verb : {Verb::kCreate, Verb::kMergePatch, Verb::kStrategicMergePatch, Verb::kPut}) {
    write.verb = verb;
    const auto request = RequestFor(write);
    GW_ASSERT_OK(request);
    EXPECT_EQ(request->query, "fieldValidation=Ignore") << VerbName(verb);
  }
}

TEST(WriteRequestTest, ADeletionNamesTheUid) {
  Write write = PodWrite(Verb::kDelete);
  write.uid = "u1";
  write.grace_period_seconds = 0;
  write.propagation = Propagation::kForeground;
  const auto request = RequestFor(write);
  GW_ASSERT_OK(request);
  EXPECT_EQ(request->method, "DELETE");
  EXPECT_EQ(request->body,
            R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"preconditions":{"uid":"u1"},)"
            R"("propagationPolicy":"Foreground"})");
}

TEST(WriteRequestTest, ADeletionOfOneVersionNamesIt) {
  Write write = PodWrite(Verb::kDelete);
  write.uid = "u1";
  write.resource_version = "42";
  const auto request = RequestFor(write);
  GW_ASSERT_OK(request);
  EXPECT_EQ(request->body,
            R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u1","resourceVersion":"42"},)"
            R"("propagationPolicy":"Background"})");
}

TEST(WriteRequestTest, ABodyThatCannotCarryItIsAnError) {
  Write write = PodWrite(Verb::kPut);
  write.uid = "u1";
  for (const char* body : {"", "[]", "{", R"({"metadata":7})"}) {
    write.body = body;
    EXPECT_THAT(RequestFor(write), testutil::StatusIs(absl::StatusCode::kInvalidArgument)) << body;
  }
}

}  // namespace
}  // namespace gangway::kube
