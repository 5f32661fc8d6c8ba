#include "base/asio_loop.h"

#include <csignal>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"

namespace gangway {
namespace {

using ::testing::ElementsAre;

TEST(AsioLoopTest, RunsTasksInTheOrderPostedAndNeverWithinThePost) {
  AsioLoop loop(1);
  Owner owner;
  std::vector<int> ran;
  loop.Post(owner.token(), [&] {
    loop.Post(owner.token(), [&] {
      ran.push_back(3);
      loop.Stop();
    });
    ran.push_back(1);
  });
  loop.Post(owner.token(), [&] { ran.push_back(2); });
  EXPECT_THAT(ran, ElementsAre());
  loop.Run();
  EXPECT_THAT(ran, ElementsAre(1, 2, 3));
}

TEST(AsioLoopTest, DropsTheTasksOfAnOwnerThatIsGone) {
  AsioLoop loop(1);
  Owner owner;
  auto dead = std::make_unique<Owner>();
  bool ran = false;
  loop.Post(owner.token(), [&] { dead.reset(); });
  loop.Post(dead->token(), [&] { ran = true; });
  loop.PostAt(loop.Now(), dead->token(), [&] { loop.Post(owner.token(), [&] { ran = ran || dead == nullptr; }); });
  loop.Post(owner.token(), [&] { loop.Stop(); });
  dead.reset();
  loop.Run();
  EXPECT_FALSE(ran);
}

TEST(AsioLoopTest, TimersRunInTheOrderOfTheirTimesAndNotEarly) {
  AsioLoop loop(1);
  Owner owner;
  const absl::Time start = loop.Now();
  std::vector<int> ran;
  const auto at = [&](int ms, int id) {
    return loop.PostAt(start + absl::Milliseconds(ms), owner.token(), [&, ms, id] {
      EXPECT_GE(loop.Now(), start + absl::Milliseconds(ms));
      ran.push_back(id);
      if (id == 4) loop.Stop();
    });
  };
  at(20, 4);
  at(10, 3);
  const Loop::TimerId cancelled = at(5, 2);
  at(-5, 1);
  loop.Cancel(cancelled);
  loop.Cancel(0);
  loop.Run();
  EXPECT_THAT(ran, ElementsAre(1, 3, 4));
}

TEST(AsioLoopTest, ATimerThatIsDueCanStillBeCancelledByAnEarlierOne) {
  AsioLoop loop(1);
  Owner owner;
  bool ran = false;
  Loop::TimerId second = 0;
  loop.PostAt(absl::InfinitePast(), owner.token(), [&] { loop.Cancel(second); });
  second = loop.PostAt(loop.Now(), owner.token(), [&] { ran = true; });
  loop.PostAt(loop.Now() + absl::Milliseconds(1), owner.token(), [&] { loop.Stop(); });
  loop.Run();
  EXPECT_FALSE(ran);
}

TEST(AsioLoopTest, TheClockStandsStillWithinATaskAndNeverGoesBack) {
  AsioLoop loop(1);
  Owner owner;
  absl::Time last = loop.Now();
  int left = 1000;
  std::function<void()> task = [&] {
    const absl::Time now = loop.Now();
    EXPECT_GE(now, last);
    EXPECT_EQ(loop.Now(), now);
    last = now;
    if (--left > 0) {
      loop.Post(owner.token(), task);
    } else {
      loop.Stop();
    }
  };
  loop.Post(owner.token(), task);
  loop.Run();
  EXPECT_LT(absl::AbsDuration(loop.Now() - absl::Now()), absl::Minutes(1));
}

TEST(AsioLoopTest, ATimerThatSetsItselfDoesNotStarveTheRest) {
  AsioLoop loop(1);
  Owner owner;
  std::function<void()> again = [&] { loop.PostAt(absl::InfinitePast(), owner.token(), again); };
  again();
  loop.Post(owner.token(), [&] { loop.Stop(); });
  loop.Run();
}

TEST(AsioLoopTest, StopLeavesTheRestForTheNextRun) {
  AsioLoop loop(1);
  Owner owner;
  std::vector<int> ran;
  loop.Post(owner.token(), [&] {
    ran.push_back(1);
    loop.Stop();
  });
  loop.Post(owner.token(), [&] {
    ran.push_back(2);
    loop.Stop();
  });
  loop.Run();
  EXPECT_THAT(ran, ElementsAre(1));
  loop.Run();
  EXPECT_THAT(ran, ElementsAre(1, 2));
  loop.Stop();
  loop.Run();  // at once
}

TEST(AsioLoopTest, ManyThreadsPost) {
  constexpr int kThreads = 4, kTasks = 20'000;
  AsioLoop loop(1);
  Owner owner;
  std::vector<int> next(kThreads, 0);
  int left = kThreads * kTasks;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTasks; ++i) {
        loop.Post(owner.token(), [&, t, i] {
          EXPECT_EQ(next[static_cast<std::size_t>(t)]++, i);
          if (--left == 0) loop.Stop();
        });
      }
    });
  }
  loop.Run();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(left, 0);
}

TEST(AsioLoopTest, StopsFromAnotherThreadWhileItWaits) {
  AsioLoop loop(1);
  Owner owner;
  std::thread thread;
  loop.Post(owner.token(), [&] { thread = std::thread([&] { loop.Stop(); }); });
  loop.Run();
  thread.join();
}

TEST(AsioLoopTest, HandsOverSignals) {
  AsioLoop loop(1);
  Owner owner;
  int seen = 0;
  loop.OnSignals({SIGUSR1}, owner.token(), [&](int signal) {
    seen = signal;
    loop.Stop();
  });
  loop.Post(owner.token(), [] { std::raise(SIGUSR1); });
  loop.Run();
  EXPECT_EQ(seen, SIGUSR1);
}

TEST(AsioLoopTest, WhatDroppedTasksOwnMayUseTheLoopAsItDies) {
  struct Component {
    explicit Component(Loop& l) : loop(l) {
      timer = loop.PostAt(loop.Now() + absl::Hours(1), owner.token(), [] {});
    }
    ~Component() {
      loop.Cancel(timer);
      loop.Post(owner.token(), [] {});
      loop.PostAt(loop.Now(), owner.token(), [] {});
    }
    Loop& loop;
    Loop::TimerId timer;
    Owner owner;
  };
  AsioLoop loop(1);
  Owner owner;
  loop.Post(owner.token(), [c = std::make_unique<Component>(loop)] {});
  loop.PostAt(loop.Now() + absl::Hours(2), owner.token(), [c = std::make_unique<Component>(loop)] {});
}

TEST(AsioLoopTest, RandomFollowsTheSeed) {
  AsioLoop a(7), b(7), c(8);
  const std::uint64_t first = a.Random();
  EXPECT_EQ(first, b.Random());
  EXPECT_NE(first, c.Random());
}

}  // namespace
}  // namespace gangway
