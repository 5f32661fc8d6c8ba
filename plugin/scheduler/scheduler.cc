#include "plugin/scheduler/scheduler.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/cluster_resources.h"
#include "api/core/node.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/core/pod_groups.h"
#include "api/core/storage.h"
#include "api/json.h"
#include "api/volcano/hyper_node.h"
#include "api/volcano/own_queues.h"
#include "api/volcano/scheduling.h"
#include "base/log.h"
#include "kube/client/status.h"
#include "plugin/gang/minimum.h"
#include "plugin/gang/schedule.h"
#include "plugin/ingest/ingest.h"
#include "plugin/scheduler/gang_plan.h"
#include "plugin/scheduler/group_kinds.h"
#include "plugin/scheduler/queue_status.h"
#include "plugin/scheduler/release.h"
#include "plugin/scheduler/telling.h"
#include "plugin/scheduler/volume_binding.h"

namespace gangway::scheduler {

using api::NamespacedName;
using api::core::CoschedulingPodGroup;
using api::core::CsiDriver;
using api::core::CsiNode;
using api::core::CsiStorageCapacity;
using api::core::KubernetesPodGroup;
using api::core::Node;
using api::core::PartialObject;
using api::core::PersistentVolume;
using api::core::PersistentVolumeClaim;
using api::core::Pod;
using api::core::PriorityClass;
using api::core::ResourceQuota;
using api::core::StorageClass;
using api::core::VolumeAttachment;
using api::volcano::HyperNode;
using api::volcano::PodGroup;
using api::volcano::Queue;
using model::Decision;
using model::Gang;
using model::GangId;
using model::GangKind;
using model::Task;
using model::TaskId;
using model::TaskStatus;

namespace {

// Queues have no namespace, so their keys never meet those of PodGroups in the driver.
NamespacedName QueueKey(absl::string_view name) { return {"", std::string(name)}; }

// Names have no slashes, so neither do keys of one kind of gang meet those of another.
NamespacedName KeyOfGang(GangKind kind, const std::string& ns, const std::string& name) {
  if (kind == GangKind::kVolcano) return {ns, name};
  return {ns, absl::StrCat(std::string(ResourceOf(kind).plural), ".", std::string(ResourceOf(kind).group), "/", name)};
}

constexpr int kMaxInFlight = 256;  // bindings are small

// What keeps a pod where its volumes are, and where others let it: without it pods that need it wait, and all others go
// on.
const kube::Selection kIfAllowed{.keep = false, .optional = true, .unless_forbidden = true};
const kube::Selection kEverywhereIfAllowed{
    .keep = false, .optional = true, .unless_forbidden = true, .everywhere = true};
const kube::Selection kKeptIfAllowed{.optional = true, .unless_forbidden = true};

class GangScheduler final : public Scheduler {
 public:
  GangScheduler(kube::Informers& informers, kube::ComponentOptions component, Options options)
      : Scheduler(informers, std::move(component)),
        options_(std::move(options)),
        namespaces_(informers.namespaces()),
        rules_{options_.explain_after, options_.missing_after, options_.refresh_after},
        pods_(Watch<Pod>(api::kPods, {.keep = false, .everywhere = true},
                         [this](const auto& key, const auto&, const auto& after) { OnPod(key, after.get()); })),
        groups_(Watch<PodGroup>(api::kPodGroups, {},
                                [this](const auto& key, const auto&, const auto& after) {
                                  OnGroup(GangKind::kVolcano, key, after.get());
                                })),
        kubernetes_groups_(Watch<KubernetesPodGroup>(api::kKubernetesPodGroups, kKeptIfAllowed,
                                                     [this](const auto& key, const auto&, const auto& after) {
                                                       OnGroup(GangKind::kKubernetes, key, after.get());
                                                     })),
        coscheduling_groups_(Watch<CoschedulingPodGroup>(api::kCoschedulingPodGroups, kKeptIfAllowed,
                                                         [this](const auto& key, const auto&, const auto& after) {
                                                           OnGroup(GangKind::kCoscheduling, key, after.get());
                                                         })),
        queues_(Watch<Queue>(api::kQueues, {},
                             [this](const auto& key, const auto&, const auto& after) { OnQueue(key, after.get()); })),
        claims_(Watch<PersistentVolumeClaim>(
            api::kPersistentVolumeClaims, kIfAllowed,
            [this](const auto& key, const auto&, const auto& after) { OnClaim(key, after.get()); })),
        driver_(Drive("podgroup", [this](const NamespacedName& key, absl::Time now) { return Decide(key, now); })) {
    Watch<Node>(api::kNodes, {.keep = false},
                [this](const auto& key, const auto&, const auto& after) { OnNode(key, after.get()); });
    Watch<PriorityClass>(api::kPriorityClasses, {.keep = false},
                         [this](const auto& key, const auto&, const auto& after) { OnClass(key, after.get()); });
    Watch<PersistentVolume>(api::kPersistentVolumes, kIfAllowed,
                            [this](const auto& key, const auto&, const auto& after) { OnVolume(key, after.get()); });
    Watch<StorageClass>(api::kStorageClasses, kIfAllowed,
                        [this](const auto& key, const auto&, const auto& after) { OnStorageClass(key, after.get()); });
    Watch<CsiNode>(api::kCsiNodes, kIfAllowed,
                   [this](const auto& key, const auto&, const auto& after) { OnCsiNode(key, after.get()); });
    Watch<CsiDriver>(api::kCsiDrivers, kIfAllowed,
                     [this](const auto& key, const auto&, const auto& after) { OnCsiDriver(key, after.get()); });
    Watch<CsiStorageCapacity>(
        api::kCsiStorageCapacities, kEverywhereIfAllowed,
        [this](const auto& key, const auto&, const auto& after) { OnStorageCapacity(key, after.get()); });
    Watch<VolumeAttachment>(
        api::kVolumeAttachments, kIfAllowed,
        [this](const auto& key, const auto&, const auto& after) { OnVolumeAttachment(key, after.get()); });
    Watch<HyperNode>(api::volcano::kHyperNodes, kIfAllowed,
                     [this](const auto& key, const auto&, const auto& after) { OnHyperNode(key, after.get()); });
    groups_.After(
        Watch<ResourceQuota>(api::kResourceQuotas, kIfAllowed,
                             [this](const auto& key, const auto&, const auto& after) { OnQuota(key, after.get()); }));
    Watch<PartialObject>(api::kNamespaces, kIfAllowed,
                         [this](const auto& key, const auto&, const auto& after) { OnNamespace(key, after.get()); });
    if (options_.live_policy != nullptr) options_.live_policy->OnChange([this] { OnPolicy(); });
    pods_.After(coscheduling_groups_);  // whether there are any says what a label of theirs means
    if (informers.metrics() == nullptr) return;
    Metrics& metrics = *informers.metrics();
    waiting_gangs_ = metrics.AddGauge("gangway_waiting_gangs", "PodGroups that wait to be let in or placed");
    rounds_ = metrics.AddCounter("gangway_schedule_rounds_total", "Scheduling rounds");
    bound_ = metrics.AddCounter("gangway_bindings_total", "Bindings, by what became of them", {{"result", "bound"}});
    refused_ =
        metrics.AddCounter("gangway_bindings_total", "Bindings, by what became of them", {{"result", "refused"}});
  }

