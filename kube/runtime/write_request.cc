#include "kube/runtime/write_request.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "base/status_macros.h"

namespace gangway::kube {
namespace {

const char* PropagationName(Propagation propagation) {
  switch (propagation) {
    case Propagation::kBackground:
      return "Background";
    case Propagation::kForeground:
      return "Foreground";
    case Propagation::kOrphan:
      return "Orphan";
  }
  return "";
}

std::string DeleteOptions(const Write& write) {
  std::string body;
  api::JsonWriter json(body);
  json.BeginObject().Field("kind", "DeleteOptions").Field("apiVersion", "v1");
  if (write.grace_period_seconds) json.Field("gracePeriodSeconds", *write.grace_period_seconds);
  if (!write.uid.empty() || !write.resource_version.empty()) {
    json.Key("preconditions").BeginObject();
    if (!write.uid.empty()) json.Field("uid", write.uid);
    if (!write.resource_version.empty()) json.Field("resourceVersion", write.resource_version);
    json.EndObject();
  }
  json.Field("propagationPolicy", PropagationName(write.propagation));
  json.EndObject();
  return body;
}

// The body with uid and resourceVersion in its metadata: the API server refuses the write with 409 when they are not
// the object's.
absl::StatusOr<std::string> WithPreconditions(const Write& write) {
  if (write.uid.empty() && write.resource_version.empty()) return write.body;
  GW_ASSIGN_OR_RETURN(boost::json::value body, api::ParseJson(write.body));
  if (!body.is_object()) return absl::InvalidArgumentError("body: must be an object");
  boost::json::value& metadata = body.as_object()["metadata"];
  if (metadata.is_null()) metadata.emplace_object();
  if (!metadata.is_object()) return absl::InvalidArgumentError("body: metadata must be an object");
  if (!write.uid.empty()) metadata.as_object()["uid"] = write.uid;
  if (!write.resource_version.empty()) metadata.as_object()["resourceVersion"] = write.resource_version;
  return api::ToJson(body);
}

}  // namespace

const char* VerbName(Verb verb) {
  switch (verb) {
    case Verb::kCreate:
      return "create";
    case Verb::kMergePatch:
    case Verb::kStrategicMergePatch:
      return "patch";
    case Verb::kPut:
      return "update";
    case Verb::kDelete:
      return "delete";
  }
  return "";
}

absl::string_view AcceptFor(const api::Resource& resource) {
  return &resource == &api::kSecrets ? "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
                                     : "";
}

absl::StatusOr<Request> RequestFor(const Write& write) {
  Request request;
  request.accept = std::string(AcceptFor(*write.resource));
  request.path = api::PathOf(*write.resource, write.ns, write.name, write.subresource);
  if (write.verb != Verb::kDelete) request.query = kNoFieldValidation;
  switch (write.verb) {
    case Verb::kCreate:
      // A subresource (binding, eviction) hangs on its object, an object on its collection.
      if (write.subresource.empty()) request.path = api::PathOf(*write.resource, write.ns);
      request.method = "POST";
      request.body = write.body;
      return request;
    case Verb::kMergePatch:
    case Verb::kStrategicMergePatch: {
      request.method = "PATCH";
      request.content_type =
          write.verb == Verb::kMergePatch ? "application/merge-patch+json" : "application/strategic-merge-patch+json";
      GW_ASSIGN_OR_RETURN(request.body, WithPreconditions(write));
      return request;
    }
    case Verb::kPut: {
      request.method = "PUT";
      GW_ASSIGN_OR_RETURN(request.body, WithPreconditions(write));
      return request;
    }
    case Verb::kDelete:
      request.method = "DELETE";
      request.body = DeleteOptions(write);
      return request;
  }
  return absl::InternalError("a verb that is none");
}

}  // namespace gangway::kube
