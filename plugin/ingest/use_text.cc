#include "plugin/ingest/use_text.h"

#include <cmath>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "api/field_table.h"

namespace gangway::ingest {
namespace {

constexpr double kNothing = 0.0005;

}  // namespace

std::string FormatUse(const model::Use& use) {
  std::string text = api::FormatTime(use.as_of);
  for (const auto& [name, amount] : use.held) {
    if (amount >= kNothing)
      absl::StrAppend(&text, " ", name, "=", absl::StrFormat("%.15g", std::round(amount * 1000) / 1000));
  }
  return text;
}

std::optional<model::Use> ParseUse(absl::string_view text) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  if (words.empty()) return std::nullopt;
  const absl::StatusOr<absl::Time> as_of = api::ParseTime(words.front());
  if (!as_of.ok()) return std::nullopt;
  model::Use use{*as_of, {}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::vector<std::string> parts = absl::StrSplit(words[i], '=');
    double amount = 0;
    if (parts.size() != 2 || parts[0].empty() || !absl::SimpleAtod(parts[1], &amount) || !std::isfinite(amount) ||
        amount < 0)
      return std::nullopt;
    use.held[parts[0]] = amount;
  }
  return use;
}

}  // namespace gangway::ingest
