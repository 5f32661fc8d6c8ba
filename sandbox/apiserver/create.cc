// POST to a collection, and the objects that are there from the start.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/cluster_resources.h"
#include "api/field_table.h"
#include "api/json.h"
#include "base/check.h"
#include "sandbox/apiserver/object_rules.h"
#include "sandbox/apiserver/served_kind.h"
#include "sandbox/apiserver/server_core.h"
#include "sandbox/apiserver/server_defaults.h"
#include "sandbox/apiserver/token_volume.h"
#include "sandbox/rbac/bootstrap.h"

namespace gangway::sandbox {
namespace {

// k8s.io/apiserver, names.SimpleNameGenerator
constexpr absl::string_view kNameLetters = "bcdfghjklmnpqrstvwxz2456789";
constexpr std::size_t kMaxGeneratedBase = 58;
constexpr int kGeneratedLetters = 5;
constexpr int kNameTries = 8;

std::string Suffix(std::uint64_t random) {
  std::string out;
  for (int i = 0; i < kGeneratedLetters; ++i) {
    out.push_back(kNameLetters[random % kNameLetters.size()]);
    random /= kNameLetters.size();
  }
  return out;
}

}  // namespace

Outcome<kube::Response> ServerCore::Create(Exchange& exchange) {
  Outcome<WriteOptions> options = ParseWriteOptions(exchange.query, "CreateOptions");
  if (!options.ok()) return options.refusal();
  const api::Resource& resource = *exchange.target.resource;
  const schemas::Schema& schema = *schemas_.For(resource);
  Outcome<Draft> draft = ReadBody(exchange, &schema, options->field_validation);
  if (!draft.ok()) return draft.refusal();
  if (Objection objection = CheckTypeMeta(resource.ApiVersion(), View(resource.kind), *draft)) {
    return *std::move(objection);
  }
  const CommitNote note{exchange.caller.name,      "create", "", options->field_manager, exchange.caller.managed_fields,
                        exchange.caller.user.get()};
  const Claims claims = TakeClaims(resource, "", nullptr, *draft);
  Outcome<Bytes> created = CreateObject(exchange.target, *draft, options->dry_run, note, claims);
  if (!created.ok()) return created.refusal();
  return ObjectResponse(exchange, 201, *created);
}

Objection ServerCore::CheckNamespace(const Target& target, absl::string_view name) {
  if (!target.resource->namespaced) return std::nullopt;
  const RecordPtr ns = store_.Find(api::kNamespaces, {"", target.ns});
  if (ns == nullptr) return NotFound(api::kNamespaces, target.ns);
  if (!ns->deleting) return std::nullopt;
  Refusal refusal = Forbidden(
      *target.resource, name,
      absl::StrCat("unable to create new content in namespace ", target.ns, " because it is being terminated"));
  refusal.causes = {
      {"NamespaceTerminating", absl::StrCat("namespace ", target.ns, " is being terminated"), "metadata.namespace"}};
  return refusal;
}

Objection ServerCore::NameNew(const Target& target, boost::json::object& metadata) {
  const absl::string_view ns = FindText(metadata, "namespace");
  if (!ns.empty() && ns != target.ns) {
    return BadRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (target.resource->namespaced) {
    SetText(metadata, "namespace", target.ns);
  } else {
    metadata.erase("namespace");
  }
  if (const absl::string_view version = FindText(metadata, "resourceVersion"); !version.empty() && version != "0") {
    return Refusal{.code = 500, .message = "resourceVersion should not be set on objects to be created"};
  }
  const std::string base(FindText(metadata, "generateName").substr(0, kMaxGeneratedBase));
  if (!FindText(metadata, "name").empty() || base.empty()) return std::nullopt;
  for (int i = 0; i < kNameTries; ++i) {
    const std::string name = absl::StrCat(base, Suffix(Random()));
    SetText(metadata, "name", name);
    if (store_.Find(*target.resource, {target.ns, name}) == nullptr) break;
  }
  return std::nullopt;
}

void ServerCore::StampNew(const Target& target, boost::json::object& object) {
  boost::json::object& metadata = ObjectIn(object, "metadata");
  for (const absl::string_view field :
       {"selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "resourceVersion"}) {
    metadata.erase(JsonView(field));
  }
  SetText(metadata, "uid", NewUid());
  SetText(metadata, "creationTimestamp", api::FormatTime(Now()));
  if (const ServedKind& kind = ServedAs(*target.resource); kind.generation && kind.first_generation)
    metadata["generation"] = 1;
  // A node registers with its status; what else has a status subresource starts without.
  if (HasStatusSubresource(*target.resource) && target.resource != &api::kNodes) object.erase("status");
}

Outcome<Bytes> ServerCore::CreateObject(const Target& target, Draft& draft, bool dry_run, const CommitNote& note,
                                        const Claims& claims) {
  const api::Resource& resource = *target.resource;
  if (declared_.IsEnding(resource)) {
    Refusal refusal = MethodNotAllowed();
    refusal.message = "create not allowed while custom resource definition is terminating";
    return refusal;
  }
  if (Objection objection = NameNew(target, draft.metadata())) return *std::move(objection);
  const std::string name(FindText(draft.metadata(), "name"));
  const Admission admission{.operation = "CREATE",
                            .resource = &resource,
                            .subresource = "",
                            .ns = target.ns,
                            .name = name,
                            .dry_run = dry_run};
  if (&resource == &api::kDaemonSets) CountTemplate(nullptr, draft.object());
  if (Objection objection = CheckNamespace(target, name)) return *std::move(objection);
  if (&resource == &api::kSecrets) FoldStringData(draft.object());
  if (&resource == &api::kNamespaces) LabelNamespace(draft.object());
  ApplyDefaults(draft.root(), *schemas_.For(resource));
  for (const absl::string_view field : {"deletionTimestamp", "deletionGracePeriodSeconds"})
    draft.metadata().erase(JsonView(field));
  // What the server fills in from here on nobody owns.
  apply::ManagedFieldsPtr managed;
  if (claims.decided.has_value()) {
    managed = *claims.decided;
  } else {
    managed = ownership_.AfterUpdate(claims.given.value_or(nullptr), nullptr, draft.root(), WriteOf(resource, note));
  }
  Outcome<bool> mutated = MutateByWebhooks(admission, &draft, nullptr);
  if (!mutated.ok()) return mutated.refusal();
  if (*mutated) {
    if (Objection objection = ReadMutated(resource, *schemas_.For(resource), name, draft)) return *std::move(objection);
  }
  if (Objection objection = CheckEscalation(target, draft, nullptr, note.user)) return *std::move(objection);
  StampNew(target, draft.object());
  DropEmptyMetadata(draft.metadata());
  if (const auto fill_in = ServedAs(resource).fill_in; fill_in != nullptr) {
    if (Objection objection = fill_in(store_, loop_.Now(), draft.object())) return *std::move(objection);
  }
  if (&resource == &api::kPods && !options_.root_ca.empty())
    MountToken(store_, absl::StrCat(kTokenVolumePrefix, Suffix(Random())), draft.object());
  if (&resource == &api::kServices) addresses_.Give(store_, draft.object());
  if (const api::FieldErrors errors = CheckObject(resource, draft.object(), true); !errors.empty()) {
    return Invalid(resource, name, errors);
  }
  Target named = target;
  named.name = name;
  if (HasOwnAdmission(resource)) {
    if (Objection objection = ValidateByWebhooks(admission, &draft, nullptr)) return *std::move(objection);
  }
  if (Objection objection = Admit(api::volcano::Operation::kCreate, named, &draft.root(), nullptr)) {
    return *std::move(objection);
  }
  if (!HasOwnAdmission(resource)) {
    if (Objection objection = ValidateByWebhooks(admission, &draft, nullptr)) return *std::move(objection);
  }
  if (const RecordPtr there = store_.Find(resource, {target.ns, name}); there != nullptr) {
    const bool generates = !FindText(draft.metadata(), "generateName").empty();
    Refusal refusal = generates ? GeneratedNameExists(resource, name) : AlreadyExists(resource, name);
    if (there->deleting) refusal.message = absl::StrCat("object is being deleted: ", refusal.message);
    return refusal;
  }
  Outcome<Bytes> created = Commit(resource, draft, dry_run, note, &managed);
  if (created.ok() && &resource == &api::kNamespaces && !dry_run) CreateForNamespace(name);
  return created;
}

// What Kubernetes' controllers of service accounts and of root certificates do (root-ca-certificate-publisher).
void ServerCore::CreateForNamespace(const std::string& ns) {
  if (store_.Find(api::kServiceAccounts, {ns, "default"}) == nullptr)
    CreateDefault(api::kServiceAccounts, absl::StrCat(R"({"metadata":{"name":"default","namespace":")", ns, R"("}})"));
  if (!options_.root_ca.empty() && store_.Find(api::kConfigMaps, {ns, std::string(kRootCaName)}) == nullptr) {
    CreateDefault(
        api::kConfigMaps,
        absl::StrCat(R"({"metadata":{"name":")", kRootCaName, R"(","namespace":")", ns, R"(","annotations":{)",
                     R"("kubernetes.io/description":"Contains a CA bundle that can be used to verify the )",
                     R"(kube-apiserver when using internal endpoints such as the internal service IP or )",
                     R"(kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes )",
                     R"(clusters."}},"data":{"ca.crt":)", api::JsonString(options_.root_ca), "}}"));
  }
}

