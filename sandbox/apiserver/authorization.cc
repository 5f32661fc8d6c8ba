// Who somebody is, and whether they may do what they ask for: where RBAC is switched on.
// k8s.io/apiserver: pkg/endpoints/filters; kubernetes: pkg/registry/rbac.
#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/cluster_resources.h"
#include "api/json.h"
#include "api/name.h"
#include "base/log.h"
#include "base/percent.h"
#include "sandbox/apiserver/object_rules.h"
#include "sandbox/apiserver/request_attributes.h"
#include "sandbox/apiserver/server_core.h"
#include "sandbox/rbac/service_account_token.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

// kube-apiserver: --authorization-always-allow-paths
constexpr absl::string_view kOpenPaths[] = {"/healthz", "/livez", "/readyz"};

constexpr std::size_t kMaxImpersonated = 100;  // each is judged

Refusal Unauthorized() { return {.code = 401, .reason = "Unauthorized", .message = "Unauthorized"}; }

User Anonymous() {
  return {.name = std::string(kAnonymousUser), .uid = {}, .groups = {std::string(kUnauthenticatedGroup)}, .extra = {}};
}

// "" when the header holds none.
std::string BearerToken(absl::string_view header) {
  const std::vector<absl::string_view> parts = absl::StrSplit(absl::StripAsciiWhitespace(header), ' ');
  return parts.size() >= 2 && absl::EqualsIgnoreCase(parts[0], "bearer") ? std::string(parts[1]) : "";
}

// responsewriters.ForbiddenStatusError
Refusal ForbiddenTo(const User& user, const rbac::Attributes& what, absl::string_view reason) {
  std::string message = absl::StrCat("User ", api::JsonString(user.name), " cannot ", what.verb);
  if (!what.of_resource) {
    absl::StrAppend(&message, " path ", api::JsonString(what.path));
  } else {
    const std::string resource =
        what.subresource.empty() ? what.resource : absl::StrCat(what.resource, "/", what.subresource);
    absl::StrAppend(&message, " resource ", api::JsonString(resource), " in API group ", api::JsonString(what.group),
                    what.ns.empty() ? " at the cluster scope" : " in the namespace ",
                    what.ns.empty() ? "" : api::JsonString(what.ns));
  }
  message = absl::StrReplaceAll(message, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
  if (!reason.empty()) absl::StrAppend(&message, ": ", reason);
  Refusal refusal{.code = 403, .reason = "Forbidden", .name = what.name, .group = what.group, .kind = what.resource};
  const std::string of = absl::StrCat(what.resource, what.group.empty() ? "" : ".", what.group);
  refusal.message = of.empty()
                        ? absl::StrCat("forbidden: ", message)
                        : absl::StrCat(of, what.name.empty() ? "" : " ",
                                       what.name.empty() ? "" : api::JsonString(what.name), " is forbidden: ", message);
  refusal.generic = true;
  return refusal;
}

rbac::Attributes ToImpersonate(absl::string_view resource, absl::string_view name) {
  rbac::Attributes out;
  out.verb = "impersonate";
  out.resource = std::string(resource);
  out.name = std::string(name);
  return out;
}

// "system:serviceaccount:ns:name"
bool SplitAccount(absl::string_view user, std::string& ns, std::string& name) {
  if (!absl::ConsumePrefix(&user, kServiceAccountPrefix)) return false;
  const std::vector<std::string> parts = absl::StrSplit(user, ':');
  if (parts.size() != 2 || !api::CheckDns1123Label(parts[0]).empty() || !api::CheckDns1123Subdomain(parts[1]).empty())
    return false;
  ns = parts[0], name = parts[1];
  return true;
}

}  // namespace

Outcome<Caller> ServerCore::Identify(const Caller& caller) {
  Outcome<User> user = Authenticate(*caller.credentials);
  if (!user.ok()) return user.refusal();
  if (!caller.credentials->impersonate.empty()) {
    user = Impersonate(*user, caller.credentials->impersonate);
    if (!user.ok()) return user.refusal();
  }
  Caller known = caller;
  known.credentials.reset();
  known.user = std::make_shared<const User>(*std::move(user));
  return known;
}

