#include "plugin/extender/session/json_walk.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/extender/session/json_skip.h"
#include "tests/plugin/extender/session/recordings.h"
#include "tests/testing/status_matchers.h"

namespace gangway::extender {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t kCut = absl::string_view::npos;

TEST(JsonSkipTest, FindsTheEndOfEachKindOfValue) {
  for (const std::string value : {R"("a")", R"("a\"}")", R"("\\")", R"(17)", R"(-1.5e3)", R"(true)", R"(null)", R"({})",
                                  R"([])", R"({"a":[1,{"b":"]}"}]})", R"({"k:{\"uid\":\"x\"}":{".":{}}})"}) {
    for (const char* behind : {",\"x\":1}", "}", " ]"}) {
      const std::string text = absl::StrCat(value, behind);
      EXPECT_EQ(EndOfValue(text, 0), value.size()) << text;
    }
  }
}

TEST(JsonSkipTest, WhatIsCutOffHasNoEnd) {
  for (const char* text : {"", "{", "{\"a\":[}", "\"abc", "\"abc\\", "\"abc\\\"", "[{\"a\":1}", "{\"a\":\"}"})
    EXPECT_EQ(EndOfValue(text, 0), kCut) << text;
  EXPECT_EQ(EndOfValue(std::string(kMaxSkippedDepth + 100, '['), 0), kCut);
}

// Quotes and backslashes at every place of a block of 64 bytes.
TEST(JsonSkipTest, StringsMayLieAnywhere) {
  for (std::size_t shift = 0; shift < 140; ++shift) {
    for (std::size_t slashes = 0; slashes < 9; ++slashes) {
      const std::string inside = absl::StrCat(std::string(2 * slashes, '\\'), "\\\"}]");
      const std::string value = absl::StrCat("{\"", std::string(shift, 'a'), "\":\"", inside, "\",\"b\":[\"",
                                             std::string(2 * slashes, '\\'), "\"]}");
      EXPECT_EQ(EndOfValue(value + ",}", 0), value.size()) << value;
    }
  }
}

// It escapes nothing there: what follows is a quote to one reader and none to another.
TEST(JsonSkipTest, NoBackslashStandsOutsideStrings) {
  for (std::size_t shift = 0; shift < 140; ++shift) {
    const std::string blank(shift, ' ');
    EXPECT_EQ(EndOfValue(absl::StrCat("{", blank, "\\\"a\":1}"), 0), kCut) << shift;
    EXPECT_EQ(EndOfValue(absl::StrCat("{", blank, "\\}}"), 0), kCut) << shift;
    EXPECT_EQ(EndOfValue(absl::StrCat("{", blank, "}\\\""), 0), shift + 2) << "that is behind it";
  }
}

// The end of every value in a recorded body is where a walk over single bytes has it.
TEST(JsonSkipTest, AgreesWithAWalkByBytes) {
  const std::string body = testutil::Recorded("onSessionOpen-2").body;
  std::vector<std::size_t> open;
  bool in_string = false;
  std::size_t checked = 0;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (in_string) {
      if (body[i] == '\\')
        ++i;
      else if (body[i] == '"')
        in_string = false;
      continue;
    }
    if (body[i] == '"') in_string = true;
    if (body[i] == '{' || body[i] == '[') open.push_back(i);
    if (body[i] != '}' && body[i] != ']') continue;
    ASSERT_EQ(EndOfValue(body, open.back()), i + 1);
    open.pop_back();
    ++checked;
  }
  EXPECT_GT(checked, 1000u);
}

