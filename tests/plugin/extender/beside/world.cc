#include "tests/plugin/extender/beside/world.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace gangway::beside {
namespace {

// A recorded TaskInfo has some 2.8 KB where Go wrote it; what we do not tell is made up for in an annotation.
constexpr std::size_t kPadding = 1200;

std::string Cpu(std::int64_t milli) {
  return absl::StrCat("{\"MilliCPU\":", milli,
                      ",\"Memory\":100000000,\"ScalarResources\":{\"pods\":1},\"MaxTaskNum\":0}");
}
// As the recordings': it only orders gangs.
std::string TimeText(Seconds at) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixSeconds(1'790'000'000) + absl::Seconds(at),
                          absl::UTCTimeZone());
}
const char* PhaseText(Phase phase) {
  switch (phase) {
    case Phase::kAbsent:
    case Phase::kPending:
      return "Pending";
    case Phase::kInqueue:
      return "Inqueue";
    case Phase::kRunning:
      return "Running";
    case Phase::kDone:
      return "Completed";
  }
  return "";
}
constexpr int kPendingTask = 1, kAllocatedTask = 2, kRunningTask = 32;

int StatusOf(const JobState& state, int pod) {
  if (state.node_of[static_cast<std::size_t>(pod)] < 0) return kPendingTask;
  return state.bound[static_cast<std::size_t>(pod)] ? kRunningTask : kAllocatedTask;
}

}  // namespace

World::World(const Workload& of)
    : workload(&of), jobs(of.jobs.size()), idle(static_cast<std::size_t>(of.nodes()), of.node_milli) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].node_of.assign(static_cast<std::size_t>(of.jobs[i].pods), -1);
    jobs[i].bound.assign(static_cast<std::size_t>(of.jobs[i].pods), false);
  }
}

void World::Take(int job, int pod, int node) {
  jobs[static_cast<std::size_t>(job)].node_of[static_cast<std::size_t>(pod)] = node;
  idle[static_cast<std::size_t>(node)] -= workload->jobs[static_cast<std::size_t>(job)].milli;
}

void World::GiveBack(int job, int pod) {
  int& node = jobs[static_cast<std::size_t>(job)].node_of[static_cast<std::size_t>(pod)];
  idle[static_cast<std::size_t>(node)] += workload->jobs[static_cast<std::size_t>(job)].milli;
  node = -1;
}

std::string NodeName(int node) { return absl::StrCat("node-", absl::Dec(node, absl::kZeroPad3)); }
std::string PodUid(const Workload& workload, int job, int pod) {
  return absl::StrCat("uid-", workload.jobs[static_cast<std::size_t>(job)].name, "-w-", pod);
}

std::string TaskJson(const World& world, int job, int pod) {
  const Job& of = world.workload->jobs[static_cast<std::size_t>(job)];
  const JobState& state = world.jobs[static_cast<std::size_t>(job)];
  const int at = state.node_of[static_cast<std::size_t>(pod)];
  const std::string node = at < 0 ? "" : NodeName(at), name = absl::StrCat(of.name, "-w-", pod);
  const bool runs = StatusOf(state, pod) == kRunningTask;
  return absl::StrCat(
      R"({"UID":")", PodUid(*world.workload, job, pod), R"(","Job":"default/)", of.name, R"(","Name":")", name,
      R"(","Namespace":"default","TaskRole":"w","Resreq":)", Cpu(of.milli), R"(,"InitResreq":)", Cpu(of.milli),
      R"(,"NodeName":")", node, R"(","Status":)", StatusOf(state, pod), R"(,"Priority":)", of.priority,
      R"(,"Preemptable":true,"BestEffort":false,"SchGated":false,"NumaInfo":{"Policy":"","ResMap":{}},"Pod":{"metadata":{"name":")",
      name, R"(","namespace":"default","uid":")", PodUid(*world.workload, job, pod), R"(","creationTimestamp":")",
      TimeText(of.comes), R"(","labels":{"volcano.sh/task-spec":"w"},"annotations":{"scheduling.k8s.io/group-name":")",
      of.name, R"(","padding":")", std::string(kPadding, 'x'),
      R"("},"ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":")", of.name,
      R"(","uid":"j","controller":true}]},"spec":{"schedulerName":"volcano")",
      runs ? absl::StrCat(R"(,"nodeName":")", node, "\"") : "",
      R"(,"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":")", of.milli,
      R"(m","memory":"100M"}}}]},"status":{"phase":")", runs ? "Running" : "Pending", R"("}},"PodAnnotations":null})");
}

