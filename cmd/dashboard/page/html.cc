#include "cmd/dashboard/page/html.h"

#include <algorithm>

#include "base/printable.h"
#include "base/utf8.h"

namespace gangway::dashboard {
namespace {

// Not within a code point.
absl::string_view CutTo(absl::string_view text, std::size_t most) {
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t next = end + std::max<std::size_t>(1, Utf8Length(text, end));
    if (next > most) break;
    end = next;
  }
  return text.substr(0, end);
}

}  // namespace

std::string Escaped(absl::string_view text) {
  const absl::string_view cut = CutTo(text, kMaxText);
  std::string out = MarkupText(cut);
  if (cut.size() < text.size()) out += "…";
  return out;
}

std::string WithoutTags(absl::string_view html) {
  std::string out;
  bool tag = false;
  for (const char c : html) {
    if (c == '<') tag = true;
    if (!tag) out += c;
    if (c == '>') {
      tag = false;
      out += ' ';
    }
  }
  return out;
}

}  // namespace gangway::dashboard
