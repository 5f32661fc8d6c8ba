// PATCH with a configuration: server-side apply.
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "sandbox/apiserver/object_rules.h"
#include "sandbox/apiserver/ownership_rules.h"
#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

// The body as JSON, and the keys that stand twice.
absl::StatusOr<std::string> ToJsonText(const std::string& body, std::vector<std::string>* duplicates) {
  absl::Status as_json = api::ParseCompletely(body, {}, duplicates);
  if (as_json.ok()) return body;
  if (absl::IsResourceExhausted(as_json)) return as_json;
  duplicates->clear();
  api::ManifestLimits limits;
  limits.max_bytes = kMaxBodyBytes;
  limits.max_documents = 1;
  absl::StatusOr<std::vector<api::ManifestDocument>> documents = api::ReadDocuments(body, "the configuration", limits);
  if (!documents.ok()) return documents.status();
  if (documents->empty()) return std::string("{}");
  return std::move(documents->front().json);
}

std::string GvkOf(absl::string_view api_version, absl::string_view kind) {
  return absl::StrCat(absl::StrContains(api_version, "/") ? "" : "/", api_version, ", Kind=", kind);
}

}  // namespace

Refusal ApplyConflict(const std::vector<apply::FieldConflict>& conflicts) {
  Refusal refusal{.code = 409, .reason = "Conflict", .message = apply::ConflictMessage(conflicts)};
  for (const apply::FieldConflict& conflict : conflicts) {
    refusal.causes.push_back(
        {"FieldManagerConflict", absl::StrCat("conflict with ", conflict.manager), conflict.field});
  }
  return refusal;
}

apply::Write ServerCore::WriteOf(const api::Resource& resource, const CommitNote& note) {
  return {.manager = note.manager.empty() ? note.client : note.manager,
          .subresource = note.subresource,
          .api_version = resource.ApiVersion(),
          .type = *schemas_.For(resource)->root,
          .reset = ResetFields(resource, note.subresource),
          .now = Now()};
}

Claims ServerCore::TakeClaims(const api::Resource& resource, absl::string_view subresource, const Record* before,
                              Draft& draft) {
  Claims claims;
  json::object& metadata = draft.metadata();
  const auto member = metadata.find("managedFields");
  if (member == metadata.end()) return claims;
  const json::value list = std::move(member->value());
  metadata.erase(member);
  if (!subresource.empty()) return claims;
  const std::string stored_version = api::StoredAs(resource).ApiVersion();
  // Whoever changes what it has read sends back what it was shown.
  if (before != nullptr && before->managed != nullptr &&
      api::ToJson(list) == apply::ManagedFieldsJson(*before->managed, stored_version)) {
    return claims;
  }
  if (apply::AsksToForget(list)) {
    claims.given = nullptr;
  } else if (std::optional<apply::ManagedFields> given =
                 apply::ReadManagedFields(list, stored_version, ownership_.pool());
             given.has_value() && !given->empty()) {
    claims.given = std::make_shared<const apply::ManagedFields>(*std::move(given));
  }
  return claims;
}

Outcome<Draft> ServerCore::ReadConfiguration(Exchange& exchange, FieldValidation validation) {
  std::vector<std::string> duplicates;
  absl::StatusOr<std::string> text = ToJsonText(exchange.request.body, &duplicates);
  if (absl::IsResourceExhausted(text.status())) return TooLarge();
  if (!text.ok())
    return BadRequest(
        absl::StrCat("error decoding YAML: error converting YAML to JSON: yaml: ", text.status().message()));
  absl::StatusOr<Draft> config = Draft::Parse(*text);
  if (!config.ok()) {
    const absl::string_view kind = absl::StartsWith(*text, "[")    ? "array"
                                   : absl::StartsWith(*text, "\"") ? "string"
                                                                   : "number";
    return BadRequest(
        absl::StrCat("error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ", kind,
                     " into Go value of type map[string]interface {}"));
  }
  for (const std::string& path : duplicates) {
    const std::string complaint = absl::StrCat(
        "error converting YAML to JSON: yaml: unmarshal errors:\n  line 1: key \"", path, "\" already set in map");
    if (validation == FieldValidation::kStrict)
      return BadRequest(absl::StrCat("error strict decoding YAML: ", complaint));
    if (validation == FieldValidation::kWarn) exchange.warnings.push_back(complaint);
  }
  return *std::move(config);
}

