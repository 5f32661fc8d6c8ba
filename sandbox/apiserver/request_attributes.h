// What a request asks for, as rules of access know it: by its path alone, whether or not anything is there. Pure.
// k8s.io/apiserver: pkg/endpoints/request/requestinfo.go
#pragma once

#include "kube/client/client.h"
#include "sandbox/rbac/rule.h"

namespace gangway::sandbox {

// The path is taken apart as ParsePath (route.h) does it, so that what is judged is what is done.
rbac::Attributes AttributesOf(const kube::Request& request);

}  // namespace gangway::sandbox
