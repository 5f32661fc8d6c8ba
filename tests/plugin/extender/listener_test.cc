#include "plugin/extender/listener.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

#include "gtest/gtest.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/raw_socket.h"
#include "tests/testing/status_matchers.h"

namespace gangway::extender {
namespace {

TEST(ListenerTest, WhoHasGoneAgainTakesNobodysTurn) {
  Arrivals arrivals({.at_once = 1, .per_second = 1});
  auto listener = Listener::Start("127.0.0.1:0", 100, arrivals, {});
  GW_ASSERT_OK(listener);
  const auto port = static_cast<std::uint16_t>((*listener)->port());
  for (int i = 0; i < 100; ++i) testutil::RawSocket(port).Reset();
  const testutil::RawSocket stays(port);
  testutil::Inbox<int> taken;
  (*listener)->Begin([&](int socket) { taken.Put(socket); });
  const auto first = taken.Take();
  ASSERT_TRUE(first.has_value());
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  EXPECT_EQ(getpeername(*first, reinterpret_cast<sockaddr*>(&peer), &size), 0) << "it has gone";
  listener->reset();
  close(*first);
}

}  // namespace
}  // namespace gangway::extender
