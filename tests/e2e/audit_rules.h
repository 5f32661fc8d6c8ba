// What the checkers are to know of the audit log of a real API server: who writes by which name, and that kubelets and
// kubectl go on while the machine is busy and processes are killed.
#pragma once

#include "absl/time/time.h"
#include "tests/simulation/checkers.h"

namespace gangway::testutil {

inline Checker::Rules RulesOfAuditLog() {
  Checker::Rules rules;
  rules.scheduler = "gangway-scheduler";
  rules.controllers = rules.paddle_controllers = "gangway-controller";
  rules.quiet = absl::ZeroDuration();
  rules.release_takes = absl::Seconds(90);
  rules.command_takes = absl::Minutes(1);
  rules.gain_takes = absl::Seconds(40);
  rules.begin_takes = absl::InfiniteDuration();  // nobody tells the log when pods will end
  return rules;
}

}  // namespace gangway::testutil
