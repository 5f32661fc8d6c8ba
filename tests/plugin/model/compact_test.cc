#include "plugin/model/compact.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/model/pod_labels.h"

namespace gangway::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TextTest, SaysWhatItWasGiven) {
  for (const std::string& text : {std::string(), std::string("a"), std::string("a\0b", 3), std::string(1000, 'x')}) {
    EXPECT_EQ(Text(text).view(), text);
    EXPECT_EQ(std::string(Text(text)), text);
    EXPECT_TRUE(Text(text) == Text(text));
    EXPECT_FALSE(Text(text) == text + "y");
  }
  EXPECT_TRUE(Text("a") < Text("b"));
  EXPECT_TRUE(Text("a") < absl::string_view("ab"));
}

TEST(ShortTextTest, SaysWhatItWasGiven) {
  EXPECT_EQ(sizeof(ShortText), 32u);
  for (const std::size_t size : {0u, 1u, 30u, 31u, 32u, 33u, 254u, 255u, 256u, 1000u}) {
    const std::string text(size, 'x');
    ShortText kept(text);
    EXPECT_EQ(kept.view(), text);
    EXPECT_TRUE(kept == text);
    EXPECT_FALSE(kept == text + "y");
    ShortText moved(std::move(kept));
    EXPECT_EQ(std::string(moved), text);
    ShortText other("other");
    other = std::move(moved);
    EXPECT_EQ(other.view(), text);
  }
  EXPECT_EQ(ShortText(std::string(31, '\xff')).view(), std::string(31, '\xff'));
  EXPECT_TRUE(ShortText("a") < ShortText("b"));
  EXPECT_TRUE(ShortText("a") < absl::string_view("ab"));
}

TEST(UidTest, SaysWhatItWasGiven) {
  EXPECT_EQ(sizeof(Uid), 16u);
  for (const char* text :
       {"", "uid-g-w-0", "6f1c2a3e-5d21-4b7e-9c11-0123456789ab", "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "00000000-0000-0000-0000-000000000000",  // of no version: a text
        "6F1C2A3E-5D21-4B7E-9C11-0123456789AB", "6f1c2a3e-5d21-4b7e-9c11-0123456789ag",
        "6f1c2a3e-5d21-4b7e-9c11x0123456789ab", "6f1c2a3e5d214b7e9c110123456789ab"}) {
    const Uid uid{absl::string_view(text)};
    EXPECT_EQ(uid.text(), text);
    EXPECT_TRUE(uid == text);
    EXPECT_FALSE(uid == std::string(text) + "0");
    EXPECT_FALSE(uid == "6f1c2a3e-5d21-4b7e-9c11-0123456789ac");
  }
}

TEST(UidTest, MovesFromOneToTheOther) {
  Uid a("text"), b("6f1c2a3e-5d21-4b7e-9c11-0123456789ab");
  a = std::move(b);
  EXPECT_EQ(a.text(), "6f1c2a3e-5d21-4b7e-9c11-0123456789ab");
  const Uid c(std::move(a));
  EXPECT_EQ(c.text(), "6f1c2a3e-5d21-4b7e-9c11-0123456789ab");
}

TEST(SeldomTest, IsThereOrNot) {
  EXPECT_EQ(sizeof(Seldom<std::string>), sizeof(void*));
  Seldom<std::string> text;
  EXPECT_FALSE(text.has_value());
  text = std::string("a");
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(*text, "a");
  EXPECT_EQ(text->size(), 1u);
  text = std::nullopt;
  EXPECT_FALSE(text.has_value());
}

TEST(MomentTest, SaysWhatItWasGiven) {
  const absl::Time now = absl::FromUnixNanos(1'700'000'000'123'456'789);
  for (const absl::Time time : {absl::InfinitePast(), absl::UnixEpoch(), now, absl::InfiniteFuture()})
    EXPECT_EQ(absl::Time(Moment(time)), time);
}

TEST(PodLabelsTest, OfEachPodItsOwnAndKeptOnce) {
  PodLabels labels;
  const LabelList both = {{"app", "ctr"}, {"index", "1"}}, none;
  PodLabels::Kept a = labels.Keep("ads", both), b = labels.Keep("ads", both), c = labels.Keep("maps", none);
  EXPECT_EQ(labels.Pack(a), std::string("ads\0app\0ctr\0index\0001\0", 20));
  EXPECT_EQ(labels.Pack(c), std::string("maps\0", 5));
  labels.Drop(a);
  EXPECT_FALSE(a.there());
  labels.Drop(b);
  PodLabels::Kept d = labels.Keep("x", {{"k", "v"}});
  EXPECT_EQ(labels.Pack(d), std::string("x\0k\0v\0", 6));
  EXPECT_EQ(labels.Pack(c), std::string("maps\0", 5));
  labels.Drop(c);
  labels.Drop(d);
  labels.Drop(d);
}

TEST(FlaggedTest, HasItsNumberAndItsFlag) {
  static_assert(sizeof(Flagged) == 4);
  for (const int number : {-1, 0, 1, (1 << 30) - 1, -(1 << 30)}) {
    for (const bool flag : {false, true}) {
      EXPECT_EQ(Flagged(number, flag).number(), number);
      EXPECT_EQ(Flagged(number, flag).flag(), flag);
    }
  }
}

TEST(TextOfOtherTest, IsTheTextThatIsKept) {
  const std::string kept = "research", same = "research", other = "staff";
  const TextOfOther text(kept);
  EXPECT_EQ(text, absl::string_view("research"));
  EXPECT_EQ(text.view().data(), kept.data()) << "not a copy";
  EXPECT_TRUE(text == TextOfOther(same));
  EXPECT_TRUE(text < TextOfOther(other));
  EXPECT_EQ(std::string(TextOfOther()), "");
}

TEST(GrowByQuartersTest, LeavesNoMoreRoomThanAQuarter) {
  std::vector<int> all;
  int moves = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::size_t before = all.capacity();
    GrowByQuarters(all);
    moves += all.capacity() != before ? 1 : 0;
    all.push_back(i);
    ASSERT_LE(all.capacity(), all.size() + all.size() / 4 + 8);
  }
  EXPECT_LT(moves, 60);
}

TEST(PodLabelsTest, WhatNobodyHasIsNotKept) {
  PodLabels labels;
  const auto audit = [&](std::initializer_list<const PodLabels::Kept*> all) {
    std::vector<std::string> wrong;
    labels.Audit(std::vector(all), wrong);
    return wrong;
  };
  PodLabels::Kept a = labels.Keep("ads", {{"app", "ctr"}}), b = labels.Keep("ads", {{"app", "web"}});
  EXPECT_THAT(audit({&a, &b}), IsEmpty());
  EXPECT_THAT(audit({&a}), ElementsAre("label ads= is kept for 2, of pods that have it 1",
                                       "label app=web= is kept for 1, of pods that have it 0"));
  labels.Drop(a);
  EXPECT_THAT(audit({&b}), IsEmpty());
  labels.Drop(b);
  EXPECT_THAT(audit({}), IsEmpty());
}

}  // namespace
}  // namespace gangway::model
