// What `gangway explain` prints of its values: lines for a person, JSON for a program. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "plugin/explain/explanation.h"
#include "plugin/phrases/words.h"

namespace gangway::cmd {

// What --what-if asked for.
struct WhatIf {
  std::vector<std::string> words;  // "min=3"
  std::vector<Words> texts;        // "a minimum of 3 pods"
  bool starts = false;             // at once, or when pods whose room is kept for it have ended
  explain::Explanation then;
};

struct ExplainAnswer {
  std::string subject;  // "job default/ctr"
  Words prelude;        // a line before; empty: none
  explain::Explanation explanation;
  std::optional<WhatIf> what_if;
};

// With `wide` every node, gang and place is named.
std::string ExplainText(const ExplainAnswer& answer, bool wide, Language language);
std::string ExplainJson(const ExplainAnswer& answer, Language language);
std::string QueueExplainText(const explain::QueueExplanation& queue, bool wide, Language language);
std::string QueueExplainJson(const explain::QueueExplanation& queue, Language language);

}  // namespace gangway::cmd
