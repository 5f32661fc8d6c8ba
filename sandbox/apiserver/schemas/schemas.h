// What the API server knows of every type it serves: fields, types, rules, defaults and list keys.
//
// Core types come from Kubernetes' published OpenAPI (kubernetes-schemas.json, linked into the program), Volcano's from the
// field tables in api/volcano. Both end as one tree of nodes whose references are pointers and whose properties are sorted,
// so checking a 4 KB pod takes a few microseconds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/resource.h"
#include "boost/json/value.hpp"

namespace gangway::sandbox {

// One place in a type. Part of a Schema; lives as long as the Schemas.
struct SchemaNode;

// One type.
struct Schema {
  std::string_view kind;           // "Pod"
  const SchemaNode* root = nullptr;
  // A custom type's wrong types are rule errors (422) as a CRD's are; a core type's make the body unreadable (400).
  bool custom = false;
};

// One cause of an Invalid (422) answer, as in Status.details.causes.
struct FieldError {
  std::string field;    // "spec.tasks[0].replicas"
  std::string reason;   // FieldValueInvalid, FieldValueRequired, FieldValueNotSupported, FieldValueDuplicate,
                        // FieldValueTooLong, FieldValueTypeInvalid, FieldValueForbidden
  std::string message;  // "Invalid value: -1: spec.tasks[0].replicas in body should be greater than or equal to 0"
  friend bool operator==(const FieldError&, const FieldError&) = default;
};

struct Findings {
  // Paths of fields the type does not have. fieldValidation says what they mean: Strict refuses them all
  // (UnknownFieldsMessage, 400), Warn sends one warning each, Ignore says nothing. Pruned in every case.
  std::vector<std::string> unknown;
  // Core types only: the first value of a wrong type, so the object cannot be read (400):
  // "spec.containers[0].image: must be a string, not a number".
  std::string unreadable;
  // Rules broken (422); a few dozen at most.
  std::vector<FieldError> errors;
  bool ok() const { return unknown.empty() && unreadable.empty() && errors.empty(); }
};

// `strict decoding error: unknown field "spec.foo", unknown field "spec.bar"`
std::string UnknownFieldsMessage(const std::vector<std::string>& unknown);
// `[spec.a: Required value, spec.b: Invalid value: ...]`, without the brackets when there is one.
std::string FieldErrorsMessage(const std::vector<FieldError>& errors);

// The keys by which the elements of a list are told apart.
struct ListKeys {
  std::vector<std::string_view> map_keys;  // x-kubernetes-list-map-keys; empty: an atomic list or a set
  std::string_view merge_key;              // x-kubernetes-patch-merge-key; empty: replaced as a whole by a strategic merge patch
  bool set = false;                        // x-kubernetes-list-type: set
};

// Immutable after construction; const calls may run together.
class Schemas {
 public:
  Schemas();  // about a millisecond
  ~Schemas();
  Schemas(const Schemas&) = delete;
  Schemas& operator=(const Schemas&) = delete;

  // Never null for the resources of api/resource.h.
  const Schema* For(const api::Resource& resource) const;
  // Also the kinds that are not stored: Binding, Eviction, Scale, SelfSubjectAccessReview, DeleteOptions.
  // nullptr when unknown.
  const Schema* ForKind(absl::string_view api_version, absl::string_view kind) const;

 private:
  struct Types;
  std::unique_ptr<Types> types_;
};

// Unknown fields, wrong types and broken rules of `object`. Pure. Order: as the object is written, missing fields last in
// their object. `status` is checked for types, not for required fields.
Findings Check(const boost::json::value& object, const Schema& schema);

// Removes the fields the type does not have, and nulls, which Kubernetes reads as absent.
void Prune(boost::json::value& object, const Schema& schema);

// Fills in the defaults that the type's schema has: for Volcano's types what their CRDs default (before admission), for core
// types what Kubernetes defaults and users see (restartPolicy, terminationGracePeriodSeconds, protocol, ...).
void ApplyDefaults(boost::json::value& object, const Schema& schema);

// The list at `path`: field names with dots, lists without an index ("spec.containers.ports"). Empty keys when the path
// leads to no list.
ListKeys ListKeysAt(const Schema& schema, absl::string_view path);

}  // namespace gangway::sandbox
