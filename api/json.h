// JSON text: checking bytes from outside, writing, and the difference of two documents. No JSON library in sight;
// api/json_value.h is for those who need a document in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gangway::api {

struct JsonLimits {
  std::size_t max_bytes = 3 * 1024 * 1024;  // beyond: ResourceExhausted
  int max_depth = 100;                      // objects and lists within each other; beyond: InvalidArgument
};

// Reads all of `json` and judges it: RFC 8259, UTF-8 (no lone surrogates), numbers that a double can hold, nothing
// after the value. InvalidArgument says where: `line 3 column 14: expected ',' or '}'`. The paths of keys that stand
// twice in one object ("spec.tasks[1].name") are appended to `duplicates` when it is given, in the order found; whether
// they are an error is the caller's business (Kubernetes: fieldValidation; the last one counts).
absl::Status ParseCompletely(absl::string_view json, const JsonLimits& limits = {},
                             std::vector<std::string>* duplicates = nullptr);

// Appends `text` in quotes. Bytes that are no UTF-8 become U+FFFD, as Go writes them.
void AppendJsonString(absl::string_view text, std::string& out);
std::string JsonString(absl::string_view text);

// Writes JSON in the order it is called; commas are its business, matching the calls up the caller's.
//
//   JsonWriter(out).BeginObject().Key("spec").BeginObject().Field("nodeName", node).EndObject().EndObject();
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(absl::string_view key);
  JsonWriter& String(absl::string_view value);
  JsonWriter& Int(std::int64_t value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  // `json` is one complete JSON value.
  JsonWriter& Raw(absl::string_view json);

  JsonWriter& Field(absl::string_view key, absl::string_view value) { return Key(key).String(value); }
  JsonWriter& Field(absl::string_view key, std::string_view value) {
    return Key(key).String({value.data(), value.size()});
  }
  JsonWriter& Field(absl::string_view key, const std::string& value) { return Key(key).String(value); }
  JsonWriter& Field(absl::string_view key, const char* value) { return Key(key).String(value); }
  JsonWriter& Field(absl::string_view key, bool value) { return Key(key).Bool(value); }
  JsonWriter& Field(absl::string_view key, int value) { return Key(key).Int(value); }
  JsonWriter& Field(absl::string_view key, std::int64_t value) { return Key(key).Int(value); }
  JsonWriter& RawField(absl::string_view key, absl::string_view json) { return Key(key).Raw(json); }

 private:
  JsonWriter& Open(char c);
  JsonWriter& Close(char c);
  void Comma();

  std::string& out_;
  bool comma_ = false;  // the next key or value is not the first of its container
};

// The RFC 7386 merge patch that makes `after` of `before`; "{}" when they are equal. Both must be JSON objects
// (InvalidArgument). Lists are replaced whole. A null member of `after` cannot be said in a merge patch: it counts as
// absent.
absl::StatusOr<std::string> MergePatchDiff(absl::string_view before, absl::string_view after);

}  // namespace gangway::api
