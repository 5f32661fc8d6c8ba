// Objects as their type sees them: which fields they have, how two differ, and what becomes of them when one is laid
// over the other or parts are taken away. Pure functions; the rules are those of structured-merge-diff's
// typed.TypedValue.
//
// Core types are seen as Kubernetes' Go types write them: a field that Go drops when it is zero is absent, one that Go
// always writes is there (SchemaProperty::zero). A configuration that somebody applies is seen as it was sent.
#pragma once

#include <string>
#include <vector>

#include "api/schemas/schema_node.h"
#include "boost/json/value.hpp"
#include "sandbox/apiserver/apply/field_set.h"

namespace gangway::sandbox::apply {

// What stands in one object and not in the other, or differs.
struct Comparison {
  FieldSet changed;  // added or modified
  FieldSet removed;
  bool Same() const { return changed.Empty() && removed.Empty(); }
};
// Both are objects of the type. Elements of lists with keys are told apart by them, their order does not count.
enum class Form : std::uint8_t {
  kStored,  // as Go writes it
  kMerged,  // of an apply: empty parts are there
};
Comparison Compare(const boost::json::value& before, const boost::json::value& after, const schemas::SchemaNode& type,
                   Form form_of_after = Form::kStored);

// Every field that `config` names.
FieldSet FieldsOf(const boost::json::value& config, const schemas::SchemaNode& type);

// What `config` may not have: fields the type does not know, values of the wrong type, elements without keys or with
// the same ones. `.spec.foo: field not declared in schema`
std::vector<std::string> Mistakes(const boost::json::value& config, const schemas::SchemaNode& type);

// `config` laid over `live`: nothing is taken away but what an atomic part replaces.
boost::json::value Merge(const boost::json::value& live, const boost::json::value& config,
                         const schemas::SchemaNode& type);

// `object` without the members of `fields`; what lies around them stays, empty if need be.
boost::json::value Without(const boost::json::value& object, const FieldSet& fields, const schemas::SchemaNode& type);

// Takes out what Go would not write: of core types what is empty and need not be there.
void DropZeros(boost::json::value& object, const schemas::SchemaNode& type);

// As Go writes it: without those zeros, and with what it writes in any case. Of core types.
void WriteAsGo(boost::json::value& object, const schemas::SchemaNode& type);

// `fields` and, of what has members below it, those parts that the type names: "a.b.c" also owns "a" when that is a
// property.
FieldSet WithNamedParents(const FieldSet& fields, const schemas::SchemaNode* type);

}  // namespace gangway::sandbox::apply
