#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
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

double Sum(const std::vector<Outcome>& outcomes, double (*of)(const Outcome&)) {
  return std::accumulate(outcomes.begin(), outcomes.end(), 0.0,
                         [of](double sum, const Outcome& one) { return sum + of(one); });
}
double PlacedGangs(const Outcome& o) { return static_cast<double>(o.placed.size()); }
double Makespan(const Outcome& o) { return o.makespan; }
double InVain(const Outcome& o) { return static_cast<double>(o.let_in_vain.size()); }
double Evicted(const Outcome& o) { return o.evicted; }
double BegunAnew(const Outcome& o) { return o.begun_anew; }
double Lost(const Outcome& o) { return o.lost; }
double Fragments(const Outcome& o) { return o.fragments; }
double Undone(const Outcome& o) { return o.undone; }
double Calls(const Outcome& o) { return static_cast<double>(o.all_calls()); }
double Megabytes(const Outcome& o) { return static_cast<double>(o.bytes) / 1e6; }
double Plans(const Outcome& o) { return static_cast<double>(o.plans); }

std::size_t Jobs(const std::vector<Workload>& days) {
  return std::accumulate(days.begin(), days.end(), std::size_t{0},
                         [](std::size_t sum, const Workload& day) { return sum + day.jobs.size(); });
}

// Of each job that was placed.
template <class F>
void ForEachPlaced(const std::vector<Workload>& days, const std::vector<Outcome>& outcomes, F call) {
  for (std::size_t day = 0; day < days.size(); ++day) {
    for (const Job& job : days[day].jobs) {
      const auto placed = outcomes[day].placed.find(job.name);
      if (placed != outcomes[day].placed.end()) call(job, placed->second);
    }
  }
}

// Nothing at all is 0, and not 0.0.
std::string Decimals(int places, double number) { return number == 0 ? "0" : absl::StrFormat("%.*f", places, number); }

// What asking costs, at the end of each row.
std::string AskedFor(const std::vector<Outcome>& outcomes) {
  const double gangs = std::max(1.0, Sum(outcomes, PlacedGangs));
  return absl::StrCat(Decimals(1, Sum(outcomes, Calls) / gangs), " | ", Decimals(1, Sum(outcomes, Megabytes)), " | ",
                      Decimals(1, Sum(outcomes, Plans) / gangs), " |\n");
}

}  // namespace

std::string TableOf(const std::vector<Workload>& days, const std::vector<Told>& told) {
  std::string out =
      "| | placed | let in for nothing | makespan | median wait | longest wait of 12 pods | free cpu in fragments | "
      "placements taken back, for each that stayed | in one rack, of those that must | calls a gang | MB | plans made, "
      "a gang |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Told& one : told) {
    std::vector<Seconds> waits;
    Seconds large = 0;
    int close = 0, in_one = 0;
    ForEachPlaced(days, one.outcomes, [&](const Job& job, const Placed& placed) {
      waits.push_back(placed.waited);
      if (job.pods >= 12) large = std::max(large, placed.waited);
      close += job.close ? 1 : 0;
      in_one += job.close && placed.racks == 1 ? 1 : 0;
    });
    const auto count = static_cast<double>(days.size());
    absl::StrAppend(
        &out,
        absl::StrFormat("| %s | %.0f of %d | %.0f | %.0f s | %.0f s | %.0f s | %.0f %% | %s | %d of %d | ", one.name,
                        Sum(one.outcomes, PlacedGangs), Jobs(days), Sum(one.outcomes, InVain),
                        Sum(one.outcomes, Makespan), Median(waits), large, 100 * Sum(one.outcomes, Fragments) / count,
                        Decimals(2, Sum(one.outcomes, Undone) / count), in_one, close),
        AskedFor(one.outcomes));
  }
  return out;
}

std::string UrgentTableOf(const std::vector<Workload>& days, const std::vector<Told>& told) {
  std::string out =
      "| | placed | median wait of urgent gangs | longest | pods evicted | gangs that begin anew | pod hours lost | "
      "makespan | calls a gang | MB | plans made, a gang |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Told& one : told) {
    std::vector<Seconds> waits;
    ForEachPlaced(days, one.outcomes, [&](const Job& job, const Placed& placed) {
      if (job.priority > 0) waits.push_back(placed.waited);
    });
    const Seconds longest = waits.empty() ? 0 : *std::max_element(waits.begin(), waits.end());
    absl::StrAppend(&out,
                    absl::StrFormat("| %s | %.0f of %d | %.0f s | %.0f s | %.0f | %.0f | %s | %.0f s | ", one.name,
                                    Sum(one.outcomes, PlacedGangs), Jobs(days), Median(waits), longest,
                                    Sum(one.outcomes, Evicted), Sum(one.outcomes, BegunAnew),
                                    Decimals(1, Sum(one.outcomes, Lost) / 3600), Sum(one.outcomes, Makespan)),
                    AskedFor(one.outcomes));
  }
  return out;
}

Documented RunDocumented() {
  using extender::Mode;
  Documented out;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    Workload day = Draw(seed, 80, 2);
    day.jobs.insert(day.jobs.begin() + 10, {{"never", 6, 17'000, day.jobs[10].comes, 60, false}});
    out.days.push_back(std::move(day));
    out.urgent_days.push_back(Draw(seed, 80, 0, 8));
  }
  const auto told = [](const char* name, const std::vector<Workload>& of, std::optional<Mode> mode,
                       bool preempts = false) {
    Options options;
    options.mode = mode;
    options.preempts = preempts;
    Told row{name, {}};
    for (const Workload& day : of) row.outcomes.push_back(Run(day, options));
    return row;
  };
  out.told = {told("Volcano alone", out.days, std::nullopt), told("`light`", out.days, Mode::kLight),
              told("`steer`", out.days, Mode::kSteer), told("`full`", out.days, Mode::kFull)};
  out.urgent_told = {told("Volcano alone, without `preempt`", out.urgent_days, std::nullopt),
                     told("Volcano alone", out.urgent_days, std::nullopt, true),
                     told("`full`", out.urgent_days, Mode::kFull, true)};
  return out;
}

}  // namespace gangway::beside
