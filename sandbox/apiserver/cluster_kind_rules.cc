#include "sandbox/apiserver/cluster_kind_rules.h"

#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "boost/json/array.hpp"
#include "sandbox/apiserver/draft/draft.h"
#include "sandbox/apiserver/refusal.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using api::FieldError;
using api::FieldErrors;

constexpr absl::string_view kRbac = "rbac.authorization.k8s.io";

void AddRequired(FieldErrors& errors, absl::string_view field, absl::string_view rule = {}) {
  AddError(errors, FieldError::Type::kRequired, field, "", rule);
}

// Calls `visit` with each object of the list and its path.
template <class Visit>
void ForEachIn(const json::object& object, absl::string_view list, Visit visit) {
  const json::value* value = FindPath(object, list);
  const json::array* elements = value == nullptr ? nullptr : value->if_array();
  if (elements == nullptr) return;
  for (std::size_t i = 0; i < elements->size(); ++i) {
    if ((*elements)[i].is_object()) visit((*elements)[i].get_object(), absl::StrCat(list, "[", i, "]"));
  }
}

bool HasAny(const json::object& object, absl::string_view list) {
  const json::array* elements = FindArray(object, list);
  return elements != nullptr && !elements->empty();
}

// pkg/apis/rbac/validation: ValidatePolicyRule
void CheckRules(const json::object& role, bool namespaced, FieldErrors& errors) {
  ForEachIn(role, "rules", [&](const json::object& rule, const std::string& path) {
    if (!HasAny(rule, "verbs"))
      AddRequired(errors, absl::StrCat(path, ".verbs"), "verbs must contain at least one value");
    if (HasAny(rule, "nonResourceURLs")) {
      const std::string urls = api::ToJson(*rule.if_contains("nonResourceURLs"));
      if (namespaced) {
        AddError(errors, FieldError::Type::kInvalid, absl::StrCat(path, ".nonResourceURLs"), urls,
                 "namespaced rules cannot apply to non-resource URLs");
      } else if (HasAny(rule, "apiGroups") || HasAny(rule, "resources") || HasAny(rule, "resourceNames")) {
        AddError(errors, FieldError::Type::kInvalid, absl::StrCat(path, ".nonResourceURLs"), urls,
                 "rules cannot apply to both regular resources and non-resource URLs");
      }
      return;
    }
    if (!HasAny(rule, "apiGroups"))
      AddRequired(errors, absl::StrCat(path, ".apiGroups"), "resource rules must supply at least one api group");
    if (!HasAny(rule, "resources"))
      AddRequired(errors, absl::StrCat(path, ".resources"), "resource rules must supply at least one resource");
  });
}

// pkg/apis/rbac/validation: ValidateRoleBinding, ValidateClusterRoleBinding, ValidateRoleBindingSubject
void CheckBinding(const json::object& binding, bool namespaced, FieldErrors& errors) {
  const absl::string_view group = TextAt(binding, "roleRef.apiGroup"), kind = TextAt(binding, "roleRef.kind");
  if (group != kRbac) {
    AddError(errors, FieldError::Type::kNotSupported, "roleRef.apiGroup", api::JsonString(group),
             absl::StrCat("supported values: \"", kRbac, "\""));
  }
  if (kind != "ClusterRole" && !(namespaced && kind == "Role")) {
    AddError(errors, FieldError::Type::kNotSupported, "roleRef.kind", api::JsonString(kind),
             namespaced ? "supported values: \"ClusterRole\", \"Role\"" : "supported values: \"ClusterRole\"");
  }
  if (TextAt(binding, "roleRef.name").empty()) AddRequired(errors, "roleRef.name");
  ForEachIn(binding, "subjects", [&](const json::object& subject, const std::string& path) {
    if (FindText(subject, "name").empty()) AddRequired(errors, absl::StrCat(path, ".name"));
    const absl::string_view subject_kind = FindText(subject, "kind"), subject_group = FindText(subject, "apiGroup");
    const bool account = subject_kind == "ServiceAccount";
    if (!account && subject_kind != "User" && subject_kind != "Group") {
      AddError(errors, FieldError::Type::kNotSupported, absl::StrCat(path, ".kind"), api::JsonString(subject_kind),
               "supported values: \"Group\", \"ServiceAccount\", \"User\"");
    } else if (subject_group != (account ? "" : kRbac)) {
      AddError(errors, FieldError::Type::kNotSupported, absl::StrCat(path, ".apiGroup"), api::JsonString(subject_group),
               absl::StrCat("supported values: \"", account ? "" : kRbac, "\""));
    }
    if (account && !namespaced && FindText(subject, "namespace").empty())
      AddRequired(errors, absl::StrCat(path, ".namespace"));
  });
}

}  // namespace

// A Job whose pods run for ever would never end.
void CheckBatchJob(const json::object& job, FieldErrors& errors) {
  const absl::string_view policy = TextAt(job, "spec.template.spec.restartPolicy");
  if (policy == "Never" || policy == "OnFailure") return;
  AddRequired(errors, "spec.template.spec.restartPolicy", "valid values: \"OnFailure\", \"Never\"");
}

namespace {

// The value at the path is as it was.
void CheckSame(const json::object& before, const json::object& after, absl::string_view path, absl::string_view rule,
               FieldErrors& errors) {
  const json::value* const a = FindPath(before, path);
  const json::value* const b = FindPath(after, path);
  if (a == nullptr || b == nullptr ? a == b : Equal(*a, *b)) return;
  AddError(errors, FieldError::Type::kInvalid, path, b == nullptr ? "null" : api::ToJson(*b), rule);
}

constexpr absl::string_view kImmutable = "field is immutable";

}  // namespace

