#include "api/schemas/table_rows.h"

#include <algorithm>

#include "absl/container/btree_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/field_table.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/schemas/column_path.h"
#include "api/schemas/table.h"
#include "base/check.h"
#include "base/strings.h"

namespace gangway::schemas {
namespace {

namespace json = boost::json;
using std::string_view;

Look Metadata(Look object) { return object["metadata"]; }
// Integers as such, "N/A" and percentages as text.
json::value IntOrTextCell(Look value, absl::string_view otherwise) {
  if (!value.present()) return TextCell(otherwise);
  return value.text().empty() ? TextCell(absl::StrCat(value.number())) : TextCell(value.text());
}

std::string AccessModes(Look modes) {
  constexpr std::pair<string_view, string_view> kShort[] = {
      {"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"}};
  std::vector<std::string> out;
  for (const auto& [mode, brief] : kShort) {
    for (const json::value& value : modes.list()) {
      if (Look(&value).text() == View(mode)) out.emplace_back(brief);
    }
  }
  return absl::StrJoin(out, ",");
}

void NamespaceCells(Look object, absl::Time now, Cells& cells) {
  cells = {NameCell(object), TextCell(object["status"]["phase"].text()), AgeCell(object, now)};
}

std::string NodeStatusText(Look node) {
  std::string status = "Unknown";
  for (const json::value& value : node["status"]["conditions"].list()) {
    const Look condition(&value);
    if (condition["type"].text() == "Ready") status = condition["status"].text() == "True" ? "Ready" : "NotReady";
  }
  if (node["spec"]["unschedulable"].is_true()) status += ",SchedulingDisabled";
  return status;
}

std::string NodeRoles(Look node) {
  std::vector<std::string> roles;
  for (const json::key_value_pair& label : Metadata(node)["labels"].map()) {
    absl::string_view key = api::AbslView(label.key());
    if (absl::ConsumePrefix(&key, "node-role.kubernetes.io/")) {
      if (!key.empty()) roles.emplace_back(key);
    } else if (key == "kubernetes.io/role" && !Look(&label.value()).text().empty()) {
      roles.emplace_back(Look(&label.value()).text());
    }
  }
  std::sort(roles.begin(), roles.end());
  roles.erase(std::unique(roles.begin(), roles.end()), roles.end());
  return roles.empty() ? "<none>" : absl::StrJoin(roles, ",");
}

std::string NodeAddress(Look node, absl::string_view type) {
  for (const json::value& value : node["status"]["addresses"].list()) {
    const Look address(&value);
    if (address["type"].text() == type) return std::string(address["address"].text());
  }
  return "<none>";
}

void NodeCells(Look object, absl::Time now, Cells& cells) {
  const Look info = object["status"]["nodeInfo"];
  cells = {NameCell(object),
           TextCell(NodeStatusText(object)),
           TextCell(NodeRoles(object)),
           AgeCell(object, now),
           TextCell(info["kubeletVersion"].text()),
           TextCell(NodeAddress(object, "InternalIP")),
           TextCell(NodeAddress(object, "ExternalIP")),
           TextCell(info["osImage"].text_or("<unknown>")),
           TextCell(info["kernelVersion"].text_or("<unknown>")),
           TextCell(info["containerRuntimeVersion"].text_or("<unknown>"))};
}

std::string ServiceExternal(Look service) {
  const Look spec = service["spec"];
  if (spec["type"].text() == "ExternalName") return std::string(spec["externalName"].text());
  std::vector<std::string> addresses;
  if (spec["type"].text() == "LoadBalancer") {
    for (const json::value& value : service["status"]["loadBalancer"]["ingress"].list()) {
      const Look ingress(&value);
      addresses.emplace_back(ingress["ip"].text_or(ingress["hostname"].text()));
    }
  }
  for (const json::value& ip : spec["externalIPs"].list()) addresses.emplace_back(Look(&ip).text());
  if (!addresses.empty()) return absl::StrJoin(addresses, ",");
  return spec["type"].text() == "LoadBalancer" ? "<pending>" : "<none>";
}

std::string ServicePorts(Look service) {
  std::vector<std::string> ports;
  for (const json::value& value : service["spec"]["ports"].list()) {
    const Look port(&value);
    const std::int64_t node_port = port["nodePort"].number();
    ports.push_back(absl::StrCat(port["port"].number(), node_port > 0 ? absl::StrCat(":", node_port) : "", "/",
                                 port["protocol"].text_or("TCP")));
  }
  return ports.empty() ? "<none>" : absl::StrJoin(ports, ",");
}

void ServiceCells(Look object, absl::Time now, Cells& cells) {
  const Look spec = object["spec"];
  cells = {NameCell(object),
           TextCell(spec["type"].text()),
           TextCell(spec["clusterIPs"].at(0).text_or(spec["clusterIP"].text_or("<none>"))),
           TextCell(ServiceExternal(object)),
           TextCell(ServicePorts(object)),
           AgeCell(object, now),
           TextCell(JoinMap(spec["selector"], "<none>"))};
}

void ConfigMapCells(Look object, absl::Time now, Cells& cells) {
  cells = {NameCell(object), static_cast<std::int64_t>(object["data"].size() + object["binaryData"].size()),
           AgeCell(object, now)};
}

void SecretCells(Look object, absl::Time now, Cells& cells) {
  cells = {NameCell(object), TextCell(object["type"].text()), static_cast<std::int64_t>(object["data"].size()),
           AgeCell(object, now)};
}

void EventCells(Look event, absl::Time now, Cells& cells) {
  const Look regarding = event["involvedObject"], series = event["series"];
  const std::string first =
      Since(event["firstTimestamp"].present() ? event["firstTimestamp"] : event["eventTime"], now);
  std::string last = event["lastTimestamp"].present() ? Since(event["lastTimestamp"], now) : first;
  std::int64_t count = event["count"].number() == 0 ? 1 : event["count"].number();
  if (series.present()) {
    last = Since(series["lastObservedTime"], now);
    count = series["count"].number();
  }
  std::string object = absl::AsciiStrToLower(regarding["kind"].text());
  if (!regarding["name"].text().empty()) absl::StrAppend(&object, "/", regarding["name"].text());
  const bool legacy = !event["source"]["component"].text().empty();
  std::string source(legacy ? event["source"]["component"].text() : event["reportingComponent"].text());
  const absl::string_view host = legacy ? event["source"]["host"].text() : event["reportingInstance"].text();
  if (!host.empty()) absl::StrAppend(&source, ", ", host);
  cells = {TextCell(last),
           TextCell(event["type"].text()),
           TextCell(event["reason"].text()),
           TextCell(object),
           TextCell(regarding["fieldPath"].text()),
           TextCell(source),
           TextCell(absl::StripAsciiWhitespace(event["message"].text())),
           TextCell(first),
           count,
           NameCell(event)};
}

void EndpointsCells(Look object, absl::Time now, Cells& cells) {
  std::vector<std::string> all;
  for (const json::value& value : object["subsets"].list()) {
    const Look subset(&value);
    for (const json::value& address : subset["addresses"].list()) {
      const absl::string_view ip = Look(&address)["ip"].text();
      if (subset["ports"].size() == 0) all.emplace_back(ip);
      for (const json::value& port : subset["ports"].list())
        all.push_back(absl::StrCat(ip, ":", Look(&port)["port"].number()));
    }
  }
  std::string text = all.empty()
                         ? "<none>"
                         : absl::StrJoin(all.begin(), all.begin() + std::min<std::ptrdiff_t>(3, std::ssize(all)), ",");
  if (all.size() > 3) absl::StrAppend(&text, " + ", all.size() - 3, " more...");
  cells = {NameCell(object), TextCell(text), AgeCell(object, now)};
}

void ServiceAccountCells(Look object, absl::Time now, Cells& cells) {
  cells = {NameCell(object), AgeCell(object, now)};
}

void PersistentVolumeCells(Look object, absl::Time now, Cells& cells) {
  const Look spec = object["spec"], claim = spec["claimRef"];
  const std::string claimed = claim.present() ? absl::StrCat(claim["namespace"].text(), "/", claim["name"].text()) : "";
  const bool deleting = Metadata(object)["deletionTimestamp"].present();
  cells = {NameCell(object),
           TextCell(spec["capacity"]["storage"].text()),
           TextCell(AccessModes(spec["accessModes"])),
           TextCell(spec["persistentVolumeReclaimPolicy"].text()),
           TextCell(deleting ? "Terminating" : object["status"]["phase"].text()),
           TextCell(claimed),
           TextCell(spec["storageClassName"].text()),
           TextCell(spec["volumeAttributesClassName"].text_or("<unset>")),
           TextCell(object["status"]["reason"].text()),
           AgeCell(object, now),
           TextCell(spec["volumeMode"].text_or("<unset>"))};
}

void PersistentVolumeClaimCells(Look object, absl::Time now, Cells& cells) {
  const Look spec = object["spec"], status = object["status"];
  const bool bound = !spec["volumeName"].text().empty();
  const bool deleting = Metadata(object)["deletionTimestamp"].present();
  cells = {NameCell(object),
           TextCell(deleting ? "Terminating" : status["phase"].text()),
           TextCell(spec["volumeName"].text()),
           TextCell(bound ? status["capacity"]["storage"].text() : ""),
           TextCell(bound ? AccessModes(status["accessModes"]) : ""),
           TextCell(spec["storageClassName"].text()),
           TextCell(spec["volumeAttributesClassName"].text_or("<unset>")),
           AgeCell(object, now),
           TextCell(spec["volumeMode"].text_or("<unset>"))};
}

void LimitRangeCells(Look object, absl::Time, Cells& cells) {
  cells = {NameCell(object), TextCell(Metadata(object)["creationTimestamp"].text())};
}

void ResourceQuotaCells(Look object, absl::Time now, Cells& cells) {
  absl::btree_map<std::string, std::string> requests, limits;
  for (const json::key_value_pair& hard : object["status"]["hard"].map()) {
    const absl::string_view name = api::AbslView(hard.key());
    const std::string text = absl::StrCat(object["status"]["used"][name].text(), "/", Look(&hard.value()).text());
    (absl::StartsWith(name, "limits") ? limits : requests).emplace(name, text);
  }
  cells = {NameCell(object), TextCell(absl::StrJoin(requests, ", ", absl::PairFormatter(": "))),
           TextCell(absl::StrJoin(limits, ", ", absl::PairFormatter(": "))), AgeCell(object, now)};
}

void LeaseCells(Look object, absl::Time now, Cells& cells) {
  cells = {NameCell(object), TextCell(object["spec"]["holderIdentity"].text()), AgeCell(object, now)};
}

void NetworkPolicyCells(Look object, absl::Time now, Cells& cells) {
  cells = {NameCell(object), TextCell(JoinSelector(object["spec"]["podSelector"])), AgeCell(object, now)};
}

void PodDisruptionBudgetCells(Look object, absl::Time now, Cells& cells) {
  cells = {NameCell(object), IntOrTextCell(object["spec"]["minAvailable"], "N/A"),
           IntOrTextCell(object["spec"]["maxUnavailable"], "N/A"), object["status"]["disruptionsAllowed"].number(),
           AgeCell(object, now)};
}

void PriorityClassCells(Look object, absl::Time now, Cells& cells) {
  cells = {NameCell(object), object["value"].number(), object["globalDefault"].is_true(), AgeCell(object, now),
           TextCell(object["preemptionPolicy"].text())};
}

std::int64_t Replicas(Look workload) { return workload["spec"]["replicas"].number(1); }

void DeploymentCells(Look object, absl::Time now, Cells& cells) {
  const Look status = object["status"];
  cells = {NameCell(object),
           TextCell(absl::StrCat(status["readyReplicas"].number(), "/", Replicas(object))),
           status["updatedReplicas"].number(),
           status["availableReplicas"].number(),
           AgeCell(object, now),
           TextCell(JoinContainers(object, "name")),
           TextCell(JoinContainers(object, "image")),
           TextCell(JoinSelector(object["spec"]["selector"]))};
}

void ReplicaSetCells(Look object, absl::Time now, Cells& cells) {
  const Look status = object["status"];
  cells = {NameCell(object),
           Replicas(object),
           status["replicas"].number(),
           status["readyReplicas"].number(),
           AgeCell(object, now),
           TextCell(JoinContainers(object, "name")),
           TextCell(JoinContainers(object, "image")),
           TextCell(JoinSelector(object["spec"]["selector"]))};
}

void StatefulSetCells(Look object, absl::Time now, Cells& cells) {
  cells = {NameCell(object), TextCell(absl::StrCat(object["status"]["readyReplicas"].number(), "/", Replicas(object))),
           AgeCell(object, now), TextCell(JoinContainers(object, "name")), TextCell(JoinContainers(object, "image"))};
}

constexpr CoreTable kCoreTables[] = {
    {&api::kPods, PodCells, "Name|Ready|Status|Restarts|Age|IP*|Node*|Nominated Node*|Readiness Gates*"},
    {&api::kNodes, NodeCells,
     "Name|Status|Roles|Age|Version|Internal-IP*|External-IP*|OS-Image*|Kernel-Version*|Container-Runtime*"},
    {&api::kNamespaces, NamespaceCells, "Name|Status|Age"},
    {&api::kServices, ServiceCells, "Name|Type|Cluster-IP|External-IP|Port(s)|Age|Selector*"},
    {&api::kConfigMaps, ConfigMapCells, "Name|Data|Age"},
    {&api::kSecrets, SecretCells, "Name|Type|Data|Age"},
    {&api::kEvents, EventCells, "Last Seen|Type|Reason|Object|Subobject*|Source*|Message|First Seen*|Count*|Name*"},
    {&api::kEndpoints, EndpointsCells, "Name|Endpoints|Age"},
    {&api::kServiceAccounts, ServiceAccountCells, "Name|Age"},
    {&api::kPersistentVolumes, PersistentVolumeCells,
     "Name|Capacity|Access Modes|Reclaim "
     "Policy|Status|Claim|StorageClass|VolumeAttributesClass|Reason|Age|VolumeMode*"},
    {&api::kPersistentVolumeClaims, PersistentVolumeClaimCells,
     "Name|Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age|VolumeMode*"},
    {&api::kLimitRanges, LimitRangeCells, "Name|Created At@"},
    {&api::kResourceQuotas, ResourceQuotaCells, "Name|Request|Limit|Age"},
    {&api::kLeases, LeaseCells, "Name|Holder|Age"},
    {&api::kNetworkPolicies, NetworkPolicyCells, "Name|Pod-Selector|Age"},
    {&api::kPodDisruptionBudgets, PodDisruptionBudgetCells,
     "Name|Min Available|Max Unavailable|Allowed Disruptions#|Age"},
    {&api::kPriorityClasses, PriorityClassCells, "Name|Value#|Global-Default?|Age|PreemptionPolicy"},
    {&api::kDeployments, DeploymentCells, "Name|Ready|Up-to-date|Available|Age|Containers*|Images*|Selector*"},
    {&api::kReplicaSets, ReplicaSetCells, "Name|Desired#|Current#|Ready#|Age|Containers*|Images*|Selector*"},
    {&api::kStatefulSets, StatefulSetCells, "Name|Ready|Age|Containers*|Images*"},
};

Column ParseColumn(absl::string_view text) {
  Column column;
  if (absl::ConsumeSuffix(&text, "*")) column.priority = 1;
  if (absl::ConsumeSuffix(&text, "#")) column.type = "integer";
  if (absl::ConsumeSuffix(&text, "?")) column.type = "boolean";
  if (absl::ConsumeSuffix(&text, "@")) column.type = "date";
  if (absl::ConsumeSuffix(&text, "~") || text == "Name") column.format = "name";
  column.name = StdView(text);
  return column;
}

}  // namespace

TableShape MakeShape(const api::Resource& resource) {
  TableShape shape;
  shape.resource = &resource;
  for (const std::span<const CoreTable> tables : {std::span<const CoreTable>(kCoreTables), ClusterTables()}) {
    for (const CoreTable& table : tables) {
      if (table.resource != &resource) continue;
      shape.cells = table.cells;
      for (const absl::string_view column : absl::StrSplit(View(table.columns), '|'))
        shape.columns.push_back(ParseColumn(column));
      return shape;
    }
  }
  shape.columns.push_back({"Name", "string", "name"});
  for (const api::PrinterColumn& column : api::RowOf(resource).columns) {
    shape.columns.push_back({column.name, column.type, {}, {}, column.priority});
  }
  return shape;
}

namespace {

// A custom resource's cell: what stands at the path, or nothing.
// apiextensions-apiserver: tableconvertor, cellForJSONValue
json::value CustomCell(const api::PrinterColumn& column, Look object, absl::Time now) {
  const std::optional<std::vector<PathStep>> path = ParseColumnPath(View(column.json_path));
  const json::value* const at =
      path.has_value() && object.value() != nullptr ? FindAlong(*path, *object.value()) : nullptr;
  if (at == nullptr || at->is_null()) return nullptr;
  if (column.type == "date") return TextCell(Since(Look(at), now));
  if (column.type == "string" && !at->is_string()) return TextCell(api::ToJson(*at));
  return *at;
}

}  // namespace

json::value NameCell(Look object) { return TextCell(Metadata(object)["name"].text()); }
json::value AgeCell(Look object, absl::Time now) { return TextCell(Since(Metadata(object)["creationTimestamp"], now)); }

std::string JoinMap(Look map, absl::string_view otherwise) {
  if (map.map().empty()) return std::string(otherwise);
  absl::btree_map<std::string, std::string> sorted;
  for (const json::key_value_pair& member : map.map()) {
    sorted.emplace(api::AbslView(member.key()), Look(&member.value()).text());
  }
  return absl::StrJoin(sorted, ",", absl::PairFormatter("="));
}

std::string JoinSelector(Look selector) {
  std::vector<std::string> parts;
  if (!selector["matchLabels"].map().empty()) parts.push_back(JoinMap(selector["matchLabels"], ""));
  for (const json::value& value : selector["matchExpressions"].list()) {
    const Look expression(&value);
    std::vector<std::string> values;
    for (const json::value& v : expression["values"].list()) values.emplace_back(Look(&v).text());
    std::sort(values.begin(), values.end());
    const absl::string_view key = expression["key"].text(), op = expression["operator"].text();
    if (op == "Exists") {
      parts.emplace_back(key);
    } else if (op == "DoesNotExist") {
      parts.push_back(absl::StrCat("!", key));
    } else {
      parts.push_back(absl::StrCat(key, op == "In" ? " in (" : " notin (", absl::StrJoin(values, ","), ")"));
    }
  }
  return parts.empty() ? "<none>" : absl::StrJoin(parts, ",");
}

std::string JoinContainers(Look workload, absl::string_view field) {
  std::vector<std::string> out;
  for (const json::value& container : workload["spec"]["template"]["spec"]["containers"].list()) {
    out.emplace_back(Look(&container)[field].text());
  }
  return absl::StrJoin(out, ",");
}

const TableShape& TableShapeOf(const api::Resource& resource) {
  GW_CHECK(resource.declared == nullptr);
  static const auto& shapes = *[] {
    auto* all = new absl::btree_map<const api::Resource*, TableShape>();
    for (const api::KindRow& kind : api::Kinds()) all->emplace(kind.resource, MakeShape(*kind.resource));
    return all;
  }();
  return shapes.at(&resource);
}

Cells CellsOf(const TableShape& shape, Look object, absl::Time now) {
  Cells cells;
  if (shape.cells != nullptr) {
    shape.cells(object, now, cells);
    return cells;
  }
  cells.push_back(NameCell(object));
  for (const api::PrinterColumn& column : api::RowOf(*shape.resource).columns) {
    cells.push_back(CustomCell(column, object, now));
  }
  return cells;
}

std::string Since(Look time, absl::Time now) {
  const absl::StatusOr<absl::Time> at = api::ParseTime(time.text());
  return at.ok() ? HumanDuration(now - *at) : "<unknown>";
}

}  // namespace gangway::schemas
