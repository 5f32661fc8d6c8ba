#include "plugin/extender/listener.h"

#include <unistd.h>

#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::extender {
namespace {

// The first file that it opens is number 0 then.
TEST(ListenerTest, AProgramWithoutStandardInputListensToo) {
  const int input = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  {
    const auto listener = Listener::Start("127.0.0.1:0", 1, {});
    GW_EXPECT_OK(listener);
  }
  if (input < 0) return;
  dup2(input, STDIN_FILENO);
  close(input);
}

}  // namespace
}  // namespace gangway::extender
