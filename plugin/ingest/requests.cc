#include "plugin/ingest/requests.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"

namespace gangway::ingest {

using api::Quantity;
using api::ResourceList;
using api::core::Container;
using api::core::ResourceRequirements;
using model::kMaxAmount;
using model::NamedAmounts;

namespace {

using Sum = std::map<std::string, std::int64_t>;

std::int64_t Amount(const std::string& name, const Quantity& quantity, std::int64_t most) {
  if (quantity.negative()) return 0;
  const absl::StatusOr<std::int64_t> amount = name == "cpu" ? quantity.Milli() : quantity.Units();
  return amount.ok() ? std::min(*amount, most) : most;
}

Sum Effective(const ResourceRequirements& resources) {
  Sum sum;
  for (const auto& [name, quantity] : resources.limits) sum[name] = Amount(name, quantity, kMaxAmount);
  for (const auto& [name, quantity] : resources.requests) sum[name] = Amount(name, quantity, kMaxAmount);
  return sum;
}

Sum Amounts(const ResourceList& list) {
  Sum sum;
  for (const auto& [name, quantity] : list) sum[name] = Amount(name, quantity, kMaxAmount);
  return sum;
}

void Add(Sum& sum, const Sum& other) {
  for (const auto& [name, amount] : other) sum[name] = std::min(sum[name] + amount, kMaxAmount);
}

void RaiseTo(Sum& sum, const Sum& other) {
  for (const auto& [name, amount] : other) sum[name] = std::max(sum[name], amount);
}

bool ResizeIsInfeasible(const api::core::PodStatus& status) {
  const auto pending = std::find_if(status.conditions.begin(), status.conditions.end(),
                                    [](const auto& condition) { return condition.type == "PodResizePending"; });
  return pending != status.conditions.end() && pending->reason == "Infeasible";
}

// `told`: a container's status, or a pod's; nullptr: there is none.
template <class T>
Sum Effective(const ResourceRequirements& resources, const T* told, bool infeasible) {
  Sum asked = Effective(resources);
  if (told == nullptr || !told->resources.has_value()) return asked;
  Sum sum = infeasible ? Sum() : std::move(asked);
  RaiseTo(sum, Amounts(told->resources->requests));
  RaiseTo(sum, Amounts(told->allocated_resources));
  return sum;
}

const api::core::ContainerStatus* StatusOf(const Container& container, const api::core::PodStatus& status) {
  for (const auto* const list : {&status.init_container_statuses, &status.container_statuses}) {
    const auto found =
        std::find_if(list->begin(), list->end(), [&](const auto& each) { return each.name == container.name; });
    if (found != list->end()) return &*found;
  }
  return nullptr;
}

bool PodLevel(const std::string& name) {
  return name == "cpu" || name == "memory" || absl::StartsWith(name, "hugepages-");
}

}  // namespace

NamedAmounts ToAmounts(const ResourceList& list, std::int64_t most) {
  NamedAmounts amounts;
  for (const auto& [name, quantity] : list) amounts.emplace_back(name, Amount(name, quantity, most));
  return amounts;
}

NamedAmounts QuotaAmounts(const ResourceList& list) {
  NamedAmounts amounts;
  for (const auto& [name, quantity] : list) {
    const bool cpu = name == "requests.cpu" || name == "limits.cpu";
    amounts.emplace_back(name, Amount(cpu ? "cpu" : name, quantity, kMaxAmount));
  }
  return amounts;
}

NamedAmounts MinResources(const ResourceList& list) {
  NamedAmounts amounts = ToAmounts(list);
  std::erase_if(amounts, [](const auto& entry) {
    return absl::StartsWith(entry.first, "count/") || absl::StartsWith(entry.first, "requests.") ||
           absl::StartsWith(entry.first, "limits.");
  });
  return amounts;
}

NamedAmounts PodRequests(const api::core::PodSpec& spec, const api::core::PodStatus& status) {
  const bool infeasible = ResizeIsInfeasible(status);
  Sum running, sidecars, starting;
  for (const Container& container : spec.containers)
    Add(running, Effective(container.resources, StatusOf(container, status), infeasible));
  for (const Container& container : spec.init_containers) {
    if (container.restart_policy == "Always") {
      const Sum at_once = Effective(container.resources, StatusOf(container, status), infeasible);
      Add(running, at_once);
      Add(sidecars, at_once);
      RaiseTo(starting, sidecars);
    } else {
      Sum at_once = Effective(container.resources);
      Add(at_once, sidecars);
      RaiseTo(starting, at_once);
    }
  }
  RaiseTo(running, starting);
  if (spec.resources.has_value()) {
    Sum now = Effective(*spec.resources, &status, infeasible);
    for (const auto& [name, amount] : Effective(*spec.resources)) {
      if (PodLevel(name)) running[name] = now[name];
    }
  }
  for (const auto& [name, quantity] : spec.overhead) {
    Add(running, {{name, Amount(name, quantity, kMaxAmount)}});
  }
  running["pods"] = 1;
  return {running.begin(), running.end()};
}

}  // namespace gangway::ingest
