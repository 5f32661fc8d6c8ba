#include "plugin/extender/place_gang.h"

#include <arpa/inet.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "api/meta.h"
#include "api/name.h"
#include "api/quantity.h"
#include "base/status_macros.h"
#include "plugin/extender/field_path.h"
#include "plugin/gang/constraint/cordon.h"
#include "plugin/gang/constraint/node.h"
#include "plugin/gang/constraint/ports.h"
#include "plugin/gang/constraint/taints.h"
#include "plugin/gang/schedule.h"
#include "plugin/ingest/requests.h"
#include "plugin/model/cluster.h"
#include "plugin/model/reason.h"

namespace gangway::extender {
namespace {

using model::NamedAmounts;

// Names in the model: nobody sees them, so that a pod of the cluster and a member of the gang are never taken for each
// other.
constexpr char kGangNamespace[] = "gang", kQueueNamespace[] = "queue", kClusterNamespace[] = "cluster";
constexpr int kAskEvery = 1024;  // entries between two looks at whether the answer is still wanted

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

class Placing {
 public:
  Placing(const v1::PlaceGangRequest& request, const gang::Policy& policy, StillWanted still_wanted)
      : request_(request),
        policy_(policy),
        gang_(request.gang()),
        still_wanted_(still_wanted),
        queue_(gang_.queue().empty() ? "default" : gang_.queue()) {}

  absl::StatusOr<v1::PlaceGangResponse> Run() {
    GW_RETURN_IF_ERROR(CheckSize());
    GW_RETURN_IF_ERROR(AddQueues());
    GW_RETURN_IF_ERROR(AddNodes());
    GW_RETURN_IF_ERROR(AddTasks());
    GW_RETURN_IF_ERROR(AddPods());
    GW_RETURN_IF_ERROR(AddGang());
    GW_RETURN_IF_ERROR(still_wanted_());
    gang::Scratch scratch;
    const model::Decisions decisions = gang::Schedule(cluster_, policy_, absl::UnixEpoch(), scratch);
    GW_RETURN_IF_ERROR(still_wanted_());
    return Reply(decisions);
  }

 private:
  struct Member {
    int task = 0;
    int index = 0;
  };

  absl::Status CheckSize() const {
    if (!request_.has_gang()) return Wrong("gang", "is missing");
    if (gang_.name().empty()) return Wrong("gang.name", "must not be empty");
    if (gang_.tasks().empty()) return Wrong("gang.tasks", "must not be empty");
    const std::int64_t fits = std::int64_t{gang_.tasks_size()} * request_.cluster().nodes_size();
    if (fits > kMaxFits) {
      return Wrong("gang.tasks", absl::StrCat(gang_.tasks_size(), " tasks on ", request_.cluster().nodes_size(),
                                              " nodes are more than one call takes: ", "their product must be at most ",
                                              kMaxFits, "; put equal members into one task"));
    }
    return absl::OkStatus();
  }

  // Every kAskEvery entries.
  absl::Status Asked() { return ++entries_ % kAskEvery == 0 ? still_wanted_() : absl::OkStatus(); }

  absl::Status AddQueues() {
    const auto& queues = request_.cluster().queues();
    absl::flat_hash_set<absl::string_view> names;
    for (int i = 0; i < queues.size(); ++i) {
      GW_RETURN_IF_ERROR(Asked());
      const v1::Queue& queue = queues[i];
      const std::string path = At("cluster.queues", static_cast<std::size_t>(i));
      if (queue.name().empty()) return Wrong(path + ".name", "must not be empty");
      if (!names.insert(queue.name()).second)
        return Wrong(path + ".name", absl::StrCat(Quoted(queue.name()), " is there twice"));
      model::QueueFacts facts;
      facts.name = queue.name();
      facts.open = !queue.closed();
      GW_ASSIGN_OR_RETURN(facts.capability, Amounts(queue.capability(), path + ".capability"));
      cluster_.SetQueue(facts);
    }
    if (queues.empty()) {
      model::QueueFacts open;
      open.name = queue_;
      cluster_.SetQueue(open);
    }
    return absl::OkStatus();
  }

  absl::Status AddNodes() {
    const auto& nodes = request_.cluster().nodes();
    absl::flat_hash_set<absl::string_view> names;
    for (int i = 0; i < nodes.size(); ++i) {
      GW_RETURN_IF_ERROR(Asked());
      const v1::Node& node = nodes[i];
      const std::string path = At("cluster.nodes", static_cast<std::size_t>(i));
      if (node.name().empty()) return Wrong(path + ".name", "must not be empty");
      if (!names.insert(node.name()).second)
        return Wrong(path + ".name", absl::StrCat(Quoted(node.name()), " is there twice"));
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
      cluster_.SetNode(facts);
    }
    return absl::OkStatus();
  }