  ~GangScheduler() override {
    if (options_.live_policy != nullptr) options_.live_policy->OnChange({});
  }

  const model::Cluster& cluster() const override { return cluster_; }

  void DumpMore(api::JsonWriter& json) const override {
    const auto count = [](std::size_t n) { return static_cast<std::int64_t>(n); };
    json.Field("waitingGangs", count(waiting_.size())).Key("gangs").BeginArray();
    std::size_t left = options_.max_dumped_gangs;
    for (const NamespacedName& key : waiting_) {
      if (left-- == 0) break;
      const GangId id = FindGang(key);
      if (id == model::kNone) continue;
      const Gang& gang = cluster_.gang(id);
      const auto state = states_.find(key);
      const auto& reason = state == states_.end() ? std::nullopt : state->second.telling.reason();
      json.BeginObject()
          .Field("gang", key.ToString())
          .Field("admitted", gang.admitted)
          .Field("minMember", gang.min_member);
      json.Field("tasks", count(gang.tasks.size())).Field("placed", gang.scheduled());
      json.Field("reason", reason.has_value() ? model::Render(*reason) : "").EndObject();
    }
    json.EndArray();
  }

 private:
  // What this process knows of a gang beside the table.
  struct State {
    std::string uid;
    Telling telling;
    bool was_whole = false;  // once, since this process watches
    absl::Time half_bound_since = absl::InfinitePast();
    Loop::TimerId held_back = 0;
    absl::Time volumes_since = absl::InfinitePast();  // since when pods with nodes wait for volumes
    absl::btree_set<std::string> selected;            // see LookAtVolumes
  };

  // ---- what is

  void Wake() override {
    cluster_.SetClaimsReadable(claims_.seen_up_to() > 0);
    allocated_ = AllocatedByQueue(cluster_);  // or the first look at our own queues would find nothing held
    for (const std::string_view name : api::volcano::kOwnQueues) driver_.Enqueue({"", std::string(name)});
    EnqueueAll(GangKind::kVolcano, groups_);
    EnqueueAll(GangKind::kKubernetes, kubernetes_groups_);
    EnqueueAll(GangKind::kCoscheduling, coscheduling_groups_);
    for (const NamespacedName& key : without_group_) driver_.Enqueue(key);
    WantRound();
    WantQueueStatus();
  }

