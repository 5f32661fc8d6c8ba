#include "cmd/top/look.h"

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "base/status_macros.h"

namespace gangway::cmd {
namespace {

// What a server does not have, or does not let us read, is told and left out.
template <class T>
absl::StatusOr<std::vector<T>> ListIfAllowed(ApiCaller& caller, const api::Resource& resource, const std::string& ns,
                                             dashboard::Seen& seen) {
  auto objects = caller.List<T>(resource, resource.namespaced ? ns : "");
  if (absl::IsNotFound(objects.status())) return std::vector<T>();
  if (absl::IsPermissionDenied(objects.status())) {
    seen.not_seen.emplace_back(objects.status().message());
    return std::vector<T>();
  }
  return objects;
}

template <class T>
absl::Status Look(ApiCaller& caller, const api::Resource& resource, const std::string& ns, dashboard::Seen& seen,
                  dashboard::Seen::Objects<T>& into) {
  GW_ASSIGN_OR_RETURN(std::vector<T> objects, ListIfAllowed<T>(caller, resource, ns, seen));
  for (T& object : objects) into.push_back(std::make_shared<const T>(std::move(object)));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<dashboard::View> LookAtCluster(ApiCaller& caller, const std::string& ns) {
  dashboard::Seen seen;
  GW_RETURN_IF_ERROR(Look(caller, api::kQueues, ns, seen, seen.queues));
  GW_RETURN_IF_ERROR(Look(caller, api::kPodGroups, ns, seen, seen.groups));
  GW_RETURN_IF_ERROR(Look(caller, api::kNodes, ns, seen, seen.nodes));
  GW_ASSIGN_OR_RETURN(const std::vector<api::core::Pod> pods,
                      ListIfAllowed<api::core::Pod>(caller, api::kPods, ns, seen));
  std::deque<dashboard::PodSeen> kept;
  for (const api::core::Pod& pod : pods) {
    kept.push_back(dashboard::PodSeenOf(pod));
    seen.pods.push_back(&kept.back());
  }
  return dashboard::MakeView(seen);
}

}  // namespace gangway::cmd
