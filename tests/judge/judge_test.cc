// Our constraints against the filters of Kubernetes' own scheduler, on clusters drawn from a seed: the nodes that take
// a pod are the same.
//   GW_JUDGE_SEED=7      begins with that case; a failure names its own
//   GW_JUDGE_CASES=1     so many
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/judge/kubernetes.h"
#include "tests/judge/production.h"
#include "tests/judge/random_case.h"
#include "tests/judge/shrink_case.h"
#include "tests/judge/verdict.h"
#include "tests/testing/long_test.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  std::uint64_t number = otherwise;
  if (text != nullptr && !absl::SimpleAtoi(text, &number)) ADD_FAILURE() << name << "=" << text << " is no number";
  return number;
}

// What of a case is to be compared, and where that differs.
std::optional<Difference> DifferenceIn(const Judged& judged, const Verdict& ours) {
  if (!judged.invalid.empty() || !ours.not_modelled.empty()) return std::nullopt;
  return FirstDifference(judged.verdict, ours);
}

using Cases = std::vector<std::pair<std::uint64_t, Judged>>;

// Few at a time: what is answered has all objects in it.
Cases AskAboutSeeds(std::uint64_t first, std::uint64_t count) {
  std::vector<json::object> cases;
  for (std::uint64_t seed = first; seed < first + count; ++seed) cases.push_back(RandomCase(seed));
  absl::StatusOr<std::vector<Judged>> judged = AskKubernetes(cases);
  Cases by_seed;
  if (!judged.ok()) {
    ADD_FAILURE() << judged.status();
    return by_seed;
  }
  for (std::size_t i = 0; i < judged->size(); ++i) by_seed.emplace_back(first + i, std::move((*judged)[i]));
  return by_seed;
}

constexpr std::uint64_t kFirst = 1, kAtOnce = 1000;

// Those that every run begins with, asked about once.
const Cases& FirstCases() {
  static const Cases& cases = *new Cases(AskAboutSeeds(kFirst, kAtOnce));
  return cases;
}

std::string Shrunk(std::uint64_t seed, const Difference& difference) {
  const auto shows = [&](const Judged& judged) {
    return DifferenceIn(judged, judged.invalid.empty() ? AskProduction(judged.stored, seed) : Verdict()) == difference;
  };
  const json::object small = ShrinkCase(RandomCase(seed), [&](const std::vector<json::object>& cases) {
    std::vector<bool> still;
    const absl::StatusOr<std::vector<Judged>> judged = AskKubernetes(cases);
    for (std::size_t i = 0; i < cases.size(); ++i) still.push_back(judged.ok() && shows((*judged)[i]));
    return still;
  });
  const absl::StatusOr<std::vector<Judged>> judged = AskKubernetes({small});
  if (!judged.ok() || !judged->front().invalid.empty()) return "it could not be made smaller";
  return absl::StrCat(json::serialize(small), "\n",
                      Render(judged->front().verdict, AskProduction(judged->front().stored, seed)));
}

// What a run has seen.
struct Seen {
  int cases = 0, invalid = 0, takes = 0, refuses = 0;
  std::map<std::string, int> not_modelled, by_plugin, invalid_for;
  std::map<std::string, std::vector<std::uint64_t>> differences;  // by kind
};

void Look(std::uint64_t seed, const Judged& judged, Seen& seen) {
  ++seen.cases;
  if (!judged.invalid.empty()) {
    ++seen.invalid;
    ++seen.invalid_for[judged.invalid];
    return;
  }
  const Verdict ours = AskProduction(judged.stored, seed);
  if (!ours.not_modelled.empty()) {
    ++seen.not_modelled[ours.not_modelled];
    return;
  }
  for (const auto& [node, against] : judged.verdict.against) {
    against.empty() ? ++seen.takes : ++seen.refuses;
    if (!against.empty()) ++seen.by_plugin[against.substr(0, against.find(':'))];
  }
  if (const std::optional<Difference> difference = FirstDifference(judged.verdict, ours))
    seen.differences[difference->kind].push_back(seed);
}

void PrintTable(const char* title, const std::map<std::string, int>& counts) {
  if (!counts.empty()) std::cout << title << "\n";
  for (const auto& [what, count] : counts) std::cout << absl::StrFormat("  %6d  %s\n", count, what);
}

