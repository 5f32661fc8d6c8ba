#include "plugin/extender/calls/request_facts.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "plugin/extender/calls/field_path.h"
#include "plugin/extender/calls/object_facts.h"
#include "plugin/extender/calls/typed_facts.h"
#include "plugin/model/cluster.h"

namespace gangway::extender {
namespace {

constexpr int kEntriesBetweenLooks = 1024;  // at whether the answer is still wanted

bool WantsNode(const model::PodFacts& pod) {
  return pod.node.empty() && pod.phase == model::PodPhase::kPending && !pod.terminating;
}

absl::Status TooManyFits(absl::string_view field, std::int64_t kinds, absl::string_view of, std::int64_t nodes) {
  return Wrong(std::string(field),
               absl::StrCat(kinds, " ", of, " on ", nodes, " nodes are more than one call takes: ",
                            "their product must be at most ", kMaxFits, "; put equal members into one task"));
}

// Nodes have a number for each resource that anybody names.
absl::Status CheckAmounts(const explain::ClusterFacts& facts, std::int64_t more_nodes) {
  absl::flat_hash_set<absl::string_view> names, nodes;
  const auto take = [&](const auto& all) {
    for (const auto& each : all) {
      for (const model::NamedAmounts* const amounts : AmountsOf(each)) {
        for (const auto& [name, amount] : *amounts) names.insert(name);
      }
    }
  };
  take(facts.nodes), take(facts.pods), take(facts.gangs), take(facts.queues);
  for (const model::NodeFacts& node : facts.nodes) nodes.insert(node.name);
  for (const model::PodFacts& pod : facts.pods) {
    if (!pod.node.empty()) nodes.insert(pod.node);
  }
  const std::int64_t rows = static_cast<std::int64_t>(nodes.size()) + more_nodes;
  if (static_cast<std::int64_t>(names.size()) * rows <= kMaxAmounts) return absl::OkStatus();
  return Wrong("cluster.nodes", absl::StrCat(rows, " nodes and ", names.size(),
                                             " names of resources are more than one call takes: their product must be "
                                             "at most ",
                                             kMaxAmounts, "; nodes that only pods name count"));
}

absl::Status CheckPatterns(const explain::ClusterFacts& facts, std::int64_t nodes) {
  std::int64_t members = 0;
  for (const model::HyperNodeFacts& each : facts.hyper_nodes) {
    for (const auto& member : each.members) members += member.by == model::HyperNodeFacts::By::kName ? 0 : 1;
  }
  if (members * nodes <= kMaxMatches) return absl::OkStatus();
  return Wrong("cluster.objects",
               absl::StrCat(members, " patterns and selectors of HyperNodes on ", nodes,
                            " nodes are more than one call takes: their product must be at most ", kMaxMatches));
}

absl::Status CheckWaiting(const explain::ClusterFacts& facts, std::int64_t nodes) {
  const std::int64_t waiting = std::count_if(facts.pods.begin(), facts.pods.end(), WantsNode);
  if (waiting > kMaxWaiting)
    return Wrong("cluster.objects",
                 absl::StrCat(waiting, " pods without a node are more than one call takes, which is ", kMaxWaiting));
  if (waiting * nodes <= kMaxFits) return absl::OkStatus();
  model::Cluster kinds;  // those that ask for the same are one shape of it
  for (const model::PodFacts& pod : facts.pods) {
    if (WantsNode(pod)) kinds.SetPod(pod);
  }
  if (kinds.shape_slots() * nodes <= kMaxFits) return absl::OkStatus();
  return TooManyFits("gang", kinds.shape_slots(), "kinds of pods", nodes);
}

class Reading {
 public:
  Reading(const v1::Cluster& cluster, StillWanted still_wanted) : cluster_(cluster), still_wanted_(still_wanted) {}

