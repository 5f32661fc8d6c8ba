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

namespace gangway::schemas {
struct Schema;  // api/schemas/schemas.h
}

namespace gangway::api {
namespace volcano {
struct Admission;  // api/volcano/admission.h
}

// Who defined it. Kubernetes' own are built into an API server, the others come with a CustomResourceDefinition; one
// that came while the program ran, of a kind that is not in the catalogue, has declared it.
enum class Origin : std::uint8_t { kKubernetes, kVolcano, kPaddle, kCoscheduling, kDeclared };

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
  // What an API server that does not serve it leaves users without: "no job can be submitted". Empty: the others do
  // without it.
  std::string_view unserved = {};
  // An alpha version, or a definition that is not ours to install: an API server serves it only where it is told to
  // (--runtime-config), and its resource is not found elsewhere.
  bool on_request = false;
  // Of declared kinds:
  const schemas::Schema* schema = nullptr;
  const Resource* stored_as = nullptr;  // the one that stands for all versions where objects are kept
  std::string_view list_kind = {};      // "": the kind and "List"

  bool custom() const { return origin != Origin::kKubernetes; }
};

// Versions of one declared kind are the same objects, which are kept as one of them.
inline const Resource& StoredAs(const Resource& resource) {
  return resource.declared != nullptr && resource.declared->stored_as != nullptr ? *resource.declared->stored_as
                                                                                 : resource;
}

}  // namespace gangway::api
