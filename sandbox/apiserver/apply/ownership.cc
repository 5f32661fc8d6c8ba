#include "sandbox/apiserver/apply/ownership.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/json.h"
#include "api/json_value.h"
#include "base/check.h"
#include "boost/json.hpp"
#include "sandbox/apiserver/draft/draft.h"

namespace gangway::sandbox::apply {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxUpdateManagers = 10;
constexpr std::size_t kMaxRemembered = 8192, kMaxRememberedBytes = 16u << 20;
constexpr absl::string_view kAncientChanges = "ancient-changes", kBeforeFirstApply = "before-first-apply";
constexpr absl::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::size_t kMaxAnnotationsBytes = 256 * 1024;
constexpr absl::string_view kNoFields = "{}";

// Nobody owns what the server sets (managedfields/internal: stripmeta.go).
const FieldSet& Untracked() {
  static const FieldSet* const set = [] {
    auto* out = new FieldSet();
    for (const char* name : {"apiVersion", "kind", "metadata"}) out->Insert({PathElement::Field(name)});
    for (const char* name : {"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation",
                             "managedFields", "resourceVersion"}) {
      out->Insert({PathElement::Field("metadata"), PathElement::Field(name)});
    }
    return out;
  }();
  return *set;
}

FieldSet Tracked(FieldSet&& fields) { return FieldSet::Difference(std::move(fields), Untracked()); }
// Texts of our own, from ToFieldsV1; what could not be read would own nothing.
FieldSet FieldsIn(const Bytes& text) { return FieldSet::FromFieldsV1(absl::string_view(*text)).value_or(FieldSet()); }
absl::string_view ManagerName(absl::string_view manager) { return manager.empty() ? "unknown" : manager; }

ManagedEntry EntryOf(absl::string_view manager, const Write& write, bool applied) {
  ManagedEntry entry;
  entry.manager = std::string(ManagerName(manager));
  entry.subresource = std::string(write.subresource);
  entry.applied = applied;
  return entry;
}

ManagedEntry* FindWriter(ManagedFields& entries, const ManagedEntry& writer) {
  const auto at =
      std::find_if(entries.begin(), entries.end(), [&](const ManagedEntry& e) { return e.SameWriter(writer); });
  return at == entries.end() ? nullptr : &*at;
}

ManagedFieldsPtr Published(ManagedFields entries) {
  if (entries.empty()) return nullptr;
  SortEntries(entries);
  entries.shrink_to_fit();
  return std::make_shared<const ManagedFields>(std::move(entries));
}

const json::value& NoObject() {
  static const json::value kEmpty = json::object();
  return kEmpty;
}

}  // namespace

Bytes Ownership::Combine(Operation operation, const Bytes& a, const Bytes& b) {
  if (*b == kNoFields) return a;
  const auto key = std::make_tuple(operation, a.get(), b.get());
  if (const auto at = combined_.find(key); at != combined_.end()) return at->second.result;
  if (combined_.size() >= kMaxRemembered || combined_bytes_ > kMaxRememberedBytes) {
    combined_.clear();
    combined_bytes_ = 0;
  }
  const FieldSet x = FieldsIn(a), y = FieldsIn(b);
  const FieldSet result = operation == Operation::kMinus ? FieldSet::Difference(x, y) : FieldSet::Union(x, y);
  Bytes text = pool_.Share(result.ToFieldsV1());
  combined_.emplace(key, Combined{a, b, text});
  combined_bytes_ += a->size() + b->size() + text->size();
  return text;
}

