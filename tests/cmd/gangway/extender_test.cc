// `gangway extender` as a process: what it prints, answers and measures, and how it ends.
#include <csignal>
#include <string>

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/client/http_client.h"
#include "proto/gangway/v1/lifecycle.grpc.pb.h"
#include "tests/plugin/extender/requests.h"
#include "tests/process/process.h"
#include "tests/testing/loop_thread.h"

namespace gangway {
namespace {

using ::testing::HasSubstr;
using testutil::ChildProcess;
using testutil::Eventually;
using testutil::ReadFile;
using testutil::TemporaryFolder;

// The word after `before` in what was printed; "" until it is there.
std::string After(const std::string& text, const std::string& before) {
  const std::size_t at = text.find(before);
  const std::size_t end = text.find('\n', at == std::string::npos ? text.size() : at);
  return end == std::string::npos ? "" : text.substr(at + before.size(), end - at - before.size());
}

std::string Page(const std::string& url) {
  testutil::LoopThread thread;
  Owner owner;
  kube::Connection connection;
  connection.server = url.substr(0, url.rfind('/'));
  auto client = *kube::HttpClient::Make(thread.loop(), connection);
  testutil::Inbox<std::string> page;
  client->Send({"GET", "/metrics", "", "", "", ""}, owner.token(), [&](absl::StatusOr<kube::Response> r) { page.Put(r.ok() ? *r->body : ""); });
  std::string text = page.Take().value_or("");
  client.reset();
  thread.Join();
  return text;
}

TEST(ExtenderProcessTest, ServesMeasuresAndEndsWhenItIsTold) {
  const TemporaryFolder folder("gangway-extender");
  const std::string output = folder.path() + "/out";
  ChildProcess process({GW_GANGWAY, "extender", "--listen", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0"}, output);
  ASSERT_TRUE(Eventually([&] { return !After(ReadFile(output), "metrics at ").empty(); }));
  const auto channel = grpc::CreateChannel(After(ReadFile(output), "extender at "), grpc::InsecureChannelCredentials());
  grpc::ClientContext context;
  gangway::v1::DecideResponse reply;
  const grpc::Status status = gangway::v1::Lifecycle::NewStub(channel)->Decide(&context, testutil::RunningSeed("TaskCompleted", "trainer"), &reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(reply.action(), "CompleteJob");
  EXPECT_THAT(Page(After(ReadFile(output), "metrics at ")), HasSubstr(R"(gangway_extender_calls_total{code="OK",method="Decide"} 1)"));
  process.Signal(SIGTERM);
  EXPECT_EQ(process.Wait(), 0);
}

TEST(ExtenderProcessTest, AMistakeStopsTheStart) {
  const testutil::Outcome address = testutil::RunProgram({GW_GANGWAY, "extender", "--listen", "here"});
  EXPECT_EQ(address.exit_code, 2);
  EXPECT_EQ(address.err, "gangway extender: --listen here: write HOST:PORT, such as 127.0.0.1:9443; port 0 is any that is free\n");
  const testutil::Outcome tls = testutil::RunProgram({GW_GANGWAY, "extender", "--tls-cert", "/none.crt", "--tls-key", "/none.key"});
  EXPECT_EQ(tls.exit_code, 2);
  EXPECT_THAT(tls.err, HasSubstr("/none.crt: No such file"));
  EXPECT_EQ(testutil::RunProgram({GW_GANGWAY, "extender", "--threads", "0"}).exit_code, 2);
}

}  // namespace
}  // namespace gangway
