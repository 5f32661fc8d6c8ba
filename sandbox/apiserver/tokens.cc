// POST serviceaccounts/token: a token of the account, as `kubectl create token` wants one.
// kubernetes: pkg/registry/core/serviceaccount/storage, TokenREST
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/core/objects.h"
#include "api/field_table.h"
#include "api/json.h"
#include "sandbox/apiserver/object_rules.h"
#include "sandbox/apiserver/server_core.h"
#include "sandbox/apiserver/token_volume.h"
#include "sandbox/rbac/service_account_token.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

constexpr absl::string_view kApiVersion = "authentication.k8s.io/v1";
constexpr std::int64_t kMinSeconds = 600, kMaxSeconds = std::int64_t{1} << 32;
constexpr std::int64_t kUsualSeconds = 3600;
// pkg/serviceaccount, ExpirationExtensionSeconds: what pods have mounted by default is good for a year, for the
// programs that read it only once.
constexpr absl::Duration kMountedValidity = absl::Hours(365 * 24);

Refusal InvalidRequest(std::int64_t seconds, absl::string_view rule) {
  static constexpr api::Resource kTokenRequests{"authentication.k8s.io", "v1",           "tokenrequests",
                                                "tokenrequest",          "TokenRequest", true};
  api::FieldErrors errors;
  AddError(errors, api::FieldError::Type::kInvalid, "spec.expirationSeconds", absl::StrCat(seconds), rule);
  return Invalid(kTokenRequests, "", errors);
}

}  // namespace

Outcome<kube::Response> ServerCore::RequestToken(Exchange& exchange) {
  const Target& target = exchange.target;
  Outcome<WriteOptions> options = ParseWriteOptions(exchange.query, "CreateOptions");
  if (!options.ok()) return options.refusal();
  Outcome<Draft> request = ReadBody(exchange, schemas_.ForKind(kApiVersion, "TokenRequest"), options->field_validation);
  if (!request.ok()) return request.refusal();
  if (Objection objection = CheckTypeMeta(kApiVersion, "TokenRequest", *request)) return *std::move(objection);
  const RecordPtr account = store_.Find(api::kServiceAccounts, target.key());
  if (account == nullptr) return NotFound(api::kServiceAccounts, target.name);
  json::object& spec = request->Child("spec");
  const std::int64_t seconds = IntAt(spec, "expirationSeconds", kUsualSeconds);
  if (seconds < kMinSeconds) return InvalidRequest(seconds, "may not specify a duration less than 10 minutes");
  if (seconds > kMaxSeconds) return InvalidRequest(seconds, "may not specify a duration larger than 2^32 seconds");
  rbac::TokenClaims claims{.ns = target.ns,
                           .name = target.name,
                           .uid = account->uid,
                           .audiences = TextsIn(spec, "audiences"),
                           .issued = Now(),
                           .expires = Now() + absl::Seconds(seconds),
                           .id = NewUid(),
                           .bound_kind = std::string(TextAt(spec, "boundObjectRef.kind")),
                           .bound_name = std::string(TextAt(spec, "boundObjectRef.name")),
                           .bound_uid = ""};
  if (claims.audiences.empty()) claims.audiences = {std::string(rbac::kTokenIssuer)};
  if (!claims.bound_kind.empty()) {
    const absl::string_view version = TextAt(spec, "boundObjectRef.apiVersion");
    const bool pod = claims.bound_kind == "Pod";
    if (version != "v1" || (!pod && claims.bound_kind != "Secret")) {
      return BadRequest(absl::StrCat("cannot bind token to object of type ", version, ", Kind=", claims.bound_kind));
    }
    const api::Resource& resource = pod ? api::kPods : api::kSecrets;
    const RecordPtr bound = store_.Find(resource, {target.ns, claims.bound_name});
    if (bound == nullptr) return NotFound(resource, claims.bound_name);
    if (pod && TextAt(Draft::OfStored(*bound->json).object(), "spec.serviceAccountName") != target.name) {
      return BadRequest(absl::StrCat("cannot bind token for serviceaccount ", api::JsonString(target.name),
                                     " to pod running with different serviceaccount name."));
    }
    const absl::string_view uid = TextAt(spec, "boundObjectRef.uid");
    if (!uid.empty() && uid != bound->uid) {
      return Conflict(resource, claims.bound_name,
                      absl::StrCat("the UID in the bound object reference (", uid,
                                   ") does not match the UID in record. The object might have been deleted and then "
                                   "recreated"));
    }
    claims.bound_uid = bound->uid;
    const bool for_us = claims.audiences == std::vector<std::string>{std::string(rbac::kTokenIssuer)};
    if (pod && seconds == kMountedTokenSeconds && for_us) claims.expires = claims.issued + kMountedValidity;
  }
  const Admission admission{.operation = "CREATE",
                            .resource = &api::kServiceAccounts,
                            .subresource = "token",
                            .ns = target.ns,
                            .name = target.name,
                            .dry_run = options->dry_run,
                            .other_api_version = kApiVersion,
                            .other_kind = "TokenRequest"};
  if (Objection objection = ValidateByWebhooks(admission, &*request, nullptr)) return *std::move(objection);
  json::array audiences;
  for (const std::string& each : claims.audiences) audiences.emplace_back(each);
  spec["audiences"] = std::move(audiences);
  spec["expirationSeconds"] = seconds;
  json::object& metadata = request->metadata();
  SetText(metadata, "name", target.name);
  SetText(metadata, "namespace", target.ns);
  SetText(metadata, "uid", account->uid);
  SetText(metadata, "creationTimestamp", api::FormatTime(claims.issued));
  request->object()["status"] = {
      {"token", rbac::SignToken(claims, TokenSecret())},
      {"expirationTimestamp", JsonView(api::FormatTime(claims.issued + absl::Seconds(seconds)))}};
  std::string out;
  std::uint32_t revision_at = 0;
  WriteObject(request->object(), out, &revision_at);
  kube::Response response = JsonResponse(201, MakeBytes(std::move(out)));
  response.warnings = std::move(exchange.warnings);
  return response;
}

}  // namespace gangway::sandbox
