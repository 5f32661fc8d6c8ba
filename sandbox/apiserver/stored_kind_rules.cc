#include "sandbox/apiserver/stored_kind_rules.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/quantity.h"
#include "boost/json/array.hpp"
#include "sandbox/apiserver/draft/draft.h"
#include "sandbox/apiserver/refusal.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using api::FieldError;
using api::FieldErrors;

const json::array& ListAt(const json::object& in, absl::string_view path) {
  static const json::array kNone;
  const json::value* const value = FindPath(in, path);
  return value == nullptr || !value->is_array() ? kNone : value->get_array();
}
const json::object& MapIn(const json::object& in, absl::string_view name) {
  static const json::object kNone;
  const json::object* const map = FindObject(in, name);
  return map == nullptr ? kNone : *map;
}

// --- volumes; pkg/apis/core/validation: ValidatePersistentVolumeSpec

constexpr std::array kAccessModes{"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"};
// What a volume has beside its source.
constexpr std::array kNoSource{"accessModes",      "capacity",
                               "claimRef",         "mountOptions",
                               "nodeAffinity",     "persistentVolumeReclaimPolicy",
                               "storageClassName", "volumeAttributesClassName",
                               "volumeMode"};

}  // namespace

void CheckAccessModes(const json::object& object, FieldErrors& errors) {
  for (const json::value& mode : ListAt(object, "spec.accessModes")) {
    const absl::string_view text = mode.is_string() ? AbslView(mode.get_string()) : absl::string_view();
    if (std::find(kAccessModes.begin(), kAccessModes.end(), text) != kAccessModes.end()) continue;
    AddError(errors, FieldError::Type::kNotSupported, "spec.accessModes", api::ToJson(mode),
             R"(supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")");
  }
}

namespace {

json::object SourceOf(const json::object& spec) {
  json::object source;
  for (const auto& member : spec) {  // in their order
    if (std::find(kNoSource.begin(), kNoSource.end(), AbslView(member.key())) == kNoSource.end())
      source.emplace(member.key(), member.value());
  }
  return source;
}

}  // namespace

void CheckVolume(const json::object& object, FieldErrors& errors) {
  const json::object& spec = MapIn(object, "spec");
  if (ListAt(object, "spec.accessModes").empty())
    AddError(errors, FieldError::Type::kRequired, "spec.accessModes", "", "");
  CheckAccessModes(object, errors);
  const json::object& capacity = MapIn(spec, "capacity");
  if (capacity.empty()) AddError(errors, FieldError::Type::kRequired, "spec.capacity", "", "");
  if (!capacity.contains("storage") || capacity.size() > 1) {
    AddError(errors, FieldError::Type::kNotSupported, "spec.capacity",
             capacity.empty() ? "null" : api::ToJson(json::value(capacity)), R"(supported values: "storage")");
  }
  const json::object source = SourceOf(spec);
  if (source.empty()) AddError(errors, FieldError::Type::kRequired, "spec", "", "must specify a volume type");
  for (auto at = source.begin(); at != source.end(); ++at) {
    if (at == source.begin()) continue;
    AddError(errors, FieldError::Type::kForbidden, absl::StrCat("spec.", AbslView(at->key())), "",
             "may not specify more than 1 volume type");
  }
}

namespace {

// --- limit ranges; ValidateLimitRange

std::optional<api::Quantity> AmountIn(const json::object& limit, absl::string_view map, absl::string_view name) {
  const json::value* const value = MapIn(limit, map).if_contains(JsonView(name));
  if (value == nullptr || !value->is_string()) return std::nullopt;
  const absl::StatusOr<api::Quantity> amount = api::Quantity::Parse(AbslView(value->get_string()));
  return amount.ok() ? std::optional(*amount) : std::nullopt;
}

struct Order {
  absl::string_view lower, upper, told_lower, told_upper, field, shown;  // which of the two is named and repeated
};
constexpr std::array kOrders{
    Order{"min", "max", "min", "max", "min", "min"},
    Order{"min", "defaultRequest", "min", "default request", "defaultRequest", "defaultRequest"},
    Order{"defaultRequest", "max", "default request", "max", "defaultRequest", "defaultRequest"},
    Order{"defaultRequest", "default", "default request", "default limit", "defaultRequest", "defaultRequest"},
    Order{"min", "default", "min", "default", "default", "min"},
    Order{"default", "max", "default", "max", "default", "max"},
};

void CheckOrder(const json::object& limit, const std::string& path, absl::string_view name, FieldErrors& errors) {
  for (const Order& order : kOrders) {
    const auto lower = AmountIn(limit, order.lower, name), upper = AmountIn(limit, order.upper, name);
    if (!lower.has_value() || !upper.has_value() || *lower <= *upper) continue;
    AddError(errors, FieldError::Type::kInvalid, absl::StrCat(path, ".", order.field, "[", name, "]"),
             api::JsonString(AmountIn(limit, order.shown, name)->ToString()),
             absl::StrCat(order.told_lower, " value ", lower->ToString(), " is greater than ", order.told_upper,
                          " value ", upper->ToString()));
  }
}

}  // namespace

