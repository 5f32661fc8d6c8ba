#include "sandbox/rbac/roles.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/apiserver/draft/draft.h"
#include "sandbox/rbac/bootstrap.h"

namespace gangway::sandbox::rbac {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RolesTest : public ::testing::Test {
 protected:
  void Role(const std::string& ns, const std::string& name, const std::string& verb, const std::string& more = "") {
    roles_.PutRole({ns, name}, Draft::Parse(absl::StrCat(R"({"rules":[{"verbs":[")", verb,
                                                         R"("],"apiGroups":[""],"resources":["pods"]}])", more, "}"))
                                   ->object());
  }
  void Bind(const std::string& ns, const std::string& name, const std::string& kind, const std::string& role,
            const std::string& subjects) {
    roles_.PutBinding({ns, name}, Draft::Parse(absl::StrCat(R"({"roleRef":{"kind":")", kind, R"(","name":")", role,
                                                            R"("},"subjects":[)", subjects, "]}"))
                                      ->object());
  }
  Verdict May(const std::string& user, const std::string& verb, const std::string& ns,
              std::vector<std::string> groups = {}) {
    Attributes what;
    what.verb = verb;
    what.resource = "pods";
    what.ns = ns;
    return roles_.Judge({user, "", std::move(groups), {}}, what);
  }
  static std::string Subject(const std::string& kind, const std::string& name, const std::string& ns = "") {
    return absl::StrCat(R"({"kind":")", kind, R"(","name":")", name, "\"",
                        ns.empty() ? "" : absl::StrCat(R"(,"namespace":")", ns, "\""), "}");
  }

  Roles roles_;
};

TEST_F(RolesTest, ABindingGivesARoleInItsNamespaceAlone) {
  Role("a", "r", "get");
  Bind("a", "b", "Role", "r", Subject("User", "jane"));
  EXPECT_TRUE(May("jane", "get", "a").allowed);
  EXPECT_EQ(May("jane", "get", "a").reason, R"(RBAC: allowed by RoleBinding "b/a" of Role "r" to User "jane")");
  EXPECT_FALSE(May("jane", "get", "b").allowed);
  EXPECT_FALSE(May("jane", "get", "").allowed);
  EXPECT_FALSE(May("joe", "get", "a").allowed);
  EXPECT_EQ(May("joe", "get", "a").reason, "");
}

TEST_F(RolesTest, ARoleOfTheClusterIsGivenInOneNamespaceOrInAll) {
  Role("", "c", "get");
  Role("", "d", "list");
  Bind("a", "b", "ClusterRole", "c", Subject("Group", "devs"));
  Bind("", "all", "ClusterRole", "d", Subject("Group", "devs"));
  EXPECT_TRUE(May("x", "get", "a", {"devs"}).allowed);
  EXPECT_FALSE(May("x", "get", "b", {"devs"}).allowed);
  EXPECT_TRUE(May("x", "list", "b", {"devs"}).allowed);
  EXPECT_EQ(May("x", "list", "", {"devs"}).reason,
            R"(RBAC: allowed by ClusterRoleBinding "all" of ClusterRole "d" to Group "devs")");
}

TEST_F(RolesTest, AServiceAccountIsOfTheBindingsNamespaceUnlessItSaysAnother) {
  Role("", "c", "get");
  Bind("a", "own", "ClusterRole", "c", Subject("ServiceAccount", "robot"));
  Bind("b", "other", "ClusterRole", "c", Subject("ServiceAccount", "robot", "a"));
  EXPECT_TRUE(May("system:serviceaccount:a:robot", "get", "a").allowed);
  EXPECT_EQ(May("system:serviceaccount:a:robot", "get", "b").reason,
            R"(RBAC: allowed by RoleBinding "other/b" of ClusterRole "c" to ServiceAccount "robot/a")");
  EXPECT_FALSE(May("system:serviceaccount:b:robot", "get", "a").allowed);
  EXPECT_FALSE(May("robot", "get", "a").allowed);
}

