#include "cmd/dashboard/view/view.h"

#include <algorithm>
#include <limits>

#include "cmd/dashboard/view/rows.h"

namespace gangway::dashboard {

View MakeView(const Seen& seen) {
  View view;
  view.gangs = GangRows(seen);
  view.queues = QueueRows(seen, view.gangs);
  view.nodes = NodeRows(seen);
  view.jobs = JobRows(seen);
  view.paddle_jobs = PaddleRows(seen);
  view.not_seen = seen.not_seen;
  return view;
}

std::int64_t AmountOf(const model::NamedAmounts& amounts, absl::string_view resource) {
  for (const auto& [name, amount] : amounts) {
    if (name == resource) return amount;
  }
  return 0;
}

std::int64_t Sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

void AddAmounts(const model::NamedAmounts& amounts, model::NamedAmounts& into) {
  for (const auto& [name, amount] : amounts) {
    const auto there = std::find_if(into.begin(), into.end(), [&](const auto& known) { return known.first == name; });
    std::int64_t& sum = there == into.end() ? into.emplace_back(name, 0).second : there->second;
    sum = Sum(sum, amount);
  }
}

}  // namespace gangway::dashboard
