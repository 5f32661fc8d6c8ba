// The flags of what is shipped, on a small program: with all of them scripts/hardening is content, and without any one
// it says what is missing.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"

namespace gangway::testutil {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kProgram[] = R"(
#include <unistd.h>
#include <cstdlib>
#include <vector>
int main(int argc, char** argv) {
  char text[64];
  const long n = read(0, text, static_cast<std::size_t>(std::atol(argv[argc - 1])));
  std::vector<int> numbers(8);
  return numbers[static_cast<std::size_t>(n)] + text[0];
}
)";

std::vector<std::string> Flags() { return absl::StrSplit(GW_HARDENING_FLAGS, ' '); }

// What the script says of the program that these flags make.
Outcome Looked(const std::vector<std::string>& flags) {
  const TemporaryFolder folder("gangway-hardening");
  WriteFile(folder.path() + "/main.cc", kProgram);
  const std::string program = folder.path() + "/program";
  std::vector<std::string> compile{GW_COMPILER, "-O2", "-w", folder.path() + "/main.cc", "-o", program};
  compile.insert(compile.end(), flags.begin(), flags.end());
  const Outcome compiled = RunProgram(compile);
  EXPECT_EQ(compiled.exit_code, 0) << compiled.err;
  return RunProgram({GW_SOURCE_DIR "/scripts/hardening", program});
}

TEST(HardeningTest, AllFlagsTogetherLackNothing) {
  const Outcome looked = Looked(Flags());
  EXPECT_EQ(looked.exit_code, 0);
  EXPECT_THAT(looked.out, IsEmpty());
}

struct Without {
  const char* flag;
  std::vector<std::string> instead;
  const char* said;
};

TEST(HardeningTest, EachFlagThatIsMissingIsSaid) {
  for (const Without& one : {Without{"-D_FORTIFY_SOURCE=3", {}, "calls no checked functions"},
                             Without{"-D_GLIBCXX_ASSERTIONS", {}, "containers do not look"},
                             Without{"-fstack-protector-strong", {"-fno-stack-protector"}, "has no stack protector"},
                             Without{"-fcf-protection=full", {"-fcf-protection=none"}, "has no marks for CET"},
                             Without{"-pie", {"-no-pie", "-fno-pie"}, "is at a fixed address"},
                             Without{"-Wl,-z,relro", {"-Wl,-z,norelro"}, "can be written"},
                             Without{"-Wl,-z,now", {"-Wl,-z,lazy"}, "is bound lazily"},
                             Without{"-Wl,-z,noexecstack", {"-Wl,-z,execstack"}, "can be executed"}}) {
    SCOPED_TRACE(one.flag);
    std::vector<std::string> flags = Flags();
    EXPECT_EQ(std::erase(flags, one.flag), 1u);
    flags.insert(flags.end(), one.instead.begin(), one.instead.end());
    const Outcome looked = Looked(flags);
    EXPECT_EQ(looked.exit_code, 1);
    EXPECT_THAT(looked.out, HasSubstr(one.said));
  }
}

}  // namespace
}  // namespace gangway::testutil
