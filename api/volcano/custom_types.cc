#include "api/volcano/custom_types.h"

#include <array>

#include "api/volcano/cron_job.h"
#include "api/volcano/flow.h"
#include "api/volcano/job.h"
#include "api/volcano/queue_parts.h"
#include "api/volcano/scheduling.h"

namespace gangway::api::volcano {
namespace {

constexpr std::array kTypes{
    CustomType{&kJobs, &TypeOf<Job>(),
               "tasks of pods that start together or not at all, and what to do when they fail or finish", true},
    CustomType{&kPodGroups, &TypeOf<PodGroup>(), "pods that are placed together or not at all"},
    CustomType{&kQueues, &TypeOf<Queue>(), "a share of the cluster that jobs wait for", true},
    CustomType{&kCommands, &TypeOf<Command>(), "an order to a job or a queue; carried out at most once"},
    CustomType{&kJobFlows, &TypeOf<JobFlow>(), "jobs that run one after the other", true},
    CustomType{&kJobTemplates, &TypeOf<JobTemplate>(), "what the jobs of job flows are made from", true},
    CustomType{&kCronJobs, &TypeOf<CronJob>(), "a job that is made again and again, by the clock", true},
};

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

std::span<const CustomType> CustomTypes() { return kTypes; }

const CustomType* FindCustomType(const Resource& resource) {
  for (const CustomType& type : kTypes) {
    if (type.resource == &resource) return &type;
  }
  return nullptr;
}

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
