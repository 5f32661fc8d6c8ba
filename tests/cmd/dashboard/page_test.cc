// The page: rows as HTML, languages, and what an open page is sent.
#include "cmd/dashboard/page/page.h"

#include <optional>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json.h"
#include "cmd/dashboard/page/files.h"
#include "cmd/dashboard/page/html.h"
#include "cmd/dashboard/page/sheet.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::dashboard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A view in which every text is this.
View Of(const std::string& text) {
  View view;
  QueueRow queue;
  queue.name = queue.parent = queue.state = text;
  queue.held = queue.deserved = queue.capability = queue.asked = {{text, 3}};
  view.queues.push_back(queue);
  GangRow gang;
  gang.ns = gang.name = gang.owner = gang.owner_kind = gang.queue = gang.phase = gang.reason = text;
  view.gangs.push_back(gang);
  NodeRow node;
  node.name = node.leading = text;
  node.all_held = {{text, 3}};
  node.allocatable = 8;
  node.holders.push_back({text, text, 2, 3});
  view.nodes.push_back(node);
  JobRow job;
  job.ns = job.name = job.queue = job.phase = job.message = text;
  job.tasks.push_back({text, 2, 1, 1, 0, 0});
  job.nodes = {text};
  for (const Moment::What what : {Moment::What::kCreated, Moment::What::kPhase, Moment::What::kFailed,
                                  Moment::What::kAction, Moment::What::kWarning}) {
    job.life.push_back({what, absl::FromUnixSeconds(1'795'503'600), text, 1});
  }
  view.jobs.push_back(job);
  PaddleRow paddle;
  paddle.ns = paddle.name = paddle.group = paddle.phase = paddle.mode = paddle.queue = paddle.message = text;
  paddle.roles.push_back({text, 2, 0, 1, 0, 1});
  view.paddle_jobs.push_back(paddle);
  view.not_seen = {text};
  return view;
}

std::string Page(const View& view, PageText text = {}) { return RenderPage(RowsOf(view, text.lang), text); }

// Tags of a page, without what follows their names.
std::multiset<std::string> TagsOf(absl::string_view html) {
  std::multiset<std::string> tags;
  for (std::size_t at = html.find('<'); at != absl::string_view::npos; at = html.find('<', at + 1))
    tags.insert(std::string(html.substr(at, html.find_first_of(" >", at) - at)));
  return tags;
}
std::size_t CountOf(absl::string_view text, absl::string_view what) {
  return std::vector<std::string>(absl::StrSplit(text, what)).size() - 1;
}

TEST(PageTest, WithoutScriptsItComesAgainUntilAllIsRead) {
  const std::string again = R"(<noscript><meta http-equiv="refresh" content="1"></noscript></head>)";
  EXPECT_THAT(Page(View(), {.reading = true}), HasSubstr(again));
  EXPECT_THAT(Page(View()), Not(HasSubstr("noscript")));
}

TEST(PageTest, HostileTextsAddNoTagNoAttributeAndNoLine) {
  const std::string plain = Page(Of("plain"));
  for (const std::string hostile :
       {"<script>alert(1)</script>", "\" onmouseover=\"alert(1)", "' autofocus onfocus='alert(1)", "</title></svg><b>",
        "&lt;img src=x onerror=alert(1)&gt;", "<!--", "]]>", "\x1b[31m", "\xff\xfe",
        "\xe2\x80\xae"
        "gnp.exe",
        "a\nb\r\nc"}) {
    const std::string page = Page(Of(hostile), {.query = hostile, .version = hostile, .server = hostile});
    EXPECT_EQ(TagsOf(page), TagsOf(plain)) << hostile;
    EXPECT_EQ(CountOf(page, "\""), CountOf(plain, "\"")) << hostile;
    EXPECT_THAT(page, AllOf(Not(HasSubstr("'")), Not(HasSubstr("\x1b")), Not(HasSubstr("\xe2\x80\xae")),
                            Not(HasSubstr("\xff"))))
        << hostile;
    EXPECT_EQ(CountOf(page, "\n"), 1u);
  }
}

// A page finds its rows by what it is sent.
TEST(PageTest, ARowIsCalledTheSameInHtmlAndInWhatIsSent) {
  std::set<std::string> ids;
  const std::vector<std::string> names{"ads",  "odd\xe2\x80\xaequeue", "odd\\u202equeue",
                                       "a\nb", std::string(700, 'x'),  std::string(701, 'x')};
  for (const std::string& name : names) {
    View view = Of("plain");
    view.queues[0].name = name;
    const HtmlRow row = RowsOf(view, Lang::kEnglish)[static_cast<std::size_t>(Part::kQueues)].rows.at(0);
    EXPECT_THAT(row.html, StartsWith(absl::StrCat("<tr id=\"", row.id, "\">"))) << name;
    ids.insert(row.id);
  }
  EXPECT_EQ(ids.size(), names.size());
  EXPECT_THAT(ids, ::testing::Contains("q:ads"));
}

TEST(PageTest, AmountsBeyondAllMeasureFillTheirBars) {
  View view = Of("x");
  view.queues[0].deserved = {{"x", 1}};
  view.queues[0].held = {{"x", std::int64_t{1} << 62}};
  view.nodes[0].allocatable = 1;
  view.nodes[0].holders[0].amount = std::int64_t{1} << 62;
  EXPECT_THAT(Page(view), AllOf(HasSubstr("<rect width=\"100\" height=\"4\" class=\"over\"/>"),
                                HasSubstr("<rect x=\"0\" width=\"1000\" height=\"10\" class=\"c")));
}

TEST(PageTest, TextsAreCut) {
  const std::string page = Page(Of(std::string(100'000, 'x')));
  EXPECT_LT(page.size(), 60'000u);
  EXPECT_EQ(Escaped(std::string(kMaxText, 'x')).size(), kMaxText);
  EXPECT_THAT(Escaped(std::string(kMaxText - 1, 'x') + "中"), AllOf(Not(HasSubstr("\xe4")), HasSubstr("x…")));
}

TEST(PageTest, ReadsWithoutAScript) {
  View view = Of("ctr");
  view.gangs[0].reason = "waits for 1 of 7 tasks: worker needs cpu 12";
  const std::string page = Page(view);
  EXPECT_THAT(
      page,
      AllOf(StartsWith("<!doctype html><html lang=\"en\">"), HasSubstr("<h2>Queues <small id=\"count:queues\">1<"),
            HasSubstr("<td>waits for 1 of 7 tasks: worker needs cpu 12</td>"), HasSubstr("<details id=\"j:ctr/ctr\">"),
            HasSubstr("<time datetime=\"2026-11-24T07:00:00Z\">"), HasSubstr("</time> created: ctr</li>"),
            HasSubstr("<title>ctr/ctr 3 ctr (2)</title>")));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("://")), Not(HasSubstr("style=\"")), Not(HasSubstr("<script>"))))
      << "nothing from elsewhere, nothing that the policy refuses";
}

TEST(PageTest, SearchHidesRowsWithoutTheText) {
  View view = Of("ctr");
  view.queues.push_back(view.queues[0]);
  view.queues[1].name = "Nlp&co";
  view.queues[1].parent = "";
  const std::string page = Page(view, {.query = "nLP&Co"});
  EXPECT_THAT(page, AllOf(HasSubstr("<tr hidden id=\"q:ctr\""), HasSubstr("<tr id=\"q:Nlp&amp;co\""),
                          HasSubstr("<details hidden id=\"j:ctr/ctr\""), HasSubstr("value=\"nLP&amp;Co\"")));
  EXPECT_THAT(Page(view, {.query = "tr id"}), HasSubstr("<tr hidden id=\"q:ctr\"")) << "not in tags";
}

TEST(PageTest, SpeaksChinese) {
  const std::string page = Page(Of("ctr"), {.lang = Lang::kChinese});
  EXPECT_THAT(page, AllOf(HasSubstr("<html lang=\"zh\">"), HasSubstr("<h2>队列"), HasSubstr("等待原因"),
                          HasSubstr("href=\"/?lang=en\""), Not(HasSubstr("Deserved"))));
}

TEST(PageTest, OfVeryManyRowsTheFirstAreShownAndTheOthersCounted) {
  View view;
  view.jobs.resize(kMaxRows + 3, Of("x").jobs[0]);
  for (std::size_t i = 0; i < view.jobs.size(); ++i) view.jobs[i].name = absl::StrCat(i);
  const SheetRows rows = RowsOf(view, Lang::kEnglish);
  EXPECT_EQ(rows[static_cast<std::size_t>(Part::kJobs)].rows.size(), kMaxRows + 1);
  EXPECT_THAT(Page(view), AllOf(HasSubstr(">2003<"), HasSubstr("3 more are not shown")));
}

TEST(PageTest, RowsBeyondTheFirstPaintAreOneTextToABrowserWithScripts) {
  View view;
  view.queues.resize(kFirstRows + 2, Of("</noscript>").queues[0]);
  for (std::size_t i = 0; i < view.queues.size(); ++i) view.queues[i].name = absl::StrCat("q", 100 + i);
  view.nodes = Of("x").nodes;
  const std::string page = Page(view);
  const std::string last = absl::StrCat("id=\"q:q", 99 + kFirstRows, "\""),
                    next = absl::StrCat("<noscript><table><tbody><tr id=\"q:q", 100 + kFirstRows, "\"");
  EXPECT_LT(page.find(last), page.find(next));
  EXPECT_THAT(page, HasSubstr(next));
  EXPECT_EQ(CountOf(page, "<tr id=\"q:"), kFirstRows + 2);
  EXPECT_EQ(CountOf(page, "<noscript>"), 1u) << "the parts that are short have none";
  EXPECT_EQ(CountOf(page, "</tr></tbody></table></noscript></section>"), 1u);
  EXPECT_EQ(CountOf(page, "</noscript>"), 1u) << "nothing of a row ends it";
}

TEST(WordsTest, TheQueryGoesBeforeTheBrowser) {
  EXPECT_EQ(ChooseLang("zh", "en"), Lang::kChinese);
  EXPECT_EQ(ChooseLang("en", "zh-CN"), Lang::kEnglish);
  EXPECT_EQ(ChooseLang("xx", "zh-CN,zh;q=0.9,en;q=0.8"), Lang::kChinese);
  EXPECT_EQ(ChooseLang("", "zh;q=0.5,en-GB;q=0.8"), Lang::kEnglish);
  EXPECT_EQ(ChooseLang("", "zh;q=nonsense"), Lang::kEnglish);
  EXPECT_EQ(ChooseLang("", "zh;q=0"), Lang::kEnglish);
  EXPECT_EQ(ChooseLang("", "fr, zh-TW;q=0.1"), Lang::kChinese);
  EXPECT_EQ(ChooseLang("", ""), Lang::kEnglish);
}

TEST(WordsTest, EachHasATextInBothLanguages) {
  for (int i = 0; i <= static_cast<int>(Word::kReading); ++i) {
    EXPECT_FALSE(TextOf(static_cast<Word>(i), Lang::kEnglish).empty()) << i;
    EXPECT_FALSE(TextOf(static_cast<Word>(i), Lang::kChinese).empty()) << i;
  }
}

TEST(FilesTest, AreThereAndAskForNothingFromElsewhere) {
  for (const char* path : {"/dashboard.css", "/dashboard.js", "/icon.svg"}) {
    ASSERT_NE(FindFile(path), nullptr) << path;
    EXPECT_THAT(std::string(FindFile(path)->text), Not(HasSubstr("https://")));
  }
  EXPECT_EQ(FindFile("/dashboard.html"), nullptr);
  EXPECT_EQ(FindFile("/../etc/passwd"), nullptr);
}

SheetRows Queues(std::vector<std::pair<std::string, std::string>> rows) {
  SheetRows out;
  for (auto& [id, html] : rows) out[static_cast<std::size_t>(Part::kQueues)].rows.push_back({id, html});
  out[static_cast<std::size_t>(Part::kQueues)].count = rows.size();
  return out;
}

TEST(SheetTest, TellsWhatChangedSinceAVersionAndWhereItStands) {
  Sheet sheet;
  EXPECT_TRUE(sheet.Take(Queues({{"a", "1"}, {"b", "1"}})));
  EXPECT_EQ(sheet.version(), 1u);
  EXPECT_FALSE(sheet.Take(Queues({{"a", "1"}, {"b", "1"}})));
  EXPECT_EQ(sheet.version(), 1u) << "nothing changed";
  EXPECT_TRUE(sheet.Take(Queues({{"a", "1"}, {"c", "\"\n"}, {"b", "2"}})));
  EXPECT_EQ(
      sheet.ChangedSince(1, "e."),
      R"({"version":"e.2","counts":{"top":0,"queues":3,"gangs":0,"nodes":0,"jobs":0,"paddlejobs":0},)"
      R"("rows":[{"part":"queues","id":"c","after":"a","html":"\"\n"},{"part":"queues","id":"b","after":"c","html":"2"}],"gone":[]})");
  EXPECT_TRUE(sheet.Take(Queues({{"b", "2"}})));
  EXPECT_THAT(*sheet.ChangedSince(2, ""), AllOf(HasSubstr(R"("rows":[],"gone":["a","c"]})")));
  EXPECT_THAT(*sheet.ChangedSince(1, ""), HasSubstr(R"("id":"b","after":"")"));
  EXPECT_TRUE(sheet.Take(Queues({{"a", "1"}, {"b", "2"}})));
  EXPECT_THAT(*sheet.ChangedSince(2, ""), AllOf(HasSubstr(R"("id":"a")"), HasSubstr(R"("gone":["c"])")))
      << "what is there again is not gone";
  EXPECT_EQ(sheet.ChangedSince(sheet.version() + 1, ""), std::nullopt) << "of another process";
}

TEST(SheetTest, ForgetsWhatWentLongAgoAndSaysSo) {
  Sheet sheet;
  sheet.Take(Queues({{"a", "1"}}));
  for (std::size_t i = 0; i < Sheet::kMaxGone + 2; ++i) sheet.Take(Queues({{absl::StrCat(i), "1"}}));
  EXPECT_EQ(sheet.ChangedSince(1, ""), std::nullopt);
  EXPECT_NE(sheet.ChangedSince(sheet.version() - 1, ""), std::nullopt);
}

TEST(SheetTest, WhatIsSentIsJsonOnOneLine) {
  Sheet sheet;
  sheet.Take(RowsOf(Of("a\nb\"\\\xff"), Lang::kChinese));
  const std::string change = *sheet.ChangedSince(0, "e.");
  EXPECT_TRUE(api::ParseCompletely(change).ok());
  EXPECT_FALSE(absl::StrContains(change, "\n"));
}

}  // namespace
}  // namespace gangway::dashboard
