// How many bytes does `gangway scheduler` hold for a gang, and for a pod, of those that it has bound? What the table
// holds of them alone says plugin/model/memory_bench.
#include <malloc.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "assembly/components.h"
#include "base/check.h"
#include "base/log.h"
#include "base/simulated_loop.h"
#include "benchmark/benchmark.h"
#include "sandbox/cluster/cluster.h"

namespace gangway::assembly {
namespace {

constexpr int kNodes = 1000;

double Allocated() {
  const struct mallinfo2 now = mallinfo2();
  return static_cast<double>(now.uordblks + now.hblkhd);
}

void Post(kube::Client& user, SimulatedLoop& loop, const api::Resource& resource, std::string body) {
  Owner owner;
  kube::Request request;
  request.method = "POST";
  request.path = api::PathOf(resource, "default");
  request.body = std::move(body);
  bool done = false;
  user.Send(std::move(request), owner.token(), [&](absl::StatusOr<kube::Response> reply) {
    GW_CHECK(reply.ok() && reply->ok());
    done = true;
  });
  while (!done) loop.RunFor(absl::Milliseconds(1));
}

std::int64_t BoundPods(sandbox::Cluster& cluster) {
  kube::Request request;
  request.method = "GET";
  request.path = api::PathOf(api::kPods, "default");
  request.query = "fieldSelector=spec.nodeName!%3D";
  request.accept = "application/json";
  const kube::Response reply = cluster.api_server().Handle(request, {"user"});
  const auto list = api::ParseJson(*reply.body);
  return static_cast<std::int64_t>(list->at("items").as_array().size());
}

// Of one that has bound them itself, a minute later.
double BytesOfScheduler(int gangs, int size) {
  log::Options quiet;
  quiet.level = log::Level::kWarning;
  log::Configure(std::move(quiet));
  SimulatedLoop loop(1);
  sandbox::ClusterOptions options;
  options.kubelets.nodes = sandbox::MakeNodes({*sandbox::ParseNodeShape("cpu=16,memory=64Gi,pods=110")}, kNodes);
  sandbox::Cluster cluster(loop, std::move(options));
  cluster.Start(sandbox::Component::kKubelets);
  loop.RunFor(absl::Seconds(5));
  const auto client = cluster.NewClient("scheduler");
  client->ShowManagedFields();  // as a real API server does
  auto scheduler = MakeComponents(loop, *client, {"scheduler"}, {});
  scheduler->Start();
  loop.RunFor(absl::Seconds(5));
  GW_CHECK(scheduler->synced());
  const auto user = cluster.NewClient("user");
  for (int gang = 0; gang < gangs; ++gang) {
    Post(*user, loop, api::kPodGroups,
         absl::StrFormat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"g%d"},)"
                         R"("spec":{"minMember":%d,"queue":"default","minResources":{"cpu":"%d"}}})",
                         gang, size, size));
    for (int pod = 0; pod < size; ++pod) {
      Post(
          *user, loop, api::kPods,
          absl::StrFormat(
              R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"g%d-%d","annotations":{"scheduling.k8s.io/group-name":"g%d"}},)"
              R"("spec":{"schedulerName":"volcano","containers":[{"name":"main","image":"example.test/app:v1","resources":{"requests":{"cpu":"1","memory":"100M"}}}]}})",
              gang, pod, gang));
    }
  }
  loop.RunFor(absl::Minutes(1));
  GW_CHECK(BoundPods(cluster) == gangs * size);
  const double with = Allocated();
  scheduler.reset();
  return with - Allocated();
}

// Argument 0: pods, on 1,000 nodes. `bytes` without any; `bytes_per_pod` where all are one gang; `bytes_per_gang` is
// what it costs beyond that when each is a gang of its own.
void BM_BytesOfScheduler(benchmark::State& state) {
  const int pods = static_cast<int>(state.range(0));
  for (auto _ : state) {
    const double none = BytesOfScheduler(0, 0), one = BytesOfScheduler(1, pods), each = BytesOfScheduler(pods, 1);
    state.counters["bytes"] = none;
    state.counters["bytes_per_pod"] = (one - none) / pods;
    state.counters["bytes_per_gang"] = (each - one) / (pods - 1);
  }
}
BENCHMARK(BM_BytesOfScheduler)->ArgName("pods")->Arg(1000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gangway::assembly
