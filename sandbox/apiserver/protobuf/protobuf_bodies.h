// The binary bodies that kubectl's typed commands send (create configmap, drain, ...), as the JSON that the router
// reads.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gangway::sandbox {

inline constexpr absl::string_view kProtobufMediaType = "application/vnd.kubernetes.protobuf";

// What a Go program would have sent as JSON; the body may come from anybody. Thread-safe.
//   InvalidArgument     not such a body, or broken
//   Unimplemented       a kind, a field or an encoding that is not known here: nothing is dropped silently
//   ResourceExhausted   so many values that the objects in memory would be many times the body
absl::StatusOr<std::string> ProtobufToJson(absl::string_view body);

}  // namespace gangway::sandbox
