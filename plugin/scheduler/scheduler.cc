#include "plugin/scheduler/scheduler.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/cluster_resources.h"
#include "api/core/node.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/core/pod_groups.h"
#include "api/core/storage.h"
#include "api/volcano/hyper_node.h"
#include "api/volcano/own_queues.h"
#include "api/volcano/scheduling.h"
#include "base/log.h"
#include "base/strings.h"
#include "kube/client/status.h"
#include "plugin/gang/carry_out.h"
#include "plugin/gang/moved_room.h"
#include "plugin/gang/resting.h"
#include "plugin/ingest/ingest.h"
#include "plugin/scheduler/bindings.h"
#include "plugin/scheduler/evictions.h"
#include "plugin/scheduler/feed.h"
#include "plugin/scheduler/gang_keys.h"
#include "plugin/scheduler/gang_plan.h"
#include "plugin/scheduler/group_kinds.h"
#include "plugin/scheduler/queue_deserved.h"
#include "plugin/scheduler/queue_metrics.h"
#include "plugin/scheduler/queue_upkeep.h"
#include "plugin/scheduler/queue_use.h"
#include "plugin/scheduler/reads.h"
#include "plugin/scheduler/rounds.h"
#include "plugin/scheduler/tellings.h"
#include "plugin/scheduler/use_metrics.h"

namespace gangway::scheduler {

using api::NamespacedName;
using api::core::CoschedulingPodGroup;
using api::core::KubernetesPodGroup;
using api::core::PersistentVolume;
using api::core::PersistentVolumeClaim;
using api::core::Pod;
using api::core::ResourceQuota;
using api::volcano::PodGroup;
using api::volcano::Queue;
using model::Decision;
using model::Gang;
using model::GangId;
using model::GangKind;
using model::Task;
using model::TaskId;

namespace {

constexpr int kMaxInFlight = 96;  // more than the client sends at once, so that none of its places is empty
constexpr absl::Duration kNextEviction = absl::Seconds(5);  // one that is refused again and again holds nothing up
constexpr absl::Duration kAfterEvictions = absl::Milliseconds(500);  // the room is taken, and those who go are gone

const kube::Selection kKeptIfAllowed{.optional = true, .unless_forbidden = true};

// Wires the rooms: watches go to the feed, what it changes to a round, what that decides to the table and to the
// driver, which asks bindings and tellings what there is to write.
class GangScheduler final : public Scheduler {
 public:
  GangScheduler(kube::Informers& informers, kube::ComponentOptions component, Options options)
      : Scheduler(informers, std::move(component)),
        options_(std::move(options)),
        namespaces_(informers.namespaces()),
        feed_(cluster_, options_.name, namespaces_,
              [this] {
                rounds_.Want();
                WantQueueStatus();
              }),
        rounds_(cluster_, loop(), token(),
                {options_.round_interval, options_.surplus_pause, options_.eviction_interval},
                {[this] { return deciding(); },
                 [this] {
                   queue_use_.Advance(cluster_, Policy().use_half_life, loop().Now());
                   return Policy();
                 },
                 [this](const model::Decisions& decisions, bool of_all, absl::Time now) {
                   return CarryOut(decisions, of_all, now);
                 },
                 options_.thread_time}),
        tellings_(cluster_, {options_.explain_after, options_.missing_after, options_.refresh_after},
                  [this](GangId gang, absl::Time now) { return gang::FindResting(cluster_, Policy(), now, gang); }),
        evictions_(cluster_),
        queue_upkeep_(cluster_, /*writes_statuses=*/namespaces_.empty()),
        pods_(WatchHere<Pod>(api::kPods, {.keep = false, .everywhere = true})),
        groups_(WatchHere<PodGroup>(api::kPodGroups, {})),
        kubernetes_groups_(WatchHere<KubernetesPodGroup>(api::kKubernetesPodGroups, kKeptIfAllowed)),
        coscheduling_groups_(WatchHere<CoschedulingPodGroup>(api::kCoschedulingPodGroups, kKeptIfAllowed)),
        queues_(WatchHere<Queue>(api::kQueues, {})),
        claims_(WatchHere<PersistentVolumeClaim>(api::kPersistentVolumeClaims, kIfAllowed)),
        bindings_(cluster_, feed_, {loop(), token(), client(), recorder(), pods_}, {options_.bind_retry},
                  {[this](const NamespacedName& key) { driver_.Enqueue(key); }, [this] { rounds_.Want(); }}),
        driver_(Drive("podgroup", [this](const NamespacedName& key, absl::Time now) { return Decide(key, now); })) {
    WatchFacts([this]<class T>(const api::Resource& resource,
                               const kube::Selection& selection) -> auto& { return WatchHere<T>(resource, selection); },
               groups_);
    pods_.After(coscheduling_groups_);  // whether there are any says what a label of theirs means
    if (options_.live_policy != nullptr) {
      options_.live_policy->OnChange(token(), [this] {
        rounds_.ForgetRanks();
        rounds_.Want();
      });
    }
    if (informers.metrics() == nullptr) return;
    rounds_.CountIn(*informers.metrics());
    queue_metrics_.CountIn(*informers.metrics());
    use_metrics_.CountIn(*informers.metrics());
    bindings_.CountIn(*informers.metrics());
    evictions_.CountIn(*informers.metrics());
  }

