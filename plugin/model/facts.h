// What an event says about one object, in plain values: the only way facts enter the Cluster. plugin/ingest makes these
// from API objects, plugin/extender from Volcano's sessions, tests by hand.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "plugin/model/resources.h"

namespace gangway::model {

enum class TaintEffect : std::uint8_t { kNoSchedule, kPreferNoSchedule, kNoExecute };

struct TaintFacts {
  std::string key, value;
  TaintEffect effect = TaintEffect::kNoSchedule;
};

struct NodeFacts {
  std::string name;
  NamedAmounts allocatable;
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<TaintFacts> taints;
  bool unschedulable = false;  // cordoned
};

enum class Op : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };

// One requirement on a node's labels, or on its name.
struct RequirementFacts {
  std::string key;  // "" = the node's name
  Op op = Op::kIn;
  std::vector<std::string> values;
  friend auto operator<=>(const RequirementFacts&, const RequirementFacts&) = default;
  template <class H>
  friend H AbslHashValue(H h, const RequirementFacts& of) {
    return H::combine(std::move(h), of.key, of.op, of.values);
  }
};

// All of these must hold; a term without requirements matches no node.
using TermFacts = std::vector<RequirementFacts>;

struct TolerationFacts {
  std::string key;  // "" with exists = every key
  std::string value;
  std::string effect;   // "" = every effect
  bool exists = false;  // operator Exists; otherwise Equal
  friend auto operator<=>(const TolerationFacts&, const TolerationFacts&) = default;
  template <class H>
  friend H AbslHashValue(H h, const TolerationFacts& of) {
    return H::combine(std::move(h), of.key, of.value, of.effect, of.exists);
  }
};

struct HostPortFacts {
  std::string protocol;  // TCP UDP SCTP
  std::string ip;        // "" or 0.0.0.0 = every address
  int port = 0;
  friend auto operator<=>(const HostPortFacts&, const HostPortFacts&) = default;
  template <class H>
  friend H AbslHashValue(H h, const HostPortFacts& of) {
    return H::combine(std::move(h), of.protocol, of.ip, of.port);
  }
};

struct PreferenceFacts {
  int weight = 1;
  TermFacts term;
  friend auto operator<=>(const PreferenceFacts&, const PreferenceFacts&) = default;
  template <class H>
  friend H AbslHashValue(H h, const PreferenceFacts& of) {
    return H::combine(std::move(h), of.weight, of.term);
  }
};

// Pods in any of these namespaces, whose labels all of these hold for.
struct PodSelectorFacts {
  std::vector<std::string> namespaces;
  // Beside these the namespaces whose labels all of these hold for.
  std::optional<std::vector<RequirementFacts>> namespace_selector;
  std::vector<RequirementFacts> pods;  // none: every pod; kNoPod: none
  friend auto operator<=>(const PodSelectorFacts&, const PodSelectorFacts&) = default;
  template <class H>
  friend H AbslHashValue(H h, const PodSelectorFacts& of) {
    static const std::vector<RequirementFacts> none;
    return H::combine(std::move(h), of.namespaces, of.namespace_selector.has_value(),
                      of.namespace_selector.has_value() ? *of.namespace_selector : none, of.pods);
  }
};
// Holds for no pod.
inline const RequirementFacts kNoPod{"", Op::kIn, {}};

// Such pods on nodes that are alike by a label.
struct PodTermFacts {
  std::string topology_key;
  PodSelectorFacts selector;
  friend auto operator<=>(const PodTermFacts&, const PodTermFacts&) = default;
  template <class H>
  friend H AbslHashValue(H h, const PodTermFacts& of) {
    return H::combine(std::move(h), of.topology_key, of.selector);
  }
};

struct PodPreferenceFacts {
  int weight = 1;  // negative: rather not near such pods
  PodTermFacts term;
  friend auto operator<=>(const PodPreferenceFacts&, const PodPreferenceFacts&) = default;
  template <class H>
  friend H AbslHashValue(H h, const PodPreferenceFacts& of) {
    return H::combine(std::move(h), of.weight, of.term);
  }
};

