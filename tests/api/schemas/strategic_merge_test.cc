// Strategic merge patches: the examples of Kubernetes' documentation (sig-api-machinery/strategic-merge-patch.md) and
// what kubectl 1.32 sends.
#include "api/schemas/strategic_merge.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::schemas {
namespace {

using ::gangway::testutil::StatusIs;
using ::testing::HasSubstr;

boost::json::value Parse(absl::string_view json) { return api::ParseJson(json).value(); }

struct Case {
  const char* name;
  const api::Resource* resource;
  const char* target;
  const char* patch;
  const char* result;
};
class StrategicMergeTest : public ::testing::TestWithParam<Case> {};

TEST_P(StrategicMergeTest, Applies) {
  boost::json::value target = Parse(GetParam().target);
  GW_ASSERT_OK(StrategicMergePatch(target, Parse(GetParam().patch), *Schemas::Shared().For(*GetParam().resource)));
  EXPECT_EQ(api::ToJson(target), api::ToJson(Parse(GetParam().result)));
}

const Case kCases[] = {
    // New elements come first: "Update API Objects in Place Using kubectl patch" in Kubernetes' documentation shows it.
    {"ListsMergeByTheirKey", &api::kPods, R"({"spec":{"containers":[{"name":"nginx","image":"nginx-1.0"}]}})",
     R"({"spec":{"containers":[{"name":"log-tailer","image":"log-tailer-1.0"}]}})",
     R"({"spec":{"containers":[{"name":"log-tailer","image":"log-tailer-1.0"},{"name":"nginx","image":"nginx-1.0"}]}})"},
    {"ElementsMergeInside", &api::kPods,
     R"({"spec":{"containers":[{"name":"a","image":"1","args":["x","y"]},{"name":"b"}]}})",
     R"({"spec":{"containers":[{"name":"a","image":"2","args":["z"]}]}})",
     R"({"spec":{"containers":[{"name":"a","image":"2","args":["z"]},{"name":"b"}]}})"},
    {"ReplaceAList", &api::kPods, R"({"spec":{"containers":[{"name":"nginx","image":"nginx-1.0"}]}})",
     R"({"spec":{"containers":[{"name":"log-tailer","image":"log-tailer-1.0"},{"$patch":"replace"}]}})",
     R"({"spec":{"containers":[{"name":"log-tailer","image":"log-tailer-1.0"}]}})"},
    {"DeleteAnElement", &api::kPods, R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
     R"({"spec":{"containers":[{"name":"a","$patch":"delete"}]}})", R"({"spec":{"containers":[{"name":"b"}]}})"},
    {"DeleteWhatIsNotThere", &api::kPods, R"({"spec":{"containers":[{"name":"b"}]}})",
     R"({"spec":{"containers":[{"name":"a","$patch":"delete"}]}})", R"({"spec":{"containers":[{"name":"b"}]}})"},
    {"ReplaceAMap", &api::kDeployments,
     R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}})",
     R"({"spec":{"strategy":{"$patch":"replace","type":"Recreate"}}})", R"({"spec":{"strategy":{"type":"Recreate"}}})"},
    {"DeleteAMap", &api::kPods, R"({"spec":{"securityContext":{"runAsUser":1},"nodeName":"n"}})",
     R"({"spec":{"securityContext":{"$patch":"delete"}}})", R"({"spec":{"securityContext":{},"nodeName":"n"}})"},
    {"MergeIsWhatHappensAnyway", &api::kPods, R"({"metadata":{"labels":{"a":"1"}}})",
     R"({"metadata":{"labels":{"$patch":"merge","b":"2"}}})", R"({"metadata":{"labels":{"a":"1","b":"2"}}})"},
    {"RetainKeys", &api::kDeployments,
     R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}})",
     R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}})",
     R"({"spec":{"strategy":{"type":"Recreate"}}})"},
    {"RetainKeysInAVolume", &api::kPods, R"({"spec":{"volumes":[{"name":"v","emptyDir":{}},{"name":"w"}]}})",
     R"({"spec":{"volumes":[{"$retainKeys":["name","hostPath"],"name":"v","hostPath":{"path":"/x"}}]}})",
     R"({"spec":{"volumes":[{"name":"v","hostPath":{"path":"/x"}},{"name":"w"}]}})"},
    {"DeleteFromPrimitives", &api::kPods, R"({"metadata":{"finalizers":["a","b","c"]}})",
     R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["b","x"]}})", R"({"metadata":{"finalizers":["a","c"]}})"},
    {"DeleteAndAddPrimitives", &api::kPods, R"({"metadata":{"finalizers":["a","b"]}})",
     R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["c"]}})",
     R"({"metadata":{"finalizers":["c","b"]}})"},
    {"PrimitivesAreASet", &api::kPods, R"({"metadata":{"finalizers":["a","b"]}})",
     R"({"metadata":{"finalizers":["b","c"]}})", R"({"metadata":{"finalizers":["a","b","c"]}})"},
    {"SetElementOrder", &api::kPods, R"({"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}})",
     R"({"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"b"},{"name":"a"}]}})",
     R"({"spec":{"containers":[{"name":"c"},{"name":"b"},{"name":"a"}]}})"},
    {"SetElementOrderAndChange", &api::kPods, R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
     R"({"spec":{"$setElementOrder/containers":[{"name":"new"},{"name":"b"},{"name":"a"}],
         "containers":[{"name":"new","image":"i"},{"name":"a","image":"j"}]}})",
     R"({"spec":{"containers":[{"name":"new","image":"i"},{"name":"b"},{"name":"a","image":"j"}]}})"},
    // What the server alone knows keeps its place among its neighbours.
    {"SetElementOrderKeepsOthers", &api::kPods,
     R"({"spec":{"containers":[{"name":"a"},{"name":"sidecar"},{"name":"b"}]}})",
     R"({"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"},{"name":"c"}],"containers":[{"name":"c","image":"i"}]}})",
     R"({"spec":{"containers":[{"name":"a"},{"name":"sidecar"},{"name":"b"},{"name":"c","image":"i"}]}})"},
    {"SetElementOrderOfPrimitives", &api::kPods, R"({"metadata":{"finalizers":["a","b"]}})",
     R"({"metadata":{"$setElementOrder/finalizers":["b","a"]}})", R"({"metadata":{"finalizers":["b","a"]}})"},
    {"NullDeletes", &api::kPods, R"({"metadata":{"labels":{"a":"1","b":"2"},"annotations":{"x":"y"}}})",
     R"({"metadata":{"labels":{"a":null,"nope":null},"annotations":null}})", R"({"metadata":{"labels":{"b":"2"}}})"},
    {"NullsDoNotEnterNewObjects", &api::kPods, R"({"metadata":{}})", R"({"metadata":{"labels":{"a":null,"b":"c"}}})",
     R"({"metadata":{"labels":{"b":"c"}}})"},
    {"DirectivesDoNotEnterNewObjects", &api::kPods, R"({"spec":{}})",
     R"({"spec":{"volumes":[{"$retainKeys":["name","emptyDir"],"name":"v","emptyDir":{}}],"$setElementOrder/volumes":[{"name":"v"}]}})",
     R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})"},
    {"AtomicListsAreReplaced", &api::kPods, R"({"spec":{"tolerations":[{"key":"a"}]}})",
     R"({"spec":{"tolerations":[{"key":"b"}]}})", R"({"spec":{"tolerations":[{"key":"b"}]}})"},
    {"Cordon", &api::kNodes, R"({"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}})",
     R"({"spec":{"unschedulable":true}})",
     R"({"spec":{"taints":[{"key":"a","effect":"NoSchedule"}],"unschedulable":true}})"},
    {"Uncordon", &api::kNodes, R"({"spec":{"unschedulable":true}})", R"({"spec":{"unschedulable":null}})",
     R"({"spec":{}})"},
    {"Conditions", &api::kNodes,
     R"({"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"DiskPressure","status":"False"}]}})",
     R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})",
     R"({"status":{"conditions":[{"type":"Ready","status":"False"},{"type":"DiskPressure","status":"False"}]}})"},
    {"OtherKindOfValue", &api::kPods, R"({"spec":{"nodeSelector":"x"}})", R"({"spec":{"nodeSelector":{"a":"b"}}})",
     R"({"spec":{"nodeSelector":{"a":"b"}}})"},
    {"Ports", &api::kServices, R"({"spec":{"ports":[{"port":80,"name":"http"}]}})",
     R"({"spec":{"ports":[{"port":443,"name":"https"},{"port":80,"name":"web"}]}})",
     R"({"spec":{"ports":[{"port":443,"name":"https"},{"port":80,"name":"web"}]}})"},
};
INSTANTIATE_TEST_SUITE_P(All, StrategicMergeTest, ::testing::ValuesIn(kCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

struct Wrong {
  const char* name;
  const char* patch;
  const char* message;
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
};
class WrongStrategicMergeTest : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongStrategicMergeTest, IsRefusedWithItsPath) {
  boost::json::value target =
      Parse(R"({"spec":{"containers":[{"name":"a"}],"securityContext":{}},"metadata":{"finalizers":["x"]}})");
  EXPECT_THAT(StrategicMergePatch(target, Parse(GetParam().patch), *Schemas::Shared().For(api::kPods)),
              StatusIs(GetParam().code, HasSubstr(GetParam().message)));
}
INSTANTIATE_TEST_SUITE_P(
    All, WrongStrategicMergeTest,
    ::testing::Values(
        Wrong{"NoObject", "[]", "must be an object"},
        Wrong{"NoMergeKey", R"({"spec":{"containers":[{"image":"i"}]}})", "spec.containers[0]: has no name",
              absl::StatusCode::kInternal},
        Wrong{"DeleteWithoutKey", R"({"spec":{"containers":[{"$patch":"delete"}]}})", "spec.containers[0]"},
        Wrong{"UnknownDirective", R"({"spec":{"securityContext":{"$patch":"drop"}}})", "spec.securityContext: $patch"},
        Wrong{"DirectiveIsNoText", R"({"$patch":1})", "$patch"},
        Wrong{"UnknownElementDirective", R"({"spec":{"containers":[{"name":"a","$patch":"drop"}]}})",
              "spec.containers[0]: $patch"},
        Wrong{"OrderIsNoList", R"({"spec":{"$setElementOrder/containers":{}}})",
              "$setElementOrder/containers must be a list"},
        Wrong{"OrderIsNoListWithField", R"({"spec":{"$setElementOrder/containers":{},"containers":[{"name":"a"}]}})",
              "must be a list"},
        Wrong{"OrderLacksAnElement",
              R"({"spec":{"$setElementOrder/containers":[{"name":"b"}],"containers":[{"name":"a"}]}})",
              "spec.containers: the order"},
        Wrong{"DeletionIsNoList", R"({"metadata":{"$deleteFromPrimitiveList/finalizers":"x"}})", "must be a list"},
        Wrong{"RetainKeysIsNoList", R"({"spec":{"securityContext":{"$retainKeys":1}}})", "$retainKeys must be a list"},
        Wrong{"RetainKeysLacksAField", R"({"spec":{"securityContext":{"$retainKeys":["a"],"b":1}}})",
              "does not name b"},
        Wrong{"MergeListOfText", R"({"spec":{"containers":["a"]}})", "spec.containers[0]",
              absl::StatusCode::kInternal}),
    [](const auto& tested) { return std::string(tested.param.name); });

// Quadratic work would take minutes here.
TEST(StrategicMergePatchTest, HugeListsAndObjectsTakeLinearTime) {
  boost::json::array containers, order, finalizers;
  boost::json::object labels, no_labels;
  for (int i = 0; i < 50'000; ++i) {
    const std::string name = absl::StrCat("c", i);
    containers.push_back(boost::json::object{{"name", name}});
    order.push_back(boost::json::object{{"name", absl::StrCat("c", 49'999 - i)}});
    finalizers.push_back(boost::json::string(name));
    labels[name] = "x";
    no_labels[name] = nullptr;
  }
  boost::json::value target{{"spec", {{"containers", containers}}},
                            {"metadata", {{"labels", labels}, {"finalizers", finalizers}}}};
  const boost::json::value patch{
      {"spec", {{"$setElementOrder/containers", order}, {"containers", {{{"name", "c7"}, {"image", "i"}}}}}},
      {"metadata", {{"labels", no_labels}, {"$deleteFromPrimitiveList/finalizers", finalizers}}}};
  GW_ASSERT_OK(StrategicMergePatch(target, patch, *Schemas::Shared().For(api::kPods)));
  EXPECT_EQ(target.at("spec").at("containers").at(0).at("name"), "c49999");
  EXPECT_EQ(target.at("metadata").at("labels").as_object().size(), 0u);
  EXPECT_EQ(target.at("metadata").at("finalizers").as_array().size(), 0u);
}

}  // namespace
}  // namespace gangway::schemas
