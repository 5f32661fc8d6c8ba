#include "bench/e2e/scenarios.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "api/resource.h"
#include "base/check.h"
#include "bench/e2e/load.h"
#include "bench/e2e/measure.h"

namespace gangway::bench {

using testutil::ProcessUse;
using testutil::UseOf;

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

namespace {

std::string Shape(int gangs, int size) { return absl::StrCat(gangs, "x", size); }

// One gang of `size` pods whose PodGroup says `topology` too; "": nothing.
std::vector<kube::Request> OneGang(const std::string& ns, int size, const std::string& topology) {
  return {Post(
      api::PathOf(api::kPodGroups, ns),
      absl::StrFormat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"gang-0"},)"
                      R"("spec":{"minMember":%d,"queue":"default"%s}})",
                      size, topology))};
}

// As many pods again, bound by a loader alone, with nobody else at work; `with_groups`: which also posts PodGroups, at
// once. The API server has had the others by then, so that it is rather slower than before.
absl::Duration BindAlone(testutil::InstalledGangway& gangway, Load& load, int gangs, int size, bool with_groups) {
  gangway.StopBoth();
  const std::string ns = "alone";
  MakeNamespace(gangway, ns);
  load.Send(Pods(ns, gangs, size, "nobody"));
  Load::SeenPods bound(load, ns);
  std::vector<kube::Request> requests;
  if (with_groups) requests = PodGroups(ns, gangs, size);
  for (kube::Request& binding : Bindings(ns, gangs, size, 1000)) requests.push_back(std::move(binding));
  const absl::Time begin = absl::Now();
  load.Send(std::move(requests));
  return bound.WaitFor(gangs * size, absl::Minutes(5)) - begin;
}

// What of the time without a binding is ours, of the gang for which it is longest.
struct Gaps {
  absl::Duration to_first;  // from when all of its pods are known to be there to its first binding
  absl::Duration within;    // between two of its bindings
};

// `made`: when the creation of each pod was answered, gang by gang.
Gaps GapsOf(const std::map<std::string, absl::Time>& bound, const std::vector<absl::Time>& made, int size) {
  Gaps gaps;
  for (std::size_t begin = 0; begin < made.size(); begin += static_cast<std::size_t>(size)) {
    const auto first = made.begin() + static_cast<std::ptrdiff_t>(begin);
    const int gang = static_cast<int>(begin) / size;
    std::vector<absl::Time> times;
    for (int i = 0; i < size; ++i) times.push_back(bound.at(PodName(gang, i)));
    std::sort(times.begin(), times.end());
    gaps.to_first = std::max(gaps.to_first, times.front() - *std::max_element(first, first + size));
    for (std::size_t i = 1; i < times.size(); ++i) gaps.within = std::max(gaps.within, times[i] - times[i - 1]);
  }
  return gaps;
}

// They come one after the other.
void PostGangs(int gangs, int size) {
  const auto gangway = Install(1000);
  Load load(gangway->plane());
  MakeNamespace(*gangway, "posted");
  Load::SeenPods bound(load, "posted");
  const pid_t pid = gangway->scheduler().process().pid();
  const double cpu = UseOf(pid).cpu_seconds;
  const auto writes = Writes(gangway->plane());
  const absl::Time begin = absl::Now();
  load.Send(PodGroups("posted", gangs, size));
  const std::vector<absl::Time> made = load.SendAndNote(Pods("posted", gangs, size));
  const absl::Time posted = absl::Now();
  const absl::Time last = bound.WaitFor(gangs * size, absl::Minutes(5));
  const ProcessUse use = UseOf(pid);
  const std::string written = Since(writes, Writes(gangway->plane()));
  const absl::Duration gap = bound.LongestGap(), alone = BindAlone(*gangway, load, gangs, size, false);
  const Gaps gaps = GapsOf(bound.SeenAt(), made, size);
  std::printf(
      "shapes: %s: posted in %s, the last bound %s after that (a loader alone binds as many in %s); at most %s without "
      "a binding, of a gang whose pods are all made at most %s until the first and %s between two; scheduler CPU %.2f "
      "s, %s; writes: %s\n",
      Shape(gangs, size).c_str(), Seconds(posted - begin).c_str(), Seconds(last - posted).c_str(),
      Seconds(alone).c_str(), Seconds(gap).c_str(), Seconds(gaps.to_first).c_str(), Seconds(gaps.within).c_str(),
      use.cpu_seconds - cpu, Memory(use).c_str(), written.c_str());
}

