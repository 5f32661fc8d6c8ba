#include "api/volcano/embedded.h"

#include <array>

#include "api/volcano/queue_parts.h"

namespace gangway::api::volcano {
namespace {

struct DocumentType {
  std::string_view owner, field;
  Embedded is;
};
constexpr std::array kDocuments{
    DocumentType{"TaskSpec", "template", {"io.k8s.api.core.v1.PodTemplateSpec"}},
    DocumentType{"VolumeSpec", "volumeClaim", {"io.k8s.api.core.v1.PersistentVolumeClaimSpec"}},
    DocumentType{"QueueSpec", "affinity", {{}, &TypeOf<QueueAffinity>()}},
    DocumentType{"QueueSpec", "extendClusters", {{}, &TypeOf<std::vector<QueueCluster>>()}},
    DocumentType{"QueueStatus", "reservation", {{}, &TypeOf<QueueReservation>()}},
};

}  // namespace

Embedded EmbeddedIn(const Type& owner, const Field& field) {
  const Type& type = field.type->kind == Kind::kOptional ? *field.type->element : *field.type;
  if (type.name == "ObjectMeta") return {"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"};
  if (type.name == "LabelSelector") return {"io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"};
  if (type.kind != Kind::kDocument) return {};
  for (const DocumentType& document : kDocuments) {
    if (document.owner == owner.name && document.field == field.name) return document.is;
  }
  return {};
}

}  // namespace gangway::api::volcano
