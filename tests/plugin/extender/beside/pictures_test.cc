// The pictures of docs/extender.md: what each mode changes, on a workload in which it shows. GW_UPDATE_GOLDEN=1 draws
// them anew, and the tests that did so fail.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/extender/beside/beside.h"
#include "tests/plugin/extender/beside/picture.h"
#include "tests/testing/golden.h"

namespace gangway::beside {
namespace {

using extender::Mode;
using ::testing::HasSubstr;

Outcome Of(const Workload& workload, std::optional<Mode> mode, bool preempts = false) {
  Options options;
  options.mode = mode;
  options.preempts = preempts;
  return Run(workload, options);
}
void ExpectPicture(const char* name, const std::string& drawn) {
  testutil::ExpectGolden(absl::StrCat(GW_SOURCE_DIR, "/docs/pictures/extender/", name, ".svg"), drawn);
}

// Small jobs one behind the other; a gang that needs half of the nodes wholly, and one that no node has room for.
TEST(BesidePicturesTest, Light) {
  Workload workload;
  for (int i = 0; i < 200; ++i) {
    workload.jobs.push_back({absl::StrCat("small-", i), 1, 8000, 1.5 * i, 60, false});
    if (i == 40) workload.jobs.push_back({"large", 12, 16'000, 1.5 * i, 60, false});
    if (i == 60) workload.jobs.push_back({"too-large", 2, 17'000, 1.5 * i, 60, false});
  }
  const Outcome alone = Of(workload, std::nullopt), asked = Of(workload, Mode::kLight);
  const auto title = [](const char* who, const Outcome& outcome) {
    return absl::StrFormat("%s: the gang of 12 whole nodes waits %.0f s; the one that fits no node is %s", who,
                           outcome.placed.at("large").waited,
                           outcome.let_in_vain.empty() ? "held back" : "let in for nothing");
  };
  EXPECT_LT(asked.placed.at("large").waited, alone.placed.at("large").waited / 2);
  EXPECT_FALSE(alone.let_in_vain.empty());
  EXPECT_TRUE(asked.let_in_vain.empty());
  ExpectPicture("light", Picture(workload, {{title("Volcano alone", alone), &alone}, {title("light", asked), &asked}},
                                 {"large"}));
}

// Gangs that should lie in one rack, coloured.
TEST(BesidePicturesTest, Steer) {
  const Workload workload = Draw(3, 50, 2);
  std::vector<std::string> close;
  for (const Job& job : workload.jobs) {
    if (job.close) close.push_back(job.name);
  }
  const Outcome alone = Of(workload, std::nullopt), asked = Of(workload, Mode::kSteer);
  const auto whole = [&](const Outcome& outcome) {
    return std::count_if(close.begin(), close.end(),
                         [&](const std::string& name) { return outcome.placed.at(name).racks == 1; });
  };
  const auto title = [&](const char* who, const Outcome& outcome) {
    return absl::StrFormat("%s: %d of %d gangs that should lie in one rack do", who, whole(outcome), close.size());
  };
  EXPECT_LT(whole(alone), std::ssize(close) / 2);
  EXPECT_EQ(whole(asked), std::ssize(close));
  ExpectPicture("steer",
                Picture(workload, {{title("Volcano alone", alone), &alone}, {title("steer", asked), &asked}}, close));
}

// Each eighth gang goes before others, coloured.
TEST(BesidePicturesTest, Full) {
  const Workload workload = Draw(2, 60, 0, 8);
  std::vector<std::string> urgent;
  for (const Job& job : workload.jobs) {
    if (job.priority > 0) urgent.push_back(job.name);
  }
  const Outcome alone = Of(workload, std::nullopt, true), asked = Of(workload, Mode::kFull, true);
  const auto title = [&](const char* who, const Outcome& outcome) {
    Seconds longest = 0;
    for (const std::string& name : urgent) longest = std::max(longest, outcome.placed.at(name).waited);
    return absl::StrFormat("%s: urgent gangs wait %.0f s at most; gangs that begin anew for them: %d", who, longest,
                           outcome.begun_anew);
  };
  EXPECT_LT(asked.begun_anew, alone.begun_anew);
  ExpectPicture(
      "full", Picture(workload, {{title("Volcano alone, with preempt", alone), &alone}, {title("full", asked), &asked}},
                      urgent));
}

// A node's bars stand beside one another, and what is evicted is seen.
TEST(BesidePicturesTest, PodsOfANodeShareItsRow) {
  Workload workload;
  workload.racks = 1, workload.nodes_per_rack = 1;
  workload.jobs = {
      {"half", 1, 8000, 0, 60, false}, {"other", 1, 8000, 0, 30, false}, {"third", 1, 8000, 30, 30, false}};
  Outcome outcome;
  outcome.stays = {{0, 0, 0, 60, false}, {1, 0, 0, 30, true}, {2, 0, 30, 60, false}};
  const std::string drawn = Picture(workload, {{"one", &outcome}}, {"third"});
  EXPECT_THAT(drawn, HasSubstr("<rect x=\"64.0\" y=\"34.00\" width=\"900.0\" height=\"4.50\" fill=\"#c8c8c8\" "
                               "stroke=\"#fff\" stroke-width=\"0.3\"><title>half<"));
  EXPECT_THAT(drawn, HasSubstr("<rect x=\"64.0\" y=\"38.50\" width=\"450.0\" height=\"4.50\" fill=\"#c8c8c8\" "
                               "stroke=\"#fff\" stroke-width=\"0.3\"><title>other<"));
  EXPECT_THAT(drawn, HasSubstr("<rect x=\"511.0\" y=\"38.50\" width=\"3\" height=\"4.50\" fill=\"#000\"/>"));
  EXPECT_THAT(drawn, HasSubstr("<rect x=\"514.0\" y=\"38.50\" width=\"450.0\" height=\"4.50\" fill=\"#0072b2\" "
                               "stroke=\"#fff\" stroke-width=\"0.3\"><title>third<"));
}

}  // namespace
}  // namespace gangway::beside
