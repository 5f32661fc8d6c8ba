#include "plugin/scheduler/queue_use.h"

#include <algorithm>
#include <utility>

#include "api/json.h"
#include "api/volcano/queue_notes.h"
#include "plugin/ingest/use_text.h"
#include "plugin/model/use.h"

namespace gangway::scheduler {
namespace {

constexpr absl::Duration kWriteEvery = absl::Minutes(1);

}  // namespace

void QueueUse::Seen(const std::string& name, const api::volcano::Queue* queue) {
  if (queue == nullptr) {
    queues_.erase(name);
    return;
  }
  Entry& entry = queues_[name];
  const auto said = queue->metadata.annotations.find(std::string(api::volcano::kUsageAnnotation));
  entry.written = said == queue->metadata.annotations.end() ? std::nullopt : ingest::ParseUse(said->second);
}

void QueueUse::Forget() {
  for (auto& [name, entry] : queues_) entry.use.reset();
}

void QueueUse::Advance(model::Cluster& cluster, std::optional<absl::Duration> half_life, absl::Time now) {
  if (!half_life.has_value()) {
    if (!std::exchange(counts_, false)) return;
    for (model::QueueId id = 0; id < cluster.queue_slots(); ++id) cluster.SetUsed(id, {});
    return Forget();
  }
  counts_ = true;
  for (model::QueueId id = 0; id < cluster.queue_slots(); ++id) {
    const model::Queue& queue = cluster.queue(id);
    const auto it = queues_.find(queue.name);
    if (it == queues_.end()) {
      cluster.SetUsed(id, {});
      continue;
    }
    Entry& entry = it->second;
    std::map<std::string, double> held = model::HeldNow(cluster, queue);
    if (!entry.use.has_value()) {
      entry.use = entry.written.value_or(model::Use{now, {}});
      entry.use->as_of = std::min(entry.use->as_of, now);
      entry.held = held;
    }
    entry.use = model::UseAt(*entry.use, entry.held, *half_life, now);
    if (held != entry.held) entry.changed = now;
    entry.held = std::move(held);
    cluster.SetUsed(id, model::UsedByDim(*entry.use, cluster.dims()));
  }
}

kube::Plan QueueUse::PlanFor(const std::string& name, const api::volcano::Queue& queue) const {
  kube::Plan plan;
  const auto it = queues_.find(name);
  if (!counts_ || it == queues_.end() || !it->second.use.has_value() || queue.metadata.deleting()) return plan;
  const Entry& entry = it->second;
  const bool counts = entry.written.has_value() && entry.written->as_of <= entry.use->as_of;
  const absl::Time written = counts ? entry.written->as_of : absl::InfinitePast();
  // The annotation says whole seconds.
  if (entry.changed == absl::InfinitePast() || entry.changed < written + absl::Seconds(1) ||
      entry.use->as_of < written + kWriteEvery)
    return plan;
  kube::Write write;
  write.verb = kube::Verb::kMergePatch;
  write.resource = &api::kQueues;
  write.name = name;
  write.uid = queue.metadata.uid;
  write.resource_version = queue.metadata.resource_version;
  api::JsonWriter json(write.body);
  json.BeginObject().Key("metadata").BeginObject().Key("annotations").BeginObject();
  json.Field(api::volcano::kUsageAnnotation, ingest::FormatUse(*entry.use));
  json.EndObject().EndObject().EndObject();
  plan.stages.push_back({std::move(write)});
  return plan;
}

}  // namespace gangway::scheduler
