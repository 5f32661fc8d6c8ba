// A pod whose processes and handlers do what a test says, and what a kubelet makes of it.
#pragma once

#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "gtest/gtest.h"
#include "sandbox/process/sync_processes.h"

namespace gangway::sandbox {

// A pod whose processes do what the test says.
class SyncProcessesTest : public ::testing::Test {
 protected:
  static constexpr absl::string_view kPodText = R"({
  "metadata": {"name": "p", "namespace": "default", "uid": "u1", "resourceVersion": "7"},
  "spec": {"nodeName": "node-000", "restartPolicy": "Never", "containers": [{"name": "main"}]},
  "status": {"phase": "Pending"}})";

  void Pod(absl::string_view merge_patch) { api::ApplyMergePatch(json_, *api::ParseJson(merge_patch)); }
  HostedPod pod() const { return *api::Decode<HostedPod>(api::ToJson(json_)); }
  const api::core::ContainerStatus& Main() {
    pod_ = pod();
    return pod_.status.container_statuses.at(0);
  }

  // One pass, whose writes are applied; what it wants done: "start main", "prepare"...
  std::vector<std::string> Pass() {
    const HostedPod pod = this->pod();
    PodView view{pod, node_, {}, "10.1.0.1", "10.0.0.1", missing_};
    ProcessPlan todo = SyncProcesses(view, times_, known_, now_);
    for (const auto& note : todo.plan.events) events_.push_back(absl::StrCat(note.reason, ": ", note.message));
    for (const auto& stage : todo.plan.stages) {
      for (const kube::Write& write : stage) {
        if (write.verb == kube::Verb::kDelete) {
          removed_ = true;
        } else {
          api::ApplyMergePatch(json_, *api::ParseJson(write.body));
        }
      }
    }
    next_ = todo.plan.look_again;
    std::vector<std::string> wants;
    for (const ProcessWant& want : todo.wants) {
      static constexpr absl::string_view kNames[] = {"prepare", "start", "handle", "terminate", "kill", "drop"};
      wants.push_back(absl::StrCat(kNames[static_cast<int>(want.kind)], want.container.empty() ? "" : " ",
                                   want.container, want.use ? " " : "", want.use ? NameOf(*want.use) : ""));
    }
    return wants;
  }
  void Ground() { known_.ground = PodGround::kReady; }
  void Started(const std::string& container = "main") {
    ProcessRun& run = *known_.containers[container].now;
    run.state = ProcessRun::State::kRunning;
    run.started = now_;
  }
  void Ended(int exit_code, const std::string& container = "main") {
    ProcessRun& run = *known_.containers[container].now;
    run.state = ProcessRun::State::kEnded;
    run.ended = now_;
    run.exit_code = exit_code;
  }
  void Answers(HandlerUse use, HandlerResult::Answer answer, const std::string& message = "",
               const std::string& container = "main") {
    known_.containers[container].now->results.push_back({use, answer, message});
  }
  void Deleted(int grace) {
    Pod(absl::StrCat(R"({"metadata":{"deletionTimestamp":"2027-01-15T08:00:00Z","deletionGracePeriodSeconds":)", grace,
                     "}}"));
  }
  // Prepared, and its first container running.
  void Running() {
    Pass();
    Ground();
    Pass();
    Started();
    Pass();
  }
  void After(absl::Duration wait) { now_ += wait; }

  boost::json::value json_ = *api::ParseJson(kPodText);
  HostedPod pod_;
  NodeState node_ = NodeState::kAlive;
  MissingSources missing_;
  KubeletTimes times_;
  PodProcesses known_;
  std::vector<std::string> events_;
  bool removed_ = false;
  absl::Time now_ = absl::FromUnixSeconds(1'800'000'000), next_;
};

}  // namespace gangway::sandbox
