// One rule of a role, and whether it has a request. Pure. pkg/apis/rbac/v1: evaluation_helpers.go.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "boost/json/array.hpp"
#include "boost/json/object.hpp"

namespace gangway::sandbox::rbac {

// rbac.authorization.k8s.io/v1 PolicyRule.
struct Rule {
  std::vector<std::string> verbs, groups, resources, names, urls;
  std::size_t words() const { return verbs.size() + groups.size() + resources.size() + names.size() + urls.size(); }
  friend bool operator==(const Rule&, const Rule&) = default;
  friend auto operator<=>(const Rule&, const Rule&) = default;
};

// What somebody wants to do.
struct Attributes {
  std::string verb;  // "deletecollection"
  std::string group, resource, subresource, ns, name;
  std::string path;         // of what is no resource
  bool of_resource = true;  // else `verb` and `path` are all
};

// Of a Role or a ClusterRole, or of the rules of one; whatever else stands there counts as nothing.
std::vector<Rule> ReadRules(const boost::json::object& role);

// As a role has them.
boost::json::array WriteRules(const std::vector<Rule>& rules);

bool Allows(const Rule& rule, const Attributes& what);

// `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`, as it is told of rights that somebody lacks.
std::string Compact(const Rule& rule);

// What of `wanted` no single rule of `held` has, put together by what it is of; empty: all of it is held.
// ResourceExhausted when there is too much to compare. component-helpers: auth/rbac/validation, Covers;
// pkg/registry/rbac/validation: CompactRules.
absl::StatusOr<std::vector<Rule>> MissingRights(absl::Span<const Rule> held, absl::Span<const Rule> wanted);

}  // namespace gangway::sandbox::rbac
