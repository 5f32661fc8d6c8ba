// What holds of evictions on many random clusters, and over what becomes of them. A failure names the seed.
#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/gang/minimum.h"
#include "plugin/gang/queue_tree.h"
#include "plugin/gang/schedule.h"
#include "plugin/gang/shares.h"
#include "tests/plugin/gang/carried_out.h"
#include "tests/plugin/gang/dice.h"
#include "tests/plugin/gang/random_root.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using model::Cluster;
using model::Decision;
using model::Decisions;
using model::EvictFor;
using model::TaskId;
using model::TaskStatus;
using testutil::Dice;

// Everything that is known, so that it can be told in any order.
struct Facts {
  std::vector<model::NodeFacts> nodes;
  std::vector<model::QueueFacts> queues;
  std::vector<model::PriorityClassFacts> classes;
  std::map<std::string, model::GangFacts> gangs;
  std::map<std::string, model::PodFacts> pods;
  std::vector<model::BudgetFacts> budgets;
};

model::Wants RandomWants(Dice& dice) {
  model::Wants wants = testutil::Cpu(1000 * (1 + dice.Below(3)));
  if (dice.Chance(20)) wants.requests.emplace_back("nvidia.com/gpu", 1 + dice.Below(2));
  if (dice.Chance(8)) wants.host_ports = {{"TCP", "", 80}};
  if (dice.Chance(8)) {
    wants.pod_anti_affinity = {
        {"kubernetes.io/hostname", {{"default"}, std::nullopt, {{"app", model::Op::kIn, {"a"}}}}}};
  }
  if (dice.Chance(5)) {
    model::SpreadFacts spread;
    spread.term = {"kubernetes.io/hostname", {{"default"}, std::nullopt, {{"app", model::Op::kIn, {"a"}}}}};
    wants.spreads = {spread};
  }
  return wants;
}

void AddRandomGang(Dice& dice, const std::string& name, Facts& facts) {
  model::GangFacts gang = testutil::Gang(name, 1 + dice.Below(3));
  gang.queue = facts.queues[static_cast<std::size_t>(dice.Below(static_cast<int>(facts.queues.size())))].name;
  gang.priority_class = facts.classes[static_cast<std::size_t>(dice.Below(3))].name;
  gang.created = testutil::At(dice.Below(50));
  gang.evictable = !dice.Chance(10);
  const int pods = gang.min_member + dice.Below(3);
  const model::Wants wants = RandomWants(dice);
  const bool labelled = dice.Chance(40), several = dice.Chance(20);
  const absl::Duration cooldown = absl::Seconds(dice.Chance(10) ? dice.Below(5) : 0);
  for (int i = 0; i < pods; ++i) {
    model::PodFacts pod = testutil::Pod(name, several && i % 2 == 1 ? "ps" : "w", i, wants);
    pod.evictable = !dice.Chance(5);
    pod.preempts = !dice.Chance(5);
    pod.cooldown = cooldown;
    if (labelled) pod.labels = {{"app", "a"}};
    facts.pods[pod.name] = pod;
  }
  if (several && pods > 1) gang.min_task_member = {{"ps", 1}};
  if (several && gang.min_member < 2) gang.min_member = std::min(pods, 2);
  facts.gangs[name] = gang;
}

