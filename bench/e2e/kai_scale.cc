#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "base/check.h"
#include "bench/e2e/job_writes.h"
#include "bench/e2e/load.h"
#include "bench/e2e/measure.h"
#include "bench/e2e/pod_ends.h"
#include "bench/e2e/scenarios.h"

namespace gangway::bench {
namespace {

using testutil::InstalledGangway;

constexpr int kGpus = 8;  // of a node
constexpr int kBackground = 400, kGang = 10, kSamples = 5, kParts = 4;
constexpr absl::Duration kPatience = absl::Minutes(8);

std::vector<kube::Request> GpuNodes(int count) {
  std::vector<kube::Request> requests;
  for (int i = 0; i < count; ++i) {
    const std::string name = absl::StrFormat("node-%04d", i);
    const std::string amounts =
        absl::StrFormat(R"({"cpu":"128","memory":"1Ti","pods":"110","nvidia.com/gpu":"%d"})", kGpus);
    requests.push_back(
        Post(api::PathOf(api::kNodes, ""),
             absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")", name,
                          R"(","labels":{"kubernetes.io/hostname":")", name, R"("}},"status":{"capacity":)", amounts,
                          R"(,"allocatable":)", amounts, R"(,"conditions":[{"type":"Ready","status":"True"}]}})")));
  }
  return requests;
}

std::string PodSpec(int gpus, const std::string& scheduler) {
  return absl::StrFormat(
      R"({"schedulerName":"%s","restartPolicy":"Never","containers":[{"name":"main","image":"example.test/app:v1",)"
      R"("resources":{"requests":{"cpu":"100m","nvidia.com/gpu":"%d"},"limits":{"nvidia.com/gpu":"%d"}}}]})",
      scheduler, gpus, gpus);
}

kube::Request GpuJob(const std::string& ns, const std::string& name, const std::string& queue, int pods, int gpus) {
  return Post(
      api::PathOf(api::kJobs, ns),
      absl::StrFormat(
          R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"%s","annotations":{"gangway.io/movable":"true"}},)"
          R"("spec":{"schedulerName":"volcano","queue":"%s","minAvailable":%d,"tasks":[{"name":"w","replicas":%d,"template":{"spec":%s}}]}})",
          name, queue, pods, pods, PodSpec(gpus, "volcano")));
}

std::vector<kube::Request> SingleGpuJobs(const std::string& ns, const std::string& queue, int count) {
  std::vector<kube::Request> requests;
  for (int i = 0; i < count; ++i) requests.push_back(GpuJob(ns, absl::StrCat("job-", i), queue, 1, 1));
  return requests;
}

// A PodGroup of one pod, and the pod.
void AddGroupOfOne(const std::string& ns, const std::string& name, const std::string& queue,
                   const std::string& scheduler, std::vector<kube::Request>& groups, std::vector<kube::Request>& pods) {
  groups.push_back(Post(
      api::PathOf(api::kPodGroups, ns),
      absl::StrFormat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"%s"},)"
                      R"("spec":{"minMember":1,"queue":"%s","minResources":{"nvidia.com/gpu":"1"}}})",
                      name, queue)));
  pods.push_back(Post(
      api::PathOf(api::kPods, ns),
      absl::StrFormat(
          R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","annotations":{"scheduling.k8s.io/group-name":"%s"}},"spec":%s})",
          name, name, PodSpec(1, scheduler))));
}

class Suite {
 public:
  explicit Suite(int nodes, const std::string& program = "", bool audit = false)
      : nodes_(nodes), gangway_(InstallOn(GpuNodes(nodes), program, audit)), load_(gangway_->plane()) {
    for (const char* const ns : {"alone", "fill", "background", "reclaim"}) MakeNamespace(*gangway_, ns);
    SetQueue("sanity", R"({"weight":1})", true);
    SetQueue("none", R"({"weight":1,"capability":{"nvidia.com/gpu":"0"}})", true);
    SetQueue("reclaim", R"({"weight":100})", true);
  }

  void Run() {
    LoaderAlone();
    Fill("");
    EndMadeAlone();
    FillAgain();
    FillBesideOthers();
    Remove("background", kBackground);
    ends_ = std::make_unique<PodEnds>(gangway_->plane());
    ToldWhy();
    OneGpu();
    OneLarge();
    Distributed();
    Consolidate();
  }

  // Only what fills the cluster, by itself and beside who waits.
  void RunFill() {
    LoaderAlone();
    Fill("");
    FillAgain();
    FillBesideOthers();
  }

