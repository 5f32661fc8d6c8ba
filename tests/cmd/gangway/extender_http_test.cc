// `gangway extender --http-listen` as a process: what Volcano's scheduler sends it, whole sessions of it, and what its
// owner sees and may say.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/gangway/v1/session.grpc.pb.h"
#include "tests/cmd/gangway/extender_process.h"
#include "tests/cmd/gangway/gangway_process.h"
#include "tests/cmd/gangway/light_story.h"
#include "tests/cmd/gangway/session_story.h"
#include "tests/plugin/extender/http/volcano_client.h"
#include "tests/plugin/extender/http/volcano_session.h"
#include "tests/plugin/extender/session/recordings.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/raw_socket.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// A busy machine's extender has time, unless `more` says how little.
std::vector<std::string> Flags(const std::string& mode, std::vector<std::string> more = {}) {
  if (std::find(more.begin(), more.end(), "--http-budget") == more.end())
    more.insert(more.begin(), {"--http-budget", kAmpleBudget});
  more.insert(more.begin(), {"--http-listen", "127.0.0.1:0", "--mode", mode});
  return more;
}

class ExtenderSessionProcessTest : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Modes, ExtenderSessionProcessTest, ::testing::Values("steer", "full"),
                         [](const auto& mode) { return std::string(mode.param); });

AskedVerbs VerbsOf(const std::string& mode) { return mode == "full" ? kFullVerbs : AskedVerbs(); }

// Every session that was recorded, one after the other, by sixteen callers who keep two connections.
TEST_P(ExtenderSessionProcessTest, AWholeDayOfSessionsIsAnsweredAndNoGangIsBoundInPart) {
  ExtenderProcess extender(Flags(GetParam()));
  EXPECT_EQ(extender.Page("/readyz"), "ok\n");
  VolcanoClient client({.port = extender.http_port()});
  std::vector<std::string> bodies{LargeSession()};
  for (int i = 1; i <= 6; ++i) bodies.push_back(Recorded(absl::StrCat("onSessionOpen-", i)).body);
  for (const std::string& body : bodies) {
    const SessionOutcome outcome = RunSession(client, body, VerbsOf(GetParam()));
    EXPECT_TRUE(outcome.extender_there);
    EXPECT_THAT(outcome.skipped, IsEmpty());
    EXPECT_THAT(BrokenPromises(body, outcome), IsEmpty());
    EXPECT_THAT(extender.Page("/debug/sessions"), HasSubstr("\"sessions\":[]"));
  }
  const SessionOutcome last =
      RunSession(client, bodies.back(), VerbsOf(GetParam()));  // two gangs of four, of which one has room
  EXPECT_THAT(last.bound, SizeIs(4));
  EXPECT_GT(client.connections(), 2u);
  EXPECT_LT(client.connections(), client.calls());
  EXPECT_THAT(extender.Page("/metrics"),
              AllOf(HasSubstr(R"(verbs_total{result="ok",verb="onSessionClose"} 8)"),
                    HasSubstr(R"(verbs_total{result="unfit",verb="predicate"})"),
                    HasSubstr(R"(sessions_without_plan_total{why="torn"} 0)"), Not(HasSubstr("result=\"late\""))));
  extender.process().Signal(SIGTERM);
  EXPECT_EQ(extender.process().Wait(), 0);
}

// What only full decides: who goes for a gang that goes before others, or whose queue has nothing yet.
TEST(ExtenderHttpProcessTest, InModeFullThoseWhomThePlanEvictsGo) {
  const ExtenderProcess extender(Flags("full"));
  VolcanoClient client({.port = extender.http_port()});
  const SessionOutcome preempted =
      RunSession(client, SessionThatPreempts(), {.overused = true, .preempt = true, .reclaim = false});
  EXPECT_THAT(preempted.evicted, SizeIs(2));
  EXPECT_THAT(preempted.pipelined, SizeIs(2));
  const SessionOutcome reclaimed = RunSession(client, SessionThatReclaims(), kFullVerbs);
  EXPECT_THAT(reclaimed.evicted, SizeIs(2));
  EXPECT_THAT(reclaimed.pipelined, SizeIs(2));
  EXPECT_THAT(reclaimed.overused, ElementsAre("q1"));
  EXPECT_THAT(extender.Page("/metrics"), AllOf(HasSubstr(R"(verbs_total{result="permit",verb="preemptable"} 2)"),
                                               HasSubstr(R"(verbs_total{result="permit",verb="reclaimable"} 2)"),
                                               HasSubstr(R"(verbs_total{result="overused",verb="queueOverused"})")));
}

