// The kinds that a real API server has from CustomResourceDefinitions: Volcano's and Paddle's.
#pragma once

#include <span>

#include "api/crd/crd.h"
#include "api/resource.h"

namespace gangway::sandbox {

// In the order of api::KnownResources().
std::span<const api::DefinedType> CustomTypes();
// nullptr for Kubernetes' own.
const api::DefinedType* FindCustomType(const api::Resource& resource);

}  // namespace gangway::sandbox
