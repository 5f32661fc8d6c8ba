// A policy that may change while the scheduler runs. Used on the scheduler's loop.
#pragma once

#include <functional>
#include <utility>

#include "plugin/gang/policy.h"

namespace gangway::scheduler {

class LivePolicy {
 public:
  explicit LivePolicy(gang::Policy policy) : policy_(std::move(policy)) {}

  const gang::Policy& policy() const { return policy_; }
  void Set(gang::Policy policy) {
    if (policy == policy_) return;
    policy_ = std::move(policy);
    if (changed_) changed_();
  }
  // Whoever decides by it; there is one. Empty: nobody any more.
  void OnChange(std::function<void()> changed) { changed_ = std::move(changed); }

 private:
  gang::Policy policy_;
  std::function<void()> changed_;
};

}  // namespace gangway::scheduler
