// GW_RETURN_IF_ERROR(expr) and GW_ASSIGN_OR_RETURN(declaration, expr).
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define GW_RETURN_IF_ERROR(expr)                              \
  do {                                                        \
    if (absl::Status gw_status_ = (expr); !gw_status_.ok()) { \
      return gw_status_;                                      \
    }                                                         \
  } while (false)

#define GW_CONCAT_INNER_(a, b) a##b
#define GW_CONCAT_(a, b) GW_CONCAT_INNER_(a, b)

// The declaration may be `auto x`, `const T x`, or an existing variable.  NOLINTBEGIN(bugprone-macro-parentheses)
#define GW_ASSIGN_OR_RETURN(declaration, expr) \
  GW_ASSIGN_OR_RETURN_INNER_(GW_CONCAT_(gw_statusor_, __LINE__), declaration, expr)
#define GW_ASSIGN_OR_RETURN_INNER_(result, declaration, expr) \
  auto result = (expr);                                       \
  if (!result.ok()) return std::move(result).status();        \
  declaration = *std::move(result)
// NOLINTEND(bugprone-macro-parentheses)
