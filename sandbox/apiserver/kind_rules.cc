#include "sandbox/apiserver/kind_rules.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/selector.h"
#include "boost/json/array.hpp"
#include "sandbox/apiserver/draft/draft.h"
#include "sandbox/apiserver/refusal.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using api::FieldError;
using api::FieldErrors;

const json::array* ArrayAt(const json::object& in, absl::string_view path) {
  const json::value* value = FindPath(in, path);
  return value == nullptr ? nullptr : value->if_array();
}

// --- whole objects

// k8s.io/apimachinery: validation.IsConfigMapKey
std::string WhyNoDataKey(absl::string_view key) {
  const bool letters = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  });
  if (!letters) {
    return "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
           "'KEY_NAME',  or "
           "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
  }
  if (key.size() > 253) return "must be no more than 253 characters";
  if (key == "." || key == "..") return absl::StrCat("must not be '", key, "'");
  return {};
}

constexpr std::size_t kMaxLookedFor = 1000;  // mistakes of one object

}  // namespace

void CheckDataKeys(const json::object& object, FieldErrors& errors) {
  const json::object* data = FindObject(object, "data");
  const json::object* binary = FindObject(object, "binaryData");
  for (const auto& [field, map] : {std::pair{absl::string_view("data"), data}, {"binaryData", binary}}) {
    if (map == nullptr) continue;
    for (const auto& member : *map) {
      if (errors.size() >= kMaxLookedFor) return;
      const absl::string_view key = AbslView(member.key());
      const std::string path = absl::StrCat(field, "[", key, "]");
      if (const std::string why = WhyNoDataKey(key); !why.empty()) {
        AddError(errors, FieldError::Type::kInvalid, path, api::JsonString(key), why);
      }
      if (map == data && binary != nullptr && binary->contains(member.key())) {
        AddError(errors, FieldError::Type::kInvalid, path, api::JsonString(key),
                 "duplicate of key present in binaryData");
      }
    }
  }
}

void CheckSecret(const json::object& object, FieldErrors& errors) {
  CheckDataKeys(object, errors);
  if (FindText(object, "type") != "kubernetes.io/tls") return;
  const json::object* data = FindObject(object, "data");
  for (const absl::string_view key : {"tls.crt", "tls.key"}) {
    if (data == nullptr || !data->contains(JsonView(key)))
      AddError(errors, FieldError::Type::kRequired, absl::StrCat("data[", key, "]"), "", "");
  }
}

void CheckService(const json::object& object, FieldErrors& errors) {
  if (TextAt(object, "spec.type") == "ExternalName") return;
  const json::array* ports = ArrayAt(object, "spec.ports");
  if (ports == nullptr || ports->empty()) {
    if (TextAt(object, "spec.clusterIP") != "None") AddError(errors, FieldError::Type::kRequired, "spec.ports", "", "");
    return;
  }
  if (ports->size() == 1) return;
  for (std::size_t i = 0; i < ports->size(); ++i) {
    if ((*ports)[i].is_object() && FindText((*ports)[i].get_object(), "name").empty()) {
      AddError(errors, FieldError::Type::kRequired, absl::StrCat("spec.ports[", i, "].name"), "", "");
    }
  }
}

void CheckLease(const json::object& object, FieldErrors& errors) {
  const std::int64_t seconds = IntAt(object, "spec.leaseDurationSeconds", 1);
  if (seconds <= 0) {
    AddError(errors, FieldError::Type::kInvalid, "spec.leaseDurationSeconds", absl::StrCat(seconds),
             "must be greater than 0");
  }
}

void CheckClaim(const json::object& object, FieldErrors& errors) {
  const json::array* modes = ArrayAt(object, "spec.accessModes");
  if (modes == nullptr || modes->empty()) {
    AddError(errors, FieldError::Type::kRequired, "spec.accessModes", "", "at least 1 access mode is required");
  }
  if (FindPath(object, "spec.resources.requests.storage") == nullptr) {
    AddError(errors, FieldError::Type::kRequired, "spec.resources[storage]", "", "");
  }
}

