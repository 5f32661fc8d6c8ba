// Of several details the one that most rows have.
#pragma once

#include <map>
#include <string>

#include "absl/types/span.h"
#include "plugin/gang/constraint/constraint.h"

namespace gangway::constraint {

template <class F>  // std::string(Row)
std::string MostOften(absl::Span<const Refusal> refused, F text_of) {
  std::map<std::string, int> counts;
  for (const Refusal& refusal : refused) ++counts[text_of(refusal.row)];
  std::string text;
  int most = 0;
  for (const auto& [each, count] : counts) {
    if (count > most) text = each;
    most = count > most ? count : most;
  }
  return text;
}

}  // namespace gangway::constraint
