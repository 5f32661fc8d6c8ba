// Jobs that chance makes, on the sandbox's API server: whatever admission lets in, the controllers write nothing that
// the server finds malformed, come to rest, and leave nothing behind.
//
//   GW_PLAN_SEED=7    runs that seed alone
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "api/volcano/defaults.h"
#include "base/log.h"
#include "gmock/gmock.h"
#include "tests/plugin/controller/controllers_fixture.h"
#include "tests/plugin/lifecycle/job/random_job.h"

namespace gangway::controller {
namespace {

using testutil::RandomJobs;

// Notes what was refused for what was in it.
class CheckingClient final : public kube::Client {
 public:
  CheckingClient(kube::Client& client, std::vector<std::string>& refused) : client_(client), refused_(refused) {}
  void Send(kube::Request request, Token owner, Done done) override {
    const std::string line = absl::StrCat(request.method, " ", request.path, " ", request.body);
    client_.Send(
        std::move(request), owner, [this, line, done = std::move(done)](absl::StatusOr<kube::Response> reply) mutable {
          if (reply.ok() && (reply->code == 400 || reply->code == 415 || reply->code == 422 || reply->code >= 500))
            refused_.push_back(absl::StrCat(line, ": ", *reply->body));
          done(std::move(reply));
        });
  }
  std::unique_ptr<kube::Watch> StartWatch(kube::Request request, Token owner, OnFrames on_frames,
                                          OnEnd on_end) override {
    return client_.StartWatch(std::move(request), owner, std::move(on_frames), std::move(on_end));
  }

 private:
  kube::Client& client_;
  std::vector<std::string>& refused_;
};

// One world a seed.
class RandomWorld : public ControllersTest {
 public:
  explicit RandomWorld(std::uint64_t seed) : random_(seed, seed % 3 == 0) {}
  void TestBody() override {}

  void Live() {
    network_ = std::make_unique<sandbox::InProcessClient>(loop_, server_, "controllers");
    checking_ = std::make_unique<CheckingClient>(*network_, refused_);
    controllers_ = MakeControllers(loop_, *checking_);
    controllers_->Start();
    Run();
    const std::string text = api::Encode(random_.Job());
    const kube::Response reply = Ask("POST", api::PathOf(api::kJobs, "default"), text);
    if (!reply.ok()) {
      EXPECT_TRUE(reply.code == 400 || reply.code == 422) << *reply.body;
      return;
    }
    admitted = true;
    for (int round = 0; round < 15; ++round) {
      Run(absl::Milliseconds(random_.Below(2000)));
      Happen(round);
    }
    Run(absl::Minutes(20));
    const int writes = writes_;
    Run(absl::Hours(1));
    EXPECT_LE(writes_ - writes, 15 * 15) << "not at rest: more than events about what waits\n" << text;
    EXPECT_THAT(refused_, ::testing::IsEmpty()) << text;
    EXPECT_LE(Job("ctr").status.retry_count, Job("ctr").spec.max_retry);
    Ask("DELETE", api::PathOf(api::kJobs, "default", "ctr"));
    for (const std::string& pod : Names(api::kPods)) Delete(api::kPods, pod);
    Run(absl::Minutes(3));
    for (const api::Resource* resource :
         {&api::kPods, &api::kPodGroups, &api::kServices, &api::kConfigMaps, &api::kNetworkPolicies, &api::kSecrets,
          &api::kPersistentVolumeClaims, &api::kCommands}) {
      EXPECT_THAT(Names(*resource), ::testing::IsEmpty()) << text;
    }
  }
  bool admitted = false;

 private:
  void Happen(int round) {
    if (Get(api::kPodGroups, GroupOf("ctr")).is_object() && random_.Chance(80)) {
      Patch(api::kPodGroups, GroupOf("ctr"),
            absl::StrCat(R"({"status":{"phase":")", random_.OneOf({"Inqueue", "Inqueue", "Running", "Unknown"}),
                         R"("}})"));
    }
    const std::vector<std::string> pods = Names(api::kPods);
    const std::string pod = pods.empty() ? "" : random_.OneOf(pods);
    switch (random_.Below(7)) {
      case 0:
      case 1:
        for (const std::string& each : pods) Status(each, "Running", 0);
        break;
      case 2:
      case 3:
        if (!pod.empty()) Status(pod, random_.OneOf({"Running", "Succeeded", "Failed"}), random_.Below(5));
        break;
      case 4:
        if (!pod.empty()) Ask("DELETE", api::PathOf(api::kPods, "default", pod));
        break;
      case 5:
        Command(absl::StrCat("c", round),
                random_.OneOf({"AbortJob", "ResumeJob", "RestartJob", "TerminateJob", "CompleteJob", "Nonsense"}),
                "ctr");
        break;
      case 6:
        if (random_.Chance(50)) Ask("DELETE", api::PathOf(api::kConfigMaps, "default", "ctr-svc"));
        break;
    }
  }
  void Status(const std::string& pod, const std::string& phase, int code) {
    Ask("PATCH", api::PathOf(api::kPods, "default", pod, "status"),
        absl::StrCat(
            R"({"status":{"phase":")", phase,
            R"(","containerStatuses":[{"name":"c","image":"i","imageID":"","ready":true,"restartCount":1,"state":{"terminated":{"exitCode":)",
            code, "}}}]}}"));
  }

  RandomJobs random_;
  std::vector<std::string> refused_;
  std::unique_ptr<sandbox::InProcessClient> network_;
  std::unique_ptr<CheckingClient> checking_;
};

TEST(RandomJobsTest, WhatIsWrittenIsWellFormedAndComesToRest) {
  log::Options options;
  options.level = log::Level::kOff;
  log::Configure(std::move(options));
  std::uint64_t first = 1, count = std::getenv("GW_TEST_LONG") != nullptr ? 10'000 : 150;
  if (const char* text = std::getenv("GW_PLAN_SEED"); text != nullptr && absl::SimpleAtoi(text, &first)) count = 1;
  int admitted = 0;
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("replay: GW_PLAN_SEED=", seed));
    RandomWorld world(seed);
    world.Live();
    admitted += world.admitted;
  }
  if (count > 1 && !HasFailure()) {
    EXPECT_GT(admitted, static_cast<int>(count / 2));
  }
}

}  // namespace
}  // namespace gangway::controller
