// The record of a gang's leftovers being released, in its PodGroup's status.
//
// When some bindings of a gang fail for good, the pods that were bound are deleted. Before that the scheduler writes a condition
// of type GangReleased with their UIDs, so that whoever recreates them knows that nobody evicted them.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "api/volcano/scheduling.h"

namespace gangway::api::volcano {

inline constexpr absl::string_view kGangReleased = "GangReleased";

// "released 2 of 4 tasks: ... [uid uid]"
inline std::string ReleaseMessage(absl::string_view sentence, const std::vector<std::string>& uids) {
  return absl::StrCat(sentence, " [", absl::StrJoin(uids, " "), "]");
}

// UIDs of the pods that the latest release names; empty when there was none.
inline std::vector<std::string> ReleasedUids(const PodGroupStatus& status) {
  for (const PodGroupCondition& condition : status.conditions) {
    if (absl::string_view(condition.type) != kGangReleased || condition.status != "True") continue;
    const std::size_t open = condition.message.rfind('[');
    if (open == std::string::npos || condition.message.back() != ']') return {};
    const absl::string_view list = absl::string_view(condition.message).substr(open + 1, condition.message.size() - open - 2);
    return absl::StrSplit(list, ' ', absl::SkipEmpty());
  }
  return {};
}

}  // namespace gangway::api::volcano
