#include "plugin/model/labels.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace gangway::model {

void PackLabel(absl::string_view key, absl::string_view value, std::string& packed) {
  absl::StrAppend(&packed, key);
  packed.push_back('\0');
  absl::StrAppend(&packed, value);
  packed.push_back('\0');
}

std::string PackLabels(const LabelList& labels) {
  std::string packed;
  for (const auto& [key, value] : labels) PackLabel(key, value, packed);
  return packed;
}

std::optional<absl::string_view> FindLabel(absl::string_view packed, absl::string_view key) {
  const auto next = [&packed] {
    const std::size_t end = packed.find('\0');
    const absl::string_view text = packed.substr(0, end);
    packed.remove_prefix(end + 1);
    return text;
  };
  while (!packed.empty()) {
    const bool found = next() == key;
    const absl::string_view value = next();
    if (found) return value;
  }
  return std::nullopt;
}

namespace {

bool LabelHolds(const RequirementFacts& requirement, absl::string_view packed) {
  const std::optional<absl::string_view> value = FindLabel(packed, requirement.key);
  const bool there = value.has_value();
  const bool listed =
      there && std::find(requirement.values.begin(), requirement.values.end(), *value) != requirement.values.end();
  switch (requirement.op) {
    case Op::kIn:
      return listed;
    case Op::kNotIn:
      return !listed;
    case Op::kExists:
      return there;
    case Op::kDoesNotExist:
      return !there;
    case Op::kGt:
    case Op::kLt:
      return true;
  }
  return true;
}

}  // namespace

bool AllHold(const std::vector<RequirementFacts>& requirements, absl::string_view packed) {
  return std::all_of(requirements.begin(), requirements.end(),
                     [&](const RequirementFacts& r) { return LabelHolds(r, packed); });
}

}  // namespace gangway::model
