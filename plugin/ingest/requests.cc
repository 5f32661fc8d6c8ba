#include "plugin/ingest/requests.h"

#include <algorithm>
#include <map>

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

void Add(Sum& sum, const Sum& other) {
  for (const auto& [name, amount] : other) sum[name] = std::min(sum[name] + amount, kMaxAmount);
}

void RaiseTo(Sum& sum, const Sum& other) {
  for (const auto& [name, amount] : other) sum[name] = std::max(sum[name], amount);
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

NamedAmounts MinResources(const ResourceList& list) {
  NamedAmounts amounts = ToAmounts(list);
  std::erase_if(amounts, [](const auto& entry) {
    return absl::StartsWith(entry.first, "count/") || absl::StartsWith(entry.first, "requests.") ||
           absl::StartsWith(entry.first, "limits.");
  });
  return amounts;
}

NamedAmounts PodRequests(const api::core::PodSpec& spec) {
  Sum running, sidecars, starting;
  for (const Container& container : spec.containers) Add(running, Effective(container.resources));
  for (const Container& container : spec.init_containers) {
    Sum at_once = Effective(container.resources);
    if (container.restart_policy == "Always") {
      Add(running, at_once);
      Add(sidecars, at_once);
      RaiseTo(starting, sidecars);
    } else {
      Add(at_once, sidecars);
      RaiseTo(starting, at_once);
    }
  }
  RaiseTo(running, starting);
  if (spec.resources.has_value()) {
    for (const auto& [name, amount] : Effective(*spec.resources)) {
      if (PodLevel(name)) running[name] = amount;
    }
  }
  for (const auto& [name, quantity] : spec.overhead) {
    Add(running, {{name, Amount(name, quantity, kMaxAmount)}});
  }
  running["pods"] = 1;
  return {running.begin(), running.end()};
}

}  // namespace gangway::ingest