  template <class T>
  void EnqueueAll(GangKind kind, const kube::Informer<T>& groups) {
    groups.ForEach([&](const NamespacedName& key, const auto&) { driver_.Enqueue(KeyOfGang(kind, key.ns, key.name)); });
  }

  // Applies an event and asks for a round when it changed anything.
  template <class F>
  void Apply(F event) {
    const std::uint64_t before = cluster_.version();
    event();
    if (cluster_.version() == before) return;
    cluster_.AuditIfAsked();
    WantRound();
    WantQueueStatus();
  }

  void OnNode(const NamespacedName& key, const Node* node) {
    Apply([&] {
      if (node == nullptr) {
        cluster_.RemoveNode(key.name);
      } else {
        cluster_.SetNode(ingest::NodeFactsOf(*node));
      }
    });
  }

  void OnQueue(const NamespacedName& key, const Queue* queue) {
    Apply([&] {
      if (queue == nullptr) {
        cluster_.RemoveQueue(key.name);
      } else {
        cluster_.SetQueue(ingest::QueueFactsOf(*queue));
      }
    });
    if (queue == nullptr) {
      known_queues_.erase(key.name);
      driver_.Enqueue(QueueKey(key.name));
    } else {
      known_queues_.insert(key.name);
      WantQueueStatus();
    }
  }

  void OnClass(const NamespacedName& key, const PriorityClass* object) {
    Apply([&] {
      if (object == nullptr) {
        cluster_.RemovePriorityClass(key.name);
      } else {
        cluster_.SetPriorityClass(ingest::PriorityClassFactsOf(*object));
      }
    });
  }

  void OnClaim(const NamespacedName& key, const PersistentVolumeClaim* claim) {
    Apply([&] {
      if (claim == nullptr) {
        cluster_.RemoveClaim(key.ns, key.name);
      } else {
        cluster_.SetClaim(ingest::ClaimFactsOf(*claim));
      }
    });
    LookAtThoseThatAwaitVolumes();
  }

  void LookAtThoseThatAwaitVolumes() {
    for (const NamespacedName& key : awaiting_volumes_) driver_.Enqueue(key);
  }

  void OnVolume(const NamespacedName& key, const PersistentVolume* volume) {
    Apply([&] {
      if (volume == nullptr) {
        cluster_.RemoveVolume(key.name);
      } else {
        cluster_.SetVolume(ingest::VolumeFactsOf(*volume));
      }
    });
    LookAtThoseThatAwaitVolumes();
  }

  void OnStorageClass(const NamespacedName& key, const StorageClass* object) {
    Apply([&] {
      if (object == nullptr) {
        cluster_.RemoveStorageClass(key.name);
      } else {
        cluster_.SetStorageClass(ingest::StorageClassFactsOf(*object));
      }
    });
  }

  void OnCsiNode(const NamespacedName& key, const CsiNode* object) {
    Apply([&] {
      if (object == nullptr) {
        cluster_.RemoveCsiNode(key.name);
      } else {
        cluster_.SetCsiNode(ingest::CsiNodeFactsOf(*object));
      }
    });
  }

  void OnCsiDriver(const NamespacedName& key, const CsiDriver* object) {
    Apply([&] {
      if (object == nullptr) {
        cluster_.RemoveCsiDriver(key.name);
      } else {
        cluster_.SetCsiDriver(ingest::CsiDriverFactsOf(*object));
      }
    });
  }

  void OnStorageCapacity(const NamespacedName& key, const CsiStorageCapacity* object) {
    Apply([&] {
      if (object == nullptr) {
        cluster_.RemoveStorageCapacity(key.ns, key.name);
      } else {
        cluster_.SetStorageCapacity(ingest::StorageCapacityFactsOf(*object));
      }
    });
  }

  void OnVolumeAttachment(const NamespacedName& key, const VolumeAttachment* object) {
    Apply([&] {
      if (object == nullptr) {
        cluster_.RemoveVolumeAttachment(key.name);
      } else {
        cluster_.SetVolumeAttachment(ingest::VolumeAttachmentFactsOf(*object));
      }
    });
  }

  void OnHyperNode(const NamespacedName& key, const HyperNode* object) {
    Apply([&] {
      if (object == nullptr) {
        cluster_.RemoveHyperNode(key.name);
      } else {
        cluster_.SetHyperNode(ingest::HyperNodeFactsOf(*object));
      }
    });
  }

  void OnNamespace(const NamespacedName& key, const PartialObject* object) {
    Apply([&] {
      if (object == nullptr) {
        cluster_.RemoveNamespace(key.name);
      } else {
        cluster_.SetNamespace(ingest::NamespaceFactsOf(*object));
      }
    });
  }

