#include "base/printable.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/utf8.h"

namespace gangway {
namespace {

bool Within(std::uint32_t c, std::uint32_t first, std::uint32_t last) { return c >= first && c <= last; }

enum class Layout { kOneLine, kLines };

std::string Escape(std::uint32_t c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  if (c == '\r') return "\\r";
  return c > 0xFFFF ? absl::StrCat("\\U", absl::Hex(c, absl::kZeroPad8))
                    : absl::StrCat("\\u", absl::Hex(c, absl::kZeroPad4));
}

std::string Escaped(absl::string_view text, Layout layout) {
  const auto is_plain = [&](char c) {
    return (c >= ' ' && c < 0x7F) || (layout == Layout::kLines && (c == '\n' || c == '\t'));
  };
  if (std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string out;
  out.reserve(text.size() + 16);
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = Utf8Length(text, i);
    if (length == 0) {
      absl::StrAppend(&out, "\\x", absl::Hex(static_cast<unsigned char>(text[i]), absl::kZeroPad2));
      ++i;
      continue;
    }
    const std::uint32_t c = Utf8Decode(text, i, length);
    if (IsPrintable(c) || (length == 1 && is_plain(text[i]))) {
      out.append(text.data() + i, length);
    } else {
      out += Escape(c);
    }
    i += length;
  }
  return out;
}

}  // namespace

bool IsPrintable(std::uint32_t c) {
  if (c < 0x300) return c >= 0x20 && !Within(c, 0x7F, 0x9F) && c != 0xAD;  // 0xAD: a hyphen that is not seen
  const bool marks_direction =
      c == 0x61C || Within(c, 0x200B, 0x200F) || Within(c, 0x202A, 0x202E) || Within(c, 0x2060, 0x206F);
  const bool is_invisible =
      c == 0x34F || c == 0x180E || c == 0xFEFF || Within(c, 0xFFF9, 0xFFFB) || Within(c, 0xE0000, 0xE0FFF);
  return !marks_direction && !is_invisible && c != 0x2028 && c != 0x2029;
}

std::string OneLine(absl::string_view text) { return Escaped(text, Layout::kOneLine); }
std::string Lines(absl::string_view text) { return Escaped(text, Layout::kLines); }

std::string MarkupText(absl::string_view text) {
  return absl::StrReplaceAll(OneLine(text),
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string EscapeForJson(std::uint32_t c) {
  if (c <= 0xFFFF) return absl::StrCat("\\u", absl::Hex(c, absl::kZeroPad4));
  const std::uint32_t rest = c - 0x10000;
  return absl::StrCat("\\u", absl::Hex(0xD800 + (rest >> 10), absl::kZeroPad4), "\\u",
                      absl::Hex(0xDC00 + (rest & 0x3FF), absl::kZeroPad4));
}

std::string PrintableJson(absl::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0, length = 0; i < json.size(); i += length) {
    length = std::max<std::size_t>(Utf8Length(json, i), 1);
    const std::uint32_t c = Utf8Decode(json, i, length);
    // Between the strings there is white space of ASCII; within them there are no lower controls.
    if (IsPrintable(c) || c < 0x20) {
      out.append(json.data() + i, length);
    } else {
      out += EscapeForJson(c);
    }
  }
  return out;
}

}  // namespace gangway
