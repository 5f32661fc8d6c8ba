#include "api/kinds/coscheduling_kinds.h"

#include "api/core/pod_groups.h"

namespace gangway::api {
namespace {

constexpr PrinterColumn kPodGroupColumns[] = {
    {"Phase", "string", ".status.phase"},      {"MinMember", "integer", ".spec.minMember"},
    {"Running", "integer", ".status.running"}, {"Succeeded", "integer", ".status.succeeded"},
    {"Failed", "integer", ".status.failed"},   {"Age", "date", ".metadata.creationTimestamp"},
};

constexpr KindRow kCoschedulingRows[] = {
    {.resource = &kCoschedulingPodGroups,
     .origin = Origin::kCoscheduling,
     .doc = "pods that the coscheduling plugin places together or not at all",
     .table = &TypeOf<core::CoschedulingPodGroup>(),
     .columns = kPodGroupColumns,
     .status = true,
     .on_request = true},
};

}  // namespace

std::span<const KindRow> CoschedulingKinds() { return kCoschedulingRows; }

}  // namespace gangway::api
