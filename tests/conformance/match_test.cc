#include "tests/conformance/match.h"

#include "api/json_value.h"
#include "gtest/gtest.h"

namespace gangway::testutil {
namespace {

struct MatchCase {
  const char* name;
  const char* pattern;
  const char* value;
  bool matches;
};
void PrintTo(const MatchCase& c, std::ostream* out) { *out << c.pattern << " of " << c.value; }

class MatchTest : public ::testing::TestWithParam<MatchCase> {};

TEST_P(MatchTest, Case) {
  const boost::json::value pattern = *api::ParseJson(GetParam().pattern), value = *api::ParseJson(GetParam().value);
  EXPECT_EQ(Differences(pattern, &value).empty(), GetParam().matches);
}

INSTANTIATE_TEST_SUITE_P(
    All, MatchTest,
    ::testing::Values(MatchCase{"OtherMembersMayBeThere", R"({"a":{"b":1}})", R"({"a":{"b":1,"c":2}})", true},
                      MatchCase{"AValueDiffers", R"({"a":{"b":1}})", R"({"a":{"b":2}})", false},
                      MatchCase{"AMemberIsMissing", R"({"a":1})", R"({})", false},
                      MatchCase{"NullIsAbsent", R"({"a":null})", R"({"b":1})", true},
                      MatchCase{"NullIsNotThere", R"({"a":null})", R"({"a":1})", false},
                      MatchCase{"ListsAreWhole", R"([1,2])", R"([1,2,3])", false},
                      MatchCase{"ListsHaveAnOrder", R"([1,2])", R"([2,1])", false},
                      MatchCase{"AmongHasNoOrder", R"({"$among":[1,2]})", R"([2,1])", true},
                      MatchCase{"AmongTakesAnElementOnce", R"({"$among":[1,1]})", R"([1,2])", false},
                      MatchCase{"ContainsSomeElements", R"({"$contains":[{"n":2}]})", R"([{"n":1},{"n":2}])", true},
                      MatchCase{"ContainsText", R"({"$contains":"ell"})", R"("hello")", true},
                      MatchCase{"Like", R"({"$like":"^h.*o$"})", R"("hello")", true},
                      MatchCase{"LikeNot", R"({"$like":"^e"})", R"("hello")", false},
                      MatchCase{"LikeABrokenRegexp", R"({"$like":"("})", R"("(")", false},
                      MatchCase{"ExactlyMeansNothingMore", R"({"$exactly":{"a":1}})", R"({"a":1,"b":2})", false},
                      MatchCase{"Size", R"({"$size":2})", R"([1,2])", true},
                      MatchCase{"AnyIsThere", R"({"a":{"$any":true}})", R"({})", false},
                      MatchCase{"Not", R"({"a":{"$not":1}})", R"({"a":2})", true},
                      MatchCase{"NotButIs", R"({"a":{"$not":1}})", R"({"a":1})", false}),
    [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace gangway::testutil