// Whatever the processor: a body that is cut off or damaged anywhere means the same to all.
TEST(JsonSkipTest, ProcessorsAgree) {
  const std::string body = testutil::Recorded("predicate-5").body;
  for (std::size_t length = 1; length <= body.size(); ++length)
    ASSERT_EQ(EndOfValue(body.substr(0, length), 0), EndOfValueByBytes(body.substr(0, length), 0)) << length;
  for (std::size_t begin = body.find('{', 1); begin != kCut; begin = body.find('{', begin + 1)) {
    ASSERT_EQ(EndOfValue(body, begin), EndOfValueByBytes(body, begin)) << begin;
    ASSERT_EQ(EndOfRest(body, begin), EndOfRestByBytes(body, begin)) << begin;
  }
  std::size_t ended = 0;
  for (std::size_t i = 0; i < body.size(); ++i) {
    for (const char c : {'"', '\\', '{', ']', ' '}) {
      std::string damaged = body;
      damaged[i] = c;
      for (const std::size_t at : {std::size_t{0}, body.find('{', 1)}) {
        const std::size_t end = EndOfValue(damaged, at);
        ASSERT_EQ(end, EndOfValueByBytes(damaged, at)) << "byte " << i << " is " << c;
        if (end != kCut) ++ended;
      }
    }
  }
  EXPECT_GT(ended, 1'000u);
}

TEST(JsonWalkTest, TakesWhatItIsToldAndStepsOverTheRest) {
  const std::string body = R"( { "a" : 1 , "skipped":{"a":[{}]},"B":"x\ty", "c":[true,false,null], "d":null } )";
  JsonWalk walk(body);
  std::int64_t a = 0;
  std::string b, d = "stays";
  std::vector<bool> c;
  GW_EXPECT_OK(walk.Struct([&](absl::string_view key) {
    if (SameKey(key, "A")) return walk.Int(a);
    if (SameKey(key, "b")) return walk.String(b);
    if (SameKey(key, "d")) return walk.String(d);
    if (!SameKey(key, "c")) return absl::OkStatus();
    return walk.List([&] {
      bool one = false;
      const absl::Status status = walk.Bool(one);
      c.push_back(one);
      return status;
    });
  }));
  GW_EXPECT_OK(walk.End());
  EXPECT_EQ(a, 1);
  EXPECT_EQ(b, "x\ty");
  EXPECT_EQ(d, "stays");
  EXPECT_THAT(c, ElementsAre(true, false, false));
}

// Keys with escapes are gone by then.
TEST(JsonWalkTest, AfterAnErrorItIsWhereItsCallerIs) {
  const std::string body = R"({"a\u0062":{"c":7}})";
  JsonWalk walk(body, "root");
  std::string text;
  EXPECT_FALSE(
      walk.Struct([&](absl::string_view) { return walk.Struct([&](absl::string_view) { return walk.String(text); }); })
          .ok());
  EXPECT_EQ(walk.path(), "root");
}

TEST(JsonWalkTest, ErrorsSayWhere) {
  const auto error = [](absl::string_view body) {
    JsonWalk walk(body);
    std::int64_t number = 0;
    absl::Status status = walk.Struct([&](absl::string_view) {
      return walk.Map([&](absl::string_view) { return walk.List([&] { return walk.Int(number); }); });
    });
    if (status.ok()) status = walk.End();
    return std::string(status.message());
  };
  EXPECT_EQ(error(R"({"Jobs":{"a/b":[1,"x"]}})"), R"(Jobs["a/b"][1]: must be an integer)");
  EXPECT_EQ(error(R"({"Jobs":{"a":[2.0]}})"), R"(Jobs["a"][0]: must be an integer)");
  EXPECT_EQ(error(R"({"Jobs":{"a":[1e3]}})"), R"(Jobs["a"][0]: must be an integer)");
  EXPECT_EQ(error(R"({"Jobs":{"a":[99999999999999999999]}})"), R"(Jobs["a"][0]: must be an integer)");
  EXPECT_EQ(error(R"({"Jobs":{"a":{}}})"), R"(Jobs["a"]: must be a list)");
  EXPECT_EQ(error(R"({"Jobs":[]})"), "Jobs: must be an object");
  EXPECT_EQ(error(R"({"Jobs":{"a":[1)"), R"(Jobs["a"]: is cut off)");
  EXPECT_EQ(error(R"({"Jobs" {}})"), "the body: a colon is expected behind a key");
  EXPECT_EQ(error(R"({"Jobs":{} "x":{}})"), "the body: a comma is expected");
  EXPECT_EQ(error(R"({"Jobs":{}} x)"), "the body: something follows after the value");
  EXPECT_EQ(error(""), "the body: must be an object");
  EXPECT_THAT(error(absl::StrCat(R"({"Jobs":{")", std::string(5000, 'k'), R"(":7}})")),
              HasSubstr("kkk\"]: must be a list"));
  EXPECT_LT(error(absl::StrCat(R"({"Jobs":{")", std::string(5000, 'k'), R"(":7}})")).size(), 200u);
}

}  // namespace
}  // namespace gangway::extender
