#include "api/crd/crd.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/crd/structural.h"
#include "api/json_value.h"
#include "api/manifest/yaml_writer.h"
#include "api/openapi/kubernetes_schemas.h"
#include "api/openapi/table_schema.h"
#include "api/paddle/columns.h"
#include "api/paddle/paddle_job.h"
#include "api/volcano/columns.h"
#include "api/volcano/custom_types.h"
#include "base/check.h"
#include "base/strings.h"
#include "boost/json.hpp"

namespace gangway::api {
namespace {

namespace json = boost::json;

json::value Text(absl::string_view text) { return json::string_view(text.data(), text.size()); }

json::array Words(std::string_view comma_separated) {
  json::array out;
  for (const absl::string_view word : absl::StrSplit(View(comma_separated), ',', absl::SkipEmpty())) out.push_back(Text(word));
  return out;
}

json::object Names(const Resource& resource) {
  json::object names{{"kind", Text(View(resource.kind))}, {"listKind", Text(resource.ListKind())},
                     {"plural", Text(View(resource.plural))}, {"singular", Text(View(resource.singular))}};
  if (!resource.short_names.empty()) names["shortNames"] = Words(resource.short_names);
  if (!resource.categories.empty()) names["categories"] = Words(resource.categories);
  return names;
}

json::array Columns(std::span<const PrinterColumn> columns) {
  json::array out;
  for (const PrinterColumn& column : columns) {
    json::object made{{"jsonPath", Text(View(column.json_path))}, {"name", Text(View(column.name))},
                      {"type", Text(View(column.type))}};
    if (column.priority != 0) made["priority"] = column.priority;
    out.push_back(std::move(made));
  }
  return out;
}

json::value Schema(const DefinedType& type) {
  const std::string_view text = KubernetesSchemas();
  json::monotonic_resource memory(1 << 20);
  const json::value data = json::parse({text.data(), text.size()}, &memory);
  const json::object& definitions = data.at("definitions").get_object();
  json::value schema =
      SchemaOfTable(*type.table, [&](absl::string_view definition) { return StructuralSchema(definition, definitions); });
  schema.get_object()["description"] = Text(View(type.doc));
  // Of the object's own metadata a CRD says nothing: the API server knows it.
  schema.at("properties").get_object()["metadata"] = json::object{{"type", "object"}};
  return schema;
}

json::object Subresources(const DefinedType& type) {
  json::object out;
  if (type.status) out["status"] = json::object();
  if (!type.scale.replicas.empty()) {
    out["scale"] = json::object{{"labelSelectorPath", Text(View(type.scale.selector))},
                                {"specReplicasPath", Text(View(type.scale.replicas))},
                                {"statusReplicasPath", Text(View(type.scale.current))}};
  }
  return out;
}

json::object Version(const DefinedType& type) {
  json::object version{{"name", Text(View(type.resource->version))}, {"served", true}, {"storage", true},
                       {"additionalPrinterColumns", Columns(type.columns)},
                       {"schema", json::object{{"openAPIV3Schema", Schema(type)}}}};
  if (json::object subresources = Subresources(type); !subresources.empty()) version["subresources"] = std::move(subresources);
  return version;
}

}  // namespace

std::vector<DefinedType> VolcanoTypes() {
  std::vector<DefinedType> types;
  for (const volcano::CustomType& type : volcano::CustomTypes()) {
    types.push_back({type.resource, type.table, type.doc, volcano::ColumnsOf(*type.resource), type.status});
  }
  return types;
}

std::vector<DefinedType> PaddleTypes() {
  return {{&paddle::kPaddleJobs, &TypeOf<paddle::PaddleJob>(), "a PaddlePaddle training job, as paddle-operator has it",
           paddle::kPaddleJobColumns, true},
          {&paddle::kubeflow::kPaddleJobs, &TypeOf<paddle::kubeflow::PaddleJob>(),
           "a PaddlePaddle training job, as kubeflow's training operator has it", paddle::kubeflow::kPaddleJobColumns, true,
           {".spec.paddleReplicaSpecs.Worker.replicas", ".status.replicaStatuses.Worker.active",
            ".status.replicaStatuses.Worker.selector"}}};
}

std::string CrdName(const Resource& resource) { return absl::StrCat(View(resource.plural), ".", View(resource.group)); }

std::string CrdJson(const DefinedType& type) {
  const Resource& resource = *type.resource;
  return ToJson(json::object{
      {"apiVersion", "apiextensions.k8s.io/v1"},
      {"kind", "CustomResourceDefinition"},
      {"metadata", json::object{{"name", Text(CrdName(resource))}}},
      {"spec", json::object{{"group", Text(View(resource.group))},
                            {"names", Names(resource)},
                            {"scope", resource.namespaced ? "Namespaced" : "Cluster"},
                            {"versions", json::array{Version(type)}}}}});
}

std::string CrdYaml(const DefinedType& type) {
  const absl::StatusOr<std::string> yaml = YamlOf(CrdJson(type));
  GW_CHECK(yaml.ok());
  return *yaml;
}

}  // namespace gangway::api
