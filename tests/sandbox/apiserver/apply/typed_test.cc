#include "sandbox/apiserver/apply/typed.h"

#include <string>

#include "api/json_value.h"
#include "api/schemas/schemas.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::sandbox::apply {
namespace {

using ::testing::ElementsAre;
namespace json = boost::json;

class TypedTest : public ::testing::Test {
 protected:
  static const schemas::SchemaNode& Pod() { return *schemas::Schemas::Shared().For(api::kPods)->root; }
  static const schemas::SchemaNode& Service() { return *schemas::Schemas::Shared().For(api::kServices)->root; }
  static const schemas::SchemaNode& Job() { return *schemas::Schemas::Shared().For(api::kJobs)->root; }
  static json::value Parse(absl::string_view text) { return *api::ParseJson(text); }
  static std::string Fields(absl::string_view config, const schemas::SchemaNode& type) {
    return FieldsOf(Parse(config), type).ToFieldsV1();
  }
  static std::string Merged(absl::string_view live, absl::string_view config, const schemas::SchemaNode& type) {
    return api::ToJson(Merge(Parse(live), Parse(config), type));
  }
  static std::string Difference(absl::string_view before, absl::string_view after, const schemas::SchemaNode& type) {
    const Comparison out = Compare(Parse(before), Parse(after), type);
    return "changed " + out.changed.ToFieldsV1() + " removed " + out.removed.ToFieldsV1();
  }
};

TEST_F(TypedTest, FieldsOfAConfiguration) {
  EXPECT_EQ(
      Fields(
          R"({"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","ports":[{"containerPort":80}],"command":["x"]}],"nodeSelector":{"a":"b"},"volumes":[]}})",
          Pod()),
      R"({"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:command":{},"f:name":{},)"
      R"("f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}},"f:nodeSelector":{}}})");
  EXPECT_EQ(Fields(R"({"metadata":{"labels":{},"annotations":null,"finalizers":["b/c","a/b"]}})", Pod()),
            R"({"f:metadata":{"f:annotations":{},"f:finalizers":{"v:\"a/b\"":{},"v:\"b/c\"":{}},"f:labels":{}}})");
}

TEST_F(TypedTest, ElementsThatStandTwiceAreOwnedAsOne) {
  EXPECT_EQ(Fields(R"({"spec":{"containers":[{"name":"c","image":"a"},{"name":"c","image":"b"}]}})", Pod()),
            R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{}}}})");
}

TEST_F(TypedTest, ListsOfVolcanosTypesAreAtomicTheirTemplatesAreNot) {
  EXPECT_EQ(Fields(R"({"spec":{"tasks":[{"name":"w"}],"plugins":{"svc":[]},"minAvailable":1}})", Job()),
            R"({"f:spec":{"f:minAvailable":{},"f:plugins":{"f:svc":{}},"f:tasks":{}}})");
}

TEST_F(TypedTest, ComparesFieldByField) {
  EXPECT_EQ(Difference(R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}]}})",
                       R"({"spec":{"containers":[{"name":"b","image":"2"},{"name":"a","image":"1"}],"nodeName":"n"}})",
                       Pod()),
            R"(changed {"f:spec":{"f:containers":{"k:{\"name\":\"b\"}":{"f:image":{}}},"f:nodeName":{}}} removed {})");
  EXPECT_EQ(Difference(R"({"metadata":{"labels":{"a":"1","b":"1"}}})", R"({"metadata":{"labels":{"b":"2"}}})", Pod()),
            R"(changed {"f:metadata":{"f:labels":{"f:b":{}}}} removed {"f:metadata":{"f:labels":{"f:a":{}}}})");
}

// kube-apiserver sees Go's objects: what Go drops was never there, what it always writes always is.
TEST_F(TypedTest, SeesCoreTypesAsGoWritesThem) {
  EXPECT_EQ(
      Difference("{}",
                 R"({"spec":{"containers":[{"name":"c","image":"i","env":[]}],"hostNetwork":false,"nodeSelector":{}}})",
                 Pod()),
      R"(changed {"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{},"f:resources":{}}}}} removed {})");
  EXPECT_EQ(Difference(R"({"spec":{"hostNetwork":false}})", R"({"spec":{}})", Pod()), "changed {} removed {}");
}

