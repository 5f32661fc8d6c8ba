// PUT and PATCH, of objects and their status.
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/schemas/json_patch.h"
#include "api/schemas/strategic_merge.h"
#include "api/volcano/defaults.h"
#include "sandbox/apiserver/apply/typed.h"
#include "sandbox/apiserver/object_rules.h"
#include "sandbox/apiserver/ownership_rules.h"
#include "sandbox/apiserver/served_kind.h"
#include "sandbox/apiserver/server_core.h"
#include "sandbox/apiserver/server_defaults.h"
#include "sandbox/apiserver/service_address.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

constexpr absl::string_view kPatchTypes =
    "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, "
    "application/apply-patch+yaml";
constexpr absl::string_view kCustomPatchTypes =
    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";

// What clients leave out keeps its value; what they may not say is dropped.
void KeepServerMetadata(const json::object& old_metadata, json::object& metadata) {
  for (const absl::string_view field : {"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
                                        "name", "namespace", "generateName"}) {
    const json::value* old_value = old_metadata.if_contains(JsonView(field));
    const json::value* value = metadata.if_contains(JsonView(field));
    if (old_value != nullptr && (value == nullptr || value->is_null())) metadata[JsonView(field)] = *old_value;
  }
  for (const absl::string_view field : {"resourceVersion", "generation", "creationTimestamp"}) {
    if (const json::value* old_value = old_metadata.if_contains(JsonView(field)); old_value != nullptr) {
      metadata[JsonView(field)] = *old_value;
    } else {
      metadata.erase(JsonView(field));
    }
  }
  metadata.erase("managedFields");
  metadata.erase("selfLink");
}

// pkg/registry: through the status of Kubernetes' own kinds metadata can be written, too.
bool StatusWritesMetadata(const api::Resource& resource, const json::object& old, json::object& next) {
  if (!ServedAs(resource).status_writes_metadata) return false;
  const char* const kept = ServedAs(resource).status_keeps;
  if (kept == nullptr) return true;
  const json::object* const before = FindObject(old, "metadata");
  json::object& metadata = ObjectIn(next, "metadata");
  const json::value* const value = before == nullptr ? nullptr : before->if_contains(kept);
  if (value != nullptr) {
    metadata[kept] = *value;
  } else {
    metadata.erase(kept);
  }
  return true;
}

// A write of the status leaves everything else as it was, any other write leaves the status.
void KeepTheOtherHalf(const api::Resource& resource, const json::object& old, bool writes_status, json::object& next) {
  const bool metadata_too = writes_status && StatusWritesMetadata(resource, old, next);
  const auto keeps = [&](json::string_view key) {
    return (key == "status") != writes_status && !(metadata_too && key == "metadata");
  };
  for (const auto& member : old) {
    if (!keeps(member.key())) continue;
    json::value& value = next[member.key()];
    if (!Equal(value, member.value())) value = member.value();
  }
  for (std::size_t i = next.size(); i-- > 0;) {
    const auto member = next.begin() + static_cast<std::ptrdiff_t>(i);
    if (keeps(member->key()) && !old.contains(member->key())) next.erase(member);
  }
}

// The last finalizer of an object that waits for it has gone.
bool Releases(const api::Resource& resource, const json::object& old, const json::object& next) {
  if (&resource == &api::kNamespaces) return false;  // its own controller's business
  if (TextAt(old, "metadata.deletionTimestamp").empty()) return false;
  if (IntAt(old, "metadata.deletionGracePeriodSeconds", 0) > 0) return false;
  const json::value* finalizers = FindPath(next, "metadata.finalizers");
  return finalizers == nullptr || !finalizers->is_array() || finalizers->get_array().empty();
}

