#include "plugin/conf/scheduler_conf.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/conf/words.h"
#include "tests/testing/status_matchers.h"

namespace gangway::conf {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::Pair;
using testutil::StatusIs;

constexpr char kSource[] = "volcano-scheduler.conf";

// As the Helm chart of Volcano installs it.
constexpr char kChart[] = R"(actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
)";

// What the scheduler has built in.
constexpr char kBuiltIn[] = R"(actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
)";

// One whose plugins are as the built-in one's, with `more` in its second tier.
std::string With(const std::string& more) { return absl::StrCat(kBuiltIn, "  - name: binpack\n", more); }

SchedulerConf Read(const std::string& text) {
  auto conf = ReadSchedulerConf(text, kSource);
  EXPECT_TRUE(conf.ok()) << conf.status();
  return conf.ok() ? *std::move(conf) : SchedulerConf();
}
std::vector<std::string> Texts(const SchedulerConf& conf) {
  std::vector<std::string> texts;
  for (const Note& note : conf.notes) texts.push_back(NoteText(kSource, note));
  return texts;
}
std::vector<std::string> Notes(const std::string& text) { return Texts(Read(text)); }
std::string Error(const std::string& text) {
  const auto conf = ReadSchedulerConf(text, kSource);
  return conf.ok() ? "" : std::string(conf.status().message());
}

TEST(SchedulerConfTest, WhatTheChartOfVolcanoInstallsIsReadLineByLine) {
  const SchedulerConf conf = Read(kChart);
  EXPECT_EQ(PolicyText(conf.policy),
            "lets in up to the cluster's room times 1.2 and what queues have room for; fills fuller nodes first, by "
            "cpu 1, memory 1; "
            "evicts nobody");
  EXPECT_TRUE(conf.policy.admit_by_queues);
  EXPECT_EQ(conf.policy.overcommit_percent, 120);
  EXPECT_FALSE(conf.policy.by_deadline);
  ASSERT_TRUE(conf.policy.packing.weights.has_value());
  EXPECT_THAT(*conf.policy.packing.weights, ElementsAre(Pair("cpu", 1), Pair("memory", 1)));
  EXPECT_THAT(
      Texts(conf),
      ElementsAre("volcano-scheduler.conf:1: action backfill: pods that ask for nothing are placed with all others",
                  "volcano-scheduler.conf:6: plugin gang: enablePreemptable: who may be evicted, and for whom, stays "
                  "as it is; without "
                  "the actions preempt and reclaim nobody is",
                  "volcano-scheduler.conf:7: plugin conformance: system pods are never evicted, with it or without",
                  HasSubstr(":10: plugin drf: shares what is beyond minima between the jobs of a queue"),
                  "volcano-scheduler.conf:11: plugin drf: enablePreemptable: who may be evicted, and for whom, stays "
                  "as it is; without "
                  "the actions preempt and reclaim nobody is",
                  HasSubstr(":13: plugin proportion: what a queue deserves by its weight is no limit"),
                  HasSubstr(":14: plugin nodeorder: scores are not added up")));
}

TEST(SchedulerConfTest, WhatIsBuiltInHasNoBinpack) {
  const SchedulerConf conf = Read(kBuiltIn);
  gang::Policy ours;
  ours.preempt = ours.reclaim = ours.consolidate = false;
  EXPECT_EQ(conf.policy, ours) << "our own defaults are those of Volcano, but that it evicts nobody";
  EXPECT_THAT(Texts(conf),
              Contains(HasSubstr(":2: plugin binpack: is not listed, and fuller nodes are filled first anyhow")));
}

// The configuration that the recorded calls of an extender were made with.
TEST(SchedulerConfTest, AnExtenderAndTheActionsThatEvict) {
  const SchedulerConf conf = Read(R"(actions: "enqueue, allocate, backfill, preempt, reclaim"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
  - name: extender
    arguments:
      extender.urlPrefix: http://127.0.0.1:18888/x
      extender.httpTimeout: 5s
      extender.ignorable: false
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
)");
  EXPECT_THAT(Texts(conf),
              IsSupersetOf({HasSubstr(":1: action preempt: members beyond a gang's minimum go, or gangs as a whole"),
                            HasSubstr(":1: action reclaim: members beyond a gang's minimum go, or gangs as a whole"),
                            HasSubstr(":7: plugin extender: no extender is asked")}));
  for (const Note& note : conf.notes) EXPECT_NE(note.kind, Note::Kind::kMistake) << note.subject << note.text;
  EXPECT_TRUE(conf.policy.preempt && conf.policy.reclaim);
}

