#include "cmd/process/start_memory.h"

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

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

// Reads all code of this program and its libraries, and says how much that is.
std::int64_t ReadAllCode() {
  std::int64_t bytes = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* sum) {
        for (std::size_t i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = object->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0 || (part.p_flags & PF_R) == 0) continue;
          const auto* const code = reinterpret_cast<const volatile char*>(object->dlpi_addr + part.p_vaddr);
          for (std::size_t at = 0; at < part.p_filesz; at += 4096) static_cast<void>(code[at]);
          *static_cast<std::int64_t*>(sum) += static_cast<std::int64_t>(part.p_filesz);
        }
        return 0;
      },
      &bytes);
  return bytes / 1024;
}

TEST(StartMemoryTest, CodeIsGivenBackAndComesAgain) {
  const std::int64_t code = ReadAllCode();
  const std::int64_t before = KilobytesOfFiles();
  ASSERT_GE(before, code);
  GiveBackStartMemory();
  EXPECT_LT(KilobytesOfFiles(), before - code / 2);
  EXPECT_EQ(ReadAllCode(), code);
  EXPECT_GE(KilobytesOfFiles(), code);
  GiveBackStartMemory();
}

}  // namespace
}  // namespace gangway::cmd
