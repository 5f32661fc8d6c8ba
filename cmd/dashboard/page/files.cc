#include "cmd/dashboard/page/files.h"

#include <array>
#include <cstddef>

extern "C" {
extern const char gangway_dashboard_css_begin[], gangway_dashboard_css_end[];
extern const char gangway_dashboard_js_begin[], gangway_dashboard_js_end[];
extern const char gangway_dashboard_icon_begin[], gangway_dashboard_icon_end[];
}

namespace gangway::dashboard {
namespace {

absl::string_view Between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

}  // namespace

const PageFile* FindFile(absl::string_view path) {
  static const std::array<PageFile, 3> kFiles{{
      {"/dashboard.css", "text/css; charset=utf-8", Between(gangway_dashboard_css_begin, gangway_dashboard_css_end)},
      {"/dashboard.js", "text/javascript; charset=utf-8",
       Between(gangway_dashboard_js_begin, gangway_dashboard_js_end)},
      {"/icon.svg", "image/svg+xml", Between(gangway_dashboard_icon_begin, gangway_dashboard_icon_end)},
  }};
  for (const PageFile& file : kFiles) {
    if (file.path == path) return &file;
  }
  return nullptr;
}

}  // namespace gangway::dashboard
