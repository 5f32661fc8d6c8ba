#include "sandbox/cel/expression.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::sandbox::cel {
namespace {

using ::testing::HasSubstr;

constexpr absl::string_view kKnown[] = {"object", "oldObject", "request"};

// "true", "false", or why there is no answer.
std::string Answer(absl::string_view text) {
  const auto expression = Expression::Parse(text, kKnown);
  if (!expression.ok()) return absl::StrCat("refused: ", expression.status().message());
  const boost::json::value object = *api::ParseJson(
      R"({"spec":{"replicas":3,"queue":"ads","tasks":[{"name":"ps"},{"name":"worker"}],"labels":{"app.kubernetes.io/name":"x"},"none":null}})");
  const boost::json::value request = *api::ParseJson(R"({"operation":"CREATE","resource":{"resource":"jobs"}})");
  const auto holds = expression->Holds({{"object", &object}, {"oldObject", nullptr}, {"request", &request}});
  if (!holds.ok()) return std::string(holds.status().message());
  return *holds ? "true" : "false";
}

TEST(ExpressionTest, FieldsAreComparedAsCelDoes) {
  EXPECT_EQ(Answer("object.spec.replicas == 3 && object.spec.queue == 'ads'"), "true");
  EXPECT_EQ(Answer("object.spec.replicas >= 4"), "false");
  EXPECT_EQ(Answer("-1 < object.spec.replicas"), "true");
  EXPECT_EQ(Answer("object.spec.queue > 'adr'"), "true");
  EXPECT_EQ(Answer("object.spec['labels']['app.kubernetes.io/name'] == \"x\""), "true");
  EXPECT_EQ(Answer("object.spec.tasks[1].name == 'worker'"), "true");
  EXPECT_EQ(Answer("request.operation in ['CREATE', 'UPDATE']"), "true");
  EXPECT_EQ(Answer("'queue' in object.spec"), "true");
  EXPECT_EQ(Answer("oldObject == null"), "true");
  EXPECT_EQ(Answer("object.spec == object.spec"), "true");
  EXPECT_EQ(Answer("object.spec != object.spec.tasks"), "true");
  EXPECT_EQ(Answer("request.operation == 'CREATE' ? object.spec.replicas == 3 : false"), "true");
  EXPECT_EQ(Answer("!(object.spec.queue == 'ads')"), "false");
}

TEST(ExpressionTest, FieldsThatAreNotThereAreAskedForWithHas) {
  EXPECT_EQ(Answer("has(object.spec.queue)"), "true");
  EXPECT_EQ(Answer("has(object.status)"), "false");
  EXPECT_EQ(Answer("has(object.spec.none)"), "false");
  EXPECT_EQ(Answer("object.status.phase == 'x'"), "no such key: status");
  EXPECT_EQ(Answer("oldObject.spec.queue == 'x'"), "no such key: spec");
}

// CEL: a side that decides makes up for an error on the other.
TEST(ExpressionTest, ASideThatDecidesMakesUpForAnErrorOfTheOther) {
  EXPECT_EQ(Answer("object.status.phase == 'x' || true"), "true");
  EXPECT_EQ(Answer("object.status.phase == 'x' && false"), "false");
  EXPECT_EQ(Answer("object.status.phase == 'x' && true"), "no such key: status");
}

TEST(ExpressionTest, FunctionsAndMacros) {
  EXPECT_EQ(Answer("object.spec.queue.startsWith('a') && object.spec.queue.endsWith('s')"), "true");
  EXPECT_EQ(Answer("object.spec.queue.contains('x')"), "false");
  EXPECT_EQ(Answer("size(object.spec.tasks) == 2 && object.spec.queue.size() == 3"), "true");
  EXPECT_EQ(Answer("object.spec.tasks.all(t, t.name != '')"), "true");
  EXPECT_EQ(Answer("object.spec.tasks.exists(t, t.name == 'ps')"), "true");
  EXPECT_EQ(Answer("object.spec.tasks.exists_one(t, has(t.name))"), "false");
  EXPECT_EQ(Answer("object.spec.labels.exists(k, k.endsWith('name'))"), "true");
  EXPECT_EQ(Answer("object.spec.tasks.all(t, t.image == 'x')"), "no such key: image");
}

// The one that Gangway's own webhook has.
TEST(ExpressionTest, ConditionsOfOurOwnWebhook) {
  EXPECT_EQ(Answer("request.resource.resource != 'podgroups' || request.operation != 'UPDATE' ||\n"
                   "has(object.spec) != has(oldObject.spec) || (has(object.spec) && object.spec != oldObject.spec)"),
            "true");
}

TEST(ExpressionTest, WhatIsNotInOurPartOfTheLanguageIsRefusedWithItsPlace) {
  EXPECT_EQ(Answer("object.spec.queue.matches('a.*')"),
            "refused: at byte 26: the function matches is not evaluated here");
  EXPECT_EQ(Answer("object.spec.replicas + 1 == 4"), "refused: at byte 21: the operator '+' is not evaluated here");
  EXPECT_EQ(Answer("authorizer.group('').check('x').allowed()"),
            "refused: at byte 0: undeclared reference to 'authorizer'");
  EXPECT_EQ(Answer("int(object.spec.queue) == 1"), "refused: at byte 4: the function int is not evaluated here");
  EXPECT_EQ(Answer("1.5 == 1.5"), "refused: at byte 1: of numbers only integers are evaluated here");
  EXPECT_EQ(Answer("object.spec.tasks.all(t, true) && t == 1"), "refused: at byte 34: undeclared reference to 't'");
  for (const absl::string_view broken :
       {"", "(", "object.", "object ==", "'x", "[1", "a b", "has(object)", "true true", "? :"})
    EXPECT_THAT(Answer(broken), HasSubstr("refused: at byte")) << broken;
}

TEST(ExpressionTest, WhatIsNoTruthIsNoAnswer) {
  EXPECT_EQ(Answer("object.spec.queue"), "no such overload: a condition must be a truth");
  EXPECT_EQ(Answer("object.spec.queue < 1"), "no such overload: <");
}

TEST(ExpressionTest, LongAndDeepExpressionsAreRefused) {
  EXPECT_THAT(Answer(std::string(20'000, ' ')), HasSubstr("longer than"));
  EXPECT_THAT(Answer(absl::StrCat(std::string(200, '('), "true", std::string(200, ')'))), HasSubstr("deeper than"));
  EXPECT_THAT(Answer(absl::StrCat(std::string(200, '!'), "true")), HasSubstr("deeper than"));
  std::string chain = "true", fields = "object";
  for (int i = 0; i < 1000; ++i) chain += " && true", fields += ".a";
  EXPECT_THAT(Answer(chain), HasSubstr("more than 200 operators"));
  EXPECT_THAT(Answer(fields), HasSubstr("more than 64 steps"));
}

TEST(ExpressionTest, AnEvaluationThatTakesTooLongEnds) {
  std::string list = "[";
  for (int i = 0; i < 200; ++i) list += "1,";
  list += "1]";
  EXPECT_EQ(Answer(absl::StrCat(list, ".all(a, ", list, ".all(b, ", list, ".all(c, a == b && b == c)))")),
            "the expression takes too long");
}

// Of the expression alone each of these is a few thousand steps; of what it looks at they are milliards.
TEST(ExpressionTest, WhatIsLookedAtOfLargeObjectsCounts) {
  boost::json::array many;
  for (int i = 0; i < 20'000; ++i) many.emplace_back(i);
  const boost::json::value object{{"list", many}, {"text", std::string(1 << 20, 'x')}, {"few", {1, 2, 3}}};
  std::string ones = "[1";
  for (int i = 0; i < 1000; ++i) ones += ",1";
  ones += "]";
  const auto answer = [&](const std::string& text) {
    const auto expression = Expression::Parse(text, kKnown);
    const auto holds = expression->Holds({{"object", &object}});
    return holds.ok() ? std::string(*holds ? "true" : "false") : std::string(holds.status().message());
  };
  EXPECT_EQ(answer("object == object && size(object.text) > 0 && object.few == [1, 2, 3]"), "true");
  const std::string too_long = "the expression takes too long";
  std::string copies = "size([object";
  for (int i = 0; i < 1000; ++i) copies += ",object";
  EXPECT_EQ(answer(copies + "]) == 1001"), too_long);
  EXPECT_EQ(answer(ones + ".all(one, object.list == object.list)"), too_long);
  EXPECT_EQ(answer(ones + ".all(one, one in object.list)"), "true");
  EXPECT_EQ(answer(ones + ".all(one, !(-1 in object.list))"), too_long);
  EXPECT_EQ(answer(ones + ".all(one, object.list.exists(each, true))"), too_long);
  EXPECT_EQ(answer(ones + ".all(one, object.text.contains('x'))"), too_long);
  EXPECT_EQ(answer(ones + ".all(one, size(object.text) > 0)"), too_long);
  EXPECT_EQ(answer(ones + ".all(one, object.text <= object.text)"), too_long);
}

TEST(ExpressionTest, ARefusalNamesWholeLetters) {
  EXPECT_EQ(Answer("true é"), "refused: at byte 5: unexpected 'é'");
  EXPECT_EQ(Answer("true \xc3"), "refused: at byte 5: unexpected byte 0xc3");
}

}  // namespace
}  // namespace gangway::sandbox::cel
