// How fast `gangway scheduler` and `gangway controller` are on a real API server, beside a loader that only creates and
// binds in the same run; what a restart with a full cluster, an idle hour and a fail-over cost; and the scale suite of
// KAI Scheduler. Prints one line a figure. `e2e_load NAME...` runs only those.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "api/resource.h"
#include "base/check.h"
#include "bench/e2e/installed.h"
#include "bench/e2e/kai_scale.h"
#include "bench/e2e/load.h"

namespace gangway::bench {
namespace {

using testutil::InstalledGangway;
using testutil::ProcessUse;
using testutil::UseOf;

// Requests that change something, of anybody, as the API server counts them: "PATCH podgroups" -> 200. Leases are left
// out.
std::map<std::string, double> Writes(testutil::ControlPlane& plane) {
  static const std::regex& pattern = *new std::regex(
      R"re(resource="([a-z]*)".*subresource="([a-z]*)".*verb="(POST|PUT|PATCH|APPLY|DELETE)".* ([0-9.e+]+)$)re");
  const kube::Response reply = plane.Call("GET", "/metrics");
  std::map<std::string, double> writes;
  std::cmatch match;
  for (const absl::string_view line : absl::StrSplit(*reply.body, '\n')) {
    if (!absl::StartsWith(line, "apiserver_request_total{") ||
        !std::regex_search(line.begin(), line.end(), match, pattern) || match[1] == "leases")
      continue;
    writes[absl::StrCat(match[3].str(), " ", match[1].str(), match[2].length() > 0 ? "/" : "", match[2].str())] +=
        std::stod(match[4]);
  }
  return writes;
}

std::string Since(const std::map<std::string, double>& before, const std::map<std::string, double>& after) {
  std::vector<std::string> texts;
  for (const auto& [what, count] : after) {
    const auto it = before.find(what);
    const double more = count - (it == before.end() ? 0 : it->second);
    if (more > 0) texts.push_back(absl::StrFormat("%s %.0f", what, more));
  }
  return texts.empty() ? "none" : absl::StrJoin(texts, ", ");
}

std::unique_ptr<InstalledGangway> Install(int nodes) { return InstallOn(Nodes(nodes)); }

std::string Memory(const ProcessUse& use) {
  return absl::StrFormat("%.1f MiB resident, %.1f of them its own", use.resident_mebibytes, use.anonymous_mebibytes);
}

// 1,000 pods in gangs of 10 on 1,000 nodes: from the first post to the last binding.
void ManyGangs() {
  const auto gangway = Install(1000);
  Load load(gangway->plane());
  MakeNamespace(*gangway, "bind-only");
  const absl::Duration created = load.Send(Pods("bind-only", 100, 10, "nobody"));
  const absl::Duration bound_alone = load.Send(Bindings("bind-only", 100, 10, 1000));
  std::printf("gangs: loader alone: 1,000 creations %s, 1,000 bindings %s (%.0f/s)\n", Seconds(created).c_str(),
              Seconds(bound_alone).c_str(), 1000 / absl::ToDoubleSeconds(bound_alone));
  for (int run = 0; run < 3; ++run) {
    const std::string ns = absl::StrCat("gangs-", run);
    MakeNamespace(*gangway, ns);
    Load::SeenPods bound(load, ns);
    const pid_t pid = gangway->scheduler().process().pid();
    const double cpu = UseOf(pid).cpu_seconds;
    const absl::Time begin = absl::Now();
    load.Send(PodGroups(ns, 100, 10));
    load.Send(Pods(ns, 100, 10));
    const absl::Time posted = absl::Now();
    const absl::Time last = bound.WaitFor(1000, absl::Minutes(2));
    const ProcessUse use = UseOf(pid);
    std::printf("gangs: first post to last binding %s, of which posting %s; scheduler CPU %.2f s, %s\n",
                Seconds(last - begin).c_str(), Seconds(posted - begin).c_str(), use.cpu_seconds - cpu,
                Memory(use).c_str());
  }
  // The pods wait, then their PodGroups come: nothing but the scheduler's own work.
  MakeNamespace(*gangway, "at-once");
  load.Send(Pods("at-once", 100, 10));
  const auto writes = Writes(gangway->plane());
  Load::SeenPods bound(load, "at-once");
  const absl::Time begin = absl::Now();
  load.Send(PodGroups("at-once", 100, 10));
  const absl::Duration took = bound.WaitFor(1000, absl::Minutes(2)) - begin;
  std::printf(
      "gangs: pods there, 100 PodGroups posted to last binding %s, %.0f bindings/s, %.2f of the loader's; writes: %s\n",
      Seconds(took).c_str(), 1000 / absl::ToDoubleSeconds(took), absl::FDivDuration(bound_alone, took),
      Since(writes, Writes(gangway->plane())).c_str());
}

// A scheduler that starts into a cluster with 10,000 bound and 1,000 waiting pods.
void Restart() {
  const auto gangway = Install(1000);
  Load load(gangway->plane());
  MakeNamespace(*gangway, "full");
  MakeNamespace(*gangway, "waiting");
  {
    Load::SeenPods bound(load, "full");
    load.Send(PodGroups("full", 1000, 10));
    load.Send(Pods("full", 1000, 10));
    GW_CHECK(bound.WaitFor(10'000, absl::Minutes(5)) != absl::InfiniteFuture());
  }
  std::this_thread::sleep_for(std::chrono::seconds(2));  // what their groups' status says follows
  gangway->StopBoth();
  load.Send(PodGroups("waiting", 100, 10));
  load.Send(Pods("waiting", 100, 10));
  Load::SeenPods bound(load, "waiting");
  const absl::Time begin = absl::Now();
  const auto scheduler = gangway->StartProcess("scheduler");
  const absl::Time last = bound.WaitFor(1000, absl::Minutes(2));
  const ProcessUse use = UseOf(scheduler->process().pid());
  std::printf("restart: 10,000 bound and 1,000 waiting pods: first binding after %s, last after %s; CPU %.2f s, %s\n",
              Seconds(bound.first() - begin).c_str(), Seconds(last - begin).c_str(), use.cpu_seconds,
              Memory(use).c_str());
}

// Nothing to do: what the processes use, and write.
void Idle() {
  const auto gangway = Install(1000);
  std::this_thread::sleep_for(std::chrono::seconds(3));  // the start is over
  const double scheduler = UseOf(gangway->scheduler().process().pid()).cpu_seconds,
               controller = UseOf(gangway->controller().process().pid()).cpu_seconds;
  const auto writes = Writes(gangway->plane());
  const absl::Time begin = absl::Now();
  std::this_thread::sleep_for(std::chrono::seconds(30));
  const double seconds = absl::ToDoubleSeconds(absl::Now() - begin);
  std::printf("idle: scheduler %.3f %% of a core, controller %.3f %%, over %.0f s; writes: %s\n",
              100 * (UseOf(gangway->scheduler().process().pid()).cpu_seconds - scheduler) / seconds,
              100 * (UseOf(gangway->controller().process().pid()).cpu_seconds - controller) / seconds, seconds,
              Since(writes, Writes(gangway->plane())).c_str());
}

// A second replica takes over: after SIGTERM, and after SIGKILL. Until its first binding of a gang posted at that
// moment.
void FailOver() {
  const auto gangway = Install(10);
  Load load(gangway->plane());
  auto first = gangway->StartProcess("scheduler");
  GW_CHECK(first->WaitReady());
  const auto measure = [&](const char* what, int signal, testutil::GangwayProcess& leader, const std::string& ns) {
    MakeNamespace(*gangway, ns);
    Load::SeenPods bound(load, ns);
    const absl::Time begin = absl::Now();
    leader.process().Signal(signal);
    load.Send(PodGroups(ns, 1, 4));
    load.Send(Pods(ns, 1, 4));
    std::printf("fail-over: %s to the first binding by the other %s\n", what,
                Seconds(bound.WaitFor(1, absl::Minutes(2)) - begin).c_str());
    leader.process().Wait();
  };
  measure("SIGTERM", SIGTERM, gangway->scheduler(), "clean");
  auto second = gangway->StartProcess("scheduler");
  GW_CHECK(second->WaitReady());
  measure("SIGKILL", SIGKILL, *first, "killed");
}

// 1,000 Jobs of one pod: from the first post to the last pod created, beside a loader that creates the same Jobs,
// PodGroups and pods itself.
void ManyJobs() {
  const auto gangway = Install(1000);
  Load load(gangway->plane());
  MakeNamespace(*gangway, "warm-up");
  {
    Load::SeenPods pods(load, "warm-up");
    load.Send(Jobs("warm-up", 20));
    GW_CHECK(pods.WaitFor(20, absl::Minutes(1)) != absl::InfiniteFuture());
  }
  gangway->StopBoth();
  MakeNamespace(*gangway, "create-only");
  const absl::Time alone_begin = absl::Now();
  load.Send(Jobs("create-only", 1000));
  load.Send(PodGroups("create-only", 1000, 1));
  load.Send(Pods("create-only", 1000, 1, "nobody"));
  const absl::Duration alone = absl::Now() - alone_begin;
  std::printf("jobs: loader alone creates 1,000 Jobs, PodGroups and pods in %s\n", Seconds(alone).c_str());
  GW_CHECK(gangway->plane().Call("DELETE", api::PathOf(api::kJobs, "create-only")).ok());
  GW_CHECK(gangway->plane().Call("DELETE", api::PathOf(api::kPodGroups, "create-only")).ok());
  gangway->StartBoth();
  GW_CHECK(gangway->WaitReady().ok());
  for (int run = 0; run < 3; ++run) {
    const std::string ns = absl::StrCat("jobs-", run);
    MakeNamespace(*gangway, ns);
    Load::SeenPods pods(load, ns, Load::SeenPods::Which::kAll);
    Load::SeenPods bound(load, ns);
    const pid_t pid = gangway->controller().process().pid();
    const double cpu = UseOf(pid).cpu_seconds;
    const auto writes = Writes(gangway->plane());
    const absl::Time begin = absl::Now();
    const absl::Duration posted = load.Send(Jobs(ns, 1000));
    const absl::Duration created = pods.WaitFor(1000, absl::Minutes(2)) - begin;
    const absl::Duration all_bound = bound.WaitFor(1000, absl::Minutes(2)) - begin;
    const ProcessUse use = UseOf(pid);
    std::printf(
        "jobs: apply to all pods created %s, %.2f of the loader's speed (to all bound %s), of which posting %s; "
        "controller CPU %.2f s, %s; writes: %s\n",
        Seconds(created).c_str(), absl::FDivDuration(alone, created), Seconds(all_bound).c_str(),
        Seconds(posted).c_str(), use.cpu_seconds - cpu, Memory(use).c_str(),
        Since(writes, Writes(gangway->plane())).c_str());
  }
}

// A controller that starts into a cluster with 10,000 Jobs of one running pod each, one of which has lost its pod
// meanwhile.
void JobRestart() {
  const auto gangway = Install(1000);
  Load load(gangway->plane());
  MakeNamespace(*gangway, "full");
  {
    Load::SeenPods bound(load, "full");
    const std::vector<kube::Request> jobs = Jobs("full", 10'000);
    for (std::size_t i = 0; i < jobs.size(); i += 500)
      load.Send({jobs.begin() + static_cast<std::ptrdiff_t>(i), jobs.begin() + static_cast<std::ptrdiff_t>(i + 500)});
    GW_CHECK(bound.WaitFor(10'000, absl::Minutes(8)) != absl::InfiniteFuture());
  }
  std::this_thread::sleep_for(std::chrono::seconds(3));  // what their status says follows
  std::printf("job restart: 10,000 Jobs: the controller that made their pods: %s\n",
              Memory(UseOf(gangway->controller().process().pid())).c_str());
  gangway->StopBoth();
  GW_CHECK(gangway->plane()
               .Call("DELETE", api::PathOf(api::kPods, "full", "job-7777-worker-0"), R"({"gracePeriodSeconds":0})")
               .ok());
  const auto writes = Writes(gangway->plane());
  Load::SeenPods pods(load, "full", Load::SeenPods::Which::kAll);
  GW_CHECK(pods.WaitFor(9'999, absl::Minutes(1)) != absl::InfiniteFuture());
  const absl::Time begin = absl::Now();
  const auto controller = gangway->StartProcess("controller");
  const auto scheduler = gangway->StartProcess("scheduler");
  const absl::Time first = pods.WaitFor(10'000, absl::Minutes(2));
  const ProcessUse use = UseOf(controller->process().pid());
  std::printf("job restart: 10,000 Jobs: the lost pod is made anew after %s; controller CPU %.2f s, %s; writes: %s\n",
              Seconds(first - begin).c_str(), use.cpu_seconds, Memory(use).c_str(),
              Since(writes, Writes(gangway->plane())).c_str());
}

}  // namespace
}  // namespace gangway::bench

int main(int argc, char** argv) {
  using namespace gangway::bench;
  if (!gangway::testutil::ControlPlane::ToolsPresent()) {
    std::fputs("there is no control plane on this machine: scripts/e2e-tools builds it\n", stderr);
    return 1;
  }
  const std::vector<std::pair<std::string, std::function<void()>>> all{
      {"gangs", ManyGangs}, {"restart", Restart},        {"idle", Idle},   {"fail-over", FailOver},
      {"jobs", ManyJobs},   {"job-restart", JobRestart}, {"kai", KaiScale}};
  for (const auto& [name, run] : all) {
    if (argc == 1 || std::find(argv + 1, argv + argc, name) != argv + argc) run();
    std::fflush(stdout);
  }
}
