// A day in the life of a cluster (tests/day) under Gangway and others: the same jobs to all. Prints the tables of
// docs/day.md and writes its pictures into the folder named first. After it
// `small`: an eighth of the cluster, for a look; and the name of one scheduler: only that one, also of those that have
// no row of their own.
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "tests/day/gangway_day.h"
#include "tests/day/peers.h"
#include "tests/day/table.h"

namespace gangway::day {
namespace {

struct Entry {
  std::string name;
  std::function<std::unique_ptr<Scheduler>()> make;
  bool only_named = false;
};

absl::Duration Cpu() {
  std::timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return absl::DurationFromTimespec(now);
}

std::vector<Entry> EntriesOf(const Workload& work) {
  GangwayOptions options;
  options.clock = Cpu;
  // Rounds that may evict cost the most; that a gang waits a quarter of a minute longer does not show here.
  options.evictions_apart = absl::Seconds(15);
  GangwayOptions lenient = options;
  lenient.min_runtime = absl::Minutes(30);
  GangwayOptions patient = options;
  patient.policy.reclaim_after = absl::Minutes(20);
  GangwayOptions calm = options;
  calm.policy.preempt = calm.policy.reclaim = false;
  GangwayOptions keeps_none = calm, lets_all_in = calm;
  keeps_none.policy.keeps_for = absl::ZeroDuration();
  lets_all_in.policy.overcommit_percent.reset();
  return {
      {"first come, first served", [&work] { return FirstComeFirstServed(work, false); }},
      {"first that fits", [&work] { return FirstComeFirstServed(work, true); }},
      {"pod by pod, holding on", [&work] { return TaskByTask(work, std::nullopt); }},
      {"pod by pod, 30 min", [&work] { return TaskByTask(work, 1800); }},
      {"Volcano, as its chart", [&work] { return VolcanoSessions(work, false); }},
      {"Volcano, packing GPUs", [&work] { return VolcanoSessions(work, true); }},
      {"Gangway, nobody evicted", [&work, calm] { return std::make_unique<GangwayDay>(work, calm); }},
      {"Gangway, after 30 min", [&work, lenient] { return std::make_unique<GangwayDay>(work, lenient); }},
      {"Gangway, patient", [&work, patient] { return std::make_unique<GangwayDay>(work, patient); }},
      {"Gangway", [&work, options] { return std::make_unique<GangwayDay>(work, options); }},
      {"no nodes kept", [&work, keeps_none] { return std::make_unique<GangwayDay>(work, keeps_none); }, true},
      {"all let in", [&work, lets_all_in] { return std::make_unique<GangwayDay>(work, lets_all_in); }, true},
  };
}

int Main(const std::string& folder, const Plan& plan, const std::string& only) {
  const Workload work = Draw(plan);
  std::cout << absl::StrFormat("Seed %d, %d nodes of %d GPUs, %d jobs with %d pods, load %.2f.\n\n", plan.seed,
                               plan.nodes, plan.gpus_per_node, work.jobs.size(), plan.pods, plan.load)
            << Describe(work) << "\n";
  std::vector<Told> told;
  std::string rounds;
  int wrong = 0;
  for (const Entry& entry : EntriesOf(work)) {
    if (only.empty() ? entry.only_named : entry.name != only) continue;
    const std::unique_ptr<Scheduler> scheduler = entry.make();
    const absl::Duration begun = Cpu();
    told.push_back({entry.name, Live(work, *scheduler)});
    std::cerr << entry.name << ": " << absl::FormatDuration(Cpu() - begun) << " of CPU\n"
              << TableOf({told.back()}) << WaitsOf(work, {told.back()}) << WaitsByQueue(work, {told.back()});
    for (const std::string& line : told.back().outcome.wrong) {
      std::cerr << entry.name << ": " << line << "\n";
      ++wrong;
    }
    if (const auto* const ours = dynamic_cast<const GangwayDay*>(scheduler.get())) {
      const Rounds& all = ours->rounds();
      absl::StrAppendFormat(&rounds,
                            "%s: %d rounds, mean %.2f ms, longest %.0f ms, up to %d gangs waiting; gangs evicted by "
                            "priority %d, by share %d.\n",
                            entry.name, all.count, absl::ToDoubleMilliseconds(all.all) / all.count,
                            absl::ToDoubleMilliseconds(all.longest), all.most_waiting, all.evicted_for_priority,
                            all.evicted_for_share);
    }
  }
  std::cout << TableOf(told) << "\n" << WaitsOf(work, told) << "\n" << WaitsByQueue(work, told);
  std::cerr << rounds;
  const auto draw = [&](const std::string& file, const std::string& title, double most, Seconds until, auto value) {
    std::vector<std::pair<std::string, std::vector<std::pair<Seconds, double>>>> lines;
    for (const auto& [name, outcome] : told) {
      lines.push_back({name, {}});
      for (const Sample& sample : outcome.samples) lines.back().second.emplace_back(sample.at, value(sample));
    }
    std::ofstream(absl::StrCat(folder, "/", file)) << Picture(title, "%", most, until, lines);
  };
  const double percent = 100.0 / work.all_gpus();
  draw("day-used.svg", "GPUs of jobs that run", 100, 2 * plan.length,
       [&](const Sample& sample) { return sample.running * percent; });
  draw("day-shares.svg", "What queues lack of their shares, of the cluster", 40, 2 * plan.length,
       [&](const Sample& sample) { return 100 * sample.short_of_share; });
  draw("day-waiting.svg", "GPUs asked for by jobs that wait, of the cluster", 400, 2 * plan.length,
       [&](const Sample& sample) { return sample.waiting * percent; });
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace gangway::day

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: day FOLDER [small] [NAME]\n";
    return 2;
  }
  gangway::day::Plan plan;
  int next = 2;
  if (argc > next && argv[next] == std::string("small")) {
    plan.nodes /= 8;
    plan.pods /= 8;
    plan.largest /= 8;
    ++next;
  }
  return gangway::day::Main(argv[1], plan, argc > next ? argv[next] : "");
}
