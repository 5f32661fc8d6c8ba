#include "sandbox/apiserver/service_address.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "boost/json/array.hpp"
#include "sandbox/apiserver/draft/draft.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

constexpr std::uint32_t kAddresses = 1u << 16;

bool Taken(const Store& store, absl::string_view address) {
  bool taken = false;
  store.Scan(api::kServices, {}, nullptr, [&](const RecordPtr& record) {
    taken = record->fields.Get("spec.clusterIP") == address;
    return !taken;
  });
  return taken;
}

bool HasSelector(const json::object& spec) {
  const json::object* selector = FindObject(spec, "selector");
  return selector != nullptr && !selector->empty();
}

}  // namespace

void ServiceAddresses::Give(const Store& store, json::object& service) {
  json::object& spec = ObjectIn(service, "spec");
  ObjectIn(ObjectIn(service, "status"), "loadBalancer");
  if (FindText(spec, "type") == "ExternalName") return;
  if (FindText(spec, "clusterIP").empty()) {
    std::string address;
    std::uint32_t tries = 0;
    do {
      last_ = (last_ + 1) % kAddresses;
      address = absl::StrCat("10.96.", last_ / 256, ".", last_ % 256);
    } while (++tries < kAddresses && (last_ % 256 == 0 || Taken(store, address)));
    SetText(spec, "clusterIP", address);
  }
  spec["clusterIPs"].emplace_array().emplace_back(JsonView(FindText(spec, "clusterIP")));
  // Without a selector nobody knows the addresses' family behind it.
  const bool any_family = FindText(spec, "clusterIP") == "None" && !HasSelector(spec);
  if (!spec.contains("ipFamilies")) {
    json::array& families = spec["ipFamilies"].emplace_array();
    families.emplace_back("IPv4");
    if (any_family) families.emplace_back("IPv6");
  }
  SetTextIfAbsent(spec, "ipFamilyPolicy", any_family ? "RequireDualStack" : "SingleStack");
}

void KeepServiceAddress(absl::string_view subresource, const json::object& before, json::object& after) {
  const json::object* const had = FindObject(before, "spec");
  json::object* const has = FindObject(after, "spec");
  if (!subresource.empty() || had == nullptr || has == nullptr || FindText(*has, "type") == "ExternalName") return;
  for (const absl::string_view field : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
    const json::value* const old = had->if_contains(JsonView(field));
    const json::value* const now = has->if_contains(JsonView(field));
    const bool silent = now == nullptr || now->is_null() || (now->is_string() && now->get_string().empty());
    if (old != nullptr && silent) (*has)[JsonView(field)] = *old;
  }
}

}  // namespace gangway::sandbox
