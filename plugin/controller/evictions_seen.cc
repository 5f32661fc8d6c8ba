#include "plugin/controller/evictions_seen.h"

#include <algorithm>

namespace gangway::controller {

void EvictionsSeen::Named(const std::string& uid, absl::Time now) {
  named_[uid] = now;
  in_order_.emplace_back(now, uid);
}

bool EvictionsSeen::Settled(const std::string& uid, absl::Time now) {
  if (named_.erase(uid) == 0) return false;
  settled_ = now;
  DropOld(now);
  return named_.empty();
}

absl::Time EvictionsSeen::Until(absl::Time now) {
  DropOld(now);
  if (!in_order_.empty()) return in_order_.front().first + kPatience;
  return now < settled_ + kPause ? settled_ + kPause : absl::InfinitePast();
}

void EvictionsSeen::DropOld(absl::Time now) {
  for (; !in_order_.empty(); in_order_.pop_front()) {
    const auto& [since, uid] = in_order_.front();
    const auto it = named_.find(uid);
    const bool named = it != named_.end() && it->second == since;
    if (named && now < since + kPatience) return;
    if (named) named_.erase(it);
  }
}

bool IsEvicted(const lifecycle::JobView& view, const EvictionsSeen& evictions) {
  if (!view.commands.empty()) return false;
  if (view.pods == nullptr || view.pods->empty())
    return view.released_leaving != nullptr && !view.released_leaving->empty();
  return std::all_of(view.pods->begin(), view.pods->end(), [&](const auto& each) {
    const lifecycle::JobPod& pod = each.second;
    return pod.released || (pod.named && pod.deleting) || evictions.IsNamed(pod.uid);
  });
}

}  // namespace gangway::controller
