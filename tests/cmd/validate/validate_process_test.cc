// `gangway validate` as a user runs it: files, folders, standard input, exit codes.
#include <filesystem>
#include <string>
#include <vector>

#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"
#include "tests/testing/status_matchers.h"

namespace gangway::testutil {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kExample = GW_SOURCE_DIR "/examples/ctr-volcano.yaml";
const char* const kBadQueue =
    "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: ads}, spec: {weight: -1}}\n";

class ValidateProcessTest : public ::testing::Test {
 protected:
  static Outcome Run(std::vector<std::string> arguments, const std::string& input = {}) {
    arguments.insert(arguments.begin(), {GW_GANGWAY, "validate"});
    return RunProgram(arguments, {}, input);
  }
  std::string File(const std::string& name, const std::string& text) const {
    WriteFile(folder_.path() + "/" + name, text);
    return folder_.path() + "/" + name;
  }
  const TemporaryFolder folder_{"gangway-validate"};
};

TEST_F(ValidateProcessTest, GoodObjectsEndWithZero) {
  const Outcome outcome = Run({"-f", kExample, "-f", GW_SOURCE_DIR "/examples"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(" objects checked, 0 refused"));
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_F(ValidateProcessTest, ARefusedObjectEndsWithOne) {
  const Outcome outcome = Run({"-f", kExample, "-f", "-"}, kBadQueue);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, StartsWith("standard input:1:"));
  EXPECT_THAT(outcome.out, HasSubstr("queue ads: spec.weight: "));
  EXPECT_THAT(outcome.out, HasSubstr("2 objects checked, 1 refused\n"));
}

TEST_F(ValidateProcessTest, WhatCannotBeReadEndsWithTwoAndTheRestIsJudged) {
  File("b.yml", kBadQueue);
  File("a.yaml", "kind: [\n");
  File("notes.txt", "not read");
  const Outcome outcome = Run({"-f", folder_.path(), "-f", folder_.path() + "/none.yaml"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, HasSubstr("/b.yml:1:"));
  EXPECT_THAT(outcome.out, HasSubstr("/a.yaml: E-YAML Forbidden: "));
  EXPECT_THAT(outcome.err, HasSubstr("/none.yaml: No such file or directory\n"));
  EXPECT_EQ(Run({"-f", "-"}, "# nothing\n").exit_code, 2);
  std::filesystem::create_directory(folder_.path() + "/empty");
  EXPECT_THAT(Run({"-f", folder_.path() + "/empty"}).err,
              HasSubstr("there is no .yaml, .yml or .json file in this folder"));
}

TEST_F(ValidateProcessTest, WrongFlagsEndWithTwo) {
  EXPECT_EQ(Run({}).exit_code, 2);
  EXPECT_EQ(Run({"-f", kExample, "-o", "xml"}).exit_code, 2);
  EXPECT_EQ(Run({"-f", "/dev/zero"}).exit_code, 2) << "the size of a manifest is bounded";
}

TEST_F(ValidateProcessTest, JsonIsForPrograms) {
  const Outcome outcome = Run({"-f", File("q.yaml", kBadQueue), "-o", "json"});
  EXPECT_EQ(outcome.exit_code, 1);
  const auto json = api::ParseJson(outcome.out);
  ASSERT_THAT(json, IsOk());
  EXPECT_EQ(json->at("findings").at(0).at("field"), "spec.weight");
}

}  // namespace
}  // namespace gangway::testutil
