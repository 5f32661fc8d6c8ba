// AdmissionReviews into answers: the same twice, with the request's uid, bounded. The patch of a mutating one can be
// applied, is applied once, and changes no verdict.
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/schemas/json_patch.h"
#include "plugin/webhook/review.h"
#include "tests/fuzz/fuzz_target.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;
using webhook::Step;

// A queue of each kind, and none else.
std::optional<api::volcano::QueueFacts> QueueOf(absl::string_view name) {
  api::volcano::QueueFacts facts;
  facts.state = name == "closed" ? "Closed" : "Open";
  if (name == "parent") facts.children = {"child"};
  if (name == "child") facts.parent = "parent";
  return name == "default" || name == "closed" || name == "parent" || name == "child" ? std::make_optional(facts)
                                                                                      : std::nullopt;
}

absl::StatusOr<std::string> Answer(Step step, absl::string_view review) {
  return webhook::AnswerReview(step, review, QueueOf, [](absl::string_view) { return std::string(); });
}

// The response of an answer; nullopt when the review is none.
std::optional<json::object> ResponseTo(Step step, absl::string_view review) {
  const absl::StatusOr<std::string> answer = Answer(step, review), again = Answer(step, review);
  Require(answer.status() == again.status() && (!answer.ok() || *answer == *again),
          "the same review is answered the same", review);
  if (!answer.ok()) {
    Require(absl::IsInvalidArgument(answer.status()) || absl::IsResourceExhausted(answer.status()),
            "a refusal is one of two", answer.status().ToString());
    return std::nullopt;
  }
  Require(answer->size() <= 100 * review.size() + 400'000, "an answer is in proportion", *answer);
  Require(api::ParseCompletely(*answer, {.max_bytes = 16u << 20}).ok(), "an answer is complete JSON", *answer);
  json::value parsed = *api::ParseJson(*answer);
  const json::object& response = parsed.at("response").get_object();
  Require(response.at("uid") == api::ParseJson(review)->at("request").at("uid"), "an answer has the request's uid",
          *answer);
  const bool allowed = response.at("allowed").get_bool();
  Require(allowed != response.contains("status"), "who is refused is told why", *answer);
  if (!allowed)
    Require(!response.at("status").at("message").get_string().empty() &&
                response.at("status").at("code").get_int64() >= 400,
            "a refusal has code and message", *answer);
  return response;
}

void TryReview(absl::string_view review) {
  const std::optional<json::object> mutated = ResponseTo(Step::kMutate, review),
                                    judged = ResponseTo(Step::kValidate, review);
  if (!mutated.has_value() || !judged.has_value()) return;
  ++came_out;
  Require(mutated->at("allowed").get_bool(), "filling in refuses nothing", review);
  if (!mutated->contains("patch")) return;
  std::string text;
  Require(absl::Base64Unescape(std::string(mutated->at("patch").get_string()), &text), "a patch is base64", review);
  json::value filled = *api::ParseJson(review);
  json::value& object = filled.at("request").at("object");
  Require(schemas::ApplyJsonPatch(object, *api::ParseJson(text)).ok(), "a patch can be applied", text);
  const std::string filled_review = api::ToJson(filled);
  const std::optional<json::object> once_more = ResponseTo(Step::kMutate, filled_review),
                                    judged_filled = ResponseTo(Step::kValidate, filled_review);
  if (!once_more.has_value() || !judged_filled.has_value()) return;  // the limits are of what was sent
  Require(!once_more->contains("patch"), "what is filled in stays", absl::StrCat(text, "\n", filled_review));
  Require(judged->at("allowed") == judged_filled->at("allowed"), "what is filled in is judged as what was sent",
          absl::StrCat(api::ToJson(*judged), "\n", api::ToJson(*judged_filled), "\n", review));
}

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gangway::testutil::TryReview(gangway::testutil::TextOf(data, size));
  return 0;
}