// The lock, and that it is the same object.
Objection CheckPreconditions(const Target& target, const Record& before, const json::object& old_metadata,
                             const json::object& metadata, bool unconditional) {
  const api::Resource& resource = *target.resource;
  const absl::string_view version = FindText(metadata, "resourceVersion");
  if (!version.empty() && version != "0") {
    if (version != FindText(old_metadata, "resourceVersion"))
      return Conflict(resource, target.name, kModifiedMeanwhile);
  } else if (!unconditional) {
    Refusal refusal = Invalid(resource, target.name,
                              {{.type = api::FieldError::Type::kInvalid,
                                .field = "metadata.resourceVersion",
                                .value = "0",
                                .rule = "must be specified for an update",
                                .fix = ""}});
    refusal.kind = std::string(resource.plural);  // it is the store that says so, and it knows no kinds
    refusal.message = absl::StrCat(GroupResource(resource), refusal.message.substr(refusal.message.find(' ')));
    return refusal;
  }
  if (const absl::string_view uid = FindText(metadata, "uid"); !uid.empty() && uid != before.uid) {
    return Invalid(resource, target.name,
                   {{.type = api::FieldError::Type::kInvalid,
                     .field = "metadata.uid",
                     .value = api::JsonString(uid),
                     .rule = "field is immutable",
                     .fix = ""}});
  }
  const absl::string_view name = FindText(metadata, "name"), ns = FindText(metadata, "namespace");
  if (!name.empty() && name != target.name) {
    return BadRequest(
        absl::StrCat("the name of the object (", name, ") does not match the name on the URL (", target.name, ")"));
  }
  if (!ns.empty() && ns != target.ns) {
    return BadRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  return std::nullopt;
}

// Whether metadata.generation counts this write to the object itself.
bool CountsAsChange(const api::Resource& resource, bool spec_changed, const json::object& old,
                    const json::object& next) {
  if (!ServedAs(resource).generation) return false;
  // pkg/registry/scheduling/priorityclass: only its value would count, and that cannot change.
  if (&resource == &api::kPriorityClasses) return false;
  // pkg/registry/apps/deployment: its controller copies annotations, so they count too.
  return spec_changed || (&resource == &api::kDeployments &&
                          !Equal(FindPath(old, "metadata.annotations"), FindPath(next, "metadata.annotations")));
}

}  // namespace

void ServerCore::BringForward(const Target& target, const json::object& old, Draft& next) {
  const api::Resource& resource = *target.resource;
  json::object& metadata = next.metadata();
  KeepServerMetadata(*FindObject(old, "metadata"), metadata);
  DropEmptyMetadata(metadata);
  if (HasStatusSubresource(resource)) KeepTheOtherHalf(resource, old, target.subresource == "status", next.object());
  apply::WriteAsGo(next.root(), *schemas_.For(resource)->root);
  if (const auto keep = ServedAs(resource).keep; keep != nullptr) keep(target.subresource, old, next.object());
}

Draft ServerCore::StoredAsOf(const Record& record, const api::Resource& resource) {
  Draft draft = Draft::OfStored(*record.json);
  if (resource.declared != nullptr) SetText(draft.object(), "apiVersion", resource.ApiVersion());
  return draft;
}

Objection ServerCore::CheckSuccessor(const Target& target, const Draft& old, Draft& next, bool spec_changed) {
  api::FieldErrors errors = CheckObject(*target.resource, next.object(), false);
  const api::FieldErrors more = CheckChange(*target.resource, old.object(), next.object());
  errors.insert(errors.end(), more.begin(), more.end());
  if (!errors.empty()) return Invalid(*target.resource, target.name, errors);
  return spec_changed ? Admit(api::volcano::Operation::kUpdate, target, &next.root(), &old.root()) : std::nullopt;
}

