// A kind of object, as the catalogue has it (api/kinds/kinds.h): one row says all that discovery, definitions,
// admission, the sandbox, `gangway validate` and `gangway crds` ask of it. Each room lists the kinds that it owns; a
// new kind is a new row.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "api/field_table.h"
#include "api/printer_column.h"
#include "api/resource.h"

namespace gangway::api {
namespace volcano {
struct Admission;  // api/volcano/admission.h
}

// Who defined it. Kubernetes' own are built into an API server, the others come with a CustomResourceDefinition.
enum class Origin : std::uint8_t { kKubernetes, kVolcano, kPaddle, kCoscheduling };

// Paths of the scale subresource; empty: there is none. Without a path of the selector it is made of
// spec.selector.matchLabels.
struct ScalePaths {
  std::string_view replicas, current, selector;
};

struct KindRow {
  const Resource* resource;
  Origin origin = Origin::kKubernetes;
  std::string_view doc = {};  // of custom kinds
  // The fields: of custom kinds whole, of Kubernetes' a view, the part that we look at (null: nothing); what else those
  // have is in api/openapi/kubernetes-schemas.json.
  const Type* table = nullptr;
  std::span<const PrinterColumn> columns = {};  // of custom kinds: what `kubectl get` prints after the name
  bool status = false;                          // has a status subresource
  ScalePaths scale = {};
  const volcano::Admission* admission = nullptr;  // null: nothing is asked beyond the schema
  // An alpha version, or a definition that is not ours to install: an API server serves it only where it is told to
  // (--runtime-config), and its resource is not found elsewhere.
  bool on_request = false;

  bool custom() const { return origin != Origin::kKubernetes; }
};

}  // namespace gangway::api