  void OnQuota(const NamespacedName& key, const ResourceQuota* quota) {
    const bool had = cluster_.quotas().Of(key.ns) != nullptr;
    const std::optional<model::QuotaFacts> facts = quota == nullptr ? std::nullopt : ingest::QuotaFactsOf(*quota);
    Apply([&] {
      if (facts.has_value()) {
        cluster_.SetQuota(*facts);
      } else {
        cluster_.RemoveQuota(key.ns, key.name);
      }
    });
    if (had || cluster_.quotas().Of(key.ns) == nullptr) return;
    groups_.ForEach([&](const NamespacedName& name, const auto& group) {
      if (name.ns == key.ns) cluster_.SetGang(ingest::GangFactsOf(*group));
    });
  }

  template <class T>
  void OnGroup(GangKind kind, const NamespacedName& name, const T* group) {
    const NamespacedName key = KeyOfGang(kind, name.ns, name.name);
    const GangId known = FindGang(key);
    const bool another = group != nullptr && (known == model::kNone || cluster_.gang(known).uid != group->metadata.uid);
    if (another && kind == GangKind::kVolcano && deciding()) PauseSurplus();
    if (group == nullptr && awaiting_volumes_.contains(key))
      GiveNodesBack(known);  // nobody would bind its pods any more
    Apply([&] {
      if (group == nullptr) {
        cluster_.RemoveGang(name.ns, name.name, kind);
      } else {
        cluster_.SetGang(ingest::GangFactsOf(*group));
      }
    });
    if (group == nullptr) {
      Forget(key);
      NoteGroup(FindGang(key));
      return;
    }
    without_group_.erase(key);
    if (auto it = states_.find(key); it != states_.end() && it->second.uid != group->metadata.uid) Forget(key);
    driver_.Enqueue(key);
  }

  void OnPod(const NamespacedName& key, const Pod* pod) {
    NamespacedName before, after;
    if (const TaskId task = cluster_.FindTask(key.ns, key.name); task != model::kNone) {
      before = GangKey(cluster_.task(task).gang);
      if (pod == nullptr || pod->metadata.uid != cluster_.task(task).uid) ForgetPod(cluster_.task(task).uid);
    }
    Apply([&] {
      if (pod == nullptr) {
        cluster_.RemovePod(key.ns, key.name);
      } else {
        model::PodFacts facts = ingest::PodFactsOf(*pod, options_.name, coscheduling_groups_.seen_up_to() > 0);
        facts.ours = facts.ours && IsOurs(key.ns);
        cluster_.SetPod(facts);
      }
    });
    if (pod != nullptr) {
      NoteCondition(*pod);
      if (pod->bound()) accepted_.erase(pod->metadata.uid);
      const GangId gang = cluster_.task(cluster_.FindTask(key.ns, key.name)).gang;
      NoteGroup(gang);
      after = GangKey(gang);
    }
    if (!before.name.empty()) driver_.Enqueue(before);
    if (!after.name.empty()) driver_.Enqueue(after);
  }

  // Of a gang whose PodGroup is not there its pods are told. The controllers make Volcano's.
  void NoteGroup(GangId id) {
    if (id == model::kNone) return;
    const Gang& gang = cluster_.gang(id);
    if (gang.known || gang.kind == GangKind::kVolcano || gang.ours == 0) return;
    const NamespacedName key = KeyOfGang(gang.kind, gang.ns, gang.name);
    without_group_.insert(key);
    driver_.Enqueue(key);
  }

  bool IsOurs(const std::string& ns) const {
    return namespaces_.empty() || std::find(namespaces_.begin(), namespaces_.end(), ns) != namespaces_.end();
  }

  // Only pods that wait have such a condition, so only they are kept.
  void NoteCondition(const Pod& pod) {
    written_.erase(pod.metadata.uid);
    if (pod.bound() || pod.ended()) return;
    for (const api::core::PodCondition& condition : pod.status.conditions) {
      if (condition.type != "PodScheduled" || condition.status != "False") continue;
      written_[pod.metadata.uid] = ConditionText(condition.reason, condition.message);
    }
  }

  void ForgetPod(const std::string& uid) {
    written_.erase(uid);
    accepted_.erase(uid);
  }

  void Forget(const NamespacedName& key) {
    auto it = states_.find(key);
    if (it == states_.end()) return;
    loop().Cancel(it->second.held_back);
    waiting_.erase(key);
    awaiting_volumes_.erase(key);
    states_.erase(it);
  }

  NamespacedName GangKey(GangId id) const {
    if (id == model::kNone) return {};
    const Gang& gang = cluster_.gang(id);
    return gang.known ? KeyOfGang(gang.kind, gang.ns, gang.name) : NamespacedName{};
  }

