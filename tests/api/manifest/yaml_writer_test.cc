#include "api/manifest/yaml_writer.h"

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::api {
namespace {

using ::gangway::testutil::IsOkAndHolds;
using ::gangway::testutil::StatusIs;

TEST(YamlOfTest, BlocksWithSortedKeys) {
  EXPECT_EQ(YamlOf(R"({"b":[1,{"d":2,"c":true}],"a":{"x":"y z"},"e":[],"f":{}})").value(),
            ("a:\n  x: y z\nb:\n  - 1\n  - c: true\n    d: 2\ne: []\nf: {}\n"));
}

// Everything that a plain scalar would turn into something else.
TEST(YamlOfTest, ReadsBackAsWhatItWas) {
  for (
      const char* json : {
          R"({"a":"8","b":"true","c":"yes","d":"null","e":"~","f":"","g":"1e3","h":"0x10","i":"010","j":".nan"})",
          R"({"a":" x","b":"x ","c":"- x","d":"a: b","e":"a #b","f":"#","g":"[x","h":"{x","i":"&x","j":"*x","k":"!x","l":"|","m":"%x"})",
          R"({"a":"two\nlines\n","b":"tab\there","c":"quote\"d","d":"it's","e":"\u00e9\u4e2d","f":"back\\slash","g":"---","h":"..."})",
          R"({"8":1,"true":2,"y":3,"n":4,"null":5,"a: b":6,"":7,"<<":8})",
          R"({"a":null,"b":false,"c":-1,"d":1.5,"e":12345678901234567890,"f":[[1,[2]],[]],"g":{"h":{"i":{}}}})",
          R"({"a":"--- x","b":"-","c":"--flag=1","d":"- ","e":"a:","f":"\u0000\u007f\u0085\u2028\ufeff\uffff","g":"\ud83d\ude00","h":"? x","i":"@x"})",
          R"({"a":"set -e\n\nrun\t1\n  more\n---\n# no comment","b":"\nx\n","c":"x\n\n","d":" x\ny","e":"x\r\ny","f":"x\n \ny\n","g":["p\nq\n",["r\ns"]]})",
          R"("text")",
          R"("two\nlines\n")",
          "7",
          "[]",
          "{}",
          "[[[1],{}],[],[{\"a\":[{\"b\":1}]}]]",
      }) {
    const absl::StatusOr<std::string> yaml = YamlOf(json);
    ASSERT_TRUE(yaml.ok()) << json;
    const auto documents = ReadDocuments(*yaml, "x.yaml");
    ASSERT_TRUE(documents.ok()) << documents.status() << "\n" << *yaml;
    ASSERT_EQ(documents->size(), 1u) << *yaml;
    EXPECT_EQ(*ParseJson(documents->front().json), *ParseJson(json)) << *yaml;
  }
}

TEST(YamlOfTest, LongKeysReadBack) {
  const std::string json =
      "{\"a\":{\"" + std::string(5000, 'k') + "\":{\"b\":[1]},\"" + std::string(900, '\'') + "\":\"x\\ny\"}}";
  const auto documents = ReadDocuments(YamlOf(json).value(), "x.yaml");
  ASSERT_TRUE(documents.ok()) << documents.status();
  EXPECT_EQ(*ParseJson(documents->front().json), *ParseJson(json));
}

TEST(YamlOfTest, ScriptsStayReadable) {
  EXPECT_EQ(YamlOf(R"({"args":["-c","set -e\n\n  run\n"]})").value(),
            "args:\n  - -c\n  - |\n    set -e\n\n      run\n");
}

TEST(YamlOfTest, KeysAsWritten) {
  EXPECT_EQ(YamlOf(R"({"name":"x","env":[{"value":"1","name":"A"}]})", KeyOrder::kAsWritten).value(),
            "name: x\nenv:\n  - value: \"1\"\n    name: A\n");
}

