// A value that may change while somebody works by it, such as what a file says that is read again. Used on one loop.
#pragma once

#include <functional>
#include <utility>

#include "base/loop.h"

namespace gangway {

template <class T>
class Live {
 public:
  explicit Live(T value) : value_(std::move(value)) {}

  const T& value() const { return value_; }
  // The same again is no change.
  void Set(T value) {
    if (value == value_) return;
    value_ = std::move(value);
    if (!listener_.expired()) changed_();
  }
  // Whoever works by it, while `listener` is there; there is one.
  void OnChange(Token listener, std::function<void()> changed) {
    listener_ = std::move(listener);
    changed_ = std::move(changed);
  }

 private:
  T value_;
  Token listener_;
  std::function<void()> changed_;
};

}  // namespace gangway
