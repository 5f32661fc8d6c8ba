#include "plugin/scheduler/queue_use.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "api/field_table.h"
#include "api/json.h"
#include "base/strings.h"

namespace gangway::scheduler {
namespace {

constexpr double kNothing = 0.0005;
constexpr absl::Duration kWriteEvery = absl::Minutes(1);

// Of the cluster's units those that Kubernetes counts in.
double UnitOf(model::Dim dim) { return dim == model::kCpu ? 1000 : 1; }

std::map<std::string, double> HeldBy(const model::Cluster& cluster, const model::Queue& queue) {
  std::map<std::string, double> held;
  for (model::Dim dim = 0; dim < queue.held.size(); ++dim) {
    if (dim == model::kPods || queue.held[dim] <= 0) continue;
    held[std::string(cluster.dims().Name(dim))] = static_cast<double>(queue.held[dim]) / UnitOf(dim);
  }
  return held;
}

}  // namespace

Use UseAt(const Use& use, const std::map<std::string, double>& held, absl::Duration half_life, absl::Time now) {
  Use then{std::max(use.as_of, now), {}};
  const double kept = std::exp2(-absl::FDivDuration(then.as_of - use.as_of, half_life));
  for (const auto& [name, amount] : use.held) then.held[name] = kept * amount;
  for (const auto& [name, amount] : held) then.held[name] += (1 - kept) * amount;
  return then;
}

std::string FormatUse(const Use& use) {
  std::string text = api::FormatTime(use.as_of);
  for (const auto& [name, amount] : use.held) {
    if (amount >= kNothing)
      absl::StrAppend(&text, " ", name, "=", absl::StrFormat("%.15g", std::round(amount * 1000) / 1000));
  }
  return text;
}

std::optional<Use> ParseUse(absl::string_view text) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  if (words.empty()) return std::nullopt;
  const absl::StatusOr<absl::Time> as_of = api::ParseTime(words.front());
  if (!as_of.ok()) return std::nullopt;
  Use use{*as_of, {}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::vector<std::string> parts = absl::StrSplit(words[i], '=');
    double amount = 0;
    if (parts.size() != 2 || parts[0].empty() || !absl::SimpleAtod(parts[1], &amount) || !std::isfinite(amount) ||
        amount < 0)
      return std::nullopt;
    use.held[parts[0]] = amount;
  }
  return use;
}

void QueueUse::Seen(const std::string& name, const api::volcano::Queue* queue) {
  if (queue == nullptr) {
    queues_.erase(name);
    return;
  }
  Entry& entry = queues_[name];
  const auto said = queue->metadata.annotations.find(std::string(kUsageAnnotation));
  entry.written = said == queue->metadata.annotations.end() ? std::nullopt : ParseUse(said->second);
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
    std::map<std::string, double> held = HeldBy(cluster, queue);
    if (!entry.use.has_value()) {
      entry.use = entry.written.value_or(Use{now, {}});
      entry.use->as_of = std::min(entry.use->as_of, now);
      entry.held = held;
    }
    entry.use = UseAt(*entry.use, entry.held, *half_life, now);
    if (held != entry.held) entry.changed = now;
    entry.held = std::move(held);
    std::vector<double> used(static_cast<std::size_t>(cluster.dims().count()));
    for (model::Dim dim = 0; dim < cluster.dims().count(); ++dim) {
      const auto of_dim = entry.use->held.find(std::string(cluster.dims().Name(dim)));
      if (of_dim != entry.use->held.end()) used[static_cast<std::size_t>(dim)] = of_dim->second * UnitOf(dim);
    }
    cluster.SetUsed(id, std::move(used));
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
  json.Field(kUsageAnnotation, FormatUse(*entry.use));
  json.EndObject().EndObject().EndObject();
  plan.stages.push_back({std::move(write)});
  return plan;
}

}  // namespace gangway::scheduler