// Both doors of the process tell of a session that is open behind one of them.
TEST_P(ExtenderSessionProcessTest, AnOpenSessionIsShownOnItsPageAndToThoseWhoCallByGrpc) {
  ExtenderProcess extender(Flags(GetParam()));
  VolcanoClient client({.port = extender.http_port()});
  ASSERT_TRUE(client.OpenSession(Recorded("onSessionOpen-6").body));
  EXPECT_THAT(extender.Page("/debug/sessions"),
              AllOf(StartsWith(absl::StrCat("{\"mode\":\"", GetParam(), "\"")), HasSubstr("\"state\":\"planned\""),
                    HasSubstr("\"placed\":4"), HasSubstr("\"verdict\":\"waits\"")));
  const auto stub =
      gangway::v1::Extender::NewStub(grpc::CreateChannel(extender.address(), grpc::InsecureChannelCredentials()));
  const auto list = [&] {
    grpc::ClientContext context;
    gangway::v1::ListSessionsResponse listed;
    const grpc::Status status = stub->ListSessions(&context, {}, &listed);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return listed;
  };
  const gangway::v1::ListSessionsResponse open = list();
  ASSERT_EQ(open.sessions_size(), 1);
  EXPECT_EQ(open.sessions(0).caller(), "127.0.0.1");
  EXPECT_EQ(open.sessions(0).state(), "planned");
  EXPECT_EQ(open.sessions(0).nodes(), 6);
  EXPECT_EQ(open.sessions(0).placed(), 4);
  client.CloseSession();
  EXPECT_EQ(list().sessions_size(), 0);
  // One line for each gang that waits or is kept out.
  EXPECT_THAT(extender.output(), HasSubstr("gang judged"));
}

