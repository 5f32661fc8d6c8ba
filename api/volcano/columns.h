// What `kubectl get` prints of Volcano's types: the CRDs' additionalPrinterColumns, after the name (spec: volcano-job 1.1).
#pragma once

#include <array>
#include <span>

#include "api/printer_column.h"
#include "api/resource.h"

namespace gangway::api::volcano {

inline constexpr std::array kJobColumns{
    PrinterColumn{"STATUS", "string", ".status.state.phase"},
    PrinterColumn{"minAvailable", "integer", ".status.minAvailable"},
    PrinterColumn{"RUNNINGS", "integer", ".status.running"},
    PrinterColumn{"AGE", "date", ".metadata.creationTimestamp"},
    PrinterColumn{"QUEUE", "string", ".spec.queue", 1},
};
inline constexpr std::array kPodGroupColumns{
    PrinterColumn{"STATUS", "string", ".status.phase"},
    PrinterColumn{"minMember", "integer", ".spec.minMember"},
    PrinterColumn{"RUNNINGS", "integer", ".status.running"},
    PrinterColumn{"AGE", "date", ".metadata.creationTimestamp"},
    PrinterColumn{"QUEUE", "string", ".spec.queue", 1},
};
inline constexpr std::array kQueueColumns{
    PrinterColumn{"PARENT", "string", ".spec.parent"},
    PrinterColumn{"STATE", "string", ".status.state", 1},
    PrinterColumn{"WEIGHT", "integer", ".spec.weight", 1},
    PrinterColumn{"INQUEUE", "integer", ".status.inqueue", 1},
    PrinterColumn{"PENDING", "integer", ".status.pending", 1},
    PrinterColumn{"RUNNING", "integer", ".status.running", 1},
    PrinterColumn{"AGE", "date", ".metadata.creationTimestamp", 1},
};
inline constexpr std::array kCommandColumns{
    PrinterColumn{"ACTION", "string", ".action"},
    PrinterColumn{"TARGET", "string", ".target.name"},
    PrinterColumn{"AGE", "date", ".metadata.creationTimestamp"},
};
inline constexpr std::array kJobFlowColumns{
    PrinterColumn{"Status", "string", ".status.state.phase"},
    PrinterColumn{"Age", "date", ".metadata.creationTimestamp"},
};
// What an API server shows of a definition that names no columns.
inline constexpr std::array kJobTemplateColumns{PrinterColumn{"Age", "date", ".metadata.creationTimestamp"}};
inline constexpr std::array kCronJobColumns{
    PrinterColumn{"SCHEDULE", "string", ".spec.schedule"},
    PrinterColumn{"TIMEZONE", "string", ".spec.timeZone"},
    PrinterColumn{"SUSPEND", "boolean", ".spec.suspend"},
    PrinterColumn{"LAST SCHEDULE", "date", ".status.lastScheduleTime"},
    PrinterColumn{"AGE", "date", ".metadata.creationTimestamp"},
};

// Empty for resources that are not Volcano's.
inline std::span<const PrinterColumn> ColumnsOf(const Resource& resource) {
  if (&resource == &kJobs) return kJobColumns;
  if (&resource == &kPodGroups) return kPodGroupColumns;
  if (&resource == &kQueues) return kQueueColumns;
  if (&resource == &kCommands) return kCommandColumns;
  if (&resource == &kJobFlows) return kJobFlowColumns;
  if (&resource == &kJobTemplates) return kJobTemplateColumns;
  if (&resource == &kCronJobs) return kCronJobColumns;
  return {};
}

}  // namespace gangway::api::volcano
