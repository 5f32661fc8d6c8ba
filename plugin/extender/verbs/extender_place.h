// Where Volcano's extender plugin stands in a scheduler configuration, and what is wrong with that: what the file says
// and Volcano does not do, what happens when the extender is down, and which questions cost more than their answers
// give.
//
// Of what the plugin does: volcano, pkg/scheduler/plugins/extender and framework/session_plugins.go. Of what it is
// answered: docs/extender.md.
//
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "plugin/extender/verbs/verb.h"

namespace gangway::extender {

struct PlaceFault {
  std::string code;    // "D-EXTENDER-TIER", for scripts
  int line = 0;        // of the file; 0: of none in particular
  std::string what;    // is so, and what it leads to
  std::string remedy;  // what to write instead
  friend bool operator==(const PlaceFault&, const PlaceFault&) = default;
};

// How the `gangway extender` that is asked was started, as far as that is known.
struct AskedExtender {
  std::optional<Mode> mode;                         // nullopt: whatever fits the verbs
  absl::Duration budget = absl::Milliseconds(700);  // --http-budget
};

struct ExtenderPlace {
  bool listed = false;
  std::string url;                 // extender.urlPrefix
  std::vector<PlaceFault> faults;  // by line; that there is no extender is none
};

// An error: Volcano does not take the file either; it begins with the source and the line.
absl::StatusOr<ExtenderPlace> FindExtenderPlace(absl::string_view text, absl::string_view source,
                                                const AskedExtender& asked = {});

}  // namespace gangway::extender
