#include "tests/conformance/rows.h"

#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/apiserver/protobuf/protobuf_bodies.h"
#include "tests/conformance/proto_body.h"
#include "tests/testing/status_matchers.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

json::object Object(const std::string& text) { return api::ParseJson(text)->as_object(); }

Tables Kinds() {
  Tables tables;
  const absl::Status added = AddTable(
      Object(
          R"({"table":"kinds","rows":{"Pod":{"path":"pods","object":{"spec":{"x":1},"data":2}},"Node":{"path":"nodes","object":{}}}})"),
      tables);
  GW_EXPECT_OK(added);
  return tables;
}

std::vector<std::string> Texts(const absl::StatusOr<std::vector<json::object>>& cases) {
  std::vector<std::string> out;
  if (cases.ok()) {
    for (const json::object& each : *cases) out.push_back(api::ToJson(json::value(each)));
  } else {
    out.push_back(std::string(cases.status().message()));
  }
  return out;
}

TEST(RowsTest, ACaseIsOneForEachRow) {
  EXPECT_THAT(
      Texts(CasesOf(Object(R"({"case":"<kind>IsThere","for":"kinds","steps":[{"GET":"<path>/a?x=<rv>"}]})"), Kinds())),
      ::testing::ElementsAre(R"({"case":"PodIsThere","steps":[{"GET":"pods/a?x=<rv>"}]})",
                             R"({"case":"NodeIsThere","steps":[{"GET":"nodes/a?x=<rv>"}]})"));
}

TEST(RowsTest, AWordIsItsValueAndAMemberCalledLikeItsMembers) {
  const Row row = Kinds()["kinds"].front();
  EXPECT_EQ(
      api::ToJson(WithWords(
          Object(R"({"body":{"metadata":{"name":"a"},"<object>":{}},"has":"<object>","other":"<ns>"})"), row)),
      R"({"body":{"metadata":{"name":"a"},"spec":{"x":1},"data":2},"has":{"spec":{"x":1},"data":2},"other":"<ns>"})");
}

TEST(RowsTest, RowsAreLeftOutByName) {
  EXPECT_THAT(Texts(CasesOf(Object(R"({"case":"<kind>","for":"kinds","but":["Pod"]})"), Kinds())),
              ::testing::ElementsAre(R"({"case":"Node"})"));
  EXPECT_THAT(Texts(CasesOf(Object(R"({"case":"<kind>","for":"kinds","only":["Pod"]})"), Kinds())),
              ::testing::ElementsAre(R"({"case":"Pod"})"));
  EXPECT_THAT(Texts(CasesOf(Object(R"({"case":"<kind>","for":"kinds","but":["Pods"]})"), Kinds())),
              ::testing::ElementsAre("but: there is no row Pods"));
  EXPECT_THAT(Texts(CasesOf(Object(R"({"case":"<kind>","for":"kind"})"), Kinds())),
              ::testing::ElementsAre("there is no table kind"));
}

// What the sandbox reads is what was written: both follow proto/kubernetes.
TEST(ProtoBodyTest, ReadsBackAsTheSameObject) {
  const std::string pod =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"x":"1"}},"spec":{"containers":[{"name":"c","image":"i",)"
      R"("resources":{"requests":{"cpu":"100m"}},"livenessProbe":{"httpGet":{"port":"http"}}}],"priority":7}})";
  const absl::StatusOr<std::string> body = ToProtobuf(Object(pod));
  GW_ASSERT_OK(body.status());
  const absl::StatusOr<std::string> back = sandbox::ProtobufToJson(*body);
  GW_ASSERT_OK(back.status());
  const json::value read = *api::ParseJson(*back);
  EXPECT_EQ(read.at("spec").at("containers").at(0).at("resources").at("requests").at("cpu"), "100m");
  EXPECT_EQ(read.at("spec").at("containers").at(0).at("livenessProbe").at("httpGet").at("port"), "http");
  EXPECT_EQ(read.at("spec").at("priority"), 7);
  EXPECT_EQ(read.at("metadata").at("labels").at("x"), "1");
}

TEST(ProtoBodyTest, AFieldThatTheSchemaDoesNotHaveIsNamed) {
  EXPECT_THAT(ToProtobuf(Object(R"({"apiVersion":"v1","kind":"Pod","spec":{"nosuch":1}})")).status().message(),
              HasSubstr("spec.nosuch"));
}

}  // namespace
}  // namespace gangway::testutil
