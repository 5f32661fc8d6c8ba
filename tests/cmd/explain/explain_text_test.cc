#include "cmd/explain/explain_text.h"

#include "absl/strings/str_cat.h"
#include "cmd/explain/language.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/phrases/phrases.h"

namespace gangway::cmd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

explain::QueueExplanation Queue(std::int64_t held, std::int64_t limit) {
  explain::QueueExplanation queue;
  queue.queue.name = "ads";
  queue.queue.known = queue.queue.open = true;
  queue.queue.amounts = {{"cpu", limit, std::nullopt, 0, held, 0, limit}};
  queue.sentence = phrases::kIsOpen;
  return queue;
}

explain::GangLine Line(const std::string& name) {
  explain::GangLine line;
  line.gang = {"default", name};
  line.queue = "ads";
  line.sentence = Words::Name("runs");
  line.holds = {{"cpu", 1000}};
  return line;
}

TEST(ExplainTextTest, NothingIsMoreThanAll) {
  EXPECT_THAT(QueueExplainText(Queue(9000, 12000), false, Language::kEnglish),
              HasSubstr("cpu: holds 9 of 12 (75%), capability 12\n"));
  EXPECT_THAT(QueueExplainText(Queue(30000, 12000), false, Language::kEnglish),
              HasSubstr("cpu: holds 30 of 12 (100%), capability 12\n"))
      << "its capability was lowered";
  EXPECT_THAT(QueueExplainText(Queue(0, 0), false, Language::kEnglish), HasSubstr("cpu: holds 0 of 0, capability 0\n"));
}

TEST(ExplainTextTest, WhatAQueueDeservesIsToldWhereItIsLess) {
  explain::QueueExplanation queue = Queue(9000, 12000);
  queue.queue.amounts[0].share = 6000;
  EXPECT_THAT(QueueExplainText(queue, false, Language::kEnglish),
              HasSubstr("cpu: holds 9 of 12 (75%), capability 12, its share while others wait is 6\n"));
  EXPECT_THAT(QueueExplainJson(queue, Language::kEnglish), HasSubstr(R"("share":6000)"));
  queue.queue.amounts[0].used = 7500;
  EXPECT_THAT(QueueExplainText(queue, false, Language::kEnglish),
              HasSubstr("capability 12, of late 7.5 on average, its share"));
  EXPECT_THAT(QueueExplainJson(queue, Language::kEnglish), HasSubstr(R"("used":7500)"));
}

