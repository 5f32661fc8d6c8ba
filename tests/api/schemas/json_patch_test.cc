// RFC 6902, with the examples of its appendix A.
#include "api/schemas/json_patch.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::schemas {
namespace {

using ::gangway::testutil::StatusIs;
using ::testing::HasSubstr;

boost::json::value Parse(absl::string_view json) { return api::ParseJson(json).value(); }

struct Example {
  const char* name;
  const char* document;
  const char* patch;
  const char* result;
};
class Rfc6902Test : public ::testing::TestWithParam<Example> {};

TEST_P(Rfc6902Test, Applies) {
  boost::json::value target = Parse(GetParam().document);
  GW_ASSERT_OK(ApplyJsonPatch(target, Parse(GetParam().patch)));
  EXPECT_EQ(api::ToJson(target), api::ToJson(Parse(GetParam().result)));
}

INSTANTIATE_TEST_SUITE_P(
    All, Rfc6902Test,
    ::testing::Values(
        Example{"A1AddMember", R"({"foo":"bar"})", R"([{"op":"add","path":"/baz","value":"qux"}])",
                R"({"foo":"bar","baz":"qux"})"},
        Example{"A2AddElement", R"({"foo":["bar","baz"]})", R"([{"op":"add","path":"/foo/1","value":"qux"}])",
                R"({"foo":["bar","qux","baz"]})"},
        Example{"A3RemoveMember", R"({"baz":"qux","foo":"bar"})", R"([{"op":"remove","path":"/baz"}])",
                R"({"foo":"bar"})"},
        Example{"A4RemoveElement", R"({"foo":["bar","qux","baz"]})", R"([{"op":"remove","path":"/foo/1"}])",
                R"({"foo":["bar","baz"]})"},
        Example{"A5Replace", R"({"baz":"qux","foo":"bar"})", R"([{"op":"replace","path":"/baz","value":"boo"}])",
                R"({"baz":"boo","foo":"bar"})"},
        Example{"A6MoveMember", R"({"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}})",
                R"([{"op":"move","from":"/foo/waldo","path":"/qux/thud"}])",
                R"({"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}})"},
        Example{"A7MoveElement", R"({"foo":["all","grass","cows","eat"]})",
                R"([{"op":"move","from":"/foo/1","path":"/foo/3"}])", R"({"foo":["all","cows","eat","grass"]})"},
        Example{"A8TestHolds", R"({"baz":"qux","foo":["a",2,"c"]})",
                R"([{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}])",
                R"({"baz":"qux","foo":["a",2,"c"]})"},
        Example{"A10NestedMember", R"({"foo":"bar"})", R"([{"op":"add","path":"/child","value":{"grandchild":{}}}])",
                R"({"foo":"bar","child":{"grandchild":{}}})"},
        Example{"A11UnknownMembersAreIgnored", R"({"foo":"bar"})",
                R"([{"op":"add","path":"/baz","value":"qux","xyz":123}])", R"({"foo":"bar","baz":"qux"})"},
        Example{"A14Escapes", R"({"/":9,"~1":10})", R"([{"op":"test","path":"/~01","value":10}])",
                R"({"/":9,"~1":10})"},
        Example{"A16AddListToEnd", R"({"foo":["bar"]})", R"([{"op":"add","path":"/foo/-","value":["abc","def"]}])",
                R"({"foo":["bar",["abc","def"]]})"},
        Example{"AddReplacesAMember", R"({"a":1})", R"([{"op":"add","path":"/a","value":null}])", R"({"a":null})"},
        Example{"Copy", R"({"a":{"b":[1]}})",
                R"([{"op":"copy","from":"/a/b","path":"/c"},{"op":"add","path":"/c/-","value":2}])",
                R"({"a":{"b":[1]},"c":[1,2]})"},
        Example{"WholeDocument", R"({"a":1})", R"([{"op":"replace","path":"","value":{"b":2}}])", R"({"b":2})"},
        Example{"SlashInKey", R"({"metadata":{"labels":{"a/b":"x"}}})",
                R"([{"op":"remove","path":"/metadata/labels/a~1b"}])", R"({"metadata":{"labels":{}}})"},
        Example{"EmptyKey", R"({"":1})", R"([{"op":"replace","path":"/","value":2}])", R"({"":2})"},
        Example{"EqualNumbers", R"({"a":1})", R"([{"op":"test","path":"/a","value":1.0}])", R"({"a":1})"},
        Example{"MoveOntoItself", R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])", R"({"a":1})"},
        Example{"Nothing", R"({"a":1})", R"([])", R"({"a":1})"}),
    [](const auto& tested) { return std::string(tested.param.name); });

