// What a message on the wire would become in memory, before it is parsed: an empty entry of a list is two bytes there
// and a hundred here.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace google::protobuf {
class Descriptor;
}

namespace gangway::extender {

// Entries (messages, elements of lists, fields nobody knows) that one request may hold.
inline constexpr std::int64_t kMaxEntries = 1'000'000;

// ResourceExhausted beyond `max_entries`, InvalidArgument when the bytes are no such message. Both name the field where
// they stopped.
absl::Status CheckEntries(absl::string_view bytes, const google::protobuf::Descriptor& type,
                          std::int64_t max_entries = kMaxEntries);

}  // namespace gangway::extender
