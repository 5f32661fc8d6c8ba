#include "cmd/dashboard/view/view.h"

#include <algorithm>

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

void AddAmounts(const model::NamedAmounts& amounts, std::int64_t times, model::NamedAmounts& into) {
  for (const auto& [name, amount] : amounts) {
    const auto there = std::find_if(into.begin(), into.end(), [&](const auto& known) { return known.first == name; });
    if (there == into.end()) {
      into.emplace_back(name, amount * times);
    } else {
      there->second += amount * times;
    }
  }
}

}  // namespace gangway::dashboard
