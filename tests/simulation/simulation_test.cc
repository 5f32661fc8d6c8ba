// Histories of the embedded cluster under faults, judged by the checkers.
//
//   GW_SIMULATION_SEED=7      replays one history and prints what it did wrong
//   GW_SIMULATION_KEEP=0,8    of its jobs and incidents only these, as a failure prints them
//   GW_SIMULATION_FIRST=N     the first seed of contended histories (1)
//   GW_SIMULATION_PLACED=1    all contended histories are of jobs that want places, not only those of odd seeds
//   GW_SIMULATION_AS_IS=1     what fails is not shrunk
//   GW_SIMULATION_HISTORIES=N how many random histories (2000; 50,000 with GW_TEST_LONG)
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/model/cluster.h"
#include "tests/simulation/broken.h"
#include "tests/simulation/each.h"
#include "tests/simulation/history.h"
#include "tests/simulation/print.h"
#include "tests/simulation/shrink.h"

namespace gangway::testutil {
namespace {

using sandbox::Component;
using ::testing::IsEmpty;

std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  std::uint64_t value = 0;
  const char* text = std::getenv(name);
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

// Half of the histories have evictions and lost nodes; the others an end that is known to the last retry.
HistoryOptions OptionsFor(std::uint64_t seed) {
  HistoryOptions options;
  options.seed = seed;
  options.chaos = seed % 2 == 0;
  if (std::getenv("GW_SIMULATION_SEED") == nullptr) return options;
  options.on_record = PrintRecord;
  KeepFromEnvironment(options);
  return options;
}

// Of so many histories each kind of incident has taken effect in some, on everybody it can happen to.
constexpr std::uint64_t kEnoughForAll = 2'000;

void EachOccurred(const IncidentCounts& counts, IncidentOptions options, std::optional<Component> of = std::nullopt) {
  options.nodes = 6;  // all kinds
  int all = 0;
  for (const IncidentOf& incident : AllIncidents(options)) {
    if (of.has_value() && incident.second != *of) continue;
    const auto it = counts.find(incident);
    EXPECT_TRUE(it != counts.end() && it->second > 0)
        << sandbox::ClientName(incident.second) << ": " << NameOf(incident.first);
    all += it == counts.end() ? 0 : it->second;
  }
  std::printf("%d incidents\n", all);
}

class SimulationTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    log::Options options;
    options.level = std::getenv("GW_SIMULATION_SEED") != nullptr ? log::Level::kInfo : log::Level::kOff;
    log::Configure(std::move(options));
  }
};

TEST_F(SimulationTest, RandomHistoriesKeepEveryPromise) {
  const std::uint64_t only = FromEnvironment("GW_SIMULATION_SEED", 0);
  const std::uint64_t first = only != 0 ? only : 1;
  const std::uint64_t count =
      only != 0 ? 1
                : FromEnvironment("GW_SIMULATION_HISTORIES", std::getenv("GW_TEST_LONG") != nullptr ? 50'000 : 2'000);
  std::mutex mu;
  IncidentCounts incidents;
  Each(count, [&](std::size_t i) -> std::string {
    const HistoryOptions options = OptionsFor(first + i);
    const HistoryResult result = RunHistory(options);
    {
      const std::lock_guard lock(mu);
      for (const auto& [incident, times] : result.incidents) incidents[incident] += times;
    }
    return result.violations.empty() ? "" : Report(options, result);
  });
  std::printf("%d histories from seed %d\n", static_cast<int>(count), static_cast<int>(first));
  if (count >= kEnoughForAll && !HasFailure()) EachOccurred(incidents, {});
}

