// What does a call of ours cost beside an echo of the same bytes, by the same library, from the same caller? One call
// at a time over loopback, turn by turn.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/metrics.h"
#include "bench/plugin/extender/times.h"
#include "plugin/extender/server.h"
#include "proto/gangway/v1/extender.grpc.pb.h"
#include "proto/gangway/v1/session.grpc.pb.h"
#include "tests/plugin/extender/http2_caller.h"
#include "tests/process/process.h"
#include "tests/testing/raw_socket.h"

namespace gangway::extender {
namespace {

// Answers with the first bytes that it was sent, whatever is asked then.
class Echo {
 public:
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext& context, const grpc::ByteBuffer& request,
                                   grpc::ByteBuffer& response) {
    std::call_once(first_, [&] {
      grpc::Slice text;
      GW_CHECK(request.DumpToSingleSlice(&text).ok());
      answer_.assign(reinterpret_cast<const char*>(text.begin()), text.size());
    });
    const grpc::Slice copy(answer_);  // as an answer that was just made
    response = grpc::ByteBuffer(&copy, 1);
    grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

 private:
  std::once_flag first_;
  std::string answer_;
};
// The methods as ours are served: their bytes, by a callback.
class PlaceGangEcho final : public v1::GangScheduler::WithRawCallbackMethod_PlaceGang<v1::GangScheduler::Service> {
 public:
  using WithRawCallbackMethod_PlaceGang::PlaceGang;
  grpc::ServerUnaryReactor* PlaceGang(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override {
    return echo_.Answer(*context, *request, *response);
  }

 private:
  Echo echo_;
};
class PredicateEcho final : public v1::Extender::WithRawCallbackMethod_Predicate<v1::Extender::Service> {
 public:
  using WithRawCallbackMethod_Predicate::Predicate;
  grpc::ServerUnaryReactor* Predicate(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override {
    return echo_.Answer(*context, *request, *response);
  }

 private:
  Echo echo_;
};

// In a process of their own: within one, the library has whichever thread looks at it do what is there to be done, a
// caller's for the server too, who then waits until nobody asks any more. Says its two ports.
constexpr char kServe[] = "--serve";
int Serve() {
  Metrics metrics;
  const auto ours = Server::Start({}, metrics);
  GW_CHECK(ours.ok());
  PlaceGangEcho place_gang;
  PredicateEcho predicate;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&place_gang);
  builder.RegisterService(&predicate);
  const std::unique_ptr<grpc::Server> echo = builder.BuildAndStart();
  std::printf("%d %d\n", (*ours)->port(), port);
  std::fflush(stdout);
  pause();  // until it is killed
  return 0;
}

class Serving {
 public:
  Serving() {
    int ends[2];
    GW_CHECK(pipe2(ends, O_CLOEXEC) == 0);
    child_.emplace(std::vector<std::string>{"/proc/self/exe", kServe}, ends[1]);
    close(ends[1]);
    std::FILE* const said = fdopen(ends[0], "r");
    GW_CHECK(std::fscanf(said, "%d %d", &port_, &echo_port_) == 2);
    std::fclose(said);
  }
  int port() const { return port_; }
  // What the process has used of cores so far.
  double CpuSeconds() const {
    clockid_t clock{};
    timespec time{};
    GW_CHECK(clock_getcpuclockid(child_->pid(), &clock) == 0 && clock_gettime(clock, &time) == 0);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }
  // The most memory that the process has had.
  double PeakBytes() const {
    std::ifstream status(absl::StrCat("/proc/", child_->pid(), "/status"));
    double kib = 0;
    for (std::string line; std::getline(status, line);) {
      if (absl::StartsWith(line, "VmHWM:")) kib = std::strtod(line.c_str() + 6, nullptr);
    }
    return 1024 * kib;
  }
  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }
  std::string echo_address() const { return absl::StrCat("127.0.0.1:", echo_port_); }