Outcome<Bytes> ServerCore::Replace(const Target& target, const Record& before, const Draft& old, Draft& next,
                                   bool dry_run, bool unconditional, const CommitNote& note, const Claims& claims) {
  const api::Resource& resource = *target.resource;
  if (Objection objection =
          CheckPreconditions(target, before, *FindObject(old.object(), "metadata"), next.metadata(), unconditional)) {
    return *std::move(objection);
  }
  BringForward(target, old.object(), next);
  const Admission admission{.operation = "UPDATE",
                            .resource = &resource,
                            .subresource = target.subresource,
                            .ns = target.ns,
                            .name = target.name,
                            .dry_run = dry_run};
  const bool asks = note.subresource != "scale";  // then it is the scale that they are asked about
  if (asks) {
    Outcome<bool> mutated = MutateByWebhooks(admission, &next, &old);
    if (!mutated.ok()) return mutated.refusal();
    if (*mutated) {
      if (Objection objection = ReadMutated(resource, *schemas_.For(resource), target.name, next))
        return *std::move(objection);
      BringForward(target, old.object(), next);
    }
  }
  if (Objection objection = CheckEscalation(target, next, &old, note.user)) return *std::move(objection);
  const bool same = Equal(next.root(), old.root());
  apply::ManagedFieldsPtr managed = claims.decided.value_or(claims.given.value_or(before.managed));
  if (!same && !claims.decided.has_value()) {
    managed = ownership_.AfterUpdate(managed, &old.root(), next.root(), WriteOf(resource, note));
  }
  // Nothing changes, so there is no revision and no event.
  if (same && apply::SameButTimes(managed, before.managed)) {
    if (asks) {
      if (Objection objection = ValidateByWebhooks(admission, &next, &old)) return *std::move(objection);
    }
    return Shown(before, note.managed_fields);
  }
  if (asks && HasOwnAdmission(resource)) {
    if (Objection objection = ValidateByWebhooks(admission, &next, &old)) return *std::move(objection);
  }
  if (target.subresource.empty()) {
    const bool spec_changed = SpecChanged(resource, old.object(), next.object());
    if (CountsAsChange(resource, spec_changed, old.object(), next.object())) {
      next.metadata()["generation"] = IntAt(old.object(), "metadata.generation", 0) + 1;
    }
    if (Objection objection = CheckSuccessor(target, old, next, spec_changed)) return *std::move(objection);
  }
  if (const auto check = ServedAs(resource).check_status_change; check != nullptr && target.subresource == "status") {
    api::FieldErrors errors;
    check(old.object(), next.object(), errors);
    if (!errors.empty()) return Invalid(resource, target.name, errors);
  }
  if (target.subresource == "status" && resource.declared != nullptr) {
    const api::FieldErrors errors = DeclaredAs(resource).compiled->Judge(next.root(), &old.root());
    if (!errors.empty()) return Invalid(resource, target.name, errors);
  }
  if (asks && !HasOwnAdmission(resource)) {
    if (Objection objection = ValidateByWebhooks(admission, &next, &old)) return *std::move(objection);
  }
  if (Releases(resource, old.object(), next.object())) {
    // What was wished for is answered; watchers see the last state that was.
    Bytes released = ShownAfter(before, next, before.revision, note.managed_fields, &managed);
    if (!dry_run) CommitDeletion(before, note);
    return released;
  }
  return Commit(resource, next, dry_run, note, &managed);
}

namespace {

// A Job's file is applied again without the defaults that its creation added; they must not look like a change. A
// minAvailable of 0 is a wish here (a job scaled to nothing), not an absence.
void ApplyJobDefaultsOnUpdate(const Target& target, json::value& job) {
  if (target.resource != &api::kJobs || !target.subresource.empty()) return;
  const json::object& object = job.as_object();
  const json::value* spec = object.if_contains("spec");
  const json::value* wish =
      spec != nullptr && spec->is_object() ? spec->as_object().if_contains("minAvailable") : nullptr;
  const std::optional<json::value> min_available = wish != nullptr ? std::optional<json::value>(*wish) : std::nullopt;
  api::volcano::ApplyJobDefaults(job);
  if (min_available) job.as_object().at("spec").as_object().insert_or_assign("minAvailable", *min_available);
}

}  // namespace

void ServerCore::CompleteChange(const Target& target, Draft& next) {
  if (target.resource == &api::kSecrets) FoldStringData(next.object());
  ApplyDefaults(next.root(), *schemas_.For(*target.resource));
  ApplyJobDefaultsOnUpdate(target, next.root());
}

