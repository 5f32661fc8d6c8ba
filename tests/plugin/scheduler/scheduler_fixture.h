// The scheduler against the sandbox's API server, on the simulated loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "base/simulated_loop.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/apiserver/in_process_client.h"
#include "tests/plugin/scheduler/running_scheduler.h"

namespace gangway::scheduler {

class SchedulerTest : public ::testing::Test {
 protected:
  SchedulerTest() : loop_(1), server_(loop_, {}) {
    // Stands for the Job; pods whose owner does not exist would be collected.
    Create(api::kConfigMaps, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"job"}})");
    owner_ = absl::StrCat(
        R"("ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"job","controller":true,"uid":")",
        Text(Get(api::kConfigMaps, "job"), "/metadata/uid"), R"("}],)");
  }

  // Pods and PodGroups that are made from now on are a Job's.
  void MakeOfJob() {
    Create(
        api::kJobs,
        R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"job"},"spec":{"minAvailable":1,)"
        R"("tasks":[{"name":"w","replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})");
    group_owner_ = owner_ = absl::StrCat(
        R"("ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"job","controller":true,"uid":")",
        Text(Get(api::kJobs, "job"), "/metadata/uid"), R"("}],)");
  }

  void StartScheduler(Options options = {}, bool standby = false, std::vector<std::string> namespaces = {}) {
    sandbox::Faults faults;
    faults.frames = [this](const kube::Request&, const std::vector<kube::Frame>&) {
      sandbox::WatchFate fate;
      fate.delay = watch_delay_;
      return fate;
    };
    faults.request = [this](const kube::Request& request) {
      sandbox::RequestFate fate;
      if (fate_) fate = fate_(request);
      return fate;
    };
    client_ = std::make_unique<sandbox::InProcessClient>(loop_, server_, "scheduler", std::move(faults));
    scheduler_ = std::make_unique<RunningScheduler>(loop_, *client_, std::move(options), standby, std::move(namespaces),
                                                    metrics_);
    scheduler_->Start();
  }
  void Crash() {
    scheduler_.reset();
    client_.reset();
  }

  kube::Response Ask(const std::string& method, const std::string& path, const std::string& body = "",
                     const std::string& type = "") {
    kube::Request request;
    request.method = method;
    request.path = path;
    request.body = body;
    request.content_type = type;
    return server_.Handle(request, {"test"});
  }
  void Create(const api::Resource& resource, const std::string& body) {
    const kube::Response reply = Ask("POST", api::PathOf(resource, resource.namespaced ? "default" : ""), body);
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  void AddNodes(int count, int cpu = 16) {
    for (int i = 0; i < count; ++i) {
      Create(api::kNodes,
             absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"node-00)", nodes_++,
                          R"("},"status":{"allocatable":{"cpu":")", cpu, R"(","memory":"64Gi","pods":"110"}}})"));
    }
  }
  void AddGroup(const std::string& name, int min_member, const std::string& more = "") {
    Create(api::kPodGroups,
           absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{)", group_owner_,
                        R"("name":")", name, R"("},"spec":{"minMember":)", min_member, R"(,"queue":"default")", more,
                        "}}"));
  }
  void AddQueue(const std::string& name, const std::string& spec) {
    Create(api::kQueues,
           absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":")", name,
                        R"("},"spec":{)", spec, "}}"));
    const kube::Response opened = Ask("PATCH", api::PathOf(api::kQueues, "", name, "status"),
                                      R"({"status":{"state":"Open"}})", "application/merge-patch+json");
    ASSERT_TRUE(opened.ok()) << *opened.body;
  }
  void AddGroupIn(const std::string& queue, const std::string& name, int min_member, const std::string& phase,
                  const std::string& more = "") {
    Create(api::kPodGroups,
           absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{)", group_owner_,
                        R"("name":")", name, R"("},"spec":{"minMember":)", min_member, R"(,"queue":")", queue, R"(")",
                        more, R"(},"status":{"phase":")", phase, R"("}})"));
  }
  void AddPod(const std::string& name, const std::string& group, const std::string& cpu,
              const std::string& more_spec = "", bool controlled = true) {
    Create(
        api::kPods,
        absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name, R"(",)", controlled ? owner_ : "",
                     R"("annotations":{"scheduling.k8s.io/group-name":")", group,
                     R"(","volcano.sh/task-spec":"w"}},"spec":{"schedulerName":"volcano",)", more_spec,
                     R"("containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":")", cpu, R"("}}}]}})"));
  }
  void Bind(const std::string& pod, const std::string& node) {
    const kube::Response reply = Ask("POST", api::PathOf(api::kPods, "default", pod, "binding"),
                                     absl::StrCat(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")", pod,
                                                  R"("},"target":{"kind":"Node","name":")", node, R"("}})"));
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  void SetPhase(const std::string& pod, const std::string& phase) {
    const kube::Response reply =
        Ask("PATCH", api::PathOf(api::kPods, "default", pod, "status"),
            absl::StrCat(R"({"status":{"phase":")", phase, R"("}})"), "application/merge-patch+json");
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  void Delete(const api::Resource& resource, const std::string& name) {
    Ask("DELETE", api::PathOf(resource, "default", name),
        R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0})");
  }

  boost::json::value Get(const api::Resource& resource, const std::string& name) {
    const kube::Response reply = Ask("GET", api::PathOf(resource, resource.namespaced ? "default" : "", name));
    if (!reply.ok()) return nullptr;
    return *api::ParseJson(*reply.body);
  }
  static std::string Text(const boost::json::value& value, absl::string_view pointer) {
    boost::system::error_code error;
    const boost::json::value* found = value.find_pointer({pointer.data(), pointer.size()}, error);
    return found != nullptr && found->is_string() ? std::string(found->get_string().c_str()) : std::string();
  }
  // It is gone, or somebody asked for that.
  bool Leaves(const std::string& pod) {
    const boost::json::value object = Get(api::kPods, pod);
    return object.is_null() || !Text(object, "/metadata/deletionTimestamp").empty();
  }
  std::string NodeOf(const std::string& pod) { return Text(Get(api::kPods, pod), "/spec/nodeName"); }
  std::string Phase(const std::string& group) { return Text(Get(api::kPodGroups, group), "/status/phase"); }
  std::int64_t Running(const std::string& group) {
    const boost::json::value object = Get(api::kPodGroups, group);
    boost::system::error_code error;
    const boost::json::value* found = object.find_pointer("/status/running", error);
    return found == nullptr ? 0 : found->to_number<std::int64_t>();
  }
  // "Type=Status reason: message"
  std::vector<std::string> Conditions(const api::Resource& resource, const std::string& name) {
    std::vector<std::string> lines;
    const boost::json::value object = Get(resource, name);
    boost::system::error_code error;
    const boost::json::value* list = object.find_pointer("/status/conditions", error);
    if (list == nullptr) return lines;
    for (const boost::json::value& condition : list->get_array()) {
      lines.push_back(absl::StrCat(Text(condition, "/type"), "=", Text(condition, "/status"), " ",
                                   Text(condition, "/reason"), ": ", Text(condition, "/message")));
    }
    return lines;
  }
  // "Type Reason message" of events about an object.
  std::vector<std::string> Events(const std::string& name) {
    std::vector<std::string> lines;
    const boost::json::value list = *api::ParseJson(*Ask("GET", api::PathOf(api::kEvents, "default")).body);
    for (const boost::json::value& event : list.at("items").as_array()) {
      if (Text(event, "/involvedObject/name") != name) continue;
      lines.push_back(absl::StrCat(Text(event, "/type"), " ", Text(event, "/reason"), " ", Text(event, "/message")));
      EXPECT_EQ(Text(event, "/source/component"), "volcano");
    }
    return lines;
  }
  int Bound() {
    int bound = 0;
    const boost::json::value list = *api::ParseJson(*Ask("GET", api::PathOf(api::kPods, "default")).body);
    for (const boost::json::value& pod : list.at("items").as_array())
      bound += Text(pod, "/spec/nodeName").empty() ? 0 : 1;
    return bound;
  }

  SimulatedLoop loop_;
  sandbox::ApiServer server_;
  Metrics* metrics_ = nullptr;  // outlives the scheduler
  std::unique_ptr<sandbox::InProcessClient> client_;
  std::unique_ptr<RunningScheduler> scheduler_;
  std::function<sandbox::RequestFate(const kube::Request&)> fate_;
  absl::Duration watch_delay_ = absl::ZeroDuration();
  std::string owner_;        // of pods
  std::string group_owner_;  // of PodGroups; "": nobody
  int nodes_ = 0;
};

inline bool IsBinding(const kube::Request& request) { return absl::EndsWith(request.path, "/binding"); }
inline sandbox::RequestFate Lose(sandbox::RequestFate::Loss loss) {
  sandbox::RequestFate fate;
  fate.loss = loss;
  return fate;
}

}  // namespace gangway::scheduler
