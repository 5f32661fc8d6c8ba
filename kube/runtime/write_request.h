// The request that a Write is, with its preconditions. Pure.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/client/client.h"
#include "kube/plan/plan.h"

namespace gangway::kube {

// kCreate: POST. kDelete: DELETE with DeleteOptions that name `uid` and `resource_version`, when set. The patches and
// kPut: these two stand in the body's metadata. InvalidArgument when a body that must be edited is no JSON object. What
// the API server does not know in a body it drops without a word (kNoFieldValidation).
absl::StatusOr<Request> RequestFor(const Write& write);

// What answers about a resource are asked for as: of Secrets only the metadata, since nothing of ours reads what is in
// them. "" = whole.
absl::string_view AcceptFor(const api::Resource& resource);

// The query of a write. The API server would look for fields that it does not know, to warn of them, and nobody reads
// these warnings.
inline constexpr char kNoFieldValidation[] = "fieldValidation=Ignore";

// "create", "patch", "update", "delete".
const char* VerbName(Verb verb);

}  // namespace gangway::kube
