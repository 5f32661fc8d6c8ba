#include "sandbox/apiserver/discovery.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/json.h"
#include "api/kinds/kinds.h"
#include "kube/client/status.h"
#include "sandbox/apiserver/openapi.h"
#include "sandbox/apiserver/reviews.h"
#include "sandbox/apiserver/subresources.h"

namespace gangway::sandbox {
namespace {

using api::JsonWriter;

constexpr std::string_view kResourceVerbs = "create,delete,deletecollection,get,list,patch,update,watch";

std::string_view VerbsOf(const api::Resource& resource) {
  if (std::find(Reviews().begin(), Reviews().end(), &resource) != Reviews().end()) return "create";
  if (&resource == &api::kNamespaces) return "create,delete,get,list,patch,update,watch";
  return kResourceVerbs;
}

// One version of a group, its resources in the order of the catalogue.
struct Version {
  std::string_view group, name;
  std::vector<const api::Resource*> resources;
  std::string GroupVersion() const {
    return group.empty() ? std::string(name) : absl::StrCat(View(group), "/", View(name));
  }
};
// Its versions, the preferred one first.
struct Group {
  std::string_view name;
  std::vector<Version> versions;
};

void AddResource(const api::Resource& resource, std::vector<Group>& groups) {
  auto group =
      std::find_if(groups.begin(), groups.end(), [&](const Group& each) { return each.name == resource.group; });
  if (group == groups.end()) group = groups.insert(groups.end(), Group{resource.group, {}});
  std::vector<Version>& versions = group->versions;
  auto version = std::find_if(versions.begin(), versions.end(),
                              [&](const Version& each) { return each.name == resource.version; });
  if (version == versions.end())
    version = versions.insert(versions.end(), Version{resource.group, resource.version, {}});
  version->resources.push_back(&resource);
}

std::vector<Group> GroupsOf(const ServedVersions& served) {
  std::vector<Group> groups;
  served.ForEach([&](const api::KindRow& kind) { AddResource(*kind.resource, groups); });
  for (const api::Resource* const review : Reviews()) AddResource(*review, groups);
  return groups;
}

void WriteTexts(absl::string_view key, std::string_view comma_separated, JsonWriter& out) {
  out.Key(key).BeginArray();
  for (const absl::string_view text : absl::StrSplit(View(comma_separated), ',', absl::SkipEmpty())) out.String(text);
  out.EndArray();
}

void WriteVerbs(const Subresource& sub, JsonWriter& out) {
  out.Key("verbs").BeginArray();
  for (const Subresource::Verb& verb : sub.verbs) out.String(View(verb.name));
  out.EndArray();
}

std::vector<const Subresource*> ShownSubresources(const api::Resource& resource) {
  std::vector<const Subresource*> shown;
  for (const Subresource& sub : SubresourcesOf(resource)) {
    if (sub.unserved.empty()) shown.push_back(&sub);
  }
  return shown;
}

void WriteKind(absl::string_view key, std::string_view group, std::string_view version, std::string_view kind,
               JsonWriter& out) {
  out.Key(key).BeginObject().Field("group", group).Field("version", version).Field("kind", kind).EndObject();
}

void WriteAggregatedResource(const api::Resource& resource, JsonWriter& out) {
  out.BeginObject().Field("resource", resource.plural);
  WriteKind("responseKind", resource.group, resource.version, resource.kind, out);
  out.Field("scope", resource.namespaced ? "Namespaced" : "Cluster").Field("singularResource", resource.singular);
  WriteTexts("verbs", VerbsOf(resource), out);
  if (!resource.short_names.empty()) WriteTexts("shortNames", resource.short_names, out);
  if (!resource.categories.empty()) WriteTexts("categories", resource.categories, out);
  if (const std::vector<const Subresource*> parts = ShownSubresources(resource); !parts.empty()) {
    out.Key("subresources").BeginArray();
    for (const Subresource* const sub : parts) {
      out.BeginObject().Field("subresource", sub->name);
      WriteKind("responseKind", sub->group, sub->version, sub->kind, out);
      WriteVerbs(*sub, out);
      out.EndObject();
    }
    out.EndArray();
  }
  out.EndObject();
}

// apidiscovery.k8s.io/v2 APIGroupDiscoveryList of the core group, or of all others.
std::string AggregatedGroups(const std::vector<Group>& groups, bool core) {
  std::string text;
  JsonWriter out(text);
  out.BeginObject().Field("kind", "APIGroupDiscoveryList").Field("apiVersion", "apidiscovery.k8s.io/v2");
  out.Key("metadata").BeginObject().EndObject().Key("items").BeginArray();
  for (const Group& group : groups) {
    if (group.name.empty() != core) continue;
    out.BeginObject()
        .Key("metadata")
        .BeginObject()
        .Field("name", group.name)
        .Key("creationTimestamp")
        .Null()
        .EndObject();
    out.Key("versions").BeginArray();
    for (const Version& version : group.versions) {
      out.BeginObject().Field("version", version.name).Key("resources").BeginArray();
      for (const api::Resource* resource : version.resources) WriteAggregatedResource(*resource, out);
      out.EndArray().Field("freshness", "Current").EndObject();
    }
    out.EndArray().EndObject();
  }
  out.EndArray().EndObject();
  return text;
}

std::string CoreVersions() { return R"({"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[]})"; }

void WriteGroup(const Group& group, JsonWriter& out) {
  const auto write = [&](const Version& version) {
    out.BeginObject().Field("groupVersion", version.GroupVersion()).Field("version", version.name).EndObject();
  };
  out.Field("name", group.name).Key("versions").BeginArray();
  for (const Version& version : group.versions) write(version);
  out.EndArray().Key("preferredVersion");
  write(group.versions.front());
}

std::string GroupList(const std::vector<Group>& groups) {
  std::string text;
  JsonWriter out(text);
  out.BeginObject().Field("kind", "APIGroupList").Field("apiVersion", "v1").Key("groups").BeginArray();
  for (const Group& group : groups) {
    if (group.name.empty()) continue;
    out.BeginObject();
    WriteGroup(group, out);
    out.EndObject();
  }
  out.EndArray().EndObject();
  return text;
}

std::string OneGroup(const Group& group) {
  std::string text;
  JsonWriter out(text);
  out.BeginObject().Field("kind", "APIGroup").Field("apiVersion", "v1");
  WriteGroup(group, out);
  out.EndObject();
  return text;
}

void WriteListedResource(const api::Resource& resource, JsonWriter& out) {
  out.BeginObject().Field("name", resource.plural).Field("singularName", resource.singular);
  out.Field("namespaced", resource.namespaced).Field("kind", resource.kind);
  WriteTexts("verbs", VerbsOf(resource), out);
  if (!resource.short_names.empty()) WriteTexts("shortNames", resource.short_names, out);
  if (!resource.categories.empty()) WriteTexts("categories", resource.categories, out);
  out.EndObject();
  for (const Subresource* const sub : ShownSubresources(resource)) {
    out.BeginObject()
        .Field("name", absl::StrCat(View(resource.plural), "/", View(sub->name)))
        .Field("singularName", "");
    out.Field("namespaced", resource.namespaced);
    if (sub->group != resource.group) out.Field("group", sub->group).Field("version", sub->version);
    out.Field("kind", sub->kind);
    WriteVerbs(*sub, out);
    out.EndObject();
  }
}

std::string ResourceList(const Version& version) {
  std::string text;
  JsonWriter out(text);
  out.BeginObject()
      .Field("kind", "APIResourceList")
      .Field("apiVersion", "v1")
      .Field("groupVersion", version.GroupVersion());
  out.Key("resources").BeginArray();
  for (const api::Resource* resource : version.resources) WriteListedResource(*resource, out);
  out.EndArray().EndObject();
  return text;
}

// "v1.36.1+gangway" -> 1 and 36.
std::string VersionInfo(const std::string& git_version) {
  const std::vector<std::string> parts = absl::StrSplit(absl::StripPrefix(git_version, "v"), '.');
  std::string text;
  JsonWriter out(text);
  out.BeginObject().Field("major", parts[0]).Field("minor", parts.size() > 1 ? parts[1] : "0");
  out.Field("gitVersion", git_version)
      .Field("gitCommit", "")
      .Field("gitTreeState", "clean")
      .Field("buildDate", "1970-01-01T00:00:00Z");
  out.Field("goVersion", "none").Field("compiler", "g++").Field("platform", "linux/amd64").EndObject();
  return text;
}

std::string Paths(const std::vector<Group>& groups) {
  std::string text;
  JsonWriter out(text);
  out.BeginObject().Key("paths").BeginArray().String("/api").String("/api/v1").String("/apis");
  for (const Group& group : groups) {
    if (group.name.empty()) continue;
    out.String(absl::StrCat("/apis/", View(group.name)));
    for (const Version& version : group.versions) out.String(absl::StrCat("/apis/", version.GroupVersion()));
  }
  for (const absl::string_view path : {"/healthz", "/livez", "/openapi/v3", "/readyz", "/version"}) out.String(path);
  out.EndArray().EndObject();
  return text;
}

kube::Response Answered(int code, std::string content_type, std::string body) {
  kube::Response response;
  response.code = code;
  response.content_type = std::move(content_type);
  response.body = MakeBytes(std::move(body));
  return response;
}
kube::Response Json(std::string body) { return Answered(200, "application/json", std::move(body)); }
kube::Response NotServed() { return Answered(404, "text/plain; charset=utf-8", "404 page not found\n"); }

constexpr absl::string_view kAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

// Whether the first form in `accept` that we have is aggregated discovery.
bool WantsAggregated(absl::string_view accept) {
  for (absl::string_view range : absl::StrSplit(accept, ',')) {
    range = absl::StripAsciiWhitespace(range);
    if (absl::StartsWith(range, kAggregated)) return true;
    if (range == "application/json" || range == "*/*") return false;
  }
  return false;
}

kube::Response Discovered(std::string aggregated, std::string plain, absl::string_view accept) {
  if (WantsAggregated(accept)) return Answered(200, std::string(kAggregated), std::move(aggregated));
  return Json(std::move(plain));
}

// "apps" or "apps/v1", below /apis/. Anything longer is a resource and none of ours.
std::optional<kube::Response> AnswerGroup(const ServedVersions& served, absl::string_view rest) {
  const std::vector<absl::string_view> parts = absl::StrSplit(rest, '/', absl::SkipEmpty());
  if (parts.empty() || parts.size() > 2) return std::nullopt;
  const std::vector<Group> groups = GroupsOf(served);
  for (const Group& group : groups) {
    if (group.name.empty() || View(group.name) != parts[0]) continue;
    if (parts.size() == 1) return Json(OneGroup(group));
    for (const Version& version : group.versions) {
      if (View(version.name) == parts[1]) return Json(ResourceList(version));
    }
  }
  return NotServed();
}

std::optional<kube::Response> AnswerHealth(absl::string_view path) {
  for (const absl::string_view check : {"/healthz", "/livez", "/readyz"}) {
    if (path == check || path == absl::StrCat(check, "/ping")) return Answered(200, "text/plain; charset=utf-8", "ok");
    if (absl::StartsWith(path, absl::StrCat(check, "/"))) return NotServed();
  }
  return std::nullopt;
}

// kubectl 1.32 asks for OpenAPI v2 when it validates a `kind: List`, takes nothing but protobuf (JSON makes it fail),
// and skips kinds the document does not define: our validation is at the server. So the document is empty: swagger
// "2.0" and an info (gnostic: openapiv2.Document, fields 1 and 2).
kube::Response EmptyOpenApiV2() {
  static constexpr absl::string_view kSwagger(
      "\x0a\x03"
      "2.0",
      5);
  static constexpr absl::string_view kInfo(
      "\x12\x0e\x0a\x07"
      "gangway"
      "\x12\x03"
      "1.0",
      16);
  static constexpr absl::string_view kNoPaths("\x42\x00", 2);
  return Answered(200, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
                  absl::StrCat(kSwagger, kInfo, kNoPaths));
}

std::optional<kube::Response> AnswerOpenApi(const ServedVersions& served, absl::string_view path,
                                            absl::string_view accept) {
  if (path == "/openapi/v2" && absl::StrContains(accept, "protobuf")) return EmptyOpenApiV2();
  if (path == "/openapi/v3") return Json(OpenApiIndex(served));
  if (absl::ConsumePrefix(&path, "/openapi/v3/")) {
    std::optional<std::string> document = OpenApiDocument(served, path);
    return document.has_value() ? Json(*std::move(document)) : NotServed();
  }
  return NotServed();
}

std::optional<kube::Response> AnswerPath(const ServedVersions& served, absl::string_view path, absl::string_view accept,
                                         const std::string& git_version) {
  if (path.size() > 1) absl::ConsumeSuffix(&path, "/");
  if (path == "/") return Json(Paths(GroupsOf(served)));
  if (path == "/api") return Discovered(AggregatedGroups(GroupsOf(served), /*core=*/true), CoreVersions(), accept);
  if (path == "/apis")
    return Discovered(AggregatedGroups(GroupsOf(served), /*core=*/false), GroupList(GroupsOf(served)), accept);
  if (path == "/api/v1") return Json(ResourceList(GroupsOf(served).front().versions.front()));
  if (path == "/version") return Json(VersionInfo(git_version));
  if (path == "/openapi" || absl::StartsWith(path, "/openapi/")) return AnswerOpenApi(served, path, accept);
  if (absl::StartsWith(path, "/apis/")) return AnswerGroup(served, path.substr(6));
  if (absl::StartsWith(path, "/api/") && !absl::StartsWith(path, "/api/v1/")) return NotServed();
  return AnswerHealth(path);
}

}  // namespace

Discovery::Discovery(const ServedVersions& served, std::string git_version)
    : served_(served), git_version_(std::move(git_version)) {}

std::optional<kube::Response> Discovery::Answer(const kube::Request& request) const {
  std::optional<kube::Response> response = AnswerPath(served_, request.path, request.accept, git_version_);
  if (response.has_value() && response->code == 200 && request.method != "GET" && request.method != "HEAD") {
    return Answered(
        405, "application/json",
        kube::StatusBody(405, "MethodNotAllowed", "the server does not allow this method on the requested resource"));
  }
  return response;
}

}  // namespace gangway::sandbox
