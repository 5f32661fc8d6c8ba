#include "cmd/translate/translation_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/manifest/yaml_writer.h"
#include "base/printable.h"

namespace gangway::cmd {
namespace {

using convert::ManifestObject;
using convert::ManifestStory;
using convert::ManifestTranslation;
using convert::PlacedFinding;
using convert::Step;

constexpr std::size_t kWidest = 60;  // a longer path pushes only its own line

std::string Padded(absl::string_view text, std::size_t width) {
  return absl::StrCat(text, std::string(text.size() < width ? width - text.size() : 0, ' '), "  ");
}

std::string Cell(const std::string& text) { return text.empty() ? "-" : OneLine(text); }

void AppendStory(const ManifestStory& story, std::string& out) {
  std::size_t from = 5, to = 7;  // "FIELD", "BECOMES"
  std::vector<Step> steps;
  for (const Step& step : story.steps) {
    steps.push_back({Cell(step.from), Cell(step.to), OneLine(step.why)});
    from = std::min(kWidest, std::max(from, steps.back().from.size()));
    to = std::min(kWidest, std::max(to, steps.back().to.size()));
  }
  absl::StrAppend(
      &out, OneLine(absl::StrCat(story.object, " (", story.source, ":", story.at.line, ":", story.at.column, ")")),
      "\n");
  absl::StrAppend(&out, "  ", Padded("FIELD", from), Padded("BECOMES", to), "WHY\n");
  for (const Step& step : steps)
    absl::StrAppend(&out, "  ", Padded(step.from, from), Padded(step.to, to), step.why, "\n");
}

}  // namespace

std::string TranslationYaml(const ManifestTranslation& translation) {
  std::string out;
  for (const ManifestObject& object : translation.objects) {
    if (!out.empty()) out += "---\n";
    out += api::YamlOf(object.json, api::KeyOrder::kAsWritten, object.comments)
               .value();  // it was made from a document that was read
  }
  return out;
}

std::string TranslationJson(const ManifestTranslation& translation) {
  std::string out = R"({"apiVersion":"v1","kind":"List","items":[)";
  for (const ManifestObject& object : translation.objects) {
    absl::StrAppend(&out, &object == &translation.objects.front() ? "\n" : ",\n", PrintableJson(object.json));
  }
  absl::StrAppend(&out, translation.objects.empty() ? "" : "\n", "]}\n");
  return out;
}

std::string TranslationStories(const ManifestTranslation& translation) {
  std::string out;
  for (const ManifestStory& story : translation.stories) {
    if (!out.empty()) out += '\n';
    AppendStory(story, out);
  }
  return out;
}

std::string TranslationFindings(const ManifestTranslation& translation) {
  std::string out;
  for (const PlacedFinding& finding : translation.findings) absl::StrAppend(&out, finding.ToString(), "\n");
  return out;
}

}  // namespace gangway::cmd
