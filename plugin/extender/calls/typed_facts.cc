#include "plugin/extender/calls/typed_facts.h"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/meta.h"
#include "api/name.h"
#include "api/quantity.h"
#include "base/counted.h"
#include "base/status_macros.h"
#include "plugin/extender/calls/field_path.h"
#include "plugin/extender/calls/object_facts.h"
#include "plugin/ingest/ingest.h"
#include "plugin/ingest/requests.h"

namespace gangway::extender {
namespace {

using model::NamedAmounts;

constexpr int kAskEvery = 1024;  // members between two looks at whether the answer is still wanted

template <class Map>
std::vector<std::string> SortedKeys(const Map& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

// By name, so that the first complaint is always the same.
template <class Map>
absl::StatusOr<NamedAmounts> Amounts(const Map& quantities, const std::string& path,
                                     std::int64_t most = model::kMaxAmount) {
  api::ResourceList list;
  for (const std::string& name : SortedKeys(quantities)) {
    if (name.empty()) return Wrong(path, "a resource has no name");
    const std::string& text = quantities.at(name);
    const absl::StatusOr<api::Quantity> quantity = api::Quantity::Parse(text);
    if (!quantity.ok())
      return Wrong(AtKey(path, name), absl::StrCat(Quoted(text), " is no quantity; write 500m, 2 or 1.5Gi"));
    if (quantity->negative()) return Wrong(AtKey(path, name), absl::StrCat(Quoted(text), " must not be negative"));
    list.emplace(name, *quantity);
  }
  return ingest::ToAmounts(list, most);
}

// Each pod takes one of "pods", whatever the request says.
template <class Map>
absl::StatusOr<NamedAmounts> Requests(const Map& quantities, const std::string& path) {
  GW_ASSIGN_OR_RETURN(NamedAmounts amounts, Amounts(quantities, path));
  std::erase_if(amounts, [](const auto& entry) { return entry.first == "pods"; });
  amounts.emplace_back("pods", 1);
  return amounts;
}

absl::StatusOr<model::TaintEffect> EffectOf(const std::string& text, const std::string& path) {
  if (text == "NoSchedule") return model::TaintEffect::kNoSchedule;
  if (text == "PreferNoSchedule") return model::TaintEffect::kPreferNoSchedule;
  if (text == "NoExecute") return model::TaintEffect::kNoExecute;
  return Wrong(path, absl::StrCat(Quoted(text), " is no effect; one of NoSchedule, PreferNoSchedule, NoExecute"));
}

template <class Ports>
absl::StatusOr<std::vector<model::HostPortFacts>> HostPorts(const Ports& ports, const std::string& path) {
  std::vector<model::HostPortFacts> facts;
  for (int i = 0; i < ports.size(); ++i) {
    const v1::HostPort& port = ports[i];
    const auto here = [&] { return At(path, static_cast<std::size_t>(i)); };
    if (port.port() < 1 || port.port() > 65535)
      return Wrong(here() + ".port", absl::StrCat(port.port(), " must be 1 to 65535"));
    const std::string protocol = port.protocol().empty() ? "TCP" : port.protocol();
    if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP") {
      return Wrong(here() + ".protocol", absl::StrCat(Quoted(protocol), " is no protocol; one of TCP, UDP, SCTP"));
    }
    in6_addr address;
    if (!port.ip().empty() && inet_pton(AF_INET, port.ip().c_str(), &address) != 1 &&
        inet_pton(AF_INET6, port.ip().c_str(), &address) != 1) {
      return Wrong(here() + ".ip", absl::StrCat(Quoted(port.ip()), " is no IP address"));
    }
    facts.push_back({protocol, port.ip(), port.port()});
  }
  return facts;
}

absl::StatusOr<model::Op> OpOf(const v1::Requirement& requirement, const std::string& path) {
  const std::string& text = requirement.operator_();
  const int values = requirement.values_size();
  const auto wrong = [&](absl::string_view what) {
    return Wrong(path + ".values", absl::StrCat(text, " needs ", what));
  };
  if (text == "In" || text == "NotIn") {
    if (values == 0) return wrong("at least one");
    return text == "In" ? model::Op::kIn : model::Op::kNotIn;
  }
  if (text == "Exists" || text == "DoesNotExist") {
    if (values != 0) return wrong("none");
    return text == "Exists" ? model::Op::kExists : model::Op::kDoesNotExist;
  }
  if (text == "Gt" || text == "Lt") {
    std::int64_t number = 0;
    if (values != 1 || !absl::SimpleAtoi(requirement.values(0), &number)) return wrong("one whole number");
    return text == "Gt" ? model::Op::kGt : model::Op::kLt;
  }
  return Wrong(path + ".operator",
               absl::StrCat(Quoted(text), " is no operator; one of In, NotIn, Exists, DoesNotExist, Gt, Lt"));
}

absl::StatusOr<model::TermFacts> TermOf(const v1::NodeSelectorTerm& term, const std::string& path) {
  model::TermFacts facts;
  for (int i = 0; i < term.match_expressions_size(); ++i) {
    const v1::Requirement& requirement = term.match_expressions(i);
    const std::string here = At(path + ".match_expressions", static_cast<std::size_t>(i));
    if (requirement.key().empty()) return Wrong(here + ".key", "must not be empty");
    GW_ASSIGN_OR_RETURN(const model::Op op, OpOf(requirement, here));
    facts.push_back({requirement.key(), op, {requirement.values().begin(), requirement.values().end()}});
  }
  for (int i = 0; i < term.match_fields_size(); ++i) {
    const v1::Requirement& requirement = term.match_fields(i);
    const std::string here = At(path + ".match_fields", static_cast<std::size_t>(i));
    if (requirement.key() != "metadata.name")
      return Wrong(here + ".key", absl::StrCat(Quoted(requirement.key()), ": only metadata.name is known"));
    GW_ASSIGN_OR_RETURN(const model::Op op, OpOf(requirement, here));
    facts.push_back({"", op, {requirement.values().begin(), requirement.values().end()}});
  }
  return facts;
}

absl::Status AddAffinity(const v1::NodeAffinity& affinity, const std::string& path, model::Wants& wants) {
  wants.has_affinity = affinity.has_required();
  for (int i = 0; i < affinity.required().terms_size(); ++i) {
    GW_ASSIGN_OR_RETURN(model::TermFacts term, TermOf(affinity.required().terms(i),
                                                      At(path + ".required.terms", static_cast<std::size_t>(i))));
    wants.affinity.push_back(std::move(term));
  }
  for (int i = 0; i < affinity.preferred_size(); ++i) {
    const v1::PreferredTerm& preferred = affinity.preferred(i);
    const std::string here = At(path + ".preferred", static_cast<std::size_t>(i));
    if (preferred.weight() < 1 || preferred.weight() > 100)
      return Wrong(here + ".weight", absl::StrCat(preferred.weight(), " must be 1 to 100"));
    GW_ASSIGN_OR_RETURN(model::TermFacts term, TermOf(preferred.term(), here + ".term"));
    wants.preferences.push_back({preferred.weight(), std::move(term)});
  }
  return absl::OkStatus();
}

absl::Status AddTolerations(const v1::Task& task, const std::string& path, model::Wants& wants) {
  for (int i = 0; i < task.tolerations_size(); ++i) {
    const v1::Toleration& toleration = task.tolerations(i);
    const std::string here = At(path, static_cast<std::size_t>(i));
    const bool exists = toleration.operator_() == "Exists";
    if (!exists && !toleration.operator_().empty() && toleration.operator_() != "Equal") {
      return Wrong(here + ".operator",
                   absl::StrCat(Quoted(toleration.operator_()), " is no operator; one of Equal, Exists"));
    }
    if (exists && !toleration.value().empty()) return Wrong(here + ".value", "must be empty with Exists");
    if (!exists && toleration.key().empty()) return Wrong(here + ".key", "must not be empty without Exists");
    if (!toleration.effect().empty()) GW_RETURN_IF_ERROR(EffectOf(toleration.effect(), here + ".effect").status());
    wants.tolerations.push_back({toleration.key(), toleration.value(), toleration.effect(), exists});
  }
  return absl::OkStatus();
}

absl::StatusOr<model::Wants> WantsOf(const v1::Task& task, const std::string& path) {
  model::Wants wants;
  GW_ASSIGN_OR_RETURN(wants.requests, Requests(task.requests(), path + ".requests"));
  for (const std::string& key : SortedKeys(task.node_selector()))
    wants.selector.emplace_back(key, task.node_selector().at(key));
  if (task.has_node_affinity()) GW_RETURN_IF_ERROR(AddAffinity(task.node_affinity(), path + ".node_affinity", wants));
  GW_RETURN_IF_ERROR(AddTolerations(task, path + ".tolerations", wants));
  GW_ASSIGN_OR_RETURN(wants.host_ports, HostPorts(task.host_ports(), path + ".host_ports"));
  return wants;
}

// What a template says in a pod's own words must not be said twice.
absl::Status CheckOnlyTemplate(const v1::Task& task, const std::string& path) {
  const auto both = [&](bool said, absl::string_view field) {
    return said ? Wrong(absl::StrCat(path, ".", field), "must be empty beside template, which says it")
                : absl::OkStatus();
  };
  GW_RETURN_IF_ERROR(both(!task.requests().empty(), "requests"));
  GW_RETURN_IF_ERROR(both(!task.node_selector().empty(), "node_selector"));
  GW_RETURN_IF_ERROR(both(task.has_node_affinity(), "node_affinity"));
  GW_RETURN_IF_ERROR(both(!task.tolerations().empty(), "tolerations"));
  GW_RETURN_IF_ERROR(both(!task.host_ports().empty(), "host_ports"));
  return both(task.priority() != 0, "priority");
}

void SetLabel(model::PodFacts& facts, absl::string_view key, std::string value) {
  const auto it = std::find_if(facts.labels.begin(), facts.labels.end(), [&](const auto& l) { return l.first == key; });
  if (it == facts.labels.end()) {
    facts.labels.emplace_back(std::string(key), std::move(value));
  } else {
    it->second = std::move(value);
  }
}

// One member of a task; `template_of`: its template, if it has one.
struct MemberMaker {
  const v1::Gang& gang;
  const v1::Task& task;
  const std::string ns;
  std::optional<PodTemplate> of;
  model::PodFacts first = {};

