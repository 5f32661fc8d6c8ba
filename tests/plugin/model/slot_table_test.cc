#include "plugin/model/slot_table.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gangway::model {
namespace {

TEST(SlotTableTest, NumbersAreGivenAgainAndBeginFresh) {
  SlotTable<std::string> table;
  EXPECT_EQ(table.Add(), 0);
  EXPECT_EQ(table.Add(), 1);
  EXPECT_EQ(table.Add(), 2);
  table[0] = "a";
  table[1] = "b";
  table.Remove(0);
  table.Remove(1);
  EXPECT_EQ(table.size(), 1);
  EXPECT_EQ(table.slots(), 3);
  EXPECT_EQ(table.Add(), 1) << "the one that became free last";
  EXPECT_EQ(table[1], "");
  EXPECT_EQ(table.Add(), 0);
  EXPECT_EQ(table.Add(), 3);
}

TEST(SlotTableTest, OnlyWhatIsThereIsVisited) {
  SlotTable<int> table;
  for (int i = 0; i < 4; ++i) table[table.Add()] = 10 * i;
  table.Remove(2);
  std::vector<int> seen;
  table.ForEach([&](int id, const int& value) {
    EXPECT_EQ(value, 10 * id);
    seen.push_back(id);
  });
  EXPECT_THAT(seen, ::testing::ElementsAre(0, 1, 3));
  EXPECT_FALSE(table.Has(2));
  EXPECT_FALSE(table.Has(-1));
  EXPECT_FALSE(table.Has(4));
}

TEST(SlotTableDeathTest, NothingIsRemovedTwice) {
  SlotTable<int> table;
  table.Remove(table.Add());
  EXPECT_DEATH(table.Remove(0), "Has");
}

}  // namespace
}  // namespace gangway::model
