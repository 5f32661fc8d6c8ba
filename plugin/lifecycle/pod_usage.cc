#include "plugin/lifecycle/pod_usage.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace gangway::lifecycle {
namespace {

using api::Quantity;
using api::ResourceList;
using ListOf = ResourceList api::core::ResourceRequirements::*;

absl::Status RaiseTo(const ResourceList& other, ResourceList& into) {
  for (const auto& [name, quantity] : other) {
    auto [it, fresh] = into.try_emplace(name, quantity);
    if (!fresh && it->second < quantity) it->second = quantity;
  }
  return absl::OkStatus();
}

bool PodLevel(const std::string& name) {
  return name == "cpu" || name == "memory" || absl::StartsWith(name, "hugepages-");
}

absl::StatusOr<ResourceList> Aggregate(const api::core::PodSpec& spec, ListOf list) {
  ResourceList sum, sidecars, init;
  for (const api::core::Container& container : spec.containers)
    GW_RETURN_IF_ERROR(AddTimes(container.resources.*list, 1, sum));
  for (const api::core::Container& container : spec.init_containers) {
    if (container.restart_policy == "Always") {
      GW_RETURN_IF_ERROR(AddTimes(container.resources.*list, 1, sum));
      GW_RETURN_IF_ERROR(AddTimes(container.resources.*list, 1, sidecars));
      GW_RETURN_IF_ERROR(RaiseTo(sidecars, init));
    } else {
      ResourceList one = container.resources.*list;
      GW_RETURN_IF_ERROR(AddTimes(sidecars, 1, one));
      GW_RETURN_IF_ERROR(RaiseTo(one, init));
    }
  }
  GW_RETURN_IF_ERROR(RaiseTo(init, sum));
  if (spec.resources) {
    for (const auto& [name, quantity] : (*spec.resources).*list) {
      if (PodLevel(name)) sum[name] = quantity;
    }
  }
  return sum;
}

}  // namespace

absl::Status AddTimes(const ResourceList& one, std::int64_t factor, ResourceList& into) {
  for (const auto& [name, quantity] : one) {
    GW_ASSIGN_OR_RETURN(const Quantity product, quantity.Times(factor));
    auto [it, fresh] = into.try_emplace(name, product);
    if (!fresh) {
      GW_ASSIGN_OR_RETURN(it->second, it->second.Plus(product));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ResourceList> PodRequests(const api::core::PodSpec& spec) {
  GW_ASSIGN_OR_RETURN(ResourceList requests, Aggregate(spec, &api::core::ResourceRequirements::requests));
  GW_RETURN_IF_ERROR(AddTimes(spec.overhead, 1, requests));
  return requests;
}

absl::StatusOr<ResourceList> PodLimits(const api::core::PodSpec& spec) {
  GW_ASSIGN_OR_RETURN(ResourceList limits, Aggregate(spec, &api::core::ResourceRequirements::limits));
  // Overhead raises a limit, it does not make one.
  for (const auto& [name, quantity] : spec.overhead) {
    auto it = limits.find(name);
    if (it == limits.end()) continue;
    GW_ASSIGN_OR_RETURN(it->second, it->second.Plus(quantity));
  }
  return limits;
}

absl::StatusOr<ResourceList> QuotaUsage(const api::core::PodSpec& spec) {
  GW_ASSIGN_OR_RETURN(const ResourceList requests, PodRequests(spec));
  GW_ASSIGN_OR_RETURN(const ResourceList limits, PodLimits(spec));
  ResourceList usage;
  usage["pods"] = Quantity::FromUnits(1);
  usage["count/pods"] = Quantity::FromUnits(1);
  for (const auto& [name, quantity] : requests) {
    usage[name] = quantity;
    usage[absl::StrCat("requests.", name)] = quantity;
  }
  for (const char* name : {"cpu", "memory", "ephemeral-storage"}) {
    if (auto it = limits.find(name); it != limits.end()) usage[absl::StrCat("limits.", name)] = it->second;
  }
  return usage;
}

}  // namespace gangway::lifecycle
