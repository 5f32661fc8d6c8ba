#include "plugin/webhook/review.h"

#include <optional>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/field_walk.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "api/volcano/fill_in.h"
#include "api/volcano/kinds.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "plugin/ingest/foresight.h"

namespace gangway::webhook {
namespace {

using api::volcano::AdmissionRequest;
using api::volcano::Operation;
using api::volcano::Verdict;
using boost::json::value;

constexpr std::size_t kMaxUidBytes = 256;            // an API server writes 36
constexpr std::size_t kMaxWarnedBytes = 256u << 10;  // what is larger is judged and not read once more for warnings

// nullptr when it is absent or null.
const value* Member(const value& object, std::string_view key) {
  const boost::json::object* members = object.if_object();
  const value* member = members == nullptr ? nullptr : members->if_contains(key);
  return member == nullptr || member->is_null() ? nullptr : member;
}
std::string TextOf(const value& object, std::string_view key) {
  const value* member = Member(object, key);
  return member != nullptr && member->is_string() ? std::string(api::AbslView(member->get_string())) : std::string();
}

absl::Status NoReview(absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("not an AdmissionReview of admission.k8s.io/v1: ", why));
}

const api::Resource* ResourceOf(const value& request) {
  const value* of = Member(request, "resource");
  if (of == nullptr) return nullptr;
  for (const api::KindRow& row : api::volcano::Kinds()) {
    if (row.admission == nullptr || !row.admission->validating_webhook) continue;
    const api::Resource& resource = *row.resource;
    if (TextOf(*of, "group") == resource.group && TextOf(*of, "version") == resource.version &&
        TextOf(*of, "resource") == resource.plural)
      return &resource;
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

// Of JSON that has been parsed. A comma, a brace or a bracket stands before each value but the first.
bool MoreValuesThan(std::size_t max, absl::string_view json) {
  std::size_t values = 1;
  bool text = false;
  for (std::size_t i = 0; i < json.size() && values <= max; ++i) {
    const char c = json[i];
    if (text) {
      if (c == '\\') ++i;
      if (c == '"') text = false;
    } else if (c == '"') {
      text = true;
    } else if (c == ',' || c == '{' || c == '[') {
      ++values;
    }
  }
  return values > max;
}

// What makes one document of another.
class Differ {
 public:
  void Diff(const value& before, const value& after) {
    if (before.is_object() && after.is_object()) {
      DiffObjects(before.get_object(), after.get_object());
    } else if (before.is_array() && after.is_array() && before.get_array().size() == after.get_array().size()) {
      for (std::size_t i = 0; i < before.get_array().size(); ++i) {
        const api::PathStep step(at_, "/", i);
        Diff(before.get_array()[i], after.get_array()[i]);
      }
    } else if (before != after) {
      Add("replace", &after);
    }
  }
  boost::json::array Take() { return std::move(out_); }

 private:
  static std::string Escaped(const boost::json::string_view key) {
    return absl::StrReplaceAll(api::AbslView(key), {{"~", "~0"}, {"/", "~1"}});
  }

  void DiffObjects(const boost::json::object& before, const boost::json::object& after) {
    for (const auto& member : before) {
      const api::PathStep step(at_, "/", Escaped(member.key()));
      const value* now = after.if_contains(member.key());
      now == nullptr ? Add("remove", nullptr) : Diff(member.value(), *now);
    }
    for (const auto& member : after) {
      if (before.contains(member.key())) continue;
      const api::PathStep step(at_, "/", Escaped(member.key()));
      Add("add", &member.value());
    }
  }

  void Add(std::string_view op, const value* with) {
    boost::json::object operation{{"op", op}, {"path", at_}};
    if (with != nullptr) operation["value"] = *with;
    out_.push_back(std::move(operation));
  }

  boost::json::array out_;
  std::string at_;  // the pointer to what is compared
};

void WriteRefusal(const Verdict& verdict, api::JsonWriter& json) {
  json.Field("allowed", false)
      .Key("status")
      .BeginObject()
      .Field("status", "Failure")
      .Field("code", verdict.code)
      .Field("message", verdict.message);
  json.Field("reason", verdict.reason.empty() ? std::string("BadRequest") : verdict.reason)
      .Key("details")
      .BeginObject()
      .Key("causes")
      .BeginArray();
  for (const api::FieldError& error : verdict.errors) {
    json.BeginObject()
        .Field("reason", error.Reason())
        .Field("message", error.Message())
        .Field("field", error.field)
        .EndObject();
  }
  json.EndArray().EndObject().EndObject();
}

void WriteAllowed(absl::string_view patch, api::JsonWriter& json) {
  json.Field("allowed", true);
  if (!patch.empty()) json.Field("patchType", "JSONPatch").Field("patch", absl::Base64Escape(patch));
}

// The JSON patch that fills them in; "" for none.
std::string DefaultsOf(const AdmissionRequest& asked, const value& object) {
  value filled = object;
  api::volcano::FillIn(asked, filled);
  const boost::json::array patch = PatchBetween(object, filled);
  return patch.empty() ? std::string() : api::ToJson(patch);
}

}  // namespace

boost::json::array PatchBetween(const value& before, const value& after) {
  Differ differ;
  differ.Diff(before, after);
  return differ.Take();
}

absl::StatusOr<std::string> AnswerReview(Step step, absl::string_view review, const api::volcano::QueueLookup& queues,
                                         const api::volcano::NamespaceQueueLookup& namespace_queues,
                                         const ReviewLimits& limits) {
  if (const absl::Status status = api::ParseCompletely(review, {.max_bytes = limits.max_bytes, .max_depth = 110});
      !status.ok())
    return NoReview(status.message());
  if (MoreValuesThan(limits.max_values, review))
    return NoReview(absl::StrCat("more than ", limits.max_values, " values"));
  absl::StatusOr<value> parsed = api::ParseJson(review);
  if (!parsed.ok()) return NoReview(parsed.status().message());
  if (TextOf(*parsed, "apiVersion") != "admission.k8s.io/v1" || TextOf(*parsed, "kind") != "AdmissionReview")
    return NoReview("apiVersion and kind say otherwise");
  const value* request = Member(*parsed, "request");
  if (request == nullptr || !request->is_object()) return NoReview("there is no request");
  const std::string uid = TextOf(*request, "uid");
  if (uid.empty()) return NoReview("request.uid is missing");
  if (uid.size() > kMaxUidBytes) return NoReview("request.uid is too long");

  Verdict verdict;
  std::string patch;
  std::vector<std::string> warnings;
  const std::optional<Operation> operation = OperationOf(*request);
  const api::Resource* resource = ResourceOf(*request);
  if (operation.has_value() && resource != nullptr && TextOf(*request, "subResource").empty()) {
    const value* object = Member(*request, "object");
    const value* old_object = Member(*request, "oldObject");
    const bool deletes = *operation == Operation::kDelete;
    if (!deletes && object == nullptr) return NoReview("request.object is missing");
    if (*operation == Operation::kUpdate && old_object == nullptr) return NoReview("request.oldObject is missing");
    AdmissionRequest asked{.resource = resource,
                           .operation = *operation,
                           .ns = TextOf(*request, "namespace"),
                           .name = TextOf(*request, "name"),
                           .old_object = old_object};
    if (resource == &api::kPodGroups && namespace_queues) asked.namespace_queue = namespace_queues(asked.ns);
    if (step == Step::kMutate) {
      if (*operation == Operation::kCreate) patch = DefaultsOf(asked, *object);
    } else if (deletes) {
      verdict = api::volcano::Admit(asked, nullptr, queues);
    } else {
      value judged = std::move(parsed->at("request").at("object"));  // and filled in
      verdict = api::volcano::Admit(asked, &judged, queues);
      if (verdict.allowed() && review.size() <= kMaxWarnedBytes) {
        for (const ingest::Foresight& each : ingest::ForeseeIn(*resource, api::ToJson(judged)))
          warnings.push_back(each.ToString());
      }
    }
  }
  if (patch.size() > limits.max_patch_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("the patch of the defaults would have ", patch.size(),
                                                     " bytes, the limit is ", limits.max_patch_bytes));
  }
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject()
      .Field("apiVersion", "admission.k8s.io/v1")
      .Field("kind", "AdmissionReview")
      .Key("response")
      .BeginObject()
      .Field("uid", uid);
  verdict.allowed() ? WriteAllowed(patch, json) : WriteRefusal(verdict, json);
  if (!warnings.empty()) {
    json.Key("warnings").BeginArray();
    for (const std::string& warning : warnings) json.String(warning);
    json.EndArray();
  }
  json.EndObject().EndObject();
  return out;
}

}  // namespace gangway::webhook
