// The whole page of a first paint: all rows, in HTML that needs no script to be read.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "cmd/dashboard/page/rows.h"
#include "cmd/dashboard/page/words.h"

namespace gangway::dashboard {

struct PageText {
  Lang lang = Lang::kEnglish;
  std::string query = {};    // rows without it are hidden; letter case does not count
  std::string version = {};  // from which what changes is asked for
  std::string server = {};   // which cluster it is
  bool reading = false;      // not everything has been read yet
};

std::string RenderPage(const SheetRows& rows, const PageText& text);

}  // namespace gangway::dashboard