void CheckRole(const json::object& role, FieldErrors& errors) { CheckRules(role, /*namespaced=*/true, errors); }
void CheckClusterRole(const json::object& role, FieldErrors& errors) { CheckRules(role, /*namespaced=*/false, errors); }
void CheckRoleBinding(const json::object& binding, FieldErrors& errors) {
  CheckBinding(binding, /*namespaced=*/true, errors);
}
void CheckClusterRoleBinding(const json::object& binding, FieldErrors& errors) {
  CheckBinding(binding, /*namespaced=*/false, errors);
}

void CheckBindingChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  CheckSame(before, after, "roleRef", "cannot change roleRef", errors);
}

void CheckStorageClassChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  for (const absl::string_view field : {"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"})
    CheckSame(before, after, field, kImmutable, errors);
}

// pkg/apis/storage/validation
void CheckCsiNode(const json::object& node, FieldErrors& errors) {
  std::set<std::string> names;
  ForEachIn(node, "spec.drivers", [&](const json::object& driver, const std::string& path) {
    const absl::string_view name = TextAt(driver, "name");
    if (TextAt(driver, "nodeID").empty()) AddRequired(errors, absl::StrCat(path, ".nodeID"));
    if (const std::int64_t count = IntAt(driver, "allocatable.count", 0); count < 0) {
      AddError(errors, FieldError::Type::kInvalid, absl::StrCat(path, ".allocatable.count"), absl::StrCat(count),
               "must be greater than or equal to 0");
    }
    if (!names.insert(std::string(name)).second)
      AddError(errors, FieldError::Type::kDuplicate, absl::StrCat(path, ".name"), api::JsonString(name), "");
  });
}

void CheckStorageCapacity(const json::object& capacity, FieldErrors& errors) {
  const absl::string_view amount = TextAt(capacity, "capacity");
  if (absl::StartsWith(amount, "-")) {
    AddError(errors, FieldError::Type::kInvalid, "capacity", api::JsonString(amount),
             "must be greater than or equal to 0");
  }
}

void CheckVolumeAttachment(const json::object& attachment, FieldErrors& errors) {
  const bool named = FindPath(attachment, "spec.source.persistentVolumeName") != nullptr,
             in_line = FindPath(attachment, "spec.source.inlineVolumeSpec") != nullptr;
  if (named != in_line) return;
  AddError(errors, named ? FieldError::Type::kForbidden : FieldError::Type::kRequired, "spec.source", "",
           "must specify exactly one of inlineVolumeSpec and persistentVolumeName");
}

void CheckCsiDriverChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  for (const absl::string_view field : {"spec.attachRequired", "spec.volumeLifecycleModes"})
    CheckSame(before, after, field, kImmutable, errors);
}

// But for what a driver can attach.
void CheckCsiNodeChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  ForEachIn(before, "spec.drivers", [&](const json::object& was, const std::string&) {
    ForEachIn(after, "spec.drivers", [&](const json::object& is, const std::string&) {
      if (TextAt(was, "name") != TextAt(is, "name")) return;
      FieldErrors changed;
      for (const absl::string_view field : {"nodeID", "topologyKeys"}) CheckSame(was, is, field, kImmutable, changed);
      if (changed.empty()) return;
      // As the server's own type is written, whose fields have no names for JSON.
      const json::value* const keys = is.if_contains("topologyKeys");
      AddError(errors, FieldError::Type::kInvalid, "spec.drivers",
               absl::StrCat(R"({"Name":)", api::JsonString(TextAt(is, "name")), R"(,"NodeID":)",
                            api::JsonString(TextAt(is, "nodeID")), R"(,"TopologyKeys":)",
                            keys == nullptr ? "null" : api::ToJson(*keys), R"(,"Allocatable":null})"),
               kImmutable);
    });
  });
}

void CheckStorageCapacityChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  for (const absl::string_view field : {"nodeTopology", "storageClassName"})
    CheckSame(before, after, field, kImmutable, errors);
}

void CheckVolumeAttachmentChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  FieldErrors changed;
  CheckSame(before, after, "spec", kImmutable, changed);
  if (changed.empty()) return;
  const json::value* const volume = FindPath(after, "spec.source.persistentVolumeName");
  // As the server's own type is written.
  AddError(
      errors, FieldError::Type::kInvalid, "spec",
      absl::StrCat(R"({"Attacher":)", api::JsonString(TextAt(after, "spec.attacher")),
                   R"(,"Source":{"PersistentVolumeName":)", volume == nullptr ? "null" : api::ToJson(*volume),
                   R"(,"InlineVolumeSpec":null},"NodeName":)", api::JsonString(TextAt(after, "spec.nodeName")), "}"),
      kImmutable);
}

// Also of a template's. kubernetes: apis/resource/validation
void CheckClaimSpecChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  CheckSame(before, after, "spec", kImmutable, errors);
}

// Devices are given back whole, or kept. kubernetes: apis/resource/validation, validateResourceClaimStatusUpdate
void CheckClaimStatusChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  const bool allocated = FindPath(after, "status.allocation") != nullptr;
  if (allocated && FindPath(before, "status.allocation") != nullptr)
    CheckSame(before, after, "status.allocation", kImmutable, errors);
  const json::value* const users = FindPath(after, "status.reservedFor");
  if (users == nullptr || !users->is_array()) return;
  if (!allocated && !users->get_array().empty()) {
    AddError(errors, FieldError::Type::kForbidden, "status.reservedFor", "",
             "may not be specified when `allocated` is not set");
  }
}

void CheckBatchJobChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  for (const absl::string_view field : {"spec.completionMode", "spec.completions", "spec.selector", "spec.template"}) {
    CheckSame(before, after, field, kImmutable, errors);
  }
}

}  // namespace gangway::sandbox
