#include "sandbox/apiserver/route.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/json.h"
#include "api/kinds/kinds.h"
#include "base/percent.h"
#include "base/utf8.h"
#include "sandbox/apiserver/draft/draft.h"
#include "sandbox/apiserver/subresources.h"

namespace gangway::sandbox {
namespace {

api::FieldError NotSupported(absl::string_view field, absl::string_view value_json, absl::string_view supported) {
  return {.type = api::FieldError::Type::kNotSupported,
          .field = std::string(field),
          .value = std::string(value_json),
          .rule = absl::StrCat("supported values: ", supported),
          .fix = ""};
}

Outcome<bool> ParseDryRun(const std::vector<absl::string_view>& values, absl::string_view kind) {
  const bool known = std::all_of(values.begin(), values.end(), [](absl::string_view value) { return value == "All"; });
  if (known) return !values.empty();
  const std::string all =
      absl::StrJoin(values, ",", [](std::string* out, absl::string_view value) { *out += api::JsonString(value); });
  return InvalidOptions(kind, {NotSupported("dryRun", absl::StrCat("[", all, "]"), "\"All\"")});
}

Outcome<DeleteOptions::Propagation> ParsePropagation(absl::string_view text) {
  using P = DeleteOptions::Propagation;
  if (text.empty()) return P::kUnset;
  if (text == "Background") return P::kBackground;
  if (text == "Foreground") return P::kForeground;
  if (text == "Orphan") return P::kOrphan;
  return InvalidOptions("DeleteOptions", {NotSupported("propagationPolicy", api::JsonString(text),
                                                       "\"Foreground\", \"Background\", \"Orphan\", \"nil\"")});
}

// A member of DeleteOptions of the wrong type.
Refusal WrongOption(absl::string_view field, absl::string_view must) {
  return BadRequest(absl::StrCat("DeleteOptions: ", field, ": must be ", must));
}

Objection ReadPreconditions(const boost::json::object& body, DeleteOptions& out) {
  const boost::json::value* value = body.if_contains("preconditions");
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (!value->is_object()) return WrongOption("preconditions", "an object");
  const std::pair<absl::string_view, std::optional<std::string>*> members[] = {
      {"uid", &out.uid}, {"resourceVersion", &out.resource_version}};
  for (const auto& [name, target] : members) {
    const boost::json::value* member = value->get_object().if_contains(JsonView(name));
    if (member == nullptr || member->is_null()) continue;
    if (!member->is_string()) return WrongOption(absl::StrCat("preconditions.", name), "a string");
    *target = std::string(AbslView(member->get_string()));
  }
  return std::nullopt;
}

Objection ReadDeleteBody(const boost::json::object& body, DeleteOptions& out) {
  if (const absl::string_view kind = FindText(body, "kind"); !kind.empty() && kind != "DeleteOptions") {
    return BadRequest(absl::StrCat("the body of a DELETE must be DeleteOptions, not ", kind));
  }
  for (const auto& member : body) {
    const absl::string_view name = AbslView(member.key());
    const boost::json::value& value = member.value();
    if (value.is_null()) continue;
    if (name == "gracePeriodSeconds") {
      if (!value.is_int64()) return WrongOption(name, "an integer");
      out.grace_period_seconds = value.get_int64();
    } else if (name == "propagationPolicy") {
      if (!value.is_string()) return WrongOption(name, "a string");
      Outcome<DeleteOptions::Propagation> policy = ParsePropagation(AbslView(value.get_string()));
      if (!policy.ok()) return policy.refusal();
      out.propagation = *policy;
    } else if (name == "orphanDependents") {
      if (!value.is_bool()) return WrongOption(name, "a boolean");
      if (!FindText(body, "propagationPolicy").empty()) {
        return InvalidOptions("DeleteOptions", {{.type = api::FieldError::Type::kInvalid,
                                                 .field = "propagationPolicy",
                                                 .value = api::JsonString(FindText(body, "propagationPolicy")),
                                                 .rule = "orphanDependents and deletionPropagation cannot be both set",
                                                 .fix = ""}});
      }
      out.propagation =
          value.get_bool() ? DeleteOptions::Propagation::kOrphan : DeleteOptions::Propagation::kBackground;
    } else if (name == "dryRun") {
      if (!value.is_array()) return WrongOption(name, "a list of strings");
      std::vector<absl::string_view> values;
      for (const boost::json::value& each : value.get_array()) {
        if (!each.is_string()) return WrongOption(name, "a list of strings");
        values.push_back(AbslView(each.get_string()));
      }
      Outcome<bool> dry_run = ParseDryRun(values, "DeleteOptions");
      if (!dry_run.ok()) return dry_run.refusal();
      out.dry_run = *dry_run;
    }
  }
  return ReadPreconditions(body, out);
}

Outcome<std::optional<Revision>> ParseRevision(absl::string_view text) {
  if (text.empty()) return std::optional<Revision>();
  Revision revision = 0;
  if (!absl::SimpleAtoi(text, &revision)) {
    return BadRequest(absl::StrCat("resourceVersion: Invalid value: ", api::JsonString(text), ": must be a number"));
  }
  return std::optional<Revision>(revision);
}

// k8s.io/apimachinery: internalversion/validation, ValidateListOptions
Objection ParseMatch(const Query& query, ListOptions& out) {
  const absl::string_view match = query.Get("resourceVersionMatch");
  const auto forbidden = [](absl::string_view why, absl::string_view field = "resourceVersionMatch") -> Refusal {
    return InvalidOptions("ListOptions", {{.type = api::FieldError::Type::kForbidden,
                                           .field = std::string(field),
                                           .value = "",
                                           .rule = std::string(why),
                                           .fix = ""}});
  };
  const bool watch = query.Flag("watch");
  if (watch && out.initial_events.has_value() && match != "NotOlderThan") {
    return forbidden("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (!watch && out.initial_events.has_value())
    return forbidden("sendInitialEvents is forbidden for list", "sendInitialEvents");
  if (match.empty()) return std::nullopt;
  if (watch && !out.initial_events.has_value()) {
    return forbidden("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  if (match == "Exact") {
    out.match = ListOptions::Match::kExact;
  } else if (match == "NotOlderThan") {
    out.match = ListOptions::Match::kNotOlderThan;
  } else {
    return InvalidOptions("ListOptions", {NotSupported("resourceVersionMatch", api::JsonString(match),
                                                       "\"Exact\", \"NotOlderThan\", \"\"")});
  }
  if (!out.continue_token.empty()) {
    Refusal refusal = forbidden("resourceVersionMatch is forbidden when continue is provided");
    if (!watch && !out.revision.has_value()) {
      Refusal both = forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided");
      both.causes.insert(both.causes.end(), refusal.causes.begin(), refusal.causes.end());
      return both;
    }
    return refusal;
  }
  if (!watch && !out.revision.has_value()) {
    return forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided");
  }
  if (out.match == ListOptions::Match::kExact && out.revision == Revision{0}) {
    return forbidden("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
  }
  return std::nullopt;
}

}  // namespace

Outcome<Target> ParsePath(absl::string_view path, const ServedVersions& served) {
  std::vector<std::string> parts;
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    if (parts.empty() && part.empty()) continue;  // the leading slash
    std::optional<std::string> decoded = PercentDecode(part, false);
    if (!decoded.has_value()) return BadRequest(absl::StrCat("invalid percent-encoding in the path: ", part));
    if (decoded->find('\0') != std::string::npos) return BadRequest("a NUL byte in the path");
    parts.push_back(*std::move(decoded));
  }
  while (!parts.empty() && parts.back().empty()) parts.pop_back();
  std::size_t at = 0;
  std::string group, version;
  if (parts.size() >= 3 && parts[0] == "api") {
    version = parts[1];
    at = 2;
  } else if (parts.size() >= 4 && parts[0] == "apis") {
    group = parts[1];
    version = parts[2];
    at = 3;
  } else {
    return NoSuchPath();
  }
  if (!served.HasGroup(group)) return NoSuchPath();
  for (const std::string& part : parts) {
    if (part.empty()) return PathNotFound();
  }
  Target target;
  const std::size_t left = parts.size() - at;
  if (parts[at] == "namespaces" && left >= 3 &&
      served.Find(group, version, parts[at + 2]) != nullptr) {  // else namespaces/x/status
    target.ns = parts[at + 1];
    at += 2;
  }
  target.resource = served.Find(group, version, parts[at]);
  // apiextensions-apiserver hands what it does not serve to the router.
  if (target.resource == nullptr) return served.HasBuiltInGroup(group) ? PathNotFound() : NoSuchPath();
  if (parts.size() > at + 1) target.name = parts[at + 1];
  if (parts.size() > at + 2) target.subresource = parts[at + 2];
  if (parts.size() > at + 3) return PathNotFound();
  if (!target.resource->namespaced && !target.ns.empty()) return PathNotFound();
  if (target.resource->namespaced && target.ns.empty() && !target.name.empty()) return PathNotFound();
  const Subresource* const part =
      target.subresource.empty() ? nullptr : FindSubresource(*target.resource, target.subresource);
  if (part != nullptr && !part->unserved.empty()) {
    Refusal refusal = MethodNotAllowed();
    refusal.message = absl::StrCat(target.subresource, " is not served here: ", View(part->unserved));
    return refusal;
  }
  if (!target.subresource.empty() && part == nullptr) {
    Refusal refusal = PathNotFound();
    // Of custom objects it is said which.
    if (api::IsCustom(*target.resource)) {
      refusal.name = target.name;
      refusal.group = std::string(target.resource->group);
      refusal.kind = std::string(target.resource->plural);
    }
    return refusal;
  }
  return target;
}

Outcome<Query> Query::Parse(absl::string_view query) {
  Query out;
  for (const absl::string_view part : absl::StrSplit(query, '&', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair = absl::StrSplit(part, absl::MaxSplits('=', 1));
    std::optional<std::string> name = PercentDecode(pair.first, true);
    std::optional<std::string> value = PercentDecode(pair.second, true);
    if (!name.has_value() || !value.has_value()) {
      return BadRequest(absl::StrCat("invalid percent-encoding in the query: ", part));
    }
    out.pairs_.emplace_back(*std::move(name), *std::move(value));
  }
  return out;
}

absl::string_view Query::Get(absl::string_view name) const {
  for (const auto& [key, value] : pairs_) {
    if (key == name) return value;
  }
  return {};
}
std::vector<absl::string_view> Query::All(absl::string_view name) const {
  std::vector<absl::string_view> out;
  for (const auto& [key, value] : pairs_) {
    if (key == name && !value.empty()) out.push_back(value);
  }
  return out;
}
bool Query::Has(absl::string_view name) const {
  for (const auto& [key, value] : pairs_) {
    if (key == name) return true;
  }
  return false;
}
bool Query::Flag(absl::string_view name) const {
  if (!Has(name)) return false;
  const std::string value = absl::AsciiStrToLower(Get(name));
  return value != "0" && value != "false";
}
Outcome<std::optional<std::int64_t>> Query::Integer(absl::string_view name) const {
  const absl::string_view text = Get(name);
  if (text.empty()) return std::optional<std::int64_t>();
  std::int64_t value = 0;
  if (!absl::SimpleAtoi(text, &value)) {
    return BadRequest(absl::StrCat(name, ": Invalid value: ", api::JsonString(text), ": must be an integer"));
  }
  return std::optional<std::int64_t>(value);
}

namespace {

// Each object, and each change for each watch, is held against all of them.
constexpr std::size_t kMaxRequirements = 500;

Refusal TooManyRequirements(absl::string_view what, std::size_t count) {
  return BadRequest(
      absl::StrCat("unable to parse ", what, ": ", count, " requirements, the limit is ", kMaxRequirements));
}

}  // namespace

Outcome<ListOptions> ParseListOptions(const Query& query, const Target& target) {
  ListOptions out;
  if (const absl::string_view text = query.Get("labelSelector"); !text.empty()) {
    absl::StatusOr<api::LabelSelector> selector = api::LabelSelector::Parse(text);
    if (!selector.ok()) {
      return BadRequest(absl::StrCat("unable to parse labelSelector: ", selector.status().message()));
    }
    if (selector->requirements().size() > kMaxRequirements)
      return TooManyRequirements("labelSelector", selector->requirements().size());
    out.labels = *std::move(selector);
  }
  std::string fields(query.Get("fieldSelector"));
  if (!target.name.empty()) absl::StrAppend(&fields, fields.empty() ? "" : ",", "metadata.name=", target.name);
  if (!fields.empty()) {
    absl::StatusOr<api::FieldSelector> selector = api::FieldSelector::Parse(fields);
    if (!selector.ok()) {
      return BadRequest(absl::StrCat("unable to parse fieldSelector: ", selector.status().message()));
    }
    if (selector->requirements().size() > kMaxRequirements)
      return TooManyRequirements("fieldSelector", selector->requirements().size());
    out.fields = *std::move(selector);
  }
  Outcome<std::optional<std::int64_t>> limit = query.Integer("limit");
  if (!limit.ok()) return limit.refusal();
  out.limit = std::max<std::int64_t>(0, limit->value_or(0));
  Outcome<std::optional<std::int64_t>> timeout = query.Integer("timeoutSeconds");
  if (!timeout.ok()) return timeout.refusal();
  if (timeout->has_value() && **timeout > 0) out.timeout = absl::Seconds(**timeout);
  Outcome<std::optional<Revision>> revision = ParseRevision(query.Get("resourceVersion"));
  if (!revision.ok()) return revision.refusal();
  out.revision = *revision;
  out.continue_token = std::string(query.Get("continue"));
  out.bookmarks = query.Flag("allowWatchBookmarks");
  if (query.Has("sendInitialEvents")) out.initial_events = query.Flag("sendInitialEvents");
  if (Objection objection = ParseMatch(query, out)) return *std::move(objection);
  if (!out.continue_token.empty() && out.revision.value_or(0) != 0) {
    return BadRequest("specifying resource version is not allowed when using continue");
  }
  return out;
}

namespace {

constexpr std::size_t kMaxFieldManagerBytes = 128;

api::FieldError OfOption(api::FieldError::Type type, absl::string_view field, absl::string_view value_json,
                         absl::string_view rule) {
  return {.type = type,
          .field = std::string(field),
          .value = std::string(value_json),
          .rule = std::string(rule),
          .fix = ""};
}

// apimachinery: validation.ValidateFieldManager
api::FieldErrors CheckFieldManager(absl::string_view manager, bool apply) {
  api::FieldErrors errors;
  if (manager.empty() && apply) {
    errors.push_back(OfOption(api::FieldError::Type::kRequired, "fieldManager", "", "is required for apply patch"));
  }
  if (manager.size() > kMaxFieldManagerBytes) {
    errors.push_back(OfOption(api::FieldError::Type::kTooLong, "fieldManager", "",
                              absl::StrCat("may not be more than ", kMaxFieldManagerBytes, " bytes")));
  }
  for (std::size_t i = 0; i < manager.size(); ++i) {
    if (!absl::ascii_iscntrl(static_cast<unsigned char>(manager[i]))) continue;
    errors.push_back(OfOption(
        api::FieldError::Type::kInvalid, "fieldManager", api::JsonString(manager),
        absl::StrCat("invalid character U+", absl::Hex(manager[i], absl::kZeroPad4), " (at position ", i, ")")));
  }
  return errors;
}

}  // namespace

Outcome<WriteOptions> ParseWriteOptions(const Query& query, absl::string_view kind, bool apply) {
  WriteOptions out;
  Outcome<bool> dry_run = ParseDryRun(query.All("dryRun"), kind);
  if (!dry_run.ok()) return dry_run.refusal();
  out.dry_run = *dry_run;
  const absl::string_view validation = query.Get("fieldValidation");
  if (validation == "Strict") {
    out.field_validation = FieldValidation::kStrict;
  } else if (validation == "Ignore") {
    out.field_validation = FieldValidation::kIgnore;
  } else if (!validation.empty() && validation != "Warn") {
    return InvalidOptions(
        kind, {NotSupported("fieldValidation", api::JsonString(validation), "\"\", \"Ignore\", \"Strict\", \"Warn\"")});
  }
  out.field_manager = std::string(query.Get("fieldManager"));
  if (query.Has("force") && !query.Get("force").empty()) {
    if (!apply && kind == "PatchOptions") {
      return InvalidOptions(
          kind, {OfOption(api::FieldError::Type::kForbidden, "force", "", "may not be specified for non-apply patch")});
    }
    out.force = query.Flag("force");
  }
  if (api::FieldErrors errors = CheckFieldManager(out.field_manager, apply); !errors.empty()) {
    return InvalidOptions(kind, errors);
  }
  out.field_manager = WellFormedUtf8(out.field_manager);
  return out;
}

Outcome<DeleteOptions> ParseDeleteOptions(const Query& query, absl::string_view body) {
  DeleteOptions out;
  Outcome<bool> dry_run = ParseDryRun(query.All("dryRun"), "DeleteOptions");
  if (!dry_run.ok()) return dry_run.refusal();
  out.dry_run = *dry_run;
  Outcome<std::optional<std::int64_t>> grace = query.Integer("gracePeriodSeconds");
  if (!grace.ok()) return grace.refusal();
  out.grace_period_seconds = *grace;
  Outcome<DeleteOptions::Propagation> policy = ParsePropagation(query.Get("propagationPolicy"));
  if (!policy.ok()) return policy.refusal();
  out.propagation = *policy;
  if (!absl::StripAsciiWhitespace(body).empty()) {
    if (const absl::Status status = api::ParseCompletely(body); !status.ok()) {
      return BadRequest(absl::StrCat("the body cannot be read: ", status.message()));
    }
    absl::StatusOr<Draft> draft = Draft::Parse(body);
    if (!draft.ok()) return BadRequest(absl::StrCat("DeleteOptions: ", draft.status().message()));
    if (Objection objection = ReadDeleteBody(draft->object(), out)) return *std::move(objection);
  }
  // What is negative means at once, but not without the kubelet's word.
  if (out.grace_period_seconds.value_or(0) < 0) out.grace_period_seconds = 1;
  return out;
}

std::string MediaType(absl::string_view content_type) {
  return absl::AsciiStrToLower(absl::StripAsciiWhitespace(content_type.substr(0, content_type.find(';'))));
}

std::string EncodeContinue(const ContinueToken& token) {
  return absl::WebSafeBase64Escape(
      absl::StrCat("1\n", token.revision, "\n", token.remaining, "\n", token.after.ns, "\n", token.after.name));
}

std::optional<ContinueToken> DecodeContinue(absl::string_view text) {
  std::string plain;
  if (!absl::WebSafeBase64Unescape(text, &plain)) return std::nullopt;
  const std::vector<std::string> parts = absl::StrSplit(plain, '\n');
  ContinueToken token;
  if (parts.size() != 5 || parts[0] != "1" || !absl::SimpleAtoi(parts[1], &token.revision) ||
      !absl::SimpleAtoi(parts[2], &token.remaining) || token.remaining < 0 || parts[4].empty()) {
    return std::nullopt;
  }
  token.after = {parts[3], parts[4]};
  return token;
}

}  // namespace gangway::sandbox
