#include "cmd/gangway/translation_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/manifest/yaml_writer.h"

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

std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

void AppendStory(const ManifestStory& story, std::string& out) {
  std::size_t from = 5, to = 7;  // "FIELD", "BECOMES"
  for (const Step& step : story.steps) {
    from = std::min(kWidest, std::max(from, step.from.size()));
    to = std::min(kWidest, std::max(to, step.to.size()));
  }
  absl::StrAppend(&out, story.object, " (", story.source, ":", story.at.line, ":", story.at.column, ")\n");
  absl::StrAppend(&out, "  ", Padded("FIELD", from), Padded("BECOMES", to), "WHY\n");
  for (const Step& step : story.steps) absl::StrAppend(&out, "  ", Padded(OrDash(step.from), from), Padded(OrDash(step.to), to), step.why, "\n");
}

}  // namespace

std::string TranslationYaml(const ManifestTranslation& translation) {
  std::string out;
  for (const ManifestObject& object : translation.objects) {
    if (!out.empty()) out += "---\n";
    out += api::YamlOf(object.json, api::KeyOrder::kAsWritten, object.comments).value();  // it was made from a document that was read
  }
  return out;
}

std::string TranslationJson(const ManifestTranslation& translation) {
  std::string out = R"({"apiVersion":"v1","kind":"List","items":[)";
  for (const ManifestObject& object : translation.objects) absl::StrAppend(&out, &object == &translation.objects.front() ? "\n" : ",\n", object.json);
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
