// examples/ctr-volcano.yaml, many times.
#pragma once

#include <string>

namespace gangway::bench {

// As JSON.
std::string SeedJob();
// `job` by the name ctr-<number>.
std::string Renamed(std::string job, int number);

}  // namespace gangway::bench
