#include "tests/stories/story.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "base/status_macros.h"
#include "tests/testing/files.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

const std::map<std::string, std::set<std::string>>& Verbs() {
  static const auto& verbs = *new std::map<std::string, std::set<std::string>>{{"create", {"as", "refused"}},
                                                                               {"apply", {}},
                                                                               {"patch", {"refused"}},
                                                                               {"delete", {}},
                                                                               {"evict", {}},
                                                                               {"succeed", {}},
                                                                               {"fail", {}},
                                                                               {"command", {}},
                                                                               {"nodes", {}},
                                                                               {"release", {}},
                                                                               {"until", {}},
                                                                               {"moment", {"passing", "because"}}};
  return verbs;
}

std::string String(const json::value& value) {
  return value.is_string() ? std::string(value.as_string()) : api::ToJson(value);
}

absl::StatusOr<StoryStep> ReadStep(const api::ManifestDocument& document, std::size_t i, const json::value& written) {
  StoryStep step;
  step.where = document.Where(absl::StrCat("steps[", i, "]"));
  const auto wrong = [&](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat(step.where, ": ", what));
  };
  if (!written.is_object()) return wrong("a step is a map");
  for (const auto& [key, value] : written.as_object()) {
    if (Verbs().contains(std::string(key))) {
      if (!step.verb.empty()) return wrong("a step has one verb");
      step.verb = std::string(key);
      step.value = value;
    } else {
      step.fields[key] = value;
    }
  }
  if (step.verb.empty()) return wrong("a step has one of the verbs in tests/stories/story.cc");
  for (const auto& [key, value] : step.fields) {
    if (!Verbs().at(step.verb).contains(std::string(key)))
      return wrong(absl::StrCat("unknown word ", std::string(key)));
  }
  return step;
}

absl::Status ReadInputs(const std::string& folder, Story& story) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (absl::StartsWith(entry.path().filename().string(), "input")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    GW_ASSIGN_OR_RETURN(const auto documents, api::ReadManifest(ReadFile(file.string()), file.filename().string()));
    for (const api::ManifestDocument& document : documents) {
      // A name that was used again was given to the same once more; Commands are steps of their own.
      const std::string key = absl::StrCat(document.kind, "/", document.name);
      if (document.kind == "Command" || story.inputs.contains(key)) continue;
      GW_ASSIGN_OR_RETURN(story.inputs[key], api::ParseJson(document.json));
    }
  }
  return absl::OkStatus();
}

// What was recorded, and on it what differs.
absl::Status ReadExpected(const std::string& folder, const json::object& written, Story& story) {
  GW_ASSIGN_OR_RETURN(json::value recorded, api::ParseJson(ReadFile(folder + "/recorded.json")));
  if (const json::value* const differs = written.if_contains("differs")) {
    for (const json::value& difference : differs->as_array()) {
      const json::object& each = difference.as_object();
      if (!each.contains("because") || !each.contains("ours") || each.size() != 2) {
        return absl::InvalidArgumentError(absl::StrCat(story.name, ": a difference has `ours` and `because`"));
      }
      const std::string before = api::ToJson(recorded);
      api::ApplyMergePatch(recorded, each.at("ours"));
      if (api::ToJson(recorded) == before) {
        return absl::InvalidArgumentError(absl::StrCat(story.name, ": no difference: ", String(each.at("because"))));
      }
    }
  }
  story.expected = recorded.as_object();
  return absl::OkStatus();
}

absl::Status CheckMoments(const Story& story, const json::object& written) {
  std::set<std::string> told;
  for (const StoryStep& step : story.steps) {
    if (step.verb == "moment") told.insert(String(step.value));
  }
  const json::value* const unseen = written.if_contains("unseen");
  for (const auto& [name, lines] : story.expected.at("moments").as_object()) {
    const bool skipped = unseen != nullptr && unseen->as_object().contains(name);
    if (told.erase(std::string(name)) == 0 && !skipped) {
      return absl::InvalidArgumentError(absl::StrCat(story.name, ": no step comes to ", std::string(name)));
    }
  }
  if (!told.empty()) return absl::InvalidArgumentError(absl::StrCat(story.name, ": was not recorded: ", *told.begin()));
  return absl::OkStatus();
}

absl::StatusOr<Story> ReadStory(const std::filesystem::path& file) {
  static const std::set<std::string>& words =
      *new std::set<std::string>{"story", "alone", "holds", "differs", "unseen", "steps"};
  Story story;
  story.name = file.stem().string();
  GW_ASSIGN_OR_RETURN(const auto documents, api::ReadDocuments(ReadFile(file.string()), file.filename().string()));
  if (documents.size() != 1) return absl::InvalidArgumentError(absl::StrCat(story.name, ": a file is one story"));
  GW_ASSIGN_OR_RETURN(const json::value parsed, api::ParseJson(documents.front().json));
  const json::object& written = parsed.as_object();
  for (const auto& [key, value] : written) {
    if (!words.contains(std::string(key))) {
      return absl::InvalidArgumentError(
          absl::StrCat(documents.front().Where(std::string(key)), ": unknown word ", std::string(key)));
    }
  }
  story.alone = written.contains("alone");
  story.holds = written.contains("holds");
  const json::array& steps = written.at("steps").as_array();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    GW_ASSIGN_OR_RETURN(StoryStep step, ReadStep(documents.front(), i, steps[i]));
    story.steps.push_back(std::move(step));
  }
  const std::string folder = GW_SOURCE_DIR "/tests/golden/volcano/" + story.name;
  GW_RETURN_IF_ERROR(ReadInputs(folder, story));
  GW_RETURN_IF_ERROR(ReadExpected(folder, written, story));
  GW_RETURN_IF_ERROR(CheckMoments(story, written));
  return story;
}

}  // namespace

absl::StatusOr<std::vector<Story>> LoadStories() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(GW_SOURCE_DIR "/tests/stories/cases"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Story> stories;
  for (const auto& file : files) {
    GW_ASSIGN_OR_RETURN(Story story, ReadStory(file));
    stories.push_back(std::move(story));
  }
  std::stable_partition(stories.begin(), stories.end(), [](const Story& story) { return story.alone; });
  return stories;
}

const std::vector<Story>& AllStories() {
  static const auto& stories = *new absl::StatusOr<std::vector<Story>>(LoadStories());
  if (!stories.ok()) {
    std::cerr << stories.status().message() << "\n";
    std::exit(1);
  }
  return *stories;
}

std::string TestNameOf(const Story& story) {
  std::string name = story.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace gangway::testutil
