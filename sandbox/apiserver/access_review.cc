// What `kubectl auth can-i` and `kubectl auth whoami` ask. Without RBAC everyone may do everything.
#include <utility>

#include "absl/strings/str_join.h"
#include "api/field_table.h"
#include "api/json.h"
#include "api/json_value.h"
#include "sandbox/apiserver/admission_review.h"
#include "sandbox/apiserver/apply/managed_fields.h"
#include "sandbox/apiserver/object_rules.h"
#include "sandbox/apiserver/reviews.h"
#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

json::object RuleOf(const rbac::Rule& rule) { return rbac::WriteRules({rule})[0].get_object(); }

// kubernetes: pkg/registry/authorization/selfsubjectrulesreview
json::object RulesStatus(const rbac::Roles::Held& held) {
  json::array resources, urls;
  for (const rbac::Rule& rule : held.rules) {
    if (!rule.resources.empty()) resources.push_back(RuleOf({rule.verbs, rule.groups, rule.resources, rule.names, {}}));
    if (!rule.urls.empty()) urls.push_back(RuleOf({rule.verbs, {}, {}, {}, rule.urls}));
  }
  json::object out{
      {"resourceRules", std::move(resources)}, {"nonResourceRules", std::move(urls)}, {"incomplete", false}};
  if (!held.errors.empty()) SetText(out, "evaluationError", absl::StrJoin(held.errors, ", "));
  return out;
}

// pkg/registry/authorization/util: AuthorizationAttributesFrom
rbac::Attributes AttributesIn(const json::object& spec) {
  rbac::Attributes out;
  const auto text = [&spec](absl::string_view path) { return std::string(TextAt(spec, path)); };
  if (FindObject(spec, "resourceAttributes") == nullptr) {
    out.of_resource = false;
    out.verb = text("nonResourceAttributes.verb");
    out.path = text("nonResourceAttributes.path");
    return out;
  }
  out.verb = text("resourceAttributes.verb");
  out.group = text("resourceAttributes.group");
  out.resource = text("resourceAttributes.resource");
  out.subresource = text("resourceAttributes.subresource");
  out.ns = text("resourceAttributes.namespace");
  out.name = text("resourceAttributes.name");
  return out;
}

json::object Allowed(const rbac::Verdict& verdict) {
  json::object out{{"allowed", verdict.allowed}};
  if (!verdict.reason.empty()) SetText(out, "reason", verdict.reason);
  return out;
}

// What kube-apiserver says is invalid: it has forgotten the kind of the review by then.
constexpr api::Resource kNameless{"authorization.k8s.io", "v1", "", "", "", false};

// As the server's own type is written.
std::string GoText(const json::object& of_path) {
  return absl::StrCat("{\"Path\":", api::JsonString(FindText(of_path, "path")),
                      ",\"Verb\":", api::JsonString(FindText(of_path, "verb")), "}");
}

// pkg/apis/authorization/validation
api::FieldErrors CheckReview(const api::Resource& review, const json::object& object, absl::string_view ns) {
  api::FieldErrors errors;
  const auto add = [&errors](absl::string_view field, absl::string_view value, absl::string_view rule) {
    AddError(errors, api::FieldError::Type::kInvalid, field, value, rule);
  };
  const json::object* const spec = FindObject(object, "spec");
  static const json::object kNone;
  const json::object& in = spec == nullptr ? kNone : *spec;
  const json::object* const of_resource = FindObject(in, "resourceAttributes");
  const json::object* const of_path = FindObject(in, "nonResourceAttributes");
  if (of_resource != nullptr && of_path != nullptr) {
    add("spec.nonResourceAttributes", GoText(*of_path), "cannot be specified in combination with resourceAttributes");
  }
  if (of_resource == nullptr && of_path == nullptr) {
    add("spec.resourceAttributes", "null",
        "exactly one of nonResourceAttributes or resourceAttributes must be specified");
  }
  const json::array* const groups = FindArray(in, "groups");
  if (review.kind != "SelfSubjectAccessReview" && FindText(in, "user").empty() &&
      (groups == nullptr || groups->empty()))
    add("spec.user", "\"\"", "at least one of user or group must be specified");
  if (review.kind == "LocalSubjectAccessReview") {
    if (of_resource != nullptr && FindText(*of_resource, "namespace") != ns) {
      add("spec.resourceAttributes.namespace", api::JsonString(FindText(*of_resource, "namespace")),
          "must match metadata.namespace");
    }
    if (of_path != nullptr) add("spec.nonResourceAttributes", GoText(*of_path), "disallowed on this kind of request");
  }
  return errors;
}

}  // namespace

