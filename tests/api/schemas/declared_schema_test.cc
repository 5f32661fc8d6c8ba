#include "api/schemas/declared_schema.h"

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "gmock/gmock.h"

namespace gangway::schemas {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// What a wrong value is told, as `field: message`.
std::vector<std::string> Judged(absl::string_view schema, absl::string_view value, absl::string_view before = {}) {
  const DeclaredSchema declared("Thing", *api::ParseJson(schema));
  const json::value was = before.empty() ? json::value() : *api::ParseJson(before);
  std::vector<std::string> out;
  for (const api::FieldError& error : declared.Judge(*api::ParseJson(value), before.empty() ? nullptr : &was))
    out.push_back(error.ToString());
  return out;
}

// `a` is such a field.
std::string Field(absl::string_view rules) {
  return absl::StrCat(R"({"type":"object","properties":{"a":)", rules, "}}");
}

struct RuleCase {
  std::string name, rules, good, bad, told;
};
class DeclaredSchemaRules : public testing::TestWithParam<RuleCase> {};

TEST_P(DeclaredSchemaRules, GoodPassesAndBadIsTold) {
  const RuleCase& c = GetParam();
  EXPECT_THAT(CheckDeclaredSchema(*api::ParseJson(Field(c.rules)), "schema"), IsEmpty());
  EXPECT_THAT(Judged(Field(c.rules), absl::StrCat(R"({"a":)", c.good, "}")), IsEmpty());
  EXPECT_THAT(Judged(Field(c.rules), absl::StrCat(R"({"a":)", c.bad, "}")), ElementsAre(c.told));
}

INSTANTIATE_TEST_SUITE_P(
    All, DeclaredSchemaRules,
    testing::Values(
        RuleCase{"Type", R"({"type":"integer"})", "1", R"("x")",
                 R"(a: Invalid value: "string": a in body must be of type integer: "string")"},
        RuleCase{"NullOnlyWhereNullable", R"({"type":"string"})", R"("")", "null",
                 R"(a: Invalid value: "null": a in body must be of type string: "null")"},
        RuleCase{"IntOrString", R"({"x-kubernetes-int-or-string":true})", R"("50%")", "true",
                 R"(a: Invalid value: "boolean": a in body must be of type integer,string: "boolean")"},
        RuleCase{"Enum", R"({"type":"string","enum":["x","y"]})", R"("y")", R"("z")",
                 R"(a: Unsupported value: "z": supported values: "x", "y")"},
        RuleCase{"Pattern", R"({"type":"string","pattern":"^a+$"})", R"("aa")", R"("b")",
                 R"(a: Invalid value: "b": a in body should match '^a+$')"},
        RuleCase{"MaxLengthCountsCharacters", R"({"type":"string","maxLength":2})", R"("äö")", R"("abc")",
                 "a: Too long: may not be more than 2 bytes"},
        RuleCase{"MinLength", R"({"type":"string","minLength":2})", R"("ab")", R"("a")",
                 R"(a: Invalid value: "a": a in body should be at least 2 chars long)"},
        RuleCase{"Minimum", R"({"type":"integer","minimum":1})", "1", "0",
                 "a: Invalid value: 0: a in body should be greater than or equal to 1"},
        RuleCase{"ExclusiveMaximum", R"({"type":"number","maximum":1000000,"exclusiveMaximum":true})", "999999.5",
                 "1000000", "a: Invalid value: 1000000: a in body should be less than 1000000"},
        RuleCase{"MultipleOf", R"({"type":"integer","multipleOf":5})", "10", "7",
                 "a: Invalid value: 7: a in body should be a multiple of 5"},
        RuleCase{"MaxItems", R"({"type":"array","items":{"type":"integer"},"maxItems":1})", "[1]", "[1,2]",
                 "a: Too many: 2: must have at most 1 items"},
        RuleCase{"SetsHaveNoDoubles", R"({"type":"array","items":{"type":"integer"},"x-kubernetes-list-type":"set"})",
                 "[1,2]", "[1,1]", "a[1]: Duplicate value: 1"},
        RuleCase{"KeysOfMapsHaveNoDoubles",
                 R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
                    "items":{"type":"object","properties":{"k":{"type":"string"},"v":{"type":"string"}}}})",
                 R"([{"k":"a"},{"k":"b"}])", R"([{"k":"a","v":"1"},{"k":"a"}])", R"(a[1]: Duplicate value: {"k":"a"})"},
        RuleCase{"Required", R"({"type":"object","required":["b"],"properties":{"b":{"type":"string"}}})",
                 R"({"b":""})", "{}", "a.b: Required value"},
        RuleCase{"ValuesOfMaps", R"({"type":"object","additionalProperties":{"type":"integer"}})", R"({"x":1})",
                 R"({"x":"1"})", R"(a.x: Invalid value: "string": a.x in body must be of type integer: "string")"},
        RuleCase{"MaxProperties", R"({"type":"object","additionalProperties":{"type":"integer"},"maxProperties":1})",
                 R"({"x":1})", R"({"x":1,"y":2})", "a: Too many: 2: must have at most 1 items"},
        RuleCase{"AnyOf", R"({"type":"integer","anyOf":[{"minimum":5},{"maximum":1}]})", "7", "3",
                 "a: Invalid value: 3: a in body must validate at least one schema (anyOf)"},
        RuleCase{"OneOf", R"({"type":"integer","oneOf":[{"minimum":5},{"minimum":9}]})", "7", "10",
                 "a: Invalid value: 10: a in body must validate one and only one schema (oneOf). Found 2 valid"},
        RuleCase{"Not", R"({"type":"string","not":{"enum":["x"]}})", R"("y")", R"("x")",
                 R"(a: Invalid value: "x": a in body must not validate the schema (not))"},
        RuleCase{"DateTime", R"({"type":"string","format":"date-time"})", R"("2026-11-21T05:11:53Z")", R"("today")",
                 R"(a: Invalid value: "today": a in body must be of type date-time)"},
        RuleCase{
            "EmbeddedResource",
            R"({"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true})",
            R"({"apiVersion":"v1","kind":"Pod"})", R"({"apiVersion":"v1"})",
            "a.kind: Required value: must not be empty"}),
    [](const auto& c) { return c.param.name; });

