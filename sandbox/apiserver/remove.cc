// DELETE: preconditions, grace, finalizers and propagation.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/field_table.h"
#include "boost/json/array.hpp"
#include "sandbox/apiserver/definitions.h"
#include "sandbox/apiserver/object_rules.h"
#include "sandbox/apiserver/served_kind.h"
#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using Propagation = DeleteOptions::Propagation;

// k8s.io/apiserver, store.go: deletionFinalizersForGarbageCollection
void SetCollectorFinalizers(Propagation propagation, json::object& metadata) {
  if (propagation == Propagation::kUnset) return;
  const absl::string_view wanted = propagation == Propagation::kForeground ? kForegroundFinalizer
                                   : propagation == Propagation::kOrphan   ? kOrphanFinalizer
                                                                           : "";
  json::array finalizers(metadata.storage());
  if (const json::array* old = FindArray(metadata, "finalizers"); old != nullptr) {
    for (const json::value& each : *old) {
      const absl::string_view text = each.is_string() ? AbslView(each.get_string()) : absl::string_view();
      if (text != wanted && (text == kForegroundFinalizer || text == kOrphanFinalizer)) continue;
      finalizers.push_back(each);
    }
  }
  const bool there = std::any_of(finalizers.begin(), finalizers.end(), [&](const json::value& each) {
    return each.is_string() && AbslView(each.get_string()) == wanted;
  });
  if (!wanted.empty() && !there) finalizers.emplace_back(JsonView(wanted));
  if (finalizers.empty()) {
    metadata.erase("finalizers");
  } else {
    metadata["finalizers"] = std::move(finalizers);
  }
}

// pkg/registry/core/pod, CheckGracefulDelete
std::int64_t GraceOf(const Record& record, const json::object& object, const DeleteOptions& options) {
  if (record.resource != &api::kPods) return 0;
  const absl::string_view phase = record.fields.Get("status.phase");
  if (record.fields.Get("spec.nodeName").empty() || phase == "Succeeded" || phase == "Failed") return 0;
  const std::int64_t period =
      options.grace_period_seconds.value_or(IntAt(object, "spec.terminationGracePeriodSeconds", 30));
  return std::max<std::int64_t>(period, options.grace_period_seconds.has_value() ? 0 : 1);
}

// Without the years that a timestamp has no room for: a grace may be any number.
std::string DeletionTime(absl::Time at) {
  static constexpr absl::CivilSecond kLast(9999, 12, 31, 23, 59, 59);
  return api::FormatTime(std::clamp(at, absl::UnixEpoch(), absl::FromCivil(kLast, absl::UTCTimeZone())));
}

// Marks the object as deleting; k8s.io/apiserver, rest.BeforeDelete. True when its grace has yet to pass.
bool Mark(const Record& record, const DeleteOptions& options, absl::Time now, json::object& object) {
  json::object& metadata = ObjectIn(object, "metadata");
  std::int64_t grace = GraceOf(record, object, options);
  if (!record.deleting) {
    SetText(metadata, "deletionTimestamp", DeletionTime(now + absl::Seconds(grace)));
    // Namespaces and definitions end by registries of their own.
    const bool definition = record.resource == &api::kCustomResourceDefinitions;
    if (record.resource != &api::kNamespaces && !definition) metadata["deletionGracePeriodSeconds"] = grace;
    if (const std::int64_t generation = IntAt(object, "metadata.generation", 0); generation > 0 && !definition) {
      metadata["generation"] = generation + 1;
    }
    return grace > 0;
  }
  const std::int64_t pending = IntAt(object, "metadata.deletionGracePeriodSeconds", 0);
  if (pending == 0) return false;
  // Grace may only be shortened.
  if (!options.grace_period_seconds.has_value() || grace >= pending) return true;
  const absl::StatusOr<absl::Time> until = api::ParseTime(FindText(metadata, "deletionTimestamp"));
  if (until.ok()) {
    SetText(metadata, "deletionTimestamp", DeletionTime(*until - absl::Seconds(pending) + absl::Seconds(grace)));
  }
  metadata["deletionGracePeriodSeconds"] = grace;
  return grace > 0;
}

// k8s.io/apiserver, rest.BeforeDelete: it names the kind.
Refusal Outdated(const api::Resource& resource, absl::string_view name, absl::string_view what,
                 absl::string_view wanted, absl::string_view is, absl::string_view why) {
  const std::string said = absl::StrCat("the ", what, " in the precondition (", wanted, ") does not match the ", what,
                                        " in record (", is, "). ", why);
  Refusal refusal = Conflict(resource, name, said);
  refusal.kind = std::string(resource.kind);
  refusal.message = absl::StrCat("Operation cannot be fulfilled on ", View(resource.kind),
                                 resource.group.empty() ? "" : ".", View(resource.group), " \"", name, "\": ", said);
  return refusal;
}

