#include "kube/runtime/pulse.h"

#include <memory>
#include <string>
#include <vector>

#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/fake_client.h"

namespace gangway::kube {
namespace {

using ::testing::ElementsAre;
using testutil::FakeClient;
using testutil::Reply;

class PulseTest : public ::testing::Test {
 protected:
  void Answers(absl::StatusOr<Response> reply) {
    client_.SetHandler([reply](const Request&) { return std::optional<absl::StatusOr<Response>>(reply); });
  }
  void Ask() {
    pulse_.Send({"GET", "/api", "", "", "", ""}, owner_.token(),
                [this](const absl::StatusOr<Response>& reply) { codes_.push_back(reply.ok() ? reply->code : 0); });
    loop_.RunUntilIdle();
  }

  SimulatedLoop loop_{1};
  FakeClient client_{loop_};
  Pulse pulse_{loop_, client_};
  Owner owner_;
  std::vector<int> codes_;
};

TEST_F(PulseTest, AnAnswerOfAnybodyIsOne) {
  EXPECT_EQ(pulse_.answered_at(), absl::InfinitePast());
  for (const int code : {200, 201, 401, 403, 404, 409, 429, 500}) {
    loop_.RunFor(absl::Seconds(1));
    Answers(Reply(code));
    Ask();
    EXPECT_EQ(pulse_.answered_at(), loop_.Now()) << code;
  }
  const absl::Time last = loop_.Now();
  for (const int code : {502, 503, 504}) {
    loop_.RunFor(absl::Seconds(1));
    Answers(Reply(code));
    Ask();
    EXPECT_EQ(pulse_.answered_at(), last) << code << ": nobody stands behind the door";
  }
  Answers(absl::UnavailableError("connection reset"));
  Ask();
  EXPECT_EQ(pulse_.answered_at(), last);
  EXPECT_THAT(codes_, ElementsAre(200, 201, 401, 403, 404, 409, 429, 500, 502, 503, 504, 0)) << "all are passed on";
}

TEST_F(PulseTest, AsksOnlyWhenNobodyElseDoes) {
  Answers(Reply(200));
  pulse_.Start();
  loop_.RunFor(absl::Seconds(60));
  EXPECT_GE(client_.requests().size(), 20u);
  EXPECT_LE(client_.requests().size(), 31u);
  EXPECT_EQ(client_.last().path, "/livez");
  EXPECT_GE(pulse_.answered_at(), loop_.Now() - absl::Seconds(3));
  const std::size_t before = client_.requests().size();
  for (int i = 0; i < 60; ++i) {
    loop_.RunFor(absl::Seconds(1));
    Ask();
  }
  EXPECT_EQ(client_.requests().size(), before + 60);
}

TEST_F(PulseTest, ASilenceIsNoticedWithinHalfOfWhatItMayLast) {
  Answers(Reply(200));
  pulse_.Start();
  loop_.RunFor(absl::Milliseconds(100));
  Ask();
  const std::size_t before = client_.requests().size();
  loop_.RunFor(absl::Milliseconds(2950));
  EXPECT_EQ(client_.requests().size(), before + 1);
}

TEST_F(PulseTest, AsksOneQuestionAtATime) {
  pulse_.Start();
  loop_.RunFor(absl::Minutes(5));
  ASSERT_EQ(client_.requests().size(), 1u);
  client_.Answer(0, absl::UnavailableError("its connection has fallen silent"));
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(client_.requests().size(), 2u);
}

TEST_F(PulseTest, AnAnswerMayComeAfterItsEnd) {
  auto pulse = std::make_unique<Pulse>(loop_, client_);
  bool told = false;
  pulse->Send({"GET", "/api", "", "", "", ""}, owner_.token(), [&](const absl::StatusOr<Response>&) { told = true; });
  pulse.reset();
  client_.Answer(0, Reply(200));
  loop_.RunUntilIdle();
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace gangway::kube
