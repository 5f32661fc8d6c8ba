// Which labels make HyperNodes, which may change while the controller runs. Used on the controller's loop.
#pragma once

#include <functional>
#include <utility>

#include "base/loop.h"
#include "plugin/lifecycle/hyper_nodes/label_source.h"

namespace gangway::controller {

class LiveLabelSource {
 public:
  explicit LiveLabelSource(lifecycle::LabelSource source) : source_(std::move(source)) {}

  const lifecycle::LabelSource& source() const { return source_; }
  void Set(lifecycle::LabelSource source) {
    if (source == source_) return;
    source_ = std::move(source);
    if (!listener_.expired()) changed_();
  }
  // Whoever makes HyperNodes by it, while `listener` is there; there is one.
  void OnChange(Token listener, std::function<void()> changed) {
    listener_ = std::move(listener);
    changed_ = std::move(changed);
  }

 private:
  lifecycle::LabelSource source_;
  Token listener_;
  std::function<void()> changed_;
};

}  // namespace gangway::controller
