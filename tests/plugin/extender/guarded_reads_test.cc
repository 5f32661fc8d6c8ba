#include "plugin/extender/guarded_reads.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/plugin/extender/http2_caller.h"

namespace gangway::extender {
namespace {

TEST(GuardedReadsTest, WhoeverIsCutOffMakesThoseWaitWhoCome) {
  Arrivals arrivals({.at_once = 8, .per_second = 1, .wary = absl::Hours(1), .per_second_wary = 1});
  const CutsCounted counted({}, arrivals);
  EXPECT_TRUE(arrivals.TryTake(absl::Now()) && arrivals.TryTake(absl::Now()));
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  GuardReads(ends[0]);
  // A header's frame says first how long it is.
  const std::string sent =
      absl::StrCat(testutil::EndlessTextBegin(), testutil::EndlessTextContinuation(100'000).substr(0, 1'000));
  ASSERT_EQ(send(ends[1], sent.data(), sent.size(), 0), static_cast<ssize_t>(sent.size()));
  std::array<char, 4'096> into{};
  iovec piece{into.data(), into.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  EXPECT_EQ(recvmsg(ends[0], &message, 0), -1);
  EXPECT_EQ(errno, ECONNRESET);
  const absl::Time now = absl::Now();
  EXPECT_TRUE(arrivals.TryTake(now));
  EXPECT_FALSE(arrivals.TryTake(now));
  for (const int end : ends) close(end);
}

}  // namespace
}  // namespace gangway::extender
