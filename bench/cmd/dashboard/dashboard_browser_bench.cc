// What does somebody who looks at the dashboard wait for, and what does a page cost that is open? A sandbox of 1,000
// nodes, 1,000 jobs of four pods, `gangway dashboard` beside it, and a real browser (chromium) that is there already.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/check.h"
#include "benchmark/benchmark.h"
#include "kube/client/http_client.h"
#include "tests/cmd/dashboard/browser.h"
#include "tests/e2e/gangway_process.h"
#include "tests/process/process.h"
#include "tests/testing/loop_thread.h"

namespace gangway {
namespace {

using testutil::Browser;
using testutil::ChildProcess;
using testutil::ReadFile;
using testutil::UseOf;

constexpr int kJobs = 1000;
constexpr absl::Duration kPatience = absl::Minutes(5);

template <class Condition>
void Await(const Condition& condition, absl::Duration every) {
  for (const absl::Time end = absl::Now() + kPatience; !condition(); absl::SleepFor(every)) GW_CHECK(absl::Now() < end);
}

// The cluster, its page and a client, for all benches.
class Cluster {
 public:
  static Cluster& Only() {
    static Cluster& only = *new Cluster;
    return only;
  }
  const std::string& page() const { return page_; }
  pid_t dashboard() const { return dashboard_->pid(); }
  void CreateQueue(const std::string& name) {
    const std::string body =
        absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":")", name,
                     R"("},"spec":{}})");
    testutil::Inbox<int> code;
    client_->Send({"POST", "/apis/scheduling.volcano.sh/v1beta1/queues", "", "application/json", "", body},
                  owner_.token(),
                  [&](absl::StatusOr<kube::Response> reply) { code.Put(reply.ok() ? reply->code : 0); });
    GW_CHECK(code.Take() == 201);
  }

 private:
  Cluster() {
    std::string jobs;
    for (int i = 0; i < kJobs; ++i) {
      absl::StrAppend(
          &jobs, "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: training-", 1000 + i,
          "}\nspec: {minAvailable: 4, tasks: [{name: worker, replicas: 4, template: {spec: {containers: "
          "[{name: w, image: i, resources: {requests: {cpu: 1}, limits: {nvidia.com/gpu: 1}}}]}}}]}\n---\n");
    }
    testutil::WriteFile(folder_.path() + "/jobs.yaml", jobs);
    const std::string out = folder_.path() + "/sandbox", kubeconfig = folder_.path() + "/kubeconfig";
    sandbox_ = std::make_unique<ChildProcess>(
        std::vector<std::string>{GW_GANGWAY, "sandbox", "--quiet", "--kubeconfig", kubeconfig, "--node-shape",
                                 "nvidia.com/gpu=8,count=1000", "--apply", folder_.path() + "/jobs.yaml"},
        out);
    Await([&] { return !After(out, "API server at ").empty(); }, absl::Milliseconds(20));
    const std::string said = folder_.path() + "/dashboard";
    dashboard_ = std::make_unique<ChildProcess>(
        std::vector<std::string>{GW_GANGWAY, "dashboard", "--listen", "127.0.0.1:0", "--kubeconfig", kubeconfig}, said);
    Await([&] { return !After(said, "dashboard at ").empty(); }, absl::Milliseconds(20));
    page_ = After(said, "dashboard at ");
    kube::Connection connection;
    connection.server = After(out, "API server at ");
    client_ = *kube::HttpClient::Make(thread_.loop(), connection);
    // All are there and run; then it is quiet.
    Browser browser(1280, 1000);
    browser.Open(page_);
    Await(
        [&] {
          GW_CHECK(!sandbox_->Ended());
          return browser.Evaluate(
                     "[...document.querySelectorAll('#jobs details')].filter(d => "
                     "d.textContent.includes('Running')).length") == absl::StrCat(kJobs);
        },
        absl::Seconds(1));
    absl::SleepFor(absl::Seconds(10));
  }
  static std::string After(const std::string& file, const std::string& before) {
    const std::string text = ReadFile(file);
    const std::size_t at = text.find(before), end = text.find('\n', at == std::string::npos ? text.size() : at);
    return end == std::string::npos ? "" : text.substr(at + before.size(), end - at - before.size());
  }

  const testutil::TemporaryFolder folder_{"gangway-dashboard-bench"};
  std::unique_ptr<ChildProcess> sandbox_, dashboard_;
  std::string page_;
  testutil::LoopThread thread_;
  Owner owner_;
  std::unique_ptr<kube::HttpClient> client_;
};

