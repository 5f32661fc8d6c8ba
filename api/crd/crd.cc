#include "api/crd/crd.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/crd/structural.h"
#include "api/json_value.h"
#include "api/manifest/yaml_writer.h"
#include "api/openapi/kubernetes_schemas.h"
#include "api/openapi/table_schema.h"
#include "base/check.h"
#include "base/strings.h"
#include "boost/json.hpp"

namespace gangway::api {
namespace {

namespace json = boost::json;

json::value Text(absl::string_view text) { return json::string_view(text.data(), text.size()); }

json::array Words(std::string_view comma_separated) {
  json::array out;
  for (const absl::string_view word : absl::StrSplit(View(comma_separated), ',', absl::SkipEmpty()))
    out.push_back(Text(word));
  return out;
}

json::object Names(const Resource& resource) {
  json::object names{{"kind", Text(View(resource.kind))},
                     {"listKind", Text(resource.ListKind())},
                     {"plural", Text(View(resource.plural))},
                     {"singular", Text(View(resource.singular))}};
  if (!resource.short_names.empty()) names["shortNames"] = Words(resource.short_names);
  if (!resource.categories.empty()) names["categories"] = Words(resource.categories);
  return names;
}

json::array Columns(std::span<const PrinterColumn> columns) {
  json::array out;
  for (const PrinterColumn& column : columns) {
    json::object made{{"jsonPath", Text(View(column.json_path))},
                      {"name", Text(View(column.name))},
                      {"type", Text(View(column.type))}};
    if (column.priority != 0) made["priority"] = column.priority;
    out.push_back(std::move(made));
  }
  return out;
}

json::value Schema(const KindRow& kind) {
  const std::string_view text = KubernetesSchemas();
  json::monotonic_resource memory(1 << 20);
  const json::value data = json::parse({text.data(), text.size()}, &memory);
  const json::object& definitions = data.at("definitions").get_object();
  json::value schema = SchemaOfTable(
      *kind.table, [&](absl::string_view definition) { return StructuralSchema(definition, definitions); });
  schema.get_object()["description"] = Text(View(kind.doc));
  // Of the object's own metadata a CRD says nothing: the API server knows it.
  schema.at("properties").get_object()["metadata"] = json::object{{"type", "object"}};
  return schema;
}

json::object Subresources(const KindRow& kind) {
  json::object out;
  if (kind.status) out["status"] = json::object();
  if (!kind.scale.replicas.empty()) {
    out["scale"] = json::object{{"labelSelectorPath", Text(View(kind.scale.selector))},
                                {"specReplicasPath", Text(View(kind.scale.replicas))},
                                {"statusReplicasPath", Text(View(kind.scale.current))}};
  }
  return out;
}

json::object Version(const KindRow& kind) {
  json::object version{{"name", Text(View(kind.resource->version))},
                       {"served", true},
                       {"storage", true},
                       {"additionalPrinterColumns", Columns(kind.columns)},
                       {"schema", json::object{{"openAPIV3Schema", Schema(kind)}}}};
  if (json::object subresources = Subresources(kind); !subresources.empty())
    version["subresources"] = std::move(subresources);
  return version;
}

}  // namespace

std::string CrdName(const Resource& resource) { return absl::StrCat(View(resource.plural), ".", View(resource.group)); }

std::string CrdJson(const KindRow& kind) {
  const Resource& resource = *kind.resource;
  return ToJson(json::object{{"apiVersion", "apiextensions.k8s.io/v1"},
                             {"kind", "CustomResourceDefinition"},
                             {"metadata", json::object{{"name", Text(CrdName(resource))}}},
                             {"spec", json::object{{"group", Text(View(resource.group))},
                                                   {"names", Names(resource)},
                                                   {"scope", resource.namespaced ? "Namespaced" : "Cluster"},
                                                   {"versions", json::array{Version(kind)}}}}});
}

std::string CrdYaml(const KindRow& kind) {
  const absl::StatusOr<std::string> yaml = YamlOf(CrdJson(kind));
  GW_CHECK(yaml.ok());
  return *yaml;
}

}  // namespace gangway::api
