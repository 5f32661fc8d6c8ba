// Paths of fields in a request, and the refusals that begin with them.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace gangway::extender {

// "gang.tasks" + 3 -> "gang.tasks[3]"; "requests" + "cpu" -> "requests["cpu"]", cut where a key is very long.
std::string At(absl::string_view path, std::size_t index);
std::string AtKey(absl::string_view path, absl::string_view key);

// InvalidArgument: "<path>: <what>".
absl::Status Wrong(absl::string_view path, absl::string_view what);

// Of a gang, a pod, a node, a queue or a caller: such a name is copied into each of what belongs to it.
inline constexpr std::size_t kMaxNameBytes = 512;
absl::Status CheckLength(absl::string_view name, absl::string_view path);

// What a decoder said of a JSON document there: "<path>.<field>: <what>", or "<path>: <what>" when it names no field.
absl::Status WrongIn(absl::string_view path, absl::string_view complaint);

// A text of the request in a message: quoted, without control characters, cut.
std::string Quoted(absl::string_view text);

}  // namespace gangway::extender
