// How many bytes does `gangway controller` hold for a cluster full of Jobs that run?
#include <malloc.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "assembly/components.h"
#include "base/check.h"
#include "base/simulated_loop.h"
#include "bench/seed_job/seed_job.h"
#include "benchmark/benchmark.h"
#include "sandbox/cluster/cluster.h"

namespace gangway {
namespace {

double Allocated() {
  const struct mallinfo2 now = mallinfo2();
  return static_cast<double>(now.uordblks + now.hblkhd);
}

std::int64_t ObjectsOf(sandbox::Cluster& cluster, const api::Resource& resource) {
  kube::Request request;
  request.method = "GET";
  request.path = api::PathOf(resource, "default");
  request.accept = "application/json";
  const kube::Response reply = cluster.api_server().Handle(request, {"user"});
  const auto list = api::ParseJson(*reply.body);
  return static_cast<std::int64_t>(list->at("items").as_array().size());
}

// Argument 0: Jobs of four pods each, all of which run. `bytes` is what is freed with controllers that have looked at
// everything; the API server is in the same process, and holds as much before as after.
void BM_BytesOfControllers(benchmark::State& state) {
  const int jobs = static_cast<int>(state.range(0));
  SimulatedLoop loop(1);
  sandbox::ClusterOptions options;
  options.kubelets.nodes =
      sandbox::MakeNodes({*sandbox::ParseNodeShape("cpu=40000,memory=40000Gi,pods=40000,ephemeral-storage=4000Ti")}, 2);
  options.kubelets.times.start = absl::ZeroDuration();
  sandbox::Cluster cluster(loop, std::move(options));
  cluster.Start();
  loop.RunFor(absl::Seconds(1));
  const auto user = cluster.NewClient("user");
  Owner owner;
  const std::string job = bench::SeedJob();
  for (int i = 0; i < jobs; ++i) {
    kube::Request request;
    request.method = "POST";
    request.path = api::PathOf(api::kJobs, "default");
    request.body = bench::Renamed(job, i);
    user->Send(std::move(request), owner.token(),
               [](absl::StatusOr<kube::Response> reply) { GW_CHECK(reply.ok() && reply->ok()); });
  }
  loop.RunFor(absl::Minutes(3));
  GW_CHECK(ObjectsOf(cluster, api::kPods) == 4 * jobs);
  for (const sandbox::Component component : sandbox::kAllComponents) cluster.Stop(component);
  loop.RunFor(absl::Seconds(1));
  double bytes = 0;
  for (auto _ : state) {
    const auto client = cluster.NewClient("controllers");
    client->ShowManagedFields();  // as a real API server does
    auto controllers = assembly::MakeComponents(loop, *client, {"controllers", "paddle-controllers"}, {});
    controllers->Start();
    loop.RunFor(absl::Seconds(20));
    GW_CHECK(controllers->synced());
    const double with = Allocated();
    controllers.reset();
    bytes = with - Allocated();
  }
  state.counters["bytes"] = bytes;
  state.counters["bytes_per_job"] = bytes / jobs;
}
BENCHMARK(BM_BytesOfControllers)->ArgName("jobs")->Arg(1000)->Arg(10000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gangway
