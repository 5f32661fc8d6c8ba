// Everything there is to know about one Job at one moment: what ReconcileJob decides on.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "api/resource.h"
#include "api/volcano/job.h"
#include "api/volcano/past_runs.h"
#include "api/volcano/scheduling.h"
#include "plugin/lifecycle/job/job_pod.h"
#include "plugin/lifecycle/job_plugins/ssh_key.h"

namespace gangway::lifecycle {

// An object that a job plugin made: who it is and what is in it.
struct OwnedObject {
  const api::Resource* resource = nullptr;
  std::string name, uid, resource_version;
  bool deleting = false;
  std::map<std::string, std::string> data;  // of config maps
  std::string revision;                     // of Secrets: the annotation kSshConfigKey (job_plugins/job_plugin.h)
};

// Borrows everything; lives for one decision.
struct JobView {
  const api::volcano::Job* job = nullptr;             // never null
  const api::volcano::PodGroup* pod_group = nullptr;  // named <job>-<uid>, or <job> (before Volcano 1.5)
  const PodTable* pods = nullptr;                     // all that a Job of this name controls; null: none
  const api::volcano::Queue* queue = nullptr;         // spec.queue
  std::string namespace_queue;  // the namespace's annotation kQueueNameAnnotation; "": none, or not known
  // Oldest first. Commands for other Jobs of this name are among them.
  std::vector<const api::volcano::Command*> commands;
  std::vector<OwnedObject> objects;                                       // controlled by this Job (its UID)
  const absl::flat_hash_set<std::string>* claims = nullptr;               // claims of the namespace; null: none
  const std::map<std::string, std::int32_t>* priority_classes = nullptr;  // name -> value; null: none

  absl::Time status_written = absl::InfinitePast();  // the last time by us; InfinitePast: not since we started
  // How long a Job that comes and goes on may be without its first status, which then tells of its pods, too; zero: it
  // is written at once.
  absl::Duration first_status_patience = absl::ZeroDuration();

  api::volcano::PastRuns past_runs;  // of the same spec, while there is no PodGroup

  const SshKeyPair* ssh_key = nullptr;  // for a Secret that has to be made; null: there is none yet

  // A pod that is not in `pods` is certainly gone only when the pods were read no earlier than this version of the Job,
  // or when it was seen leaving. Otherwise its creation may still be on its way to us.
  bool pods_current = true;
  const absl::flat_hash_set<std::string>* seen_leaving = nullptr;  // names; null: none
  // Those of them that the scheduler had marked as released, or Volcano's controller as out of sync.
  const absl::flat_hash_set<std::string>* released_leaving = nullptr;  // names; null: none

  // What was known of how those failed that were seen leaving, by name; null: nothing.
  const absl::flat_hash_map<std::string, std::shared_ptr<const PodFailure>>* leaving_failures = nullptr;

  bool CertainlyGone(const std::string& pod) const {
    return pods_current || (seen_leaving != nullptr && seen_leaving->contains(pod));
  }
};

}  // namespace gangway::lifecycle
