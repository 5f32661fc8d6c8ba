// A scheduler configuration of Volcano as a document, for those who look at what stands in it.
//
// Pure.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/manifest/manifest.h"

namespace gangway::conf {

// Within the limits of ReadSchedulerConf. Errors begin with the source.
absl::StatusOr<api::ManifestDocument> ReadConfDocument(absl::string_view text, absl::string_view source);

}  // namespace gangway::conf