// Nodes that are alike by the label have no more of the pods than others, but for max_skew.
struct SpreadFacts {
  PodTermFacts term;
  int max_skew = 1;
  int min_domains = 1;  // with fewer values of the label the fewest pods that one has are 0
  bool required = true;
  // Which nodes count: those that the pod's node selector and affinity allow; those whose taints it tolerates.
  bool honors_affinity = true, honors_taints = false;
  friend auto operator<=>(const SpreadFacts&, const SpreadFacts&) = default;
  template <class H>
  friend H AbslHashValue(H h, const SpreadFacts& of) {
    return H::combine(std::move(h), of.term, of.max_skew, of.min_domains, of.required, of.honors_affinity,
                      of.honors_taints);
  }
};

inline constexpr char kNameTwoGangs[] = " name two gangs";

// What a pod asks of a node. Pods that ask for the same share a shape.
struct Wants {
  NamedAmounts requests;                                      // with pods: 1
  std::vector<std::pair<std::string, std::string>> selector;  // spec.nodeSelector
  bool has_affinity = false;
  std::vector<TermFacts> affinity;  // any of these; with has_affinity and none, no node matches
  std::vector<PreferenceFacts> preferences;
  std::vector<TolerationFacts> tolerations;
  std::vector<HostPortFacts> host_ports;
  std::vector<std::string> claims;  // "namespace/name", sorted
  // Of those the ones that must have been made for the pod, and its UID.
  std::vector<std::pair<std::string, std::string>> made_claims;
  std::vector<PodTermFacts> pod_affinity;       // near a pod for which all of them hold
  std::vector<PodTermFacts> pod_anti_affinity;  // not near a pod for which any holds; nor do those come near it
  std::vector<PodPreferenceFacts> pod_preferences;
  std::vector<SpreadFacts> spreads;
  // A field that asks for something the scheduler does not know, such as "spec.workloadRef", or "spec.a and spec.b"
  // + kNameTwoGangs: the pod is never placed.
  std::string not_modelled;
  template <class H>
  friend H AbslHashValue(H h, const Wants& of) {
    return H::combine(std::move(h), of.requests, of.selector, of.has_affinity, of.affinity, of.preferences,
                      of.tolerations, of.host_ports, of.claims, of.made_claims, of.pod_affinity, of.pod_anti_affinity,
                      of.pod_preferences, of.spreads, of.not_modelled);
  }
};

enum class PodPhase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed, kUnknown };

// Whose PodGroup a gang is: one that a name stands for in each of them are three gangs.
enum class GangKind : std::uint8_t { kVolcano, kKubernetes, kCoscheduling };

struct PodFacts {
  std::string ns, name, uid;
  std::string gang;  // the PodGroup's name; "" = none
  GangKind gang_kind = GangKind::kVolcano;
  std::string role;  // the task of the job
  std::string node;  // "" = not bound
  PodPhase phase = PodPhase::kPending;
  bool terminating = false;
  bool ours = true;         // names our scheduler
  bool gated = false;       // has scheduling gates
  bool controlled = false;  // a controller would recreate it
  bool of_job = false;      // and that is a Job of Volcano's
  std::int32_t priority = 1;
  int index = -1;  // its number in the task; -1 = none
  // How long it runs at most once it has begun, and until when when it has, as it says; infinite: as long as it likes.
  absl::Duration lasts = absl::InfiniteDuration();
  absl::Time ends = absl::InfiniteFuture();
  absl::Time created = absl::InfinitePast();
  // Eviction. `evictable`: it does not say otherwise, and the cluster runs without it; `preempts`: others may be
  // evicted for it.
  bool evictable = true, preempts = true;
  bool movable = false;   // may be moved to another node; `wants` of one that has a node is then what it asked for
  bool leaving = false;   // it says itself that it is about to be evicted
  std::string nominated;  // the node on which its scheduler keeps room for it; "" = none
  absl::Time started = absl::InfinitePast();       // when it got its node
  absl::Duration cooldown = absl::ZeroDuration();  // after that, while it is not evicted
  absl::Time grace_ends = absl::InfiniteFuture();  // of one that is terminating: gone by then
  absl::Duration grace = absl::Seconds(30);        // how long it may take to end once it is told to
  Wants wants;
  std::vector<std::pair<std::string, std::string>> labels;  // of one that has ended only where it has a gang
};

// Nodes of one HyperNode hold all of a gang, or of a sub-group.
struct TopologyFacts {
  bool required = true;              // else rather so
  std::optional<std::int64_t> tier;  // the widest that will do
  std::string tier_name;             // the same, by its name
  friend bool operator==(const TopologyFacts&, const TopologyFacts&) = default;
};

