// The clients of examples/clients against the real server: each asks the same and says the same.
#include <cstdlib>
#include <string>
#include <vector>

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"
#include "tests/testing/loop_thread.h"

namespace gangway {
namespace {

using testutil::ChildProcess;
using testutil::Eventually;
using testutil::Outcome;
using testutil::ReadFile;

// What scripts/client-tools made; "" what it did not.
std::string ClientTool(const std::string& name) {
  const char* const folder = std::getenv("GW_CLIENTS");
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  const std::string base = folder != nullptr  ? folder
                           : cache != nullptr ? absl::StrCat(cache, "/gangway/clients")
                                              : absl::StrCat(home == nullptr ? "" : home, "/.cache/gangway/clients");
  const std::string path = absl::StrCat(base, "/", name);
  return access(path.c_str(), R_OK) == 0 ? path : "";
}

class ClientsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Eventually([&] { return !Address().empty(); })) << ReadFile(output_);
  }
  std::string Address() const {
    const std::string text = ReadFile(output_), before = "extender at ";
    const std::size_t at = text.find(before), end = text.find('\n', at == std::string::npos ? text.size() : at);
    return end == std::string::npos ? "" : text.substr(at + before.size(), end - at - before.size());
  }
  // It places a gang, in one call and in a stream, and is told why another waits.
  void TellsOfBoth(std::vector<std::string> program, const std::vector<std::string>& environment = {}) {
    program.push_back(Address());
    program.push_back("1");
    const std::string spots = "trainer-0 node-0, trainer-1 node-0, trainer-2 node-1, trainer-3 node-1\n";
    const Outcome placed = testutil::RunProgram(program, environment);
    EXPECT_EQ(placed.exit_code, 0) << placed.err;
    EXPECT_EQ(placed.out, spots + spots);
    program.back() = "2";
    const std::string why = "waits for 2 of 4 tasks: trainer needs cpu 2; with 2 placed, 2 nodes have 0 free, 0 fit\n";
    const Outcome waits = testutil::RunProgram(program, environment);
    EXPECT_EQ(waits.exit_code, 0) << waits.err;
    EXPECT_EQ(waits.out, why + why);
    program.back() = "much";
    const Outcome wrong = testutil::RunProgram(program, environment);
    EXPECT_NE(wrong.exit_code, 0);
    EXPECT_THAT(wrong.err, ::testing::HasSubstr(R"(gang.tasks[0].requests["cpu"]: "much" is no quantity)"));
  }

  const testutil::TemporaryFolder folder_{"gangway-clients"};
  const std::string output_ = folder_.path() + "/out";
  ChildProcess server_{{GW_GANGWAY, "extender", "--listen", "127.0.0.1:0"}, output_};
};

TEST_F(ClientsTest, TheCppClientPlacesAGang) { TellsOfBoth({GW_CPP_CLIENT}); }

TEST_F(ClientsTest, TheGoClientPlacesAGang) {
  const std::string program = ClientTool("place_gang_go");
  if (program.empty() || ClientTool("go.stamp").empty())
    GTEST_SKIP() << "the Go client could not be built (scripts/client-tools)";
  TellsOfBoth({program});
}

TEST_F(ClientsTest, ThePythonClientPlacesAGang) {
  const std::string python = ClientTool("python/bin/python"), modules = ClientTool("modules");
  if (python.empty() || modules.empty() || ClientTool("modules.stamp").empty())
    GTEST_SKIP() << "there is no Python with grpcio (scripts/client-tools)";
  TellsOfBoth({python, absl::StrCat(GW_SOURCE_DIR, "/examples/clients/python/place_gang.py")},
              {absl::StrCat("PYTHONPATH=", modules), "PYTHONDONTWRITEBYTECODE=1"});
}

}  // namespace
}  // namespace gangway
