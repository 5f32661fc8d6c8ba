#include "plugin/explain/counted_use.h"

#include <algorithm>

#include "plugin/model/use.h"

namespace gangway::explain {

CountedUse::CountedUse(const FactIndex& index, model::Cluster& cluster, absl::Duration half_life, absl::Time now)
    : half_life_(half_life) {
  for (model::QueueId id = 0; id < cluster.queue_slots(); ++id) {
    const model::QueueFacts* const facts = index.FindQueue(cluster.queue(id).name);
    model::Use use = facts == nullptr ? model::Use{now, {}} : facts->use.value_or(model::Use{now, {}});
    use.as_of = std::min(use.as_of, now);
    use_.push_back(std::move(use));
  }
  CountTo(now, cluster);
}

void CountedUse::CountTo(absl::Time now, model::Cluster& cluster) {
  for (model::QueueId id = 0; id < static_cast<model::QueueId>(use_.size()); ++id) {
    model::Use& use = use_[static_cast<std::size_t>(id)];
    use = model::UseAt(use, model::HeldNow(cluster, cluster.queue(id)), half_life_, now);
    cluster.SetUsed(id, model::UsedByDim(use, cluster.dims()));
  }
}

}  // namespace gangway::explain