// k8s.io/apiserver, pkg/authentication/request/union: the first that knows somebody; otherwise whatever was wrong is.
Outcome<User> ServerCore::Authenticate(const Credentials& credentials) {
  const std::optional<CertifiedUser>& certificate = credentials.certificate;
  const bool certified = certificate.has_value() && certificate->wrong.empty() && !certificate->user.name.empty();
  const std::string token = BearerToken(credentials.authorization);
  if (!certified && token.empty()) {
    if (certificate.has_value() && !certificate->wrong.empty()) return Unauthorized();
    return Anonymous();
  }
  User user;
  if (certified) {
    user = certificate->user;
  } else if (const auto known = options_.rbac->tokens.find(token); known != options_.rbac->tokens.end()) {
    user = known->second;
  } else {
    const absl::StatusOr<rbac::TokenClaims> claims = rbac::ReadToken(token, options_.rbac->token_secret);
    if (!claims.ok() || !IsInForce(*claims)) return Unauthorized();
    user = {.name = ServiceAccountUser(claims->ns, claims->name),
            .uid = claims->uid,
            .groups = ServiceAccountGroups(claims->ns),
            .extra = {{std::string(kCredentialId), {absl::StrCat("JTI=", claims->id)}}}};
    if (claims->bound_kind == "Pod") {
      user.extra["authentication.kubernetes.io/pod-name"] = {claims->bound_name};
      user.extra["authentication.kubernetes.io/pod-uid"] = {claims->bound_uid};
    }
  }
  if (!IsInGroup(user, kAuthenticatedGroup)) user.groups.emplace_back(kAuthenticatedGroup);
  return user;
}

// A token ends with its time, its account, and what it is bound to; it serves whom it was made for.
bool ServerCore::IsInForce(const rbac::TokenClaims& claims) const {
  const absl::Time now = loop_.Now();
  if (now >= claims.expires) return false;
  if (std::find(claims.audiences.begin(), claims.audiences.end(), rbac::kTokenIssuer) == claims.audiences.end())
    return false;
  const RecordPtr account = store_.Find(api::kServiceAccounts, {claims.ns, claims.name});
  if (account == nullptr || account->uid != claims.uid) return false;
  if (claims.bound_kind.empty()) return true;
  const RecordPtr bound =
      store_.Find(claims.bound_kind == "Pod" ? api::kPods : api::kSecrets, {claims.ns, claims.bound_name});
  return bound != nullptr && bound->uid == claims.bound_uid;
}

