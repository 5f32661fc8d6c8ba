// What the controllers of CustomResourceDefinitions make of them (apiextensions-apiserver: pkg/controller): whose names
// are accepted, whether they are established, which versions may be stored.
#pragma once

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/resource.h"
#include "sandbox/apiserver/draft/draft.h"

namespace gangway::sandbox {

inline constexpr absl::string_view kDefinitionFinalizer = "customresourcecleanup.apiextensions.k8s.io";

// The custom kind of the catalogue that this CustomResourceDefinition is of; nullptr: none. Such a kind is served with
// and without its definition.
const api::Resource* DefinedKind(const boost::json::object& definition);

// Whether its condition says that the kind is served.
bool IsEstablished(const boost::json::object& definition);

// What a new one is stored with: nothing is accepted yet.
void BeginDefinition(boost::json::object& definition);
// What one gets that is to be deleted: it goes when its objects have gone.
void EndDefinition(absl::Time now, boost::json::object& definition);

// The names that are in use in a group: of the kinds of the catalogue, and what definitions have accepted.
class GroupNames {
 public:
  using Counts = absl::flat_hash_map<std::string, int>;
  GroupNames() = default;  // none
  explicit GroupNames(absl::string_view group);
  void Add(const boost::json::object& definition) { CountAll(definition, 1); }
  void Remove(const boost::json::object& definition) { CountAll(definition, -1); }
  const Counts& resources() const { return resources_; }  // plurals, singulars and short names
  const Counts& kinds() const { return kinds_; }          // and those of lists

 private:
  static void Count(Counts& counts, absl::string_view name, int by);
  void CountAll(const boost::json::object& definition, int by);

  Counts resources_, kinds_;
};

// Brings the definition's status up to date with its spec. `taken` has its names as they were accepted, and gets them
// as they are now.
void SettleDefinition(GroupNames& taken, absl::Time now, boost::json::object& definition);

}  // namespace gangway::sandbox
