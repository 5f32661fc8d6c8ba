// What is refused of a JobFlow (Volcano: pkg/controllers/jobflow): targets that are no flow, flows in a circle, two
// flows of one name.
#include <string>

#include "api/json_value.h"
#include "api/volcano/admission.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::api::volcano {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Verdict Judge(const std::string& spec, const Resource& resource = kJobFlows, Operation operation = Operation::kCreate,
              const std::string& before = "") {
  boost::json::value object = *ParseJson(R"({"metadata":{"name":"f","namespace":"ns"},"spec":)" + spec + "}");
  const boost::json::value old_object =
      before.empty() ? nullptr : *ParseJson(R"({"metadata":{"name":"f"},"spec":)" + before + "}");
  return Admit({.resource = &resource, .operation = operation, .ns = "ns", .name = "f", .old_object = &old_object},
               &object, nullptr);
}

constexpr char kDiamond[] =
    R"({"flows":[{"name":"a"},{"name":"b","dependsOn":{"targets":["a"]}},{"name":"c","dependsOn":{"targets":["a"]}},
                                {"name":"d","dependsOn":{"targets":["b","c"]}}],"jobRetainPolicy":"delete"})";
constexpr char kCircle[] =
    R"({"flows":[{"name":"free"},{"name":"a","dependsOn":{"targets":["b"]}},{"name":"b","dependsOn":{"targets":["a"]}}]})";

TEST(FlowRulesTest, AnyOrderWithoutACircleIsTaken) {
  EXPECT_TRUE(Judge(kDiamond).allowed());
  EXPECT_TRUE(Judge(R"({"flows":[{"name":"b","dependsOn":{"targets":["a"]}},{"name":"a"}]})").allowed())
      << "the order of the list says nothing";
  EXPECT_TRUE(Judge("{}").allowed());
  EXPECT_TRUE(Judge(R"({"flows":[{"name":"b","dependsOn":{"targets":["a","a"]}},{"name":"a"}]})").allowed())
      << "to name it twice is to name it";
}

TEST(FlowRulesTest, UnknownTargetsAreNamedWithTheKnown) {
  const Verdict verdict = Judge(R"({"flows":[{"name":"a","dependsOn":{"targets":["x"]}}]})");
  EXPECT_EQ(verdict.code, 400);
  EXPECT_THAT(verdict.message, AllOf(HasSubstr("jobflow ns/f is refused: spec.flows[0].dependsOn.targets[0]"),
                                     HasSubstr("\"x\""), HasSubstr("known: a")));
}

TEST(FlowRulesTest, CirclesAreNamed) {
  EXPECT_THAT(Judge(kCircle).message, HasSubstr("wait for each other in a circle: a, b"));
  EXPECT_THAT(Judge(R"({"flows":[{"name":"a","dependsOn":{"targets":["a"]}}]})").message, HasSubstr("in a circle: a"));
  EXPECT_THAT(
      Judge(
          R"({"flows":[{"name":"a","dependsOn":{"targets":["a"]}},{"name":"b","dependsOn":{"targets":["a"]}},{"name":"c"}]})")
          .message,
      HasSubstr("in a circle: a, b"))
      << "or behind one";
}

TEST(FlowRulesTest, TwoFlowsOfOneName) {
  EXPECT_THAT(Judge(R"({"flows":[{"name":"a"},{"name":"a"}]})").message, HasSubstr("spec.flows[1].name"));
}

TEST(FlowRulesTest, APatchIsAnObject) {
  EXPECT_THAT(Judge(R"({"flows":[{"name":"a","patch":{"jobSpec":[1]}}]})").message,
              HasSubstr("spec.flows[0].patch.jobSpec"));
  EXPECT_TRUE(Judge(R"({"flows":[{"name":"a","patch":{"jobSpec":{"queue":"q"}}}]})").allowed());
}

TEST(FlowRulesTest, TheSchema) {
  EXPECT_EQ(Judge(R"({"flows":[{}]})").code, 422);
  EXPECT_EQ(Judge(R"({"jobRetainPolicy":"keep"})").code, 422);
  EXPECT_EQ(Judge(R"({"flows":[{"name":"a","dependsOn":{"probe":{"tcpSocketList":[{"port":70000}]}}}]})").code, 422);
  EXPECT_EQ(Judge(R"({"tasks":[]})", kJobTemplates).code, 422);
  EXPECT_TRUE(Judge(R"({"tasks":[{"replicas":1,"template":{"spec":{"containers":[]}}}]})", kJobTemplates).allowed());
}

TEST(FlowRulesTest, AnUpdateIsJudgedWhenTheSpecChanges) {
  EXPECT_TRUE(Judge(kCircle, kJobFlows, Operation::kUpdate, kCircle).allowed())
      << "labels may change whatever was let in before";
  EXPECT_EQ(Judge(kCircle, kJobFlows, Operation::kUpdate, kDiamond).code, 400);
}

}  // namespace
}  // namespace gangway::api::volcano
