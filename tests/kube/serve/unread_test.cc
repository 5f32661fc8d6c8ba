#include "kube/serve/unread.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::kube {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::size_t kKilo = 1000, kRoomForEntries = 500;

class UnreadTest : public ::testing::Test {
 protected:
  static Bytes Piece(std::size_t size) { return MakeBytes(std::string(size, 'x')); }
  void FallBehind(ConnectionId client, const std::vector<Bytes>& pieces, std::size_t taken = 0) {
    unread_.FallBehind(client, mailbox_, pieces, taken, now_);
  }
  // Who was cut off since.
  std::vector<ConnectionId> Cut() {
    std::vector<ConnectionId> out;
    for (const Mail& mail : mailbox_->Take()) {
      EXPECT_EQ(mail.what, Mail::What::kCut);
      out.push_back(mail.to);
    }
    return out;
  }

  Unread unread_{10 * kKilo + kRoomForEntries};
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>([] {});
  Unread::SteadyTime now_{};
};

TEST_F(UnreadTest, WhatManyWaitForCountsOnce) {
  const Bytes list = Piece(9 * kKilo);
  for (ConnectionId client = 1; client <= 5; ++client) FallBehind(client, {list, list});
  EXPECT_LT(unread_.bytes(), 10 * kKilo);
  EXPECT_THAT(Cut(), IsEmpty());
  FallBehind(6, {Piece(2 * kKilo)}, 1);
  EXPECT_THAT(Cut(), ElementsAre(1, 2, 3, 4, 5));  // all who wait for the large one must go before it does
  EXPECT_LT(unread_.bytes(), 3 * kKilo);
}

TEST_F(UnreadTest, WhoTookLeastLatelyGoesFirst) {
  FallBehind(1, {Piece(3 * kKilo)}, 100'000);  // much, long ago
  now_ += seconds(20);
  FallBehind(2, {Piece(3 * kKilo)}, 10);
  FallBehind(3, {Piece(3 * kKilo)}, 10);
  unread_.Take(3, 50, now_);
  FallBehind(4, {Piece(3 * kKilo)}, 1'000);
  EXPECT_THAT(Cut(), ElementsAre(1));
  unread_.Append(4, {{Piece(2 * kKilo)}}, now_);
  EXPECT_THAT(Cut(), ElementsAre(2));
  now_ += seconds(20);
  unread_.Take(3, 50, now_);
  FallBehind(5, {Piece(3 * kKilo)}, 1'000);
  EXPECT_THAT(Cut(), ElementsAre(4));
}

TEST_F(UnreadTest, RoomIsGivenBack) {
  const Bytes shared = Piece(4 * kKilo);
  FallBehind(1, {shared, Piece(1 * kKilo)});
  FallBehind(2, {shared});
  unread_.Drop(1, 1, 300);
  EXPECT_GE(unread_.bytes(), 5 * kKilo + 300);
  unread_.Drop(2, 1, 0);
  EXPECT_LT(unread_.bytes(), 2 * kKilo);
  unread_.Append(2, {{shared}}, now_);
  unread_.Forget(2);
  unread_.Forget(1);
  EXPECT_EQ(unread_.bytes(), 0u);
  unread_.Append(1, {{shared}}, now_);  // nobody we know
  unread_.Drop(1, 1, 5);
  unread_.Take(1, 1, now_);
  EXPECT_EQ(unread_.bytes(), 0u);
  EXPECT_THAT(Cut(), IsEmpty());
}

TEST_F(UnreadTest, ManySmallPiecesAreNotFree) {
  const std::vector<Bytes> same(1'000, MakeBytes(","));
  FallBehind(1, same);
  EXPECT_THAT(Cut(), ElementsAre(1));
  EXPECT_EQ(unread_.bytes(), 0u);
}

}  // namespace
}  // namespace gangway::kube
