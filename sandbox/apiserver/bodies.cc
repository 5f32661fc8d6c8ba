// From the bytes of a request to a draft that its type knows.
#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cluster_resources.h"
#include "api/field_rules.h"
#include "api/json.h"
#include "api/kinds/kinds.h"
#include "api/manifest/manifest.h"
#include "api/schemas/declared_schema.h"
#include "api/volcano/defaults.h"
#include "base/strings.h"
#include "sandbox/apiserver/protobuf/protobuf_bodies.h"
#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {
namespace {

namespace volcano = api::volcano;

Refusal FromParse(const absl::Status& status) {
  if (absl::IsResourceExhausted(status)) return TooLarge();
  return BadRequest(absl::StrCat("the body cannot be read as JSON: ", status.message()));
}

constexpr absl::string_view kYamlMediaType = "application/yaml";

absl::StatusOr<std::string> YamlToJson(const std::string& body) {
  api::ManifestLimits limits;
  limits.max_bytes = kMaxBodyBytes;
  limits.max_documents = 1;
  absl::StatusOr<std::vector<api::ManifestDocument>> documents = api::ReadDocuments(body, "the body", limits);
  if (!documents.ok()) return documents.status();
  if (documents->size() != 1) return absl::InvalidArgumentError("the body must be one object");
  return std::move(documents->front().json);
}

std::string DuplicateText(const std::string& path) { return absl::StrCat("duplicate field \"", path, "\""); }
std::string UnknownText(const std::string& path) { return absl::StrCat("unknown field \"", path, "\""); }

// What admission must know of a queue, from its bytes.
volcano::QueueFacts FactsOf(const Record& queue) {
  volcano::QueueFacts facts;
  const absl::StatusOr<Draft> draft = Draft::Parse(*queue.json);
  if (!draft.ok()) return facts;
  facts.state = std::string(TextAt(draft->object(), "status.state"));
  facts.parent = std::string(TextAt(draft->object(), "spec.parent"));
  const absl::string_view pods = TextAt(draft->object(), "status.allocated.pods");
  if (const auto count = api::Quantity::Parse(pods); !pods.empty() && count.ok()) {
    facts.allocated_pods = count->Units().value_or(0);
  }
  return facts;
}

// What the namespace's annotation says of the queue of its PodGroups.
std::string QueueOfNamespace(const Record& ns) {
  const absl::StatusOr<Draft> draft = Draft::Parse(*ns.json);
  const boost::json::value* annotations = draft.ok() ? FindPath(draft->object(), "metadata.annotations") : nullptr;
  if (annotations == nullptr || !annotations->is_object()) return "";
  return std::string(FindText(annotations->get_object(), View(volcano::kQueueNameAnnotation)));
}

// In place of wrong types, which are judged with the rest: here, so that nobody works with them.
void AddAllThatIsWrong(const Draft& draft, const schemas::Schema& schema, api::FieldErrors& errors) {
  if (errors.empty()) return;
  Draft whole = Draft::CopyOf(draft);
  Prune(whole.root(), schema);
  ApplyDefaults(whole.root(), schema);
  std::erase_if(errors, [](const api::FieldError& error) { return !absl::StartsWith(error.field, "metadata."); });
  const api::FieldErrors judged = schema.declared->Judge(whole.root(), nullptr);
  errors.insert(errors.end(), judged.begin(), judged.end());
}

// What is in a definition that this server does not judge objects by.
void WarnOfExpressions(const Draft& definition, Exchange& exchange) {
  const boost::json::value* const versions = FindPath(definition.object(), "spec.versions");
  if (versions == nullptr || !versions->is_array()) return;
  for (std::size_t i = 0; i < versions->get_array().size(); ++i) {
    const boost::json::object* const version = versions->get_array()[i].if_object();
    const boost::json::value* const schema =
        version == nullptr ? nullptr : FindPath(*version, "schema.openAPIV3Schema");
    if (schema == nullptr || !schemas::HasExpressions(*schema)) continue;
    exchange.warnings.push_back(absl::StrCat("spec.versions[", i,
                                             "].schema.openAPIV3Schema: x-kubernetes-validations are stored; the "
                                             "sandbox does not judge objects by them"));
  }
}

}  // namespace

bool ServerCore::HasForeignBody(const kube::Request& request) {
  if (request.method == "PATCH" || request.body.empty()) return false;
  const std::string type = MediaType(request.content_type);
  return type == kProtobufMediaType || type == kYamlMediaType;
}

Outcome<kube::Request> ServerCore::InJson(const kube::Request& request) {
  absl::StatusOr<std::string> json =
      MediaType(request.content_type) == kYamlMediaType ? YamlToJson(request.body) : ProtobufToJson(request.body);
  if (absl::IsResourceExhausted(json.status())) return TooLarge();
  if (!json.ok()) {
    Refusal refusal = BadRequest(std::string(json.status().message()));
    if (absl::IsUnimplemented(json.status())) refusal.code = 415, refusal.reason = "UnsupportedMediaType";
    return refusal;
  }
  kube::Request readable = request;
  readable.content_type = "application/json";
  readable.body = *std::move(json);
  return readable;
}

Objection ServerCore::CheckMediaType(const Exchange& exchange) {
  const std::string type = MediaType(exchange.request.content_type);
  if (type.empty() || type == "application/json") return std::nullopt;
  return UnsupportedMediaType(absl::StrCat("application/json, application/yaml, ", kProtobufMediaType));
}

