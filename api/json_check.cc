#include <cmath>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>

#include <boost/json.hpp>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace gangway::api {
namespace {

constexpr std::size_t kMaxDuplicates = 100;  // told; a body that is wrong everywhere needs no longer list
constexpr std::size_t kFewKeys = 16;         // up to here a walk is faster than a set

struct JsonPath {
  const JsonPath* up;
  absl::string_view key;  // of objects
  std::size_t index;      // of lists
  bool in_list;
};

void Render(const JsonPath* path, std::string& out) {
  if (path == nullptr) return;
  Render(path->up, out);
  if (path->in_list) {
    absl::StrAppend(&out, "[", path->index, "]");
  } else {
    absl::StrAppend(&out, out.empty() ? "" : ".", path->key);
  }
}

// The keys of one object, unescaped.
class Keys {
 public:
  // False when it is there already.
  bool Add(absl::string_view key) {
    if (set_ != nullptr) return set_->insert(key).second;
    for (const absl::string_view one : few_)
      if (one == key) return false;
    few_.push_back(key);
    if (few_.size() > kFewKeys) set_ = std::make_unique<Set>(few_.begin(), few_.end());
    return true;
  }

 private:
  using Set = absl::flat_hash_set<absl::string_view>;
  std::vector<absl::string_view> few_;
  std::unique_ptr<Set> set_;
};

// Eight bytes, none of which ends a string, escapes, controls or leaves ASCII.
bool AllPlain(const char* at) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x8080808080808080;
  std::uint64_t w;
  std::memcpy(&w, at, sizeof w);
  const std::uint64_t quote = w ^ (kOnes * '"');
  const std::uint64_t slash = w ^ (kOnes * '\\');
  return (((w | (w - kOnes * 0x20) | (quote - kOnes) | (slash - kOnes)) & kHigh) == 0);
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Recursive descent; every function returns false after it has put the reason into status_.
class Checker {
 public:
  Checker(absl::string_view json, int max_depth, std::vector<std::string>* duplicates)
      : json_(json), max_depth_(max_depth), duplicates_(duplicates) {}

  absl::Status Run() {
    SkipBlanks();
    if (!Value(nullptr, 1)) return status_;
    SkipBlanks();
    if (at_ != json_.size()) Fail("something follows the JSON value");
    return status_;
  }

 private:
  bool Value(const JsonPath* path, int depth) {
    if (at_ == json_.size()) return Fail("unexpected end");
    switch (json_[at_]) {
      case '{':
        return depth > max_depth_ ? TooDeep() : Object(path, depth);
      case '[':
        return depth > max_depth_ ? TooDeep() : List(path, depth);
      case '"':
        return String(nullptr);
      case 't':
        return Literal("true");
      case 'f':
        return Literal("false");
      case 'n':
        return Literal("null");
      default:
        return Number();
    }
  }

  bool Object(const JsonPath* path, int depth) {
    Keys keys;
    ++at_;
    SkipBlanks();
    if (Take('}')) return true;
    while (true) {
      JsonPath here{path, {}, 0, false};
      if (at_ == json_.size()) return Fail("unexpected end");
      if (json_[at_] != '"') return Fail("expected a key in double quotes");
      if (!String(duplicates_ != nullptr ? &here.key : nullptr)) return false;
      if (duplicates_ != nullptr && !keys.Add(here.key) && duplicates_->size() < kMaxDuplicates) {
        Render(&here, duplicates_->emplace_back());
      }
      SkipBlanks();
      if (!Take(':')) return Expected("':'");
      SkipBlanks();
      if (!Value(&here, depth + 1)) return false;
      SkipBlanks();
      if (Take('}')) return true;
      if (!Take(',')) return Expected("',' or '}'");
      SkipBlanks();
    }
  }

  bool List(const JsonPath* path, int depth) {
    ++at_;
    SkipBlanks();
    if (Take(']')) return true;
    for (JsonPath here{path, {}, 0, true};; ++here.index) {
      if (!Value(&here, depth + 1)) return false;
      SkipBlanks();
      if (Take(']')) return true;
      if (!Take(',')) return Expected("',' or ']'");
      SkipBlanks();
    }
  }

  // `text`, when given, becomes the string unescaped; it lives as long as this checker and the bytes.
  bool String(absl::string_view* text) {
    const std::size_t begin = ++at_;
    std::string* unescaped = nullptr;
    std::size_t from = begin;  // what is not in *unescaped yet
    while (true) {
      while (json_.size() - at_ >= 8 && AllPlain(json_.data() + at_)) at_ += 8;
      if (at_ == json_.size()) return Fail("unexpected end of a string");
      const auto c = static_cast<unsigned char>(json_[at_]);
      if (c == '"') break;
      if (c < 0x20) return Fail("control character in a string");
      if (c == '\\') {
        if (text != nullptr) {
          if (unescaped == nullptr) unescaped = &arena_.emplace_back();
          unescaped->append(json_.data() + from, at_ - from);
        }
        if (!Escape(unescaped)) return false;
        from = at_;
      } else if (const std::size_t length = Utf8Length(json_, at_); length != 0) {
        at_ += length;
      } else {
        return Fail("not UTF-8");
      }
    }
    if (unescaped != nullptr) {
      unescaped->append(json_.data() + from, at_ - from);
      *text = *unescaped;
    } else if (text != nullptr) {
      *text = json_.substr(begin, at_ - begin);
    }
    ++at_;
    return true;
  }

