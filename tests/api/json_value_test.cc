#include "api/json_value.h"

#include <random>

#include "api/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::api {
namespace {

using ::gangway::testutil::IsOkAndHolds;
using ::gangway::testutil::StatusIs;

boost::json::value Json(absl::string_view text) {
  auto value = ParseJson(text);
  EXPECT_TRUE(value.ok()) << text << ": " << value.status();
  return value.ok() ? *std::move(value) : boost::json::value();
}

TEST(JsonValueTest, WritesWhatItReadInOrder) {
  for (const char* text :
       {"{}", "[]", "null", R"({"z":1,"a":[true,false,null,"x\n",{}],"m":-5})", "18446744073709551615"}) {
    EXPECT_EQ(ToJson(Json(text)), text);
  }
}

TEST(JsonValueTest, NumbersLookAsGoWritesThem) {
  EXPECT_EQ(ToJson(Json("0.5")), "0.5");
  EXPECT_EQ(ToJson(Json("1.0")), "1");
  EXPECT_EQ(ToJson(Json("1e5")), "100000");
  EXPECT_EQ(ToJson(Json("1e21")), "1e+21");
  EXPECT_EQ(ToJson(Json("0.000001")), "0.000001");
  EXPECT_EQ(ToJson(Json("1e-7")), "1e-07");
}

TEST(JsonValueTest, TheLastOfTwoEqualKeysCounts) {
  EXPECT_EQ(ToJson(Json(R"({"a":1,"b":2,"a":3})")), R"({"a":3,"b":2})");
}

TEST(JsonValueTest, RefusesWhatIsNotJson) {
  EXPECT_THAT(ParseJson("{"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ParseJson("{} x"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ParseJson(std::string(300, '[') + std::string(300, ']')), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_TRUE(ParseJson(std::string(100, '[') + std::string(100, ']')).ok());
}

struct MergeCase {
  const char* target;
  const char* patch;
  const char* result;
};
class MergePatchTest : public ::testing::TestWithParam<MergeCase> {};
TEST_P(MergePatchTest, AppliesAsRfc7386Says) {
  boost::json::value target = Json(GetParam().target);
  ApplyMergePatch(target, Json(GetParam().patch));
  EXPECT_EQ(target, Json(GetParam().result));
}
// The table of RFC 7386, appendix A.
INSTANTIATE_TEST_SUITE_P(
    Rfc7386, MergePatchTest,
    ::testing::Values(MergeCase{R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
                      MergeCase{R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
                      MergeCase{R"({"a":"b"})", R"({"a":null})", "{}"},
                      MergeCase{R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
                      MergeCase{R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
                      MergeCase{R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
                      MergeCase{R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
                      MergeCase{R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
                      MergeCase{R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
                      MergeCase{R"({"a":"b"})", R"(["c"])", R"(["c"])"}, MergeCase{R"({"a":"foo"})", "null", "null"},
                      MergeCase{R"({"a":"foo"})", R"("bar")", R"("bar")"},
                      MergeCase{R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
                      MergeCase{"[1,2]", R"({"a":"b","c":null})", R"({"a":"b"})"},
                      MergeCase{"{}", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"}));

TEST(MergePatchDiffTest, SaysOnlyWhatDiffers) {
  EXPECT_THAT(MergePatchDiff(R"({"a":1,"b":{"c":2}})", R"({"b":{"c":2},"a":1})"), IsOkAndHolds("{}"));
  EXPECT_THAT(MergePatchDiff(R"({"a":1,"b":2})", R"({"a":1})"), IsOkAndHolds(R"({"b":null})"));
  EXPECT_THAT(MergePatchDiff(R"({"s":{"x":1,"y":[1]}})", R"({"s":{"x":2,"y":[1]},"t":"n"})"),
              IsOkAndHolds(R"({"s":{"x":2},"t":"n"})"));
  EXPECT_THAT(MergePatchDiff(R"({"l":[1,2]})", R"({"l":[1,3]})"), IsOkAndHolds(R"({"l":[1,3]})"));
  EXPECT_THAT(MergePatchDiff(R"({"a":{"b":1}})", R"({"a":"x"})"), IsOkAndHolds(R"({"a":"x"})"));
  EXPECT_THAT(MergePatchDiff("{}", R"({"a":{}})"), IsOkAndHolds(R"({"a":{}})"));
  EXPECT_THAT(MergePatchDiff(R"({"a":1})", R"({"a":null})"), IsOkAndHolds(R"({"a":null})"));
}

TEST(MergePatchDiffTest, TurningAValueIntoAnObjectKeepsNothingOld) {
  boost::json::value target = Json(R"({"a":[1]})");
  ApplyMergePatch(target, Json(*MergePatchDiff(R"({"a":[1]})", R"({"a":{"b":1}})")));
  EXPECT_EQ(target, Json(R"({"a":{"b":1}})"));
}

TEST(MergePatchDiffTest, OnlyObjectsHaveADifference) {
  EXPECT_THAT(MergePatchDiff("[]", "{}"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(MergePatchDiff("{}", "1"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(MergePatchDiff("{", "{}"), StatusIs(absl::StatusCode::kInvalidArgument));
}

boost::json::value RandomValue(std::mt19937_64& random, int depth) {
  switch (random() % (depth > 2 ? 3 : 5)) {
    case 0:
      return static_cast<std::int64_t>(random() % 3);
    case 1:
      return random() % 2 == 0;
    case 2:
      return "s";
    case 3: {
      boost::json::array list;
      for (auto n = random() % 3; n > 0; --n) list.push_back(RandomValue(random, depth + 1));
      return list;
    }
    default: {
      boost::json::object object;
      for (auto n = random() % 4; n > 0; --n)
        object[std::string(1, static_cast<char>('a' + random() % 4))] = RandomValue(random, depth + 1);
      return object;
    }
  }
}

TEST(MergePatchDiffTest, TheDifferenceLeadsFromBeforeToAfter) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 20000; ++round) {
    boost::json::object before{{"k", RandomValue(random, 0)}, {"l", RandomValue(random, 0)}};
    boost::json::object after{{"k", RandomValue(random, 0)}, {"m", RandomValue(random, 0)}};
    const boost::json::object patch = MergePatchBetween(before, after);
    boost::json::value target = before;
    ApplyMergePatch(target, patch);
    ASSERT_EQ(target, boost::json::value(after)) << before << after << patch;
    ASSERT_TRUE(MergePatchBetween(after, after).empty());
  }
}

}  // namespace
}  // namespace gangway::api
