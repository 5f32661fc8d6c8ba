// Keeps every JobFlow and JobTemplate as plugin/lifecycle decides. Used on its loop.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "api/volcano/flow.h"
#include "kube/runtime/component.h"
#include "plugin/controller/stored_job.h"
#include "plugin/lifecycle/flow/reconcile_job_flow.h"

namespace gangway::controller {

class JobFlowController final : public kube::Component {
 public:
  using JobPtr = std::shared_ptr<const api::volcano::Job>;
  using JobFlowPtr = std::shared_ptr<const api::volcano::JobFlow>;

  JobFlowController(kube::Informers& informers, kube::ComponentOptions options);

 private:
  using Keys = absl::btree_set<std::string>;  // names, in one namespace

  // Null is absent.
  void OnFlow(const api::NamespacedName& key, const JobFlowPtr& before, const JobFlowPtr& after);
  void OnTemplate(const api::NamespacedName& key);
  void OnJob(const api::NamespacedName& key, const JobPtr& before, const JobPtr& after);

  void Wake() override;
  kube::Plan DecideFlow(const api::NamespacedName& key) const;
  kube::Plan DecideTemplate(const api::NamespacedName& key) const;
  bool Remembered(const api::volcano::Job& job) const;
  void Explain(const api::NamespacedName& key, const std::string& uid, const kube::Write& write,
               const absl::Status& status);

  kube::Informer<api::volcano::JobFlow>& job_flows_;
  kube::Informer<api::volcano::JobTemplate>& job_templates_;
  kube::Informer<StoredJob>& jobs_;
  absl::flat_hash_map<api::NamespacedName, Keys> flows_of_template_;
  absl::flat_hash_map<api::NamespacedName, Keys> flows_of_job_;      // by the name that they would give it; rarely two
  absl::flat_hash_map<api::NamespacedName, Keys> jobs_of_template_;  // those that were made from it
  absl::flat_hash_map<api::NamespacedName, JobPtr>
      gone_;  // jobs that were Completed and are gone, until their flow says so
  kube::Driver& flows_;
  kube::Driver& templates_;
};

}  // namespace gangway::controller
