#include "cmd/terminal/columns.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "base/utf8.h"

namespace gangway::cmd {
namespace {

// Columns of a terminal that it takes: those of East Asian scripts and of pictures take two
// (unicode.org/reports/tr11), and what joins the one before it takes none.
std::size_t WidthOf(absl::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = Utf8Length(text, at);
    const std::uint32_t c = length == 0 ? '?' : Utf8Decode(text, at, length);
    const bool joins = (c >= 0x300 && c <= 0x36F) || (c >= 0x1AB0 && c <= 0x1AFF) || (c >= 0x20D0 && c <= 0x20FF) ||
                       (c >= 0xFE00 && c <= 0xFE0F);
    const bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF && c != 0x303F) ||
                      (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) ||
                      (c >= 0xFF00 && c <= 0xFF60) || (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1F64F) ||
                      (c >= 0x1F900 && c <= 0x1F9FF) || (c >= 0x20000 && c <= 0x3FFFD);
    width += joins ? 0 : wide ? 2 : 1;
    at += std::max<std::size_t>(1, length);
  }
  return width;
}

}  // namespace

std::string Columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], WidthOf(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) out.append(widths[i] - WidthOf(row[i]) + 2, ' ');
    }
    out += '\n';
  }
  return out;
}

}  // namespace gangway::cmd
