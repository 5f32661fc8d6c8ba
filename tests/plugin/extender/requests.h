// Requests to start from: valid ones; a case states only what matters to it.
#pragma once

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/gangway/v1/extender.pb.h"
#include "proto/gangway/v1/lifecycle.pb.h"

namespace gangway::testutil {

// Nodes of 16 cpu, 64Gi, 110 pods.
inline gangway::v1::Cluster ClusterOf(int nodes) {
  gangway::v1::Cluster cluster;
  for (int i = 0; i < nodes; ++i) {
    gangway::v1::Node& node = *cluster.add_nodes();
    node.set_name(absl::StrCat("node-", i));
    (*node.mutable_allocatable())["cpu"] = "16";
    (*node.mutable_allocatable())["memory"] = "64Gi";
    (*node.mutable_allocatable())["pods"] = "110";
    (*node.mutable_labels())["kubernetes.io/hostname"] = node.name();
  }
  return cluster;
}

inline gangway::v1::Task& AddTask(gangway::v1::Gang& gang, const std::string& name, int replicas,
                                  const std::string& cpu) {
  gangway::v1::Task& task = *gang.add_tasks();
  task.set_name(name);
  task.set_replicas(replicas);
  (*task.mutable_requests())["cpu"] = cpu;
  (*task.mutable_requests())["memory"] = "100M";
  return task;
}

// examples/ctr-volcano.yaml on `nodes` nodes.
inline gangway::v1::PlaceGangRequest SeedRequest(int nodes = 6) {
  gangway::v1::PlaceGangRequest request;
  request.mutable_gang()->set_name("ctr-volcano");
  request.mutable_gang()->set_min_member(4);
  AddTask(*request.mutable_gang(), "pserver", 2, "1");
  AddTask(*request.mutable_gang(), "trainer", 2, "1");
  *request.mutable_cluster() = ClusterOf(nodes);
  return request;
}

inline void AddPolicy(google::protobuf::RepeatedPtrField<gangway::v1::Policy>& policies, const std::string& event,
                      const std::string& action) {
  gangway::v1::Policy& policy = *policies.Add();
  policy.add_events(event);
  policy.set_action(action);
}

// The example's Job, running.
inline gangway::v1::DecideRequest RunningSeed() {
  gangway::v1::DecideRequest request;
  gangway::v1::Job& job = *request.mutable_job();
  job.set_phase("Running");
  job.set_min_available(4);
  AddPolicy(*job.mutable_policies(), "PodEvicted", "RestartJob");
  AddPolicy(*job.mutable_policies(), "PodFailed", "RestartJob");
  for (const char* name : {"pserver", "trainer"}) {
    gangway::v1::JobTask& task = *job.add_tasks();
    task.set_name(name);
    task.set_replicas(2);
    task.mutable_pods()->set_running(2);
  }
  AddPolicy(*job.mutable_tasks(1)->mutable_policies(), "TaskCompleted", "CompleteJob");
  return request;
}

inline gangway::v1::DecideRequest RunningSeed(const std::string& event, const std::string& task) {
  gangway::v1::DecideRequest request = RunningSeed();
  request.mutable_event()->set_name(event);
  request.mutable_event()->set_task(task);
  return request;
}

}  // namespace gangway::testutil
