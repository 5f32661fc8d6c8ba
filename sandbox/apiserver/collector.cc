#include "sandbox/apiserver/collector.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "api/cluster_resources.h"
#include "api/core/objects.h"
#include "api/field_table.h"
#include "api/kinds/kinds.h"
#include "boost/json/array.hpp"
#include "sandbox/apiserver/definitions.h"
#include "sandbox/apiserver/draft/draft.h"
#include "sandbox/apiserver/facts.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

constexpr absl::string_view kGarbageCollector = "garbage-collector";
constexpr absl::string_view kNamespaceController = "namespace-controller";
constexpr absl::string_view kDefinitionController = "definition-controller";
constexpr absl::Duration kNamespaceGrace = absl::Seconds(5);  // pkg/controller/namespace: namespaceDeletionGracePeriod
// Who comes without his owner goes after a GET of the owner and a DELETE, by a client of 20 requests a second
// (kube-controller-manager --kube-api-qps). Who makes him anew each time he goes, since nobody has told him that the
// owner is gone, is held up by this alone.
constexpr absl::Duration kOwnerLookup = absl::Milliseconds(100);
constexpr int kItemsPerTask = 128;  // so that others of the loop get their turn

api::ObjectMeta MetadataOf(const Record& record) {
  absl::StatusOr<api::core::PartialObject> object = api::Decode<api::core::PartialObject>(*record.json);
  return object.ok() ? std::move(object->metadata) : api::ObjectMeta();
}

bool Has(const api::ObjectMeta& metadata, absl::string_view finalizer) {
  return std::find(metadata.finalizers.begin(), metadata.finalizers.end(), finalizer) != metadata.finalizers.end();
}

// Removes the references to the owners named by `uids`.
void DropOwners(json::object& object, const std::vector<std::string>& uids) {
  json::object* metadata = FindObject(object, "metadata");
  json::array* owners = metadata == nullptr ? nullptr : FindArray(*metadata, "ownerReferences");
  if (owners == nullptr) return;
  const absl::flat_hash_set<absl::string_view> gone(uids.begin(), uids.end());
  json::array kept(owners->storage());
  for (const json::value& owner : *owners) {
    const absl::string_view uid = owner.is_object() ? FindText(owner.get_object(), "uid") : absl::string_view();
    if (!gone.contains(uid)) kept.push_back(owner);
  }
  if (kept.empty()) {
    metadata->erase("ownerReferences");
  } else {
    *owners = std::move(kept);
  }
}

bool BlocksOwner(const Record& dependent, absl::string_view owner_uid) {
  const api::ObjectMeta metadata = MetadataOf(dependent);
  return std::any_of(metadata.owner_references.begin(), metadata.owner_references.end(), [&](const auto& owner) {
    return owner.uid == owner_uid && owner.block_owner_deletion.value_or(false);
  });
}

}  // namespace

Collector::Collector(Loop& loop, const Store& store, const ServedVersions& served, const DeclaredKinds& declared,
                     CollectorActions& actions)
    : loop_(loop), store_(store), served_(served), declared_(declared), actions_(actions) {}

void Collector::OnCommit(const Change& change) {
  const Record& after = *change.after;
  if (change.deleted) {
    for (const RecordPtr& dependent : store_.Dependents(after.uid)) Enqueue(*dependent->resource, dependent->key);
    waiting_owners_.erase(after.uid);
    WakeOwners(after);  // a foreground deletion may have waited for this one
    if (terminating_.contains(after.key.ns)) {
      namespaces_to_do_.insert(after.key.ns);
      Wake();
    }
    if (after.resource == &api::kNamespaces) terminating_.erase(after.key.name);
    if (after.resource == &api::kCustomResourceDefinitions) {
      absl::erase_if(undefined_, [&](const auto& kind) { return kind.second == after.key.name; });
    }
    if (const auto it = undefined_.find(after.resource); it != undefined_.end()) {
      definitions_to_do_.insert(it->second);
      Wake();
    }
    return;
  }
  if (after.deleting && after.collecting) {
    waiting_owners_.insert_or_assign(after.uid, Item(after.resource, after.key));
    Enqueue(*after.resource, after.key);
  } else if (change.before != nullptr && change.before->collecting) {
    waiting_owners_.erase(after.uid);
  }
  if (after.resource == &api::kNamespaces && after.deleting) {
    const auto [it, fresh] = terminating_.try_emplace(after.key.name);
    if (it->second.due) {
      namespaces_to_do_.insert(after.key.name);
      Wake();
    } else if (fresh) {
      loop_.PostAt(loop_.Now() + kNamespaceGrace, owner_.token(), [this, name = after.key.name] {
        const auto ns = terminating_.find(name);
        if (ns == terminating_.end()) return;
        ns->second.due = true;
        EmptyNamespace(name);
      });
    }
  }
  if (after.resource == &api::kCustomResourceDefinitions && after.deleting) {
    definitions_to_do_.insert(after.key.name);
    Wake();
  }
  if (after.owner_uids.empty()) return;
  const bool same = change.before != nullptr && change.before->owner_uids == after.owner_uids;
  if (!same && !std::all_of(after.owner_uids.begin(), after.owner_uids.end(),
                            [&](const std::string& uid) { return store_.Alive(uid); })) {
    loop_.PostAt(loop_.Now() + kOwnerLookup, owner_.token(),
                 [this, resource = after.resource, key = after.key] { Enqueue(*resource, key); });
  }
  if (!same) WakeOwners(after);  // whose foreground deletion may have begun before this object came
}