namespace {

// More than ten managers that update: the oldest become one (managedfields/internal: capmanagers.go).
template <class Join>
void CapUpdateManagers(ManagedFields& entries, Join join) {
  const auto updaters = static_cast<std::size_t>(
      std::count_if(entries.begin(), entries.end(), [](const ManagedEntry& e) { return !e.applied; }));
  if (updaters <= kMaxUpdateManagers) return;
  SortEntries(entries);
  const auto first = std::find_if(entries.begin(), entries.end(), [](const ManagedEntry& e) { return !e.applied; });
  std::vector<ManagedEntry> oldest(std::make_move_iterator(first), std::make_move_iterator(entries.end()));
  entries.erase(first, entries.end());
  ManagedEntry bucket = std::move(oldest.front());
  std::size_t left = oldest.size(), next = 1;
  while (left > kMaxUpdateManagers) {
    bucket.fields = join(oldest[next].fields, bucket.fields);
    bucket.seconds = oldest[next].seconds;
    ++next;
    --left;
  }
  bucket.manager = std::string(kAncientChanges);
  bucket.subresource.clear();
  for (; next < oldest.size(); ++next) {
    if (oldest[next].SameWriter(bucket)) {
      bucket.fields = join(oldest[next].fields, bucket.fields);
    } else {
      entries.push_back(std::move(oldest[next]));
    }
  }
  entries.push_back(std::move(bucket));
}

}  // namespace

ManagedFieldsPtr Ownership::AfterUpdate(const ManagedFieldsPtr& managed, const json::value* before,
                                        const json::value& after, const Write& write) {
  // An object that nobody tracked is tracked from its first apply on.
  if (managed == nullptr && before != nullptr) return managed;
  Comparison difference = Compare(before == nullptr ? NoObject() : *before, after, write.type);
  if (!write.reset.Empty()) {
    difference.changed = FieldSet::RecursiveDifference(std::move(difference.changed), write.reset);
    difference.removed = FieldSet::RecursiveDifference(std::move(difference.removed), write.reset);
  }
  if (difference.Same()) return managed;
  ManagedFields entries;
  if (managed != nullptr) {
    const Bytes changed = pool_.Share(difference.changed.ToFieldsV1()),
                removed = pool_.Share(difference.removed.ToFieldsV1());
    entries.reserve(managed->size() + 1);
    for (const ManagedEntry& entry : *managed) {
      Bytes fields = Combine(Operation::kMinus, Combine(Operation::kMinus, entry.fields, changed), removed);
      if (*fields == kNoFields) continue;
      entries.push_back(entry);
      entries.back().fields = std::move(fields);
    }
  }
  const Bytes own = pool_.Share(Tracked(std::move(difference.changed)).ToFieldsV1());
  if (*own != kNoFields) {
    ManagedEntry writer = EntryOf(write.manager, write, false);
    ManagedEntry* entry = FindWriter(entries, writer);
    if (entry == nullptr) {
      writer.fields = own;
      entry = &entries.emplace_back(std::move(writer));
    } else {
      entry->fields = Combine(Operation::kPlus, own, entry->fields);
    }
    entry->seconds = absl::ToUnixSeconds(write.now);
  }
  CapUpdateManagers(entries, [this](const Bytes& a, const Bytes& b) { return Combine(Operation::kPlus, a, b); });
  return Published(std::move(entries));
}

namespace {

// One manager while an apply is judged.
struct Owner {
  const ManagedEntry* entry;
  FieldSet fields;
};

std::string Shown(const ManagedEntry& entry, absl::string_view api_version) {
  std::string out = api::JsonString(entry.manager);
  if (!entry.subresource.empty()) absl::StrAppend(&out, " with subresource ", api::JsonString(entry.subresource));
  if (!entry.applied) absl::StrAppend(&out, " using ", api_version);
  return out;
}

// What this manager applied last and not now, and nobody owns, goes (structured-merge-diff: Updater.prune).
json::value Prune(const json::value& merged, const FieldSet& last, const FieldSet& owned,
                  const schemas::SchemaNode& type) {
  const FieldSet named_last = WithNamedParents(last, &type);
  json::value pruned = Without(merged, named_last, type);
  const FieldSet in_merged = WithNamedParents(FieldsOf(merged, type), &type);
  const FieldSet kept =
      FieldSet::Union(WithNamedParents(FieldsOf(pruned, type), &type), WithNamedParents(owned, &type));
  pruned = Without(merged, FieldSet::Difference(in_merged, kept), type);  // back comes what somebody owns
  const FieldSet in_pruned = WithNamedParents(FieldsOf(pruned, type), &type);
  return Without(merged, FieldSet::Intersection(FieldSet::Difference(in_merged, in_pruned), named_last), type);
}

}  // namespace

