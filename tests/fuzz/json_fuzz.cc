// JSON text and merge patches (RFC 7386): what is complete can be read, what is written reads back as the same, and the
// difference of two documents makes the one of the other.
#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/near.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

bool HasDouble(const json::value& value) {
  if (value.is_array()) return std::any_of(value.get_array().begin(), value.get_array().end(), HasDouble);
  if (!value.is_object()) return value.is_double();
  return std::any_of(value.get_object().begin(), value.get_object().end(),
                     [](const auto& member) { return HasDouble(member.value()); });
}

// Without members that are null, which no merge patch can say.
json::value Said(const json::value& value) {
  if (!value.is_object()) return value;
  json::object out;
  for (const auto& member : value.get_object()) {
    if (!member.value().is_null()) out[member.key()] = Said(member.value());
  }
  return out;
}

// nullopt: not one complete value.
std::optional<json::value> Read(absl::string_view text) {
  std::vector<std::string> duplicates, again_duplicates;
  const absl::Status complete = api::ParseCompletely(text, {}, &duplicates);
  Require(complete == api::ParseCompletely(text, {}, &again_duplicates) && duplicates == again_duplicates,
          "the same bytes are judged the same", text);
  Require(duplicates.size() <= 101, "what stands twice is told a hundred times", text);
  absl::StatusOr<json::value> value = api::ParseJson(text);
  if (!complete.ok()) {
    Require(absl::StartsWith(complete.message(), "line "), "an error says where", complete.message());
    return std::nullopt;
  }
  Require(value.ok(), "complete JSON can be read", text);
  const std::string written = api::ToJson(*value);
  Require(written.size() <= 8 * text.size() + 8, "it is written in proportion", text);
  const absl::StatusOr<json::value> again = api::ParseJson(written);
  Require(api::ParseCompletely(written).ok() && again.ok(), "what is written is complete JSON", written);
  Require(Near(*value, *again), "what is written reads back as the same", written);
  ++came_out;
  return *std::move(value);
}

void RequirePatches(const json::value& before, const json::value& after) {
  json::value once = before;
  api::ApplyMergePatch(once, after);
  json::value twice = once;
  api::ApplyMergePatch(twice, after);
  Require(once == twice, "a merge patch that is applied again changes nothing", api::ToJson(after));
  if (HasDouble(before) || HasDouble(after)) return;
  const std::string from = api::ToJson(before), to = api::ToJson(after);
  const absl::StatusOr<std::string> patch = api::MergePatchDiff(from, to);
  Require(patch.ok() == (before.is_object() && after.is_object()), "two objects have a difference, nothing else has",
          from);
  if (!patch.ok()) return;
  json::value made = before;
  api::ApplyMergePatch(made, *api::ParseJson(*patch));
  Require(Said(made) == Said(after), "the difference makes the one of the other",
          absl::StrCat(from, "\n", to, "\n", *patch));
  Require(patch->size() <= 2 * (from.size() + to.size()) + 2, "a difference is no larger than what differs", *patch);
}

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway::testutil;
  const std::vector<absl::string_view> parts = PartsOf(TextOf(data, size));
  const auto first = Read(parts.front()), last = Read(parts.back());
  if (first.has_value() && last.has_value()) RequirePatches(*first, *last);
  return 0;
}
