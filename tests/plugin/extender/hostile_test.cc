// Callers over gRPC who mean no good, or are broken: what they take is bounded, and a good caller is answered beside
// them. docs/threat-model.md says what the library leaves open.
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/gangway/v1/lifecycle.pb.h"
#include "tests/plugin/extender/http2_caller.h"
#include "tests/plugin/extender/requests.h"
#include "tests/plugin/extender/server_fixture.h"
#include "tests/testing/raw_socket.h"

namespace gangway::extender {
namespace {

using testutil::Eventually;
using testutil::Http2Caller;
using testutil::RawSocket;
using testutil::SeedRequest;

constexpr char kPlaceGang[] = "/gangway.v1.GangScheduler/PlaceGang";

// What is allocated now. Under a sanitizer, which has an allocator of its own, it is 0 and bounds nothing.
std::size_t HeapBytes() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

class HostileCallersTest : public ServerTest {
 protected:
  HostileCallersTest() : server_(Start()), good_(Connect(*server_)) {
    ExpectServed();
    before_ = HeapBytes();
  }
  void ExpectServed() {
    v1::PlaceGangResponse reply;
    const grpc::Status status = Place(good_, SeedRequest(), &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_TRUE(reply.placed());
  }
  // `attack` is made again and again by several at once, while the good caller goes on.
  void ExpectServedBeside(const std::function<void()>& attack) {
    std::atomic<bool> over = false;
    std::atomic<int> attacks = 0;
    std::vector<std::thread> attackers;
    for (int i = 0; i < 2; ++i) {
      attackers.emplace_back([&] {
        while (!over) {
          attack();
          ++attacks;
        }
      });
    }
    EXPECT_TRUE(Eventually([&] { return attacks >= 2; }));
    for (int i = 0; i < 10; ++i) ExpectServed();
    over = true;
    for (std::thread& attacker : attackers) attacker.join();
    ExpectServed();
  }
  std::size_t Growth() const {
    const std::size_t now = HeapBytes();
    return now > before_ ? now - before_ : 0;
  }

  const std::unique_ptr<Server> server_;
  const std::shared_ptr<grpc::Channel> good_;
  std::size_t before_ = 0;
};

// CVE-2023-44487. Those that were accepted keep their places until a thread has looked at them: a good caller may be
// told meanwhile to come again, as when too many ask, and is answered then.
TEST_F(HostileCallersTest, CallsThatAreTakenBackAtOnceLeaveNothing) {
  const std::string message = SeedRequest().SerializeAsString();
  for (int connection = 0; connection < 4; ++connection) {
    Http2Caller caller(server_->port());
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(caller.CallAndReset(kPlaceGang, message)) << i;
  }
  EXPECT_TRUE(Eventually([&] {
    v1::PlaceGangResponse reply;
    return Place(good_, SeedRequest(), &reply).ok();
  }));
  EXPECT_TRUE(Eventually([&] { return Growth() < (4u << 20); })) << Growth();
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(metrics_.Expose(), "gangway_extender_calls 0"); }));
}

TEST_F(HostileCallersTest, ConnectionsThatAreResetLeaveNothing) {
  const std::string begin = testutil::EndlessFieldsBegin();
  ExpectServedBeside([&] {
    for (int i = 0; i < 100; ++i) {
      RawSocket socket(static_cast<std::uint16_t>(server_->port()));
      socket.Send(absl::string_view(begin).substr(0, begin.size() - static_cast<std::size_t>(i) % 60));
      socket.Reset();
    }
  });
  EXPECT_TRUE(Eventually([&] { return Growth() < (4u << 20); })) << Growth();
}

// Nothing bounds how many there are but the files that a process may have open; each holds little.
TEST_F(HostileCallersTest, IdleConnectionsHoldLittle) {
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = files.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
  const auto count = std::min<std::size_t>(2'000, (files.rlim_max - 1'000) / 2);  // both ends are ours
  std::vector<std::unique_ptr<RawSocket>> idle;
  for (std::size_t i = 0; i < count; ++i) {
    idle.push_back(std::make_unique<RawSocket>(static_cast<std::uint16_t>(server_->port())));
    ASSERT_TRUE(idle.back()->connected()) << i;
    if (i % 2 == 0) idle.back()->Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  }
  ExpectServed();
  EXPECT_LT(Growth(), count * (64u << 10));
  idle.clear();
  ExpectServed();
}

// One field after the other.
TEST_F(HostileCallersTest, AHeaderOfFieldsThatDoNotEndHoldsLittle) {
  const std::string begin = testutil::EndlessFieldsBegin(), more = testutil::EndlessFieldsContinuation(16'000);
  ExpectServedBeside([&] {
    RawSocket socket(static_cast<std::uint16_t>(server_->port()));
    socket.Send(begin);
    for (int i = 0; i < 256 && socket.Send(more); ++i) {
    }
    EXPECT_LT(Growth(), 32u << 20);  // of 8 MB that two send
  });
  EXPECT_TRUE(Eventually([&] { return Growth() < (4u << 20); })) << Growth();
}

}  // namespace
}  // namespace gangway::extender