  const model::Cluster& cluster() const override { return cluster_; }
  void DumpMore(api::JsonWriter& json) const override { tellings_.Dump(json, options_.max_dumped_gangs); }

 private:
  // ---- what is

  template <class T>
  kube::Informer<T>& WatchHere(const api::Resource& resource, const kube::Selection& selection) {
    return Watch<T>(resource, selection,
                    [this](const auto& key, const auto&, const auto& after) { this->Seen(key, after.get()); });
  }

  void Wake() override {
    cluster_.SetClaimsReadable(claims_.seen_up_to() > 0);
    gang::RecallMoved(Policy().victims_take, loop().Now(), cluster_);
    queue_use_.Forget();
    queue_deserved_.Forget();
    ReckonQueues();  // or the first look at our own queues would find nothing held, and take back what they deserve
    for (const std::string_view name : api::volcano::kOwnQueues) driver_.Enqueue(KeyOfQueue(View(name)));
    EnqueueAll(GangKind::kVolcano, groups_);
    EnqueueAll(GangKind::kKubernetes, kubernetes_groups_);
    EnqueueAll(GangKind::kCoscheduling, coscheduling_groups_);
    for (const auto& [key, since] : without_group_) driver_.Enqueue(key);
    rounds_.Want();
    WantQueueStatus();
  }

  template <class T>
  void EnqueueAll(GangKind kind, const kube::Informer<T>& groups) {
    groups.ForEach([&](const NamespacedName& key, const auto&) { driver_.Enqueue(KeyOfGang(kind, key.ns, key.name)); });
  }

  template <class T>  // facts and no more
  void Seen(const NamespacedName& key, const T* object) {
    feed_.On(key, object);
  }

  void Seen(const NamespacedName& key, const Queue* queue) {
    feed_.On(key, queue);
    queue_use_.Seen(key.name, queue);
    if (queue == nullptr) queue_deserved_.Gone(key.name);
    if (queue == nullptr) {
      queue_upkeep_.Went(key.name);
      driver_.Enqueue(KeyOfQueue(key.name));
    } else {
      queue_upkeep_.Came(key.name);
      WantQueueStatus();
    }
  }

  void Seen(const NamespacedName& key, const PersistentVolumeClaim* claim) { SeenOfVolumes(key, claim); }
  void Seen(const NamespacedName& key, const PersistentVolume* volume) { SeenOfVolumes(key, volume); }
  template <class T>
  void SeenOfVolumes(const NamespacedName& key, const T* object) {
    feed_.On(key, object);
    for (const NamespacedName& awaiting : bindings_.awaiting_volumes()) driver_.Enqueue(awaiting);
  }

  void Seen(const NamespacedName& key, const ResourceQuota* quota) { feed_.On(key, quota, groups_); }

