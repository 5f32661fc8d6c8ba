#include "plugin/extender/session/session_store.h"

#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::extender {
namespace {

using testutil::At;

std::shared_ptr<const SessionPlan> APlan() {
  model::Cluster cluster;
  cluster.SetQueue(testutil::Queue("default"));
  testutil::AddNodes(cluster, 1);
  testutil::AddGang(cluster, "ga", 1, 1, 1000);
  gang::Scratch scratch;
  return SessionPlan::Make(cluster, {}, At(0), scratch);
}

TEST(SessionStoreTest, ASessionHasNoPlanBeforeItIsMadeAndNoneWhenItIsClosed) {
  SessionStore store;
  EXPECT_EQ(store.Newest("a", At(0)), nullptr);
  const SessionId id = store.Open("a", At(0));
  EXPECT_EQ(store.Newest("a", At(0)), nullptr);
  const auto plan = APlan();
  EXPECT_TRUE(store.Planned("a", id, plan));
  EXPECT_EQ(store.Newest("a", At(1)), plan);
  EXPECT_EQ(store.Find(id, At(1)), plan);
  EXPECT_TRUE(store.CloseOldest("a", At(2)));
  EXPECT_EQ(store.Newest("a", At(2)), nullptr);
  EXPECT_EQ(store.Find(id, At(2)), nullptr);
  EXPECT_EQ(store.Last("a"), plan);
  EXPECT_FALSE(store.CloseOldest("a", At(2)));
}

TEST(SessionStoreTest, OfSessionsThatOverlapTheNewestAnswers) {
  SessionStore store;
  const auto old_plan = APlan(), new_plan = APlan();
  const SessionId first = store.Open("a", At(0)), second = store.Open("a", At(1));
  EXPECT_TRUE(store.Planned("a", second, new_plan));
  EXPECT_TRUE(store.Planned("a", first, old_plan));  // late
  EXPECT_EQ(store.Newest("a", At(2)), new_plan);
  EXPECT_TRUE(store.CloseOldest("a", At(2)));  // of the first
  EXPECT_EQ(store.Newest("a", At(2)), new_plan);
  EXPECT_EQ(store.Find(first, At(2)), nullptr);
}

// A scheduler that does not wait for its plans goes on from them all the same, and from none that is older.
TEST(SessionStoreTest, APlanThatComesLateIsWhatTheNextSessionGoesOnFrom) {
  SessionStore store;
  const auto late = APlan(), later = APlan();
  const SessionId first = store.Open("a", At(0));
  EXPECT_TRUE(store.CloseOldest("a", At(1)));
  EXPECT_FALSE(store.Planned("a", first, late));
  EXPECT_EQ(store.Last("a"), late);
  EXPECT_EQ(store.Newest("a", At(1)), nullptr);
  const SessionId second = store.Open("a", At(2)), third = store.Open("a", At(3));
  EXPECT_TRUE(store.Planned("a", third, later));
  EXPECT_TRUE(store.Planned("a", second, late));
  EXPECT_EQ(store.Last("a"), later);
  EXPECT_FALSE(store.Planned("nobody", 7, late));
  EXPECT_EQ(store.Last("nobody"), nullptr);
}

TEST(SessionStoreTest, ASessionIsClosedOnce) {
  SessionStore store;
  const SessionId id = store.Open("a", At(0));
  store.Planned("a", id, APlan());
  store.Allocate(id, "uid-ga-w-0", "elsewhere");
  const auto closed = store.Close(id, At(1));
  ASSERT_TRUE(closed.has_value());
  EXPECT_EQ(closed->allocated, 1u);
  EXPECT_EQ(closed->elsewhere, 1u);
  EXPECT_FALSE(store.Close(id, At(1)).has_value());
  const SessionId old = store.Open("a", At(2));
  EXPECT_FALSE(store.Close(old, At(2000)).has_value()) << "it was forgotten";
}

// Names are as long as a caller likes.
TEST(SessionStoreTest, WhatIsAccountedForIsBoundedInBytesToo) {
  SessionStore store({.max_allocated_bytes = 100});
  store.Open("a", At(0));
  store.Allocate("a", std::string(40, 'x'), "node");
  store.Allocate("a", std::string(40, 'y'), "node");
  store.Allocate("a", std::string(40, 'z'), "node");  // too much
  EXPECT_EQ(store.Sessions(At(0))[0].allocated, 2u);
  store.Allocate("a", std::string(40, 'x'), "nod2");
  EXPECT_EQ(store.Sessions(At(0))[0].allocated, 2u) << "the same is no more than before";
  store.Deallocate("a", std::string(40, 'x'));
  store.Allocate("a", std::string(40, 'z'), "node");
  EXPECT_EQ(store.Sessions(At(0))[0].allocated, 2u);
}

TEST(SessionStoreTest, ASessionThatIsNeverClosedIsForgotten) {
  SessionStore store({.max_age = absl::Seconds(60), .max_sessions = 2});
  const auto plan = APlan();
  const SessionId id = store.Open("a", At(0));
  store.Planned("a", id, plan);
  EXPECT_EQ(store.Newest("a", At(60)), plan);
  EXPECT_EQ(store.Newest("a", At(61)), nullptr);
  EXPECT_TRUE(store.Sessions(At(61)).empty());
  for (int i = 0; i < 5; ++i) store.Open("a", At(100 + i));
  EXPECT_EQ(store.Sessions(At(105)).size(), 2u);
  EXPECT_FALSE(store.Planned("a", id, plan));
}

TEST(SessionStoreTest, NoOlderPlanAnswersForASessionThatArrivedTorn) {
  SessionStore store;
  store.Planned("a", store.Open("a", At(0)), APlan());
  const SessionId torn = store.Open("a", At(1));
  store.WithoutPlan(torn, "Jobs: is cut off");
  EXPECT_EQ(store.Newest("a", At(1)), nullptr);
  ASSERT_EQ(store.Sessions(At(1)).size(), 2u);
  EXPECT_EQ(store.Sessions(At(1))[1].trouble, "Jobs: is cut off");
}

TEST(SessionStoreTest, SchedulersDoNotMix) {
  SessionStore store({.max_callers = 2});
  const auto plan = APlan();
  const SessionId id = store.Open("a", At(0));
  store.Planned("a", id, plan);
  EXPECT_EQ(store.Newest("b", At(0)), nullptr);
  store.Open("b", At(1));
  store.CloseOldest("b", At(1));
  EXPECT_EQ(store.Newest("a", At(1)), plan);
  store.Open("c", At(2));  // one too many
  EXPECT_EQ(store.Newest("a", At(2)), nullptr);
}

TEST(SessionStoreTest, WhatTheSchedulerPlacesIsAccountedFor) {
  SessionStore store({.max_allocated = 2});
  const SessionId id = store.Open("a", At(0));
  store.Planned("a", id, APlan());
  store.Allocate("a", "uid-ga-w-0", "node-000");
  store.Allocate("a", "other", "node-000");
  store.Allocate("a", "third", "node-000");  // one too many
  EXPECT_EQ(store.Sessions(At(0))[0].allocated, 2u);
  EXPECT_EQ(store.Sessions(At(0))[0].elsewhere, 0u);
  store.Allocate(id, "uid-ga-w-0", "node-001");
  EXPECT_EQ(store.Sessions(At(0))[0].elsewhere, 1u);
  store.Deallocate("a", "uid-ga-w-0");
  store.Deallocate(id, "other");
  EXPECT_EQ(store.Sessions(At(0))[0].allocated, 0u);
  store.Allocate("nobody", "u", "n");
}

TEST(SessionStoreTest, ThreadsShareIt) {
  SessionStore store;
  const auto plan = APlan();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, caller = std::string(1, static_cast<char>('a' + i))] {
      for (int n = 0; n < 200; ++n) {
        const SessionId id = store.Open(caller, At(n));
        store.Planned(caller, id, plan);
        const auto found = store.Newest(caller, At(n));
        ASSERT_EQ(found, plan);
        store.Allocate(caller, "u", found->NodeOf("uid-ga-w-0"));
        store.CloseOldest(caller, At(n));
        store.Sessions(At(n));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(store.Sessions(At(500)).empty());
}

}  // namespace
}  // namespace gangway::extender
