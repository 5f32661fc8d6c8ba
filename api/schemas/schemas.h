// What the API server knows of every type it serves: fields, types, rules, defaults and list keys.
//
// Core types come from Kubernetes' published OpenAPI (kubernetes-schemas.json, linked into the program), Volcano's from
// the field tables in api/volcano. Both end as one tree of nodes whose references are pointers and whose properties are
// sorted, so checking a 4 KB pod takes a few microseconds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/field_error.h"
#include "api/field_table.h"
#include "api/resource.h"
#include "boost/json/value.hpp"

namespace gangway::schemas {

// One place in a type. Part of a Schema; lives as long as the Schemas.
struct SchemaNode;
class DeclaredSchema;  // declared_schema.h

// One type.
struct Schema {
  std::string_view kind;  // "Pod"
  const SchemaNode* root = nullptr;
  // A custom type's wrong types are rule errors (422) as a CRD's are; a core type's make the body unreadable (400).
  bool custom = false;
  const api::Type* table = nullptr;  // of a custom type
  // Whether what Kubernetes' own types within it require is asked for with its types. Of Volcano's, admission asks.
  bool judged = true;
  // Of a kind that was declared: also judges values. Its wrong types are told with all else that is wrong.
  const DeclaredSchema* declared = nullptr;
};

struct Findings {
  // Paths of fields the type does not have. fieldValidation says what they mean: Strict refuses them all
  // (UnknownFieldsMessage, 400), Warn sends one warning each, Ignore says nothing. Pruned in every case.
  std::vector<std::string> unknown;
  // Core types only: the first value of a wrong type, so the object cannot be read (400):
  // "spec.containers[0].image: must be a string, not a number".
  std::string unreadable;
  // Causes of an Invalid answer (422), a few dozen at most: required and enumerated fields of core types; in custom
  // ones wrong types, and required fields of the core types within. The rules of Volcano's types are admission's
  // (api/volcano/admission.h), which first fills in its defaults.
  api::FieldErrors errors;
  bool ok() const { return unknown.empty() && unreadable.empty() && errors.empty(); }
};

// `strict decoding error: unknown field "spec.foo", unknown field "spec.bar"`
std::string UnknownFieldsMessage(const std::vector<std::string>& unknown);

// The keys by which the elements of a list are told apart.
struct ListKeys {
  std::vector<std::string_view> map_keys;  // x-kubernetes-list-map-keys; empty: an atomic list or a set
  bool merges = false;         // x-kubernetes-patch-strategy: merge; else a strategic merge patch replaces it
  std::string_view merge_key;  // x-kubernetes-patch-merge-key; empty in a list of plain values
  bool set = false;            // x-kubernetes-list-type: set
};

// Immutable after construction; const calls may run together.
class Schemas {
 public:
  // One for the process, made when it is first asked for and there until the end: all are the same.
  static const Schemas& Shared();

  Schemas();  // several milliseconds
  ~Schemas();
  Schemas(const Schemas&) = delete;
  Schemas& operator=(const Schemas&) = delete;

  // Never null for the resources of api/resource.h, nor for declared ones.
  const Schema* For(const api::Resource& resource) const;
  // Also the kinds that are not stored: Binding, Eviction, Scale, SelfSubjectAccessReview, DeleteOptions.
  // nullptr when unknown.
  const Schema* ForKind(absl::string_view api_version, absl::string_view kind) const;

 private:
  struct Types;
  std::unique_ptr<Types> types_;
};

// Unknown fields, wrong types and broken rules of `object`. Pure. Order: as the object is written, missing fields last
// in their object. In `status` only types are judged.
Findings Check(const boost::json::value& object, const Schema& schema);

// The fields of the object at `path` ("spec.tasks[0].template.spec"; "": the whole); none when the path leads to no
// object with fields of its own. Sorted.
std::vector<std::string> FieldsAt(const Schema& schema, absl::string_view path);

// Removes the fields the type does not have, and nulls, which Kubernetes reads as absent.
void Prune(boost::json::value& object, const Schema& schema);

// Fills in the defaults that the type's schema has: for Volcano's types what their CRDs default (admission adds its
// own), for core types what Kubernetes defaults and users see (restartPolicy, terminationGracePeriodSeconds, protocol,
// requests from limits, ...). Quantities of core types become text in canonical form, as Kubernetes stores them.
void ApplyDefaults(boost::json::value& object, const Schema& schema);

// The list at `path`: field names with dots, lists without an index ("spec.containers.ports"). Empty keys when the path
// leads to no list.
ListKeys ListKeysAt(const Schema& schema, absl::string_view path);

}  // namespace gangway::schemas