void ServerCore::RestoreForNamespace(const std::string& ns) {
  loop_.Post(owner_.token(), [this, ns] {
    const RecordPtr record = store_.Find(api::kNamespaces, {"", ns});
    if (record != nullptr && !record->deleting) CreateForNamespace(ns);
  });
}

void ServerCore::CreateDefault(const api::Resource& resource, absl::string_view json) {
  Draft draft = *Draft::Parse(json);
  const CommitNote note{"apiserver", "create", ""};
  Target target;
  target.resource = &resource;
  SetText(draft.object(), "apiVersion", resource.ApiVersion());
  SetText(draft.object(), "kind", View(resource.kind));
  // A queue is open at once: nothing else would open it before the first job comes.
  boost::json::value status;
  if (const boost::json::value* given = draft.object().if_contains("status"); given != nullptr) status = *given;
  if (&resource == &api::kNamespaces) LabelNamespace(draft.object());
  ApplyDefaults(draft.root(), *schemas_.For(resource));
  const apply::ManagedFieldsPtr managed =
      ownership_.AfterUpdate(nullptr, nullptr, draft.root(), WriteOf(resource, note));
  StampNew(target, draft.object());
  if (!status.is_null()) draft.object()["status"] = status;
  if (const auto fill_in = ServedAs(resource).fill_in; fill_in != nullptr)
    GW_CHECK(!fill_in(store_, loop_.Now(), draft.object()).has_value());
  GW_CHECK(Commit(resource, draft, false, note, &managed).ok());
}

