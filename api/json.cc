#include "api/json.h"

#include <charconv>
#include <cstdint>
#include <cstring>

#include "api/json_value.h"
#include "base/status_macros.h"
#include "base/utf8.h"

namespace gangway::api {

namespace {

// Whether all eight bytes stand in a JSON string as they are: neither control characters nor quotes, backslashes or
// bytes beyond ASCII.
bool ArePlain(const char* bytes) {
  constexpr std::uint64_t kEach = 0x0101010101010101u, kHigh = kEach * 0x80;
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  const std::uint64_t quote = word ^ kEach * '"', backslash = word ^ kEach * '\\';
  const std::uint64_t control = (word - kEach * 0x20) & ~word;  // high bit: less than 0x20; so below with 1
  return ((control | word | ((quote - kEach) & ~quote) | ((backslash - kEach) & ~backslash)) & kHigh) == 0;
}

bool IsPlain(char byte) {
  const auto c = static_cast<unsigned char>(byte);
  return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

// How far `text` is plain.
std::size_t PlainBytes(absl::string_view text) {
  std::size_t i = 0;
  while (i + 8 <= text.size() && ArePlain(text.data() + i)) i += 8;
  while (i < text.size() && IsPlain(text[i])) ++i;
  return i;
}

// Most strings are keys and names: one append in place of three.
constexpr std::size_t kShort = 62;
void AppendShort(absl::string_view text, std::string& out) {
  char quoted[kShort + 2];
  quoted[0] = '"';
  text.copy(quoted + 1, text.size());
  quoted[text.size() + 1] = '"';
  out.append(quoted, text.size() + 2);
}

}  // namespace

void AppendJsonString(absl::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::size_t i = PlainBytes(text);
  if (i == text.size() && i <= kShort) return AppendShort(text, out);
  out += '"';
  std::size_t from = 0;  // what is still to be copied starts here
  while (i < text.size()) {
    if (i + 8 <= text.size() && ArePlain(text.data() + i)) {
      i += 8;
      continue;
    }
    if (IsPlain(text[i])) {
      ++i;
      continue;
    }
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) {
      const std::size_t length = Utf8Length(text, i);
      if (length != 0) {
        i += length;
        continue;
      }
    }
    out.append(text.data() + from, i - from);
    from = ++i;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (c >= 0x80) {
          out += "\\ufffd";
        } else {
          out += "\\u00";
          out += kHex[c >> 4];
          out += kHex[c & 15];
        }
    }
  }
  out.append(text.data() + from, text.size() - from);
  out += '"';
}

std::string JsonString(absl::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  AppendJsonString(text, out);
  return out;
}

void JsonWriter::Comma() {
  if (comma_) out_ += ',';
  comma_ = true;
}

JsonWriter& JsonWriter::Open(char c) {
  Comma();
  out_ += c;
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Close(char c) {
  out_ += c;
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Key(absl::string_view key) {
  Comma();
  AppendJsonString(key, out_);
  out_ += ':';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::String(absl::string_view value) {
  Comma();
  AppendJsonString(value, out_);
  return *this;
}

JsonWriter& JsonWriter::Int(std::int64_t value) {
  char text[24];
  return Raw({text, static_cast<std::size_t>(std::to_chars(text, text + sizeof text, value).ptr - text)});
}

JsonWriter& JsonWriter::Bool(bool value) { return Raw(value ? "true" : "false"); }
JsonWriter& JsonWriter::Null() { return Raw("null"); }

JsonWriter& JsonWriter::Raw(absl::string_view json) {
  Comma();
  out_.append(json.data(), json.size());
  return *this;
}

absl::StatusOr<std::string> MergePatchDiff(absl::string_view before, absl::string_view after) {
  boost::json::monotonic_resource arena;
  GW_ASSIGN_OR_RETURN(const boost::json::value old_value, ParseJson(before, &arena));
  GW_ASSIGN_OR_RETURN(const boost::json::value new_value, ParseJson(after, &arena));
  if (!old_value.is_object() || !new_value.is_object()) {
    return absl::InvalidArgumentError("a merge patch is the difference of two JSON objects");
  }
  return ToJson(MergePatchBetween(old_value.get_object(), new_value.get_object()));
}

}  // namespace gangway::api
