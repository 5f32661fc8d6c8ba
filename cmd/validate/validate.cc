#include "cmd/validate/validate.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/field_rules.h"
#include "api/field_table.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/name.h"
#include "api/resource.h"
#include "api/volcano/admission.h"
#include "api/volcano/kinds.h"
#include "base/counted.h"
#include "base/printable.h"
#include "base/strings.h"
#include "cmd/translate/object_check.h"
#include "plugin/ingest/foresight.h"
#include "translator/convert/run_entry.h"
#include "translator/files/manifest.h"

namespace gangway::cmd {
namespace {

using api::FieldError;
using api::FieldErrors;
using api::KindRow;
using api::ManifestDocument;

std::string NameIn(const ManifestDocument& document) {
  return absl::StrCat(document.ns, document.ns.empty() ? "" : "/",
                      document.name.empty() ? "(without a name)" : document.name);
}

FieldErrors Judge(const ManifestDocument& document, const KindRow& kind, const convert::TypeCheck& check) {
  absl::StatusOr<boost::json::value> object = api::ParseJson(document.json);
  if (!object.ok()) return {{FieldError::Type::kInvalid, "", "", std::string(object.status().message()), ""}};
  convert::TypeComplaints complaints = check(*kind.resource, *object);
  FieldErrors errors = std::move(complaints.unknown);
  AddUnheard(std::move(complaints.errors), errors);
  FieldErrors rules;
  if (kind.admission == nullptr) {
    api::CheckRules(*kind.table, *object, "", rules);
  } else {
    const api::volcano::AdmissionRequest request{.resource = kind.resource, .ns = document.ns, .name = document.name};
    rules = api::volcano::Admit(request, &*object, nullptr).errors;
  }
  AddUnheard(std::move(rules), errors);
  if (!document.ns.empty()) {
    for (const std::string& complaint : api::CheckDns1123Label(document.ns)) {
      AddUnheard({{FieldError::Type::kInvalid, "metadata.namespace", api::JsonString(document.ns), complaint, ""}},
                 errors);
    }
  }
  return errors;
}

// A kind of Volcano's with an apiVersion that has none of that name would be refused or, worse, be somebody else's.
const KindRow* MeantBy(const ManifestDocument& document) {
  const std::string group = document.api_version.substr(0, document.api_version.find('/'));
  if (!absl::EndsWith(group, ".volcano.sh")) return nullptr;
  for (const KindRow& kind : api::volcano::Kinds()) {
    if (View(kind.resource->kind) == document.kind) return &kind;
  }
  return nullptr;
}

class Validator {
 public:
  Validator(absl::Span<const api::MixedDocument> documents, const convert::TranslateOptions& options)
      : documents_(documents), translation_(convert::TranslateManifest(documents, options, check_)) {}

  Validation Run() {
    for (at_ = 0; at_ < documents_.size(); ++at_) Look(documents_[at_].document);
    return std::move(out_);
  }

 private:
  void Look(const ManifestDocument& document) {
    const api::Resource* resource = api::FindKind(document.api_version, document.kind);
    if (resource != nullptr && api::RowOf(*resource).origin == api::Origin::kVolcano) {
      if (resource == &api::kJobs) NoteListers(document);
      NoteForesights(document, *resource);
      return Report(document, View(resource->singular), Judge(document, api::RowOf(*resource), check_));
    }
    if (const KindRow* meant = MeantBy(document)) {
      return Report(document, View(meant->resource->singular),
                    {{FieldError::Type::kNotSupported, "apiVersion", api::JsonString(document.api_version),
                      absl::StrCat("no ", document.kind, " has this version"),
                      absl::StrCat("write ", meant->resource->ApiVersion())}});
    }
    if (convert::IsForTranslator(document)) {
      NoteForesightsOfMade(document);
      return Report(document, absl::AsciiStrToLower(document.kind), {});
    }
    if (resource != nullptr) NoteForesights(document, *resource);
    out_.passed_over.push_back(
        {absl::StrCat(document.kind, " ", NameIn(document)), document.source, document.Find("")});
    Add(TranslatorsFindings(absl::StrCat(document.kind, " ", NameIn(document)), {}));
  }

  // The first container of each service account stands for the others.
  void NoteListers(const ManifestDocument& document) {
    const absl::StatusOr<boost::json::value> job = api::ParseJson(document.json);
    if (!job.ok()) return;
    std::vector<std::string> told;
    for (const convert::PodLister& lister : convert::PodListersOf(*job, "default")) {
      if (std::count(told.begin(), told.end(), lister.service_account) > 0) continue;
      told.push_back(lister.service_account);
      out_.notes.push_back({absl::StrCat("job ", NameIn(document)), document.source, document.Find(lister.field),
                            convert::AdviceFor(lister, document.name)});
    }
  }

  // What our scheduler would keep waiting for good.
  void NoteForesights(const ManifestDocument& document, const api::Resource& resource) {
    const std::string object = absl::StrCat(View(resource.singular), " ", NameIn(document));
    for (const ingest::Foresight& each : ingest::ForeseeIn(resource, document.json))
      out_.notes.push_back({object, document.source, document.Find(each.field), each.ToString()});
  }

