// How fast `gangway scheduler` and `gangway controller` are on a real API server, beside a loader that only creates and
// binds in the same run; what a restart with a full cluster, an idle hour and a fail-over cost; the scale suite
// of KAI Scheduler. Prints one line a figure. `e2e_load NAME...` runs only those; with GW_BENCH_PEER=/path/to/gangway
// those about Jobs run with that build, too, in turns, and job-writes and job-pace with the real Volcano of
// GW_BENCH_VOLCANO (scripts/e2e-tools --volcano).
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/resource.h"
#include "base/check.h"
#include "bench/e2e/load.h"
#include "bench/e2e/measure.h"
#include "bench/e2e/scenarios.h"
#include "bench/e2e/volcano.h"
#include "tests/e2e/installed_gangway.h"

namespace gangway::bench {
namespace {

using testutil::ProcessUse;
using testutil::UseOf;

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
    bound.WaitFor(10'000, absl::Minutes(5));
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

}  // namespace
}  // namespace gangway::bench

int main(int argc, char** argv) {
  using namespace gangway::bench;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a run takes minutes, also into a file
  if (!gangway::testutil::ControlPlane::ToolsPresent()) {
    std::fputs("there is no control plane on this machine: scripts/e2e-tools builds it\n", stderr);
    return 1;
  }
  if (!VolcanoFolder().empty() && !std::filesystem::exists(VolcanoFolder() + "/vc-scheduler")) {
    std::fprintf(stderr, "GW_BENCH_VOLCANO: there is no Volcano in %s: scripts/e2e-tools --volcano RELEASE builds it\n",
                 VolcanoFolder().c_str());
    return 1;
  }
  const std::vector<std::pair<std::string, std::function<void()>>> all{{"gangs", ManyGangs},
                                                                       {"restart", Restart},
                                                                       {"idle", Idle},
                                                                       {"fail-over", FailOver},
                                                                       {"jobs", ManyJobs},
                                                                       {"job-restart", JobRestart},
                                                                       {"job-writes", WritesOfJobs},
                                                                       {"job-pace", PaceOfJobs},
                                                                       {"shapes", GangShapes},
                                                                       {"large-gang", LargeGang},
                                                                       {"kai", [] { KaiScale(500); }}};
  // Those that only whoever names them wants.
  std::vector<std::pair<std::string, std::function<void()>>> beside{{"kai-small", [] { KaiScale(50); }},
                                                                    {"kai-fill", [] { KaiFill(500); }},
                                                                    {"kai-reclaim", [] { KaiReclaim(500); }},
                                                                    {"kai-reclaim-small", [] { KaiReclaim(100); }},
                                                                    {"reclaim-writes", [] { WritesOfReclaim(50); }}};
  for (const auto& [gangs, size] : kGangShapes)
    beside.emplace_back(absl::StrCat(gangs, "x", size), [number = gangs, pods = size] { OneGangShape(number, pods); });
  const auto named = [&](const std::string& name) { return std::find(argv + 1, argv + argc, name) != argv + argc; };
  for (const auto& [name, run] : beside) {
    if (named(name)) run();
  }
  for (const auto& [name, run] : all) {
    if (argc == 1 || named(name)) run();
  }
}
