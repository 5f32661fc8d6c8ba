#include "cmd/version/server_types.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/crd/crd.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/manifest/manifest.h"
#include "api/volcano/kinds.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/golden.h"
#include "tests/volcano_types/volcano_types.h"

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

// What each release's own definitions lack: never what jobs need. A line a type, and all of the fields.
TEST(ServerTypesTest, WhatTheReleasesOfVolcanoLack) {
  std::string lacks;
  for (const std::string& release : testutil::VolcanoReleases()) {
    const auto documents = api::ReadManifest(testutil::VolcanoTypes(release), release);
    ASSERT_TRUE(documents.ok()) << documents.status();
    std::map<std::string, value> definitions;
    for (const api::ManifestDocument& document : *documents) {
      value definition = Json(document.json);
      std::string name(definition.at("metadata").at("name").get_string());
      definitions.emplace(std::move(name), std::move(definition));
    }
    for (const api::KindRow& kind : api::Kinds()) {
      if (!kind.custom() || kind.origin != api::Origin::kVolcano) continue;
      const std::string name = api::CrdName(*kind.resource);
      const auto theirs = definitions.find(name);
      const TypeReport report = CompareType(kind, theirs == definitions.end() ? value() : theirs->second, false);
      EXPECT_FALSE(report.wrong) << release << " " << name << ": " << report.finding;
      if (theirs == definitions.end()) {
        absl::StrAppend(&lacks, release, " ", name, " ", report.finding, "\n");
        continue;
      }
      const auto schema_of = [](const value& definition) {
        return definition.at("spec").at("versions").at(0).at("schema").at("openAPIV3Schema");
      };
      const std::vector<std::string> missing =
          MissingFields(schema_of(Definition(*kind.resource)), schema_of(theirs->second));
      EXPECT_EQ(missing.empty(), report.finding.empty()) << release << " " << name << ": " << report.finding;
      for (const std::string& field : missing) absl::StrAppend(&lacks, release, " ", name, " ", field, "\n");
    }
  }
  testutil::ExpectGolden(GW_SOURCE_DIR "/tests/golden/volcano/types/lacks.txt", lacks);
}

}  // namespace
}  // namespace gangway::cmd
