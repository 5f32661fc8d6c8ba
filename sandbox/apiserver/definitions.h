// CustomResourceDefinitions in an API server whose kinds are built in: a definition of a kind that is served is
// established, one of another kind says that it is not, and the objects of a kind go with its definition.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/resource.h"
#include "sandbox/apiserver/draft/draft.h"

namespace gangway::sandbox {

inline constexpr absl::string_view kDefinitionFinalizer = "customresourcecleanup.apiextensions.k8s.io";

// The custom kind that is served here and that this CustomResourceDefinition is of; nullptr: none.
const api::Resource* DefinedKind(const boost::json::object& definition);

// What the definition's controller would make of a new one: conditions, accepted names, stored versions, its finalizer.
void FillInDefinition(absl::Time now, boost::json::object& definition);

}  // namespace gangway::sandbox
