// Binary bodies and the JSON that they mean. The golden pairs were written by k8s.io/api 0.36 itself: Marshal,
// hexadecimal, and json.Marshal of the same object. What is wrong on the wire is spelled here byte by byte.
#include "sandbox/apiserver/protobuf/protobuf_bodies.h"

#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "boost/json/parse.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/apiserver/server_fixture.h"
#include "tests/testing/status_matchers.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string ReadGolden(const std::string& file) {
  std::ifstream in(std::string(GW_SOURCE_DIR) + "/tests/golden/kubernetes-protobuf/" + file);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}
std::string GoldenBody(const std::string& name) {
  return absl::HexStringToBytes(absl::StrReplaceAll(ReadGolden(name + ".hex"), {{"\n", ""}}));
}

// Fields as they stand on the wire.
std::string Varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
  return out;
}
std::string Sized(int number, absl::string_view bytes) {
  return absl::StrCat(Varint(static_cast<std::uint64_t>(number) << 3 | 2), Varint(bytes.size()), bytes);
}
std::string Number(int number, std::int64_t value) {
  return absl::StrCat(Varint(static_cast<std::uint64_t>(number) << 3), Varint(static_cast<std::uint64_t>(value)));
}
std::string Body(absl::string_view api_version, absl::string_view kind, absl::string_view raw,
                 absl::string_view more = {}) {
  return absl::StrCat(std::string("k8s\0", 4), Sized(1, absl::StrCat(Sized(1, api_version), Sized(2, kind))),
                      Sized(2, raw), more);
}
std::string ConfigMap(absl::string_view raw) { return Body("v1", "ConfigMap", raw); }
// An object's metadata (field 1 of every kind).
std::string Named(absl::string_view name) { return Sized(1, Sized(1, name)); }

absl::Status Failure(absl::string_view body) { return sandbox::ProtobufToJson(body).status(); }

class GoldenBodyTest : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenBodyTest, MeansTheJsonThatGoWrites) {
  const absl::StatusOr<std::string> json = sandbox::ProtobufToJson(GoldenBody(GetParam()));
  ASSERT_THAT(json, IsOk());
  EXPECT_EQ(boost::json::parse(*json), boost::json::parse(ReadGolden(std::string(GetParam()) + ".json"))) << *json;
}

// A body that is cut anywhere, or has any one byte changed, is read or refused: no crash, nothing read outside of it.
TEST_P(GoldenBodyTest, DamageIsReadOrRefused) {
  const std::string body = GoldenBody(GetParam());
  for (std::size_t size = 0; size < body.size(); ++size)
    Failure(body.substr(0, size)).IgnoreError();  // no crash is the test
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = body;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    const absl::StatusOr<std::string> json = sandbox::ProtobufToJson(damaged);
    if (!json.ok()) continue;
    EXPECT_NO_THROW(boost::json::parse(*json)) << *json;
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenBodyTest,
                         ::testing::Values("batch-job", "binding", "cluster-role", "config-map", "cron-job",
                                           "delete-options", "deployment", "eviction", "ingress", "namespace", "pod",
                                           "pod-disruption-budget", "priority-class", "resource-quota", "role",
                                           "role-binding", "secret", "self-subject-access-review",
                                           "self-subject-review", "service", "service-account"),
                         [](const auto& test) { return absl::StrReplaceAll(test.param, {{"-", "_"}}); });

TEST(ProtobufToJsonTest, SaysTypeAndNamesInOrder) {
  const std::string entry_b = Sized(2, Sized(1, "b") + Sized(2, "2")),
                    entry_a = Sized(2, Sized(1, "a") + Sized(2, "1"));
  EXPECT_THAT(
      sandbox::ProtobufToJson(ConfigMap(Named("n") + entry_b + entry_a)),
      IsOkAndHolds(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"},"data":{"a":"1","b":"2"}})"));
}

