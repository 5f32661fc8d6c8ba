// Roles and bindings, requests, and tokens of service accounts: `objects %% requests`, a line each. What somebody may
// do is what the rules that he is said to hold allow; rights that are no more than others allow no more than these; and
// a token says what was signed, or nothing.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json.h"
#include "api/json_value.h"
#include "sandbox/apiserver/draft/draft.h"
#include "sandbox/rbac/roles.h"
#include "sandbox/rbac/service_account_token.h"
#include "tests/fuzz/fuzz_target.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;
namespace rbac = sandbox::rbac;
using sandbox::User;

constexpr std::size_t kMaxLines = 16;
constexpr absl::string_view kSecret = "0123456789abcdef0123456789abcdef";

std::vector<json::object> ReadLines(absl::string_view text) {
  std::vector<json::object> out;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (out.size() == kMaxLines) break;
    if (!api::ParseCompletely(line).ok()) continue;
    json::value value = *api::ParseJson(line);
    if (value.is_object()) out.push_back(std::move(value.get_object()));
  }
  return out;
}

std::string TextIn(const json::object& object, const char* member) {
  return std::string(sandbox::FindText(object, member));
}

struct Question {
  User user;
  rbac::Attributes what;
};

Question QuestionOf(const json::object& line) {
  Question out;
  out.user.name = TextIn(line, "user");
  out.user.groups = sandbox::TextsIn(line, "groups");
  out.what.verb = TextIn(line, "verb");
  out.what.path = TextIn(line, "path");
  out.what.of_resource = out.what.path.empty();
  out.what.group = TextIn(line, "group");
  out.what.resource = TextIn(line, "resource");
  out.what.subresource = TextIn(line, "subresource");
  out.what.ns = TextIn(line, "namespace");
  out.what.name = TextIn(line, "name");
  // As a path is taken apart.
  std::erase(out.what.resource, '/');
  return out;
}

bool AnyAllows(const std::vector<rbac::Rule>& rules, const rbac::Attributes& what) {
  return std::any_of(rules.begin(), rules.end(), [&](const rbac::Rule& rule) { return Allows(rule, what); });
}

class Cluster {
 public:
  void Put(const json::object& object) {
    const std::string kind = TextIn(object, "kind");
    const api::NamespacedName key{std::string(sandbox::TextAt(object, "metadata.namespace")),
                                  std::string(sandbox::TextAt(object, "metadata.name"))};
    if (kind == "RoleBinding") {
      roles_.PutBinding(key, object);
      bindings_.insert(key);
      return;
    }
    roles_.PutRole(key, object);
    roles_put_.insert(key);
    const std::vector<rbac::Rule> rules = rbac::ReadRules(object);
    Require(rbac::ReadRules({{"rules", rbac::WriteRules(rules)}}) == rules, "rules that are written read back", kind);
    for (const rbac::Rule& rule : rules) Require(!rbac::Compact(rule).empty(), "a rule can be told", kind);
    all_.push_back(rules);
  }

  void Ask(const Question& question, const std::string& shown) const {
    const rbac::Verdict verdict = roles_.Judge(question.user, question.what);
    const rbac::Verdict again = roles_.Judge(question.user, question.what);
    Require(verdict.allowed == again.allowed && verdict.reason == again.reason, "the same verdict twice", shown);
    if (sandbox::IsInGroup(question.user, sandbox::kMastersGroup))
      return Require(verdict.allowed, "masters may do everything", shown);
    const rbac::Roles::Held held = roles_.RulesFor(question.user, question.what.ns);
    Require(verdict.allowed == AnyAllows(held.rules, question.what), "may do what the rules he holds allow", shown);
    // Who may give only what he has gives nobody more.
    for (const std::vector<rbac::Rule>& wanted : all_) {
      const absl::StatusOr<std::vector<rbac::Rule>> missing = rbac::MissingRights(held.rules, wanted);
      if (!missing.ok()) {
        Require(absl::IsResourceExhausted(missing.status()), "too much to compare is said so", shown);
      } else if (missing->empty() && AnyAllows(wanted, question.what)) {
        Require(AnyAllows(held.rules, question.what), "rights that are held allow no more than those held", shown);
      }
      const auto of_itself = rbac::MissingRights(wanted, wanted);
      // Names beside paths cover nothing, and are refused when such a role is written.
      const bool could_be = std::none_of(wanted.begin(), wanted.end(), [](const rbac::Rule& rule) {
        return !rule.urls.empty() && !rule.names.empty();
      });
      Require(!could_be || !of_itself.ok() || of_itself->empty(), "nothing is missing of what one holds", shown);
    }
    ++came_out;
  }

