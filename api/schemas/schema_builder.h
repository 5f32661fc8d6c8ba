// Compiles schema nodes from Kubernetes' OpenAPI and from field tables.
#pragma once

#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/btree_map.h"
#include "api/field_table.h"
#include "api/schemas/schema_node.h"
#include "boost/json/value.hpp"

namespace gangway::schemas {

// What nodes point into; nothing in it moves.
struct SchemaArena {
  std::deque<SchemaNode> nodes;
  std::deque<boost::json::value> values;
  std::set<std::string, std::less<>> texts;

  std::string_view Intern(std::string_view text);
};

class SchemaBuilder {
 public:
  // `definitions` is needed only while building.
  SchemaBuilder(const boost::json::object& definitions, SchemaArena& arena);

  // The node of a definition ("io.k8s.api.core.v1.Pod"). In a custom type it has no defaults but those that CRDs have.
  const SchemaNode* FromDefinition(std::string_view name, bool custom);
  const SchemaNode* FromTable(const api::Type& type);

  // Marks the nodes under which ApplyDefaults has something to do.
  void Finish();

 private:
  SchemaNode* New(Shape shape, bool custom);
  const SchemaNode* FromSchema(const boost::json::object& schema, bool custom);
  void FillObject(const boost::json::object& schema, bool custom, SchemaNode& node);
  void FillList(const boost::json::object& schema, bool custom, SchemaNode& node);
  void AddCoreDefaults(std::string_view definition, SchemaNode& node);
  void AddGoFields(std::string_view definition, SchemaNode& node);
  const SchemaNode* FromField(const api::Type& owner, const api::Field& field);
  const SchemaNode* FromTableType(const api::Type& type);

  const boost::json::object& definitions_;
  SchemaArena& arena_;
  absl::btree_map<std::pair<std::string_view, bool>, SchemaNode*> by_definition_;
  absl::btree_map<const api::Type*, SchemaNode*> by_table_;
};

}  // namespace gangway::schemas
