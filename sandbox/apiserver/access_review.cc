// What `kubectl auth can-i` and `kubectl auth whoami` ask. The sandbox has no users, so everyone may do everything.
#include <utility>

#include "sandbox/apiserver/schemas/reviews.h"
#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

json::object StatusOf(const api::Resource& review) {
  if (review.kind == "SelfSubjectReview") {
    return {{"userInfo", {{"username", "sandbox-user"}, {"groups", {"system:masters", "system:authenticated"}}}}};
  }
  if (review.kind == "SelfSubjectRulesReview") {
    return {{"resourceRules", json::array{json::object{{"verbs", {"*"}}, {"apiGroups", {"*"}}, {"resources", {"*"}}}}},
            {"nonResourceRules", json::array{json::object{{"verbs", {"*"}}, {"nonResourceURLs", {"*"}}}}},
            {"incomplete", false}};
  }
  return {{"allowed", true}, {"reason", "everything is allowed in the sandbox"}};
}

}  // namespace

std::optional<kube::Response> ServerCore::ReviewAccess(const kube::Request& request, const Caller& caller) {
  const api::Resource* const asked = FindReview(request.path);
  if (asked == nullptr) return std::nullopt;
  if (request.method != "POST") return MethodNotAllowed().ToResponse();
  if (request.body.size() > kMaxBodyBytes) return TooLarge().ToResponse();
  Outcome<Query> query = Query::Parse(request.query);
  if (!query.ok()) return query.refusal().ToResponse();
  Outcome<WriteOptions> options = ParseWriteOptions(*query, "CreateOptions");
  if (!options.ok()) return options.refusal().ToResponse();
  Exchange exchange{.request = request, .caller = caller, .target = {}, .query = std::move(*query), .warnings = {}};
  exchange.target.resource = asked;
  const Schema& schema = *schemas_.ForKind(asked->ApiVersion(), View(asked->kind));
  Outcome<Draft> review = ReadBody(exchange, &schema, options->field_validation);
  if (!review.ok()) return review.refusal().ToResponse();
  if (Objection objection = CheckTypeMeta(asked->ApiVersion(), View(asked->kind), *review)) {
    return objection->ToResponse();
  }
  review->object()["status"] = StatusOf(*asked);
  std::string out;
  std::uint32_t revision_at = 0;
  WriteObject(review->object(), out, &revision_at);
  kube::Response response = JsonResponse(201, MakeBytes(std::move(out)));
  response.warnings = std::move(exchange.warnings);
  return response;
}

}  // namespace gangway::sandbox
