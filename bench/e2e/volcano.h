// The real Volcano on a control plane like that of Gangway, to measure both in one run.
#pragma once

#include <memory>
#include <string>

#include "tests/e2e/control_plane.h"
#include "tests/process/process.h"

namespace gangway::bench {

// What scripts/e2e-tools --volcano built: the folder that GW_BENCH_VOLCANO names, "" where it is not set.
std::string VolcanoFolder();
// Its own types, which every control plane of a run beside it has; "" where there is no Volcano.
std::string VolcanoTypes();

// Its scheduler and its controllers at work on so many nodes, whose pods nobody runs. Configured as by its chart, but
// in its favour: an admin's rights, no webhooks, and clients with 2,000 requests a second (its controllers' own limit
// is 50). Ends the program when it cannot be had.
class InstalledVolcano {
 public:
  explicit InstalledVolcano(int nodes, bool audit = false);

  testutil::ControlPlane& plane() { return *plane_; }

 private:
  std::unique_ptr<testutil::ControlPlane> plane_;
  std::unique_ptr<testutil::ChildProcess> controllers_, scheduler_;
};

}  // namespace gangway::bench
