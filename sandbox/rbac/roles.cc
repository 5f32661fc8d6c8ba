#include "sandbox/rbac/roles.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json.h"
#include "api/json_value.h"
#include "sandbox/apiserver/draft/draft.h"

namespace gangway::sandbox::rbac {
namespace {

namespace json = boost::json;

// Of rules that one decision looks at: some 10 ms.
constexpr std::size_t kMaxWords = 1'000'000;

// A user's name or a group, as an index; a service account is the user that it is.
std::string UserIndex(absl::string_view name) { return absl::StrCat("u:", name); }
std::string GroupIndex(absl::string_view name) { return absl::StrCat("g:", name); }

std::string IndexOf(absl::string_view kind, absl::string_view name, absl::string_view ns) {
  if (kind == "User") return UserIndex(name);
  if (kind == "Group") return GroupIndex(name);
  return kind == "ServiceAccount" && !ns.empty() ? UserIndex(ServiceAccountUser(ns, name)) : "";
}

std::vector<std::string> IndexesOf(const User& user) {
  std::vector<std::string> out{UserIndex(user.name)};
  for (const std::string& group : user.groups) out.push_back(GroupIndex(group));
  return out;
}

std::string NotThere(const RoleRef& ref) {
  return absl::StrCat(ref.kind == "Role" ? "role" : "clusterrole", ".rbac.authorization.k8s.io ",
                      api::JsonString(ref.name), " not found");
}

// Go: utilerrors.NewAggregate.
std::string Together(const std::vector<std::string>& errors) {
  const std::set<std::string> once(errors.begin(), errors.end());
  return once.size() == 1 ? *once.begin() : absl::StrCat("[", absl::StrJoin(once, ", "), "]");
}

const std::string kTooMany = "there are too many rules to look at";

}  // namespace

void Roles::PutRole(const api::NamespacedName& key, const json::object& role) {
  Role& kept = roles_[key] = {};
  kept.rules = ReadRules(role);
  if (!key.ns.empty()) return;
  const json::value* const labels = FindPath(role, "metadata.labels");
  if (labels != nullptr && labels->is_object()) {
    for (const auto& label : labels->get_object()) {
      if (label.value().is_string()) kept.labels.emplace(AbslView(label.key()), AbslView(label.value().get_string()));
    }
  }
  const json::object* const rule = FindObject(role, "aggregationRule");
  const json::array* const selectors = rule == nullptr ? nullptr : FindArray(*rule, "clusterRoleSelectors");
  for (std::size_t i = 0; selectors != nullptr && i < selectors->size(); ++i) {
    absl::StatusOr<api::LabelSelector> selector = api::LabelSelector::FromJson(api::ToJson((*selectors)[i]));
    if (selector.ok()) kept.aggregates.push_back(*std::move(selector));
  }
}

void Roles::EraseRole(const api::NamespacedName& key) { roles_.erase(key); }

void Roles::PutBinding(const api::NamespacedName& key, const json::object& binding) {
  EraseBinding(key);
  Binding kept;
  kept.role = {std::string(TextAt(binding, "roleRef.kind")), std::string(TextAt(binding, "roleRef.name"))};
  const json::array* const subjects = FindArray(binding, "subjects");
  for (std::size_t i = 0; subjects != nullptr && i < subjects->size(); ++i) {
    const json::object* const each = (*subjects)[i].if_object();
    if (each == nullptr) continue;
    Subject subject{std::string(FindText(*each, "kind")), std::string(FindText(*each, "name")),
                    std::string(FindText(*each, "namespace")), ""};
    subject.index = IndexOf(subject.kind, subject.name, subject.ns.empty() ? key.ns : subject.ns);
    if (!subject.index.empty()) by_subject_[{key.ns, subject.index}].insert(key.name);
    kept.subjects.push_back(std::move(subject));
  }
  bindings_[key.ns][key.name] = std::move(kept);
}

void Roles::EraseBinding(const api::NamespacedName& key) {
  const auto space = bindings_.find(key.ns);
  if (space == bindings_.end()) return;
  const auto binding = space->second.find(key.name);
  if (binding == space->second.end()) return;
  for (const Subject& subject : binding->second.subjects) {
    const auto names = by_subject_.find({key.ns, subject.index});
    if (names == by_subject_.end()) continue;
    names->second.erase(key.name);
    if (names->second.empty()) by_subject_.erase(names);
  }
  space->second.erase(binding);
  if (space->second.empty()) bindings_.erase(space);
}

const std::vector<Rule>* Roles::RulesOf(const RoleRef& ref, absl::string_view ns) const {
  const auto role = roles_.find({ref.kind == "Role" ? std::string(ns) : "", ref.name});
  return role == roles_.end() ? nullptr : &role->second.rules;
}

std::string Roles::Describe(const api::NamespacedName& key, const Binding& binding, const Subject& subject) {
  std::string whom = subject.name;
  if (subject.kind == "ServiceAccount") absl::StrAppend(&whom, "/", subject.ns.empty() ? key.ns : subject.ns);
  return absl::StrCat(key.ns.empty() ? "Cluster" : "", "RoleBinding ",
                      api::JsonString(key.ns.empty() ? key.name : absl::StrCat(key.name, "/", key.ns)), " of ",
                      binding.role.kind, " ", api::JsonString(binding.role.name), " to ", subject.kind, " ",
                      api::JsonString(whom));
}

void Roles::ForEachRule(const User& user, absl::string_view ns, Visit visit) const {
  const std::vector<std::string> indexes = IndexesOf(user);
  std::size_t words = 0;
  for (const std::string& space : {std::string(), std::string(ns)}) {
    absl::btree_set<std::string> names;  // in their order, each once
    for (const std::string& index : indexes) {
      const auto bound = by_subject_.find(std::pair(space, index));
      if (bound != by_subject_.end()) names.insert(bound->second.begin(), bound->second.end());
    }
    for (const std::string& name : names) {
      const Binding& binding = bindings_.at(space).at(name);
      const std::vector<Rule>* const rules = RulesOf(binding.role, space);
      if (rules == nullptr) {
        if (!visit(nullptr, [&] { return NotThere(binding.role); })) return;
        continue;
      }
      const auto subject = std::find_if(binding.subjects.begin(), binding.subjects.end(), [&](const Subject& each) {
        return std::find(indexes.begin(), indexes.end(), each.index) != indexes.end();
      });
      for (const Rule& rule : *rules) {
        words += rule.words();
        if (words > kMaxWords) {
          visit(nullptr, [] { return kTooMany; });
          return;
        }
        if (!visit(&rule, [&] { return Describe({space, name}, binding, *subject); })) return;
      }
    }
    if (ns.empty()) return;
  }
}

Verdict Roles::Judge(const User& user, const Attributes& what) const {
  if (IsInGroup(user, kMastersGroup)) return {true, ""};
  Verdict verdict;
  std::vector<std::string> errors;
  ForEachRule(user, what.ns, [&](const Rule* rule, absl::FunctionRef<std::string()> source) {
    if (rule == nullptr) {
      errors.push_back(source());
      return true;
    }
    if (!Allows(*rule, what)) return true;
    verdict = {true, absl::StrCat("RBAC: allowed by ", source())};
    return false;
  });
  if (!verdict.allowed && !errors.empty()) verdict.reason = absl::StrCat("RBAC: ", Together(errors));
  return verdict;
}

Roles::Held Roles::RulesFor(const User& user, absl::string_view ns) const {
  Held held;
  ForEachRule(user, ns, [&](const Rule* rule, absl::FunctionRef<std::string()> source) {
    if (rule == nullptr) {
      held.errors.push_back(source());
    } else {
      held.rules.push_back(*rule);
    }
    return true;
  });
  return held;
}

std::vector<std::pair<std::string, std::vector<Rule>>> Roles::ToAggregate() const {
  std::vector<std::pair<std::string, std::vector<Rule>>> out;
  for (const auto& [key, role] : roles_) {
    if (!key.ns.empty()) break;  // those of the cluster come first
    if (role.aggregates.empty()) continue;
    std::vector<Rule> rules;
    std::set<Rule> known;
    for (const api::LabelSelector& selector : role.aggregates) {
      for (const auto& [other_key, other] : roles_) {
        if (!other_key.ns.empty()) break;
        if (other_key == key || !selector.Matches(other.labels)) continue;
        for (const Rule& rule : other.rules) {
          if (known.insert(rule).second) rules.push_back(rule);
        }
      }
    }
    if (rules != role.rules) out.emplace_back(key.name, std::move(rules));
  }
  return out;
}

}  // namespace gangway::sandbox::rbac
