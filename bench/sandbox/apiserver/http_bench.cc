// How many creates per second does the sandbox take over HTTP from 16 clients that keep their connections?
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/asio_loop.h"
#include "base/check.h"
#include "bench/clock/manual_time.h"
#include "benchmark/benchmark.h"
#include "kube/serve/http_front.h"
#include "sandbox/apiserver/api_server.h"

namespace gangway::sandbox {
namespace {

constexpr int kClients = 16;

// A pod as the job controller makes it: about 3 KB.
std::string PodBody(const std::string& name) {
  std::string env;
  for (int i = 0; i < 20; ++i) {
    absl::StrAppend(&env, i == 0 ? "" : ",", R"({"name":"PADDLE_SETTING_NUMBER_)", i,
                    R"(","value":"/usr/local/lib:/usr/local/nvidia/lib64:/usr/local/rdma/lib64"})");
  }
  return absl::StrCat(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
      R"(","labels":{"paddle-job":"fluid-ctr","volcano.sh/job-name":"ctr-volcano","volcano.sh/task-spec":"trainer"},)",
      R"("annotations":{"scheduling.k8s.io/group-name":"ctr-volcano-7a011731-0d1e-438c-91fb-e7623941becc"}},)",
      R"("spec":{"restartPolicy":"OnFailure","schedulerName":"volcano","containers":[{"name":"trainer",)",
      R"("image":"volcanosh/edlctr:v1","command":["paddle_k8s","start_fluid"],"env":[)", env,
      R"(],"resources":{"limits":{"cpu":"10","memory":"30Gi"},"requests":{"cpu":"1","memory":"100M"}}}]}})");
}

// A blocking client.
class Client {
 public:
  explicit Client(std::uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    GW_CHECK(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    const int one = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  }
  ~Client() { close(fd_); }

  void Create(const std::string& name) {
    const std::string body = PodBody(name);
    const std::string request = absl::StrCat(
        "POST /api/v1/namespaces/default/pods HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: bench/1\r\n"
        "Accept: application/json\r\nContent-Type: application/json\r\nContent-Length: ",
        body.size(), "\r\n\r\n", body);
    GW_CHECK(send(fd_, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size()));
    std::size_t have = 0, need = 0;
    while (need == 0 || have < need) {
      const ssize_t count = recv(fd_, buffer_ + have, sizeof(buffer_) - have, 0);
      GW_CHECK(count > 0);
      have += static_cast<std::size_t>(count);
      const absl::string_view answer(buffer_, have);
      const std::size_t end = answer.find("\r\n\r\n");
      if (need != 0 || end == absl::string_view::npos) continue;
      GW_CHECK(absl::StartsWith(answer, "HTTP/1.1 201 "));
      const std::size_t length = answer.find("Content-Length: ");
      GW_CHECK(length < end);
      need = end + 4 + static_cast<std::size_t>(std::atoll(buffer_ + length + 16));
    }
  }

 private:
  const int fd_;
  char buffer_[64 << 10];
};

class ApiServerHandler : public kube::HttpHandler {
 public:
  explicit ApiServerHandler(Loop& loop) : server_(loop, {}) {}
  bool IsWatch(const kube::Request&) override { return false; }
  void HandleRequest(kube::Request request, kube::HttpCaller caller, Respond respond) override {
    respond(server_.Handle(request, Caller{std::move(caller.name)}));
  }
  WatchAnswer StartWatch(kube::Request, kube::HttpCaller, kube::Client::OnFrames, kube::Client::OnEnd) override {
    return {};
  }

 private:
  ApiServer server_;
};

// Gives the body back.
class EchoHandler : public kube::HttpHandler {
 public:
  bool IsWatch(const kube::Request&) override { return false; }
  void HandleRequest(kube::Request request, kube::HttpCaller, Respond respond) override {
    kube::Response response;
    response.code = 201;
    response.content_type = "application/json";
    response.body = MakeBytes(std::move(request.body));
    respond(std::move(response));
  }
  WatchAnswer StartWatch(kube::Request, kube::HttpCaller, kube::Client::OnFrames, kube::Client::OnEnd) override {
    return {};
  }
};

// Arguments: whether the API server stands behind the front (else an echo), and the front's threads. Processor time is
// the clients', too.
void BM_CreatesFrom16Clients(benchmark::State& state) {
  constexpr int kEach = 1000;
  kube::HttpFrontOptions options;
  options.io_threads = static_cast<int>(state.range(1));
  bench::ManualTime time(state);
  for (auto _ : state) {
    AsioLoop loop(1);
    std::unique_ptr<kube::HttpHandler> handler;
    if (state.range(0) != 0) {
      handler = std::make_unique<ApiServerHandler>(loop);
    } else {
      handler = std::make_unique<EchoHandler>();
    }
    std::unique_ptr<kube::HttpFront> front = *kube::HttpFront::Start(loop, *handler, options);
    std::thread server([&] { loop.Run(); });
    std::latch ready(kClients + 1);
    std::vector<std::thread> clients;
    for (int c = 0; c < kClients; ++c) {
      clients.emplace_back([&, c] {
        const auto client = std::make_unique<Client>(front->port());
        ready.arrive_and_wait();
        for (int i = 0; i < kEach; ++i) client->Create(absl::StrCat("ctr-", c, "-", i));
      });
    }
    ready.arrive_and_wait();
    time.Begin();
    for (std::thread& client : clients) client.join();
    time.End();
    loop.Stop();
    server.join();
    front.reset();
  }
  state.SetItemsProcessed(state.iterations() * kClients * kEach);
}
BENCHMARK(BM_CreatesFrom16Clients)
    ->ArgNames({"api_server", "io_threads"})
    ->Args({0, 1})
    ->Args({0, 2})
    ->Args({1, 1})
    ->Args({1, 2})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gangway::sandbox
