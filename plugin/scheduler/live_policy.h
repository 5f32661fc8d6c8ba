// A policy that may change while the scheduler runs. Used on the scheduler's loop.
#pragma once

#include <functional>
#include <utility>

#include "base/loop.h"
#include "plugin/gang/policy.h"

namespace gangway::scheduler {

class LivePolicy {
 public:
  explicit LivePolicy(gang::Policy policy) : policy_(std::move(policy)) {}

  const gang::Policy& policy() const { return policy_; }
  void Set(gang::Policy policy) {
    if (policy == policy_) return;
    policy_ = std::move(policy);
    if (!listener_.expired()) changed_();
  }
  // Whoever decides by it, while `listener` is there; there is one.
  void OnChange(Token listener, std::function<void()> changed) {
    listener_ = std::move(listener);
    changed_ = std::move(changed);
  }

 private:
  gang::Policy policy_;
  Token listener_;
  std::function<void()> changed_;
};

}  // namespace gangway::scheduler