  void Seen(const NamespacedName& key, const PodGroup* group) { SeenGroup(GangKind::kVolcano, key, group); }
  void Seen(const NamespacedName& key, const KubernetesPodGroup* group) {
    SeenGroup(GangKind::kKubernetes, key, group);
  }
  void Seen(const NamespacedName& key, const CoschedulingPodGroup* group) {
    SeenGroup(GangKind::kCoscheduling, key, group);
  }
  template <class T>
  void SeenGroup(GangKind kind, const NamespacedName& name, const T* group) {
    const NamespacedName key = KeyOfGang(kind, name.ns, name.name);
    const GangId known = FindGang(cluster_, key);
    const bool another = group != nullptr && (known == model::kNone || cluster_.gang(known).uid != group->metadata.uid);
    if (another && kind == GangKind::kVolcano && deciding()) rounds_.PauseSurplus();
    if (group == nullptr && bindings_.awaiting_volumes().contains(key))
      bindings_.GiveNodesBack(known);  // nobody would bind its pods any more
    feed_.On(name, group);
    if (group == nullptr || another) {
      bindings_.Forget(key);
      tellings_.Forget(key);
      evictions_.Forget(key);
      group_written_.erase(key);
      HoldWhatTells();
    }
    if (group == nullptr) return NoteWithoutGroup(FindGang(cluster_, key));
    without_group_.erase(key);
    driver_.Enqueue(key);
  }

  void Seen(const NamespacedName& key, const Pod* pod) {
    NamespacedName before, after;
    if (const TaskId task = cluster_.FindTask(key.ns, key.name); task != model::kNone) {
      before = KeyOfGang(cluster_, cluster_.task(task).gang);
      if (pod == nullptr || pod->metadata.uid != cluster_.task(task).uid) {
        tellings_.ForgetPod(cluster_.task(task).uid);
        bindings_.ForgetPod(cluster_.task(task).uid);
        evictions_.ForgetPod(cluster_.task(task).uid);
      }
    }
    feed_.On(key, pod, coscheduling_groups_.seen_up_to() > 0);
    if (pod != nullptr) {
      tellings_.Seen(*pod);
      evictions_.Seen(*pod);
      if (pod->bound()) bindings_.ForgetPod(pod->metadata.uid);
      const GangId gang = cluster_.task(cluster_.FindTask(key.ns, key.name)).gang;
      NoteWithoutGroup(gang);
      after = KeyOfGang(cluster_, gang);
    }
    HoldWhatTells();
    if (!before.name.empty()) driver_.Enqueue(before);
    if (!after.name.empty()) driver_.Enqueue(after);
  }

