#include "api/openapi/table_schema.h"

#include <string>

#include "api/paddle/embedded.h"
#include "api/volcano/embedded.h"
#include "base/check.h"
#include "boost/json.hpp"

namespace gangway::api {
namespace {

namespace json = boost::json;

// A reference stands alone; beside it a description is kept in an allOf.
json::object WithDescription(json::object schema, const json::value& replaced) {
  const json::value* description = replaced.get_object().if_contains("description");
  if (description == nullptr) return schema;
  if (schema.contains("$ref")) return {{"allOf", json::array{std::move(schema)}}, {"description", *description}};
  schema["description"] = *description;
  return schema;
}

// Walks the table and its schema side by side.
void PutEmbedded(const Type& type, json::value& schema, EmbedType embed) {
  switch (type.kind) {
    case Kind::kOptional:
      return PutEmbedded(*type.element, schema, embed);
    case Kind::kList:
      return PutEmbedded(*type.element, schema.at("items"), embed);
    case Kind::kMap:
      return PutEmbedded(*type.element, schema.at("additionalProperties"), embed);
    case Kind::kObject:
      break;
    default:
      return;
  }
  json::object& properties = schema.at("properties").get_object();
  for (std::size_t i = 0; i < type.field_count; ++i) {
    const Field& field = type.fields[i];
    json::value& property = properties.at(field.name);
    volcano::Embedded embedded = volcano::EmbeddedIn(type, field);
    if (const absl::string_view definition = paddle::DefinitionIn(type, field); !definition.empty())
      embedded = {definition};
    if (!embedded.definition.empty()) {
      property = WithDescription(embed(embedded.definition), property);
    } else if (embedded.table != nullptr) {
      property = WithDescription(SchemaOfTable(*embedded.table, embed).get_object(), property);
    } else {
      PutEmbedded(*field.type, property, embed);
    }
  }
}

}  // namespace

json::value SchemaOfTable(const Type& type, EmbedType embed) {
  std::string text;
  WriteSchema(type, text);
  json::value schema = json::parse(text);
  PutEmbedded(type, schema, embed);
  return schema;
}

}  // namespace gangway::api
