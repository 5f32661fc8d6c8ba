// How many commits does the sandbox's store take, how many checked updates its router, and what do many pods weigh?
#include <malloc.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/check.h"
#include "base/simulated_loop.h"
#include "benchmark/benchmark.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/apiserver/store/store.h"

namespace gangway::sandbox {
namespace {

// A pod as the job controller makes it: about 4 KB with what the server adds.
std::string PodBody(int index) {
  std::string env;
  for (int i = 0; i < 24; ++i) {
    absl::StrAppend(&env, i == 0 ? "" : ",", R"({"name":"PADDLE_SETTING_NUMBER_)", i,
                    R"(","value":"/usr/local/lib:/usr/local/nvidia/lib64:/usr/local/rdma/lib64"})");
  }
  return absl::StrCat(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"ctr-volcano-trainer-)", index,
      R"(","labels":{"paddle-job":"fluid-ctr","volcano.sh/job-name":"ctr-volcano","volcano.sh/job-namespace":"default",)",
      R"("volcano.sh/queue-name":"default","volcano.sh/task-index":")", index,
      R"(","volcano.sh/task-spec":"trainer"},)",
      R"("annotations":{"scheduling.k8s.io/group-name":"ctr-volcano-7a011731-0d1e-438c-91fb-e7623941becc",)",
      R"("volcano.sh/job-version":"0","volcano.sh/template-uid":"ctr-volcano-trainer"},)",
      R"("ownerReferences":[{"apiVersion":"example.com/v1","kind":"Job","name":"ctr-volcano","uid":)",
      R"("7a011731-0d1e-438c-91fb-e7623941becc","controller":true,"blockOwnerDeletion":true}]},)",
      R"("spec":{"restartPolicy":"OnFailure","schedulerName":"volcano","containers":[{"name":"trainer",)",
      R"("image":"volcanosh/edlctr:v1","command":["paddle_k8s","start_fluid"],"env":[)", env,
      R"(],"resources":{"limits":{"cpu":"10","memory":"30Gi"},"requests":{"cpu":"1","memory":"100M"}},)",
      R"("volumeMounts":[{"mountPath":"/mnt/seqdata","name":"seqdata"}]}],)",
      R"("volumes":[{"name":"seqdata","hostPath":{"path":"/home/work/","type":""}}]}})");
}

kube::Request Ask(std::string method, std::string path, std::string body, std::string content_type = {}) {
  kube::Request request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.body = std::move(body);
  request.content_type = std::move(content_type);
  return request;
}

constexpr char kPods[] = "/api/v1/namespaces/default/pods";
const Caller kCaller{"bench"};

std::size_t HeapBytes() { return mallinfo2().uordblks; }

