// What became of a day, as tables in Markdown and a picture.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/day/day.h"

namespace gangway::day {

struct Told {
  std::string name;  // of the scheduler
  Outcome outcome;
};

// A row for each: makespan, use, shares, evicted work, what never ran.
std::string TableOf(const std::vector<Told>& told);
// A row for each: of each size of gang how long its jobs waited: median, 99th percentile, longest.
std::string WaitsOf(const Workload& workload, const std::vector<Told>& told);
// The same of each queue, with its weight as a part of all and the GPU time that its jobs ask for.
std::string WaitsByQueue(const Workload& workload, const std::vector<Told>& told);

// Lines over the hours of the day as an SVG of its own: `value` of each sample, 0 to `most`.
std::string Picture(const std::string& title, const std::string& unit, double most, Seconds until,
                    const std::vector<std::pair<std::string, std::vector<std::pair<Seconds, double>>>>& lines);

}  // namespace gangway::day