  absl::StatusOr<Asked> ReadOne(const v1::Gang* gang) {
    if (gang == nullptr) return Wrong("gang", "is missing");
    GW_RETURN_IF_ERROR(CheckLength(gang->name(), "gang.name"));
    GW_RETURN_IF_ERROR(CheckLength(gang->namespace_(), "gang.namespace"));
    if (gang->tasks().empty() && gang->name().empty()) return Wrong("gang.name", "must not be empty");
    if (gang->tasks().empty() && cluster_.objects().empty())
      return Wrong("gang.tasks", "must not be empty, unless the gang is a PodGroup of cluster.objects");
    asked_.gang = {NamespaceOf(*gang), gang->name(), model::GangKind::kVolcano};
    if (gang->tasks_size() > 0) gangs_.push_back({gang, "gang", {}});
    GW_RETURN_IF_ERROR(ReadCluster());
    GW_RETURN_IF_ERROR(FindGang(*gang));
    return std::move(asked_);
  }

  absl::StatusOr<explain::ClusterFacts> ReadMany(const google::protobuf::RepeatedPtrField<v1::Gang>& gangs) {
    for (int i = 0; i < gangs.size(); ++i) gangs_.push_back({&gangs[i], At("gangs", static_cast<std::size_t>(i)), {}});
    GW_RETURN_IF_ERROR(ReadCluster());
    return std::move(asked_.facts);
  }

 private:
  // A gang of messages; members by task, placed ones included.
  struct GangOfTasks {
    const v1::Gang* gang;
    std::string path;
    std::map<std::string, std::int32_t> members;
  };

  absl::Status ReadCluster() {
    GW_RETURN_IF_ERROR(CheckGangs());
    GW_RETURN_IF_ERROR(AddQueues());
    GW_RETURN_IF_ERROR(AddNodes());
    for (GangOfTasks& each : gangs_) GW_RETURN_IF_ERROR(AddMembers(each));
    GW_RETURN_IF_ERROR(AddPods());
    for (const GangOfTasks& each : gangs_) GW_RETURN_IF_ERROR(AddGang(each));
    GW_RETURN_IF_ERROR(AddObjects());
    GW_RETURN_IF_ERROR(CheckQueues());
    GW_RETURN_IF_ERROR(CheckClasses());
    GW_RETURN_IF_ERROR(CheckSizes(asked_.facts, 0));
    return still_wanted_();
  }

  absl::Status CheckGangs() {
    std::int64_t tasks = 0;
    for (std::size_t i = 0; i < gangs_.size(); ++i) {
      const GangOfTasks& each = gangs_[i];
      const std::string& name = each.gang->name();
      if (name.empty()) return Wrong(each.path + ".name", "must not be empty");
      if (IsMemberName(name))
        return Wrong(each.path + ".name", absl::StrCat(Quoted(name), " must not contain a slash"));
      if (each.gang->tasks().empty()) return Wrong(each.path + ".tasks", "must not be empty");
      tasks += each.gang->tasks_size();
      gang_by_name_.emplace(std::pair(NamespaceOf(*each.gang), name), i);
      gang_by_name_.emplace(std::pair("", name), i);
    }
    if (tasks * cluster_.nodes_size() <= kMaxFits) return absl::OkStatus();
    return TooManyFits(gangs_.size() > 1 ? "gangs" : "gang.tasks", tasks, "tasks", cluster_.nodes_size());
  }

  // Every so many entries.
  absl::Status Look() { return ++entries_ % kEntriesBetweenLooks == 0 ? still_wanted_() : absl::OkStatus(); }

  // `name_path`: where its name stands.
  absl::Status Add(Fact fact, const std::string& name_path, absl::string_view name) {
    if (!keys_.insert(KeyOf(fact)).second) return Wrong(name_path, absl::StrCat(Quoted(name), " is there twice"));
    Collect(std::move(fact), asked_.facts);
    return absl::OkStatus();
  }

  absl::Status AddQueues() {
    const auto& queues = cluster_.queues();
    for (int i = 0; i < queues.size(); ++i) {
      GW_RETURN_IF_ERROR(Look());
      const std::string path = At("cluster.queues", static_cast<std::size_t>(i));
      GW_ASSIGN_OR_RETURN(model::QueueFacts facts, QueueFactsOf(queues[i], path));
      GW_RETURN_IF_ERROR(Add(std::move(facts), path + ".name", queues[i].name()));
    }
    return absl::OkStatus();
  }

