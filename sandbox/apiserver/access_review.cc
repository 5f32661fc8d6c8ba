// SelfSubjectAccessReview: what `kubectl auth can-i` asks. The sandbox has no users, so everyone may do everything.
#include <utility>

#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {
namespace {

constexpr api::Resource kAccessReviews{"authorization.k8s.io",   "v1", "selfsubjectaccessreviews",
                                       "selfsubjectaccessreview", "SelfSubjectAccessReview", false};

}  // namespace

std::optional<kube::Response> ServerCore::ReviewAccess(const kube::Request& request, const Caller& caller) {
  if (request.path != kAccessReviewPath) return std::nullopt;
  if (request.method != "POST") return MethodNotAllowed().ToResponse();
  if (request.body.size() > kMaxBodyBytes) return TooLarge().ToResponse();
  Outcome<Query> query = Query::Parse(request.query);
  if (!query.ok()) return query.refusal().ToResponse();
  Outcome<WriteOptions> options = ParseWriteOptions(*query, "CreateOptions");
  if (!options.ok()) return options.refusal().ToResponse();
  Exchange exchange{.request = request, .caller = caller, .target = {}, .query = std::move(*query), .warnings = {}};
  exchange.target.resource = &kAccessReviews;
  const Schema& schema = *schemas_.ForKind(kAccessReviews.ApiVersion(), View(kAccessReviews.kind));
  Outcome<Draft> review = ReadBody(exchange, &schema, options->field_validation);
  if (!review.ok()) return review.refusal().ToResponse();
  if (Objection objection = CheckTypeMeta(kAccessReviews.ApiVersion(), View(kAccessReviews.kind), *review)) {
    return objection->ToResponse();
  }
  boost::json::object& status = review->Child("status");
  status["allowed"] = true;
  SetText(status, "reason", "everything is allowed in the sandbox");
  std::string out;
  std::uint32_t revision_at = 0;
  WriteObject(review->object(), out, &revision_at);
  kube::Response response = JsonResponse(201, MakeBytes(std::move(out)));
  response.warnings = std::move(exchange.warnings);
  return response;
}

}  // namespace gangway::sandbox
