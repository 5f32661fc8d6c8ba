// Watches what stands around PaddleJobs, once for the controllers of both dialects, and says whom a change concerns.
// Used on its loop.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/volcano/scheduling.h"
#include "base/loop.h"
#include "kube/runtime/informers.h"
#include "plugin/controller/namespace_queues.h"
#include "plugin/controller/stored_job.h"
#include "translator/controller/paddle_index.h"

namespace gangway::paddle_controller {

class PaddleSurroundings {
 public:
  // Made after the components that watch all pods: then it asks for no watches of its own of those it needs.
  explicit PaddleSurroundings(kube::Informers& informers);

  // `about` whoever has this name something changed; or about `all`.
  void Listen(Token token, std::function<void(const JobKey&)> about, std::function<void()> all);
  // What must be listed before anything is decided.
  const std::vector<kube::AnyInformer*>& watched() const { return watched_; }

  const PaddleIndex& index() const { return index_; }
  const controller::NamespaceQueues& namespace_queues() const { return namespace_queues_; }
  const kube::Informer<api::volcano::PodGroup>& pod_groups() const { return pod_groups_; }
  const kube::Informer<controller::StoredJob>& jobs() const { return jobs_; }

 private:
  struct Listener {
    Token token;
    std::function<void(const JobKey&)> about;
    std::function<void()> all;
  };
  // Unreadable ones are told of by those who keep them.
  template <class T>
  kube::Informer<T>& Watch(kube::Informers& informers, const api::Resource& resource, const kube::Selection& selection,
                           typename kube::Informer<T>::OnChange on_change);
  void WatchPods(kube::Informers& informers);
  void OnPodGroup(const api::volcano::PodGroup& group);
  void TellAbout(const JobKey& key);
  void TellAll();

  Owner owner_;  // of the listeners: before what is made by listening
  std::vector<kube::AnyInformer*> watched_;
  kube::Informer<controller::StoredJob>& jobs_;
  kube::Informer<api::volcano::PodGroup>& pod_groups_;
  const controller::NamespaceQueues namespace_queues_;
  PaddleIndex index_;
  std::vector<Listener> listeners_;
};

}  // namespace gangway::paddle_controller
