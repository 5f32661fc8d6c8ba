// Everything there is to know about one PaddleJob at one moment: what ReconcilePaddleJob decides on.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "api/meta.h"
#include "api/paddle/paddle_job.h"
#include "api/resource.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "translator/convert/options.h"
#include "translator/lifecycle/paddle_pod.h"

namespace gangway::paddle_lifecycle {

// A Service or ConfigMap that has, or may have, a name that the PaddleJob needs.
struct NearbyObject {
  const api::Resource* resource = nullptr;
  std::string name, uid, resource_version;
  bool deleting = false;
  api::OwnerReference controller;  // all "" when it has none
  std::string translation;         // annotation kTranslationKey (record.h); "": not made by us
};
NearbyObject NearbyOf(const api::Resource& resource, const api::ObjectMeta& metadata);

// By name: status.state.
using QueueStates = absl::flat_hash_map<std::string, std::string>;

// What a controller says of an object by an event.
struct EventText {
  std::string reason, message;  // "": it says nothing
};

// Borrows everything; lives for one decision. Every change of what stands here must lead to another decision.
struct PaddleJobView {
  // Exactly one of the two is set.
  const api::paddle::PaddleJob* job = nullptr;
  const api::paddle::kubeflow::PaddleJob* kubeflow_job = nullptr;

  const api::volcano::Job* volcano_job = nullptr;  // the Job of its name, whoever made it; null: none
  const PodTable* pods = nullptr;                  // all with JobOf its name; null: none
  // Oldest first, whichever Job of this name they are for: an own command that was not carried out yet is not given
  // again.
  std::vector<const api::volcano::Command*> commands;
  // The PodGroup of the Job: "<job>-<UID of the Job>", else the one of its name that the Job controls.
  const api::volcano::PodGroup* pod_group = nullptr;
  // The message of the latest event Unschedulable on that PodGroup, by its UID: a gang that its queue refuses has no
  // condition. "": none.
  std::string group_event;
  // The latest warning of the Job's controller about the Job, by its UID, other than that its PodGroup waits: why pods
  // cannot be made. It may be over by now.
  EventText job_warning;
  // The PodGroup of the job's own name, whoever made it: taken over when it was written by hand.
  const api::volcano::PodGroup* same_named_group = nullptr;
  // The Services and ConfigMaps of the namespace that are called like the job, or begin with its name and "-". In any
  // order.
  std::vector<NearbyObject> objects;

  const QueueStates* queues = nullptr;  // null: not known, then none is asked for
  std::string namespace_queue;          // the namespace's annotation api::volcano::kQueueNameAnnotation; "": none

  // What the API server said when it refused the last creation of the Job, or of what it needs, for good; "": it did
  // not. Forgotten when the PaddleJob changes or its Job could be written.
  std::string refused;
  absl::Time status_written = absl::InfinitePast();  // the last time by us; InfinitePast: not since we started
  // The Jobs were read no earlier than this version of the PaddleJob: one that is absent here is gone.
  bool jobs_current = true;

  // Target, release, cluster domain, etcd, nodes, strict; `kept`, `group` and `namespace_queue` are set by the
  // decision.
  convert::TranslateOptions options;
};

}  // namespace gangway::paddle_lifecycle