Outcome<Draft> ServerCore::ReadBody(Exchange& exchange, const schemas::Schema* schema, FieldValidation validation) {
  if (Objection objection = CheckMediaType(exchange)) return *std::move(objection);
  const std::string& body = exchange.request.body;
  if (absl::StripAsciiWhitespace(body).empty()) return BadRequest("the request has no body");
  std::vector<std::string> duplicates;
  if (const absl::Status status = api::ParseCompletely(body, {}, &duplicates); !status.ok()) return FromParse(status);
  absl::StatusOr<Draft> draft = Draft::Parse(body);
  if (!draft.ok()) return BadRequest(absl::StrCat("the body ", draft.status().message()));
  if (schema == nullptr) return *std::move(draft);
  const std::string name(TextAt(draft->object(), "metadata.name"));
  if (Objection objection = ReportFields(exchange, *schema, validation, *draft, duplicates, name)) {
    return *std::move(objection);
  }
  Prune(draft->root(), *schema);
  return *std::move(draft);
}

Objection ServerCore::CheckTypeMeta(absl::string_view api_version, absl::string_view kind, Draft& draft) {
  boost::json::object& object = draft.object();
  const schemas::Schema* schema = schemas_.ForKind(api_version, kind);
  if (schema == nullptr || schema->custom) {  // null: it was declared
    for (const absl::string_view field : {"kind", "apiVersion"}) {
      if (!FindText(object, field).empty()) continue;
      return BadRequest(absl::StrCat("Object '", field == "kind" ? "Kind" : "apiVersion", "' is missing in the body"));
    }
  }
  for (const auto& [field, wanted] : {std::pair{absl::string_view("apiVersion"), api_version}, {"kind", kind}}) {
    const boost::json::value* value = object.if_contains(JsonView(field));
    if (value == nullptr || value->is_null() || (value->is_string() && value->get_string().empty())) {
      SetText(object, field, wanted);
    } else if (!value->is_string() || AbslView(value->get_string()) != wanted) {
      return BadRequest(absl::StrCat("the ", field == "kind" ? "kind" : "API version", " in the data (",
                                     value->is_string() ? AbslView(value->get_string()) : "no text",
                                     ") does not match the expected ", field == "kind" ? "kind" : "API version", " (",
                                     wanted, ")"));
    }
  }
  return std::nullopt;
}

Objection ServerCore::ReportFields(Exchange& exchange, const schemas::Schema& schema, FieldValidation validation,
                                   const Draft& draft, const std::vector<std::string>& duplicates,
                                   absl::string_view name) {
  schemas::Findings findings = Check(draft.root(), schema);
  const api::Resource& resource = *exchange.target.resource;
  const std::string handled = absl::StrCat(View(schema.kind), " in version \"", View(resource.version),
                                           "\" cannot be handled as a ", View(schema.kind), ": ");
  // apiextensions-apiserver sorts what it prunes.
  if (schema.custom) std::sort(findings.unknown.begin(), findings.unknown.end());
  if (!findings.unreadable.empty()) return BadRequest(absl::StrCat(handled, findings.unreadable));
  std::vector<std::string> complaints;
  for (const std::string& path : duplicates) complaints.push_back(DuplicateText(path));
  for (const std::string& path : findings.unknown) complaints.push_back(UnknownText(path));
  if (!complaints.empty() && validation == FieldValidation::kStrict) {
    return BadRequest(absl::StrCat(handled, "strict decoding error: ", absl::StrJoin(complaints, ", ")));
  }
  if (validation == FieldValidation::kWarn) {
    for (std::string& complaint : complaints) exchange.warnings.push_back(std::move(complaint));
  }
  if (&resource == &api::kCustomResourceDefinitions) WarnOfExpressions(draft, exchange);
  if (schema.declared != nullptr) AddAllThatIsWrong(draft, schema, findings.errors);
  if (!findings.errors.empty()) return Invalid(resource, name, findings.errors);
  return std::nullopt;
}

Objection ServerCore::Admit(volcano::Operation operation, const Target& target, boost::json::value* object,
                            const boost::json::value* old_object) {
  // What a definition's schema demands. Of Volcano's types admission judges it with the rest.
  const api::KindRow& kind = api::RowOf(*target.resource);
  if (kind.custom() && kind.origin != api::Origin::kVolcano && object != nullptr) {
    api::FieldErrors errors;
    if (kind.schema != nullptr) {
      errors = kind.schema->declared->Judge(*object, old_object);
    } else {
      api::CheckRules(*kind.table, *object, "", errors);
    }
    if (!errors.empty()) return Invalid(*target.resource, target.name, errors);
  }
  const volcano::QueueLookup queues = [this](absl::string_view name) -> std::optional<volcano::QueueFacts> {
    const RecordPtr record = store_.Find(api::kQueues, {"", std::string(name)});
    if (record == nullptr) return std::nullopt;
    volcano::QueueFacts facts = FactsOf(*record);
    store_.Scan(api::kQueues, {}, nullptr, [&](const RecordPtr& other) {
      if (other != record && FactsOf(*other).parent == name) facts.children.push_back(other->key.name);
      return true;
    });
    return facts;
  };
  volcano::AdmissionRequest request{.resource = target.resource,
                                    .operation = operation,
                                    .ns = target.ns,
                                    .name = target.name,
                                    .old_object = old_object};
  if (target.resource == &api::kPodGroups && operation == volcano::Operation::kCreate) {
    const RecordPtr ns = store_.Find(api::kNamespaces, {"", target.ns});
    if (ns != nullptr) request.namespace_queue = QueueOfNamespace(*ns);
  }
  const volcano::Verdict verdict = volcano::Admit(request, object, queues);
  if (verdict.allowed()) return std::nullopt;
  Refusal refusal = Invalid(*target.resource, target.name, verdict.errors);
  if (verdict.code == 422) return refusal;
  refusal.code = verdict.code;
  refusal.reason = verdict.reason.empty() ? "BadRequest" : verdict.reason;
  refusal.message = verdict.message;
  return refusal;
}

}  // namespace gangway::sandbox