void Print(const Seen& seen) {
  std::cout << absl::StrFormat(
      "%d cases: %d no API server takes; of the others %d nodes take the pod and %d refuse it\n", seen.cases,
      seen.invalid, seen.takes, seen.refuses);
  PrintTable("not compared, since our scheduler says that it does not know", seen.not_modelled);
  PrintTable("nodes refused by", seen.by_plugin);
  if (std::getenv("GW_JUDGE_INVALID") != nullptr) PrintTable("invalid", seen.invalid_for);
}

class JudgeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!JudgePresent()) GTEST_SKIP() << "there is no filter-judge on this machine";
  }
};

TEST_F(JudgeTest, TheNodesThatTakeAPodAreThoseOfKubernetes) {
  constexpr std::size_t kShrunk = 8;
  const std::uint64_t first = FromEnvironment("GW_JUDGE_SEED", kFirst),
                      count = FromEnvironment("GW_JUDGE_CASES", LongRun() ? 20'000 : 2'000);
  Seen seen;
  for (std::uint64_t done = 0; done < count && !HasFailure(); done += kAtOnce) {
    const std::uint64_t begin = first + done, many = std::min(kAtOnce, count - done);
    const Cases cases = begin == kFirst && many == kAtOnce ? Cases() : AskAboutSeeds(begin, many);
    for (const auto& [seed, judged] : cases.empty() ? FirstCases() : cases) Look(seed, judged, seen);
  }
  std::cout << "GW_JUDGE_SEED=" << first << "\n";
  Print(seen);
  if (count >= 1000) {
    EXPECT_LT(seen.invalid * 10, seen.cases) << "too many of the cases are none (GW_JUDGE_INVALID=1 says why)";
    EXPECT_GT(seen.takes, seen.cases / 2);
    EXPECT_GT(seen.refuses, seen.cases / 2);
  }
  std::size_t shown = 0;
  for (const auto& [kind, seeds] : seen.differences) {
    ADD_FAILURE() << kind << ": " << seeds.size() << " cases; GW_JUDGE_CASES=1 GW_JUDGE_SEED=" << seeds.front() << "\n"
                  << (shown++ < kShrunk ? Shrunk(seeds.front(), {"", kind}) : "");
  }
}

// ---- what is wrong on purpose is seen

struct Wrong {
  const char* name;
  Falsify falsify;
  const char* theirs;  // what Kubernetes says of nodes that this lets through, or "nothing"; "" = either
};