  absl::Status AddTasks() {
    std::int64_t members = 0;
    for (int t = 0; t < gang_.tasks_size(); ++t) {
      const v1::Task& task = gang_.tasks(t);
      const std::string path = At("gang.tasks", static_cast<std::size_t>(t));
      if (const api::Complaints complaints = api::CheckDns1123Label(task.name()); !complaints.empty()) {
        return Wrong(path + ".name", absl::StrCat(Quoted(task.name()), ": ", complaints.front()));
      }
      const std::int32_t replicas = task.has_replicas() ? task.replicas() : 1;
      if (replicas < 0) return Wrong(path + ".replicas", absl::StrCat(replicas, " must not be negative"));
      if (!members_by_task_.emplace(task.name(), replicas).second)
        return Wrong(path + ".name", absl::StrCat(Quoted(task.name()), " is there twice"));
      members += replicas;
      if (members > kMaxMembers)
        return Wrong(path + ".replicas",
                     absl::StrCat(members, " members are more than one call takes, which is ", kMaxMembers));
      GW_ASSIGN_OR_RETURN(const model::Wants wants, WantsOf(task, path));
      for (std::int32_t i = 0; i < replicas; ++i) {
        GW_RETURN_IF_ERROR(Asked());
        model::PodFacts facts;
        facts.ns = kGangNamespace;
        facts.name = absl::StrCat("wants/", task.name(), "/", i);
        facts.gang = gang_.name();
        facts.role = task.name();
        facts.index = i;
        facts.priority = task.priority();
        facts.wants = wants;
        members_[cluster_.SetPod(facts)] = {t, i};
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddPods() {
    const auto& pods = request_.cluster().pods();
    absl::flat_hash_set<std::string> names;
    for (int i = 0; i < pods.size(); ++i) {
      GW_RETURN_IF_ERROR(Asked());
      const v1::Pod& pod = pods[i];
      const std::string path = At("cluster.pods", static_cast<std::size_t>(i));
      if (pod.name().empty()) return Wrong(path + ".name", "must not be empty");
      if (pod.node().empty()) return Wrong(path + ".node", "must not be empty: list only pods that have a node");
      std::string name = absl::StrCat("has/", pod.namespace_(), "/", pod.name());
      if (!names.insert(name).second) return Wrong(path + ".name", absl::StrCat(Quoted(pod.name()), " is there twice"));
      model::PodFacts facts;
      facts.ns = pod.queue().empty() ? kClusterNamespace : kQueueNamespace;
      facts.gang = pod.queue();
      facts.name = std::move(name);
      facts.node = pod.node();
      facts.phase = model::PodPhase::kRunning;
      facts.role = pod.task();
      if (!pod.task().empty()) GW_RETURN_IF_ERROR(MakeMember(pod, path, facts));
      GW_ASSIGN_OR_RETURN(facts.wants.requests, Requests(pod.requests(), path + ".requests"));
      GW_ASSIGN_OR_RETURN(facts.wants.host_ports, HostPorts(pod.host_ports(), path + ".host_ports"));
      if (!pod.queue().empty() && queues_used_.insert(pod.queue()).second) UseQueue(pod.queue());
      cluster_.SetPod(facts);
    }
    return absl::OkStatus();
  }

  absl::Status MakeMember(const v1::Pod& pod, const std::string& path, model::PodFacts& facts) {
    const auto task = members_by_task_.find(pod.task());
    if (task == members_by_task_.end())
      return Wrong(path + ".task", absl::StrCat("the gang has no task ", Quoted(pod.task())));
    if (!pod.queue().empty())
      return Wrong(path + ".queue", "must be empty: a member of the gang is of the gang's queue");
    ++task->second;
    facts.ns = kGangNamespace;
    facts.gang = gang_.name();
    return absl::OkStatus();
  }

  // One gang per queue stands for those that its pods are of: it asks for nothing.
  void UseQueue(const std::string& queue) {
    model::GangFacts facts;
    facts.ns = kQueueNamespace;
    facts.name = facts.queue = queue;
    facts.phase = model::GangPhase::kRunning;
    cluster_.SetGang(facts);
  }

  absl::Status AddGang() {
    std::int64_t members = 0;
    for (const auto& [task, count] : members_by_task_) members += count;
    const std::int64_t minimum = gang_.has_min_member() ? gang_.min_member() : members;
    if (minimum < 0) return Wrong("gang.min_member", absl::StrCat(minimum, " must not be negative"));
    if (minimum > members)
      return Wrong("gang.min_member",
                   absl::StrCat(minimum, " exceeds the gang's ", members, members == 1 ? " member" : " members"));
    model::GangFacts facts;
    facts.ns = kGangNamespace;
    facts.name = gang_.name();
    facts.queue = queue_;
    facts.phase = model::GangPhase::kInqueue;
    facts.min_member = static_cast<int>(minimum);
    for (const std::string& task : SortedKeys(gang_.min_task_member())) {
      const std::int32_t of_task = gang_.min_task_member().at(task);
      const auto there = members_by_task_.find(task);
      if (there == members_by_task_.end())
        return Wrong(AtKey("gang.min_task_member", task), "the gang has no such task");
      if (of_task < 0)
        return Wrong(AtKey("gang.min_task_member", task), absl::StrCat(of_task, " must not be negative"));
      if (of_task > there->second)
        return Wrong(AtKey("gang.min_task_member", task), absl::StrCat(of_task, " exceeds the task's ", there->second));
      facts.min_task_member.emplace_back(task, of_task);
    }
    cluster_.SetGang(facts);
    return absl::OkStatus();
  }

  v1::PlaceGangResponse Reply(const model::Decisions& decisions) const {
    v1::PlaceGangResponse reply;
    reply.set_placed(true);  // a gang without a decision wants nothing more
    for (const model::Decision& decision : decisions) {
      if (cluster_.gang(decision.gang).ns != kGangNamespace) continue;
      reply.set_placed(!decision.short_of_minimum);
      std::map<std::pair<int, int>, model::Row> rows;
      for (const model::Placement& placement : decision.placements) {
        const Member& member = members_.at(placement.task);
        rows[{member.task, member.index}] = placement.row;
      }
      for (const auto& [member, row] : rows) {
        v1::Placement& placement = *reply.add_placements();
        placement.set_task(gang_.tasks(member.first).name());
        placement.set_index(member.second);
        placement.set_node(std::string(cluster_.node_name(row)));
      }
      if (decision.reason.has_value()) Explain(*decision.reason, *reply.mutable_reason());
    }
    return reply;
  }

  static void Explain(const model::Reason& from, v1::Reason& to) {
    to.set_kind(std::string(model::KindText(from.kind)));
    to.set_text(model::Render(from));
    to.set_missing(from.missing);
    to.set_min_member(from.min_member);
    to.set_existing(from.existing);
    to.set_subject(from.subject);
    for (const model::RoleReason& role : from.roles) {
      v1::TaskReason& task = *to.add_tasks();
      task.set_task(role.role);
      task.set_missing(role.missing);
      task.set_nodes(role.nodes);
      task.set_fit(role.fit);
      task.set_cordoned(role.HinderedBy(constraint::kCordon));
      task.set_selector(role.HinderedBy(constraint::kNode));
      task.set_tainted(role.HinderedBy(constraint::kTaints));
      task.set_ports(role.HinderedBy(constraint::kPorts));
      for (const model::Lack& lack : role.lacks) {
        v1::Lack& out = *task.add_lacks();
        out.set_resource(lack.dim);
        out.set_needed(model::AmountText(lack.dim, lack.needed));
        out.set_best_free(model::AmountText(lack.dim, lack.best_free));
        out.set_nodes(lack.nodes);
      }
    }
    for (const model::SumLack& sum : from.sums) {
      v1::SumLack& out = *to.add_sums();
      out.set_resource(sum.dim);
      out.set_needed(model::AmountText(sum.dim, sum.needed));
      out.set_limit(model::AmountText(sum.dim, sum.limit));
      out.set_in_use(model::AmountText(sum.dim, sum.in_use));
    }
  }

  const v1::PlaceGangRequest& request_;
  const gang::Policy& policy_;
  const v1::Gang& gang_;
  const StillWanted still_wanted_;
  const std::string queue_;
  model::Cluster cluster_;
  int entries_ = 0;
  std::map<std::string, std::int32_t> members_by_task_;  // placed ones included
  absl::flat_hash_map<model::TaskId, Member> members_;   // that want a node
  absl::flat_hash_set<std::string> queues_used_;
};

}  // namespace

absl::StatusOr<v1::PlaceGangResponse> PlaceGang(const v1::PlaceGangRequest& request, const gang::Policy& policy,
                                                StillWanted still_wanted) {
  return Placing(request, policy, still_wanted).Run();
}

}  // namespace gangway::extender
