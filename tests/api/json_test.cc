#include "api/json.h"

#include <boost/json.hpp>

#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::api {
namespace {

using ::gangway::testutil::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GoodJsonTest : public ::testing::TestWithParam<const char*> {};
TEST_P(GoodJsonTest, Passes) { GW_EXPECT_OK(ParseCompletely(GetParam())); }
INSTANTIATE_TEST_SUITE_P(All, GoodJsonTest,
                         ::testing::Values("{}", "[]", "null", "true", "false", "0", "-0", "-1.5e+10", "1E-2", "\"\"",
                                           " \t\r\n{ } \n", "[1,2,[3,{}]]",
                                           R"({"a":{"b":[null,true,"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"]}})",
                                           "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"", "123456789012345678901234567890",
                                           "1e-400", "0.00000000000000000000001",
                                           "\"a text that is longer than eight bytes, \xC3\xA9 and an \\n escape\""));

struct BadJson {
  std::string json;
  const char* message;
};
class BadJsonTest : public ::testing::TestWithParam<BadJson> {};
TEST_P(BadJsonTest, IsRefusedWithItsPlace) {
  EXPECT_THAT(ParseCompletely(GetParam().json), StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}
INSTANTIATE_TEST_SUITE_P(
    All, BadJsonTest,
    ::testing::Values(
        BadJson{"", "line 1 column 1: unexpected end"}, BadJson{"  ", "line 1 column 3: unexpected end"},
        BadJson{"{", "line 1 column 2: unexpected end"}, BadJson{"{\"a\":1", "line 1 column 7: unexpected end"},
        BadJson{"{\"a\"", "line 1 column 5: unexpected end"}, BadJson{"[1", "line 1 column 3: unexpected end"},
        BadJson{"{\n  \"a\": 1\n  \"b\": 2}", "line 3 column 3: expected ',' or '}'"},
        BadJson{"{\"a\" 1}", "line 1 column 6: expected ':'"}, BadJson{"[1 2]", "line 1 column 4: expected ',' or ']'"},
        BadJson{"{a:1}", "line 1 column 2: expected a key in double quotes"},
        BadJson{"{\"a\":1,}", "line 1 column 8: expected a key in double quotes"},
        BadJson{"[1,]", "line 1 column 4: expected a value"}, BadJson{"tru", "line 1 column 1: expected a value"},
        BadJson{"nul", "line 1 column 1: expected a value"}, BadJson{"'a'", "line 1 column 1: expected a value"},
        BadJson{"NaN", "line 1 column 1: expected a value"}, BadJson{"-", "line 1 column 1: expected a value"},
        BadJson{"+1", "line 1 column 1: expected a value"}, BadJson{".5", "line 1 column 1: expected a value"},
        BadJson{"01", "line 1 column 2: a number may not start with 0"},
        BadJson{"1.", "line 1 column 3: expected a digit"}, BadJson{"1e", "line 1 column 3: expected a digit"},
        BadJson{"1e400", "line 1 column 6: number out of range"},
        BadJson{"-1.7976931348623158e308", "line 1 column 24: number out of range"},
        BadJson{"0.7976931348623158e309", "line 1 column 23: number out of range"},
        BadJson{"1e-3002345678901234567890", "line 1 column 26: number out of range"},
        BadJson{"{} x", "line 1 column 4: something follows the JSON value"},
        BadJson{"{}{}", "line 1 column 3: something follows the JSON value"},
        BadJson{"// c\n{}", "line 1 column 1: expected a value"},
        BadJson{"\xEF\xBB\xBF{}", "line 1 column 1: expected a value"},
        BadJson{"\"abc", "line 1 column 5: unexpected end of a string"},
        BadJson{"\"abc\\", "line 1 column 5: unexpected end of a string"},
        BadJson{"\"\n\"", "line 1 column 2: control character in a string"},
        BadJson{"\"12345678\t\"", "line 1 column 10: control character in a string"},
        BadJson{"\"\\x\"", "line 1 column 2: unknown escape in a string"},
        BadJson{"\"\\u12g4\"", "line 1 column 2: unknown escape in a string"},
        BadJson{"\"\\ud83d\"", "line 1 column 2: half of a surrogate pair in a string"},
        BadJson{"\"\\ude00\"", "line 1 column 2: half of a surrogate pair in a string"},
        BadJson{"\"\\ud83d\\u0041\"", "line 1 column 2: half of a surrogate pair in a string"},
        BadJson{"\"\xC3\"", "line 1 column 2: not UTF-8"}, BadJson{"\"\xC0\xAF\"", "line 1 column 2: not UTF-8"},
        BadJson{"\"\xED\xA0\x80\"", "line 1 column 2: not UTF-8"},
        BadJson{"\"\xF4\x90\x80\x80\"", "line 1 column 2: not UTF-8"},
        BadJson{"\"1234567890\xFF\"", "line 1 column 12: not UTF-8"},
        BadJson{std::string("\"\0\"", 3), "line 1 column 2: control character in a string"},
        BadJson{std::string("{}\0", 3), "line 1 column 3: something follows the JSON value"}));

TEST(ParseCompletelyTest, DepthIsLimited) {
  const auto nested = [](int n) {
    return std::string(static_cast<std::size_t>(n), '[') + std::string(static_cast<std::size_t>(n), ']');
  };
  GW_EXPECT_OK(ParseCompletely(nested(100)));
  EXPECT_THAT(ParseCompletely(nested(101)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("more than 100 levels")));
  EXPECT_THAT(ParseCompletely(std::string(1000000, '[')),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("levels")));
  GW_EXPECT_OK(ParseCompletely(R"({"a":[{}]})", {.max_depth = 3}));
  EXPECT_FALSE(ParseCompletely(R"({"a":[{}]})", {.max_depth = 2}).ok());
}

TEST(ParseCompletelyTest, SizeIsLimited) {
  GW_EXPECT_OK(ParseCompletely("[1]", {.max_bytes = 3}));
  EXPECT_THAT(ParseCompletely("[1] ", {.max_bytes = 3}),
              StatusIs(absl::StatusCode::kResourceExhausted, "4 bytes of JSON, the limit is 3"));
}

std::vector<std::string> DuplicatesOf(absl::string_view json) {
  std::vector<std::string> out;
  GW_EXPECT_OK(ParseCompletely(json, {}, &out));
  return out;
}

TEST(ParseCompletelyTest, TellsKeysThatStandTwice) {
  EXPECT_THAT(DuplicatesOf(R"({"a":1,"b":1})"), IsEmpty());
  EXPECT_THAT(DuplicatesOf(R"({"a":{"a":1},"b":[{"a":1},{"a":1}]})"), IsEmpty());
  EXPECT_THAT(DuplicatesOf(R"({"spec":{"tasks":[{"name":"a"},{"name":"b","name":"c"}]},"spec":{}})"),
              ElementsAre("spec.tasks[1].name", "spec"));
  EXPECT_THAT(DuplicatesOf(R"([{"a":1,"a":2,"a":3}])"), ElementsAre("[0].a", "[0].a"));
}

TEST(ParseCompletelyTest, KeysAreComparedWithoutTheirEscapes) {
  EXPECT_THAT(DuplicatesOf(R"({"name":1,"n\u0061me":2})"), ElementsAre("name"));
  EXPECT_THAT(DuplicatesOf(R"({"\ud83d\ude00\n":1,")"
                           "\xF0\x9F\x98\x80"
                           R"(\n":2})"),
              ElementsAre("\xF0\x9F\x98\x80\n"));
  EXPECT_THAT(DuplicatesOf(R"({"a":1,"A":2})"), IsEmpty());
}