std::vector<Wrong> AllWrong() {
  std::vector<Wrong> all;
  const auto pod = [&](const char* name, std::function<void(model::PodFacts&)> wrong, const char* theirs) {
    all.push_back({name, {.pod = std::move(wrong)}, theirs});
  };
  const auto node = [&](const char* name, std::function<void(model::NodeFacts&)> wrong, const char* theirs) {
    all.push_back({name, {.node = std::move(wrong)}, theirs});
  };
  node(
      "IgnoresNoExecute",
      [](model::NodeFacts& facts) {
        std::erase_if(facts.taints, [](const auto& taint) { return taint.effect == model::TaintEffect::kNoExecute; });
      },
      "TaintToleration");
  node("IgnoresCordons", [](model::NodeFacts& facts) { facts.unschedulable = false; }, "NodeUnschedulable");
  node(
      "IgnoresValuesOfTaints",
      [](model::NodeFacts& facts) {
        for (auto& taint : facts.taints) taint.value.clear();
      },
      "TaintToleration");
  node("HasNoLabels", [](model::NodeFacts& facts) { facts.labels.clear(); }, "nothing");
  node(
      "HasRoomForAllPods",
      [](model::NodeFacts& facts) {
        for (auto& [name, amount] : facts.allocatable) amount = name == "pods" ? 1000 : amount;
      },
      "NodeResourcesFit");
  pod(
      "IgnoresAddressesOfPorts",
      [](model::PodFacts& facts) {
        for (auto& port : facts.wants.host_ports) port.ip.clear();
      },
      "nothing");
  pod(
      "IgnoresProtocolsOfPorts",
      [](model::PodFacts& facts) {
        for (auto& port : facts.wants.host_ports) port.protocol = "TCP";
      },
      "nothing");
  pod("IgnoresPorts", [](model::PodFacts& facts) { facts.wants.host_ports.clear(); }, "NodePorts");
  pod(
      "IgnoresMemory",
      [](model::PodFacts& facts) {
        std::erase_if(facts.wants.requests, [](const auto& request) { return request.first == "memory"; });
      },
      "NodeResourcesFit");
  pod(
      "IgnoresDevices",
      [](model::PodFacts& facts) {
        std::erase_if(facts.wants.requests, [](const auto& request) { return request.first == "example.com/gpu"; });
      },
      "NodeResourcesFit");
  pod(
      "CountsPodsThatEnded",
      [](model::PodFacts& facts) {
        if (!facts.node.empty()) facts.phase = model::PodPhase::kRunning;
      },
      "nothing");
  pod(
      "IgnoresEffectsOfTolerations",
      [](model::PodFacts& facts) {
        for (auto& toleration : facts.wants.tolerations) toleration.effect.clear();
      },
      "TaintToleration");
  pod("ToleratesNothing", [](model::PodFacts& facts) { facts.wants.tolerations.clear(); }, "nothing");
  pod("IgnoresNodeSelectors", [](model::PodFacts& facts) { facts.wants.selector.clear(); }, "NodeAffinity");
  pod(
      "IgnoresNamesInAffinity",
      [](model::PodFacts& facts) {
        for (auto& term : facts.wants.affinity) std::erase_if(term, [](const auto& each) { return each.key.empty(); });
      },
      "");
  pod(
      "TakesLessForMore",
      [](model::PodFacts& facts) {
        for (auto& term : facts.wants.affinity)
          for (auto& each : term) each.op = each.op == model::Op::kGt ? model::Op::kLt : each.op;
      },
      "");
  pod("IgnoresPodAffinity", [](model::PodFacts& facts) { facts.wants.pod_affinity.clear(); }, "InterPodAffinity");
  pod(
      "IgnoresPodAntiAffinity", [](model::PodFacts& facts) { facts.wants.pod_anti_affinity.clear(); },
      "InterPodAffinity");
  pod(
      "IgnoresAntiAffinityOfOthers",
      [](model::PodFacts& facts) {
        if (!facts.node.empty()) facts.wants.pod_anti_affinity.clear();
      },
      "InterPodAffinity");
  pod(
      "IgnoresNamespaceSelectors",
      [](model::PodFacts& facts) {
        for (auto& term : facts.wants.pod_anti_affinity) term.selector.namespace_selector.reset();
      },
      "InterPodAffinity");
  pod(
      "TakesNodesForZones",
      [](model::PodFacts& facts) {
        for (auto& term : facts.wants.pod_anti_affinity) term.topology_key = "kubernetes.io/hostname";
      },
      "InterPodAffinity");
  pod("IgnoresSpreads", [](model::PodFacts& facts) { facts.wants.spreads.clear(); }, "PodTopologySpread");
  pod(
      "IgnoresMinDomains",
      [](model::PodFacts& facts) {
        for (auto& spread : facts.wants.spreads) spread.min_domains = 1;
      },
      "PodTopologySpread");
  pod(
      "SpreadsOverNodesItMayNotHave",
      [](model::PodFacts& facts) {
        for (auto& spread : facts.wants.spreads) spread.honors_affinity = false;
      },
      "");
  pod(
      "TurnsWhetherTaintsCountForSpreads",
      [](model::PodFacts& facts) {
        for (auto& spread : facts.wants.spreads) spread.honors_taints = !spread.honors_taints;
      },
      "");
  pod("SpreadsPodsThatEnd", [](model::PodFacts& facts) { facts.terminating = false; }, "nothing");
  pod("IgnoresNominatedPods", [](model::PodFacts& facts) { facts.nominated.clear(); }, "NodeResourcesFit");
  pod(
      "GoesBeforeAllNominatedPods",
      [](model::PodFacts& facts) {
        if (!facts.nominated.empty()) facts.priority = -100;
      },
      "");
  pod(
      "GoesBeforeNoNominatedPod",
      [](model::PodFacts& facts) {
        if (!facts.nominated.empty()) facts.priority = 100;
      },
      "nothing");
  pod("IgnoresClaims", [](model::PodFacts& facts) { facts.wants.claims.clear(); }, "Volume");
  const auto other = [&](const char* name, Falsify wrong, const char* theirs) {
    all.push_back({name, std::move(wrong), theirs});
  };
  other("IgnoresAttachLimits", {.csi_node = [](model::CsiNodeFacts& facts) { facts.limits.clear(); }},
        "NodeVolumeLimits");
  other("IgnoresAttachedVolumesOfNobody",
        {.attachment = [](model::VolumeAttachmentFacts& facts) { facts.node = "gone"; }}, "NodeVolumeLimits");
  other("CountsVolumesOfAllPodsApart", {.volume = [](model::VolumeFacts& facts) { facts.handle = facts.name; }},
        "nothing");
  other("TakesOldVolumesForNone",
        {.volume = [](model::VolumeFacts& facts) { facts.driver = facts.in_tree ? "" : facts.driver; }},
        "NodeVolumeLimits");
  other("HasRoomForAllVolumes",
        {.capacity = [](model::StorageCapacityFacts& facts) { facts.bytes = facts.a_volumes = std::int64_t{1} << 60; }},
        "VolumeBinding");
  other("TakesAllRoomForOneVolume", {.capacity = [](model::StorageCapacityFacts& facts) { facts.a_volumes.reset(); }},
        "");
  other("HasRoomEverywhere",
        {.capacity = [](model::StorageCapacityFacts& facts) { facts.topology = {{"", model::Op::kExists, {}}}; }},
        "VolumeBinding");
  return all;
}

