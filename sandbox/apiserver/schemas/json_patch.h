// JSON Patch (RFC 6902) over documents. Merge patches (RFC 7386) are in api/json_value.h.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "boost/json/value.hpp"

namespace gangway::sandbox {

inline constexpr std::size_t kMaxJsonPatchOperations = 10000;  // kube-apiserver: maxJSONPatchOperations

// Applies the operations in order: add, remove, replace, move, copy, test.
//   InvalidArgument     the patch itself is malformed (400)
//   FailedPrecondition  a path is not there, or a test does not hold (422)
//   ResourceExhausted   too many operations, or copies that grow the document past a bound (413)
// On an error `target` may be half changed, so patch a copy.
absl::Status ApplyJsonPatch(boost::json::value& target, const boost::json::value& patch);

}  // namespace gangway::sandbox
