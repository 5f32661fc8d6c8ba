#include "base/text_file.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"

namespace gangway {
namespace {

using ::testing::HasSubstr;

TEST(ReadTextFileTest, WhatItIsOrWhyNot) {
  const testutil::TemporaryFolder folder("gangway-text-file");
  testutil::WriteFile(folder.path() + "/a", std::string("a\0b\n", 4));
  EXPECT_EQ(ReadTextFile(folder.path() + "/a").value(), std::string("a\0b\n", 4));
  const absl::Status missing = ReadTextFile(folder.path() + "/b").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(missing.message(), HasSubstr("/b: cannot be read: No such file"));
  const absl::Status is_folder = ReadTextFile(folder.path()).status();
  EXPECT_EQ(is_folder.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(is_folder.message(), HasSubstr(": is a folder; name a file"));
}

}  // namespace
}  // namespace gangway
