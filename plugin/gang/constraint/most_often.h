// Of several details the one that most rows have; of those that as many have the first, by what it is in English.
#pragma once

#include <map>
#include <string>
#include <type_traits>

#include "absl/types/span.h"
#include "plugin/gang/constraint/constraint.h"
#include "plugin/phrases/words.h"

namespace gangway::constraint {

struct InEnglish {
  bool operator()(const std::string& a, const std::string& b) const { return a < b; }
  bool operator()(const Words& a, const Words& b) const { return a.English() < b.English(); }
};

template <class F>  // std::string(Row) or Words(Row)
auto MostOften(absl::Span<const Refusal> refused, F text_of) {
  using Text = std::invoke_result_t<F, model::Row>;
  std::map<Text, int, InEnglish> counts;
  for (const Refusal& refusal : refused) ++counts[text_of(refusal.row)];
  Text text;
  int most = 0;
  for (const auto& [each, count] : counts) {
    if (count > most) text = each;
    most = count > most ? count : most;
  }
  return text;
}

}  // namespace gangway::constraint