// k8s.io/apiserver: pkg/endpoints/filters/impersonation
Outcome<User> ServerCore::Impersonate(const User& who,
                                      const std::vector<std::pair<std::string, std::string>>& headers) {
  User wanted;
  for (const auto& [name, value] : headers) {
    absl::string_view key = name;
    if (key == "user" && wanted.name.empty()) wanted.name = value;
    if (key == "uid" && wanted.uid.empty()) wanted.uid = value;
    if (key == "group") wanted.groups.push_back(value);
    if (absl::ConsumePrefix(&key, "extra-"))
      wanted.extra[PercentDecode(key, false).value_or(std::string(key))].push_back(value);
  }
  if (wanted.name.empty()) {
    if (wanted.uid.empty() && wanted.groups.empty() && wanted.extra.empty()) return who;
    return BadRequest("requested groups, a uid or extra fields without impersonating a user name");
  }
  if (headers.size() > kMaxImpersonated)
    return BadRequest(absl::StrCat("a request can impersonate by ", kMaxImpersonated, " headers at most"));
  std::vector<rbac::Attributes> asked;
  std::string ns, account;
  if (SplitAccount(wanted.name, ns, account)) {
    asked.push_back(ToImpersonate("serviceaccounts", account));
    asked.back().ns = ns;
  } else {
    asked.push_back(ToImpersonate("users", wanted.name));
  }
  for (const std::string& group : wanted.groups) asked.push_back(ToImpersonate("groups", group));
  for (const auto& [key, values] : wanted.extra) {
    for (const std::string& value : values) {
      asked.push_back(ToImpersonate("userextras", value));
      asked.back().subresource = key;
      asked.back().group = "authentication.k8s.io";
    }
  }
  if (!wanted.uid.empty()) {
    asked.push_back(ToImpersonate("uids", wanted.uid));
    asked.back().group = "authentication.k8s.io";
  }
  for (const rbac::Attributes& what : asked) {
    if (Objection objection = Forbid(&who, what)) return *std::move(objection);
  }
  if (wanted.groups.empty() && !account.empty()) wanted.groups = ServiceAccountGroups(ns);
  const bool known = IsInGroup(wanted, kAuthenticatedGroup), unknown = IsInGroup(wanted, kUnauthenticatedGroup);
  if (wanted.name != kAnonymousUser) {
    if (!known && !unknown) wanted.groups.emplace_back(kAuthenticatedGroup);
  } else if (!unknown) {
    wanted.groups.emplace_back(kUnauthenticatedGroup);
  }
  return wanted;
}

Objection ServerCore::Forbid(const User* user, const rbac::Attributes& what) const {
  if (!options_.rbac.has_value() || user == nullptr) return std::nullopt;
  const rbac::Verdict verdict = roles_.Judge(*user, what);
  if (verdict.allowed) return std::nullopt;
  return ForbiddenTo(*user, what, verdict.reason);
}

Objection ServerCore::Authorize(const kube::Request& request, const Caller& caller) const {
  if (!options_.rbac.has_value() || caller.user == nullptr) return std::nullopt;
  if (std::find(std::begin(kOpenPaths), std::end(kOpenPaths), request.path) != std::end(kOpenPaths))
    return std::nullopt;
  return Forbid(caller.user.get(), AttributesOf(request));
}

Objection ServerCore::AuthorizeVerb(const Exchange& exchange, absl::string_view verb) const {
  rbac::Attributes what = AttributesOf(exchange.request);
  what.verb = std::string(verb);
  return Forbid(exchange.caller.user.get(), what);
}

namespace {

bool IsRole(const api::Resource& resource) { return &resource == &api::kRoles || &resource == &api::kClusterRoles; }
bool IsBinding(const api::Resource& resource) {
  return &resource == &api::kRoleBindings || &resource == &api::kClusterRoleBindings;
}

bool Aggregates(const Draft* role) {
  const json::object* const rule = role == nullptr ? nullptr : FindObject(role->object(), "aggregationRule");
  const json::array* const selectors = rule == nullptr ? nullptr : FindArray(*rule, "clusterRoleSelectors");
  return selectors != nullptr && !selectors->empty();
}

// Nothing but what the garbage collector needs changes. pkg/registry/rbac: IsOnlyMutatingGCFields
bool OnlyForCollection(const Draft& before, const Draft& after) {
  Draft then = Draft::CopyOf(before), now = Draft::CopyOf(after);
  for (Draft* const draft : {&then, &now}) {
    for (const char* const field :
         {"ownerReferences", "finalizers", "selfLink", "managedFields", "resourceVersion", "generation"})
      draft->metadata().erase(field);
  }
  return Equal(then.root(), now.root());
}

}  // namespace

