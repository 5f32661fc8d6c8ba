// The whole page: all rows, in HTML that needs no script to be read.
#pragma once

#include <cstddef>
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

// Of each part so many rows are painted first, more than a screen has; a script makes the others when these are seen.
inline constexpr std::size_t kFirstRows = 60;

std::string RenderPage(const SheetRows& rows, const PageText& text);

}  // namespace gangway::dashboard
