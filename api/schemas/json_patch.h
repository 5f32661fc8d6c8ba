// JSON Patch (RFC 6902) over documents. Merge patches (RFC 7386) are in api/json_value.h.
#pragma once

#include <cstddef>

#include "absl/status/status.h"
#include "api/json.h"
#include "boost/json/value.hpp"

namespace gangway::schemas {

inline constexpr std::size_t kMaxJsonPatchOperations = 10000;  // kube-apiserver: maxJSONPatchOperations

// Objects and lists within each other that an object may have: as many as a body.
inline constexpr std::size_t kMaxObjectDepth = api::JsonLimits{}.max_depth;

// Whether `value` has more than `levels` objects and lists within each other. Looks no deeper, and so takes any value.
bool IsDeeperThan(const boost::json::value& value, std::size_t levels);

// Applies the operations in order: add, remove, replace, move, copy, test.
//   InvalidArgument     the patch itself is malformed (400)
//   FailedPrecondition  a path is not there, a test does not hold, copies that grow the document past a bound, a
//   document that
//                       would get deeper than kMaxObjectDepth (422)
//   ResourceExhausted   too many operations, or operations that shift too many elements of lists (413)
// On an error `target` may be half changed, so patch a copy.
absl::Status ApplyJsonPatch(boost::json::value& target, const boost::json::value& patch);

}  // namespace gangway::schemas
