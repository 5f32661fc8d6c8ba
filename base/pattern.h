// A regular expression that somebody else wrote, in Go's syntax. Whatever it says, it takes bounded memory, and a match
// time in proportion to the text.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace re2 {
class RE2;
}

namespace gangway {

class Pattern {
 public:
  // InvalidArgument says what is wrong with it: "missing ]: [a".
  static absl::StatusOr<Pattern> Compile(absl::string_view text);
  // Anywhere in the text.
  bool FoundIn(absl::string_view text) const;

 private:
  explicit Pattern(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace gangway