TEST(SchedulerConfTest, WhoIsEvictedIsForTheActionsToSay) {
  const auto policy = [](const std::string& actions) {
    return Read(absl::StrCat("actions: \"", actions, "\"\n")).policy;
  };
  EXPECT_FALSE(policy("allocate").preempt || policy("allocate").reclaim);
  EXPECT_TRUE(policy("allocate, gangpreempt").preempt);
  EXPECT_FALSE(policy("allocate, gangpreempt").reclaim);
  EXPECT_TRUE(policy("allocate, gangreclaim").reclaim);
  EXPECT_FALSE(policy("allocate, reclaim").preempt);
}

TEST(SchedulerConfTest, WhatQueuesDeserve) {
  const auto conf = [](const std::string& plugins) {
    return Read(absl::StrCat("actions: enqueue, allocate\ntiers: [{plugins: [", plugins, "]}]"));
  };
  EXPECT_EQ(conf("{name: proportion}").policy.sharing, gang::Sharing::kByWeight);
  EXPECT_EQ(conf("{name: gang}").policy.sharing, gang::Sharing::kByWeight);
  EXPECT_EQ(conf("{name: capacity}").policy.sharing, gang::Sharing::kAsWritten);
  EXPECT_EQ(conf("{name: proportion}, {name: capacity}").policy.sharing, gang::Sharing::kAsWritten);
  EXPECT_THAT(PolicyText(conf("{name: capacity}").policy), HasSubstr("; queues deserve what they say;"));
  EXPECT_THAT(PolicyText(conf("{name: proportion}").policy), Not(HasSubstr("deserve")));
}

