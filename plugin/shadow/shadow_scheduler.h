// The scheduler as a shadow of another one: it reads what `gangway scheduler` reads, decides by the same code, keeps to
// itself what it decided, and compares that with what the other did (comparison.h). Nothing is written.
//
// What it would have bound holds room in its table until the other binds the pod, or for kWishHolds; whom it would have
// evicted stays. Every kSummaryEvery a summary is logged; the dump has it all. Used on its loop.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "api/core/storage.h"
#include "api/volcano/scheduling.h"
#include "kube/runtime/component.h"
#include "plugin/gang/policy.h"
#include "plugin/gang/schedule.h"
#include "plugin/model/cluster.h"
#include "plugin/scheduler/feed.h"
#include "plugin/scheduler/live_policy.h"
#include "plugin/scheduler/queue_use.h"
#include "plugin/shadow/comparison.h"

namespace gangway::shadow {

inline constexpr absl::Duration kRoundEvery = absl::Seconds(1);
inline constexpr absl::Duration kWishHolds = absl::Minutes(10);
inline constexpr absl::Duration kSummaryEvery = absl::Minutes(10);

struct ShadowOptions {
  std::string name = "volcano";  // spec.schedulerName of the pods that the other one places
  gang::Policy policy;
  std::shared_ptr<scheduler::LivePolicy> live_policy;  // instead of `policy`; null: it does not change
};

class ShadowScheduler final : public kube::Component {
 public:
  ShadowScheduler(kube::Informers& informers, kube::ComponentOptions component, ShadowOptions options);

  const Comparison& comparison() const { return comparison_; }
  const model::Cluster& cluster() const { return cluster_; }
  void DumpMore(api::JsonWriter& json) const override;

 private:
  template <class T>
  kube::Informer<T>& WatchFor(const api::Resource& resource, const kube::Selection& selection);
  template <class T>
  void Seen(const api::NamespacedName& key, const T* object);
  void Wake() override;
  void WantAt(absl::Time when);
  void Round();
  void NoteIfWaits(model::GangId id);
  void LookAtOthers(absl::Time now);
  void CarryOut(model::Decision decision, absl::Time now);
  void Summarise();

  const ShadowOptions options_;
  model::Cluster cluster_;
  scheduler::Feed feed_;
  gang::Scratch scratch_;
  scheduler::QueueUse queue_use_;
  Comparison comparison_;
  kube::Informer<api::core::PersistentVolumeClaim>& claims_;
  kube::Informer<api::volcano::PodGroup>& groups_;
  std::set<std::string> waits_;               // gangs that are compared
  std::map<std::string, absl::Time> wished_;  // since when they hold room in our table alone
  bool coscheduling_ = false;                 // there are PodGroups of that kind
  absl::Time round_at_ = absl::InfiniteFuture(), last_round_ = absl::InfinitePast();
  Loop::TimerId round_ = 0;
};

}  // namespace gangway::shadow
