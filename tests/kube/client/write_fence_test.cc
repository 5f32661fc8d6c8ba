// The fence in the HTTP client: what is not to be sent any more does not reach the server, wherever the clock passes
// the end.
#include "kube/client/write_fence.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/client/http_client.h"
#include "tests/testing/fake_http_handler.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/status_matchers.h"

namespace gangway::kube {
namespace {

using ::testing::HasSubstr;
using testutil::FakeHttpHandler;
using testutil::Inbox;
using testutil::LoopThread;
using testutil::MakeResponse;
using testutil::RunningFront;
using testutil::StatusIs;

// A fence that is open for so many looks.
std::shared_ptr<WriteFence> OpenFor(int looks) {
  auto fence = std::make_shared<WriteFence>([left = std::make_shared<std::atomic<int>>(looks)] {
    return absl::FromUnixSeconds(left->fetch_sub(1) > 0 ? 0 : 100);
  });
  fence->OpenUntil(absl::FromUnixSeconds(50));
  return fence;
}

class FenceTest : public ::testing::Test {
 protected:
  ~FenceTest() override {
    client_.reset();
    thread_.Join();
  }
  void Connect(std::shared_ptr<const WriteFence> fence, std::size_t max_in_flight = 64) {
    HttpClientOptions options;
    options.fence = std::move(fence);
    options.max_in_flight = max_in_flight;
    Connection connection;
    connection.server = front_.url();
    client_ = *HttpClient::Make(thread_.loop(), connection, options);
  }
  void Send(const std::string& method, const std::string& path, std::string body) {
    client_->Send({method, path, "", "", "", std::move(body)}, owner_.token(),
                  [this](absl::StatusOr<Response> reply) { replies_.Put(std::move(reply)); });
  }
  absl::StatusOr<Response> Reply() {
    auto reply = replies_.Take();
    return reply.has_value() ? *std::move(reply) : absl::StatusOr<Response>(absl::InternalError("no answer"));
  }

  Inbox<std::string> arrived_;  // at the server
  Inbox<FakeHttpHandler::Respond> held_;
  RunningFront front_{[this](Request request, HttpCaller, FakeHttpHandler::Respond respond) {
    arrived_.Put(request.method + " " + request.path + " " + std::to_string(request.body.size()));
    if (request.path == "/hold") return held_.Put(std::move(respond));
    respond(MakeResponse(200, "{}"));
  }};
  Inbox<absl::StatusOr<Response>> replies_;
  LoopThread thread_;
  Owner owner_;
  std::unique_ptr<HttpClient> client_;
};

TEST_F(FenceTest, OpenItLetsWritesThroughWhole) {
  const auto fence = std::make_shared<WriteFence>();
  fence->OpenUntil(fence->Now() + absl::Hours(1));
  Connect(fence);
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{200'000}, std::size_t{2} << 20}) {
    for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
      Send(method, "/a", std::string(size, 'x'));
      GW_ASSERT_OK(Reply());
      EXPECT_EQ(arrived_.Take(), std::string(method) + " /a " + std::to_string(size));
    }
  }
}

TEST_F(FenceTest, ClosedItLetsOnlyReadsThrough) {
  Connect(std::make_shared<WriteFence>());
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
    Send(method, "/a", "{}");
    EXPECT_THAT(Reply(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                  HasSubstr("not sent: this process does not hold its lease any more")));
  }
  Send("GET", "/b", "");
  GW_EXPECT_OK(Reply());
  EXPECT_EQ(arrived_.Take(), "GET /b 0");
  EXPECT_EQ(arrived_.size(), 0u);
}

TEST_F(FenceTest, WhatWaitedForItsTurnTooLongIsNotSent) {
  const auto fence = std::make_shared<WriteFence>();
  fence->OpenUntil(fence->Now() + absl::Hours(1));
  Connect(fence, 1);
  Send("POST", "/hold", "{}");
  ASSERT_EQ(arrived_.Take(), "POST /hold 2");
  Send("POST", "/second", "{}");
  fence->Close();
  (*held_.Take())(MakeResponse(200, "{}"));
  GW_EXPECT_OK(Reply()) << "what the server had is answered";
  EXPECT_THAT(Reply(), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("POST")));
  EXPECT_EQ(arrived_.size(), 0u);
}

// One look when it is handed over, one when the connection stands, one for the body.
class FenceMomentTest : public FenceTest, public ::testing::WithParamInterface<std::pair<int, std::size_t>> {};
TEST_P(FenceMomentTest, ItIsLookedAtUntilTheBodyIsGone) {
  const auto [looks, size] = GetParam();
  Connect(OpenFor(looks));
  Send("POST", "/a", std::string(size, 'x'));
  EXPECT_THAT(Reply(), StatusIs(absl::StatusCode::kFailedPrecondition));
  Send("GET", "/b", "");
  GW_EXPECT_OK(Reply());
  EXPECT_EQ(arrived_.Take(), "GET /b 0") << "nothing else arrived";
}
INSTANTIATE_TEST_SUITE_P(All, FenceMomentTest,
                         ::testing::Values(std::pair{0, std::size_t{10}}, std::pair{1, std::size_t{10}},
                                           std::pair{1, std::size_t{0}}, std::pair{2, std::size_t{10}},
                                           std::pair{2, std::size_t{300'000}}, std::pair{3, std::size_t{900'000}}));

}  // namespace
}  // namespace gangway::kube