// A policy about gangs within the gang: of the pods that it chooses those with the same values of its keys are a
// sub-group, which is placed whole or not at all. Without keys all of them are one.
struct SubGroupFacts {
  std::string name;
  std::vector<RequirementFacts> selector;                // about labels; all of these hold
  std::vector<std::string> keys;                         // of labels, which a pod that it chooses has, and not empty
  int size = 1;                                          // pods that make one whole
  int min_groups = 0;                                    // whole ones that the gang needs to start
  std::optional<TopologyFacts> topology = std::nullopt;  // of each
  friend bool operator==(const SubGroupFacts&, const SubGroupFacts&) = default;
};

// What a namespace may use of something, as a ResourceQuota has it, and what it uses of that.
struct QuotaLimit {
  std::string name;  // "requests.cpu", in its resource's unit
  std::int64_t hard = 0, used = 0;
  friend bool operator==(const QuotaLimit&, const QuotaLimit&) = default;
};
struct QuotaFacts {
  std::string ns, name;
  std::vector<QuotaLimit> limits;  // sorted by name
};

enum class GangPhase : std::uint8_t { kNone, kPending, kInqueue, kRunning, kUnknown, kCompleted };

// How long others of its kind took that have ended.
struct PastRuns {
  int runs = 0;  // 0: nobody knows of any
  absl::Duration longest = absl::ZeroDuration();
  friend bool operator==(const PastRuns&, const PastRuns&) = default;
};

struct GangFacts {
  std::string ns, name, uid;
  GangKind kind = GangKind::kVolcano;
  std::string queue = "default";
  std::string priority_class;
  int min_member = 0;
  std::vector<std::pair<std::string, int>> min_task_member;
  std::vector<SubGroupFacts> sub_groups;  // a pod belongs to the first that chooses it
  bool has_min_resources = false;
  NamedAmounts min_resources;
  NamedAmounts quota_asks;  // the same as ResourceQuotas count it: "requests.cpu", "count/pods", "cpu"
  std::optional<TopologyFacts> topology;
  // A field of its spec that asks for something the scheduler does not know, such as "spec.subGroupPolicy[w]".
  std::string not_modelled;
  absl::Time created = absl::InfinitePast();
  std::optional<absl::Duration> waiting_time;  // how long it may take to be placed, as it says itself
  GangPhase phase = GangPhase::kNone;
  bool was_whole = false;                   // once, as its status tells: as many pods as its minimum had a node
  bool evictable = true;                    // it does not say otherwise
  absl::Time moved = absl::InfinitePast();  // when it was moved last
  // How often pods of it were evicted for others, but for moves, and when last; who tells of it says how far back that
  // counts.
  int evictions = 0;
  absl::Time last_evicted = absl::InfinitePast();
  std::string evicted_for;  // then: "ns/name" of that gang; "" = that is not told
  // Then: its pods that went, and on which node room is kept for the one that is made for each.
  struct MovedPod {
    std::string name, uid, node;
    friend bool operator==(const MovedPod&, const MovedPod&) = default;
  };
  std::vector<MovedPod> moved_pods;
  // UIDs of those that it says are evicted for others, and that may not say so themselves yet; only of Volcano's Jobs.
  std::vector<std::string> leaving_pods;
  // Since when its status says that it lacks members with which it was whole before; InfiniteFuture: it does not.
  absl::Time short_since = absl::InfiniteFuture();
  PastRuns past_runs;
  // How long its pods last, as it says itself; those that are made say so on their own.
  absl::Duration lasts = absl::InfiniteDuration();
  bool ours = true;  // it does not say that its pods will name another scheduler
};

// What a queue held on average until then, as Kubernetes counts it (use.h).
struct Use {
  absl::Time as_of;
  std::map<std::string, double> held;  // by resource
  friend bool operator==(const Use&, const Use&) = default;
};

