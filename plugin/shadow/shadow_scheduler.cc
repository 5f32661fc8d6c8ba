#include "plugin/shadow/shadow_scheduler.h"

#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/cluster_resources.h"
#include "api/core/node.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/core/pod_groups.h"
#include "api/core/storage.h"
#include "api/scheduling_resources.h"
#include "api/volcano/hyper_node.h"
#include "api/volcano/scheduling.h"
#include "base/log.h"
#include "plugin/gang/carry_out.h"
#include "plugin/scheduler/gang_keys.h"
#include "plugin/scheduler/reads.h"

namespace gangway::shadow {
namespace {

using model::Cluster;
using model::Gang;
using model::GangId;
using model::TaskId;
using model::TaskStatus;

const kube::Selection kAll{.keep = false};

std::string NameOf(const Gang& gang) { return scheduler::KeyOfGang(gang).ToString(); }

// What others show, without what we only wished.
bool IsPlacedByOthers(const Gang& gang) {
  const int placed =
      gang.Count(TaskStatus::kBound) + gang.Count(TaskStatus::kRunning) + gang.Count(TaskStatus::kSucceeded);
  return placed >= std::max(gang.min_member, 1);
}

int NodesOf(const Cluster& cluster, const Gang& gang) {
  std::set<model::Row> rows;
  for (const TaskId task : gang.tasks) {
    if (cluster.task(task).holds_room()) rows.insert(cluster.task(task).row);
  }
  return static_cast<int>(rows.size());
}

}  // namespace

ShadowScheduler::ShadowScheduler(kube::Informers& informers, kube::ComponentOptions component, ShadowOptions options)
    : Component(informers, std::move(component)),
      options_(std::move(options)),
      feed_(cluster_, options_.name, informers.namespaces(), [this] { WantAt(loop().Now()); }),
      comparison_(loop().Now()),
      claims_(WatchFor<api::core::PersistentVolumeClaim>(api::kPersistentVolumeClaims, scheduler::kIfAllowed)),
      groups_(WatchFor<api::volcano::PodGroup>(api::kPodGroups, {})) {
  auto& pods = WatchFor<api::core::Pod>(api::kPods, {.keep = false, .everywhere = true});
  pods.After(WatchFor<api::core::CoschedulingPodGroup>(api::kCoschedulingPodGroups, scheduler::kIfAllowed));
  WatchFor<api::core::KubernetesPodGroup>(api::kKubernetesPodGroups, scheduler::kIfAllowed);
  WatchFor<api::volcano::Queue>(api::kQueues, kAll);
  scheduler::WatchFacts(
      [this]<class T>(const api::Resource& resource, const kube::Selection& selection) -> auto& {
        return WatchFor<T>(resource, selection);
      },
      groups_);
  if (options_.live_policy != nullptr) options_.live_policy->OnChange(token(), [this] { WantAt(loop().Now()); });
}

template <class T>
kube::Informer<T>& ShadowScheduler::WatchFor(const api::Resource& resource, const kube::Selection& selection) {
  // Who schedules here tells users of what cannot be read.
  return Watch<T>(
      resource, selection, [this](const auto& key, const auto&, const auto& after) { Seen(key, after.get()); },
      kube::Undecodable::kIgnored);
}

template <class T>
void ShadowScheduler::Seen(const api::NamespacedName& key, const T* object) {
  if constexpr (std::is_same_v<T, api::core::Pod>) {
    feed_.On(key, object, coscheduling_);
    // At once: before the next round the other may have placed it.
    if (object != nullptr && deciding()) NoteIfWaits(cluster_.task(cluster_.FindTask(key.ns, key.name)).gang);
  } else if constexpr (std::is_same_v<T, api::core::ResourceQuota>) {
    feed_.On(key, object, groups_);
  } else {
    if constexpr (std::is_same_v<T, api::core::CoschedulingPodGroup>) coscheduling_ = true;
    if constexpr (std::is_same_v<T, api::volcano::Queue>) queue_use_.Seen(key.name, object);
    feed_.On(key, object);
  }
  if constexpr (std::is_same_v<T, api::volcano::PodGroup>) {
    if (object == nullptr) return;
    const GangId gang = cluster_.FindGang(key.ns, key.name);
    if (gang == model::kNone) return;
    for (const auto& condition : object->status.conditions) {
      if (condition.type == "Unschedulable" && condition.status == "True")
        comparison_.Refuses(Who::kThey, NameOf(cluster_.gang(gang)), condition.message);
    }
  }
}

void ShadowScheduler::Wake() {
  cluster_.SetClaimsReadable(claims_.seen_up_to() > 0);
  WantAt(loop().Now());
  Summarise();
}

void ShadowScheduler::WantAt(absl::Time when) {
  if (!deciding()) return;
  when = std::max(when, last_round_ + kRoundEvery);
  if (when >= round_at_) return;
  loop().Cancel(round_);
  round_at_ = when;
  round_ = loop().PostAt(when, token(), [this] {
    round_at_ = absl::InfiniteFuture();
    if (deciding()) Round();
  });
}

// Its pods are there, nobody has placed it, and it never was whole.
void ShadowScheduler::NoteIfWaits(GangId id) {
  if (id == model::kNone) return;
  const Gang& gang = cluster_.gang(id);
  if (!gang.is_ours() || gang.ours == 0 || gang.was_whole || IsPlacedByOthers(gang)) return;
  if (static_cast<int>(gang.tasks.size()) < std::max(gang.min_member, 1)) return;
  const std::string name = NameOf(gang);
  comparison_.Waits(name, gang.queue == model::kNone ? "" : cluster_.queue(gang.queue).name, loop().Now());
  waits_.insert(name);
}

// Before we decide: what the others have done until now.
void ShadowScheduler::LookAtOthers(absl::Time now) {
  std::set<std::string> there;
  for (GangId id = 0; id < cluster_.gang_slots(); ++id) {
    const Gang& gang = cluster_.gang(id);
    if (gang.name.empty() || !gang.is_ours()) continue;
    const std::string name = NameOf(gang);
    there.insert(name);
    if (IsPlacedByOthers(gang)) {
      comparison_.Places(Who::kThey, name, NodesOf(cluster_, gang), now);
      wished_.erase(name);
    } else {
      NoteIfWaits(id);
    }
    // A wish that nobody fulfils does not hold room for ever.
    const auto wish = wished_.find(name);
    if (wish == wished_.end() || now < wish->second + kWishHolds) continue;
    for (const TaskId task : std::vector<TaskId>(gang.tasks)) {
      if (cluster_.task(task).status == TaskStatus::kBinding) cluster_.Forget(task);
    }
    wished_.erase(wish);
  }
  std::erase_if(waits_, [&](const std::string& name) {
    if (there.contains(name)) return !comparison_.knows(name);
    comparison_.Gone(name, now);
    wished_.erase(name);
    return true;
  });
}

void ShadowScheduler::Round() {
  const absl::Time now = last_round_ = loop().Now();
  LookAtOthers(now);
  const gang::Policy& policy = options_.live_policy == nullptr ? options_.policy : options_.live_policy->value();
  queue_use_.Advance(cluster_, policy.use_half_life, now);
  if (gang::StandsStill(cluster_, policy, now, scratch_)) return WantAt(scratch_.standstill().until());
  model::Decisions decisions = gang::Schedule(cluster_, policy, now, scratch_);
  absl::Time again = absl::InfiniteFuture();
  for (model::Decision& decision : decisions) {
    again = std::min(again, decision.look_again);
    CarryOut(decision, now);
    // Nobody goes, so for nobody is room kept where somebody would have gone.
    decision.moves.clear();
  }
  gang::EndRound(decisions, policy.victims_take, now, cluster_);
  if (again != absl::InfiniteFuture()) WantAt(again);
}

void ShadowScheduler::CarryOut(model::Decision decision, absl::Time now) {
  const std::string name = NameOf(cluster_.gang(decision.gang));
  if (!decision.evicted.empty()) {
    comparison_.WouldEvictFor(name);
    decision.evicted.clear();
    decision.nominations.reset();
    decision.moves.clear();
  }
  gang::CarryOut(decision, cluster_);
  if (decision.reason.has_value() && decision.short_of_minimum)
    comparison_.Refuses(Who::kWe, name, model::Render(*decision.reason));
  if (decision.placements.empty() || decision.short_of_minimum) return;
  wished_.emplace(name, now);
  comparison_.Places(Who::kWe, name, NodesOf(cluster_, cluster_.gang(decision.gang)), now);
}

void ShadowScheduler::Summarise() {
  loop().PostAt(loop().Now() + kSummaryEvery, token(), [this] {
    if (!deciding()) return;
    log::Info("shadow", {{"summary", comparison_.Summary()}});
    Summarise();
  });
}

void ShadowScheduler::DumpMore(api::JsonWriter& json) const {
  json.Key("shadow");
  comparison_.Dump(json, loop().Now());
}

}  // namespace gangway::shadow
