#include "sandbox/apiserver/definition_rules.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/name.h"
#include "api/schemas/column_path.h"
#include "api/schemas/declared_schema.h"
#include "boost/json/array.hpp"
#include "sandbox/apiserver/draft/draft.h"
#include "sandbox/apiserver/kind_rules.h"
#include "sandbox/apiserver/refusal.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using api::FieldError;
using api::FieldErrors;

constexpr std::size_t kMaxVersions = 20;
constexpr std::size_t kMaxSelectableFields = 8;
constexpr absl::string_view kApproval = "api-approved.kubernetes.io";

void AddWrong(FieldErrors& errors, absl::string_view field, absl::string_view text, absl::string_view rule) {
  AddError(errors, FieldError::Type::kInvalid, field, api::JsonString(text), rule);
}

// `text` is one of these.
void CheckOneOf(absl::string_view text, absl::Span<const absl::string_view> known, const std::string& field,
                FieldErrors& errors) {
  if (std::find(known.begin(), known.end(), text) != known.end()) return;
  AddError(errors, FieldError::Type::kNotSupported, field, api::JsonString(text),
           absl::StrCat("supported values: ", absl::StrJoin(known, ", ", [](std::string* out, absl::string_view each) {
                          absl::StrAppend(out, api::JsonString(each));
                        })));
}

void CheckLabel(absl::string_view text, const std::string& field, FieldErrors& errors) {
  for (const std::string& complaint : api::CheckDns1035Label(text)) AddWrong(errors, field, text, complaint);
}

void CheckGroup(const json::object& definition, FieldErrors& errors) {
  const absl::string_view group = TextAt(definition, "spec.group");
  if (group.empty()) return AddError(errors, FieldError::Type::kRequired, "spec.group", "", "");
  for (const std::string& complaint : api::CheckDns1123Subdomain(group))
    AddWrong(errors, "spec.group", group, complaint);
  if (!absl::StrContains(group, '.')) AddWrong(errors, "spec.group", group, "should be a domain with at least one dot");
  const bool protected_group = group == "k8s.io" || group == "kubernetes.io" || absl::EndsWith(group, ".k8s.io") ||
                               absl::EndsWith(group, ".kubernetes.io");
  const json::value* const annotations = FindPath(definition, "metadata.annotations");
  const bool approved =
      annotations != nullptr && annotations->is_object() && !FindText(annotations->get_object(), kApproval).empty();
  if (protected_group && !approved) {
    AddError(errors, FieldError::Type::kRequired, absl::StrCat("metadata.annotations[", kApproval, "]"), "",
             absl::StrCat("protected groups must have approval annotation \"", kApproval,
                          "\", see https://github.com/kubernetes/enhancements/pull/1111"));
  }
}

void CheckNames(const json::object& definition, FieldErrors& errors) {
  const json::value* const found = FindPath(definition, "spec.names");
  static const json::object kNone;
  const json::object& names = found != nullptr && found->is_object() ? found->get_object() : kNone;
  const absl::string_view kind = FindText(names, "kind"), list_kind = FindText(names, "listKind");
  for (const absl::string_view field : {"plural", "kind"}) {
    if (FindText(names, field).empty())
      AddError(errors, FieldError::Type::kRequired, absl::StrCat("spec.names.", field), "", "");
  }
  for (const absl::string_view field : {"plural", "singular"}) {
    if (const absl::string_view text = FindText(names, field); !text.empty())
      CheckLabel(text, absl::StrCat("spec.names.", field), errors);
  }
  if (!kind.empty()) {
    for (const std::string& complaint : api::CheckDns1035Label(absl::AsciiStrToLower(kind)))
      AddWrong(errors, "spec.names.kind", kind,
               absl::StrCat("may have mixed case, but should otherwise match: ", complaint));
  }
  if (!list_kind.empty()) {
    for (const std::string& complaint : api::CheckDns1035Label(absl::AsciiStrToLower(list_kind)))
      AddWrong(errors, "spec.names.listKind", list_kind,
               absl::StrCat("may have mixed case, but should otherwise match: ", complaint));
    if (kind == list_kind) AddWrong(errors, "spec.names.listKind", list_kind, "kind and listKind may not be the same");
  }
  for (const absl::string_view field : {"shortNames", "categories"}) {
    const json::array* const list = FindArray(names, field);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      if ((*list)[i].is_string())
        CheckLabel(AbslView((*list)[i].get_string()), absl::StrCat("spec.names.", field, "[", i, "]"), errors);
    }
  }
}

