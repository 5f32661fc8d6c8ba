#include "cmd/gangway/validate.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/field_rules.h"
#include "api/field_table.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "api/volcano/admission.h"
#include "api/volcano/custom_types.h"
#include "base/nearest.h"
#include "base/strings.h"
#include "sandbox/apiserver/schemas/schemas.h"

namespace gangway::cmd {
namespace {

using api::FieldError;
using api::FieldErrors;
using api::ManifestDocument;
using api::volcano::CustomType;

std::string NameIn(const ManifestDocument& document) {
  return absl::StrCat(document.ns, document.ns.empty() ? "" : "/", document.name.empty() ? "(without a name)" : document.name);
}

// The fields beside the one at `path`, as far as our tables know them.
std::vector<std::string> FieldsAround(const api::Type* type, absl::string_view path) {
  std::vector<absl::string_view> steps = absl::StrSplit(path, '.');
  steps.pop_back();
  for (const absl::string_view step : steps) {
    const absl::string_view name = step.substr(0, step.find('['));
    const auto* const end = type->fields + type->field_count;
    const auto* const field = std::find_if(type->fields, end, [&](const api::Field& f) { return View(f.name) == name; });
    if (field == end) return {};
    const api::volcano::Embedded embedded = api::volcano::EmbeddedIn(*type, *field);
    type = embedded.table != nullptr ? embedded.table : field->type;
    while (type->kind != api::Kind::kObject && type->element != nullptr) type = type->element;
    if (type->kind != api::Kind::kObject) return {};
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < type->field_count; ++i) names.emplace_back(type->fields[i].name);
  return names;
}

FieldError UnknownField(const CustomType& type, const std::string& path) {
  const std::string name = path.substr(path.rfind('.') + 1);
  const std::string near = Nearest(name, FieldsAround(type.table, path));
  return {FieldError::Type::kForbidden, path, "", "there is no such field",
          near.empty() ? "remove it, or correct its name or its place" : absl::StrCat("did you mean ", near, "?")};
}

// The first of an object's judges to speak of a field is heard; the others would say the same in other words.
void AddNew(FieldErrors more, FieldErrors& errors) {
  const std::size_t heard = errors.size();
  for (FieldError& error : more) {
    const auto same = [&](const FieldError& e) { return e.field == error.field; };
    const auto end = errors.begin() + static_cast<std::ptrdiff_t>(heard);
    if (std::find_if(errors.begin(), end, same) == end) errors.push_back(std::move(error));
  }
}

FieldErrors Judge(const ManifestDocument& document, const CustomType& type, const sandbox::Schemas& schemas) {
  absl::StatusOr<boost::json::value> object = api::ParseJson(document.json);
  if (!object.ok()) return {{FieldError::Type::kInvalid, "", "", std::string(object.status().message()), ""}};
  sandbox::Findings findings = sandbox::Check(*object, *schemas.For(*type.resource));
  FieldErrors errors;
  for (const std::string& path : findings.unknown) errors.push_back(UnknownField(type, path));
  AddNew(std::move(findings.errors), errors);
  FieldErrors rules;
  if (type.resource == &api::kCommands) {
    api::CheckRules(*type.table, *object, "", rules);
  } else {
    const api::volcano::AdmissionRequest request{.resource = type.resource, .ns = document.ns, .name = document.name};
    rules = api::volcano::Admit(request, &*object, nullptr).errors;
  }
  AddNew(std::move(rules), errors);
  return errors;
}

// A kind of Volcano's with an apiVersion that has none of that name would be refused or, worse, be somebody else's.
const CustomType* MeantBy(const ManifestDocument& document) {
  const std::string group = document.api_version.substr(0, document.api_version.find('/'));
  if (!absl::EndsWith(group, ".volcano.sh")) return nullptr;
  for (const CustomType& type : api::volcano::CustomTypes()) {
    if (View(type.resource->kind) == document.kind) return &type;
  }
  return nullptr;
}

class Validator {
 public:
  void Look(const ManifestDocument& document) {
    const api::Resource* resource = api::FindKind(document.api_version, document.kind);
    const CustomType* type = resource == nullptr ? nullptr : api::volcano::FindCustomType(*resource);
    if (type != nullptr) return Report(document, *type, Judge(document, *type, schemas_));
    if (const CustomType* meant = MeantBy(document)) {
      return Report(document, *meant, {{FieldError::Type::kNotSupported, "apiVersion", api::JsonString(document.api_version),
                                        absl::StrCat("no ", document.kind, " has this version"),
                                        absl::StrCat("write ", meant->resource->ApiVersion())}});
    }
    out_.passed_over.push_back({absl::StrCat(document.kind, " ", NameIn(document)), document.source, document.Find("")});
  }

