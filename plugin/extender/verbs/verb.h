// The verbs of Volcano's extender plugin, by the names that its documentation gives them. volcano: plugins/extender
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace gangway::extender {

enum class Verb : std::uint8_t {
  kOnSessionOpen,
  kOnSessionClose,
  kPredicate,
  kPrioritize,
  kPreemptable,
  kReclaimable,
  kQueueOverused,
  kJobEnqueueable,
  kJobEnqueued,
  kJobReady,
  kAllocateFunc,
  kDeallocateFunc,
};
inline constexpr std::size_t kVerbs = 12;

// How much of a scheduler's decisions are ours; each has what the ones before it have.
enum class Mode : std::uint8_t {
  kLight,  // which gangs are let in and may start, by our own watch of the cluster
  kSteer,  // where pods go, by the session's body
  kFull,   // who is evicted, and which queues have enough
};
inline constexpr std::array<absl::string_view, 3> kModeNames = {"light", "steer", "full"};
std::optional<Mode> ModeOf(absl::string_view name);

absl::string_view VerbName(Verb verb);
// Of the last segment of a path, "/volcano/predicate"; nullopt: it is no verb.
std::optional<Verb> VerbOfPath(absl::string_view path);
// Whether the mode answers it by a plan; else the answer is what the scheduler would do without us.
bool Serves(Mode mode, Verb verb);

}  // namespace gangway::extender
