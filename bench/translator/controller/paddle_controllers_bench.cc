// How long after its start has the controller of PaddleJobs looked after all there are, and is it quiet then?
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/paddle_resources.h"
#include "api/resource.h"
#include "assembly/components.h"
#include "base/asio_loop.h"
#include "base/check.h"
#include "bench/clock/manual_time.h"
#include "benchmark/benchmark.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/apiserver/in_process_client.h"

namespace gangway::paddle_controller {
namespace {

constexpr absl::Duration kQuiet = absl::Seconds(2);

std::string JobText(int number) {
  const auto role = [](const char* name) {
    return absl::StrCat(
        R"(")", name,
        R"(":{"replicas":2,"template":{"spec":{"containers":[{"name":"paddle","image":"registry.baidubce.com/paddle-operator/demo-wide-and-deep:v1",
      "resources":{"requests":{"cpu":"1","memory":"1Gi"}}}]}}})");
  };
  return absl::StrCat(R"({"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","metadata":{"name":"wd-)", number,
                      R"("},"spec":{"withGloo":1,)", role("ps"), ",", role("worker"), "}}");
}

// Argument 0: PaddleJobs that are there before the controller, none of them seen yet. Nobody else runs: for each a Job
// and a status are written. `writes` are the controller's, `late_writes` those of the two seconds after the last job
// was looked after.
void BM_PaddleJobsFromCold(benchmark::State& state) {
  const auto jobs = static_cast<std::size_t>(state.range(0));
  std::size_t writes = 0, made = 0, told = 0, late = 0;
  bench::ManualTime time(state);
  for (auto _ : state) {
    AsioLoop loop(1);
    Owner owner;
    bool done = false;
    writes = made = told = late = 0;
    sandbox::ApiServerOptions options;
    options.journal = [&](const sandbox::JournalRecord& record) {
      if (record.client != "paddle" || record.resource == &api::kEvents) return;
      if (done) ++late;
      ++writes;
      made += record.resource == &api::kJobs && record.before == nullptr;
      told += record.resource == &api::paddle::kPaddleJobs && record.subresource == "status";
      if (!done && made == jobs && told >= jobs) {
        done = true;
        loop.Stop();
      }
    };
    sandbox::ApiServer server(loop, std::move(options));
    sandbox::InProcessClient user(loop, server, "user"), client(loop, server, "paddle");
    std::size_t answered = 0;
    const auto create = [&](const api::Resource& resource, const std::string& ns, std::string body) {
      kube::Request request;
      request.method = "POST";
      request.path = api::PathOf(resource, ns);
      request.body = std::move(body);
      user.Send(std::move(request), owner.token(), [&](absl::StatusOr<kube::Response> reply) {
        GW_CHECK(reply.ok() && (reply->ok() || reply->code == 409));  // the queue may be there
        if (++answered == jobs + 1) loop.Stop();
      });
    };
    create(
        api::kQueues, "",
        R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"default"},"spec":{"weight":1}})");
    for (std::size_t i = 0; i < jobs; ++i) create(api::paddle::kPaddleJobs, "default", JobText(static_cast<int>(i)));
    loop.Run();
    assembly::Options controller;
    controller.translate.target = convert::Target::kGangway;
    const auto controllers = assembly::MakeComponents(loop, client, {"paddle-controllers"}, controller);
    time.Begin();
    controllers->Start();
    loop.Run();
    time.End();
    loop.PostAt(loop.Now() + kQuiet, owner.token(), [&] { loop.Stop(); });
    loop.Run();
    if (late > 0) state.SkipWithError("it was not quiet afterwards");
  }
  state.counters["writes"] = static_cast<double>(writes);
  state.counters["late_writes"] = static_cast<double>(late);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_PaddleJobsFromCold)
    ->ArgName("jobs")
    ->Arg(500)
    ->Arg(5000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
}  // namespace gangway::paddle_controller
