#include "plugin/conf/conf_document.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "plugin/conf/scheduler_conf.h"

namespace gangway::conf {

absl::StatusOr<api::ManifestDocument> ReadConfDocument(absl::string_view text, absl::string_view source) {
  const api::ManifestLimits limits{.max_bytes = kMaxBytes,
                                   .max_document_bytes = 4 * kMaxBytes,
                                   .max_nodes = 5'000,
                                   .max_depth = 20,
                                   .max_documents = 2};
  GW_ASSIGN_OR_RETURN(std::vector<api::ManifestDocument> documents, api::ReadDocuments(text, source, limits));
  if (documents.empty())
    return absl::InvalidArgumentError(absl::StrCat(source, ": is empty; at least actions must be there"));
  if (documents.size() > 1)
    return absl::InvalidArgumentError(absl::StrCat(source, ": one document is expected, there are ", documents.size()));
  return std::move(documents[0]);
}

}  // namespace gangway::conf
