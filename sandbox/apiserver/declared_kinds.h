// The kinds that CustomResourceDefinitions declare while the server runs: what discovery, requests and the store ask of
// them, made from the definitions that are Established. Kinds of the catalogue are not among them.
//
// Used on one loop. A resource stays where it is for as long as the server does, since records and watches point to it;
// what a definition says anew is put in its place.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "api/kind.h"
#include "api/resource.h"
#include "api/schemas/declared_schema.h"
#include "boost/json/object.hpp"
#include "sandbox/apiserver/served_kind.h"
#include "sandbox/apiserver/subresources.h"

namespace gangway::sandbox {

// Definitions beyond this are refused; their text together, too.
inline constexpr std::size_t kMaxDefinitions = 500;
inline constexpr std::size_t kMaxDefinitionBytes = 32u << 20;

// One version of a declared kind: the row that its resource points to.
struct DeclaredVersion : api::KindRow {
  api::Resource own;
  std::vector<std::string> texts;  // what the row and its resource are views of
  std::unique_ptr<schemas::DeclaredSchema> compiled;
  std::vector<api::PrinterColumn> column_list;
  std::vector<Subresource> parts;
  std::vector<absl::string_view> field_labels;
  ServedKind served_as;
  std::string deprecation;  // the warning that each request gets; "": none
};
// Of a resource that was declared.
const DeclaredVersion& DeclaredAs(const api::Resource& resource);

class DeclaredKinds {
 public:
  DeclaredKinds();
  ~DeclaredKinds();
  DeclaredKinds(const DeclaredKinds&) = delete;
  DeclaredKinds& operator=(const DeclaredKinds&) = delete;

  // What the definition, as it is stored, declares from now on: nothing, when it is not Established or of a kind of the
  // catalogue.
  void Take(const boost::json::object& definition);
  void Drop(absl::string_view definition_name);

  // Of what is served. nullptr: there is none.
  const api::Resource* Find(absl::string_view group, absl::string_view version, absl::string_view plural) const;
  const api::Resource* FindKind(absl::string_view api_version, absl::string_view kind) const;
  bool HasGroup(absl::string_view group) const;
  // In discovery's order: by group, the preferred version first, by name.
  void ForEach(absl::FunctionRef<void(const api::KindRow&)> visit) const;
  // The resource that stands for all versions, whether or not it is served.
  const api::Resource* StoredOf(absl::string_view definition_name) const;
  // Each of those, served or not: objects may be left.
  void ForEachStored(absl::FunctionRef<void(const api::Resource&)> visit) const;
  std::size_t size() const { return kinds_.size(); }
  // Its definition is being deleted, so nothing new comes.
  bool IsEnding(const api::Resource& resource) const;

 private:
  struct Kind;
  absl::btree_map<std::string, std::unique_ptr<Kind>> kinds_;  // by the name of the definition
};

}  // namespace gangway::sandbox