Outcome<kube::Response> ServerCore::Put(Exchange& exchange) {
  Outcome<WriteOptions> options = ParseWriteOptions(exchange.query, "UpdateOptions");
  if (!options.ok()) return options.refusal();
  const Target& target = exchange.target;
  const api::Resource& resource = *target.resource;
  const schemas::Schema& schema = *schemas_.For(resource);
  Outcome<Draft> draft = ReadBody(exchange, &schema, options->field_validation);
  if (!draft.ok()) return draft.refusal();
  if (Objection objection = CheckTypeMeta(resource.ApiVersion(), View(resource.kind), *draft)) {
    return *std::move(objection);
  }
  if (TextAt(draft->object(), "metadata.name").empty()) {
    return BadRequest("the name of the object is missing: metadata.name must be provided");
  }
  const CommitNote note{
      exchange.caller.name,      "update", target.subresource, options->field_manager, exchange.caller.managed_fields,
      exchange.caller.user.get()};
  const RecordPtr record = store_.Find(resource, target.key());
  if (record == nullptr) return CreateByPut(exchange, *draft, options->dry_run, note);
  if (const absl::string_view uid = TextAt(draft->object(), "metadata.uid"); !uid.empty() && uid != record->uid) {
    return Conflict(
        resource, target.name,
        absl::StrCat("Precondition failed: UID in precondition: ", uid, ", UID in object meta: ", record->uid));
  }
  CompleteChange(target, *draft);
  const Draft old = StoredAsOf(*record, resource);
  const Claims claims = TakeClaims(resource, target.subresource, record.get(), *draft);
  Outcome<Bytes> replaced =
      Replace(target, *record, old, *draft, options->dry_run, ServedAs(resource).unconditional_update, note, claims);
  if (!replaced.ok()) return replaced.refusal();
  return ObjectResponse(exchange, 200, *replaced);
}

Outcome<kube::Response> ServerCore::CreateByPut(Exchange& exchange, Draft& draft, bool dry_run,
                                                const CommitNote& note) {
  const Target& target = exchange.target;
  const api::Resource& resource = *target.resource;
  if (!ServedAs(resource).create_on_update || !target.subresource.empty()) return NotFound(resource, target.name);
  json::object& metadata = draft.metadata();
  if (const absl::string_view uid = FindText(metadata, "uid"); !uid.empty()) {
    return Conflict(resource, target.name,
                    absl::StrCat("Precondition failed: UID in precondition: ", uid, ", UID in object meta: "));
  }
  if (FindText(metadata, "name") != target.name) {
    return BadRequest(absl::StrCat("the name of the object (", FindText(metadata, "name"),
                                   ") does not match the name on the URL (", target.name, ")"));
  }
  metadata.erase("resourceVersion");
  if (Objection objection = AuthorizeVerb(exchange, "create")) return *std::move(objection);
  const Claims claims = TakeClaims(resource, "", nullptr, draft);
  Outcome<Bytes> created = CreateObject(target, draft, dry_run, note, claims);
  if (!created.ok()) return created.refusal();
  return ObjectResponse(exchange, 201, *created);
}

void ServerCore::AddManagedFields(const Record& record, absl::string_view patch, Draft& draft) {
  if (record.managed == nullptr || !absl::StrContains(patch, "managedFields")) return;
  absl::StatusOr<json::value> list =
      api::ParseJson(apply::ManagedFieldsJson(*record.managed, record.resource->ApiVersion()));
  if (list.ok()) draft.metadata()["managedFields"] = *list;
}

namespace {

// A patch whose outcome cannot be read is an invalid patch, not an invalid request.
Refusal OfPatch(Refusal refusal) {
  if (refusal.code != 400) return refusal;
  return {.code = 422,
          .reason = "Invalid",
          .message = absl::StrCat(" \"\" is invalid: patch: Invalid value: ", refusal.message),
          .causes = {{"FieldValueInvalid", absl::StrCat("Invalid value: ", refusal.message), "patch"}}};
}

}  // namespace

