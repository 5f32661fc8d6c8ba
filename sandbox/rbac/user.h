// Who sends a request. Values only.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace gangway::sandbox {

struct User {
  std::string name, uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
};

// k8s.io/apiserver: authentication/user.
inline constexpr absl::string_view kMastersGroup = "system:masters";  // who may do everything
inline constexpr absl::string_view kAuthenticatedGroup = "system:authenticated";
inline constexpr absl::string_view kUnauthenticatedGroup = "system:unauthenticated";
inline constexpr absl::string_view kAnonymousUser = "system:anonymous";

// In a user's `extra`: by what it was known.
inline constexpr absl::string_view kCredentialId = "authentication.kubernetes.io/credential-id";

inline bool IsInGroup(const User& user, absl::string_view group) {
  return std::any_of(user.groups.begin(), user.groups.end(), [&](const std::string& each) { return each == group; });
}

inline constexpr absl::string_view kServiceAccountPrefix = "system:serviceaccount:";
// "system:serviceaccount:gangway-system:gangway-scheduler"
inline std::string ServiceAccountUser(absl::string_view ns, absl::string_view name) {
  return absl::StrCat(kServiceAccountPrefix, ns, ":", name);
}
// Those of a service account of that namespace, but for system:authenticated.
inline std::vector<std::string> ServiceAccountGroups(absl::string_view ns) {
  return {"system:serviceaccounts", absl::StrCat("system:serviceaccounts:", ns)};
}

}  // namespace gangway::sandbox
