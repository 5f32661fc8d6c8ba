// What `gangway extender` takes of memory when callers mean no good: of the process, as it is shipped.
#include <sys/types.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/support/status.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "tests/cmd/gangway/extender_process.h"
#include "tests/plugin/extender/http2_caller.h"
#include "tests/plugin/extender/requests.h"
#include "tests/process/process.h"
#include "tests/testing/loop_thread.h"

namespace gangway {
namespace {

using testutil::Eventually;
using testutil::ExtenderProcess;

// The most memory that a process has had, in bytes.
std::size_t PeakBytes(pid_t pid) {
  for (const absl::string_view line :
       absl::StrSplit(testutil::ReadFile(absl::StrCat("/proc/", pid, "/status")), '\n')) {
    std::size_t kib = 0;
    if (absl::StartsWith(line, "VmHWM:") &&
        absl::SimpleAtoi(absl::StripSuffix(absl::StripAsciiWhitespace(line.substr(6)), " kB"), &kib))
      return kib << 10;
  }
  return 0;
}

// CVE-2023-44487, by callers who do not wait for what becomes of a request, and come again when they are cut off.
TEST(ExtenderMemoryTest, RequestsThatAreTakenBackAtOnceTakeLittleMemory) {
  constexpr int kCallers = 4, kRequests = 50'000;
  ExtenderProcess extender({"--log-level", "off"});
  const std::string address = extender.address();
  const int port = std::atoi(address.c_str() + address.rfind(':') + 1);
  const std::string path = "/gangway.v1.GangScheduler/PlaceGang", message = testutil::SeedRequest().SerializeAsString();
  testutil::Http2Caller good(port);
  const auto served = [&](testutil::Http2Caller& caller) {
    return caller.Call(path, message) && caller.AwaitStatus() == grpc::OK;
  };
  ASSERT_TRUE(served(good));
  const std::size_t before = PeakBytes(extender.process().pid());
  ASSERT_GT(before, 0u);
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&] {
      auto caller = std::make_unique<testutil::Http2Caller>(port);
      for (int sent = 0; sent < kRequests; ++sent) {
        if (!caller->CallAndReset(path, message)) caller = std::make_unique<testutil::Http2Caller>(port);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(Eventually([&] { return served(good); })) << "who takes nothing back keeps the connection";
  EXPECT_LT(PeakBytes(extender.process().pid()) - before, 200u << 20);  // the library alone keeps 3 GB
}

}  // namespace
}  // namespace gangway