TEST(ExtenderHttpProcessTest, ABodyBeyondTheLimitIs413) {
  const ExtenderProcess extender(Flags("steer", {"--max-session-bytes", "1048576"}));
  const auto opening = [&](std::size_t length) {
    RawSocket socket(static_cast<std::uint16_t>(extender.http_port()));
    socket.Send(absl::StrCat("POST /x/onSessionOpen HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ", length,
                             "\r\n\r\n", length <= 1048576 ? std::string(length, ' ') : ""));
    return socket.ReadAnswer();
  };
  EXPECT_THAT(opening(1048577), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(opening(1048576), StartsWith("HTTP/1.1 400"));  // read, and no session
}

// In kB.
double StatusOf(const ChildProcess& process, absl::string_view what) {
  for (const absl::string_view line :
       absl::StrSplit(ReadFile(absl::StrCat("/proc/", process.pid(), "/status")), '\n')) {
    if (absl::StartsWith(line, what)) return std::atof(std::string(line.substr(line.find(':') + 1)).c_str());
  }
  return 0;
}

// Thirty callers who send half of a body and no more: of all of them two bodies are held, in buffers that grow.
TEST(ExtenderHttpProcessTest, BodiesThatDoNotEndHoldBoundedMemory) {
  constexpr int kBody = 8 << 20;
  ExtenderProcess extender(Flags("steer", {"--max-session-bytes", absl::StrCat(kBody)}));
  const double before = StatusOf(extender.process(), "VmRSS");
  const std::string half(kBody / 2, ' ');
  std::vector<std::unique_ptr<RawSocket>> slow;
  for (int i = 0; i < 30; ++i) {
    slow.push_back(std::make_unique<RawSocket>(static_cast<std::uint16_t>(extender.http_port())));
    slow.back()->Send(
        absl::StrCat("POST /x/onSessionOpen HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ", kBody, "\r\n\r\n", half));
  }
  VolcanoClient client({.port = extender.http_port()});
  EXPECT_THAT(RunSession(client, Recorded("onSessionOpen-6").body).bound, SizeIs(4)) << "others are served";
  const double grew = (StatusOf(extender.process(), "VmHWM") - before) / 1024;
  EXPECT_LT(grew, 6 * kBody / 1048576) << "MiB, of 120 that were sent";
}

// Who has so little time is answered before there is a plan, and that is counted.
TEST(ExtenderHttpProcessTest, AnOpeningIsAnsweredWhenTheBudgetIsOver) {
  const ExtenderProcess extender(Flags("steer", {"--http-budget", "1us"}));
  VolcanoClient client({.port = extender.http_port()});
  const std::string body = LargeSession();
  EXPECT_TRUE(Eventually([&] {
    EXPECT_TRUE(client.OpenSession(body));
    return absl::StrContains(extender.Page("/metrics"), R"(verbs_total{result="late",verb="onSessionOpen"})");
  }));
  EXPECT_THAT(extender.Page("/metrics"), Not(HasSubstr(R"(budget_exceeded_total{verb="onSessionOpen"} 0)")));
}

// Two gangs of which one has nodes, and both have room in sums.
TEST(ExtenderHttpProcessTest, WhatIsAskedOfAGangThatIsLetInIsSaidByAFlag) {
  const std::string body = Recorded("onSessionOpen-5").body;
  for (const auto& [admit, let_in] : {std::pair("whole-gang", 1u), std::pair("sums", 2u)}) {
    const ExtenderProcess extender(Flags("steer", {"--admit", admit}));
    VolcanoClient client({.port = extender.http_port()});
    EXPECT_THAT(RunSession(client, body).let_in, SizeIs(let_in)) << admit;
  }
}

// Nodes with ever more cpu and ever less memory: which are the fuller ones the file says, and says again.
std::string UnlikeNodes() {
  boost::json::value session = boost::json::parse(Recorded("onSessionOpen-6").body);
  int i = 0;
  for (auto& [name, node] : session.at("Nodes").as_object()) {
    const int cpu = 10 + i, gib = 12 - i;
    ++i;
    boost::json::object& allocatable = node.at("Node").at("status").at("allocatable").as_object();
    allocatable["cpu"] = absl::StrCat(cpu);
    allocatable["memory"] = absl::StrCat(gib, "Gi");
    for (const char* const amounts : {"Idle", "Allocatable", "Capacity"}) {
      node.at(amounts).as_object()["MilliCPU"] = cpu * 1000;
      node.at(amounts).as_object()["Memory"] = std::int64_t{gib} << 30;
    }
  }
  return boost::json::serialize(session);
}

TEST(ExtenderHttpProcessTest, TheSchedulersFileIsReadAgainWhenItIsSaid) {
  const TemporaryFolder folder("gangway-extender");
  const std::string conf = folder.path() + "/conf", body = UnlikeNodes();
  const auto write = [&](int cpu, int memory) {
    WriteFile(conf, absl::StrCat("actions: allocate\ntiers: [{plugins: [{name: binpack, arguments: {binpack.cpu: ", cpu,
                                 ", binpack.memory: ", memory, "}}]}]\n"));
  };
  write(1, 0);
  ExtenderProcess extender(Flags("steer", {"--scheduler-conf", conf}));
  VolcanoClient client({.port = extender.http_port()});
  // Where the first gang goes, by the scores of its pods.
  const auto nodes = [&] {
    std::vector<std::string> all;
    for (int i = 0; i < 6; ++i) all.push_back(absl::StrCat("{\"Name\":\"node-00", i, "\"}"));
    std::set<std::string> chosen;
    EXPECT_TRUE(client.OpenSession(body));
    for (int i = 0; i < 4; ++i) {
      const auto scores = client.Prioritize(TaskIn(body, absl::StrCat("ga-w-", i)), all);
      for (const auto& [node, score] : scores.value()) chosen.insert(node);
    }
    client.CloseSession();
    return chosen;
  };
  using Nodes = std::set<std::string>;
  EXPECT_EQ(nodes(), (Nodes{"node-000", "node-001", "node-002", "node-003"}));
  write(0, 1);
  extender.process().Signal(SIGHUP);
  EXPECT_TRUE(Eventually([&] { return nodes() == Nodes{"node-002", "node-003", "node-004", "node-005"}; }));
}

TEST(ExtenderHttpProcessTest, AMistakeStopsTheStart) {
  const auto run = [](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {GW_GANGWAY, "extender", "--listen", "127.0.0.1:0"});
    const Outcome outcome = RunProgram(flags);
    EXPECT_EQ(outcome.exit_code, 2);
    return outcome.err;
  };
  const std::string open = "--http-listen 0.0.0.0:0: Volcano's extender plugin shows no certificate";
  EXPECT_THAT(run({"--http-listen", "0.0.0.0:0"}), HasSubstr(open));
  // Stopped by something else, before it listens.
  EXPECT_THAT(run({"--http-listen", "0.0.0.0:0", "--insecure", "--http-budget", "soon"}),
              AllOf(Not(HasSubstr(open)), HasSubstr("everybody who reaches this address is served"),
                    HasSubstr("--http-budget soon: write a positive number and a unit, such as 700ms")));
  EXPECT_THAT(run({"--http-listen", "127.0.0.1:0", "--http-budget", "0s"}), HasSubstr("--http-budget 0s: "));
  EXPECT_THAT(run({"--http-listen", "127.0.0.1:0", "--mode", "heavy"}), HasSubstr("heavy"));
  EXPECT_THAT(run({"--http-listen", "127.0.0.1:0", "--admit", "all"}), HasSubstr("all"));
  EXPECT_THAT(run({"--http-listen", "127.0.0.1:0", "--max-session-bytes", "9"}), HasSubstr("--max-session-bytes"));
  EXPECT_THAT(run({"--http-listen", "127.0.0.1:0", "--mode", "light", "--kubeconfig", "/none/kubeconfig"}),
              HasSubstr("/none/kubeconfig"));
}

