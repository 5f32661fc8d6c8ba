// What `gangway explain` prints of its values: lines for a person, JSON for a program. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "plugin/explain/explanation.h"

namespace gangway::cmd {

// What --what-if asked for.
struct WhatIf {
  std::vector<std::string> words, texts;  // "min=3", "a minimum of 3 pods"
  bool starts = false;
  explain::Explanation then;
};

struct ExplainAnswer {
  std::string subject;  // "job default/ctr"
  std::string prelude;  // a line before; ""
  explain::Explanation explanation;
  std::optional<WhatIf> what_if;
};

// With `wide` every node, gang and place is named.
std::string ExplainText(const ExplainAnswer& answer, bool wide);
std::string ExplainJson(const ExplainAnswer& answer);
std::string QueueExplainText(const explain::QueueExplanation& queue, bool wide);
std::string QueueExplainJson(const explain::QueueExplanation& queue);

}  // namespace gangway::cmd
