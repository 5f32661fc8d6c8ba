#include "api/manifest/scalar.h"

#include <string>

#include "gtest/gtest.h"

namespace gangway::api::manifest {
namespace {

struct ScalarCase {
  std::string text;
  ScalarType type;
  std::string json;
};
void PrintTo(const ScalarCase& c, std::ostream* os) { *os << c.text; }

class ScalarTest : public ::testing::TestWithParam<ScalarCase> {};
TEST_P(ScalarTest, MeansWhatItMeansToKubernetes) {
  const Scalar scalar = ResolveScalar(GetParam().text);
  EXPECT_EQ(scalar.type, GetParam().type);
  EXPECT_EQ(scalar.text, GetParam().json);
}

constexpr auto kString = ScalarType::kString;
constexpr auto kNull = ScalarType::kNull;
constexpr auto kBool = ScalarType::kBool;
constexpr auto kInt = ScalarType::kInt;
constexpr auto kFloat = ScalarType::kFloat;
constexpr auto kNotFinite = ScalarType::kNotFinite;

// goyaml.v2, resolve.go.
INSTANTIATE_TEST_SUITE_P(Words, ScalarTest,
                         ::testing::Values(ScalarCase{"", kNull, "null"}, ScalarCase{"~", kNull, "null"},
                                           ScalarCase{"null", kNull, "null"}, ScalarCase{"NULL", kNull, "null"},
                                           ScalarCase{"nUll", kString, "nUll"}, ScalarCase{"true", kBool, "true"},
                                           ScalarCase{"True", kBool, "true"}, ScalarCase{"tRue", kString, "tRue"},
                                           ScalarCase{"yes", kBool, "true"}, ScalarCase{"y", kBool, "true"},
                                           ScalarCase{"Y", kBool, "true"}, ScalarCase{"on", kBool, "true"},
                                           ScalarCase{"ON", kBool, "true"}, ScalarCase{"no", kBool, "false"},
                                           ScalarCase{"N", kBool, "false"}, ScalarCase{"off", kBool, "false"},
                                           ScalarCase{"False", kBool, "false"}, ScalarCase{"yess", kString, "yess"},
                                           ScalarCase{"none", kString, "none"}, ScalarCase{".inf", kNotFinite, ""},
                                           ScalarCase{"-.Inf", kNotFinite, ""}, ScalarCase{".nan", kNotFinite, ""},
                                           ScalarCase{"-.nan", kString, "-.nan"}));
INSTANTIATE_TEST_SUITE_P(Integers, ScalarTest,
                         ::testing::Values(ScalarCase{"0", kInt, "0"}, ScalarCase{"-0", kInt, "0"},
                                           ScalarCase{"12", kInt, "12"}, ScalarCase{"+5", kInt, "5"},
                                           ScalarCase{"-7", kInt, "-7"}, ScalarCase{"010", kInt, "8"},
                                           ScalarCase{"0o17", kInt, "15"}, ScalarCase{"0x1F", kInt, "31"},
                                           ScalarCase{"0X1f", kInt, "31"}, ScalarCase{"-0x10", kInt, "-16"},
                                           ScalarCase{"0b101", kInt, "5"}, ScalarCase{"1_000", kInt, "1000"},
                                           ScalarCase{"08", kFloat, "8"},
                                           ScalarCase{"9223372036854775807", kInt, "9223372036854775807"},
                                           ScalarCase{"-9223372036854775808", kInt, "-9223372036854775808"},
                                           ScalarCase{"18446744073709551615", kInt, "18446744073709551615"},
                                           ScalarCase{"100000000000000000000", kFloat, "100000000000000000000"},
                                           ScalarCase{"0x", kString, "0x"}, ScalarCase{"-", kString, "-"},
                                           ScalarCase{"+", kString, "+"}, ScalarCase{"1:30", kString, "1:30"},
                                           ScalarCase{"12abc", kString, "12abc"}, ScalarCase{"0xZZ", kString, "0xZZ"}));
INSTANTIATE_TEST_SUITE_P(Floats, ScalarTest,
                         ::testing::Values(ScalarCase{"1.5", kFloat, "1.5"}, ScalarCase{"1.0", kFloat, "1"},
                                           ScalarCase{"1.", kFloat, "1"}, ScalarCase{".5", kFloat, "0.5"},
                                           ScalarCase{"-.5", kFloat, "-0.5"}, ScalarCase{"1e3", kFloat, "1000"},
                                           ScalarCase{"1E+3", kFloat, "1000"}, ScalarCase{"1e21", kFloat, "1e+21"},
                                           ScalarCase{"1e999", kString, "1e999"}, ScalarCase{"1.2.3", kString, "1.2.3"},
                                           ScalarCase{".", kString, "."}, ScalarCase{"1e", kString, "1e"}));
INSTANTIATE_TEST_SUITE_P(Strings, ScalarTest,
                         ::testing::Values(ScalarCase{"2020-01-01", kString, "2020-01-01"},
                                           ScalarCase{"2001-12-14t21:59:43.10-05:00", kString,
                                                      "2001-12-14t21:59:43.10-05:00"},
                                           ScalarCase{"100m", kString, "100m"}, ScalarCase{"1Gi", kString, "1Gi"},
                                           ScalarCase{"<<", kString, "<<"}, ScalarCase{"=", kString, "="},
                                           ScalarCase{"a b", kString, "a b"}, ScalarCase{"v1", kString, "v1"}));

}  // namespace
}  // namespace gangway::api::manifest
