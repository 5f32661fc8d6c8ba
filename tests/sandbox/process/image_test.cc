#include "sandbox/process/image.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using testutil::StatusIs;

TEST(ImageTest, AnImageIsFoundByItsNameWithOrWithoutTag) {
  const std::vector<ImageFolder> folders = {{"hub:5000/paddle:2.6", "/exact"}, {"hub:5000/paddle", "/any"}};
  const auto folder = [&](absl::string_view image) {
    const ImageFolder* const found = FolderOf(folders, image);
    return found == nullptr ? std::string() : found->folder;
  };
  EXPECT_EQ(folder("hub:5000/paddle:2.6"), "/exact");
  EXPECT_EQ(folder("hub:5000/paddle:3.0"), "/any");
  EXPECT_EQ(folder("hub:5000/paddle"), "/any");
  EXPECT_EQ(folder("hub:5000/paddle@sha256:0"), "/any");
  EXPECT_EQ(folder("hub"), "");
  EXPECT_EQ(folder("paddle:2.6"), "");
  EXPECT_EQ(FolderOf({{"*", "/all"}}, "whatever")->folder, "/all");
}

TEST(ImageTest, TheMachinesProgramsAreFoundAsTheirUserFindsThem) {
  EXPECT_THAT(EnvironmentOfImage(nullptr, "/mine:/bin", "/home/me"),
              ElementsAre(Pair("PATH", "/mine:/bin"), Pair("HOME", "/home/me")));
  const ImageFolder python{"*", "/venv", true}, root{"*", "/rootfs", false};
  EXPECT_THAT(EnvironmentOfImage(&python, "/bin", "/home/me"),
              ElementsAre(Pair("PATH", "/venv/bin:/bin"), Pair("HOME", "/home/me"), Pair("VIRTUAL_ENV", "/venv")));
  EXPECT_THAT(EnvironmentOfImage(&root, "/mine", "/home/me"),
              ElementsAre(Pair("PATH", HasSubstr("/usr/bin")), Pair("HOME", "/root")));
}

TEST(ImageTest, WhatIsWrongNamesTheFlag) {
  for (const char* const text : {"paddle", "=/x", "paddle=", "paddle=/a,b", "paddle=/a:b"})
    EXPECT_THAT(ParseImageFolder(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--image "))) << text;
  EXPECT_EQ(ParseImageFolder("a:1=/x=y")->folder, "/x=y");
}

}  // namespace
}  // namespace gangway::sandbox