  model::PodFacts Make(int index) const {
    model::PodFacts facts = first;
    // A claim that is made with the pod is another for each.
    if (of.has_value() && !first.wants.made_claims.empty()) facts = of->FactsFor(ns, PodName(index));
    facts.ns = ns;
    facts.name = MemberName(gang.name(), task.name(), index);
    facts.uid = absl::StrCat(ns, "/", facts.name);
    facts.gang = gang.name();
    facts.gang_kind = model::GangKind::kVolcano;
    facts.role = task.name();
    facts.index = index;
    if (task.partition_size() > 0) {
      SetLabel(facts, ingest::kTaskAnnotation, task.name());
      SetLabel(facts, ingest::kPartitionLabel, absl::StrCat(index / task.partition_size()));
    }
    return facts;
  }
  std::string PodName(int index) const { return absl::StrCat(gang.name(), "-", task.name(), "-", index); }
};

absl::StatusOr<MemberMaker> MakerOf(const v1::Gang& gang, const v1::Task& task, const std::string& path) {
  MemberMaker maker{gang, task, NamespaceOf(gang), std::nullopt};
  if (task.partition_size() < 0)
    return Wrong(path + ".partition_size", absl::StrCat(task.partition_size(), " must not be negative"));
  if (task.template_().empty()) {
    maker.first.priority = task.priority();
    GW_ASSIGN_OR_RETURN(maker.first.wants, WantsOf(task, path));
    return maker;
  }
  GW_RETURN_IF_ERROR(CheckOnlyTemplate(task, path));
  GW_ASSIGN_OR_RETURN(maker.of, PodTemplate::Read(task.template_(), path + ".template"));
  maker.first = maker.of->FactsFor(maker.ns, maker.PodName(0));
  return maker;
}

absl::Status CheckOnlyPodGroup(const v1::Gang& gang, const std::string& path) {
  const auto both = [&](bool said, absl::string_view field) {
    return said ? Wrong(absl::StrCat(path, ".", field), "must be empty beside pod_group, which says it")
                : absl::OkStatus();
  };
  GW_RETURN_IF_ERROR(both(gang.has_min_member(), "min_member"));
  GW_RETURN_IF_ERROR(both(!gang.min_task_member().empty(), "min_task_member"));
  GW_RETURN_IF_ERROR(both(!gang.queue().empty(), "queue"));
  return both(!gang.priority_class().empty(), "priority_class");
}

absl::StatusOr<model::GangFacts> FromPodGroup(const v1::Gang& gang, const std::string& path) {
  GW_RETURN_IF_ERROR(CheckOnlyPodGroup(gang, path));
  const std::string here = path + ".pod_group";
  GW_ASSIGN_OR_RETURN(model::GangFacts facts, PodGroupFactsOf(gang.pod_group(), here));
  if (!facts.name.empty() && facts.name != gang.name())
    return Wrong(here + ".metadata.name", absl::StrCat(Quoted(facts.name), " is not the gang's name"));
  if (!facts.ns.empty() && facts.ns != NamespaceOf(gang))
    return Wrong(here + ".metadata.namespace", absl::StrCat(Quoted(facts.ns), " is not the gang's namespace"));
  facts.name = gang.name();
  facts.ns = NamespaceOf(gang);
  return facts;
}

}  // namespace

absl::StatusOr<model::NodeFacts> NodeFactsOf(const v1::Node& node, const std::string& path) {
  if (node.name().empty()) return Wrong(path + ".name", "must not be empty");
  model::NodeFacts facts;
  facts.name = node.name();
  GW_ASSIGN_OR_RETURN(facts.allocatable, Amounts(node.allocatable(), path + ".allocatable", model::kMaxAmount - 1));
  for (const std::string& key : SortedKeys(node.labels())) facts.labels.emplace_back(key, node.labels().at(key));
  for (int t = 0; t < node.taints_size(); ++t) {
    const std::string here = At(path + ".taints", static_cast<std::size_t>(t));
    if (node.taints(t).key().empty()) return Wrong(here + ".key", "must not be empty");
    GW_ASSIGN_OR_RETURN(const model::TaintEffect effect, EffectOf(node.taints(t).effect(), here + ".effect"));
    facts.taints.push_back({node.taints(t).key(), node.taints(t).value(), effect});
  }
  facts.unschedulable = node.unschedulable();
  return facts;
}

absl::StatusOr<model::QueueFacts> QueueFactsOf(const v1::Queue& queue, const std::string& path) {
  if (queue.name().empty()) return Wrong(path + ".name", "must not be empty");
  model::QueueFacts facts;
  facts.name = queue.name();
  facts.open = !queue.closed();
  facts.parent = queue.parent();
  if (queue.parent() == queue.name()) return Wrong(path + ".parent", "a queue is not below itself");
  if (queue.has_weight()) facts.weight = queue.weight();
  if (facts.weight < 1) return Wrong(path + ".weight", absl::StrCat(facts.weight, " must be at least 1"));
  facts.priority = queue.priority();
  if (queue.has_reclaimable()) facts.reclaimable = queue.reclaimable();
  GW_ASSIGN_OR_RETURN(facts.capability, Amounts(queue.capability(), path + ".capability"));
  GW_ASSIGN_OR_RETURN(facts.guarantee, Amounts(queue.guarantee(), path + ".guarantee"));
  GW_ASSIGN_OR_RETURN(facts.deserved, Amounts(queue.deserved(), path + ".deserved"));
  return facts;
}

absl::StatusOr<model::PodFacts> PodFactsOf(const v1::Pod& pod, const std::string& gang, const std::string& path) {
  if (pod.name().empty()) return Wrong(path + ".name", "must not be empty");
  if (absl::StrContains(pod.name(), '/'))
    return Wrong(path + ".name", absl::StrCat(Quoted(pod.name()), " must not contain a slash"));
  if (pod.node().empty()) return Wrong(path + ".node", "must not be empty: list only pods that have a node");
  model::PodFacts facts;
  facts.ns = pod.namespace_().empty() ? kDefaultNamespace : pod.namespace_();
  facts.name = pod.name();
  facts.uid = absl::StrCat(facts.ns, "/", facts.name);
  facts.node = pod.node();
  facts.phase = model::PodPhase::kRunning;
  facts.role = pod.task();
  facts.gang = pod.task().empty() ? (pod.queue().empty() ? "" : GangOfQueue(facts.ns, pod.queue()).name) : gang;
  if (!pod.task().empty() && !pod.queue().empty())
    return Wrong(path + ".queue", "must be empty: a member of the gang is of the gang's queue");
  if (pod.task().empty() && !pod.gang().empty()) return Wrong(path + ".task", "must not be empty beside gang");
  GW_ASSIGN_OR_RETURN(facts.wants.requests, Requests(pod.requests(), path + ".requests"));
  GW_ASSIGN_OR_RETURN(facts.wants.host_ports, HostPorts(pod.host_ports(), path + ".host_ports"));
  for (const std::string& key : SortedKeys(pod.labels())) facts.labels.emplace_back(key, pod.labels().at(key));
  return facts;
}

model::GangFacts GangOfQueue(const std::string& ns, const std::string& queue) {
  model::GangFacts facts;
  facts.ns = ns;
  facts.name = absl::StrCat("queue/", queue);
  facts.queue = queue;
  facts.phase = model::GangPhase::kRunning;
  return facts;
}

std::string NamespaceOf(const v1::Gang& gang) {
  return gang.namespace_().empty() ? kDefaultNamespace : gang.namespace_();
}

std::string MemberName(const std::string& gang, const std::string& task, int index) {
  return absl::StrCat(gang, "/", task, "/", index);
}

bool IsMemberName(absl::string_view name) { return absl::StrContains(name, '/'); }

absl::StatusOr<std::vector<model::PodFacts>> MembersOf(const v1::Gang& gang, const std::string& path,
                                                       std::int64_t& bytes, StillWanted still_wanted) {
  std::vector<model::PodFacts> members;
  std::map<std::string, int> names;
  std::int64_t count = 0;
  for (int t = 0; t < gang.tasks_size(); ++t) {
    const v1::Task& task = gang.tasks(t);
    const std::string here = At(path + ".tasks", static_cast<std::size_t>(t));
    if (const api::Complaints complaints = api::CheckDns1123Label(task.name()); !complaints.empty())
      return Wrong(here + ".name", absl::StrCat(Quoted(task.name()), ": ", complaints.front()));
    const std::int32_t replicas = task.has_replicas() ? task.replicas() : 1;
    if (replicas < 0) return Wrong(here + ".replicas", absl::StrCat(replicas, " must not be negative"));
    if (!names.emplace(task.name(), replicas).second)
      return Wrong(here + ".name", absl::StrCat(Quoted(task.name()), " is there twice"));
    count += replicas;
    if (count > kMaxMembers)
      return Wrong(here + ".replicas",
                   absl::StrCat(count, " members are more than one call takes, which is ", kMaxMembers));
    bytes += static_cast<std::int64_t>(task.ByteSizeLong()) * replicas;
    if (bytes > kMaxMemberBytes)
      return Wrong(here, absl::StrCat("takes ", task.ByteSizeLong(), " bytes, and each of its ", replicas,
                                      " members has a copy: with the tasks before it ", bytes,
                                      " bytes, and one call takes ", kMaxMemberBytes));
    GW_ASSIGN_OR_RETURN(const MemberMaker maker, MakerOf(gang, task, here));
    members.reserve(members.size() + static_cast<std::size_t>(replicas));
    for (std::int32_t i = 0; i < replicas; ++i) {
      if (members.size() % kAskEvery == kAskEvery - 1) GW_RETURN_IF_ERROR(still_wanted());
      members.push_back(maker.Make(i));
    }
  }
  return members;
}

absl::StatusOr<model::GangFacts> GangFactsOf(const v1::Gang& gang, const std::map<std::string, std::int32_t>* members,
                                             const std::string& path) {
  if (!gang.pod_group().empty()) return FromPodGroup(gang, path);
  std::int64_t count = 0;
  for (const v1::Task& task : gang.tasks()) count += task.has_replicas() ? task.replicas() : 1;
  if (members != nullptr) {
    count = 0;
    for (const auto& [task, of_task] : *members) count += of_task;
  }
  const std::int64_t minimum = gang.has_min_member() ? gang.min_member() : count;
  if (minimum < 0) return Wrong(path + ".min_member", absl::StrCat(minimum, " must not be negative"));
  if (members != nullptr && minimum > count)
    return Wrong(path + ".min_member", absl::StrCat(minimum, " exceeds the gang's ", Counted(count, "member")));
  model::GangFacts facts;
  facts.ns = NamespaceOf(gang);
  facts.name = gang.name();
  facts.queue = gang.queue().empty() ? "default" : gang.queue();
  facts.priority_class = gang.priority_class();
  facts.phase = model::GangPhase::kInqueue;
  facts.min_member = static_cast<int>(minimum);
  for (const std::string& task : SortedKeys(gang.min_task_member())) {
    const std::int32_t of_task = gang.min_task_member().at(task);
    const std::string here = AtKey(path + ".min_task_member", task);
    const bool known = std::any_of(gang.tasks().begin(), gang.tasks().end(),
                                   [&](const v1::Task& each) { return each.name() == task; });
    if (!known) return Wrong(here, "the gang has no such task");
    if (of_task < 0) return Wrong(here, absl::StrCat(of_task, " must not be negative"));
    if (members != nullptr && of_task > members->at(task))
      return Wrong(here, absl::StrCat(of_task, " exceeds the task's ", members->at(task)));
    facts.min_task_member.emplace_back(task, of_task);
  }
  return facts;
}

absl::StatusOr<absl::Time> TimeOf(const google::protobuf::Timestamp& time, const std::string& path) {
  // protobuf: timestamp.proto, years 1 to 9999
  if (time.seconds() < -62135596800 || time.seconds() > 253402300799 || time.nanos() < 0 || time.nanos() > 999999999)
    return Wrong(path, "is no time between the years 1 and 9999");
  return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
}

}  // namespace gangway::extender