Applied Ownership::ApplyOnce(const ManagedFieldsPtr& managed_before, const json::value* live, const json::value& config,
                             const Write& write, bool force) {
  ManagedFieldsPtr managed = managed_before;
  if (managed == nullptr && live != nullptr) {
    Write first = write;
    first.manager = kBeforeFirstApply;
    managed = AfterUpdate(nullptr, nullptr, *live, first);
  }
  const ManagedEntry applier = EntryOf(write.manager, write, true);
  FieldSet mine = FieldSet::RecursiveDifference(FieldsOf(config, write.type), write.reset);
  FieldSet last, owned = mine.Copy();
  std::vector<Owner> others;
  const ManagedEntry* earlier = nullptr;
  if (managed != nullptr) {
    for (const ManagedEntry& entry : *managed) {
      FieldSet fields = FieldsIn(entry.fields);
      if (entry.SameWriter(applier)) {
        earlier = &entry;
        last = std::move(fields);
        continue;
      }
      owned = FieldSet::Union(owned, fields);
      others.push_back({&entry, std::move(fields)});
    }
  }
  Applied out;
  const json::value& base = live == nullptr ? NoObject() : *live;
  out.object = Merge(base, config, write.type);
  if (!last.Empty()) out.object = Prune(out.object, last, owned, write.type);

  Comparison difference = Compare(base, out.object, write.type, Form::kMerged);
  difference.changed = FieldSet::RecursiveDifference(std::move(difference.changed), write.reset);
  difference.removed = FieldSet::RecursiveDifference(std::move(difference.removed), write.reset);
  ManagedFields entries;
  for (Owner& other : others) {
    const FieldSet conflict = FieldSet::Intersection(other.fields, difference.changed);
    if (!conflict.Empty() && !force) {
      const std::string manager = Shown(*other.entry, write.api_version);
      conflict.ForEach([&](const Path& path) { out.conflicts.push_back({manager, ToText(path)}); });
    }
    const FieldSet left = FieldSet::Difference(FieldSet::Difference(other.fields, conflict), difference.removed);
    if (left.Empty()) continue;
    entries.push_back(*other.entry);
    entries.back().fields = pool_.Share(left.ToFieldsV1());
  }
  if (!out.conflicts.empty()) {
    out.object = nullptr;
    return out;
  }
  const bool same = live != nullptr && Equal(*live, out.object);
  if (const FieldSet tracked = Tracked(std::move(mine)); !tracked.Empty()) {
    ManagedEntry& entry = entries.emplace_back(applier);
    entry.fields = pool_.Share(tracked.ToFieldsV1());
    // An apply that changes nothing leaves the time as it was, also when there was none.
    entry.seconds = !same ? absl::ToUnixSeconds(write.now) : earlier != nullptr ? earlier->seconds : 0;
  }
  out.managed = Published(std::move(entries));
  if (same && managed_before != nullptr && SameButTimes(out.managed, managed_before)) out.managed = managed_before;
  return out;
}