 private:
  std::optional<testutil::ChildProcess> child_;
  int port_ = 0, echo_port_ = 0;
};

class Caller {
 public:
  explicit Caller(const std::string& address)
      : stub_(grpc::CreateChannel(address, grpc::InsecureChannelCredentials())) {}
  // Empty: it failed.
  std::string Call(const std::string& method, const std::string& bytes) {
    grpc::ClientContext context;
    const grpc::Slice slice(bytes);
    const grpc::ByteBuffer request(&slice, 1);
    auto call = stub_.PrepareUnaryCall(&context, method, request, &queue_);
    call->StartCall();
    grpc::ByteBuffer answer;
    grpc::Status status;
    call->Finish(&answer, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue_.Next(&tag, &ok);
    grpc::Slice all;
    if (!status.ok()) error_ = status.error_message();
    if (!status.ok() || !answer.DumpToSingleSlice(&all).ok()) return {};
    return {reinterpret_cast<const char*>(all.begin()), all.size()};
  }

  // Of the last that failed.
  const std::string& error() const { return error_; }

 private:
  std::string error_;
  grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer> stub_;
  grpc::CompletionQueue queue_;
};

std::string SmallGang(int nodes) {
  v1::PlaceGangRequest request;
  request.mutable_gang()->set_name("g");
  v1::Task& task = *request.mutable_gang()->add_tasks();
  task.set_name("w");
  task.set_replicas(4);
  (*task.mutable_requests())["cpu"] = "1";
  for (int i = 0; i < nodes; ++i) {
    v1::Node& node = *request.mutable_cluster()->add_nodes();
    node.set_name(absl::StrCat("node-", i));
    (*node.mutable_allocatable())["cpu"] = "16";
    (*node.mutable_allocatable())["pods"] = "110";
  }
  return request.SerializeAsString();
}

// Calls ours and the echo in turn; reports the ratio of their rates and of their 99th percentiles.
void AgainstEcho(benchmark::State& state, const std::string& method, const std::string& bytes, const Serving& serving) {
  Caller ours(serving.address()), echo(serving.echo_address());
  const std::string answer = ours.Call(method, bytes);
  if (echo.Call(method, answer) != answer) return state.SkipWithError("there is no echo");
  const auto time = [&](Caller& caller, bench::Times& times) {
    times.Add([&] {
      if (caller.Call(method, bytes) != answer) state.SkipWithError("the answer is another");
    });
  };
  bench::Times of_ours, of_echo;
  for (auto _ : state) {
    time(ours, of_ours);
    time(echo, of_echo);
  }
  state.counters["rate_of_echo"] = of_echo.Mean() / of_ours.Mean();
  state.counters["us"] = of_ours.Mean() * 1e6;
  state.counters["p50_of_echo"] = of_ours.Percentile(0.5) / of_echo.Percentile(0.5);
  state.counters["p99_of_echo"] = of_ours.Percentile(0.99) / of_echo.Percentile(0.99);
}

void BM_UnaryPlaceGang(benchmark::State& state) {
  AgainstEcho(state, "/gangway.v1.GangScheduler/PlaceGang", SmallGang(static_cast<int>(state.range(0))), Serving());
}
BENCHMARK(BM_UnaryPlaceGang)->ArgName("nodes")->Arg(6)->Arg(100)->Unit(benchmark::kMicrosecond)->UseRealTime();

// A question in a session of the server that is opened for it, and forgotten after two minutes. "": it did not come to
// be.
std::string AskInASession(const Serving& serving) {
  v1::PlaceGangRequest small;
  small.ParseFromString(SmallGang(100));
  v1::OpenSessionRequest open;
  *open.mutable_cluster() = small.cluster();
  *open.add_gangs() = small.gang();
  v1::OpenSessionResponse session;
  session.ParseFromString(Caller(serving.address()).Call("/gangway.v1.Extender/OpenSession", open.SerializeAsString()));
  if (session.gangs().empty()) return {};
  v1::PredicateRequest request;
  request.set_session(session.session());
  request.set_job(session.gangs(0).job());
  request.set_pod(request.job() + "/w/0");
  request.set_node("node-7");
  return request.SerializeAsString();
}
constexpr char kPredicate[] = "/gangway.v1.Extender/Predicate";

// What a scheduler asks for each pod and node of a session.
void BM_UnaryPredicate(benchmark::State& state) {
  const Serving serving;
  const std::string predicate = AskInASession(serving);
  if (predicate.empty()) return state.SkipWithError("there is no plan");
  AgainstEcho(state, kPredicate, predicate, serving);
}
BENCHMARK(BM_UnaryPredicate)->Unit(benchmark::kMicrosecond)->UseRealTime();

// The same beside callers who mean no good, on a machine that has no core for them alone. Argument: 0 nobody, 1 one
// that takes its calls back at once, 2 connections that are opened and reset, 3 headers whose text does not end, 4 a
// thousand connections that say nothing, 5 settings without end, 6 headers of fields that do not end. By turns alone,
// beside them (`p99_of_quiet`), and while they do the same to somebody else, who reads a little and closes: what that
// costs (`elsewhere_p99_of_quiet`) the attackers take, who share the machine, and only the rest is ours
// (`p99_of_elsewhere`). The library alone is no measure: an echo that it serves does not answer beside 1, 2 and 3.
// What is asked in a turn, unless that takes too long.
constexpr int kCallsInTurn = 1000, kFewestInTurn = 20;
constexpr std::chrono::seconds kTurn{1};
constexpr int kAttacks = 6;

// One of them, as long as it is there.
class Attacker {
 public:
  Attacker(int which, int port) : which_(which), port_(port) {
    for (int i = 0; which == 4 && i < 1000; ++i) idle_.push_back(Connect());
    if (which != 0 && which != 4) {
      thread_ = std::thread([this] {
        while (!over_) {
          Once();
          ++count_;
        }
      });
    }
  }
  ~Attacker() { End(); }
  // How often it came.
  std::int64_t End() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
    return count_;
  }

