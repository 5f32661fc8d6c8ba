// The scale subresource: autoscaling/v1 Scale of deployments, replica sets, stateful sets, and of custom types that
// have one.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json.h"
#include "api/kinds/kinds.h"
#include "api/schemas/json_patch.h"
#include "sandbox/apiserver/object_rules.h"
#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

// ".status.replicas" as FindPath takes it.
absl::string_view PathOf(std::string_view path) { return View(path).substr(1); }

std::string OwnSelector(const json::object& object) {
  const json::value* labels = FindPath(object, "spec.selector.matchLabels");
  std::string selector;
  if (labels == nullptr || !labels->is_object()) return selector;
  for (const auto& label : labels->get_object()) {
    if (!label.value().is_string()) continue;
    absl::StrAppend(&selector, selector.empty() ? "" : ",", AbslView(label.key()), "=",
                    AbslView(label.value().get_string()));
  }
  return selector;
}

Draft ScaleOf(const api::Resource& resource, const json::object& object) {
  const api::KindRow& kind = api::RowOf(resource);
  Draft scale;
  json::object& out = scale.object();
  SetText(out, "apiVersion", "autoscaling/v1");
  SetText(out, "kind", "Scale");
  json::object& metadata = ObjectIn(out, "metadata");
  for (const absl::string_view field : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    SetText(metadata, field, TextAt(object, absl::StrCat("metadata.", field)));
  }
  ObjectIn(out, "spec")["replicas"] = IntAt(object, PathOf(kind.scale.replicas), kind.custom() ? 0 : 1);
  ObjectIn(out, "status")["replicas"] = IntAt(object, PathOf(kind.scale.current), 0);
  const std::string selector =
      kind.scale.selector.empty() ? OwnSelector(object) : std::string(TextAt(object, PathOf(kind.scale.selector)));
  if (!selector.empty()) SetText(ObjectIn(out, "status"), "selector", selector);
  return scale;
}

// apiextensions-apiserver: ScaleREST, for a custom object that does not say how many. nullopt: it does.
Objection WithoutReplicas(const api::Resource& resource, const json::object& object) {
  const api::KindRow& kind = api::RowOf(resource);
  if (!kind.custom() || FindPath(object, PathOf(kind.scale.replicas)) != nullptr) return std::nullopt;
  return ServerError(
      absl::StrCat("the spec replicas field ", api::JsonString(View(kind.scale.replicas)), " does not exist"));
}

void SetReplicas(const api::Resource& resource, json::object& object, std::int64_t replicas) {
  json::object* at = &object;
  std::vector<absl::string_view> steps = absl::StrSplit(PathOf(api::RowOf(resource).scale.replicas), '.');
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) at = &ObjectIn(*at, steps[i]);
  (*at)[JsonView(steps.back())] = replicas;
}

Bytes BytesOf(const Draft& draft) {
  std::string out;
  std::uint32_t revision_at = 0;
  WriteObject(draft.object(), out, &revision_at);
  return MakeBytes(std::move(out));
}

}  // namespace

Outcome<kube::Response> ServerCore::GetScale(Exchange& exchange) {
  const Target& target = exchange.target;
  const RecordPtr record = store_.Find(*target.resource, target.key());
  if (record == nullptr) return NotFound(*target.resource, target.name);
  const Draft object = Draft::OfStored(*record->json);
  if (Objection wrong = WithoutReplicas(*target.resource, object.object())) return *std::move(wrong);
  return JsonResponse(200, BytesOf(ScaleOf(*target.resource, object.object())));
}