// A path of the scale subresource: names only, below one of `roots`.
void CheckScalePath(const json::object& version, absl::string_view field, absl::Span<const absl::string_view> roots,
                    bool required, const std::string& path, FieldErrors& errors) {
  const absl::string_view text = TextAt(version, absl::StrCat("subresources.scale.", field));
  const std::string at = absl::StrCat(path, ".scale.", field);
  if (text.empty()) {
    if (required) AddError(errors, FieldError::Type::kRequired, at, "", "");
    return;
  }
  const auto steps = schemas::ParseColumnPath(text);
  const bool plain = steps.has_value() && std::all_of(steps->begin(), steps->end(), [](const schemas::PathStep& step) {
                       return step.kind == schemas::PathStep::Kind::kMember;
                     });
  const bool below =
      std::any_of(roots.begin(), roots.end(), [&](absl::string_view root) { return absl::StartsWith(text, root); });
  if (!plain || !below || absl::StrContains(text, '['))
    AddWrong(errors, at, text,
             absl::StrCat("should be a json path under ", roots.size() > 1 ? "either " : "",
                          absl::StrJoin(roots, " or ", [](std::string* out, absl::string_view root) {
                            absl::StrAppend(out, absl::StripSuffix(root, "."));
                          })));
}

void CheckSubresources(const json::object& version, const std::string& path, FieldErrors& errors) {
  if (FindPath(version, "subresources.scale") == nullptr) return;
  CheckScalePath(version, "specReplicasPath", {".spec."}, true, path, errors);
  CheckScalePath(version, "statusReplicasPath", {".status."}, true, path, errors);
  CheckScalePath(version, "labelSelectorPath", {".spec.", ".status."}, false, path, errors);
}

void CheckColumnType(absl::string_view type, const std::string& path, FieldErrors& errors) {
  constexpr absl::string_view kTypes[] = {"boolean", "date", "integer", "number", "string"};
  if (std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes)) return;
  AddWrong(errors, path, type, absl::StrCat("must be one of ", absl::StrJoin(kTypes, ",")));
}

void CheckColumns(const json::object& version, const std::string& path, FieldErrors& errors) {
  const json::array* const columns = FindArray(version, "additionalPrinterColumns");
  for (std::size_t i = 0; columns != nullptr && i < columns->size(); ++i) {
    if (!(*columns)[i].is_object()) continue;
    const json::object& column = (*columns)[i].get_object();
    const std::string at = absl::StrCat(path, "[", i, "]");
    if (FindText(column, "name").empty())
      AddError(errors, FieldError::Type::kRequired, absl::StrCat(at, ".name"), "", "");
    if (FindText(column, "type").empty()) {
      AddError(errors, FieldError::Type::kRequired, absl::StrCat(at, ".type"), "", "");
    } else {
      CheckColumnType(FindText(column, "type"), absl::StrCat(at, ".type"), errors);
    }
    const absl::string_view json_path = FindText(column, "jsonPath");
    if (json_path.empty()) {
      AddError(errors, FieldError::Type::kRequired, absl::StrCat(at, ".jsonPath"), "", "");
    } else if (!schemas::ParseColumnPath(json_path).has_value()) {
      AddWrong(errors, absl::StrCat(at, ".jsonPath"), json_path,
               "must be a simple json path: .names, [indices], [*] and [?(@.name==\"value\")]");
    }
  }
}

void CheckSelectableFields(const json::object& version, const std::string& path, FieldErrors& errors) {
  const json::array* const fields = FindArray(version, "selectableFields");
  if (fields == nullptr) return;
  if (fields->size() > kMaxSelectableFields) {
    AddError(errors, FieldError::Type::kTooMany, path, absl::StrCat(fields->size()),
             absl::StrCat("must have at most ", kMaxSelectableFields, " items"));
  }
  for (std::size_t i = 0; i < fields->size(); ++i) {
    const json::object* const field = (*fields)[i].if_object();
    const absl::string_view json_path = field == nullptr ? absl::string_view() : FindText(*field, "jsonPath");
    if (!absl::StartsWith(json_path, ".") || json_path.size() < 2 || absl::StrContains(json_path, '[') ||
        !schemas::ParseColumnPath(json_path).has_value())
      AddWrong(errors, absl::StrCat(path, "[", i, "].jsonPath"), json_path, "must be a simple json path of names");
  }
}

void CheckSchema(const json::object& version, const std::string& path, FieldErrors& errors) {
  const json::value* const schema = FindPath(version, "schema.openAPIV3Schema");
  if (schema == nullptr) return;
  const FieldErrors found = schemas::CheckDeclaredSchema(*schema, absl::StrCat(path, ".openAPIV3Schema"));
  errors.insert(errors.end(), found.begin(), found.end());
}

