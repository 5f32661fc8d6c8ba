// The clients of examples/clients against the real server: each asks the same and says the same.
#include <cstdlib>
#include <string>
#include <vector>

#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cmd/gangway/extender_process.h"
#include "tests/process/process.h"

namespace gangway {
namespace {

using testutil::Outcome;

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
  // It places a gang, in one call and in a stream, and is told why another waits.
  void TellsOfBoth(std::vector<std::string> program, const std::vector<std::string>& environment = {}) {
    program.push_back(extender_.address());
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

  const testutil::ExtenderProcess extender_;
};

TEST_F(ClientsTest, TheCppClientPlacesAGang) { TellsOfBoth({GW_CPP_CLIENT}); }

TEST_F(ClientsTest, TheGoClientPlacesAGang) {
  const std::string program = ClientTool("place_gang_go");
  if (program.empty() || ClientTool("go.stamp").empty())
    GTEST_SKIP() << "the Go client could not be built (scripts/client-tools)";
  TellsOfBoth({program});
}

class PythonClientsTest : public ClientsTest {
 protected:
  void SetUp() override {
    if (python_.empty() || modules_.empty() || ClientTool("modules.stamp").empty())
      GTEST_SKIP() << "there is no Python with grpcio (scripts/client-tools)";
  }
  const std::string python_ = ClientTool("python/bin/python"), modules_ = ClientTool("modules");
  const std::vector<std::string> environment_{absl::StrCat("PYTHONPATH=", modules_), "PYTHONDONTWRITEBYTECODE=1"};
};

TEST_F(PythonClientsTest, ThePythonClientPlacesAGang) {
  TellsOfBoth({python_, absl::StrCat(GW_SOURCE_DIR, "/examples/clients/python/place_gang.py")}, environment_);
}

// The Python of docs/extender.md in which this stands.
std::string Snippet(absl::string_view with) {
  const std::string page = testutil::ReadFile(GW_SOURCE_DIR "/docs/extender.md");
  const std::string begin = "```python\n";
  for (std::size_t at = page.find(begin); at != page.npos; at = page.find(begin, at + 1)) {
    const std::size_t from = at + begin.size();
    const std::string snippet = page.substr(from, page.find("\n```", from) + 1 - from);
    if (absl::StrContains(snippet, with)) return snippet;
  }
  ADD_FAILURE() << "docs/extender.md has no Python with " << with;
  return "";
}

// What the page shows is what a reader gets: each with what its text says is there already.
TEST_F(PythonClientsTest, WhatThePageShowsRuns) {
  const std::string before = absl::StrCat(R"(
import grpc, json
from proto.gangway.v1 import extender_pb2 as pb
channel = grpc.insecure_channel(")",
                                          extender_.address(), R"(")
nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": n}, "status": {"allocatable": {"cpu": "2", "pods": "9"}}} for n in ("a", "b")]
queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "default"}}
group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "ctr", "namespace": "ads"},
         "spec": {"minMember": 1, "queue": "default"}, "status": {"phase": "Inqueue"}}
uid, candidates = "u1", ["a", "b"]
pod = {"apiVersion": "v1", "kind": "Pod",
       "metadata": {"name": "p", "namespace": "ads", "uid": uid, "annotations": {"scheduling.k8s.io/group-name": "ctr"}},
       "spec": {"schedulerName": "volcano", "containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}}
objects = [json.dumps(o) for o in nodes + [queue, group, pod]]
gang = pb.Gang(name="large", min_member=2, tasks=[pb.Task(name="w", replicas=2, requests={"cpu": "3"})])
cluster = pb.Cluster(nodes=[pb.Node(name="a", allocatable={"cpu": "4", "pods": "9"})])
)");
  const auto run = [&](absl::string_view with, absl::string_view after) {
    const std::string own = absl::StrReplaceAll(Snippet(with), {{"127.0.0.1:9443", extender_.address()}});
    const Outcome ran = testutil::RunProgram({python_, "-"}, environment_, absl::StrCat(before, own, after));
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.out;
  };
  using ::testing::HasSubstr;
  EXPECT_EQ(run("session_pb2", "print(plan.gangs[0].job, plan.gangs[0].verdict, best in candidates)\n"),
            "ads/ctr placed True\n");
  EXPECT_THAT(run("explain_pb2", ""), HasSubstr("needs cpu 3"));
  EXPECT_THAT(run("PlaceGangRequest(\n", ""), HasSubstr("placed: true"));
  EXPECT_THAT(run("lifecycle_pb2", ""), HasSubstr("restart 1 of 2 (maxRetry 3)"));
}

}  // namespace
}  // namespace gangway
