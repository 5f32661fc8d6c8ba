// Callers who mean no good, or are broken: what they hold is bounded, and the scheduler is still answered. The door has
// the limits that `gangway extender` gives it.
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/extender/http/serving.h"
#include "tests/plugin/extender/http/volcano_client.h"
#include "tests/plugin/extender/http/volcano_session.h"
#include "tests/plugin/extender/session/recordings.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/raw_socket.h"

namespace gangway::testutil {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr int kMaxConnections = 256;

kube::HttpFrontOptions Door() {
  kube::HttpFrontOptions options = Serving::Front();
  options.max_connections = kMaxConnections;
  options.replace_idle = true;
  options.max_header_fields = 64;
  options.max_body_bytes = 1u << 20;
  options.max_bytes_in_flight = 2u << 20;
  return options;
}

class FloodTest : public ::testing::Test {
 protected:
  FloodTest() : serving_(Options(), Door()) {}
  static extender::VerbOptions Options() {
    extender::VerbOptions options;
    options.mode = extender::Mode::kSteer;
    options.budget = absl::Seconds(30);
    return options;
  }
  std::unique_ptr<RawSocket> Connect() const {
    return std::make_unique<RawSocket>(static_cast<std::uint16_t>(serving_.port()));
  }
  static std::string Announced(std::size_t length) {
    return absl::StrCat("POST /x/onSessionOpen HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ", length, "\r\n\r\n");
  }
  // A whole session of a scheduler that is well, and nothing of it answered as if we were away.
  void ExpectServed() {
    VolcanoClient client({.port = serving_.port()});
    const std::string body = Recorded("onSessionOpen-6").body;
    const SessionOutcome outcome = RunSession(client, body);
    EXPECT_TRUE(outcome.extender_there);
    EXPECT_THAT(outcome.bound, SizeIs(4));
    EXPECT_THAT(outcome.skipped, IsEmpty());
    EXPECT_THAT(BrokenPromises(body, outcome), IsEmpty());
  }

  Serving serving_;
};

TEST_F(FloodTest, TenThousandIdleConnectionsTakeTheirTurns) {
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = files.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  const auto count = std::min<std::size_t>(10'000, files.rlim_max - 1'000);
  std::vector<std::unique_ptr<RawSocket>> idle;
  for (std::size_t i = 0; i < count; ++i) {
    idle.push_back(Connect());
    ASSERT_TRUE(idle.back()->connected()) << i;
  }
  ExpectServed();
  EXPECT_TRUE(Eventually([&] { return serving_.connections() <= kMaxConnections; }));
}

// Nor has it to come again.
TEST_F(FloodTest, ASchedulerKeepsItsConnectionWhereStrangersTakeTheirTurns) {
  VolcanoClient client({.port = serving_.port()});
  const std::string queue = R"({"Name":"default"})";
  EXPECT_FALSE(client.QueueOverused(queue));
  std::vector<std::unique_ptr<RawSocket>> idle;
  for (int i = 0; i < 4 * kMaxConnections; ++i) idle.push_back(Connect());
  EXPECT_TRUE(idle[0]->ReadPart().empty()) << "it made room";
  EXPECT_FALSE(client.QueueOverused(queue));
  EXPECT_EQ(client.connections(), 1u);
}

TEST_F(FloodTest, HeadersOfManyFieldsAreRefusedUnread) {
  std::string fields;
  for (int i = 0; i < 1'000; ++i) absl::StrAppend(&fields, "X-", i, ": ", i, "\r\n");
  for (int i = 0; i < 100; ++i) {
    const auto socket = Connect();
    socket->Send(absl::StrCat("POST /x/predicate HTTP/1.1\r\nHost: 127.0.0.1\r\n", fields, "\r\n"));
    EXPECT_THAT(socket->ReadAnswer(), StartsWith("HTTP/1.1 431")) << i;
  }
  ExpectServed();
}

// Each holds most of a body and sends no more.
TEST_F(FloodTest, SlowBodiesHoldNoMoreThanIsTheirs) {
  std::vector<std::unique_ptr<RawSocket>> slow;
  const std::string most(100'000, ' ');
  for (int i = 0; i < 100; ++i) {
    slow.push_back(Connect());
    slow.back()->Send(Announced(1u << 20));
    slow.back()->Send(most);
  }
  // Of the 10 MB that were begun 2 MiB may be held: those that have taken longest are refused.
  EXPECT_TRUE(Eventually([&] { return serving_.connections() <= 25; })) << serving_.connections();
  ExpectServed();
}

TEST_F(FloodTest, ConnectionsThatAreResetLeaveNothing) {
  for (int i = 0; i < 1'000; ++i) {
    const auto socket = Connect();
    socket->Send(Announced(50'000));
    socket->Send("{\"Jobs\":{");
    socket->Reset();
  }
  ExpectServed();
  EXPECT_TRUE(Eventually([&] { return serving_.connections() <= 2; }));
}

TEST_F(FloodTest, WhatIsTooLargeIsRefusedBeforeItIsSent) {
  for (int i = 0; i < 1'000; ++i) {
    const auto socket = Connect();
    socket->Send(Announced(std::size_t{1} << 40));
    EXPECT_THAT(socket->ReadAnswer(), StartsWith("HTTP/1.1 413")) << i;
  }
  ExpectServed();
}

}  // namespace
}  // namespace gangway::testutil
