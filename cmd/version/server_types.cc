#include "cmd/version/server_types.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/crd/crd.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "api/volcano/kinds.h"
#include "base/check.h"
#include "base/strings.h"

namespace gangway::cmd {
namespace {

namespace json = boost::json;

constexpr std::size_t kShown = 3;

void Compare(const json::value& ours, const json::value& theirs, const std::string& path,
             std::vector<std::string>& missing) {
  const json::value* const keeps = api::ValueAt(theirs, {"x-kubernetes-preserve-unknown-fields"});
  if (keeps != nullptr && keeps->is_bool() && keeps->get_bool()) return;
  if (const json::value* const fields = api::ValueAt(ours, {"properties"}); fields != nullptr && fields->is_object()) {
    for (const auto& [name, field] : fields->get_object()) {
      const std::string at = absl::StrCat(path, path.empty() ? "" : ".", api::AbslView(name));
      const json::value* const found = api::ValueAt(theirs, {"properties", name});
      if (found == nullptr)
        missing.push_back(at);
      else
        Compare(field, *found, at, missing);
    }
  }
  for (const char* const of_each : {"items", "additionalProperties"}) {
    const json::value* const our_each = api::ValueAt(ours, {of_each});
    if (our_each == nullptr || !our_each->is_object()) continue;
    const json::value* const their_each = api::ValueAt(theirs, {of_each});
    if (their_each != nullptr)
      Compare(*our_each, *their_each, absl::StrCat(path, of_each[0] == 'i' ? "[]" : ".*"), missing);
  }
}

// The version of that name, or null.
const json::value* VersionOf(const json::value& definition, std::string_view name) {
  for (const json::value& version : api::ListAt(definition, {"spec", "versions"})) {
    if (api::TextAt(version, {"name"}) == name) return &version;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> MissingFields(const json::value& ours, const json::value& theirs) {
  std::vector<std::string> missing;
  Compare(ours, theirs, "", missing);
  std::sort(missing.begin(), missing.end());
  return missing;
}

bool IsNeeded(const api::KindRow& kind) {
  return kind.resource == &api::kJobs || kind.resource == &api::kPodGroups || kind.resource == &api::kQueues ||
         kind.resource == &api::kCommands;
}

TypeReport CompareType(const api::KindRow& kind, const json::value& theirs, bool strict) {
  const bool all = strict && kind.origin == api::Origin::kVolcano;
  if (theirs.is_null()) return {IsNeeded(kind) || all, "is not there"};
  const json::value* const version = VersionOf(theirs, kind.resource->version);
  const json::value* const served = version == nullptr ? nullptr : api::ValueAt(*version, {"served"});
  if (served == nullptr || !served->is_bool() || !served->get_bool())
    return {IsNeeded(kind) || all, absl::StrCat("does not serve ", View(kind.resource->version))};
  const absl::StatusOr<json::value> ours = api::ParseJson(api::CrdJson(kind));
  GW_CHECK(ours.ok());
  const json::value* const our_schema =
      api::ValueAt(*VersionOf(*ours, kind.resource->version), {"schema", "openAPIV3Schema"});
  const json::value* const their_schema = api::ValueAt(*version, {"schema", "openAPIV3Schema"});
  const std::vector<std::string> missing =
      MissingFields(*our_schema, their_schema == nullptr ? json::value() : *their_schema);
  if (missing.empty()) return {};
  const std::vector<std::string> shown(missing.begin(),
                                       missing.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, missing.size())));
  return {all, absl::StrCat("lacks ", absl::StrJoin(shown, ", "),
                            missing.size() > kShown ? absl::StrCat(" and ", missing.size() - kShown, " more") : "",
                            ": what is written there is dropped")};
}

}  // namespace gangway::cmd
