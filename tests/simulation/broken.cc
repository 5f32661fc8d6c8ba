#include "tests/simulation/broken.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <boost/json.hpp>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/cluster_resources.h"
#include "api/core/pod.h"
#include "api/duration.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "api/volcano/job.h"
#include "assembly/components.h"
#include "base/check.h"
#include "kube/runtime/informer.h"
#include "plugin/lifecycle/job/run_history.h"
#include "tests/simulation/falsifying_client.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

// ---- the real ones behind a client

// Who was evicted rests for no longer than jobs here last, or few would go.
assembly::Options WithShortRests() {
  assembly::Options options;
  options.scheduler.policy.rests_for = absl::Seconds(10);
  return options;
}

struct LiedTo {
  LiedTo(Loop& loop, sandbox::Cluster& cluster, sandbox::Faults faults, absl::string_view process, Lies lies)
      : client(loop, cluster.NewClient(process, std::move(faults)), std::move(lies)),
        components(assembly::MakeComponents(loop, client, {process}, WithShortRests())) {
    components->Start();
  }
  FalsifyingClient client;
  std::unique_ptr<kube::Components> components;
};
constexpr char kScheduler[] = "scheduler", kControllers[] = "controllers";

// `lies` is called for each history: what it remembers is that history's.
MakeComponent Behind(const char* process, std::function<Lies(Loop&)> lies) {
  return [process, lies = std::move(lies)](Loop& loop, sandbox::Cluster& cluster, sandbox::Faults faults) {
    return std::make_shared<LiedTo>(loop, cluster, std::move(faults), process, lies(loop));
  };
}
MakeComponent Behind(const char* process, Lies (*lies)()) {
  return Behind(process, [lies](Loop&) { return lies(); });
}
using Edit = void (*)(json::object&);
MakeComponent SchedulerShown(const api::Resource& resource, Edit edit) {
  return Behind(kScheduler, [&resource, edit](Loop&) {
    return Lies{[&resource, edit](const api::Resource& shown, json::object& object) {
                  if (&shown == &resource) edit(object);
                },
                nullptr};
  });
}
MakeComponent ControllersSending(std::function<std::optional<kube::Response>(kube::Request&)> send) {
  return Behind(kControllers, [send = std::move(send)](Loop&) { return Lies{nullptr, send}; });
}

// From the first time that something is asked for until so long after.
class Stall {
 public:
  Stall(Loop& loop, absl::Duration time) : loop_(loop), time_(time) {}
  bool Holds(const std::string& what) {
    return loop_.Now() - since_.try_emplace(what, loop_.Now()).first->second < time_;
  }

 private:
  Loop& loop_;
  absl::Duration time_;
  std::map<std::string, absl::Time> since_;
};
constexpr absl::Duration kLate = absl::Seconds(30);  // more than twice what it may take

json::object* Part(json::object& object, const char* name) {
  json::value* const part = object.if_contains(name);
  return part == nullptr || !part->is_object() ? nullptr : &part->as_object();
}
void Drop(json::object& object, const char* part, const char* field) {
  if (json::object* const found = Part(object, part)) found->erase(field);
}
void LowerMinMember(json::object& group, std::int64_t by) {
  json::object* const spec = Part(group, "spec");
  json::value* const found = spec == nullptr ? nullptr : spec->if_contains("minMember");
  if (found == nullptr || !found->is_number()) return;
  const std::int64_t was = found->to_number<std::int64_t>();
  if (was > 1) *found = std::max<std::int64_t>(was - by, 1);
}

