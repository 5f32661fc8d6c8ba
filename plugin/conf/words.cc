#include "plugin/conf/words.h"

#include <algorithm>

namespace gangway::conf {
namespace {

constexpr Note::Kind kAnyhow = Note::Kind::kAnyhow, kOtherwise = Note::Kind::kOtherwise;

constexpr char kEvictedByOneRule[] =
    "who may be evicted, and for whom, stays as it is; without the actions preempt and reclaim nobody is";
constexpr char kGangsGo[] =
    "members beyond a gang's minimum go, or gangs as a whole, and only where the gang that waits then fits";
constexpr char kNotMeasured[] = "what nodes really use is not measured; requests decide";

constexpr Word kActions[] = {
    {"enqueue", kAnyhow, ""},
    {"allocate", kAnyhow, ""},
    {"backfill", kAnyhow, "pods that ask for nothing are placed with all others"},
    {"preempt", kAnyhow, kGangsGo},
    {"reclaim", kAnyhow, kGangsGo},
    {"gangpreempt", kAnyhow, ""},
    {"gangreclaim", kAnyhow, ""},
    {"consolidation", kAnyhow, "gangs go whose pods say gangway.io/movable, and are placed again at once"},
    {"shuffle", kOtherwise, "no pod that runs is moved for how busy its node is"},
};

constexpr Word kPlugins[] = {
    {"gang", kAnyhow, ""},
    {"priority", kAnyhow, ""},
    {"conformance", kAnyhow, "system pods are never evicted, with it or without"},
    {"overcommit", kAnyhow, ""},
    {"binpack", kAnyhow, ""},
    {"sla", kOtherwise,
     "whose waiting time is over first goes first among those of the same priority; a time that is over lets nobody in "
     "before there is room"},
    {"predicates", kAnyhow, ""},
    {"nodeorder", kOtherwise,
     "scores are not added up: soft taints come first, then what pods prefer and spread by, then how full a node is, "
     "fuller ones first; images and balance do not count"},
    {"proportion", kOtherwise,
     "what a queue deserves by its weight is no limit where nobody else can use what is free: who would get past it "
     "goes "
     "last"},
    {"capacity", kOtherwise, "what a queue deserves is what it says, in trees, too; who would get past it goes last"},
    {"drf", kOtherwise, "shares what is beyond minima between the jobs of a queue; minima go by priority and arrival"},
    {"resourcequota", kAnyhow, ""},
    {"network-topology-aware", kAnyhow,
     "networkTopology of PodGroups is held without it; its weights are not used: the narrowest HyperNode that has "
     "room, of these the fullest"},
    {"extender", kOtherwise, "no extender is asked; gangway extender is a service of its own"},
    {"deviceshare", kOtherwise,
     "pods that ask for parts of cards (volcano.sh/vgpu-number, volcano.sh/gpu-memory) wait; whole devices are "
     "counted as the resources that their device plugins tell"},
    {"resource-strategy-fit", kOtherwise, "nodes are filled up by binpack's weights only"},
    {"tdm", kOtherwise, "nodes have no time zones in which they are revocable"},
    {"task-topology", kOtherwise,
     "affinity between tasks is what the pods say: podAffinity and podAntiAffinity; the PodGroup's annotations are not "
     "read"},
    {"numa-aware", kOtherwise, "pods that ask for a NUMA node by annotation wait"},
    {"cdp", kAnyhow, "volcano.sh/cooldown-time is held without it"},
    {"rescheduling", kOtherwise, "no pod that runs is moved for how busy its node is"},
    {"usage", kOtherwise, kNotMeasured},
    {"pdb", kAnyhow, "disruption budgets are held without it"},
    {"nodegroup", kOtherwise, "gangs of a queue that requires node groups wait; preferred groups are not looked at"},
};

constexpr Word kMissed[] = {
    {"gang", kOtherwise,
     "is not listed, and a gang is placed whole or not at all anyhow: minMember 1 lets pods start one by one"},
    {"priority", kOtherwise, "is not listed, and priorityClassName orders gangs anyhow"},
    {"predicates", kOtherwise, "is not listed, and what pods ask of nodes is held anyhow"},
    {"drf", kOtherwise,
     "is not listed, and what is beyond minima is shared between the jobs of a queue by what they hold anyhow"},
    {"binpack", kOtherwise,
     "is not listed, and fuller nodes are filled first anyhow, so that whole nodes stay free for gangs; all resources "
     "but disk count the same"},
};

constexpr Switch kSwitches[] = {
    {"enableJobOrder", true, kOtherwise, "the order of gangs stays: priority, deadlines of sla, arrival"},
    {"enableJobReady", true, kOtherwise, "a gang is placed whole or not at all anyhow"},
    {"enableJobPipelined", true, kOtherwise, "room of pods that end is promised to whole gangs alone"},
    {"enableJobEnqueued", true, kOtherwise, "who is let in stays as it is"},
    {"enableTaskOrder", true, kOtherwise, "the order of pods stays: task priority, number, arrival"},
    {"enablePreemptable", true, kOtherwise, kEvictedByOneRule},
    {"enableReclaimable", true, kOtherwise, kEvictedByOneRule},
    {"enablePreemptive", true, kOtherwise, kEvictedByOneRule},
    {"enableQueueOrder", true, kOtherwise,
     "the order of queues stays: priority, then what they hold of what they deserve"},
    {"enablePredicate", true, kOtherwise, "what pods ask of nodes is held anyhow"},
    {"enableBestNode", true, kAnyhow, "no plugin chooses a node past the order of nodes"},
    {"enableNodeOrder", true, kOtherwise, "the order of nodes stays: soft taints, preferences, fuller ones first"},
    {"enableTargetJob", true, kAnyhow, "room is kept for every gang that is let in and lacks its minimum"},
    {"enableReservedNodes", true, kAnyhow, "room is kept for every gang that is let in and lacks its minimum"},
    {"enabledVictim", true, kOtherwise, kEvictedByOneRule},
    {"enableJobStarving", true, kOtherwise, kEvictedByOneRule},
    {"enabledOverused", true, kOtherwise, "who would get past what its queue deserves goes last anyhow"},
    {"enabledAllocatable", true, kOtherwise,
     "capability limits queues, and who would get past what its queue deserves goes last, anyhow"},
    {"enabledHyperNodeOrder", true, kOtherwise,
     "the narrowest HyperNode that has room is taken anyhow, of these the fullest"},
    {"enabledSubJobReady", true, kOtherwise, "sub-groups are placed whole or not at all anyhow"},
    {"enabledSubJobPipelined", true, kOtherwise, "room of pods that end is promised to whole gangs alone"},
    {"enabledSubJobOrder", true, kOtherwise, "the order of sub-groups stays"},
    {"enabledHyperNodeGradient", true, kOtherwise, "networkTopology is held anyhow"},
    {"enableHierarchy", false, kAnyhow, "queues with a parent are held as trees without it"},
    {"enableHierarchy", false, kOtherwise,
     "the annotations volcano.sh/hierarchy and volcano.sh/hierarchy-weights of queues are not read: queues are a tree "
     "by their parent and share by their weight",
     "drf"},
    {"enabledClusterOrder", false, kOtherwise, "there is one cluster"},
};

constexpr char kAlwaysHeld[] = "is held anyhow: pods that ask for it would not start otherwise";
constexpr char kRanked[] =
    "is no weight here, also not with 0: soft taints come first, then what pods prefer and spread by, then how full a "
    "node is";

constexpr char kNoDevices[] = "devices of claims count for no queue: pods with resourceClaims wait";

constexpr Argument kArguments[] = {
    {"overcommit", "overcommit-factor", Type::kNumber, kAnyhow, ""},
    {"sla", "sla-waiting-time", Type::kDuration, kAnyhow, ""},
    {"proportion", "gangway.usageHalfLife", Type::kDuration, kAnyhow, ""},
    {"capacity", "gangway.usageHalfLife", Type::kDuration, kAnyhow, ""},
    {"proportion", "gangway.reclaimAfter", Type::kDuration, kAnyhow, ""},
    {"capacity", "gangway.reclaimAfter", Type::kDuration, kAnyhow, ""},
    {"capacity", "ancestorReclaimLevel", Type::kInteger, kOtherwise,
     "is no limit: two queues are compared where they, or queues above them, lie side by side, and nobody above both "
     "may come to lack more"},
    {"capacity", "capacity.DynamicResourceAllocationEnable", Type::kBool, kOtherwise, kNoDevices, "false"},
    {"capacity", "capacity.DRAConsumableCapacityEnable", Type::kBool, kOtherwise, kNoDevices, "false"},
    {"binpack", "binpack.weight", Type::kInteger, kAnyhow, ""},
    {"binpack", "binpack.cpu", Type::kInteger, kAnyhow, ""},
    {"binpack", "binpack.memory", Type::kInteger, kAnyhow, ""},
    {"binpack", "binpack.resources", Type::kText, kAnyhow, ""},
    {"predicates", "predicate.NodeAffinityEnable", Type::kBool, kOtherwise, kAlwaysHeld, "true"},
    {"predicates", "predicate.NodePortsEnable", Type::kBool, kOtherwise, kAlwaysHeld, "true"},
    {"predicates", "predicate.TaintTolerationEnable", Type::kBool, kOtherwise, "is held anyhow", "true"},
    {"predicates", "predicate.PodAffinityEnable", Type::kBool, kOtherwise, "is held anyhow", "true"},
    {"predicates", "predicate.NodeVolumeLimitsEnable", Type::kBool, kOtherwise, kAlwaysHeld, "true"},
    {"predicates", "predicate.VolumeZoneEnable", Type::kBool, kOtherwise, kAlwaysHeld, "true"},
    {"predicates", "predicate.PodTopologySpreadEnable", Type::kBool, kOtherwise, "is held anyhow", "true"},
    {"predicates", "predicate.VolumeBindingEnable", Type::kBool, kOtherwise, kAlwaysHeld, "true"},
    {"predicates", "predicate.DynamicResourceAllocationEnable", Type::kBool, kOtherwise,
     "pods with resourceClaims wait", "false"},
    {"predicates", "predicate.CacheEnable", Type::kBool, kAnyhow,
     "answers are kept for each shape of pods, and followed by events"},
    {"predicates", "bindTimeoutSeconds", Type::kInteger, kAnyhow, ""},
    {"nodeorder", "leastrequested.weight", Type::kInteger, kOtherwise,
     "fuller nodes are filled first, so that whole nodes stay free for gangs", "0"},
    {"nodeorder", "mostrequested.weight", Type::kInteger, kAnyhow,
     "fuller nodes are filled first without it; what counts is binpack's to say", "0"},
    {"nodeorder", "nodeaffinity.weight", Type::kInteger, kOtherwise, kRanked},
    {"nodeorder", "podaffinity.weight", Type::kInteger, kOtherwise, kRanked},
    {"nodeorder", "balancedresource.weight", Type::kInteger, kOtherwise,
     "whether cpu and memory of a node are used alike does not count", "0"},
    {"nodeorder", "tainttoleration.weight", Type::kInteger, kOtherwise, kRanked},
    {"nodeorder", "imagelocality.weight", Type::kInteger, kOtherwise, "which images a node has does not count", "0"},
    {"nodeorder", "podtopologyspread.weight", Type::kInteger, kOtherwise, kRanked},
};

}  // namespace

absl::Span<const Word> Actions() { return kActions; }
absl::Span<const Word> Plugins() { return kPlugins; }
absl::Span<const Word> PluginsThatAreMissed() { return kMissed; }
absl::Span<const Switch> Switches() { return kSwitches; }
absl::Span<const Argument> Arguments() { return kArguments; }

const Switch* FindSwitch(absl::string_view plugin, absl::string_view name) {
  const Switch* found = nullptr;
  for (const Switch& each : kSwitches) {
    if (name == each.name && (each.plugin == nullptr ? found == nullptr : plugin == each.plugin)) found = &each;
  }
  return found;
}

bool HasArguments(absl::string_view plugin) {
  constexpr absl::string_view kNone[] = {"gang", "priority", "conformance"};
  return std::find(std::begin(kNone), std::end(kNone), plugin) != std::end(kNone) ||
         std::any_of(std::begin(kArguments), std::end(kArguments),
                     [&](const Argument& argument) { return plugin == argument.plugin; });
}

}  // namespace gangway::conf
