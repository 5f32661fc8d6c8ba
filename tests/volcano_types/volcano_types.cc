#include "tests/volcano_types/volcano_types.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "tests/testing/files.h"

namespace gangway::testutil {
namespace {

const std::string kFolder = GW_SOURCE_DIR "/tests/golden/volcano/types";

}  // namespace

std::vector<std::string> VolcanoReleases() { return {"1.10", "1.15"}; }

std::string VolcanoTypes(const std::string& release) {
  const std::vector<std::string> releases = VolcanoReleases();
  std::vector<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  std::string manifest;
  for (const std::string& folder : folders) {
    const auto file_of = [&](const std::string& of) { return absl::StrCat(folder, "/", of, ".yaml"); };
    auto at = std::find(releases.begin(), releases.end(), release);
    GW_CHECK(at != releases.end());
    while (at != releases.begin() && !std::filesystem::exists(file_of(*at))) --at;
    const std::string text = ReadFile(file_of(*at));
    if (absl::StrContains(text, "kind: CustomResourceDefinition")) absl::StrAppend(&manifest, "---\n", text);
  }
  return manifest;
}

}  // namespace gangway::testutil
