// Label and field selectors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gangway::api {

// All of its requirements must hold; without any it selects everything.
class LabelSelector {
 public:
  enum class Operator : std::uint8_t {
    kEquals,
    kNotEquals,
    kIn,
    kNotIn,
    kExists,
    kDoesNotExist,
    kGreaterThan,
    kLessThan
  };
  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;  // sorted, each once
    friend bool operator==(const Requirement&, const Requirement&) = default;
  };

  LabelSelector() = default;

  // "app=web,tier!=cache,env in (prod,test),zone notin (a),gpu,!drain,cores>4". Blanks between the parts do not count.
  static absl::StatusOr<LabelSelector> Parse(absl::string_view query);
  // A metav1.LabelSelector: {"matchLabels":{...},"matchExpressions":[{"key","operator","values"}]}. "{}" selects
  // everything. An empty text (absent) selects nothing.
  static absl::StatusOr<LabelSelector> FromJson(absl::string_view json);
  // Keys and values are not judged.
  static LabelSelector FromLabels(const std::map<std::string, std::string>& labels);
  static LabelSelector Nothing();

  bool Matches(const std::map<std::string, std::string>& labels) const;
  // With labels kept in another shape: `find` returns nullptr for a label that is not there.
  bool MatchesWith(absl::FunctionRef<const std::string*(const std::string& key)> find) const;

  bool selects_everything() const { return !nothing_ && requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }
  // A query that Parse reads back, requirements sorted by key.
  std::string ToString() const;

 private:
  std::vector<Requirement> requirements_;
  bool nothing_ = false;
};

// "metadata.name=ctr,status.phase!=Running": exact comparisons of named fields. Which fields a resource has is the
// server's business.
class FieldSelector {
 public:
  struct Requirement {
    std::string field, value;
    bool equal = true;
    friend bool operator==(const Requirement&, const Requirement&) = default;
  };

  // "=", "==" and "!="; '\' takes the meaning from ',', '=' and '\'.
  static absl::StatusOr<FieldSelector> Parse(absl::string_view query);

  // `value_of` gives the text of a field, "" when it is absent.
  bool Matches(absl::FunctionRef<std::string(absl::string_view field)> value_of) const;
  // The value that `field` must have; nullptr when any will do.
  const std::string* RequiredValue(absl::string_view field) const;

  bool selects_everything() const { return requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }
  std::string ToString() const;

 private:
  std::vector<Requirement> requirements_;
};

}  // namespace gangway::api
