// JSON into a tree, strictly (RFC 8259). The parsers we have say where an error is, but not where each value stands.
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/manifest/document_tree.h"
#include "base/status_macros.h"
#include "base/utf8.h"

namespace gangway::api::manifest {
namespace {

class JsonReader {
 public:
  JsonReader(absl::string_view text, absl::string_view source, const ManifestLimits& limits, Tree& tree)
      : text_(text), source_(source), limits_(limits), tree_(tree) {}

  absl::Status ReadAll() {
    for (SkipSpace(); at_ < text_.size(); SkipSpace()) {
      if (tree_.roots.size() >= limits_.max_documents) {
        return Hard(absl::StrCat("more than ", limits_.max_documents, " documents"),
                    absl::StatusCode::kResourceExhausted);
      }
      NodeId root = 0;
      GW_RETURN_IF_ERROR(ReadValue(1, root));
      tree_.roots.push_back(root);
    }
    return absl::OkStatus();
  }
  bool syntax() const { return syntax_; }

 private:
  TextPosition Here() const { return {line_, static_cast<int>(at_ - line_start_) + 1}; }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  absl::Status Syntax(absl::string_view what) {
    syntax_ = true;
    return ErrorAt(source_, Here(),
                   at_ < text_.size() ? std::string(what) : absl::StrCat(what, ", not the end of the text"));
  }
  absl::Status Hard(absl::string_view what, absl::StatusCode code = absl::StatusCode::kInvalidArgument) const {
    return ErrorAt(source_, Here(), what, code);
  }

  void SkipSpace() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  absl::Status ReadValue(int depth, NodeId& out) {
    if (tree_.nodes.size() >= limits_.max_nodes) {
      return Hard(absl::StrCat("more than ", limits_.max_nodes, " values; split the file"),
                  absl::StatusCode::kResourceExhausted);
    }
    const TextPosition start = Here();
    switch (Peek()) {
      case '{':
        out = tree_.Add(Node::Kind::kMap, start);
        return ReadMap(depth, out);
      case '[':
        out = tree_.Add(Node::Kind::kList, start);
        return ReadList(depth, out);
      case '"': {
        std::string text;
        GW_RETURN_IF_ERROR(ReadString(text));
        out = tree_.Add(Node::Kind::kString, start, std::move(text));
        return absl::OkStatus();
      }
      default:
        return ReadLiteral(start, out);
    }
  }

  absl::Status Enter(int depth) {
    if (depth > limits_.max_depth)
      return Hard(absl::StrCat("more than ", limits_.max_depth, " maps and lists within each other"));
    ++at_;
    SkipSpace();
    return absl::OkStatus();
  }

  absl::Status ReadMap(int depth, NodeId id) {
    GW_RETURN_IF_ERROR(Enter(depth));
    absl::flat_hash_map<std::string, int> line_of_key;
    while (Peek() != '}') {
      Entry entry;
      entry.at = Here();
      if (Peek() != '"') return Syntax("expected '\"' or '}'");
      GW_RETURN_IF_ERROR(ReadString(entry.key));
      const auto [it, fresh] = line_of_key.try_emplace(entry.key, entry.at.line);
      if (!fresh) {
        return ErrorAt(source_, entry.at,
                       absl::StrCat("the key \"", entry.key, "\" stands twice in one map, first in line ", it->second,
                                    "; remove one"));
      }
      SkipSpace();
      if (Peek() != ':') return Syntax("expected ':'");
      ++at_;
      SkipSpace();
      GW_RETURN_IF_ERROR(ReadValue(depth + 1, entry.value));
      tree_.nodes[id].entries.push_back(std::move(entry));
      SkipSpace();
      if (Peek() == '}') break;
      if (Peek() != ',') return Syntax("expected ',' or '}'");
      ++at_;
      SkipSpace();
      if (Peek() == '}') return Syntax("expected '\"'");
    }
    ++at_;
    return absl::OkStatus();
  }

  absl::Status ReadList(int depth, NodeId id) {
    GW_RETURN_IF_ERROR(Enter(depth));
    while (Peek() != ']') {
      NodeId item = 0;
      GW_RETURN_IF_ERROR(ReadValue(depth + 1, item));
      tree_.nodes[id].items.push_back(item);
      SkipSpace();
      if (Peek() == ']') break;
      if (Peek() != ',') return Syntax("expected ',' or ']'");
      ++at_;
      SkipSpace();
      if (Peek() == ']') return Syntax("expected a value");
    }
    ++at_;
    return absl::OkStatus();
  }

