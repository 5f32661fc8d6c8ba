#include "sandbox/apiserver/definitions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/field_table.h"
#include "api/json.h"
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

template <class Visit>
void ForEachText(const json::value* list, Visit visit) {
  if (list == nullptr || !list->is_array()) return;
  for (const json::value& each : list->get_array()) {
    if (each.is_string()) visit(AbslView(each.get_string()));
  }
}

std::string InUse(absl::string_view name) { return absl::StrCat(api::JsonString(name), " is already in use"); }

struct Verdict {
  json::object accepted;
  std::string reason, message;  // "": nothing stands against its names
};

// pkg/controller/status: calculateNamesAndConditions. The last conflict is the one that is told.
Verdict JudgeNames(const json::object& wanted, const json::object& accepted, const GroupNames& taken) {
  Verdict verdict;
  verdict.accepted = accepted;
  struct Row {
    absl::string_view field;
    const GroupNames::Counts& names;
    absl::string_view reason;
  };
  const auto judge = [&](const Row& row) {
    const absl::string_view name = FindText(wanted, row.field);
    if (name == FindText(accepted, row.field)) return;
    if (!name.empty() && row.names.contains(name)) {
      verdict.reason = std::string(row.reason), verdict.message = InUse(name);
    } else if (name.empty()) {
      verdict.accepted.erase(JsonView(row.field));
    } else {
      SetText(verdict.accepted, row.field, name);
    }
  };
  judge({"plural", taken.resources(), "PluralConflict"});
  judge({"singular", taken.resources(), "SingularConflict"});
  absl::flat_hash_set<absl::string_view> ours;
  ForEachText(accepted.if_contains("shortNames"), [&](absl::string_view brief) { ours.insert(brief); });
  std::vector<std::string> conflicts;
  ForEachText(wanted.if_contains("shortNames"), [&](absl::string_view brief) {
    if (!ours.contains(brief) && taken.resources().contains(brief)) conflicts.push_back(InUse(brief));
  });
  if (!conflicts.empty()) {
    verdict.reason = "ShortNamesConflict";
    verdict.message = conflicts.size() == 1 ? conflicts[0] : absl::StrCat("[", absl::StrJoin(conflicts, ", "), "]");
  } else if (const json::value* const briefs = wanted.if_contains("shortNames")) {
    verdict.accepted["shortNames"] = *briefs;
  } else {
    verdict.accepted.erase("shortNames");
  }
  judge({"kind", taken.kinds(), "KindConflict"});
  judge({"listKind", taken.kinds(), "ListKindConflict"});
  if (const json::value* const categories = wanted.if_contains("categories")) {
    verdict.accepted["categories"] = *categories;
  } else {
    verdict.accepted.erase("categories");
  }
  return verdict;
}

json::object* FindCondition(json::object& status, absl::string_view type) {
  json::array* const conditions = FindArray(status, "conditions");
  if (conditions == nullptr) return nullptr;
  for (json::value& condition : *conditions) {
    if (condition.is_object() && FindText(condition.get_object(), "type") == type) return &condition.get_object();
  }
  return nullptr;
}

void SetCondition(json::object& status, absl::string_view type, bool holds, absl::string_view reason,
                  absl::string_view message, absl::Time now) {
  json::object* condition = FindCondition(status, type);
  if (condition == nullptr) {
    json::value& conditions = status["conditions"];
    if (!conditions.is_array()) conditions.emplace_array();
    json::array& list = conditions.get_array();
    condition = &list.emplace_back(json::object(list.storage())).get_object();
    SetText(*condition, "type", type);
  }
  const absl::string_view text = holds ? "True" : "False";
  if (FindText(*condition, "status") != text) {
    SetText(*condition, "status", text);
    SetText(*condition, "lastTransitionTime", api::FormatTime(now));
  }
  SetText(*condition, "reason", reason);
  SetText(*condition, "message", message);
}

