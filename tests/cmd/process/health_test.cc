#include "cmd/process/health.h"

#include <optional>
#include <string>

#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/fake_client.h"

namespace gangway::cmd {
namespace {

using ::testing::HasSubstr;

class HealthTest : public ::testing::Test {
 protected:
  // The page's answer once the loop is quiet; code 0: none yet.
  kube::Response Get(const std::string& path, const std::string& method = "GET") {
    answer_ = {};
    kube::Pages(health_.Pages(true, true))
        .HandleRequest({method, path, "", "", "", ""}, {},
                       [this](kube::Response response) { answer_ = std::move(response); });
    loop_.RunUntilIdle();
    return answer_;
  }
  void ApiServerAnswers(int code) {
    client_.SetHandler(
        [code](const kube::Request&) { return std::optional<absl::StatusOr<kube::Response>>(testutil::Reply(code)); });
  }

  SimulatedLoop loop_{1};
  testutil::FakeClient client_{loop_};
  Metrics metrics_;
  std::string not_ready_, stuck_;
  Health health_{loop_,
                 client_,
                 metrics_,
                 {[this] { return stuck_; }, [this] { return not_ready_; }, [] { return std::string(R"({"a":1})"); }}};
  kube::Response answer_;
};

TEST_F(HealthTest, AliveIsWhoAnswers) {
  EXPECT_EQ(Get("/healthz").code, 200);
  EXPECT_EQ(*Get("/livez").body, "ok\n");
  not_ready_ = "the caches are not full yet";
  EXPECT_EQ(Get("/livez").code, 200);
  EXPECT_TRUE(client_.requests().empty()) << "whoever asks whether we live does not wait for an API server";
  stuck_ = "the API server has answered nothing for 1m1s";
  for (const char* page : {"/livez", "/healthz"}) {
    EXPECT_EQ(Get(page).code, 503);
    EXPECT_EQ(*answer_.body, "the API server has answered nothing for 1m1s\n");
  }
}

TEST(StuckForTest, WhoIsAnsweredNothingForAMinuteIs) {
  const absl::Time start = absl::FromUnixSeconds(1'000);
  EXPECT_EQ(StuckFor(start + absl::Seconds(60), start, absl::InfinitePast()), "") << "it has just begun";
  EXPECT_EQ(StuckFor(start + absl::Seconds(61), start, absl::InfinitePast()),
            "the API server has answered nothing for 1m1s");
  EXPECT_EQ(StuckFor(start + absl::Seconds(160), start, start + absl::Seconds(100)), "");
  EXPECT_EQ(StuckFor(start + absl::Milliseconds(190'900), start, start + absl::Seconds(100)),
            "the API server has answered nothing for 1m30s");
}

TEST_F(HealthTest, ReadyAsksTheApiServer) {
  ApiServerAnswers(200);
  EXPECT_EQ(Get("/readyz").code, 200);
  EXPECT_EQ(client_.lines(), std::vector<std::string>{"GET /version"});
  EXPECT_EQ(Get("/readyz").code, 200);
  EXPECT_EQ(client_.requests().size(), 1u) << "at most once a second";
  loop_.RunFor(absl::Seconds(2));
  ApiServerAnswers(500);
  EXPECT_EQ(Get("/readyz").code, 503);
  loop_.RunFor(absl::Seconds(2));
  ApiServerAnswers(401);
  EXPECT_THAT(*Get("/readyz").body, HasSubstr("does not believe who we are"));
  loop_.RunFor(absl::Seconds(2));
  ApiServerAnswers(403);
  EXPECT_EQ(Get("/readyz").code, 200) << "it answers";
}

TEST_F(HealthTest, NotReadySaysWhy) {
  not_ready_ = "the caches are not full yet";
  const kube::Response answer = Get("/readyz");
  EXPECT_EQ(answer.code, 503);
  EXPECT_EQ(*answer.body, "the caches are not full yet\n");
  EXPECT_TRUE(client_.requests().empty());
}

TEST_F(HealthTest, AnApiServerThatDoesNotAnswerIsNotWaitedForLong) {
  EXPECT_EQ(Get("/readyz").code, 0);
  loop_.RunFor(Health::kPatience);
  EXPECT_EQ(answer_.code, 503);
  EXPECT_THAT(*answer_.body, HasSubstr("does not answer"));
  client_.Answer(0, absl::UnavailableError("GET http://h/version: Couldn't connect to server"));
  loop_.RunFor(absl::Seconds(2));
  client_.SetHandler([](const kube::Request&) {
    return std::optional<absl::StatusOr<kube::Response>>(
        absl::UnavailableError("GET http://h/version: Couldn't connect to server"));
  });
  EXPECT_EQ(*Get("/readyz").body, "the API server does not answer: Couldn't connect to server\n");
}

TEST_F(HealthTest, AFewAreKeptWaitingForTheApiServerAndTheOthersAreToldAtOnce) {
  int waiting = 0, told = 0;
  const kube::Page ready = health_.Pages(false, true).at(2);
  ASSERT_EQ(ready.path, "/readyz");
  for (std::size_t i = 0; i < Health::kMaxWaiting + 10; ++i) {
    ++waiting;
    ready.answer([&](const kube::Response& response) {
      --waiting;
      told += response.code == 503;
    });
  }
  EXPECT_EQ(waiting, static_cast<int>(Health::kMaxWaiting));
  EXPECT_EQ(told, 10);
  loop_.RunFor(Health::kPatience);
  EXPECT_EQ(waiting, 0);
}

TEST_F(HealthTest, TheOtherPages) {
  metrics_.AddGauge("gangway_test", "of a test").Set(3);
  EXPECT_THAT(*Get("/metrics").body, HasSubstr("gangway_test 3"));
  EXPECT_EQ(*Get("/debug/dump").body, R"({"a":1})");
  EXPECT_EQ(Get("/").code, 404);
  EXPECT_EQ(Get("/healthz", "POST").code, 405);
}

TEST_F(HealthTest, AnAddressServesWhatItIsFor) {
  kube::Pages(health_.Pages(true, false))
      .HandleRequest({"GET", "/healthz", "", "", "", ""}, {},
                     [this](kube::Response response) { answer_ = std::move(response); });
  EXPECT_EQ(answer_.code, 404);
  kube::Pages(health_.Pages(false, true))
      .HandleRequest({"GET", "/metrics", "", "", "", ""}, {},
                     [this](kube::Response response) { answer_ = std::move(response); });
  EXPECT_EQ(answer_.code, 404);
}

}  // namespace
}  // namespace gangway::cmd