  // What roles are made of is what the roles they name have, once each.
  void Aggregate(const std::string& shown) const {
    for (const auto& [name, rules] : roles_.ToAggregate()) {
      const std::set<rbac::Rule> once(rules.begin(), rules.end());
      Require(once.size() == rules.size(), "a rule is aggregated once", shown);
      for (const rbac::Rule& rule : rules) {
        const bool known = std::any_of(all_.begin(), all_.end(), [&](const std::vector<rbac::Rule>& of) {
          return std::find(of.begin(), of.end(), rule) != of.end();
        });
        Require(known, "a rule that is aggregated is somebody's", shown);
      }
    }
  }

  // Whoever is bound to nothing may do nothing.
  void EraseAndAsk(const std::vector<Question>& questions, const std::string& shown) {
    for (const api::NamespacedName& key : bindings_) roles_.EraseBinding(key);
    for (const Question& each : questions) {
      Require(roles_.RulesFor(each.user, each.what.ns).rules.empty(), "without bindings nobody holds a rule", shown);
    }
    for (const api::NamespacedName& key : roles_put_) roles_.EraseRole(key);
  }

 private:
  rbac::Roles roles_;
  std::set<api::NamespacedName> roles_put_, bindings_;
  std::vector<std::vector<rbac::Rule>> all_;
};

void TryToken(const Question& question, absl::string_view text) {
  Require(!rbac::ReadToken(text, kSecret).ok(), "what nobody signed is no token", text);
  rbac::TokenClaims claims;
  claims.ns = question.what.ns;
  claims.name = question.user.name;
  claims.uid = question.what.name;
  claims.audiences = question.user.groups;
  claims.issued = absl::FromUnixSeconds(1'700'000'000);
  claims.expires = claims.issued + absl::Hours(1);
  claims.id = question.what.path;
  if (!question.what.resource.empty()) {
    claims.bound_kind = question.what.verb == "secret" ? "Secret" : "Pod";
    claims.bound_name = question.what.resource;
    claims.bound_uid = question.what.subresource;
  }
  const std::string token = rbac::SignToken(claims, kSecret);
  const absl::StatusOr<rbac::TokenClaims> read = rbac::ReadToken(token, kSecret);
  Require(read.ok() && read->ns == claims.ns && read->name == claims.name && read->uid == claims.uid &&
              read->audiences == claims.audiences && read->issued == claims.issued && read->expires == claims.expires &&
              read->id == claims.id && read->bound_kind == claims.bound_kind && read->bound_name == claims.bound_name &&
              read->bound_uid == claims.bound_uid,
          "a token says what was signed", token);
  Require(!rbac::ReadToken(token, "another secret of thirty-two byte").ok(), "another's token is none of ours", token);
  for (std::size_t at = text.size() % 7; at < token.size(); at += 7) {
    std::string forged = token;
    forged[at] = forged[at] == 'A' ? 'B' : 'A';
    Require(!rbac::ReadToken(forged, kSecret).ok(), "a token with another letter is none", forged);
  }
  Require(!rbac::ReadToken(absl::StrCat(token, "="), kSecret).ok() &&
              !rbac::ReadToken(token.substr(0, token.size() - 1), kSecret).ok(),
          "a token that is longer or shorter is none", token);
}

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway::testutil;
  const absl::string_view text = TextOf(data, size);
  const std::vector<absl::string_view> parts = PartsOf(text);
  if (parts.size() != 2) return 0;
  Cluster cluster;
  for (const boost::json::object& object : ReadLines(parts[0])) cluster.Put(object);
  std::vector<Question> questions;
  for (const boost::json::object& line : ReadLines(parts[1])) questions.push_back(QuestionOf(line));
  for (const Question& each : questions) {
    cluster.Ask(each, std::string(text));
    TryToken(each, parts[0]);
  }
  cluster.Aggregate(std::string(text));
  cluster.EraseAndAsk(questions, std::string(text));
  return 0;
}
