#include "tests/conformance/case.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "base/status_macros.h"
#include "tests/conformance/rows.h"
#include "tests/conformance/text.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;
using Kind = json::kind;

struct Word {
  absl::string_view name;
  std::vector<Kind> kinds;  // empty: any value
};

const std::vector<Word>& RequestWords() {
  static const std::vector<Word> kWords = {{"query", {Kind::object}},
                                           {"body", {}},
                                           {"text", {Kind::string}},
                                           {"type", {Kind::string}},
                                           {"accept", {Kind::string}},
                                           {"code", {Kind::int64}},
                                           {"reason", {Kind::string}},
                                           {"message", {Kind::string, Kind::object}},
                                           {"has", {}},
                                           {"warnings", {Kind::array}},
                                           {"save", {Kind::object}},
                                           {"eventually", {Kind::bool_}},
                                           {"media", {Kind::string}},
                                           {"retry-after", {Kind::bool_}},
                                           {"proto", {Kind::bool_}},
                                           {"says", {Kind::string, Kind::object}}};
  return kWords;
}

const std::vector<Word>& WordsOf(absl::string_view verb) {
  static const std::vector<Word> kWatch = {
      {"query", {Kind::object}}, {"accept", {Kind::string}}, {"as", {Kind::string}}};
  static const std::vector<Word> kFrames = {{"are", {Kind::array}}, {"save", {Kind::object}}};
  static const std::vector<Word> kAtOnce = {{"each", {Kind::object}}, {"answers", {Kind::object}}};
  static const std::vector<Word> kNone = {};
  if (verb == "WATCH") return kWatch;
  if (verb == "AT-ONCE") return kAtOnce;
  if (verb == "FRAMES") return kFrames;
  if (verb == "END" || verb == "COMPACT") return kNone;
  return RequestWords();
}

bool IsVerb(absl::string_view word) {
  static const std::set<std::string> kVerbs = {"GET",   "POST",   "PUT", "PATCH",   "DELETE",
                                               "WATCH", "FRAMES", "END", "COMPACT", "AT-ONCE"};
  return kVerbs.count(std::string(word)) != 0;
}

absl::Status CheckWord(const Step& step, absl::string_view name, const json::value& value) {
  const std::vector<Word>& words = WordsOf(step.verb);
  const auto word = std::find_if(words.begin(), words.end(), [&](const Word& each) { return each.name == name; });
  if (word == words.end())
    return absl::InvalidArgumentError(absl::StrCat(step.where, ": ", step.verb, " has no ", name));
  if (word->kinds.empty() || std::count(word->kinds.begin(), word->kinds.end(), value.kind()) != 0)
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(step.where, ": ", name, " cannot be ", api::ToJson(value)));
}

absl::StatusOr<Step> ReadStep(const json::value& given, std::string where) {
  Step step;
  step.where = std::move(where);
  if (!given.is_object()) return absl::InvalidArgumentError(absl::StrCat(step.where, ": a step is a map"));
  for (const json::key_value_pair& member : given.get_object()) {
    const std::string name = ToText(member.key());
    if (!IsVerb(name)) continue;
    if (!step.verb.empty()) return absl::InvalidArgumentError(absl::StrCat(step.where, ": a step has one verb"));
    step.verb = name;
    step.target = member.value().is_string() ? ToText(member.value().get_string()) : "";
    if (member.value().is_int64()) step.times = static_cast<int>(member.value().get_int64());
  }
  if (step.verb.empty())
    return absl::InvalidArgumentError(absl::StrCat(step.where, ": a step has a verb: GET, POST, WATCH..."));
  for (const json::key_value_pair& member : given.get_object()) {
    if (IsVerb(ToText(member.key()))) continue;
    GW_RETURN_IF_ERROR(CheckWord(step, ToText(member.key()), member.value()));
    step.fields.emplace(member.key(), member.value());
  }
  if (step.verb != "AT-ONCE") return step;
  const json::value* const each = step.fields.if_contains("each");
  if (each == nullptr || !step.fields.contains("answers") || step.times < 1) {
    return absl::InvalidArgumentError(absl::StrCat(step.where, ": AT-ONCE says how many, each and answers"));
  }
  GW_ASSIGN_OR_RETURN(Step request, ReadStep(*each, step.where));
  step.each.push_back(std::move(request));
  return step;
}