Facts RandomFacts(Dice& dice) {
  Facts facts;
  const int nodes = 1 + dice.Below(4);
  for (int i = 0; i < nodes; ++i) {
    model::NodeFacts node = testutil::Node(absl::StrCat("n", i), 3 + dice.Below(8));
    if (dice.Chance(50)) node.allocatable.emplace_back("nvidia.com/gpu", 1 + dice.Below(4));
    facts.nodes.push_back(node);
  }
  facts.classes = {{"low", 1}, {"mid", 5}, {"high", 9, false, !dice.Chance(10)}};
  facts.queues.push_back(testutil::Queue("default"));
  const std::string top = testutil::RandomRoot(dice, facts.queues);
  facts.queues.front().parent = top;
  const int queues = dice.Below(5);
  for (int i = 0; i < queues; ++i) {
    model::QueueFacts queue = testutil::Queue(absl::StrCat("q", i));
    queue.parent = dice.Chance(90) ? top : "";
    queue.weight = 1 + dice.Below(3);
    queue.priority = dice.Below(2);
    queue.reclaimable = !dice.Chance(15);
    if (i > 0 && dice.Chance(55)) queue.parent = absl::StrCat("q", dice.Below(i));
    if (dice.Chance(15)) queue.min_runtime = absl::Seconds(dice.Below(6));
    if (dice.Chance(50)) queue.deserved = {{"cpu", 1000 * dice.Below(8)}};
    if (dice.Chance(30)) queue.guarantee = {{"cpu", 1000 * dice.Below(4)}};
    if (dice.Chance(20)) queue.capability = {{"cpu", 1000 * (2 + dice.Below(8))}};
    facts.queues.push_back(queue);
  }
  if (dice.Chance(40)) facts.budgets.push_back({"default", "b", {{"app", model::Op::kIn, {"a"}}}, dice.Below(4)});
  const int gangs = 2 + dice.Below(6);
  for (int i = 0; i < gangs; ++i) AddRandomGang(dice, absl::StrCat("g", i), facts);
  return facts;
}

void Tell(Cluster& cluster, const Facts& facts, Dice* shuffled) {
  std::vector<std::function<void()>> events;
  for (const auto& node : facts.nodes) events.push_back([&] { cluster.SetNode(node); });
  for (const auto& queue : facts.queues) events.push_back([&] { cluster.SetQueue(queue); });
  for (const auto& each : facts.classes) events.push_back([&] { cluster.SetPriorityClass(each); });
  for (const auto& [name, gang] : facts.gangs) events.push_back([&cluster, &gang = gang] { cluster.SetGang(gang); });
  for (const auto& [name, pod] : facts.pods) events.push_back([&cluster, &pod = pod] { cluster.SetPod(pod); });
  for (const auto& budget : facts.budgets) events.push_back([&] { cluster.SetBudget(budget); });
  if (shuffled != nullptr) std::shuffle(events.begin(), events.end(), shuffled->engine());
  for (const auto& event : events) event();
}

Policy PolicyOf(Dice& dice) {
  Policy policy;
  policy.preempt = !dice.Chance(10);
  policy.reclaim = !dice.Chance(20);
  policy.sharing = dice.Chance(50) ? Sharing::kByWeight : Sharing::kAsWritten;
  return policy;
}

