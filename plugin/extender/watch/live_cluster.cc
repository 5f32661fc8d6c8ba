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
        if constexpr (std::is_same_v<T, api::core::Pod>) {
          feed_.On(key, after.get(), false);
        } else if constexpr (std::is_same_v<T, api::core::ResourceQuota>) {
          feed_.On(key, after.get(), groups_);
        } else {
          feed_.On(key, after.get());
        }
      },
      kube::Undecodable::kIgnored);
}

std::shared_ptr<const SessionPlan> LiveCluster::Plan() {
  if (!synced()) return nullptr;
  const absl::Time now = loop().Now();
  if (!stale_ && plan_ != nullptr && now < plan_->look_again()) return plan_;
  if (plan_ != nullptr && now < planned_ + kPlanEvery) return plan_;
  stale_ = false;
  planned_ = now;
  const std::shared_ptr<const SessionPlan> before = std::move(plan_);
  plan_ = SessionPlan::Make(cluster_, options_.plan, now, scratch_, before.get());
  LogChanges(before.get(), *plan_);
  return plan_;
}

void LiveCluster::SetPolicy(gang::Policy policy) {
  options_.plan.policy = std::move(policy);
  stale_ = true;
}

}  // namespace gangway::extender
