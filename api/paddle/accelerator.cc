#include "api/paddle/accelerator.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "absl/strings/match.h"
#include "api/quantity.h"
#include "boost/json.hpp"

namespace gangway::api::paddle {

bool IsAccelerator(absl::string_view resource) {
  const std::size_t slash = resource.find('/');
  if (slash == absl::string_view::npos) return false;
  std::string name(resource.substr(slash + 1));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* const word : {"gpu", "npu", "xpu", "mlu", "dcu", "gcu", "ascend", "mig-"}) {
    if (absl::StrContains(name, word)) return true;
  }
  return false;
}

std::int64_t Accelerators(const boost::json::object& container) {
  std::int64_t most = 0;
  const boost::json::value* const resources = container.if_contains("resources");
  if (resources == nullptr || !resources->is_object()) return 0;
  for (const char* const list : {"requests", "limits"}) {
    const boost::json::value* const amounts = resources->as_object().if_contains(list);
    if (amounts == nullptr || !amounts->is_object()) continue;
    for (const auto& [name, amount] : amounts->as_object()) {
      if (!IsAccelerator({name.data(), name.size()})) continue;
      const auto quantity =
          Quantity::Parse(amount.is_string() ? std::string(amount.as_string()) : boost::json::serialize(amount));
      most = std::max(most, quantity.ok() ? quantity->Units().value_or(0) : 0);
    }
  }
  return most;
}

}  // namespace gangway::api::paddle
