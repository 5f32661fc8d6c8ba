// What is kept of a cluster's objects to look at it. Pods and events are many and large: of them only what is shown.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/paddle/paddle_job.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "cmd/vcctl/job_view.h"
#include "plugin/model/resources.h"

namespace gangway::dashboard {

struct PodSeen {
  std::string ns, name;
  std::string node;   // "": it has none
  std::string group;  // the PodGroup of Volcano that it names; "": none
  std::string job;    // the Job of Volcano that it is of; "": none
  // What it is of, to a reader: the job, else the PodGroup, else its controller, else itself.
  std::string holder;
  std::string phase;
  bool ended = false;
  model::NamedAmounts requests;
  absl::Time created = absl::InfinitePast();
};
PodSeen PodSeenOf(const api::core::Pod& pod);

// An event about a Job of Volcano.
struct EventSeen {
  std::string ns, name;
  std::string job, job_uid;
  std::string reason, message;
  bool warning = false;
  std::int32_t count = 0;
  absl::Time at = absl::InfinitePast();  // when it happened last
};
EventSeen EventSeenOf(const cmd::JobEvent& event);

// In the order of namespaces and names. Null is nowhere.
struct Seen {
  template <class T>
  using Objects = std::vector<std::shared_ptr<const T>>;

  Objects<api::volcano::Queue> queues;
  Objects<api::volcano::PodGroup> groups;
  Objects<api::volcano::Job> jobs;
  Objects<api::paddle::PaddleJob> paddle_jobs;
  Objects<api::paddle::kubeflow::PaddleJob> kubeflow_jobs;
  Objects<api::core::Node> nodes;
  std::vector<const PodSeen*> pods;
  std::vector<const EventSeen*> events;
  std::vector<std::string> not_seen;  // what could not be read and why, a line each
};

}  // namespace gangway::dashboard
