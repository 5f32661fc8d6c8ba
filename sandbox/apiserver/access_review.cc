// What `kubectl auth can-i` and `kubectl auth whoami` ask. The sandbox has no users, so everyone may do everything.
#include <utility>

#include "api/field_table.h"
#include "api/json_value.h"
#include "sandbox/apiserver/apply/managed_fields.h"
#include "sandbox/apiserver/reviews.h"
#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

json::object ReviewStatus(const api::Resource& review) {
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
  CompleteReview(*asked, schema, note, *review);
  review->object()["status"] = ReviewStatus(*asked);
  std::string out;
  std::uint32_t revision_at = 0;
  WriteObject(review->object(), out, &revision_at);
  kube::Response response = JsonResponse(201, MakeBytes(std::move(out)));
  response.warnings = std::move(exchange.warnings);
  return response;
}

}  // namespace gangway::sandbox