namespace {

// pkg/apis/policy/validation: a count, or a share such as "50%".
void CheckCountOrShare(const json::object& object, absl::string_view path, FieldErrors& errors) {
  const json::value* value = FindPath(object, path);
  if (value == nullptr) return;
  const auto wrong = [&](absl::string_view rule) {
    AddError(errors, FieldError::Type::kInvalid, path, api::ToJson(*value), rule);
  };
  if (value->is_int64() && value->get_int64() < 0) return wrong("must be greater than or equal to 0");
  if (!value->is_string()) return;
  absl::string_view digits = AbslView(value->get_string());
  const bool is_digits = absl::ConsumeSuffix(&digits, "%") && !digits.empty() &&
                         std::all_of(digits.begin(), digits.end(),
                                     [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); });
  if (!is_digits) {
    return wrong(
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used "
        "for "
        "validation is '[0-9]+%')");
  }
  std::int64_t share = 0;
  if (!absl::SimpleAtoi(digits, &share) || share > 100) wrong("must not be greater than 100%");
}

}  // namespace

void CheckBudget(const json::object& object, FieldErrors& errors) {
  CheckCountOrShare(object, "spec.minAvailable", errors);
  CheckCountOrShare(object, "spec.maxUnavailable", errors);
  if (FindPath(object, "spec.minAvailable") == nullptr || FindPath(object, "spec.maxUnavailable") == nullptr) return;
  AddError(errors, FieldError::Type::kInvalid, "spec", api::ToJson(*FindPath(object, "spec")),
           "minAvailable and maxUnavailable cannot be both set");
}

namespace {

void CheckSelector(const json::object& object, FieldErrors& errors) {
  const auto do_not_match = [&](const json::value* labels) {
    AddError(errors, FieldError::Type::kInvalid, "spec.template.metadata.labels",
             labels == nullptr ? "null" : api::ToJson(*labels), "`selector` does not match template `labels`");
  };
  if (FindPath(object, "spec") == nullptr) {
    AddError(errors, FieldError::Type::kRequired, "spec.selector", "", "");
    return do_not_match(nullptr);
  }
  const json::value* selector = FindPath(object, "spec.selector");
  if (selector == nullptr) return;
  const absl::StatusOr<api::LabelSelector> parsed = api::LabelSelector::FromJson(api::ToJson(*selector));
  if (!parsed.ok()) return;
  const json::value* labels = FindPath(object, "spec.template.metadata.labels");
  std::string text;
  const bool matches = parsed->MatchesWith([&](const std::string& key) -> const std::string* {
    const json::value* value =
        labels == nullptr || !labels->is_object() ? nullptr : labels->get_object().if_contains(key);
    if (value == nullptr || !value->is_string()) return nullptr;
    text = std::string(AbslView(value->get_string()));
    return &text;
  });
  if (!matches) do_not_match(labels);
}

// pkg/apis/apps/validation: what such a template makes is kept running.
void CheckRestartPolicy(const json::object& object, FieldErrors& errors) {
  const absl::string_view policy = TextAt(object, "spec.template.spec.restartPolicy");
  if (policy.empty() || policy == "Always") return;
  AddError(errors, FieldError::Type::kNotSupported, "spec.template.spec.restartPolicy", api::JsonString(policy),
           "supported values: \"Always\"");
}

}  // namespace

void CheckWorkload(const json::object& object, FieldErrors& errors) {
  CheckSelector(object, errors);
  CheckRestartPolicy(object, errors);
}

