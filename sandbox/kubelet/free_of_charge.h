// The simulated world has no API server to spare: neither events nor writes are held back.
#pragma once

#include <string>
#include <utility>

#include "kube/runtime/component.h"
#include "kube/runtime/recorder.h"

namespace gangway::sandbox {

inline kube::RecorderOptions EventsFreeOfCharge(std::string component) {
  kube::RecorderOptions options;
  options.component = std::move(component);
  options.qps = 0;
  return options;
}
inline kube::ComponentOptions FreeOfCharge(std::string event_source) {
  kube::ComponentOptions options;
  options.event_source = std::move(event_source);
  options.qps = options.events_qps = 0;
  return options;
}

}  // namespace gangway::sandbox
