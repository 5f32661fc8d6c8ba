// The same workload by a scheduler that does as Volcano's, without us and with each mode, in virtual time: prints the
// tables of docs/extender.md, of five days together.
#include <iostream>

#include "tests/plugin/extender/beside/beside.h"

int main() {
  using namespace gangway::beside;
  using gangway::extender::Mode;
  std::vector<Workload> days, urgent_days;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    Workload day = Draw(seed, 80, 2);
    day.jobs.insert(day.jobs.begin() + 10, {{"never", 6, 17'000, day.jobs[10].comes, 60, false}});
    days.push_back(std::move(day));
    urgent_days.push_back(Draw(seed, 80, 0, 8));
  }
  const auto told = [](const char* name, const std::vector<Workload>& of, std::optional<Mode> mode,
                       bool preempts = false) {
    Options options;
    options.mode = mode;
    options.preempts = preempts;
    Told out{name, {}};
    for (const Workload& day : of) out.outcomes.push_back(Run(day, options));
    return out;
  };
  std::cout << TableOf(days, {told("Volcano alone", days, std::nullopt), told("`light`", days, Mode::kLight),
                              told("`steer`", days, Mode::kSteer), told("`full`", days, Mode::kFull)})
            << "\n"
            << UrgentTableOf(urgent_days, {told("Volcano alone, without `preempt`", urgent_days, std::nullopt),
                                           told("Volcano alone", urgent_days, std::nullopt, true),
                                           told("`full`", urgent_days, Mode::kFull, true)});
}
