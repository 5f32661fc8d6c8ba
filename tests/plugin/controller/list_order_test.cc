// What the controllers see of the world begins with lists, and what happens between two of them stands in one only:
// Jobs are listed before pods, and pods before PodGroups.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/plugin/controller/controllers_fixture.h"
#include "tests/plugin/lifecycle/job/world.h"

namespace gangway::controller {
namespace {

using ::testing::Contains;
using testutil::JobText;

constexpr char kRestarts[] = R"("policies":[{"event":"PodEvicted","action":"RestartJob"}])";

class ListOrderTest : public ControllersTest {
 protected:
  // The next process has the list of `late` half a second after it asks for it, and hears nothing of changes to
  // `unheard`.
  void Delay(const api::Resource& late, const api::Resource& unheard) {
    fate_ = [path = api::PathOf(late, "")](const kube::Request& request) {
      sandbox::RequestFate fate;
      if (request.path == path && !sandbox::ApiServer::IsWatch(request)) fate.request_delay = absl::Milliseconds(500);
      return fate;
    };
    watch_fate_ = [path = api::PathOf(unheard, "")](const kube::Request& watch) {
      sandbox::WatchFate fate;
      if (watch.path == path) fate.delay = absl::Minutes(10);
      return fate;
    };
  }
  void At(absl::Duration time, std::function<void()> what) {
    loop_.PostAt(loop_.Now() + time, owner_.token(), std::move(what));
  }

  Owner owner_;
};

TEST_F(ListOrderTest, APodThatWasReleasedBetweenTwoListsWasNotEvicted) {
  Start();
  StartJob("ctr", JobText("ctr", 2, {{"w", 2}}, kRestarts));
  Run(absl::Seconds(5));
  Crash();
  Delay(api::kPods, api::kPodGroups);
  At(absl::Milliseconds(250), [this] {
    const std::string uid(Get(api::kPods, "ctr-w-0").at("metadata").at("uid").as_string());
    Patch(
        api::kPodGroups, GroupOf("ctr"),
        absl::StrCat(
            R"({"status":{"conditions":[{"type":"GangReleased","status":"True","reason":"NotWhole","message":"released 1 of 2 tasks: ... [ctr-w-0/)",
            uid, R"(]"}]}})"));
    Ask("DELETE", api::PathOf(api::kPods, "default", "ctr-w-0"),
        R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0})");
  });
  Start();
  Run(absl::Seconds(5));
  EXPECT_EQ(Job("ctr").status.version, 0) << "it was not restarted";
  EXPECT_THAT(Names(api::kPods), Contains("ctr-w-0")) << "it was made anew";
}

// Of two processes one made the pods, and is gone before the other sees the Job.
TEST_F(ListOrderTest, ThePodsThatAJobsStatusSpeaksOfAreKnownWithIt) {
  sandbox::InProcessClient former(loop_, server_, "former");
  auto first = MakeControllers(loop_, former);
  first->Start();
  Run();
  Create(api::kJobs, JobText("ctr", 2, {{"w", 2}}, kRestarts));
  Delay(api::kJobs, api::kPods);
  At(absl::Milliseconds(100), [this] { Patch(api::kPodGroups, GroupOf("ctr"), R"({"status":{"phase":"Inqueue"}})"); });
  At(absl::Milliseconds(200), [&] { first.reset(); });
  At(absl::Milliseconds(300), [this] {
    for (const char* const pod : {"ctr-w-0", "ctr-w-1"})
      Patch(api::kPods, pod, R"({"status":{"phase":"Running"}})", "status");
  });
  Start();
  EXPECT_EQ(Phase("ctr"), "Running");
}

}  // namespace
}  // namespace gangway::controller