  GangId FindGang(const NamespacedName& key) const {
    if (!absl::StrContains(key.name, '/')) return cluster_.FindGang(key.ns, key.name);
    for (const GangKind kind : {GangKind::kKubernetes, GangKind::kCoscheduling}) {
      const std::string prefix = KeyOfGang(kind, "", "").name;
      if (absl::StartsWith(key.name, prefix))
        return cluster_.FindGang(key.ns, absl::string_view(key.name).substr(prefix.size()), kind);
    }
    return model::kNone;
  }

  // As it was shown last.
  std::optional<GroupRef> GroupOf(const Gang& gang) const {
    const auto find = [&](const auto& groups) -> std::optional<GroupRef> {
      const auto group = groups.Get({gang.ns, gang.name});
      if (group == nullptr) return std::nullopt;
      return GroupRef(group.get());
    };
    switch (gang.kind) {
      case GangKind::kVolcano:
        return find(groups_);
      case GangKind::kKubernetes:
        return find(kubernetes_groups_);
      case GangKind::kCoscheduling:
        return find(coscheduling_groups_);
    }
    return std::nullopt;
  }

  State& StateOf(const Gang& gang) {
    State& state = states_[KeyOfGang(gang.kind, gang.ns, gang.name)];
    state.uid = gang.uid;
    return state;
  }

  // ---- what should be

  // How nodes rank may be another now, so what is kept of that is forgotten.
  void OnPolicy() {
    scratch_ = gang::Scratch();
    WantRound();
  }

  // Rounds are bundled: events of one moment share one, and the more gangs wait, the rarer rounds are.
  void WantRound() {
    if (round_wanted_ || !deciding()) return;
    round_wanted_ = true;
    loop().PostAt(next_round_, token(), [this] {
      round_wanted_ = false;
      if (deciding()) Round();
    });
  }

  void PauseSurplus() {
    const absl::Time now = loop().Now();
    if (!std::exchange(surplus_paused_, true)) pause_ends_ = now + 4 * options_.surplus_pause;
    surplus_from_ = std::min(now + options_.surplus_pause, pause_ends_);
  }

  void WantRoundWithSurplus() {
    loop().Cancel(surplus_round_);
    surplus_round_ = loop().PostAt(surplus_from_, token(), [this] {
      surplus_round_ = 0;
      WantRound();
    });
  }

  // What queues have allocated is written in their status, a moment after it changed. Who serves some namespaces only
  // knows a part of it.
  void WantQueueStatus() {
    if (queue_status_wanted_ || !deciding() || !namespaces_.empty()) return;
    queue_status_wanted_ = true;
    loop().PostAt(loop().Now() + options_.queue_status_after, token(), [this] {
      queue_status_wanted_ = false;
      if (deciding()) LookAtQueues();
    });
  }

  void LookAtQueues() {
    allocated_ = AllocatedByQueue(cluster_);
    queues_.ForEach([this](const NamespacedName& key, const auto& queue) {
      if (queue->status.allocated != WantedAllocated(key.name)) driver_.Enqueue(key);
    });
  }

  api::ResourceList WantedAllocated(const std::string& queue) const {
    auto it = allocated_.find(queue);
    return it != allocated_.end() ? it->second : AllocatedList({}, cluster_.dims());
  }

  void Round() {
    const absl::Time now = loop().Now();
    rounds_.Add();
    gang::Policy policy = options_.live_policy == nullptr ? options_.policy : options_.live_policy->policy();
    policy.place_surplus = policy.place_surplus && now >= surplus_from_;
    if (now >= surplus_from_) surplus_paused_ = false;
    const model::Decisions decisions = gang::Schedule(cluster_, policy, now, scratch_);
    absl::btree_set<NamespacedName> waiting;
    bool undecided = false;
    for (const Decision& decision : decisions) {
      const NamespacedName key = GangKey(decision.gang);
      undecided = undecided || decision.rest_undecided;
      CarryOut(decision, key, now);
      cluster_.AuditIfAsked();
      if (decision.reason.has_value() || KeepsWaiting(decision, key)) waiting.insert(key);
    }
    if (undecided && surplus_paused_) WantRoundWithSurplus();
    for (const NamespacedName& key : waiting_) {
      if (waiting.contains(key)) continue;
      auto it = states_.find(key);
      if (it != states_.end() && it->second.telling.Decide(std::nullopt, false, {}, now)) driver_.Enqueue(key);
    }
    waiting_ = std::move(waiting);
    waiting_gangs_.Set(static_cast<double>(waiting_.size()));
    constexpr absl::Duration kPerWaitingGang = absl::Microseconds(20);
    next_round_ = now + std::min(options_.round_interval + kPerWaitingGang * waiting_.size(), absl::Milliseconds(100));
  }

  // What it waited for beyond its minimum was not looked at, so that is what it goes on waiting for.
  bool KeepsWaiting(const Decision& decision, const NamespacedName& key) const {
    const auto state = states_.find(key);
    return decision.rest_undecided && state != states_.end() && state->second.telling.waits_for_rest();
  }

