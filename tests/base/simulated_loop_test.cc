#include "base/simulated_loop.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"

namespace gangway {
namespace {

using ::testing::ElementsAre;

const absl::Time kStart = absl::FromUnixSeconds(1'000'000);

TEST(SimulatedLoopTest, TheClockJumpsToTheNextTimer) {
  SimulatedLoop loop(1, kStart);
  Owner owner;
  std::vector<absl::Time> ran;
  loop.PostAt(kStart + absl::Hours(2), owner.token(), [&] { ran.push_back(loop.Now()); });
  loop.PostAt(kStart + absl::Hours(1), owner.token(), [&] { ran.push_back(loop.Now()); });
  loop.PostAt(kStart - absl::Hours(1), owner.token(), [&] { ran.push_back(loop.Now()); });
  EXPECT_EQ(loop.pending(), 3u);
  while (loop.Step()) {
  }
  EXPECT_THAT(ran, ElementsAre(kStart, kStart + absl::Hours(1), kStart + absl::Hours(2)));
  EXPECT_EQ(loop.steps(), 3u);
  EXPECT_EQ(loop.pending(), 0u);
}

TEST(SimulatedLoopTest, AnOwnersPostedTasksKeepTheirOrderWhateverTheSeed) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SimulatedLoop loop(seed);
    Owner a, b;
    std::vector<int> of_a;
    for (int i = 0; i < 5; ++i) {
      loop.Post(a.token(), [&, i] { of_a.push_back(i); });
      loop.Post(b.token(), [] {});
    }
    loop.RunUntilIdle();
    EXPECT_THAT(of_a, ElementsAre(0, 1, 2, 3, 4));
  }
}

std::string Interleaving(std::uint64_t seed) {
  SimulatedLoop loop(seed);
  Owner owners[3];
  std::string out;
  for (int o = 0; o < 3; ++o) {
    const char name = static_cast<char>('a' + o);
    for (int i = 0; i < 3; ++i) loop.Post(owners[o].token(), [&out, name] { out += name; });
    loop.PostAt(loop.Now() + absl::Seconds(1), owners[o].token(), [&out, &loop, name] {
      out += static_cast<char>(name - 'a' + 'A');
      out += std::to_string(loop.Random() % 10);
    });
  }
  loop.RunFor(absl::Seconds(1));
  return out;
}

TEST(SimulatedLoopTest, TheSeedDecidesTiesAndReplays) {
  std::set<std::string> seen, timers_of_one_owner;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::string once = Interleaving(seed);
    EXPECT_EQ(once, Interleaving(seed));
    seen.insert(once);

    SimulatedLoop loop(seed);
    Owner owner;
    std::string order;
    for (const char c : {'x', 'y', 'z'}) loop.PostAt(loop.Now(), owner.token(), [&order, c] { order += c; });
    loop.RunUntilIdle();
    timers_of_one_owner.insert(order);
  }
  EXPECT_GT(seen.size(), 90u);
  EXPECT_EQ(timers_of_one_owner.size(), 6u);  // every order of three timers due together
}

// Owners come and go, so their addresses are used again; a replay must not notice.
std::string Churn(std::uint64_t seed, bool other_addresses) {
  SimulatedLoop loop(seed);
  std::string out;
  std::vector<std::unique_ptr<Owner>> kept;
  std::unique_ptr<Owner> owner;
  for (int i = 0; i < 50; ++i) {
    auto fresh = std::make_unique<Owner>();
    for (int k = 0; k < 3; ++k) loop.Post(fresh->token(), [&out, i, k] { out += std::to_string(i * 10 + k) + " "; });
    if (other_addresses) kept.push_back(std::make_unique<Owner>());
    owner = std::move(fresh);
    loop.Step();
  }
  loop.RunUntilIdle();
  return out;
}

TEST(SimulatedLoopTest, AddressesDoNotReachTheOrder) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(Churn(seed, false), Churn(seed, true));
}

TEST(SimulatedLoopTest, DropsTheTasksOfAnOwnerThatIsGone) {
  SimulatedLoop loop(1, kStart);
  Owner alive;
  auto dead = std::make_unique<Owner>();
  int ran = 0;
  loop.Post(dead->token(), [&] { ++ran; });
  loop.PostAt(kStart + absl::Seconds(1), dead->token(), [&] { ++ran; });
  dead.reset();
  EXPECT_TRUE(loop.RunUntilIdle(absl::Hours(1)));
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(loop.steps(), 0u);
  EXPECT_EQ(loop.Now(), kStart);

  Owner reset;
  loop.Post(reset.token(), [&] { ran += 100; });
  reset.Reset();
  loop.Post(reset.token(), [&] { ++ran; });
  loop.RunUntilIdle();
  EXPECT_EQ(ran, 1);
}