TEST(SchedulerConfTest, TheFactorOfOvercommit) {
  const auto percent = [](const std::string& factor) {
    return Read(absl::StrCat("actions: enqueue\ntiers: [{plugins: [{name: overcommit, arguments: {overcommit-factor: ",
                             factor, "}}]}]"))
        .policy.overcommit_percent;
  };
  EXPECT_EQ(percent("1.5"), 150);
  EXPECT_EQ(percent("2"), 200) << "a whole number is one, too";
  EXPECT_EQ(percent("1"), 100);
  EXPECT_EQ(percent("0.8"), 120);
  EXPECT_EQ(percent("\"1.5\""), 120) << "a text is no number to Volcano";
  EXPECT_EQ(percent("1.2345"), 123);
  EXPECT_EQ(percent("1e300"), 10'000);
  EXPECT_THAT(Notes(With("")), Not(Contains(HasSubstr("overcommit"))));
  const std::string text =
      "actions: enqueue\ntiers:\n- plugins:\n  - name: overcommit\n    arguments:\n      overcommit-factor: ";
  EXPECT_THAT(Notes(text + "0.8"),
              Contains(HasSubstr(":6: plugin overcommit: overcommit-factor: must be 1 or more; it counts as 1.2")));
  EXPECT_THAT(Notes(text + "high"), Contains(HasSubstr(":6: plugin overcommit: overcommit-factor: must be a number "
                                                       "without quotes, not \\\"high\\\"; it counts as absent")));
  EXPECT_THAT(Notes(text + "1.2345"), Contains(HasSubstr(":6: plugin overcommit: overcommit-factor: counts as 1.23")));
  EXPECT_THAT(Notes(text + "1.1"), Not(Contains(HasSubstr("overcommit"))));
}

TEST(SchedulerConfTest, WithoutOvercommitOrEnqueueNoSumOfTheClusterIsHeld) {
  SchedulerConf conf = Read("actions: enqueue, allocate\ntiers: [{plugins: [{name: proportion}]}]");
  EXPECT_TRUE(conf.policy.admit_by_queues);
  EXPECT_EQ(conf.policy.overcommit_percent, std::nullopt);
  EXPECT_THAT(PolicyText(conf.policy), HasSubstr("lets in what queues have room for"));
  EXPECT_TRUE(Read("actions: enqueue\ntiers: [{plugins: [{name: capacity}]}]").policy.admit_by_queues);
  EXPECT_FALSE(Read("actions: enqueue\ntiers: [{plugins: [{name: capacity, enableJobEnqueued: false}]}]")
                   .policy.admit_by_queues);
  conf = Read("actions: enqueue, allocate\ntiers: [{plugins: [{name: overcommit, enableJobEnqueued: false}]}]");
  EXPECT_EQ(conf.policy.overcommit_percent, std::nullopt);
  EXPECT_FALSE(conf.policy.admit_by_queues);
  conf = Read("actions: allocate\ntiers: [{plugins: [{name: overcommit}, {name: proportion}]}]");
  EXPECT_EQ(conf.policy.overcommit_percent, std::nullopt);
  EXPECT_FALSE(conf.policy.admit_by_queues);
  EXPECT_THAT(PolicyText(conf.policy), HasSubstr("lets in everybody"));
  for (const char* followed :
       {"{name: overcommit, enableJobEnqueued: false}", "{name: capacity, enableJobEnqueued: false}",
        "{name: binpack, enableNodeOrder: false}", "{name: sla, enableJobOrder: false}"}) {
    EXPECT_THAT(Notes(absl::StrCat("actions: enqueue\ntiers: [{plugins: [", followed, "]}]")),
                Not(Contains(HasSubstr(": enable"))));
  }
  EXPECT_THAT(Notes("actions: enqueue"),
              Contains(HasSubstr(":1: action allocate: is not listed, and gangs are placed anyhow")));
}

TEST(SchedulerConfTest, BinpacksWeights) {
  const auto weights = [](const std::string& arguments) {
    return Read(absl::StrCat("actions: allocate\ntiers: [{plugins: [{name: binpack, arguments: {", arguments, "}}]}]"))
        .policy.packing.weights;
  };
  using Map = absl::btree_map<std::string, std::int64_t>;
  EXPECT_EQ(weights("binpack.cpu: 5, binpack.memory: 0"), (Map{{"cpu", 5}, {"memory", 0}}));
  EXPECT_EQ(weights("binpack.resources: \"nvidia.com/gpu, a.b/c\", binpack.resources.nvidia.com/gpu: 7"),
            (Map{{"a.b/c", 1}, {"cpu", 1}, {"memory", 1}, {"nvidia.com/gpu", 7}}));
  EXPECT_EQ(weights("binpack.cpu: -5"), (Map{{"cpu", 1}, {"memory", 1}}));
  EXPECT_EQ(weights("binpack.cpu: 1.5"), (Map{{"cpu", 1}, {"memory", 1}}));
  EXPECT_EQ(weights("binpack.cpu: 99999999999"), (Map{{"cpu", 1}, {"memory", 1}}));
  EXPECT_EQ(weights("binpack.weight: 0"), std::nullopt);
  EXPECT_EQ(
      Read("actions: allocate\ntiers: [{plugins: [{name: binpack, enableNodeOrder: false}]}]").policy.packing.weights,
      std::nullopt);
  const std::vector<std::string> notes = Notes(R"(actions: allocate
tiers:
- plugins:
  - name: binpack
    arguments:
      binpack.weight: 10
      binpack.cpu: "5"
      binpack.memroy: 2
      binpack.resources: nvidia.com/gpu, example.com/bar
      binpack.resources.nvidia.com/gpu: -2
      binpack.resources.example.com/foo: 3
      binpack.resources.example.com/bar: many
)");
  EXPECT_THAT(
      notes,
      IsSupersetOf({
          HasSubstr(":6: plugin binpack: binpack.weight: how full a node is comes after soft taints and preferences, "
                    "however much it weighs"),
          HasSubstr(":7: plugin binpack: binpack.cpu: must be a whole number without quotes, not \\\"5\\\"; it counts "
                    "as absent"),
          HasSubstr(":8: plugin binpack: binpack.memroy: there is no such argument; did you mean binpack.memory?"),
          HasSubstr(":10: plugin binpack: binpack.resources.nvidia.com/gpu: must be a whole number, 0 or more, not -2; "
                    "it counts as 1"),
          HasSubstr(":11: plugin binpack: binpack.resources.example.com/foo: does not count: add example.com/foo to "
                    "binpack.resources"),
          HasSubstr(":12: plugin binpack: binpack.resources.example.com/bar: must be a whole number, 0 or more, not "),
      }));
  int of_binpack = 0;
  for (const std::string& note : notes) of_binpack += absl::StrContains(note, "plugin binpack") ? 1 : 0;
  EXPECT_EQ(of_binpack, 6) << absl::StrJoin(notes, "\n");
}

TEST(SchedulerConfTest, HowLongWhatWasUsedCounts) {
  const auto half_life = [](const char* argument) {
    return Read(
               absl::StrCat("actions: allocate\ntiers: [{plugins: [{name: proportion, arguments: {", argument, "}}]}]"))
        .policy.use_half_life;
  };
  EXPECT_EQ(half_life("gangway.usageHalfLife: 24h"), absl::Hours(24));
  for (const char* wrong :
       {"gangway.usageHalfLife: 59s", "gangway.usageHalfLife: soon", "gangway.usageHalfLife: 24", ""})
    EXPECT_EQ(half_life(wrong), std::nullopt) << wrong;
  const gang::Policy as_written =
      Read("actions: allocate\ntiers: [{plugins: [{name: capacity, arguments: {gangway.usageHalfLife: 24h}}]}]").policy;
  EXPECT_EQ(as_written.use_half_life, absl::Hours(24));
  EXPECT_THAT(PolicyText(as_written), ::testing::HasSubstr("in whose turn it is beyond what they deserve"));
}

TEST(SchedulerConfTest, HowLongAQueueWaitsForItsShareBeforeWhoHasRunForLongGoes) {
  for (const char* plugin : {"proportion", "capacity"}) {
    const auto conf = [&](const char* after) {
      return Read(absl::StrCat("actions: reclaim\ntiers: [{plugins: [{name: ", plugin,
                               ", arguments: {gangway.reclaimAfter: ", after, "}}]}]"));
    };
    EXPECT_EQ(conf("1h").policy.reclaim_after, absl::Hours(1)) << plugin;
    EXPECT_THAT(PolicyText(conf("1h").policy), HasSubstr("who has run for long when it has waited for 1h")) << plugin;
    EXPECT_EQ(conf("0s").policy.reclaim_after, absl::ZeroDuration()) << plugin;
    for (const char* wrong : {"-1h", "soon", "60"}) {
      EXPECT_EQ(conf(wrong).policy.reclaim_after, absl::ZeroDuration()) << wrong;
      EXPECT_THAT(Texts(conf(wrong)), Contains(HasSubstr("must be a duration such as 1h"))) << wrong;
    }
  }
}

TEST(SchedulerConfTest, ATimeWithoutUnitIsNoTime) {
  for (const char* argument : {"sla, arguments: {sla-waiting-time", "proportion, arguments: {gangway.usageHalfLife"}) {
    EXPECT_THAT(Notes(absl::StrCat("actions: allocate\ntiers: [{plugins: [{name: ", argument, ": 90}}]}]")),
                Contains(HasSubstr("must be a duration such as 1h30m, not 90; it counts as absent")))
        << argument;
  }
}

TEST(SchedulerConfTest, HowLongVolumesAreWaitedFor) {
  const auto conf = [](const char* argument) {
    return Read(
        absl::StrCat("actions: allocate\ntiers: [{plugins: [{name: predicates, arguments: {", argument, "}}]}]"));
  };
  EXPECT_EQ(conf("bindTimeoutSeconds: 60").policy.volumes_take, absl::Minutes(1));
  EXPECT_THAT(Texts(conf("bindTimeoutSeconds: 60")), Not(Contains(HasSubstr("bindTimeoutSeconds"))));
  EXPECT_EQ(conf("").policy.volumes_take, absl::Minutes(10));
  for (const char* wrong : {"bindTimeoutSeconds: 0", "bindTimeoutSeconds: -1"}) {
    EXPECT_EQ(conf(wrong).policy.volumes_take, absl::Minutes(10)) << wrong;
    EXPECT_THAT(Texts(conf(wrong)),
                Contains(HasSubstr("plugin predicates: bindTimeoutSeconds: must be 1 or more; it counts as 600")));
  }
  EXPECT_EQ(conf("bindTimeoutSeconds: soon").policy.volumes_take, absl::Minutes(10));
}

TEST(SchedulerConfTest, WaitingTimes) {
  const auto policy = [](const std::string& more) {
    return Read(absl::StrCat("actions: allocate\ntiers: [{plugins: [{name: sla", more, "}]}]")).policy;
  };
  EXPECT_TRUE(policy("").by_deadline);
  EXPECT_EQ(policy("").waiting_time, std::nullopt);
  EXPECT_EQ(policy(", arguments: {sla-waiting-time: 1h2m}").waiting_time, absl::Minutes(62));
  EXPECT_EQ(policy(", arguments: {sla-waiting-time: 60}").waiting_time, std::nullopt);
  EXPECT_EQ(policy(", arguments: {sla-waiting-time: soon}").waiting_time, std::nullopt);
  EXPECT_EQ(policy(", arguments: {sla-waiting-time: -1h}").waiting_time, std::nullopt);
  EXPECT_FALSE(policy(", enableJobOrder: false").by_deadline);
  EXPECT_THAT(Notes("actions: allocate\ntiers: [{plugins: [{name: sla, arguments: {sla-waiting-time: soon}}]}]"),
              IsSupersetOf({HasSubstr("plugin sla: sla-waiting-time: must be a positive duration such as 1h30m"),
                            HasSubstr("plugin sla: whose waiting time is over first goes first")}));
}

TEST(SchedulerConfTest, TheSwitchesOfPredicates) {
  const std::vector<std::string> notes = Notes(R"(actions: allocate
tiers:
- plugins:
  - name: predicates
    arguments:
      predicate.NodeAffinityEnable: true
      predicate.NodePortsEnable: "true"
      predicate.VolumeZoneEnable: false
      predicate.VolumeBindingEnable: "F"
      predicate.DynamicResourceAllocationEnable: true
      predicate.PodAffinityEnable: maybe
      predicate.CacheEnable: true
      predicate.GPUSharingEnable: true
)");
  EXPECT_THAT(notes, IsSupersetOf({
                         HasSubstr(":8: plugin predicates: predicate.VolumeZoneEnable: is held anyhow"),
                         HasSubstr(":9: plugin predicates: predicate.VolumeBindingEnable: is held anyhow"),
                         HasSubstr(":10: plugin predicates: predicate.DynamicResourceAllocationEnable: pods with "
                                   "resourceClaims wait"),
                         HasSubstr(":11: plugin predicates: predicate.PodAffinityEnable: must be true or false, not "
                                   "\\\"maybe\\\"; it counts as absent"),
                         HasSubstr(":12: plugin predicates: predicate.CacheEnable: answers are kept"),
                         HasSubstr(":13: plugin predicates: predicate.GPUSharingEnable: there is no such argument"),
                     }));
  EXPECT_THAT(notes, Not(Contains(AllOf(HasSubstr("plugin predicates"), HasSubstr("NodeAffinity")))));
  EXPECT_THAT(notes, Not(Contains(HasSubstr("predicate.NodePortsEnable: "))));
}

// Nothing that Volcano knows is taken for a mistake, and each has its say.
TEST(SchedulerConfTest, EveryWordOfVolcanoIsKnown) {
  const std::vector<std::string> actions = {"enqueue", "allocate",    "backfill",    "preempt",
                                            "reclaim", "gangpreempt", "gangreclaim", "shuffle"};
  const std::vector<std::string> plugins = {"drf",
                                            "gang",
                                            "deviceshare",
                                            "predicates",
                                            "priority",
                                            "nodeorder",
                                            "conformance",
                                            "binpack",
                                            "resource-strategy-fit",
                                            "tdm",
                                            "overcommit",
                                            "sla",
                                            "task-topology",
                                            "numa-aware",
                                            "cdp",
                                            "rescheduling",
                                            "usage",
                                            "pdb",
                                            "nodegroup",
                                            "network-topology-aware",
                                            "proportion",
                                            "capacity",
                                            "extender",
                                            "resourcequota"};
  const std::vector<std::string> on = {
      "enableJobOrder",         "enableJobReady",      "enableJobPipelined",      "enableJobEnqueued",
      "enableTaskOrder",        "enablePreemptable",   "enableReclaimable",       "enablePreemptive",
      "enableQueueOrder",       "enablePredicate",     "enableBestNode",          "enableNodeOrder",
      "enableTargetJob",        "enableReservedNodes", "enabledVictim",           "enableJobStarving",
      "enabledOverused",        "enabledAllocatable",  "enabledHyperNodeOrder",   "enabledSubJobReady",
      "enabledSubJobPipelined", "enabledSubJobOrder",  "enabledHyperNodeGradient"};
  const std::vector<std::string> off = {"enableHierarchy", "enabledClusterOrder"};
  EXPECT_EQ(Actions().size(), actions.size() + 1) << "and consolidation, which is KAI Scheduler's";
  EXPECT_EQ(Plugins().size(), plugins.size());
  EXPECT_EQ(Switches().size(), on.size() + off.size() + 1) << "and enableHierarchy of drf, which is another";

  std::string text = absl::StrCat("actions: \"", absl::StrJoin(actions, ", "),
                                  "\"\nmetrics: {type: prometheus, address: \"http://x\", interval: 30s}\ntiers:\n");
  for (const std::string& plugin : plugins) absl::StrAppend(&text, "- plugins: [{name: ", plugin, "}]\n");
  text += "- plugins:\n  - name: nodeorder\n    arguments:\n";
  for (const char* weight : {"leastrequested", "mostrequested", "nodeaffinity", "podaffinity", "balancedresource",
                             "tainttoleration", "imagelocality", "podtopologyspread"}) {
    absl::StrAppend(&text, "      ", weight, ".weight: 3\n");
  }
  text +=
      "- plugins: [{name: capacity, arguments: {ancestorReclaimLevel: 2, capacity.DynamicResourceAllocationEnable: "
      "true, capacity.DRAConsumableCapacityEnable: true}}]\n";
  text +=
      "configurations:\n- {name: preempt, arguments: {enableTopologyAwarePreemption: true}}\n- {name: allocate, "
      "arguments: {predicateErrorCacheEnable: false}}\n";
  const SchedulerConf conf = Read(text);
  int mistakes = 0;
  for (const Note& note : conf.notes) {
    if (note.kind == Note::Kind::kMistake && note.text != "is listed before; what is said here counts") ++mistakes;
  }
  EXPECT_EQ(mistakes, 0) << absl::StrJoin(Texts(conf), "\n");
  EXPECT_THAT(Texts(conf), IsSupersetOf({HasSubstr("leastrequested.weight: fuller nodes are filled first"),
                                         HasSubstr("podtopologyspread.weight: is no weight here"),
                                         HasSubstr("plugin capacity: ancestorReclaimLevel: is no limit: two queues"),
                                         HasSubstr("capacity.DynamicResourceAllocationEnable: devices of claims"),
                                         HasSubstr("capacity.DRAConsumableCapacityEnable: devices of claims"),
                                         HasSubstr("metrics: what nodes really use is not measured"),
                                         HasSubstr("arguments of action preempt: ")}));
  for (const std::string& name : on) {
    const std::vector<std::string> quiet = Notes(With(absl::StrCat("  - name: tdm\n    ", name, ": true\n")));
    EXPECT_THAT(quiet, Not(Contains(HasSubstr(name))));
    EXPECT_THAT(Notes(With(absl::StrCat("  - name: tdm\n    ", name, ": false\n"))),
                Contains(HasSubstr(absl::StrCat(":15: plugin tdm: ", name, ": "))));
  }
  for (const std::string& name : off) {
    EXPECT_THAT(Notes(With(absl::StrCat("  - name: tdm\n    ", name, ": true\n"))),
                Contains(HasSubstr(absl::StrCat(":15: plugin tdm: ", name, ": "))));
    EXPECT_THAT(Notes(With(absl::StrCat("  - name: tdm\n    ", name, ": false\n"))), Not(Contains(HasSubstr(name))));
  }
}

TEST(SchedulerConfTest, ThatGangsGoAsAWholeIsNoSwitchHere) {
  const auto notes = [](const std::string& allowed) {
    return Notes(absl::StrCat("actions: gangpreempt\nconfigurations:\n- name: gangpreempt\n  arguments:\n",
                              "    allowWholeBundle: ", allowed, "\n"));
  };
  const auto told =
      HasSubstr(":5: arguments of action gangpreempt: allowWholeBundle: gangs go as a whole all the same");
  EXPECT_THAT(notes("false"), Contains(told));
  EXPECT_THAT(notes("\"false\""), Contains(told));
  EXPECT_THAT(notes("true"), Not(Contains(told)));
  EXPECT_THAT(notes("8"), Not(Contains(told)));
}

// Drf's tree is another than that of the queues' parents.
TEST(SchedulerConfTest, TheHierarchyOfDrfIsItsOwn) {
  EXPECT_THAT(Notes("actions: allocate\ntiers: [{plugins: [{name: drf, enableHierarchy: true}]}]\n"),
              Contains(HasSubstr("plugin drf: enableHierarchy: the annotations volcano.sh/hierarchy and "
                                 "volcano.sh/hierarchy-weights of queues are not read")));
  EXPECT_THAT(Notes("actions: allocate\ntiers: [{plugins: [{name: capacity, enableHierarchy: true}]}]\n"),
              Contains(HasSubstr("plugin capacity: enableHierarchy: queues with a parent are held as trees")));
}

TEST(SchedulerConfTest, WhatIsMissedIsSaid) {
  const std::vector<std::string> notes = Notes("actions: enqueue, allocate\ntiers:\n- plugins: [{name: drf}]\n");
  EXPECT_THAT(notes, IsSupersetOf({HasSubstr(":2: plugin gang: is not listed, and a gang is placed whole or not at all "
                                             "anyhow: minMember 1 lets pods start one by one"),
                                   HasSubstr(":2: plugin priority: is not listed"),
                                   HasSubstr(":2: plugin predicates: is not listed"),
                                   HasSubstr(":2: plugins proportion and capacity: are not listed")}));
  EXPECT_THAT(notes, Not(Contains(HasSubstr("plugin drf: is not listed"))));
  const auto both = [](const char* plugins) {
    return Notes(absl::StrCat("actions: allocate\ntiers: [{plugins: [", plugins, "]}]\n"));
  };
  const auto told = HasSubstr("plugins proportion and capacity: are both listed; what queues deserve is what they say");
  EXPECT_THAT(both("{name: proportion}, {name: capacity}"), Contains(told));
  EXPECT_THAT(both("{name: proportion}"), Not(Contains(told)));
  EXPECT_THAT(both("{name: capacity}"), Not(Contains(told)));
  EXPECT_THAT(Notes("actions: allocate\ntiers: []\n"),
              Contains(HasSubstr("plugin drf: is not listed, and what is beyond minima is shared between the jobs")));
}

TEST(SchedulerConfTest, UnknownWordsAreNotesWithWhatWasMeant) {
  const std::vector<std::string> notes = Notes(R"(actions: enqueue, allocate
tiers:
- plugins:
  - name: overcomit
  - name: gang
    enableJobRedy: true
  plugin: []
tier: []
configurations:
- name: alocate
)");
  EXPECT_THAT(
      notes,
      IsSupersetOf({HasSubstr(":4: plugin overcomit: there is no such plugin; did you mean overcommit?"),
                    HasSubstr(":6: plugin gang: enableJobRedy: there is no such key; did you mean enableJobReady?"),
                    HasSubstr(":7: tiers[0].plugin: there is no such key; did you mean plugins?"),
                    HasSubstr(":8: tier: there is no such key; did you mean tiers?"),
                    HasSubstr(":10: arguments of action alocate: there is no such action; did you mean allocate?")}));
}

TEST(SchedulerConfTest, OfAPluginThatIsListedTwiceTheLastCounts) {
  const SchedulerConf conf = Read(
      "actions: enqueue\ntiers:\n- plugins:\n  - {name: overcommit, arguments: {overcommit-factor: 3}}\n  - {name: "
      "overcommit, arguments: {overcommit-factor: 2}}\n");
  EXPECT_EQ(conf.policy.overcommit_percent, 200);
  EXPECT_THAT(Texts(conf), Contains(HasSubstr(":5: plugin overcommit: is listed before; what is said here counts")));
}

TEST(SchedulerConfTest, WhatVolcanoRefusesIsRefused) {
  EXPECT_EQ(Error("tiers: []"),
            "volcano-scheduler.conf:1: actions: must be there, such as actions: \"enqueue, allocate, backfill\"");
  EXPECT_EQ(Error("# nothing\n"), "volcano-scheduler.conf: is empty; at least actions must be there");
  EXPECT_EQ(Error("\nactions: enqueue, alocate"),
            "volcano-scheduler.conf:2: actions: there is no action \"alocate\"; did you mean allocate?");
  EXPECT_EQ(Error("actions: enqueue,"), "volcano-scheduler.conf:1: actions: there is no action \"\"");
  EXPECT_EQ(Error("actions: [enqueue]"),
            "volcano-scheduler.conf:1: actions: must be one text with commas, such as \"enqueue, allocate, backfill\"");
  EXPECT_EQ(Error("actions: enqueue\ntiers: {}"),
            "volcano-scheduler.conf:2: tiers: must be a list of maps with plugins");
  EXPECT_EQ(Error("actions: enqueue\ntiers:\n- gang"),
            "volcano-scheduler.conf:3: tiers[0]: must be a map with plugins");
  EXPECT_EQ(Error("actions: enqueue\ntiers:\n- plugins: gang"),
            "volcano-scheduler.conf:3: tiers[0].plugins: must be a list of maps with a name");
  EXPECT_EQ(Error("actions: enqueue\ntiers:\n- plugins:\n  - gang"),
            "volcano-scheduler.conf:4: tiers[0].plugins[0]: must be a map with the name of a plugin");
  EXPECT_EQ(Error("actions: enqueue\ntiers:\n- plugins:\n  - enableJobOrder: true"),
            "volcano-scheduler.conf:4: tiers[0].plugins[0].name: must be the name of a plugin");
  EXPECT_EQ(Error("actions: enqueue\ntiers:\n- plugins:\n  - name: gang\n    enableJobReady: \"true\""),
            "volcano-scheduler.conf:5: tiers[0].plugins[0].enableJobReady: must be true or false, not \\\"true\\\"");
  EXPECT_EQ(Error("actions: enqueue\ntiers:\n- plugins:\n  - name: gang\n    arguments: []"),
            "volcano-scheduler.conf:5: tiers[0].plugins[0].arguments: must be a map");
  EXPECT_EQ(
      Error("actions: enqueue\nconfigurations: {}"),
      "volcano-scheduler.conf:2: configurations: must be a list of maps with the name of an action and arguments");
  EXPECT_EQ(Error("actions: enqueue\nconfigurations: [{}]"),
            "volcano-scheduler.conf:2: configurations[0]: must be a map with the name of an action");
  EXPECT_EQ(Error("actions: enqueue\ntiers:\n- plugins:\n  - {name: drf, enableHierarchy: true}\n  - name: proportion"),
            "volcano-scheduler.conf:3: tiers[0]: drf with enableHierarchy and proportion cannot be in one tier: leave "
            "out one of them");
  EXPECT_EQ(
      Error(
          "actions: enqueue\ntiers:\n- plugins: [{name: drf, enableHierarchy: true}]\n- plugins: [{name: proportion}]"),
      "");
}

TEST(SchedulerConfTest, WhatIsNoSuchFileIsRefused) {
  EXPECT_EQ(Error("kind: Policy\nactions: enqueue"), "") << "a key too many is told";
  EXPECT_EQ(Error("apiVersion: v1\nkind: ConfigMap\ndata: {}"),
            "volcano-scheduler.conf:2: kind: this is the ConfigMap; give the file that it holds, the text of its key "
            "volcano-scheduler.conf");
  EXPECT_THAT(Error("actions: enqueue\ntiers: [\n"), HasSubstr("volcano-scheduler.conf: line "));
  EXPECT_THAT(Error("actions: enqueue\nactions: allocate\n"), HasSubstr("volcano-scheduler.conf: line 2"));
  EXPECT_EQ(Error("- a"), "volcano-scheduler.conf:1: must be a map with actions and tiers");
  EXPECT_EQ(Error("actions: enqueue\n---\nactions: enqueue\n"),
            "volcano-scheduler.conf: one document is expected, there are 2");
}

TEST(SchedulerConfTest, SizesAreLimited) {
  EXPECT_THAT(ReadSchedulerConf(absl::StrCat("actions: enqueue\n", std::string(kMaxBytes, '#')), kSource),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(ReadSchedulerConf(absl::StrCat("actions: ", std::string(50, '[')), kSource),
              Not(StatusIs(absl::StatusCode::kOk)));
  std::string many = "actions: enqueue\n";
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&many, "x", i, ": 1\n");
  const SchedulerConf conf = Read(many);
  EXPECT_EQ(conf.notes.size(), kMaxNotes);
  EXPECT_THAT(conf.notes.back().text, HasSubstr("more such lines"));
  EXPECT_EQ(conf.notes.back().line, conf.notes[kMaxNotes - 2].line);
  EXPECT_THAT(Notes(absl::StrCat("actions: enqueue\n\"", std::string(500, 'x'), "\\n\": 1\n")),
              Contains(HasSubstr("...: there is no such key")));
}

}  // namespace
}  // namespace gangway::conf
