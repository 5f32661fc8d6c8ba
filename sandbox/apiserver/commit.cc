// Objects into the store, and what every commit sets off.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {

Bytes ServerCore::Commit(const api::Resource& resource, Draft& draft, bool dry_run, const CommitNote& note) {
  boost::json::object& metadata = draft.metadata();
  if (!dry_run) SetText(metadata, "resourceVersion", absl::StrCat(store_.next_revision()));
  std::uint32_t revision_at = 0;
  WriteObject(draft.object(), scratch_, &revision_at);
  Bytes bytes = std::make_shared<const std::string>(scratch_.data(), scratch_.size());
  if (dry_run) return bytes;
  auto record = std::make_shared<Record>();
  ReadFacts(resource, draft.object(), *record);
  record->revision = store_.next_revision();
  record->json = bytes;
  record->revision_at = revision_at;
  note_ = &note;
  store_.Put(std::move(record));
  note_ = nullptr;
  return bytes;
}

Bytes ServerCore::CommitDeletion(const Record& record, const CommitNote& note) {
  // `record` may be the store's own, which goes with the deletion.
  const api::Resource& resource = *record.resource;
  const api::NamespacedName key = record.key;
  Bytes last = JsonAtRevision(record, store_.next_revision());
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
