// Volcano's scheduler configuration, volcano-scheduler.conf, as what our scheduler decides by.
//
// What can be done is done; everything else is a note that says which line it is, and what happens instead. A file that
// Volcano reads is read: unknown keys, plugins and arguments, and arguments of a wrong type, are notes. Refused is what
// Volcano refuses (an unknown action, a switch that is none, drf with hierarchy beside proportion), and what is no such
// file.
//
// Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/gang/policy.h"

namespace gangway::conf {

struct Note {
  enum class Kind {
    kAnyhow,     // what it asks for is so without it
    kOtherwise,  // it is not done; the text says what is
    kMistake,    // Volcano would not take it as it is meant, either
  };
  Kind kind = Kind::kOtherwise;
  int line = 0;
  std::string subject;  // "plugin drf", "plugin binpack: binpack.cpu", "action preempt"
  std::string text;
  friend bool operator==(const Note&, const Note&) = default;
};
// "volcano-scheduler.conf:7: plugin drf: ..."
std::string NoteText(absl::string_view source, const Note& note);

struct SchedulerConf {
  gang::Policy policy;
  std::vector<Note> notes;  // by line
};

inline constexpr std::size_t kMaxBytes = 64 << 10;
inline constexpr std::size_t kMaxNotes = 200;  // the last one says how many there are beyond

// Errors begin with the source, and the line where there is one: "volcano-scheduler.conf:3: tiers[0].plugins: must be a
// list".
absl::StatusOr<SchedulerConf> ReadSchedulerConf(absl::string_view text, absl::string_view source);

// What the policy says of what such a file can say: "lets in up to the cluster's room times 1.2; fills fuller nodes
// first, by cpu 1, memory 1".
std::string PolicyText(const gang::Policy& policy);

}  // namespace gangway::conf