namespace {

// --- changes

// As many containers as before; pkg/apis/core/validation has no words about more than their number.
void CheckContainerCount(const json::object& before, const json::object& after, absl::string_view list,
                         FieldErrors& errors) {
  const json::array* a = ArrayAt(before, absl::StrCat("spec.", list));
  const json::array* b = ArrayAt(after, absl::StrCat("spec.", list));
  if ((a == nullptr ? 0 : a->size()) == (b == nullptr ? 0 : b->size())) return;
  AddError(errors, FieldError::Type::kForbidden, absl::StrCat("spec.", list), "",
           "pod updates may not add or remove containers");
}

void CheckDeadline(const json::object& before, const json::object& after, FieldErrors& errors) {
  const json::value* a = FindPath(before, "spec.activeDeadlineSeconds");
  const json::value* b = FindPath(after, "spec.activeDeadlineSeconds");
  if (a == nullptr || Equal(a, b)) return;
  constexpr absl::string_view kField = "spec.activeDeadlineSeconds";
  if (b == nullptr) {
    AddError(errors, FieldError::Type::kInvalid, kField, "null",
             "must not update from a positive integer to nil value");
  } else if (a->is_int64() && b->is_int64() && b->get_int64() > a->get_int64()) {
    AddError(errors, FieldError::Type::kInvalid, kField, api::ToJson(*b),
             "must be less than or equal to previous value");
  }
}

// A flat object as text, whatever the order of its members; without one of them.
std::string Identity(const json::value& value, json::string_view without = {}) {
  if (!value.is_object()) return api::ToJson(value);
  std::map<absl::string_view, std::string> members;
  for (const auto& member : value.get_object()) {
    if (member.key() != without) members.emplace(AbslView(member.key()), api::ToJson(member.value()));
  }
  return absl::StrJoin(members, ",", absl::PairFormatter("="));
}

// Lists may be long, so that each element is looked up.
absl::flat_hash_set<std::string> Identities(const json::array* list, json::string_view without = {}) {
  absl::flat_hash_set<std::string> out;
  for (const json::value& each : list == nullptr ? json::array() : *list) out.insert(Identity(each, without));
  return out;
}

void CheckTolerations(const json::object& before, const json::object& after, FieldErrors& errors) {
  const json::array* a = ArrayAt(before, "spec.tolerations");
  const json::array* b = ArrayAt(after, "spec.tolerations");
  if (a == nullptr) return;
  const auto now = Identities(b, "tolerationSeconds");
  const bool kept = std::all_of(
      a->begin(), a->end(), [&](const json::value& old) { return now.contains(Identity(old, "tolerationSeconds")); });
  if (!kept) {
    AddError(errors, FieldError::Type::kForbidden, "spec.tolerations", "",
             "existing toleration can not be modified except its tolerationSeconds");
  }
}

void CheckGates(const json::object& before, const json::object& after, FieldErrors& errors) {
  const json::array* a = ArrayAt(before, "spec.schedulingGates");
  const json::array* b = ArrayAt(after, "spec.schedulingGates");
  if (b == nullptr) return;
  const auto known = Identities(a);
  for (std::size_t i = 0; i < b->size(); ++i) {
    if (!(*b)[i].is_object() || known.contains(Identity((*b)[i]))) continue;
    AddError(errors, FieldError::Type::kForbidden, absl::StrCat("spec.schedulingGates[", i, "].name"), "",
             absl::StrCat("only deletion is allowed, but found new scheduling gate '",
                          FindText((*b)[i].get_object(), "name"), "'"));
  }
}

bool SameButImages(const json::value* before, const json::value* after) {
  if (before == nullptr || after == nullptr) return before == after;
  const json::array* a = before->if_array();
  const json::array* b = after->if_array();
  if (a == nullptr || b == nullptr || a->size() != b->size()) return false;
  for (std::size_t i = 0; i < a->size(); ++i) {
    if (!(*a)[i].is_object() || !(*b)[i].is_object()) return false;
    json::object x = (*a)[i].get_object();
    json::object y = (*b)[i].get_object();
    if (FindText(y, "image").empty()) return false;
    x.erase("image");
    y.erase("image");
    if (!Equal(x, y)) return false;
  }
  return true;
}

}  // namespace

