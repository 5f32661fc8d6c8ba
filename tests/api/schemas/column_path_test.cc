#include "api/schemas/column_path.h"

#include "api/json_value.h"
#include "gtest/gtest.h"

namespace gangway::schemas {
namespace {

constexpr absl::string_view kObject =
    R"({"status":{"conditions":[{"type":"A","status":"0"},{"type":"Ready","status":"1"}],"hosts":["x","y"]},
       "metadata":{"labels":{"a.b/c":"d"}}})";

std::string Found(absl::string_view path) {
  const boost::json::value object = *api::ParseJson(kObject);
  const auto steps = ParseColumnPath(path);
  if (!steps.has_value()) return "no path";
  const boost::json::value* const found = FindAlong(*steps, object);
  return found == nullptr ? "nothing" : api::ToJson(*found);
}

TEST(ColumnPathTest, FindsTheFirstValue) {
  EXPECT_EQ(Found(R"(.status.conditions[?(@.type=="Ready")].status)"), R"("1")");
  EXPECT_EQ(Found(R"(.status.conditions[?(@.type=='None')].status)"), "nothing");
  EXPECT_EQ(Found(".status.hosts[1]"), R"("y")");
  EXPECT_EQ(Found(".status.hosts[-1:]"), R"("y")");
  EXPECT_EQ(Found(".status.hosts[*]"), R"("x")");
  EXPECT_EQ(Found(".status.hosts[2]"), "nothing");
  EXPECT_EQ(Found(R"(.metadata.labels.a\.b/c)"), R"("d")");
  EXPECT_EQ(Found(R"(.metadata.labels['a.b/c'])"), R"("d")");
  EXPECT_EQ(Found(".status.hosts.x"), "nothing");
}

TEST(ColumnPathTest, WhatIsNoSimplePathIsNone) {
  for (const absl::string_view path :
       {"", "spec", "..a", ".a[", ".a[x]", ".a[?(@.b>1)]", R"(.a\)", ".a[?(@.b.c==\"1\")]"})
    EXPECT_EQ(Found(path), "no path") << path;
}

}  // namespace
}  // namespace gangway::schemas
