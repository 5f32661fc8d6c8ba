// What the API server keeps: bytes under (resource, namespace, name), one revision that counts every commit, and a
// bounded history that all watchers read. Nothing here parses JSON or knows an API rule; the router prepares what is
// committed.
//
// Used on one loop. Bytes and records are immutable and shared: by the current state, the history, watchers and caches.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/kind.h"
#include "api/meta.h"
#include "api/resource.h"
#include "base/strings.h"

namespace gangway::sandbox {

namespace apply {
struct ManagedEntry;
}

using Revision = std::uint64_t;

// Name/value pairs in one string, for selectors; a fraction of a map's memory. Names and values may hold any byte.
class PackedPairs {
 public:
  void Add(absl::string_view name, absl::string_view value);
  // "" and false when there is none.
  bool Find(absl::string_view name, absl::string_view* value) const;
  absl::string_view Get(absl::string_view name) const;
  bool empty() const { return packed_.empty(); }
  // For many look-ups in many pairs. Views of this object.
  bool is_long() const { return packed_.size() > 2048; }
  absl::flat_hash_map<absl::string_view, absl::string_view> ToMap() const;
  friend bool operator==(const PackedPairs&, const PackedPairs&) = default;

 private:
  std::string packed_;  // name, value, name, ...: each behind its length
};

// One state of one object.
struct Record {
  const api::Resource* resource = nullptr;
  api::NamespacedName key;
  std::string uid;
  Revision revision = 0;
  Bytes json;                      // metadata.resourceVersion is `revision`
  std::uint32_t revision_at = 0;   // where the digits of that resourceVersion stand in `json`; 0: nowhere
  std::uint32_t metadata_end = 0;  // where the brace behind the metadata stands in `json`; 0: nowhere
  // metadata.managedFields, which `json` is without (shown.h); null: none.
  std::shared_ptr<const std::vector<apply::ManagedEntry>> managed;
  std::size_t managed_bytes = 0;                   // of `managed`, those that the object's state before does not share
  mutable std::weak_ptr<const std::string> shown;  // what shown.h made of it, while somebody has that
  mutable std::weak_ptr<const std::string>
      listed[2];  // the same as an item of a list: without managedFields, with them
  PackedPairs labels;
  PackedPairs fields;  // what field selectors may ask, metadata.name and .namespace apart
  std::vector<std::string> owner_uids;
  bool deleting = false;    // metadata.deletionTimestamp is set
  bool collecting = false;  // metadata.finalizers has "foregroundDeletion" or "orphan"
};
using RecordPtr = std::shared_ptr<const Record>;

// The same state as seen at a later revision: what a watcher is told when an object is deleted or stops matching.
Bytes JsonAtRevision(const Record& record, Revision revision);

// One commit. `before` is null for a creation. For a deletion `after` holds the last state at the deletion's revision.
struct Change {
  Revision revision = 0;
  RecordPtr before, after;
  bool deleted = false;
};

// Who commits, and how: what the journal says beside the change.
struct JournalNote {
  absl::string_view client, verb, subresource;
};

struct StoreOptions {
  std::size_t max_history_changes = 100'000;
  std::size_t max_history_bytes =
      96u << 20;  // of the changes' `after`, json and managed_bytes; mostly shared with the current state
};

class Store {
 public:
  explicit Store(StoreOptions options = {});
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  Revision revision() const { return revision_; }
  // What the next commit will be; writers put it into the bytes they prepare.
  Revision next_revision() const { return revision_ + 1; }
  // A watch or a list from a revision below this one is told 410.
  Revision compacted_revision() const { return compacted_; }

  // Null when there is none.
  RecordPtr Find(const api::Resource& resource, const api::NamespacedName& key) const;
  std::size_t Count(const api::Resource& resource, absl::string_view ns = {}) const;  // "" counts all namespaces

  // Creates or replaces; `record.revision` must be next_revision(). The caller has checked the optimistic lock.
  void Put(RecordPtr record, const JournalNote& note = {});
  // The object must be there.
  void Delete(const api::Resource& resource, const api::NamespacedName& key, const JournalNote& note = {});

  // Visits in key order, within `ns` ("" = all), from behind `after` (null = from the start) until `visit` returns
  // false. The store must not be changed meanwhile.
  void Scan(const api::Resource& resource, absl::string_view ns, const api::NamespacedName* after,
            absl::FunctionRef<bool(const RecordPtr&)> visit) const;
  // The same as of an earlier revision, by undoing the history. OutOfRange when that has been compacted.
  absl::Status ScanAt(Revision revision, const api::Resource& resource, absl::string_view ns,
                      const api::NamespacedName* after, absl::FunctionRef<bool(const RecordPtr&)> visit) const;
  // How many there were as of an earlier revision.
  absl::StatusOr<std::size_t> CountAt(Revision revision, const api::Resource& resource, absl::string_view ns) const;

  // Objects that name `uid` among their owners, in key order.
  std::vector<RecordPtr> Dependents(absl::string_view uid) const;

  // Whether an object with this UID is there.
  bool Alive(absl::string_view uid) const { return uids_.contains(uid); }

  // Changes of one resource after `revision`, oldest first. The revision must not be below compacted_revision().
  void ChangesSince(const api::Resource& resource, Revision revision,
                    absl::FunctionRef<void(const Change&)> visit) const;
  // Drops the history: compacted_revision() becomes revision().
  void Compact();

  // Called within each commit, after it has been made; must not commit.
  using OnCommit = absl::AnyInvocable<void(const Change& change, const JournalNote& note)>;
  void SetOnCommit(OnCommit on_commit) { on_commit_ = std::move(on_commit); }

 private:
  struct Table {
    absl::btree_map<api::NamespacedName, RecordPtr> objects;
    absl::flat_hash_map<std::string, std::size_t> count_by_namespace;
    std::deque<Change> history;
  };
  using DependentKey = std::pair<const api::Resource*, api::NamespacedName>;
  struct ByResourceThenKey {
    bool operator()(const DependentKey& a, const DependentKey& b) const;
  };

  Table& TableOf(const api::Resource& resource);
  const Table* FindTable(const api::Resource& resource) const;
  void Remember(Table& table, Change change, const JournalNote& note);
  void ForgetOldest();
  void IndexOwners(const Record& record);
  void UnindexOwners(const Record& record);

  const StoreOptions options_;
  Revision revision_ = 0, compacted_ = 0;
  absl::flat_hash_map<const api::Resource*, std::unique_ptr<Table>> tables_;
  std::deque<std::pair<Table*, std::size_t>> order_;  // of the commits in the histories, with their bytes
  std::size_t history_bytes_ = 0;
  absl::flat_hash_map<std::string, absl::btree_set<DependentKey, ByResourceThenKey>> dependents_;
  absl::flat_hash_set<std::string> uids_;
  OnCommit on_commit_;
};

}  // namespace gangway::sandbox
