#include "api/volcano/kinds.h"

#include "api/volcano/admission_rules.h"
#include "api/volcano/cron_job.h"
#include "api/volcano/flow.h"
#include "api/volcano/hyper_node.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"

namespace gangway::api::volcano {
namespace {

constexpr PrinterColumn kJobColumns[] = {
    {"STATUS", "string", ".status.state.phase"}, {"minAvailable", "integer", ".status.minAvailable"},
    {"RUNNINGS", "integer", ".status.running"},  {"AGE", "date", ".metadata.creationTimestamp"},
    {"QUEUE", "string", ".spec.queue", 1},
};
constexpr PrinterColumn kPodGroupColumns[] = {
    {"STATUS", "string", ".status.phase"},      {"minMember", "integer", ".spec.minMember"},
    {"RUNNINGS", "integer", ".status.running"}, {"AGE", "date", ".metadata.creationTimestamp"},
    {"QUEUE", "string", ".spec.queue", 1},
};
constexpr PrinterColumn kQueueColumns[] = {
    {"PARENT", "string", ".spec.parent"},
    {"STATE", "string", ".status.state", 1},
    {"WEIGHT", "integer", ".spec.weight", 1},
    {"INQUEUE", "integer", ".status.inqueue", 1},
    {"PENDING", "integer", ".status.pending", 1},
    {"RUNNING", "integer", ".status.running", 1},
    {"AGE", "date", ".metadata.creationTimestamp", 1},
};
constexpr PrinterColumn kCommandColumns[] = {
    {"ACTION", "string", ".action"},
    {"TARGET", "string", ".target.name"},
    {"AGE", "date", ".metadata.creationTimestamp"},
};
constexpr PrinterColumn kJobFlowColumns[] = {
    {"Status", "string", ".status.state.phase"},
    {"Age", "date", ".metadata.creationTimestamp"},
};
// What an API server shows of a definition that names no columns.
constexpr PrinterColumn kJobTemplateColumns[] = {{"Age", "date", ".metadata.creationTimestamp"}};
constexpr PrinterColumn kCronJobColumns[] = {
    {"SCHEDULE", "string", ".spec.schedule"},       {"TIMEZONE", "string", ".spec.timeZone"},
    {"SUSPEND", "boolean", ".spec.suspend"},        {"LAST SCHEDULE", "date", ".status.lastScheduleTime"},
    {"AGE", "date", ".metadata.creationTimestamp"},
};
constexpr PrinterColumn kHyperNodeColumns[] = {
    {"Tier", "string", ".spec.tier"},
    {"TierName", "string", ".spec.tierName"},
    {"NodeCount", "integer", ".status.nodeCount"},
    {"Age", "date", ".metadata.creationTimestamp"},
};

constexpr std::string_view kNoJobs = "no job can be submitted";

constexpr KindRow kRows[] = {
    {.resource = &kJobs,
     .origin = Origin::kVolcano,
     .doc = "tasks of pods that start together or not at all, and what to do when they fail or finish",
     .table = &TypeOf<Job>(),
     .columns = kJobColumns,
     .status = true,
     .admission = &kJobAdmission,
     .unserved = kNoJobs},
    {.resource = &kPodGroups,
     .origin = Origin::kVolcano,
     .doc = "pods that are placed together or not at all",
     .table = &TypeOf<PodGroup>(),
     .columns = kPodGroupColumns,
     .admission = &kPodGroupAdmission,
     .unserved = kNoJobs},
    {.resource = &kQueues,
     .origin = Origin::kVolcano,
     .doc = "a share of the cluster that jobs wait for",
     .table = &TypeOf<Queue>(),
     .columns = kQueueColumns,
     .status = true,
     .admission = &kQueueAdmission,
     .unserved = kNoJobs},
    {.resource = &kCommands,
     .origin = Origin::kVolcano,
     .doc = "an order to a job or a queue; carried out at most once",
     .table = &TypeOf<Command>(),
     .columns = kCommandColumns,
     .unserved = kNoJobs},
    {.resource = &kJobFlows,
     .origin = Origin::kVolcano,
     .doc = "jobs that run one after the other",
     .table = &TypeOf<JobFlow>(),
     .columns = kJobFlowColumns,
     .status = true,
     .admission = &kJobFlowAdmission},
    {.resource = &kJobTemplates,
     .origin = Origin::kVolcano,
     .doc = "what the jobs of job flows are made from",
     .table = &TypeOf<JobTemplate>(),
     .columns = kJobTemplateColumns,
     .status = true,
     .admission = &kJobTemplateAdmission},
    {.resource = &kCronJobs,
     .origin = Origin::kVolcano,
     .doc = "a job that is made again and again, by the clock",
     .table = &TypeOf<CronJob>(),
     .columns = kCronJobColumns,
     .status = true,
     .admission = &kCronJobAdmission},
    {.resource = &kHyperNodes,
     .origin = Origin::kVolcano,
     .doc = "nodes that are close to each other in the network",
     .table = &TypeOf<HyperNode>(),
     .columns = kHyperNodeColumns,
     .status = true,
     .admission = &kHyperNodeAdmission},
};

}  // namespace

std::span<const KindRow> Kinds() { return kRows; }

}  // namespace gangway::api::volcano