TEST(ParseCompletelyTest, FindsDuplicatesAmongManyKeys) {
  std::string json = "{";
  for (int i = 0; i < 50000; ++i) json += "\"key" + std::to_string(i) + "\":0,";
  EXPECT_THAT(DuplicatesOf(json + "\"key49999\":1}"), ElementsAre("key49999"));
  EXPECT_THAT(DuplicatesOf(json + "\"last\":1}"), IsEmpty());
}

TEST(ParseCompletelyTest, TheListOfDuplicatesIsBounded) {
  std::string json = "{\"a\":0";
  for (int i = 0; i < 1000; ++i) json += ",\"a\":0";
  EXPECT_EQ(DuplicatesOf(json + "}").size(), 100u);
}

// Broken copies of a good document: the same verdict as Boost.JSON's strict parser.
TEST(ParseCompletelyTest, AgreesWithAnotherStrictParser) {
  const std::string good = R"({"a":[1,-2.5e3,true,null,"x\n\u00e9\ud83d\ude00"],"b":{"c":")"
                           "\xC3\xA9\xE2\x82\xAC"
                           R"(","d":[]}, "e":0.1})";
  const std::string alphabet = "{}[]:,\"\\u0e.-+ tfn\x01\xC3\xA9\xE2\x82";
  std::mt19937_64 random(7);
  boost::json::parse_options options;
  options.max_depth = 200;
  int accepted = 0;
  for (int round = 0; round < 200000; ++round) {
    std::string json = good;
    for (auto n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = random() % json.size();
      switch (random() % 3) {
        case 0:
          json[at] = alphabet[random() % alphabet.size()];
          break;
        case 1:
          json.erase(at, 1 + random() % 3);
          break;
        default:
          json.insert(at, 1, alphabet[random() % alphabet.size()]);
      }
    }
    boost::json::error_code error;
    const boost::json::value value = boost::json::parse(json, error, {}, options);
    ASSERT_EQ(ParseCompletely(json).ok(), !error) << json << ": " << error.message() << " / " << ParseCompletely(json);
    accepted += error ? 0 : 1;
  }
  EXPECT_GT(accepted, 1000);
}

