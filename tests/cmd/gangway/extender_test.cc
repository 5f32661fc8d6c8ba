// `gangway extender` as a process: what it prints, answers and measures, and how it ends.
#include <csignal>
#include <string>
#include <tuple>

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/gangway/v1/extender.grpc.pb.h"
#include "proto/gangway/v1/lifecycle.grpc.pb.h"
#include "tests/cmd/gangway/extender_process.h"
#include "tests/plugin/extender/requests.h"
#include "tests/process/process.h"
#include "tests/testing/loop_thread.h"

namespace gangway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testutil::ChildProcess;
using testutil::Eventually;
using testutil::ExtenderProcess;
using testutil::TemporaryFolder;

TEST(ExtenderProcessTest, ServesMeasuresAndEndsWhenItIsTold) {
  ExtenderProcess extender({"--metrics-addr", "localhost:0"});
  const auto channel = grpc::CreateChannel(extender.address(), grpc::InsecureChannelCredentials());
  grpc::ClientContext context;
  gangway::v1::DecideResponse reply;
  const grpc::Status status = gangway::v1::Lifecycle::NewStub(channel)->Decide(
      &context, testutil::RunningSeed("TaskCompleted", "trainer"), &reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(reply.action(), "CompleteJob");
  EXPECT_THAT(extender.Page("/metrics"), HasSubstr(R"(gangway_extender_calls_total{code="OK",method="Decide"} 1)"));
  EXPECT_EQ(extender.Page("/healthz"), "ok\n");
  EXPECT_EQ(extender.Page("/debug/sessions"), "{}\n");
  extender.process().Signal(SIGTERM);
  EXPECT_EQ(extender.process().Wait(), 0);
}

TEST(ExtenderProcessTest, AMistakeStopsTheStart) {
  const testutil::Outcome address = testutil::RunProgram({GW_GANGWAY, "extender", "--listen", "here"});
  EXPECT_EQ(address.exit_code, 2);
  EXPECT_EQ(address.err,
            "gangway extender: --listen here: write HOST:PORT, such as 127.0.0.1:9443; port 0 is any that is free\n");
  const testutil::Outcome tls =
      testutil::RunProgram({GW_GANGWAY, "extender", "--tls-cert", "/none.crt", "--tls-key", "/none.key"});
  EXPECT_EQ(tls.exit_code, 2);
  EXPECT_THAT(tls.err, HasSubstr("/none.crt: No such file"));
  EXPECT_EQ(testutil::RunProgram({GW_GANGWAY, "extender", "--threads", "0"}).exit_code, 2);
}

// A node with few cores and one with little memory: which is the fuller one the file says, and says again.
TEST(ExtenderProcessTest, TheSchedulersFileDecidesWhereGangsGo) {
  const TemporaryFolder folder("gangway-extender");
  const std::string conf = folder.path() + "/conf";
  const auto write = [&](const char* cpu, const char* memory) {
    testutil::WriteFile(
        conf, absl::StrCat("actions: allocate\ntiers: [{plugins: [{name: binpack, arguments: {binpack.cpu: ", cpu,
                           ", binpack.memory: ", memory, "}}]}]\n"));
  };
  write("1", "0");
  ExtenderProcess extender({"--scheduler-conf", conf});
  ChildProcess& process = extender.process();
  const auto channel = grpc::CreateChannel(extender.address(), grpc::InsecureChannelCredentials());
  gangway::v1::PlaceGangRequest request;
  for (const auto& [name, cpu, memory] : {std::tuple("a", "4", "64Gi"), std::tuple("b", "64", "4Gi")}) {
    gangway::v1::Node* const node = request.mutable_cluster()->add_nodes();
    node->set_name(name);
    (*node->mutable_allocatable())["cpu"] = cpu;
    (*node->mutable_allocatable())["memory"] = memory;
    (*node->mutable_allocatable())["pods"] = "10";
  }
  request.mutable_gang()->set_name("g");
  testutil::AddTask(*request.mutable_gang(), "w", 1, "2");
  (*request.mutable_gang()->mutable_tasks(0)->mutable_requests())["memory"] = "2Gi";
  const auto place = [&] {
    grpc::ClientContext context;
    gangway::v1::PlaceGangResponse reply;
    const grpc::Status status = gangway::v1::GangScheduler::NewStub(channel)->PlaceGang(&context, request, &reply);
    return !status.ok()                     ? status.error_message()
           : reply.placements().size() == 1 ? reply.placements(0).node()
                                            : "nowhere";
  };
  EXPECT_EQ(place(), "a");
  write("0", "1");
  process.Signal(SIGHUP);
  EXPECT_TRUE(Eventually([&] { return place() == "b"; })) << place();
  testutil::WriteFile(conf, "actions: 7\n");
  process.Signal(SIGHUP);
  EXPECT_EQ(place(), "b") << "what cannot be read changes nothing";
  process.Signal(SIGTERM);
  EXPECT_EQ(process.Wait(), 0);
  const testutil::Outcome wrong =
      testutil::RunProgram({GW_GANGWAY, "extender", "--listen", "127.0.0.1:0", "--scheduler-conf", conf});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--scheduler-conf: "));
}

// Each of these stops at something else before it listens.
TEST(ExtenderProcessTest, WhoIsServedOffLoopbackIsAskedFor) {
  const auto run = [](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {GW_GANGWAY, "extender", "--metrics-addr", "nowhere"});
    const testutil::Outcome outcome = testutil::RunProgram(flags);
    EXPECT_EQ(outcome.exit_code, 2);
    return outcome.err;
  };
  EXPECT_THAT(run({"--listen", "0.0.0.0:0"}),
              HasSubstr("--listen 0.0.0.0:0: the service would be open to everybody who reaches this address"));
  const std::string stopped_later = "--metrics-addr nowhere: write HOST:PORT";
  EXPECT_THAT(run({"--listen", "0.0.0.0:0", "--insecure"}),
              AllOf(HasSubstr("nothing is encrypted"), HasSubstr(stopped_later)));
  EXPECT_THAT(run({"--listen", "0.0.0.0:0", "--tls-cert", "a", "--tls-key", "b"}),
              AllOf(HasSubstr("give --client-ca"), HasSubstr(stopped_later)));
  for (const std::vector<std::string>& quiet :
       {std::vector<std::string>{"--listen", "127.0.0.1:0"},
        {"--listen", "[::1]:0", "--tls-cert", "a", "--tls-key", "b"},
        {"--listen", "0.0.0.0:0", "--tls-cert", "a", "--tls-key", "b", "--client-ca", "c"}}) {
    EXPECT_THAT(run(quiet), AllOf(Not(HasSubstr("everybody")), HasSubstr(stopped_later)));
  }
}

}  // namespace
}  // namespace gangway
