#include "plugin/extender/verbs/verb.h"

#include <algorithm>

namespace gangway::extender {
namespace {

struct VerbRow {
  absl::string_view name;
  Mode from;  // the first mode that serves it
};
constexpr std::array<VerbRow, kVerbs> kRows = {{
    {"onSessionOpen", Mode::kSteer},
    {"onSessionClose", Mode::kSteer},
    {"predicate", Mode::kSteer},
    {"prioritize", Mode::kSteer},
    {"preemptable", Mode::kFull},
    {"reclaimable", Mode::kFull},
    {"queueOverused", Mode::kFull},
    {"jobEnqueueable", Mode::kLight},
    {"jobEnqueued", Mode::kLight},
    {"jobReady", Mode::kLight},
    {"allocateFunc", Mode::kSteer},
    {"deallocateFunc", Mode::kSteer},
}};

}  // namespace

std::optional<Mode> ModeOf(absl::string_view name) {
  const auto at = std::find(kModeNames.begin(), kModeNames.end(), name);
  if (at == kModeNames.end()) return std::nullopt;
  return static_cast<Mode>(at - kModeNames.begin());
}

absl::string_view VerbName(Verb verb) { return kRows[static_cast<std::size_t>(verb)].name; }

std::optional<Verb> VerbOfPath(absl::string_view path) {
  const std::size_t slash = path.rfind('/');
  const absl::string_view last = slash == absl::string_view::npos ? path : path.substr(slash + 1);
  const auto at = std::find_if(kRows.begin(), kRows.end(), [&](const VerbRow& row) { return row.name == last; });
  if (at == kRows.end()) return std::nullopt;
  return static_cast<Verb>(at - kRows.begin());
}

bool Serves(Mode mode, Verb verb) { return mode >= kRows[static_cast<std::size_t>(verb)].from; }

}  // namespace gangway::extender
