#include "plugin/scheduler/queue_deserved.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json.h"
#include "api/resource.h"
#include "api/volcano/queue_notes.h"
#include "kube/plan/writes.h"
#include "plugin/gang/queue_tree.h"
#include "plugin/gang/shares.h"
#include "plugin/scheduler/queue_status.h"

namespace gangway::scheduler {
namespace {

constexpr absl::Duration kTellEvery = absl::Minutes(1);

std::string SaidOf(const api::volcano::Queue& queue) {
  const auto said = queue.metadata.annotations.find(std::string(api::volcano::kDeservedAnnotation));
  return said == queue.metadata.annotations.end() ? "" : said->second;
}

}  // namespace

void QueueDeserved::Reckon(const model::Cluster& cluster, gang::Sharing sharing) {
  wanted_.clear();
  const gang::QueueTree tree(cluster);
  const gang::Shares shares(cluster, tree, sharing);
  for (model::QueueId id = 0; id < cluster.queue_slots(); ++id) {
    const model::Queue& queue = cluster.queue(id);
    if (!queue.known || tree.IsAboveAll(id)) continue;
    model::Resources deserved;
    std::vector<model::Dim> said;
    for (model::Dim dim = 0; dim < cluster.dims().count(); ++dim) {
      const std::int64_t amount = shares.Deserved(id, dim);
      if (dim == model::kPods || std::max(shares.Held(id, dim), shares.Asked(id, dim)) <= amount) continue;
      deserved.Set(dim, amount);
      said.push_back(dim);
    }
    if (said.empty()) continue;
    const api::ResourceList amounts = AllocatedList(deserved, cluster.dims());
    std::vector<std::string> words;
    for (const model::Dim dim : said) {
      const std::string name(cluster.dims().Name(dim));
      const auto amount = amounts.find(name);
      words.push_back(absl::StrCat(name, "=", amount == amounts.end() ? "0" : amount->second.ToString()));
    }
    std::sort(words.begin(), words.end());
    wanted_[queue.name] = absl::StrJoin(words, " ");
  }
}

void QueueDeserved::Forget() { planned_.clear(); }

std::string QueueDeserved::Wanted(const std::string& name) const {
  const auto wanted = wanted_.find(name);
  return wanted == wanted_.end() ? "" : wanted->second;
}

bool QueueDeserved::Lags(const api::volcano::Queue& queue) const {
  return SaidOf(queue) != Wanted(queue.metadata.name);
}

kube::Plan QueueDeserved::PlanFor(const api::volcano::Queue& queue, absl::Time now) {
  kube::Plan plan;
  if (queue.metadata.deleting() || !Lags(queue)) return plan;
  absl::Time& planned = planned_.emplace(queue.metadata.name, absl::InfinitePast()).first->second;
  if (now < planned + kTellEvery) {
    plan.look_again = planned + kTellEvery;
    return plan;
  }
  planned = now;
  std::string body;
  const std::string wanted = Wanted(queue.metadata.name);
  api::JsonWriter json(body);
  json.BeginObject()
      .Key("metadata")
      .BeginObject()
      .Key("annotations")
      .BeginObject()
      .Key(api::volcano::kDeservedAnnotation);
  if (wanted.empty()) {
    json.Null();
  } else {
    json.String(wanted);
  }
  json.EndObject().EndObject().EndObject();
  plan.stages.push_back({kube::ChangeOf(api::kQueues, queue.metadata, std::move(body))});
  return plan;
}

}  // namespace gangway::scheduler