struct VersionPart {
  absl::string_view field;   // of a version
  absl::string_view common;  // of spec, in the form that the real server judges
  void (*check)(const json::object& version, const std::string& path, FieldErrors& errors);
};
constexpr VersionPart kVersionParts[] = {{"schema", "validation", CheckSchema},
                                         {"subresources", "subresources", CheckSubresources},
                                         {"additionalPrinterColumns", "additionalPrinterColumns", CheckColumns},
                                         {"selectableFields", "selectableFields", CheckSelectableFields}};

// apiextensions: Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_CustomResourceDefinitionSpec. What all
// versions have alike stands once in `spec`, and is complained of there.
bool IsCommon(const json::array& versions, absl::string_view field) {
  const json::object* const first = versions.empty() ? nullptr : versions[0].if_object();
  return first != nullptr && std::all_of(versions.begin(), versions.end(), [&](const json::value& each) {
           return each.is_object() && Equal(FindPath(each.get_object(), field), FindPath(*first, field));
         });
}

void CheckVersions(const json::object& definition, FieldErrors& errors) {
  const json::value* const value = FindPath(definition, "spec.versions");
  static const json::array kNone;
  const json::array& versions = value != nullptr && value->is_array() ? value->get_array() : kNone;
  if (versions.size() > kMaxVersions) {
    return AddError(errors, FieldError::Type::kTooMany, "spec.versions", absl::StrCat(versions.size()),
                    absl::StrCat("must have at most ", kMaxVersions, " items"));
  }
  const std::string shown = value == nullptr ? "null" : "";
  std::vector<const VersionPart*> common, apart;
  for (const VersionPart& part : kVersionParts) (IsCommon(versions, part.field) ? common : apart).push_back(&part);
  std::set<std::string> names;
  int stored = 0;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const json::object* const version = versions[i].if_object();
    if (version == nullptr) continue;
    names.insert(std::string(FindText(*version, "name")));
    if (BoolAt(*version, "storage")) ++stored;
    const std::string path = absl::StrCat("spec.versions[", i, "]");
    CheckLabel(FindText(*version, "name"), absl::StrCat(path, ".name"), errors);
    if (FindPath(*version, "schema.openAPIV3Schema") == nullptr)
      AddError(errors, FieldError::Type::kRequired, absl::StrCat(path, ".schema.openAPIV3Schema"), "",
               "schemas are required");
    for (const VersionPart* const part : apart) part->check(*version, absl::StrCat(path, ".", part->field), errors);
  }
  if (names.size() != versions.size())
    AddError(errors, FieldError::Type::kInvalid, "spec.versions", shown, "must contain unique version names");
  if (stored != 1) {
    AddError(errors, FieldError::Type::kInvalid, "spec.versions", shown,
             "must have exactly one version marked as storage version");
  }
  for (const VersionPart* const part : common)
    part->check(versions[0].get_object(), absl::StrCat("spec.", part->common), errors);
}

}  // namespace

void CheckDefinition(const json::object& definition, FieldErrors& errors) {
  const std::string wanted =
      absl::StrCat(TextAt(definition, "spec.names.plural"), ".", TextAt(definition, "spec.group"));
  if (const absl::string_view name = TextAt(definition, "metadata.name"); name != wanted)
    AddWrong(errors, "metadata.name", name, "must be spec.names.plural+\".\"+spec.group");
  CheckGroup(definition, errors);
  CheckOneOf(TextAt(definition, "spec.scope"), {"Cluster", "Namespaced"}, "spec.scope", errors);
  CheckNames(definition, errors);
  CheckVersions(definition, errors);
  if (BoolAt(definition, "spec.preserveUnknownFields")) {
    AddError(errors, FieldError::Type::kInvalid, "spec.preserveUnknownFields", "true",
             "must be false in order to use defaults in the schema");
  }
  if (const absl::string_view strategy = TextAt(definition, "spec.conversion.strategy");
      !strategy.empty() && strategy != "None") {
    AddError(errors, FieldError::Type::kNotSupported, "spec.conversion.strategy", api::JsonString(strategy),
             "supported values: \"None\": the sandbox asks no webhook to convert objects");
  }
}

void CheckDefinitionChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  for (const absl::string_view field : {"spec.group", "spec.scope", "spec.names.plural", "spec.names.kind"}) {
    const json::value* const was = FindPath(before, field);
    const json::value* const is = FindPath(after, field);
    if (Equal(was, is)) continue;
    AddError(errors, FieldError::Type::kInvalid, field, is == nullptr ? "null" : api::ToJson(*is),
             "field is immutable");
  }
}

}  // namespace gangway::sandbox