void AsSingles(json::object& group) {
  LowerMinMember(group, 1'000);
  Drop(group, "spec", "minTaskMember");
  Drop(group, "spec", "subGroupPolicy");
}
void OneLess(json::object& group) { LowerMinMember(group, 1); }
void WithoutTasksMinima(json::object& group) { Drop(group, "spec", "minTaskMember"); }
void Roomy(json::object& node) {
  json::object* const status = Part(node, "status");
  json::object* const allocatable = status == nullptr ? nullptr : Part(*status, "allocatable");
  if (allocatable != nullptr) (*allocatable)["cpu"] = "24";
}
void AnyNode(json::object& pod) { Drop(pod, "spec", "nodeSelector"); }
void WithoutTaints(json::object& node) {
  Drop(node, "spec", "taints");
  Drop(node, "spec", "unschedulable");
}
void WithoutPorts(json::object& pod) {
  json::object* const spec = Part(pod, "spec");
  if (spec == nullptr || !spec->contains("containers")) return;
  for (json::value& container : spec->at("containers").as_array()) container.as_object().erase("ports");
}
void WithoutCapability(json::object& queue) { Drop(queue, "spec", "capability"); }
// Those that others have bound.
void OfOthersAsOurs(json::object& pod) {
  json::object* const spec = Part(pod, "spec");
  const json::value* const scheduler = spec == nullptr ? nullptr : spec->if_contains("schedulerName");
  if (scheduler == nullptr || *scheduler == "volcano" || !spec->contains("nodeName")) return;
  (*spec)["schedulerName"] = "volcano";
  pod.at("metadata").as_object()["ownerReferences"] = json::array{json::object{
      {"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "none"}, {"uid", "none"}, {"controller", true}}};
}

void WithoutAffinity(json::object& pod, const char* kind) {
  json::object* const spec = Part(pod, "spec");
  if (spec != nullptr) Drop(*spec, "affinity", kind);
}
void NearNobody(json::object& pod) { WithoutAffinity(pod, "podAffinity"); }
void ApartFromNobody(json::object& pod) { WithoutAffinity(pod, "podAntiAffinity"); }
void WithoutSpreads(json::object& pod) { Drop(pod, "spec", "topologySpreadConstraints"); }
void WithoutVolumes(json::object& pod) { Drop(pod, "spec", "volumes"); }
void Anywhere(json::object& volume) { Drop(volume, "spec", "nodeAffinity"); }
void WithoutTopology(json::object& group) { Drop(group, "spec", "networkTopology"); }
void PartsWithoutTopology(json::object& group) {
  json::object* const spec = Part(group, "spec");
  if (spec == nullptr || !spec->contains("subGroupPolicy")) return;
  for (json::value& policy : spec->at("subGroupPolicy").as_array()) policy.as_object().erase("networkTopology");
}

// While it waits.
void OfTheHighest(json::object& group) {
  json::object* const spec = Part(group, "spec");
  json::object* const status = Part(group, "status");
  const json::value* const phase = status == nullptr ? nullptr : status->if_contains("phase");
  if (spec != nullptr && phase != nullptr && (*phase == "Pending" || *phase == "Inqueue"))
    (*spec)["priorityClassName"] = "top";
}
Lies NeverMind() {
  return {[](const api::Resource& resource, json::object& object) {
            if (&resource == &api::kPriorityClasses) object.erase("preemptionPolicy");
            if (&resource == &api::kPods) Drop(object, "spec", "preemptionPolicy");
          },
          nullptr};
}
void DropWord(json::object& object, const char* word) {
  json::object* const metadata = Part(object, "metadata");
  if (metadata == nullptr) return;
  for (const char* const words : {"annotations", "labels"}) Drop(*metadata, words, word);
}
void Preemptable(json::object& pod) { DropWord(pod, "volcano.sh/preemptable"); }
void WithoutCooldown(json::object& pod) { DropWord(pod, "volcano.sh/cooldown-time"); }
void WithoutMinimumRuntime(json::object& queue) { DropWord(queue, "gangway.io/min-runtime"); }
// It is 40 s in the histories in which gangs lose members.
void WithGrace(json::object& queue, const char* time) {
  json::object* const metadata = Part(queue, "metadata");
  json::object* const annotations = metadata == nullptr ? nullptr : Part(*metadata, "annotations");
  if (annotations != nullptr && annotations->contains("gangway.io/lost-member-grace"))
    (*annotations)["gangway.io/lost-member-grace"] = time;
}
void WithAShorterGrace(json::object& queue) { WithGrace(queue, "35s"); }
void WithALongerGrace(json::object& queue) { WithGrace(queue, "70s"); }
// That it was whole once, and its room is remembered for it, is not seen.
void AsNotBegun(json::object& group) {
  json::object* const status = Part(group, "status");
  json::value* const phase = status == nullptr ? nullptr : status->if_contains("phase");
  if (phase != nullptr && (*phase == "Unknown" || *phase == "Running")) *phase = "Inqueue";
}
// That it was moved is long ago.
void MovedLongAgo(json::object& group) {
  json::object* const status = Part(group, "status");
  json::value* const conditions = status == nullptr ? nullptr : status->if_contains("conditions");
  if (conditions == nullptr || !conditions->is_array()) return;
  for (json::value& condition : conditions->as_array()) {
    if (condition.at("type") == "GangReleased") condition.as_object()["lastTransitionTime"] = "2020-01-01T00:00:00Z";
  }
}
void AllowingAll(json::object& budget) { budget["status"] = json::object{{"disruptionsAllowed", 100}}; }
void Reclaimable(json::object& queue) { Drop(queue, "spec", "reclaimable"); }
void WithoutGuarantee(json::object& queue) { Drop(queue, "spec", "guarantee"); }
// Those of little weight have most of it.
void OfOtherWeight(json::object& queue) {
  json::object* const spec = Part(queue, "spec");
  json::value* const weight = spec == nullptr ? nullptr : spec->if_contains("weight");
  if (weight != nullptr && weight->is_number()) *weight = *weight == 1 ? 40 : 1;
}

void Movable(json::object& pod) {
  json::object* const metadata = Part(pod, "metadata");
  json::object* const annotations = metadata == nullptr ? nullptr : Part(*metadata, "annotations");
  if (annotations != nullptr) (*annotations)["gangway.io/movable"] = "true";
}
// Anybody, so that there is occasion.
Lies MovesAnybodyAgain() {
  return {[](const api::Resource& resource, json::object& object) {
            if (&resource == &api::kPodGroups) MovedLongAgo(object);
            if (&resource == &api::kPods) Movable(object);
          },
          nullptr};
}
bool IsBinding(const kube::Request& request) {
  return request.method == "POST" && absl::EndsWith(request.path, "/binding");
}

// Each seventh binding is refused and does not happen. With `forgets` the scheduler never learns that the pod is free:
// what it asks next is refused, too, and so is that binding from then on, and it goes on as if the room were taken.
Lies RefusesBindings(bool forgets) {
  return {nullptr,
          [forgets, count = 0, refused = absl::flat_hash_set<std::string>()](
              kube::Request& request) mutable -> std::optional<kube::Response> {
            const std::string pod =
                IsBinding(request) ? request.path.substr(0, request.path.size() - std::string("/binding").size()) : "";
            if (!pod.empty() && (++count % 7 == 0 || (forgets && refused.contains(pod)))) {
              refused.insert(pod);
              return Refusal(409, "Conflict");
            }
            if (forgets && request.method == "GET" && refused.contains(request.path)) return Refusal(403, "Forbidden");
            return std::nullopt;
          }};
}

// Part of each gang with more than one trainer stays bound alone for a minute: the first trainer is refused as often as
// the scheduler tries again every five seconds.
Lies LeavesPartsBoundForAWhile() {
  return {nullptr,
          [tries = std::map<std::string, int>()](kube::Request& request) mutable -> std::optional<kube::Response> {
            if (!IsBinding(request) || !absl::EndsWith(request.path, "-w-0/binding") || ++tries[request.path] > 12)
              return std::nullopt;
            return Refusal(409, "Conflict");
          }};
}

// Each third goes where the one before it went, and the scheduler's books have it elsewhere.
Lies BindsElsewhere() {
  return {nullptr, [count = 0, last = json::value()](kube::Request& request) mutable -> std::optional<kube::Response> {
            if (!IsBinding(request)) return std::nullopt;
            json::value binding = *api::ParseJson(request.body);
            json::value& target = binding.as_object().at("target");
            if (++count % 3 == 0) target = last;
            last = target;
            request.body = api::ToJson(binding);
            return std::nullopt;
          }};
}

// "default/job-7-0c1d" or "job-7-0c1d": "/pods/job-7-", with which the paths of its pods begin.
std::optional<std::string> PodsOfGang(absl::string_view gang) {
  const std::vector<absl::string_view> words = absl::StrSplit(gang, '-');
  if (words.size() < 2 || !absl::EndsWith(words[0], "job")) return std::nullopt;
  return absl::StrCat("/pods/job-", words[1], "-");
}
absl::string_view After(absl::string_view text, absl::string_view mark) {
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits(mark, 1));
  return parts.second;
}
bool ChangesPodGroup(const kube::Request& request) {
  return request.method == "PATCH" && ResourceOf(request.path) == &api::kPodGroups;
}
// For whose gang somebody is told to go.
std::optional<std::string> ForWhomIsEvicted(const kube::Request& request) {
  if (!ChangesPodGroup(request) || !absl::StrContains(request.body, "evicted ")) return std::nullopt;
  return PodsOfGang(After(request.body, " for default/"));
}
// Who is moved.
std::optional<std::string> WhoIsMoved(const kube::Request& request) {
  if (!ChangesPodGroup(request) || !absl::StrContains(request.body, R"("reason":"Moved")")) return std::nullopt;
  return PodsOfGang(After(request.path, "/podgroups/"));
}

// Who is named is bound late.
Lies BindsLate(Loop& loop, std::optional<std::string> (*named)(const kube::Request&)) {
  return {nullptr,
          [stall = Stall(loop, kLate), named,
           pods = std::set<std::string>()](kube::Request& request) mutable -> std::optional<kube::Response> {
            if (const auto of = named(request)) pods.insert(*of);
            const bool refused = IsBinding(request) && std::any_of(pods.begin(), pods.end(), [&](const auto& of) {
                                   return absl::StrContains(request.path, of) && stall.Holds(of);
                                 });
            return refused ? std::optional<kube::Response>(Refusal(409, "Conflict")) : std::nullopt;
          }};
}
MakeComponent BindsLate(std::optional<std::string> (*named)(const kube::Request&)) {
  return Behind(kScheduler, [named](Loop& loop) { return BindsLate(loop, named); });
}

// The first trainer stays.
std::optional<kube::Response> EvictsAPart(kube::Request& request) {
  if (request.method != "DELETE" || !absl::EndsWith(request.path, "-w-0")) return std::nullopt;
  kube::Response done = Refusal(200, "");
  done.body = MakeBytes(R"({"kind":"Status","apiVersion":"v1","status":"Success"})");
  return done;
}

// A volume for a claim is the one that the claim before was given, each second time.
Lies GivesVolumesTwice() {
  return {
      nullptr,
      [path = std::string(), claim = json::value()](kube::Request& request) mutable -> std::optional<kube::Response> {
        if (request.method != "PATCH" || ResourceOf(request.path) != &api::kPersistentVolumes) return std::nullopt;
        json::value patch = *api::ParseJson(request.body);
        const json::value of = patch.at("spec").at("claimRef").at("name");
        if (path.empty() || of == claim) {
          path = request.path;
          claim = of;
          return std::nullopt;
        }
        request.path = std::exchange(path, "");
        for (const char* precondition : {"uid", "resourceVersion"}) Drop(patch.as_object(), "metadata", precondition);
        request.body = api::ToJson(patch);
        return std::nullopt;
      }};
}

// From the thirtieth on: until those are over who are there, and longer.
Lies BindsNobodyForMinutes(Loop& loop) {
  return {nullptr,
          [stall = Stall(loop, absl::Minutes(6)),
           count = 0](kube::Request& request) mutable -> std::optional<kube::Response> {
            return IsBinding(request) && ++count > 30 && stall.Holds("")
                       ? std::optional<kube::Response>(Refusal(409, "Conflict"))
                       : std::nullopt;
          }};
}

// ---- beside the real scheduler, under its name: makes room by deleting what runs

class Preempting {
 public:
  Preempting(Loop& loop, sandbox::Cluster& cluster, sandbox::Faults faults)
      : loop_(loop),
        client_(cluster.NewClient("scheduler", std::move(faults))),
        pods_(loop, *client_, api::kPods, {}),
        scheduler_(assembly::MakeComponents(loop, *client_, {kScheduler}, {})) {
    pods_.Start([](const auto&, const auto&, const auto&) {});
    scheduler_->Start();
    Next();
  }

 private:
  void Next() {
    loop_.PostAt(loop_.Now() + absl::Seconds(20), owner_.token(), [this] {
      std::string victim;
      pods_.ForEach([&](const api::NamespacedName& key, const std::shared_ptr<const api::core::Pod>& pod) {
        if (victim.empty() && pod->status.phase == "Running" && pod->spec.scheduler_name == "volcano")
          victim = api::PathOf(api::kPods, key.ns, key.name);
      });
      if (!victim.empty())
        client_->Send({"DELETE", victim, "", "", "", ""}, owner_.token(), [](absl::StatusOr<kube::Response>) {});
      Next();
    });
  }

  Loop& loop_;
  const std::unique_ptr<kube::Client> client_;
  kube::Informer<api::core::Pod> pods_;
  const std::unique_ptr<kube::Components> scheduler_;
  Owner owner_;
};

// ---- takes what the same jobs took before in the mean for what they say who say nothing

class BelievesTheMean {
 public:
  BelievesTheMean(Loop& loop, sandbox::Cluster& cluster, sandbox::Faults faults)
      : client_(cluster.NewClient(kScheduler)),
        jobs_(loop, *client_, api::kJobs, {}),
        scheduler_(loop, cluster, std::move(faults), kScheduler,
                   {[this](const api::Resource& shown, json::object& object) {
                      if (&shown == &api::kPods) Say(object);
                    },
                    nullptr}) {
    jobs_.Start([](const auto&, const auto&, const auto&) {});
  }

 private:
  std::optional<absl::Duration> Mean(const std::string& spec) const {
    absl::Duration sum;
    int runs = 0;
    jobs_.ForEach([&](const auto&, const std::shared_ptr<const api::volcano::Job>& job) {
      const std::optional<absl::Duration> took = lifecycle::HowLongItRan(*job);
      if (!took.has_value() || api::Encode(job->spec) != spec) return;
      sum += *took;
      ++runs;
    });
    return runs == 0 ? std::nullopt : std::optional(sum / runs);
  }
  void Say(json::object& pod) const {
    json::object* const metadata = Part(pod, "metadata");
    json::object* const annotations = metadata == nullptr ? nullptr : Part(*metadata, "annotations");
    const json::value* const name = annotations == nullptr ? nullptr : annotations->if_contains("volcano.sh/job-name");
    const json::object* const spec = Part(pod, "spec");
    if (name == nullptr || spec == nullptr || spec->contains("activeDeadlineSeconds")) return;
    const auto job = jobs_.Get({"default", std::string(name->as_string())});
    if (job == nullptr) return;
    const std::optional<absl::Duration> mean = Mean(api::Encode(job->spec));
    if (mean.has_value()) (*annotations)["gangway.io/expected-runtime"] = api::FormatGoDuration(*mean);
  }

  const std::unique_ptr<kube::Client> client_;
  kube::Informer<api::volcano::Job> jobs_;
  LiedTo scheduler_;
};

// ---- controllers

std::optional<kube::Response> DeletesNoPod(kube::Request& request) {
  if (request.method != "DELETE" || !absl::StrContains(request.path, "/pods/")) return std::nullopt;
  kube::Response done = Refusal(200, "");
  done.body = MakeBytes(R"({"kind":"Status","apiVersion":"v1","status":"Success"})");
  return done;
}

// Beside the real ones, under their name: writes to a queue again and again.
class NeverRests {
 public:
  NeverRests(Loop& loop, sandbox::Cluster& cluster, sandbox::Faults faults)
      : loop_(loop),
        client_(cluster.NewClient(kControllers, std::move(faults))),
        controllers_(assembly::MakeComponents(loop, *client_, {kControllers}, {})) {
    controllers_->Start();
    Next();
  }

 private:
  void Next() {
    loop_.PostAt(loop_.Now() + absl::Minutes(4), owner_.token(), [this] {
      const std::string patch = absl::StrCat(R"({"metadata":{"annotations":{"seen":")", ++count_, R"("}}})");
      client_->Send({"PATCH", api::PathOf(api::kQueues, "", "default"), "", "application/merge-patch+json", "", patch},
                    owner_.token(), [](absl::StatusOr<kube::Response>) {});
      Next();
    });
  }

  Loop& loop_;
  const std::unique_ptr<kube::Client> client_;
  const std::unique_ptr<kube::Components> controllers_;
  int count_ = 0;
  Owner owner_;
};

// What is asked of a Job is read as what means nothing to one at work, and removed.
Lies LosesCommands() {
  return {[](const api::Resource& resource, json::object& command) {
            if (&resource == &api::kCommands) command["action"] = "ResumeJob";
          },
          nullptr};
}

// That a Job is to be killed is written late, so nothing is done about it until then.
Lies ObeysLate(Loop& loop) {
  return {nullptr, [stall = Stall(loop, kLate)](kube::Request& request) mutable -> std::optional<kube::Response> {
            if (request.method != "PATCH" || ResourceOf(request.path) != &api::kJobs) return std::nullopt;
            constexpr std::array kPhases{"Aborting", "Terminating", "Completing", "Restarting"};
            const bool held = std::any_of(kPhases.begin(), kPhases.end(), [&](const char* phase) {
              return absl::StrContains(request.body, absl::StrCat(R"("phase":")", phase, R"(")")) &&
                     stall.Holds(absl::StrCat(request.path, " ", phase));
            });
            return held ? std::optional<kube::Response>(Refusal(409, "Conflict")) : std::nullopt;
          }};
}

// Whatever an object's status says of this is written late.
MakeComponent CountsLate(const char* process, const api::Resource& of, const char* field) {
  return Behind(process, [&of, field](Loop& loop) {
    return Lies{
        nullptr,
        [stall = Stall(loop, kLate), &of, field](kube::Request& request) mutable -> std::optional<kube::Response> {
          const bool counts = request.method == "PATCH" && ResourceOf(request.path) == &of &&
                              absl::StrContains(request.body, absl::StrCat("\"", field, "\":"));
          return counts && stall.Holds(absl::StrCat(request.path, " ", request.body))
                     ? std::optional<kube::Response>(Refusal(409, "Conflict"))
                     : std::nullopt;
        }};
  });
}

// What an object's status counts is written as so much more.
std::function<std::optional<kube::Response>(kube::Request&)> CountsMore(const char* field, std::int64_t by,
                                                                        const api::Resource& of = api::kJobs) {
  return [field, by, &of](kube::Request& request) -> std::optional<kube::Response> {
    if (request.method != "PATCH" || ResourceOf(request.path) != &of) return std::nullopt;
    json::value patch = *api::ParseJson(request.body);
    json::object* const status = Part(patch.as_object(), "status");
    json::value* const count = status == nullptr ? nullptr : status->if_contains(field);
    if (count == nullptr || !count->is_number()) return std::nullopt;
    *count = count->to_number<std::int64_t>() + by;
    request.body = api::ToJson(patch);
    return std::nullopt;
  };
}

// Pods that run are written as those of another phase.
std::optional<kube::Response> CountsTasksAsPending(kube::Request& request) {
  if (request.method != "PATCH" || ResourceOf(request.path) != &api::kJobs) return std::nullopt;
  json::value patch = *api::ParseJson(request.body);
  json::object* const status = Part(patch.as_object(), "status");
  json::object* const tasks = status == nullptr ? nullptr : Part(*status, "taskStatusCount");
  if (tasks == nullptr) return std::nullopt;
  for (auto& task : *tasks) {
    json::object* const phases = task.value().is_object() ? Part(task.value().as_object(), "phase") : nullptr;
    if (phases == nullptr || !phases->contains("Running")) continue;
    (*phases)["Pending"] = phases->at("Running");
    phases->erase("Running");
  }
  request.body = api::ToJson(patch);
  return std::nullopt;
}

// What pods of a queue hold is written as nothing.
std::optional<kube::Response> AllocatesNothing(kube::Request& request) {
  if (request.method != "PATCH" || ResourceOf(request.path) != &api::kQueues) return std::nullopt;
  json::value patch = *api::ParseJson(request.body);
  json::object* const status = Part(patch.as_object(), "status");
  json::object* const allocated = status == nullptr ? nullptr : Part(*status, "allocated");
  if (allocated == nullptr) return std::nullopt;
  if (allocated->contains("cpu")) (*allocated)["cpu"] = "0";
  request.body = api::ToJson(patch);
  return std::nullopt;
}

// That a Job runs is written to one that has completed, once.
Lies ReopensWhatIsOver() {
  return {nullptr, [over = std::string()](kube::Request& request) mutable -> std::optional<kube::Response> {
            if (request.method != "PATCH" || ResourceOf(request.path) != &api::kJobs) return std::nullopt;
            json::value patch = *api::ParseJson(request.body);
            json::object* const status = Part(patch.as_object(), "status");
            json::object* const state = status == nullptr ? nullptr : Part(*status, "state");
            if (state == nullptr || !state->contains("phase")) return std::nullopt;
            if (state->at("phase") == "Completed") over = request.path;
            if (state->at("phase") != "Running" || over.empty()) return std::nullopt;
            request.path = std::exchange(over, "");
            for (const char* precondition : {"uid", "resourceVersion"})
              Drop(patch.as_object(), "metadata", precondition);
            request.body = api::ToJson(patch);
            return std::nullopt;
          }};
}

std::optional<kube::Response> MakesNobodys(kube::Request& request) {
  const api::Resource* const resource = ResourceOf(request.path);
  if (request.method != "POST" || (resource != &api::kServices && resource != &api::kConfigMaps)) return std::nullopt;
  json::value object = *api::ParseJson(request.body);
  Drop(object.as_object(), "metadata", "ownerReferences");
  request.body = api::ToJson(object);
  return std::nullopt;
}

// ---- the API server

// Takes a second binding: what was bound turns up on another node.
std::function<void(HistoryOptions&)> RebindsPods() {
  return [](HistoryOptions& options) {
    options.falsify = [](sandbox::JournalRecord& record) {
      if (record.resource != &api::kPods || record.before == nullptr || record.after == nullptr) return;
      const json::value before = *api::ParseJson(*record.before);
      const json::value* const was = before.at("spec").as_object().if_contains("nodeName");
      json::value after = *api::ParseJson(*record.after);
      if (was == nullptr || after.at("status").at("phase") != "Running") return;
      after.at("spec").at("nodeName") = *was == "node-000" ? "node-001" : "node-000";
      record.after = MakeBytes(api::ToJson(after));
    };
  };
}

// ---- two of each, behind leases

// As `two_replicas`, of which each is stopped now and then.
std::function<void(HistoryOptions&)> ReplicasWith(Leak leak) {
  return [leak](HistoryOptions& options) {
    options.two_replicas = true;
    options.leak = leak;
    options.disturbed_for = absl::Minutes(10);
  };
}

}  // namespace

std::vector<WrongComponent> WrongComponents() {
  const auto scheduler = [](MakeComponent make) {
    return [make = std::move(make)](HistoryOptions& options) { options.replace_scheduler = make; };
  };
  const auto controllers = [](MakeComponent make) {
    return [make = std::move(make)](HistoryOptions& options) { options.replace_controllers = make; };
  };
  const auto placing = [](MakeComponent make) {
    return [make = std::move(make)](HistoryOptions& options) {
      options.replace_scheduler = make;
      options.placed = true;
    };
  };
  const auto ranked = [](MakeComponent make) {
    return [make = std::move(make)](HistoryOptions& options) {
      options.replace_scheduler = make;
      options.ranked = true;
    };
  };
  const auto gathering = [](MakeComponent make) {
    return [make = std::move(make)](HistoryOptions& options) {
      options.replace_scheduler = make;
      options.pieces = true;
    };
  };
  const auto gathering_for_many = [](MakeComponent make) {
    return [make = std::move(make)](HistoryOptions& options) {
      options.replace_scheduler = make;
      options.pieces = options.many_come = true;
    };
  };
  const auto losing = [](MakeComponent make) {
    return [make = std::move(make)](HistoryOptions& options) {
      options.replace_scheduler = make;
      options.losing = true;
    };
  };
  const auto repeating = [](MakeComponent make) {
    return [make = std::move(make)](HistoryOptions& options) {
      options.replace_scheduler = make;
      options.repeating = true;
    };
  };
  const auto believes_the_mean = [](Loop& loop, sandbox::Cluster& cluster, sandbox::Faults faults) {
    return std::make_shared<BelievesTheMean>(loop, cluster, std::move(faults));
  };
  const auto preempting = [](Loop& loop, sandbox::Cluster& cluster, sandbox::Faults faults) {
    return std::make_shared<Preempting>(loop, cluster, std::move(faults));
  };
  const auto never_rests = [](Loop& loop, sandbox::Cluster& cluster, sandbox::Faults faults) {
    return std::make_shared<NeverRests>(loop, cluster, std::move(faults));
  };
  return {
      {"PlacesPodByPod", {Rule::kPartBound}, scheduler(SchedulerShown(api::kPodGroups, AsSingles))},
      {"PlacesOneLessThanTheMinimum", {Rule::kPartBound}, scheduler(SchedulerShown(api::kPodGroups, OneLess))},
      {"LeavesPartsBoundForAWhile", {Rule::kPartBound}, scheduler(Behind(kScheduler, LeavesPartsBoundForAWhile))},
      {"IgnoresTasksMinima", {Rule::kRoleMinimum}, scheduler(SchedulerShown(api::kPodGroups, WithoutTasksMinima))},
      {"IgnoresRoom", {Rule::kOvercommitted}, scheduler(SchedulerShown(api::kNodes, Roomy))},
      {"IgnoresNodeSelectors", {Rule::kSelector}, scheduler(SchedulerShown(api::kPods, AnyNode))},
      {"IgnoresTaints", {Rule::kTaint}, scheduler(SchedulerShown(api::kNodes, WithoutTaints))},
      {"IgnoresHostPorts", {Rule::kPorts}, scheduler(SchedulerShown(api::kPods, WithoutPorts))},
      {"IgnoresCapability", {Rule::kCapability}, scheduler(SchedulerShown(api::kQueues, WithoutCapability))},
      {"IgnoresPodAffinity", {Rule::kAffinity}, placing(SchedulerShown(api::kPods, NearNobody))},
      {"IgnoresPodAntiAffinity", {Rule::kAntiAffinity}, placing(SchedulerShown(api::kPods, ApartFromNobody))},
      {"IgnoresSpreads", {Rule::kSpread}, placing(SchedulerShown(api::kPods, WithoutSpreads))},
      {"BindsBeforeVolumes", {Rule::kVolumeBound}, placing(SchedulerShown(api::kPods, WithoutVolumes))},
      {"IgnoresWhereVolumesAre", {Rule::kVolumeReach}, placing(SchedulerShown(api::kPersistentVolumes, Anywhere))},
      {"GivesVolumesTwice", {Rule::kVolumeTwice}, placing(Behind(kScheduler, GivesVolumesTwice))},
      {"IgnoresTopology", {Rule::kTopology}, placing(SchedulerShown(api::kPodGroups, WithoutTopology))},
      {"IgnoresTopologyOfParts", {Rule::kPartTopology}, placing(SchedulerShown(api::kPodGroups, PartsWithoutTopology))},
      {"TakesPodsOfOthersForItsOwn", {Rule::kStranger}, scheduler(SchedulerShown(api::kPods, OfOthersAsOurs))},
      {"ForgetsToForget",
       {Rule::kPartBound, Rule::kEnd},
       scheduler(Behind(kScheduler, [] { return RefusesBindings(true); }))},
      {"BindsElsewhere", {Rule::kOvercommitted}, scheduler(Behind(kScheduler, BindsElsewhere))},
      {"BindsLateForWhomItEvicted", {Rule::kEvictedWithoutGain}, ranked(BindsLate(ForWhomIsEvicted))},
      {"EvictsEqualPriority", {Rule::kEvictedHigher}, ranked(SchedulerShown(api::kPodGroups, OfTheHighest))},
      {"EvictsInTurn", {Rule::kTakesTurns}, ranked(SchedulerShown(api::kPodGroups, OfTheHighest))},
      {"BindsNobodyForMinutes", {Rule::kStarved}, ranked(Behind(kScheduler, BindsNobodyForMinutes))},
      {"EvictsForThosePromisedNever", {Rule::kNeverPreempts}, ranked(Behind(kScheduler, NeverMind))},
      {"IgnoresPreemptable", {Rule::kEvictedProtected}, ranked(SchedulerShown(api::kPods, Preemptable))},
      {"IgnoresCooldowns", {Rule::kEvictedProtected}, ranked(SchedulerShown(api::kPods, WithoutCooldown))},
      {"IgnoresBudgets", {Rule::kEvictedProtected}, ranked(SchedulerShown(api::kPodDisruptionBudgets, AllowingAll))},
      {"IgnoresMinimumRuntimes",
       {Rule::kEvictedProtected},
       ranked(SchedulerShown(api::kQueues, WithoutMinimumRuntime))},
      {"ReclaimsFromAnyQueue", {Rule::kEvictedProtected}, ranked(SchedulerShown(api::kQueues, Reclaimable))},
      {"EvictsAPart", {Rule::kPartEvicted}, ranked(Behind(kScheduler, [] { return Lies{nullptr, EvictsAPart}; }))},
      {"IgnoresGuarantees", {Rule::kBelowGuarantee}, ranked(SchedulerShown(api::kQueues, WithoutGuarantee))},
      {"IgnoresWeights", {Rule::kBelowShare}, ranked(SchedulerShown(api::kQueues, OfOtherWeight))},
      {"BindsLateForWhomItMoved", {Rule::kEvictedWithoutGain}, gathering_for_many(BindsLate(ForWhomIsEvicted))},
      {"MovesWhoDidNotSaySo", {Rule::kMovedUndeclared}, gathering(SchedulerShown(api::kPods, Movable))},
      {"BindsLateWhoWasMoved", {Rule::kNotBack}, gathering_for_many(BindsLate(WhoIsMoved))},
      {"MovesAgain", {Rule::kMovedAgain}, gathering_for_many(Behind(kScheduler, MovesAnybodyAgain))},
      {"BelievesTheMeanOfThePast", {Rule::kDelayed}, repeating(believes_the_mean)},
      {"EvictsWhoLostAMemberEarly", {Rule::kLostEarly}, losing(SchedulerShown(api::kQueues, WithAShorterGrace))},
      {"EvictsWhoLostAMemberLate", {Rule::kLostHeld}, losing(SchedulerShown(api::kQueues, WithALongerGrace))},
      {"GivesAwayTheRoomOfWhoWasLost", {Rule::kLostRoom}, losing(SchedulerShown(api::kPodGroups, AsNotBegun))},
      {"DeletesWhatRuns", {Rule::kReleased}, scheduler(preempting)},
      {"WritesPastTheFence", {Rule::kTwoWriters}, ReplicasWith(Leak::kPastTheFence)},
      {"GoesOnThoughItsLeaseIsLost", {Rule::kTwoWriters}, ReplicasWith(Leak::kGoesOn)},
      {"BindsPodsTwice", {Rule::kBoundTwice}, RebindsPods()},
      {"DeletesNoPod", {Rule::kEnd, Rule::kEndedPods}, controllers(ControllersSending(DeletesNoPod))},
      {"LosesCommands", {Rule::kCommand}, controllers(Behind(kControllers, LosesCommands))},
      {"ObeysLate", {Rule::kCommand}, controllers(Behind(kControllers, ObeysLate))},
      {"CountsOneLess", {Rule::kCounters}, controllers(ControllersSending(CountsMore("running", -1)))},
      {"CountsTasksAsPending", {Rule::kCounters}, controllers(ControllersSending(CountsTasksAsPending))},
      {"CountsPodGroupsOnceMore",
       {Rule::kCounters},
       controllers(ControllersSending(CountsMore("running", 1, api::kQueues)))},
      {"CountsWhatSucceededOnceMore",
       {Rule::kCounters},
       scheduler(Behind(kScheduler, [] { return Lies{nullptr, CountsMore("succeeded", 1, api::kPodGroups)}; }))},
      {"AllocatesNothing",
       {Rule::kCounters},
       scheduler(Behind(kScheduler, [] { return Lies{nullptr, AllocatesNothing}; }))},
      {"CountsPodsOfJobsLate", {Rule::kCounters}, controllers(CountsLate(kControllers, api::kJobs, "running"))},
      {"CountsPodsOfGangsLate", {Rule::kCounters}, scheduler(CountsLate(kScheduler, api::kPodGroups, "running"))},
      {"CountsPodGroupsLate", {Rule::kCounters}, controllers(CountsLate(kControllers, api::kQueues, "running"))},
      {"AllocatesLate", {Rule::kCounters}, scheduler(CountsLate(kScheduler, api::kQueues, "allocated"))},
      {"LowersVersions", {Rule::kVersion}, controllers(ControllersSending(CountsMore("version", -2)))},
      {"CountsRetriesTwice", {Rule::kRetries}, controllers(ControllersSending(CountsMore("retryCount", 1)))},
      {"ReopensWhatIsOver", {Rule::kFinished}, controllers(Behind(kControllers, ReopensWhatIsOver))},
      {"NeverRests", {Rule::kQuiet}, controllers(never_rests)},
      {"MakesNobodys", {Rule::kLeftovers}, controllers(ControllersSending(MakesNobodys))},
  };
}

std::vector<WrongComponent> WrongComponentsWithFaults() {
  std::vector<WrongComponent> all;
  for (const char* name : {"PlacesOneLessThanTheMinimum", "LeavesPartsBoundForAWhile", "IgnoresTasksMinima"})
    all.push_back(WrongComponentCalled(name));
  return all;
}

WrongComponent WrongComponentCalled(const std::string& name) {
  for (const WrongComponent& component : WrongComponents()) {
    if (component.name == name) return component;
  }
  GW_CHECK(false);
}

std::shared_ptr<void> MakeSchedulerThatIsRefused(Loop& loop, sandbox::Cluster& cluster, sandbox::Faults faults) {
  return std::make_shared<LiedTo>(loop, cluster, std::move(faults), kScheduler, RefusesBindings(false));
}

}  // namespace gangway::testutil