// Argument: objects that are replaced in turn. Bytes of 4 KB, made beforehand.
void BM_CommitPreparedBytes(benchmark::State& state) {
  const auto objects = static_cast<std::uint64_t>(state.range(0));
  Store store;
  const Bytes json = MakeBytes(std::string(4096, 'x'));
  std::vector<Record> prepared(objects);
  for (std::uint64_t i = 0; i < objects; ++i) {
    Record& record = prepared[i];
    record.resource = &api::kPods;
    record.key = {"default", absl::StrCat("pod-", i)};
    record.uid = absl::StrCat("7a011731-0d1e-438c-91fb-", 100000000000 + i);
    record.json = json;
    record.labels.Add("volcano.sh/job-name", "ctr-volcano");
    record.fields.Add("spec.nodeName", "node-003");
  }
  std::uint64_t i = 0;
  for (auto _ : state) {
    auto record = std::make_shared<Record>(prepared[i++ % objects]);
    record->revision = store.next_revision();
    store.Put(std::move(record));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_CommitPreparedBytes)->ArgName("objects")->Arg(1000)->Arg(100000);

// A status patch of a 4 KB pod through the router: parsed, checked, defaulted, compared, written, indexed.
void BM_CheckedUpdate(benchmark::State& state) {
  SimulatedLoop loop(1);
  ApiServer server(loop, {});
  for (int i = 0; i < 100; ++i) GW_CHECK(server.Handle(Ask("POST", kPods, PodBody(i)), kCaller).code == 201);
  std::uint64_t i = 0;
  for (auto _ : state) {
    const kube::Response response = server.Handle(
        Ask("PATCH", absl::StrCat(kPods, "/ctr-volcano-trainer-", i % 100, "/status"),
            absl::StrCat(R"({"status":{"phase":"Running","podIP":"10.0.)", (i / 256) % 256, ".", i % 256, R"("}})"),
            "application/merge-patch+json"),
        kCaller);
    GW_CHECK(response.code == 200);
    ++i;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_CheckedUpdate);

// The same by PUT of the whole object.
void BM_CheckedReplace(benchmark::State& state) {
  SimulatedLoop loop(1);
  ApiServer server(loop, {});
  GW_CHECK(server.Handle(Ask("POST", kPods, PodBody(0)), kCaller).code == 201);
  const std::string path = absl::StrCat(kPods, "/ctr-volcano-trainer-0");
  std::string body = *server.Handle(Ask("GET", path, ""), kCaller).body;
  const std::size_t at = body.find("\"resourceVersion\":\"") + 19;
  body.erase(at, body.find('"', at) - at);
  std::uint64_t i = 0;
  for (auto _ : state) {
    const std::string changed =
        absl::StrReplaceAll(body, {{R"("paddle-job":"fluid-ctr")", absl::StrCat(R"("paddle-job":"f)", i++, "\"")}});
    const kube::Response response = server.Handle(Ask("PUT", path, changed), kCaller);
    GW_CHECK(response.code == 200);
  }
  state.counters["object_bytes"] = static_cast<double>(body.size());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_CheckedReplace);

// Creation of 4 KB pods through the router, and what each then weighs.
void BM_CreatePods(benchmark::State& state) {
  const int pods = static_cast<int>(state.range(0));
  for (auto _ : state) {
    SimulatedLoop loop(1);
    const std::size_t before = HeapBytes();
    auto server = std::make_unique<ApiServer>(loop, ApiServerOptions{});
    for (int i = 0; i < pods; ++i) GW_CHECK(server->Handle(Ask("POST", kPods, PodBody(i)), kCaller).code == 201);
    const std::size_t used = HeapBytes() - before;
    state.counters["heap_MiB"] = static_cast<double>(used) / (1 << 20);
    state.counters["object_bytes"] = static_cast<double>(
        server->Handle(Ask("GET", absl::StrCat(kPods, "/ctr-volcano-trainer-1"), ""), kCaller).body->size());
  }
  state.SetItemsProcessed(state.iterations() * pods);
}
BENCHMARK(BM_CreatePods)->ArgName("pods")->Arg(100000)->Iterations(1)->Unit(benchmark::kMillisecond);

// Reading everything in pages of 500, as an informer does.
void BM_ListInPages(benchmark::State& state) {
  SimulatedLoop loop(1);
  ApiServer server(loop, {});
  for (int i = 0; i < 10000; ++i) GW_CHECK(server.Handle(Ask("POST", kPods, PodBody(i)), kCaller).code == 201);
  for (auto _ : state) {
    int pages = 0;
    std::string query = "limit=500";
    while (!query.empty()) {
      kube::Request request = Ask("GET", kPods, "");
      request.query = query;
      const kube::Response page = server.Handle(request, kCaller);
      ++pages;
      const std::size_t at = page.body->substr(0, 400).find("\"continue\":\"");
      query = at == std::string::npos
                  ? ""
                  : absl::StrCat("limit=500&continue=",
                                 page.body->substr(at + 12, page.body->find('"', at + 12) - at - 12));
    }
    GW_CHECK(pages == 20);
  }
  state.SetItemsProcessed(state.iterations() * 10000);
}
BENCHMARK(BM_ListInPages)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gangway::sandbox
