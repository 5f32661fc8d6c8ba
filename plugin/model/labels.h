// Labels of an object as one text: keys and values one after the other, each with a NUL at its end. There are many
// objects, and most have a handful of labels.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "plugin/model/facts.h"

namespace gangway::model {

using LabelList = std::vector<std::pair<std::string, std::string>>;

void PackLabel(absl::string_view key, absl::string_view value, std::string& packed);
std::string PackLabels(const LabelList& labels);
std::optional<absl::string_view> FindLabel(absl::string_view packed, absl::string_view key);
// What a label selector cannot ask is taken to hold.
bool AllHold(const std::vector<RequirementFacts>& requirements, absl::string_view packed);

}  // namespace gangway::model
