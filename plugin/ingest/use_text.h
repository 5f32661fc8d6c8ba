// What a Queue's annotation says that it held of late.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "plugin/model/facts.h"

namespace gangway::ingest {

// The value of api::volcano::kUsageAnnotation.
std::string FormatUse(const model::Use& use);
// nullopt: it does not read.
std::optional<model::Use> ParseUse(absl::string_view text);

}  // namespace gangway::ingest
