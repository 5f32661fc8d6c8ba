// The same workload by a scheduler that does as Volcano's, without us and with each mode, in virtual time: prints the
// table of docs/extender.md.
#include <iostream>

#include "tests/plugin/extender/beside/beside.h"

int main() {
  using namespace gangway::beside;
  using gangway::extender::Mode;
  Workload workload = Draw(3, 80, 2);
  workload.jobs.insert(workload.jobs.begin() + 10, {{"never", 6, 17'000, workload.jobs[10].comes, 60, false}});
  const auto told = [&](const char* name, std::optional<Mode> mode) {
    Options options;
    options.mode = mode;
    return Told{name, Run(workload, options)};
  };
  std::cout << TableOf(workload,
                       {told("Volcano alone", std::nullopt), told("light", Mode::kLight), told("steer", Mode::kSteer)});
}