  absl::Status AddNodes() {
    const auto& nodes = cluster_.nodes();
    for (int i = 0; i < nodes.size(); ++i) {
      GW_RETURN_IF_ERROR(Look());
      const std::string path = At("cluster.nodes", static_cast<std::size_t>(i));
      GW_ASSIGN_OR_RETURN(model::NodeFacts facts, NodeFactsOf(nodes[i], path));
      GW_RETURN_IF_ERROR(Add(std::move(facts), path + ".name", nodes[i].name()));
    }
    return absl::OkStatus();
  }

  absl::Status AddMembers(GangOfTasks& of) {
    for (const v1::Task& task : of.gang->tasks()) of.members.emplace(task.name(), 0);
    GW_ASSIGN_OR_RETURN(std::vector<model::PodFacts> members,
                        MembersOf(*of.gang, of.path, member_bytes_, still_wanted_));
    for (model::PodFacts& member : members) {
      ++of.members[member.role];
      asked_.facts.pods.push_back(std::move(member));
    }
    return absl::OkStatus();
  }

  // Whose member the pod is.
  absl::StatusOr<GangOfTasks*> GangOf(const v1::Pod& pod, const std::string& path) {
    if (pod.gang().empty() && gangs_.size() != 1) return Wrong(path + ".gang", "must not be empty beside task");
    const std::string& name = pod.gang().empty() ? gangs_.front().gang->name() : pod.gang();
    const auto found = gang_by_name_.find(std::pair(pod.namespace_(), name));
    if (found != gang_by_name_.end()) return &gangs_[found->second];
    return Wrong(path + ".gang", absl::StrCat("there is no gang ", Quoted(pod.gang()), " of tasks in its namespace"));
  }

  absl::Status AddPods() {
    const auto& pods = cluster_.pods();
    for (int i = 0; i < pods.size(); ++i) {
      GW_RETURN_IF_ERROR(Look());
      const v1::Pod& pod = pods[i];
      const std::string path = At("cluster.pods", static_cast<std::size_t>(i));
      GW_ASSIGN_OR_RETURN(model::PodFacts facts, PodFactsOf(pod, pod.gang(), path));
      if (!pod.task().empty()) {
        GW_ASSIGN_OR_RETURN(GangOfTasks * of, GangOf(pod, path));
        const auto task = of->members.find(pod.task());
        if (task == of->members.end())
          return Wrong(path + ".task", absl::StrCat("the gang has no task ", Quoted(pod.task())));
        facts.ns = NamespaceOf(*of->gang);
        facts.gang = of->gang->name();
        ++task->second;
      }
      if (!pod.queue().empty() && queues_used_.insert({facts.ns, pod.queue()}).second)
        asked_.facts.gangs.push_back(GangOfQueue(facts.ns, pod.queue()));
      GW_RETURN_IF_ERROR(Add(std::move(facts), path + ".name", pod.name()));
    }
    return absl::OkStatus();
  }

  absl::Status AddGang(const GangOfTasks& of) {
    GW_ASSIGN_OR_RETURN(model::GangFacts facts, GangFactsOf(*of.gang, &of.members, of.path));
    return Add(std::move(facts), of.path + ".name", of.gang->name());
  }

  absl::Status AddObjects() {
    const std::string scheduler = cluster_.scheduler_name().empty() ? kDefaultScheduler : cluster_.scheduler_name();
    for (int i = 0; i < cluster_.objects_size(); ++i) {
      GW_RETURN_IF_ERROR(Look());
      const std::string path = At("cluster.objects", static_cast<std::size_t>(i));
      GW_ASSIGN_OR_RETURN(Fact fact, FactOf(cluster_.objects(i), path, scheduler));
      const std::string key = KeyOf(fact);
      GW_RETURN_IF_ERROR(Add(std::move(fact), path, key));
    }
    return absl::OkStatus();
  }

