#include "translator/controller/paddle_surroundings.h"

#include <utility>

namespace gangway::paddle_controller {
namespace {

using api::core::Event;
using api::core::PartialObject;
using api::core::Pod;
using api::volcano::Command;
using api::volcano::PodGroup;
using api::volcano::Queue;
using controller::StoredJob;

// Pods of Jobs; and those that paddle-operator or the training operator made, for whose end we wait.
constexpr const char* kPodLabels[] = {"volcano.sh/job-name", "paddle-res-name,!volcano.sh/job-name",
                                      "training.kubeflow.org/operator-name=paddlejob-controller,!volcano.sh/job-name"};
// Why a queue does not let a PodGroup in, and why a Job's pods cannot be made.
constexpr char kGroupEvents[] = "involvedObject.kind=PodGroup,reason=Unschedulable";
constexpr char kJobWarnings[] =
    "involvedObject.kind=Job,involvedObject.apiVersion=batch.volcano.sh/v1alpha1,type=Warning,reason!=PodGroupPending";

}  // namespace

template <class T>
kube::Informer<T>& PaddleSurroundings::Watch(kube::Informers& informers, const api::Resource& resource,
                                             const kube::Selection& selection,
                                             typename kube::Informer<T>::OnChange on_change) {
  kube::Informer<T>& informer = informers.Of<T>(resource, selection);
  informer.Listen(owner_.token(), std::move(on_change));
  watched_.push_back(&informer);
  return informer;
}

PaddleSurroundings::PaddleSurroundings(kube::Informers& informers)
    : jobs_(Watch<StoredJob>(informers, api::kJobs, {.keep = false},
                             [this](const auto& key, const auto&, const auto& after) {
                               index_.PutJob(key, after, jobs_.options().keep_objects);
                               TellAbout(key);
                             })),
      pod_groups_(Watch<PodGroup>(informers, api::kPodGroups, {},
                                  [this](const auto&, const auto& before, const auto& after) {
                                    OnPodGroup(after != nullptr ? *after : *before);
                                  })),
      namespace_queues_(
          Watch<PartialObject>(informers, api::kNamespaces, controller::NamespaceQueues::Selected(), nullptr)) {
  WatchPods(informers);
  pod_groups_.After(jobs_);
  Watch<Command>(informers, api::kCommands, {}, [this](const auto& key, const auto& before, const auto& after) {
    TellAbout(index_.PutCommand(key, before, after));
  });
  Watch<Queue>(informers, api::kQueues, {.keep = false}, [this](const auto& key, const auto&, const auto& after) {
    if (index_.PutQueue(key.name, after.get())) TellAll();
  });
  Watch<Event>(informers, api::kEvents, {.fields = kGroupEvents, .keep = false},
               [this](const auto& key, const auto&, const auto& after) {
                 if (const auto group = pod_groups_.Get(index_.PutEvent(key, after.get())); group != nullptr)
                   OnPodGroup(*group);
               });
  Watch<Event>(
      informers, api::kEvents, {.fields = kJobWarnings, .keep = false},
      [this](const auto& key, const auto&, const auto& after) { TellAbout(index_.PutEvent(key, after.get())); });
  const auto concern = [this](const api::Resource& resource, const api::NamespacedName& key,
                              const api::ObjectMeta* metadata) {
    for (const JobKey& job : index_.PutObject(resource, key, metadata)) TellAbout(job);
  };
  Watch<PartialObject>(informers, api::kServices, {.keep = false},
                       [concern](const auto& key, const auto&, const auto& after) {
                         concern(api::kServices, key, after ? &after->metadata : nullptr);
                       });
  Watch<api::core::ConfigMap>(informers, api::kConfigMaps, {.keep = false},
                              [concern](const auto& key, const auto&, const auto& after) {
                                concern(api::kConfigMaps, key, after ? &after->metadata : nullptr);
                              });
}

// Pods are listed after Jobs, so that none is missing only because its list is older.
void PaddleSurroundings::WatchPods(kube::Informers& informers) {
  const auto on_pod = [this](const api::NamespacedName& key, const auto&, const std::shared_ptr<const Pod>& after) {
    TellAbout(index_.PutPod(key, after.get()));
  };
  if (informers.Has<Pod>(api::kPods)) {
    Watch<Pod>(informers, api::kPods, {.keep = false}, on_pod).After(jobs_);
    return;
  }
  for (const char* const labels : kPodLabels)
    Watch<Pod>(informers, api::kPods, {.labels = labels, .keep = false}, on_pod).After(jobs_);
}

void PaddleSurroundings::OnPodGroup(const PodGroup& group) {
  TellAbout({group.metadata.ns, group.metadata.name});
  const api::OwnerReference* owner = group.metadata.Controller();
  if (owner != nullptr && owner->kind == api::kJobs.kind && owner->name != group.metadata.name)
    TellAbout({group.metadata.ns, owner->name});
}

void PaddleSurroundings::Listen(Token token, std::function<void(const JobKey&)> about, std::function<void()> all) {
  listeners_.push_back({std::move(token), std::move(about), std::move(all)});
}

void PaddleSurroundings::TellAbout(const JobKey& key) {
  if (key.name.empty()) return;
  for (const Listener& listener : listeners_) {
    if (!listener.token.expired()) listener.about(key);
  }
}

void PaddleSurroundings::TellAll() {
  for (const Listener& listener : listeners_) {
    if (!listener.token.expired()) listener.all();
  }
}

}  // namespace gangway::paddle_controller