struct QueueFacts {
  std::string name;
  std::string parent;  // "" = none
  int weight = 1;
  std::int32_t priority = 0;
  bool open = true;
  bool reclaimable = true;  // queues that hold less than they deserve may take back what it holds beyond
  std::optional<absl::Duration> min_runtime;  // so long after its start no pod is evicted; absent: as the queue above
  // So long a gang that lost a member may look for room for another; absent: as the queue above.
  std::optional<absl::Duration> lost_member_grace;
  NamedAmounts capability;  // dimensions that are absent are unlimited; so are cpu and memory of 0, as in Volcano
  NamedAmounts guarantee;
  NamedAmounts deserved;  // what it may have back from others; volcano: plugins/capacity
  // A field of its spec that asks for something the scheduler does not know, such as "spec.affinity".
  std::string not_modelled;
  absl::Time created = absl::InfinitePast();
  std::optional<Use> use;  // as it says itself; the cluster does not look at it
};

enum class ClaimPhase : std::uint8_t { kPending, kBound, kLost };

struct ClaimFacts {
  std::string ns, name, uid;
  ClaimPhase phase = ClaimPhase::kPending;
  std::string volume, storage_class;
  bool ending = false;   // it is being deleted
  bool one_pod = false;  // ReadWriteOncePod
  // What its volume must offer.
  std::int64_t bytes = 0;
  std::vector<std::string> access_modes;   // sorted
  bool block = false;                      // else a filesystem
  std::vector<RequirementFacts> selector;  // of the volume's labels; none: any volume
  // The node for which a volume is being made, as the claim says; "" = none.
  std::string selected_node;
  std::string owner;  // UID of whom it was made for; "" = nobody
};

struct VolumeFacts {
  std::string name;
  // The node must meet each of these: any of its terms.
  std::vector<std::vector<TermFacts>> selectors;
  std::string not_modelled;  // a field that asks for something the scheduler does not know
  // What it offers to claims that have no volume.
  std::string uid, resource_version;
  bool available = false;
  std::string claim;  // "namespace/name" of the one it is kept for; "" = any
  std::string storage_class;
  std::int64_t bytes = 0;
  std::vector<std::string> access_modes;  // sorted
  bool block = false;
  std::vector<std::pair<std::string, std::string>> labels;
  // Its CSI driver and what the driver calls it; "" = none attaches it.
  std::string driver, handle;
  bool in_tree = false;  // it says so in the words of before CSI
};

struct StorageClassFacts {
  std::string name;
  bool waits_for_pod = false;         // binds a claim when its pod gets a node
  bool makes_volumes = true;          // beside those that are there
  std::vector<TermFacts> topologies;  // nodes for which it makes them: any of these; none: all
  std::string provisioner = {};       // as it says
  std::string driver = {};            // of the volumes it makes; "" = none attaches them
};

// How many volumes of each CSI driver a node can attach, as far as a driver says so.
struct CsiNodeFacts {
  std::string name;  // of the node
  std::vector<std::pair<std::string, int>> limits;
};

struct CsiDriverFacts {
  std::string name;
  bool counts_room = false;  // it makes a volume only where a StorageCapacity says that there is room
};

// Room for volumes of a storage class on some nodes.
struct StorageCapacityFacts {
  std::string ns, name, storage_class;
  TermFacts topology;                     // the nodes
  std::optional<std::int64_t> bytes;      // in all
  std::optional<std::int64_t> a_volumes;  // the most that one volume may have
};

// A volume that is attached to a node, or is to be.
struct VolumeAttachmentFacts {
  std::string name, node, driver, volume;
};

// How many of some pods of a namespace may be evicted now.
struct BudgetFacts {
  std::string ns, name;
  std::vector<RequirementFacts> pods;  // their labels; none: every pod; kNoPod: none
  int allowed = 0;
};

struct NamespaceFacts {
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;
};

struct HyperNodeFacts {
  enum class By : std::uint8_t { kName, kPattern, kLabels };
  struct Member {
    bool node = true;  // else HyperNodes
    By by = By::kName;
    std::string text;  // name, or pattern in RE2's syntax, which is Go's: somewhere in the name
    std::vector<RequirementFacts> labels;
    friend bool operator==(const Member&, const Member&) = default;
  };
  std::string name;
  std::int64_t tier = 0;
  std::string tier_name;
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<Member> members;
  friend bool operator==(const HyperNodeFacts&, const HyperNodeFacts&) = default;
};

struct PriorityClassFacts {
  std::string name;
  std::int32_t value = 0;
  bool global_default = false;
  bool preempts = true;  // preemptionPolicy is not Never
};

}  // namespace gangway::model