  absl::Status ReadString(std::string& out) {
    ++at_;
    while (true) {
      const std::size_t from = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
             static_cast<unsigned char>(text_[at_]) >= 0x20)
        ++at_;
      out.append(text_.data() + from, at_ - from);
      if (at_ >= text_.size()) return Syntax("expected '\"'");
      if (text_[at_] == '"') {
        ++at_;
        return absl::OkStatus();
      }
      if (text_[at_] != '\\') return Syntax("a string must not contain control characters; write them as escapes");
      GW_RETURN_IF_ERROR(ReadEscape(out));
    }
  }

  absl::Status ReadEscape(std::string& out) {
    ++at_;
    const char c = Peek();
    static constexpr absl::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    if (const std::size_t i = kLetters.find(c); c != '\0' && i != absl::string_view::npos) {
      out += kMeanings[i];
      ++at_;
      return absl::OkStatus();
    }
    if (c != 'u') return Syntax("expected one of \" \\ / b f n r t u after a backslash");
    std::uint32_t code = 0;
    GW_RETURN_IF_ERROR(ReadHex(code));
    if (code >= 0xD800 && code <= 0xDBFF) {
      std::uint32_t low = 0;
      if (!absl::StartsWith(text_.substr(at_), "\\u")) return Syntax("expected the second half of a surrogate pair");
      ++at_;
      GW_RETURN_IF_ERROR(ReadHex(low));
      if (low < 0xDC00 || low > 0xDFFF) return Syntax("expected the second half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
      return Syntax("the second half of a surrogate pair stands alone");
    }
    AppendUtf8(code, out);
    return absl::OkStatus();
  }

  // At the 'u' of an escape.
  absl::Status ReadHex(std::uint32_t& out) {
    const absl::string_view digits = text_.substr(at_ + 1, 4);
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out, 16);
    if (digits.size() != 4 || error != std::errc() || stop != digits.data() + 4)
      return Syntax("expected four hexadecimal digits");
    at_ += 5;
    return absl::OkStatus();
  }

  absl::Status ReadLiteral(TextPosition start, NodeId& out) {
    const std::size_t from = at_;
    while (at_ < text_.size() &&
           (absl::ascii_isalnum(static_cast<unsigned char>(text_[at_])) || absl::StrContains("+-.", text_[at_])))
      ++at_;
    const absl::string_view word = text_.substr(from, at_ - from);
    if (word != "true" && word != "false" && word != "null") {
      if (absl::string_view problem = NumberProblem(word); !problem.empty()) {
        at_ = from;
        return Syntax(problem);
      }
    }
    out = tree_.Add(Node::Kind::kLiteral, start, std::string(word));
    return absl::OkStatus();
  }

  // "" when `word` is -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)? and a double can hold it.
  static absl::string_view NumberProblem(absl::string_view word) {
    absl::string_view rest = word;
    const auto digits = [&rest] {
      std::size_t n = 0;
      while (n < rest.size() && absl::ascii_isdigit(static_cast<unsigned char>(rest[n]))) ++n;
      rest.remove_prefix(n);
      return n;
    };
    if (absl::StartsWith(rest, "-")) rest.remove_prefix(1);
    const bool zero = absl::StartsWith(rest, "0");
    const std::size_t whole = digits();
    if (whole == 0 || (zero && whole > 1)) return "expected a value";
    if (absl::StartsWith(rest, ".")) {
      rest.remove_prefix(1);
      if (digits() == 0) return "expected a number";
    }
    if (absl::StartsWith(rest, "e") || absl::StartsWith(rest, "E")) {
      rest.remove_prefix(1);
      if (absl::StartsWith(rest, "-") || absl::StartsWith(rest, "+")) rest.remove_prefix(1);
      if (digits() == 0) return "expected a number";
    }
    if (!rest.empty()) return "expected a number";
    double value = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), value).ec != std::errc())
      return "the number is out of range";
    return {};
  }

  const absl::string_view text_;
  const absl::string_view source_;
  const ManifestLimits& limits_;
  Tree& tree_;
  std::size_t at_ = 0, line_start_ = 0;
  int line_ = 1;
  bool syntax_ = false;
};

}  // namespace

absl::Status ReadJson(absl::string_view text, absl::string_view source, const ManifestLimits& limits, Tree& tree,
                      bool& syntax) {
  JsonReader reader(text, source, limits, tree);
  absl::Status status = reader.ReadAll();
  syntax = reader.syntax();
  return status;
}

}  // namespace gangway::api::manifest