std::string JobJson(const World& world, int job) {
  const Job& of = world.workload->jobs[static_cast<std::size_t>(job)];
  const JobState& state = world.jobs[static_cast<std::size_t>(job)];
  std::string tasks;
  if (state.has_pods) {
    for (int pod = 0; pod < of.pods; ++pod)
      absl::StrAppend(&tasks, pod == 0 ? "" : ",", "\"", PodUid(*world.workload, job, pod),
                      "\":", TaskJson(world, job, pod));
  }
  const std::string index =
      state.has_pods ? absl::StrCat("{\"", StatusOf(state, 0), "\":{", tasks, "}}") : std::string("{}");
  const std::string both = absl::StrCat("\"Tasks\":{", tasks, "},\"TaskStatusIndex\":", index);
  const std::string topology =
      of.close ? R"(,"networkTopology":{"mode":"hard","highestTierAllowed":1})" : std::string();
  return absl::StrCat(
      R"({"UID":"default/)", of.name, R"(","PgUID":"pg-)", of.name, R"(","Name":")", of.name,
      R"(","Namespace":"default","Queue":")", of.queue, R"(","Priority":)", of.priority, R"(,"MinAvailable":)", of.pods,
      R"(,"SubJobs":{)",
      state.has_pods ? absl::StrCat(R"("default/)", of.name, R"(":{"GID":"","MinAvailable":)", of.pods, ",", both, "}")
                     : std::string(),
      "},", both, R"(,"TaskMinAvailable":{"w":)", of.pods, R"(},"TaskMinAvailableTotal":)", of.pods,
      R"(,"CreationTimestamp":")", TimeText(of.comes), R"(","PodGroup":{"metadata":{"name":")", of.name,
      R"(","namespace":"default","uid":"pg-)", of.name, R"(","creationTimestamp":")", TimeText(of.comes),
      R"("},"spec":{"minMember":)", of.pods, R"(,"minTaskMember":{"w":)", of.pods, R"(},"queue":")", of.queue,
      R"(","minResources":{"cpu":")", of.milli * of.pods, R"(m","memory":")", of.pods * 100, R"(M"})", topology,
      R"(},"status":{"phase":")", PhaseText(state.phase), R"("},"Version":"v1beta1"}})");
}

std::string NodeJson(const World& world, int node) {
  std::string tasks;
  for (std::size_t job = 0; job < world.jobs.size(); ++job) {
    for (std::size_t pod = 0; pod < world.jobs[job].node_of.size(); ++pod) {
      if (world.jobs[job].node_of[pod] != node) continue;
      absl::StrAppend(&tasks, tasks.empty() ? "" : ",", "\"default/", world.workload->jobs[job].name, "-w-", pod,
                      "\":", TaskJson(world, static_cast<int>(job), static_cast<int>(pod)));
    }
  }
  const std::string name = NodeName(node), amounts = absl::StrCat(R"({"cpu":")", world.workload->node_milli,
                                                                  R"(m","memory":"64Gi","pods":"110"})");
  return absl::StrCat(
      R"({"Name":")", name, R"(","Node":{"metadata":{"name":")", name, R"(","labels":{"kubernetes.io/hostname":")",
      name, R"("}},"spec":{},"status":{"allocatable":)", amounts, R"(,"capacity":)", amounts,
      R"(,"conditions":[{"type":"Ready","status":"True"}]}},"State":{"Phase":1,"Reason":""},"Idle":)",
      Cpu(world.idle[static_cast<std::size_t>(node)]), R"(,"Allocatable":{"MilliCPU":)", world.workload->node_milli,
      R"(,"Memory":68719476736,"ScalarResources":{"pods":110},"MaxTaskNum":110},"Tasks":{)", tasks, "}}");
}

std::string QueueJson(const std::string& queue, bool whole) {
  const std::string object = whole ? absl::StrCat(R"(,"Queue":{"metadata":{"name":")", queue,
                                                  R"("},"spec":{"weight":1},"status":{"state":"Open"}})")
                                   : "";
  return absl::StrCat(R"({"UID":")", queue, R"(","Name":")", queue, R"(","Weight":1)", object, "}");
}

std::string SessionJson(const World& world) {
  std::string jobs, nodes, queues;
  std::set<std::string> names;
  for (const Job& job : world.workload->jobs) names.insert(job.queue);
  for (const std::string& name : names) {
    absl::StrAppend(&queues, queues.empty() ? "" : ",", "\"", name, "\":", QueueJson(name, true));
  }
  for (std::size_t job = 0; job < world.jobs.size(); ++job) {
    if (world.jobs[job].phase == Phase::kAbsent || world.jobs[job].phase == Phase::kDone) continue;
    absl::StrAppend(&jobs, jobs.empty() ? "" : ",", "\"default/", world.workload->jobs[job].name,
                    "\":", JobJson(world, static_cast<int>(job)));
  }
  for (int node = 0; node < world.workload->nodes(); ++node)
    absl::StrAppend(&nodes, node == 0 ? "" : ",", "\"", NodeName(node), "\":", NodeJson(world, node));
  return absl::StrCat(R"({"Jobs":{)", jobs, R"(},"Nodes":{)", nodes, R"(},"Queues":{)", queues,
                      R"(},"NamespaceInfo":{},"RevocableNodes":{},"NodeList":null})");
}

}  // namespace gangway::beside
