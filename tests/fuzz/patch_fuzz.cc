// Patches of objects: `object %% patch`. A list is a JSON patch (RFC 6902); any other is a merge patch (RFC 7386), and
// where the object's kind is a core one a strategic merge patch. The same twice; what comes out is no deeper than a
// body may be, and no larger than its parts and the copies that were allowed.
#include <string>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/schemas/json_patch.h"
#include "api/schemas/schemas.h"
#include "api/schemas/strategic_merge.h"
#include "tests/fuzz/fuzz_target.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxCopied = 3u << 20;  // kube-apiserver: JSONPatchMaxCopyBytes

// As a body is read: complete, and no deeper than 100.
std::optional<json::value> Read(absl::string_view text) {
  if (!api::ParseCompletely(text).ok()) return std::nullopt;
  return *api::ParseJson(text);
}

std::string TextAt(const json::value& object, const char* field) {
  const json::value* const value = object.is_object() ? object.get_object().if_contains(field) : nullptr;
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

void RequireBounded(const json::value& made, std::size_t parts, const std::string& shown) {
  Require(!schemas::IsDeeperThan(made, schemas::kMaxObjectDepth), "what is patched is no deeper than a body", shown);
  Require(api::ToJson(made).size() <= parts, "what is patched is no larger than its parts", shown);
  ++came_out;
}

void TryJsonPatch(const json::value& object, const json::value& patch, std::size_t parts, const std::string& shown) {
  json::value made = object, again = object;
  const absl::Status status = schemas::ApplyJsonPatch(made, patch);
  Require(status == schemas::ApplyJsonPatch(again, patch), "the same patch does the same", shown);
  if (!status.ok()) {
    Require(absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) || absl::IsResourceExhausted(status),
            "a refusal is one of three", shown);
    return;
  }
  Require(made == again, "the same patch makes the same", shown);
  RequireBounded(made, parts + kMaxCopied, shown);
}

void TryStrategic(const json::value& object, const json::value& patch, std::size_t parts, const std::string& shown) {
  const schemas::Schema* const schema =
      schemas::Schemas::Shared().ForKind(TextAt(object, "apiVersion"), TextAt(object, "kind"));
  if (schema == nullptr || schema->custom) return;
  json::value made = object, again = object;
  const absl::Status status = schemas::StrategicMergePatch(made, patch, *schema);
  Require(status == schemas::StrategicMergePatch(again, patch, *schema), "the same strategic patch does the same",
          shown);
  if (!status.ok())
    return Require(absl::IsInvalidArgument(status) || absl::IsInternal(status),
                   "a strategic patch is refused as Kubernetes does", shown);
  Require(made == again, "the same strategic patch makes the same", shown);
  RequireBounded(made, parts, shown);
}

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway::testutil;
  const std::vector<absl::string_view> texts = PartsOf(TextOf(data, size));
  const std::optional<boost::json::value> object = Read(texts.front()), patch = Read(texts.back());
  if (texts.size() != 2 || !object.has_value() || !patch.has_value()) return 0;
  const std::string shown = absl::StrCat(texts[0], "\n%%\n", texts[1]);
  const std::size_t parts = gangway::api::ToJson(*object).size() + gangway::api::ToJson(*patch).size() + 16;
  if (patch->is_array()) {
    TryJsonPatch(*object, *patch, parts, shown);
    return 0;
  }
  boost::json::value merged = *object;
  gangway::api::ApplyMergePatch(merged, *patch);
  RequireBounded(merged, parts, shown);
  TryStrategic(*object, *patch, parts, shown);
  return 0;
}
