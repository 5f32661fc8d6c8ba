#include "base/log.h"

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

namespace gangway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LogTest : public ::testing::Test {
 protected:
  void Configure(log::Format format, log::Level level = log::Level::kInfo, absl::Duration window = absl::Seconds(10)) {
    log::Options options;
    options.format = format;
    options.level = level;
    options.repeat_window = window;
    options.sink = [this](absl::string_view line) { lines_.emplace_back(line); };
    options.now = [this] { return now_; };
    log::Configure(std::move(options));
  }
  void TearDown() override { log::Configure({}); }

  std::vector<std::string> lines_;
  absl::Time now_ = absl::FromUnixSeconds(1'767'225'600);
};

TEST_F(LogTest, JsonHasStableKeysFirstAndFieldsInOrder) {
  Configure(log::Format::kJson);
  log::Info(
      "job restarted",
      {{"job", "default/ctr"}, {"version", 3}, {"share", 0.5}, {"whole", true}, {"took", absl::Milliseconds(1500)}});
  EXPECT_THAT(
      lines_,
      ElementsAre(R"({"ts":"2026-01-01T00:00:00.000000Z","level":"info","msg":"job restarted","job":"default/ctr",)"
                  R"("version":3,"share":0.5,"whole":true,"took":"1.5s"})"));
}

TEST_F(LogTest, JsonSurvivesAnyBytes) {
  Configure(log::Format::kJson);
  log::Warning("say \"hi\"\n", {{"path", "a\\b"}, {"bytes", std::string("\x01\xff\xc3\xa9\xed\xa0\x80", 7)}});
  EXPECT_THAT(
      lines_,
      ElementsAre(
          "{\"ts\":\"2026-01-01T00:00:00.000000Z\",\"level\":\"warning\",\"msg\":\"say \\\"hi\\\"\\n\","
          "\"path\":\"a\\\\b\",\"bytes\":\"\\u0001\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"}"));
}

TEST_F(LogTest, TextQuotesOnlyWhatNeedsIt) {
  Configure(log::Format::kText);
  log::Error("write refused", {{"key", "default/ctr"}, {"error", "no such thing"}, {"empty", ""}});
  EXPECT_THAT(
      lines_,
      ElementsAre(R"(2026-01-01T00:00:00.000000Z error write refused key=default/ctr error="no such thing" empty="")"));
}

// What objects are called and servers answer stands in logs; a terminal that shows them does nothing else.
TEST_F(LogTest, NothingInALineReachesATerminal) {
  Configure(log::Format::kText);
  log::Error("refused: \x1b[31m\nforged", {{"key",
                                            "a\xe2\x80\xae"
                                            "b"},
                                           {"error", "\x1b]0;x\x07\xc2\x9b"}});
  Configure(log::Format::kJson);
  log::Error("\x1b[31m", {{"key",
                           "a\xe2\x80\xae"
                           "b"}});
  EXPECT_THAT(
      lines_,
      ElementsAre(
          R"(2026-01-01T00:00:00.000000Z error refused: \u001b[31m\nforged key="a\u202eb" error="\u001b]0;x\u0007\u009b")",
          R"({"ts":"2026-01-01T00:00:00.000000Z","level":"error","msg":"\u001b[31m","key":"a\u202eb"})"));
}

TEST_F(LogTest, LevelsBelowAreSilent) {
  Configure(log::Format::kText, log::Level::kWarning);
  log::Debug("a");
  log::Info("b");
  log::Warning("c");
  EXPECT_THAT(lines_, SizeIs(1));
  EXPECT_FALSE(log::Enabled(log::Level::kInfo));
  EXPECT_TRUE(log::Enabled(log::Level::kError));
  Configure(log::Format::kText, log::Level::kOff);
  log::Error("d");
  EXPECT_THAT(lines_, SizeIs(1));
}

TEST_F(LogTest, RepeatsAreCountedNotPrinted) {
  Configure(log::Format::kText);
  for (int i = 0; i < 5; ++i) {
    log::Info("waits", {{"gang", "ctr"}});
    now_ += absl::Seconds(1);
  }
  log::Info("waits", {{"gang", "ads"}});
  EXPECT_THAT(lines_, SizeIs(2));
  lines_.clear();
  now_ += absl::Seconds(6);
  log::Info("other");
  EXPECT_THAT(lines_, ElementsAre("2026-01-01T00:00:11.000000Z info waits gang=ctr repeated=4",
                                  "2026-01-01T00:00:11.000000Z info other"));
  lines_.clear();
  log::Info("waits", {{"gang", "ctr"}});  // its window is over
  EXPECT_THAT(lines_, SizeIs(1));
}

TEST_F(LogTest, FlushPrintsTheCounts) {
  Configure(log::Format::kJson);
  log::Info("a");
  log::Info("a");
  lines_.clear();
  log::Flush();
  EXPECT_THAT(lines_, ElementsAre(R"({"ts":"2026-01-01T00:00:00.000000Z","level":"info","msg":"a","repeated":1})"));
  log::Flush();
  EXPECT_THAT(lines_, SizeIs(1));
}

TEST_F(LogTest, ParsesLevels) {
  log::Level level = log::Level::kInfo;
  EXPECT_TRUE(log::ParseLevel("error", level));
  EXPECT_EQ(level, log::Level::kError);
  EXPECT_FALSE(log::ParseLevel("loud", level));
  EXPECT_EQ(level, log::Level::kError);
}

TEST_F(LogTest, ThreadsDoNotMixTheirLines) {
  Configure(log::Format::kJson, log::Level::kInfo, absl::ZeroDuration());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) log::Info("line", {{"thread", t}, {"i", i}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(lines_, SizeIs(800));
  for (const std::string& line : lines_) EXPECT_TRUE(line.front() == '{' && line.back() == '}') << line;
}

}  // namespace
}  // namespace gangway
