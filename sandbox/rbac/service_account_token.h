// Tokens of service accounts: JSON Web Tokens, signed with a secret of this process (HS256), so that nobody else can
// make or judge one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace gangway::sandbox::rbac {

inline constexpr absl::string_view kTokenIssuer =
    "https://kubernetes.default.svc";  // and audience, unless asked otherwise

// What a token says.
struct TokenClaims {
  std::string ns, name, uid;  // of the account
  std::vector<std::string> audiences;
  absl::Time issued, expires;
  std::string id;                                 // "jti"
  std::string bound_kind, bound_name, bound_uid;  // "Pod": it ends with that object; "": with the account alone
};

// A token for them. `secret` is 32 bytes that nobody can guess.
std::string SignToken(const TokenClaims& claims, absl::string_view secret);

// InvalidArgument: it is none of ours. Its times are the caller's to judge, and whether what it names is still there.
absl::StatusOr<TokenClaims> ReadToken(absl::string_view token, absl::string_view secret);

}  // namespace gangway::sandbox::rbac