TEST(SimulatedLoopTest, CancelledTimersDoNotRunEvenWhenTheirTimeHasCome) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimulatedLoop loop(seed, kStart);
    Owner owner;
    int ran = 0;
    Loop::TimerId a = 0, b = 0;
    a = loop.PostAt(kStart, owner.token(), [&] {
      ++ran;
      loop.Cancel(b);
    });
    b = loop.PostAt(kStart, owner.token(), [&] {
      ++ran;
      loop.Cancel(a);
    });
    loop.RunUntilIdle();
    EXPECT_EQ(ran, 1);
    loop.Cancel(a);
    loop.Cancel(12345);
  }
}

TEST(SimulatedLoopTest, IdleIsQuietForAWhileNotForEver) {
  SimulatedLoop loop(1, kStart);
  Owner owner;
  int beats = 0, soon = 0;
  std::function<void()> beat = [&] {
    ++beats;
    loop.PostAt(loop.Now() + absl::Minutes(5), owner.token(), beat);
  };
  loop.PostAt(kStart + absl::Minutes(5), owner.token(), beat);
  loop.PostAt(kStart + absl::Seconds(9), owner.token(),
              [&] { loop.PostAt(loop.Now() + absl::Seconds(9), owner.token(), [&] { ++soon; }); });
  EXPECT_TRUE(loop.RunUntilIdle(absl::Seconds(10)));
  EXPECT_EQ(soon, 1);
  EXPECT_EQ(beats, 0);
  EXPECT_EQ(loop.Now(), kStart + absl::Seconds(18));
}

TEST(SimulatedLoopTest, EndlessWorkIsSeen) {
  SimulatedLoop loop(1);
  Owner owner;
  std::function<void()> again = [&] { loop.Post(owner.token(), again); };
  again();
  EXPECT_FALSE(loop.RunUntilIdle(absl::ZeroDuration(), 1000));
  EXPECT_EQ(loop.steps(), 1000u);
  EXPECT_FALSE(loop.RunUntil([] { return false; }, absl::InfiniteFuture(), 1000));
  EXPECT_FALSE(loop.RunFor(absl::Seconds(1), 1000));
}

TEST(SimulatedLoopTest, RunUntilStopsAtThePredicateOrTheLimit) {
  SimulatedLoop loop(1, kStart);
  Owner owner;
  int n = 0;
  for (int i = 1; i <= 5; ++i) loop.PostAt(kStart + absl::Seconds(i), owner.token(), [&] { ++n; });
  EXPECT_TRUE(loop.RunUntil([&] { return n == 2; }, absl::InfiniteFuture()));
  EXPECT_EQ(loop.Now(), kStart + absl::Seconds(2));
  EXPECT_FALSE(loop.RunUntil([&] { return n == 5; }, kStart + absl::Milliseconds(3500)));
  EXPECT_EQ(n, 3);
  EXPECT_EQ(loop.Now(), kStart + absl::Milliseconds(3500));
  EXPECT_TRUE(loop.RunFor(absl::Milliseconds(500)));
  EXPECT_EQ(n, 4);
  EXPECT_EQ(loop.Now(), kStart + absl::Seconds(4));
  EXPECT_FALSE(loop.RunUntil([&] { return n == 6; }, absl::InfiniteFuture()));  // nothing is left to run
  EXPECT_EQ(n, 5);
}

TEST(SimulatedLoopTest, ATimerForNeverNeverComes) {
  SimulatedLoop loop(1, kStart);
  Owner owner;
  loop.PostAt(absl::InfiniteFuture(), owner.token(), [] { FAIL(); });
  EXPECT_FALSE(loop.Step());
  EXPECT_EQ(loop.Now(), kStart);
}

TEST(SimulatedLoopTest, WhatDroppedTasksOwnMayUseTheLoopAsItDies) {
  struct Component {
    explicit Component(Loop& l) : loop(l) {}
    ~Component() {
      loop.Cancel(1);
      loop.Post(owner.token(), [] {});
      loop.PostAt(loop.Now(), owner.token(), [] {});
    }
    Loop& loop;
    Owner owner;
  };
  SimulatedLoop loop(1);
  Owner owner;
  loop.PostAt(loop.Now(), owner.token(), [c = std::make_unique<Component>(loop)] {});
  loop.Post(owner.token(), [c = std::make_unique<Component>(loop)] {});
}

}  // namespace
}  // namespace gangway
