#include "plugin/lifecycle/job/status.h"

#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gangway::lifecycle {
namespace {

TEST(StatusTest, TheLongerAPhaseLastsTheLongerItsCountsMayWait) {
  const absl::Time entered = absl::FromUnixSeconds(1'790'000'000);
  api::volcano::JobStatus status;
  status.state.last_transition_time = api::Time{entered};
  const auto patience = [&](absl::Duration after) { return PatienceWithCounts(status, entered + after); };
  EXPECT_EQ(patience(absl::ZeroDuration()), absl::Seconds(1));
  EXPECT_EQ(patience(absl::Seconds(4)), absl::Seconds(1));
  EXPECT_EQ(patience(absl::Seconds(20)), absl::Seconds(5));
  EXPECT_EQ(patience(absl::Seconds(40)), absl::Seconds(10));
  EXPECT_EQ(patience(absl::Hours(1)), absl::Seconds(10));
}

// What somebody else wrote over is written again, also when nothing but that changed.
TEST(StatusTest, ADifferenceInOneFieldAloneIsWritten) {
  const std::pair<const char*, std::function<void(api::volcano::JobStatus&)>> changes[] = {
      {"minAvailable", [](auto& status) { status.min_available = 2; }},
      {"version", [](auto& status) { status.version = 2; }},
      {"retryCount", [](auto& status) { status.retry_count = 2; }},
      {"phase", [](auto& status) { status.state.phase = "Running"; }},
      {"reason", [](auto& status) { status.state.reason = "x"; }},
      {"message", [](auto& status) { status.state.message = "x"; }},
      {"lastTransitionTime",
       [](auto& status) { status.state.last_transition_time.at = absl::FromUnixSeconds(1'790'000'000); }},
      {"runningDuration", [](auto& status) { status.running_duration = "5m0s"; }},
      {"controlledResources", [](auto& status) { status.controlled_resources["plugin-svc"] = "svc"; }},
      {"conditions", [](auto& status) { status.conditions.push_back({"Running", {}}); }},
  };
  for (const auto& [field, change] : changes) {
    const api::volcano::JobStatus from;
    api::volcano::JobStatus to;
    change(to);
    const auto patch = StatusPatch(from, to);
    ASSERT_TRUE(patch.ok()) << field;
    EXPECT_NE(patch->find(absl::StrCat("\"", field, "\":")), std::string::npos) << field << ": " << *patch;
    to.running = 1;
    EXPECT_FALSE(OnlyCountsDiffer(from, to)) << field << ": only counts may wait";
  }
}

TEST(StatusTest, EachCountIsWrittenAndMayWait) {
  const std::pair<const char*, std::function<void(api::volcano::JobStatus&)>> changes[] = {
      {"pending", [](auto& status) { status.pending = 2; }},
      {"running", [](auto& status) { status.running = 2; }},
      {"succeeded", [](auto& status) { status.succeeded = 2; }},
      {"failed", [](auto& status) { status.failed = 2; }},
      {"terminating", [](auto& status) { status.terminating = 2; }},
      {"unknown", [](auto& status) { status.unknown = 2; }},
      {"taskStatusCount", [](auto& status) { status.task_status_count["w"].phase["Running"] = 2; }},
  };
  for (const auto& [field, change] : changes) {
    const api::volcano::JobStatus from;
    api::volcano::JobStatus to;
    EXPECT_FALSE(OnlyCountsDiffer(from, to)) << "nothing does";
    change(to);
    EXPECT_TRUE(OnlyCountsDiffer(from, to)) << field;
    const auto patch = StatusPatch(from, to);
    ASSERT_TRUE(patch.ok()) << field;
    EXPECT_NE(patch->find(absl::StrCat("\"", field, "\":")), std::string::npos) << field << ": " << *patch;
  }
}

}  // namespace
}  // namespace gangway::lifecycle
