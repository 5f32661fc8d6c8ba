// What is refused of a HyperNode, and that the sandbox's catalogue has it as Volcano's definition does.
#include <algorithm>
#include <string>

#include "api/json_value.h"
#include "api/volcano/admission.h"
#include "api/volcano/hyper_node.h"
#include "api/volcano/kinds.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::api::volcano {
namespace {

using ::testing::HasSubstr;

std::string RefusalOf(const std::string& spec, Operation operation = Operation::kCreate) {
  boost::json::value object = *ParseJson(R"({"metadata":{"name":"rack-1"},"spec":)" + spec + "}");
  const boost::json::value before = object;
  const Verdict verdict =
      Admit({.resource = &kHyperNodes, .operation = operation, .ns = "", .name = "rack-1", .old_object = &before},
            &object, nullptr);
  EXPECT_EQ(verdict.code, verdict.message.empty() ? 0 : 422);
  return verdict.message;
}

TEST(HyperNodeRulesTest, EachWayToSelectIsTaken) {
  for (const char* selector : {R"({"exactMatch":{"name":"n1"}})", R"({"regexMatch":{"pattern":"^n[0-9]+$"}})",
                               R"({"labelMatch":{"matchLabels":{"rack":"1"}}})"}) {
    for (const char* type : {"Node", "HyperNode"}) {
      EXPECT_EQ(RefusalOf(std::string(R"({"tier":1,"tierName":"rack","members":[{"type":")") + type +
                          R"(","selector":)" + selector + "}]}"),
                "");
    }
  }
  EXPECT_EQ(RefusalOf(R"({"tier":0})"), "") << "members may be found later";
}

TEST(HyperNodeRulesTest, AMemberIsSelectedInOneWay) {
  EXPECT_THAT(
      RefusalOf(R"({"tier":1,"members":[{"type":"Node","selector":{"exactMatch":{"name":"n1"}}},{"type":"Node"}]})"),
      HasSubstr("spec.members[1].selector: Invalid value"));
  EXPECT_THAT(
      RefusalOf(R"({"tier":1,"members":[{"type":"Node","selector":{"exactMatch":{"name":"n"},"labelMatch":{}}}]})",
                Operation::kUpdate),
      HasSubstr("exactly one of exactMatch, regexMatch and labelMatch"));
}

TEST(HyperNodeRulesTest, WhatSelectsByARuleIsOne) {
  const auto of = [](const std::string& selector) {
    return RefusalOf(R"({"tier":1,"members":[{"type":"Node","selector":)" + selector + "}]}");
  };
  EXPECT_THAT(
      of(R"({"regexMatch":{"pattern":"n[1-"}})"),
      HasSubstr("spec.members[0].selector.regexMatch.pattern: Invalid value: \"n[1-\": is no regular expression "
                "in Go's syntax: missing ]: [1-"));
  EXPECT_THAT(of(R"({"regexMatch":{"pattern":"(((a{100}){100}){100}){100}"}})"),
              HasSubstr("spec.members[0].selector.regexMatch.pattern"));
  EXPECT_THAT(of(R"({"labelMatch":{"matchExpressions":[{"key":"a","operator":"Near"}]}})"),
              HasSubstr("spec.members[0].selector.labelMatch: Invalid value"));
}

TEST(HyperNodeRulesTest, TheSchemasRules) {
  EXPECT_THAT(RefusalOf("{}"), HasSubstr("spec.tier: Required value"));
  EXPECT_THAT(RefusalOf(R"({"tier":-1})"), HasSubstr("spec.tier: Invalid value: -1"));
  EXPECT_THAT(RefusalOf(R"({"tier":"1"})"), HasSubstr("spec.tier"));
  EXPECT_THAT(RefusalOf(R"({"tier":1,"members":[]})"), HasSubstr("spec.members"));
  EXPECT_THAT(RefusalOf(R"({"tier":1,"members":[{"type":"Rack","selector":{"exactMatch":{"name":"n"}}}]})"),
              HasSubstr("spec.members[0].type: Unsupported value: \"Rack\""));
  EXPECT_THAT(RefusalOf(R"({"tier":1,"members":[{"type":"Node","selector":{"exactMatch":{"name":"N_1"}}}]})"),
              HasSubstr("spec.members[0].selector.exactMatch.name"));
  EXPECT_THAT(RefusalOf(R"({"tier":1,"members":[{"type":"Node","selector":{"regexMatch":{"pattern":""}}}]})"),
              HasSubstr("spec.members[0].selector.regexMatch.pattern"));
}

TEST(HyperNodeRulesTest, ItsRowIsVolcanosDefinition) {
  const std::span<const KindRow> kinds = Kinds();
  const auto row =
      std::find_if(kinds.begin(), kinds.end(), [](const KindRow& each) { return each.resource == &kHyperNodes; });
  ASSERT_NE(row, kinds.end());
  EXPECT_TRUE(row->status);
  std::string columns;
  for (const PrinterColumn& column : row->columns)
    columns += std::string(column.name) + " " + std::string(column.json_path) + "; ";
  EXPECT_EQ(columns,
            "Tier .spec.tier; TierName .spec.tierName; NodeCount .status.nodeCount; Age .metadata.creationTimestamp; ");
}

}  // namespace
}  // namespace gangway::api::volcano
