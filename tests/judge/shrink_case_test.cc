#include "tests/judge/shrink_case.h"

#include <gtest/gtest.h>
#include <boost/json.hpp>

namespace gangway::testutil {
namespace {

namespace json = boost::json;

TEST(ShrinkCaseTest, WhatIsNotNeededIsLeftOut) {
  const json::object shown = json::parse(R"({"a":[1,{"x":1,"y":2},3,4],"b":{"c":{"d":[5,6]}},"e":7})").as_object();
  int asked = 0;
  const json::object small = ShrinkCase(shown, [&](const std::vector<json::object>& cases) {
    ++asked;
    std::vector<bool> still;
    for (const json::object& each : cases) {
      const std::string text = json::serialize(each);
      still.push_back(text.find("\"y\":2") != std::string::npos && text.find('6') != std::string::npos);
    }
    return still;
  });
  EXPECT_EQ(json::serialize(small), R"({"a":[{"y":2}],"b":{"c":{"d":[6]}}})");
  EXPECT_LT(asked, 12);
}

// Two of which one is enough: neither is needed, both together are.
TEST(ShrinkCaseTest, OfTwoOneStays) {
  const json::object shown = json::parse(R"({"a":[1,1,1,1,1,1,1,1]})").as_object();
  const json::object small = ShrinkCase(shown, [](const std::vector<json::object>& cases) {
    std::vector<bool> still;
    for (const json::object& each : cases) still.push_back(json::serialize(each).find('1') != std::string::npos);
    return still;
  });
  EXPECT_EQ(json::serialize(small), R"({"a":[1]})");
}

}  // namespace
}  // namespace gangway::testutil
