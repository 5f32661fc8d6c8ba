// Well-formed UTF-8, one code point at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace gangway {

// The bytes of the code point that starts at `at`, 1 to 4; 0 when there is no well-formed one (overlong forms,
// surrogates and code points beyond U+10FFFF are none). `at` is within `text`.
inline std::size_t Utf8Length(absl::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned c = byte(at);
  if (c < 0x80) return 1;
  if (c >= 0xC2 && c <= 0xDF) return continues(at + 1) ? 2 : 0;
  if (c >= 0xE0 && c <= 0xEF) {
    const unsigned low = c == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = c == 0xED ? 0x9F : 0xBF;
    return byte(at + 1) >= low && byte(at + 1) <= high && continues(at + 2) ? 3 : 0;
  }
  if (c >= 0xF0 && c <= 0xF4) {
    const unsigned low = c == 0xF0 ? 0x90 : 0x80;
    const unsigned high = c == 0xF4 ? 0x8F : 0xBF;
    return byte(at + 1) >= low && byte(at + 1) <= high && continues(at + 2) && continues(at + 3) ? 4 : 0;
  }
  return 0;
}

// The code point of the `length` bytes at `at` that Utf8Length found.
inline std::uint32_t Utf8Decode(absl::string_view text, std::size_t at, std::size_t length) {
  const auto byte = [&](std::size_t i) -> std::uint32_t { return static_cast<unsigned char>(text[at + i]); };
  if (length == 1) return byte(0);
  std::uint32_t code = byte(0) & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (byte(i) & 0x3Fu);
  return code;
}

// `code_point` is no surrogate and at most U+10FFFF.
inline void AppendUtf8(std::uint32_t code_point, std::string& out) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

// With U+FFFD for each byte that is part of no code point, as in the JSON that is made of it.
inline std::string WellFormedUtf8(absl::string_view text) {
  std::string out;
  for (std::size_t at = 0, length = 0; at < text.size(); at += std::max<std::size_t>(length, 1)) {
    length = Utf8Length(text, at);
    if (length == 0)
      AppendUtf8(0xFFFD, out);
    else
      out.append(text.data() + at, length);
  }
  return out;
}

}  // namespace gangway
