// How long does a user wait for jobs in the embedded cluster, from apply to Completed, when containers take no time?
#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/resource.h"
#include "api/volcano/job.h"
#include "base/asio_loop.h"
#include "base/check.h"
#include "bench/clock/manual_time.h"
#include "bench/seed_job/seed_job.h"
#include "benchmark/benchmark.h"
#include "kube/runtime/informer.h"
#include "sandbox/cluster/cluster.h"

namespace gangway::sandbox {
namespace {

ClusterOptions InstantCluster(int nodes) {
  ClusterOptions options;
  options.kubelets.nodes = MakeNodes({*ParseNodeShape("")}, nodes);
  options.kubelets.behaviour = *Behaviour::Parse({"trainer=0s"}, {});
  options.kubelets.times.start = options.kubelets.times.stop = options.kubelets.times.init = absl::ZeroDuration();
  return options;
}

// Until the loop has been told that everything is quiet.
void Settle(AsioLoop& loop, Owner& owner, absl::Duration duration) {
  loop.PostAt(loop.Now() + duration, owner.token(), [&] { loop.Stop(); });
  loop.Run();
}

// Argument 0: jobs at once; argument 1: nodes.
void BM_JobsToCompleted(benchmark::State& state) {
  const int jobs = static_cast<int>(state.range(0));
  const std::string job = bench::SeedJob();
  bench::ManualTime time(state);
  for (auto _ : state) {
    AsioLoop loop(1);
    Owner owner;
    Cluster cluster(loop, InstantCluster(static_cast<int>(state.range(1))));
    const auto client = cluster.NewClient("user");
    kube::Informer<api::volcano::Job> cache(loop, *client, api::kJobs, {});
    int completed = 0;
    cluster.Start();
    cache.Start([&](const auto&, const auto& before, const auto& after) {
      const bool was = before != nullptr && before->status.state.phase == "Completed";
      if (!was && after != nullptr && after->status.state.phase == "Completed" && ++completed == jobs) loop.Stop();
    });
    Settle(loop, owner, absl::Milliseconds(200 + state.range(1)));
    time.Begin();
    for (int i = 0; i < jobs; ++i) {
      kube::Request request;
      request.method = "POST";
      request.path = api::PathOf(api::kJobs, "default");
      request.body = bench::Renamed(job, i);
      client->Send(std::move(request), owner.token(),
                   [](absl::StatusOr<kube::Response> reply) { GW_CHECK(reply.ok() && reply->ok()); });
    }
    loop.Run();
    time.End();
    GW_CHECK(completed == jobs);
  }
  state.SetItemsProcessed(state.iterations() * jobs);
}
BENCHMARK(BM_JobsToCompleted)
    ->ArgNames({"jobs", "nodes"})
    ->Args({1, 6})
    ->Args({250, 1000})
    ->Args({1000, 1000})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gangway::sandbox
