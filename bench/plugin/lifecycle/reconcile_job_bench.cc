// How long does the controller hold its loop for one look at a Job? Argument: pods.
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "plugin/lifecycle/job/pod.h"
#include "plugin/lifecycle/job/reconcile_job.h"
#include "plugin/lifecycle/job/record.h"

namespace gangway::lifecycle {
namespace {

// A Job of n pods in two tasks, as the classic CTR job, all of them running and everything said.
struct Scene {
  api::volcano::Job job;
  api::volcano::PodGroup group;
  PodTable pods;
  JobView view;

  explicit Scene(int n, bool with_pods = true) {
    job.metadata.name = "ctr";
    job.metadata.ns = "default";
    job.metadata.uid = "7a011731-0d1e-438c-91fb-e7623941becc";
    job.metadata.resource_version = "1000";
    job.spec.queue = "default";
    job.spec.scheduler_name = "volcano";
    job.spec.min_available = n;
    job.spec.max_retry = 3;
    for (const char* event : {"PodEvicted", "PodFailed"}) {
      api::volcano::LifecyclePolicy& policy = job.spec.policies.emplace_back();
      policy.event = event;
      policy.action = "RestartJob";
    }
    for (const char* name : {"pserver", "trainer"}) AddTask(name, n / 2);
    job.spec.tasks[1].policies.emplace_back().event = "TaskCompleted";
    job.spec.tasks[1].policies[0].action = "CompleteJob";
    view.job = &job;
    view.pods = &pods;
    Settle();  // Pending, the PodGroup
    if (with_pods) {
      for (const api::volcano::TaskSpec& task : job.spec.tasks) AddPods(task);
      Settle();
      Settle();
    }
  }

  void AddTask(const std::string& name, int replicas) {
    api::volcano::TaskSpec& task = job.spec.tasks.emplace_back();
    task.name = name;
    task.replicas = replicas;
    task.min_available = replicas;
    std::string env;
    for (int i = 0; i < 20; ++i)
      absl::StrAppend(&env, i == 0 ? "" : ",", R"({"name":"PADDLE_VARIABLE_)", i, R"(","value":"value number )", i,
                      "\"}");
    task.pod_template.json = absl::StrCat(
        R"({"metadata":{"labels":{"paddle-job":"fluid-ctr"}},"spec":{"restartPolicy":"OnFailure","containers":[{"name":"c","image":"volcanosh/edlctr:v1","command":["paddle_k8s","start_fluid"],)",
        R"("resources":{"limits":{"cpu":"10","memory":"30Gi"},"requests":{"cpu":"1","memory":"100M"}},"env":[)", env,
        "]}]}}");
  }
  void AddPods(const api::volcano::TaskSpec& task) {
    for (int i = 0; i < task.replicas; ++i) {
      JobPod& pod = pods[absl::StrCat("ctr-", task.name, "-", i)];
      pod.uid = absl::StrCat("pod-uid-", task.name, i);
      pod.job_uid = job.metadata.uid;
      pod.task = task.name;
      pod.version = 0;
      pod.phase = PodPhase::kRunning;
    }
  }
  // Carries out what the plan says about the Job's status and its PodGroup.
  void Settle() {
    const kube::Plan plan = ReconcileJob(view, Now());
    for (const auto& stage : plan.stages) {
      for (const kube::Write& write : stage) {
        if (write.subresource == "status") ApplyStatus(write.body);
        if (write.verb == kube::Verb::kCreate && write.resource == &api::kPodGroups) {
          group = *api::Decode<api::volcano::PodGroup>(write.body);
          group.metadata.uid = "group-uid";
          group.status.phase = "Running";
          view.pod_group = &group;
        }
      }
    }
  }
  // Enough for patches that only add.
  void ApplyStatus(const std::string& patch) {
    api::volcano::Job patched;
    const api::DecodeReport report = api::DecodeInto(patch, api::TypeOf<api::volcano::Job>(), &patched);
    if (!report.status.ok()) return;
    api::volcano::JobStatus& to = job.status;
    const api::volcano::JobStatus& from = patched.status;
    if (!from.state.phase.empty()) to.state = from.state;
    if (!from.conditions.empty()) to.conditions = from.conditions;
    if (from.min_available != 0) to.min_available = from.min_available;
    if (from.running != 0) to.running = from.running;
    for (const auto& [key, value] : from.task_status_count) to.task_status_count[key] = value;
    for (const auto& [key, value] : from.controlled_resources) to.controlled_resources[key] = value;
  }
  static absl::Time Now() { return absl::FromUnixSeconds(1'767'225'600); }
};

// Writes of one verb.
std::int64_t Count(const kube::Plan& plan, kube::Verb verb, const api::Resource& resource) {
  std::int64_t count = 0;
  for (const auto& stage : plan.stages) {
    for (const kube::Write& write : stage) count += write.verb == verb && write.resource == &resource;
  }
  return count;
}

void BM_NothingToDo(benchmark::State& state) {
  const Scene scene(static_cast<int>(state.range(0)));
  if (!ReconcileJob(scene.view, Scene::Now()).empty()) state.SkipWithError("there is something to do");
  for (auto _ : state) {
    kube::Plan plan = ReconcileJob(scene.view, Scene::Now());
    benchmark::DoNotOptimize(plan);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_NothingToDo)->ArgName("pods")->Arg(4)->Arg(100)->Arg(1000)->Arg(10000);

// One pod succeeded: counted, and said in one status write.
void BM_OnePodChanged(benchmark::State& state) {
  Scene scene(static_cast<int>(state.range(0)));
  scene.pods["ctr-trainer-1"].phase = PodPhase::kSucceeded;
  const kube::Plan plan = ReconcileJob(scene.view, Scene::Now());
  if (plan.stages.size() != 1 || plan.stages[0].size() != 1 || plan.stages[0][0].subresource != "status")
    state.SkipWithError("not one status write");
  for (auto _ : state) {
    kube::Plan again = ReconcileJob(scene.view, Scene::Now());
    benchmark::DoNotOptimize(again);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_OnePodChanged)->ArgName("pods")->Arg(4)->Arg(1000);

void BM_MakeAllPods(benchmark::State& state) {
  const Scene scene(static_cast<int>(state.range(0)), false);
  if (Count(ReconcileJob(scene.view, Scene::Now()), kube::Verb::kCreate, api::kPods) != state.range(0))
    state.SkipWithError("not all pods are made");
  for (auto _ : state) {
    kube::Plan plan = ReconcileJob(scene.view, Scene::Now());
    benchmark::DoNotOptimize(plan);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_MakeAllPods)->ArgName("pods")->Arg(4)->Arg(1000);

void BM_RestartJob(benchmark::State& state) {
  Scene scene(static_cast<int>(state.range(0)));
  JobPod& failed = scene.pods["ctr-trainer-0"];
  failed.phase = PodPhase::kFailed;
  failed.failed_first = true;
  failed.exit_code = 1;
  if (Count(ReconcileJob(scene.view, Scene::Now()), kube::Verb::kDelete, api::kPods) < state.range(0) - 1)
    state.SkipWithError("the pods are not deleted");
  for (auto _ : state) {
    kube::Plan plan = ReconcileJob(scene.view, Scene::Now());
    benchmark::DoNotOptimize(plan);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_RestartJob)->ArgName("pods")->Arg(1000);

}  // namespace
}  // namespace gangway::lifecycle