struct Wrong {
  const char* name;
  const char* patch;
  absl::StatusCode code;
  const char* message;
};
class WrongPatchTest : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongPatchTest, IsRefused) {
  boost::json::value target = Parse(R"({"foo":"bar","list":[1,2],"obj":{"a":{}}})");
  EXPECT_THAT(ApplyJsonPatch(target, Parse(GetParam().patch)),
              StatusIs(GetParam().code, HasSubstr(GetParam().message)));
}

constexpr absl::StatusCode kMalformed = absl::StatusCode::kInvalidArgument,
                           kNotSo = absl::StatusCode::kFailedPrecondition;
INSTANTIATE_TEST_SUITE_P(
    All, WrongPatchTest,
    ::testing::Values(
        Wrong{"A9TestFails", R"([{"op":"test","path":"/foo","value":"baz"}])", kNotSo,
              "operation 0: test of path \"/foo\""},
        Wrong{"A12MissingParent", R"([{"op":"add","path":"/baz/bat","value":"qux"}])", kNotSo, "/baz/bat"},
        Wrong{"A15NumberIsNoText", R"([{"op":"test","path":"/list/0","value":"1"}])", kNotSo, "test"},
        Wrong{"NoObject", R"({"op":"add"})", kMalformed, "list"},
        Wrong{"OperationIsNoObject", R"([1])", kMalformed, "operation 0"},
        Wrong{"UnknownOp", R"([{"op":"merge","path":"/a","value":1}])", kNotSo, "merge"},
        Wrong{"NoOp", R"([{"path":"/a"}])", kMalformed, "\"op\""},
        Wrong{"NoPath", R"([{"op":"remove"}])", kMalformed, "\"path\""},
        Wrong{"NoValue", R"([{"op":"add","path":"/a"}])", kMalformed, "value"},
        Wrong{"NoFrom", R"([{"op":"move","path":"/a"}])", kMalformed, "from"},
        Wrong{"NoSlash", R"([{"op":"remove","path":"foo"}])", kMalformed, "'/'"},
        Wrong{"BadEscape", R"([{"op":"remove","path":"/f~2"}])", kMalformed, "~"},
        Wrong{"RemoveMissing", R"([{"op":"remove","path":"/nope"}])", kNotSo, "/nope"},
        Wrong{"ReplaceMissing", R"([{"op":"replace","path":"/nope","value":1}])", kNotSo, "/nope"},
        Wrong{"RemoveAll", R"([{"op":"remove","path":""}])", kNotSo, "whole"},
        Wrong{"IndexBeyondEnd", R"([{"op":"add","path":"/list/3","value":1}])", kNotSo, "/list/3"},
        Wrong{"LeadingZero", R"([{"op":"remove","path":"/list/01"}])", kNotSo, "/list/01"},
        Wrong{"NegativeIndex", R"([{"op":"remove","path":"/list/-1"}])", kNotSo, "/list/-1"},
        Wrong{"HugeIndex", R"([{"op":"remove","path":"/list/99999999999999999999999"}])", kNotSo, "/list/9"},
        Wrong{"DashIsNoElement", R"([{"op":"remove","path":"/list/-"}])", kNotSo, "/list/-"},
        Wrong{"ThroughText", R"([{"op":"add","path":"/foo/x","value":1}])", kNotSo, "/foo/x"},
        Wrong{"IntoItself", R"([{"op":"move","from":"/obj","path":"/obj/a/b"}])", kMalformed, "itself"},
        Wrong{"CopyMissing", R"([{"op":"copy","from":"/x","path":"/y"}])", kNotSo, "/x"}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(ApplyJsonPatchTest, OperationsAreCounted) {
  boost::json::array patch;
  const boost::json::value operation = Parse(R"({"op":"add","path":"/a","value":1})");
  for (std::size_t i = 0; i < kMaxJsonPatchOperations; ++i) patch.push_back(operation);
  boost::json::value target = Parse("{}");
  GW_EXPECT_OK(ApplyJsonPatch(target, patch));
  patch.push_back(operation);
  EXPECT_THAT(ApplyJsonPatch(target, patch), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("10001")));
}

// Each copy doubles the document: 40 operations would make terabytes.
TEST(ApplyJsonPatchTest, CopiesCannotExplode) {
  std::string patch = R"([{"op":"add","path":"/0","value":"0123456789"})";
  for (int i = 1; i < 40; ++i) absl::StrAppend(&patch, R"(,{"op":"copy","from":"","path":"/)", i, "\"}");
  boost::json::value target = Parse("{}");
  EXPECT_THAT(ApplyJsonPatch(target, Parse(patch + "]")),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("copies")));
}

