#include "sandbox/apiserver/refusal.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "api/json.h"
#include "sandbox/apiserver/api_server.h"

namespace gangway::sandbox {
namespace {

Refusal About(int code, absl::string_view reason, const api::Resource& resource, absl::string_view name,
              std::string message) {
  return {.code = code,
          .reason = std::string(reason),
          .message = std::move(message),
          .name = std::string(name),
          .group = std::string(resource.group),
          .kind = std::string(resource.plural)};
}

// How kube-apiserver calls the place of a mistake: it says less about labels, and quantities stand in brackets.
std::string ServersField(const api::FieldError& error) {
  for (const absl::string_view map : {"metadata.labels.", "metadata.annotations."}) {
    if (const std::size_t at = error.field.find(std::string(map)); at != std::string::npos) {
      return error.field.substr(0, at + map.size() - 1);
    }
  }
  constexpr absl::string_view kOwners = "metadata.ownerReferences[";
  if (absl::StartsWith(error.field, kOwners)) {
    const std::size_t end = error.field.find(']');
    if (end != std::string::npos)
      return absl::StrCat(kOwners.substr(0, kOwners.size() - 1), error.field.substr(end + 1));
  }
  for (const absl::string_view list : {"resources.requests.", "resources.limits."}) {
    const std::size_t at = error.field.find(std::string(list));
    if (at == std::string::npos) continue;
    const std::string name = error.field.substr(at + list.size());
    const std::string above = error.field.substr(0, at + list.size() - 1);
    return absl::StrContains(error.rule, "must be less than or equal to") ? above : absl::StrCat(above, "[", name, "]");
  }
  return error.field;
}

constexpr std::size_t kMaxTold = 100;  // of what is wrong with one object

Refusal InvalidKind(absl::string_view group, absl::string_view kind, absl::string_view name, api::FieldErrors errors) {
  const std::size_t untold = errors.size() - std::min(errors.size(), kMaxTold);
  errors.resize(errors.size() - untold);
  for (api::FieldError& error : errors) error.field = ServersField(error);
  Refusal refusal{.code = 422,
                  .reason = "Invalid",
                  .message = absl::StrCat(kind, group.empty() ? "" : ".", group, " \"", name, "\" is invalid: ",
                                          api::JoinFieldErrors(errors), untold == 0 ? "" : " and more"),
                  .name = std::string(name),
                  .group = std::string(group),
                  .kind = std::string(kind)};
  for (const api::FieldError& error : errors) {
    refusal.causes.push_back({std::string(error.Reason()), error.Message(), error.field});
  }
  return refusal;
}

void WriteDetails(const Refusal& r, api::JsonWriter& json) {
  const bool empty = r.name.empty() && r.group.empty() && r.kind.empty() && r.uid.empty() && r.causes.empty() &&
                     r.retry_after_seconds <= 0;
  if (empty && !r.generic) return;
  json.Key("details").BeginObject();
  if (!r.name.empty()) json.Field("name", r.name);
  if (!r.group.empty()) json.Field("group", r.group);
  if (!r.kind.empty()) json.Field("kind", r.kind);
  if (!r.uid.empty()) json.Field("uid", r.uid);
  if (!r.causes.empty()) {
    json.Key("causes").BeginArray();
    for (const Cause& cause : r.causes) {
      json.BeginObject();
      if (!cause.reason.empty()) json.Field("reason", cause.reason);
      json.Field("message", cause.message);
      if (!cause.field.empty()) json.Field("field", cause.field);
      json.EndObject();
    }
    json.EndArray();
  }
  if (r.retry_after_seconds > 0) json.Field("retryAfterSeconds", r.retry_after_seconds);
  json.EndObject();
}

}  // namespace

std::string Refusal::ToJson() const {
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject().Field("kind", "Status").Field("apiVersion", "v1");
  json.Key("metadata").BeginObject().EndObject();
  json.Field("status", "Failure").Field("message", message);
  if (!reason.empty()) json.Field("reason", reason);
  WriteDetails(*this, json);
  json.Field("code", code).EndObject();
  return out;
}

kube::Response Refusal::ToResponse() const {
  kube::Response response = JsonResponse(code, MakeBytes(text ? message : ToJson()));
  if (text) response.content_type = "text/plain; charset=utf-8";
  if (retry_after_seconds > 0) response.retry_after = absl::Seconds(retry_after_seconds);
  return response;
}

std::string GroupResource(const api::Resource& resource) {
  return absl::StrCat(View(resource.plural), resource.group.empty() ? "" : ".", View(resource.group));
}

Refusal BadRequest(std::string message) { return {.code = 400, .reason = "BadRequest", .message = std::move(message)}; }
Refusal PathNotFound() {
  return {.code = 404,
          .reason = "NotFound",
          .message = "the server could not find the requested resource",
          .generic = true};
}
Refusal NoSuchPath() { return {.code = 404, .reason = "NotFound", .message = "404 page not found\n", .text = true}; }
Refusal MethodNotAllowed() {
  return {.code = 405,
          .reason = "MethodNotAllowed",
          .message = "the server does not allow this method on the requested resource",
          .generic = true};
}
Refusal ServerError(absl::string_view why) {
  return {.code = 500,
          .reason = "InternalError",
          .message = absl::StrCat("Internal error occurred: ", why),
          .causes = {{"", std::string(why), ""}}};
}
Refusal NotAcceptable() {
  return {.code = 406,
          .reason = "NotAcceptable",
          .message = "406: Not Acceptable\n\nAvailable representations: application/json",
          .generic = true};
}
Refusal TooLarge() {
  return {.code = 413,
          .reason = "RequestEntityTooLarge",
          .message = absl::StrCat("Request entity too large: limit is ", kMaxBodyBytes)};
}
// In etcd's words, which the API server hands on.
Refusal TooLargeToStore() { return {.code = 500, .message = "etcdserver: request is too large"}; }
Refusal UnsupportedMediaType(absl::string_view accepted) {
  return {.code = 415,
          .reason = "UnsupportedMediaType",
          .message = absl::StrCat("the body of the request was in an unknown format - accepted media types include: ",
                                  accepted)};
}
Refusal Expired(std::string message) { return {.code = 410, .reason = "Expired", .message = std::move(message)}; }
Refusal TooLargeResourceVersion(std::uint64_t wanted, std::uint64_t current) {
  return {.code = 504,
          .reason = "Timeout",
          .message = absl::StrCat("Timeout: Too large resource version: ", wanted, ", current: ", current),
          .causes = {{"ResourceVersionTooLarge", "Too large resource version", ""}},
          .retry_after_seconds = 1};
}
Refusal NotFound(const api::Resource& resource, absl::string_view name) {
  return About(404, "NotFound", resource, name, absl::StrCat(GroupResource(resource), " \"", name, "\" not found"));
}
Refusal AlreadyExists(const api::Resource& resource, absl::string_view name) {
  return About(409, "AlreadyExists", resource, name,
               absl::StrCat(GroupResource(resource), " \"", name, "\" already exists"));
}
Refusal GeneratedNameExists(const api::Resource& resource, absl::string_view name) {
  Refusal refusal = AlreadyExists(resource, name);
  refusal.message += ", the server was not able to generate a unique name for the object";
  refusal.retry_after_seconds = 1;
  return refusal;
}
Refusal Conflict(const api::Resource& resource, absl::string_view name, absl::string_view why) {
  return About(409, "Conflict", resource, name,
               absl::StrCat("Operation cannot be fulfilled on ", GroupResource(resource), " \"", name, "\": ", why));
}
Refusal Forbidden(const api::Resource& resource, absl::string_view name, absl::string_view why) {
  return About(403, "Forbidden", resource, name,
               absl::StrCat(GroupResource(resource), " \"", name, "\" is forbidden: ", why));
}
Refusal Invalid(const api::Resource& resource, absl::string_view name, const api::FieldErrors& errors) {
  return InvalidKind(View(resource.group), View(resource.kind), name, errors);
}
Refusal InvalidOptions(absl::string_view kind, const api::FieldErrors& errors) {
  return InvalidKind("meta.k8s.io", kind, "", errors);
}
Refusal InvalidLogOptions(absl::string_view pod, const api::FieldErrors& errors) {
  return InvalidKind("", "PodLogOptions", pod, errors);
}

kube::Response SuccessStatus(int code, const api::Resource* resource, absl::string_view name, absl::string_view uid) {
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject().Field("kind", "Status").Field("apiVersion", "v1");
  json.Key("metadata").BeginObject().EndObject();
  json.Field("status", "Success");
  if (resource != nullptr) {
    json.Key("details").BeginObject().Field("name", name);
    if (!resource->group.empty()) json.Field("group", resource->group);
    json.Field("kind", resource->plural);
    if (!uid.empty()) json.Field("uid", uid);
    json.EndObject();
  }
  if (code != 200) json.Field("code", code);
  json.EndObject();
  return JsonResponse(code, MakeBytes(std::move(out)));
}

kube::Response JsonResponse(int code, Bytes body) {
  kube::Response response;
  response.code = code;
  response.content_type = "application/json";
  response.body = std::move(body);
  return response;
}

}  // namespace gangway::sandbox
