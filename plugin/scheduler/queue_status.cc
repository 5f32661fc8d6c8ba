#include "plugin/scheduler/queue_status.h"

#include "absl/strings/match.h"
#include "api/json.h"
#include "plugin/gang/queue_tree.h"

namespace gangway::scheduler {

api::ResourceList AllocatedList(const model::Resources& held, const model::Dims& dims) {
  using api::Quantity;
  api::ResourceList list;
  list["cpu"] = Quantity::FromMilli(held[model::kCpu]);
  list["memory"] = Quantity::FromUnits(held[model::kMemory], Quantity::Format::kBinarySI);
  for (model::Dim dim = 0; dim < held.size(); ++dim) {
    if (dim == model::kCpu || dim == model::kMemory || held[dim] <= 0) continue;
    const absl::string_view name = dims.Name(dim);
    const bool bytes = dim == model::kEphemeralStorage || absl::StartsWith(name, "hugepages-");
    list[std::string(name)] =
        Quantity::FromUnits(held[dim], bytes ? Quantity::Format::kBinarySI : Quantity::Format::kDecimalSI);
  }
  return list;
}

std::map<std::string, api::ResourceList> AllocatedByQueue(const model::Cluster& cluster) {
  const gang::QueueTree tree(cluster);
  std::map<std::string, api::ResourceList> lists;
  for (model::QueueId id = 0; id < cluster.queue_slots(); ++id) {
    if (!tree.held(id).zero()) lists[cluster.queue(id).name] = AllocatedList(tree.held(id), cluster.dims());
  }
  return lists;
}

std::string AllocatedPatch(const api::ResourceList& is, const api::ResourceList& wanted) {
  if (is == wanted) return "";
  std::string body;
  api::JsonWriter json(body);
  json.BeginObject().Key("status").BeginObject().Key("allocated").BeginObject();
  for (const auto& [name, amount] : wanted) json.Field(name, amount.ToString());
  for (const auto& [name, amount] : is) {
    if (!wanted.contains(name)) json.Key(name).Null();
  }
  json.EndObject().EndObject().EndObject();
  return body;
}

}  // namespace gangway::scheduler
