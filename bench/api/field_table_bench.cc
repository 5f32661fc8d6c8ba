// How long does it take to read and write a Job of 4 KB, and to judge the bytes of one from outside?
#include <benchmark/benchmark.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "api/core/pod.h"
#include "api/field_table.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/quantity.h"
#include "api/volcano/job.h"
#include "base/check.h"

namespace gangway::api {
namespace {

// One task of a parameter-server job, as a user writes it.
std::string Task(absl::string_view name, absl::string_view role) {
  std::string env;
  for (int i = 0; i < 12; ++i)
    absl::StrAppend(&env, i == 0 ? "" : ",", R"({"name":"CTR_SETTING_)", i, R"(","value":"value of setting )", i,
                    "\"}");
  return absl::StrCat(
      R"({"name":")", name,
      R"(","replicas":2,"policies":[{"event":"TaskCompleted","action":"CompleteJob"}],"template":{"metadata":{"labels":{"paddle-job-)",
      role,
      R"(":"ctr"}},"spec":{"imagePullSecrets":[{"name":"default-secret"}],"volumes":[{"hostPath":{"path":"/home/work/","type":""},"name":"seqdata"}],)",
      R"("containers":[{"image":"volcanosh/edlctr:v1","imagePullPolicy":"IfNotPresent","name":")", name,
      R"(","command":["paddle_k8s","start_)", role,
      R"("],"env":[{"name":"GLOG_v","value":"0"},{"name":"NAMESPACE","valueFrom":{"fieldRef":{"fieldPath":"metadata.namespace"}}},)",
      env,
      R"(],"ports":[{"containerPort":30236,"name":"jobport-30236","protocol":"TCP"}],"resources":{"limits":{"cpu":"1000m","memory":"512Mi"},)",
      R"("requests":{"cpu":"500m","memory":"256Mi","ephemeral-storage":"1Gi"}},"volumeMounts":[{"mountPath":"/mnt/seqdata","name":"seqdata"}]}],"restartPolicy":"OnFailure"}}})");
}

std::string JobOf4KB() {
  std::string json = absl::StrCat(
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"ctr-volcano","namespace":"default","uid":"8f2a7f5a-4f8c-4c70-9d2c-0d5f4d1a1a11",)",
      R"("resourceVersion":"1234","generation":1,"creationTimestamp":"2026-11-21T05:11:53Z","labels":{"team":"ads"},"managedFields":[{"manager":"kubectl","operation":"Update",)",
      R"("apiVersion":"batch.volcano.sh/v1alpha1","time":"2026-11-21T05:11:53Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{".":{},"f:minAvailable":{},"f:queue":{}}}}]},)",
      R"("spec":{"minAvailable":4,"schedulerName":"volcano","queue":"default","maxRetry":3,"policies":[{"event":"PodEvicted","action":"RestartJob"},{"event":"PodFailed","action":"RestartJob"}],)",
      R"("plugins":{"env":[],"svc":[]},"tasks":[)", Task("pserver", "pserver"), ",", Task("trainer", "trainer"),
      R"(]},"status":{"state":{"phase":"Running","lastTransitionTime":"2026-11-21T05:11:55Z"},"minAvailable":4,"running":4,"taskStatusCount":{"pserver":{"phase":{"Running":2}},"trainer":{"phase":{"Running":2}}},)",
      R"("conditions":[{"status":"Pending","lastTransitionTime":"2026-11-21T05:11:53Z"},{"status":"Running","lastTransitionTime":"2026-11-21T05:11:55Z"}]}})");
  GW_CHECK(json.size() > 3900 && json.size() < 4300);
  GW_CHECK(ParseCompletely(json).ok());
  return json;
}

std::string Pod() {
  return R"({"metadata":{"name":"ctr-volcano-trainer-0","namespace":"default","uid":"8f2a7f5a-4f8c-4c70-9d2c-0d5f4d1a1a11","labels":{"volcano.sh/job-name":"ctr-volcano"}},"spec":{"nodeName":"n1",)"
         R"("schedulerName":"volcano","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"500m","memory":"256Mi"}}}]},"status":{"phase":"Running"}})";
}

void Report(benchmark::State& state, const std::string& json) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(json.size()));
  state.SetItemsProcessed(state.iterations());
}

void BM_DecodeJob(benchmark::State& state) {
  const std::string json = JobOf4KB();
  for (auto _ : state) {
    auto job = Decode<volcano::Job>(json);
    GW_CHECK(job.ok());
    benchmark::DoNotOptimize(job);
  }
  Report(state, json);
}
BENCHMARK(BM_DecodeJob);

void BM_DecodePod(benchmark::State& state) {
  const std::string json = Pod();
  for (auto _ : state) {
    auto pod = Decode<core::Pod>(json);
    GW_CHECK(pod.ok());
    benchmark::DoNotOptimize(pod);
  }
  Report(state, json);
}
BENCHMARK(BM_DecodePod);

void BM_EncodeJob(benchmark::State& state) {
  const std::string json = JobOf4KB();
  const volcano::Job job = *Decode<volcano::Job>(json);
  std::string out;
  for (auto _ : state) {
    out.clear();
    EncodeTo(TypeOf<volcano::Job>(), &job, out);
    benchmark::DoNotOptimize(out.data());
  }
  Report(state, out);
}
BENCHMARK(BM_EncodeJob);

// Argument: whether keys that stand twice are looked for.
void BM_ParseCompletely(benchmark::State& state) {
  const std::string json = JobOf4KB();
  for (auto _ : state) {
    std::vector<std::string> duplicates;
    GW_CHECK(ParseCompletely(json, {}, state.range(0) != 0 ? &duplicates : nullptr).ok());
  }
  Report(state, json);
}
BENCHMARK(BM_ParseCompletely)->ArgName("duplicates")->Arg(0)->Arg(1);

void BM_MergePatchDiff(benchmark::State& state) {
  const std::string before = JobOf4KB();
  std::string after = before;
  after.replace(after.find("\"running\":4"), 11, "\"running\":3");
  for (auto _ : state) {
    auto patch = MergePatchDiff(before, after);
    GW_CHECK(*patch == R"({"status":{"running":3}})");
    benchmark::DoNotOptimize(patch);
  }
  Report(state, before);
}
BENCHMARK(BM_MergePatchDiff);

void BM_ParseQuantity(benchmark::State& state) {
  const std::string texts[] = {"500m", "256Mi", "1.5Gi", "16", "1e3"};
  std::size_t i = 0;
  for (auto _ : state) {
    auto quantity = Quantity::Parse(texts[i++ % std::size(texts)]);
    benchmark::DoNotOptimize(quantity);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ParseQuantity);

}  // namespace
}  // namespace gangway::api
