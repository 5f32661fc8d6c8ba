// metadata.managedFields: who owns which fields, and since when.
//
// Objects made alike have the same sets, so their texts are shared: an entry of an object costs a hundred bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/strings.h"
#include "boost/json/value.hpp"
#include "sandbox/apiserver/apply/field_set.h"

namespace gangway::sandbox::apply {

struct ManagedEntry {
  std::string manager, subresource;
  bool applied = false;      // operation Apply, else Update
  std::int64_t seconds = 0;  // when, in Unix time; 0: not said
  Bytes fields;              // FieldsV1, never null

  bool SameWriter(const ManagedEntry& other) const {
    return manager == other.manager && subresource == other.subresource && applied == other.applied;
  }
};
// In the order in which Kubernetes shows them. All entries are of the version that is served: others are dropped when
// read.
using ManagedFields = std::vector<ManagedEntry>;
// Null: none.
using ManagedFieldsPtr = std::shared_ptr<const ManagedFields>;

// Shares equal texts. Used on one loop.
class TextPool {
 public:
  Bytes Share(std::string text);

 private:
  absl::flat_hash_map<std::uint64_t, std::weak_ptr<const std::string>> texts_;
  std::size_t sweep_at_ = 1024;
};

// Applies, then updates; each by time, manager and subresource.
void SortEntries(ManagedFields& entries);

// What a body says. nullopt: it cannot be read, so what the object had before stays.
std::optional<ManagedFields> ReadManagedFields(const boost::json::value& list, absl::string_view api_version,
                                               TextPool& pool);
// [] and [{}] ask the server to forget.
bool AsksToForget(const boost::json::value& list);

// The list as JSON.
std::string ManagedFieldsJson(const ManagedFields& entries, absl::string_view api_version);

bool SameButTimes(const ManagedFieldsPtr& a, const ManagedFieldsPtr& b);

}  // namespace gangway::sandbox::apply
