#include "translator/convert/requests.h"

#include <boost/json.hpp>

#include "translator/convert/document.h"

namespace gangway::convert {
namespace {

namespace json = boost::json;

void WriteOfContainer(json::value& container) {
  json::object* const resources = FindObject(container, "resources");
  if (resources == nullptr) return;
  const json::value* const limits = resources->if_contains("limits");
  if (limits == nullptr || !limits->is_object() || limits->as_object().empty()) return;
  const json::object limited = limits->as_object();  // adding requests may move it
  json::value& requests = (*resources)["requests"];
  if (requests.is_null()) requests.emplace_object();
  if (!requests.is_object()) return;
  for (const auto& [name, amount] : limited) {
    json::value& request = requests.as_object()[name];
    if (request.is_null()) request = amount;  // null is absent
  }
}

}  // namespace

void WriteRequests(json::value& pod_template) {
  json::object* const spec = FindObject(pod_template, "spec");
  if (spec == nullptr) return;
  for (const char* const list : {"initContainers", "containers"}) {
    json::value* const containers = spec->if_contains(list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (json::value& container : containers->as_array()) WriteOfContainer(container);
  }
}

}  // namespace gangway::convert