// `value`: the document's, or what it is for one row of a table.
absl::StatusOr<Case> ReadCase(const api::ManifestDocument& document, const json::object& value) {
  const auto wrong = [&](absl::string_view path, absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(document.Where(path), ": ", what));
  };
  Case out;
  for (const json::key_value_pair& member : value) {
    const std::string name = ToText(member.key());
    if (name == "case" && member.value().is_string()) {
      out.name = ToText(member.value().get_string());
    } else if (name == "alone" && member.value().is_bool()) {
      out.alone = member.value().get_bool();
    } else if (name == "steps" && member.value().is_array()) {
      std::size_t index = 0;
      for (const json::value& step : member.value().get_array()) {
        GW_ASSIGN_OR_RETURN(Step read, ReadStep(step, document.Where(absl::StrCat("steps[", index++, "]"))));
        out.steps.push_back(std::move(read));
      }
    } else {
      return wrong(name, absl::StrCat("a case has case, alone and steps, not this ", name));
    }
  }
  const bool named = !out.name.empty() && std::all_of(out.name.begin(), out.name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c));
  });
  if (!named) return wrong("case", "a case has a name of letters and digits");
  if (out.steps.empty()) return wrong("", "a case has steps");
  return out;
}

absl::StatusOr<std::string> ReadText(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return absl::NotFoundError(absl::StrCat(path.string(), ": cannot be read"));
  return text.str();
}

struct CaseFile {
  std::string name;
  std::vector<std::pair<api::ManifestDocument, json::object>> documents;
};

absl::Status In(const api::ManifestDocument& document, const absl::Status& status) {
  return absl::InvalidArgumentError(absl::StrCat(document.Where(""), ": ", status.message()));
}

absl::StatusOr<std::vector<CaseFile>> ReadFiles(const std::vector<std::filesystem::path>& files) {
  std::vector<CaseFile> out;
  for (const std::filesystem::path& path : files) {
    CaseFile& file = out.emplace_back(CaseFile{path.stem().string(), {}});
    GW_ASSIGN_OR_RETURN(const std::string text, ReadText(path));
    GW_ASSIGN_OR_RETURN(auto documents, api::ReadDocuments(text, path.filename().string()));
    for (api::ManifestDocument& document : documents) {
      GW_ASSIGN_OR_RETURN(const json::value value, api::ParseJson(document.json));
      if (!value.is_object()) return In(document, absl::InvalidArgumentError("a case is a map"));
      file.documents.emplace_back(std::move(document), value.get_object());
    }
  }
  return out;
}

}  // namespace

absl::StatusOr<std::vector<Case>> LoadCases(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  if (error || files.empty()) return absl::NotFoundError(absl::StrCat(folder, ": no cases there"));
  std::sort(files.begin(), files.end());
  GW_ASSIGN_OR_RETURN(const std::vector<CaseFile> read, ReadFiles(files));
  Tables tables;
  for (const CaseFile& file : read) {
    for (const auto& [document, value] : file.documents) {
      if (!value.contains("table")) continue;
      if (const absl::Status status = AddTable(value, tables); !status.ok()) return In(document, status);
    }
  }
  std::vector<Case> cases;
  std::set<std::string> names;
  for (const CaseFile& file : read) {
    for (const auto& [document, value] : file.documents) {
      if (value.contains("table")) continue;
      const absl::StatusOr<std::vector<json::object>> each = CasesOf(value, tables);
      if (!each.ok()) return In(document, each.status());
      for (const json::object& one : *each) {
        GW_ASSIGN_OR_RETURN(Case made, ReadCase(document, one));
        made.file = file.name;
        if (!names.insert(made.name).second) {
          return absl::InvalidArgumentError(
              absl::StrCat(document.Where("case"), ": there is another case ", made.name));
        }
        cases.push_back(std::move(made));
      }
    }
  }
  return cases;
}

}  // namespace gangway::testutil