TEST(DeclaredSchemaTest, WhatStaysMayBeWrong) {
  const std::string schema = Field(
      R"({"type":"object","properties":{"b":{"type":"string","maxLength":1},"c":{"type":"string","maxLength":1}}})");
  EXPECT_THAT(Judged(schema, R"({"a":{"b":"long","c":"x"}})", R"({"a":{"b":"long","c":"y"}})"), IsEmpty());
  EXPECT_THAT(Judged(schema, R"({"a":{"b":"long","c":"new"}})", R"({"a":{"b":"long","c":"y"}})"),
              ElementsAre("a.c: Too long: may not be more than 1 bytes"));
}

TEST(DeclaredSchemaTest, DefaultsFillInDefaultsAndNullsAreOnlyKeptWhereTheyAreValues) {
  const DeclaredSchema declared("Thing",
                                *api::ParseJson(Field(
                                    R"({"type":"object","default":{},"properties":{"b":{"type":"integer","default":3},
         "n":{"type":"string","nullable":true,"default":"x"}}})")));
  json::value object = *api::ParseJson(R"({"a":{"b":null,"n":null},"z":1})");
  Prune(object, declared.schema());
  ApplyDefaults(object, declared.schema());
  EXPECT_EQ(api::ToJson(object), R"({"a":{"n":null,"b":3}})");
  object = *api::ParseJson("{}");
  ApplyDefaults(object, declared.schema());
  EXPECT_EQ(api::ToJson(object), R"({"a":{"b":3,"n":"x"}})");
}

TEST(DeclaredSchemaTest, UnknownFieldsAreKeptWhereTheSchemaSaysSo) {
  const DeclaredSchema declared("Thing", *api::ParseJson(Field(
                                             R"({"type":"object","x-kubernetes-preserve-unknown-fields":true,
         "properties":{"b":{"type":"object","properties":{"c":{"type":"string"}}}}})")));
  json::value object = *api::ParseJson(R"({"a":{"free":{"x":null},"b":{"c":"1","d":"2"}}})");
  EXPECT_THAT(Check(object, declared.schema()).unknown, ElementsAre("a.b.d"));
  Prune(object, declared.schema());
  EXPECT_EQ(api::ToJson(object), R"({"a":{"free":{"x":null},"b":{"c":"1"}}})");
}

struct StructureCase {
  std::string name, schema, told;
};
class DeclaredSchemaStructure : public testing::TestWithParam<StructureCase> {};

TEST_P(DeclaredSchemaStructure, IsRefused) {
  std::vector<std::string> told;
  for (const api::FieldError& error : CheckDeclaredSchema(*api::ParseJson(GetParam().schema), "s"))
    told.push_back(error.ToString());
  EXPECT_THAT(told, ElementsAre(HasSubstr(GetParam().told)));
}

INSTANTIATE_TEST_SUITE_P(
    All, DeclaredSchemaStructure,
    testing::Values(
        StructureCase{"NoTypeAtTheRoot", "{}", "s.type: Required value: must not be empty at the root"},
        StructureCase{"NoObjectAtTheRoot", R"({"type":"array","items":{"type":"string"}})",
                      "must be object at the root"},
        StructureCase{"NoTypeOfAField", Field("{}"), "s.properties[a].type: Required value"},
        StructureCase{"NoItems", Field(R"({"type":"array"})"), "s.properties[a].items: Required value"},
        StructureCase{"References", Field(R"({"type":"string","$ref":"#/x"})"), "s.properties[a].$ref: Forbidden"},
        StructureCase{"Pattern", Field(R"({"type":"string","pattern":"("})"), "s.properties[a].pattern: Invalid value"},
        StructureCase{"Default", Field(R"({"type":"integer","default":"x"})"),
                      "s.properties[a].default: Invalid value"},
        StructureCase{"KeysThatAreNone",
                      Field(R"({"type":"array","items":{"type":"object"},"x-kubernetes-list-type":"map",
                              "x-kubernetes-list-map-keys":["k"]})"),
                      "x-kubernetes-list-map-keys[0]: Invalid value"},
        StructureCase{"DefaultsBelowAnyOf", Field(R"({"type":"string","anyOf":[{"default":"x"}]})"),
                      "s.properties[a].anyOf[0].default: Forbidden"}),
    [](const auto& c) { return c.param.name; });

// A small schema that asks much of a large object does not hold the server.
TEST(DeclaredSchemaTest, JudgingHasABound) {
  std::string any;
  for (int i = 0; i < 2000; ++i) absl::StrAppend(&any, R"({"minimum":)", i + 10, "},");
  std::string list = "[0";
  for (int i = 0; i < 20000; ++i) list += ",0";
  const std::string schema =
      Field(absl::StrCat(R"({"type":"array","items":{"type":"integer","anyOf":[)", any, R"({"maximum":0}]}})"));
  EXPECT_THAT(Judged(schema, absl::StrCat(R"({"a":)", list, "]}")),
              ElementsAre(HasSubstr("the object takes more than 1000000 steps to be judged")));
  EXPECT_THAT(Judged(schema, R"({"a":[0,0]})"), IsEmpty());
}

}  // namespace
}  // namespace gangway::schemas
