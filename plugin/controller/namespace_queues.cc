#include "plugin/controller/namespace_queues.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/core/sidecars.h"
#include "api/volcano/defaults.h"

namespace gangway::controller {
namespace {

// A new object waits for its namespace, which another watch tells of, for so long, and looks so often.
constexpr absl::Duration kPatience = absl::Seconds(5), kLook = absl::Milliseconds(100);

}  // namespace

NamespaceQueues::NamespaceQueues(Loop& loop, kube::Client& client, Metrics* metrics, const std::vector<std::string>& namespaces) {
  kube::CacheOptions options;
  options.metrics = metrics;
  options.keep_objects = false;
  options.unless_forbidden = true;
  if (namespaces.empty()) caches_.emplace("", std::make_unique<Namespaces>(loop, client, api::kNamespaces, options));
  for (const std::string& ns : namespaces) {
    options.field_selector = absl::StrCat("metadata.name=", ns);
    caches_.emplace(ns, std::make_unique<Namespaces>(loop, client, api::kNamespaces, options));
  }
}

void NamespaceQueues::Start(const std::function<void()>& on_synced, const std::function<void(const std::string&, std::optional<std::string>)>& on_queue) {
  for (const auto& [ns, cache] : caches_) {
    cache->Start(
        [this, on_queue](const api::NamespacedName& key, const auto&, const auto& after) {
          injecting_.erase(key.name);
          if (after == nullptr) {
            queues_.erase(key.name);
            if (on_queue) on_queue(key.name, std::nullopt);
            return;
          }
          if (api::core::InjectsSidecars(after->metadata.labels)) injecting_.insert(key.name);
          const auto queue = after->metadata.annotations.find(std::string(api::volcano::kQueueNameAnnotation));
          const std::string& known = queues_[key.name] = queue == after->metadata.annotations.end() ? "" : queue->second;
          if (on_queue) on_queue(key.name, known);
        },
        on_synced);
  }
}

void NamespaceQueues::SetOnDecodeError(const std::function<void(const api::ObjectReference&, const absl::Status&)>& on_error) {
  for (const auto& [ns, cache] : caches_) cache->SetOnDecodeError(on_error);
}

bool NamespaceQueues::synced() const {
  return std::all_of(caches_.begin(), caches_.end(), [](const auto& entry) { return entry.second->synced(); });
}

std::string NamespaceQueues::problem() const {
  for (const auto& [ns, cache] : caches_) {
    if (std::string problem = cache->problem(); !problem.empty()) return problem;
  }
  return "";
}

std::string NamespaceQueues::Of(absl::string_view ns) const {
  const auto it = queues_.find(ns);
  return it == queues_.end() ? std::string() : it->second;
}

std::optional<absl::Time> NamespaceQueues::LookAgain(absl::string_view ns, absl::Time created, absl::Time now) const {
  if (queues_.contains(ns) || now >= created + kPatience) return std::nullopt;
  const auto own = caches_.find(ns);
  const auto it = own != caches_.end() ? own : caches_.find("");
  const bool readable = it != caches_.end() && it->second->seen_up_to() > 0;  // otherwise we may not read it
  return readable ? std::optional(now + kLook) : std::nullopt;
}

}  // namespace gangway::controller
