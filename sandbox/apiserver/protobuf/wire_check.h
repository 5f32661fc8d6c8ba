// Judges bytes before a message is made of them.
#pragma once

#include <google/protobuf/descriptor.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace gangway::sandbox {

// Each message in memory takes a few hundred bytes, on the wire it may take two.
inline constexpr int kMaxProtobufValues = 100'000;

// Walks all of `bytes` as a `type` and names the first place that is wrong: ("spec.containers": ...)
//   InvalidArgument     cut short, a wrong wire type, text that is no UTF-8
//   Unimplemented       a field that `type` does not have
//   ResourceExhausted   more than kMaxProtobufValues fields and elements
absl::Status CheckWire(absl::string_view bytes, const google::protobuf::Descriptor& type);

}  // namespace gangway::sandbox
