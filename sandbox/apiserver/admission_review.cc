#include "sandbox/apiserver/admission_review.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "base/strings.h"
#include "boost/json/array.hpp"
#include "sandbox/apiserver/draft/draft.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxWarningBytes = 4096;  // together; k8s.io/apiserver, filters: warning.go

json::value Text(absl::string_view text) { return json::value(JsonView(text)); }

json::object KindOf(const Admission& what, const api::Resource& resource) {
  std::string group(resource.group), version(resource.version), kind(resource.kind);
  if (!what.other_kind.empty()) {
    const std::size_t slash = what.other_api_version.find('/');
    group = slash == absl::string_view::npos ? "" : std::string(what.other_api_version.substr(0, slash));
    version = std::string(slash == absl::string_view::npos ? what.other_api_version
                                                           : what.other_api_version.substr(slash + 1));
    kind = std::string(what.other_kind);
  }
  return {{"group", group}, {"version", version}, {"kind", kind}};
}

json::object ResourceOf(const api::Resource& resource) {
  return {{"group", Text(View(resource.group))},
          {"version", Text(View(resource.version))},
          {"resource", Text(View(resource.plural))}};
}

absl::Status Wrong(absl::string_view why) { return absl::InvalidArgumentError(why); }

// k8s.io/apiserver: webhook/errors, ToStatusErr
Refusal Denied(const Webhook& webhook, const json::object& answer) {
  const std::string denied = absl::StrCat("admission webhook ", api::JsonString(webhook.name), " denied the request");
  Refusal out{.code = 400, .message = absl::StrCat(denied, " without explanation")};
  const json::object* const status = FindObject(answer, "status");
  if (status == nullptr) return out;
  if (const std::int64_t code = IntAt(*status, "code", 0); code >= 400 && code < 600) out.code = static_cast<int>(code);
  out.reason = std::string(FindText(*status, "reason"));
  const absl::string_view message = FindText(*status, "message");
  if (!message.empty() || !out.reason.empty())
    out.message = absl::StrCat(denied, ": ", message.empty() ? absl::string_view(out.reason) : message);
  out.name = std::string(TextAt(*status, "details.name"));
  out.group = std::string(TextAt(*status, "details.group"));
  out.kind = std::string(TextAt(*status, "details.kind"));
  out.uid = std::string(TextAt(*status, "details.uid"));
  const json::value* const causes = FindPath(*status, "details.causes");
  if (causes == nullptr || !causes->is_array()) return out;
  for (const json::value& each : causes->get_array()) {
    if (!each.is_object() || out.causes.size() == 100) continue;
    const json::object& cause = each.get_object();
    out.causes.push_back({std::string(FindText(cause, "reason")), std::string(FindText(cause, "message")),
                          std::string(FindText(cause, "field"))});
  }
  return out;
}

// client-go: rest, transformResponse
absl::Status OfCode(const kube::Response& response) {
  switch (response.code) {
    case 404:
      return Wrong("failed to call webhook: the server could not find the requested resource");
    case 503:
      return Wrong("failed to call webhook: the server is currently unable to handle the request");
    default: {
      const absl::string_view body = absl::string_view(*response.body).substr(0, 500);
      return Wrong(absl::StrCat("failed to call webhook: an error on the server (", api::JsonString(body),
                                ") has prevented the request from succeeding"));
    }
  }
}

// k8s.io/apiserver: webhook/request, VerifyAdmissionResponse
absl::Status Verify(const Webhook& webhook, absl::string_view uid, const json::object& review,
                    const json::object*& response) {
  const auto invalid = [](absl::string_view why) {
    return Wrong(absl::StrCat("received invalid webhook response: ", why));
  };
  response = FindObject(review, "response");
  if (response == nullptr) return invalid("webhook response was absent");
  if (FindText(review, "kind") != "AdmissionReview" || FindText(review, "apiVersion") != "admission.k8s.io/v1") {
    return invalid(absl::StrCat("expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ",
                                FindText(review, "apiVersion"), ", Kind=", FindText(review, "kind")));
  }
  if (FindText(*response, "uid") != uid) {
    return invalid(absl::StrCat("expected response.uid=", api::JsonString(uid), ", got ",
                                api::JsonString(FindText(*response, "uid"))));
  }
  const bool patch = !FindText(*response, "patch").empty(), type = !FindText(*response, "patchType").empty();
  if (!webhook.mutates && patch) return invalid("validating webhook may not return response.patch");
  if (!webhook.mutates && type) return invalid("validating webhook may not return response.patchType");
  if (patch && !type) return invalid("webhook returned response.patch but not response.patchType");
  if (type && !patch) return invalid("webhook returned response.patchType but not response.patch");
  return absl::OkStatus();
}

}  // namespace

json::object UserInfo(const User& user) {
  json::object out{{"username", user.name}};
  if (!user.uid.empty()) out["uid"] = user.uid;
  if (!user.groups.empty()) out["groups"] = json::value_from(user.groups);
  if (!user.extra.empty()) out["extra"] = json::value_from(user.extra);
  return out;
}

json::object ReviewRequest(const Admission& what, const api::Resource& asked_as, const User& user,
                           json::object options) {
  json::object out;
  out["kind"] = KindOf(what, asked_as);
  out["resource"] = ResourceOf(asked_as);
  if (!what.subresource.empty()) out["subResource"] = Text(what.subresource);
  out["requestKind"] = KindOf(what, *what.resource);
  out["requestResource"] = ResourceOf(*what.resource);
  if (!what.subresource.empty()) out["requestSubResource"] = Text(what.subresource);
  if (!what.name.empty()) out["name"] = Text(what.name);
  if (!what.ns.empty()) out["namespace"] = Text(what.ns);
  out["operation"] = Text(what.operation);
  out["userInfo"] = UserInfo(user);
  out["dryRun"] = what.dry_run;
  out["options"] = std::move(options);
  return out;
}

absl::StatusOr<ReviewAnswer> ReadReviewAnswer(const Webhook& webhook, absl::string_view uid,
                                              const kube::Response& response) {
  if (!response.ok()) return OfCode(response);
  if (const absl::Status status = api::ParseCompletely(*response.body); !status.ok())
    return Wrong(absl::StrCat("failed to call webhook: its answer cannot be read: ", status.message()));
  absl::StatusOr<json::value> review = api::ParseJson(*response.body);
  if (!review.ok() || !review->is_object()) return Wrong("failed to call webhook: its answer is no object");
  const json::object* answer = nullptr;
  if (const absl::Status status = Verify(webhook, uid, review->get_object(), answer); !status.ok()) return status;
  ReviewAnswer out;
  out.allowed = BoolAt(*answer, "allowed");
  if (!out.allowed) out.refused = Denied(webhook, *answer);
  if (const absl::string_view patch = FindText(*answer, "patch"); !patch.empty()) {
    if (const absl::string_view type = FindText(*answer, "patchType"); type != "JSONPatch")
      return Wrong(absl::StrCat("unsupported patch type ", api::JsonString(type)));
    if (!absl::Base64Unescape(patch, &out.patch))
      return Wrong("failed to call webhook: illegal base64 data in response.patch");
  }
  const json::array* const warnings = FindArray(*answer, "warnings");
  std::size_t bytes = 0;
  for (std::size_t i = 0; warnings != nullptr && i < warnings->size(); ++i) {
    if (!(*warnings)[i].is_string()) continue;
    const absl::string_view text = AbslView((*warnings)[i].get_string());
    if ((bytes += text.size()) > kMaxWarningBytes) break;
    out.warnings.emplace_back(text);
  }
  return out;
}

}  // namespace gangway::sandbox
