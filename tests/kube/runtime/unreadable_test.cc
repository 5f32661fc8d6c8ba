#include "kube/runtime/unreadable.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "tests/testing/fake_client.h"

namespace gangway::kube {
namespace {

using ::testing::HasSubstr;

class UnreadableTest : public ::testing::Test {
 protected:
  void Tell(const std::string& name) {
    api::ObjectReference regarding;
    regarding.kind = "Job";
    regarding.ns = "default";
    regarding.name = name;
    unreadable_.Tell(regarding, absl::InvalidArgumentError("spec.tasks: must be a list"));
    loop_.RunUntilIdle();
  }
  static RecorderOptions Unlimited() {
    RecorderOptions options;
    options.component = "test";
    options.qps = 0;
    options.max_waiting = 5000;
    return options;
  }

  SimulatedLoop loop_{1};
  testutil::FakeClient client_{loop_};
  Recorder recorder_{loop_, client_, Unlimited()};
  Unreadable unreadable_{recorder_};
};

TEST_F(UnreadableTest, WhoLeadsTellsAtOnce) {
  unreadable_.Begin();
  Tell("a");
  ASSERT_EQ(client_.requests().size(), 1u);
  EXPECT_THAT(client_.last().body,
              HasSubstr("this version of the object cannot be read and is ignored: spec.tasks: must be a list"));
  EXPECT_THAT(client_.last().body, HasSubstr("InvalidObject"));
}

TEST_F(UnreadableTest, AStandbyTellsWhenItLeadsAndOnce) {
  Tell("a");
  Tell("b");
  EXPECT_EQ(recorder_.waiting(), 0u);
  unreadable_.Begin();
  EXPECT_EQ(recorder_.waiting(), 2u);
  unreadable_.End();
  Tell("c");
  EXPECT_EQ(recorder_.waiting(), 2u);
  unreadable_.Begin();
  EXPECT_EQ(recorder_.waiting(), 3u);
}

TEST_F(UnreadableTest, AStandbyRemembersAThousand) {
  for (int i = 0; i < 1001; ++i) Tell(absl::StrCat("job-", i));
  unreadable_.Begin();
  EXPECT_EQ(recorder_.waiting(), 1000u);
}

TEST_F(UnreadableTest, WhatHasNoNameCannotBeTold) {
  unreadable_.Begin();
  Tell("");
  EXPECT_EQ(recorder_.waiting(), 0u);
}

}  // namespace
}  // namespace gangway::kube