TEST(ProtobufToJsonTest, OfAKeyThatComesTwiceTheLastIsMeant) {
  std::string entries;
  for (const char* const value : {"1", "3", "2"}) entries += Sized(2, Sized(1, "a") + Sized(2, value));
  EXPECT_THAT(sandbox::ProtobufToJson(ConfigMap(Named("n") + entries)),
              IsOkAndHolds(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"},"data":{"a":"2"}})"));
}

TEST(ProtobufToJsonTest, TimesAreTextOrAbsent) {
  const auto created = [](absl::string_view time) { return Body("v1", "Namespace", Sized(1, Sized(8, time))); };
  EXPECT_THAT(sandbox::ProtobufToJson(created("")),
              IsOkAndHolds(R"({"apiVersion":"v1","kind":"Namespace","metadata":{}})"));
  EXPECT_THAT(sandbox::ProtobufToJson(created(Number(1, 1795237913) + Number(2, 5))),
              IsOkAndHolds(HasSubstr(R"("2026-11-21T05:11:53Z")")));
  EXPECT_THAT(sandbox::ProtobufToJson(created(Number(1, 0))), IsOkAndHolds(HasSubstr(R"("1970-01-01T00:00:00Z")")));
  EXPECT_THAT(Failure(created(Number(1, std::numeric_limits<std::int64_t>::max()))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("years 1 to 9999")));
}

TEST(ProtobufToJsonTest, DeletionsAreOptionsOfAnyGroup) {
  EXPECT_THAT(sandbox::ProtobufToJson(Body("policy/v1", "DeleteOptions", Number(1, 0))),
              IsOkAndHolds(R"({"apiVersion":"policy/v1","kind":"DeleteOptions","gracePeriodSeconds":0})"));
}

TEST(ProtobufToJsonTest, WhatIsNotKnownIsRefusedAndSaysTheWayOut) {
  EXPECT_THAT(Failure(Body("v1", "Node", "")),
              StatusIs(absl::StatusCode::kUnimplemented,
                       AllOf(HasSubstr("kind Node (v1)"), HasSubstr("-o json --dry-run=client | kubectl apply -f -"))));
  EXPECT_THAT(Failure(ConfigMap(Sized(99, "x"))),
              StatusIs(absl::StatusCode::kUnimplemented,
                       AllOf(HasSubstr("field 99 of ConfigMap"), HasSubstr("kubectl apply"))));
  EXPECT_THAT(Failure(ConfigMap(Sized(1, Sized(99, "x")))),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("field 99 of metadata")));
  EXPECT_THAT(Failure(ConfigMap(Sized(2, Sized(3, "x")))),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("field 3 of data")));
  EXPECT_THAT(Failure(Body("v1", "ConfigMap", Named("n"), Sized(3, "gzip"))),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("gzip")));
  EXPECT_THAT(Failure(Body("v1", "ConfigMap", "{}", Sized(4, "application/json"))),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("application/json")));
}

TEST(ProtobufToJsonTest, BrokenBytesAreInvalid) {
  const auto invalid = [](absl::string_view body, absl::string_view why) {
    EXPECT_THAT(Failure(body), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(std::string(why))))
        << absl::BytesToHexString(body);
  };
  invalid("", "does not begin with");
  invalid("{}", "does not begin with");
  invalid(std::string("k8s\0", 4), "apiVersion and kind");
  invalid(absl::StrCat(std::string("k8s\0", 4), "\xff\xff"), "envelope");
  invalid(ConfigMap("\x0a"), "cut short");
  invalid(ConfigMap("\x0a\x05"
                    "a"),
          "metadata: cut short");
  invalid(ConfigMap("\x0a\xff\xff\xff\xff\x0f"), "metadata: cut short");
  invalid(ConfigMap(std::string("\x00\x00", 2)), "a broken tag");
  invalid(ConfigMap(std::string(11, '\xff')), "a broken tag");
  invalid(ConfigMap(Number(1, 7)), "metadata: a wrong wire type");
  invalid(ConfigMap("\x0b\x0c"), "metadata: a wrong wire type");  // a group
  invalid(ConfigMap(Sized(1, Sized(1, "\xff"))), "metadata.name: text that is not UTF-8");
  invalid(ConfigMap(Sized(1, Sized(17, Sized(7, Sized(1, "{}}"))))), "fieldsV1 that is no JSON object");
  invalid(Body("policy/v1", "PodDisruptionBudget", Sized(2, Sized(1, Number(1, 2)))), "type 2");
}

