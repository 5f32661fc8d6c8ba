// What a session of Volcano's scheduler costs us: from its body to the plan, beside a program in Go that only decodes
// it; and a verb that is a look-up, beside a handler that does nothing.
#include <malloc.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/resource.h"
#include "base/check.h"
#include "bench/plugin/extender/session_body.h"
#include "bench/plugin/extender/times.h"
#include "benchmark/benchmark.h"
#include "kube/runtime/components.h"
#include "plugin/extender/http/answer.h"
#include "plugin/extender/session/decode_session.h"
#include "plugin/extender/session/json_skip.h"
#include "plugin/extender/session/session_plan.h"
#include "plugin/extender/session/session_planner.h"
#include "plugin/extender/watch/live_cluster.h"
#include "plugin/extender/work/work_pool.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/apiserver/in_process_client.h"
#include "tests/plugin/extender/http/serving.h"
#include "tests/plugin/extender/http/volcano_session.h"
#include "tests/plugin/extender/session/recordings.h"
#include "tests/process/process.h"
#include "tests/testing/fake_http_handler.h"
#include "tests/testing/files.h"
#include "tests/testing/raw_socket.h"

namespace gangway {
namespace {

using extender::SessionPlan;

const absl::Time kNow = absl::FromUnixSeconds(1'795'000'000);

// As the first session of a scheduler is planned.
std::shared_ptr<const SessionPlan> PlanOf(const std::string& body) {
  extender::SessionPlanner planner;
  const auto planned = planner.Plan(body, {}, {}, {}, kNow);
  GW_CHECK(planned.ok());
  return planned->plan;
}

// "VmRSS" of this process, in bytes.
double OfThisProcess(const char* what) {
  double kib = 0;
  for (const absl::string_view line : absl::StrSplit(testutil::ReadFile("/proc/self/status"), '\n')) {
    if (absl::StartsWith(line, what))
      GW_CHECK(absl::SimpleAtod(absl::StripSuffix(absl::StripAsciiWhitespace(line.substr(line.find(':') + 1)), " kB"),
                                &kib));
  }
  return 1024 * kib;
}
// How much more memory the process has while `call` runs, at its most.
template <class F>
double PeakBytes(F call) {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";  // the most so far is forgotten
  const double before = OfThisProcess("VmRSS");
  call();
  return OfThisProcess("VmHWM") - before;
}

// Arguments: nodes, running and pending pods.
void BM_SessionToPlan(benchmark::State& state) {
  const std::string body = bench::SessionBody(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)),
                                              static_cast<int>(state.range(2)));
  for (auto _ : state) {
    if (PlanOf(body)->placed() != state.range(2)) state.SkipWithError("not all pods that wait were placed");
  }
  const double peak = PeakBytes([&] { benchmark::DoNotOptimize(PlanOf(body)); });
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
  state.counters["body_MB"] = static_cast<double>(body.size()) / 1e6;
  state.counters["peak_percent_of_body"] = 100.0 * peak / static_cast<double>(body.size());
}
BENCHMARK(BM_SessionToPlan)
    ->ArgNames({"nodes", "running", "pending"})
    ->Args({100, 400, 200})
    ->Args({325, 1300, 650})  // 25 MB
    ->Args({1000, 4000, 2000})
    ->Args({10000, 40000, 20000})
    ->Unit(benchmark::kMillisecond);

void BM_SessionDecode(benchmark::State& state) {
  const std::string body = bench::SessionBody(1000, 4000, 2000);
  for (auto _ : state) {
    model::Cluster cluster;
    GW_CHECK(extender::DecodeSession(body, {}, cluster).ok());
    benchmark::DoNotOptimize(cluster.version());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}
BENCHMARK(BM_SessionDecode)->Unit(benchmark::kMillisecond);

// As a scheduler sends it each second while nothing happens: it is read, and the plan is kept.
void BM_SessionAgain(benchmark::State& state) {
  const std::string body = bench::SessionBody(1000, 6000, 0);
  extender::SessionPlanner planner;
  GW_CHECK(planner.Plan(body, {}, {}, {}, kNow).ok());
  for (auto _ : state) {
    const auto planned = planner.Plan(body, {}, {}, {}, kNow);
    if (!planned.ok() || !planned->kept) state.SkipWithError("the plan was not kept");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}
BENCHMARK(BM_SessionAgain)->Unit(benchmark::kMillisecond);

// The time is the peer's; the counter says how often ours fits into it, measured right before and after.
void BM_GoPeerDecode(benchmark::State& state) {
  if (testutil::RunProgram({"go", "version"}).exit_code != 0) {
    state.counters["go_is_missing"] = 1;
    for (auto _ : state) state.SetIterationTime(1e-9);
    return;
  }
  const testutil::TemporaryFolder folder("session-peer");
  const std::string program = folder.path() + "/session_decode", file = folder.path() + "/body.json";
  const testutil::Outcome built = testutil::RunProgram(
      {"go", "build", "-C", GW_SOURCE_DIR "/bench/peers/session_decode", "-o", program, "."}, {"GOFLAGS=-mod=mod"});
  if (built.exit_code != 0) return state.SkipWithError(built.err.c_str());
  const std::string body = bench::SessionBody(1000, 4000, 2000);
  testutil::WriteFile(file, body);
  const auto ours = [&] {
    const auto begin = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(PlanOf(body));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  double our_time = 0, their_time = 0;
  for (auto _ : state) {
    const double before = std::min(ours(), ours());
    const testutil::Outcome ran = testutil::RunProgram({program, file, "3"}, {"GOMAXPROCS=1"});
    double nanoseconds = 0;
    if (ran.exit_code != 0 || !absl::SimpleAtod(absl::StripAsciiWhitespace(ran.out), &nanoseconds))
      return state.SkipWithError(ran.err.c_str());
    our_time += std::min(before, ours());
    their_time += nanoseconds * 1e-9;
    state.SetIterationTime(nanoseconds * 1e-9);
  }
  state.counters["ours_is_times_faster"] = their_time / our_time;
}
BENCHMARK(BM_GoPeerDecode)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(2);

// What finding an answer costs, without its way here and back.
void BM_LookUp(benchmark::State& state, const char* verb, const char* recording) {
  const std::string body = testutil::Recorded(recording).body;
  const auto plan = PlanOf(testutil::Recorded("onSessionOpen-6").body);
  const extender::Verb which = *extender::VerbOfPath(absl::StrCat("/", verb));
  for (auto _ : state) {
    const auto answer = extender::AnswerVerb(which, body, plan.get());
    if (!answer.ok()) state.SkipWithError("no answer");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
  state.counters["body_KB"] = static_cast<double>(body.size()) / 1e3;
}
BENCHMARK_CAPTURE(BM_LookUp, predicate, "predicate", "predicate-5")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_LookUp, prioritize, "prioritize", "prioritize-6")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_LookUp, jobEnqueueable, "jobEnqueueable", "jobEnqueueable-3")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_LookUp, jobEnqueued, "jobEnqueued", "jobEnqueued-2")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_LookUp, jobReady, "jobReady", "jobReady-3")->Unit(benchmark::kMicrosecond);

// A request and its answer on one connection that stays, again and again; another where the server has closed it, as
// Go's client does.
class Asker {
 public:
  Asker(int port, std::string path, const std::string& body)
      : port_(static_cast<std::uint16_t>(port)),
        request_(absl::StrCat("POST ", path, " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ", body.size(),
                              "\r\n\r\n", body)) {}
  bool Ask() { return !Answer().empty(); }
  // With its header.
  std::string Answer() {
    std::string answer;
    // Where others open connections by thousands, the door closes those that wait, of good callers, too.
    for (int i = 0; i < kTries && answer.empty(); ++i) {
      if (socket_ == nullptr || i > 0) socket_ = std::make_unique<testutil::RawSocket>(port_), ++connections_;
      socket_->Send(request_);
      answer = socket_->ReadAnswer();
    }
    return answer;
  }
  int connections() const { return connections_; }

