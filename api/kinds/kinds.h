// The catalogue of kinds: every kind of object that we know, one row each (api/kind.h). What the sandbox serves, and
// what FindKind finds.
#pragma once

#include <span>

#include "absl/strings/string_view.h"
#include "api/kind.h"

namespace gangway::api {

// As a real API server has them: what is built in comes before what definitions add, so that "jobs" are those of
// batch/v1. Kubernetes', then Volcano's, then PaddleJob of paddle-operator, then kubeflow's, then coscheduling's.
std::span<const KindRow> Kinds();

// The row of a resource of the catalogue, or of one that was declared.
const KindRow& RowOf(const Resource& resource);
// Whether a definition brings it: Volcano's, Paddle's and coscheduling's, and what was declared. False for what is not
// in the catalogue.
bool IsCustom(const Resource& resource);

// By apiVersion and kind; nullptr when unknown.
const Resource* FindKind(absl::string_view api_version, absl::string_view kind);

}  // namespace gangway::api
