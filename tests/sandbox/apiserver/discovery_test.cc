// What clients ask before their first request: groups, resources, OpenAPI, version, health.
#include "sandbox/apiserver/discovery.h"

#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/apiserver/declared_kinds.h"
#include "sandbox/apiserver/subresources.h"

namespace gangway::sandbox {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// What kubectl 1.32 accepts.
constexpr const char* kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

std::optional<kube::Response> AnswerOfTheCatalogue(const kube::Request& request) {
  const DeclaredKinds none;
  const ServedVersions served({}, none);
  return Discovery(served).Answer(request);
}

kube::Response Get(const std::string& path, const std::string& accept = "application/json",
                   const std::string& method = "GET") {
  kube::Request request;
  request.method = method;
  request.path = path;
  request.accept = accept;
  std::optional<kube::Response> response = AnswerOfTheCatalogue(request);
  EXPECT_TRUE(response.has_value()) << path;
  return response.value();
}
boost::json::value GetJson(const std::string& path) {
  const kube::Response response = Get(path);
  EXPECT_EQ(response.code, 200) << path << ": " << *response.body;
  return api::ParseJson(*response.body).value();
}

TEST(DiscoveryTest, LeavesResourcesToTheRouter) {
  for (const std::string path : {"/api/v1/pods", "/api/v1/namespaces/default/pods/a", "/apis/apps/v1/deployments",
                                 "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs", "/nothing"}) {
    kube::Request request;
    request.method = "GET";
    request.path = path;
    EXPECT_FALSE(AnswerOfTheCatalogue(request).has_value()) << path;
  }
}

TEST(DiscoveryTest, UnknownGroupsAreNotFound) {
  for (const std::string path :
       {"/apis/nope", "/apis/apps/v2", "/api/v2", "/openapi/v2", "/openapi/v3/apis/nope/v1", "/livez/etcd"}) {
    const kube::Response response = Get(path);
    EXPECT_EQ(response.code, 404) << path;
    EXPECT_EQ(*response.body, "404 page not found\n") << path;  // in Go's words, as text
    EXPECT_EQ(response.content_type, "text/plain; charset=utf-8") << path;
  }
}

TEST(DiscoveryTest, AggregatedWhenAskedFor) {
  const kube::Response response = Get("/apis", kAggregated);
  EXPECT_EQ(response.content_type, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  const boost::json::value list = api::ParseJson(*response.body).value();
  EXPECT_EQ(list.at("kind"), "APIGroupDiscoveryList");
  EXPECT_EQ(list.at("apiVersion"), "apidiscovery.k8s.io/v2");
  EXPECT_EQ(Get("/apis").content_type, "application/json");
  EXPECT_EQ(GetJson("/apis").at("kind"), "APIGroupList");
  EXPECT_EQ(GetJson("/api").at("kind"), "APIVersions");
}

// "group/resource" or "group/resource/subresource" of one aggregated answer.
std::set<std::string> AggregatedNames(const std::string& path) {
  std::set<std::string> names;
  const boost::json::value list = api::ParseJson(*Get(path, kAggregated).body).value();
  for (const boost::json::value& group : list.at("items").as_array()) {
    const boost::json::value& metadata = group.at("metadata");
    const std::string name = metadata.at("name").as_string().c_str();
    for (const boost::json::value& resource : group.at("versions").at(0).at("resources").as_array()) {
      const std::string full = absl::StrCat(name, "/", resource.at("resource").as_string().c_str());
      names.insert(full);
      const boost::json::value* subs = resource.as_object().if_contains("subresources");
      if (subs == nullptr) continue;
      for (const boost::json::value& sub : subs->as_array()) {
        names.insert(absl::StrCat(full, "/", sub.at("subresource").as_string().c_str()));
      }
    }
  }
  return names;
}

TEST(DiscoveryTest, EveryResourceIsListedInBothForms) {
  std::set<std::string> aggregated = AggregatedNames("/api");
  aggregated.merge(AggregatedNames("/apis"));
  for (const api::KindRow& kind : api::Kinds()) {
    if (kind.on_request) continue;
    const api::Resource* const resource = kind.resource;
    EXPECT_THAT(aggregated, Contains(absl::StrCat(View(resource->group), "/", View(resource->plural))));
    const std::string path = absl::StrCat(resource->group.empty() ? "/api/" : "/apis/", resource->ApiVersion());
    const std::string list = *Get(path).body;
    EXPECT_THAT(list, HasSubstr(absl::StrCat("\"name\":\"", View(resource->plural), "\"")));
    for (const Subresource& sub : SubresourcesOf(*resource)) {
      if (!sub.unserved.empty()) {
        EXPECT_THAT(
            aggregated,
            Not(Contains(absl::StrCat(View(resource->group), "/", View(resource->plural), "/", View(sub.name)))));
        continue;
      }
      EXPECT_THAT(list, HasSubstr(absl::StrCat("\"name\":\"", View(resource->plural), "/", View(sub.name), "\"")));
      EXPECT_THAT(aggregated,
                  Contains(absl::StrCat(View(resource->group), "/", View(resource->plural), "/", View(sub.name))));
    }
  }
  EXPECT_THAT(aggregated, Contains("authorization.k8s.io/selfsubjectaccessreviews"));
  EXPECT_THAT(aggregated, Contains("batch.volcano.sh/jobs/status"));
}

TEST(DiscoveryTest, ShortNamesAndVerbs) {
  const boost::json::value list = GetJson("/apis/batch.volcano.sh/v1alpha1");
  EXPECT_EQ(list.at("groupVersion"), "batch.volcano.sh/v1alpha1");
  const boost::json::value& jobs = list.at("resources").at(0);
  EXPECT_EQ(api::ToJson(jobs.at("shortNames")), R"(["vcjob","vj"])");
  EXPECT_EQ(api::ToJson(jobs.at("verbs")),
            R"(["create","delete","deletecollection","get","list","patch","update","watch"])");
  const std::string core = *Get("/api/v1").body;
  EXPECT_THAT(
      core,
      HasSubstr(
          R"({"name":"pods/eviction","singularName":"","namespaced":true,"group":"policy","version":"v1","kind":"Eviction","verbs":["create"]})"));
}

TEST(DiscoveryTest, FindsSubresources) {
  ASSERT_NE(FindSubresource(api::kPods, "log"), nullptr);
  ASSERT_EQ(FindSubresource(api::kPods, "log")->verbs.size(), 1u);
  EXPECT_NE(FindSubresource(api::kPods, "log")->Find("get"), nullptr);
  EXPECT_EQ(FindSubresource(api::kPods, "log")->Find("update"), nullptr);
  EXPECT_EQ(FindSubresource(api::kCommands, "status"), nullptr);
}

TEST(DiscoveryTest, Version) {
  const boost::json::value version = GetJson("/version");
  EXPECT_EQ(version.at("gitVersion"), "v1.36.1+gangway");
  EXPECT_EQ(version.at("major"), "1");
  EXPECT_EQ(version.at("minor"), "36");
}

TEST(DiscoveryTest, Health) {
  for (const std::string path : {"/healthz", "/livez", "/readyz", "/readyz/ping"}) {
    const kube::Response response = Get(path);
    EXPECT_EQ(response.code, 200);
    EXPECT_EQ(*response.body, "ok");
  }
}

TEST(DiscoveryTest, OnlyReads) {
  EXPECT_EQ(Get("/version", "", "POST").code, 405);
  EXPECT_EQ(Get("/apis", "", "DELETE").code, 405);
  EXPECT_EQ(Get("/version", "", "HEAD").code, 200);
}

class OpenApiTest : public ::testing::Test {
 protected:
  // The documents that the index names, as clients fetch them.
  void SetUp() override {
    const boost::json::value index = GetJson("/openapi/v3");
    for (const boost::json::key_value_pair& member : index.at("paths").as_object()) {
      const std::string url = member.value().at("serverRelativeURL").as_string().c_str();
      EXPECT_TRUE(absl::StartsWith(url, absl::StrCat("/openapi/v3/", std::string(member.key()), "?hash="))) << url;
      documents_.emplace_back(std::string(member.key()), GetJson(url.substr(0, url.find('?'))));
    }
  }
  const boost::json::value& Document(const std::string& path) {
    for (const auto& [name, document] : documents_) {
      if (name == path) return document;
    }
    ADD_FAILURE() << path;
    return documents_.front().second;
  }
  std::vector<std::pair<std::string, boost::json::value>> documents_;
};

// kubectl: QueryParamVerifierV3 looks for these on the PATCH operation of the kind.
TEST_F(OpenApiTest, SaysThatFieldValidationAndDryRunAreKnown) {
  for (const api::KindRow& kind : api::Kinds()) {
    if (kind.on_request) continue;
    const api::Resource* const resource = kind.resource;
    const std::string prefix = absl::StrCat(resource->group.empty() ? "api/" : "apis/", resource->ApiVersion());
    const std::string path = absl::StrCat("/", prefix, resource->namespaced ? "/namespaces/{namespace}/" : "/",
                                          View(resource->plural), "/{name}");
    const boost::json::value& patch = Document(prefix).at("paths").at(path).at("patch");
    EXPECT_EQ(patch.at("x-kubernetes-group-version-kind").at("kind").as_string().c_str(), std::string(resource->kind));
    std::set<std::string> parameters;
    for (const boost::json::value& parameter : patch.at("parameters").as_array()) {
      EXPECT_EQ(parameter.at("in"), "query");
      parameters.insert(parameter.at("name").as_string().c_str());
    }
    EXPECT_THAT(parameters, Contains("fieldValidation"));
    EXPECT_THAT(parameters, Contains("dryRun"));
    // A custom resource has no strategic merge patch, and kubectl must not compute one.
    const bool custom = api::IsCustom(*resource);
    EXPECT_EQ(patch.at("requestBody").at("content").as_object().contains("application/strategic-merge-patch+json"),
              !custom);
  }
}

void CollectReferences(const boost::json::value& value, std::set<std::string>& names) {
  if (value.is_array()) {
    for (const boost::json::value& element : value.get_array()) CollectReferences(element, names);
  } else if (value.is_object()) {
    for (const boost::json::key_value_pair& member : value.get_object()) {
      if (member.key() == "$ref" && member.value().is_string()) {
        names.insert(member.value().as_string().c_str());
      } else {
        CollectReferences(member.value(), names);
      }
    }
  }
}

TEST_F(OpenApiTest, EveryReferenceLeadsSomewhere) {
  for (const auto& [path, document] : documents_) {
    std::set<std::string> names;
    CollectReferences(document, names);
    for (const std::string& name : names) {
      ASSERT_TRUE(absl::StartsWith(name, "#/components/schemas/")) << path << ": " << name;
      EXPECT_TRUE(document.at("components").at("schemas").as_object().contains(name.substr(21)))
          << path << ": " << name;
    }
  }
}

TEST_F(OpenApiTest, KeepsListKeysAndDescribesVolcanosFields) {
  const boost::json::value& schemas = Document("apis/batch.volcano.sh/v1alpha1").at("components").at("schemas");
  const boost::json::value& containers = schemas.at("io.k8s.api.core.v1.PodSpec").at("properties").at("containers");
  EXPECT_EQ(containers.at("x-kubernetes-patch-merge-key"), "name");
  const boost::json::value& job = schemas.at("sh.volcano.batch.v1alpha1.Job");
  EXPECT_EQ(job.at("x-kubernetes-group-version-kind").at(0).at("kind"), "Job");
  const boost::json::value& task =
      job.at("properties").at("spec").at("properties").at("tasks").at("items").at("properties");
  EXPECT_EQ(task.at("replicas").at("description"), "how many pods");
  EXPECT_EQ(task.at("template").at("allOf").at(0).at("$ref"),
            "#/components/schemas/io.k8s.api.core.v1.PodTemplateSpec");
}

}  // namespace
}  // namespace gangway::sandbox
