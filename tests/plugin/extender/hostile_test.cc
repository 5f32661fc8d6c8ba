// Callers over gRPC who mean no good, or are broken: what they take is bounded, and a good caller is answered beside
// them. docs/threat-model.md says what the library leaves open.
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/gangway/v1/lifecycle.pb.h"
#include "tests/plugin/extender/http2_caller.h"
#include "tests/plugin/extender/requests.h"
#include "tests/plugin/extender/server_fixture.h"
#include "tests/testing/raw_socket.h"

namespace gangway::extender {
namespace {

using ::testing::HasSubstr;
using testutil::Eventually;
using testutil::Http2Caller;
using testutil::Inbox;
using testutil::RawSocket;
using testutil::SeedRequest;

constexpr char kPlaceGang[] = "/gangway.v1.GangScheduler/PlaceGang";

// What is allocated now. Under a sanitizer, which has an allocator of its own, it is 0 and bounds nothing.
std::size_t HeapBytes() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

// Of the files that this process may have open.
constexpr rlim_t kAsMany = RLIM_INFINITY;  // as can be
void SetFileLimit(rlim_t count) {
  rlimit files{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = std::min(count, files.rlim_max);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
}
rlim_t FileLimit() {
  rlimit files{};
  EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
  return files.rlim_cur;
}

std::size_t OpenFiles() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

class HostileCallersTest : public ServerTest {
 protected:
  HostileCallersTest() : server_(Start(ForMany())), good_(Connect(*server_)) {
    ExpectServed();
    before_ = HeapBytes();
    files_ = OpenFiles();
  }
  static ServerOptions ForMany() {
    SetFileLimit(kAsMany);
    ServerOptions options;
    options.max_connections = 10'000;
    return options;
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
  bool WasCut(absl::string_view why) {
    return Eventually([&] {
      return absl::StrContains(metrics_.Expose(),
                               absl::StrCat("gangway_extender_connections_cut_total{why=\"", why, "\"} 1"));
    });
  }
  std::size_t Growth() const {
    const std::size_t now = HeapBytes();
    return now > before_ ? now - before_ : 0;
  }

  const std::unique_ptr<Server> server_;
  const std::shared_ptr<grpc::Channel> good_;
  std::size_t before_ = 0, files_ = 0;
};

// CVE-2023-44487. None of them keeps a place from the good caller.
TEST_F(HostileCallersTest, CallsThatAreTakenBackAtOnceLeaveNothing) {
  const std::string message = SeedRequest().SerializeAsString();
  ExpectServedBeside([&] {
    Http2Caller caller(server_->port());
    for (int i = 0; i < 200 && caller.CallAndReset(kPlaceGang, message); ++i) {
    }
    // Until the server has come to all of them, or has cut the connection off.
    if (caller.Call(kPlaceGang, message)) caller.AwaitStatus();
  });
  EXPECT_TRUE(Eventually([&] { return Growth() < (4u << 20); })) << Growth();
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(metrics_.Expose(), "gangway_extender_calls 0"); }));
}

TEST_F(HostileCallersTest, WhoTakesBackTooManyIsCutOff) {
  RawSocket socket(static_cast<std::uint16_t>(server_->port()));
  socket.Send(absl::StrCat(testutil::EndlessFieldsBegin(), testutil::EndlessFieldsEnd()));
  const std::string resets = testutil::Resets(10'000);  // at once, so that no time gives any of them back
  for (int i = 0; socket.Send(resets); ++i) ASSERT_LT(i, 100);
  EXPECT_TRUE(WasCut("resets"));
  ExpectServed();
}

// Who has not acknowledged how many requests may be open has as many as it likes, to the library.
TEST_F(HostileCallersTest, WhoDoesNotHearOurSettingsIsCutOff) {
  RawSocket socket(static_cast<std::uint16_t>(server_->port()));
  socket.Send(absl::StrCat(testutil::EndlessFieldsBegin(), testutil::EndlessFieldsEnd()));
  int stream = 3;
  while (socket.Send(testutil::OpenRequest(stream))) ASSERT_LT(stream += 2, 4'000'000);  // more than sockets hold
  EXPECT_TRUE(WasCut("streams"));
  ExpectServed();
}

// CVE-2019-9513
TEST_F(HostileCallersTest, FramesThatAskForNothingAreCutOff) {
  RawSocket socket(static_cast<std::uint16_t>(server_->port()));
  socket.Send(absl::StrCat(testutil::EndlessFieldsBegin(), testutil::EndlessFieldsEnd()));
  const std::string frames = testutil::Priorities(10'000);
  for (int i = 0; socket.Send(frames); ++i) ASSERT_LT(i, 100);
  EXPECT_TRUE(WasCut("frames"));
  ExpectServed();
}

// CVE-2023-33953: kept, and read anew with each frame.
TEST_F(HostileCallersTest, AHeaderOfOneTextThatDoesNotEndIsCutOff) {
  const std::string more = testutil::EndlessTextContinuation(16'000);
  RawSocket socket(static_cast<std::uint16_t>(server_->port()));
  socket.Send(testutil::EndlessTextBegin());
  for (int i = 0; socket.Send(more); ++i) ASSERT_LT(i, 1'000);
  EXPECT_TRUE(WasCut("header"));
  ExpectServed();
}

TEST_F(HostileCallersTest, ConnectionsThatAreResetLeaveNothing) {
  const std::string begin = testutil::EndlessFieldsBegin();
  ExpectServedBeside([&] {
    for (int i = 0; i < 100; ++i) {
      RawSocket socket(static_cast<std::uint16_t>(server_->port()));
      socket.Send(absl::string_view(begin).substr(0, begin.size() - static_cast<std::size_t>(i) % 60));
      socket.Reset();
    }
    // Until the server has come to all of them, so that no more wait than are made in a round.
    RawSocket(static_cast<std::uint16_t>(server_->port())).ReadPart();
  });
  EXPECT_TRUE(Eventually([&] { return Growth() < (4u << 20); })) << Growth();
  EXPECT_TRUE(Eventually([&] { return OpenFiles() <= files_ + 4; })) << OpenFiles();
}

TEST_F(HostileCallersTest, IdleConnectionsHoldLittle) {
  const auto count = std::min<std::size_t>(500, (FileLimit() - 1'000) / 2);  // both ends are ours
  std::vector<std::unique_ptr<RawSocket>> idle;
  for (std::size_t i = 0; i < count; ++i) {
    idle.push_back(std::make_unique<RawSocket>(static_cast<std::uint16_t>(server_->port())));
    ASSERT_TRUE(idle.back()->connected()) << i;
    if (i % 2 == 0) idle.back()->Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  }
  for (const auto& socket : idle) ASSERT_FALSE(socket->ReadPart().empty());  // each is greeted
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
    for (int i = 0; socket.Send(more); ++i) ASSERT_LT(i, 1'000);
    EXPECT_LT(Growth(), 32u << 20);
  });
  EXPECT_TRUE(Eventually([&] { return Growth() < (4u << 20); })) << Growth();
}

// The good caller comes when the house is full.
class FullHouseTest : public ServerTest {
 protected:
  static std::unique_ptr<RawSocket> Silent(const Server& server) {
    return std::make_unique<RawSocket>(static_cast<std::uint16_t>(server.port()));
  }
  void ExpectServedInTheEnd(const Server& server) {
    EXPECT_TRUE(Eventually([&] {
      v1::PlaceGangResponse reply;
      return Place(Connect(server), SeedRequest(), &reply).ok();
    }));
  }
};

TEST_F(FullHouseTest, BeyondTheLimitConnectionsAreClosedAndThoseThatSayNothingMakeRoom) {
  ServerOptions options;
  options.max_connections = 20;
  options.greeting_timeout = absl::Seconds(5);  // in which a busy machine greets twenty
  const auto server = Start(options);
  std::vector<std::unique_ptr<RawSocket>> silent;
  for (int refused = 0; refused < 3;) {
    auto socket = Silent(*server);
    if (socket->ReadPart().empty()) {
      ++refused;
    } else {
      silent.push_back(std::move(socket));  // it was greeted
    }
    ASSERT_LE(silent.size(), 20u);
  }
  EXPECT_GE(silent.size(), 5u);  // both ends are ours, and count
  EXPECT_THAT(metrics_.Expose(), HasSubstr("gangway_extender_connections_refused_total 3"));
  ExpectServedInTheEnd(*server);
}

// More than are let in at once: the others come in their turn.
TEST_F(FullHouseTest, WhoComesWithManyOthersIsGreeted) {
  const auto server = Start();
  std::vector<std::unique_ptr<RawSocket>> all;
  for (int i = 0; i < 200; ++i) all.push_back(Silent(*server));
  for (const auto& socket : all) ASSERT_FALSE(socket->ReadPart().empty());
}

TEST_F(FullHouseTest, ConnectionsWithoutACallMakeRoom) {
  ServerOptions options;
  options.idle_timeout = absl::Milliseconds(100);
  const auto server = Start(options);
  // On a busy machine a call may come too late; then another one is made.
  EXPECT_TRUE(Eventually([&] {
    Http2Caller idle(server->port());
    if (!idle.Call(kPlaceGang, SeedRequest().SerializeAsString()) || idle.AwaitStatus() != grpc::OK) return false;
    EXPECT_TRUE(idle.AwaitEnd());
    return true;
  }));
}

// More files than the process may have: who connects meanwhile is served when there are files again.
TEST_F(FullHouseTest, WithoutFilesTheServerLooksAgain) {
  Inbox<bool> failed;
  log::Options logs;
  logs.sink = [&](absl::string_view line) {
    if (absl::StrContains(line, "cannot accept a connection")) failed.Put(true);
  };
  log::Configure(std::move(logs));
  const auto server = Start();
  const rlim_t before = FileLimit();
  std::vector<int> files = {open("/dev/null", O_RDONLY | O_CLOEXEC)};
  SetFileLimit(static_cast<rlim_t>(files[0]) + 10);
  for (int file; (file = dup(files[0])) >= 0;) files.push_back(file);
  close(files.back());
  files.pop_back();
  const auto waits = Silent(*server);  // has the last
  EXPECT_TRUE(waits->connected());
  EXPECT_TRUE(failed.Take().has_value());
  for (const int file : files) close(file);
  SetFileLimit(before);
  EXPECT_FALSE(waits->ReadPart().empty());
  ExpectServedInTheEnd(*server);
  log::Configure({});
}

TEST_F(HostileCallersTest, MetadataBeyondTheLimitIsRefused) {
  const std::string message = SeedRequest().SerializeAsString();
  Http2Caller caller(server_->port());
  ASSERT_TRUE(caller.Call(kPlaceGang, message, {{"x", std::string(8 << 10, 'a')}}));
  EXPECT_EQ(caller.AwaitStatus(), grpc::OK);
  ASSERT_TRUE(caller.Call(kPlaceGang, message, {{"x", std::string(60 << 10, 'a')}}));
  EXPECT_EQ(caller.AwaitStatus(), grpc::RESOURCE_EXHAUSTED);
  // Before it has heard of the limit.
  Http2Caller hasty(server_->port());
  ASSERT_TRUE(hasty.Call(kPlaceGang, message, {{"x", std::string(60 << 10, 'a')}}));
  EXPECT_EQ(hasty.AwaitStatus(), grpc::RESOURCE_EXHAUSTED);
  // A look-up, and a stream.
  for (const char* const method : {"/gangway.v1.Extender/Predicate", "/gangway.v1.GangScheduler/Follow"}) {
    Http2Caller another(server_->port());
    ASSERT_TRUE(another.Call(method, "", {{"x", std::string(60 << 10, 'a')}}));
    EXPECT_EQ(another.AwaitStatus(), grpc::RESOURCE_EXHAUSTED) << method;
  }
  ExpectServed();
}

}  // namespace
}  // namespace gangway::extender
