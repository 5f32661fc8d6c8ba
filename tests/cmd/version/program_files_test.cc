#include "cmd/version/program_files.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"

namespace gangway::cmd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// FIPS 180-4's examples, as https://csrc.nist.gov/projects/cryptographic-standards-and-guidelines/example-values has
// them.
constexpr char kSumOfAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr char kSumOfNothing[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

class ProgramFilesTest : public ::testing::Test {
 protected:
  ProgramFilesTest() {
    for (const char* name : {"bin", "share/gangway"}) std::filesystem::create_directories(folder_.path() + "/" + name);
    testutil::WriteFile(folder_.path() + "/bin/gangway", "abc");
  }
  void Sums(const std::string& text) { testutil::WriteFile(folder_.path() + "/share/gangway/SHA256SUMS", text); }
  absl::StatusOr<FilesReport> Check() { return CheckFiles(folder_.path() + "/bin/gangway"); }

  testutil::TemporaryFolder folder_{"gangway-files"};
};

TEST_F(ProgramFilesTest, SumsAreThoseOfTheStandard) {
  EXPECT_EQ(*Sha256OfFile(folder_.path() + "/bin/gangway"), kSumOfAbc);
  testutil::WriteFile(folder_.path() + "/empty", "");
  EXPECT_EQ(*Sha256OfFile(folder_.path() + "/empty"), kSumOfNothing);
  EXPECT_TRUE(absl::IsNotFound(Sha256OfFile(folder_.path() + "/none").status()));
  EXPECT_FALSE(Sha256OfFile(folder_.path() + "/bin").ok());
}

TEST_F(ProgramFilesTest, WhatIsAsItWasIsFine) {
  Sums(std::string(kSumOfAbc) + "  bin/gangway\n");
  const absl::StatusOr<FilesReport> report = Check();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->files, 1);
  EXPECT_THAT(report->findings, IsEmpty());
}

TEST_F(ProgramFilesTest, WhatIsGoneOrAnotherIsNamed) {
  Sums(std::string(kSumOfNothing) + "  bin/gangway\n" + kSumOfNothing + "  lib/none.so\n");
  EXPECT_THAT(Check()->findings,
              ElementsAre("bin/gangway: is another file than the one that was packaged", "lib/none.so: is gone"));
}

TEST_F(ProgramFilesTest, WithoutSumsThereIsNothingToCompare) { EXPECT_TRUE(absl::IsNotFound(Check().status())); }

TEST_F(ProgramFilesTest, ALineThatIsNoSumIsAnErrorWithItsNumber) {
  for (const char* line :
       {"abc  bin/gangway", "zz7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  bin/gangway",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad bin/gangway",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  "}) {
    Sums(std::string(kSumOfAbc) + "  bin/gangway\n" + line + "\n");
    const absl::Status status = Check().status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << line;
    EXPECT_THAT(std::string(status.message()), HasSubstr("line 2 is not"));
  }
  Sums(std::string((1 << 20) + 1, '\n'));
  EXPECT_TRUE(absl::IsInvalidArgument(Check().status()));
}

}  // namespace
}  // namespace gangway::cmd