 private:
  static constexpr int kTries = 20;
  const std::uint16_t port_;
  const std::string request_;
  std::unique_ptr<testutil::RawSocket> socket_;
  int connections_ = 0;
};

// As `gangway extender` has it.
kube::HttpFrontOptions Door() {
  kube::HttpFrontOptions options = testutil::Serving::Front();
  options.max_connections = 256;
  options.replace_idle = true;
  options.max_header_fields = 64;
  return options;
}

extender::VerbOptions FullMode() {
  extender::VerbOptions options;
  options.mode = extender::Mode::kFull;
  return options;
}

// A session in which one gang of four has room and one has not.
void OpenSession(int port) { Asker(port, "/x/onSessionOpen", testutil::Recorded("onSessionOpen-6").body).Ask(); }

// Ours; below /no-op what answers as ours did and does nothing for it; below /skim what looks where the body ends, too,
// as every reader of it must.
class LookUps final : public kube::HttpHandler {
 public:
  explicit LookUps(Loop& loop) : ours_(loop, FullMode(), metrics_) {}
  void AnswerElsewhere(const std::string& body) { answer_ = testutil::MakeResponse(200, body); }
  bool IsWatch(const kube::Request& request) override { return ours_.IsWatch(request); }
  void HandleRequest(kube::Request request, kube::HttpCaller caller, Respond respond) override {
    ours_.HandleRequest(std::move(request), std::move(caller), std::move(respond));
  }
  std::optional<Reply> AnswerAtOnce(const kube::Request& request, const kube::HttpCaller& caller) override {
    if (absl::StartsWith(request.path, "/no-op/")) return answer_;
    if (!absl::StartsWith(request.path, "/skim/")) return ours_.AnswerAtOnce(request, caller);
    GW_CHECK(extender::EndOfValue(request.body, 0) == request.body.size());
    return answer_;
  }
  WatchAnswer StartWatch(kube::Request request, kube::HttpCaller caller, kube::Client::OnFrames on_frames,
                         kube::Client::OnEnd on_end) override {
    return ours_.StartWatch(std::move(request), std::move(caller), std::move(on_frames), std::move(on_end));
  }

