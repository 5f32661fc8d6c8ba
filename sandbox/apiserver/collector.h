// What Kubernetes' garbage collector and namespace controller do: dependents go when their owners are gone, foreground
// deletions wait for them, orphaned ones lose the reference, a deleted namespace is emptied; and the objects of a
// custom kind go with its definition.
//
// Used on one loop. Learns of commits, works from tasks of its own, and writes through CollectorActions.
#pragma once

#include <deque>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "api/meta.h"
#include "api/resource.h"
#include "base/loop.h"
#include "boost/json/object.hpp"
#include "sandbox/apiserver/declared_kinds.h"
#include "sandbox/apiserver/served_versions.h"
#include "sandbox/apiserver/store/store.h"

namespace gangway::sandbox {

class CollectorActions {
 public:
  virtual ~CollectorActions() = default;
  // `policy`: "Background", "Foreground", "Orphan" or "Undefined": in the background and past admission, since its kind
  // goes.
  virtual void DeleteByCollector(const Record& record, absl::string_view policy, absl::string_view client) = 0;
  virtual void EditByCollector(const Record& record, absl::FunctionRef<void(boost::json::object&)> edit,
                               absl::string_view client) = 0;
  // The namespace is deleting and empty.
  virtual void FinishNamespace(absl::string_view name, absl::string_view client) = 0;
};

class Collector {
 public:
  Collector(Loop& loop, const Store& store, const ServedVersions& served, const DeclaredKinds& declared,
            CollectorActions& actions);

  // Within each commit.
  void OnCommit(const Change& change);

 private:
  using Item = std::pair<const api::Resource*, api::NamespacedName>;

  void Enqueue(const api::Resource& resource, const api::NamespacedName& key);
  void WakeOwners(const Record& dependent);
  void Wake();
  void Work();
  void Judge(const Item& item);
  void JudgeByOwners(const Record& record);
  void FinishForeground(const Record& record);
  void FinishOrphaning(const Record& record);
  void RemoveFinalizer(const Record& record, absl::string_view finalizer);
  void EmptyNamespace(const std::string& name);
  void EmptyNamespaceOf(const api::Resource& resource, const std::string& name, bool asked, std::size_t& left);
  void EmptyDefinition(const std::string& name);

  Loop& loop_;
  const Store& store_;
  const ServedVersions& served_;
  const DeclaredKinds& declared_;
  CollectorActions& actions_;
  std::deque<Item> queue_;
  absl::flat_hash_set<Item> queued_;
  absl::flat_hash_map<std::string, Item> waiting_owners_;  // by UID: deleting, and we hold one of their finalizers
  struct Termination {
    bool due = false;    // its objects may go: others had the time to delete them by their names
    bool asked = false;  // they have been deleted
  };
  absl::btree_map<std::string, Termination> terminating_;  // namespaces being deleted
  absl::btree_set<std::string> namespaces_to_do_;
  absl::flat_hash_map<const api::Resource*, std::string>
      undefined_;  // kinds whose definition, of that name, is being deleted
  absl::btree_set<std::string> definitions_to_do_;
  bool awake_ = false;
  Owner owner_;
};

}  // namespace gangway::sandbox
