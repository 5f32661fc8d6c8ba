// One thing that is wrong with one field of an object, as Kubernetes classifies it and as we say it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/string_view.h"

namespace gangway::api {

struct FieldError {
  enum class Type : std::uint8_t {
    kRequired,
    kInvalid,
    kNotSupported,
    kDuplicate,
    kNotFound,
    kForbidden,
    kTooLong,
    kTypeInvalid,
    kTooMany
  };
  Type type = Type::kInvalid;
  std::string field;  // "spec.tasks[0].replicas"
  std::string value;  // what stands there, as JSON; empty: not worth repeating
  std::string rule;   // "must be at least 0"
  std::string fix;    // "leave it out to get 3"; may be empty
  friend bool operator==(const FieldError&, const FieldError&) = default;

  // metav1.CauseType: "FieldValueRequired", "FieldValueInvalid", ... Go into Status.details.causes.
  std::string_view Reason() const;
  // `Invalid value: -1: must be at least 0 (leave it out to get 3)`: the message of a cause.
  std::string Message() const;
  // `spec.tasks[0].replicas: ` and the message.
  std::string ToString() const;
};

using FieldErrors = std::vector<FieldError>;

// `a: ...`, or `[a: ..., b: ...]` for several, in the order given.
std::string JoinFieldErrors(const FieldErrors& errors);

// "spec" + "tasks" -> "spec.tasks"; "" + "spec" -> "spec".
std::string ChildPath(absl::string_view path, absl::string_view key);
// "spec.tasks" + 2 -> "spec.tasks[2]"
std::string IndexPath(absl::string_view path, std::size_t index);

}  // namespace gangway::api
