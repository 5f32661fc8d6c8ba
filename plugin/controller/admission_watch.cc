#include "plugin/controller/admission_watch.h"

#include <optional>
#include <utility>

#include "plugin/controller/namespace_queues.h"

namespace gangway::controller {

AdmissionWatch::AdmissionWatch(kube::Informers& informers, std::shared_ptr<AdmissionFacts> facts)
    : Component(informers, {}), facts_(std::move(facts)) {
  Watch<api::volcano::Queue>(
      api::kQueues, {.keep = false},
      [this](const auto& key, const auto&, const auto& after) { facts_->SetQueue(key.name, after.get()); },
      kube::Undecodable::kIgnored);
  Watch<api::core::PartialObject>(
      api::kNamespaces, NamespaceQueues::Selected(),
      [this](const auto& key, const auto&, const auto& after) {
        facts_->SetNamespace(key.name,
                             after == nullptr ? std::nullopt : std::optional(NamespaceQueues::QueueOf(*after)));
      },
      kube::Undecodable::kIgnored);
}

}  // namespace gangway::controller
