#include "plugin/extender/watch/live_cluster.h"

#include <type_traits>
#include <utility>

#include "api/cluster_resources.h"
#include "api/core/node.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/volcano/hyper_node.h"
#include "api/volcano/scheduling.h"
#include "plugin/extender/session/changed_gangs.h"

namespace gangway::extender {
namespace {

// A busy cluster has news all the time, and a scheduler asks about each of its gangs: what was so a moment ago is
// answer enough.
constexpr absl::Duration kPlanEvery = absl::Milliseconds(100);

// Without it pods that need it are judged as if there were none.
const kube::Selection kIfAllowed{.keep = false, .optional = true, .unless_forbidden = true};

}  // namespace

LiveCluster::LiveCluster(kube::Informers& informers, LiveClusterOptions options)
    : Component(informers, {.event_source = "gangway-extender"}),
      options_(std::move(options)),
      feed_(cluster_, options_.scheduler_name, informers.namespaces(), [this] { stale_ = true; }),
      groups_(WatchFor<api::volcano::PodGroup>(api::kPodGroups, {})) {
  WatchFor<api::core::Pod>(api::kPods, {.keep = false, .everywhere = true});
  WatchFor<api::volcano::Queue>(api::kQueues, {.keep = false});
  WatchFor<api::core::Node>(api::kNodes, {.keep = false});
  WatchFor<api::core::PriorityClass>(api::kPriorityClasses, {.keep = false});
  WatchFor<api::core::PodDisruptionBudget>(api::kPodDisruptionBudgets, kIfAllowed);
  groups_.After(WatchFor<api::core::ResourceQuota>(api::kResourceQuotas, kIfAllowed));
  WatchFor<api::core::PartialObject>(api::kNamespaces, kIfAllowed);
  WatchFor<api::volcano::HyperNode>(api::volcano::kHyperNodes, kIfAllowed);
}

template <class T>
kube::Informer<T>& LiveCluster::WatchFor(const api::Resource& resource, const kube::Selection& selection) {
  return Watch<T>(
      resource, selection,
      [this](const auto& key, const auto&, const auto& after) {
        const auto take = [this, key, after] {
          if constexpr (std::is_same_v<T, api::core::Pod>) {
            feed_.On(key, after.get(), false);
          } else if constexpr (std::is_same_v<T, api::core::ResourceQuota>) {
            feed_.On(key, after.get(), groups_);
          } else {
            feed_.On(key, after.get());
          }
        };
        if (!planning_) return take();
        shown_.emplace_back(take);
      },
      kube::Undecodable::kIgnored);
}

void LiveCluster::Ask(Then then) {
  if (!synced()) return then(nullptr, false);
  const absl::Time now = loop().Now();
  if (!planning_) {
    const bool holds = !stale_ && plan_ != nullptr && now < plan_->look_again();
    if (holds || (plan_ != nullptr && now < planned_ + kPlanEvery)) return then(plan_, false);
    Begin(now);
  }
  waiting_.push_back(std::move(then));
  if (late_) BeLate();
}

void LiveCluster::Begin(absl::Time now) {
  stale_ = false;
  planned_ = now;
  planning_ = true;
  budget_ends_ = loop().PostAt(now + options_.budget, token(), [this] { BeLate(); });
  options_.run([this, now, options = options_.plan, before = plan_, loop = &loop(), owner = token()] {
    std::shared_ptr<const SessionPlan> plan = SessionPlan::Make(cluster_, options, now, scratch_, before.get());
    LogChanges(before.get(), *plan);
    loop->Post(owner, [this, plan = std::move(plan)]() mutable { Made(std::move(plan)); });
  });
}

void LiveCluster::Made(std::shared_ptr<const SessionPlan> plan) {
  loop().Cancel(budget_ends_);
  planning_ = late_ = false;
  plan_ = std::move(plan);
  for (const auto& take : std::exchange(shown_, {})) take();
  for (Then& then : std::exchange(waiting_, {})) then(plan_, false);
}

// Who asks from here on is not kept waiting either.
void LiveCluster::BeLate() {
  late_ = true;
  const bool recent = plan_ != nullptr && loop().Now() <= plan_->made() + kLastFor;
  for (Then& then : std::exchange(waiting_, {})) then(recent ? plan_ : nullptr, true);
}

void LiveCluster::SetPolicy(gang::Policy policy) {
  options_.plan.policy = std::move(policy);
  stale_ = true;
}

}  // namespace gangway::extender
