#include "plugin/model/resources.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

namespace gangway::model {
namespace {

TEST(ResourcesTest, AmountsAreCutAndExact) {
  Dims dims;
  Resources r = dims.Intern({{"cpu", -5}, {"memory", kMaxAmount + 7}, {"nvidia.com/gpu", 8}});
  EXPECT_EQ(r[kCpu], 0);
  EXPECT_EQ(r[kMemory], kMaxAmount);
  const Dim gpu = dims.Find("nvidia.com/gpu");
  ASSERT_GE(gpu, kKnownDims);
  EXPECT_EQ(r[gpu], 8);
  EXPECT_EQ(r[gpu + 5], 0);
}

TEST(ResourcesTest, AddingAndSubtractingLeadsBack) {
  Dims dims;
  const Resources a = dims.Intern({{"cpu", 1500}, {"example.com/x", kMaxAmount}});
  Resources sum;
  for (int i = 0; i < 20'000; ++i) sum.Add(a);  // beyond what 64 bits hold
  for (int i = 0; i < 20'000; ++i) sum.Subtract(a);
  EXPECT_TRUE(sum.zero());
  EXPECT_EQ(sum, Resources());
}

TEST(ResourcesTest, AnyAmountOfAnythingIsMoreThanNothing) {
  Dims dims;
  for (const char* const name : {"cpu", "memory", "pods", "ephemeral-storage", "nvidia.com/gpu"}) {
    EXPECT_FALSE(dims.Intern({{name, 1}}).zero()) << name;
    EXPECT_TRUE(dims.Intern({{name, 0}}).zero()) << name;
  }
}

// Of few resources and of many: a copy is its own, and what is set last says how many there are.
TEST(ResourcesTest, ACopyIsItsOwn) {
  for (const Dim last : {kCpu, kEphemeralStorage, kKnownDims, kKnownDims + 1, kKnownDims + 9}) {
    SCOPED_TRACE(last);
    Resources a;
    a.Set(last, 5);
    Resources b = a, c;
    c.Set(last + 1, 3);
    c = a;
    EXPECT_EQ(b, a);
    EXPECT_EQ(c, a);
    b.Set(last, 6);
    c.Add(a);
    EXPECT_EQ(a[last], 5);
    EXPECT_EQ(b[last], 6);
    EXPECT_EQ(c[last], 10);
    EXPECT_EQ(a.size(), std::max(last + 1, kKnownDims));
    const Resources moved = std::move(a);
    EXPECT_EQ(moved[last], 5);
  }
}

TEST(ResourcesTest, TextAsAPersonWouldWriteIt) {
  EXPECT_EQ(AmountText("cpu", 9000), "9");
  EXPECT_EQ(AmountText("cpu", 500), "0.5");
  EXPECT_EQ(AmountText("cpu", 115'200), "115.2");
  EXPECT_EQ(AmountText("cpu", 1), "0.001");
  EXPECT_EQ(AmountText("memory", std::int64_t{64} << 30), "64Gi");
  EXPECT_EQ(AmountText("memory", 100'000'000), "100M");
  EXPECT_EQ(AmountText("memory", 0), "0");
  EXPECT_EQ(AmountText("memory", 1'234'567), "1234567");
  EXPECT_EQ(AmountText("memory", 12'345'678), "11.77Mi") << "exact as long as that is short";
  EXPECT_EQ(AmountText("memory", (std::int64_t{64} << 30) - 100'000'000), "63.9Gi");
  EXPECT_EQ(AmountText("nvidia.com/gpu", 8), "8");
}

}  // namespace
}  // namespace gangway::model