namespace {

// The fields that `kubectl apply` without --server-side set last, as far as they still have these values
// (managedfields/internal: lastappliedmanager.go). nullopt: there is no trace of it.
std::optional<FieldSet> LastAppliedFields(const json::value& live, const Write& write) {
  const json::value* annotations = live.is_object() ? FindPath(live.get_object(), "metadata.annotations") : nullptr;
  if (annotations == nullptr || !annotations->is_object()) return std::nullopt;
  const absl::string_view text = FindText(annotations->get_object(), kLastApplied);
  if (text.empty() || !api::ParseCompletely(text).ok()) return std::nullopt;
  const absl::StatusOr<Draft> last = Draft::Parse(text);
  if (!last.ok() || FindText(last->object(), "apiVersion") != write.api_version) return std::nullopt;
  if (!Mistakes(last->root(), write.type).empty()) return std::nullopt;
  const Comparison difference = Compare(last->root(), live, write.type);
  return FieldSet::Difference(FieldSet::Difference(FieldsOf(last->root(), write.type), difference.changed),
                              difference.removed);
}

json::value WithSortedKeys(const json::value& value) {
  if (value.is_array()) {
    json::array out;
    for (const json::value& element : value.get_array()) out.push_back(WithSortedKeys(element));
    return out;
  }
  if (!value.is_object()) return value;
  std::map<absl::string_view, const json::value*> members;
  for (const auto& member : value.get_object()) members.emplace(AbslView(member.key()), &member.value());
  json::object out;
  for (const auto& [name, member] : members) out.emplace(JsonView(name), WithSortedKeys(*member));
  return out;
}

// What a client-side apply would find as its last configuration is kept true for the way back (lastappliedupdater.go).
void UpdateLastApplied(const json::value& config, json::value& object) {
  json::object* metadata = object.is_object() ? FindObject(object.get_object(), "metadata") : nullptr;
  json::object* annotations = metadata == nullptr ? nullptr : FindObject(*metadata, "annotations");
  if (annotations == nullptr || FindText(*annotations, kLastApplied).empty()) return;
  json::value bare = WithSortedKeys(config);
  if (json::object* own = FindObject(bare.get_object(), "metadata"); own != nullptr) {
    if (json::object* given = FindObject(*own, "annotations"); given != nullptr) given->erase(JsonView(kLastApplied));
  }
  // As Go's encoder writes it.
  const std::string text = absl::StrCat(
      absl::StrReplaceAll(api::ToJson(bare), {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}}), "\n");
  std::size_t bytes = text.size();
  for (const auto& annotation : *annotations) {
    bytes += annotation.key().size();
    if (annotation.value().is_string() && AbslView(annotation.key()) != kLastApplied)
      bytes += annotation.value().get_string().size();
  }
  if (bytes > kMaxAnnotationsBytes) {
    annotations->erase(JsonView(kLastApplied));
  } else {
    SetText(*annotations, kLastApplied, text);
  }
}

}  // namespace

Applied Ownership::Apply(const ManagedFieldsPtr& managed, const json::value* live, const json::value& config,
                         const Write& write, bool force) {
  Applied out = ApplyOnce(managed, live, config, write, force);
  if (write.manager != "kubectl") return out;
  if (!out.conflicts.empty()) {
    const std::optional<FieldSet> allowed = live == nullptr ? std::nullopt : LastAppliedFields(*live, write);
    if (!allowed.has_value()) return out;
    std::vector<std::string> fields;
    allowed->ForEach([&](const Path& path) { fields.push_back(ToText(path)); });
    std::sort(fields.begin(), fields.end());
    const auto is_allowed = [&](const FieldConflict& c) {
      return std::binary_search(fields.begin(), fields.end(), c.field);
    };
    out.conflicts.erase(std::remove_if(out.conflicts.begin(), out.conflicts.end(), is_allowed), out.conflicts.end());
    if (!out.conflicts.empty()) return out;
    out = ApplyOnce(managed, live, config, write, true);
  }
  UpdateLastApplied(config, out.object);
  return out;
}

std::string ConflictMessage(const std::vector<FieldConflict>& conflicts) {
  if (conflicts.size() == 1) {
    return absl::StrCat("Apply failed with 1 conflict: conflict with ", conflicts[0].manager, ": ", conflicts[0].field);
  }
  std::map<std::string, std::vector<absl::string_view>> by_manager;
  for (const FieldConflict& conflict : conflicts) by_manager[conflict.manager].push_back(conflict.field);
  std::string out = absl::StrCat("Apply failed with ", conflicts.size(), " conflicts: ");
  bool first = true;
  for (const auto& [manager, fields] : by_manager) {
    absl::StrAppend(&out, first ? "" : "\n", "conflicts with ", manager, ":");
    first = false;
    for (const absl::string_view field : fields) absl::StrAppend(&out, "\n- ", field);
  }
  return out;
}

}  // namespace gangway::sandbox::apply