// From the address to the first thing that is painted, as the browser tells it.
void BM_BrowserFirstPaint(benchmark::State& state) {
  Cluster& cluster = Cluster::Only();
  Browser browser(1280, 1000);
  for (auto _ : state) {
    browser.Open(cluster.page());
    constexpr char kPaint[] = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? ''";
    double milliseconds = 0;
    Await([&] { return absl::SimpleAtod(browser.Evaluate(kPaint), &milliseconds); }, absl::Milliseconds(1));
    state.SetIterationTime(milliseconds / 1000);
  }
}
BENCHMARK(BM_BrowserFirstPaint)->UseManualTime()->Unit(benchmark::kMillisecond);

// From a queue's creation to its row on the screen.
void BM_BrowserOneChange(benchmark::State& state) {
  static int made = 0;
  Cluster& cluster = Cluster::Only();
  Browser browser(1280, 1000);
  browser.Open(cluster.page());
  GW_CHECK(browser.Becomes("document.getElementById('live').textContent", "live"));
  for (auto _ : state) {
    const std::string name = absl::StrCat("late-", ++made);
    const absl::Time start = absl::Now();
    cluster.CreateQueue(name);
    Await([&] { return browser.Evaluate(absl::StrCat("!!document.getElementById('q:", name, "')")) == "true"; },
          absl::ZeroDuration());
    state.SetIterationTime(absl::ToDoubleSeconds(absl::Now() - start));
    absl::SleepFor(absl::Milliseconds(300));  // the next is not gathered with this one
  }
}
BENCHMARK(BM_BrowserOneChange)->UseManualTime()->Unit(benchmark::kMillisecond);

// A page that is open and to which nothing happens: the share of a core that the server takes, in percent.
void BM_BrowserIdlePage(benchmark::State& state) {
  Cluster& cluster = Cluster::Only();
  Browser browser(1280, 1000);
  browser.Open(cluster.page());
  GW_CHECK(browser.Becomes("document.getElementById('live').textContent", "live"));
  constexpr absl::Duration kLook = absl::Seconds(20);
  double used = 0;
  for (auto _ : state) {
    const double before = UseOf(cluster.dashboard()).cpu_seconds;
    absl::SleepFor(kLook);
    used = UseOf(cluster.dashboard()).cpu_seconds - before;
    state.SetIterationTime(absl::ToDoubleSeconds(kLook));
  }
  state.counters["percent_of_a_core"] = 100 * used / absl::ToDoubleSeconds(kLook);
}
BENCHMARK(BM_BrowserIdlePage)->UseManualTime()->Iterations(1)->Unit(benchmark::kSecond);

// Argument: pages that are open at once, beside none. What the server holds then, and what a page adds.
void BM_Viewers(benchmark::State& state) {
  Cluster& cluster = Cluster::Only();
  const std::string& url = cluster.page();
  int port = 0;
  GW_CHECK(absl::SimpleAtoi(url.substr(url.rfind(':') + 1, url.size() - url.rfind(':') - 2), &port));
  double before = 0, with = 0;
  for (auto _ : state) {
    before = UseOf(cluster.dashboard()).resident_mebibytes;
    std::vector<int> viewers;
    for (int i = 0; i < state.range(0); ++i) {
      const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(static_cast<std::uint16_t>(port));
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      GW_CHECK(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
      const std::string request = absl::StrCat("GET /events HTTP/1.1\r\nHost: 127.0.0.1:", port, "\r\n\r\n");
      GW_CHECK(write(fd, request.data(), request.size()) == static_cast<ssize_t>(request.size()));
      char byte = 0;
      GW_CHECK(read(fd, &byte, 1) == 1);  // it is answered
      viewers.push_back(fd);
    }
    absl::SleepFor(absl::Seconds(1));
    with = UseOf(cluster.dashboard()).resident_mebibytes;
    for (const int fd : viewers) close(fd);
    state.SetIterationTime(1);
  }
  state.counters["MiB"] = with;
  state.counters["MiB_more"] = with - before;
}
BENCHMARK(BM_Viewers)->ArgName("pages")->Arg(100)->UseManualTime()->Iterations(1);

}  // namespace
}  // namespace gangway
