// The same call against the health service of the gRPC library.
#include <grpcpp/ext/health_check_service_server_builder_option.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "sandbox/process/health/health_call.h"
#include "tests/testing/raw_socket.h"

namespace gangway::sandbox {
namespace {

class HealthServerTest : public ::testing::Test {
 protected:
  // Without `health` it has no service at all.
  void Start(bool health) {
    grpc::EnableDefaultHealthCheckService(health);
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterCallbackGenericService(&nothing_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }
  void TearDown() override {
    if (server_ != nullptr) server_->Shutdown();
  }
  std::string Ask(const std::string& service) {
    testutil::RawSocket socket(static_cast<std::uint16_t>(port_));
    HealthCall call(absl::StrCat("127.0.0.1:", port_), service, 60);
    socket.Send(call.TakeOutput());
    while (true) {
      const std::string bytes = socket.ReadPart();
      if (bytes.empty()) return "it left";
      const auto answer = call.Take(bytes);
      if (!answer.ok()) return std::string(answer.status().message());
      if (answer->has_value()) return HealthComplaint(**answer, "60s");
      socket.Send(call.TakeOutput());
    }
  }

  int port_ = 0;
  grpc::CallbackGenericService nothing_;  // has no method
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(HealthServerTest, ItServesAndItsServicesDoOrDoNot) {
  Start(true);
  EXPECT_EQ(Ask(""), "");
  EXPECT_EQ(Ask("trainer"), "error: health rpc probe failed: rpc error: code = NotFound desc = service name unknown");
  server_->GetHealthCheckService()->SetServingStatus("trainer", false);
  EXPECT_EQ(Ask("trainer"), "service unhealthy (responded with \"NOT_SERVING\")");
  server_->GetHealthCheckService()->SetServingStatus("trainer", true);
  EXPECT_EQ(Ask("trainer"), "");
}

TEST_F(HealthServerTest, OneWithoutTheServiceSaysSo) {
  Start(false);
  EXPECT_EQ(Ask(""), "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ");
}

}  // namespace
}  // namespace gangway::sandbox
