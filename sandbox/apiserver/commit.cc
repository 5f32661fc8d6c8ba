// Objects into the store, and what every commit sets off.
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/cluster_resources.h"
#include "api/kind.h"
#include "api/schemas/json_patch.h"
#include "sandbox/apiserver/apply/typed.h"
#include "sandbox/apiserver/server_core.h"
#include "sandbox/apiserver/token_volume.h"

namespace gangway::sandbox {

namespace {

// etcd: --max-request-bytes.
constexpr std::size_t kMaxStoredBytes = 1536 * 1024;

const apply::ManagedFields& EntriesOf(const Record* record) {
  static const apply::ManagedFields kNone;
  return record == nullptr || record->managed == nullptr ? kNone : *record->managed;
}

std::size_t ManagedBytes(const Record& record) {
  std::size_t bytes = 0;
  for (const apply::ManagedEntry& entry : EntriesOf(&record)) bytes += entry.fields->size() + entry.manager.size();
  return bytes;
}

// Without the texts that `before` holds already.
std::size_t FreshManagedBytes(const Record& record, const Record* before) {
  if (before != nullptr && before->managed == record.managed) return 0;
  absl::flat_hash_set<const std::string*> known;
  for (const apply::ManagedEntry& entry : EntriesOf(before)) known.insert(entry.fields.get());
  std::size_t bytes = 0;
  for (const apply::ManagedEntry& entry : EntriesOf(&record))
    bytes += known.contains(entry.fields.get()) ? 0 : entry.fields->size();
  return bytes;
}

}  // namespace

Outcome<Bytes> ServerCore::Commit(const api::Resource& resource, Draft& draft, bool dry_run, const CommitNote& note,
                                  const apply::ManagedFieldsPtr* managed) {
  if (schemas::IsDeeperThan(draft.root(), schemas::kMaxObjectDepth)) {
    return BadRequest(absl::StrCat("the object is deeper than ", schemas::kMaxObjectDepth, " levels"));
  }
  apply::WriteAsGo(draft.root(), *schemas_.For(resource)->root);
  const api::Resource& kept_as = api::StoredAs(resource);
  if (&kept_as != &resource) {
    if (kept_as.version != resource.version) Prune(draft.root(), *schemas_.For(kept_as));
    SetText(draft.object(), "apiVersion", kept_as.ApiVersion());
  }
  boost::json::object& metadata = draft.metadata();
  if (!dry_run) SetText(metadata, "resourceVersion", absl::StrCat(store_.next_revision()));
  auto record = std::make_shared<Record>();
  ReadFacts(kept_as, draft.object(), *record);
  const RecordPtr before = store_.Find(resource, record->key);
  record->managed = managed != nullptr ? *managed : before != nullptr ? before->managed : nullptr;
  record->managed_bytes = FreshManagedBytes(*record, before.get());
  WriteObject(draft.object(), scratch_, &record->revision_at, &record->metadata_end);
  if (!dry_run && note.verb != "delete" && scratch_.size() + ManagedBytes(*record) > kMaxStoredBytes)
    return TooLargeToStore();
  if (&resource == &api::kCustomResourceDefinitions && note.verb != "delete") {
    if (Objection objection = CheckRoomForDefinition(before.get(), scratch_.size())) return *std::move(objection);
  }
  record->json = std::make_shared<const std::string>(scratch_.data(), scratch_.size());
  if (dry_run) return Shown(*record, note.managed_fields);
  record->revision = store_.next_revision();
  store_.Put(record, note);
  return Shown(*record, note.managed_fields);
}

Bytes ServerCore::CommitDeletion(const Record& record, const CommitNote& note) {
  // `record` may be the store's own, which goes with the deletion.
  const api::Resource& resource = *record.resource;
  const api::NamespacedName key = record.key;
  Bytes last = ShownAtRevision(record, store_.next_revision(), note.managed_fields);
  store_.Delete(resource, key, note);
  return last;
}

Bytes ServerCore::ShownAfter(const Record& before, Draft& draft, Revision revision, bool managed_fields,
                             const apply::ManagedFieldsPtr* managed) {
  Record record;
  record.resource = before.resource;
  record.managed = managed != nullptr ? *managed : before.managed;
  SetText(draft.metadata(), "resourceVersion", absl::StrCat(revision));
  WriteObject(draft.object(), scratch_, &record.revision_at, &record.metadata_end);
  record.json = std::make_shared<const std::string>(scratch_);
  return Shown(record, managed_fields);
}

void ServerCore::OnCommit(const Change& change, const JournalNote& note) {
  if (change.after->resource == &api::kCustomResourceDefinitions) OnDefinition(change);
  if (change.after->resource == &api::kMutatingWebhookConfigurations ||
      change.after->resource == &api::kValidatingWebhookConfigurations) {
    webhooks_.Read(store_);
  }
  OnRoleChange(change);
  watches_.OnCommit(change);
  collector_.OnCommit(change);
  event_expiry_.OnCommit(change);
  if (change.deleted && ((change.after->resource == &api::kServiceAccounts && change.after->key.name == "default") ||
                         (change.after->resource == &api::kConfigMaps && change.after->key.name == kRootCaName))) {
    RestoreForNamespace(change.after->key.ns);
  }
  if (!options_.journal) return;
  JournalRecord record;
  record.revision = change.revision;
  record.time = loop_.Now();
  record.client = std::string(note.client);
  record.verb = std::string(note.verb);
  record.subresource = std::string(note.subresource);
  record.resource = change.after->resource;
  record.key = change.after->key;
  record.uid = change.after->uid;
  if (change.before != nullptr) record.before = change.before->json;
  if (!change.deleted) record.after = change.after->json;
  options_.journal(record);
}

std::string ServerCore::NewUid() {
  // RFC 4122, version 4.
  const std::uint64_t a = Random(), b = Random();
  return absl::StrFormat("%08x-%04x-4%03x-%04x-%012x", a >> 32, (a >> 16) & 0xffff, a & 0xfff,
                         0x8000 | ((b >> 48) & 0x3fff), b & 0xffffffffffff);
}

}  // namespace gangway::sandbox
