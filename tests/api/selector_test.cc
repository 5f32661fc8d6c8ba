#include "api/selector.h"

#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::api {
namespace {

using ::gangway::testutil::StatusIs;
using ::testing::HasSubstr;
using ::testing::Pointee;
using Labels = std::map<std::string, std::string>;

LabelSelector Selector(absl::string_view query) {
  auto selector = LabelSelector::Parse(query);
  EXPECT_TRUE(selector.ok()) << query << ": " << selector.status();
  return selector.ok() ? *selector : LabelSelector::Nothing();
}

struct MatchCase {
  const char* query;
  Labels labels;
  bool matches;
};
class LabelMatchTest : public ::testing::TestWithParam<MatchCase> {};
TEST_P(LabelMatchTest, Matches) {
  EXPECT_EQ(Selector(GetParam().query).Matches(GetParam().labels), GetParam().matches) << GetParam().query;
}
INSTANTIATE_TEST_SUITE_P(
    All, LabelMatchTest,
    ::testing::Values(MatchCase{"", {}, true}, MatchCase{"", {{"x", "y"}}, true}, MatchCase{"  ", {}, true},
                      MatchCase{"x=y", {{"x", "y"}}, true}, MatchCase{"x==y", {{"x", "y"}}, true},
                      MatchCase{"x=y", {{"x", "z"}}, false}, MatchCase{"x=y", {}, false},
                      MatchCase{"x=", {{"x", ""}}, true}, MatchCase{"x=,z=a", {{"x", ""}, {"z", "a"}}, true},
                      MatchCase{"x!=y", {{"x", "z"}}, true}, MatchCase{"x!=y", {}, true},
                      MatchCase{"x!=y", {{"x", "y"}}, false}, MatchCase{"x=y,z=w", {{"x", "y"}, {"z", "w"}}, true},
                      MatchCase{"x=y,z=w", {{"x", "y"}}, false}, MatchCase{"x in (a,b)", {{"x", "b"}}, true},
                      MatchCase{"x in (a,b)", {{"x", "c"}}, false}, MatchCase{"x in (a,b)", {}, false},
                      MatchCase{"x notin (a,b)", {{"x", "b"}}, false}, MatchCase{"x notin (a,b)", {{"x", "c"}}, true},
                      MatchCase{"x notin (a,b)", {}, true}, MatchCase{"x in (a,,b)", {{"x", ""}}, true},
                      MatchCase{"x in (,a)", {{"x", ""}}, true}, MatchCase{"x in (a,)", {{"x", ""}}, true},
                      MatchCase{"x in ()", {{"x", ""}}, true}, MatchCase{"x in ()", {{"x", "a"}}, false},
                      MatchCase{"x notin ()", {{"x", "a"}}, true}, MatchCase{"x", {{"x", "anything"}}, true},
                      MatchCase{"x", {}, false}, MatchCase{"!x", {}, true}, MatchCase{"! x", {{"x", ""}}, false},
                      MatchCase{"x>1", {{"x", "2"}}, true}, MatchCase{"x>1", {{"x", "1"}}, false},
                      MatchCase{"x<7", {{"x", "5"}}, true}, MatchCase{"x<2", {{"x", "5"}}, false},
                      MatchCase{"x>1", {{"x", "ten"}}, false}, MatchCase{"x>1", {}, false},
                      MatchCase{"in in (in,notin)", {{"in", "notin"}}, true},
                      MatchCase{" a = b , c in ( d , e ) ,\t!f,g ", {{"a", "b"}, {"c", "e"}, {"g", ""}}, true},
                      MatchCase{
                          "volcano.sh/job-name=ctr,volcano.sh/task-spec!=ps", {{"volcano.sh/job-name", "ctr"}}, true}));

struct BadQuery {
  const char* query;
  const char* message;
};
class BadLabelQueryTest : public ::testing::TestWithParam<BadQuery> {};
TEST_P(BadLabelQueryTest, IsRefused) {
  EXPECT_THAT(LabelSelector::Parse(GetParam().query),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().message)));
}
INSTANTIATE_TEST_SUITE_P(
    All, BadLabelQueryTest,
    ::testing::Values(
        BadQuery{",", "found ',', expected: !, identifier, or 'end of string'"},
        BadQuery{"=a", "found '=', expected: !, identifier"},
        BadQuery{"x=a,", "found '', expected: identifier after ','"},
        BadQuery{"x=a,,y=b", "found ',', expected: identifier after ','"},
        BadQuery{"x=a b", "found 'b', expected: ',' or 'end of string'"},
        BadQuery{"x y", "found 'y', expected: in, notin, =, ==, !=, gt, lt"},
        BadQuery{"!x=a", "found '=', expected: ',' or 'end of string'"},
        BadQuery{"!!x", "found '!', expected: identifier"}, BadQuery{"!", "found '', expected: identifier"},
        BadQuery{"x==a==b", "found '==', expected: ',' or 'end of string'"},
        BadQuery{"x=!a", "found '!', expected: identifier"}, BadQuery{"x in a", "found 'a', expected: '('"},
        BadQuery{"x in (a", "found '', expected: ',' or ')'"},
        BadQuery{"x in (a b)", "found 'b', expected: ',' or ')'"},
        BadQuery{"x in (=)", "found '=', expected: ',', ')' or identifier"},
        BadQuery{"x in (a))", "found ')', expected: ',' or 'end of string'"},
        BadQuery{"a^b=c", "key: Invalid value: \"a^b\": name part must consist of"},
        BadQuery{"a/b/c=d", "a qualified name must consist of"},
        BadQuery{"x=a^b", "values[0][x]: Invalid value: \"a^b\": a valid label must be an empty string or"},
        BadQuery{"x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                 "must be no more than 63 characters"},
        BadQuery{"x>a", "for 'Gt', 'Lt' operators, the value must be an integer"},
        BadQuery{"x<99999999999999999999", "must be an integer"}));

TEST(LabelSelectorTest, TextReadsBack) {
  for (const char* query : {"", "a=b", "!a", "a", "a in (b,c)", "a notin (,b)", "a!=b,c>3,d<4"}) {
    EXPECT_EQ(Selector(query).ToString(), query);
    EXPECT_EQ(Selector(Selector(query).ToString()).requirements(), Selector(query).requirements());
  }
  EXPECT_EQ(Selector("z=1, b in (y,x,y) ,a").ToString(), "a,b in (x,y),z=1");
}

TEST(LabelSelectorTest, KnowsWhetherItSelectsEverything) {
  EXPECT_TRUE(Selector("").selects_everything());
  EXPECT_FALSE(Selector("a").selects_everything());
  EXPECT_FALSE(LabelSelector::Nothing().selects_everything());
  EXPECT_FALSE(LabelSelector::Nothing().Matches({}));
}

TEST(LabelSelectorTest, FromLabelsAsksForAllOfThem) {
  const LabelSelector selector = LabelSelector::FromLabels({{"a", "1"}, {"b", "2"}});
  EXPECT_TRUE(selector.Matches({{"a", "1"}, {"b", "2"}, {"c", "3"}}));
  EXPECT_FALSE(selector.Matches({{"a", "1"}}));
  EXPECT_EQ(selector.ToString(), "a=1,b=2");
}

TEST(LabelSelectorTest, FromJsonTakesLabelsAndExpressions) {
  const auto selector = LabelSelector::FromJson(
      R"({"matchLabels":{"app":"web"},"matchExpressions":[{"key":"env","operator":"In","values":["prod","test"]},)"
      R"({"key":"zone","operator":"NotIn","values":["a"]},{"key":"gpu","operator":"Exists"},{"key":"old","operator":"DoesNotExist"}]})");
  GW_ASSERT_OK(selector.status());
  EXPECT_EQ(selector->ToString(), "app=web,env in (prod,test),gpu,!old,zone notin (a)");
  EXPECT_TRUE(selector->Matches({{"app", "web"}, {"env", "test"}, {"gpu", ""}}));
  EXPECT_FALSE(selector->Matches({{"app", "web"}, {"env", "test"}, {"gpu", ""}, {"old", "1"}}));
}

TEST(LabelSelectorTest, AnEmptyObjectSelectsEverythingAndAnAbsentOneNothing) {
  EXPECT_TRUE(LabelSelector::FromJson("{}")->Matches({{"a", "b"}}));
  EXPECT_FALSE(LabelSelector::FromJson("")->Matches({{"a", "b"}}));
  EXPECT_FALSE(LabelSelector::FromJson("null")->Matches({}));
}

TEST(LabelSelectorTest, FromJsonRefusesWhatKubernetesRefuses) {
  EXPECT_THAT(LabelSelector::FromJson(R"({"matchExpressions":[{"key":"a","operator":"Foo"}]})"),
              StatusIs(absl::StatusCode::kInvalidArgument, "\"Foo\" is not a valid label selector operator"));
  EXPECT_THAT(LabelSelector::FromJson(R"({"matchExpressions":[{"key":"a","operator":"In"}]})"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("values set can't be empty")));
  EXPECT_THAT(LabelSelector::FromJson(R"({"matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]})"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("values set must be empty")));
  EXPECT_THAT(LabelSelector::FromJson(R"({"matchLabels":{"a b":"c"}})"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"a b\"")));
  EXPECT_THAT(LabelSelector::FromJson(R"({"matchLabels":{"a":1}})"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("matchLabels.a: must be a string")));
  EXPECT_THAT(LabelSelector::FromJson("[]"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(LabelSelectorTest, AnyTextIsAnsweredAndWhatIsAcceptedReadsBack) {
  const std::string alphabet = "ab=!(),>< in\t";
  std::mt19937_64 random(5);
  int accepted = 0;
  for (int round = 0; round < 50000; ++round) {
    std::string query;
    for (auto n = random() % 12; n > 0; --n) query += alphabet[random() % alphabet.size()];
    const auto selector = LabelSelector::Parse(query);
    if (!selector.ok()) continue;
    ++accepted;
    const auto again = LabelSelector::Parse(selector->ToString());
    ASSERT_TRUE(again.ok()) << query << " -> " << selector->ToString();
    ASSERT_EQ(again->requirements(), selector->requirements()) << query;
  }
  EXPECT_GT(accepted, 500);
}

FieldSelector Fields(absl::string_view query) {
  auto selector = FieldSelector::Parse(query);
  EXPECT_TRUE(selector.ok()) << query << ": " << selector.status();
  return selector.ok() ? *selector : FieldSelector();
}

TEST(FieldSelectorTest, ComparesFields) {
  const auto value_of = [](absl::string_view field) -> std::string {
    return field == "metadata.name" ? "ctr" : field == "status.phase" ? "Running" : "";
  };
  EXPECT_TRUE(Fields("metadata.name=ctr").Matches(value_of));
  EXPECT_TRUE(Fields("metadata.name==ctr,status.phase!=Failed").Matches(value_of));
  EXPECT_FALSE(Fields("metadata.name=ctr,status.phase!=Running").Matches(value_of));
  EXPECT_TRUE(Fields("spec.nodeName=").Matches(value_of));
  EXPECT_TRUE(Fields("").Matches(value_of));
  EXPECT_TRUE(Fields(",metadata.name=ctr,").Matches(value_of));
}

TEST(FieldSelectorTest, TellsTheValueThatAFieldMustHave) {
  const FieldSelector selector = Fields("a!=x,metadata.name=ctr");
  EXPECT_THAT(selector.RequiredValue("metadata.name"), Pointee(std::string("ctr")));
  EXPECT_EQ(selector.RequiredValue("a"), nullptr);
  EXPECT_FALSE(selector.selects_everything());
  EXPECT_TRUE(Fields("").selects_everything());
}

TEST(FieldSelectorTest, BackslashesTakeTheMeaningAway) {
  const FieldSelector selector = Fields(R"(a=x\,y\=z\\,b!=c)");
  ASSERT_EQ(selector.requirements().size(), 2u);
  EXPECT_EQ(selector.requirements()[0].value, R"(x,y=z\)");
  EXPECT_EQ(selector.ToString(), R"(a=x\,y\=z\\,b!=c)");
}

TEST(FieldSelectorTest, RefusesWhatItCannotUnderstand) {
  EXPECT_THAT(FieldSelector::Parse("metadata.name"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "invalid selector: 'metadata.name'; can't understand 'metadata.name'"));
  EXPECT_THAT(FieldSelector::Parse("a=b,c"),
              StatusIs(absl::StatusCode::kInvalidArgument, "invalid selector: 'a=b,c'; can't understand 'c'"));
  EXPECT_THAT(FieldSelector::Parse("a=b=c"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("unescaped character in value")));
  EXPECT_THAT(FieldSelector::Parse(R"(a=\n)"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(R"(invalid escape sequence: \n)")));
  EXPECT_THAT(FieldSelector::Parse("a=b\\"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("invalid escape sequence")));
}

}  // namespace
}  // namespace gangway::api