void Collector::WakeOwners(const Record& dependent) {
  for (const std::string& uid : dependent.owner_uids) {
    const auto it = waiting_owners_.find(uid);
    if (it != waiting_owners_.end()) Enqueue(*it->second.first, it->second.second);
  }
}

void Collector::Enqueue(const api::Resource& resource, const api::NamespacedName& key) {
  if (queued_.insert({&resource, key}).second) queue_.emplace_back(&resource, key);
  Wake();
}

void Collector::Wake() {
  if (awake_) return;
  awake_ = true;
  loop_.Post(owner_.token(), [this] { Work(); });
}

void Collector::Work() {
  awake_ = false;
  for (int i = 0; i < kItemsPerTask && !queue_.empty(); ++i) {
    const Item item = std::move(queue_.front());
    queue_.pop_front();
    queued_.erase(item);
    Judge(item);
  }
  while (!namespaces_to_do_.empty()) {
    const std::string name = *namespaces_to_do_.begin();
    namespaces_to_do_.erase(namespaces_to_do_.begin());
    EmptyNamespace(name);
  }
  while (!definitions_to_do_.empty()) {
    const std::string name = *definitions_to_do_.begin();
    definitions_to_do_.erase(definitions_to_do_.begin());
    EmptyDefinition(name);
  }
  if (!queue_.empty()) Wake();
}

void Collector::Judge(const Item& item) {
  const RecordPtr record = store_.Find(*item.first, item.second);
  if (record == nullptr) return;
  if (record->deleting && record->collecting) {
    const api::ObjectMeta metadata = MetadataOf(*record);
    if (Has(metadata, kOrphanFinalizer)) return FinishOrphaning(*record);
    if (Has(metadata, kForegroundFinalizer)) return FinishForeground(*record);
  }
  if (!record->deleting) JudgeByOwners(*record);
}

// garbagecollector.go, attemptToDeleteItem
void Collector::JudgeByOwners(const Record& record) {
  std::vector<std::string> absent, waiting;
  int solid = 0;
  const api::ObjectMeta metadata = MetadataOf(record);
  absl::flat_hash_map<const Record*, bool> in_foreground;  // an owner may be named any number of times
  const auto goes_in_foreground = [&](const Record& owner) {
    const auto [known, fresh] = in_foreground.try_emplace(&owner, false);
    if (fresh) known->second = owner.deleting && owner.collecting && Has(MetadataOf(owner), kForegroundFinalizer);
    return known->second;
  };
  for (const api::OwnerReference& owner : metadata.owner_references) {
    const api::Resource* resource = served_.FindKind(owner.api_version, owner.kind);
    if (resource == nullptr) {  // not ours to judge, as for Kubernetes when it cannot find the kind
      ++solid;
      continue;
    }
    const RecordPtr found = store_.Find(*resource, {resource->namespaced ? record.key.ns : "", owner.name});
    if (found == nullptr || found->uid != owner.uid) {
      absent.push_back(owner.uid);
    } else if (goes_in_foreground(*found)) {
      waiting.push_back(owner.uid);
    } else {
      ++solid;
    }
  }
  if (absent.empty() && waiting.empty()) return;
  if (solid > 0) {
    absent.insert(absent.end(), waiting.begin(), waiting.end());
    actions_.EditByCollector(record, [&](json::object& object) { DropOwners(object, absent); }, kGarbageCollector);
    return;
  }
  const bool has_dependents = !store_.Dependents(record.uid).empty();
  const absl::string_view policy = Has(metadata, kOrphanFinalizer)       ? "Orphan"
                                   : Has(metadata, kForegroundFinalizer) ? "Foreground"
                                   : !waiting.empty() && has_dependents  ? "Foreground"
                                                                         : "Background";
  actions_.DeleteByCollector(record, policy, kGarbageCollector);
}

