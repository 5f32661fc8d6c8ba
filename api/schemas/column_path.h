// The simple JSON paths of CustomResourceDefinitions: of printer columns, the scale subresource and selectable fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "boost/json/value.hpp"

namespace gangway::schemas {

struct PathStep {
  enum class Kind : std::uint8_t { kMember, kIndex, kAll, kFilter } kind = Kind::kMember;
  std::string name;        // of the member, or what each element of the list is asked for
  std::int64_t index = 0;  // from the end when it is negative
  std::string value = {};  // kFilter: what that is to be
};

// ".status.conditions[?(@.type==\"Ready\")].status", ".spec.hosts[0]", ".spec.hosts[*]", ".status.phases[-1:]",
// ".metadata.labels['a.b/c']", ".metadata.labels.a\.b". nullopt: it is none of these.
std::optional<std::vector<PathStep>> ParseColumnPath(absl::string_view path);

// The first value there; null: there is none.
const boost::json::value* FindAlong(const std::vector<PathStep>& path, const boost::json::value& from);

}  // namespace gangway::schemas
