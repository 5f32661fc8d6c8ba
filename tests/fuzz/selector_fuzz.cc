// Label and field selectors: written as text they read back as the same, and select the same.
#include <map>
#include <string>

#include "api/selector.h"
#include "tests/fuzz/fuzz_target.h"

namespace gangway::testutil {
namespace {

using api::FieldSelector;
using api::LabelSelector;

const std::map<std::string, std::string> kLabels[] = {
    {}, {{"app", "web"}}, {{"app", "web"}, {"tier", "cache"}, {"cores", "8"}, {"gpu", ""}}};

void RequireReadsBack(const LabelSelector& selector) {
  const std::string text = selector.ToString();
  const absl::StatusOr<LabelSelector> again = LabelSelector::Parse(text);
  Require(again.ok(), "a selector's text is a selector", text);
  Require(again->ToString() == text && again->requirements().size() == selector.requirements().size(),
          "a selector's text means the same", text);
  for (const auto& labels : kLabels)
    Require(again->Matches(labels) == selector.Matches(labels), "a selector's text selects the same", text);
  ++came_out;
}

void TryLabels(absl::string_view text) {
  const absl::StatusOr<LabelSelector> selector = LabelSelector::Parse(text), again = LabelSelector::Parse(text);
  Require(selector.status() == again.status(), "the same text is read the same", text);
  if (selector.ok()) return RequireReadsBack(*selector);
  Require(selector.status().message().size() <= 20 * text.size() + 1000, "a complaint is in proportion",
          selector.status().message());
}

void TryExpressions(absl::string_view json) {
  const absl::StatusOr<LabelSelector> selector = LabelSelector::FromJson(json);
  // An absent selector selects nothing, which no query says.
  if (selector.ok() && !json.empty() && json != "null") RequireReadsBack(*selector);
}

void TryFields(absl::string_view text) {
  const absl::StatusOr<FieldSelector> selector = FieldSelector::Parse(text);
  if (!selector.ok()) return;
  const absl::StatusOr<FieldSelector> again = FieldSelector::Parse(selector->ToString());
  Require(again.ok() && again->requirements() == selector->requirements(),
          "a field selector's text is the same selector", selector->ToString());
  for (const FieldSelector::Requirement& one : selector->requirements()) {
    const std::string* const required = selector->RequiredValue(one.field);
    if (required == nullptr) continue;
    const auto has_it = [&](absl::string_view field) { return field == one.field ? *required + "x" : std::string(); };
    Require(!selector->Matches(has_it), "another value than the one required does not match", text);
  }
  ++came_out;
}

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway::testutil;
  const absl::string_view text = TextOf(data, size);
  TryLabels(text);
  TryExpressions(text);
  TryFields(text);
  return 0;
}