TEST_F(RolesTest, WhatIsTakenAwayIsGone) {
  Role("", "c", "get");
  Bind("", "b", "ClusterRole", "c", Subject("User", "jane"));
  Bind("", "b", "ClusterRole", "c", Subject("User", "joe"));  // in place of the first
  EXPECT_FALSE(May("jane", "get", "a").allowed);
  EXPECT_TRUE(May("joe", "get", "a").allowed);
  Role("", "c", "list");
  EXPECT_FALSE(May("joe", "get", "a").allowed);
  roles_.EraseRole({"", "c"});
  EXPECT_EQ(May("joe", "list", "a").reason, R"(RBAC: clusterrole.rbac.authorization.k8s.io "c" not found)");
  roles_.EraseBinding({"", "b"});
  EXPECT_EQ(May("joe", "list", "a").reason, "");
}

TEST_F(RolesTest, MastersMayDoEverything) { EXPECT_TRUE(May("x", "y", "z", {"system:masters"}).allowed); }

TEST_F(RolesTest, RulesAreThoseOfAllBindings) {
  Role("a", "r", "get");
  Role("", "c", "list");
  Bind("a", "b", "Role", "r", Subject("User", "jane"));
  Bind("a", "none", "Role", "none", Subject("User", "jane"));
  Bind("", "all", "ClusterRole", "c", Subject("Group", "devs"));
  const Roles::Held held = roles_.RulesFor({"jane", "", {"devs"}, {}}, "a");
  EXPECT_THAT(held.rules, ElementsAre(Rule{{"list"}, {""}, {"pods"}, {}, {}}, Rule{{"get"}, {""}, {"pods"}, {}, {}}));
  EXPECT_THAT(held.errors, ElementsAre(R"(role.rbac.authorization.k8s.io "none" not found)"));
  EXPECT_THAT(roles_.RulesFor({"jane", "", {}, {}}, "b").rules, IsEmpty());
}

TEST_F(RolesTest, ThereIsAnEndToLooking) {
  std::string words;
  for (int i = 0; i < 20000; ++i) absl::StrAppend(&words, words.empty() ? "" : ",", "\"v", i, "\"");
  const Draft role =
      *Draft::Parse(absl::StrCat(R"({"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":[)", words, "]}]}"));
  roles_.PutRole({"", "large"}, role.object());
  for (int i = 0; i < 60; ++i) Bind("", absl::StrCat("b", 100 + i), "ClusterRole", "large", Subject("User", "jane"));
  Role("", "last", "get");
  Bind("", "z", "ClusterRole", "last", Subject("User", "jane"));
  EXPECT_FALSE(May("jane", "get", "a").allowed);
  EXPECT_THAT(May("jane", "get", "a").reason, HasSubstr("too many rules"));
}

TEST_F(RolesTest, RolesAreMadeOfOthersByTheirLabels) {
  roles_.PutRole({"", "sum"},
                 Draft::Parse(R"({"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"x":"y"}}]}})")->object());
  Role("", "one", "get", R"(,"metadata":{"labels":{"x":"y"}})");
  Role("", "two", "list", R"(,"metadata":{"labels":{"x":"z"}})");
  Role("a", "three", "watch", R"(,"metadata":{"labels":{"x":"y"}})");
  const auto wanted = roles_.ToAggregate();
  ASSERT_THAT(wanted, SizeIs(1));
  EXPECT_EQ(wanted[0].first, "sum");
  EXPECT_THAT(wanted[0].second, ElementsAre(Rule{{"get"}, {""}, {"pods"}, {}, {}}));
}

TEST(BootstrapTest, EachLineIsARoleOrABinding) {
  int count = 0;
  for (const absl::string_view line : absl::StrSplit(BootstrapObjects(), '\n', absl::SkipEmpty())) {
    const absl::StatusOr<Draft> object = Draft::Parse(line);
    ASSERT_TRUE(object.ok()) << line;
    EXPECT_THAT(std::string(FindText(object->object(), "kind")), ::testing::ContainsRegex("Role(Binding)?$"));
    ++count;
  }
  EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace gangway::sandbox::rbac