// An API server and no more: nodes are those that a test makes.
class WatchingExtenderTest : public ::testing::Test {
 protected:
  const TemporaryFolder folder_{"gangway-extender"};
  ApiServerProcess server_{folder_.path(), {"--components", "apiserver"}};
  const CallApi call_ = [this](const std::string& method, const std::string& path, const std::string& body,
                               const std::string& type) { return server_.Call(method, path, body, type); };
};

TEST_F(WatchingExtenderTest, InModeLightGangsAreLetInThatHaveRoomAndBoundWhole) {
  CreateNodes(call_, Recorded("onSessionOpen-5").body);
  TellOfLight(call_, server_.kubeconfig());
}

// Mode steer is the same without evictions.
TEST_F(WatchingExtenderTest, InModeFullGangsAreBoundWholeAndOneThatGoesBeforeOthersInTheirPlace) {
  CreateNodes(call_, Recorded("onSessionOpen-5").body);
  TellOfSessions(call_, server_.kubeconfig(), extender::Mode::kFull);
}

// Without an API server nothing is known: that is told, and gangs are left to the scheduler.
TEST_F(WatchingExtenderTest, ModeLightIsReadyWhenAllIsListed) {
  server_.Signal(SIGSTOP);
  const ExtenderProcess extender(Flags("light", {"--kubeconfig", server_.kubeconfig()}));
  EXPECT_EQ(extender.PageCode("/readyz"), 503);
  EXPECT_THAT(extender.Page("/readyz"), StartsWith("the cluster is not listed yet"));
  EXPECT_EQ(extender.Page("/healthz"), "ok\n");
  VolcanoClient client({.port = extender.http_port()});
  EXPECT_EQ(client.JobEnqueueable(R"({"UID":"x/y"})"), 0);
  EXPECT_THAT(extender.Page("/debug/sessions"), HasSubstr(R"("upToDate":false,"live":null)"));
  server_.Signal(SIGCONT);
  EXPECT_TRUE(Eventually([&] { return extender.PageCode("/readyz") == 200; })) << extender.output();
  EXPECT_EQ(client.JobEnqueueable(R"({"UID":"x/y"})"), -1) << "the watch would show it in a moment";
}

// A session does not tell HyperNodes: they are read from the cluster that --kubeconfig names.
TEST_F(WatchingExtenderTest, AGangThatMustLieInARackIsPlannedByTheHyperNodesOfTheCluster) {
  const std::string spec = R"("spec":{"minMember":4,)";
  const std::string body = absl::StrReplaceAll(
      Recorded("onSessionOpen-6").body,
      {{spec, R"("spec":{"networkTopology":{"mode":"hard","highestTierAllowed":1},"minMember":4,)"}});
  CreateRacks(call_, 2, 6);
  const ExtenderProcess extender(Flags("steer", {"--kubeconfig", server_.kubeconfig()}));
  VolcanoClient client({.port = extender.http_port()});
  EXPECT_TRUE(Eventually([&] {
    EXPECT_TRUE(client.OpenSession(body));
    const bool judged = !absl::StrContains(extender.Page("/debug/sessions"), "\"verdict\":\"not judged\"");
    client.CloseSession();
    return judged;
  }));
  const SessionOutcome outcome = RunSession(client, body);
  EXPECT_THAT(outcome.bound, SizeIs(4));
  for (const auto& [pod, node] : outcome.bound) EXPECT_GE(node, "node-002") << pod;
}

}  // namespace
}  // namespace gangway::testutil
