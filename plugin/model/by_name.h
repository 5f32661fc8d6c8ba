// Finds the things of a table by the namespaces and names that they carry: none is kept twice.
#pragma once

#include <cstddef>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "plugin/model/slot_table.h"

namespace gangway::model {

// Of a T with `ns` and `name`, which stay as they are while it is found. The table must outlive it.
template <class T>
class ByName {
 public:
  explicit ByName(const SlotTable<T>& table) : ids_(0, Hash{&table}, Same{&table}) {}

  // What Find will look at first is fetched meanwhile.
  void Prefetch(absl::string_view ns, absl::string_view name) const { ids_.prefetch(Name{ns, name}); }
  // -1: there is none.
  int Find(absl::string_view ns, absl::string_view name) const {
    const auto it = ids_.find(Name{ns, name});
    return it == ids_.end() ? -1 : *it;
  }
  void Insert(int id) { ids_.insert(id); }
  // While it is in the table.
  void Erase(int id) { ids_.erase(id); }
  int size() const { return static_cast<int>(ids_.size()); }

 private:
  struct Name {
    absl::string_view ns, name;
  };
  struct Hash {
    using is_transparent = void;
    const SlotTable<T>* table = nullptr;
    std::size_t operator()(const Name& of) const { return absl::HashOf(of.ns, of.name); }
    std::size_t operator()(int id) const { return (*this)(Name{(*table)[id].ns, (*table)[id].name}); }
  };
  struct Same {
    using is_transparent = void;
    const SlotTable<T>* table = nullptr;
    bool operator()(int a, int b) const { return a == b; }
    bool operator()(int a, const Name& b) const { return (*table)[a].ns == b.ns && (*table)[a].name == b.name; }
  };

  absl::flat_hash_set<int, Hash, Same> ids_;
};

}  // namespace gangway::model
