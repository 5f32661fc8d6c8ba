#include "bench/e2e/scenarios.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "api/resource.h"
#include "base/check.h"
#include "bench/e2e/job_writes.h"
#include "bench/e2e/load.h"
#include "bench/e2e/measure.h"
#include "bench/e2e/volcano.h"

namespace gangway::bench {

using testutil::ProcessUse;
using testutil::UseOf;

namespace {

// On a control plane each, and by turns where there are others: Gangway, other builds of it (Programs), and the real
// Volcano.
void OfEach(int nodes, bool audit,
            const std::function<void(const std::string& whose, testutil::ControlPlane&)>& measure) {
  if (!VolcanoFolder().empty()) measure("Volcano's: ", InstalledVolcano(nodes, audit).plane());
  for (const std::string& program : Programs())
    measure(program.empty() ? "" : "the peer's: ", Install(nodes, program, audit)->plane());
}

}  // namespace

// What Jobs cost until their pods are bound.
void WritesOfJobs() {
  constexpr std::pair<int, int> kJobs[] = {{200, 1}, {50, 10}, {1000, 1}};
  OfEach(1000, /*audit=*/true, [&](const std::string& whose, testutil::ControlPlane& plane) {
    Load load(plane);
    for (const auto& [jobs, size] : kJobs) {
      const std::string ns = absl::StrCat("all-", jobs, "-of-", size);
      MakeNamespace(plane, ns);
      Load::SeenPods bound(load, ns);
      load.Send(Jobs(ns, jobs, size));
      bound.WaitFor(jobs * size, absl::Minutes(5));
      std::this_thread::sleep_for(std::chrono::seconds(2));  // what follows is not of interest, but read whole
      const auto writes = WritesUntilBound(plane.AuditLog(), ns, size);
      GW_CHECK(writes.ok() && writes->jobs == jobs);
      std::printf("writes: %s%d Jobs of %d: %s\n", whose.c_str(), jobs, size, ToText(*writes).c_str());
    }
  });
}

// So many Jobs: from the first post to the last pod bound.
void PaceOfJobs() {
  constexpr std::pair<int, int> kJobs[] = {{1000, 1}, {100, 10}};
  for (int run = 0; run < 2; ++run) {
    OfEach(1000, /*audit=*/false, [&](const std::string& whose, testutil::ControlPlane& plane) {
      Load load(plane);
      MakeNamespace(plane, "warm-up");
      {
        Load::SeenPods pods(load, "warm-up");
        load.Send(Jobs("warm-up", 20));
        pods.WaitFor(20, absl::Minutes(1));
      }
      for (const auto& [jobs, size] : kJobs) {
        const std::string ns = absl::StrCat("jobs-of-", size);
        MakeNamespace(plane, ns);
        Load::SeenPods bound(load, ns);
        const auto writes = Writes(plane);
        const auto cpu = CpuByProcess();
        const absl::Time begin = absl::Now();
        load.Send(Jobs(ns, jobs, size));
        const absl::Duration took = bound.WaitFor(jobs * size, absl::Minutes(5)) - begin;
        std::printf("pace: %s%d Jobs of %d: all bound after %s; CPU: %s; writes: %s\n", whose.c_str(), jobs, size,
                    Seconds(took).c_str(), CpuSince(cpu, CpuByProcess()).c_str(), Since(writes, Writes(plane)).c_str());
        std::this_thread::sleep_for(std::chrono::seconds(3));  // what their status says follows
      }
    });
  }
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
    pods.WaitFor(20, absl::Minutes(1));
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
    bound.WaitFor(10'000, absl::Minutes(8));
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
  pods.WaitFor(9'999, absl::Minutes(1));
  const absl::Time begin = absl::Now();
  const auto controller = gangway->StartProcess("controller");
  const auto scheduler = gangway->StartProcess("scheduler");
  const absl::Time first = pods.WaitFor(10'000, absl::Minutes(2));
  const ProcessUse use = UseOf(controller->process().pid());
  std::printf("job restart: 10,000 Jobs: the lost pod is made anew after %s; controller CPU %.2f s, %s; writes: %s\n",
              Seconds(first - begin).c_str(), use.cpu_seconds, Memory(use).c_str(),
              Since(writes, Writes(gangway->plane())).c_str());
}

}  // namespace gangway::bench
