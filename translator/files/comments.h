// What a reader of a translated Job would ask, answered in its margins.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/manifest/yaml_writer.h"
#include "api/volcano/job.h"
#include "translator/convert/codes.h"

namespace gangway::convert {

// `of`: what the Job was made of, "PaddleJob default/wd". Warnings stand above the Job, since whoever reads the file
// later has not seen them on the terminal. Pure.
std::vector<api::YamlComment> CommentsOn(const api::volcano::Job& job, absl::string_view of, const Findings& findings);

}  // namespace gangway::convert
