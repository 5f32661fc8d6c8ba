// What belongs to which Job: its pods, the objects its plugins made, and commands for it. Found by the Job's name, so
// that what a Job left behind is seen by its successor. Used on one loop.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/volcano/scheduling.h"
#include "plugin/lifecycle/job/job_view.h"

namespace gangway::controller {

using JobKey = api::NamespacedName;

class JobIndex {
 public:
  using CommandPtr = std::shared_ptr<const api::volcano::Command>;
  using JobPtr = std::shared_ptr<const api::volcano::Job>;

  // Each returns the Job it concerns; its name is empty when there is none. Null is absent.
  JobKey PutPod(const api::NamespacedName& key, const api::core::Pod* pod);
  JobKey PutCommand(const api::NamespacedName& key, const CommandPtr& before, const CommandPtr& after);
  JobKey PutObject(const api::Resource& resource, const api::NamespacedName& key, const api::ObjectMeta* metadata,
                   const std::map<std::string, std::string>* data = nullptr);

  // Its PodGroup says of the pod that it goes, which holds as long as it is there.
  void Name(const api::NamespacedName& key);
  // The pod that was seen leaving the Job did so by the scheduler's doing.
  void Release(const JobKey& job, const std::string& pod) { At(job).released_leaving.insert(pod); }

  // Null: it is no Job's, or not there.
  const lifecycle::JobPod* FindPod(const api::NamespacedName& key) const;

  // Which claims the Job mounts; null when it is gone.
  void PutJob(const JobKey& key, const api::volcano::Job* job);
  // The Jobs that mount the claim.
  std::vector<JobKey> PutClaim(const api::NamespacedName& key, bool exists);

  // Fills everything but the Job, its PodGroup, queue, priority classes and `pods_current`.
  void Fill(const JobKey& key, const std::string& job_uid, lifecycle::JobView& view) const;
  // Oldest first.
  std::vector<const api::volcano::Command*> CommandsFor(const JobKey& key) const;
  // The Jobs that somebody commands, whether they are there or not.
  std::vector<JobKey> Commanded() const;
  // What was seen leaving matters no more.
  void ForgetLeaving(const JobKey& key);

 private:
  struct Owned {
    lifecycle::OwnedObject object;
    std::string owner_uid;
  };
  struct Entry {
    lifecycle::PodTable pods;
    absl::flat_hash_set<std::string> seen_leaving, released_leaving;
    absl::flat_hash_map<std::string, std::shared_ptr<const lifecycle::PodFailure>> leaving_failures;
    std::map<std::pair<const api::Resource*, std::string>, Owned> objects;
    absl::btree_map<std::tuple<absl::Time, std::string>, CommandPtr> commands;
    std::vector<std::string> claims;
    bool empty() const {
      return pods.empty() && seen_leaving.empty() && objects.empty() && commands.empty() && claims.empty();
    }
  };
  using ObjectKey = std::pair<const api::Resource*, api::NamespacedName>;

  Entry& At(const JobKey& key);
  void DropIfEmpty(const JobKey& key);
  void RemovePod(const api::NamespacedName& key, const std::string& job);

  absl::flat_hash_map<JobKey, std::unique_ptr<Entry>> entries_;
  absl::flat_hash_map<api::NamespacedName, std::string> job_of_pod_;
  absl::flat_hash_map<ObjectKey, std::string> job_of_object_;
  absl::flat_hash_map<std::string, absl::flat_hash_set<std::string>> claims_;  // by namespace
  absl::flat_hash_map<api::NamespacedName, absl::btree_set<std::string>> jobs_of_claim_;
};

}  // namespace gangway::controller
