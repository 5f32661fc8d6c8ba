// Texts that mean harm, and texts that mean nothing.
#include <cstdint>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/manifest/manifest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::api {
namespace {

using ::testing::HasSubstr;
using testutil::IsOk;
using testutil::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;

std::string Repeat(absl::string_view text, int n) {
  std::string out;
  out.reserve(text.size() * static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) out.append(text.data(), text.size());
  return out;
}

TEST(HostileManifestTest, BillionLaughs) {
  std::string text = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n";
  for (int i = 1; i < 12; ++i) {
    absl::StrAppend(&text, "a", i, ": &a", i, " [", Repeat(absl::StrCat("*a", i - 1, ", "), 8), "*a", i - 1, "]\n");
  }
  EXPECT_THAT(ReadDocuments(text, "f.yaml"), StatusIs(kExhausted, HasSubstr("3145728 bytes")));
  ManifestLimits limits;
  limits.max_nodes = 1000;
  EXPECT_THAT(ReadDocuments(text, "f.yaml", limits),
              StatusIs(kExhausted, HasSubstr("those that aliases repeat counted again")));
}

TEST(HostileManifestTest, AliasToItself) {
  EXPECT_THAT(ReadDocuments("a: &a [*a]\n", "f.yaml"), StatusIs(kInvalid, HasSubstr("never ends")));
  EXPECT_THAT(ReadDocuments("&a {b: {c: *a}}\n", "f.yaml"), StatusIs(kInvalid, HasSubstr("never ends")));
}

TEST(HostileManifestTest, ListsOfListsOfTheSameList) {
  std::string text = "apiVersion: v1\nkind: List\nitems:\n- &l0 {apiVersion: v1, kind: List, items: []}\n";
  for (int i = 1; i < 60; ++i) {
    absl::StrAppend(&text, "- &l", i, " {apiVersion: v1, kind: List, items: [*l", i - 1, ", *l", i - 1, "]}\n");
  }
  EXPECT_THAT(ReadManifest(text, "f.yaml"), StatusIs(kExhausted, HasSubstr("objects")));
}

TEST(HostileManifestTest, DeepNesting) {
  for (const absl::string_view open : {"[", "{a: ", "- ", "? ", "[{a: "}) {
    EXPECT_FALSE(ReadDocuments(Repeat(open, 100'000), "f.yaml").ok()) << open;
  }
  EXPECT_THAT(ReadDocuments(Repeat("[", 101) + Repeat("]", 101), "f.json"),
              StatusIs(kInvalid, HasSubstr("within each other")));
  EXPECT_THAT(ReadDocuments(Repeat("[", 100) + Repeat("]", 100), "f.json"), IsOk());
  EXPECT_THAT(ReadDocuments(Repeat("{\"a\":", 100'000), "f.json"), StatusIs(kInvalid));
  std::string chain = "a0: &a0 [1]\n";  // deep only when the aliases are followed
  for (int i = 1; i < 200; ++i) absl::StrAppend(&chain, "a", i, ": &a", i, " [*a", i - 1, "]\n");
  EXPECT_THAT(ReadDocuments(chain, "f.yaml"), StatusIs(kInvalid, HasSubstr("within each other")));
}

TEST(HostileManifestTest, BytesThatAreNoText) {
  using namespace std::string_literals;
  EXPECT_THAT(ReadDocuments("a: b\nc: \0d\n"s, "f.yaml"), StatusIs(kInvalid, HasSubstr("line 2, column 4")));
  EXPECT_THAT(ReadDocuments("{\"a\":\"\0\"}"s, "f.json"), StatusIs(kInvalid, HasSubstr("control character 0x00")));
  EXPECT_THAT(ReadDocuments("a: \x1b[31m", "f.yaml"), StatusIs(kInvalid, HasSubstr("control character 0x1b")));
  for (const std::string& bad :
       {"a: \xff"s, "a: \xc0\xaf"s, "a: \xed\xa0\x80"s, "a: \xf4\x90\x80\x80"s, "a: \xe2\x82"s, "{\"a\":\"\x80\"}"s}) {
    EXPECT_THAT(ReadDocuments(bad, "f.yaml"), StatusIs(kInvalid, HasSubstr("UTF-8")));
  }
  EXPECT_THAT(ReadDocuments("\xff\xfe"
                            "a\0:\0"s,
                            "f.yaml"),
              StatusIs(kInvalid, HasSubstr("UTF-16")));
}

TEST(HostileManifestTest, Budgets) {
  ManifestLimits limits;
  limits.max_bytes = 100;
  EXPECT_THAT(ReadDocuments(Repeat("a", 101), "f.yaml", limits), StatusIs(kExhausted, HasSubstr("101 bytes")));
  limits = {};
  limits.max_nodes = 10;
  EXPECT_THAT(ReadDocuments(absl::StrCat("[", Repeat("1,", 20), "1]"), "f.json", limits), StatusIs(kExhausted));
  EXPECT_THAT(ReadDocuments(Repeat("- 1\n", 20), "f.yaml", limits), StatusIs(kExhausted));
  limits = {};
  limits.max_documents = 3;
  EXPECT_THAT(ReadDocuments(Repeat("---\na: 1\n", 4), "f.yaml", limits), StatusIs(kExhausted));
  EXPECT_THAT(ReadDocuments(Repeat("{}\n", 4), "f.json", limits), StatusIs(kExhausted));
  EXPECT_THAT(ReadDocuments(Repeat("{}\n", 3), "f.json", limits), IsOk());
  limits = {};
  limits.max_document_bytes = 64;
  EXPECT_THAT(ReadDocuments(absl::StrCat("a: ", Repeat("x", 100)), "f.yaml", limits),
              StatusIs(kExhausted, HasSubstr("as JSON")));
}

TEST(HostileManifestTest, ManyKeysInOneMapTakeTimeInProportion) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) absl::StrAppend(&text, "key", i, ": ", i, "\n");
  const auto documents = ReadDocuments(text, "f.yaml");
  ASSERT_THAT(documents, IsOk());
  EXPECT_EQ(documents->front().Find("key49999").line, 50'000);
}

// Whatever the bytes are there is an answer, and what is accepted is JSON.
void ExpectAnswer(const std::string& text, absl::string_view source) {
  ManifestLimits limits;
  limits.max_nodes = 20'000;
  const auto documents = ReadManifest(text, source, limits);
  const auto any = ReadDocuments(text, source, limits);
  if (documents.ok()) {
    EXPECT_THAT(any, IsOk());
  } else {
    EXPECT_THAT(std::string(documents.status().message()), HasSubstr(std::string(source)));
  }
  if (!any.ok()) return;
  for (const ManifestDocument& document : *any) {
    EXPECT_THAT(ParseCompletely(document.json), IsOk()) << text;
    EXPECT_GE(document.Find("spec.tasks[1].name").line, 1);
  }
}

TEST(HostileManifestTest, RandomMixturesOfYaml) {
  static constexpr absl::string_view kPieces[] = {"a",
                                                  "b: ",
                                                  "- ",
                                                  "\n",
                                                  "  ",
                                                  "    ",
                                                  "[",
                                                  "]",
                                                  "{",
                                                  "}",
                                                  ",",
                                                  ":",
                                                  ": ",
                                                  "&x ",
                                                  "*x",
                                                  "!!str ",
                                                  "!foo ",
                                                  "\"",
                                                  "'",
                                                  "|\n",
                                                  ">-\n",
                                                  "---\n",
                                                  "...\n",
                                                  "%YAML 1.2\n",
                                                  "# c\n",
                                                  "? ",
                                                  "<<: ",
                                                  "~",
                                                  "1e9",
                                                  "0x1F",
                                                  "yes",
                                                  "\t",
                                                  "\\u",
                                                  "\\",
                                                  "训",
                                                  "apiVersion: v1\n",
                                                  "kind: List\n",
                                                  "items:\n",
                                                  "null",
                                                  "@",
                                                  "`",
                                                  "%",
                                                  "\r\n",
                                                  "&x",
                                                  "!",
                                                  "|+2\n",
                                                  "- - ",
                                                  "\xc2\x85"};
  std::mt19937 random(20261121);
  for (int round = 0; round < 3'000; ++round) {
    std::string text;
    const std::size_t length = 1 + random() % 40;
    for (std::size_t i = 0; i < length; ++i) absl::StrAppend(&text, kPieces[random() % std::size(kPieces)]);
    ExpectAnswer(text, "f.yaml");
    if (::testing::Test::HasFailure()) FAIL() << "round " << round << ":\n" << text;
  }
}

TEST(HostileManifestTest, RandomDamageToGoodText) {
  const std::string yaml =
      "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata:\n  name: ctr\n  labels: {a: 'b', c: "
      "\"d\\n\"}\nspec:\n  minAvailable: 4\n"
      "  tasks:\n  - &t\n    name: ps\n    replicas: 2\n    template:\n      spec:\n        containers: [{name: c, "
      "image: i}]\n  - *t\n"
      "  text: |\n    one\n    two\n  folded: >-\n    three\n    four\n---\nkind: Pod\napiVersion: v1\n";
  const std::string json =
      "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":{\"a\":[1,2.5,-3e2,true,null,\"\\u8bad\\n\"],\"b\":{\"c\":{}}}}"
      "\n";
  std::mt19937 random(7);
  for (int round = 0; round < 4'000; ++round) {
    std::string text = round % 2 == 0 ? yaml : json;
    for (std::size_t edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          text.erase(at, 1 + random() % 8);
          break;
        case 2:
          text.insert(at, 1, "{}[]:,-&*!|>'\"%@`#\n\t \\?~"[random() % 25]);
          break;
        case 3:
          text.insert(at, text.substr(random() % text.size(), random() % 20));
          break;
      }
      if (text.empty()) text = "a";
    }
    ExpectAnswer(text, round % 2 == 0 ? "f.yaml" : "f.json");
    if (::testing::Test::HasFailure()) FAIL() << "round " << round << ":\n" << text;
  }
}

}  // namespace
}  // namespace gangway::api
