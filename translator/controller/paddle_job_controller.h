// Keeps the PaddleJobs of one dialect as translator/lifecycle decides. A dialect is kept while its CRD is there; one
// that is missing is looked for again now and then. Used on its loop.
#pragma once

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "api/paddle/paddle_job.h"
#include "kube/runtime/component.h"
#include "translator/controller/paddle_surroundings.h"
#include "translator/convert/options.h"

namespace gangway::paddle_controller {

// T: api::paddle::PaddleJob or api::paddle::kubeflow::PaddleJob.
template <class T>
class PaddleJobController final : public kube::Component {
 public:
  // `translate`: for whom Jobs are written; `kept`, `group`, `namespace_queue` and `sidecars` are not looked at.
  PaddleJobController(kube::Informers& informers, kube::ComponentOptions options, convert::TranslateOptions translate);

 private:
  // What is remembered of a PaddleJob besides what the API server holds.
  struct Memory {
    std::string refused;
    absl::Time status_written = absl::InfinitePast();
  };
  using HeldGroups = std::shared_ptr<const api::volcano::PodGroup>[2];

  void OnPaddleJob(const JobKey& key, const T* before, const T* after);
  // If there is one of this name.
  void Enqueue(const JobKey& key);
  void EnqueueAll();
  void Wake() override { EnqueueAll(); }
  void OnReply(const kube::Write& write, const kube::Response& response) override;
  kube::Plan Decide(const JobKey& key, absl::Time now);
  void FindGroups(const JobKey& key, paddle_lifecycle::PaddleJobView& view, HeldGroups& held) const;
  void OnRefused(const api::ObjectMeta& paddle_job, const kube::Write& write, const absl::Status& status);

  const convert::TranslateOptions translate_;
  kube::Informer<T>& paddle_jobs_;
  const std::shared_ptr<PaddleSurroundings> around_;
  absl::flat_hash_map<JobKey, Memory> memory_;
  kube::Driver& driver_;
};

extern template class PaddleJobController<api::paddle::PaddleJob>;
extern template class PaddleJobController<api::paddle::kubeflow::PaddleJob>;

}  // namespace gangway::paddle_controller
