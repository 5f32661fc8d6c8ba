// What `gangway translate` prints. Pure.
#pragma once

#include <string>

#include "translator/files/manifest.h"

namespace gangway::cmd {

// Documents with a line "---" between them, comments above fields.
std::string TranslationYaml(const convert::ManifestTranslation& translation);
// One v1 List, an object a line. No comments: JSON has none.
std::string TranslationJson(const convert::ManifestTranslation& translation);
// The way of each field of each job, as a table.
std::string TranslationStories(const convert::ManifestTranslation& translation);
// One line for each finding.
std::string TranslationFindings(const convert::ManifestTranslation& translation);

}  // namespace gangway::cmd
