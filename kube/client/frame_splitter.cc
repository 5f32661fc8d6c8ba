#include "kube/client/frame_splitter.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace gangway::kube {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// A cursor over JSON that is believed to be well-formed: it finds where values end and judges nothing within them.
class Scanner {
 public:
  explicit Scanner(absl::string_view text) : p_(text.data()), end_(text.data() + text.size()) {}

  // The next byte that is no space; '\0' at the end.
  char Peek() {
    while (p_ != end_ && IsSpace(*p_)) ++p_;
    return p_ == end_ ? '\0' : *p_;
  }
  bool Eat(char c) {
    if (Peek() != c) return false;
    ++p_;
    return true;
  }
  // The text of the next value, or an empty view when it does not end.
  absl::string_view Value() {
    const char first = Peek();
    const char* const begin = p_;
    bool whole = false;
    if (first == '"') {
      whole = SkipString();
    } else if (first == '{' || first == '[') {
      whole = SkipNested();
    } else {
      while (p_ != end_ && *p_ != ',' && *p_ != '}' && *p_ != ']' && !IsSpace(*p_)) ++p_;
      whole = p_ != begin;
    }
    return whole ? absl::string_view(begin, static_cast<std::size_t>(p_ - begin)) : absl::string_view();
  }

 private:
  bool SkipString() {
    for (++p_; p_ != end_; ++p_) {
      if (*p_ == '"') return ++p_, true;
      if (*p_ == '\\' && ++p_ == end_) return false;
    }
    return false;
  }
  bool SkipNested() {
    int depth = 0;
    while (p_ != end_) {
      switch (*p_) {
        case '"':
          if (!SkipString()) return false;
          continue;
        case '{':
        case '[':
          ++depth;
          break;
        case '}':
        case ']':
          if (--depth == 0) return ++p_, true;
          break;
        default:
          break;
      }
      ++p_;
    }
    return false;
  }

  const char* p_;
  const char* const end_;
};

absl::Status Broken(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("watch frame: ", what)); }

absl::StatusOr<FrameType> TypeFromText(absl::string_view quoted) {
  for (FrameType type :
       {FrameType::kAdded, FrameType::kModified, FrameType::kDeleted, FrameType::kBookmark, FrameType::kError}) {
    if (quoted.substr(1, quoted.size() - 2) == FrameTypeName(type)) return type;
  }
  return Broken(absl::StrCat("unknown type ", quoted.substr(0, 40)));
}

}  // namespace

absl::string_view FrameTypeName(FrameType type) {
  switch (type) {
    case FrameType::kAdded:
      return "ADDED";
    case FrameType::kModified:
      return "MODIFIED";
    case FrameType::kDeleted:
      return "DELETED";
    case FrameType::kBookmark:
      return "BOOKMARK";
    case FrameType::kError:
      return "ERROR";
  }
  return "";
}

absl::StatusOr<Frame> ParseFrame(absl::string_view line) {
  Scanner scan(line);
  absl::string_view type, object;
  if (!scan.Eat('{')) return Broken("not a JSON object");
  if (!scan.Eat('}')) {
    do {
      if (scan.Peek() != '"') return Broken("a key was expected");
      const absl::string_view key = scan.Value();
      if (key.empty() || !scan.Eat(':')) return Broken("a key without a value");
      const absl::string_view value = scan.Value();
      if (value.empty()) return Broken("a value that does not end");
      if (key == "\"type\"") type = value;
      if (key == "\"object\"") object = value;
    } while (scan.Eat(','));
    if (!scan.Eat('}')) return Broken("',' or '}' was expected");
  }
  if (scan.Peek() != '\0') return Broken("more than one JSON value");
  if (type.empty() || type.front() != '"') return Broken("type is missing");
  if (object.empty() || object.front() != '{') return Broken("object is missing");
  absl::StatusOr<FrameType> frame_type = TypeFromText(type);
  if (!frame_type.ok()) return frame_type.status();
  return Frame{*frame_type, MakeBytes(std::string(object))};
}

void AppendFrame(const Frame& frame, std::string& out) {
  absl::StrAppend(&out, "{\"type\":\"", FrameTypeName(frame.type), "\",\"object\":");
  out.append(*frame.object);
  out.append("}\n");
}

absl::Status FrameSplitter::Feed(absl::string_view bytes, std::vector<Frame>& frames) {
  if (failed_) return Broken("the stream was broken before");
  const auto take = [&](absl::string_view line) -> absl::Status {
    if (absl::StripAsciiWhitespace(line).empty()) return absl::OkStatus();
    absl::StatusOr<Frame> frame = ParseFrame(line);
    if (!frame.ok()) return frame.status();
    frames.push_back(*std::move(frame));
    return absl::OkStatus();
  };
  const auto fail = [&](absl::Status status) {
    failed_ = true;
    rest_ = std::string();
    return status;
  };
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::size_t length = end == absl::string_view::npos ? bytes.size() : end;
    if (rest_.size() + length > max_frame_bytes_) {
      return fail(absl::ResourceExhaustedError(
          absl::StrCat("watch frame: larger than the limit of ", max_frame_bytes_, " bytes")));
    }
    if (end == absl::string_view::npos) {
      rest_.append(bytes.data(), bytes.size());
      break;
    }
    absl::Status status;
    if (rest_.empty()) {
      status = take(bytes.substr(0, end));
    } else {
      rest_.append(bytes.data(), end);
      status = take(rest_);
      rest_.clear();
    }
    if (!status.ok()) return fail(std::move(status));
    bytes.remove_prefix(end + 1);
  }
  return absl::OkStatus();
}

absl::Status FrameSplitter::Finish() const {
  if (absl::StripAsciiWhitespace(rest_).empty()) return absl::OkStatus();
  return absl::UnavailableError("the watch ended within a frame");
}

}  // namespace gangway::kube
