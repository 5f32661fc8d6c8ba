#include "translator/lifecycle/paddle_pod.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "api/field_table.h"
#include "gtest/gtest.h"

namespace gangway::paddle_lifecycle {
namespace {

api::core::Pod Pod(const std::string& metadata, const std::string& status = "") {
  const auto pod =
      api::Decode<api::core::Pod>(absl::StrCat(R"({"metadata":{)", metadata, R"(},"status":{)", status, "}}"));
  EXPECT_TRUE(pod.ok()) << pod.status();
  return *pod;
}
PodStage StageOf(const std::string& status) { return PaddlePodOf(Pod(R"("name":"p")", status)).stage; }

TEST(PaddlePodTest, ItsIndexIsThatOfItsLabelOrOfItsName) {
  EXPECT_EQ(PaddlePodOf(Pod(R"("name":"wd-worker-7")")).index, 7);
  EXPECT_EQ(PaddlePodOf(Pod(R"("name":"wd-worker-7","labels":{"volcano.sh/task-index":"3"})")).index, 3);
  EXPECT_EQ(PaddlePodOf(Pod(R"("name":"plain")")).index, 0);
  EXPECT_EQ(PaddlePodOf(Pod(R"("name":"wd-x")")).index, 0);
}

TEST(PaddlePodTest, WhatItsNodeOrTheSchedulerDidIsNotItsFault) {
  for (const char* reason : {"Evicted", "Preempted", "Preempting"}) {
    EXPECT_TRUE(
        PaddlePodOf(Pod(R"("name":"p")", absl::StrCat(R"("phase":"Failed","reason":")", reason, "\""))).disrupted)
        << reason;
  }
  EXPECT_FALSE(PaddlePodOf(Pod(R"("name":"p")", R"("phase":"Failed","reason":"DeadlineExceeded")")).disrupted);
  EXPECT_TRUE(
      PaddlePodOf(Pod(R"("name":"p")", R"("conditions":[{"type":"DisruptionTarget","status":"True"}])")).disrupted);
  EXPECT_FALSE(
      PaddlePodOf(
          Pod(R"("name":"p")",
              R"("conditions":[{"type":"DisruptionTarget","status":"False"},{"type":"Ready","status":"True"}])"))
          .disrupted);
}

TEST(PaddlePodTest, StagesFollowFromPhases) {
  EXPECT_EQ(StageOf(""), PodStage::kPending);
  EXPECT_EQ(StageOf(R"("phase":"Pending")"), PodStage::kPending);
  EXPECT_EQ(StageOf(R"("phase":"Succeeded")"), PodStage::kSucceeded);
  EXPECT_EQ(StageOf(R"("phase":"Failed")"), PodStage::kFailed);
  EXPECT_EQ(StageOf(R"("phase":"Unknown")"), PodStage::kUnknown);
}

TEST(PaddlePodTest, ItHasBegunOnceAContainerRan) {
  for (const char* phase : {"Running", "Succeeded", "Failed", "Unknown"}) {
    EXPECT_TRUE(PaddlePodOf(Pod(R"("name":"p")", absl::StrCat(R"("phase":")", phase, "\""))).begun) << phase;
  }
  EXPECT_FALSE(PaddlePodOf(Pod(R"("name":"p")")).begun);
  EXPECT_FALSE(PaddlePodOf(Pod(R"("name":"p")", R"("phase":"Pending")")).begun);
}

TEST(PaddlePodTest, RestartsOfAllContainersCount) {
  EXPECT_EQ(
      PaddlePodOf(
          Pod(R"("name":"p")",
              R"("initContainerStatuses":[{"name":"i","restartCount":2}],"containerStatuses":[{"name":"a","restartCount":3},{"name":"b","restartCount":4}])"))
          .restarts,
      9);
}

}  // namespace
}  // namespace gangway::paddle_lifecycle
