// Goes through a large JSON text member by member without an index of it: the caller takes a value, goes into it, or
// steps over it, and errors carry the path of where it is.
//
//   JsonWalk walk(body);
//   status = walk.Struct([&](absl::string_view key) {
//     if (SameKey(key, "Jobs")) return walk.Map([&](absl::string_view job) { return DecodeJob(walk); });
//     return absl::OkStatus();  // what is not taken is stepped over
//   });
//
// What it steps over is not checked (json_skip.h). One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace gangway::extender {

// As encoding/json finds a member of a struct: whatever the case of its letters.
inline bool SameKey(absl::string_view key, absl::string_view member) {
  return key.size() == member.size() && absl::EqualsIgnoreCase(key, member);
}

class JsonWalk {
 public:
  // The text outlives it; `path` begins every error, such as "job".
  explicit JsonWalk(absl::string_view json, std::string path = {});

  // Key and not value: what the caller has not taken when it returns is stepped over. The view is good until then.
  using OnMember = absl::FunctionRef<absl::Status(absl::string_view key)>;
  // The value is an object of fixed members, or of a name each; null is one without members.
  absl::Status Struct(OnMember on_member) { return Members(false, on_member); }
  absl::Status Map(OnMember on_member) { return Members(true, on_member); }
  // The value is a list; null is an empty one.
  absl::Status List(absl::FunctionRef<absl::Status()> on_element);

  // On_member has taken its value, and no other member of the object is wanted: they are stepped over in one go. What
  // stands twice counts as it stood before.
  void Enough() { enough_ = true; }

  // The value's text, whatever it is.
  absl::Status Take(absl::string_view& text);
  // What is left of the text, from the value on; and: the caller has read so much of it, which is the value.
  absl::string_view ahead() const { return json_.substr(at_); }
  void StepOver(std::size_t length) { at_ += length; }
  // A string, a whole number, a bool; null leaves `out` as it is.
  absl::Status String(std::string& out);
  absl::Status Int(std::int64_t& out);
  absl::Status Bool(bool& out);

  // After the outermost value: only white space may follow.
  absl::Status End();

  // InvalidArgument: "<path>: <what>".
  absl::Status Wrong(absl::string_view what) const;
  // Of where it is: "Jobs["ads/ctr"].Tasks["0b1f"].Priority".
  std::string path() const;

 private:
  struct Step {
    enum class Kind : std::uint8_t { kMember, kNamed, kElement };
    Kind kind = Kind::kMember;
    absl::string_view key;
    std::size_t index = 0;
  };

  absl::Status Members(bool named, OnMember on_member);
  absl::Status Key(std::string& unescaped, absl::string_view& key);
  absl::Status Quoted(absl::string_view& quoted, bool& escapes);
  absl::Status StepOver();
  absl::Status Next(char end, bool& more);
  void Space() {
    while (Is(' ') || Is('\n') || Is('\t') || Is('\r')) ++at_;
  }
  bool Null();
  bool Is(char c) const { return at_ < json_.size() && json_[at_] == c; }

  const absl::string_view json_;
  std::size_t at_ = 0;
  bool enough_ = false;
  const std::string root_;
  std::vector<Step> steps_;
};

// The members that are wanted of an object, by number: when all of them have been there, no other is looked at.
class WantedMembers {
 public:
  WantedMembers(JsonWalk& walk, int count) : walk_(walk), missing_((1u << count) - 1) {}
  // Returns `read`.
  absl::Status Take(int which, absl::Status read) {
    missing_ &= ~(1u << which);
    if (missing_ == 0 && read.ok()) walk_.Enough();
    return read;
  }

 private:
  JsonWalk& walk_;
  unsigned missing_;
};

}  // namespace gangway::extender
