#include "cmd/process/start_memory.h"

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "base/check.h"
#include "gtest/gtest.h"

namespace gangway::cmd {
namespace {

std::int64_t KilobytesOfFiles() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::int64_t kilobytes = -1;
  while (status >> word) {
    if (word == "RssFile:" && status >> word) GW_CHECK(absl::SimpleAtoi(word, &kilobytes));
  }
  return kilobytes;
}

// Reads all of this program and its libraries that nobody may write to, and says how much that is: code, or the rest.
std::int64_t ReadAll(bool code) {
  struct Sum {
    bool code;
    std::int64_t bytes;
  } all{code, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* into) {
        Sum& sum = *static_cast<Sum*>(into);
        for (std::size_t i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = object->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || (part.p_flags & PF_R) == 0 || (part.p_flags & PF_W) != 0) continue;
          if (((part.p_flags & PF_X) != 0) != sum.code) continue;
          const auto* const bytes = reinterpret_cast<const volatile char*>(object->dlpi_addr + part.p_vaddr);
          for (std::size_t at = 0; at < part.p_filesz; at += 4096) static_cast<void>(bytes[at]);
          sum.bytes += static_cast<std::int64_t>(part.p_filesz);
        }
        return 0;
      },
      &all);
  return all.bytes / 1024;
}

// Of the libraries' parts that begin their files, and that nobody may write to: those of which nothing is in memory.
struct FirstParts {
  int all = 0, dropped = 0;
};

FirstParts FirstPartsOfLibraries() {
  FirstParts parts;
  std::ifstream smaps("/proc/self/smaps");
  std::string line;
  bool of_library = false;
  while (std::getline(smaps, line)) {
    if (absl::StrContains(line, " r--p ") || absl::StrContains(line, " r-xp ") || absl::StrContains(line, " rw-p "))
      of_library = absl::StrContains(line, " r--p 00000000 ") && absl::StrContains(line, ".so");
    if (!of_library || !absl::StartsWith(line, "Rss:")) continue;
    ++parts.all;
    if (absl::StrContains(line, " 0 kB")) ++parts.dropped;
  }
  return parts;
}

TEST(StartMemoryTest, WhatIsInFilesIsGivenBackAndComesAgain) {
  for (const bool code : {true, false}) {
    SCOPED_TRACE(code ? "code" : "constants and symbols");
    const std::int64_t kilobytes = ReadAll(code);
    const std::int64_t before = KilobytesOfFiles();
    ASSERT_GE(before, kilobytes);
    GiveBackStartMemory();
    EXPECT_LT(KilobytesOfFiles(), before - kilobytes / 2);
    EXPECT_EQ(ReadAll(code), kilobytes);
    EXPECT_GE(KilobytesOfFiles(), kilobytes);
    GiveBackStartMemory();
  }
}

// In the first part of each lies the list of its parts.
TEST(StartMemoryTest, ToReadWhatToGiveBackBringsNothingBack) {
  ASSERT_GT(FirstPartsOfLibraries().all, 0);  // what this itself needs of the loader is done
  GiveBackStartMemory();
  const FirstParts parts = FirstPartsOfLibraries();
  EXPECT_GT(parts.dropped, parts.all / 2);
}

}  // namespace
}  // namespace gangway::cmd