// Two bytes on the wire are hundreds in memory.
TEST(ProtobufToJsonTest, ManyEmptyMessagesAreTooMuch) {
  std::string containers;
  for (int i = 0; i < 200'000; ++i) containers += Sized(2, "");
  EXPECT_THAT(Failure(Body("v1", "Pod", Sized(2, containers))),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("100000 values")));
}

class BinaryRequestTest : public ServerTest {
 protected:
  Answer Send(absl::string_view method, absl::string_view path, absl::string_view body,
              std::string query = "fieldValidation=Strict") {
    return Do(method, path, body,
              {.query = std::move(query),
               .content_type = "application/vnd.kubernetes.protobuf",
               .accept = "application/vnd.kubernetes.protobuf,application/json"});
  }
};

TEST_F(BinaryRequestTest, CreatesAndAnswersInJson) {
  const Answer answer = Send("POST", kConfigMaps, ConfigMap(Named("n") + Sized(2, Sized(1, "a") + Sized(2, "1"))));
  ASSERT_EQ(answer.code, 201) << answer.body;
  EXPECT_EQ(answer.content_type, "application/json");
  EXPECT_EQ(answer.Text("data.a"), "1");
  EXPECT_EQ(Get(absl::StrCat(kConfigMaps, "/n")).Text("data.a"), "1");
}

TEST_F(BinaryRequestTest, ReplacesAndDeletes) {
  Post(kConfigMaps, ConfigMapJson("n"));
  EXPECT_EQ(Send("PUT", absl::StrCat(kConfigMaps, "/n"), ConfigMap(Named("n"))).code, 200);
  EXPECT_FALSE(Get(absl::StrCat(kConfigMaps, "/n")).json().Has("data"));
  EXPECT_EQ(Send("DELETE", absl::StrCat(kConfigMaps, "/n"), Body("v1", "DeleteOptions", Sized(5, "All")), "").code,
            200);
  EXPECT_EQ(Get(absl::StrCat(kConfigMaps, "/n")).code, 200) << "a dry run";
  EXPECT_EQ(Send("DELETE", absl::StrCat(kConfigMaps, "/n"), Body("v1", "DeleteOptions", ""), "").code, 200);
  EXPECT_EQ(Get(absl::StrCat(kConfigMaps, "/n")).code, 404);
}

TEST_F(BinaryRequestTest, RefusalsAreStatusesAndWriteNothing) {
  const std::uint64_t before = revision();
  EXPECT_EQ(Send("POST", kConfigMaps, "nonsense").code, 400);
  EXPECT_EQ(Send("POST", kConfigMaps, ConfigMap("\x0a")).Text("reason"), "BadRequest");
  EXPECT_EQ(Send("POST", kConfigMaps, Body("v1", "Secret", Named("n"))).code, 400) << "another kind than the path's";
  const Answer unknown = Send("POST", "/api/v1/nodes", Body("v1", "Node", Named("n")));
  EXPECT_EQ(unknown.code, 415);
  EXPECT_EQ(unknown.Text("reason"), "UnsupportedMediaType");
  EXPECT_EQ(Send("POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
                 Body("autoscaling/v2", "HorizontalPodAutoscaler", Named("n")))
                .code,
            404);
  EXPECT_EQ(Send("PATCH", absl::StrCat(kConfigMaps, "/n"), ConfigMap(Named("n"))).code, 415);
  std::string large = "k";
  large.resize(2'900'000, '\x01');  // six times as long in JSON
  EXPECT_EQ(Send("POST", kConfigMaps, ConfigMap(Sized(2, Sized(1, "a") + Sized(2, large)))).code, 413);
  EXPECT_EQ(revision(), before);
}

}  // namespace
}  // namespace gangway::testutil
