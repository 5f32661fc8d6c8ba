// Runs a fuzz target as a test: over the files of its corpus, then over damage done to them, the same each time.
//   GW_FUZZ_SEED=7       other damage
//   GW_FUZZ_INPUT=FILE   this input only, such as the one that a crash left
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/testing/files.h"

namespace gangway::testutil {
namespace {

std::string InSource(absl::string_view path) { return absl::StrCat(GW_SOURCE_DIR, "/", path); }

// A file NAME.times, for what is long and dull: each line is how often, and what; nothing comes between.
std::string Expanded(const std::string& recipe) {
  std::string out;
  for (const absl::string_view line : absl::StrSplit(recipe, '\n', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(' ', 1));
    int times = 0;
    GW_CHECK(absl::SimpleAtoi(parts.first, &times));
    while (times-- > 0) absl::StrAppend(&out, parts.second);
  }
  return out;
}

// Of kFuzzCorpus, entries separated by ':': a file, the manifests of a folder, or files joined by '+' as documents of
// one input; and all files of the target's own folder, whose name ends in '/'.
std::vector<std::string> Corpus() {
  std::vector<std::string> out;
  for (const std::string& entry : std::vector<std::string>(absl::StrSplit(kFuzzCorpus, ':', absl::SkipEmpty()))) {
    std::vector<std::string> files;
    const std::string path = InSource(entry);
    if (!std::filesystem::is_directory(path)) {
      std::vector<std::string> parts;
      for (const absl::string_view part : absl::StrSplit(entry, '+')) parts.push_back(ReadFile(InSource(part)));
      out.push_back(absl::StrJoin(parts, "---\n"));
      continue;
    }
    for (const auto& file : std::filesystem::directory_iterator(path)) {
      if (path.back() == '/' || file.path().extension() == ".yaml") files.push_back(file.path().string());
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files)
      out.push_back(absl::EndsWith(file, ".times") ? Expanded(ReadFile(file)) : ReadFile(file));
  }
  return out;
}

class Damage {
 public:
  Damage(const std::vector<std::string>& corpus, std::uint64_t seed) : corpus_(corpus), random_(seed) {}

  std::string Draw() {
    std::string text = Any();
    for (std::uint64_t edits = 1 + random_.Below(4); edits > 0; --edits)
      text = random_.Below(3) == 0 ? InBytes(std::move(text)) : InLines(text);
    return text;
  }

 private:
  const std::string& Any() { return corpus_[random_.Below(corpus_.size())]; }

  std::string InBytes(std::string text) {
    if (text.empty()) return "a";
    const std::size_t at = random_.Below(text.size());
    switch (random_.Below(4)) {
      case 0:
        text[at] = static_cast<char>(random_.Below(256));
        break;
      case 1:
        text.erase(at, 1 + random_.Below(12));
        break;
      case 2:
        text.insert(at, 1, "{}[]:,-&*!|>'\"%@`#\n\t \\?~0<"[random_.Below(27)]);
        break;
      case 3:
        text.insert(at, text.substr(random_.Below(text.size()), random_.Below(60)));
        break;
    }
    return text;
  }

  // Most of what is wrong in manifests that parse: a line too many, one too few, one of another file, another value.
  std::string InLines(const std::string& text) {
    std::vector<std::string> lines = absl::StrSplit(text, '\n');
    const std::vector<std::string> others = absl::StrSplit(Any(), '\n');
    const std::size_t at = random_.Below(lines.size());
    switch (random_.Below(6)) {
      case 0:
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 1:
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), lines[random_.Below(lines.size())]);
        break;
      case 2:
        lines[at] = others[random_.Below(others.size())];
        break;
      case 3:
        lines[at].insert(0, 1 + random_.Below(4), ' ');
        break;
      default:
        if (const std::size_t colon = lines[at].find(": "); colon != std::string::npos)
          lines[at] = absl::StrCat(lines[at].substr(0, colon + 2), OddValue());
    }
    return absl::StrJoin(lines, "\n");
  }

  std::string OddValue() {
    static const std::vector<std::string> kOdd{"null",
                                               "true",
                                               "0",
                                               "1",
                                               "-1",
                                               "2",
                                               "600",
                                               "2147483647",
                                               "2147483648",
                                               "1e300",
                                               "\"\"",
                                               "\" \"",
                                               "Always",
                                               "OnCompletion",
                                               "Host",
                                               "Service",
                                               "1e99999",
                                               "-1m",
                                               "a.b",
                                               "volcano",
                                               "\"8\"",
                                               "训练",
                                               std::string(70, 'x'),
                                               std::string(300, 'y'),
                                               "[]",
                                               "{}",
                                               "[null]",
                                               "{a: null}",
                                               "&a [*a]",
                                               "1h30m",
                                               "\"off\"",
                                               "0x10",
                                               "0o17",
                                               ".inf",
                                               "2026-01-01"};
    return kOdd[random_.Below(kOdd.size())];
  }

  const std::vector<std::string>& corpus_;
  RandomStream random_;
};

// One open file: another for each round would cost more than the round.
class InputInHand {
 public:
  explicit InputInHand(const std::string& path) : file_(open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) {
    GW_CHECK(file_ >= 0);
  }
  ~InputInHand() { close(file_); }
  InputInHand(const InputInHand&) = delete;
  InputInHand& operator=(const InputInHand&) = delete;
  void Put(const std::string& text) const {
    GW_CHECK(ftruncate(file_, 0) == 0);
    GW_CHECK(pwrite(file_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  }

 private:
  const int file_;
};

void Try(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

TEST(FuzzTest, CorpusAndDamageToIt) {
  if (const char* const file = std::getenv("GW_FUZZ_INPUT"); file != nullptr) return Try(ReadFile(file));
  const std::vector<std::string> corpus = Corpus();
  ASSERT_GT(corpus.size(), 0u);
  for (const std::string& text : corpus) {
    ASSERT_FALSE(text.empty()) << "a file of the corpus is gone";
    Try(text);
  }
  std::uint64_t seed = 1;
  if (const char* const given = std::getenv("GW_FUZZ_SEED"); given != nullptr && !absl::SimpleAtoi(given, &seed))
    FAIL() << "GW_FUZZ_SEED=" << given << " is no number";
  const std::uint64_t rounds = std::getenv("GW_TEST_LONG") != nullptr ? 10 * kFuzzRounds : kFuzzRounds;
  const TemporaryFolder folder("gangway-fuzz");  // stays when the target ends the process
  const std::string file = folder.path() + "/input";
  const InputInHand in_hand(file);
  std::cout << "GW_FUZZ_SEED=" << seed << ", " << rounds << " rounds; after a crash: GW_FUZZ_INPUT=" << file
            << std::endl;
  Damage damage(corpus, seed);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::string text = damage.Draw();
    in_hand.Put(text);
    Try(text);
  }
  std::cout << came_out << " objects came out" << std::endl;
  EXPECT_GT(came_out, rounds / 20) << "nearly all that is tried is refused";
}

}  // namespace
}  // namespace gangway::testutil