// The pods wait, then their PodGroups come: nothing but the scheduler's work and the bindings.
void PostPodGroups(int gangs, int size) {
  const auto gangway = Install(1000);
  Load load(gangway->plane());
  MakeNamespace(*gangway, "bind-only");
  load.Send(Pods("bind-only", 100, 10, "nobody"));
  Load::SeenPods bound_alone(load, "bind-only");
  const absl::Duration alone = load.Send(Bindings("bind-only", 100, 10, 1000));
  bound_alone.WaitFor(1000, absl::Minutes(1));
  MakeNamespace(*gangway, "there");
  load.Send(Pods("there", gangs, size));
  std::this_thread::sleep_for(std::chrono::seconds(5));  // they are told that they have no PodGroup
  Load::SeenPods bound(load, "there");
  const auto writes = Writes(gangway->plane());
  const absl::Time begin = absl::Now();
  const absl::Duration posting = load.Send(PodGroups("there", gangs, size));
  const absl::Time last = bound.WaitFor(gangs * size, absl::Minutes(5));
  const absl::Duration took = last - begin;
  const std::string written = Since(writes, Writes(gangway->plane()));
  const absl::Duration with_groups = BindAlone(*gangway, load, gangs, size, true);
  std::printf(
      "shapes: %s, pods there: the first bound after %s, the last after %s, of which posting %s, %.0f/s, %.2f of the "
      "loader's (1,000 in %s), %.2f of one's that posts the PodGroups, too (in %s); at most %s without a binding, the "
      "loader's %s; writes: %s\n",
      Shape(gangs, size).c_str(), Seconds(bound.first() - begin).c_str(), Seconds(took).c_str(),
      Seconds(posting).c_str(), gangs * size / absl::ToDoubleSeconds(took),
      absl::FDivDuration(alone * (gangs * size / 1000.0), took), Seconds(alone).c_str(),
      absl::FDivDuration(with_groups, took), Seconds(with_groups).c_str(), Seconds(bound.LongestGap()).c_str(),
      Seconds(bound_alone.LongestGap()).c_str(), written.c_str());
}

}  // namespace

// So many pods in gangs of several sizes: how long after the last post the last is bound, how long nothing is bound in
// between (while they are posted none is bound before the last of its gang has come; what is ours shows where all pods
// are there), and how many a second beside a loader that binds alone. A gang of all pods cannot be begun before the
// last of them is posted: it is over as soon after that as the API server takes so many bindings. Each on a control
// plane of its own: it is slower with every pod that it ever had.
void GangShapes() {
  for (const auto& [gangs, size] : kGangShapes) OneGangShape(gangs, size);
}

void OneGangShape(int gangs, int size) {
  for (const auto measure : {PostGangs, PostPodGroups}) {
    measure(gangs, size);
    std::fflush(stdout);
  }
}

// One gang of 512 pods, each of which fills one of 512 nodes: with racks of 16 nodes in rows of 8 racks in one hall,
// and without.
void LargeGang() {
  constexpr int kNodes = 512, kOfRack = 16, kOfRow = 8;
  const auto gangway = Install(kNodes);
  Load load(gangway->plane());
  const auto measure = [&](const char* what, const std::string& ns, const std::string& topology) {
    MakeNamespace(*gangway, ns);
    Load::SeenPods bound(load, ns);
    const absl::Time begin = absl::Now();
    load.Send(OneGang(ns, kNodes, topology));
    load.Send(Pods(ns, 1, kNodes, "volcano", 16));
    const absl::Time posted = absl::Now();
    const absl::Time last = bound.WaitFor(kNodes, absl::Minutes(2));
    std::printf("large gang: 512 pods on 512 nodes %s: %s from the first post, %s after the last\n", what,
                Seconds(last - begin).c_str(), Seconds(last - posted).c_str());
    std::fflush(stdout);
    for (const api::Resource* const resource : {&api::kPodGroups, &api::kPods})
      GW_CHECK(gangway->plane().Call("DELETE", api::PathOf(*resource, ns), R"({"gracePeriodSeconds":0})").ok());
    std::this_thread::sleep_for(std::chrono::seconds(3));  // what the deletions bring about
  };
  measure("without topology", "without", "");
  load.Send(HyperNodes(kNodes, kOfRack, kOfRow));
  measure("in a hall of racks and rows", "within", R"(,"networkTopology":{"mode":"hard","highestTierAllowed":3})");
}

}  // namespace gangway::bench
