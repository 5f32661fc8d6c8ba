// The script that waits for names, run by a shell with a getent, date and sleep of ours.
#include "translator/convert/wait_dns.h"

#include <sys/stat.h>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"
#include "tests/testing/files.h"

namespace gangway::convert {
namespace {

using ::testing::HasSubstr;

class WaitScriptTest : public ::testing::Test {
 protected:
  WaitScriptTest() : folder_("wait-dns") {
    // Ten seconds pass with every look at the clock; what a container would say at its end is what tee gets.
    Program("date", "n=`/bin/cat $0.n 2>/dev/null || echo 0`; echo $((n + 10)) >$0.n; echo $((1700000000 + n))");
    Program("sleep", "exit 0");
    Program("tee", "exec /bin/cat");
  }
  void Program(const std::string& name, const std::string& script) {
    const std::string path = folder_.path() + "/" + name;
    testutil::WriteFile(path, absl::StrCat("#!/bin/sh\n", script, "\n"));
    ASSERT_EQ(chmod(path.c_str(), 0700), 0);
  }
  testutil::Outcome Wait(const std::vector<std::string>& names) {
    const boost::json::object container = WaitContainer({{"image", "i"}}, "", names);
    std::vector<std::string> argv;
    for (const boost::json::value& word : container.at("command").as_array()) argv.emplace_back(word.as_string());
    argv[0] = "/bin/sh";
    return testutil::RunProgram(argv, {"PATH=" + folder_.path()});
  }
  std::string Asked() { return testutil::ReadFile(folder_.path() + "/getent.asked"); }

  testutil::TemporaryFolder folder_;
};

TEST_F(WaitScriptTest, EndsWhenAllNamesResolve) {
  Program("getent", "[ $1 = hosts ] || exit 9; echo $2 >>$0.asked; [ `/bin/grep -c . $0.asked` -ge 3 ]");
  EXPECT_EQ(Wait({"wd-ps-0.wd", "wd-ps-1.wd"}).exit_code, 0);
  EXPECT_EQ(Asked(), "wd-ps-0.wd\nwd-ps-0.wd\nwd-ps-0.wd\nwd-ps-1.wd\n")
      << "a name that is found is not asked for again";
}

TEST_F(WaitScriptTest, GivesUpAndSaysWhy) {
  Program("getent", "echo $2 >>$0.asked; [ $2 = other ]");
  const testutil::Outcome outcome = Wait({"other", "wd-ps-0.wd", "never.asked"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("wd-ps-0.wd did not resolve within 600 s"));
  EXPECT_EQ(Asked().find("never.asked"), std::string::npos);
}

TEST_F(WaitScriptTest, ImagesWithoutGetentStart) {
  const testutil::Outcome outcome = Wait({"wd-ps-0.wd"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("no getent"));
}

}  // namespace
}  // namespace gangway::convert
