#include "plugin/extender/session/json_walk.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "plugin/extender/session/json_skip.h"
#include "simdjson.h"

namespace gangway::extender {
namespace {

constexpr std::size_t kMaxKeyInPath = 100;

// Of a quoted text with escapes in it.
bool Unescape(absl::string_view quoted, std::string& out) {
  thread_local simdjson::ondemand::parser parser;
  const simdjson::padded_string padded(quoted.data(), quoted.size());
  simdjson::ondemand::document document;
  std::string_view text;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS) return false;
  if (document.get_string().get(text) != simdjson::SUCCESS) return false;
  out.assign(text);
  return true;
}

}  // namespace

JsonWalk::JsonWalk(absl::string_view json, std::string path) : json_(json), root_(std::move(path)) { Space(); }

std::string JsonWalk::path() const {
  std::string path = root_;
  for (const Step& step : steps_) {
    const std::string key = absl::CHexEscape(step.key.substr(0, kMaxKeyInPath));
    switch (step.kind) {
      case Step::Kind::kMember:
        absl::StrAppend(&path, path.empty() ? "" : ".", key);
        break;
      case Step::Kind::kNamed:
        absl::StrAppend(&path, "[\"", key, "\"]");
        break;
      case Step::Kind::kElement:
        absl::StrAppend(&path, "[", step.index, "]");
        break;
    }
  }
  return path;
}

absl::Status JsonWalk::Wrong(absl::string_view what) const {
  const std::string here = path();
  return absl::InvalidArgumentError(absl::StrCat(here.empty() ? "the body" : here, ": ", what));
}

bool JsonWalk::Null() {
  if (json_.substr(at_, 4) != "null") return false;
  at_ += 4;
  return true;
}

absl::Status JsonWalk::StepOver() {
  const std::size_t end = EndOfValue(json_, at_);
  if (end == absl::string_view::npos)
    return Wrong(Is('{') || Is('[') ? "is cut off, too deep, or not JSON" : "is cut off");
  at_ = end;
  return absl::OkStatus();
}

absl::Status JsonWalk::Take(absl::string_view& text) {
  const std::size_t begin = at_;
  GW_RETURN_IF_ERROR(StepOver());
  text = json_.substr(begin, at_ - begin);
  return absl::OkStatus();
}

absl::Status JsonWalk::Quoted(absl::string_view& quoted, bool& escapes) {
  const std::size_t end = EndOfString(json_, at_, escapes);
  if (end == absl::string_view::npos) return Wrong("is cut off");
  quoted = json_.substr(at_, end - at_);
  at_ = end;
  return absl::OkStatus();
}

absl::Status JsonWalk::Key(std::string& unescaped, absl::string_view& key) {
  if (!Is('"')) return Wrong("a key in quotes is expected");
  absl::string_view quoted;
  bool escapes = false;
  GW_RETURN_IF_ERROR(Quoted(quoted, escapes));
  key = quoted.substr(1, quoted.size() - 2);
  if (escapes) {
    if (!Unescape(quoted, unescaped)) return Wrong("a key is no string");
    key = unescaped;
  }
  Space();
  if (!Is(':')) return Wrong("a colon is expected behind a key");
  ++at_;
  Space();
  return absl::OkStatus();
}

// Behind an element of what `end` ends.
absl::Status JsonWalk::Next(char end, bool& more) {
  Space();
  more = Is(',');
  if (!more && !Is(end)) return Wrong(at_ == json_.size() ? "is cut off" : "a comma is expected");
  ++at_;
  Space();
  return absl::OkStatus();
}

absl::Status JsonWalk::Members(bool named, OnMember on_member) {
  if (Null()) return absl::OkStatus();
  if (!Is('{')) return Wrong("must be an object");
  ++at_;
  Space();
  bool more = !Is('}');
  if (!more) ++at_;
  std::string unescaped;
  while (more) {
    absl::string_view key;
    GW_RETURN_IF_ERROR(Key(unescaped, key));
    steps_.push_back({named ? Step::Kind::kNamed : Step::Kind::kMember, key, 0});
    const std::size_t before = at_;
    absl::Status read = on_member(key);
    if (read.ok() && at_ == before) read = StepOver();
    steps_.pop_back();
    GW_RETURN_IF_ERROR(read);
    if (std::exchange(enough_, false)) {
      const std::size_t end = EndOfRest(json_, at_);
      if (end == absl::string_view::npos) return Wrong("is cut off, too deep, or not JSON");
      at_ = end;
      return absl::OkStatus();
    }
    GW_RETURN_IF_ERROR(Next('}', more));
  }
  return absl::OkStatus();
}

absl::Status JsonWalk::List(absl::FunctionRef<absl::Status()> on_element) {
  if (Null()) return absl::OkStatus();
  if (!Is('[')) return Wrong("must be a list");
  ++at_;
  Space();
  bool more = !Is(']');
  if (!more) ++at_;
  for (std::size_t index = 0; more; ++index) {
    steps_.push_back({Step::Kind::kElement, {}, index});
    const std::size_t before = at_;
    absl::Status read = on_element();
    if (read.ok() && at_ == before) read = StepOver();
    steps_.pop_back();
    GW_RETURN_IF_ERROR(read);
    GW_RETURN_IF_ERROR(Next(']', more));
  }
  return absl::OkStatus();
}

absl::Status JsonWalk::String(std::string& out) {
  if (Null()) return absl::OkStatus();
  if (at_ == json_.size()) return Wrong("is cut off");
  if (!Is('"')) return Wrong("must be a string");
  absl::string_view quoted;
  bool escapes = false;
  GW_RETURN_IF_ERROR(Quoted(quoted, escapes));
  if (escapes) return Unescape(quoted, out) ? absl::OkStatus() : Wrong("is no string");
  out.assign(quoted.data() + 1, quoted.size() - 2);
  return absl::OkStatus();
}

absl::Status JsonWalk::Int(std::int64_t& out) {
  if (Null()) return absl::OkStatus();
  absl::string_view text;
  GW_RETURN_IF_ERROR(Take(text));
  const absl::string_view digits = absl::StartsWith(text, "-") ? text.substr(1) : text;
  const bool plain = digits.find_first_not_of("0123456789") == absl::string_view::npos;
  if (!plain || digits.empty() || !absl::SimpleAtoi(text, &out)) return Wrong("must be an integer");
  return absl::OkStatus();
}

absl::Status JsonWalk::Bool(bool& out) {
  if (Null()) return absl::OkStatus();
  absl::string_view text;
  GW_RETURN_IF_ERROR(Take(text));
  if (text != "true" && text != "false") return Wrong("must be true or false");
  out = text == "true";
  return absl::OkStatus();
}

absl::Status JsonWalk::End() {
  Space();
  return at_ == json_.size() ? absl::OkStatus() : Wrong("something follows after the value");
}

}  // namespace gangway::extender
