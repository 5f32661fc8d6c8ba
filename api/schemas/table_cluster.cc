#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cluster_resources.h"
#include "api/field_table.h"
#include "api/scheduling_resources.h"
#include "api/schemas/table.h"
#include "api/schemas/table_rows.h"

namespace gangway::schemas {
namespace {

namespace json = boost::json;

void CreatedAtCells(Look object, absl::Time, Cells& cells) {
  cells = {NameCell(object), TextCell(object["metadata"]["creationTimestamp"].text())};
}

void BindingCells(Look object, absl::Time now, Cells& cells) {
  std::vector<std::string> users, groups, accounts;
  for (const json::value& value : object["subjects"].list()) {
    const Look subject(&value);
    const absl::string_view kind = subject["kind"].text(), name = subject["name"].text();
    if (kind == "User") users.emplace_back(name);
    if (kind == "Group") groups.emplace_back(name);
    if (kind == "ServiceAccount") accounts.push_back(absl::StrCat(subject["namespace"].text(), "/", name));
  }
  cells = {NameCell(object),
           TextCell(absl::StrCat(object["roleRef"]["kind"].text(), "/", object["roleRef"]["name"].text())),
           AgeCell(object, now),
           TextCell(absl::StrJoin(users, ", ")),
           TextCell(absl::StrJoin(groups, ", ")),
           TextCell(absl::StrJoin(accounts, ", "))};
}

void WebhookCells(Look object, absl::Time now, Cells& cells) {
  cells = {NameCell(object), static_cast<std::int64_t>(object["webhooks"].size()), AgeCell(object, now)};
}

void StorageClassCells(Look object, absl::Time now, Cells& cells) {
  const bool standard =
      object["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"].text() == "true";
  cells = {TextCell(absl::StrCat(object["metadata"]["name"].text(), standard ? " (default)" : "")),
           TextCell(object["provisioner"].text()),
           TextCell(object["reclaimPolicy"].text_or("Delete")),
           TextCell(object["volumeBindingMode"].text_or("Immediate")),
           object["allowVolumeExpansion"].is_true(),
           AgeCell(object, now)};
}

void CsiDriverCells(Look object, absl::Time now, Cells& cells) {
  const Look spec = object["spec"];
  std::vector<std::string> modes, audiences;
  for (const json::value& mode : spec["volumeLifecycleModes"].list()) modes.emplace_back(Look(&mode).text());
  for (const json::value& request : spec["tokenRequests"].list())
    audiences.emplace_back(Look(&request)["audience"].text());
  cells = {NameCell(object),
           !spec["attachRequired"].present() || spec["attachRequired"].is_true(),
           spec["podInfoOnMount"].is_true(),
           spec["storageCapacity"].is_true(),
           TextCell(spec["tokenRequests"].present() ? absl::StrJoin(audiences, ",") : "<unset>"),
           spec["requiresRepublish"].is_true(),
           TextCell(modes.empty() ? "<none>" : absl::StrJoin(modes, ",")),
           AgeCell(object, now)};
}

void CsiNodeCells(Look object, absl::Time now, Cells& cells) {
  cells = {NameCell(object), static_cast<std::int64_t>(object["spec"]["drivers"].size()), AgeCell(object, now)};
}

void VolumeAttachmentCells(Look object, absl::Time now, Cells& cells) {
  const Look spec = object["spec"];
  cells = {NameCell(object),
           TextCell(spec["attacher"].text()),
           TextCell(spec["source"]["persistentVolumeName"].text()),
           TextCell(spec["nodeName"].text()),
           object["status"]["attached"].is_true(),
           AgeCell(object, now)};
}

void DaemonSetCells(Look object, absl::Time now, Cells& cells) {
  const Look status = object["status"];
  cells = {NameCell(object),
           status["desiredNumberScheduled"].number(),
           status["currentNumberScheduled"].number(),
           status["numberReady"].number(),
           status["updatedNumberScheduled"].number(),
           status["numberAvailable"].number(),
           TextCell(JoinMap(object["spec"]["template"]["spec"]["nodeSelector"], "<none>")),
           AgeCell(object, now),
           TextCell(JoinContainers(object, "name")),
           TextCell(JoinContainers(object, "image")),
           TextCell(JoinSelector(object["spec"]["selector"]))};
}

// printers.go: printJob
void BatchJobCells(Look object, absl::Time now, Cells& cells) {
  const Look spec = object["spec"], status = object["status"];
  std::string state = "Running";
  for (const json::value& value : status["conditions"].list()) {
    const Look condition(&value);
    const absl::string_view type = condition["type"].text();
    if (condition["status"].text() == "True" && (type == "Complete" || type == "Failed" || type == "Suspended"))
      state = std::string(type);
  }
  std::string completions = absl::StrCat(status["succeeded"].number(), "/");
  if (spec["completions"].present()) {
    absl::StrAppend(&completions, spec["completions"].number());
  } else {
    const std::int64_t parallelism = spec["parallelism"].number();
    absl::StrAppend(&completions, parallelism > 1 ? absl::StrCat("1 of ", parallelism) : "1");
  }
  std::string duration;
  if (status["startTime"].present()) {
    const auto ended = api::ParseTime(status["completionTime"].text());
    duration = Since(status["startTime"], ended.ok() ? *ended : now);
  }
  cells = {NameCell(object),
           TextCell(state),
           TextCell(completions),
           TextCell(duration),
           AgeCell(object, now),
           TextCell(JoinContainers(object, "name")),
           TextCell(JoinContainers(object, "image")),
           TextCell(JoinSelector(spec["selector"]))};
}

void BatchCronJobCells(Look object, absl::Time now, Cells& cells) {
  const Look spec = object["spec"], status = object["status"];
  const Look job = spec["jobTemplate"];
  cells = {NameCell(object),
           TextCell(spec["schedule"].text()),
           TextCell(spec["timeZone"].text_or("<none>")),
           TextCell(spec["suspend"].is_true() ? "True" : "False"),
           static_cast<std::int64_t>(status["active"].size()),
           TextCell(status["lastScheduleTime"].present() ? Since(status["lastScheduleTime"], now) : "<none>"),
           AgeCell(object, now),
           TextCell(JoinContainers(job, "name")),
           TextCell(JoinContainers(job, "image")),
           TextCell(job["spec"]["selector"].present() ? JoinSelector(job["spec"]["selector"]) : "<none>")};
}

void IngressCells(Look object, absl::Time now, Cells& cells) {
  std::vector<std::string> hosts, addresses;
  for (const json::value& value : object["spec"]["rules"].list()) {
    if (!Look(&value)["host"].text().empty()) hosts.emplace_back(Look(&value)["host"].text());
  }
  for (const json::value& value : object["status"]["loadBalancer"]["ingress"].list()) {
    const Look ingress(&value);
    addresses.emplace_back(ingress["ip"].text_or(ingress["hostname"].text()));
  }
  cells = {NameCell(object),
           TextCell(object["spec"]["ingressClassName"].text_or("<none>")),
           TextCell(hosts.empty() ? "*" : absl::StrJoin(hosts, ",")),
           TextCell(absl::StrJoin(addresses, ",")),
           TextCell(object["spec"]["tls"].size() > 0 ? "80, 443" : "80"),
           AgeCell(object, now)};
}

void IngressClassCells(Look object, absl::Time now, Cells& cells) {
  const Look parameters = object["spec"]["parameters"];
  std::string text = "<none>";
  if (parameters.present()) {
    const absl::string_view group = parameters["apiGroup"].text();
    text = absl::StrCat(parameters["kind"].text(), group.empty() ? "" : ".", group, "/", parameters["name"].text());
  }
  cells = {NameCell(object), TextCell(object["spec"]["controller"].text()), TextCell(text), AgeCell(object, now)};
}

std::string PodGroupStatusOf(Look group) {
  std::string status = "Pending";
  for (const json::value& value : group["status"]["conditions"].list()) {
    const Look condition(&value);
    if (condition["type"].text() == "DisruptionTarget") return std::string(condition["reason"].text());
    if (condition["type"].text() == "PodGroupScheduled")
      status = condition["status"].text() == "True" ? "Scheduled" : "Unschedulable";
  }
  return status;
}

void PodGroupCells(Look object, absl::Time now, Cells& cells) {
  const Look spec = object["spec"];
  cells = {NameCell(object), TextCell(spec["schedulingPolicy"]["gang"].present() ? "Gang" : "Basic"),
           TextCell(spec["podGroupTemplateRef"]["workload"]["workloadName"].text_or("<none>")),
           TextCell(PodGroupStatusOf(object)), AgeCell(object, now)};
}

void NameAndAgeCells(Look object, absl::Time now, Cells& cells) { cells = {NameCell(object), AgeCell(object, now)}; }

void ResourceClaimCells(Look object, absl::Time now, Cells& cells) {
  const bool deleted = object["metadata"]["deletionTimestamp"].present();
  std::vector<absl::string_view> states;
  if (deleted) states.push_back("deleted");
  if (object["status"]["allocation"].present()) {
    states.push_back("allocated");
    if (object["status"]["reservedFor"].size() > 0) states.push_back("reserved");
  } else if (!deleted) {
    states.push_back("pending");
  }
  cells = {NameCell(object), TextCell(absl::StrJoin(states, ",")), AgeCell(object, now)};
}

void ResourceSliceCells(Look object, absl::Time now, Cells& cells) {
  const Look spec = object["spec"];
  cells = {NameCell(object), TextCell(spec["nodeName"].text()), TextCell(spec["driver"].text()),
           TextCell(spec["pool"]["name"].text()), AgeCell(object, now)};
}

constexpr CoreTable kClusterTables[] = {
    {&api::kDaemonSets, DaemonSetCells,
     "Name|Desired#|Current#|Ready#|Up-to-date#|Available#|Node Selector|Age|Containers*|Images*|Selector*"},
    {&api::kBatchJobs, BatchJobCells, "Name|Status|Completions|Duration|Age|Containers*|Images*|Selector*"},
    {&api::kBatchCronJobs, BatchCronJobCells,
     "Name|Schedule|Timezone|Suspend?|Active#|Last Schedule|Age|Containers*|Images*|Selector*"},
    {&api::kIngresses, IngressCells, "Name|Class|Hosts|Address|Ports|Age"},
    {&api::kIngressClasses, IngressClassCells, "Name|Controller|Parameters|Age"},
    {&api::kRoles, CreatedAtCells, "Name|Created At@"},
    {&api::kClusterRoles, CreatedAtCells, "Name|Created At@"},
    {&api::kRoleBindings, BindingCells, "Name|Role|Age|Users*|Groups*|ServiceAccounts*"},
    {&api::kClusterRoleBindings, BindingCells, "Name|Role|Age|Users*|Groups*|ServiceAccounts*"},
    {&api::kStorageClasses, StorageClassCells,
     "Name|Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age"},
    {&api::kCsiDrivers, CsiDriverCells,
     "Name|AttachRequired?|PodInfoOnMount?|StorageCapacity?|TokenRequests|RequiresRepublish?|Modes|Age"},
    {&api::kCsiNodes, CsiNodeCells, "Name|Drivers#|Age"},
    {&api::kCsiStorageCapacities, CreatedAtCells, "Name|Created At@"},
    {&api::kVolumeAttachments, VolumeAttachmentCells, "Name|Attacher~|PV|Node|Attached?|Age"},
    {&api::kResourceClaims, ResourceClaimCells, "Name|State|Age"},
    {&api::kResourceClaimTemplates, NameAndAgeCells, "Name|Age"},
    {&api::kDeviceClasses, NameAndAgeCells, "Name|Age"},
    {&api::kResourceSlices, ResourceSliceCells, "Name|Node|Driver|Pool|Age"},
    {&api::kMutatingWebhookConfigurations, WebhookCells, "Name|Webhooks#|Age"},
    {&api::kValidatingWebhookConfigurations, WebhookCells, "Name|Webhooks#|Age"},
    {&api::kCustomResourceDefinitions, CreatedAtCells, "Name|Created At@"},
    {&api::kKubernetesPodGroups, PodGroupCells, "Name|Policy|Workload|Status|Age"},
    {&api::kWorkloads, NameAndAgeCells, "Name|Age"},
};

}  // namespace

std::span<const CoreTable> ClusterTables() { return kClusterTables; }

}  // namespace gangway::schemas
