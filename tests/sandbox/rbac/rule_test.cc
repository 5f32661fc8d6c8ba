#include "sandbox/rbac/rule.h"

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/apiserver/draft/draft.h"
#include "tests/testing/status_matchers.h"

namespace gangway::sandbox::rbac {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Rules = std::vector<Rule>;

Attributes Resource(std::string verb, std::string group, std::string resource, std::string subresource = "",
                    std::string name = "") {
  Attributes out;
  out.verb = std::move(verb);
  out.group = std::move(group);
  out.resource = std::move(resource);
  out.subresource = std::move(subresource);
  out.name = std::move(name);
  return out;
}
Attributes Path(std::string verb, std::string path) {
  Attributes out;
  out.of_resource = false;
  out.verb = std::move(verb);
  out.path = std::move(path);
  return out;
}

struct RuleCase {
  const char* name;
  Rule rule;
  Attributes what;
  bool allowed;
};

class RuleTest : public ::testing::TestWithParam<RuleCase> {};

TEST_P(RuleTest, Allows) { EXPECT_EQ(Allows(GetParam().rule, GetParam().what), GetParam().allowed); }

INSTANTIATE_TEST_SUITE_P(
    All, RuleTest,
    ::testing::Values(
        RuleCase{"Exactly", {{"get"}, {""}, {"pods"}, {}, {}}, Resource("get", "", "pods"), true},
        RuleCase{"AnotherVerb", {{"get"}, {""}, {"pods"}, {}, {}}, Resource("list", "", "pods"), false},
        RuleCase{"AnotherGroup", {{"get"}, {"apps"}, {"pods"}, {}, {}}, Resource("get", "", "pods"), false},
        RuleCase{"AnotherResource", {{"get"}, {""}, {"pods"}, {}, {}}, Resource("get", "", "nodes"), false},
        RuleCase{"EveryVerb", {{"*"}, {""}, {"pods"}, {}, {}}, Resource("deletecollection", "", "pods"), true},
        RuleCase{"EveryGroup", {{"get"}, {"*"}, {"jobs"}, {}, {}}, Resource("get", "batch.volcano.sh", "jobs"), true},
        RuleCase{"EveryResourceWithItsParts", {{"get"}, {""}, {"*"}, {}, {}}, Resource("get", "", "pods", "log"), true},
        RuleCase{"APartIsNotTheWhole", {{"get"}, {""}, {"pods/log"}, {}, {}}, Resource("get", "", "pods"), false},
        RuleCase{"TheWholeIsNotAPart", {{"get"}, {""}, {"pods"}, {}, {}}, Resource("get", "", "pods", "log"), false},
        RuleCase{"ThatPartOfAll", {{"get"}, {""}, {"*/log"}, {}, {}}, Resource("get", "", "pods", "log"), true},
        RuleCase{"AnotherPartOfAll", {{"get"}, {""}, {"*/status"}, {}, {}}, Resource("get", "", "pods", "log"), false},
        RuleCase{"ByName", {{"get"}, {""}, {"pods"}, {"a", "b"}, {}}, Resource("get", "", "pods", "", "b"), true},
        RuleCase{"ByAnotherName", {{"get"}, {""}, {"pods"}, {"a"}, {}}, Resource("get", "", "pods", "", "b"), false},
        RuleCase{"ByNameIsNoCollection", {{"list"}, {""}, {"pods"}, {"a"}, {}}, Resource("list", "", "pods"), false},
        RuleCase{"AUrl", {{"get"}, {}, {}, {}, {"/metrics"}}, Path("get", "/metrics"), true},
        RuleCase{"BelowAUrl", {{"get"}, {}, {}, {}, {"/metrics"}}, Path("get", "/metrics/a"), false},
        RuleCase{"UrlsThatBeginSo", {{"get"}, {}, {}, {}, {"/logs/*"}}, Path("get", "/logs/a/b"), true},
        RuleCase{"EveryUrl", {{"*"}, {}, {}, {}, {"*"}}, Path("post", "/x"), true},
        RuleCase{"ResourcesAreNoUrls", {{"*"}, {"*"}, {"*"}, {}, {}}, Path("get", "/x"), false},
        RuleCase{"UrlsAreNoResources", {{"*"}, {}, {}, {}, {"*"}}, Resource("get", "", "pods"), false}),
    [](const auto& c) { return c.param.name; });

TEST(MissingRightsTest, NothingIsMissingOfWhatIsHeld) {
  const std::vector<Rule> held{{{"get", "list"}, {"", "apps"}, {"pods", "*/status"}, {}, {}},
                               {{"get"}, {}, {}, {}, {"/metrics/*"}}};
  EXPECT_THAT(*MissingRights(held, Rules{{{"get"}, {""}, {"pods"}, {}, {}}}), IsEmpty());
  EXPECT_THAT(*MissingRights(held, Rules{{{"get"}, {""}, {"pods"}, {"one"}, {}}}), IsEmpty());
  EXPECT_THAT(*MissingRights(held, Rules{{{"list"}, {"apps"}, {"deployments/status"}, {}, {}}}), IsEmpty());
  EXPECT_THAT(*MissingRights(held, Rules{{{"get"}, {}, {}, {}, {"/metrics/a*"}}}), IsEmpty());
  EXPECT_THAT(*MissingRights(held, Rules{}), IsEmpty());
}

TEST(MissingRightsTest, WhatIsMissingIsPutTogetherByItsResource) {
  const std::vector<Rule> held{{{"get"}, {""}, {"pods"}, {"one"}, {}}};
  const std::vector<Rule> missing = *MissingRights(
      held, Rules{{{"get", "list"}, {""}, {"pods"}, {}, {}}, {{"get"}, {""}, {"pods"}, {"one", "two"}, {}}});
  EXPECT_THAT(missing,
              ElementsAre(Rule{{"get", "list"}, {""}, {"pods"}, {}, {}}, Rule{{"get"}, {""}, {"pods"}, {"two"}, {}}));
  EXPECT_EQ(Compact(missing[1]), R"({APIGroups:[""], Resources:["pods"], ResourceNames:["two"], Verbs:["get"]})");
}

// A single rule has to have it: two that each have a half are not enough for a star.
TEST(MissingRightsTest, AStarIsMoreThanWhatItStandsFor) {
  const std::vector<Rule> held{{{"get"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {""}, {"pods"}, {}, {}}};
  EXPECT_THAT(*MissingRights(held, Rules{{{"*"}, {"*"}, {"*"}, {}, {}}}),
              ElementsAre(Rule{{"*"}, {"*"}, {"*"}, {}, {}}));
}

TEST(MissingRightsTest, ThereIsAnEndToComparing) {
  Rule large;
  for (int i = 0; i < 300; ++i) large.verbs.push_back(absl::StrCat("v", i));
  large.groups = large.resources = large.verbs;
  EXPECT_THAT(MissingRights(Rules{large}, Rules{large}), testutil::StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST(ReadRulesTest, RulesAreReadAndWrittenAsTheyAre) {
  const std::string text =
      R"({"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["a"]},{"verbs":["get"],"nonResourceURLs":["/x"]}]})";
  const std::vector<Rule> rules = ReadRules(Draft::Parse(text)->object());
  EXPECT_THAT(rules, ElementsAre(Rule{{"get"}, {""}, {"pods"}, {"a"}, {}}, Rule{{"get"}, {}, {}, {}, {"/x"}}));
  EXPECT_EQ(api::ToJson(boost::json::object{{"rules", WriteRules(rules)}}), text);
}

}  // namespace
}  // namespace gangway::sandbox::rbac
