#include "api/manifest/yaml_writer.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "api/manifest/path.h"
#include "api/manifest/scalar.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/utf8.h"

namespace gangway::api {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongKey = 250;  // readers look no further than 1024 characters for its colon, escapes counted

// Whether a code point stands for itself in any kind of scalar: also no control, line or byte order mark.
bool StandsForItself(std::uint32_t code_point) {
  return IsPrintable(code_point) && code_point != 0xFFFE && code_point != 0xFFFF;
}

bool AllPrintable(absl::string_view text, bool tabs = false) {
  for (std::size_t i = 0, length = 0; i < text.size(); i += length) {
    length = 1;
    if (text[i] >= ' ' && text[i] < 0x7F) continue;  // what most are
    length = Utf8Length(text, i);
    if (length == 0 || (!StandsForItself(Utf8Decode(text, i, length)) && !(tabs && text[i] == '\t'))) return false;
  }
  return true;
}

// Whether `text` without quotes is read back as itself; stricter than YAML where that spares a rule.
bool IsPlain(absl::string_view text) {
  if (text.empty() || text == "<<" || text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  const auto first = static_cast<unsigned char>(text.front());
  const bool flag = text.size() > 1 && text[0] == '-' &&
                    (absl::ascii_isalpha(static_cast<unsigned char>(text[1])) || absl::StartsWith(text, "--")) &&
                    !absl::StartsWith(text, "---");
  if (first < 0x80 && !absl::ascii_isalnum(first) && !absl::StrContains("_/.($\\+^;~", text.front()) && !flag)
    return false;
  if (absl::StartsWith(text, "...") || absl::StrContains(text, ": ") || absl::StrContains(text, " #") ||
      !AllPrintable(text))
    return false;
  return manifest::ResolveScalar(text).type == manifest::ScalarType::kString;
}

// Lines that can stand as they are below a bar.
bool IsBlock(absl::string_view text) {
  if (!absl::StrContains(text, '\n') || absl::EndsWith(text, "\n\n") || absl::StrContains(" \t\n", text.front()))
    return false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!AllPrintable(line, /*tabs=*/true)) return false;
  }
  return true;
}

void AppendQuoted(absl::string_view text, std::string& out) {
  out += '"';
  for (std::size_t i = 0, length = 0; i < text.size(); i += length) {
    length = std::max<std::size_t>(Utf8Length(text, i), 1);
    const absl::string_view c = text.substr(i, length);
    if (c == "\"" || c == "\\") {
      absl::StrAppend(&out, "\\", c);
    } else if (c == "\n") {
      out += "\\n";
    } else if (c == "\t") {
      out += "\\t";
    } else if (const std::uint32_t code = Utf8Decode(text, i, length); StandsForItself(code)) {
      absl::StrAppend(&out, c);
    } else if (length == 1) {
      absl::StrAppend(&out, "\\x", absl::Hex(code, absl::kZeroPad2));
    } else if (length == 4) {
      absl::StrAppend(&out, "\\U", absl::Hex(code, absl::kZeroPad8));
    } else {
      absl::StrAppend(&out, "\\u", absl::Hex(code, absl::kZeroPad4));
    }
  }
  out += '"';
}

// A comment on its way down: what is left of its path.
struct Pending {
  absl::string_view rest;
  absl::string_view text;
};
using Comments = std::vector<Pending>;

class Writer {
 public:
  Writer(KeyOrder order, std::string& out) : order_(order), out_(out) {}

  void Document(const json::value& value, absl::Span<const YamlComment> comments) {
    Comments pending;
    for (const YamlComment& comment : comments) {
      if (comment.path.empty()) {
        Comment(comment.text, 0);
      } else {
        pending.push_back({comment.path, comment.text});
      }
    }
    if (value.is_object() && !value.get_object().empty())
      return Map(value.get_object(), 0, pending, /*inside_item=*/false);
    if (value.is_array() && !value.get_array().empty())
      return List(value.get_array(), 0, pending, /*inside_item=*/false);
    Scalar(value, -1);
    out_ += '\n';
  }

 private:
  void Indent(int columns) { out_.append(static_cast<std::size_t>(columns), ' '); }

  void Comment(absl::string_view text, int columns) {
    const std::string shown = Lines(text);  // YAML knows line breaks that are no line feeds, too
    for (const absl::string_view line : absl::StrSplit(shown, '\n')) {
      Indent(columns);
      absl::StrAppend(&out_, line.empty() ? "#" : "# ", line, "\n");
    }
  }

