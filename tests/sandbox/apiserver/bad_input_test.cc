// Every malformed request is answered with a Status that says what and where, and changes nothing.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/apiserver/server_fixture.h"

namespace gangway::testutil {
namespace {

using ::testing::HasSubstr;

struct BadCase {
  const char* name;
  const char* method;
  std::string path, query, content_type, body;
  int code;
  const char* reason;
  const char* says;
};
void PrintTo(const BadCase& c, std::ostream* out) { *out << c.name; }

class BadInputTest : public ServerTest, public ::testing::WithParamInterface<BadCase> {};

TEST_P(BadInputTest, IsRefused) {
  ASSERT_EQ(Post(kConfigMaps, ConfigMapJson("c")).code, 201);
  ASSERT_EQ(Post(kPods, PodJson("p")).code, 201);
  const BadCase& c = GetParam();
  const std::uint64_t before = revision();
  const Answer answer = Do(c.method, c.path, c.body, {.query = c.query, .content_type = c.content_type});
  EXPECT_EQ(answer.code, c.code) << answer.body;
  EXPECT_EQ(answer.Text("kind"), "Status");
  EXPECT_EQ(answer.Text("status"), "Failure");
  EXPECT_EQ(answer.Text("reason"), c.reason) << answer.body;
  EXPECT_EQ(answer.Text("code"), absl::StrCat(c.code));
  EXPECT_THAT(answer.body, HasSubstr(c.says));
  EXPECT_EQ(revision(), before);
}

const std::string kOne = absl::StrCat(kConfigMaps, "/c");
std::string Deep(int depth) {
  return absl::StrCat(R"({"metadata":{"name":"x"},"data":)", std::string(static_cast<std::size_t>(depth), '['),
                      std::string(static_cast<std::size_t>(depth), ']'), "}");
}

INSTANTIATE_TEST_SUITE_P(
    Paths, BadInputTest,
    ::testing::Values(
        BadCase{"UnknownResource", "GET", "/api/v1/widgets", "", "", "", 404, "NotFound", "could not find"},
        BadCase{"BrokenEncoding", "GET", "/api/v1/namespaces/%zz/pods", "", "", "", 400, "BadRequest", "percent"},
        BadCase{"EmptySegment", "GET", "/api/v1//pods", "", "", "", 404, "NotFound", "could not find"},
        BadCase{"TooLong", "GET", kOne + "/status/more", "", "", "", 404, "NotFound", "could not find"},
        BadCase{"NamespacedNode", "GET", "/api/v1/namespaces/default/nodes", "", "", "", 404, "NotFound", ""},
        BadCase{"PostToObject", "POST", kOne, "", "", "{}", 405, "MethodNotAllowed", "does not allow"},
        BadCase{"PutToCollection", "PUT", std::string(kConfigMaps), "", "", "{}", 405, "MethodNotAllowed", ""},
        BadCase{"PostToAllNamespaces", "POST", "/api/v1/configmaps", "", "", "{}", 405, "MethodNotAllowed", ""},
        BadCase{"DeleteAllNamespaces", "DELETE", "/api/v1/configmaps", "", "", "", 405, "MethodNotAllowed", ""},
        BadCase{"DeleteEveryNamespace", "DELETE", "/api/v1/namespaces", "", "", "", 405, "MethodNotAllowed", ""},
        BadCase{"OtherMethod", "BREW", std::string(kConfigMaps), "", "", "", 405, "MethodNotAllowed", ""}),
    [](const auto& c) { return c.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Queries, BadInputTest,
    ::testing::Values(
        BadCase{"Limit", "GET", std::string(kConfigMaps), "limit=x", "", "", 400, "BadRequest", "limit"},
        BadCase{"HugeLimit", "GET", std::string(kConfigMaps), "limit=99999999999999999999", "", "", 400, "BadRequest",
                "limit"},
        BadCase{"Continue", "GET", std::string(kConfigMaps), "continue=eA", "", "", 400, "BadRequest", "continue"},
        BadCase{"LabelSelector", "GET", std::string(kConfigMaps), "labelSelector=a%20in%20(", "", "", 400, "BadRequest",
                "labelSelector"},
        BadCase{"ManyRequirements", "GET", std::string(kConfigMaps),
                absl::StrCat("labelSelector=a", absl::StrReplaceAll(std::string(500, ','), {{",", ",a"}})), "", "", 400,
                "BadRequest", "501 requirements"},
        BadCase{"ManyFields", "GET", std::string(kConfigMaps),
                absl::StrCat("fieldSelector=a%3Db", absl::StrReplaceAll(std::string(500, ','), {{",", ",a%3Db"}})), "",
                "", 400, "BadRequest", "501 requirements"},
        BadCase{"FieldSelector", "GET", std::string(kConfigMaps), "fieldSelector=abc", "", "", 400, "BadRequest",
                "fieldSelector"},
        BadCase{"Revision", "GET", std::string(kConfigMaps), "resourceVersion=new", "", "", 400, "BadRequest",
                "resourceVersion"},
        BadCase{"Match", "GET", std::string(kConfigMaps), "resourceVersion=1&resourceVersionMatch=Near", "", "", 422,
                "Invalid", "resourceVersionMatch"},
        BadCase{"MatchAlone", "GET", std::string(kConfigMaps), "resourceVersionMatch=Exact", "", "", 422, "Invalid",
                "resourceVersionMatch"},
        BadCase{"QueryEncoding", "GET", std::string(kConfigMaps), "limit=%", "", "", 400, "BadRequest", "percent"},
        BadCase{"DryRun", "POST", std::string(kConfigMaps), "dryRun=Some", "", R"({"metadata":{"name":"x"}})", 422,
                "Invalid", "dryRun"},
        BadCase{"FieldValidation", "POST", std::string(kConfigMaps), "fieldValidation=Loose", "",
                R"({"metadata":{"name":"x"}})", 422, "Invalid", "fieldValidation"},
        BadCase{"Propagation", "DELETE", kOne, "propagationPolicy=Sideways", "", "", 422, "Invalid",
                "propagationPolicy"},
        BadCase{"Grace", "DELETE", kOne, "gracePeriodSeconds=soon", "", "", 400, "BadRequest", "gracePeriodSeconds"}),
    [](const auto& c) { return c.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Bodies, BadInputTest,
    ::testing::Values(
        BadCase{"Empty", "POST", std::string(kConfigMaps), "", "", "", 400, "BadRequest", "no body"},
        BadCase{"NotJson", "POST", std::string(kConfigMaps), "", "", "{\"metadata\":", 400, "BadRequest", "line 1"},
        BadCase{"NoObject", "POST", std::string(kConfigMaps), "", "", "[1]", 400, "BadRequest", "object"},
        BadCase{"Trailing", "POST", std::string(kConfigMaps), "", "", "{} {}", 400, "BadRequest", "line 1"},
        BadCase{"NotUtf8", "POST", std::string(kConfigMaps), "", "", "{\"metadata\":{\"name\":\"\xff\"}}", 400,
                "BadRequest", ""},
        BadCase{"TooDeep", "POST", std::string(kConfigMaps), "", "", Deep(5000), 400, "BadRequest", ""},
        BadCase{"TooLarge", "POST", std::string(kConfigMaps), "", "", std::string((3u << 20) + 1, ' '), 413,
                "RequestEntityTooLarge", "3145728"},
        BadCase{"MediaType", "POST", std::string(kConfigMaps), "", "application/xml", "<a/>", 415,
                "UnsupportedMediaType", "application/json"},
        BadCase{"Cbor", "POST", std::string(kConfigMaps), "", "application/cbor", "x", 415, "UnsupportedMediaType", ""},
        BadCase{"OtherKind", "POST", std::string(kConfigMaps), "", "",
                R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}})", 400, "BadRequest", "ConfigMap"},
        BadCase{"OtherVersion", "POST", std::string(kConfigMaps), "", "",
                R"({"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"x"}})", 400, "BadRequest", "v2"},
        BadCase{"WrongType", "POST", std::string(kPods), "", "",
                R"({"metadata":{"name":"x"},"spec":{"containers":{}}})", 400, "BadRequest", "spec.containers"},
        BadCase{"MetadataNoObject", "POST", std::string(kConfigMaps), "", "", R"({"metadata":[]})", 400, "BadRequest",
                "metadata"},
        BadCase{"NoName", "POST", std::string(kConfigMaps), "", "", R"({"metadata":{}})", 422, "Invalid",
                "metadata.name"},
        BadCase{"NoMetadata", "POST", std::string(kConfigMaps), "", "", "{}", 422, "Invalid", "metadata.name"},
        BadCase{"BadName", "POST", std::string(kConfigMaps), "", "", R"({"metadata":{"name":"Not_OK"}})", 422,
                "Invalid", "metadata.name"},
        BadCase{"BadLabel", "POST", std::string(kConfigMaps), "", "",
                R"({"metadata":{"name":"x","labels":{"a":"!!"}}})", 422, "Invalid", "metadata.labels"},
        BadCase{"OtherNamespace", "POST", std::string(kConfigMaps), "", "",
                R"({"metadata":{"name":"x","namespace":"kube-system"}})", 400, "BadRequest", "namespace"},
        BadCase{"VersionOnCreate", "POST", std::string(kConfigMaps), "", "",
                R"({"metadata":{"name":"x","resourceVersion":"7"}})", 500, "", "resourceVersion"},
        BadCase{"NoContainers", "POST", std::string(kPods), "", "",
                R"({"metadata":{"name":"x"},"spec":{"containers":[]}})", 422, "Invalid", "spec.containers"},
        BadCase{"NoPodSpec", "POST", std::string(kPods), "", "", R"({"metadata":{"name":"x"}})", 422, "Invalid",
                "spec"},
        BadCase{"EventElsewhere", "POST", "/api/v1/namespaces/default/events", "", "",
                R"({"metadata":{"name":"x"},"involvedObject":{"namespace":"kube-system"}})", 422, "Invalid",
                "involvedObject.namespace"},
        BadCase{
            "TwoControllers", "POST", std::string(kConfigMaps), "", "",
            R"({"metadata":{"name":"x","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"a","uid":"1","controller":true},{"apiVersion":"v1","kind":"Pod","name":"b","uid":"2","controller":true}]}})",
            422, "Invalid", "metadata.ownerReferences"},
        BadCase{"PutOtherName", "PUT", kOne, "", "", R"({"metadata":{"name":"d"}})", 400, "BadRequest",
                "does not match the name on the URL"},
        BadCase{"PutNoName", "PUT", kOne, "", "", R"({"data":{}})", 400, "BadRequest", "metadata.name"},
        BadCase{"PutMissing", "PUT", std::string(kConfigMaps) + "/zz", "", "", R"({"metadata":{"name":"zz"}})", 404,
                "NotFound", "zz"},
        BadCase{"DeleteBody", "DELETE", kOne, "", "", "[]", 400, "BadRequest", "object"},
        BadCase{"DeleteGraceText", "DELETE", kOne, "", "", R"({"gracePeriodSeconds":"5"})", 400, "BadRequest",
                "gracePeriodSeconds"},
        BadCase{"DeleteKind", "DELETE", kOne, "", "", R"({"kind":"Pod"})", 400, "BadRequest", "DeleteOptions"},
        BadCase{"DeletePreconditions", "DELETE", kOne, "", "", R"({"preconditions":{"uid":5}})", 400, "BadRequest",
                "preconditions.uid"}),
    [](const auto& c) { return c.param.name; });