  void CarryOut(const Decision& decision, const NamespacedName& key, absl::Time now) {
    bool changed = decision.admit;
    if (decision.admit) cluster_.SetAdmitted(decision.gang, true);
    for (const model::Placement& placement : decision.placements) {
      accepted_.erase(cluster_.task(placement.task).uid);
      cluster_.Assume(placement.task, placement.row);
      changed = true;
    }
    if (!decision.placements.empty()) {
      log::Info("gang placed", {{"gang", key.ToString()}, {"tasks", decision.placements.size()}});
    }
    std::vector<std::string> would_fit;
    for (const TaskId task : decision.would_fit) would_fit.push_back(cluster_.task(task).uid);
    State& state = StateOf(cluster_.gang(decision.gang));
    const bool news = !KeepsWaiting(decision, key) &&
                      state.telling.Decide(decision.reason, decision.short_of_minimum, std::move(would_fit), now);
    changed = changed || news;
    if (changed) driver_.Enqueue(key);
  }

  kube::Plan Decide(const NamespacedName& key, absl::Time now) {
    if (key.ns.empty()) return PlanQueue(key.name);
    const GangId id = FindGang(key);
    if (without_group_.contains(key)) return PlanWithoutGroup(key, id, now);
    if (id == model::kNone || !cluster_.gang(id).is_ours()) return {};
    const std::optional<GroupRef> group = GroupOf(cluster_.gang(id));
    if (!group.has_value()) return {};
    State& state = StateOf(cluster_.gang(id));
    const bool told_before = state.telling.told();
    state.telling.Advance(rules_, now);
    if (state.telling.told() && (!told_before || state.telling.news())) {
      log::Info("gang waits", {{"gang", key.ToString()}, {"reason", state.telling.text()}});
    }
    const Gang& gang = cluster_.gang(id);
    const bool settled = gang.Count(TaskStatus::kBinding) == 0 && gang.ready() > 0;
    state.was_whole = state.was_whole || (settled && gang::HasMinimum(cluster_, gang));
    const std::optional<Leftovers> leftovers = state.was_whole ? std::nullopt : FindLeftovers(cluster_, id);
    if (state.was_whole || !IsHalfBound(cluster_, gang)) {
      state.half_bound_since = absl::InfinitePast();
    } else if (state.half_bound_since == absl::InfinitePast()) {
      state.half_bound_since = now;
    }
    const auto accepted = [this](const Task& task) { return accepted_.contains(task.uid); };
    const VolumesOfGang volumes = AwaitVolumes(key, id, state, accepted, now);
    if (!volumes.failed.empty()) {
      GiveUp(id, volumes.failed);
      return {};
    }
    const auto written = [this](const Task& task) { return Written(task); };
    const GangView view{cluster_,
                        id,
                        *group,
                        state.telling,
                        accepted,
                        written,
                        leftovers,
                        state.half_bound_since,
                        options_.release_after,
                        TransitionId(),
                        volumes};
    kube::Plan plan = PlanGang(view, now);
    if (!volumes.ready) plan.look_again = std::min(plan.look_again, state.volumes_since + options_.volumes_take);
    plan.look_again = std::min(plan.look_again, state.telling.NextChange(rules_));
    return plan;
  }

  std::string Written(const Task& task) const {
    const auto it = written_.find(task.uid);
    return it == written_.end() ? std::string() : it->second;
  }

  kube::Plan PlanWithoutGroup(const NamespacedName& key, GangId id, absl::Time now) {
    if (id == model::kNone) {
      without_group_.erase(key);
      return {};
    }
    const Gang& gang = cluster_.gang(id);
    const api::Resource& resource = ResourceOf(gang.kind);
    const bool served = gang.kind == GangKind::kKubernetes ? kubernetes_groups_.seen_up_to() > 0
                                                           : coscheduling_groups_.seen_up_to() > 0;
    const std::string text = model::GroupMissing(
        absl::StrCat(std::string(resource.plural), ".", std::string(resource.group)), gang.name, served);
    return scheduler::PlanWithoutGroup(
        cluster_, gang, text, [this](const Task& task) { return Written(task); }, options_.missing_after, now);
  }

  VolumesOfGang AwaitVolumes(const NamespacedName& key, GangId id, State& state,
                             absl::FunctionRef<bool(const Task&)> accepted, absl::Time now) {
    VolumesOfGang volumes = LookAtVolumes(cluster_, cluster_.gang(id), accepted, state.selected);
    if (volumes.ready || !volumes.failed.empty()) {
      state.volumes_since = absl::InfinitePast();
      state.selected.clear();
      awaiting_volumes_.erase(key);
      return volumes;
    }
    awaiting_volumes_.insert(key);
    if (state.volumes_since == absl::InfinitePast()) state.volumes_since = now;
    if (now >= state.volumes_since + options_.volumes_take) {
      volumes.failed = absl::StrCat("no volume came within ", absl::FormatDuration(options_.volumes_take), " for ",
                                    volumes.waits_for);
      state.volumes_since = absl::InfinitePast();
    }
    return volumes;
  }