TEST(ExplainTextTest, WhenAGangStartsIsToldWhereItIsKnown) {
  explain::QueueExplanation queue = Queue(9000, 12000);
  queue.waiting.push_back(Line("waits"));
  EXPECT_THAT(QueueExplainText(queue, false, Language::kEnglish), Not(HasSubstr("starts by")));
  queue.waiting.back().expected_start = absl::FromUnixSeconds(1'790'000'000);
  EXPECT_THAT(QueueExplainText(queue, false, Language::kEnglish),
              HasSubstr("; starts by 2026-09-21T14:13:20Z if nobody comes before it"));
  EXPECT_THAT(QueueExplainJson(queue, Language::kEnglish), HasSubstr(R"("expectedStart":"2026-09-21T14:13:20Z")"));
  queue.waiting.back().likely_start = absl::FromUnixSeconds(1'789'990'000);
  EXPECT_THAT(QueueExplainText(queue, false, Language::kEnglish),
              HasSubstr("leaves later than is known; starts about 2026-09-21T11:26:40Z if nobody comes before it"));
  EXPECT_THAT(QueueExplainJson(queue, Language::kEnglish), HasSubstr(R"("likelyStart":"2026-09-21T11:26:40Z")"));
  queue.waiting.back().expected_start.reset();
  EXPECT_THAT(QueueExplainText(queue, false, Language::kEnglish),
              HasSubstr("; runs; starts about 2026-09-21T11:26:40Z"));
}

TEST(ExplainTextTest, LongListsAreCutUnlessAllIsWanted) {
  explain::QueueExplanation queue = Queue(9000, 12000);
  for (int i = 0; i < 7; ++i) queue.holders.push_back(Line(absl::StrCat("g", i)));
  EXPECT_THAT(
      QueueExplainText(queue, false, Language::kEnglish),
      AllOf(HasSubstr("  default/g4 (queue ads, priority 0): holds cpu 1; runs\n  and 2 more (-o wide names them)\n"),
            Not(HasSubstr("default/g5"))));
  EXPECT_THAT(QueueExplainText(queue, true, Language::kEnglish),
              AllOf(HasSubstr("  default/g6 ("), Not(HasSubstr("more"))));
}

TEST(ExplainTextTest, APodGroupOfAJobHasTheJobsName) {
  explain::QueueExplanation queue = Queue(9000, 12000);
  const std::string uid = "4db7f75f-e27c-42c2-9634-32167e348c72";
  queue.holders = {Line(absl::StrCat("ctr-", uid)), Line(absl::StrCat("ctr", uid)),
                   Line("x-4db7f75f-e27c-42c2-9634_32167e348c72"), Line(uid)};
  EXPECT_THAT(QueueExplainText(queue, false, Language::kEnglish),
              AllOf(HasSubstr("  default/ctr (queue"), HasSubstr(absl::StrCat("  default/ctr", uid, " (")),
                    HasSubstr("9634_32167e348c72 ("), HasSubstr(absl::StrCat("  default/", uid, " ("))));
  EXPECT_THAT(QueueExplainText(queue, true, Language::kEnglish), HasSubstr(absl::StrCat("  default/ctr-", uid, " (")));
  EXPECT_THAT(QueueExplainJson(queue, Language::kEnglish), HasSubstr(absl::StrCat("\"name\":\"ctr-", uid, "\"")));
}

TEST(ExplainTextTest, APodGroupOfPodsThatNoJobMadeHasItsWholeName) {
  explain::QueueExplanation queue = Queue(9000, 12000);
  const std::string name = "podgroup-4db7f75f-e27c-42c2-9634-32167e348c72";
  queue.holders = {Line(name), Line(absl::StrCat("my-", name))};
  EXPECT_THAT(QueueExplainText(queue, false, Language::kEnglish),
              AllOf(HasSubstr(absl::StrCat("  default/", name, " (queue")), HasSubstr("  default/my-podgroup (queue")));
}

TEST(ExplainTextTest, NobodyIsMissedWhereAVolumeIsAwaited) {
  ExplainAnswer answer;
  answer.subject = "podgroup default/x";
  answer.explanation.state = explain::State::kStarts;
  EXPECT_THAT(ExplainText(answer, false, Language::kEnglish), HasSubstr("nobody schedules it"));
  answer.explanation.awaits_volume = true;
  EXPECT_THAT(ExplainText(answer, false, Language::kEnglish), Not(HasSubstr("nobody schedules it")));
}

TEST(ExplainTextTest, NobodyWritesLinesOfOurs) {
  ExplainAnswer answer;
  answer.subject = "job default/x\nforged";
  answer.explanation.sentence = Words::Name("waits for pod \x1b[31m");
  EXPECT_THAT(ExplainText(answer, false, Language::kEnglish),
              HasSubstr("job default/x\\nforged waits for pod \\u001b[31m\n"));
}

TEST(ExplainTextTest, WhatOneGangWithoutPodsIsPromised) {
  ExplainAnswer answer;
  answer.subject = "podgroup default/x";
  answer.explanation.state = explain::State::kQueued;
  EXPECT_THAT(ExplainText(answer, false, Language::kEnglish),
              HasSubstr("\nWould help: no single change of those that were tried\n"));
  answer.explanation.suggestions = {{{phrases::kQueueNamed, std::string("ads")}, "queue=ads", {}}};
  EXPECT_THAT(ExplainText(answer, false, Language::kEnglish),
              HasSubstr("\nWould let it in, each alone, as was tried:\n  queue ads  --what-if queue=ads\n"));
}

// Of a what-if: whose pods go, and from when it runs.
TEST(ExplainTextTest, WhoGoesForAWhatIfIsTold) {
  ExplainAnswer answer;
  answer.subject = "job default/x";
  answer.explanation.sentence = Words::Name("waits");
  WhatIf& what_if = answer.what_if.emplace();
  what_if.words = {"priority=high"};
  what_if.texts = {Words::Name("priority class high")};
  what_if.starts = true;
  what_if.then.state = explain::State::kWaits;
  what_if.then.sentence = Words::Name("waits for room");
  what_if.then.evicted = {{{"ads", "low"}, "batch", 10, 3, {"low-w-1", "low-w-2"}}};
  what_if.then.evict_for = model::EvictFor::kPriority;
  what_if.then.expected_start = absl::FromUnixSeconds(1'790'000'000);
  const std::string text = ExplainText(answer, false, Language::kEnglish);
  EXPECT_THAT(text, HasSubstr("With priority class high: yes, when pods have ended; until then it waits for room\n"
                              "Would be evicted for its priority:\n"
                              "  ads/low (queue batch, priority 10): 2 of its 3 pods\n"
                              "As far as ends of pods are known it starts by 2026-09-21T14:13:20Z if nobody comes"));
  EXPECT_THAT(ExplainText(answer, true, Language::kEnglish), HasSubstr("3 pods\n    low-w-1 low-w-2\n"));
  EXPECT_THAT(ExplainJson(answer, Language::kEnglish),
              AllOf(HasSubstr(R"("starts":true,"state":"waiting","sentence":"waits for room")"),
                    HasSubstr(R"("expectedStart":"2026-09-21T14:13:20Z")"),
                    HasSubstr(R"("evicts":[{"namespace":"ads","name":"low","queue":"batch","priority":10,)"
                              R"("for":"priority","pods":["low-w-1","low-w-2"]}])")));
  what_if.starts = false;
  EXPECT_THAT(ExplainText(answer, false, Language::kEnglish), HasSubstr("With priority class high: no, it waits"));
}

TEST(ExplainTextTest, TheSameInChinese) {
  explain::QueueExplanation queue = Queue(9000, 12000);
  for (int i = 0; i < 6; ++i) queue.holders.push_back(Line(absl::StrCat("g", i)));
  const std::string text = QueueExplainText(queue, false, Language::kChinese);
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("queue ads 已开启\n队列 ads：开启，权重 1，优先级 0\n"),
            HasSubstr("  cpu：占用 9/12 (75%)，容量上限（capability）12\n占用资源：\n"),
            HasSubstr("  default/g4（队列 ads，优先级 0）：占用 cpu 1；runs\n  另有 1 项（-o wide 会全部列出）\n")));
  EXPECT_THAT(QueueExplainJson(queue, Language::kChinese), HasSubstr(R"("subject":"queue ads","sentence":"已开启")"));
}

TEST(LanguageTest, TheEnvironmentsFirstWordIsTheOneThatCounts) {
  const auto chinese = [](absl::string_view all, absl::string_view messages, absl::string_view lang) {
    return LanguageOf(all, messages, lang) == Language::kChinese;
  };
  EXPECT_TRUE(chinese("", "", "zh_CN.UTF-8"));
  EXPECT_TRUE(chinese("", "zh_SG.utf8", "en_US.UTF-8"));
  EXPECT_TRUE(chinese("zh.UTF-8@pinyin", "C", "C"));
  EXPECT_FALSE(chinese("C", "", "zh_CN.UTF-8"));
  EXPECT_FALSE(chinese("", "en_US.UTF-8", "zh_CN.UTF-8"));
  EXPECT_FALSE(chinese("", "", ""));
  EXPECT_FALSE(chinese("", "", "zh_TW.UTF-8")) << "reads other characters";
  EXPECT_FALSE(chinese("", "", "zh_CN.GB18030")) << "its terminal could not show it";
  EXPECT_FALSE(chinese("", "", "zh_CN"));
  EXPECT_FALSE(chinese("", "", "zhuang.UTF-8"));
}

}  // namespace
}  // namespace gangway::cmd
