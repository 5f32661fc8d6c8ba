#include "api/resource.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/known_resources.h"
#include "api/paddle_resources.h"
#include "base/strings.h"

namespace gangway::api {
namespace {

// RFC 3986: what a path segment may hold unescaped, without the sub-delimiters.
bool Unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
         c == '~';
}

void AppendSegment(absl::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  out += '/';
  for (const char c : text) {
    if (Unreserved(c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

// "v1" or "group/v1"
bool Is(const Resource& resource, absl::string_view api_version) {
  if (resource.group.empty()) return api_version == View(resource.version);
  return api_version.size() == resource.group.size() + 1 + resource.version.size() &&
         api_version.substr(0, resource.group.size()) == View(resource.group) && api_version[resource.group.size()] == '/' &&
         api_version.substr(resource.group.size() + 1) == View(resource.version);
}

// As a real API server has them: what is built in comes before what definitions add, so that "jobs" are those of batch/v1.
constexpr auto kKnown = [] {
  std::array<const Resource*, kAllResources.size() + kClusterResources.size() + 2> known{};
  const auto custom = std::find(kAllResources.begin(), kAllResources.end(), &kJobs);
  auto at = std::copy(kAllResources.begin(), custom, known.begin());
  at = std::copy(kClusterResources.begin(), kClusterResources.end(), at);
  at = std::copy(custom, kAllResources.end(), at);
  *at++ = &paddle::kPaddleJobs;
  *at = &paddle::kubeflow::kPaddleJobs;
  return known;
}();

}  // namespace

std::span<const Resource* const> KnownResources() { return kKnown; }

std::string Resource::ApiVersion() const {
  return group.empty() ? std::string(version) : absl::StrCat(View(group), "/", View(version));
}

const Resource* FindKind(absl::string_view api_version, absl::string_view kind) {
  for (const Resource* resource : KnownResources()) {
    if (kind == View(resource->kind) && Is(*resource, api_version)) return resource;
  }
  return nullptr;
}

std::string PathOf(const Resource& resource, absl::string_view ns, absl::string_view name, absl::string_view subresource) {
  std::string path = resource.group.empty() ? "/api" : "/apis";
  if (!resource.group.empty()) AppendSegment(View(resource.group), path);
  AppendSegment(View(resource.version), path);
  if (resource.namespaced && !ns.empty()) {
    path += "/namespaces";
    AppendSegment(ns, path);
  }
  AppendSegment(View(resource.plural), path);
  if (!name.empty()) AppendSegment(name, path);
  if (!subresource.empty()) AppendSegment(subresource, path);
  return path;
}

}  // namespace gangway::api
