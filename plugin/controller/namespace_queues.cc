#include "plugin/controller/namespace_queues.h"

#include "api/core/sidecars.h"
#include "api/volcano/defaults.h"

namespace gangway::controller {
namespace {

// A new object waits for its namespace, which another watch tells of, for so long, and looks so often.
constexpr absl::Duration kPatience = absl::Seconds(5), kLook = absl::Milliseconds(100);

api::NamespacedName KeyOf(absl::string_view ns) { return {"", std::string(ns)}; }

}  // namespace

std::string NamespaceQueues::QueueOf(const api::core::PartialObject& ns) {
  const auto queue = ns.metadata.annotations.find(std::string(api::volcano::kQueueNameAnnotation));
  return queue == ns.metadata.annotations.end() ? "" : queue->second;
}

std::string NamespaceQueues::Of(absl::string_view ns) const {
  const auto object = namespaces_.Get(KeyOf(ns));
  return object == nullptr ? "" : QueueOf(*object);
}

bool NamespaceQueues::InjectsSidecars(absl::string_view ns) const {
  const auto object = namespaces_.Get(KeyOf(ns));
  return object != nullptr && api::core::InjectsSidecars(object->metadata.labels);
}

std::optional<absl::Time> NamespaceQueues::LookAgain(absl::string_view ns, absl::Time created, absl::Time now) const {
  if (now >= created + kPatience || namespaces_.Get(KeyOf(ns)) != nullptr) return std::nullopt;
  const bool readable = namespaces_.seen_up_to(KeyOf(ns)) > 0;  // otherwise we may not read it
  return readable ? std::optional(now + kLook) : std::nullopt;
}

}  // namespace gangway::controller
