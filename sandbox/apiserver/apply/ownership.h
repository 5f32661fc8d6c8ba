// Who owns which fields after a write, and what an applied configuration makes of an object: the rules of Kubernetes'
// server-side apply (k8s.io/apimachinery/pkg/util/managedfields over structured-merge-diff).
//
// Pure but for what it remembers to be fast: sets that many objects share, and what came of writes like this one. Used
// on one loop.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "boost/json/value.hpp"
#include "sandbox/apiserver/apply/field_set.h"
#include "sandbox/apiserver/apply/managed_fields.h"
#include "sandbox/apiserver/apply/typed.h"

namespace gangway::sandbox::apply {

// One write, by whom and on what.
struct Write {
  absl::string_view manager;      // "" is "unknown"
  absl::string_view subresource;  // "" for the object itself
  std::string api_version;        // of the object, for the texts of conflicts
  const schemas::SchemaNode& type;
  const FieldSet& reset;  // what the write cannot change: it is put back afterwards
  absl::Time now;
};

// A field that somebody else owns with another value.
struct FieldConflict {
  std::string manager;  // as shown: "\"kubectl\" using v1"
  std::string field;    // ".spec.replicas"
};

struct Applied {
  std::vector<FieldConflict> conflicts;  // not empty: nothing else is set
  boost::json::value object;
  ManagedFieldsPtr managed;
};

class Ownership {
 public:
  // Of a create, update or patch. `before` is null for a creation. `managed` is what the object had, or what the body
  // says.
  ManagedFieldsPtr AfterUpdate(const ManagedFieldsPtr& managed, const boost::json::value* before,
                               const boost::json::value& after, const Write& write);

  // Lays `config` over `live` (null: there is none), takes away what this manager applied before, not now, and nobody
  // else owns. `config` has no Mistakes.
  Applied Apply(const ManagedFieldsPtr& managed, const boost::json::value* live, const boost::json::value& config,
                const Write& write, bool force);

  TextPool& pool() { return pool_; }

 private:
  // Sets as shared texts, so that equal questions are equal pointers.
  enum class Operation : std::uint8_t { kMinus, kPlus };
  Bytes Combine(Operation operation, const Bytes& a, const Bytes& b);
  Applied ApplyOnce(const ManagedFieldsPtr& managed, const boost::json::value* live, const boost::json::value& config,
                    const Write& write, bool force);

  struct Combined {
    Bytes a, b, result;  // the first two keep the key's addresses taken
  };
  TextPool pool_;
  absl::flat_hash_map<std::tuple<Operation, const std::string*, const std::string*>, Combined> combined_;
  std::size_t combined_bytes_ = 0;
};

// How the message of a refused apply lists its conflicts.
std::string ConflictMessage(const std::vector<FieldConflict>& conflicts);

}  // namespace gangway::sandbox::apply