 private:
  std::unique_ptr<testutil::RawSocket> Connect() const {
    return std::make_unique<testutil::RawSocket>(static_cast<std::uint16_t>(port_));
  }
  void Flood(const std::string& begin, const std::string& more) const {
    const auto socket = Connect();
    socket->Send(begin);
    while (!over_ && socket->Send(more)) socket->TakeWhatCame();
  }
  void Once() {
    switch (which_) {
      case 1: {
        static const std::string place = SmallGang(6);
        testutil::Http2Caller caller(port_);
        while (!over_ && caller.CallAndReset("/gangway.v1.GangScheduler/PlaceGang", place)) {
        }
        return;
      }
      case 2: {
        const auto socket = Connect();
        socket->Send(testutil::EndlessTextBegin());
        return socket->Reset();
      }
      case 3:
        return Flood(testutil::EndlessTextBegin(), testutil::EndlessTextContinuation(16'000));
      case 5: {
        static const std::string settings = testutil::EmptySettings(1'000);
        return Flood(absl::StrCat(testutil::EndlessFieldsBegin(), testutil::EndlessFieldsEnd()), settings);
      }
      case 6:
        return Flood(testutil::EndlessFieldsBegin(), testutil::EndlessFieldsContinuation(16'000));
      default:
        return;
    }
  }

  const int which_, port_;
  std::vector<std::unique_ptr<testutil::RawSocket>> idle_;
  std::atomic<bool> over_ = false;
  std::int64_t count_ = 0;
  std::thread thread_;
};

// Takes connections as a server does that has no work with them.
class SomebodyElse {
 public:
  // `pause`: between two.
  explicit SomebodyElse(std::chrono::milliseconds pause) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    const timeval patience{0, 100'000};
    GW_CHECK(bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0 && listen(socket_, SOMAXCONN) == 0 &&
             getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
             setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, pause] {
      while (!over_) {
        const int taken = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
        if (taken < 0) continue;
        std::string bytes(64 << 10, '\0');
        for (ssize_t count = 0; !bytes.empty() && (count = recv(taken, bytes.data(), bytes.size(), 0)) > 0;)
          bytes.resize(bytes.size() - static_cast<std::size_t>(count));
        close(taken);
        std::this_thread::sleep_for(pause);
      }
    });
  }
  ~SomebodyElse() {
    over_ = true;
    thread_.join();
    close(socket_);
  }
  int port() const { return port_; }

 private:
  const int socket_;
  int port_ = 0;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

void BM_UnaryPredicateBesideHostileCallers(benchmark::State& state) {
  const Serving serving;
  Caller caller(serving.address());
  const auto attack = static_cast<int>(state.range(0));
  // As ours lets them in.
  const SomebodyElse other(std::chrono::milliseconds(attack == 2 ? 0 : 20));
  std::string predicate;
  const auto ask = [&](bench::Times& times) {
    const auto end = bench::Watch::now() + kTurn;
    for (int i = 0; i < kCallsInTurn && (i < kFewestInTurn || bench::Watch::now() < end); ++i) {
      times.Add([&] {
        if (caller.Call(kPredicate, predicate).empty()) state.SkipWithError(caller.error().c_str());
      });
    }
  };
  bench::Times quiet, beside, elsewhere;
  double seconds = 0, cpu_seconds = 0;
  std::int64_t attacks = 0;
  for (auto _ : state) {
    predicate = AskInASession(serving);
    ask(quiet);
    {
      Attacker attacker(attack, other.port());
      ask(elsewhere);
    }
    Attacker attacker(attack, serving.port());
    const double cpu_before = serving.CpuSeconds();
    const auto begin = bench::Watch::now();
    ask(beside);
    seconds += std::chrono::duration<double>(bench::Watch::now() - begin).count();
    cpu_seconds += serving.CpuSeconds() - cpu_before;
    attacks += attacker.End();
  }
  state.counters["p50_us"] = beside.Percentile(0.5) * 1e6;
  state.counters["p99_us"] = beside.Percentile(0.99) * 1e6;
  state.counters["p99_of_quiet"] = beside.Percentile(0.99) / quiet.Percentile(0.99);
  state.counters["elsewhere_p99_of_quiet"] = elsewhere.Percentile(0.99) / quiet.Percentile(0.99);
  state.counters["p99_of_elsewhere"] = beside.Percentile(0.99) / elsewhere.Percentile(0.99);
  state.counters["cores"] = cpu_seconds / seconds;
  state.counters["server_MB"] = serving.PeakBytes() / 1e6;
  state.counters["attacks_a_second"] = static_cast<double>(attacks) / seconds;
}
BENCHMARK(BM_UnaryPredicateBesideHostileCallers)
    ->ArgName("attack")
    ->DenseRange(0, kAttacks)
    ->Iterations(5)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

}  // namespace
}  // namespace gangway::extender

int main(int argc, char** argv) {
  if (argc == 2 && absl::string_view(argv[1]) == gangway::extender::kServe) return gangway::extender::Serve();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
