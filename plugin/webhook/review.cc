#include "plugin/webhook/review.h"

#include <optional>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace gangway::webhook {
namespace {

using api::volcano::AdmissionRequest;
using api::volcano::Operation;
using api::volcano::Verdict;
using boost::json::value;

absl::string_view FromBjs(const boost::json::string& s) { return {s.data(), s.size()}; }
absl::string_view FromBjs(boost::json::string_view s) { return {s.data(), s.size()}; }

// nullptr when it is absent or null.
const value* Member(const value& object, std::string_view key) {
  const boost::json::object* members = object.if_object();
  const value* member = members == nullptr ? nullptr : members->if_contains(key);
  return member == nullptr || member->is_null() ? nullptr : member;
}
std::string TextOf(const value& object, std::string_view key) {
  const value* member = Member(object, key);
  return member != nullptr && member->is_string() ? std::string(FromBjs(member->get_string())) : std::string();
}

absl::Status NoReview(absl::string_view why) { return absl::InvalidArgumentError(absl::StrCat("not an AdmissionReview of admission.k8s.io/v1: ", why)); }

const api::Resource* ResourceOf(const value& request) {
  const value* of = Member(request, "resource");
  if (of == nullptr) return nullptr;
  for (const api::Resource* resource : {&api::kJobs, &api::kPodGroups, &api::kQueues, &api::kJobFlows, &api::kCronJobs}) {
    if (TextOf(*of, "group") == resource->group && TextOf(*of, "version") == resource->version && TextOf(*of, "resource") == resource->plural) return resource;
  }
  return nullptr;
}

std::optional<Operation> OperationOf(const value& request) {
  const std::string text = TextOf(request, "operation");
  if (text == "CREATE") return Operation::kCreate;
  if (text == "UPDATE") return Operation::kUpdate;
  if (text == "DELETE") return Operation::kDelete;
  return std::nullopt;
}

std::string ChildPointer(absl::string_view path, absl::string_view name) {
  return absl::StrCat(path, "/", absl::StrReplaceAll(name, {{"~", "~0"}, {"/", "~1"}}));
}

void Add(boost::json::array& out, std::string_view op, const std::string& path, const value* with) {
  boost::json::object operation{{"op", op}, {"path", path}};
  if (with != nullptr) operation["value"] = *with;
  out.push_back(std::move(operation));
}

void Diff(const value& before, const value& after, const std::string& path, boost::json::array& out) {
  if (before.is_object() && after.is_object()) {
    for (const auto& member : before.get_object()) {
      const std::string at = ChildPointer(path, FromBjs(member.key()));
      const value* now = after.get_object().if_contains(member.key());
      if (now == nullptr) {
        Add(out, "remove", at, nullptr);
      } else {
        Diff(member.value(), *now, at, out);
      }
    }
    for (const auto& member : after.get_object()) {
      if (!before.get_object().contains(member.key())) Add(out, "add", ChildPointer(path, FromBjs(member.key())), &member.value());
    }
  } else if (before.is_array() && after.is_array() && before.get_array().size() == after.get_array().size()) {
    for (std::size_t i = 0; i < before.get_array().size(); ++i) Diff(before.get_array()[i], after.get_array()[i], absl::StrCat(path, "/", i), out);
  } else if (before != after) {
    Add(out, "replace", path, &after);
  }
}

void WriteRefusal(const Verdict& verdict, api::JsonWriter& json) {
  json.Field("allowed", false).Key("status").BeginObject().Field("status", "Failure").Field("code", verdict.code).Field("message", verdict.message);
  json.Field("reason", verdict.reason.empty() ? std::string("BadRequest") : verdict.reason).Key("details").BeginObject().Key("causes").BeginArray();
  for (const api::FieldError& error : verdict.errors) {
    json.BeginObject().Field("reason", error.Reason()).Field("message", error.Message()).Field("field", error.field).EndObject();
  }
  json.EndArray().EndObject().EndObject();
}

void WriteAllowed(const boost::json::array& patch, api::JsonWriter& json) {
  json.Field("allowed", true);
  if (!patch.empty()) json.Field("patchType", "JSONPatch").Field("patch", absl::Base64Escape(api::ToJson(patch)));
}

}  // namespace

boost::json::array PatchBetween(const value& before, const value& after) {
  boost::json::array out;
  Diff(before, after, "", out);
  return out;
}

absl::StatusOr<std::string> AnswerReview(Step step, absl::string_view review, const api::volcano::QueueLookup& queues,
                                         const api::volcano::NamespaceQueueLookup& namespace_queues) {
  if (const absl::Status status = api::ParseCompletely(review, {.max_bytes = kMaxReviewBytes, .max_depth = 110}); !status.ok()) return NoReview(status.message());
  absl::StatusOr<value> parsed = api::ParseJson(review);
  if (!parsed.ok()) return NoReview(parsed.status().message());
  if (TextOf(*parsed, "apiVersion") != "admission.k8s.io/v1" || TextOf(*parsed, "kind") != "AdmissionReview") return NoReview("apiVersion and kind say otherwise");
  const value* request = Member(*parsed, "request");
  if (request == nullptr || !request->is_object()) return NoReview("there is no request");
  const std::string uid = TextOf(*request, "uid");
  if (uid.empty()) return NoReview("request.uid is missing");

  Verdict verdict;
  boost::json::array patch;
  const std::optional<Operation> operation = OperationOf(*request);
  const api::Resource* resource = ResourceOf(*request);
  if (operation.has_value() && resource != nullptr && TextOf(*request, "subResource").empty()) {
    const value* object = Member(*request, "object");
    const value* old_object = Member(*request, "oldObject");
    const bool deletes = *operation == Operation::kDelete;
    if (!deletes && object == nullptr) return NoReview("request.object is missing");
    if (*operation == Operation::kUpdate && old_object == nullptr) return NoReview("request.oldObject is missing");
    AdmissionRequest asked{.resource = resource, .operation = *operation, .ns = TextOf(*request, "namespace"),
                           .name = TextOf(*request, "name"), .old_object = old_object};
    if (resource == &api::kPodGroups && namespace_queues) asked.namespace_queue = namespace_queues(asked.ns);
    value filled = deletes ? value() : *object;
    verdict = api::volcano::Admit(asked, deletes ? nullptr : &filled, queues);
    if (step == Step::kMutate) {
      verdict = {};
      if (*operation == Operation::kCreate) patch = PatchBetween(*object, filled);
    }
  }
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject().Field("apiVersion", "admission.k8s.io/v1").Field("kind", "AdmissionReview").Key("response").BeginObject().Field("uid", uid);
  verdict.allowed() ? WriteAllowed(patch, json) : WriteRefusal(verdict, json);
  json.EndObject().EndObject();
  return out;
}

}  // namespace gangway::webhook