 private:
  Metrics metrics_;
  extender::VerbHandler ours_;
  kube::Response answer_;
};
class LookUpServing {
 public:
  LookUpServing() {
    thread_.Run([&] {
      look_ups_ = std::make_unique<LookUps>(thread_.loop());
      front_ = *kube::HttpFront::Start(thread_.loop(), *look_ups_, Door());
    });
    OpenSession(port());
  }
  ~LookUpServing() {
    thread_.Run([&] {
      front_.reset();
      look_ups_.reset();
    });
  }
  int port() const { return front_->port(); }
  LookUps& look_ups() { return *look_ups_; }

 private:
  testutil::LoopThread thread_;
  std::unique_ptr<LookUps> look_ups_;
  std::unique_ptr<kube::HttpFront> front_;
};

// The calling thread, and those that it starts meanwhile, run on one processor of those that they had, where there are
// two.
class OnProcessor {
 public:
  explicit OnProcessor(int which) {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int processor = 0, seen = 0; processor < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++processor) {
      if (CPU_ISSET(processor, &before_) && seen++ == which) CPU_SET(processor, &one);
    }
    if (CPU_COUNT(&one) == 1) sched_setaffinity(0, sizeof one, &one);
  }
  ~OnProcessor() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

// Ours, and what does less, by turns of many calls, on the same server and with the caller on another processor: else
// it is chance, for each of them anew, whether a call wakes a processor.
void BM_LookUpOverHttp(benchmark::State& state, const char* verb, const char* recording) {
  constexpr std::size_t kCallsInTurn = 50;
  const std::string body = testutil::Recorded(recording).body;
  auto on_processor = std::make_unique<OnProcessor>(1);
  LookUpServing serving;
  on_processor.reset();
  on_processor = std::make_unique<OnProcessor>(0);
  const auto below = [&](absl::string_view path) {
    return Asker(serving.port(), absl::StrCat("/", path, "/", verb), body);
  };
  Asker ours = below("x"), no_op = below("no-op"), skim = below("skim");
  const std::string answer = ours.Answer();
  serving.look_ups().AnswerElsewhere(answer.substr(answer.find("\r\n\r\n") + 4));  // nobody asks it yet
  bench::Times of_ours, of_no_op, of_skim;
  const std::vector<std::pair<Asker*, bench::Times*>> turns = {
      {&ours, &of_ours}, {&no_op, &of_no_op}, {&skim, &of_skim}};
  std::size_t calls = 0;
  for (auto _ : state) {
    Asker& asker = *turns[calls / kCallsInTurn % turns.size()].first;
    turns[calls++ / kCallsInTurn % turns.size()].second->Add([&] {
      if (!asker.Ask()) state.SkipWithError("no answer");
    });
  }
  state.counters["body_KB"] = static_cast<double>(body.size()) / 1e3;
  state.counters["us"] = of_ours.Mean() * 1e6;
  state.counters["rate_of_no_op"] = of_no_op.Mean() / of_ours.Mean();
  state.counters["rate_of_skim"] = of_skim.Mean() / of_ours.Mean();
  state.counters["p50_of_no_op"] = of_ours.Percentile(0.5) / of_no_op.Percentile(0.5);
  state.counters["p50_of_skim"] = of_ours.Percentile(0.5) / of_skim.Percentile(0.5);
  state.counters["p99_of_no_op"] = of_ours.Percentile(0.99) / of_no_op.Percentile(0.99);
}
constexpr int kCalls = 9000;  // so that each has its turns
BENCHMARK_CAPTURE(BM_LookUpOverHttp, predicate, "predicate", "predicate-5")
    ->Iterations(kCalls)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_LookUpOverHttp, prioritize, "prioritize", "prioritize-6")
    ->Iterations(kCalls)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_LookUpOverHttp, jobEnqueueable, "jobEnqueueable", "jobEnqueueable-3")
    ->Iterations(kCalls)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_LookUpOverHttp, jobEnqueued, "jobEnqueued", "jobEnqueued-2")
    ->Iterations(kCalls)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_LookUpOverHttp, jobReady, "jobReady", "jobReady-3")
    ->Iterations(kCalls)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

