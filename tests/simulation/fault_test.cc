// Every fault at every write of every life: the end is that of the life in which nothing goes wrong.
//
//   GW_FAULT=FailureRestartsJob/7/KilledAfter       replays one life with one fault and prints it; further faults
//   follow a comma GW_FAULT=FailureRestartsJob                     the life without faults GW_FAULT_PAIRS=N how many
//   lives with two faults (0; 20,000 with GW_TEST_LONG)
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/log.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/simulation/copies.h"
#include "tests/simulation/each.h"
#include "tests/simulation/lives.h"
#include "tests/simulation/print.h"
#include "tests/testing/long_test.h"

namespace gangway::testutil {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

std::string Text(const Life& life, const std::vector<Fault>& faults) {
  std::string text = life.name;
  for (std::size_t i = 0; i < faults.size(); ++i)
    absl::StrAppend(&text, i == 0 ? "/" : ",", faults[i].write, "/", NameOf(faults[i].kind));
  return text;
}

struct Replay {
  std::string life;
  std::vector<Fault> faults;
};
std::optional<Replay> FromEnvironment() {
  const char* const text = std::getenv("GW_FAULT");
  if (text == nullptr) return std::nullopt;
  const std::pair<std::string, std::string> sides = absl::StrSplit(text, absl::MaxSplits('/', 1));
  Replay replay{sides.first, {}};
  for (const absl::string_view part : absl::StrSplit(sides.second, ',', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> words = absl::StrSplit(part, '/');
    Fault& fault = replay.faults.emplace_back();
    if (!absl::SimpleAtoi(words.first, &fault.write)) std::abort();
    for (int kind = 0; kind < kFaultKinds; ++kind) {
      if (NameOf(static_cast<FaultKind>(kind)) == words.second) fault.kind = static_cast<FaultKind>(kind);
    }
  }
  return replay;
}

// What is wrong with a life with faults, beside the one without; empty when nothing is.
std::string Difference(const LifeResult& clean, const LifeResult& is) {
  std::string text;
  for (const std::string& violation : is.violations) absl::StrAppend(&text, "\n  ", violation);
  for (const std::string& line : clean.end) {
    if (std::find(is.end.begin(), is.end.end(), line) == is.end.end()) absl::StrAppend(&text, "\n  missing: ", line);
  }
  for (const std::string& line : is.end) {
    if (std::find(clean.end.begin(), clean.end.end(), line) == clean.end.end())
      absl::StrAppend(&text, "\n  instead: ", line);
  }
  return text;
}

class FaultTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    log::Options options;
    options.level = std::getenv("GW_FAULT") != nullptr ? log::Level::kInfo : log::Level::kOff;
    log::Configure(std::move(options));
  }
};

// "": the life ended as the clean one did.
std::string Verdict(const Life& life, const LifeResult& clean, const std::vector<Fault>& faults, const LifeResult& is) {
  const std::string difference = Difference(clean, is);
  if (difference.empty()) return "";
  const std::string name = Text(life, faults);
  const auto write = static_cast<std::size_t>(faults.front().write);
  return absl::StrCat(name, " (", write <= clean.writes.size() ? clean.writes[write - 1] : "?", "):", difference,
                      "\nreplay: GW_FAULT=", name);
}

std::vector<LifeResult> RunClean(const std::vector<Life>& lives) {
  std::vector<LifeResult> clean;
  for (const Life& life : lives) {
    clean.push_back(RunLife(life, {}));
    EXPECT_THAT(clean.back().violations, IsEmpty()) << life.name;
    EXPECT_THAT(clean.back().writes, Not(IsEmpty())) << life.name;
  }
  return clean;
}

// Which kinds each write meets, unless there is time for all of them.
enum class Share {
  kMost,  // all that lose something, and one of the three refusals
  kOne,
};

constexpr std::size_t kFailures = 5;  // after so many no more is begun

// Lives once, and at each write lets a copy of itself, for each kind that it meets, live on with that fault.
std::string TryFaults(const Life& life, const LifeResult& clean, const std::function<bool(int write, int kind)>& meets,
                      Copies& copies) {
  std::optional<Fault> mine;
  LifeOptions options;
  options.decide = [&](int write) -> std::optional<FaultKind> {
    for (int kind = 0; kind < kFaultKinds && !mine.has_value() && copies.wrong().size() < kFailures; ++kind) {
      if (!meets(write, kind)) continue;
      const Fault fault{write, static_cast<FaultKind>(kind)};
      if (copies.Begin(Text(life, {fault}))) {
        mine = fault;
        return fault.kind;
      }
      copies.Await(0);
    }
    return std::nullopt;
  };
  const LifeResult result = RunLife(life, options);
  if (mine.has_value()) copies.End(Verdict(life, clean, {*mine}, result));
  return result.writes == clean.writes ? "" : absl::StrCat(life.name, ": lived again, it had other writes");
}

