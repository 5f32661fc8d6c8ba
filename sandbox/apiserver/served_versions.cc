#include "sandbox/apiserver/served_versions.h"

#include <algorithm>

namespace gangway::sandbox {

bool ServedVersions::Has(const api::KindRow& kind) const {
  return !kind.on_request ||
         std::find(asked_for_.begin(), asked_for_.end(), kind.resource->ApiVersion()) != asked_for_.end();
}

}  // namespace gangway::sandbox
