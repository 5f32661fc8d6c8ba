// How long do pods wait for their processes? Beside what the same commands take when nobody makes a container for them.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/core/pod.h"
#include "api/resource.h"
#include "base/asio_loop.h"
#include "base/check.h"
#include "bench/clock/manual_time.h"
#include "benchmark/benchmark.h"
#include "kube/runtime/informer.h"
#include "sandbox/cluster/cluster.h"
#include "sandbox/process/host_client.h"
#include "sandbox/process/process_runtime.h"

namespace gangway::sandbox {
namespace {

// A cluster of one node whose containers are processes, and a user of it.
class ProcessBench {
 public:
  // `state` says why when there can be none here.
  explicit ProcessBench(benchmark::State& state) {
    GW_CHECK(mkdtemp(folder_.data()) != nullptr);
    HostSetup setup;
    setup.folder = folder_;
    setup.cgroup = std::filesystem::path(folder_).filename();
    auto host = HostClient::Start(loop_, GW_GANGWAY, setup);
    if (!host.ok()) {
      state.SkipWithError(std::string(host.status().message()).c_str());
      return;
    }
    host_ = *std::move(host);
    ProcessOptions options;
    options.folder = folder_;
    options.claims = folder_ + "/claims";
    options.path = "/usr/bin:/bin";
    options.home = options.working_dir = "/";
    ClusterOptions cluster;
    cluster.kubelets.nodes = MakeNodes({*ParseNodeShape("cpu=64,memory=256Gi")}, 1);
    cluster.kubelets.make_runtime = [this, options](kube::Informers& informers, OnContainers on_containers) {
      return std::make_unique<ProcessRuntime>(informers, options, *host_, std::move(on_containers));
    };
    cluster_ = std::make_unique<Cluster>(loop_, std::move(cluster));
    client_ = cluster_->NewClient("user");
    pods_ = std::make_unique<kube::Informer<api::core::Pod>>(loop_, *client_, api::kPods, kube::InformerOptions());
    cluster_->Start();
    pods_->Start([this](const auto&, const auto& before, const auto& after) { Saw(before.get(), after.get()); }, [] {});
    Settle();
  }
  ~ProcessBench() {
    pods_.reset();
    cluster_.reset();
    host_.reset();  // it removes the folder, too
  }
  bool there() const { return host_ != nullptr; }

  // Until so many more pods, each with this command, are in `phase`. `scheduled`: they have no node yet.
  void RunPods(int pods, absl::string_view command, const std::string& phase, bool scheduled) {
    phase_ = phase;
    awaited_ = pods;
    for (int i = 0; i < pods; ++i) {
      kube::Request request;
      request.method = "POST";
      request.path = api::PathOf(api::kPods, "default");
      request.body = absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p-)", ++made_,
                                  R"("},"spec":{"restartPolicy":"Never","terminationGracePeriodSeconds":0,)",
                                  scheduled ? R"("schedulerName":"volcano")" : R"("nodeName":"node-000")",
                                  R"(,"containers":[{"name":"main","image":"x","command":)", command,
                                  R"(,"resources":{"requests":{"cpu":"100m"}}}]}})");
      client_->Send(std::move(request), owner_.token(),
                    [](absl::StatusOr<kube::Response> reply) { GW_CHECK(reply.ok() && reply->ok()); });
    }
    loop_.Run();
  }
  // All pods go, and their networks with them; what comes next does not share the machine with that.
  void Clear() {
    leaving_ = true;
    kube::Request request;
    request.method = "DELETE";
    request.path = api::PathOf(api::kPods, "default");
    request.query = "gracePeriodSeconds=0";
    client_->Send(std::move(request), owner_.token(),
                  [](absl::StatusOr<kube::Response> reply) { GW_CHECK(reply.ok() && reply->ok()); });
    loop_.Run();
    leaving_ = false;
    Settle();
  }

 private:
  void Settle() {
    loop_.PostAt(loop_.Now() + absl::Milliseconds(300), owner_.token(), [this] { loop_.Stop(); });
    loop_.Run();
  }
  void Saw(const api::core::Pod* before, const api::core::Pod* after) {
    if (before == nullptr && after != nullptr) ++there_;
    if (after == nullptr && --there_ == 0 && leaving_) loop_.Stop();
    const bool was = before != nullptr && before->status.phase == phase_;
    if (after != nullptr && !was && after->status.phase == phase_ && --awaited_ == 0) loop_.Stop();
  }

  std::string folder_ = (std::filesystem::temp_directory_path() / "gangway-process-bench-XXXXXX").string();
  AsioLoop loop_{1};
  Owner owner_;
  std::unique_ptr<HostClient> host_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<kube::Informer<api::core::Pod>> pods_;
  std::string phase_;
  int made_ = 0, awaited_ = 0, there_ = 0;
  bool leaving_ = false;
};

// `true`, as its parent sees it end.
absl::Duration CommandAlone() {
  const absl::Time begin = absl::Now();
  char name[] = "true";
  char* const argv[] = {name, nullptr};
  pid_t pid = 0;
  GW_CHECK(posix_spawnp(&pid, name, nullptr, nullptr, argv, environ) == 0);
  int status = 0;
  GW_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  return absl::Now() - begin;
}

// From the creation of a pod of `true` on a node to Succeeded. beyond_ms: without what `true` takes by itself.
void BM_OnePod(benchmark::State& state) {
  ProcessBench bench(state);
  if (!bench.there()) return;
  bench::ManualTime time(state);
  absl::Duration alone;
  absl::Time begin;
  absl::Duration all;
  for (auto _ : state) {
    alone += CommandAlone();
    begin = absl::Now();
    time.Begin();
    bench.RunPods(1, R"(["true"])", "Succeeded", false);
    time.End();
    all += absl::Now() - begin;
    bench.Clear();
  }
  state.counters["beyond_ms"] =
      benchmark::Counter(absl::ToDoubleMilliseconds(all - alone), benchmark::Counter::kAvgIterations);
}
BENCHMARK(BM_OnePod)->UseManualTime()->Unit(benchmark::kMillisecond);

// From the creation of the first of so many pods of `sleep`, which the scheduler places, until all run.
void BM_PodsAtOnce(benchmark::State& state) {
  ProcessBench bench(state);
  if (!bench.there()) return;
  const int pods = static_cast<int>(state.range(0));
  bench::ManualTime time(state);
  for (auto _ : state) {
    time.Begin();
    bench.RunPods(pods, R"(["sleep","1000"])", "Running", true);
    time.End();
    bench.Clear();
  }
  state.SetItemsProcessed(state.iterations() * pods);
}
BENCHMARK(BM_PodsAtOnce)->ArgName("pods")->Arg(50)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gangway::sandbox
