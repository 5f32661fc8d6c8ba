// The same workload by a scheduler that does as Volcano's, without us and with each mode, in virtual time: prints the
// table of docs/extender.md.
#include <iostream>

#include "tests/plugin/extender/beside/beside.h"

int main() {
  using namespace gangway::beside;
  using gangway::extender::Mode;
  Workload workload = Draw(3, 80, 2);
  workload.jobs.insert(workload.jobs.begin() + 10, {{"never", 6, 17'000, workload.jobs[10].comes, 60, false}});
  const auto told = [](const char* name, const Workload& of, std::optional<Mode> mode, bool preempts = false) {
    Options options;
    options.mode = mode;
    options.preempts = preempts;
    return Told{name, Run(of, options)};
  };
  std::cout << TableOf(workload, {told("Volcano alone", workload, std::nullopt), told("light", workload, Mode::kLight),
                                  told("steer", workload, Mode::kSteer), told("full", workload, Mode::kFull)});
  const Workload urgent = Draw(3, 80, 0, 8);
  std::cout << "\n"
            << UrgentTableOf(urgent, {told("Volcano alone, without preempt", urgent, std::nullopt),
                                      told("Volcano alone", urgent, std::nullopt, true),
                                      told("full", urgent, Mode::kFull, true)});
}