void Collector::FinishForeground(const Record& owner) {
  bool blocked = false;
  for (const RecordPtr& dependent : store_.Dependents(owner.uid)) {
    blocked = blocked || BlocksOwner(*dependent, owner.uid);
    if (!dependent->deleting) Enqueue(*dependent->resource, dependent->key);
  }
  if (!blocked) RemoveFinalizer(owner, kForegroundFinalizer);
}

void Collector::FinishOrphaning(const Record& owner) {
  for (const RecordPtr& dependent : store_.Dependents(owner.uid)) {
    actions_.EditByCollector(
        *dependent, [&](json::object& object) { DropOwners(object, {owner.uid}); }, kGarbageCollector);
  }
  RemoveFinalizer(owner, kOrphanFinalizer);
}

void Collector::RemoveFinalizer(const Record& record, absl::string_view finalizer) {
  actions_.EditByCollector(
      record,
      [&](json::object& object) {
        json::object* metadata = FindObject(object, "metadata");
        json::array* finalizers = metadata == nullptr ? nullptr : FindArray(*metadata, "finalizers");
        if (finalizers == nullptr) return;
        json::array kept(finalizers->storage());
        for (const json::value& each : *finalizers) {
          if (!each.is_string() || AbslView(each.get_string()) != finalizer) kept.push_back(each);
        }
        if (kept.empty()) {
          metadata->erase("finalizers");
        } else {
          *finalizers = std::move(kept);
        }
      },
      kGarbageCollector);
}

// apiextensions-apiserver: pkg/controller/finalizer
void Collector::EmptyDefinition(const std::string& name) {
  const RecordPtr definition = store_.Find(api::kCustomResourceDefinitions, {"", name});
  if (definition == nullptr || !definition->deleting) return;
  const api::Resource* const built_in = DefinedKind(Draft::OfStored(*definition->json).object());
  if (const api::Resource* const kind = built_in != nullptr ? built_in : declared_.StoredOf(name); kind != nullptr) {
    undefined_.insert_or_assign(kind, name);
    std::vector<RecordPtr> records;
    store_.Scan(*kind, {}, nullptr, [&](const RecordPtr& record) {
      if (!record->deleting) records.push_back(record);
      return true;
    });
    for (const RecordPtr& record : records) actions_.DeleteByCollector(*record, "Undefined", kDefinitionController);
    if (store_.Count(*kind) > 0) return;
  }
  RemoveFinalizer(*definition, kDefinitionFinalizer);
}

void Collector::EmptyNamespaceOf(const api::Resource& resource, const std::string& name, bool asked,
                                 std::size_t& left) {
  if (!resource.namespaced || store_.Count(resource, name) == 0) return;
  left += store_.Count(resource, name);
  if (asked) return;
  std::vector<RecordPtr> records;
  store_.Scan(resource, name, nullptr, [&](const RecordPtr& record) {
    records.push_back(record);
    return true;
  });
  for (const RecordPtr& record : records) {
    if (!record->deleting) actions_.DeleteByCollector(*record, "Background", kNamespaceController);
  }
}

void Collector::EmptyNamespace(const std::string& name) {
  const RecordPtr ns = store_.Find(api::kNamespaces, {"", name});
  if (ns == nullptr || !ns->deleting) return;
  Termination& termination = terminating_[name];
  if (!termination.due) return;
  // Nothing new comes into it, so one round of deletions is enough; then it is a matter of waiting.
  bool& asked = termination.asked;
  std::size_t left = 0;
  for (const api::KindRow& kind : api::Kinds()) EmptyNamespaceOf(*kind.resource, name, asked, left);
  declared_.ForEachStored([&](const api::Resource& resource) { EmptyNamespaceOf(resource, name, asked, left); });
  if (!asked && left > 0) namespaces_to_do_.insert(name);  // look again at what went at once
  asked = true;
  if (left == 0) actions_.FinishNamespace(name, kNamespaceController);
}

}  // namespace gangway::sandbox
