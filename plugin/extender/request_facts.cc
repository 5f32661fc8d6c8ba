#include "plugin/extender/request_facts.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "plugin/extender/field_path.h"
#include "plugin/extender/object_facts.h"
#include "plugin/extender/typed_facts.h"
#include "plugin/model/cluster.h"

namespace gangway::extender {
namespace {

constexpr int kEntriesBetweenLooks = 1024;  // at whether the answer is still wanted

bool WantsNode(const model::PodFacts& pod) {
  return pod.node.empty() && pod.phase == model::PodPhase::kPending && !pod.terminating;
}

class Reading {
 public:
  Reading(const v1::Cluster& cluster, StillWanted still_wanted) : cluster_(cluster), still_wanted_(still_wanted) {}

  absl::StatusOr<Asked> ReadOne(const v1::Gang* gang) {
    if (gang == nullptr) return Wrong("gang", "is missing");
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
    GW_RETURN_IF_ERROR(CheckAmounts());
    GW_RETURN_IF_ERROR(CheckWaiting());
    return still_wanted_();
  }

  absl::Status CheckGangs() const {
    std::int64_t tasks = 0;
    for (const GangOfTasks& each : gangs_) {
      const std::string& name = each.gang->name();
      if (name.empty()) return Wrong(each.path + ".name", "must not be empty");
      if (IsMemberName(name))
        return Wrong(each.path + ".name", absl::StrCat(Quoted(name), " must not contain a slash"));
      if (each.gang->tasks().empty()) return Wrong(each.path + ".tasks", "must not be empty");
      tasks += each.gang->tasks_size();
    }
    if (tasks * cluster_.nodes_size() <= kMaxFits) return absl::OkStatus();
    return TooManyFits(static_cast<std::size_t>(tasks), "tasks", cluster_.nodes_size());
  }

  static absl::Status TooManyFits(std::size_t kinds, absl::string_view of, int nodes) {
    return Wrong("gang.tasks", absl::StrCat(kinds, " ", of, " on ", nodes,
                                            " nodes are more than one call takes: ", "their product must be at most ",
                                            kMaxFits, "; put equal members into one task"));
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
    GW_ASSIGN_OR_RETURN(std::vector<model::PodFacts> members, MembersOf(*of.gang, of.path, still_wanted_));
    for (model::PodFacts& member : members) {
      ++of.members[member.role];
      asked_.facts.pods.push_back(std::move(member));
    }
    return absl::OkStatus();
  }

  // Whose member the pod is.
  absl::StatusOr<GangOfTasks*> GangOf(const v1::Pod& pod, const std::string& path) {
    if (pod.gang().empty() && gangs_.size() != 1) return Wrong(path + ".gang", "must not be empty beside task");
    for (GangOfTasks& each : gangs_) {
      if (!pod.gang().empty() && pod.gang() != each.gang->name()) continue;
      if (!pod.namespace_().empty() && pod.namespace_() != NamespaceOf(*each.gang)) continue;
      return &each;
    }
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
    for (int i = 0; i < cluster_.queues_size(); ++i) {
      const std::string& parent = cluster_.queues(i).parent();
      const bool there = parent.empty() || std::any_of(queues.begin(), queues.end(),
                                                       [&](const auto& queue) { return queue.name == parent; });
      if (!there)
        return Wrong(At("cluster.queues", static_cast<std::size_t>(i)) + ".parent",
                     absl::StrCat(Quoted(parent), " is not among the queues"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckClasses() const {
    const auto& classes = asked_.facts.priority_classes;
    for (const GangOfTasks& each : gangs_) {
      const std::string& name = each.gang->priority_class();
      const bool there = name.empty() ||
                         std::any_of(classes.begin(), classes.end(), [&](const auto& one) { return one.name == name; });
      if (!there) return Wrong(each.path + ".priority_class", "is none of the PriorityClasses among cluster.objects");
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

  // A node has a number for each resource that anybody names.
  absl::Status CheckAmounts() const {
    absl::flat_hash_set<absl::string_view> names;
    const auto take = [&](const model::NamedAmounts& amounts) {
      for (const auto& [name, amount] : amounts) names.insert(name);
    };
    for (const auto& node : asked_.facts.nodes) take(node.allocatable);
    for (const auto& pod : asked_.facts.pods) take(pod.wants.requests);
    for (const auto& gang : asked_.facts.gangs) take(gang.min_resources);
    for (const auto& queue : asked_.facts.queues) take(queue.capability), take(queue.guarantee), take(queue.deserved);
    const std::size_t nodes = asked_.facts.nodes.size();
    if (static_cast<std::int64_t>(names.size() * nodes) > kMaxAmounts)
      return Wrong("cluster.nodes",
                   absl::StrCat(nodes, " nodes and ", names.size(),
                                " names of resources are more than one call takes: their product must be at most ",
                                kMaxAmounts));
    std::size_t members = 0;
    for (const model::HyperNodeFacts& each : asked_.facts.hyper_nodes) {
      for (const auto& member : each.members) members += member.by == model::HyperNodeFacts::By::kName ? 0 : 1;
    }
    if (static_cast<std::int64_t>(members * nodes) > kMaxMatches)
      return Wrong("cluster.objects",
                   absl::StrCat(members, " patterns and selectors of HyperNodes on ", nodes,
                                " nodes are more than one call takes: their product must be at most ", kMaxMatches));
    return absl::OkStatus();
  }

  absl::Status CheckWaiting() const {
    const auto& pods = asked_.facts.pods;
    const auto waiting = std::count_if(pods.begin(), pods.end(), WantsNode);
    if (waiting > kMaxWaiting)
      return Wrong("cluster.objects",
                   absl::StrCat(waiting, " pods without a node are more than one call takes, which is ", kMaxWaiting));
    const std::int64_t nodes = static_cast<std::int64_t>(asked_.facts.nodes.size());
    if (waiting * nodes <= kMaxFits) return absl::OkStatus();
    model::Cluster kinds;  // those that ask for the same are one shape of it
    for (const model::PodFacts& pod : pods) {
      if (WantsNode(pod)) kinds.SetPod(pod);
    }
    if (kinds.shape_slots() * nodes <= kMaxFits) return absl::OkStatus();
    return TooManyFits(static_cast<std::size_t>(kinds.shape_slots()), "kinds of pods", static_cast<int>(nodes));
  }

  const v1::Cluster& cluster_;
  const StillWanted still_wanted_;
  Asked asked_;
  std::vector<GangOfTasks> gangs_;
  int entries_ = 0;
  absl::flat_hash_set<std::string> keys_;
  std::set<std::pair<std::string, std::string>> queues_used_;
};

}  // namespace

absl::StatusOr<Asked> ReadRequest(const v1::Gang* gang, const v1::Cluster& cluster, StillWanted still_wanted) {
  return Reading(cluster, still_wanted).ReadOne(gang);
}

absl::StatusOr<explain::ClusterFacts> ReadCluster(const google::protobuf::RepeatedPtrField<v1::Gang>& gangs,
                                                  const v1::Cluster& cluster, StillWanted still_wanted) {
  return Reading(cluster, still_wanted).ReadMany(gangs);
}

}  // namespace gangway::extender