json::object ServerCore::ReviewStatus(const api::Resource& review, const json::object& object,
                                      const Caller& caller) const {
  if (review.kind == "SelfSubjectReview") return {{"userInfo", UserInfo(UserOf(caller))}};
  const bool everything = !options_.rbac.has_value();
  static const json::object kNone;
  const json::object* const given = FindObject(object, "spec");
  const json::object& spec = given == nullptr ? kNone : *given;
  if (review.kind == "SelfSubjectRulesReview") {
    if (everything || caller.user == nullptr)
      return RulesStatus({{{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}}, {}});
    return RulesStatus(roles_.RulesFor(*caller.user, FindText(spec, "namespace")));
  }
  if (everything) return {{"allowed", true}, {"reason", "everything is allowed in the sandbox"}};
  if (review.kind == "SelfSubjectAccessReview") {
    if (caller.user == nullptr) return Allowed({true, ""});
    return Allowed(roles_.Judge(*caller.user, AttributesIn(spec)));
  }
  const User asked{
      .name = std::string(FindText(spec, "user")), .uid = {}, .groups = TextsIn(spec, "groups"), .extra = {}};
  return Allowed(roles_.Judge(asked, AttributesIn(spec)));
}

// What the API server makes of a question: of who asks and of rules only the answer is told, of access who wrote which
// field, too.
void ServerCore::CompleteReview(const api::Resource& review, const schemas::Schema& schema, const CommitNote& note,
                                Draft& draft) {
  static const auto* const kNone = new apply::FieldSet();
  if (review.kind == "SelfSubjectRulesReview") {
    draft.object()["metadata"].emplace_object();
    draft.object()["spec"].emplace_object();
    return;
  }
  json::object& metadata = draft.metadata();
  if (review.kind == "SelfSubjectReview") return SetText(metadata, "creationTimestamp", api::FormatTime(loop_.Now()));
  const apply::Write write{.manager = note.manager.empty() ? note.client : note.manager,
                           .subresource = "",
                           .api_version = review.ApiVersion(),
                           .type = *schema.root,
                           .reset = *kNone,
                           .now = loop_.Now()};
  const apply::ManagedFieldsPtr managed = ownership_.AfterUpdate(nullptr, nullptr, draft.root(), write);
  if (managed == nullptr) return;
  absl::StatusOr<json::value> entries = api::ParseJson(apply::ManagedFieldsJson(*managed, write.api_version));
  if (entries.ok()) metadata["managedFields"] = *std::move(entries);
}

std::optional<Outcome<kube::Response>> ServerCore::ReviewAccess(const kube::Request& request, const Caller& caller) {
  const api::Resource* const asked = FindReview(request.path);
  if (asked == nullptr) return std::nullopt;
  if (request.method != "POST") return MethodNotAllowed();
  if (request.body.size() > kMaxBodyBytes) return TooLarge();
  Outcome<Query> query = Query::Parse(request.query);
  if (!query.ok()) return query.refusal();
  Outcome<WriteOptions> options = ParseWriteOptions(*query, "CreateOptions");
  if (!options.ok()) return options.refusal();
  Exchange exchange{.request = request, .caller = caller, .target = {}, .query = std::move(*query), .warnings = {}};
  exchange.target.resource = asked;
  const schemas::Schema& schema = *schemas_.ForKind(asked->ApiVersion(), View(asked->kind));
  Outcome<Draft> review = ReadBody(exchange, &schema, options->field_validation);
  if (!review.ok()) return review.refusal();
  if (Objection objection = CheckTypeMeta(asked->ApiVersion(), View(asked->kind), *review)) {
    return *std::move(objection);
  }
  const CommitNote note{caller.name, "create", "", options->field_manager};
  if (asked->kind == "SelfSubjectRulesReview" && TextAt(review->object(), "spec.namespace").empty())
    return BadRequest("no namespace on request");
  const bool of_access = asked->group == "authorization.k8s.io" && asked->kind != "SelfSubjectRulesReview";
  const absl::string_view ns = TextAt(review->object(), "metadata.namespace");
  if (of_access) {
    if (const api::FieldErrors errors = CheckReview(*asked, review->object(), ns); !errors.empty())
      return Invalid(kNameless, "", errors);
  }
  json::object status = ReviewStatus(*asked, review->object(), caller);
  CompleteReview(*asked, schema, note, *review);
  review->object()["status"] = std::move(status);
  std::string out;
  std::uint32_t revision_at = 0;
  WriteObject(review->object(), out, &revision_at);
  kube::Response response = JsonResponse(201, MakeBytes(std::move(out)));
  response.warnings = std::move(exchange.warnings);
  return response;
}

}  // namespace gangway::sandbox
