// The page's own words, in the languages it has. What the API says, such as phases and reasons, stays as it is.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace gangway::dashboard {

enum class Lang : std::uint8_t { kEnglish, kChinese };

enum class Word : std::uint8_t {
  kQueues,
  kGangs,
  kNodes,
  kJobs,
  kPaddleJobs,
  kQueue,
  kShare,
  kHeld,
  kDeserved,
  kWaiting,
  kRunning,
  kCapability,
  kAsked,
  kGang,
  kPods,
  kSince,
  kWhy,
  kNode,
  kJob,
  kPhase,
  kRoles,
  kMode,
  kTasks,
  kRestarts,
  kCreated,
  kAdmitted,
  kPlaced,
  kFailed,
  kAction,
  kWarning,
  kStarted,
  kCompleted,
  kNotLetIn,
  kLetIn,
  kNotReady,
  kCordoned,
  kTaints,
  kNothing,
  kNotTold,
  kMembers,
  kSearch,
  kOthers,
  kNotSeen,
  kLive,
  kBroken,
  kKeys,
  kKeysText,
  kMore,
  kNone,
  kReading,
};

absl::string_view TextOf(Word word, Lang lang);
absl::string_view CodeOf(Lang lang);  // "en", "zh"

// `asked`: the query's lang; where that says nothing, `accept_language` as RFC 9110 12.5.4 has it; else English.
Lang ChooseLang(absl::string_view asked, absl::string_view accept_language);

}  // namespace gangway::dashboard