boost::json::value Nested(std::size_t levels) {
  boost::json::value value = 1;
  for (std::size_t i = 0; i < levels; ++i) value = boost::json::object({{"a", std::move(value)}});
  return value;
}
std::string Below(std::size_t levels) {
  std::string path;
  for (std::size_t i = 0; i < levels; ++i) path += "/a";
  return path;
}

TEST(ApplyJsonPatchTest, ADocumentGetsNoDeeperThanABody) {
  const std::string half = Below(kMaxObjectDepth / 2), last = Below(kMaxObjectDepth);
  for (const std::string& operation : {absl::StrCat(R"({"op":"copy","from":"","path":")", half, "\"}"),
                                       absl::StrCat(R"({"op":"move","from":"/b","path":")", half, "\"}"),
                                       absl::StrCat(R"({"op":"add","path":")", last, R"(","value":{}})"),
                                       absl::StrCat(R"({"op":"replace","path":")", last, R"(","value":[]})"),
                                       absl::StrCat(R"({"op":"add","path":")", last, R"(/a","value":1})")}) {
    boost::json::value target = Nested(kMaxObjectDepth);
    target.as_object()["b"] = Nested(kMaxObjectDepth - 1);
    EXPECT_THAT(ApplyJsonPatch(target, Parse(absl::StrCat("[", operation, "]"))),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("deeper than")))
        << operation;
  }
  boost::json::value target = Nested(kMaxObjectDepth);
  target.as_object()["b"] = Nested(kMaxObjectDepth / 2);
  GW_EXPECT_OK(ApplyJsonPatch(target, Parse(absl::StrCat(R"([{"op":"move","from":"/b","path":")", half,
                                                         R"("},{"op":"copy","from":")", half, R"(","path":"/c"}])"))));
  EXPECT_FALSE(IsDeeperThan(target, kMaxObjectDepth));
  EXPECT_TRUE(IsDeeperThan(target, kMaxObjectDepth - 1));
}

TEST(ApplyJsonPatchTest, ElementsAreNotShiftedForEver) {
  const auto moves = [](std::string_view from, std::string_view path, std::size_t count) {
    return boost::json::value(boost::json::array(count, {{"op", "move"}, {"from", from}, {"path", path}}));
  };
  boost::json::value large = {{"list", boost::json::array(1'000'000, 0)}};
  EXPECT_THAT(ApplyJsonPatch(large, moves("/list/0", "/list/1", 10'000)),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("elements of lists")));
  EXPECT_THAT(ApplyJsonPatch(large, moves("/list/0", "/list/-", 10'000)),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("elements of lists")));
  GW_EXPECT_OK(ApplyJsonPatch(large, moves("/list/999999", "/list/-", 10'000)));
  boost::json::value small = {{"list", boost::json::array(500, 0)}};
  GW_EXPECT_OK(ApplyJsonPatch(small, moves("/list/0", "/list/1", 10'000)));
  // What is moved deeper is looked at each time.
  boost::json::array back_and_forth;
  for (int i = 0; i < 5'000; ++i) {
    back_and_forth.push_back({{"op", "move"}, {"from", "/list"}, {"path", "/a/list"}});
    back_and_forth.push_back({{"op", "move"}, {"from", "/a/list"}, {"path", "/list"}});
  }
  large.as_object()["a"].emplace_object();
  EXPECT_THAT(ApplyJsonPatch(large, back_and_forth),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("elements of lists")));
}

}  // namespace
}  // namespace gangway::schemas
