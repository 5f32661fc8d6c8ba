// One step of a path through an object: a field, an element of a list by its keys or its value, or by its index.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "boost/json/value.hpp"

namespace gangway::sandbox::apply {

// The kinds in the order of structured-merge-diff.
enum class StepKind : std::uint8_t { kField, kKeys, kValue, kIndex };

// A value in canonical text, so that equal steps have equal texts.
class PathElement {
 public:
  static PathElement Field(absl::string_view name) { return PathElement(StepKind::kField, std::string(name)); }
  // `keys` are the names, sorted, with their values; scalars.
  static PathElement Keys(const std::vector<std::pair<absl::string_view, const boost::json::value*>>& keys);
  static PathElement Value(const boost::json::value& scalar);
  enum class Reading { kOk, kUnknownKind, kBroken };
  // From FieldsV1: "f:spec", "k:{\"name\":\"a\"}", "v:\"a\"", "i:0".
  static Reading Read(absl::string_view text, PathElement* out);

  PathElement() = default;
  StepKind kind() const { return kind_; }
  // A field's name; else canonical JSON.
  const std::string& text() const { return text_; }
  void AppendFieldsV1(std::string& out) const;  // not yet quoted
  // ".spec", "[name=\"a\"]", "[=\"a\"]", "[0]"
  void AppendTo(std::string& path) const;

  friend bool operator==(const PathElement& a, const PathElement& b) {
    return a.kind_ == b.kind_ && a.text_ == b.text_;
  }
  // The order of structured-merge-diff: numbers by value, strings by bytes.
  static int Compare(const PathElement& a, const PathElement& b);

 private:
  PathElement(StepKind kind, std::string text) : kind_(kind), text_(std::move(text)) {}

  StepKind kind_ = StepKind::kField;
  std::string text_;
};

using Path = std::vector<PathElement>;
std::string ToText(const Path& path);

}  // namespace gangway::sandbox::apply
