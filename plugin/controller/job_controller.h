// Keeps every Job as plugin/lifecycle decides. Used on its loop.
#pragma once

#include <map>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/loop.h"
#include "kube/runtime/driver.h"
#include "plugin/controller/caches.h"
#include "plugin/controller/job_index.h"
#include "plugin/controller/ssh_secrets.h"

namespace gangway::controller {

class JobController {
 public:
  JobController(Loop& loop, kube::Client& client, kube::Recorder& recorder, Caches& caches, SshKeys& ssh_keys,
                kube::DriverOptions options);

  // What the caches saw.
  void OnJob(const JobKey& key, const api::volcano::Job* job);
  void OnPod(const api::NamespacedName& key, const api::core::Pod* pod);
  void OnPodGroup(const api::volcano::PodGroup& group);
  void OnCommand(const api::NamespacedName& key, const JobIndex::CommandPtr& before, const JobIndex::CommandPtr& after);
  void OnObject(const api::Resource& resource, const api::NamespacedName& key, const api::ObjectMeta* metadata,
                const std::map<std::string, std::string>* data = nullptr);
  void OnClaim(const api::NamespacedName& key, bool exists);
  void OnPriorityClass(const api::core::PriorityClass* before, const api::core::PriorityClass* after);

  // Asleep it keeps its indices and decides nothing; Wake() looks at everything.
  void Sleep() { driver_.Sleep(); }
  void Wake();
  const kube::Driver& driver() const { return driver_; }

 private:
  kube::Plan Decide(const JobKey& key, absl::Time now);
  bool IsThere(const JobKey& key, const std::string& uid) const;
  void Warn(const JobKey& key, const char* reason, std::string message);
  void Explain(const JobKey& key, const kube::Write& write, const absl::Status& status);

  Loop& loop_;
  Caches& caches_;
  kube::Recorder& recorder_;
  JobIndex index_;
  std::map<std::string, std::int32_t> priority_classes_;
  absl::flat_hash_map<JobKey, absl::Time> status_written_;
  kube::Driver driver_;
  SshSecrets ssh_secrets_;
};

}  // namespace gangway::controller
