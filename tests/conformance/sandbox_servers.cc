// The sandbox's API server, asked by the in-process client and over HTTP.
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "kube/client/http_client.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/apiserver/in_process_client.h"
#include "sandbox/cluster/api_server_handler.h"
#include "tests/conformance/server.h"

namespace gangway::testutil {
namespace {

class InProcessServer final : public Server {
 public:
  InProcessServer() {
    loop().Run([this] {
      server_ = std::make_unique<sandbox::ApiServer>(loop().loop(), sandbox::ApiServerOptions{});
      auto client = std::make_unique<sandbox::InProcessClient>(loop().loop(), *server_, "gangway");
      client->ShowManagedFields();
      client_ = std::move(client);
      return 0;
    });
  }
  ~InProcessServer() override { Close(); }

  absl::StatusOr<kube::Response> Send(kube::Request request) override {
    if (!sandbox::ApiServer::IsWatch(request)) return Server::Send(std::move(request));
    return loop().Run([&]() -> absl::StatusOr<kube::Response> {
      auto answer = server_->StartWatch(request, {"conformance"}, [](std::vector<kube::Frame>) {}, [](absl::Status) {});
      if (answer.refused.has_value()) return *std::move(answer.refused);
      return absl::FailedPreconditionError("the watch was not refused");
    });
  }
  absl::Status Compact() override {
    return loop().Run([this] {
      server_->CompactHistory();
      return absl::OkStatus();
    });
  }

 private:
  std::unique_ptr<sandbox::ApiServer> server_;
};

class HttpServer final : public Server {
 public:
  HttpServer() {
    loop().Run([this] {
      server_ = std::make_unique<sandbox::ApiServer>(loop().loop(), sandbox::ApiServerOptions{});
      handler_ = std::make_unique<sandbox::ApiServerHandler>(*server_);
      auto front = kube::HttpFront::Start(loop().loop(), *handler_);
      GW_CHECK(front.ok());
      front_ = *std::move(front);
      kube::Connection connection;
      connection.server = front_->url();
      auto client = kube::HttpClient::Make(loop().loop(), connection);
      GW_CHECK(client.ok());
      client_ = *std::move(client);
      return 0;
    });
  }
  ~HttpServer() override { Close(); }

  absl::Status Compact() override {
    return loop().Run([this] {
      server_->CompactHistory();
      return absl::OkStatus();
    });
  }

 private:
  std::unique_ptr<sandbox::ApiServer> server_;
  std::unique_ptr<sandbox::ApiServerHandler> handler_;
  std::unique_ptr<kube::HttpFront> front_;
};

}  // namespace

std::unique_ptr<Server> MakeInProcessServer() { return std::make_unique<InProcessServer>(); }
std::unique_ptr<Server> MakeHttpServer() { return std::make_unique<HttpServer>(); }

}  // namespace gangway::testutil
