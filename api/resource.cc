#include "api/resource.h"

#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace gangway::api {
namespace {

// RFC 3986: what a path segment may hold unescaped, without the sub-delimiters.
bool Unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
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

}  // namespace

std::string Resource::ApiVersion() const {
  return group.empty() ? std::string(version) : absl::StrCat(View(group), "/", View(version));
}

std::string PathOf(const Resource& resource, absl::string_view ns, absl::string_view name,
                   absl::string_view subresource) {
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
