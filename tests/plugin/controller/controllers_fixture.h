// The controllers against the sandbox's API server on a simulated loop; the test is the scheduler and the kubelets.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "api/volcano/job.h"
#include "assembly/components.h"
#include "base/simulated_loop.h"
#include "gtest/gtest.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/apiserver/in_process_client.h"

namespace gangway::controller {

namespace json = boost::json;
using assembly::Options;

inline std::unique_ptr<kube::Components> MakeControllers(Loop& loop, kube::Client& client,
                                                         const Options& options = {}) {
  return assembly::MakeComponents(loop, client, {"controllers"}, options);
}

inline sandbox::ApiServerOptions ServerOptions(bool default_objects, sandbox::JournalSink journal) {
  sandbox::ApiServerOptions options;
  options.default_objects = default_objects;
  options.journal = std::move(journal);
  return options;
}

class ControllersTest : public ::testing::Test {
 protected:
  explicit ControllersTest(bool default_objects = true)
      : loop_(1),
        server_(loop_,
                ServerOptions(default_objects, [this](const sandbox::JournalRecord& record) { OnRecord(record); })) {}

  void Start(const Options& options = {}) {
    sandbox::Faults faults;
    faults.request = [this](const kube::Request& request) { return fate_ ? fate_(request) : sandbox::RequestFate{}; };
    faults.frames = [this](const kube::Request& watch, const auto&) {
      return watch_fate_ ? watch_fate_(watch) : sandbox::WatchFate{};
    };
    client_ = std::make_unique<sandbox::InProcessClient>(loop_, server_, "controllers", std::move(faults));
    controllers_ = MakeControllers(loop_, *client_, options);
    controllers_->Start();
    Run();
    EXPECT_TRUE(controllers_->synced());
  }
  void Crash() {
    controllers_.reset();
    client_.reset();
  }
  void Run(absl::Duration time = absl::Seconds(1)) { loop_.RunFor(time); }

  kube::Response Ask(const std::string& method, const std::string& path, const std::string& body = "") {
    kube::Request request;
    request.method = method;
    request.path = path;
    request.body = body;
    if (method == "PATCH") request.content_type = "application/merge-patch+json";
    return server_.Handle(request, {"test"});
  }
  void Create(const api::Resource& resource, const std::string& body) {
    const kube::Response reply = Ask("POST", api::PathOf(resource, resource.namespaced ? "default" : ""), body);
    ASSERT_TRUE(reply.ok()) << *reply.body;
    Run();
  }
  void Patch(const api::Resource& resource, const std::string& name, const std::string& body,
             absl::string_view subresource = "") {
    const kube::Response reply =
        Ask("PATCH", api::PathOf(resource, resource.namespaced ? "default" : "", name, subresource), body);
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  void Delete(const api::Resource& resource, const std::string& name) {
    Ask("DELETE", api::PathOf(resource, "default", name),
        R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0})");
    Run();
  }
  json::value Get(const api::Resource& resource, const std::string& name) {
    const kube::Response reply = Ask("GET", api::PathOf(resource, resource.namespaced ? "default" : "", name));
    if (!reply.ok()) return nullptr;
    return *api::ParseJson(*reply.body);
  }
  std::vector<std::string> Names(const api::Resource& resource) {
    std::vector<std::string> names;
    const json::value list =
        *api::ParseJson(*Ask("GET", api::PathOf(resource, resource.namespaced ? "default" : "")).body);
    for (const json::value& item : list.at("items").as_array())
      names.push_back(std::string(item.at("metadata").at("name").as_string()));
    return names;
  }
  std::vector<std::string> Events() {
    std::vector<std::string> events;
    const json::value list = *api::ParseJson(*Ask("GET", api::PathOf(api::kEvents, "default")).body);
    for (const json::value& item : list.at("items").as_array()) {
      events.push_back(
          absl::StrCat(std::string(item.at("reason").as_string()), ": ", std::string(item.at("message").as_string())));
    }
    return events;
  }
  api::volcano::Job Job(const std::string& name) {
    const kube::Response reply = Ask("GET", api::PathOf(api::kJobs, "default", name));
    return reply.ok() ? *api::Decode<api::volcano::Job>(*reply.body) : api::volcano::Job{};
  }
  std::string Phase(const std::string& job) { return Job(job).status.state.phase; }
  std::string GroupOf(const std::string& job) { return absl::StrCat(job, "-", Job(job).metadata.uid); }

  void LetIn(const std::string& job) {
    Patch(api::kPodGroups, GroupOf(job), R"({"status":{"phase":"Inqueue"}})");  // podgroups have no status subresource
    Run();
  }
  void SetPod(const std::string& pod, const std::string& phase, int exit_code = 0) {
    Patch(
        api::kPods, pod,
        absl::StrCat(
            R"({"status":{"phase":")", phase,
            R"(","containerStatuses":[{"name":"c","image":"i","imageID":"","ready":true,"restartCount":0,"state":{"terminated":{"exitCode":)",
            exit_code, "}}}]}}"),
        "status");
    Run();
  }
  void RunPods(const std::string& job) {
    for (const std::string& pod : Names(api::kPods)) {
      if (!absl::StartsWith(pod, job + "-")) continue;
      if (Get(api::kPods, pod).at("status").at("phase").as_string() == "Pending") SetPod(pod, "Running");
    }
  }
  void StartJob(const std::string& name, const std::string& text) {
    Create(api::kJobs, text);
    LetIn(name);
    RunPods(name);
    ASSERT_EQ(Phase(name), "Running");
  }
  void Command(const std::string& name, const std::string& action, const std::string& job) {
    const std::string uid = Job(job).metadata.uid;
    Create(api::kCommands,
           absl::StrCat(R"({"apiVersion":"bus.volcano.sh/v1alpha1","kind":"Command","metadata":{"name":")", name,
                        R"("},"action":")", action,
                        R"(","target":{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":")", job,
                        R"(","uid":")", uid.empty() ? "none" : uid, R"("}})"));
  }

  void OnRecord(const sandbox::JournalRecord& record) {
    if (record.client != "controllers") return;
    ++writes_;
    if (record.resource == &api::kJobs && record.after != nullptr) {
      const std::string phase = api::Decode<api::volcano::Job>(*record.after)->status.state.phase;
      if (phases_.empty() || phases_.back() != phase) phases_.push_back(phase);
    }
  }

  SimulatedLoop loop_;
  sandbox::ApiServer server_;
  std::unique_ptr<sandbox::InProcessClient> client_;
  std::unique_ptr<kube::Components> controllers_;
  std::function<sandbox::RequestFate(const kube::Request&)> fate_;
  std::function<sandbox::WatchFate(const kube::Request& watch)> watch_fate_;
  int writes_ = 0;
  std::vector<std::string> phases_;  // of the one job
};

}  // namespace gangway::controller