// Nobody may give what they have not got. kubernetes: pkg/registry/rbac/*/policybased
Objection ServerCore::CheckEscalation(const Target& target, const Draft& next, const Draft* before,
                                      const User* user) const {
  if (!options_.rbac.has_value() || user == nullptr || IsInGroup(*user, kMastersGroup)) return std::nullopt;
  const api::Resource& resource = *target.resource;
  if (!IsRole(resource) && !IsBinding(resource)) return std::nullopt;
  if (before != nullptr && OnlyForCollection(*before, next)) return std::nullopt;
  const std::string name(TextAt(next.object(), "metadata.name"));
  rbac::Attributes own;
  own.group = std::string(resource.group);
  own.ns = target.ns;
  std::vector<rbac::Rule> wanted;
  if (IsRole(resource)) {
    own.verb = "escalate";
    own.resource = std::string(resource.plural);
    own.name = target.name;
    if (roles_.Judge(*user, own).allowed) return std::nullopt;
    wanted = rbac::ReadRules(next.object());
  } else {
    const rbac::RoleRef ref{std::string(TextAt(next.object(), "roleRef.kind")),
                            std::string(TextAt(next.object(), "roleRef.name"))};
    const api::Resource& of = ref.kind == "Role" ? api::kRoles : api::kClusterRoles;
    own.verb = "bind";
    own.resource = std::string(of.plural);
    own.name = ref.name;
    if (roles_.Judge(*user, own).allowed) return std::nullopt;
    const std::vector<rbac::Rule>* const rules = roles_.RulesOf(ref, target.ns);
    if (rules == nullptr) return NotFound(resource, ref.name);  // as there, which names the binding's kind
    wanted = *rules;
  }
  const rbac::Roles::Held held = roles_.RulesFor(*user, target.ns);
  const absl::StatusOr<std::vector<rbac::Rule>> missing = rbac::MissingRights(held.rules, wanted);
  if (!missing.ok()) return Forbidden(resource, name, missing.status().message());
  if (!missing->empty()) {
    std::vector<std::string> told;
    for (const rbac::Rule& rule : *missing) told.push_back(rbac::Compact(rule));
    std::sort(told.begin(), told.end());
    const auto quoted = [](std::string* out, const std::string& each) { *out += api::JsonString(each); };
    return Forbidden(
        resource, name,
        absl::StrCat("user ", api::JsonString(user->name), " (groups=[", absl::StrJoin(user->groups, " ", quoted),
                     "]) is attempting to grant RBAC permissions not currently held:\n", absl::StrJoin(told, "\n"),
                     held.errors.empty() ? "" : "; resolution errors: ", absl::StrJoin(held.errors, ", ")));
  }
  if (!IsRole(resource) || (!Aggregates(&next) && !Aggregates(before))) return std::nullopt;
  const std::vector<rbac::Rule> everything{{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}};
  const absl::StatusOr<std::vector<rbac::Rule>> lacking = rbac::MissingRights(held.rules, everything);
  if (lacking.ok() && lacking->empty()) return std::nullopt;
  return Forbidden(resource, name, "must have cluster-admin privileges to use the aggregationRule");
}

void ServerCore::OnRoleChange(const Change& change) {
  const Record& record = *change.after;
  if (!options_.rbac.has_value()) return;
  if (IsRole(*record.resource)) {
    if (change.deleted) {
      roles_.EraseRole(record.key);
    } else {
      roles_.PutRole(record.key, Draft::OfStored(*record.json).object());
    }
    if (record.resource != &api::kClusterRoles || std::exchange(aggregation_posted_, true)) return;
    loop_.Post(owner_.token(), [this] { AggregateRoles(); });
  } else if (IsBinding(*record.resource)) {
    if (change.deleted) {
      roles_.EraseBinding(record.key);
    } else {
      roles_.PutBinding(record.key, Draft::OfStored(*record.json).object());
    }
  }
}

// What Kubernetes' controller of aggregated roles does.
void ServerCore::AggregateRoles() {
  aggregation_posted_ = false;
  for (const auto& [name, rules] : roles_.ToAggregate()) {
    const RecordPtr record = store_.Find(api::kClusterRoles, {"", name});
    if (record == nullptr) continue;
    EditByCollector(
        *record, [&granted = rules](json::object& role) { role["rules"] = rbac::WriteRules(granted); },
        "clusterrole-aggregation-controller");
  }
}

}  // namespace gangway::sandbox
