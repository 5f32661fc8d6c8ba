// All roles and bindings of a cluster, and what they say of a request: the decision behind every answer 403.
// kubernetes: pkg/registry/rbac/validation, plugin/pkg/auth/authorizer/rbac.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/meta.h"
#include "api/selector.h"
#include "boost/json/object.hpp"
#include "sandbox/rbac/rule.h"
#include "sandbox/rbac/user.h"

namespace gangway::sandbox::rbac {

struct Verdict {
  bool allowed = false;
  std::string reason;  // by which binding; of a refusal what could not be looked at, mostly ""
};

struct RoleRef {
  std::string kind, name;  // "ClusterRole" or "Role"
};

// Thread-compatible. Both kinds of roles and bindings are kept by namespace and name, those of the cluster in
// namespace "".
class Roles {
 public:
  // Of an object as it is stored, in place of what was there under its name.
  void PutRole(const api::NamespacedName& key, const boost::json::object& role);
  void EraseRole(const api::NamespacedName& key);
  void PutBinding(const api::NamespacedName& key, const boost::json::object& binding);
  void EraseBinding(const api::NamespacedName& key);

  // Members of system:masters may do everything. A decision looks at no more than a million words of rules; who has
  // more is refused what stands behind them, and the reason says so.
  Verdict Judge(const User& user, const Attributes& what) const;

  struct Held {
    std::vector<Rule> rules;
    std::vector<std::string> errors;  // roles that are not there
  };
  // In that namespace; "": in the cluster.
  Held RulesFor(const User& user, absl::string_view ns) const;

  // Of the role that a binding in `ns` names; null: it is not there.
  const std::vector<Rule>* RulesOf(const RoleRef& ref, absl::string_view ns) const;

  // Cluster roles whose rules are those of others (aggregationRule) and are not yet so: with the rules they should
  // have. Kubernetes: pkg/controller/clusterroleaggregation.
  std::vector<std::pair<std::string, std::vector<Rule>>> ToAggregate() const;

 private:
  struct Role {
    std::vector<Rule> rules;
    std::map<std::string, std::string> labels;
    std::vector<api::LabelSelector> aggregates;
  };
  struct Subject {
    std::string kind, name, ns;
    std::string index;  // whom it means, as users and groups are looked for
  };
  struct Binding {
    RoleRef role;
    std::vector<Subject> subjects;
  };
  // Calls `visit` with each rule and where it comes from, or with an error; until it returns false.
  using Visit = absl::FunctionRef<bool(const Rule* rule, absl::FunctionRef<std::string()> source)>;
  void ForEachRule(const User& user, absl::string_view ns, Visit visit) const;
  static std::string Describe(const api::NamespacedName& key, const Binding& binding, const Subject& subject);

  absl::btree_map<api::NamespacedName, Role> roles_;
  absl::flat_hash_map<std::string, absl::flat_hash_map<std::string, Binding>> bindings_;  // by namespace and name
  // Names of the bindings of one subject in one namespace.
  absl::flat_hash_map<std::pair<std::string, std::string>, absl::btree_set<std::string>> by_subject_;
};

}  // namespace gangway::sandbox::rbac
