#include "tests/process/process.h"

#include <csignal>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace gangway::testutil {
namespace {

// A program that waits for a signal which is ignored would be waited for without end.
TEST(ChildrenTest, BeginWithSignalsAsByDefault) {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1}) {
    const auto before = std::signal(signal, SIG_IGN);
    const Outcome outcome = RunProgram({"sh", "-c", absl::StrCat("kill -", signal, " $$")});
    std::signal(signal, before);
    EXPECT_EQ(outcome.exit_code, 128 + signal);
  }
}

}  // namespace
}  // namespace gangway::testutil