Objection ServerCore::ApplyPatch(absl::string_view media_type, const schemas::Schema& schema, absl::string_view body,
                                 Draft& next) {
  const bool list = media_type == "application/json-patch+json";
  // A JSON patch is a list: it is read as the one member of an object.
  absl::StatusOr<Draft> object_patch = list ? Draft::Parse(absl::StrCat("{\"patch\":", body, "}")) : Draft::Parse(body);
  if (!object_patch.ok()) return BadRequest(absl::StrCat("the patch ", object_patch.status().message()));
  absl::Status status;
  if (list) {
    status = schemas::ApplyJsonPatch(next.root(), object_patch->object()["patch"]);
  } else if (media_type == "application/merge-patch+json") {
    api::ApplyMergePatch(next.root(), object_patch->root());
  } else {
    status = schemas::StrategicMergePatch(next.root(), object_patch->root(), schema);
  }
  if (status.ok()) {
    if (next.root().is_object()) return std::nullopt;
    return BadRequest("the patch leaves no object");
  }
  if (absl::IsResourceExhausted(status)) {
    Refusal refusal = TooLarge();
    refusal.message = std::string(status.message());
    return refusal;
  }
  if (absl::IsFailedPrecondition(status)) {
    return Refusal{.code = 422,
                   .reason = "Invalid",
                   .message = absl::StrCat("the patch cannot be applied: ", status.message()),
                   .generic = true};
  }
  Refusal refusal = BadRequest(absl::StrCat("the patch is malformed: ", status.message()));
  if (absl::IsInternal(status)) refusal.code = 500, refusal.reason.clear();
  return refusal;
}

Outcome<kube::Response> ServerCore::Patch(Exchange& exchange) {
  const Target& target = exchange.target;
  const api::Resource& resource = *target.resource;
  const schemas::Schema& schema = *schemas_.For(resource);
  const std::string type = MediaType(exchange.request.content_type);
  if (type == kApplyMediaType) return Apply(exchange);
  const bool strategic = type == "application/strategic-merge-patch+json";
  if ((type != "application/json-patch+json" && type != "application/merge-patch+json" && !strategic) ||
      (strategic && schema.custom)) {
    Refusal refusal = UnsupportedMediaType(schema.custom ? kCustomPatchTypes : kPatchTypes);
    if (!strategic) refusal.message = "415: Unsupported Media Type", refusal.generic = true;
    return refusal;
  }
  Outcome<WriteOptions> options = ParseWriteOptions(exchange.query, "PatchOptions");
  if (!options.ok()) return options.refusal();
  std::vector<std::string> duplicates;
  if (const absl::Status status = api::ParseCompletely(exchange.request.body, {}, &duplicates); !status.ok()) {
    return (absl::IsResourceExhausted(status)
                ? TooLarge()
                : BadRequest(absl::StrCat("the patch cannot be read as JSON: ", status.message())));
  }
  const RecordPtr record = store_.Find(resource, target.key());
  if (record == nullptr) return NotFound(resource, target.name);
  const Draft old = StoredAsOf(*record, resource);
  Draft next = Draft::CopyOf(old);
  AddManagedFields(*record, exchange.request.body, next);
  if (Objection objection = ApplyPatch(type, schema, exchange.request.body, next)) {
    return *std::move(objection);
  }
  if (Objection objection = ReportFields(exchange, schema, options->field_validation, next, duplicates, target.name)) {
    return OfPatch(*std::move(objection));
  }
  Prune(next.root(), schema);
  if (Objection objection = CheckTypeMeta(resource.ApiVersion(), View(resource.kind), next)) {
    return *std::move(objection);
  }
  CompleteChange(target, next);
  const CommitNote note{
      exchange.caller.name,      "patch", target.subresource, options->field_manager, exchange.caller.managed_fields,
      exchange.caller.user.get()};
  const Claims claims = TakeClaims(resource, target.subresource, record.get(), next);
  Outcome<Bytes> replaced = Replace(target, *record, old, next, options->dry_run, true, note, claims);
  if (!replaced.ok()) return replaced.refusal();
  return ObjectResponse(exchange, 200, *replaced);
}

void ServerCore::EditByCollector(const Record& record, absl::FunctionRef<void(json::object&)> edit,
                                 absl::string_view client) {
  const RecordPtr now = store_.Find(*record.resource, record.key);
  if (now == nullptr || now->uid != record.uid) return;
  const Draft old = Draft::OfStored(*now->json);
  Draft next = Draft::CopyOf(old);
  edit(next.object());
  Target target;
  target.resource = record.resource;
  target.ns = record.key.ns;
  target.name = record.key.name;
  const CommitNote note{client, "patch", ""};
  Replace(target, *now, old, next, false, true, note);  // only metadata goes: nothing to refuse
}

}  // namespace gangway::sandbox
