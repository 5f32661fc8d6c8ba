#include "tests/simulation/shrink.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <numeric>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/check.h"

namespace gangway::testutil {
namespace {

constexpr const char* kKeep = "GW_SIMULATION_KEEP";

bool Breaks(const HistoryResult& result, const std::string& rule) {
  return std::any_of(result.violations.begin(), result.violations.end(),
                     [&](const std::string& each) { return RuleOf(each) == rule; });
}

}  // namespace

std::vector<std::size_t> Shrink(std::size_t n, absl::FunctionRef<bool(const std::vector<std::size_t>&)> fails,
                                int tries) {
  std::vector<std::size_t> kept(n);
  std::iota(kept.begin(), kept.end(), 0);
  for (std::size_t chunk = n; chunk > 0 && tries > 0;) {
    bool smaller = false;
    for (std::size_t from = 0; from < kept.size() && tries > 0;) {
      std::vector<std::size_t> without = kept;
      const std::size_t to = std::min(from + chunk, kept.size());
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(from),
                    without.begin() + static_cast<std::ptrdiff_t>(to));
      --tries;
      if (fails(without)) {
        kept = std::move(without);
        smaller = true;
      } else {
        from = to;
      }
    }
    // What could not be left out alone may be, once others are.
    if (chunk > 1 || !smaller) chunk /= 2;
  }
  return kept;
}

std::string RuleOf(absl::string_view violation) {
  violation = violation.substr(0, violation.find(": "));  // the rule, where it is named; then the case
  std::vector<absl::string_view> words;
  for (const absl::string_view word : absl::StrSplit(violation, ' ', absl::SkipEmpty())) {
    if (word == "at" || word == "by" || word == "from") break;
    // Names have digits or a slash in them.
    if (std::none_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0 || c == '/'; }))
      words.push_back(word);
  }
  return absl::StrJoin(words, " ");
}

ShrunkHistory ShrinkHistory(HistoryOptions options, const HistoryResult& result, int tries) {
  GW_CHECK(!result.violations.empty());
  const std::string rule = RuleOf(result.violations.front());
  options.on_record = nullptr;
  ShrunkHistory shrunk{{}, result};
  shrunk.keep = Shrink(
      result.drawn.size(),
      [&](const std::vector<std::size_t>& keep) {
        options.keep = keep;
        HistoryResult tried = RunHistory(options);
        const bool fails = Breaks(tried, rule);
        if (fails) shrunk.result = std::move(tried);
        return fails;
      },
      tries);
  return shrunk;
}

std::string Report(const HistoryOptions& options, const HistoryResult& result) {
  std::string text = absl::StrCat("history ", options.seed, ":\n  ", absl::StrJoin(result.violations, "\n  "));
  if (options.keep || std::getenv("GW_SIMULATION_AS_IS") != nullptr)
    return text;  // it is the shrunk one, or many are wanted soon
  const ShrunkHistory shrunk = ShrinkHistory(options, result);
  absl::StrAppend(&text, "\n", shrunk.keep.size(), " of ", result.drawn.size(),
                  " jobs and incidents are enough for: ", shrunk.result.violations.front());
  for (const std::size_t number : shrunk.keep) absl::StrAppend(&text, "\n  ", number, ": ", result.drawn[number]);
  return absl::StrCat(text, "\nreplay: GW_SIMULATION_SEED=", options.seed, " ", kKeep, "=",
                      absl::StrJoin(shrunk.keep, ","), "; the whole without ", kKeep);
}

void KeepFromEnvironment(HistoryOptions& options) {
  const char* const text = std::getenv(kKeep);
  if (text == nullptr) return;
  options.keep.emplace();
  for (const absl::string_view number : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    std::size_t value = 0;
    GW_CHECK(absl::SimpleAtoi(number, &value));
    options.keep->push_back(value);
  }
}

}  // namespace gangway::testutil
