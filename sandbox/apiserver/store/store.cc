#include "sandbox/apiserver/store/store.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace gangway::sandbox {

namespace {

constexpr unsigned char kLong = 0xff;  // the length does not fit into this byte and stands in the next four

void AppendText(absl::string_view text, std::string& out) {
  const auto size = static_cast<std::uint32_t>(text.size());
  if (size < kLong) {
    out.push_back(static_cast<char>(size));
  } else {
    char bytes[sizeof size];
    std::memcpy(bytes, &size, sizeof size);
    out.push_back(static_cast<char>(kLong));
    out.append(bytes, sizeof size);
  }
  out.append(text.data(), text.size());
}

// Takes the first text off what AppendText wrote.
absl::string_view TakeText(absl::string_view& rest) {
  std::uint32_t size = static_cast<unsigned char>(rest[0]);
  rest.remove_prefix(1);
  if (size == kLong) {
    std::memcpy(&size, rest.data(), sizeof size);
    rest.remove_prefix(sizeof size);
  }
  const absl::string_view text = rest.substr(0, size);
  rest.remove_prefix(size);
  return text;
}

}  // namespace

void PackedPairs::Add(absl::string_view name, absl::string_view value) {
  packed_.reserve(packed_.size() + name.size() + value.size() + 2);
  AppendText(name, packed_);
  AppendText(value, packed_);
}

bool PackedPairs::Find(absl::string_view name, absl::string_view* value) const {
  for (absl::string_view rest = packed_; !rest.empty();) {
    const bool found = TakeText(rest) == name;
    *value = TakeText(rest);
    if (found) return true;
  }
  *value = {};
  return false;
}

absl::flat_hash_map<absl::string_view, absl::string_view> PackedPairs::ToMap() const {
  absl::flat_hash_map<absl::string_view, absl::string_view> out;
  for (absl::string_view rest = packed_; !rest.empty();) {
    const absl::string_view name = TakeText(rest);
    out.try_emplace(name, TakeText(rest));
  }
  return out;
}

absl::string_view PackedPairs::Get(absl::string_view name) const {
  absl::string_view value;
  Find(name, &value);
  return value;
}

Bytes JsonAtRevision(const Record& record, Revision revision) {
  if (record.revision == revision || record.revision_at == 0) return record.json;
  const std::string& json = *record.json;
  const std::size_t end = json.find('"', record.revision_at);
  GW_CHECK(end != std::string::npos);
  return MakeBytes(absl::StrCat(absl::string_view(json).substr(0, record.revision_at), revision,
                                absl::string_view(json).substr(end)));
}

bool Store::ByResourceThenKey::operator()(const DependentKey& a, const DependentKey& b) const {
  // By name, not by address: the order reaches the journal.
  return std::tie(a.first->plural, a.first->group, a.second) < std::tie(b.first->plural, b.first->group, b.second);
}

Store::Store(StoreOptions options) : options_(options) {}

Store::Table& Store::TableOf(const api::Resource& resource) {
  std::unique_ptr<Table>& table = tables_[&api::StoredAs(resource)];
  if (table == nullptr) table = std::make_unique<Table>();
  return *table;
}

const Store::Table* Store::FindTable(const api::Resource& resource) const {
  const auto it = tables_.find(&api::StoredAs(resource));
  return it == tables_.end() ? nullptr : it->second.get();
}

RecordPtr Store::Find(const api::Resource& resource, const api::NamespacedName& key) const {
  const Table* table = FindTable(resource);
  if (table == nullptr) return nullptr;
  const auto it = table->objects.find(key);
  return it == table->objects.end() ? nullptr : it->second;
}

std::size_t Store::Count(const api::Resource& resource, absl::string_view ns) const {
  const Table* table = FindTable(resource);
  if (table == nullptr) return 0;
  if (ns.empty()) return table->objects.size();
  const auto it = table->count_by_namespace.find(ns);
  return it == table->count_by_namespace.end() ? 0 : it->second;
}

void Store::Put(RecordPtr record, const JournalNote& note) {
  GW_CHECK(record != nullptr && record->resource != nullptr && record->json != nullptr);
  GW_CHECK(record->revision == next_revision());
  Table& table = TableOf(*record->resource);
  auto [it, fresh] = table.objects.try_emplace(record->key);
  RecordPtr before = std::move(it->second);
  it->second = record;
  if (fresh) ++table.count_by_namespace[record->key.ns];
  const bool same_owners = before != nullptr && before->uid == record->uid && before->owner_uids == record->owner_uids;
  if (!same_owners) {
    if (before != nullptr) UnindexOwners(*before);
    IndexOwners(*record);
  }
  if (before == nullptr || before->uid != record->uid) {
    if (before != nullptr) uids_.erase(before->uid);
    uids_.insert(record->uid);
  }
  ++revision_;
  Remember(table, {revision_, std::move(before), std::move(record), false}, note);
}

