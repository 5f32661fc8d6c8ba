#include "sandbox/apiserver/definitions.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/field_table.h"
#include "api/kinds/kinds.h"
#include "boost/json/array.hpp"
#include "sandbox/apiserver/facts.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

// Calls `visit` with each version of the definition.
template <class Visit>
void ForEachVersion(const json::object& definition, Visit visit) {
  const json::value* versions = FindPath(definition, "spec.versions");
  if (versions == nullptr || !versions->is_array()) return;
  for (const json::value& version : versions->get_array()) {
    if (version.is_object()) visit(version.get_object());
  }
}

void AddCondition(json::array& conditions, absl::string_view type, bool holds, absl::string_view reason,
                  absl::string_view message, const std::string& now) {
  json::object condition(conditions.storage());
  SetText(condition, "type", type);
  SetText(condition, "status", holds ? "True" : "False");
  SetText(condition, "lastTransitionTime", now);
  SetText(condition, "reason", reason);
  SetText(condition, "message", message);
  conditions.push_back(std::move(condition));
}

}  // namespace

const api::Resource* DefinedKind(const json::object& definition) {
  const api::Resource* found = nullptr;
  for (const api::KindRow& kind : api::Kinds()) {
    if (!kind.custom() || kind.on_request) continue;
    const api::Resource& resource = *kind.resource;
    if (TextAt(definition, "spec.group") != View(resource.group) ||
        TextAt(definition, "spec.names.plural") != View(resource.plural) ||
        TextAt(definition, "spec.names.kind") != View(resource.kind) ||
        (TextAt(definition, "spec.scope") == "Namespaced") != resource.namespaced) {
      continue;
    }
    ForEachVersion(definition, [&](const json::object& version) {
      if (FindText(version, "name") == View(resource.version) && BoolAt(version, "served")) found = &resource;
    });
  }
  return found;
}

void FillInDefinition(absl::Time now, json::object& definition) {
  const bool served = DefinedKind(definition) != nullptr;
  const std::string at = api::FormatTime(now);
  const json::value* names = FindPath(definition, "spec.names");
  json::object& status = definition["status"].emplace_object();
  if (names != nullptr) status["acceptedNames"] = *names;
  json::array& conditions = status["conditions"].emplace_array();
  AddCondition(conditions, "NamesAccepted", true, "NoConflicts", "no conflicts found", at);
  if (served) {
    AddCondition(conditions, "Established", true, "InitialNamesAccepted", "the initial names have been accepted", at);
  } else {
    AddCondition(conditions, "Established", false, "NotServed",
                 absl::StrCat("the sandbox stores this definition and does not serve its kind: it serves Kubernetes', "
                              "Volcano's and Paddle's own"),
                 at);
  }
  json::array& stored = status["storedVersions"].emplace_array();
  ForEachVersion(definition, [&](const json::object& version) {
    if (BoolAt(version, "storage")) stored.emplace_back(JsonView(FindText(version, "name")));
  });
  if (!served || HasFinalizer(definition, kDefinitionFinalizer)) return;
  json::value& finalizers = ObjectIn(definition, "metadata")["finalizers"];
  if (!finalizers.is_array()) finalizers.emplace_array();
  finalizers.get_array().emplace_back(JsonView(kDefinitionFinalizer));
}

}  // namespace gangway::sandbox
