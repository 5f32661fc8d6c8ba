// What the browser gets beside the page: its style, its script and its icon, as they were when the program was built.
#pragma once

#include "absl/strings/string_view.h"

namespace gangway::dashboard {

struct PageFile {
  absl::string_view path, content_type, text;
};
// nullptr: there is none of that path.
const PageFile* FindFile(absl::string_view path);

}  // namespace gangway::dashboard
