// JSON as YAML for people: block style, quotes wherever a plain scalar would read back as something else, comments
// where they are wanted.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "boost/json/fwd.hpp"

namespace gangway::api {

// Lines above a field: one for each line of `text`.
struct YamlComment {
  std::string path;  // as ManifestDocument::Find takes it; "": above the document. Of a field that is not there the
                     // comment is not written
  std::string text;
};

enum class KeyOrder { kSorted, kAsWritten };

// One document without the line "---", ended by a newline. ReadDocuments of it gives the same values. InvalidArgument
// when `json` does not parse. Comments of one field stand in their order.
absl::StatusOr<std::string> YamlOf(absl::string_view json, KeyOrder order = KeyOrder::kSorted,
                                   absl::Span<const YamlComment> comments = {});
void AppendYaml(const boost::json::value& document, KeyOrder order, absl::Span<const YamlComment> comments,
                std::string& out);

}  // namespace gangway::api