  Validation Take() { return std::move(out_); }

 private:
  void Report(const ManifestDocument& document, const CustomType& type, FieldErrors errors) {
    ++out_.checked;
    if (errors.empty()) return;
    ++out_.refused;
    const std::string object = absl::StrCat(View(type.resource->singular), " ", NameIn(document));
    std::vector<Finding> findings;
    for (FieldError& error : errors) {
      const api::TextPosition at = document.Find(error.field);
      findings.push_back({object, document.source, at, std::move(error)});
    }
    std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
      return std::pair(a.at.line, a.at.column) < std::pair(b.at.line, b.at.column);
    });
    std::move(findings.begin(), findings.end(), std::back_inserter(out_.findings));
  }

  const sandbox::Schemas schemas_;
  Validation out_;
};

std::string Count(std::size_t n, absl::string_view what) { return absl::StrCat(n, " ", what, n == 1 ? "" : "s"); }

// The members that findings and notes have in common.
void BeginItem(api::JsonWriter& json, const std::string& object, const std::string& source, api::TextPosition at) {
  json.BeginObject().Field("object", object).Field("source", source).Field("line", at.line).Field("column", at.column);
}

}  // namespace

Validation Validate(absl::Span<const ManifestDocument> documents) {
  Validator validator;
  for (const ManifestDocument& document : documents) validator.Look(document);
  return validator.Take();
}

std::string ValidationText(const Validation& validation) {
  std::string out;
  for (const Finding& f : validation.findings) {
    absl::StrAppend(&out, f.source, ":", f.at.line, ":", f.at.column, ": ", f.object, ": ", f.error.field.empty() ? f.error.Message() : f.error.ToString(), "\n");
  }
  for (const PassedOver& p : validation.passed_over) {
    absl::StrAppend(&out, p.source, ":", p.at.line, ":", p.at.column, ": note: ", p.object, " is not Volcano's and was passed over\n");
  }
  absl::StrAppend(&out, Count(validation.checked, "object"), " checked, ", validation.refused, " refused");
  if (!validation.passed_over.empty()) absl::StrAppend(&out, ", ", validation.passed_over.size(), " passed over");
  absl::StrAppend(&out, "\n");
  return out;
}

std::string ValidationJson(const Validation& validation) {
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject().Field("checked", static_cast<std::int64_t>(validation.checked)).Field("refused", static_cast<std::int64_t>(validation.refused));
  json.Key("findings").BeginArray();
  for (const Finding& f : validation.findings) {
    BeginItem(json, f.object, f.source, f.at);
    json.Field("field", f.error.field).Field("reason", f.error.Reason()).Field("value", f.error.value);
    json.Field("rule", f.error.rule).Field("fix", f.error.fix).EndObject();
  }
  json.EndArray().Key("passedOver").BeginArray();
  for (const PassedOver& p : validation.passed_over) {
    BeginItem(json, p.object, p.source, p.at);
    json.EndObject();
  }
  json.EndArray().Key("unreadable").BeginArray();
  for (const std::string& line : validation.unreadable) json.String(line);
  json.EndArray().EndObject();
  out += '\n';
  return out;
}

}  // namespace gangway::cmd