TEST(YamlOfTest, CommentsStandAboveTheirFields) {
  const std::string json =
      R"({"metadata":{"labels":{"a.b/c":"d"}},"spec":{"tasks":[{"name":"ps","env":[1]},{"name":"worker","replicas":2}],"none":{}}})";
  const std::vector<YamlComment> comments{
      {"", "Made of this.\n\nAnd that."}, {"spec.tasks[1].name", "of the dash"}, {"spec.tasks[1].replicas", "two"},
      {"spec.tasks[0]", "the first"},     {"metadata.labels[a.b/c]", "a label"}, {"metadata.labels.a.b/c", "again"},
      {"spec.tasks[0].env[0]", "one"},    {"spec.nowhere", "not written"},       {"spec", "what"}};
  EXPECT_EQ(YamlOf(json, KeyOrder::kAsWritten, comments).value(),
            "# Made of this.\n#\n# And that.\nmetadata:\n  labels:\n    # a label\n    # again\n    a.b/c: d\n# "
            "what\nspec:\n  tasks:\n    # the first\n"
            "    - name: ps\n      env:\n        # one\n        - 1\n    # of the dash\n    - name: worker\n      # "
            "two\n      replicas: 2\n  none: {}\n");
}

// Any texts in any places.
// Exact, and nothing that a terminal would act on.
TEST(YamlOfTest, WhatIsNotShownIsWrittenOut) {
  const std::string json =
      R"({"a":"\u001b[31m\u202e","b":"\u009b\u200f\udb40\udc41","c":["\u2066x\ny"],"\u202e":"训"})";
  const std::string yaml = *YamlOf(json, KeyOrder::kAsWritten);
  EXPECT_EQ(yaml,
            "a: \"\\x1b[31m\\u202e\"\nb: \"\\u009b\\u200f\\U000e0041\"\nc:\n  - \"\\u2066x\\ny\"\n\"\\u202e\": 训\n");
  EXPECT_EQ(*YamlOf(ReadDocuments(yaml, "test")->front().json, KeyOrder::kAsWritten), yaml);
}

// YAML 1.1 ends lines where nobody sees an end.
TEST(YamlOfTest, CommentsStayComments) {
  const std::vector<YamlComment> comments{
      {"a", "one\ntwo\xe2\x80\xa8kind: Secret\xc2\x85kind: Secret\rkind: Secret \x1b[31m"}};
  EXPECT_EQ(*YamlOf(R"({"a":1})", KeyOrder::kAsWritten, comments),
            "# one\n# two\\u2028kind: Secret\\u0085kind: Secret\\rkind: Secret \\u001b[31m\na: 1\n");
}

TEST(YamlOfTest, RandomDocumentsReadBack) {
  static constexpr absl::string_view kPieces[] = {"a",
                                                  "1",
                                                  " ",
                                                  ":",
                                                  "#",
                                                  "-",
                                                  "\n",
                                                  "\t",
                                                  "'",
                                                  "\"",
                                                  "\\",
                                                  "[",
                                                  "{",
                                                  "&",
                                                  "*",
                                                  "!",
                                                  "|",
                                                  ">",
                                                  "%",
                                                  "@",
                                                  "`",
                                                  "?",
                                                  ",",
                                                  "true",
                                                  "null",
                                                  "~",
                                                  "é",
                                                  "\xC2\x85",
                                                  "\xE2\x80\xA8",
                                                  "\xF0\x9F\x98\x80",
                                                  ".",
                                                  "=",
                                                  "<<",
                                                  "e1",
                                                  "\x01",
                                                  "\r"};
  std::mt19937 random(11);
  const auto text = [&] {
    std::string out;
    for (std::size_t n = random() % 7; n > 0; --n) absl::StrAppend(&out, kPieces[random() % std::size(kPieces)]);
    return out;
  };
  std::function<boost::json::value(int)> value = [&](int depth) -> boost::json::value {
    const std::size_t kind = random() % (depth > 3 ? 3 : 5);
    if (kind == 3) {
      boost::json::object object;
      for (std::size_t n = random() % 4; n > 0; --n) object[text()] = value(depth + 1);
      return object;
    }
    if (kind == 4) {
      boost::json::array list;
      for (std::size_t n = random() % 4; n > 0; --n) list.push_back(value(depth + 1));
      return list;
    }
    return boost::json::string(text());
  };
  for (int round = 0; round < 3'000; ++round) {
    const boost::json::value document = boost::json::array{value(0)};
    std::string yaml;
    AppendYaml(document, round % 2 == 0 ? KeyOrder::kSorted : KeyOrder::kAsWritten, {}, yaml);
    const auto documents = ReadDocuments(yaml, "x.yaml");
    ASSERT_TRUE(documents.ok()) << documents.status() << "\n" << yaml;
    ASSERT_EQ(documents->size(), 1u) << yaml;
    ASSERT_EQ(*ParseJson(documents->front().json), document) << yaml;
  }
}

TEST(YamlOfTest, RefusesWhatIsNoJson) {
  EXPECT_THAT(YamlOf("{").status(), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace gangway::api
