#include "api/quantity.h"

#include <limits>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

#include <rapidcheck/gtest.h>  // needs gtest before it

namespace gangway::api {
namespace {

using ::gangway::testutil::StatusIs;
using ::testing::HasSubstr;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

Quantity Q(absl::string_view text) {
  const absl::StatusOr<Quantity> q = Quantity::Parse(text);
  EXPECT_TRUE(q.ok()) << q.status();
  return q.ok() ? *q : Quantity();
}

struct CanonicalCase {
  const char* text;
  const char* canonical;
};

class CanonicalTest : public ::testing::TestWithParam<CanonicalCase> {};

TEST_P(CanonicalTest, IsWhatKubernetesWrites) { EXPECT_EQ(Q(GetParam().text).ToString(), GetParam().canonical); }

TEST_P(CanonicalTest, ReadsBackAsTheSameValueAndText) {
  const Quantity again = Q(GetParam().canonical);
  EXPECT_EQ(again, Q(GetParam().text));
  EXPECT_EQ(again.ToString(), GetParam().canonical);
}

INSTANTIATE_TEST_SUITE_P(
    DecimalSI, CanonicalTest,
    ::testing::Values(CanonicalCase{"0", "0"}, CanonicalCase{"+0", "0"}, CanonicalCase{"-0", "0"},
                      CanonicalCase{"000", "0"}, CanonicalCase{"0n", "0"}, CanonicalCase{"0.0", "0"},
                      CanonicalCase{"1", "1"}, CanonicalCase{"01", "1"}, CanonicalCase{"+1", "1"},
                      CanonicalCase{"-1", "-1"}, CanonicalCase{"1.", "1"}, CanonicalCase{".5", "500m"},
                      CanonicalCase{"1.5", "1500m"}, CanonicalCase{"100m", "100m"}, CanonicalCase{"1000m", "1"},
                      CanonicalCase{"1500m", "1500m"}, CanonicalCase{"1000", "1k"}, CanonicalCase{"1024", "1024"},
                      CanonicalCase{"100000", "100k"}, CanonicalCase{"1000000", "1M"}, CanonicalCase{"1.23M", "1230k"},
                      CanonicalCase{"12.5k", "12500"}, CanonicalCase{"1E", "1E"}, CanonicalCase{"1000P", "1E"},
                      CanonicalCase{"0.001", "1m"}, CanonicalCase{"0.000001", "1u"}, CanonicalCase{"0.000000001", "1n"},
                      CanonicalCase{"1000n", "1u"}, CanonicalCase{"1.000000001", "1000000001n"},
                      CanonicalCase{"9223372036854775807", "9223372036854775807"},
                      CanonicalCase{"-9223372036854775807", "-9223372036854775807"}, CanonicalCase{"1.G", "1G"},
                      CanonicalCase{"-1.5", "-1500m"}));

INSTANTIATE_TEST_SUITE_P(BinarySI, CanonicalTest,
                         ::testing::Values(CanonicalCase{"1Ki", "1Ki"}, CanonicalCase{"1024Ki", "1Mi"},
                                           CanonicalCase{"0Ki", "0"}, CanonicalCase{"1.5Gi", "1536Mi"},
                                           CanonicalCase{"0.5Gi", "512Mi"}, CanonicalCase{"0.5Mi", "512Ki"},
                                           CanonicalCase{"1.5Ki", "1536"}, CanonicalCase{"1.1Mi", "1153433600m"},
                                           CanonicalCase{"7Ei", "7Ei"}, CanonicalCase{"7.5Ei", "7680Pi"},
                                           CanonicalCase{"-1.5Gi", "-1536Mi"}, CanonicalCase{"-2Ki", "-2Ki"},
                                           CanonicalCase{"1000Ki", "1000Ki"}, CanonicalCase{"100Mi", "100Mi"}));

// Less than 1024, or not whole: decimal, so that nothing is lost.
INSTANTIATE_TEST_SUITE_P(BinaryThatFallsBack, CanonicalTest,
                         ::testing::Values(CanonicalCase{"0.5Ki", "512"}, CanonicalCase{"0.9Ki", "921600m"},
                                           CanonicalCase{"0.0001Ki", "102400u"}, CanonicalCase{"-0.5Ki", "-512"},
                                           CanonicalCase{"1.0001Ki", "1024102400u"}));

INSTANTIATE_TEST_SUITE_P(DecimalExponent, CanonicalTest,
                         ::testing::Values(CanonicalCase{"1e3", "1e3"}, CanonicalCase{"1E3", "1e3"},
                                           CanonicalCase{"1e+3", "1e3"}, CanonicalCase{"12e6", "12e6"},
                                           CanonicalCase{"1e4", "10e3"}, CanonicalCase{"1e0", "1"},
                                           CanonicalCase{"1500e-3", "1500e-3"}, CanonicalCase{"1e-3", "1e-3"},
                                           CanonicalCase{"1.5e3", "1500"}, CanonicalCase{"1e18", "1e18"},
                                           CanonicalCase{"1000000e-9", "1e-3"}, CanonicalCase{"0e9", "0"},
                                           CanonicalCase{"-3.01e3", "-3010"}));

// "If you asked for some, you get some": finer than nano goes away from zero.
INSTANTIATE_TEST_SUITE_P(Rounding, CanonicalTest,
                         ::testing::Values(CanonicalCase{"0.1n", "1n"}, CanonicalCase{"-0.1n", "-1n"},
                                           CanonicalCase{"1.1n", "2n"}, CanonicalCase{"1e-30", "1e-9"},
                                           CanonicalCase{"0.00000000000000000001", "1n"},
                                           CanonicalCase{"1.0000000001", "1000000001n"},
                                           CanonicalCase{"1e-999999999999999999999", "1e-9"},
                                           CanonicalCase{"0.9999999999999999999999999999Ki", "1Ki"},
                                           CanonicalCase{"0.00000000001Ki", "11n"}));

class MalformedTest : public ::testing::TestWithParam<const char*> {};

TEST_P(MalformedTest, IsRefused) {
  EXPECT_THAT(Quantity::Parse(GetParam()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("quantities must match")));
}

INSTANTIATE_TEST_SUITE_P(All, MalformedTest,
                         ::testing::Values("", " ", "1 ", " 1", "aoeu", "1.1.M", "1+1.0M", "0.1mi", "0.1am", ".5i",
                                           "1i", "-3.01i", "-3.01e-", "1e", "1E+", "1e1.5", "1e3Ki", "1KiB", "1ki",
                                           "1K", "1Mi1", "--1", "+-1", "+", "-", ".", "-.", "1,5", "0x10", "1e3e3",
                                           "NaN", "inf", "1\n", "Ki"));

class OutOfRangeTest : public ::testing::TestWithParam<const char*> {};

TEST_P(OutOfRangeTest, IsRefused) {
  EXPECT_THAT(Quantity::Parse(GetParam()), StatusIs(absl::StatusCode::kOutOfRange, HasSubstr(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(All, OutOfRangeTest,
                         ::testing::Values("9223372036854775808", "9223372036854775807.1",
                                           "9223372036854775807000000001n", "10E", "8Ei", "1e19",
                                           "1e99999999999999999999", "-1e19", "-9223372036854775809",
                                           "100000000000000000000000000000000000000000000000000000000000"));

TEST(QuantityTest, LongTextsAreExact) {
  const std::string zeros(500, '0');
  EXPECT_EQ(Q("0." + zeros + "1"), Q("1n"));
  EXPECT_EQ(Q(zeros + "7"), Q("7"));
  EXPECT_EQ(Q("7." + zeros), Q("7"));
  EXPECT_EQ(Q("1" + zeros + "e-500"), Q("1"));
  EXPECT_EQ(Q("0." + zeros + "1e501"), Q("1"));
}

TEST(QuantityTest, FormatsOfWholeNumbers) {
  EXPECT_EQ(Quantity::FromUnits(2048, Quantity::Format::kBinarySI).ToString(), "2Ki");
  EXPECT_EQ(Quantity::FromUnits(1025, Quantity::Format::kBinarySI).ToString(), "1025");
  EXPECT_EQ(Quantity::FromUnits(1023, Quantity::Format::kBinarySI).ToString(), "1023");
  EXPECT_EQ(Quantity::FromUnits(1000, Quantity::Format::kBinarySI).ToString(), "1k");
  EXPECT_EQ(Quantity::FromUnits(kMin, Quantity::Format::kBinarySI).ToString(), "-8Ei");
  EXPECT_EQ(Quantity::FromMilli(2500).ToString(), "2500m");
  EXPECT_EQ(Quantity().ToString(), "0");
}

TEST(QuantityTest, UnitsAndMilliRoundAwayFromZero) {
  EXPECT_EQ(*Q("1500m").Units(), 2);
  EXPECT_EQ(*Q("-1500m").Units(), -2);
  EXPECT_EQ(*Q("1n").Units(), 1);
  EXPECT_EQ(*Q("1n").Milli(), 1);
  EXPECT_EQ(*Q("1.5").Milli(), 1500);
  EXPECT_EQ(*Q("0").Units(), 0);
  EXPECT_EQ(*Q("9223372036854775807").Units(), kMax);
  EXPECT_THAT(Q("9223372036854775807").Milli(), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_EQ(*Q("9223372036854775.807").Milli(), kMax);
}

TEST(QuantityTest, ComparesByValue) {
  EXPECT_EQ(Q("1"), Q("1000m"));
  EXPECT_EQ(Q("1Ki"), Q("1024"));
  EXPECT_LT(Q("1M"), Q("1Mi"));
  EXPECT_LT(Q("-1"), Q("0"));
  EXPECT_GT(Q("1.000000001"), Q("1"));
}

TEST(QuantityTest, SumsKeepTheFormatOfTheFirstUnlessItIsZero) {
  EXPECT_EQ(Q("1Gi").Plus(Q("1024"))->ToString(), "1048577Ki");
  EXPECT_EQ(Q("500m").Plus(Q("1.5"))->ToString(), "2");
  EXPECT_EQ(Quantity().Plus(Q("1Gi"))->ToString(), "1Gi");
  EXPECT_EQ(Q("2Gi").Minus(Q("1Gi"))->ToString(), "1Gi");
  EXPECT_EQ(Q("1").Minus(Q("1.5"))->ToString(), "-500m");
  EXPECT_EQ(Q("2Mi").Times(512)->ToString(), "1Gi");
}

TEST(QuantityTest, OverflowIsAnError) {
  const Quantity max = Quantity::FromUnits(kMax);
  EXPECT_THAT(max.Plus(Q("1n")), StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("9223372036854775807 + 1n")));
  EXPECT_THAT(Quantity::FromUnits(kMin).Minus(Q("1n")), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(max.Times(2), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(max.Times(kMax), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(max.Times(kMin), StatusIs(absl::StatusCode::kOutOfRange));
}

__extension__ using Int128 = __int128;

Quantity::Format AnyFormat() { return static_cast<Quantity::Format>(*rc::gen::inRange(0, 3)); }
Quantity AnyQuantity() {
  const auto units = *rc::gen::inRange<std::int64_t>(-(std::int64_t{1} << 40), std::int64_t{1} << 40);
  const auto milli = *rc::gen::inRange<std::int64_t>(-999, 1000);
  return *Quantity::FromUnits(units, AnyFormat()).Plus(Quantity::FromMilli(milli));
}

RC_GTEST_PROP(QuantityProperty, TextReadsBackAsTheSameValue, ()) {
  const Quantity q = AnyQuantity();
  const auto again = Quantity::Parse(q.ToString());
  RC_ASSERT(again.ok());
  RC_ASSERT(*again == q);
  // 2000 as a binary quantity is "2000", which reads as a decimal one.
  if (q.format() != Quantity::Format::kBinarySI) RC_ASSERT(again->ToString() == q.ToString());
}

RC_GTEST_PROP(QuantityProperty, PlusAndMinusAreInverse, ()) {
  const Quantity a = AnyQuantity();
  const Quantity b = AnyQuantity();
  RC_ASSERT(*a.Plus(b) == *b.Plus(a));
  RC_ASSERT(*a.Plus(b)->Minus(b) == a);
  RC_ASSERT((a < b) == (*a.Minus(b) < Quantity()));
}

RC_GTEST_PROP(QuantityProperty, TimesIsRepeatedPlus, ()) {
  const Quantity a = AnyQuantity();
  const int factor = *rc::gen::inRange(0, 20);
  Quantity sum;
  for (int i = 0; i < factor; ++i) sum = *sum.Plus(a);
  RC_ASSERT(*a.Times(factor) == sum);
}

RC_GTEST_PROP(QuantityProperty, DigitsWithAFractionMatchIntegerArithmetic, ()) {
  const auto whole = *rc::gen::inRange<std::int64_t>(0, 1000000000);
  const auto micro = *rc::gen::inRange<std::int64_t>(0, 1000000);
  char text[64];
  std::snprintf(text, sizeof text, "%lld.%06lldk", static_cast<long long>(whole), static_cast<long long>(micro));
  RC_ASSERT(Q(text) == Quantity::FromMilli(whole * 1000000 + micro));
}

RC_GTEST_PROP(QuantityProperty, AnyTextIsAnsweredWithoutHarm, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::element('0', '1', '9', '.', '+', '-', 'e', 'E', 'K', 'i', 'm', 'n', 'G'));
  const auto q = Quantity::Parse(text);
  if (q.ok()) RC_ASSERT(*Quantity::Parse(q->ToString()) == *q);
}

}  // namespace
}  // namespace gangway::api
