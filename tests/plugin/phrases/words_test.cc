#include "plugin/phrases/words.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"
#include "tests/testing/files.h"

namespace gangway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Phrase kOf("$0 of $1", "$1 中的 $0");
constexpr CountedPhrase kThings("$0 thing", "$0 things", "$0 个东西");
constexpr Phrase kAlso(" and ", "和");

TEST(WordsTest, EachLanguageHasItsOrder) {
  const Words words(kOf, 3, std::string("all"));
  EXPECT_EQ(words.English(), "3 of all");
  EXPECT_EQ(words.In(Language::kChinese), "all 中的 3");
}

TEST(WordsTest, WordsStandInPlacesOfWords) {
  const auto things = [](int count) { return Words(kThings(count), count); };
  const Words words(kOf, things(1), Words::Joined({things(2), Words(), things(5)}, kAlso));
  EXPECT_EQ(words.English(), "1 thing of 2 things and 5 things");
  EXPECT_EQ(words.In(Language::kChinese), "2 个东西和5 个东西 中的 1 个东西");
}

TEST(WordsTest, OneIsSaidAfterTheOther) {
  Words words;
  EXPECT_TRUE(words.empty());
  words.Add({}).Add(Words::Name("a")).Add({}).Add(Words::Joined({Words::Name("b"), Words::Name("c")}, kAlso));
  EXPECT_EQ(words.English(), "ab and c");
  words.Add(Words::Name("d"));
  EXPECT_EQ(words.English(), "ab and cd");
  EXPECT_EQ(words, Words(words));
  EXPECT_NE(words, Words::Name("ab and cd")) << "a name is the same in every language";
}

TEST(WordsTest, WhatStandsInANameIsNoPlace) {
  EXPECT_EQ(Words(kOf, std::string("$1"), std::string("$0")).English(), "$1 of $0");
  EXPECT_EQ(Words(kOf, 1).English(), "1 of $1") << "one that was forgotten is seen";
}

// What the compiler says of a source in which `line` stands.
std::string Compiled(const std::string& line) {
  const testutil::TemporaryFolder folder("phrase");
  const std::string file = folder.path() + "/phrase.cc";
  testutil::WriteFile(file,
                      absl::StrCat("#include \"plugin/phrases/words.h\"\nusing namespace gangway;\n", line, "\n"));
  const testutil::Outcome outcome =
      testutil::RunProgram({GW_CXX, "-std=c++20", "-fsyntax-only", "-I", GW_SOURCE_DIR, file}, {});
  return outcome.exit_code == 0 ? "compiles" : outcome.err;
}

TEST(PhraseTest, OneWithItsChineseCompiles) {
  EXPECT_EQ(Compiled("constexpr Phrase kA(\"waits\", \"等待\"); Words A() { return kA; }"), "compiles");
}

TEST(PhraseTest, OneWithoutItsChineseDoesNotAndATextOfOursIsNothingElse) {
  const std::string said = Compiled(
      "constexpr Phrase kOne(\"waits\");\n"
      "constexpr Phrase kEmpty(\"waits\", \"\");\n"
      "constexpr Phrase kEnglish(\"waits\", \"waits\");\n"
      "constexpr CountedPhrase kPlaces(\"$0 pod\", \"$0 pods\", \"个\");\n"
      "Words Plain() { return \"waits\"; }\n"
      "constexpr Phrase kAny(\"$0\", \"$0\");\n"
      "Words Part() { return {kAny, \"waits\"}; }\n");
  for (const int line : {3, 4, 5, 6, 7}) EXPECT_THAT(said, HasSubstr(absl::StrCat("phrase.cc:", line, ":")));
  EXPECT_THAT(said, AllOf(HasSubstr("ThePhraseHasNoChineseText"), HasSubstr("TheTextsOfThePhraseHaveDifferentPlaces"),
                          HasSubstr("a text of ours is a Phrase")));
}

}  // namespace
}  // namespace gangway
