#include <map>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/core/pod_checks.h"
#include "api/name.h"

namespace gangway::api::core {
namespace {

using Amounts = std::map<std::string, Quantity, std::less<>>;

bool IsHugePages(absl::string_view name) { return absl::StartsWith(name, "hugepages-"); }
bool IsStandard(absl::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || IsHugePages(name);
}
bool IsExtended(absl::string_view name) {
  return absl::StrContains(name, "/") && !absl::StartsWith(name, "kubernetes.io/") &&
         !absl::StartsWith(name, "requests.");
}

void CheckName(const Place& amount, absl::string_view name, bool pod_level) {
  if (Complaints complaints = CheckQualifiedName(name); !complaints.empty()) {
    amount.Invalid(absl::StrCat("the resource's name is not valid: ", complaints.front()));
  } else if (pod_level && name != "cpu" && name != "memory" && !IsHugePages(name)) {
    amount.Add(FieldError::Type::kNotSupported, "for a whole pod only cpu, memory and hugepages-<size> can be given");
  } else if (!IsStandard(name) && !absl::StrContains(name, "/")) {
    amount.Invalid("the resource is none of Kubernetes' own (cpu, memory, ephemeral-storage, hugepages-<size>)",
                   "write others with their domain, such as nvidia.com/gpu");
  }
}

Amounts CheckList(const Place& list, bool pod_level) {
  Amounts amounts;
  if (!list.present()) return amounts;
  list.ForEachMember([&](const Place& amount, absl::string_view name) {
    CheckName(amount, name, pod_level);
    const std::optional<Quantity> quantity = amount.Amount();
    if (!quantity.has_value()) return;
    if (quantity->negative()) return amount.Invalid("must not be negative");
    if ((IsExtended(name) || IsHugePages(name)) && *quantity != Quantity::FromUnits(quantity->Units().value_or(0))) {
      return amount.Invalid("must be a whole number");
    }
    amounts.emplace(name, *quantity);
  });
  return amounts;
}

}  // namespace

void CheckResources(const Place& resources, bool pod_level) {
  if (!resources.IsObject()) return;
  const Amounts limits = CheckList(resources["limits"], pod_level);
  const Place requests_at = resources["requests"];
  const Amounts requests = CheckList(requests_at, pod_level);
  for (const auto& [name, request] : requests) {
    const auto limit = limits.find(name);
    const Place at = requests_at[name];
    if (limit != limits.end() && request > limit->second) {
      at.Invalid(absl::StrCat("must be less than or equal to ", name, " limit of ", limit->second.ToString()),
                 absl::StrCat("raise the limit or lower the request"));
    } else if (IsExtended(name) && limit != limits.end() && request != limit->second) {
      at.Invalid(absl::StrCat("must be equal to ", name, " limit of ", limit->second.ToString()));
    } else if ((IsExtended(name) || IsHugePages(name)) && limit == limits.end()) {
      at.Add(FieldError::Type::kRequired,
             absl::StrCat("limit must be set for ", name, ", which cannot be overcommitted"));
    }
  }
}

}  // namespace gangway::api::core
