#include "cmd/completion/names.h"

#include "api/volcano/kinds.h"
#include "cmd/completion/shells.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::cmd {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A program of two commands, one with a command below it.
class CompletionTest : public ::testing::Test {
 protected:
  CompletionTest() {
    CommandLine job = app_.Add("job", "looks at jobs");
    CommandLine view = job.Add("view", "shows one");
    view.Add("name", names_, "which");
    view.Add("-n,--namespace", ns_, "where");
    view.AddSwitch("--wait", wait_, "waits");
    app_.Add("join", "joins");
  }
  std::vector<std::string> Words(const std::vector<std::string>& typed) const {
    std::vector<std::string> out;
    for (const Completion::Word& word : app_.Complete(typed).words) out.push_back(word.word);
    return out;
  }

  MainCommand app_{"gangway", "gangs", "0"};
  std::vector<std::string> names_;
  std::string ns_;
  bool wait_ = false;
};

TEST_F(CompletionTest, CommandsAreOfferedWhereTheyMayStand) {
  EXPECT_THAT(Words({"jo"}), ElementsAre("job", "join"));
  EXPECT_THAT(Words({"job", ""}), ElementsAre("view"));
  EXPECT_THAT(Words({"x"}), IsEmpty());
  EXPECT_THAT(Words({"job", "view", ""}), IsEmpty());
}

TEST_F(CompletionTest, FlagsAreThoseOfTheCommandThatStandsThere) {
  EXPECT_THAT(Words({"job", "view", "--n"}), ElementsAre("--namespace"));
  EXPECT_THAT(Words({"job", "view", "--wa"}), ElementsAre("--wait"));
  EXPECT_THAT(Words({"--namesp"}), IsEmpty());
}

TEST_F(CompletionTest, AFlagsValueIsNoWordAndASwitchHasNone) {
  EXPECT_EQ(app_.Complete({"job", "view", "-n", "a"}).flag, "--namespace");
  EXPECT_EQ(app_.Complete({"job", "view", "-n", "ads", "x"}).flag, "");
  EXPECT_THAT(app_.Complete({"job", "view", "-n", "ads", ""}).given, IsEmpty());
  EXPECT_THAT(app_.Complete({"job", "view", "--namespace=ads", "one", ""}).given, ElementsAre("one"));
  EXPECT_EQ(app_.Complete({"job", "view", "--wait", ""}).flag, "");
  const Completion within = app_.Complete({"job", "view", "--namespace=ku"});
  EXPECT_EQ(within.flag, "--namespace");
  EXPECT_EQ(within.begun, "ku");
  EXPECT_EQ(app_.Complete({"job", "view", "--wait=t"}).flag, "");
  EXPECT_EQ(app_.Complete({"job", "view", "-n", "a=b"}).begun, "a=b");
}

TEST_F(CompletionTest, NamesAreOfWhatTheCommandTakes) {
  EXPECT_EQ(SoughtAt(app_.Complete({"job", "view", ""})).resource, &api::kJobs);
  EXPECT_EQ(SoughtAt(app_.Complete({"job", "view", "one", "t"})).resource, &api::kJobs);
  EXPECT_EQ(SoughtAt(app_.Complete({"join", ""})).resource, nullptr);
  EXPECT_EQ(SoughtAt({{}, {"logs"}, {}, "", ""}).resource, &api::kJobs);
  EXPECT_EQ(SoughtAt({{}, {"logs"}, {"one"}, "", ""}).resource, nullptr);
  EXPECT_THAT(SoughtAt({{}, {"explain"}, {}, "", ""}).words, ElementsAre("job", "podgroup", "pod", "queue"));
  EXPECT_EQ(SoughtAt({{}, {"explain"}, {"queue"}, "", ""}).resource, &api::kQueues);
  EXPECT_EQ(SoughtAt({{}, {"job", "list"}, {}, "--queue", ""}).resource, &api::kQueues);
  EXPECT_TRUE(SoughtAt({{}, {"validate"}, {}, "--filename", ""}).files);
}

TEST_F(CompletionTest, ThreeShellsAreKnown) {
  for (const char* shell : {"bash", "zsh", "fish"}) EXPECT_NE(LinesOf(shell), "") << shell;
  EXPECT_EQ(LinesOf("csh"), "");
}

}  // namespace
}  // namespace gangway::cmd
