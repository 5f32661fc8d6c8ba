// How long does a PaddleJob take from JSON to the JSON of its Job, and how does that grow with its pods?
#include <benchmark/benchmark.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "api/field_table.h"
#include "api/paddle/paddle_job.h"
#include "api/volcano/job.h"
#include "base/check.h"
#include "translator/convert/translate.h"

namespace gangway::convert {
namespace {

std::string Role(absl::string_view name, int replicas, absl::string_view resources) {
  return absl::StrCat(
      "\"", name, R"(":{"replicas":)", replicas, R"(,"template":{"spec":{"containers":[{"name":"paddle",)",
      R"("image":"registry.example.org/wide-and-deep:2.6.2","command":["python","train.py"])", resources, "}]}}}");
}

// A parameter server job; `servers` 0: a collective one.
std::string PaddleJobJson(int servers, int workers) {
  return absl::StrCat(
      R"({"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","metadata":{"name":"wd","namespace":"default"},"spec":{)",
      servers > 0 ? absl::StrCat(R"("withGloo":1,)", Role("ps", servers, ""), ",") : "",
      Role("worker", workers, R"(,"resources":{"limits":{"nvidia.com/gpu":1}})"), "}}");
}

void Run(benchmark::State& state, const std::string& json, int endpoints) {
  const TranslateOptions options{.target = Target::kGangway, .kept = true};
  std::size_t bytes = 0;
  for (auto _ : state) {
    const auto job = api::Decode<api::paddle::PaddleJob>(json);
    GW_CHECK(job.ok());
    const Translation done = Translate(*job, options);
    GW_CHECK(done.ok());
    const std::string out = api::Encode(done.job);
    bytes = out.size();
    for (const Companion& one : done.before) bytes += one.json.size();
    benchmark::DoNotOptimize(bytes);
  }
  state.counters["bytes_out"] = static_cast<double>(bytes);
  state.SetItemsProcessed(state.iterations() * endpoints);
}

void BM_TranslateWorkedExample(benchmark::State& state) { Run(state, PaddleJobJson(2, 2), 4); }
BENCHMARK(BM_TranslateWorkedExample);

// Argument 0: workers; a tenth of them servers.
void BM_TranslateServers(benchmark::State& state) {
  const int workers = static_cast<int>(state.range(0)), servers = workers / 10;
  Run(state, PaddleJobJson(servers, workers), servers + workers);
}
BENCHMARK(BM_TranslateServers)->ArgName("workers")->Arg(10)->Arg(40)->Arg(100)->Arg(400)->Arg(1000)->Arg(4000);

void BM_TranslateCollective(benchmark::State& state) {
  Run(state, PaddleJobJson(0, static_cast<int>(state.range(0))), static_cast<int>(state.range(0)));
}
BENCHMARK(BM_TranslateCollective)->ArgName("workers")->Arg(10)->Arg(40)->Arg(100)->Arg(400)->Arg(1000)->Arg(4000);

}  // namespace
}  // namespace gangway::convert