  // `inside_item`: the line has "- " already, and the first member stands behind it.
  void Map(const json::object& object, int columns, const Comments& comments, bool inside_item) {
    std::vector<const json::key_value_pair*> members;
    members.reserve(object.size());
    for (const json::key_value_pair& member : object) members.push_back(&member);
    if (order_ == KeyOrder::kSorted)
      std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->key() < b->key(); });
    bool behind_dash = inside_item;
    for (const json::key_value_pair* member : members) {
      const absl::string_view key = AbslView(member->key());
      Comments below;
      for (const Pending& comment : comments) {
        absl::string_view rest;
        if (!manifest::TakeKey(comment.rest, key, rest)) continue;
        if (!rest.empty()) {
          below.push_back({rest, comment.text});
        } else if (!behind_dash) {  // of an item's first member it stands above the dash
          Comment(comment.text, columns);
        }
      }
      if (!behind_dash) Indent(columns);
      behind_dash = false;
      Key(key, columns);
      Value(member->value(), columns, below);
    }
  }

  // With its colon.
  void Key(absl::string_view key, int columns) {
    const bool is_long = key.size() > kLongKey;
    if (is_long) out_ += "? ";
    if (IsPlain(key)) {
      absl::StrAppend(&out_, key);
    } else {
      AppendQuoted(key, out_);
    }
    if (is_long) {
      out_ += '\n';
      Indent(columns);
    }
    out_ += ':';
  }

  void Value(const json::value& value, int columns, const Comments& comments) {
    if (value.is_object() && !value.get_object().empty()) {
      out_ += '\n';
      return Map(value.get_object(), columns + 2, comments, false);
    }
    if (value.is_array() && !value.get_array().empty()) {
      out_ += '\n';
      return List(value.get_array(), columns + 2, comments, false);
    }
    out_ += ' ';
    Scalar(value, columns);
    out_ += '\n';
  }

  void List(const json::array& list, int columns, const Comments& comments, bool inside_item) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      Comments below;
      for (const Pending& comment : comments) {
        std::size_t index = 0;
        absl::string_view rest;
        if (manifest::TakeIndex(comment.rest, index, rest) && index == i) below.push_back({rest, comment.text});
      }
      const bool behind_dash = inside_item && i == 0;
      if (!behind_dash) {
        for (const Pending& comment : below) {
          if (comment.rest.empty() || IsFirstOf(list[i], comment.rest)) Comment(comment.text, columns);
        }
        Indent(columns);
      }
      out_ += '-';
      Item(list[i], columns, below);
    }
  }

  void Item(const json::value& value, int columns, const Comments& comments) {
    out_ += ' ';
    if (value.is_object() && !value.get_object().empty()) return Map(value.get_object(), columns + 2, comments, true);
    if (value.is_array() && !value.get_array().empty()) return List(value.get_array(), columns + 2, comments, true);
    Scalar(value, columns);
    out_ += '\n';
  }

  // Whether `rest` is the member of `value` that stands behind the dash.
  bool IsFirstOf(const json::value& value, absl::string_view rest) const {
    if (!value.is_object() || value.get_object().empty()) return false;
    const json::object& object = value.get_object();
    const auto by_key = [](const auto& a, const auto& b) { return a.key() < b.key(); };
    const json::string_view key =
        (order_ == KeyOrder::kSorted ? std::min_element(object.begin(), object.end(), by_key) : object.begin())->key();
    absl::string_view behind;
    return manifest::TakeKey(rest, AbslView(key), behind) && behind.empty();
  }

  // `columns`: of what the scalar belongs to; -1: it is the document.
  void Scalar(const json::value& value, int columns) {
    if (value.is_object()) {
      out_ += "{}";
    } else if (value.is_array()) {
      out_ += "[]";
    } else if (value.is_string()) {
      String(AbslView(value.get_string()), columns);
    } else {
      AppendJson(value, out_);  // null, true, false and numbers are the same in both
    }
  }

  void String(absl::string_view text, int columns) {
    if (IsPlain(text)) {
      absl::StrAppend(&out_, text);
    } else if (columns >= 0 && IsBlock(text)) {
      const bool ended = text.back() == '\n';
      if (ended) text.remove_suffix(1);
      out_ += ended ? "|" : "|-";
      for (const absl::string_view line : absl::StrSplit(text, '\n')) {
        out_ += '\n';
        if (!line.empty()) Indent(columns + 2);
        absl::StrAppend(&out_, line);
      }
    } else {
      AppendQuoted(text, out_);
    }
  }

  const KeyOrder order_;
  std::string& out_;
};

}  // namespace

absl::StatusOr<std::string> YamlOf(absl::string_view text, KeyOrder order, absl::Span<const YamlComment> comments) {
  json::monotonic_resource memory;
  GW_ASSIGN_OR_RETURN(const json::value value, ParseJson(text, &memory));
  std::string out;
  AppendYaml(value, order, comments, out);
  return out;
}

void AppendYaml(const json::value& document, KeyOrder order, absl::Span<const YamlComment> comments, std::string& out) {
  Writer(order, out).Document(document, comments);
}

}  // namespace gangway::api
