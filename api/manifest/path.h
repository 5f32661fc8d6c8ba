// Steps of a path such as "spec.tasks[1].replicas" or "metadata.labels[a.b/c]", compared with the keys of a document.
// Internal to this room.
#pragma once

#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace gangway::api::manifest {

// The rest of `path` behind `key`, written as `.key` or `[key]`; false when it does not begin so. Of "a" and "a.b",
// which both may begin a path, the one that leaves less is meant.
inline bool TakeKey(absl::string_view path, absl::string_view key, absl::string_view& rest) {
  const bool bracket = absl::StartsWith(path, "[");
  if (bracket || absl::StartsWith(path, ".")) path.remove_prefix(1);
  if (!absl::StartsWith(path, key)) return false;
  path.remove_prefix(key.size());
  if (bracket) {
    if (!absl::StartsWith(path, "]")) return false;
    path.remove_prefix(1);
  }
  rest = path;
  return path.empty() || path[0] == '.' || path[0] == '[';
}

// The same for an element of a list, written as `[1]`.
inline bool TakeIndex(absl::string_view path, std::size_t& index, absl::string_view& rest) {
  const std::size_t close = path.find(']');
  if (!absl::StartsWith(path, "[") || close == absl::string_view::npos ||
      !absl::SimpleAtoi(path.substr(1, close - 1), &index))
    return false;
  rest = path.substr(close + 1);
  return true;
}

}  // namespace gangway::api::manifest
