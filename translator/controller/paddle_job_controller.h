// Keeps every PaddleJob, of either dialect, as translator/lifecycle decides. Used on its loop.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/loop.h"
#include "kube/runtime/driver.h"
#include "translator/controller/paddle_caches.h"
#include "translator/controller/paddle_index.h"
#include "translator/convert/options.h"

namespace gangway::paddle_controller {

class PaddleJobController {
 public:
  PaddleJobController(Loop& loop, kube::Client& client, kube::Recorder& recorder, PaddleCaches& caches, convert::TranslateOptions translate,
                      kube::DriverOptions paddle, kube::DriverOptions kubeflow);

  // What the caches saw; null is absent.
  void OnPaddleJob(const api::Resource& resource, const JobKey& key, const api::ObjectMeta* before, const api::ObjectMeta* after);
  void OnJob(const JobKey& key, const PaddleIndex::JobPtr& job);
  void OnPod(const api::NamespacedName& key, const api::core::Pod* pod);
  void OnPodGroup(const api::volcano::PodGroup& group);
  void OnCommand(const api::NamespacedName& key, const PaddleIndex::CommandPtr& before, const PaddleIndex::CommandPtr& after);
  void OnObject(const api::Resource& resource, const api::NamespacedName& key, const api::ObjectMeta* metadata);
  void OnGroupEvent(const api::NamespacedName& key, const api::core::Event* event);
  void OnJobWarning(const api::NamespacedName& key, const api::core::Event* event);
  void OnQueue(const std::string& name, const api::volcano::Queue* queue);

  // Asleep it keeps its index and decides nothing; Wake() looks at everything.
  void Sleep();
  void Wake();
  const kube::Driver& paddle_jobs() const { return paddle_; }
  const kube::Driver& kubeflow_jobs() const { return kubeflow_; }

 private:
  using DialectKey = std::pair<const api::Resource*, JobKey>;
  // What is remembered of a PaddleJob besides what the API server holds.
  struct Memory {
    std::string refused;
    absl::Time status_written = absl::InfinitePast();
  };

  kube::Plan Decide(const api::Resource& resource, const JobKey& key, absl::Time now);
  void FindGroups(const JobKey& key, paddle_lifecycle::PaddleJobView& view, std::shared_ptr<const api::volcano::PodGroup> (&held)[2]) const;
  // Whichever PaddleJobs have this name.
  void Enqueue(const JobKey& key);
  void EnqueueAll();
  kube::Driver& DriverOf(const api::Resource& resource);
  void OnReply(const api::Resource& resource, const kube::Write& write, const kube::Response& response);
  const api::ObjectMeta* MetadataOf(const api::Resource& resource, const JobKey& key) const;
  void OnRefused(const api::Resource& resource, const api::ObjectMeta& paddle_job, const kube::Write& write, const absl::Status& status);

  Loop& loop_;
  PaddleCaches& caches_;
  kube::Recorder& recorder_;
  const convert::TranslateOptions translate_;
  PaddleIndex index_;
  absl::flat_hash_map<DialectKey, Memory> memory_;
  kube::Driver paddle_, kubeflow_;
};

}  // namespace gangway::paddle_controller
