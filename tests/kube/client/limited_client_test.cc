#include "kube/client/limited_client.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/fake_client.h"

namespace gangway::kube {
namespace {

class LimitedClientTest : public ::testing::Test {
 protected:
  void Send(LimitedClient& client, const std::string& method, int count) {
    for (int i = 0; i < count; ++i)
      client.Send({method, absl::StrCat("/", sent_++), "", "", "", ""}, owner_.token(), [](const auto&) {});
  }
  SimulatedLoop loop_{1};
  testutil::FakeClient fake_{loop_};
  Owner owner_;
  int sent_ = 0;
};

TEST_F(LimitedClientTest, WritesBeyondTheRateWaitInOrderAndReadsDoNot) {
  LimitedClient client(loop_, fake_, 10, 3);
  Send(client, "POST", 5);
  EXPECT_EQ(fake_.requests().size(), 3u);
  EXPECT_EQ(client.waiting(), 2u);
  Send(client, "GET", 1);
  EXPECT_EQ(fake_.last().path, "/5");
  loop_.RunFor(absl::Milliseconds(101));
  EXPECT_EQ(fake_.last().path, "/3");
  loop_.RunFor(absl::Milliseconds(101));
  EXPECT_EQ(fake_.last().path, "/4");
  EXPECT_EQ(client.waiting(), 0u);
}

TEST_F(LimitedClientTest, ZeroIsNoLimit) {
  LimitedClient client(loop_, fake_, 0, 1);
  Send(client, "DELETE", 1000);
  EXPECT_EQ(fake_.requests().size(), 1000u);
}

TEST_F(LimitedClientTest, ANewRateTakesEffectAtOnce) {
  LimitedClient client(loop_, fake_, 0.001, 1);
  Send(client, "PATCH", 10);
  EXPECT_EQ(fake_.requests().size(), 1u);
  client.SetRate(0, 1);
  EXPECT_EQ(fake_.requests().size(), 10u);
}

}  // namespace
}  // namespace gangway::kube