TEST_F(SimulationTest, RandomHistoriesOfPaddleJobsKeepEveryPromise) {
  const std::uint64_t only = FromEnvironment("GW_SIMULATION_SEED", 0);
  const std::uint64_t count =
      only != 0 ? 1 : FromEnvironment("GW_SIMULATION_HISTORIES", std::getenv("GW_TEST_LONG") != nullptr ? 10'000 : 300);
  std::mutex mu;
  IncidentCounts incidents;
  Each(count, [&](std::size_t i) -> std::string {
    HistoryOptions options = OptionsFor(only != 0 ? only : i + 1);
    options.paddle = true;
    const HistoryResult result = RunHistory(options);
    {
      const std::lock_guard lock(mu);
      for (const auto& [incident, times] : result.incidents) incidents[incident] += times;
    }
    return result.violations.empty() ? "" : Report(options, result);
  });
  if (count < 300 || HasFailure()) return;
  IncidentOptions options;
  options.paddle = true;
  EachOccurred(incidents, options, Component::kPaddleControllers);
}

TEST_F(SimulationTest, TheSameSeedReplaysExactly) {
  for (const std::uint64_t seed : {11u, 12u}) {
    const HistoryResult a = RunHistory(OptionsFor(seed)), b = RunHistory(OptionsFor(seed));
    EXPECT_EQ(a.journal_hash, b.journal_hash);
    EXPECT_EQ(a.records, b.records);
    EXPECT_NE(a.journal_hash, RunHistory(OptionsFor(seed + 2)).journal_hash);
  }
}

HistoryOptions SeedJob() {
  HistoryOptions options;
  options.random_jobs = options.random_faults = options.chaos = false;
  return options;
}

TEST_F(SimulationTest, TheSeedJobCompletesAfterACrashAtAnyWrite) {
  const HistoryResult calm = RunHistory(SeedJob());
  ASSERT_THAT(calm.violations, IsEmpty());
  int crashes = 0;
  for (const auto& [component, writes] : calm.writes) {
    ASSERT_GT(writes, 0);
    for (int write = 1; write <= writes; ++write) {
      for (const bool lost : {false, true}) {
        HistoryOptions options = SeedJob();
        options.crash = CrashPoint{component, write, lost};
        const HistoryResult result = RunHistory(options);
        ++crashes;
        EXPECT_THAT(result.violations, IsEmpty())
            << sandbox::ClientName(component) << " killed at write " << write << (lost ? ", which was lost" : "");
      }
    }
  }
  std::printf("%d crash points\n", crashes);
}

HistoryOptions Contended(std::uint64_t seed) {
  HistoryOptions options;
  options.seed = seed;
  options.contended = true;
  options.chaos = options.random_faults = false;
  if (std::getenv("GW_SIMULATION_SEED") == nullptr) return options;
  options.on_record = PrintRecord;
  KeepFromEnvironment(options);
  return options;
}
void KeepEveryPromiseInContention(const std::function<void(HistoryOptions&)>& change) {
  const std::uint64_t only = FromEnvironment("GW_SIMULATION_SEED", 0);
  Each(only != 0 ? 1 : FromEnvironment("GW_SIMULATION_HISTORIES", std::getenv("GW_TEST_LONG") != nullptr ? 1'250 : 5),
       [&](std::size_t i) {
         HistoryOptions options = Contended(only != 0 ? only : i + FromEnvironment("GW_SIMULATION_FIRST", 1));
         options.placed = options.seed % 2 == 1 || std::getenv("GW_SIMULATION_PLACED") != nullptr;
         change(options);
         const HistoryResult result = RunHistory(options);
         return result.violations.empty() ? "" : Report(options, result);
       });
}

TEST_F(SimulationTest, ContendedHistoriesKeepEveryPromise) {
  KeepEveryPromiseInContention([](HistoryOptions&) {});
}

TEST_F(SimulationTest, ContendedHistoriesInWhichBindingsAreRefusedKeepEveryPromise) {
  KeepEveryPromiseInContention([](HistoryOptions& options) {
    options.replace_scheduler = MakeSchedulerThatIsRefused;
    options.bindings_fail = true;
  });
}

TEST_F(SimulationTest, RankedHistoriesKeepEveryPromise) {
  KeepEveryPromiseInContention([](HistoryOptions& options) {
    options.placed = false;
    options.ranked = true;
  });
}

// Of four the first has nothing but faults, the second loses nodes and pods too, and the third has two replicas.
TEST_F(SimulationTest, RankedHistoriesWithFaultsKeepEveryPromise) {
  KeepEveryPromiseInContention([](HistoryOptions& options) {
    options.placed = false;
    options.ranked = true;
    options.random_faults = options.seed % 4 != 3;
    options.chaos = options.seed % 2 == 0;
    options.two_replicas = options.seed % 4 == 3;
    if (options.two_replicas) options.disturbed_for = absl::Minutes(10);
  });
}

TEST_F(SimulationTest, HistoriesInWhichRoomIsGatheredKeepEveryPromise) {
  KeepEveryPromiseInContention([](HistoryOptions& options) {
    options.placed = false;
    options.pieces = true;
  });
}

// Of four the first has nothing but faults, the second loses nodes and pods too, and the third has two replicas.
TEST_F(SimulationTest, HistoriesInWhichRoomIsGatheredWithFaultsKeepEveryPromise) {
  KeepEveryPromiseInContention([](HistoryOptions& options) {
    options.placed = false;
    options.pieces = true;
    options.random_faults = options.seed % 4 != 3;
    options.chaos = options.seed % 2 == 0;
    options.two_replicas = options.seed % 4 == 3;
    if (options.two_replicas) options.disturbed_for = absl::Minutes(10);
  });
}

TEST_F(SimulationTest, HistoriesInWhichTheSameJobsComeAgainKeepEveryPromise) {
  KeepEveryPromiseInContention([](HistoryOptions& options) {
    options.placed = false;
    options.repeating = true;
  });
}

TEST_F(SimulationTest, HistoriesInWhichGangsLoseMembersKeepEveryPromise) {
  KeepEveryPromiseInContention([](HistoryOptions& options) {
    options.placed = false;
    options.losing = true;
  });
}

TEST_F(SimulationTest, HistoriesInWhichGangsLoseMembersWithFaultsKeepEveryPromise) {
  KeepEveryPromiseInContention([](HistoryOptions& options) {
    options.placed = false;
    options.losing = true;
    options.random_faults = true;
  });
}

// In half of them nodes and pods go, too.
TEST_F(SimulationTest, ContendedHistoriesWithFaultsKeepEveryPromise) {
  KeepEveryPromiseInContention([](HistoryOptions& options) {
    options.random_faults = true;
    options.chaos = options.seed % 2 == 0;
  });
}

TEST_F(SimulationTest, ContendedHistoriesOfTwoReplicasKeepEveryPromise) {
  KeepEveryPromiseInContention([](HistoryOptions& options) {
    options.two_replicas = true;
    options.disturbed_for = absl::Minutes(10);  // both may be stopped for a while
  });
}

class WrongComponentTest : public SimulationTest, public ::testing::WithParamInterface<WrongComponent> {
 protected:
  // By its rule's name in nine of ten histories; of the few in every run some more may pass it by.
  static void IsNamed(const WrongComponent& component, bool faults);
};

void WrongComponentTest::IsNamed(const WrongComponent& component, bool faults) {
  const bool many = std::getenv("GW_TEST_LONG") != nullptr;
  const std::uint64_t histories = FromEnvironment("GW_SIMULATION_HISTORIES", many ? 200 : 2);
  std::atomic<int> named{0};
  Each(histories, [&](std::size_t i) -> std::string {
    HistoryOptions options = Contended(i + 1);
    options.limit = absl::Minutes(15);
    options.stop_when = component.named_by;
    options.random_faults = faults;
    options.chaos = faults && options.seed % 2 == 0;
    component.take_part(options);
    const HistoryResult result = RunHistory(options);
    const bool hit = std::any_of(component.named_by.begin(), component.named_by.end(),
                                 [&](Rule rule) { return result.broken.contains(rule); });
    if (hit) ++named;
    return "";
  });
  const int percent = static_cast<int>(100 * static_cast<std::uint64_t>(named) / histories);
  std::printf("%-30s named in %d%% of %d histories%s\n", component.name.c_str(), percent, static_cast<int>(histories),
              faults ? " with faults" : "");
  EXPECT_GE(percent, many ? 90 : 50) << component.name;
}

TEST_P(WrongComponentTest, IsNamed) { IsNamed(GetParam(), false); }

class WrongComponentWithFaultsTest : public WrongComponentTest {};

TEST_P(WrongComponentWithFaultsTest, IsNamed) { IsNamed(GetParam(), true); }

INSTANTIATE_TEST_SUITE_P(All, WrongComponentWithFaultsTest, ::testing::ValuesIn(WrongComponentsWithFaults()),
                         [](const auto& c) { return c.param.name; });
INSTANTIATE_TEST_SUITE_P(All, WrongComponentTest, ::testing::ValuesIn(WrongComponents()),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace gangway::testutil