  // Without any, those that gangs name are open and have no limits.
  absl::Status CheckQueues() {
    std::vector<model::QueueFacts>& queues = asked_.facts.queues;
    if (queues.empty()) {
      std::set<std::string> names;
      for (const model::GangFacts& gang : asked_.facts.gangs) names.insert(gang.queue);
      for (const std::string& name : names) queues.emplace_back().name = name;
      return absl::OkStatus();
    }
    absl::flat_hash_set<absl::string_view> names;
    for (const model::QueueFacts& queue : queues) names.insert(queue.name);
    for (int i = 0; i < cluster_.queues_size(); ++i) {
      const std::string& parent = cluster_.queues(i).parent();
      if (!parent.empty() && !names.contains(parent))
        return Wrong(At("cluster.queues", static_cast<std::size_t>(i)) + ".parent",
                     absl::StrCat(Quoted(parent), " is not among the queues"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckClasses() const {
    absl::flat_hash_set<absl::string_view> classes;
    for (const model::PriorityClassFacts& each : asked_.facts.priority_classes) classes.insert(each.name);
    for (const GangOfTasks& each : gangs_) {
      const std::string& name = each.gang->priority_class();
      if (!name.empty() && !classes.contains(name))
        return Wrong(each.path + ".priority_class", "is none of the PriorityClasses among cluster.objects");
    }
    return absl::OkStatus();
  }

  // The one that is asked for.
  absl::Status FindGang(const v1::Gang& asked) {
    const model::GangFacts* found = nullptr;
    for (const model::GangFacts& gang : asked_.facts.gangs) {
      const bool is_it = gang.ns == asked_.gang.ns && gang.name == asked_.gang.name;
      if (is_it && (found == nullptr || gang.kind < found->kind)) found = &gang;
    }
    if (found == nullptr)
      return Wrong("gang.name", absl::StrCat("has no tasks, and there is no PodGroup ", Quoted(asked_.gang.ToString()),
                                             " among cluster.objects"));
    if (asked.tasks().empty()) GW_RETURN_IF_ERROR(CheckOnlyName(asked));
    asked_.gang.kind = found->kind;
    for (const model::PodFacts& pod : asked_.facts.pods) {
      if (pod.ns != asked_.gang.ns || pod.gang != asked_.gang.name || pod.gang_kind != asked_.gang.kind) continue;
      if (!pod.ours && WantsNode(pod))
        return Wrong("cluster.scheduler_name",
                     absl::StrCat("pod ", Quoted(pod.name), " of the gang names another scheduler"));
    }
    return absl::OkStatus();
  }

  // Its PodGroup says the rest.
  static absl::Status CheckOnlyName(const v1::Gang& gang) {
    const bool more = gang.has_min_member() || !gang.min_task_member().empty() || !gang.queue().empty() ||
                      !gang.pod_group().empty() || !gang.priority_class().empty();
    return more ? Wrong("gang.tasks", "must not be empty where more is said of the gang than its name and namespace")
                : absl::OkStatus();
  }

  const v1::Cluster& cluster_;
  const StillWanted still_wanted_;
  Asked asked_;
  std::vector<GangOfTasks> gangs_;
  // By namespace and name; with namespace "" the first of that name.
  absl::flat_hash_map<std::pair<std::string, std::string>, std::size_t> gang_by_name_;
  int entries_ = 0;
  std::int64_t member_bytes_ = 0;
  absl::flat_hash_set<std::string> keys_;
  std::set<std::pair<std::string, std::string>> queues_used_;
};

}  // namespace

absl::Status CheckSizes(const explain::ClusterFacts& facts, int more_nodes) {
  const std::int64_t nodes = static_cast<std::int64_t>(facts.nodes.size()) + more_nodes;
  GW_RETURN_IF_ERROR(CheckAmounts(facts, more_nodes));
  GW_RETURN_IF_ERROR(CheckPatterns(facts, nodes));
  return CheckWaiting(facts, nodes);
}

absl::StatusOr<Asked> ReadRequest(const v1::Gang* gang, const v1::Cluster& cluster, StillWanted still_wanted) {
  return Reading(cluster, still_wanted).ReadOne(gang);
}

absl::StatusOr<explain::ClusterFacts> ReadCluster(const google::protobuf::RepeatedPtrField<v1::Gang>& gangs,
                                                  const v1::Cluster& cluster, StillWanted still_wanted) {
  return Reading(cluster, still_wanted).ReadMany(gangs);
}

}  // namespace gangway::extender
