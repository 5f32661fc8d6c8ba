// What stands around each PaddleJob, by the name they share: its Job, the Job's pods, commands to it, objects with
// names it may need, and what was said of it by events. Used on the loop of its owner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "translator/lifecycle/paddle_job_view.h"

namespace gangway::paddle_controller {

// Namespace and name of a PaddleJob, and of its Job.
using JobKey = api::NamespacedName;

class PaddleIndex {
 public:
  using JobPtr = std::shared_ptr<const api::volcano::Job>;
  using CommandPtr = std::shared_ptr<const api::volcano::Command>;

  // What the caches saw; null is absent. What is answered is whom it concerns; a key without a name: nobody.
  // `kept`: others keep the Job, so that it costs nothing to hold it; else of a Job that no PaddleJob controls only the
  // metadata is.
  void PutJob(const JobKey& key, const JobPtr& job, bool kept = false);
  JobKey PutPod(const api::NamespacedName& key, const api::core::Pod* pod);
  JobKey PutCommand(const api::NamespacedName& key, const CommandPtr& before, const CommandPtr& after);
  // All that might want its name: "a-b-c" concerns a, a-b and a-b-c.
  std::vector<JobKey> PutObject(const api::Resource& resource, const api::NamespacedName& key,
                                const api::ObjectMeta* metadata);
  // The name of the PodGroup or Job it is about.
  api::NamespacedName PutEvent(const api::NamespacedName& key, const api::core::Event* event);
  // Whether its state is another than before.
  bool PutQueue(const std::string& name, const api::volcano::Queue* queue);

  // Of a Job that no PaddleJob controls nothing but the metadata may be there.
  const api::volcano::Job* JobOf(const JobKey& key) const;
  // The Job, pods, commands, objects and queues of the view.
  void Fill(const JobKey& key, paddle_lifecycle::PaddleJobView& view) const;
  // What was last said of the PodGroup or Job with this UID.
  const paddle_lifecycle::EventText& EventOf(const std::string& uid) const;

 private:
  using CommandOrder = std::tuple<absl::Time, std::string>;  // when it was given, its name
  struct NewestEvent {
    std::uint64_t version = 0;
    std::string name;  // of the Event
    paddle_lifecycle::EventText text;
  };

  // What has the name of a Job. Of pods of a Job that no PaddleJob controls only the names are kept: they are no more
  // than in the way.
  struct Pods {
    paddle_lifecycle::PodTable table;
    absl::btree_set<std::string> of_strangers;  // names
    bool Has(const std::string& name) const { return table.contains(name) || of_strangers.contains(name); }
  };

  // Whose pod it is as far as we know; "" for nobody's.
  std::string KnownJobOf(const api::NamespacedName& pod) const;
  bool IsOfStranger(const api::core::Pod& pod, const JobKey& job) const;
  void RemovePod(const api::NamespacedName& key, const std::string& job);
  void ForgetFactsOfStranger(const JobKey& key, const api::ObjectMeta& job);
  static CommandOrder OrderOf(const api::volcano::Command& command);

  absl::flat_hash_map<JobKey, JobPtr> jobs_;
  absl::flat_hash_map<JobKey, std::unique_ptr<Pods>> pods_;
  absl::flat_hash_map<api::NamespacedName, std::string>
      job_of_odd_pod_;  // whose name does not begin with that of its Job
  absl::flat_hash_map<JobKey, absl::btree_map<CommandOrder, CommandPtr>> commands_;
  // By namespace, then by name and resource, so that those which begin alike stand together.
  absl::flat_hash_map<std::string, std::map<std::pair<std::string, std::string_view>, paddle_lifecycle::NearbyObject>>
      objects_;
  absl::flat_hash_map<std::string, NewestEvent> events_;  // by the UID of what it is about
  absl::flat_hash_map<api::NamespacedName, std::pair<std::string, std::string>> subject_of_event_;  // its UID and name
  paddle_lifecycle::QueueStates queues_;
};

}  // namespace gangway::paddle_controller
