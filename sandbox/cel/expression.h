// Conditions in the Common Expression Language, as webhooks' matchConditions have them: a part of it, enough for what
// asks about the fields of an object and a request. Whatever is not in that part is refused when the expression is
// read, never guessed.
//
// In it: texts, integers, true, false, null, lists; a.b, a["b"], a[0], has(a.b); == != < <= > >= in && || ! ?:; size();
// startsWith, endsWith and contains of texts; all, exists and exists_one of lists and maps; groups in brackets.
#pragma once

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "boost/json/value.hpp"

namespace gangway::sandbox::cel {

inline constexpr std::size_t kMaxBytes = 16'384;  // of one expression
inline constexpr int kMaxDepth = 64;
inline constexpr int kMaxOperators = 200;
inline constexpr int kMaxSteps = 1'000'000;  // of one evaluation

// What an expression may speak of, by name. Borrowed for the evaluation; a null pointer is null.
using Variables = absl::flat_hash_map<absl::string_view, const boost::json::value*>;

// Immutable; thread-compatible.
class Expression {
 public:
  // InvalidArgument says what is wrong and at which byte: no expression, something that is not in our part of the
  // language, a name that is not among `known`.
  static absl::StatusOr<Expression> Parse(absl::string_view text, absl::Span<const absl::string_view> known);

  // InvalidArgument when it comes to no answer, in CEL's words: "no such key: spec"; or to one that is not a truth.
  absl::StatusOr<bool> Holds(const Variables& variables) const;

  struct Node;

 private:
  explicit Expression(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
  std::shared_ptr<const Node> root_;
};

}  // namespace gangway::sandbox::cel
