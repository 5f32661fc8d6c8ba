#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/plugin/extender/beside/beside.h"

namespace gangway::beside {
namespace {

Seconds Median(std::vector<Seconds> all) {
  if (all.empty()) return 0;
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

}  // namespace

std::string TableOf(const Workload& workload, const std::vector<Told>& told) {
  std::string out =
      "| | placed | let in for nothing | makespan | median wait | longest wait of 12 pods | free cpu in fragments | "
      "taken "
      "back, for each placement | in one rack, of those that must | calls a gang | MB | planned, a gang |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Told& one : told) {
    const Outcome& o = one.outcome;
    std::vector<Seconds> waits;
    Seconds large = 0;
    int close = 0, in_one = 0;
    for (const Job& job : workload.jobs) {
      const auto placed = o.placed.find(job.name);
      if (placed == o.placed.end()) continue;
      waits.push_back(placed->second.waited);
      if (job.pods >= 12) large = std::max(large, placed->second.waited);
      close += job.close ? 1 : 0;
      in_one += job.close && placed->second.racks == 1 ? 1 : 0;
    }
    const double gangs = static_cast<double>(std::max<std::size_t>(o.placed.size(), 1));
    absl::StrAppend(
        &out,
        absl::StrFormat(
            "| %s | %d of %d | %d | %.0f s | %.0f s | %.0f s | %.0f %% | %.2f | %d of %d | %.1f | %.1f | %.1f |\n",
            one.name, o.placed.size(), workload.jobs.size(), o.let_in_vain.size(), o.makespan, Median(waits), large,
            100 * o.fragments, o.undone, in_one, close, static_cast<double>(o.all_calls()) / gangs,
            static_cast<double>(o.bytes) / 1e6, static_cast<double>(o.plans) / gangs));
  }
  return out;
}

std::string UrgentTableOf(const Workload& workload, const std::vector<Told>& told) {
  std::string out =
      "| | placed | median wait of urgent gangs | longest | pods evicted | gangs that begin anew | pod hours lost | "
      "makespan | calls a gang | MB | planned, a gang |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Told& one : told) {
    const Outcome& o = one.outcome;
    std::vector<Seconds> waits;
    for (const Job& job : workload.jobs) {
      if (const auto placed = o.placed.find(job.name); job.priority > 0 && placed != o.placed.end())
        waits.push_back(placed->second.waited);
    }
    const double gangs = static_cast<double>(std::max<std::size_t>(o.placed.size(), 1));
    const Seconds longest = waits.empty() ? 0 : *std::max_element(waits.begin(), waits.end());
    absl::StrAppend(
        &out, absl::StrFormat("| %s | %d of %d | %.0f s | %.0f s | %d | %d | %.1f | %.0f s | %.1f | %.1f | %.1f |\n",
                              one.name, o.placed.size(), workload.jobs.size(), Median(waits), longest, o.evicted,
                              o.begun_anew, o.lost / 3600, o.makespan, static_cast<double>(o.all_calls()) / gangs,
                              static_cast<double>(o.bytes) / 1e6, static_cast<double>(o.plans) / gangs));
  }
  return out;
}

}  // namespace gangway::beside