  // The same of the Job that a Paddle job becomes.
  void NoteForesightsOfMade(const ManifestDocument& document) {
    const std::string object = absl::StrCat(absl::AsciiStrToLower(document.kind), " ", NameIn(document));
    for (const convert::ManifestObject& made : translation_.objects) {
      if (!made.made || made.input != at_) continue;
      const absl::StatusOr<api::volcano::Job> job = api::Decode<api::volcano::Job>(made.json);
      if (!job.ok() || api::FindKind(job->api_version, job->kind) != &api::kJobs) continue;
      for (const ingest::Foresight& each : ingest::Foresee(*job)) {
        out_.notes.push_back(
            {object, document.source, document.Find(""), absl::StrCat("of its Job, ", each.ToString())});
      }
    }
  }

  // Errors of ours and what the translator says of the document: of a field that both speak of, ours.
  void Report(const ManifestDocument& document, absl::string_view kind, const FieldErrors& errors) {
    ++out_.checked;
    const std::string object = document.kind.empty() ? document.source : absl::StrCat(kind, " ", NameIn(document));
    std::vector<Finding> findings = TranslatorsFindings(object, errors);
    for (const FieldError& error : errors)
      findings.push_back({object, document.source, document.Find(error.field), error});
    std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
      return std::tuple(View(a.source), a.at.line, a.at.column) < std::tuple(View(b.source), b.at.line, b.at.column);
    });
    const auto refuses = [](const Finding& f) { return f.level() == convert::Level::kError; };
    if (std::any_of(findings.begin(), findings.end(), refuses)) ++out_.refused;
    Add(std::move(findings));
  }

  // Of the document at hand; translations are in the documents' order.
  std::vector<Finding> TranslatorsFindings(const std::string& object, const FieldErrors& heard) {
    std::vector<Finding> findings;
    for (; told_ < translation_.findings.size() && translation_.findings[told_].input == at_; ++told_) {
      const convert::PlacedFinding& placed = translation_.findings[told_];
      const auto same = [&](const FieldError& e) { return e.field == placed.finding.error.field; };
      if (std::none_of(heard.begin(), heard.end(), same))
        findings.push_back({object, placed.source, placed.at, placed.finding.error, placed.finding.code});
    }
    return findings;
  }

  void Add(std::vector<Finding> findings) {
    std::move(findings.begin(), findings.end(), std::back_inserter(out_.findings));
  }

  const absl::Span<const api::MixedDocument> documents_;
  const convert::TypeCheck check_ = CheckTypes;
  const convert::ManifestTranslation translation_;
  std::size_t at_ = 0, told_ = 0;
  Validation out_;
};

std::string Told(const Finding& f) {
  if (f.code.has_value()) return convert::Finding{*f.code, f.error}.ToString();
  return f.error.field.empty() ? f.error.Message() : f.error.ToString();
}

// "job.yaml:9:7: ..."
void AppendLine(const std::string& source, api::TextPosition at, absl::string_view text, std::string& out) {
  absl::StrAppend(&out, OneLine(absl::StrCat(source, ":", at.line, ":", at.column, ": ", text)), "\n");
}

absl::string_view LevelName(convert::Level level) {
  return level == convert::Level::kError ? "error" : level == convert::Level::kWarning ? "warning" : "info";
}

// The members that findings and notes have in common.
void BeginItem(api::JsonWriter& json, const std::string& object, const std::string& source, api::TextPosition at) {
  json.BeginObject().Field("object", object).Field("source", source).Field("line", at.line).Field("column", at.column);
}

}  // namespace

Validation Validate(absl::Span<const api::MixedDocument> documents, const convert::TranslateOptions& options) {
  return Validator(documents, options).Run();
}

std::string ValidationText(const Validation& validation) {
  std::string out;
  for (const Finding& f : validation.findings) {
    AppendLine(f.source, f.at, absl::StrCat(f.object, ": ", Told(f)), out);
  }
  for (const PassedOver& p : validation.passed_over) {
    AppendLine(p.source, p.at,
               absl::StrCat("note: ", p.object, " is neither Volcano's nor Paddle's and was passed over"), out);
  }
  for (const ValidationNote& n : validation.notes) {
    AppendLine(n.source, n.at, absl::StrCat("note: ", n.object, ": ", n.text), out);
  }
  absl::StrAppend(&out, Counted(validation.checked, "object"), " checked, ", validation.refused, " refused");
  if (!validation.passed_over.empty()) absl::StrAppend(&out, ", ", validation.passed_over.size(), " passed over");
  absl::StrAppend(&out, "\n");
  return out;
}

std::string ValidationJson(const Validation& validation) {
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject()
      .Field("checked", static_cast<std::int64_t>(validation.checked))
      .Field("refused", static_cast<std::int64_t>(validation.refused));
  json.Key("findings").BeginArray();
  for (const Finding& f : validation.findings) {
    BeginItem(json, f.object, f.source, f.at);
    json.Field("level", LevelName(f.level()))
        .Field("code", f.code.has_value() ? View(convert::EntryOf(*f.code).name) : "");
    json.Field("field", f.error.field).Field("reason", f.error.Reason()).Field("value", f.error.value);
    json.Field("rule", f.error.rule).Field("fix", f.error.fix).EndObject();
  }
  json.EndArray().Key("passedOver").BeginArray();
  for (const PassedOver& p : validation.passed_over) {
    BeginItem(json, p.object, p.source, p.at);
    json.EndObject();
  }
  json.EndArray().Key("notes").BeginArray();
  for (const ValidationNote& n : validation.notes) {
    BeginItem(json, n.object, n.source, n.at);
    json.Field("text", n.text).EndObject();
  }
  json.EndArray().Key("unreadable").BeginArray();
  for (const std::string& line : validation.unreadable) json.String(line);
  json.EndArray().EndObject();
  out += '\n';
  return PrintableJson(out);
}

}  // namespace gangway::cmd