// pkg/apis/core/validation: ValidatePodUpdate
void CheckPodChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  const json::object* a = FindObject(before, "spec");
  const json::object* b = FindObject(after, "spec");
  if (a == nullptr || b == nullptr || Equal(*a, *b)) return;
  const std::size_t known = errors.size();
  CheckContainerCount(before, after, "containers", errors);
  CheckContainerCount(before, after, "initContainers", errors);
  if (errors.size() != known) return;
  CheckDeadline(before, after, errors);
  CheckTolerations(before, after, errors);
  CheckGates(before, after, errors);
  std::vector<std::string> changed;
  const auto judge = [&](absl::string_view name) {
    const json::value* x = a->if_contains(JsonView(name));
    const json::value* y = b->if_contains(JsonView(name));
    const bool judged = name == "tolerations" || name == "schedulingGates" || name == "activeDeadlineSeconds";
    const bool containers = name == "containers" || name == "initContainers";
    if (!judged && !(containers ? SameButImages(x, y) : Equal(x, y))) changed.push_back(absl::StrCat("spec.", name));
  };
  for (const auto& member : *a) judge(AbslView(member.key()));
  for (const auto& member : *b) {
    if (!a->contains(member.key())) judge(AbslView(member.key()));
  }
  if (changed.empty()) return;
  std::sort(changed.begin(), changed.end());
  AddError(
      errors, FieldError::Type::kForbidden, "spec", "",
      absl::StrCat(
          "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
          "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
          "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative); changed: ",
          absl::StrJoin(changed, ", ")));
}

void CheckServiceChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  if (TextAt(before, "spec.clusterIP").empty() || TextAt(after, "spec.type") == "ExternalName") return;
  if (Equal(FindPath(before, "spec.clusterIP"), FindPath(after, "spec.clusterIP"))) return;
  AddError(errors, FieldError::Type::kInvalid, "spec.clusterIPs[0]", api::JsonString(TextAt(after, "spec.clusterIP")),
           "may not change once set");
}

// Requests may grow, and whoever binds the claim writes the volume's name.
void CheckClaimChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  const json::object* a = FindObject(before, "spec");
  const json::object* b = FindObject(after, "spec");
  if (a == nullptr || b == nullptr) return;
  json::object x = *a, y = *b;
  x.erase("resources"), y.erase("resources");
  if (FindText(x, "volumeName").empty()) x.erase("volumeName"), y.erase("volumeName");
  if (Equal(x, y)) return;
  AddError(errors, FieldError::Type::kForbidden, "spec", "",
           "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims");
}

void CheckNewEvent(const json::object& object, FieldErrors& errors) {
  const absl::string_view ns = TextAt(object, "metadata.namespace");
  const absl::string_view involved = TextAt(object, "involvedObject.namespace");
  const bool fits = involved.empty() ? ns == "default" || ns == "kube-system" : ns == involved;
  if (!fits)
    AddError(errors, FieldError::Type::kInvalid, "involvedObject.namespace", api::JsonString(involved),
             "does not match event.namespace");
}

void CheckDataChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  if (!BoolAt(before, "immutable")) return;
  if (!BoolAt(after, "immutable")) {
    AddError(errors, FieldError::Type::kForbidden, "immutable", "", "field is immutable when `immutable` is set");
  }
  for (const absl::string_view field : {"data", "binaryData", "stringData"}) {
    if (!Equal(FindPath(before, field), FindPath(after, field))) {
      AddError(errors, FieldError::Type::kForbidden, field, "", "field is immutable when `immutable` is set");
    }
  }
}

void CheckSecretChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  const json::value* const type = FindPath(after, "type");
  if (!Equal(FindPath(before, "type"), type)) {
    AddError(errors, FieldError::Type::kInvalid, "type", type == nullptr ? "null" : api::ToJson(*type),
             "field is immutable");
  }
  CheckDataChange(before, after, errors);
}

void CheckPriorityClassChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  if (Equal(FindPath(before, "value"), FindPath(after, "value"))) return;
  AddError(errors, FieldError::Type::kForbidden, "value", "", "may not be changed in an update.");
}

}  // namespace gangway::sandbox