  std::string TransitionId() {
    const std::uint64_t a = loop().Random(), b = loop().Random();
    return absl::StrFormat("%08x-%04x-4%03x-%04x-%012x", a >> 32, (a >> 16) & 0xffff, a & 0xfff,
                           0x8000 | ((b >> 48) & 0x3fff), b & 0xffffffffffff);
  }

  kube::Plan PlanQueue(const std::string& name) {
    kube::Plan plan;
    if (const auto there = queues_.Get(QueueKey(name)); there != nullptr) {
      if (!namespaces_.empty() || there->metadata.deleting()) return plan;
      kube::Write write;
      write.body = AllocatedPatch(there->status.allocated, WantedAllocated(name));
      if (write.body.empty()) return plan;
      write.verb = kube::Verb::kMergePatch;
      write.resource = &api::kQueues;
      write.subresource = "status";
      write.name = name;
      write.uid = there->metadata.uid;
      write.resource_version = there->metadata.resource_version;
      plan.stages.push_back({std::move(write)});
      return plan;
    }
    const auto& own = api::volcano::kOwnQueues;
    if (std::find(own.begin(), own.end(), name) == own.end() || known_queues_.contains(name)) return plan;
    kube::Write write;
    write.resource = &api::kQueues;
    write.name = name;
    write.body = api::Encode(api::volcano::OwnQueue(name));
    plan.stages.push_back({std::move(write)});
    return plan;
  }

  // ---- replies

  void OnReply(const kube::Write& write, const kube::Response& reply) override {
    if (write.resource == &api::kPods && write.subresource == "binding") return OnBindingReply(write, reply);
    Scheduler::OnReply(write, reply);
    const bool of_volumes =
        write.resource == &api::kPersistentVolumeClaims || write.resource == &api::kPersistentVolumes;
    if (of_volumes && reply.code == 403) OnVolumesForbidden(write, kube::StatusFromResponse(reply).message());
  }

  void OnVolumesForbidden(const kube::Write& write, absl::string_view why) {
    const absl::btree_set<NamespacedName> awaiting = awaiting_volumes_;
    for (const NamespacedName& key : awaiting) {
      const GangId id = FindGang(key);
      const bool concerned =
          id != model::kNone &&
          std::any_of(cluster_.gang(id).tasks.begin(), cluster_.gang(id).tasks.end(), [&](TaskId task) {
            const std::vector<model::ClaimId>& claims = cluster_.shape(cluster_.task(task).shape).claims;
            return std::any_of(claims.begin(), claims.end(), [&](model::ClaimId claim) {
              const auto promised = cluster_.volumes().PromisedTo(claim);
              return promised.has_value() &&
                     (write.ns.empty() ? promised->volume == write.name
                                       : promised->ns == write.ns && promised->name == write.name);
            });
          });
      if (concerned)
        GiveUp(id, absl::StrCat("the scheduler may not patch ", std::string(write.resource->plural), ": ", why));
    }
  }

  // The task the write was about, if it is still there and still assumed.
  TaskId AssumedTask(const NamespacedName& key, const std::string& uid) const {
    const TaskId id = cluster_.FindTask(key.ns, key.name);
    if (id == model::kNone) return id;
    const Task& task = cluster_.task(id);
    return task.uid == uid && task.status == TaskStatus::kBinding ? id : model::kNone;
  }

  // A reply is about the pod of that UID; one that was made anew under its name has nothing to do with it.
  void OnBindingReply(const kube::Write& write, const kube::Response& reply) {
    const bool again = reply.code == 429 || reply.code == 408 || reply.code >= 500;  // the driver tries again
    if (again) return;
    if (reply.ok()) bound_.Add();
    const NamespacedName key{write.ns, write.name};
    const TaskId id = cluster_.FindTask(key.ns, key.name);
    if (id == model::kNone || cluster_.task(id).uid != write.uid) return;
    const Task& task = cluster_.task(id);
    if (task.row == model::kNone) return;  // given up meanwhile
    if (reply.ok()) {
      // The watch may have told first.
      if (task.status == TaskStatus::kBinding) accepted_.insert(task.uid);
      recorder().Record({kube::EventNote::Type::kNormal,
                         "Scheduled",
                         absl::StrCat("Successfully assigned ", key.ToString(), " to ", cluster_.node_name(task.row)),
                         {.api_version = "v1",
                          .kind = "Pod",
                          .ns = task.ns,
                          .name = task.name,
                          .uid = task.uid,
                          .resource_version = "",
                          .field_path = ""}});
      return;
    }
    refused_.Add();
    LookAtPod(key, task.uid,
              absl::StrCat("binding ", task.name, " to ", cluster_.node_name(task.row),
                           " was refused: ", kube::StatusFromResponse(reply).message()));
  }