// pkg/registry/batch/job: jobs of batch/v1 leave their pods unless told otherwise.
void OrphanByDefault(Exchange& exchange, DeleteOptions& options) {
  if (exchange.target.resource != &api::kBatchJobs || options.propagation != Propagation::kUnset) return;
  options.propagation = Propagation::kOrphan;
  exchange.warnings.push_back(
      "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or "
      "set "
      "propagationPolicy=Orphan to suppress this warning");
}

bool IsProtected(absl::string_view ns) { return ns == "default" || ns == "kube-system" || ns == "kube-public"; }

}  // namespace

Outcome<ServerCore::Removal> ServerCore::Remove(const Target& target, const Record& record,
                                                const DeleteOptions& options, const CommitNote& note,
                                                bool past_admission) {
  const api::Resource& resource = *target.resource;
  if (options.uid.has_value() && *options.uid != record.uid) {
    return Outdated(resource, target.name, "UID", *options.uid, record.uid,
                    "The object might have been deleted and then recreated");
  }
  if (options.resource_version.has_value() && *options.resource_version != absl::StrCat(record.revision)) {
    return Outdated(resource, target.name, "ResourceVersion", *options.resource_version, absl::StrCat(record.revision),
                    "The object might have been modified");
  }
  if (&resource == &api::kNamespaces && IsProtected(target.name)) {
    return Forbidden(resource, target.name, "this namespace may not be deleted");
  }
  const Draft old = Draft::OfStored(*record.json);
  if (!past_admission) {
    if (Objection objection = AskOfDeletion(target, old, options.dry_run)) return *std::move(objection);
    if (Objection objection = Admit(api::volcano::Operation::kDelete, target, nullptr, &old.root()))
      return *std::move(objection);
  }
  Draft next = Draft::CopyOf(old);
  SetCollectorFinalizers(options.propagation, next.metadata());
  if (&resource == &api::kCustomResourceDefinitions && !record.deleting) EndDefinition(Now(), next.object());
  const bool grace_pending = Mark(record, options, Now(), next.object());
  if (&resource == &api::kNamespaces) SetText(next.Child("status"), "phase", "Terminating");
  const json::array* finalizers = FindArray(next.metadata(), "finalizers");
  const bool held = (finalizers != nullptr && !finalizers->empty()) || &resource == &api::kNamespaces;
  if (!held && !grace_pending) {
    const Revision revision = options.dry_run ? record.revision : store_.next_revision();
    // Of what can be deleted with grace the answer shows that there was none left.
    Bytes last = &resource == &api::kPods ? ShownAfter(record, next, revision, note.managed_fields)
                                          : ShownAtRevision(record, revision, note.managed_fields);
    if (!options.dry_run) CommitDeletion(record, note);
    return Removal{std::move(last), true};
  }
  if (Equal(next.root(), old.root())) return Removal{Shown(record, note.managed_fields), false};
  Outcome<Bytes> marked = Commit(resource, next, options.dry_run, note);
  if (!marked.ok()) return marked.refusal();
  return Removal{*std::move(marked), false};
}

Objection ServerCore::AskOfDeletion(const Target& target, const Draft& old, bool dry_run) {
  const Admission admission{.operation = "DELETE",
                            .resource = target.resource,
                            .subresource = "",
                            .ns = target.ns,
                            .name = target.name,
                            .dry_run = dry_run};
  Outcome<bool> mutated = MutateByWebhooks(admission, nullptr, &old);
  if (!mutated.ok()) return mutated.refusal();
  return ValidateByWebhooks(admission, nullptr, &old);
}

Outcome<kube::Response> ServerCore::Delete(Exchange& exchange) {
  const Target& target = exchange.target;
  if (!exchange.request.body.empty()) {
    if (Objection objection = CheckMediaType(exchange)) return *std::move(objection);
  }
  Outcome<DeleteOptions> options = ParseDeleteOptions(exchange.query, exchange.request.body);
  if (!options.ok()) return options.refusal();
  OrphanByDefault(exchange, *options);
  const RecordPtr record = store_.Find(*target.resource, target.key());
  if (record == nullptr) return NotFound(*target.resource, target.name);
  const CommitNote note{exchange.caller.name, "delete", "", {}, exchange.caller.managed_fields};
  Outcome<Removal> removal = Remove(target, *record, *options, note);
  if (!removal.ok()) return removal.refusal();
  if (!removal->gone || ServedAs(*target.resource).returns_deleted)
    return ObjectResponse(exchange, 200, removal->object);
  return SuccessStatus(200, target.resource, target.name, record->uid);
}

