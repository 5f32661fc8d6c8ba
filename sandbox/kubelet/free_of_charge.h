// The simulated world has no API server to spare: neither events nor writes are held back.
#pragma once

#include <string>
#include <utility>

#include "kube/runtime/driver.h"
#include "kube/runtime/recorder.h"

namespace gangway::sandbox {

inline kube::RecorderOptions EventsFreeOfCharge(std::string component) {
  kube::RecorderOptions options;
  options.component = std::move(component);
  options.qps = 0;
  return options;
}
inline kube::DriverOptions WritesFreeOfCharge(std::string name) {
  kube::DriverOptions options;
  options.name = std::move(name);
  options.qps = 0;
  return options;
}

}  // namespace gangway::sandbox