void Store::Delete(const api::Resource& resource, const api::NamespacedName& key, const JournalNote& note) {
  Table& table = TableOf(resource);
  const auto it = table.objects.find(key);
  GW_CHECK(it != table.objects.end());
  RecordPtr before = std::move(it->second);
  table.objects.erase(it);
  const auto count = table.count_by_namespace.find(key.ns);
  if (--count->second == 0) table.count_by_namespace.erase(count);
  UnindexOwners(*before);
  uids_.erase(before->uid);
  ++revision_;
  auto last = std::make_shared<Record>(*before);
  last->json = JsonAtRevision(*before, revision_);
  last->shown.reset();
  if (last->metadata_end != 0) {
    last->metadata_end = static_cast<std::uint32_t>(last->metadata_end + last->json->size() - before->json->size());
  }
  last->revision = revision_;
  Remember(table, {revision_, std::move(before), std::move(last), true}, note);
}

void Store::Remember(Table& table, Change change, const JournalNote& note) {
  const std::size_t bytes = change.after->json->size() + change.after->managed_bytes;
  order_.emplace_back(&table, bytes);
  history_bytes_ += bytes;
  table.history.push_back(std::move(change));
  // A copy: what the hook calls may look at the store, and the oldest changes are dropped after it.
  const Change latest = table.history.back();
  while (order_.size() > options_.max_history_changes ||
         (history_bytes_ > options_.max_history_bytes && order_.size() > 1)) {
    ForgetOldest();
  }
  if (on_commit_) on_commit_(latest, note);
}

void Store::ForgetOldest() {
  auto [table, bytes] = order_.front();
  order_.pop_front();
  history_bytes_ -= bytes;
  compacted_ = table->history.front().revision;
  table->history.pop_front();
}

void Store::Compact() {
  while (!order_.empty()) ForgetOldest();
  compacted_ = revision_;
}

void Store::Scan(const api::Resource& resource, absl::string_view ns, const api::NamespacedName* after,
                 absl::FunctionRef<bool(const RecordPtr&)> visit) const {
  const Table* table = FindTable(resource);
  if (table == nullptr) return;
  auto it = after != nullptr ? table->objects.upper_bound(*after)
            : ns.empty()     ? table->objects.begin()
                             : table->objects.lower_bound({std::string(ns), {}});
  for (; it != table->objects.end() && (ns.empty() || it->first.ns == ns); ++it) {
    if (!visit(it->second)) return;
  }
}

absl::Status Store::ScanAt(Revision revision, const api::Resource& resource, absl::string_view ns,
                           const api::NamespacedName* after, absl::FunctionRef<bool(const RecordPtr&)> visit) const {
  if (revision < compacted_) return absl::OutOfRangeError("the history has been compacted");
  // What the keys that changed since then were; null: not there. The first change after `revision` knows.
  absl::btree_map<api::NamespacedName, RecordPtr> then;
  ChangesSince(resource, revision, [&](const Change& change) {
    const api::NamespacedName& key = change.after->key;
    if (!ns.empty() && key.ns != ns) return;
    if (after != nullptr && !(*after < key)) return;
    then.try_emplace(key, change.before);
  });
  auto changed = then.begin();
  bool more = true;
  Scan(resource, ns, after, [&](const RecordPtr& now) {
    for (; more && changed != then.end() && changed->first < now->key; ++changed) {
      if (changed->second != nullptr) more = visit(changed->second);
    }
    if (!more) return false;
    if (changed != then.end() && changed->first == now->key) {
      if (changed->second != nullptr) more = visit(changed->second);
      ++changed;
      return more;
    }
    return more = visit(now);
  });
  for (; more && changed != then.end(); ++changed) {
    if (changed->second != nullptr) more = visit(changed->second);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::size_t> Store::CountAt(Revision revision, const api::Resource& resource,
                                           absl::string_view ns) const {
  if (revision < compacted_) return absl::OutOfRangeError("the history has been compacted");
  std::size_t count = Count(resource, ns);
  ChangesSince(resource, revision, [&](const Change& change) {
    if (!ns.empty() && change.after->key.ns != ns) return;
    if (change.before == nullptr) --count;
    if (change.deleted) ++count;
  });
  return count;
}

std::vector<RecordPtr> Store::Dependents(absl::string_view uid) const {
  std::vector<RecordPtr> out;
  const auto it = dependents_.find(uid);
  if (it == dependents_.end()) return out;
  out.reserve(it->second.size());
  for (const DependentKey& key : it->second) {
    if (RecordPtr record = Find(*key.first, key.second); record != nullptr) out.push_back(std::move(record));
  }
  return out;
}

void Store::ChangesSince(const api::Resource& resource, Revision revision,
                         absl::FunctionRef<void(const Change&)> visit) const {
  GW_CHECK(revision >= compacted_);
  const Table* table = FindTable(resource);
  if (table == nullptr) return;
  auto it = std::upper_bound(table->history.begin(), table->history.end(), revision,
                             [](Revision r, const Change& change) { return r < change.revision; });
  for (; it != table->history.end(); ++it) visit(*it);
}

void Store::IndexOwners(const Record& record) {
  for (const std::string& owner : record.owner_uids) dependents_[owner].insert({record.resource, record.key});
}

void Store::UnindexOwners(const Record& record) {
  for (const std::string& owner : record.owner_uids) {
    const auto it = dependents_.find(owner);
    if (it == dependents_.end()) continue;
    it->second.erase({record.resource, record.key});
    if (it->second.empty()) dependents_.erase(it);
  }
}

}  // namespace gangway::sandbox
