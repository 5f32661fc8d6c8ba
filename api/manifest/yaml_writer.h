// JSON as YAML for people: block style, keys sorted, quotes wherever a plain scalar would read back as something else.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gangway::api {

// One document without the line "---", ended by a newline. ReadDocuments of it gives the same values. InvalidArgument when
// `json` does not parse.
absl::StatusOr<std::string> YamlOf(absl::string_view json);

}  // namespace gangway::api