  // Only what is reclaimed by many deletions at once.
  void RunReclaim() {
    LoaderAlone();
    Fill("");
    EndMadeAlone();
    FillAgain();
    ends_ = std::make_unique<PodEnds>(gangway_->plane());
    OneLarge();
    Distributed();
  }

  // What that costs the API server, in its order.
  void TellWrites() {
    Fill("");
    ends_ = std::make_unique<PodEnds>(gangway_->plane());
    Settle();
    Load::SeenPods bound(load_, "reclaim");
    load_.Send({GpuJob("reclaim", "large", "reclaim", nodes_ / 2, kGpus)});
    bound.WaitFor(nodes_ / 2, kPatience);
    std::this_thread::sleep_for(std::chrono::seconds(15));  // what follows is read, too
    const auto writes = WritesOfEvictions(plane().AuditLog(), "reclaim", nodes_ / 2);
    GW_CHECK(writes.ok());
    std::printf("kai: writes %s\n", ToText(*writes).c_str());
  }

 private:
  testutil::ControlPlane& plane() { return gangway_->plane(); }

  void SetQueue(const std::string& name, const std::string& spec, bool make = false) {
    const std::string body = absl::StrFormat(
        R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"%s"},"spec":%s})", name,
        spec);
    const kube::Response reply =
        make ? plane().Call("POST", api::PathOf(api::kQueues, ""), body)
             : plane().Call("PATCH", api::PathOf(api::kQueues, "", name), body, "application/merge-patch+json");
    GW_CHECK(reply.ok());
  }

  // One by one and many at a time: of a collection the API server deletes one after the other, which takes minutes for
  // thousands that controllers look after.
  void DeleteAll(const api::Resource& resource, const std::string& ns) {
    const kube::Response reply = plane().Call("GET", api::PathOf(resource, ns));
    const auto json = api::ParseJson(*reply.body);
    GW_CHECK(json.ok());
    std::vector<kube::Request> deletions;
    for (const auto& object : json->at("items").as_array())
      deletions.push_back(Delete(resource, ns, std::string(object.at("metadata").at("name").as_string())));
    load_.Send(std::move(deletions));
  }

  static kube::Request Delete(const api::Resource& resource, const std::string& ns, const std::string& name) {
    kube::Request request;
    request.method = "DELETE";
    request.path = api::PathOf(resource, ns, name);
    request.body = R"({"gracePeriodSeconds":0})";
    return request;
  }

  // Of a namespace all Jobs, PodGroups and pods; waits until none is left.
  void Remove(const std::string& ns, int pods) {
    for (const api::Resource* const resource : {&api::kJobs, &api::kPodGroups, &api::kPods}) DeleteAll(*resource, ns);
    const absl::Time until = absl::Now() + kPatience;
    while (pods > 0 && absl::Now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      pods = PodsIn(ns, "limit=1");
      if (pods > 0) DeleteAll(api::kPods, ns);
    }
    GW_CHECK(pods == 0);
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }

  // Until what the last step left to be told is told, or the next pays for it. But for events: they come slowly, for
  // minutes.
  void Settle() {
    const auto count = [&] {
      double writes = 0;
      for (const auto& [what, cost] : Writes(plane())) writes += absl::EndsWith(what, " events") ? 0 : cost.count;
      return writes;
    };
    const absl::Time until = absl::Now() + kPatience;
    double before = -1;
    for (double is = count(); is != before && absl::Now() < until; is = count()) {
      before = is;
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  }

  int PodsIn(const std::string& ns, const std::string& query) {
    const kube::Response reply = plane().Call("GET", api::PathOf(api::kPods, ns), "", "application/json", query);
    const auto json = api::ParseJson(*reply.body);
    GW_CHECK(json.ok());
    return static_cast<int>(json->at("items").as_array().size());
  }

  // What hangs on the API server alone: Jobs, PodGroups, pods and bindings, as the measured runs make them.
  void LoaderAlone() {
    gangway_->StopBoth();
    std::vector<kube::Request> groups, pods, bindings;
    for (int i = 0; i < all_; ++i) {
      const std::string name = absl::StrCat("job-", i);
      AddGroupOfOne("alone", name, "sanity", "nobody", groups, pods);
      bindings.push_back(Post(
          api::PathOf(api::kPods, "alone", name, "binding"),
          absl::StrFormat(
              R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"%s"},"target":{"apiVersion":"v1","kind":"Node","name":"node-%04d"}})",
              name, i % nodes_)));
    }
    const absl::Time begin = absl::Now();
    load_.Send(SingleGpuJobs("alone", "sanity", all_));
    load_.Send(std::move(groups));
    load_.Send(std::move(pods));
    load_.Send(std::move(bindings));
    alone_ = absl::Now() - begin;
    std::printf("kai: loader alone makes %d Jobs, PodGroups and pods and binds them in %s\n", all_,
                Seconds(alone_).c_str());
    PatchAlone("records of an eviction in PodGroups", api::kPodGroups, "",
               R"({"status":{"conditions":[{"type":"GangReleased","status":"True","reason":"Reclaimed"}]}})");
    PatchAlone("statuses of Jobs", api::kJobs, "status", R"({"status":{"state":{"phase":"Pending"}}})");
    EndAlone("alone", "", 0, /*tell=*/true);
    end_alone_ = EndAlone("alone", "", all_ / 2, /*tell=*/false) / (all_ / 2);
    Remove("alone", all_);
    gangway_->StartBoth();
    GW_CHECK(gangway_->WaitReady().ok());
  }

  // What else an eviction writes, and what that costs.
  void PatchAlone(const char* what, const api::Resource& resource, const char* subresource, const std::string& body) {
    std::vector<kube::Request> patches;
    for (int i = 0; i < all_ / 2; ++i) {
      patches.push_back(Post(api::PathOf(resource, "alone", absl::StrCat("job-", i), subresource), body));
      patches.back().method = "PATCH";
      patches.back().content_type = "application/merge-patch+json";
    }
    const auto cpu = CpuByProcess();
    const absl::Duration all = load_.Send(std::move(patches));
    std::printf("kai: loader alone writes %d %s in %s; CPU: %s\n", all_ / 2, what, Seconds(all).c_str(),
                CpuSince(cpu, CpuByProcess()).c_str());
  }

  // What an eviction needs of it: each victim is told to go, and ended by its kubelet; with `tell` it is told why
  // before that, as pods are that no Job of Volcano's controls. Pods are called "job-0" and what `of_job` adds.
  absl::Duration EndAlone(const std::string& ns, const std::string& of_job, int from, bool tell) {
    PodEnds ends(plane());
    std::vector<kube::Request> conditions, deletions;
    for (int i = from; i < from + all_ / 2; ++i) {
      const std::string name = absl::StrCat("job-", i, of_job);
      kube::Request condition = Post(
          api::PathOf(api::kPods, ns, name, "status"),
          R"({"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}]}})");
      condition.method = "PATCH";
      condition.content_type = "application/strategic-merge-patch+json";
      if (tell) conditions.push_back(std::move(condition));
      kube::Request deletion = Delete(api::kPods, ns, name);
      deletion.body = "";
      deletions.push_back(std::move(deletion));
    }
    const auto cpu = CpuByProcess();
    const absl::Time begin = absl::Now();
    load_.Send(std::move(conditions));
    load_.Send(std::move(deletions));
    const absl::Duration all = ends.WaitForGone(all_ / 2, kPatience) - begin;
    std::printf("kai: loader alone tells %d pods %s%sto go, and ends them, in %s; CPU: %s\n", all_ / 2,
                of_job.empty() ? "" : "of Jobs ", tell ? "why they go and " : "", Seconds(all).c_str(),
                CpuSince(cpu, CpuByProcess()).c_str());
    return all;
  }

  // The same of pods as Jobs make them, which are larger and have owners.
  void EndMadeAlone() {
    gangway_->StopBoth();
    EndAlone("fill", "-w-0", 0, /*tell=*/false);
    gangway_->StartBoth();
    GW_CHECK(gangway_->WaitReady().ok());
  }

  // By how much two fills of the same kind differ: what is within that is not by those who wait.
  void FillAgain() {
    Remove("fill", all_);
    Fill(" a second time");
  }

  void FillBesideOthers() {
    Remove("fill", all_);
    std::vector<kube::Request> groups, pods;
    for (int i = 0; i < kBackground; ++i)
      AddGroupOfOne("background", absl::StrCat("waits-", i), "none", "volcano", groups, pods);
    load_.Send(std::move(groups));
    load_.Send(std::move(pods));
    Fill(absl::StrFormat(" with %d gangs waiting in the background", kBackground));
  }

  void Fill(const std::string& more) {
    Settle();
    Load::SeenPods bound(load_, "fill");
    const auto writes = Writes(plane());
    const auto cpu = CpuByProcess();
    const absl::Time begin = absl::Now();
    load_.Send(SingleGpuJobs("fill", "sanity", all_));
    const absl::Time last = bound.WaitFor(all_, kPatience);
    std::printf(
        "kai: %d single-GPU Jobs fill the cluster%s in %s, %.2f of the loader's speed (KAI on a larger machine: 398 "
        "s)\n",
        all_, more.c_str(), Seconds(last - begin).c_str(), absl::FDivDuration(alone_, last - begin));
    std::printf("  CPU: %s; writes: %s\n", CpuSince(cpu, CpuByProcess()).c_str(),
                Since(writes, Writes(plane())).c_str());
  }

  // Until its PodGroup says why it waits.
  absl::Duration UntilTold(const std::string& ns) {
    const absl::Time begin = absl::Now();
    while (absl::Now() < begin + kPatience) {
      const kube::Response reply = plane().Call("GET", api::PathOf(api::kPodGroups, ns));
      if (absl::StrContains(*reply.body, R"("type":"Unschedulable")")) return absl::Now() - begin;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::fprintf(stderr, "no PodGroup of %s says why it waits\n", ns.c_str());
    std::abort();
  }

  void ToldWhy() {
    SetQueue("sanity",
             absl::StrFormat(R"({"guarantee":{"resource":{"nvidia.com/gpu":"%d"}}})", all_ - kGang * kGpus + 1));
    std::this_thread::sleep_for(std::chrono::seconds(1));
    absl::Duration sum;
    for (int i = 0; i < kSamples; ++i) {
      load_.Send({GpuJob("reclaim", absl::StrCat("told-", i), "reclaim", kGang, kGpus)});
      sum += UntilTold("reclaim");
      Remove("reclaim", 0);
    }
    std::printf(
        "kai: a distributed job of %d pods that cannot fit is told why after %s on average (KAI on a larger machine: "
        "250 s)\n",
        kGang, Seconds(sum / kSamples).c_str());
    SetQueue("sanity", R"({"guarantee":null})");
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }

  struct Reclaimed {
    std::vector<absl::Duration> told;  // when the first, each quarter and the last of the victims were told to go
    absl::Duration bound;              // the last pod has its node
    int victims = 0;
    std::string cpu, writes;  // until then
    absl::Duration last_told() const { return told.empty() ? absl::ZeroDuration() : told.back(); }
  };
  Reclaimed Reclaim(std::vector<kube::Request> jobs, int pods) {
    Settle();
    Load::SeenPods bound(load_, "reclaim");
    const int had = PodsIn("reclaim", "fieldSelector=spec.nodeName!=");
    const int before = ends_->count();
    const auto writes = Writes(plane());
    const auto cpu = CpuByProcess();
    const absl::Time begin = absl::Now();
    load_.Send(std::move(jobs));
    Reclaimed result;
    result.bound = bound.WaitFor(had + pods, kPatience) - begin;
    result.cpu = CpuSince(cpu, CpuByProcess());
    result.writes = Since(writes, Writes(plane()));
    result.victims = ends_->count() - before;
    for (int part = 0; part <= kParts && result.victims > 0; ++part) {
      const int nth = before + std::max(1, result.victims * part / kParts);
      result.told.push_back(ends_->WaitFor(nth, absl::Seconds(1)) - begin);
    }
    return result;
  }

  void OneGpu() {
    absl::Duration told, bound;
    for (int i = 0; i < kSamples; ++i) {
      const Reclaimed one = Reclaim({GpuJob("reclaim", absl::StrCat("one-", i), "reclaim", 1, 1)}, 1);
      told += one.last_told();
      bound += one.bound;
    }
    std::printf(
        "kai: one GPU is reclaimed: its pod is told to go %s after the Job is posted, the Job's has its node after %s "
        "on average (KAI on a larger machine: 13.9 s)\n",
        Seconds(told / kSamples).c_str(), Seconds(bound / kSamples).c_str());
    Clear();
  }

  void OneLarge() {
    const Reclaimed large = Reclaim({GpuJob("reclaim", "large", "reclaim", nodes_ / 2, kGpus)}, nodes_ / 2);
    Tell(absl::StrFormat("room for one job of %d pods of %d GPUs is reclaimed", nodes_ / 2, kGpus), large, "102 s");
    Clear();
  }

  void Distributed() {
    std::vector<kube::Request> jobs;
    for (int i = 0; i < nodes_ / kGang; ++i)
      jobs.push_back(GpuJob("reclaim", absl::StrCat("gang-", i), "reclaim", kGang, 5));
    const Reclaimed gangs = Reclaim(std::move(jobs), nodes_);
    Tell(absl::StrFormat("%d distributed jobs of %d pods of 5 GPUs run by reclaim", nodes_ / kGang, kGang), gangs,
         "717 s");
    Clear();
  }

  // Five GPUs of each node are free, in single ones of 3 that stay; pods of 6 come.
  void Consolidate() {
    const kube::Response reply = plane().Call("GET", api::PathOf(api::kPods, "fill"));
    const auto json = api::ParseJson(*reply.body);
    GW_CHECK(json.ok());
    std::map<std::string, int> left;
    std::vector<kube::Request> deletions;
    for (const auto& pod : json->at("items").as_array()) {
      const auto& spec = pod.at("spec").as_object();
      if (!spec.contains("nodeName")) continue;
      const std::string name(pod.at("metadata").at("name").as_string());
      if (left[std::string(spec.at("nodeName").as_string())]++ >= 5) continue;
      deletions.push_back(Delete(api::kJobs, "fill", name.substr(0, name.find("-w-"))));
    }
    const auto gone = static_cast<int>(deletions.size());
    load_.Send(std::move(deletions));
    const absl::Time until = absl::Now() + kPatience;
    while (absl::Now() < until && PodsIn("fill", "") > all_ - gone)
      std::this_thread::sleep_for(std::chrono::seconds(1));
    GW_CHECK(PodsIn("fill", "") <= all_ - gone);
    std::this_thread::sleep_for(std::chrono::seconds(2));
    const int jobs_now = gone / (6 * kGang);
    std::vector<kube::Request> jobs;
    for (int i = 0; i < jobs_now; ++i)
      jobs.push_back(GpuJob("reclaim", absl::StrCat("packed-", i), "sanity", kGang, 6));
    const Reclaimed packed = Reclaim(std::move(jobs), jobs_now * kGang);
    Tell(absl::StrFormat("%d distributed jobs of %d pods of 6 GPUs run by consolidation", jobs_now, kGang), packed,
         "456 s");
  }

  void Tell(const std::string& what, const Reclaimed& result, const std::string& of_kai) {
    std::printf(
        "kai: %s: %d pods told to go, the last after %s; all bound after %s, %.2f of the loader's speed with as many "
        "deletions (KAI on a larger machine: %s)\n",
        what.c_str(), result.victims, Seconds(result.last_told()).c_str(), Seconds(result.bound).c_str(),
        absl::FDivDuration(end_alone_ * result.victims, result.bound), of_kai.c_str());
    std::printf(
        "  told to go (the first, each quarter, the last): %s; CPU: %s; writes: %s\n",
        absl::StrJoin(result.told, ", ", [](std::string* out, absl::Duration d) { out->append(Seconds(d)); }).c_str(),
        result.cpu.c_str(), result.writes.c_str());
  }

  // Who came goes, and all of the first are made anew: who was evicted once is kept from the next for a while.
  void Clear() {
    Remove("reclaim", 1);
    Remove("fill", all_);
    Load::SeenPods bound(load_, "fill");
    load_.Send(SingleGpuJobs("fill", "sanity", all_));
    bound.WaitFor(all_, kPatience);
  }

  const int nodes_, all_ = nodes_ * kGpus;
  std::unique_ptr<InstalledGangway> gangway_;
  Load load_;
  std::unique_ptr<PodEnds> ends_;
  absl::Duration alone_, end_alone_;  // the latter of one pod
};

}  // namespace

void KaiScale(int nodes) { Suite(nodes).Run(); }

namespace {

void WithEachProgram(int nodes, void (Suite::*run)()) {
  for (const std::string& program : Programs()) {
    if (!program.empty()) std::printf("kai: with the peer:\n");
    (Suite(nodes, program).*run)();
    if (!program.empty()) std::printf("kai: with this:\n");
  }
}

}  // namespace

void KaiFill(int nodes) { WithEachProgram(nodes, &Suite::RunFill); }
void KaiReclaim(int nodes) { WithEachProgram(nodes, &Suite::RunReclaim); }

void WritesOfReclaim(int nodes) {
  for (const std::string& program : Programs()) {
    if (!program.empty()) std::printf("kai: the peer's:\n");
    Suite(nodes, program, /*audit=*/true).TellWrites();
  }
}

}  // namespace gangway::bench