Objection ServerCore::CheckConfiguration(const Target& target, const schemas::Schema& schema,
                                         absl::string_view api_version_wanted, const Record* live,
                                         const Draft& config) {
  const api::Resource& resource = *target.resource;
  const absl::string_view api_version = FindText(config.object(), "apiVersion"),
                          kind = FindText(config.object(), "kind");
  if (api_version != api_version_wanted || kind != View(schema.kind)) {
    return BadRequest(absl::StrCat("invalid object type: ", GvkOf(api_version, kind)));
  }
  if (const json::value* managed = FindPath(config.object(), "metadata.managedFields");
      managed != nullptr && !managed->is_null()) {
    return BadRequest("metadata.managedFields must be nil");
  }
  const absl::string_view name = TextAt(config.object(), "metadata.name"),
                          ns = TextAt(config.object(), "metadata.namespace");
  if (const std::vector<std::string> mistakes = apply::Mistakes(config.root(), *schema.root); !mistakes.empty()) {
    return Refusal{
        .code = 500,
        .message = absl::StrCat(
            "failed to create typed patch object (", ns, "/", name, "; ", GvkOf(api_version, kind),
            "): ", mistakes.size() == 1 ? mistakes[0] : absl::StrCat("errors:\n  ", absl::StrJoin(mistakes, "\n  ")))};
  }
  if (const absl::string_view uid = TextAt(config.object(), "metadata.uid"); !uid.empty() && live == nullptr) {
    return Conflict(
        resource, target.name,
        absl::StrCat("uid mismatch: the provided object specified uid ", uid, ", and no existing object was found"));
  }
  if (!ns.empty() && ns != target.ns) {
    return BadRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (name.empty() && live == nullptr) {
    return BadRequest(absl::StrCat("the name of the object (", target.name,
                                   " based on URL) was undeterminable: name must be provided"));
  }
  if (!name.empty() && name != target.name) {
    return BadRequest(
        absl::StrCat("the name of the object (", name, ") does not match the name on the URL (", target.name, ")"));
  }
  return std::nullopt;
}

Outcome<kube::Response> ServerCore::Apply(Exchange& exchange) {
  const Target& target = exchange.target;
  const api::Resource& resource = *target.resource;
  const schemas::Schema& schema = *schemas_.For(resource);
  Outcome<WriteOptions> options = ParseWriteOptions(exchange.query, "PatchOptions", /*apply=*/true);
  if (!options.ok()) return options.refusal();
  const RecordPtr record = store_.Find(resource, target.key());
  if (record == nullptr && !target.subresource.empty()) return NotFound(resource, target.name);
  Outcome<Draft> config = ReadConfiguration(exchange, options->field_validation);
  if (!config.ok()) return config.refusal();
  if (Objection objection = CheckConfiguration(target, schema, resource.ApiVersion(), record.get(), *config))
    return *std::move(objection);

  const CommitNote note{
      exchange.caller.name,      "patch", target.subresource, options->field_manager, exchange.caller.managed_fields,
      exchange.caller.user.get()};
  const std::optional<Draft> old =
      record == nullptr ? std::nullopt : std::optional<Draft>(StoredAsOf(*record, resource));
  apply::Applied applied =
      ownership_.Apply(record == nullptr ? nullptr : record->managed, old.has_value() ? &old->root() : nullptr,
                       config->root(), WriteOf(resource, note), options->force);
  if (!applied.conflicts.empty()) return ApplyConflict(applied.conflicts);
  Draft next;
  apply::DropZeros(applied.object, *schema.root);
  next.root() = std::move(applied.object);
  if (Objection objection = ReportFields(exchange, schema, options->field_validation, next, {}, target.name)) {
    return *std::move(objection);
  }
  Prune(next.root(), schema);
  Claims claims;
  claims.decided = std::move(applied.managed);
  if (record == nullptr) {
    next.metadata().erase("resourceVersion");
    if (Objection objection = AuthorizeVerb(exchange, "create")) return *std::move(objection);
    Outcome<Bytes> created = CreateObject(target, next, options->dry_run, note, claims);
    if (!created.ok()) return created.refusal();
    return ObjectResponse(exchange, 201, *created);
  }
  CompleteChange(target, next);
  Outcome<Bytes> replaced = Replace(target, *record, *old, next, options->dry_run, true, note, claims);
  if (!replaced.ok()) return replaced.refusal();
  return ObjectResponse(exchange, 200, *replaced);
}

}  // namespace gangway::sandbox
