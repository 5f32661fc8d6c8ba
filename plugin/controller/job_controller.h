// Keeps every Job as plugin/lifecycle decides. Used on its loop.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/volcano/scheduling.h"
#include "kube/runtime/component.h"
#include "plugin/controller/evictions_seen.h"
#include "plugin/controller/job_index.h"
#include "plugin/controller/losses_seen.h"
#include "plugin/controller/namespace_queues.h"
#include "plugin/controller/ssh_keys.h"
#include "plugin/controller/ssh_secrets.h"
#include "plugin/controller/stored_job.h"
#include "plugin/lifecycle/job/run_history.h"

namespace gangway::controller {

// Who makes keys for the job plugin ssh: `keys`, which must outlive the component; or so many threads; or, with
// neither, the loop, which they hold up (simulated loops know no threads).
struct SshKeyMakers {
  SshKeys* keys = nullptr;
  int threads = 0;
};

class JobController final : public kube::Component {
 public:
  JobController(kube::Informers& informers, kube::ComponentOptions options, SshKeyMakers ssh);

 private:
  void OnJob(const JobKey& key, const api::volcano::Job* job);
  void CountRestart(const api::volcano::Job* before, const api::volcano::Job* after);
  void OnPod(const api::NamespacedName& key, const api::core::Pod* pod);
  void OnPodGroup(const api::volcano::PodGroup* before, const api::volcano::PodGroup* after);
  void NoteRelease(const api::volcano::PodGroup* before, const api::volcano::PodGroup& after);
  void NoteSettled(const std::string& uid);
  void NoteGone(const JobKey& job, const std::string& job_uid, const std::string& pod, const std::string& uid,
                bool named);
  void OnCommand(const api::NamespacedName& key, const JobIndex::CommandPtr& before, const JobIndex::CommandPtr& after);
  void OnObject(const api::Resource& resource, const api::NamespacedName& key, const api::ObjectMeta* metadata,
                const std::map<std::string, std::string>* data = nullptr);
  void OnClaim(const api::NamespacedName& key, bool exists);
  void OnPriorityClass(const std::string& name, const api::core::PriorityClass* object);

  void Wake() override;
  void OnReply(const kube::Write& write, const kube::Response& response) override;
  kube::Plan Decide(const JobKey& key, absl::Time now);
  std::shared_ptr<const api::volcano::PodGroup> GroupOf(const JobKey& key, const std::string& uid) const;
  std::optional<absl::Time> PutOffUntil(const JobKey& key, const lifecycle::JobView& view, absl::Time now);
  bool IsThere(const JobKey& key, const std::string& uid) const;
  void Warn(const JobKey& key, const char* reason, std::string message);
  void Explain(const JobKey& key, const kube::Write& write, const absl::Status& status);

  const std::unique_ptr<SshKeys> own_ssh_keys_;  // null: others make them
  kube::Informer<StoredJob>& jobs_;
  kube::Informer<api::core::Pod>& pods_;
  kube::Informer<api::volcano::PodGroup>& pod_groups_;
  kube::Informer<api::volcano::Queue>& queues_;
  const NamespaceQueues namespace_queues_;
  JobIndex index_;
  lifecycle::RunHistory history_;
  std::map<std::string, std::int32_t> priority_classes_;
  absl::flat_hash_map<JobKey, absl::Time> status_written_;
  EvictionsSeen evictions_;
  LossesSeen losses_;
  absl::btree_map<JobKey, absl::Time> evicted_;  // that were put off while others are told to go, and since when
  kube::Driver& driver_;
  SshSecrets ssh_secrets_;
  Counter early_restarts_, late_restarts_;
};

}  // namespace gangway::controller
