// Every example of a PaddleJob says at its head how to run it on a laptop; so run, it ends as the command says.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"

namespace gangway::testutil {
namespace {

using ::testing::SizeIs;

// The line of the head that begins with "#   gangway sandbox", as arguments; empty: there is none.
std::vector<std::string> CommandOf(const std::string& file) {
  constexpr absl::string_view kStart = "#   gangway ";
  const std::string text = ReadFile(file);
  for (const absl::string_view line : absl::StrSplit(absl::string_view(text), '\n')) {
    if (!absl::StartsWith(line, absl::StrCat(kStart, "sandbox"))) continue;
    std::vector<std::string> words = absl::StrSplit(line.substr(kStart.size()), ' ', absl::SkipEmpty());
    for (std::string& word : words) {
      if (absl::StartsWith(word, "examples/")) word = absl::StrCat(GW_SOURCE_DIR "/", word);
    }
    return words;
  }
  return {};
}

TEST(ExamplesProcessTest, EachRunsToItsEndAsItsHeadSays) {
  const TemporaryFolder folder("gangway-examples");
  struct Run {
    std::string file, output;
    std::unique_ptr<ChildProcess> process;
  };
  std::vector<Run> runs;
  std::vector<std::string> files;
  for (const char* const examples : {"/examples/paddle", "/examples/paddle-operator"}) {
    for (const auto& entry : std::filesystem::directory_iterator(absl::StrCat(GW_SOURCE_DIR, examples)))
      files.push_back(entry.path());
  }
  for (const std::string& file : files) {
    std::vector<std::string> argv = CommandOf(file);
    ASSERT_FALSE(argv.empty()) << file << " does not say how to run it";
    EXPECT_NE(std::find(argv.begin(), argv.end(), "--until"), argv.end()) << file;
    EXPECT_NE(std::find(argv.begin(), argv.end(), file), argv.end()) << file << " is not what its command applies";
    argv.insert(argv.begin(), GW_GANGWAY);
    argv.insert(argv.end(),
                {"--timeout", "120s", "--kubeconfig", absl::StrCat(folder.path(), "/", runs.size(), ".kubeconfig")});
    const std::string output = absl::StrCat(folder.path(), "/", runs.size());
    runs.push_back({file, output, std::make_unique<ChildProcess>(argv, output)});
  }
  EXPECT_THAT(runs, SizeIs(15));
  for (const Run& run : runs) EXPECT_EQ(run.process->Wait(), 0) << run.file << "\n" << ReadFile(run.output);
}

// Before what comes first of a blank line and the commands.
TEST(ExamplesProcessTest, EachHeadHasTwoLinesOnWhatItShows) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(GW_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    int lines = 0;
    const std::string text = ReadFile(entry.path());
    for (const absl::string_view line : absl::StrSplit(absl::string_view(text), '\n')) {
      if (!absl::StartsWith(line, "# ") || absl::StartsWith(line, "#   ")) break;
      ++lines;
    }
    EXPECT_GE(lines, 2) << entry.path();
  }
  EXPECT_EQ(files, 28);
}

}  // namespace
}  // namespace gangway::testutil