TEST_F(JudgeTest, WhatIsWrongOnPurposeIsSeen) {
  for (const Wrong& wrong : AllWrong()) {
    const bool found = std::any_of(FirstCases().begin(), FirstCases().end(), [&](const auto& each) {
      const auto& [seed, judged] = each;
      if (!judged.invalid.empty()) return false;
      const std::optional<Difference> difference =
          DifferenceIn(judged, AskProduction(judged.stored, seed, wrong.falsify));
      return difference.has_value() && absl::StartsWith(difference->kind, wrong.theirs);
    });
    EXPECT_TRUE(found) << wrong.name << " is not seen in 1,000 cases";
  }
}

// ---- what differs and is to

struct KnownCase {
  const char* name;
  const char* kind;  // of the difference
  const char* objects;
};

// RandomCase leaves these out. One that differs no more may be drawn again.
constexpr KnownCase kKnownCases[] = {
    // A bug of theirs: kubernetes/kubernetes#141526.
    {"AnExcludedNamespaceIsExcluded", "InterPodAffinity / nothing",
     R"({"nodes":[{"metadata":{"name":"n","labels":{"zone":"a"}},"status":{"allocatable":{"pods":"9"}}}],"namespaces":[{"metadata":{"name":"ns","labels":{"env":"prod"}}}],
         "pods":[{"metadata":{"namespace":"ns","name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}],
         "pod":{"metadata":{"namespace":"ns","name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],"affinity":{"podAntiAffinity":{
           "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{},
             "namespaceSelector":{"matchExpressions":[{"key":"env","operator":"DoesNotExist"}]}}]}}}}})"},
    // Not to be told of is not to be without labels.
    {"ANamespaceNobodyToldOfMatches", "nothing / anti-affinity",
     R"({"nodes":[{"metadata":{"name":"n","labels":{"zone":"a"}},"status":{"allocatable":{"pods":"9"}}}],
         "pods":[{"metadata":{"namespace":"ns","name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}],"affinity":{"podAntiAffinity":{
           "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{},"namespaceSelector":{"matchLabels":{"env":"prod"}}}]}}}}],
         "pod":{"metadata":{"namespace":"ns","name":"x"},"spec":{"containers":[{"name":"c","image":"i"}]}}})"},
    // Their scheduler forgets pods whose node it does not know.
    {"AClaimOfAPodOnALostNodeIsInUse", "nothing / a claim is in use",
     R"({"nodes":[{"metadata":{"name":"n"},"status":{"allocatable":{"pods":"9"}}}],
         "volumes":[{"metadata":{"name":"v"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOncePod"],"nfs":{"server":"s","path":"/"}}}],
         "claims":[{"metadata":{"namespace":"ns","name":"c","annotations":{"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"accessModes":["ReadWriteOncePod"],
           "resources":{"requests":{"storage":"1Gi"}},"volumeName":"v"},"status":{"phase":"Bound"}}],
         "pods":[{"metadata":{"namespace":"ns","name":"p"},"spec":{"nodeName":"gone","containers":[{"name":"c","image":"i"}],
           "volumes":[{"name":"w","persistentVolumeClaim":{"claimName":"c"}}]}}],
         "pod":{"metadata":{"namespace":"ns","name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],
           "volumes":[{"name":"w","persistentVolumeClaim":{"claimName":"c"}}]}}})"},
    // Room for one of two claims is no room for a pod that has both.
    {"ClaimsOfAPodShareRoom", "nothing / volumes",
     R"({"nodes":[{"metadata":{"name":"n","labels":{"zone":"a"}},"status":{"allocatable":{"pods":"9"}}}],
         "classes":[{"metadata":{"name":"wait"},"provisioner":"d","volumeBindingMode":"WaitForFirstConsumer"}],
         "csiDrivers":[{"metadata":{"name":"d"},"spec":{"storageCapacity":true}}],
         "csiCapacities":[{"metadata":{"namespace":"ns","name":"k"},"storageClassName":"wait","nodeTopology":{"matchLabels":{"zone":"a"}},"capacity":"9Gi"}],
         "claims":[{"metadata":{"namespace":"ns","name":"a"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"5Gi"}},
           "storageClassName":"wait"},"status":{"phase":"Pending"}},
           {"metadata":{"namespace":"ns","name":"b"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"5Gi"}},
           "storageClassName":"wait"},"status":{"phase":"Pending"}}],
         "pod":{"metadata":{"namespace":"ns","name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],
           "volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"a"}},{"name":"w","persistentVolumeClaim":{"claimName":"b"}}]}}})"},
    // They look for a volume for each of the two.
    {"AClaimThatIsNamedTwiceIsOne", "VolumeBinding / nothing",
     R"({"nodes":[{"metadata":{"name":"n"},"status":{"allocatable":{"pods":"9"}}}],
         "classes":[{"metadata":{"name":"static"},"provisioner":"kubernetes.io/no-provisioner","volumeBindingMode":"WaitForFirstConsumer"}],
         "volumes":[{"metadata":{"name":"free"},"spec":{"capacity":{"storage":"5Gi"},"accessModes":["ReadWriteOnce"],"storageClassName":"static",
           "nfs":{"server":"s","path":"/"}},"status":{"phase":"Available"}}],
         "claims":[{"metadata":{"namespace":"ns","name":"a"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"5Gi"}},
           "storageClassName":"static"},"status":{"phase":"Pending"}}],
         "pod":{"metadata":{"namespace":"ns","name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],
           "volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"a"}},{"name":"w","persistentVolumeClaim":{"claimName":"a"}}]}}})"},
    // They look at a volume's zone once a claim has it, when its pod may be elsewhere.
    {"AVolumeThatIsThereIsInItsZone", "nothing / volumes",
     R"({"nodes":[{"metadata":{"name":"n","labels":{"topology.kubernetes.io/zone":"a"}},"status":{"allocatable":{"pods":"9"}}}],
         "classes":[{"metadata":{"name":"static"},"provisioner":"kubernetes.io/no-provisioner","volumeBindingMode":"WaitForFirstConsumer"}],
         "volumes":[{"metadata":{"name":"free","labels":{"topology.kubernetes.io/zone":"b"}},"spec":{"capacity":{"storage":"5Gi"},
           "accessModes":["ReadWriteOnce"],"storageClassName":"static","nfs":{"server":"s","path":"/"}},"status":{"phase":"Available"}}],
         "claims":[{"metadata":{"namespace":"ns","name":"a"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"5Gi"}},
           "storageClassName":"static"},"status":{"phase":"Pending"}}],
         "pod":{"metadata":{"namespace":"ns","name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],
           "volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"a"}}]}}})"},
    // They fail on a pod whose ephemeral claim is another's, and let no pod with volumes to its node.
    {"AStrangersClaimStopsNobody", "NodeVolumeLimits / nothing",
     R"({"nodes":[{"metadata":{"name":"n"},"status":{"allocatable":{"pods":"9"}}}],
         "csiNodes":[{"metadata":{"name":"n"},"spec":{"drivers":[{"name":"d","nodeID":"n","allocatable":{"count":9}}]}}],
         "volumes":[{"metadata":{"name":"v"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"csi":{"driver":"d","volumeHandle":"v"}}}],
         "claims":[{"metadata":{"namespace":"ns","name":"c","annotations":{"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"accessModes":["ReadWriteOnce"],
           "resources":{"requests":{"storage":"1Gi"}},"volumeName":"v"},"status":{"phase":"Bound"}},
           {"metadata":{"namespace":"ns","name":"p-w"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}],
         "pods":[{"metadata":{"namespace":"ns","name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}],
           "volumes":[{"name":"w","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}}]}}],
         "pod":{"metadata":{"namespace":"ns","name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],
           "volumes":[{"name":"w","persistentVolumeClaim":{"claimName":"c"}}]}}})"},
    // They do not ask where nobody who is there keeps off others.
    {"ANominatedPodKeepsOffOthers", "nothing / anti-affinity",
     R"({"nodes":[{"metadata":{"name":"n","labels":{"zone":"a"}},"status":{"allocatable":{"pods":"9"}}}],
         "pods":[{"metadata":{"namespace":"ns","name":"q","uid":"u-q"},"spec":{"containers":[{"name":"c","image":"i"}],"affinity":{"podAntiAffinity":{
           "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{}}]}}},"status":{"phase":"Pending","nominatedNodeName":"n"}}],
         "pod":{"metadata":{"namespace":"ns","name":"x","uid":"u-x"},"spec":{"containers":[{"name":"c","image":"i"}]}}})"},
    // They look at who is nominated for the node alone, and not for another of its zone.
    {"ANominatedPodIsInItsZone", "nothing / pod-anti-affinity",
     R"({"nodes":[{"metadata":{"name":"n","labels":{"zone":"a"}},"status":{"allocatable":{"pods":"1"}}},{"metadata":{"name":"m","labels":{"zone":"a"}},"status":{"allocatable":{"pods":"9"}}}],
         "pods":[{"metadata":{"namespace":"ns","name":"q","uid":"u-q"},"spec":{"containers":[{"name":"c","image":"i"}]},"status":{"phase":"Pending","nominatedNodeName":"n"}}],
         "pod":{"metadata":{"namespace":"ns","name":"x","uid":"u-x"},"spec":{"containers":[{"name":"c","image":"i"}],"affinity":{"podAntiAffinity":{
           "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{}}]}}}}})"},
    // Who is nominated for a node may get another in the end.
    {"ANominatedPodIsSpreadOnceItIsThere", "PodTopologySpread / nothing",
     R"({"nodes":[{"metadata":{"name":"n","labels":{"zone":"a"}},"status":{"allocatable":{"pods":"9"}}},{"metadata":{"name":"m","labels":{"zone":"b"}},"status":{"allocatable":{"pods":"9"}}}],
         "pods":[{"metadata":{"namespace":"ns","name":"q","uid":"u-q","labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]},"status":{"phase":"Pending","nominatedNodeName":"n"}}],
         "pod":{"metadata":{"namespace":"ns","name":"x","uid":"u-x","labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}],"topologySpreadConstraints":[
           {"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"a"}}}]}}})"},
    // A moment later the phase says it, too.
    {"AClaimIsBoundWhenItsPhaseSaysSo", "nothing / a claim is unbound",
     R"({"nodes":[{"metadata":{"name":"n"},"status":{"allocatable":{"pods":"9"}}}],
         "volumes":[{"metadata":{"name":"v"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"nfs":{"server":"s","path":"/"}}}],
         "claims":[{"metadata":{"namespace":"ns","name":"c","annotations":{"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"accessModes":["ReadWriteOnce"],
           "resources":{"requests":{"storage":"1Gi"}},"volumeName":"v"},"status":{"phase":"Pending"}}],
         "pod":{"metadata":{"namespace":"ns","name":"x"},"spec":{"containers":[{"name":"c","image":"i"}],
           "volumes":[{"name":"w","persistentVolumeClaim":{"claimName":"c"}}]}}})"},
};

TEST_F(JudgeTest, WhatIsKnownToDifferDoes) {
  std::vector<json::object> cases;
  for (const KnownCase& known : kKnownCases) cases.push_back(json::parse(known.objects).as_object());
  const absl::StatusOr<std::vector<Judged>> judged = AskKubernetes(cases);
  ASSERT_TRUE(judged.ok()) << judged.status();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    ASSERT_EQ((*judged)[i].invalid, "") << kKnownCases[i].name;
    const std::optional<Difference> difference =
        FirstDifference((*judged)[i].verdict, AskProduction((*judged)[i].stored, i));
    EXPECT_EQ(difference.has_value() ? difference->kind : "none", kKnownCases[i].kind) << kKnownCases[i].name;
  }
}

// Each filter refuses some, or what it looks at does not occur.
TEST_F(JudgeTest, EachFilterIsMet) {
  std::set<std::string> met;
  for (const auto& [seed, judged] : FirstCases()) {
    for (const auto& [node, against] : judged.verdict.against) met.insert(against.substr(0, against.find(':')));
  }
  for (const char* filter :
       {"NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions",
        "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity"}) {
    EXPECT_TRUE(met.contains(filter)) << filter;
  }
}

}  // namespace
}  // namespace gangway::testutil
