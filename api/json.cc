#include "api/json.h"

#include <charconv>

#include "api/json_value.h"
#include "base/status_macros.h"
#include "api/utf8.h"

namespace gangway::api {

void AppendJsonString(absl::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  std::size_t from = 0;  // what is still to be copied starts here
  std::size_t i = 0;
  while (i < text.size()) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
      ++i;
      continue;
    }
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
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
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
