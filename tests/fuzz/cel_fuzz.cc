// Conditions of webhooks: `expression %% object %% request`. A refusal says where, in text that a reply may carry. What
// can be read comes to the same answer twice; in brackets, denied or joined with what decides nothing it says the same.
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "base/utf8.h"
#include "sandbox/cel/expression.h"
#include "tests/fuzz/fuzz_target.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;
using sandbox::cel::Expression;

constexpr absl::string_view kKnown[] = {"object", "oldObject", "request"};

std::optional<json::value> Read(absl::string_view text) {
  if (!api::ParseCompletely(text).ok()) return std::nullopt;
  return *api::ParseJson(text);
}

bool IsUtf8(absl::string_view text) {
  for (std::size_t at = 0, length = 0; at < text.size(); at += length) {
    if ((length = Utf8Length(text, at)) == 0) return false;
  }
  return true;
}

void RequireTellable(const absl::Status& status, std::size_t given, absl::string_view text) {
  Require(status.message().size() <= given + 200, "what is told is in proportion", text);
  Require(IsUtf8(status.message()), "what is told is UTF-8", text);
}

// What `wrapped` says is what `plain` said, and `denied` the contrary; unless it is too large, or takes too long, with
// what was put around it.
void RequireSame(const absl::StatusOr<bool>& plain, const std::string& wrapped, bool denied,
                 const sandbox::cel::Variables& variables) {
  const absl::StatusOr<Expression> read = Expression::Parse(wrapped, kKnown);
  if (!read.ok()) {
    for (const char* const limit : {"longer than", "deeper than", "more than"}) {
      if (absl::StrContains(read.status().message(), limit)) return;
    }
    Require(false, "a condition within another can be read", wrapped);
  }
  const absl::StatusOr<bool> answer = read->Holds(variables);
  if (absl::IsResourceExhausted(plain.status()) || absl::IsResourceExhausted(answer.status())) return;
  Require(
      answer.ok() == plain.ok() && (answer.ok() ? *answer == (*plain != denied) : answer.status() == plain.status()),
      "a condition within another says the same", wrapped);
}

void Try(absl::string_view text, const json::value& object, const json::value& request) {
  const absl::StatusOr<Expression> read = Expression::Parse(text, kKnown), again = Expression::Parse(text, kKnown);
  Require(read.status() == again.status(), "the same text is read the same", text);
  if (!read.ok()) {
    Require(absl::IsInvalidArgument(read.status()), "what cannot be read is an invalid argument", text);
    Require(absl::StartsWith(read.status().message(), "at byte ") ||
                absl::StartsWith(read.status().message(), "longer than "),
            "a refusal says where", read.status().message());
    return RequireTellable(read.status(), text.size(), text);
  }
  const sandbox::cel::Variables variables{{"object", &object}, {"oldObject", nullptr}, {"request", &request}};
  const absl::StatusOr<bool> answer = read->Holds(variables), same = again->Holds(variables);
  Require(answer.status() == same.status() && (!answer.ok() || *answer == *same), "the same answer twice", text);
  if (!answer.ok()) {
    Require(absl::IsInvalidArgument(answer.status()) || absl::IsResourceExhausted(answer.status()),
            "what has no answer is one of two", text);
    RequireTellable(answer.status(), text.size() + api::ToJson(object).size() + api::ToJson(request).size(), text);
  }
  // A line's end, for a condition that ends in a comment.
  RequireSame(answer, absl::StrCat("(", text, "\n)"), false, variables);
  RequireSame(answer, absl::StrCat("!(", text, "\n)"), true, variables);
  RequireSame(answer, absl::StrCat("(", text, "\n) && true"), false, variables);
  RequireSame(answer, absl::StrCat("false || (", text, "\n)"), false, variables);
  RequireSame(answer, absl::StrCat("(", text, "\n) ? true : false"), false, variables);
  RequireSame(answer, absl::StrCat("[1].all(one, (", text, "\n))"), false, variables);
  ++came_out;
}

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway::testutil;
  const std::vector<absl::string_view> parts = PartsOf(TextOf(data, size));
  // It comes in a JSON body, which is UTF-8.
  if (parts.size() != 3 || !IsUtf8(parts[0])) return 0;
  const std::optional<boost::json::value> object = Read(parts[1]), request = Read(parts[2]);
  if (object.has_value() && request.has_value()) Try(parts[0], *object, *request);
  return 0;
}