  // At a backslash.
  bool Escape(std::string* out) {
    if (json_.size() - at_ < 2) return Fail("unexpected end of a string");
    constexpr absl::string_view kNames = "\"\\/bfnrt";
    constexpr absl::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (const std::size_t i = kNames.find(json_[at_ + 1]); i != absl::string_view::npos) {
      if (out != nullptr) *out += kMeanings[i];
      at_ += 2;
      return true;
    }
    std::optional<std::uint32_t> unit = CodeUnit();
    if (!unit) return Fail("unknown escape in a string");
    at_ += 6;
    if (*unit >= 0xD800 && *unit <= 0xDFFF) {
      const std::optional<std::uint32_t> low = *unit <= 0xDBFF ? CodeUnit() : std::nullopt;
      if (!low || *low < 0xDC00 || *low > 0xDFFF) {
        at_ -= 6;
        return Fail("half of a surrogate pair in a string");
      }
      at_ += 6;
      unit = 0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00);
    }
    if (out != nullptr) AppendUtf8(*unit, *out);
    return true;
  }

  // The number in the \uXXXX that starts here.
  std::optional<std::uint32_t> CodeUnit() const {
    if (json_.size() - at_ < 6 || json_[at_] != '\\' || json_[at_ + 1] != 'u') return std::nullopt;
    std::uint32_t unit = 0;
    for (std::size_t i = at_ + 2; i < at_ + 6; ++i) {
      const int digit = HexDigit(json_[i]);
      if (digit < 0) return std::nullopt;
      unit = unit << 4 | static_cast<std::uint32_t>(digit);
    }
    return unit;
  }

  bool Literal(absl::string_view word) {
    if (json_.substr(at_, word.size()) != word) return Fail("expected a value");
    at_ += word.size();
    return true;
  }

  bool Number() {
    const std::size_t begin = at_;
    Take('-');
    if (Take('0')) {
      if (at_ < json_.size() && IsDigit(json_[at_])) return Fail("a number may not start with 0");
    } else if (!Digits()) {
      at_ = begin;
      return Fail("expected a value");
    }
    if (Take('.') && !Digits()) return Fail("expected a digit");
    if (Take('e') || Take('E')) {
      if (!Take('+')) Take('-');
      while (at_ + 1 < json_.size() && json_[at_] == '0' && IsDigit(json_[at_ + 1])) ++at_;
      const std::size_t exponent = at_;
      if (!Digits()) return Fail("expected a digit");
      if (at_ - exponent > 8) return Fail("number out of range");  // Boost.JSON reads no more, however close to zero
    }
    return InRange(json_.substr(begin, at_ - begin)) || Fail("number out of range");
  }
  bool Digits() {
    const std::size_t begin = at_;
    while (at_ < json_.size() && IsDigit(json_[at_])) ++at_;
    return at_ != begin;
  }
  // As Boost.JSON reads it: some that are just within a double's range become infinite.
  static bool InRange(absl::string_view number) {
    if (number.size() < 300 && number.find_first_of("eE") == absl::string_view::npos) return true;
    boost::system::error_code error;
    const boost::json::value read = boost::json::parse({number.data(), number.size()}, error);
    return !error && (!read.is_double() || std::isfinite(read.get_double()));
  }

  bool Take(char c) {
    if (at_ == json_.size() || json_[at_] != c) return false;
    ++at_;
    return true;
  }
  void SkipBlanks() {
    while (at_ < json_.size() && (json_[at_] == ' ' || json_[at_] == '\n' || json_[at_] == '\r' || json_[at_] == '\t'))
      ++at_;
  }

  bool TooDeep() { return Fail(absl::StrCat("more than ", max_depth_, " levels")); }
  bool Expected(absl::string_view what) {
    return Fail(at_ == json_.size() ? "unexpected end" : absl::StrCat("expected ", what));
  }
  bool Fail(absl::string_view what) {
    std::size_t line = 1;
    std::size_t line_start = 0;
    for (std::size_t i = 0; i < at_; ++i) {
      if (json_[i] == '\n') ++line, line_start = i + 1;
    }
    status_ = absl::InvalidArgumentError(absl::StrCat("line ", line, " column ", at_ - line_start + 1, ": ", what));
    return false;
  }

  const absl::string_view json_;
  const int max_depth_;
  std::vector<std::string>* const duplicates_;
  std::size_t at_ = 0;
  std::deque<std::string> arena_;  // keys that had escapes
  absl::Status status_;
};

}  // namespace

absl::Status ParseCompletely(absl::string_view json, const JsonLimits& limits, std::vector<std::string>* duplicates) {
  if (json.size() > limits.max_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(json.size(), " bytes of JSON, the limit is ", limits.max_bytes));
  }
  return Checker(json, limits.max_depth, duplicates).Run();
}

}  // namespace gangway::api