const char* const kMerge = "application/merge-patch+json";
const char* const kJsonPatch = "application/json-patch+json";
const char* const kStrategic = "application/strategic-merge-patch+json";
INSTANTIATE_TEST_SUITE_P(
    Patches, BadInputTest,
    ::testing::Values(
        BadCase{"Missing", "PATCH", std::string(kConfigMaps) + "/zz", "", kMerge, "{}", 404, "NotFound", "zz"},
        BadCase{"NoType", "PATCH", kOne, "", "", "{}", 415, "UnsupportedMediaType", "Unsupported Media Type"},
        BadCase{"Apply", "PATCH", kOne, "", "application/apply-patch+yaml", "{}", 422, "Invalid", "fieldManager"},
        BadCase{"NotJson", "PATCH", kOne, "", kMerge, "{", 400, "BadRequest", "line 1"},
        BadCase{"Empty", "PATCH", kOne, "", kMerge, "", 400, "BadRequest", ""},
        BadCase{"MergeNoObject", "PATCH", kOne, "", kMerge, "[]", 400, "BadRequest", "object"},
        BadCase{"MetadataAway", "PATCH", kOne, "", kMerge, R"({"metadata":7})", 422, "Invalid", "metadata"},
        BadCase{"WrongType", "PATCH", kOne, "", kMerge, R"({"data":{"a":1}})", 422, "Invalid", "data"},
        BadCase{"Rename", "PATCH", kOne, "", kMerge, R"({"metadata":{"name":"d"}})", 400, "BadRequest",
                "does not match"},
        BadCase{"KindChange", "PATCH", kOne, "", kMerge, R"({"kind":"Pod"})", 400, "BadRequest", "kind"},
        BadCase{"DeletionByPatch", "PATCH", kOne, "", kMerge,
                R"({"metadata":{"deletionTimestamp":"2020-01-01T00:00:00Z"}})", 422, "Invalid",
                "metadata.deletionTimestamp"},
        BadCase{"JsonNoList", "PATCH", kOne, "", kJsonPatch, "{}", 400, "BadRequest", ""},
        BadCase{"JsonNoPath", "PATCH", kOne, "", kJsonPatch, R"([{"op":"remove","path":"/data/zz"}])", 422, "Invalid",
                ""},
        BadCase{"JsonRoot", "PATCH", kOne, "", kJsonPatch, R"([{"op":"replace","path":"","value":3}])", 400,
                "BadRequest", "object"},
        BadCase{"StrategicNoObject", "PATCH", kOne, "", kStrategic, "3", 400, "BadRequest", "object"},
        BadCase{"StrategicDirective", "PATCH", std::string(kPods) + "/p", "", kStrategic,
                R"({"spec":{"$patch":"sideways"}})", 400, "BadRequest", "$patch"}),
    [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace gangway::testutil
