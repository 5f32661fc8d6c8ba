// From a path to a place: walks the document's own JSON, which the writer made compact and well formed.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/manifest/manifest.h"
#include "api/manifest/path.h"

namespace gangway::api {
namespace {

// The end of the string that starts at `i`.
std::size_t SkipString(absl::string_view json, std::size_t i) {
  for (++i; i < json.size() && json[i] != '"'; ++i) {
    if (json[i] == '\\') ++i;
  }
  return i + 1;
}

// The end of the value that starts at `i`.
std::size_t SkipValue(absl::string_view json, std::size_t i) {
  int depth = 0;
  while (i < json.size()) {
    const char c = json[i];
    if (c == '"') {
      i = SkipString(json, i);
    } else {
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']' || c == ',') && depth == 0) return i;
      if (c == '}' || c == ']') --depth;
      ++i;
    }
    if (depth == 0 && (i >= json.size() || json[i] == ',' || json[i] == '}' || json[i] == ']')) return i;
  }
  return i;
}

// Moves `at` and `path` one step down; false when there is nothing. Keys are compared as the writer wrote them.
bool StepIntoMap(absl::string_view json, std::size_t& at, absl::string_view& path) {
  std::size_t best = 0;
  absl::string_view best_rest;
  std::size_t i = at + 1;
  while (i < json.size() && json[i] == '"') {
    const std::size_t end = SkipString(json, i);
    const absl::string_view key = json.substr(i + 1, end - i - 2);
    absl::string_view rest;
    // Of "a" and "a.b" the longer one is meant.
    if (manifest::TakeKey(path, key, rest) && (best == 0 || rest.size() < best_rest.size())) {
      best = end + 1;
      best_rest = rest;
    }
    i = SkipValue(json, end + 1);
    if (i < json.size() && json[i] == ',') ++i;
  }
  if (best == 0) return false;
  at = best;
  path = best_rest;
  return true;
}

bool StepIntoList(absl::string_view json, std::size_t& at, absl::string_view& path) {
  std::size_t index = 0;
  absl::string_view rest;
  if (!manifest::TakeIndex(path, index, rest)) return false;
  std::size_t i = at + 1;
  for (std::size_t n = 0; i < json.size() && json[i] != ']'; ++n) {
    if (n == index) {
      at = i;
      path = rest;
      return true;
    }
    i = SkipValue(json, i);
    if (i < json.size() && json[i] == ',') ++i;
  }
  return false;
}

}  // namespace

TextPosition ManifestDocument::Find(absl::string_view path) const {
  if (marks.empty()) return {};
  const std::string escaped = JsonString(path);  // keys in `json` are escaped, so the path must be
  absl::string_view rest = absl::string_view(escaped).substr(1, escaped.size() - 2);
  std::size_t at = 0;
  while (!rest.empty()) {
    const bool found = json[at] == '{' ? StepIntoMap(json, at, rest) : json[at] == '[' && StepIntoList(json, at, rest);
    if (!found) break;
  }
  const auto it = std::lower_bound(marks.begin(), marks.end(), at,
                                   [](const Mark& m, std::size_t offset) { return m.offset < offset; });
  return it == marks.end() || it->offset != at ? marks.front().at : it->at;
}

std::string ManifestDocument::Where(absl::string_view path) const {
  const TextPosition at = Find(path);
  return absl::StrCat(source, ":", at.line, ":", at.column);
}

}  // namespace gangway::api