  // A binding was refused: the pod itself says whether it is bound (the reply to an earlier try was lost), gone, or
  // free.
  void LookAtPod(const NamespacedName& key, const std::string& uid, std::string why) {
    kube::Request request;
    request.method = "GET";
    request.path = api::PathOf(api::kPods, key.ns, key.name);
    client().Send(std::move(request), token(),
                  [this, key, uid, why = std::move(why)](const absl::StatusOr<kube::Response>& reply) {
                    if (!reply.ok()) return;  // the driver tries the binding again, which leads back here
                    if (reply->code == 404) return pods_.ObserveDeleted(key, uid);
                    if (!reply->ok()) return;
                    pods_.Observe(reply->body);
                    if (const TaskId task = AssumedTask(key, uid); task != model::kNone) GiveUpTask(task, why);
                  });
  }

  // The pod is free and its binding was refused.
  void GiveUpTask(TaskId id, const std::string& why) {
    const GangId gang_id = cluster_.task(id).gang;
    cluster_.Forget(id);
    Rest(gang_id, why);
  }

  // All nodes that no binding was accepted for.
  void GiveNodesBack(GangId gang_id) {
    const std::vector<TaskId> tasks = cluster_.gang(gang_id).tasks;
    for (const TaskId id : tasks) {
      if (!accepted_.contains(cluster_.task(id).uid)) cluster_.Forget(id);
    }
  }

  void GiveUp(GangId gang_id, const std::string& why) {
    GiveNodesBack(gang_id);
    const NamespacedName key = GangKey(gang_id);
    awaiting_volumes_.erase(key);
    if (auto it = states_.find(key); it != states_.end()) it->second.selected.clear();
    Rest(gang_id, why);
  }

  // The gang rests a while, then is decided anew.
  void Rest(GangId gang_id, const std::string& why) {
    if (gang_id == model::kNone || !cluster_.gang(gang_id).known) return WantRound();
    const NamespacedName key = GangKey(gang_id);
    log::Warning("binding given up", {{"gang", key.ToString()}, {"error", why}});
    cluster_.SetHeldBack(gang_id, why);
    State& state = StateOf(cluster_.gang(gang_id));
    loop().Cancel(state.held_back);
    state.held_back = loop().PostAt(loop().Now() + options_.bind_retry, token(), [this, key] {
      if (auto it = states_.find(key); it != states_.end()) it->second.held_back = 0;
      const GangId gang = FindGang(key);
      if (gang != model::kNone) Apply([&] { cluster_.SetHeldBack(gang, ""); });
    });
    WantRound();
    driver_.Enqueue(key);
  }

  const Options options_;
  const std::vector<std::string>& namespaces_;  // empty: all
  const TellingRules rules_;

  model::Cluster cluster_;
  gang::Scratch scratch_;
  absl::btree_map<NamespacedName, State> states_;
  absl::btree_set<NamespacedName> waiting_;  // gangs that waited in the last round
  absl::btree_set<NamespacedName> awaiting_volumes_;
  absl::btree_set<NamespacedName> without_group_;          // gangs that pods name, and no PodGroup is there
  absl::flat_hash_set<std::string> accepted_;              // UIDs of assumed pods whose binding was accepted
  absl::flat_hash_map<std::string, std::string> written_;  // PodScheduled=False as written, by UID
  absl::btree_set<std::string> known_queues_;
  std::map<std::string, api::ResourceList> allocated_;  // by queue, as of the last look
  bool round_wanted_ = false, queue_status_wanted_ = false;
  absl::Time next_round_ = absl::InfinitePast();
  bool surplus_paused_ = false;
  absl::Time surplus_from_ = absl::InfinitePast(), pause_ends_ = absl::InfinitePast();
  Loop::TimerId surplus_round_ = 0;

  kube::Informer<Pod>& pods_;
  kube::Informer<PodGroup>& groups_;
  kube::Informer<KubernetesPodGroup>& kubernetes_groups_;
  kube::Informer<CoschedulingPodGroup>& coscheduling_groups_;
  kube::Informer<Queue>& queues_;
  kube::Informer<PersistentVolumeClaim>& claims_;
  kube::Driver& driver_;
  Gauge waiting_gangs_;
  Counter rounds_, bound_, refused_;
};

}  // namespace

std::unique_ptr<Scheduler> Scheduler::Make(kube::Informers& informers, kube::ComponentOptions component,
                                           Options options) {
  component.events_yield = true;  // bindings go first
  component.max_in_flight = kMaxInFlight;
  component.event_source = options.name;
  return std::make_unique<GangScheduler>(informers, std::move(component), std::move(options));
}

}  // namespace gangway::scheduler
