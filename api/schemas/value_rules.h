// What a declared schema says of values: ranges, lengths, patterns, formats, what is required, and its junctors
// (kube-openapi: validation).
#pragma once

#include <string>

#include "api/field_error.h"
#include "api/schemas/declared_words.h"

namespace gangway::schemas::declared {

// What is wrong with a value that stands at `path`. `patterns`: all of the schema's. With `before`, what stays as it
// was may be wrong; nullptr: nothing was there. A value that takes too many steps to judge is wrong, too.
api::FieldErrors JudgeValue(const json::value& value, const json::value& schema, const Patterns& patterns,
                            const std::string& path, const json::value* before);

}  // namespace gangway::schemas::declared
