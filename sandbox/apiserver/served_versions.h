// Which of the kinds of the catalogue a server serves: all but the alpha versions that nobody has asked it for.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/kind.h"

namespace gangway::sandbox {

class ServedVersions {
 public:
  // "scheduling.k8s.io/v1alpha2"
  explicit ServedVersions(std::vector<std::string> asked_for = {}) : asked_for_(std::move(asked_for)) {}

  bool Has(const api::KindRow& kind) const;

 private:
  std::vector<std::string> asked_for_;
};

}  // namespace gangway::sandbox