// The same beside callers who mean no good, and alone, by turns. Argument: 0 nobody, 1 connections that are reset
// within a body, 2 bodies that are announced too large, 3 bodies that are no JSON, 4 a hundred connections that say
// nothing, 5 a hundred bodies that come byte by byte, 6 bodies nested deeply, 7 headers of many fields, 8 ten thousand
// connections that say nothing.
void BM_PredicateBesideHostileCallers(benchmark::State& state) {
  constexpr int kCallsInTurn = 1000;
  const std::string body = testutil::Recorded("predicate-5").body, torn = body.substr(0, body.size() / 2) + "}";
  const std::string nested = absl::StrCat("{\"task\":{\"Pod\":", std::string(60'000, '['));
  std::string fields;
  for (int i = 0; fields.size() < 30'000; ++i) absl::StrAppend(&fields, "X-", i, ": ", i, "\r\n");
  const testutil::Serving serving(FullMode(), Door());
  OpenSession(serving.port());
  const auto connect = [&] {
    return std::make_unique<testutil::RawSocket>(static_cast<std::uint16_t>(serving.port()));
  };
  const auto announced = [](std::size_t length, absl::string_view more = "") {
    return absl::StrCat("POST /x/predicate HTTP/1.1\r\nHost: 127.0.0.1\r\n", more, "Content-Length: ", length,
                        "\r\n\r\n");
  };
  std::vector<std::unique_ptr<testutil::RawSocket>> slow;
  std::size_t next = 0;
  const std::function<void()> attack[] = {
      nullptr,
      [&] {
        const auto socket = connect();
        socket->Send(announced(50'000) + "{\"task\":{");
        socket->Reset();
      },
      [&] {
        const auto socket = connect();
        socket->Send(announced(std::size_t{1} << 40));
        socket->ReadAnswer();
      },
      [&] { Asker(serving.port(), "/x/predicate", torn).Ask(); },
      nullptr,
      [&] { slow[next++ % slow.size()]->Send(" "); },
      [&] { Asker(serving.port(), "/x/predicate", nested).Ask(); },
      [&] {
        const auto socket = connect();
        socket->Send(announced(body.size(), fields) + body);
        socket->ReadAnswer();
      },
      nullptr,
  };
  if (state.range(0) == 8) {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_max < 11'000) return state.SkipWithError("this process may not have ten thousand connections");
  }
  const int idle_ones = state.range(0) == 8 ? 10'000 : state.range(0) == 4 ? 100 : 0;
  std::atomic<bool> over = false;
  std::atomic<std::int64_t> attacks = 0;
  Asker asker(serving.port(), "/x/predicate", body);
  bench::Times quiet, beside;
  const auto ask = [&] {
    if (!asker.Ask()) state.SkipWithError("no answer");
  };
  for (auto _ : state) {
    for (int i = 0; i < kCallsInTurn; ++i) quiet.Add(ask);
    over = false;
    slow.clear();
    for (int i = 0; state.range(0) == 5 && i < 100; ++i) {
      slow.push_back(connect());
      slow.back()->SendAtOnce();
      slow.back()->Send(announced(1'000'000));
    }
    std::vector<std::unique_ptr<testutil::RawSocket>> idle;
    std::thread attacker([&] {
      for (int i = 0; i < idle_ones && !over; ++i, ++attacks) idle.push_back(connect());
      while (!over && attack[state.range(0)] != nullptr) {
        attack[state.range(0)]();
        ++attacks;
      }
    });
    for (int i = 0; i < kCallsInTurn; ++i) beside.Add(ask);
    over = true;
    attacker.join();
  }
  state.counters["p99_us"] = beside.Percentile(0.99) * 1e6;
  state.counters["p99_of_quiet"] = beside.Percentile(0.99) / quiet.Percentile(0.99);
  state.counters["attacks"] = static_cast<double>(attacks);
  state.counters["connections"] = asker.connections();
}
BENCHMARK(BM_PredicateBesideHostileCallers)
    ->ArgName("attack")
    ->DenseRange(0, 8)
    ->Iterations(5)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Mode light: what a scheduler waits for whose question finds something new, so that a plan is made; and for how long
// others are kept from their answers by that, who need no plan. Arguments: nodes, PodGroups that wait for their turn.
class LightServing {
 public:
  LightServing(int nodes, int groups) {
    thread_.Run([&] {
      server_ = std::make_unique<sandbox::ApiServer>(thread_.loop(), sandbox::ApiServerOptions{});
      client_ = std::make_unique<sandbox::InProcessClient>(thread_.loop(), *server_, "extender");
      for (int i = 0; i < nodes; ++i) {
        Create(api::kNodes, absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"node-)", i,
                                         R"("},"status":{"allocatable":{"cpu":"16","memory":"64Gi","pods":"110"}}})"));
      }
      for (int i = 0; i < groups; ++i) AddGroup();
      components_ = std::make_unique<kube::Components>(thread_.loop(), *client_);
      extender::LiveClusterOptions options;
      options.budget = absl::Minutes(1);
      options.run = [this](auto work) { planner_->Offer(std::move(work)); };
      auto live = std::make_unique<extender::LiveCluster>(components_->informers(), std::move(options));
      live_ = live.get();
      components_->Add(std::move(live));
      components_->Start();
      extender::VerbOptions verbs;
      verbs.budget = absl::Minutes(1);
      verbs.live = {[this](auto then) { live_->Ask(std::move(then)); }, [this] { return live_->last(); },
                    [this] { return live_->up_to_date(); }};
      handler_ = std::make_unique<extender::VerbHandler>(thread_.loop(), std::move(verbs), metrics_);
      front_ = *kube::HttpFront::Start(thread_.loop(), *handler_);
    });
    GW_CHECK(testutil::Eventually([&] { return thread_.Run([&] { return live_->up_to_date(); }); }));
  }
  ~LightServing() {
    thread_.Run([&] {
      front_.reset();
      handler_.reset();
      planner_.reset();
      components_.reset();
      client_.reset();
      server_.reset();
    });
  }
  void AddGroup() {
    Create(api::kPodGroups,
           absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"g)",
                        groups_++,
                        R"("},"spec":{"minMember":8,"minTaskMember":{"w":8},"queue":"default","minResources":{"cpu":)"
                        R"("72"}}})"));
  }
  int port() const { return front_->port(); }
  testutil::LoopThread& thread() { return thread_; }

 private:
  void Create(const api::Resource& resource, const std::string& body) {
    kube::Request request;
    request.method = "POST";
    request.path = api::PathOf(resource, resource.namespaced ? "default" : "");
    request.body = body;
    GW_CHECK(server_->Handle(request, {"bench"}).ok());
  }

  Metrics metrics_;
  testutil::LoopThread thread_;
  int groups_ = 0;
  std::unique_ptr<sandbox::ApiServer> server_;
  std::unique_ptr<sandbox::InProcessClient> client_;
  std::unique_ptr<kube::Components> components_;
  extender::LiveCluster* live_ = nullptr;
  std::unique_ptr<extender::WorkPool> planner_ = std::make_unique<extender::WorkPool>(1, 2);
  std::unique_ptr<extender::VerbHandler> handler_;
  std::unique_ptr<kube::HttpFront> front_;
};

void BM_JobEnqueueableInModeLight(benchmark::State& state) {
  LightServing serving(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  Asker asker(serving.port(), "/x/jobEnqueueable", R"({"job":{"UID":"default/g0"}})");
  asker.Ask();
  double held = 0;
  for (auto _ : state) {
    serving.thread().Run([&] { serving.AddGroup(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(110));  // no plan is made sooner
    std::atomic<bool> answered = false;
    std::thread others([&] {
      while (!answered) {
        const auto begin = std::chrono::steady_clock::now();
        serving.thread().Run([] { return 0; });
        held = std::max(held, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      }
    });
    const auto begin = std::chrono::steady_clock::now();
    if (!asker.Ask()) state.SkipWithError("no answer");
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    answered = true;
    others.join();
  }
  state.counters["others_wait_ms"] = held * 1e3;
}
BENCHMARK(BM_JobEnqueueableInModeLight)
    ->ArgNames({"nodes", "groups"})
    ->Args({1000, 500})
    ->Args({5000, 2000})
    ->Iterations(10)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gangway
