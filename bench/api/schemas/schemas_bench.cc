// What each write costs before it is stored: checking, pruning and defaulting a 4 KB pod; and what a start costs.
#include <fstream>
#include <sstream>
#include <string>

#include "api/json_value.h"
#include "api/schemas/schemas.h"
#include "api/schemas/strategic_merge.h"
#include "api/schemas/table.h"
#include "base/check.h"
#include "benchmark/benchmark.h"
#include "boost/json.hpp"
#include "sandbox/apiserver/declared_kinds.h"
#include "sandbox/apiserver/discovery.h"
#include "sandbox/apiserver/served_versions.h"

namespace gangway::schemas {
namespace {

// A running pod of the seed job: 4 KB with its environment and status.
const boost::json::value& SeedPod() {
  static const auto& pod = *[] {
    std::ifstream file(GW_SOURCE_DIR "/tests/golden/volcano/seed-ctr-volcano/03-running.json");
    std::stringstream text;
    text << file.rdbuf();
    return new boost::json::value(api::ParseJson(text.str()).value().at("Pod").at(0));
  }();
  return pod;
}

void BuildSchemas(benchmark::State& state) {
  for (auto _ : state) {
    Schemas schemas;
    benchmark::DoNotOptimize(schemas.For(api::kPods));
  }
}
BENCHMARK(BuildSchemas)->Unit(benchmark::kMicrosecond);

void CheckPod(benchmark::State& state) {
  const Schema& schema = *Schemas::Shared().For(api::kPods);
  GW_CHECK(Check(SeedPod(), schema).ok());
  for (auto _ : state) benchmark::DoNotOptimize(Check(SeedPod(), schema));
}
BENCHMARK(CheckPod)->Unit(benchmark::kMicrosecond);

void CopyPod(benchmark::State& state) {
  for (auto _ : state) {
    boost::json::value pod = SeedPod();
    benchmark::DoNotOptimize(pod);
  }
}
BENCHMARK(CopyPod)->Unit(benchmark::kMicrosecond);

void CopyPruneAndDefaultPod(benchmark::State& state) {
  const Schema& schema = *Schemas::Shared().For(api::kPods);
  for (auto _ : state) {
    boost::json::value pod = SeedPod();
    Prune(pod, schema);
    ApplyDefaults(pod, schema);
    benchmark::DoNotOptimize(pod);
  }
}
BENCHMARK(CopyPruneAndDefaultPod)->Unit(benchmark::kMicrosecond);

void CopyAndPatchPodStatus(benchmark::State& state) {
  const Schema& schema = *Schemas::Shared().For(api::kPods);
  const boost::json::value patch =
      api::ParseJson(
          R"({"status":{"phase":"Succeeded","conditions":[{"type":"Ready","status":"False","reason":"PodCompleted"}]}})")
          .value();
  for (auto _ : state) {
    boost::json::value pod = SeedPod();
    GW_CHECK(StrategicMergePatch(pod, patch, schema).ok());
    benchmark::DoNotOptimize(pod);
  }
}
BENCHMARK(CopyAndPatchPodStatus)->Unit(benchmark::kMicrosecond);

void TableOf500Pods(benchmark::State& state) {
  const std::vector<Bytes> pods(500, MakeBytes(api::ToJson(SeedPod())));
  for (auto _ : state) benchmark::DoNotOptimize(RenderTable(api::kPods, pods, absl::UnixEpoch(), {}));
}
BENCHMARK(TableOf500Pods)->Unit(benchmark::kMillisecond);

void OpenApiOfCore(benchmark::State& state) {
  const sandbox::DeclaredKinds none;
  const sandbox::ServedVersions served({}, none);
  const sandbox::Discovery discovery(served);
  kube::Request request;
  request.method = "GET";
  request.path = "/openapi/v3/api/v1";
  GW_CHECK(discovery.Answer(request)->code == 200);
  for (auto _ : state) benchmark::DoNotOptimize(discovery.Answer(request));
}
BENCHMARK(OpenApiOfCore)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gangway::schemas