TEST(JsonStringTest, EscapesWhatMustBe) {
  EXPECT_EQ(JsonString(""), "\"\"");
  EXPECT_EQ(JsonString("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(JsonString("\n\r\t\b\f"), R"("\n\r\t\b\f")");
  EXPECT_EQ(JsonString(absl::string_view("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\x7f\"");
  EXPECT_EQ(JsonString("\xC3\xA9\xF0\x9F\x98\x80"), "\"\xC3\xA9\xF0\x9F\x98\x80\"");
}

TEST(JsonStringTest, WhereAByteStandsMakesNoDifference) {
  for (int c = 0; c < 256; ++c) {
    const std::string byte(1, static_cast<char>(c)), alone = JsonString(byte),
                                                     inner = alone.substr(1, alone.size() - 2);
    for (std::size_t before = 0; before < 17; ++before) {
      for (std::size_t after = 0; after < 17; after += 8) {
        const std::string head(before, 'x'), tail(after, '~');
        ASSERT_EQ(JsonString(head + byte + tail), "\"" + head + inner + tail + "\"") << c << " at " << before;
      }
    }
  }
}

TEST(JsonStringTest, BytesThatAreNoUtf8BecomeTheReplacementCharacter) {
  EXPECT_EQ(JsonString("a\xFFz"), "\"a\\ufffdz\"");
  EXPECT_EQ(JsonString("\xC3"), "\"\\ufffd\"");
  EXPECT_EQ(JsonString("\xED\xA0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
}

TEST(JsonStringTest, AnyBytesBecomeAValidString) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 40, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    GW_ASSERT_OK(ParseCompletely(JsonString(bytes)));
  }
}

TEST(JsonWriterTest, PutsCommasWhereTheyBelong) {
  std::string out;
  JsonWriter w(out);
  w.BeginObject().Field("a", "x").Field("b", 1).Field("c", true).Key("d").BeginArray();
  w.Int(-5).String("s").Null().BeginObject().EndObject().BeginArray().EndArray().Raw("[1]").EndArray();
  w.Key("e").BeginObject().EndObject().RawField("f", "{}").Field("g", std::int64_t{1} << 62).EndObject();
  EXPECT_EQ(out, R"({"a":"x","b":1,"c":true,"d":[-5,"s",null,{},[],[1]],"e":{},"f":{},"g":4611686018427387904})");
}

TEST(JsonWriterTest, EscapesKeysAndValues) {
  std::string out;
  JsonWriter(out).BeginObject().Field("a\"", "b\n").EndObject();
  EXPECT_EQ(out, R"({"a\"":"b\n"})");
}

}  // namespace
}  // namespace gangway::api