void TryAnyFaultAtAnyWriteOf(const std::vector<Life>& lives, Share share = Share::kMost) {
  if (const auto replay = FromEnvironment()) {
    for (const Life& life : lives) {
      if (life.name != replay->life) continue;
      LifeOptions options;
      const LifeResult clean = RunLife(life, options);
      options.faults = replay->faults;
      options.on_record = PrintRecord;
      const LifeResult result = RunLife(life, options);
      std::printf("%s\n%s\n", absl::StrJoin(result.writes, "\n").c_str(), absl::StrJoin(result.end, "\n").c_str());
      EXPECT_EQ(Difference(clean, result), "") << Text(life, replay->faults);
    }
    return;
  }
  const std::vector<LifeResult> clean = RunClean(lives);
  Copies copies;
  std::size_t trials = 0;
  for (std::size_t i = 0; i < lives.size() && copies.wrong().size() < kFailures; ++i) {
    const auto meets = [share, i](int write, int kind) {
      if (std::getenv("GW_TEST_LONG") != nullptr) return true;
      const bool refusal = kind >= static_cast<int>(FaultKind::kConflict);
      return share == Share::kMost ? !refusal || (write + kind) % 3 == 0
                                   : (write + kind + static_cast<int>(i)) % kFaultKinds == 0;
    };
    for (int write = 1; write <= static_cast<int>(clean[i].writes.size()); ++write) {
      for (int kind = 0; kind < kFaultKinds; ++kind) trials += meets(write, kind) ? 1 : 0;
    }
    copies.Await(1);  // the second of two lives
    if (copies.Begin(lives[i].name)) copies.End(TryFaults(lives[i], clean[i], meets, copies));
  }
  copies.Await(0);
  for (const std::string& wrong : copies.wrong()) ADD_FAILURE() << wrong;
  std::printf("%d lives, %d faults\n", static_cast<int>(lives.size()), static_cast<int>(trials));
}

TEST_F(FaultTest, AnyFaultAtAnyWriteLeavesTheEndAsItWas) { TryAnyFaultAtAnyWriteOf(AllLives()); }
TEST_F(FaultTest, AnyFaultAtAnyWriteOfAPaddleJobsControllerLeavesTheEndAsItWas) {
  TryAnyFaultAtAnyWriteOf(PaddleLives());
}

// Bindings, the gangs' phases, the queues' status.
TEST_F(FaultTest, AnyFaultAtAnyWriteOfTheSchedulerLeavesTheEndAsItWas) {
  std::vector<Life> lives = AllLives();
  for (Life& life : lives) {
    life.name = absl::StrCat("Scheduler", life.name);
    life.component = sandbox::Component::kScheduler;
  }
  TryAnyFaultAtAnyWriteOf(lives, Share::kOne);
}

TEST_F(FaultTest, TwoFaultsLeaveTheEndAsItWas) {
  const char* const asked = std::getenv("GW_FAULT_PAIRS");
  if (asked == nullptr) GW_LONG_TEST();
  int pairs = 20'000;
  ASSERT_TRUE(asked == nullptr || absl::SimpleAtoi(asked, &pairs)) << "GW_FAULT_PAIRS";
  const std::vector<Life> lives = AllLives();
  const std::vector<LifeResult> clean = RunClean(lives);
  RandomStream random(1);
  const auto below = [&](std::size_t bound) { return static_cast<int>(random.Below(bound)); };
  struct Trial {
    std::size_t life = 0;
    std::vector<Fault> faults;
  };
  std::vector<Trial> trials;
  for (int i = 0; i < pairs; ++i) {
    const auto life = static_cast<std::size_t>(below(lives.size()));
    const int first = 1 + below(clean[life].writes.size());
    // The second soon after the first, or anywhere.
    const int second = first + 1 + below(i % 2 == 0 ? 5 : clean[life].writes.size());
    trials.push_back(
        {life,
         {{first, static_cast<FaultKind>(below(kFaultKinds))}, {second, static_cast<FaultKind>(below(kFaultKinds))}}});
  }
  Each(trials.size(), [&](std::size_t i) {
    const auto& [life, faults] = trials[i];
    LifeOptions options;
    options.faults = faults;
    return Verdict(lives[life], clean[life], faults, RunLife(lives[life], options));
  });
  std::printf("%d lives with two faults\n", pairs);
}

}  // namespace
}  // namespace gangway::testutil
