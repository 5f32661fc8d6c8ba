#include "plugin/controller/bare_pod_controller.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "plugin/lifecycle/bare_pod.h"

namespace gangway::controller {

BarePodController::BarePodController(Loop& loop, kube::Client& client, kube::Recorder& recorder, Caches& caches,
                                     std::string scheduler_name, kube::DriverOptions options)
    : caches_(caches), scheduler_name_(std::move(scheduler_name)),
      driver_(loop, client, recorder, std::move(options), [this](const api::NamespacedName& key, absl::Time) { return Decide(key); }) {
  driver_.SetOnReply([this](const kube::Write& write, const kube::Response& response) { caches_.ObserveReply(write, response); });
}

void BarePodController::OnPod(const api::NamespacedName& key, const std::shared_ptr<const api::core::Pod>& pod) {
  if (pod != nullptr && lifecycle::WantsGroup(*pod, scheduler_name_)) {
    waiting_[key] = pod;
    driver_.Enqueue(key);
  } else {
    waiting_.erase(key);
  }
}

void BarePodController::Wake() {
  driver_.Wake();
  std::vector<api::NamespacedName> keys;
  for (const auto& [key, pod] : waiting_) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  for (const api::NamespacedName& key : keys) driver_.Enqueue(key);
}

kube::Plan BarePodController::Decide(const api::NamespacedName& key) const {
  auto it = waiting_.find(key);
  if (it == waiting_.end()) return {};
  const bool exists = caches_.pod_groups.Get({key.ns, lifecycle::GroupNameFor(*it->second)}) != nullptr;
  return lifecycle::ReconcileBarePod(*it->second, exists);
}

}  // namespace gangway::controller