  // Of a gang whose PodGroup is not there its pods are told.
  void NoteWithoutGroup(GangId id) {
    if (id == model::kNone) return;
    const Gang& gang = cluster_.gang(id);
    if (gang.known || gang.ours == 0) return;
    without_group_.try_emplace(KeyOfGang(gang), loop().Now());
    driver_.Enqueue(KeyOfGang(gang));
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

  const gang::Policy& Policy() const {
    return options_.live_policy == nullptr ? options_.policy : options_.live_policy->value();
  }

  void ReckonQueues() {
    queue_upkeep_.Reckon();
    queue_use_.Advance(cluster_, Policy().use_half_life, loop().Now());
    queue_deserved_.Reckon(cluster_, Policy().sharing);
  }

  // A moment after something changed what queues hold.
  void WantQueueStatus() {
    if (queue_status_wanted_ || !deciding() || !queue_upkeep_.writes_statuses()) return;
    queue_status_wanted_ = true;
    loop().PostAt(loop().Now() + options_.queue_status_after, token(), [this] {
      queue_status_wanted_ = false;
      if (!deciding()) return;
      ReckonQueues();
      queue_metrics_.Set(cluster_, Policy().sharing);
      use_metrics_.Set(cluster_);
      queues_.ForEach([this](const NamespacedName& key, const auto& queue) {
        if (queue_upkeep_.Lags(*queue) || !queue_use_.PlanFor(key.name, *queue).empty() || queue_deserved_.Lags(*queue))
          driver_.Enqueue(key);
      });
    });
  }

  // ---- what should be

  std::size_t CarryOut(const model::Decisions& decisions, bool of_all, absl::Time now) {
    for (const Decision& decision : decisions) {
      CarryOut(decision, KeyOfGang(cluster_, decision.gang), now);
      cluster_.AuditIfAsked();
    }
    HoldWhatTells();
    LogKeptNodes(decisions);
    if (of_all) {
      gang::EndRound(decisions, Policy().victims_take, now, cluster_);
      for (const NamespacedName& key : tellings_.EndRound()) driver_.Enqueue(key);
    } else {
      gang::EndRoundOfFew(decisions, Policy().victims_take, now, cluster_);
      tellings_.EndRoundOfFew();
    }
    return tellings_.waiting();
  }

  void LogKeptNodes(const model::Decisions& decisions) const {
    for (const Decision& decision : decisions) {
      const auto gang = [&] { return KeyOfGang(cluster_, decision.gang).ToString(); };
      if (decision.passed_over_until != absl::InfinitePast()) log::Warning("nodes kept in vain", {{"gang", gang()}});
      if (!decision.kept.has_value()) continue;
      const auto& before = cluster_.reservation();
      if (before.has_value() && before->uid == cluster_.gang(decision.gang).uid) continue;
      log::Info("nodes kept",
                {{"gang", gang()}, {"nodes", decision.kept->spots.size()}, {"until_end", decision.kept->ends}});
    }
  }

  void CarryOut(const Decision& decision, const NamespacedName& key, absl::Time now) {
    for (const model::Placement& placement : decision.placements) bindings_.Given(cluster_.task(placement.task));
    gang::CarryOut(decision, cluster_);
    if (!decision.placements.empty()) {
      log::Info("gang placed", {{"gang", key.ToString()}, {"tasks", decision.placements.size()}});
    }
    for (const NamespacedName& victim : evictions_.CarryOut(decision, key, now)) driver_.Enqueue(victim);
    const bool news = tellings_.Decide(decision, key, now);
    if (decision.admit || !decision.placements.empty() || decision.nominations.has_value() || news)
      driver_.Enqueue(key);
  }

  // While pods are told to go the API server's time is for that.
  void HoldWhatTells() {
    if (evictions_.untold() == untold_) return;
    untold_ = evictions_.untold();
    driver_.HoldYielding(loop().Now() + (untold_ > 0 ? kNextEviction : kAfterEvictions));
  }

  kube::Plan Decide(const NamespacedName& key, absl::Time now) {
    if (IsOfQueue(key)) return DecideOnQueue(key, now);
    const GangId id = FindGang(cluster_, key);
    if (without_group_.contains(key)) return TellWithoutGroup(key, id, now);
    if (id == model::kNone || !cluster_.gang(id).is_ours()) return {};
    const std::optional<GroupRef> group = GroupOf(cluster_.gang(id));
    if (!group.has_value()) return {};
    Telling& telling = tellings_.Look(key, now);
    const Bindings::Half half = bindings_.LookAtHalf(key, id, now);
    const Bindings::Awaited volumes = bindings_.LookAtVolumes(key, id, Policy().volumes_take, now);
    if (!volumes.of_gang.failed.empty()) {
      bindings_.GiveUp(id, volumes.of_gang.failed);
      return {};
    }
    const auto accepted = [this](const Task& task) { return bindings_.accepted(task); };
    const auto written = [this](const Task& task) { return tellings_.WrittenOf(task); };
    const GangView view{cluster_,
                        id,
                        *group,
                        telling,
                        accepted,
                        written,
                        half.leftovers,
                        half.since,
                        options_.release_after,
                        TransitionId(),
                        volumes.of_gang,
                        evictions_.RemovalOf(key, id),
                        evictions_.NominationsOf(id),
                        CountsFrom(key),
                        bindings_.put_off(cluster_.gang(id)),
                        volumes.since + options_.missing_after};
    kube::Plan plan = PlanGang(view, now);
    plan.look_again =
        std::min({plan.look_again, volumes.due, tellings_.NextChange(key), bindings_.LookAtAccepted(id, now)});
    return plan;
  }

  absl::Time CountsFrom(const NamespacedName& key) const {
    const auto written = group_written_.find(key);
    return written == group_written_.end() ? absl::InfinitePast() : written->second + options_.group_counts_after;
  }

  // What it says of use, and of what it deserves, comes after its status: each is another write of the same version.
  kube::Plan DecideOnQueue(const NamespacedName& key, absl::Time now) {
    const auto queue = queues_.Get(key);
    kube::Plan plan = queue_upkeep_.PlanFor(key.name, queue.get());
    if (!plan.empty() || queue == nullptr || !queue_upkeep_.writes_statuses()) return plan;
    plan = queue_use_.PlanFor(key.name, *queue);
    return plan.empty() ? queue_deserved_.PlanFor(*queue, now) : plan;
  }

  kube::Plan TellWithoutGroup(const NamespacedName& key, GangId id, absl::Time now) {
    if (id == model::kNone) {
      without_group_.erase(key);
      return {};
    }
    const Gang& gang = cluster_.gang(id);
    const api::Resource& resource = ingest::ResourceOf(gang.kind);
    const bool served = gang.kind == GangKind::kVolcano      ? groups_.seen_up_to() > 0
                        : gang.kind == GangKind::kKubernetes ? kubernetes_groups_.seen_up_to() > 0
                                                             : coscheduling_groups_.seen_up_to() > 0;
    const std::string text =
        model::GroupMissing(absl::StrCat(std::string(resource.plural), ".", std::string(resource.group)), gang.name,
                            served)
            .English();
    return PlanWithoutGroup(
        cluster_, gang, text, [this](const Task& task) { return tellings_.WrittenOf(task); },
        without_group_.at(key) + options_.missing_after, now);
  }

  std::string TransitionId() {
    const std::uint64_t a = loop().Random(), b = loop().Random();
    return absl::StrFormat("%08x-%04x-4%03x-%04x-%012x", a >> 32, (a >> 16) & 0xffff, a & 0xfff,
                           0x8000 | ((b >> 48) & 0x3fff), b & 0xffffffffffff);
  }

  void OnReply(const kube::Write& write, const kube::Response& reply) override {
    if (write.resource == &api::kPods && write.subresource == "binding") return bindings_.OnReply(write, reply);
    if (write.resource == &api::kPods && write.verb == kube::Verb::kDelete && reply.code == 403) OnMayNotDelete(write);
    Scheduler::OnReply(write, reply);
    if (write.resource == &api::kPodGroups && reply.ok())
      group_written_[KeyOfGang(GangKind::kVolcano, write.ns, write.name)] = loop().Now();
    const bool of_volumes =
        write.resource == &api::kPersistentVolumeClaims || write.resource == &api::kPersistentVolumes;
    if (of_volumes && reply.code == 403) bindings_.OnVolumesForbidden(write, kube::StatusFromResponse(reply).message());
  }

  // Whose pod it is stays. Decided anew, but not at once: it may be the same again.
  void OnMayNotDelete(const kube::Write& write) {
    const TaskId task = cluster_.FindTask(write.ns, write.name);
    if (task == model::kNone) return;
    const NamespacedName key = KeyOfGang(cluster_, cluster_.task(task).gang);
    rounds_.PauseEvictions(options_.bind_retry);
    feed_.Apply([&] { evictions_.OnForbidden(key); });
    HoldWhatTells();
  }

  const Options options_;
  const std::vector<std::string>& namespaces_;  // empty: all

  model::Cluster cluster_{options_.audit_every};
  Feed feed_;
  Rounds rounds_;
  Tellings tellings_;
  Evictions evictions_;
  QueueUpkeep queue_upkeep_;
  QueueUse queue_use_;
  QueueDeserved queue_deserved_;
  QueueMetrics queue_metrics_;
  UseMetrics use_metrics_;
  absl::btree_map<NamespacedName, absl::Time> without_group_;      // since when no PodGroup of the name is there
  absl::flat_hash_map<NamespacedName, absl::Time> group_written_;  // when its status was, by us
  bool queue_status_wanted_ = false;
  std::size_t untold_ = 0;  // pods that are to be told to go, when what tells was held last

  kube::Informer<Pod>& pods_;
  kube::Informer<PodGroup>& groups_;
  kube::Informer<KubernetesPodGroup>& kubernetes_groups_;
  kube::Informer<CoschedulingPodGroup>& coscheduling_groups_;
  kube::Informer<Queue>& queues_;
  kube::Informer<PersistentVolumeClaim>& claims_;
  Bindings bindings_;
  kube::Driver& driver_;
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