// The same while pods are evicted, or not, and run and end.
TEST(EvictProperty, WhoIsNotTriedAgainWouldHaveWaited) {
  int left = 0, left_after_an_event = 0, left_though_victims_are_chosen = 0;
  for (unsigned seed = 0; seed < testutil::Worlds(3000); ++seed) {
    Dice dice(seed);
    Facts facts = RandomFacts(dice);
    Policy policy = PolicyOf(dice);
    Cluster cluster;
    Tell(cluster, facts, nullptr);
    Scratch kept;
    testutil::Told told;
    for (int round = 0; round < 14; ++round) {
      const absl::Time now = testutil::At(100) + round * absl::Milliseconds(120);
      policy.choose_victims = dice.Chance(60);
      if (StandsStill(cluster, policy, now, kept)) {
        ++left;
        left_after_an_event += told.version != cluster.version() ? 1 : 0;
        left_though_victims_are_chosen += told.version != cluster.version() && policy.choose_victims ? 1 : 0;
        Scratch empty;
        ASSERT_EQ(testutil::WhatIsNew(told, Schedule(cluster, policy, now, empty)), "")
            << "seed " << seed << " round " << round;
      } else {
        told = testutil::CarryOut(cluster, Schedule(cluster, policy, now, kept));
      }
      const auto any = std::next(facts.pods.begin(), dice.Below(static_cast<int>(facts.pods.size())));
      model::PodFacts pod = any->second;
      const TaskId task = cluster.FindTask(pod.ns, pod.name);
      if (task != model::kNone && cluster.task(task).row != model::kNone) {
        pod.node = std::string(cluster.node_name(cluster.task(task).row));
        pod.phase = dice.Chance(30) ? model::PodPhase::kSucceeded : model::PodPhase::kRunning;
        pod.started = testutil::At(dice.Below(90));
        pod.movable = dice.Chance(20);
      }
      model::PodFacts stranger = testutil::Pod("", "s", dice.Below(3), testutil::Cpu(1000 * (1 + dice.Below(4))));
      stranger.node = absl::StrCat("n", dice.Below(4));
      stranger.phase = dice.Chance(30) ? model::PodPhase::kSucceeded : model::PodPhase::kRunning;
      if (dice.Chance(50)) {
        cluster.SetPod(pod);
      } else if (dice.Chance(80)) {
        cluster.SetPod(stranger);
      } else {
        cluster.RemovePod(pod.ns, pod.name);
      }
    }
  }
  EXPECT_GT(left, 5'000);
  EXPECT_GT(left_after_an_event, 1000);
  EXPECT_GT(left_though_victims_are_chosen, 250);
}

// What becomes of decisions: who is placed runs; who is evicted is gone, and made anew a moment later.
class Life {
 public:
  Life(unsigned seed, Facts facts, const Policy& policy) : seed_(seed), facts_(std::move(facts)), policy_(policy) {
    Tell(cluster_, facts_, nullptr);
  }

  // Returns how many were evicted.
  int Round() {
    const Decisions decisions = Schedule(cluster_, policy_, Now(), scratch_);
    std::set<std::string> promised;
    std::vector<std::string> gone;
    for (const Decision& decision : decisions) {
      const std::string name = cluster_.gang(decision.gang).name;
      if (must_begin_.contains(name) && decision.placements.empty())
        ADD_FAILURE() << "seed " << seed_ << ": pods were evicted for " << name << ", and it does not begin";
      if (decision.reason.has_value() && decision.reason->kind == model::Reason::Kind::kRoomAwaited)
        promised.insert(name);
      for (const TaskId task : decision.evicted) {
        Judge(decision, task);
        gone.push_back(cluster_.task(task).name);
      }
    }
    JudgeBudgets(decisions);
    JudgeWhatIsKept(decisions);
    if (!gone.empty()) CountWhoStays();
    if (::testing::Test::HasFailure()) return 0;
    CarryOut(decisions, gone);
    ++round_;
    must_begin_ = std::move(promised);
    return static_cast<int>(gone.size());
  }
  void Come(const Facts& facts) {
    for (const auto& [name, pod] : facts.pods) {
      if (facts_.pods.emplace(name, pod).second) cluster_.SetPod(pod);
    }
  }
  int kinds[3] = {0, 0, 0};
  // Of those who were evicted for their queue's share: below a queue that lies beside the other one's, or with a
  // guarantee there; and of all, whom a budget selects. And how often somebody was protected while others went.
  int nested = 0, of_guaranteed = 0, of_budgets = 0, stayed = 0;

 private:
  absl::Time Now() const { return testutil::At(100 + round_); }
  // The victim's queue, and those above it that are not above the gang's.
  static std::vector<model::QueueId> Beside(const QueueTree& tree, model::QueueId gang, model::QueueId victim) {
    std::vector<model::QueueId> levels = tree.path(victim);
    const std::vector<model::QueueId>& others = tree.path(gang);
    std::erase_if(levels, [&](model::QueueId level) {
      return level != victim && std::find(others.begin(), others.end(), level) != others.end();
    });
    return levels;
  }
  bool IsProtected(const QueueTree& tree, const model::Task& task) const {
    const model::PodFacts& pod = facts_.pods.at(task.name);
    absl::Duration least = pod.cooldown;
    for (const model::QueueId level : tree.path(cluster_.gang(task.gang).queue)) {
      const std::optional<absl::Duration>& said = cluster_.queue(level).min_runtime;
      if (!said.has_value()) continue;
      least = std::max(least, *said);
      break;
    }
    return Now() < pod.started + least;
  }

  void JudgeBudgets(const Decisions& decisions) {
    std::map<const model::BudgetFacts*, int> used;
    for (const Decision& decision : decisions) {
      for (const TaskId task : decision.evicted) {
        for (const model::BudgetFacts* const budget : cluster_.BudgetsOf(task)) ++used[budget];
      }
    }
    for (const auto& [budget, pods] : used) {
      of_budgets += pods;
      EXPECT_LE(pods, budget->allowed) << "seed " << seed_ << ": disruption budget " << budget->name;
    }
  }

  void CountWhoStays() {
    const QueueTree tree(cluster_);
    for (const auto& [name, pod] : facts_.pods) {
      const TaskId task = cluster_.FindTask("default", name);
      if (task != model::kNone && !pod.node.empty() && IsProtected(tree, cluster_.task(task))) ++stayed;
    }
  }

  // Of what they deserve queues are left what is guaranteed to them.
  void JudgeWhatIsKept(const Decisions& decisions) {
    const QueueTree tree(cluster_);
    const Shares shares(cluster_, tree, policy_.sharing);
    std::map<model::QueueId, model::Resources> lose, get;
    std::set<model::QueueId> change_within;
    for (const Decision& decision : decisions) {
      const model::QueueId queue = cluster_.gang(decision.gang).queue;
      for (const model::Placement& placement : decision.placements) {
        for (const model::QueueId level : tree.path(queue))
          get[level].Add(cluster_.shape(cluster_.task(placement.task).shape).request);
      }
      for (const TaskId id : decision.evicted) {
        const model::Task& task = cluster_.task(id);
        const model::QueueId victim = cluster_.gang(task.gang).queue;
        if (decision.evict_for != EvictFor::kShare) {
          const std::vector<model::QueueId>& path = tree.path(victim);
          change_within.insert(path.begin(), path.end());
          continue;
        }
        const std::vector<model::QueueId> levels = Beside(tree, queue, victim);
        nested += levels.size() > 1 ? 1 : 0;
        of_guaranteed += std::any_of(levels.begin(), levels.end(),
                                     [&](model::QueueId level) { return shares.Kept(level, model::kCpu) > 0; });
        for (const model::QueueId level : levels) lose[level].Add(cluster_.shape(task.shape).request);
      }
    }
    for (const auto& [level, amounts] : lose) {
      if (change_within.contains(level)) continue;
      for (model::Dim dim = 0; dim < amounts.size(); ++dim) {
        if (dim == model::kPods || amounts[dim] == 0) continue;
        const std::int64_t left = tree.held(level)[dim] + get[level][dim] - amounts[dim];
        EXPECT_GE(left, std::min(shares.Kept(level, dim), shares.Deserved(level, dim)))
            << "seed " << seed_ << ": queue " << cluster_.queue(level).name;
      }
    }
  }

  void Judge(const Decision& decision, TaskId id) {
    const model::Task& task = cluster_.task(id);
    const model::Gang& victim = cluster_.gang(task.gang);
    const model::Gang& gang = cluster_.gang(decision.gang);
    ++kinds[static_cast<int>(decision.evict_for)];
    const std::string who = absl::StrCat("seed ", seed_, ": ", task.name.view(), " for ", gang.name);
    const QueueTree tree(cluster_);
    EXPECT_TRUE(task.evictable && victim.evictable) << who << " may not be evicted";
    EXPECT_EQ(task.status, TaskStatus::kRunning) << who;
    EXPECT_TRUE(cluster_.Preempts(gang)) << who << " which evicts nobody";
    if (decision.evict_for == EvictFor::kPriority) {
      EXPECT_EQ(victim.queue, gang.queue) << who;
      EXPECT_LT(cluster_.PriorityOf(victim), cluster_.PriorityOf(gang)) << who;
    } else {
      EXPECT_NE(victim.queue, gang.queue) << who;
      for (const model::QueueId level : Beside(tree, gang.queue, victim.queue))
        EXPECT_TRUE(cluster_.queue(level).reclaimable) << who << ": queue " << cluster_.queue(level).name;
    }
    EXPECT_FALSE(IsProtected(tree, task)) << who << " is protected";
  }

  void CarryOut(const Decisions& decisions, const std::vector<std::string>& gone) {
    std::set<std::string> touched;
    for (const std::string& name : gone) touched.insert(facts_.pods.at(name).gang);
    for (const Decision& decision : decisions) {
      for (const model::Placement& placement : decision.placements) {
        model::PodFacts& pod = facts_.pods.at(cluster_.task(placement.task).name);
        pod.node = std::string(cluster_.node_name(placement.row));
        pod.phase = model::PodPhase::kRunning;
        pod.started = Now();
        pod.nominated.clear();
        facts_.gangs.at(pod.gang).was_whole = true;
      }
      if (!decision.nominations.has_value()) continue;
      for (const TaskId task : cluster_.gang(decision.gang).tasks)
        facts_.pods.at(cluster_.task(task).name).nominated = "";
      for (const TaskId task : std::vector<TaskId>(cluster_.gang(decision.gang).tasks))
        cluster_.Nominate(task, model::kNone);
      for (const model::Placement& placement : *decision.nominations)
        facts_.pods.at(cluster_.task(placement.task).name).nominated = std::string(cluster_.node_name(placement.row));
    }
    for (const std::string& name : gone) {
      cluster_.RemovePod("default", name);
      model::PodFacts& pod = facts_.pods.at(name);
      pod.node.clear();
      pod.phase = model::PodPhase::kPending;
      pod.started = absl::InfinitePast();
      pod.uid += "+";
    }
    for (const auto& [name, gang] : facts_.gangs) cluster_.SetGang(gang);
    // No gang is left with a part of its minimum.
    for (const std::string& name : touched) {
      const model::Gang& gang = cluster_.gang(cluster_.FindGang("default", name));
      const auto runs = [](const model::Task& task) { return task.status == TaskStatus::kRunning; };
      const bool any =
          std::any_of(gang.tasks.begin(), gang.tasks.end(), [&](TaskId task) { return runs(cluster_.task(task)); });
      EXPECT_TRUE(!any || HasMinimum(cluster_, gang, runs)) << "seed " << seed_ << ": a part of " << name << " is left";
    }
    for (const auto& [name, pod] : facts_.pods) cluster_.SetPod(pod);
    EXPECT_THAT(cluster_.Audit(), ::testing::IsEmpty()) << "seed " << seed_;
  }

  const unsigned seed_;
  Facts facts_;
  const Policy policy_;
  Cluster cluster_;
  Scratch scratch_;
  int round_ = 0;
  std::set<std::string> must_begin_;
};

TEST(EvictProperty, AnEvictionMakesRoomNoGangIsLeftInPartAndNoneTakeTurns) {
  int evicted = 0, for_priority = 0, for_share = 0, nested = 0, of_guaranteed = 0, of_budgets = 0, stayed = 0;
  for (unsigned seed = 0; seed < testutil::Worlds(4000) && !HasFailure(); ++seed) {
    Dice dice(seed);
    Facts facts = RandomFacts(dice);
    // Some run before the others come.
    Facts first = facts;
    std::erase_if(first.pods, [&](const auto& pod) { return pod.second.gang >= "g3"; });
    Life life(seed, first, PolicyOf(dice));
    for (int i = 0; i < 3 && !HasFailure(); ++i) evicted += life.Round();
    life.Come(facts);
    int quiet = 0, rounds = 0;
    for (; quiet < 7 && rounds < 200 && !HasFailure(); ++rounds) {  // longer than anybody is protected
      const int now = life.Round();
      evicted += now;
      quiet = now == 0 ? quiet + 1 : 0;
    }
    EXPECT_LT(rounds, 200) << "seed " << seed << ": evictions never end";
    for_priority += life.kinds[1];
    for_share += life.kinds[2];
    nested += life.nested;
    of_guaranteed += life.of_guaranteed;
    of_budgets += life.of_budgets;
    stayed += life.stayed;
  }
  EXPECT_GT(for_priority, 400);
  EXPECT_GT(for_share, 120);
  EXPECT_GT(nested, 20);
  EXPECT_GT(of_guaranteed, 30);
  EXPECT_GT(of_budgets, 30);
  EXPECT_GT(stayed, 30);
}

std::set<std::string> VictimsOf(const Facts& facts, const Policy& policy, Dice* shuffled, Scratch& scratch) {
  Cluster cluster;
  Tell(cluster, facts, shuffled);
  std::set<std::string> victims;
  for (const Decision& decision : Schedule(cluster, policy, testutil::At(100), scratch)) {
    for (const TaskId task : decision.evicted)
      victims.insert(absl::StrCat(cluster.task(task).name.view(), " for ", cluster.gang(decision.gang).name));
  }
  return victims;
}

// What is decided about whom.
std::set<std::string> DecidedOf(const Facts& facts, const Policy& policy) {
  Cluster cluster;
  Tell(cluster, facts, nullptr);
  Scratch scratch;
  std::set<std::string> decided;
  for (const Decision& decision : Schedule(cluster, policy, testutil::At(100), scratch)) {
    const std::string gang = cluster.gang(decision.gang).name;
    for (const TaskId task : decision.evicted)
      decided.insert(absl::StrCat(cluster.task(task).name.view(), " for ", gang));
    for (const model::Placement& placement : decision.placements)
      decided.insert(absl::StrCat(cluster.task(placement.task).name.view(), " on ", cluster.node_name(placement.row)));
  }
  return decided;
}

// It shares with nobody. All gangs are let in: who is not is held to what is above all, too.
TEST(EvictProperty, AQueueAboveAllOthersChangesNothing) {
  int some = 0;
  for (unsigned seed = 0; seed < testutil::Worlds(1500) && !HasFailure(); ++seed) {
    Dice dice(seed);
    Facts facts = RandomFacts(dice);
    const Policy policy = PolicyOf(dice);
    std::erase_if(facts.queues, [](const auto& queue) { return queue.name == "root"; });
    for (auto& queue : facts.queues) {
      queue.parent = queue.parent == "root" ? "" : queue.parent;
      queue.guarantee.clear();  // what is guaranteed and not asked for counts towards what is above
    }
    for (auto& [name, gang] : facts.gangs) gang.queue = gang.queue == "root" ? "default" : gang.queue;
    Cluster first;
    Tell(first, facts, nullptr);
    Scratch scratch;
    for (const Decision& decision : Schedule(first, {}, testutil::At(90), scratch)) {
      for (const model::Placement& placement : decision.placements) {
        model::PodFacts& pod = facts.pods.at(first.task(placement.task).name);
        pod.node = std::string(first.node_name(placement.row));
        pod.phase = model::PodPhase::kRunning;
      }
    }
    for (int i = 0; i < 3; ++i) AddRandomGang(dice, absl::StrCat("late", i), facts);
    const std::set<std::string> without = DecidedOf(facts, policy);
    for (auto& queue : facts.queues) queue.parent = queue.parent.empty() ? "root" : queue.parent;
    facts.queues.push_back(testutil::Queue("root"));
    EXPECT_EQ(DecidedOf(facts, policy), without) << "seed " << seed;
    some += without.empty() ? 0 : 1;
  }
  EXPECT_GT(some, 500);
}

TEST(EvictProperty, TheSameInputGivesTheSameVictims) {
  int some = 0;
  Scratch used;
  for (unsigned seed = 0; seed < testutil::Worlds(1500); ++seed) {
    Dice dice(seed);
    Facts facts = RandomFacts(dice);
    const Policy policy = PolicyOf(dice);
    // Some run where they fit, one after the other; the others wait.
    Cluster first;
    Tell(first, facts, nullptr);
    Scratch scratch;
    for (const Decision& decision : Schedule(first, {}, testutil::At(90), scratch)) {
      if (dice.Chance(30)) continue;
      for (const model::Placement& placement : decision.placements) {
        model::PodFacts& pod = facts.pods.at(first.task(placement.task).name);
        pod.node = std::string(first.node_name(placement.row));
        pod.phase = model::PodPhase::kRunning;
      }
    }
    for (int i = 0; i < 3; ++i) AddRandomGang(dice, absl::StrCat("late", i), facts);
    Scratch fresh;
    const std::set<std::string> victims = VictimsOf(facts, policy, nullptr, fresh);
    some += victims.empty() ? 0 : 1;
    ASSERT_EQ(VictimsOf(facts, policy, &dice, used), victims) << "seed " << seed;
  }
  EXPECT_GT(some, 200);
}

}  // namespace
}  // namespace gangway::gang
