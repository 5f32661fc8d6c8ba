// For walks over what somebody sent: paths and errors that cost in proportion to it, however it is built.
#pragma once

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/field_error.h"

namespace gangway::api {

inline constexpr std::size_t kMaxFieldErrors = 100;  // of one object; more helps nobody

// Whether nothing more would be told: who walks on may stop.
inline bool Full(const FieldErrors& errors) { return errors.size() >= kMaxFieldErrors; }

// Appends it while there are fewer than kMaxFieldErrors. Texts are cut to what one reads: they may repeat what was
// sent.
void AddFieldError(FieldErrors& errors, FieldError::Type type, absl::string_view field, absl::string_view value,
                   absl::string_view rule, absl::string_view fix = {});

// A path that is longer for as long as this lives. A walk that goes down by these writes each key once, however many
// values are below it.
class PathStep {
 public:
  PathStep(std::string& path, const absl::AlphaNum& a, const absl::AlphaNum& b = "", const absl::AlphaNum& c = "")
      : path_(path), size_(path.size()) {
    absl::StrAppend(&path, a, b, c);
  }
  ~PathStep() { path_.resize(size_); }
  PathStep(const PathStep&) = delete;
  PathStep& operator=(const PathStep&) = delete;

 private:
  std::string& path_;
  const std::size_t size_;
};

}  // namespace gangway::api