TEST_F(TypedTest, MergeLaysTheConfigurationOver) {
  EXPECT_EQ(
      Merged(R"({"spec":{"nodeSelector":{"a":"b"},"containers":[{"name":"a","image":"1","command":["x"]}]}})",
             R"({"spec":{"nodeSelector":{"c":"d"},"containers":[{"name":"a","command":["y"]},{"name":"b"}]}})", Pod()),
      R"({"spec":{"nodeSelector":{"c":"d"},"containers":[{"name":"a","image":"1","command":["y"]},{"name":"b"}]}})");
}

struct OrderCase {
  const char *live, *config, *merged;
};
// structured-merge-diff: the cases of typed/merge_test.go for the order of list elements.
TEST_F(TypedTest, TheOrderOfMergedLists) {
  const auto list = [](absl::string_view names) {
    std::string out = R"({"metadata":{"finalizers":[)";
    for (std::size_t i = 0; i < names.size(); ++i) out += std::string(i == 0 ? "\"" : ",\"") + names[i] + "\"";
    return out + "]}}";
  };
  for (const OrderCase& c : {OrderCase{"abc", "ab", "abc"},
                             {"abc", "cb", "acb"},
                             {"ab", "xa", "xab"},
                             {"abc", "cxa", "bcxa"},
                             {"abcd", "dcba", "dcba"},
                             {"", "ab", "ab"},
                             {"ab", "", "ab"},
                             {"acx", "abc", "abcx"}}) {
    EXPECT_EQ(Merged(list(c.live), list(c.config), Pod()), list(c.merged)) << c.live << " + " << c.config;
  }
}

TEST_F(TypedTest, WithoutKeepsWhatIsAround) {
  const FieldSet gone = *FieldSet::FromFieldsV1(absl::string_view(
      R"({"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:env":{"k:{\"name\":\"E\"}":{}}},"k:{\"name\":\"b\"}":{}}}})"));
  EXPECT_EQ(api::ToJson(Without(Parse(R"({"spec":{"containers":[{"name":"a","env":[{"name":"E"}]},{"name":"b"}]}})"),
                                gone, Pod())),
            R"({"spec":{"containers":[{"name":"a","env":[]}]}})");
}

TEST_F(TypedTest, MistakesAreThoseOfKubernetes) {
  const auto mistakes = [](absl::string_view config, const schemas::SchemaNode& type) {
    return Mistakes(Parse(config), type);
  };
  EXPECT_THAT(mistakes(R"({"spec":{"foo":1}})", Pod()), ElementsAre(".spec.foo: field not declared in schema"));
  EXPECT_THAT(
      mistakes(
          R"({"spec":{"containers":[{"name":"a","image":3,"tty":"yes","command":"x","env":[{"name":"A"},{"name":"A"}]}],"priority":"x"}})",
          Pod()),
      ElementsAre(".spec.containers[name=\"a\"].command: expected list, got &{x}",
                  ".spec.containers[name=\"a\"].env: duplicate entries for key [name=\"A\"]",
                  ".spec.containers[name=\"a\"].image: expected string, got &value.valueUnstructured{Value:3}",
                  ".spec.containers[name=\"a\"].tty: expected boolean, got &{yes}",
                  ".spec.priority: expected numeric (int or float), got string"));
  EXPECT_THAT(
      mistakes(R"({"metadata":{"finalizers":[{}]}})", Pod()),
      ElementsAre(".metadata.finalizers: element 0: associative list without keys has an element that's a map type"));
  EXPECT_THAT(mistakes(R"({"spec":{"tasks":[{"foo":1}]}})", Job()),
              ElementsAre(".spec.tasks[0].foo: field not declared in schema"));
}

}  // namespace
}  // namespace gangway::sandbox::apply
