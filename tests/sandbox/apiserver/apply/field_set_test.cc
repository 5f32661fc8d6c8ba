#include "sandbox/apiserver/apply/field_set.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::sandbox::apply {
namespace {

using ::testing::ElementsAre;

FieldSet Set(absl::string_view fields_v1) { return *FieldSet::FromFieldsV1(fields_v1); }

std::vector<std::string> PathsOf(const FieldSet& set) {
  std::vector<std::string> out;
  set.ForEach([&](const Path& path) { out.push_back(ToText(path)); });
  return out;
}

TEST(FieldSetTest, TextIsThatOfKubernetes) {
  // Written by kube-apiserver 1.36 for a pod.
  const std::string text =
      R"({"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},)"
      R"("f:env":{".":{},"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}},"k:{\"name\":\"B\"}":{".":{},"f:name":{},)"
      R"("f:value":{}}},"f:image":{},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},)"
      R"("f:containerPort":{},"f:protocol":{}},"k:{\"containerPort\":443,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},)"
      R"("f:protocol":{}}}}},"f:restartPolicy":{}}})";
  EXPECT_EQ(Set(text).ToFieldsV1(), text);
}

TEST(FieldSetTest, OrdersStepsAsKubernetesDoes) {
  EXPECT_EQ(
      Set(R"({"v:\"b\"":{},"v:2":{},"k:{\"port\":443}":{},"f:b":{},"k:{\"port\":80}":{},"v:10":{},"f:a":{},"v:\"a\"":{}})")
          .ToFieldsV1(),
      R"({"f:a":{},"f:b":{},"k:{\"port\":80}":{},"k:{\"port\":443}":{},"v:2":{},"v:10":{},"v:\"a\"":{},"v:\"b\"":{}})");
  // A string that another one begins with comes first, whatever follows.
  EXPECT_EQ(Set(R"({"k:{\"name\":\"a b\"}":{},"k:{\"name\":\"a\"}":{},"k:{\"name\":\"a\\\"\"}":{}})").ToFieldsV1(),
            R"({"k:{\"name\":\"a\"}":{},"k:{\"name\":\"a b\"}":{},"k:{\"name\":\"a\\\"\"}":{}})");
}

TEST(FieldSetTest, KeysAreCanonical) {
  EXPECT_EQ(Set(R"({"k:{\"protocol\": \"TCP\", \"port\": 80}":{}})").ToFieldsV1(),
            R"({"k:{\"port\":80,\"protocol\":\"TCP\"}":{}})");
  EXPECT_EQ(Set(R"({"v:\"a<b\"":{}})").ToFieldsV1(), R"({"v:\"a\\u003cb\"":{}})");
}

TEST(FieldSetTest, WhatCannotBeRead) {
  for (const char* broken : {"[]", "{", R"({"f":{}})", R"({"x":{}})", R"({"k:nonsense":{}})", R"({"k:[1]":{}})",
                             R"({"i:x":{}})", R"({"f:a":1})", R"({"f:a":{"k:{":{}}})"}) {
    EXPECT_FALSE(FieldSet::FromFieldsV1(absl::string_view(broken)).has_value()) << broken;
  }
  EXPECT_EQ(Set(R"({"q:future":{},"f:a":{}})").ToFieldsV1(), R"({"f:a":{}})")
      << "kinds of a later version are left out";
}

TEST(FieldSetTest, Operations) {
  const FieldSet a = Set(R"({"f:a":{},"f:b":{".":{},"f:c":{}}})"), b = Set(R"({"f:b":{},"f:d":{}})");
  EXPECT_EQ(FieldSet::Union(a, b).ToFieldsV1(), R"({"f:a":{},"f:b":{".":{},"f:c":{}},"f:d":{}})");
  EXPECT_EQ(FieldSet::Intersection(a, b).ToFieldsV1(), R"({"f:b":{}})");
  EXPECT_EQ(FieldSet::Difference(a, b).ToFieldsV1(), R"({"f:a":{},"f:b":{"f:c":{}}})")
      << "what is below a parent stays";
  EXPECT_EQ(FieldSet::RecursiveDifference(a, b).ToFieldsV1(), R"({"f:a":{}})");
}

TEST(FieldSetTest, PathsAreShownAsInConflicts) {
  EXPECT_THAT(
      PathsOf(Set(
          R"({"f:spec":{"f:c":{"k:{\"name\":\"x\",\"port\":8}":{".":{},"f:image":{}}},"f:finalizers":{"v:\"a/b\"":{}}},"f:z":{}})")),
      ElementsAre(".z", ".spec.c[name=\"x\",port=8]", ".spec.c[name=\"x\",port=8].image",
                  ".spec.finalizers[=\"a/b\"]"));
}

// Sets of random paths against the same sets as lists of texts.
FieldSet RandomSet(std::mt19937& random) {
  FieldSet out;
  for (int n = static_cast<int>(random() % 12); n > 0; --n) {
    Path path;
    for (int depth = 1 + static_cast<int>(random() % 3); depth > 0; --depth) {
      PathElement step;
      const std::string names[] = {"f:a", "f:b",      R"(k:{"n":1})", R"(k:{"n":10})", R"(k:{"n":"x"})",
                                   "v:3", R"(v:"s")", "i:0"};
      EXPECT_EQ(PathElement::Read(names[random() % 8], &step), PathElement::Reading::kOk);
      path.push_back(step);
    }
    out.Insert(path);
  }
  return out;
}
std::vector<std::string> Sorted(std::vector<std::string> v) {
  std::sort(v.begin(), v.end());
  return v;
}

TEST(FieldSetTest, RandomSetsBehaveAsSetsOfPaths) {
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    const FieldSet a = RandomSet(random), b = RandomSet(random);
    const std::vector<std::string> x = Sorted(PathsOf(a)), y = Sorted(PathsOf(b));
    std::vector<std::string> expected;
    std::set_union(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(expected));
    ASSERT_EQ(Sorted(PathsOf(FieldSet::Union(a, b))), expected) << i;
    expected.clear();
    std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(expected));
    ASSERT_EQ(Sorted(PathsOf(FieldSet::Intersection(a, b))), expected) << i;
    expected.clear();
    std::set_difference(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(expected));
    const FieldSet difference = FieldSet::Difference(a, b);
    ASSERT_EQ(Sorted(PathsOf(difference)), expected) << i;
    ASSERT_EQ(FieldSet::Union(difference, FieldSet::Intersection(a, b)), a) << i;
    ASSERT_EQ(FieldSet::Difference(a.Copy(), b), difference) << i;
    ASSERT_EQ(FieldSet::RecursiveDifference(a.Copy(), b), FieldSet::RecursiveDifference(a, b)) << i;
    ASSERT_EQ(Set(a.ToFieldsV1()), a) << a.ToFieldsV1();
    ASSERT_EQ(a.Copy(), a);
    ASSERT_EQ(a.Size(), x.size());
    for (const std::string& path : PathsOf(FieldSet::RecursiveDifference(a, b))) {
      for (const std::string& gone : y)
        ASSERT_FALSE(absl::string_view(path).substr(0, gone.size()) == gone &&
                     (path.size() == gone.size() || path[gone.size()] == '.' || path[gone.size()] == '['))
            << path;
    }
  }
}

}  // namespace
}  // namespace gangway::sandbox::apply
