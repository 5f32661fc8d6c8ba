#include "cmd/version/server_types.h"

#include "api/crd/crd.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/volcano/kinds.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::cmd {
namespace {

using boost::json::value;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

value Json(absl::string_view text) { return *api::ParseJson(text); }
value Definition(const api::Resource& resource) { return Json(api::CrdJson(api::RowOf(resource))); }
boost::json::object& FieldsOfSpec(value& definition) {
  return definition.at("spec")
      .at("versions")
      .at(0)
      .at("schema")
      .at("openAPIV3Schema")
      .at("properties")
      .at("spec")
      .at("properties")
      .get_object();
}

TEST(ServerTypesTest, MissingFieldsAreFoundInListsAndMapsAndTopMost) {
  const value ours = Json(
      R"({"properties":{"a":{"properties":{"b":{"type":"string"},"c":{"type":"string"}}},"l":{"items":{"properties":{"x":{}}}},
    "m":{"additionalProperties":{"properties":{"y":{}}}},"n":{"properties":{"z":{}}}}})");
  EXPECT_THAT(MissingFields(ours, ours), IsEmpty());
  EXPECT_THAT(
      MissingFields(
          ours,
          Json(R"({"properties":{"a":{"properties":{"b":{}}},"l":{"items":{}},"m":{"additionalProperties":{}}}})")),
      ElementsAre("a.c", "l[].x", "m.*.y", "n"));
  EXPECT_THAT(MissingFields(ours, Json(R"({"x-kubernetes-preserve-unknown-fields":true})")), IsEmpty());
  EXPECT_THAT(MissingFields(ours, value()), ElementsAre("a", "l", "m", "n"));
}

TEST(ServerTypesTest, OurOwnDefinitionsLackNothing) {
  for (const api::KindRow& kind : api::Kinds()) {
    if (!kind.custom()) continue;
    EXPECT_EQ(CompareType(kind, Json(api::CrdJson(kind)), true).finding, "") << api::CrdName(*kind.resource);
  }
}

TEST(ServerTypesTest, WhatNothingWorksWithoutIsAnErrorAndTheRestANote) {
  EXPECT_TRUE(CompareType(api::RowOf(api::kJobs), value(), false).wrong);
  EXPECT_EQ(CompareType(api::RowOf(api::kJobs), value(), false).finding, "is not there");
  EXPECT_FALSE(CompareType(api::RowOf(api::kJobFlows), value(), false).wrong);
  EXPECT_TRUE(CompareType(api::RowOf(api::kJobFlows), value(), true).wrong);
}

TEST(ServerTypesTest, AVersionThatIsNotServedIsNone) {
  value definition = Definition(api::kQueues);
  definition.at("spec").at("versions").at(0).at("served") = false;
  EXPECT_EQ(CompareType(api::RowOf(api::kQueues), definition, false).finding, "does not serve v1beta1");
  EXPECT_TRUE(CompareType(api::RowOf(api::kQueues), definition, false).wrong);
}

TEST(ServerTypesTest, AnOlderDefinitionIsANoteThatNamesTheFieldsAndAnErrorWhenStrict) {
  value definition = Definition(api::kQueues);
  FieldsOfSpec(definition).erase("deserved");
  const TypeReport report = CompareType(api::RowOf(api::kQueues), definition, false);
  EXPECT_EQ(report.finding, "lacks spec.deserved: what is written there is dropped");
  EXPECT_FALSE(report.wrong);
  EXPECT_TRUE(CompareType(api::RowOf(api::kQueues), definition, true).wrong);
  FieldsOfSpec(definition).clear();
  EXPECT_THAT(CompareType(api::RowOf(api::kQueues), definition, false).finding, HasSubstr(" more: "));
}

}  // namespace
}  // namespace gangway::cmd
