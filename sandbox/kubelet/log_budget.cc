#include "sandbox/kubelet/log_budget.h"

#include <algorithm>
#include <tuple>

namespace gangway::sandbox {

void KeepWithin(std::vector<KeptLog> logs, std::size_t max_bytes, std::size_t least) {
  std::size_t all = 0;
  for (const KeptLog& each : logs) all += each.log->bytes();
  if (all <= max_bytes) return;
  std::stable_sort(logs.begin(), logs.end(), [](const KeptLog& a, const KeptLog& b) {
    const std::size_t a_bytes = a.log->bytes(), b_bytes = b.log->bytes();
    return std::tie(a.latest, a.ended, b_bytes) < std::tie(b.latest, b.ended, a_bytes);
  });
  for (const KeptLog& each : logs) {
    const std::size_t bytes = each.log->bytes();
    if (all <= max_bytes) return;
    if (bytes <= least) continue;
    each.log->KeepLast(bytes - std::min(bytes - least, all - max_bytes));
    all -= bytes - each.log->bytes();
  }
}

}  // namespace gangway::sandbox
