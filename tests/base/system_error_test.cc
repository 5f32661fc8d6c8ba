#include "base/system_error.h"

#include <cerrno>

#include "gtest/gtest.h"

namespace gangway {
namespace {

TEST(SystemErrorTest, ItSaysWhatAndWhy) {
  const absl::Status status = SystemError("open /x", ENOENT);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "open /x: No such file or directory");
}

TEST(SystemErrorTest, ItIsAnErrorThoughNoReasonIsKnown) { EXPECT_FALSE(SystemError("open /x", 0).ok()); }

}  // namespace
}  // namespace gangway
