// The schema that a version of a CustomResourceDefinition declares, compiled: what Check, Prune, ApplyDefaults and the
// ownership of fields walk, and the rules of values that only definitions have (apiextensions: structural schemas;
// kube-openapi: validation). What Kubernetes' expression language says (x-kubernetes-validations) is not judged.
#pragma once

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "api/field_error.h"
#include "api/schemas/schemas.h"
#include "boost/json/value.hpp"

namespace gangway::schemas {

// What keeps a schema from being declared: it is not structural, a pattern is no regular expression, a default breaks
// its own rules. Of any value; `path` is where it stands in its definition. A few dozen errors at most.
api::FieldErrors CheckDeclaredSchema(const boost::json::value& schema, absl::string_view path);
// Whether some part of it has rules in the expression language.
bool HasExpressions(const boost::json::value& schema);

// Immutable; const calls may run together.
class DeclaredSchema {
 public:
  // `source` has passed CheckDeclaredSchema.
  DeclaredSchema(absl::string_view kind, boost::json::value source);
  ~DeclaredSchema();
  DeclaredSchema(const DeclaredSchema&) = delete;
  DeclaredSchema& operator=(const DeclaredSchema&) = delete;

  const Schema& schema() const;
  const boost::json::value& source() const;

  // What is wrong with an object that has its defaults. With `before`, what stays as it was may be wrong
  // (apiextensions: ratcheting). An object that takes too many steps to judge is wrong, too.
  api::FieldErrors Judge(const boost::json::value& object, const boost::json::value* before) const;

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace gangway::schemas
