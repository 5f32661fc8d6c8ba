// The whole embedded cluster in simulated time, and what a user asks its API server.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/simulated_loop.h"
#include "gtest/gtest.h"
#include "sandbox/cluster/cluster.h"

namespace gangway::sandbox {

class ClusterTest : public ::testing::Test {
 protected:
  void StartWith(ClusterOptions options) {
    cluster_ = std::make_unique<Cluster>(loop_, std::move(options));
    cluster_->Start();
    loop_.RunFor(absl::Seconds(1));
  }
  kube::Response Ask(const std::string& method, const std::string& path, const std::string& body = "") {
    kube::Request request;
    request.method = method;
    request.path = path;
    request.body = body;
    if (method == "PATCH") request.content_type = "application/merge-patch+json";
    return cluster_->api_server().Handle(request, {"user"});
  }
  void Make(const std::string& path, const std::string& body) {
    const kube::Response reply = Ask("POST", path, body);
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }

  SimulatedLoop loop_{1};
  std::unique_ptr<Cluster> cluster_;
};

}  // namespace gangway::sandbox