// Each version that was stored once may still be what some object was stored as.
void NoteStoredVersion(const json::object& definition, json::object& status) {
  std::string stored;
  ForEachVersion(definition, [&](const json::object& version) {
    if (BoolAt(version, "storage")) stored = std::string(FindText(version, "name"));
  });
  json::value& list = status["storedVersions"];
  if (!list.is_array()) list.emplace_array();
  bool known = false;
  ForEachText(&list, [&](absl::string_view name) { known = known || name == stored; });
  if (!known && !stored.empty()) list.get_array().emplace_back(JsonView(stored));
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

bool IsEstablished(const json::object& definition) {
  const json::value* const conditions = FindPath(definition, "status.conditions");
  if (conditions == nullptr || !conditions->is_array()) return false;
  return std::any_of(conditions->get_array().begin(), conditions->get_array().end(), [](const json::value& condition) {
    return condition.is_object() && FindText(condition.get_object(), "type") == "Established" &&
           FindText(condition.get_object(), "status") == "True";
  });
}

void BeginDefinition(json::object& definition) {
  json::object& status = ObjectIn(definition, "status");
  json::object& names = ObjectIn(status, "acceptedNames");
  for (const absl::string_view field : {"kind", "plural"}) SetText(names, field, "");
  NoteStoredVersion(definition, status);
}

// pkg/registry/customresourcedefinition: REST.Delete
void EndDefinition(absl::Time now, json::object& definition) {
  SetCondition(ObjectIn(definition, "status"), "Terminating", true, "InstanceDeletionPending",
               "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon", now);
  if (HasFinalizer(definition, kDefinitionFinalizer)) return;
  json::value& finalizers = ObjectIn(definition, "metadata")["finalizers"];
  if (!finalizers.is_array()) finalizers.emplace_array();
  finalizers.get_array().emplace_back(JsonView(kDefinitionFinalizer));
}

GroupNames::GroupNames(absl::string_view group) {
  for (const api::KindRow& kind : api::Kinds()) {
    if (kind.on_request || View(kind.resource->group) != group) continue;
    const api::Resource& resource = *kind.resource;
    Count(resources_, View(resource.plural), 1), Count(resources_, View(resource.singular), 1);
    for (const absl::string_view brief : absl::StrSplit(View(resource.short_names), ',', absl::SkipEmpty()))
      Count(resources_, brief, 1);
    Count(kinds_, View(resource.kind), 1), Count(kinds_, resource.ListKind(), 1);
  }
}

void GroupNames::Count(Counts& counts, absl::string_view name, int by) {
  if (name.empty()) return;
  if ((counts[name] += by) == 0) counts.erase(name);
}

void GroupNames::CountAll(const json::object& definition, int by) {
  if (DefinedKind(definition) != nullptr) return;  // the catalogue's own names
  const auto text = [&](absl::string_view field) {
    return TextAt(definition, absl::StrCat("status.acceptedNames.", field));
  };
  for (const absl::string_view field : {"plural", "singular"}) Count(resources_, text(field), by);
  ForEachText(FindPath(definition, "status.acceptedNames.shortNames"),
              [&](absl::string_view brief) { Count(resources_, brief, by); });
  for (const absl::string_view field : {"kind", "listKind"}) Count(kinds_, text(field), by);
}

void SettleDefinition(GroupNames& taken, absl::Time now, json::object& definition) {
  static const json::object kNone;
  const json::value* const names = FindPath(definition, "spec.names");
  const json::object wanted = names != nullptr && names->is_object() ? names->get_object() : kNone;
  taken.Remove(definition);
  static const GroupNames kNobody;
  json::object& status = ObjectIn(definition, "status");
  const json::object* const accepted = FindObject(status, "acceptedNames");
  Verdict verdict =
      JudgeNames(wanted, accepted == nullptr ? kNone : *accepted, DefinedKind(definition) != nullptr ? kNobody : taken);
  for (const absl::string_view field : {"plural", "kind"}) SetTextIfAbsent(verdict.accepted, field, "");
  status["acceptedNames"] = std::move(verdict.accepted);
  taken.Add(definition);
  const bool good = verdict.reason.empty();
  SetCondition(status, "NamesAccepted", good, good ? "NoConflicts" : verdict.reason,
               good ? "no conflicts found" : verdict.message, now);
  if (const json::object* const old = FindCondition(status, "Established");
      old == nullptr || FindText(*old, "status") != "True") {
    SetCondition(status, "Established", good, good ? "InitialNamesAccepted" : "NotAccepted",
                 good ? "the initial names have been accepted" : "not all names are accepted", now);
  }
  NoteStoredVersion(definition, status);
}

}  // namespace gangway::sandbox