Outcome<kube::Response> ServerCore::PutScale(Exchange& exchange) {
  const Target& target = exchange.target;
  const bool patch = exchange.request.method == "PATCH";
  const bool apply = patch && MediaType(exchange.request.content_type) == kApplyMediaType;
  Outcome<WriteOptions> options = ParseWriteOptions(exchange.query, patch ? "PatchOptions" : "UpdateOptions", apply);
  if (!options.ok()) return options.refusal();
  const RecordPtr record = store_.Find(*target.resource, target.key());
  if (record == nullptr) return NotFound(*target.resource, target.name);
  const Draft old = StoredAsOf(*record, *target.resource);
  const schemas::Schema& schema = *schemas_.ForKind("autoscaling/v1", "Scale");
  const Draft live = ScaleOf(*target.resource, old.object());
  Draft scale = Draft::CopyOf(live);
  Claims claims;
  if (apply) {
    Outcome<Draft> applied = ApplyScale(exchange, *record, live, *options, claims);
    if (!applied.ok()) return applied.refusal();
    scale.root() = applied->root();
  } else if (patch) {
    const std::string type = MediaType(exchange.request.content_type);
    if (type != "application/merge-patch+json" && type != "application/json-patch+json" &&
        type != "application/strategic-merge-patch+json") {
      return UnsupportedMediaType("application/json-patch+json, application/merge-patch+json");
    }
    std::vector<std::string> duplicates;
    if (const absl::Status status = api::ParseCompletely(exchange.request.body, {}, &duplicates); !status.ok()) {
      return BadRequest(absl::StrCat("the patch cannot be read as JSON: ", status.message()));
    }
    if (Objection objection = ApplyPatch(type, schema, exchange.request.body, scale)) return *std::move(objection);
    if (Objection objection =
            ReportFields(exchange, schema, options->field_validation, scale, duplicates, target.name)) {
      return *std::move(objection);
    }
  } else {
    Outcome<Draft> body = ReadBody(exchange, &schema, options->field_validation);
    if (!body.ok()) return body.refusal();
    if (Objection objection = CheckTypeMeta("autoscaling/v1", "Scale", *body)) return *std::move(objection);
    scale.root() = body->root();
  }
  const Admission admission{.operation = "UPDATE",
                            .resource = target.resource,
                            .subresource = "scale",
                            .ns = target.ns,
                            .name = target.name,
                            .dry_run = options->dry_run,
                            .other_api_version = "autoscaling/v1",
                            .other_kind = "Scale"};
  Outcome<bool> mutated = MutateByWebhooks(admission, &scale, &live);
  if (!mutated.ok()) return mutated.refusal();
  const std::int64_t replicas = IntAt(scale.object(), "spec.replicas", 0);
  if (replicas < 0) {
    Refusal refusal = Invalid(*target.resource, target.name,
                              {{.type = api::FieldError::Type::kInvalid,
                                .field = "spec.replicas",
                                .value = absl::StrCat(replicas),
                                .rule = "must be greater than or equal to 0",
                                .fix = ""}});
    if (api::IsCustom(*target.resource)) return refusal;
    refusal.group = "autoscaling", refusal.kind = "Scale";
    refusal.message = absl::StrCat("Scale.autoscaling", refusal.message.substr(refusal.message.find(' ')));
    return refusal;
  }
  if (Objection objection = ValidateByWebhooks(admission, &scale, &live)) return *std::move(objection);
  Draft next = Draft::CopyOf(old);
  SetReplicas(*target.resource, next.object(), replicas);
  SetText(next.metadata(), "resourceVersion", TextAt(scale.object(), "metadata.resourceVersion"));
  Target whole = target;
  whole.subresource.clear();
  const CommitNote note{exchange.caller.name, patch ? "patch" : "update", "scale", options->field_manager};
  if (!apply) claims = ClaimsOfScale(*target.resource, *record, live, scale, note);
  Outcome<Bytes> replaced = Replace(whole, *record, old, next, options->dry_run, true, note, claims);
  if (!replaced.ok()) return replaced.refusal();
  return JsonResponse(200, BytesOf(ScaleOf(*target.resource, Draft::OfStored(**replaced).object())));
}

}  // namespace gangway::sandbox
