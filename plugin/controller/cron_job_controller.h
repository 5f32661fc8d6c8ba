// Keeps every CronJob as plugin/lifecycle decides. Used on its loop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "api/volcano/cron_job.h"
#include "kube/runtime/component.h"
#include "plugin/controller/stored_job.h"
#include "plugin/lifecycle/cron/reconcile_cron_job.h"

namespace gangway::controller {

class CronJobController final : public kube::Component {
 public:
  using CronJobPtr = std::shared_ptr<const api::volcano::CronJob>;
  using JobPtr = std::shared_ptr<const api::volcano::Job>;

  CronJobController(kube::Informers& informers, kube::ComponentOptions options);

 private:
  void OnCronJob(const api::NamespacedName& key, const CronJobPtr& before, const CronJobPtr& after);
  void OnJob(const api::NamespacedName& key, const JobPtr& before, const JobPtr& after);

  struct Owned {
    lifecycle::CronRun run;
    std::string owner_uid;
  };
  struct Entry {
    absl::btree_map<std::string, Owned> runs;       // Jobs that a CronJob of this name controls
    absl::flat_hash_set<std::string> seen_leaving;  // of those that its status still names
    std::string refused, attempted;                 // names of Jobs
    absl::Time schedule_changed = absl::InfinitePast();
    std::vector<std::string> told;  // warnings of the last decision
    bool empty() const {
      return runs.empty() && seen_leaving.empty() && refused.empty() && attempted.empty() && told.empty() &&
             schedule_changed == absl::InfinitePast();
    }
  };

  void Wake() override;
  kube::Plan Decide(const api::NamespacedName& key, absl::Time now);
  void TellOnce(Entry& entry, kube::Plan& plan) const;
  void Explain(const api::NamespacedName& key, const std::string& uid, const kube::Write& write,
               const absl::Status& status);

  kube::Informer<api::volcano::CronJob>& cron_jobs_;
  kube::Informer<StoredJob>& jobs_;
  absl::flat_hash_map<api::NamespacedName, Entry> entries_;
  kube::Driver& driver_;
};

}  // namespace gangway::controller
