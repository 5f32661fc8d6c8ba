// Objects into the store, and what every commit sets off.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {

Bytes ServerCore::Commit(const api::Resource& resource, Draft& draft, bool dry_run, const CommitNote& note,
                         const apply::ManagedFieldsPtr* managed) {
  boost::json::object& metadata = draft.metadata();
  if (!dry_run) SetText(metadata, "resourceVersion", absl::StrCat(store_.next_revision()));
  auto record = std::make_shared<Record>();
  ReadFacts(resource, draft.object(), *record);
  if (managed != nullptr) {
    record->managed = *managed;
  } else if (const RecordPtr before = store_.Find(resource, record->key); before != nullptr) {
    record->managed = before->managed;
  }
  WriteObject(draft.object(), scratch_, &record->revision_at, &record->metadata_end);
  record->json = std::make_shared<const std::string>(scratch_.data(), scratch_.size());
  if (dry_run) return Shown(*record, note.managed_fields);
  record->revision = store_.next_revision();
  note_ = &note;
  store_.Put(record);
  note_ = nullptr;
  return Shown(*record, note.managed_fields);
}

Bytes ServerCore::CommitDeletion(const Record& record, const CommitNote& note) {
  // `record` may be the store's own, which goes with the deletion.
  const api::Resource& resource = *record.resource;
  const api::NamespacedName key = record.key;
  Bytes last = ShownAtRevision(record, store_.next_revision(), note.managed_fields);
  note_ = &note;
  store_.Delete(resource, key);
  note_ = nullptr;
  return last;
}

void ServerCore::OnCommit(const Change& change) {
  watches_.OnCommit(change);
  collector_.OnCommit(change);
  event_expiry_.OnCommit(change);
  if (!options_.journal) return;
  JournalRecord record;
  record.revision = change.revision;
  record.time = loop_.Now();
  if (note_ != nullptr) {
    record.client = std::string(note_->client);
    record.verb = std::string(note_->verb);
    record.subresource = std::string(note_->subresource);
  }
  record.resource = change.after->resource;
  record.key = change.after->key;
  record.uid = change.after->uid;
  if (change.before != nullptr) record.before = change.before->json;
  if (!change.deleted) record.after = change.after->json;
  options_.journal(record);
}

std::string ServerCore::NewUid() {
  // RFC 4122, version 4.
  const std::uint64_t a = loop_.Random(), b = loop_.Random();
  return absl::StrFormat("%08x-%04x-4%03x-%04x-%012x", a >> 32, (a >> 16) & 0xffff, a & 0xfff,
                         0x8000 | ((b >> 48) & 0x3fff), b & 0xffffffffffff);
}

}  // namespace gangway::sandbox
