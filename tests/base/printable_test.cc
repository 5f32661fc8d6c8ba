#include "base/printable.h"

#include <random>

#include "base/utf8.h"
#include "gtest/gtest.h"

namespace gangway {
namespace {

TEST(PrintableTest, WhatIsShownAsItIs) {
  for (const char* const text : {"", "ctr-volcano", "spec.tasks[0].name: \"a\\b\"", "训练任务 μ é ½", "\U0001F600"}) {
    EXPECT_EQ(OneLine(text), text);
    EXPECT_EQ(Lines(text), text);
  }
}

struct EscapedCase {
  const char* text;
  const char* escaped;
};

class EscapedTest : public ::testing::TestWithParam<EscapedCase> {};

TEST_P(EscapedTest, IsWrittenOut) {
  EXPECT_EQ(OneLine(GetParam().text), GetParam().escaped);
  EXPECT_EQ(Lines(GetParam().text), GetParam().escaped);
}

INSTANTIATE_TEST_SUITE_P(
    All, EscapedTest,
    ::testing::Values(EscapedCase{"\x1b[31mred\x1b[0m", "\\u001b[31mred\\u001b[0m"},  // colours
                      EscapedCase{"\x1b]0;title\x07", "\\u001b]0;title\\u0007"},      // the title of a window
                      EscapedCase{"ok\rno", "ok\\rno"}, EscapedCase{"a\x08z\x7f", "a\\u0008z\\u007f"},
                      EscapedCase{"\xc2\x9b"
                                  "31m",
                                  "\\u009b31m"},  // C1: the same as ESC [
                      EscapedCase{"\x9b"
                                  "31m",
                                  "\\x9b31m"},  // and as a byte alone
                      EscapedCase{"a\xe2\x80\xae"
                                  "b",
                                  "a\\u202eb"},
                      EscapedCase{"\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad", "\\u202a\\u202b\\u202c\\u202d"},
                      EscapedCase{"\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9", "\\u2066\\u2067\\u2068\\u2069"},
                      EscapedCase{"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "\\u200e\\u200f\\u061c"},
                      EscapedCase{"a\xe2\x80\x8b"
                                  "b",
                                  "a\\u200bb"},
                      EscapedCase{"\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029"}, EscapedCase{"\xef\xbb\xbf", "\\ufeff"},
                      EscapedCase{"\xf3\xa0\x81\x81", "\\U000e0041"},  // tags: not seen at all
                      EscapedCase{"\xff\xc0\xaf", "\\xff\\xc0\\xaf"}, EscapedCase{"\xed\xa0\x80", "\\xed\\xa0\\x80"}));

TEST(PrintableTest, LineFeedsAndTabsAreLayoutOnlyInLines) {
  EXPECT_EQ(OneLine("a\n\tb"), "a\\n\\tb");
  EXPECT_EQ(Lines("a\n\tb"), "a\n\tb");
  EXPECT_EQ(OneLine(std::string("a\0b", 3)), "a\\u0000b");
}

TEST(PrintableTest, InMarkupItIsTextAlone) {
  EXPECT_EQ(MarkupText("<a b='c' d=\"e\">&amp;\n\xe4\xbd\x9c"),
            "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;amp;\\n\xe4\xbd\x9c");
}

TEST(PrintableTest, JsonSaysTheSame) {
  EXPECT_EQ(PrintableJson("{\n\"a\":\"\\u001b \xe2\x80\xae\x7f \xf3\xa0\x81\x81 \xe8\xae\xad\"}\n"),
            "{\n\"a\":\"\\u001b \\u202e\\u007f \\udb40\\udc41 \xe8\xae\xad\"}\n");
}

// Whatever the bytes: what comes out is UTF-8, printable, and not changed again.
TEST(PrintableTest, AnyBytes) {
  constexpr unsigned kSeed = 20261122;
  std::mt19937 random(kSeed);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 12, '\0');
    for (char& c : text)
      c = static_cast<char>(static_cast<unsigned char>(random() % 4 == 0 ? random() : 0x80u + random() % 0x80u));
    const std::string shown = OneLine(text);
    for (std::size_t i = 0, length = 0; i < shown.size(); i += length) {
      length = Utf8Length(shown, i);
      ASSERT_NE(length, 0u) << "seed " << kSeed << ", round " << round << ": " << shown;
      ASSERT_TRUE(IsPrintable(Utf8Decode(shown, i, length)))
          << "seed " << kSeed << ", round " << round << ": " << shown;
    }
    ASSERT_EQ(OneLine(shown), shown);
    ASSERT_EQ(Lines(shown), shown);
  }
}

}  // namespace
}  // namespace gangway