void CheckLimitRange(const json::object& object, FieldErrors& errors) {
  std::set<std::string> types;
  std::size_t index = 0;
  for (const json::value& each : ListAt(object, "spec.limits")) {
    const std::string path = absl::StrCat("spec.limits[", index++, "]");
    if (!each.is_object()) continue;
    const json::object& limit = each.get_object();
    const std::string type(FindText(limit, "type"));
    if (!types.insert(type).second)
      AddError(errors, FieldError::Type::kDuplicate, absl::StrCat(path, ".type"), api::JsonString(type), "");
    std::set<std::string> names;
    for (const absl::string_view map : {"max", "min", "default", "defaultRequest"}) {
      const bool of_containers = map == "default" || map == "defaultRequest";
      if (of_containers && type == "Pod") {
        if (MapIn(limit, map).empty()) continue;
        AddError(errors, FieldError::Type::kForbidden, absl::StrCat(path, ".", map), "",
                 "may not be specified when `type` is 'Pod'");
        continue;
      }
      for (const auto& amount : MapIn(limit, map)) names.insert(std::string(AbslView(amount.key())));
    }
    for (const std::string& name : names) CheckOrder(limit, path, name, errors);
  }
}

// --- quotas and endpoints

void CheckQuota(const json::object& object, FieldErrors& errors) {
  for (const auto& hard : MapIn(MapIn(object, "spec"), "hard")) {
    const std::string name(AbslView(hard.key()));
    const auto amount = AmountIn(MapIn(object, "spec"), "hard", name);
    if (!amount.has_value() || !amount->negative()) continue;
    AddError(errors, FieldError::Type::kInvalid, absl::StrCat("spec.hard[", name, "]"), api::ToJson(hard.value()),
             "must be greater than or equal to 0");
  }
}

namespace {

bool IsAddress(const std::string& text) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, text.c_str(), bytes) == 1 || inet_pton(AF_INET6, text.c_str(), bytes) == 1;
}

void CheckEndpointAddresses(const json::object& object, FieldErrors& errors) {
  std::size_t subset_index = 0;
  for (const json::value& subset : ListAt(object, "subsets")) {
    const std::string path = absl::StrCat("subsets[", subset_index++, "].");
    if (!subset.is_object()) continue;
    for (const absl::string_view list : {"addresses", "notReadyAddresses"}) {
      std::size_t index = 0;
      for (const json::value& address : ListAt(subset.get_object(), list)) {
        const std::string field = absl::StrCat(path, list, "[", index++, "].ip");
        const std::string ip(address.is_object() ? FindText(address.get_object(), "ip") : absl::string_view());
        if (IsAddress(ip)) continue;
        // It is judged twice there.
        AddError(errors, FieldError::Type::kInvalid, field, api::JsonString(ip),
                 "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
        AddError(errors, FieldError::Type::kInvalid, field, api::JsonString(ip), "must be a valid IP address");
      }
    }
  }
}

void CheckEndpointPorts(const json::object& object, FieldErrors& errors) {
  std::size_t subset_index = 0;
  for (const json::value& subset : ListAt(object, "subsets")) {
    const std::string path = absl::StrCat("subsets[", subset_index++, "].ports[");
    if (!subset.is_object()) continue;
    const json::array& ports = ListAt(subset.get_object(), "ports");
    for (std::size_t i = 0; i < ports.size(); ++i) {
      if (!ports[i].is_object()) continue;
      const json::object& port = ports[i].get_object();
      if (ports.size() > 1 && FindText(port, "name").empty())
        AddError(errors, FieldError::Type::kRequired, absl::StrCat(path, i, "].name"), "", "");
      const std::int64_t number = IntAt(port, "port", 0);
      if (number >= 1 && number <= 65535) continue;
      AddError(errors, FieldError::Type::kInvalid, absl::StrCat(path, i, "].port"), absl::StrCat(number),
               "must be between 1 and 65535, inclusive");
    }
  }
}

}  // namespace

void CheckEndpoints(const json::object& object, FieldErrors& errors) {
  CheckEndpointAddresses(object, errors);
  CheckEndpointPorts(object, errors);
}

void CheckVolumeChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  if (Equal(SourceOf(MapIn(before, "spec")), SourceOf(MapIn(after, "spec")))) return;
  AddError(errors, FieldError::Type::kForbidden, "spec.persistentvolumesource", "",
           "spec.persistentvolumesource is immutable after creation");
}

void CheckQuotaChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  const auto scopes = [](const json::object& quota) {
    std::set<std::string> out;
    for (const json::value& each : ListAt(quota, "spec.scopes")) out.insert(api::ToJson(each));
    return out;
  };
  if (scopes(before) == scopes(after)) return;
  AddError(errors, FieldError::Type::kInvalid, "spec.scopes", api::ToJson(json::value(ListAt(after, "spec.scopes"))),
           "field is immutable");
}

}  // namespace gangway::sandbox