Outcome<kube::Response> ServerCore::DeleteCollection(Exchange& exchange) {
  if (!exchange.request.body.empty()) {
    if (Objection objection = CheckMediaType(exchange)) return *std::move(objection);
  }
  Outcome<DeleteOptions> options = ParseDeleteOptions(exchange.query, exchange.request.body);
  if (!options.ok()) return options.refusal();
  OrphanByDefault(exchange, *options);
  Outcome<ListOptions> selection = ParseListOptions(exchange.query, exchange.target);
  if (!selection.ok()) return selection.refusal();
  Page page;
  std::vector<RecordPtr> records;
  for (const auto& requirement : selection->fields.requirements()) {
    if (!HasFieldLabel(*exchange.target.resource, requirement.field)) {
      return BadRequest(absl::StrCat("field label not supported: ", requirement.field));
    }
  }
  store_.Scan(*exchange.target.resource, exchange.target.ns, nullptr, [&](const RecordPtr& record) {
    if (Selects(selection->labels, selection->fields, *record)) records.push_back(record);
    return selection->limit == 0 || static_cast<std::int64_t>(records.size()) < selection->limit;
  });
  const CommitNote note{exchange.caller.name, "delete", "", {}, exchange.caller.managed_fields};
  const auto target_of = [&](const Record& record) {
    Target target = exchange.target;
    target.name = record.key.name;
    return target;
  };
  // Before the first one goes all that webhooks say of any is known.
  if (AsksWebhooks(*exchange.target.resource)) {
    for (const RecordPtr& record : records)
      AskOfDeletion(target_of(*record), Draft::OfStored(*record->json), options->dry_run);
    if (talk_->waits()) return MethodNotAllowed();  // nobody sees it
  }
  for (const RecordPtr& record : records) {
    const Target target = target_of(*record);
    const bool as_items = exchange.representation == schemas::Representation::kObject;
    page.items.push_back(AsVersion(
        as_items ? ShownInList(*record, note.managed_fields) : Shown(*record, note.managed_fields),  // as they were
        *target.resource));
    Outcome<Removal> removal = Remove(target, *record, *options, note);
    if (!removal.ok()) return removal.refusal();
  }
  page.revision = store_.revision();
  return ListResponse(exchange, std::move(page));
}

void ServerCore::DeleteByCollector(const Record& record, absl::string_view policy, absl::string_view client) {
  const RecordPtr now = store_.Find(*record.resource, record.key);
  if (now == nullptr || now->uid != record.uid) return;
  Target target;
  target.resource = record.resource;
  target.ns = record.key.ns;
  target.name = record.key.name;
  DeleteOptions options;
  options.uid = record.uid;
  options.propagation = policy == "Orphan"       ? Propagation::kOrphan
                        : policy == "Foreground" ? Propagation::kForeground
                                                 : Propagation::kBackground;
  const CommitNote note{client, "delete", ""};
  Remove(target, *now, options, note, policy == "Undefined");  // a refusal leaves the object, as for the real collector
}

Outcome<kube::Response> ServerCore::Finalize(Exchange& exchange) {
  const Target& target = exchange.target;
  Outcome<WriteOptions> options = ParseWriteOptions(exchange.query, "UpdateOptions");
  if (!options.ok()) return options.refusal();
  Outcome<Draft> wanted = ReadBody(exchange, schemas_.For(api::kNamespaces), options->field_validation);
  if (!wanted.ok()) return wanted.refusal();
  if (Objection objection = CheckTypeMeta("v1", "Namespace", *wanted)) return *std::move(objection);
  const RecordPtr record = store_.Find(api::kNamespaces, target.key());
  if (record == nullptr) return NotFound(api::kNamespaces, target.name);
  const Draft old = Draft::OfStored(*record->json);
  Draft next = Draft::CopyOf(old);
  next.Child("spec").erase("finalizers");
  if (const json::value* finalizers = FindPath(wanted->object(), "spec.finalizers"); finalizers != nullptr) {
    next.Child("spec")["finalizers"] = *finalizers;
  }
  SetText(next.metadata(), "resourceVersion", TextAt(wanted->object(), "metadata.resourceVersion"));
  const CommitNote note{exchange.caller.name, "update", "finalize", options->field_manager,
                        exchange.caller.managed_fields};
  Outcome<Bytes> replaced = Replace(target, *record, old, next, options->dry_run, true, note);
  if (!replaced.ok()) return replaced.refusal();
  return ObjectResponse(exchange, 200, *replaced);
}

void ServerCore::FinishNamespace(absl::string_view name, absl::string_view client) {
  const RecordPtr record = store_.Find(api::kNamespaces, {"", std::string(name)});
  if (record == nullptr) return;
  const CommitNote note{client, "delete", ""};
  CommitDeletion(*record, note);
}

}  // namespace gangway::sandbox
