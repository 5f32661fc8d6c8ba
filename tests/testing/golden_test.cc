#include "tests/testing/golden.h"

#include <cstdlib>

#include "gtest/gtest-spi.h"

namespace gangway::testutil {
namespace {

class GoldenTest : public ::testing::Test {
 protected:
  GoldenTest() : was_(std::getenv("GW_UPDATE_GOLDEN") == nullptr ? "" : std::getenv("GW_UPDATE_GOLDEN")) {
    unsetenv("GW_UPDATE_GOLDEN");
  }
  ~GoldenTest() override {
    if (was_.empty())
      unsetenv("GW_UPDATE_GOLDEN");
    else
      setenv("GW_UPDATE_GOLDEN", was_.c_str(), 1);
  }
  static std::string Path() { return folder_->path() + "/golden"; }
  static void SetUpTestSuite() { folder_ = new TemporaryFolder("golden"); }
  static void TearDownTestSuite() { delete folder_; }

 private:
  const std::string was_;
  static TemporaryFolder* folder_;
};
TemporaryFolder* GoldenTest::folder_ = nullptr;

TEST_F(GoldenTest, WhoeverWritesItFailsAndComparesNothing) {
  WriteFile(Path(), "before");
  setenv("GW_UPDATE_GOLDEN", "1", 1);
  EXPECT_NONFATAL_FAILURE(ExpectGolden(Path(), "after"), "is written anew");
  EXPECT_NONFATAL_FAILURE(ExpectGolden(Path(), "after"), "is written anew");
  EXPECT_EQ(ReadFile(Path()), "after");
}

TEST_F(GoldenTest, ItIsCompared) {
  WriteFile(Path(), "text");
  ExpectGolden(Path(), "text");
  EXPECT_NONFATAL_FAILURE(ExpectGolden(Path(), "another"), "GW_UPDATE_GOLDEN=1 writes it anew");
  EXPECT_EQ(ReadFile(Path()), "text");
  EXPECT_NONFATAL_FAILURE(ExpectGolden(Path() + ".missing", "text"), "writes it anew");
}

}  // namespace
}  // namespace gangway::testutil