void ServerCore::CreateDefaultObjects() {
  for (const absl::string_view name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    CreateDefault(api::kNamespaces, absl::StrCat(R"({"metadata":{"name":")", name, R"("}})"));
    CreateForNamespace(std::string(name));
  }
  CreateDefault(api::kStorageClasses,
                absl::StrCat(R"({"metadata":{"name":"standard","annotations":{")", kDefaultClassAnnotation,
                             R"(":"true"}},"provisioner":"sandbox.gangway.io/volumes"})"));
  CreateDefault(
      api::kPriorityClasses,
      R"({"metadata":{"name":"system-cluster-critical"},"value":2000000000,"description":)"
      R"("Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."})");
  CreateDefault(api::kPriorityClasses,
                R"({"metadata":{"name":"system-node-critical"},"value":2000001000,"description":)"
                R"("Used for system critical pods that must not be moved from their current node."})");
  for (const absl::string_view name : {"root", "default"}) {
    const absl::string_view parent = name == "root" ? "" : R"("parent":"root",)";
    CreateDefault(api::kQueues, absl::StrCat(R"({"metadata":{"name":")", name, R"("},"spec":{)", parent,
                                             R"("weight":1,"reclaimable":)", name == "root" ? "false" : "true",
                                             R"(},"status":{"state":"Open"}})"));
  }
}

void ServerCore::CreateBootstrapRoles() {
  for (const absl::string_view line : absl::StrSplit(rbac::BootstrapObjects(), '\n', absl::SkipEmpty())) {
    const Draft object = *Draft::Parse(line);
    CreateDefault(*served_.FindKind("rbac.authorization.k8s.io/v1", FindText(object.object(), "kind")), line);
  }
  AggregateRoles();
}

}  // namespace gangway::sandbox
