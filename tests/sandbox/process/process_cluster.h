// The embedded cluster with processes for containers, on a loop of its own, and what a user asks its API server.
#pragma once

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/manifest/manifest.h"
#include "api/resource.h"
#include "gtest/gtest.h"
#include "sandbox/cluster/cluster.h"
#include "sandbox/process/host_client.h"
#include "sandbox/process/process_runtime.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"

namespace gangway::sandbox {

class ProcessCluster : public ::testing::Test {
 protected:
  void TearDown() override {
    if (cluster_ != nullptr) thread_.Run([&] { cluster_.reset(); });
    thread_.Run([&] { host_.reset(); });
    thread_.Join();
    EXPECT_FALSE(std::filesystem::exists(folder_));
  }
  // False: this machine has no namespaces for us.
  bool Start(bool shared_network = false, std::vector<ImageFolder> images = {}) {
    folder_ = (std::filesystem::path(temporary_.path()) / "state").string();
    std::filesystem::create_directory(folder_);
    ProcessOptions options;
    options.folder = folder_;
    options.claims = (claims_by_name_ ? temporary_.path() : folder_) + "/claims";
    options.claims_by_name = claims_by_name_;
    options.shared_network = shared_network;
    options.path = "/usr/local/bin:/usr/bin:/bin";
    options.home = "/root";
    options.working_dir = "/";
    options.images = std::move(images);
    options.times.restart_backoff = absl::Milliseconds(10);
    HostSetup setup;
    setup.folder = folder_;
    setup.shared_network = shared_network;
    setup.cgroup = absl::StrCat("gangway-process-test-", getpid());
    auto host = thread_.Run([&] { return HostClient::Start(thread_.loop(), GW_GANGWAY, setup); });
    if (!host.ok()) {
      why_ = std::string(host.status().message());
      return false;
    }
    host_ = *std::move(host);
    ClusterOptions cluster;
    cluster.workloads = true;
    cluster.kubelets.nodes = MakeNodes({*ParseNodeShape("cpu=64,memory=256Gi")}, 1);
    cluster.kubelets.make_runtime = [this, options](kube::Informers& informers, OnContainers on_containers) {
      return std::make_unique<ProcessRuntime>(informers, options, *host_, std::move(on_containers));
    };
    thread_.Run([&] {
      cluster_ = std::make_unique<Cluster>(thread_.loop(), std::move(cluster));
      cluster_->Start();
    });
    return true;
  }
  kube::Response Ask(const std::string& method, const std::string& path, const std::string& body = "",
                     const std::string& query = "") {
    kube::Request request;
    request.method = method;
    request.path = path;
    request.query = query;
    request.body = body;
    return thread_.Run([&] { return cluster_->api_server().Handle(request, {"user"}); });
  }
  void Make(const std::string& path, const std::string& body) {
    const kube::Response reply = Ask("POST", path, body);
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  // All objects of a file.
  void Apply(const std::string& text) {
    const auto documents = api::ReadManifest(text, "file");
    ASSERT_TRUE(documents.ok()) << documents.status();
    for (const api::ManifestDocument& document : *documents) {
      const api::Resource* const resource = api::FindKind(document.api_version, document.kind);
      ASSERT_NE(resource, nullptr) << document.kind;
      Make(api::PathOf(*resource, "default"), document.json);
    }
  }
  // A pod of the default namespace on the one node; `spec` goes on after its restart policy: `,"containers":[...]`.
  void MakePod(const std::string& name, const std::string& spec, const std::string& restart = "Never") {
    Make(api::PathOf(api::kPods, "default"),
         absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
                      R"(","labels":{"app":"x"}},"spec":{)",
                      R"("nodeName":"node-000","terminationGracePeriodSeconds":1,"restartPolicy":")", restart, "\"",
                      spec, "}}"));
  }
  static std::string Shell(const std::string& script, const std::string& more = "") {
    return absl::StrCat(R"({"name":"main","image":"x","command":["sh","-c",)", api::JsonString(script), "]", more, "}");
  }
  void RunShell(const std::string& name, const std::string& script, const std::string& container = "",
                const std::string& pod = "") {
    MakePod(name, absl::StrCat(R"(,"containers":[)", Shell(script, container), "]", pod));
  }
  boost::json::value PodOf(const std::string& name) {
    return *api::ParseJson(*Ask("GET", api::PathOf(api::kPods, "default", name)).body);
  }
  std::string Phase(const std::string& name) {
    const boost::json::value pod = PodOf(name);
    const boost::json::value* const phase =
        pod.as_object().contains("status") ? pod.at("status").as_object().if_contains("phase") : nullptr;
    return phase == nullptr ? std::string() : boost::json::value_to<std::string>(*phase);
  }
  bool Becomes(const std::string& name, const std::string& phase) {
    return testutil::Eventually([&] { return Phase(name) == phase; });
  }
  // The phase it ends in.
  std::string End(const std::string& name, std::chrono::seconds patience = testutil::kPatience) {
    testutil::Eventually([&] { return Phase(name) == "Succeeded" || Phase(name) == "Failed"; }, patience);
    return Phase(name);
  }
  std::string Log(const std::string& name, const std::string& query = "") {
    return *Ask("GET", api::PathOf(api::kPods, "default", name) + "/log", "", query).body;
  }
  boost::json::value Terminated(const std::string& name) {
    return PodOf(name).at("status").at("containerStatuses").at(0).at("state").at("terminated");
  }

  bool claims_by_name_ = true;  // of Start(); false: as without --volumes
  testutil::TemporaryFolder temporary_{"process-sandbox"};
  std::string folder_, why_;
  testutil::LoopThread thread_;
  std::unique_ptr<HostClient> host_;
  std::unique_ptr<Cluster> cluster_;
};

}  // namespace gangway::sandbox
