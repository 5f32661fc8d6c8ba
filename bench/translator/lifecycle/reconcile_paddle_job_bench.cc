// How long does the controller hold its loop for one look at a PaddleJob? Argument: workers; there are half as many
// servers.
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "base/check.h"
#include "benchmark/benchmark.h"
#include "translator/lifecycle/reconcile_paddle_job.h"

namespace gangway::paddle_lifecycle {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'767'225'600);

// A PaddleJob of servers and workers, all of them running and everything said.
struct Scene {
  api::paddle::PaddleJob paddle;
  std::optional<api::volcano::Job> job;
  api::volcano::PodGroup group;
  PodTable pods;
  PaddleJobView view;

  explicit Scene(int workers) {
    std::string env;
    for (int i = 0; i < 20; ++i)
      absl::StrAppend(&env, i == 0 ? "" : ",", R"({"name":"VARIABLE_)", i, R"(","value":"value number )", i, "\"}");
    const auto role = [&](int replicas) {
      return absl::StrCat(
          R"({"replicas":)", replicas,
          R"(,"template":{"spec":{"containers":[{"name":"paddle","image":"registry.example/paddle:2.6.2",
        "command":["python","train.py"],"resources":{"limits":{"cpu":"10","memory":"30Gi"}},"env":[)",
          env, "]}]}}}");
    };
    const absl::StatusOr<api::paddle::PaddleJob> read = api::Decode<api::paddle::PaddleJob>(absl::StrCat(
        R"({"metadata":{"name":"wd","namespace":"default","uid":"paddle-uid","resourceVersion":"7","generation":1},"spec":{"withGloo":1,"ps":)",
        role(workers / 2), R"(,"worker":)", role(workers), "}}"));
    GW_CHECK(read.ok());
    paddle = *read;
    view.job = &paddle;
    view.pods = &pods;
    view.options.target = convert::Target::kGangway;
  }

  kube::Plan Look() { return ReconcilePaddleJob(view, kNow); }

  void Run() {
    for (const auto& stage : Look().stages) {
      for (const kube::Write& write : stage) {
        if (write.resource == &api::kJobs) {
          job = *api::Decode<api::volcano::Job>(write.body);
        } else if (write.verb ==
                   kube::Verb::kCreate) {  // what the Job needs: the lists of many pods stand in a config map
          api::ObjectMeta metadata = api::Decode<api::volcano::PodGroup>(write.body)->metadata;
          metadata.uid = absl::StrCat("uid-", write.name);
          view.objects.push_back(NearbyOf(*write.resource, metadata));
        }
      }
    }
    GW_CHECK(job.has_value());
    job->metadata.uid = "job-uid";
    job->status.state.phase = "Running";
    view.volcano_job = &*job;
    group.status.phase = "Running";
    view.pod_group = &group;
    for (const api::volcano::TaskSpec& task : job->spec.tasks) {
      for (int i = 0; i < task.replicas; ++i) {
        PaddlePod& pod = pods[absl::StrCat("wd-", task.name, "-", i)];
        pod.uid = absl::StrCat("uid-", task.name, "-", i);
        pod.owner_uid = "job-uid";
        pod.task = task.name;
        pod.index = i;
        pod.stage = PodStage::kRunning;
      }
    }
    // As its API server stores it.
    for (const auto& stage : Look().stages) {
      for (const kube::Write& write : stage) {
        if (write.resource != &api::paddle::kPaddleJobs) continue;
        absl::StatusOr<boost::json::value> document = api::ParseJson(api::Encode(paddle));
        GW_CHECK(document.ok());
        api::ApplyMergePatch(*document, *api::ParseJson(write.body));
        paddle = *api::Decode<api::paddle::PaddleJob>(api::ToJson(*document));
      }
    }
    GW_CHECK(Look().stages.empty());
  }
};

// The usual look: nothing is to be done.
void BM_NothingToDo(benchmark::State& state) {
  Scene scene(static_cast<int>(state.range(0)));
  scene.Run();
  for (auto _ : state) benchmark::DoNotOptimize(scene.Look());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_NothingToDo)->ArgName("workers")->Arg(2)->Arg(16)->Arg(256)->Unit(benchmark::kMicrosecond);

// The first look: translated, and the Job to be written.
void BM_MakeTheJob(benchmark::State& state) {
  Scene scene(static_cast<int>(state.range(0)));
  if (scene.Look().stages.empty()) state.SkipWithError("no Job is made");
  for (auto _ : state) benchmark::DoNotOptimize(scene.Look());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_MakeTheJob)->ArgName("workers")->Arg(2)->Arg(16)->Arg(256)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace gangway::paddle_lifecycle
