// What holds of gangs that are moved on many random clusters, and over what becomes of them. A failure names the seed.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/gang/schedule.h"
#include "tests/plugin/gang/dice.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using model::Cluster;
using model::Decision;
using model::Decisions;
using model::EvictFor;
using model::TaskId;
using testutil::Dice;

// Gangs come to a cluster one after the other, some may be moved; nobody ends. Who is evicted is gone in the next round
// and made again in the one after that.
class Life {
 public:
  explicit Life(unsigned seed) : dice_(seed), seed_(seed) {
    cluster_.SetQueue(testutil::Queue("default"));
    model::QueueFacts other = testutil::Queue("other");
    if (dice_.Chance(30)) other.capability = {{"cpu", 1000 * (4 + dice_.Below(12))}};
    cluster_.SetQueue(other);
    cluster_.SetPriorityClass({"low", 1});
    cluster_.SetPriorityClass({"high", 9});
    const int nodes = 2 + dice_.Below(5);
    for (int i = 0; i < nodes; ++i) {
      model::NodeFacts node = testutil::Node(absl::StrCat("n", i), 4);
      if (dice_.Chance(30)) node.labels.emplace_back("disk", "ssd");
      node.labels.emplace_back("zone", absl::StrCat("z", i % 2));
      cluster_.SetNode(node);
    }
    policy_.preempt = policy_.reclaim = dice_.Chance(20);
    policy_.moves_again_after = absl::Seconds(dice_.Below(6));
  }

  void Come(int number) {
    const std::string name = absl::StrCat("g", number);
    model::GangFacts gang = testutil::Gang(name, 1 + dice_.Below(3));
    gang.queue = dice_.Chance(30) ? "other" : "default";
    gang.priority_class = dice_.Chance(30) ? "high" : "low";
    gang.created = testutil::At(round_);
    const int pods = gang.min_member + dice_.Below(2);
    model::Wants wants = testutil::Cpu(1000 * (1 + dice_.Below(4)));
    if (dice_.Chance(15)) wants.selector = {{"disk", "ssd"}};
    const bool apart = dice_.Chance(15);
    if (apart)
      wants.pod_anti_affinity = {
          {"kubernetes.io/hostname", {{"default"}, std::nullopt, {{"app", model::Op::kIn, {"a"}}}}}};
    const bool movable = dice_.Chance(75), labelled = apart || dice_.Chance(20);
    for (int i = 0; i < pods; ++i) {
      model::PodFacts pod = testutil::Pod(name, "w", i, wants);
      if (labelled) pod.labels = {{"app", "a"}};
      pods_[pod.name] = pod;
      may_move_[pod.name] = movable;
      cluster_.SetPod(pod);
    }
    gangs_[name] = gang;
    cluster_.SetGang(gang);
  }

  // Returns how many gangs were moved.
  int Round() {
    const Decisions decisions = Schedule(cluster_, policy_, testutil::At(100 + round_++), scratch_);
    std::set<std::string> moved;
    for (const Decision& decision : decisions) {
      if (decision.evict_for == EvictFor::kRoom) Judge(decision, moved);
    }
    CarryOut(decisions);
    // In this round all its pods had gone, or been made again: who waits begins, and who went is back.
    for (const auto& [name, due] : due_) {
      EXPECT_TRUE(due.round != round_ || Running(name) >= due.pods)
          << "seed " << seed_ << ": " << name << " does not begin, for which gangs were moved, or is not back";
    }
    return static_cast<int>(moved.size());
  }

 private:
  void Judge(const Decision& decision, std::set<std::string>& moved) {
    const model::Gang& gang = cluster_.gang(decision.gang);
    const std::string who = absl::StrCat("seed ", seed_, ": for ", gang.name);
    EXPECT_EQ(decision.moves.size(), decision.evicted.size()) << who;
    std::set<TaskId> moves;
    std::set<std::string> these;
    for (const model::Placement& move : decision.moves) moves.insert(move.task);
    for (const TaskId id : decision.evicted) {
      const model::Task& task = cluster_.task(id);
      const model::Gang& victim = cluster_.gang(task.gang);
      EXPECT_TRUE(task.movable) << who << " " << task.name.view();
      EXPECT_TRUE(moves.contains(id)) << who << " " << task.name.view() << " has no other place";
      EXPECT_LE(cluster_.PriorityOf(victim), cluster_.PriorityOf(gang)) << who << " " << task.name.view();
      these.insert(victim.name);
    }
    for (const std::string& name : these) {
      const model::Gang& victim = cluster_.gang(cluster_.FindGang("default", name));
      for (const TaskId id : victim.tasks) {
        EXPECT_TRUE(!cluster_.task(id).holds_room() || moves.contains(id)) << who << ": a part of " << name << " stays";
      }
      due_[name] = {round_ + 2, Running(name)};
    }
    due_[gang.name] = {round_ + 1, gang.min_member};
    moved.merge(these);
  }

  int Running(const std::string& gang) const {
    return static_cast<int>(std::count_if(pods_.begin(), pods_.end(), [&](const auto& pod) {
      return pod.second.gang == gang && !pod.second.node.empty();
    }));
  }

  void CarryOut(const Decisions& decisions) {
    std::vector<model::MovedGang> kept = cluster_.moved();
    for (const Decision& decision : decisions) {
      const std::string name = cluster_.gang(decision.gang).name;
      if (!decision.placements.empty()) {
        for (const model::Placement& placement : decision.placements) {
          model::PodFacts& pod = pods_.at(cluster_.task(placement.task).name);
          pod.node = std::string(cluster_.node_name(placement.row));
          pod.phase = model::PodPhase::kRunning;
          pod.nominated.clear();
          pod.movable = may_move_.at(pod.name);
        }
        gangs_.at(name).was_whole = true;
      }
      if (decision.nominations.has_value()) {
        for (const TaskId task : std::vector<TaskId>(cluster_.gang(decision.gang).tasks))
          cluster_.Nominate(task, model::kNone);
        for (const model::Placement& placement : *decision.nominations)
          cluster_.Nominate(placement.task, placement.row);
      }
      std::map<model::GangId, model::MovedGang> moved;
      for (const model::Placement& move : decision.moves) {
        const model::Task& task = cluster_.task(move.task);
        model::MovedGang& each = moved[task.gang];
        each.gang = task.gang;
        each.uid = cluster_.gang(task.gang).uid;
        each.until = absl::InfiniteFuture();
        each.pods.push_back({task.name, task.uid, std::string(cluster_.node_name(move.row)), task.shape, ""});
        gangs_.at(cluster_.gang(task.gang).name).moved = testutil::At(100 + round_);
      }
      for (auto& [id, each] : moved) {
        std::erase_if(kept, [id = id](const model::MovedGang& other) { return other.gang == id; });
        kept.push_back(std::move(each));
      }
    }
    std::erase_if(kept, [&](const model::MovedGang& each) {
      return std::all_of(each.pods.begin(), each.pods.end(), [&](const model::MovedGang::Pod& pod) {
        return !pod.made.empty() && !pods_.at(pod.name).node.empty();
      });
    });
    cluster_.SetMoved(std::move(kept));
    std::vector<std::string> goes;
    for (const Decision& decision : decisions) {
      for (const TaskId task : decision.evicted) goes.push_back(cluster_.task(task).name);
    }
    for (const std::string& name : goes) {
      cluster_.RemovePod("default", name);
      model::PodFacts& pod = pods_.at(name);
      pod.node.clear();
      pod.phase = model::PodPhase::kPending;
      pod.movable = false;
      pod.uid += "+";
      if (due_.contains(pod.gang) && due_[pod.gang].round == round_) due_.erase(pod.gang);  // it went again
    }
    for (const auto& [name, gang] : gangs_) cluster_.SetGang(gang);
    for (const auto& [name, pod] : pods_) {
      if (std::find(goes.begin(), goes.end(), name) == goes.end()) cluster_.SetPod(pod);  // also who went before
    }
    EXPECT_THAT(cluster_.Audit(), ::testing::IsEmpty()) << "seed " << seed_;
  }

  Dice dice_;
  const unsigned seed_;
  Cluster cluster_;
  Policy policy_;
  Scratch scratch_;
  std::map<std::string, model::GangFacts> gangs_;
  std::map<std::string, model::PodFacts> pods_;
  std::map<std::string, bool> may_move_;
  struct Due {
    int round = 0, pods = 0;
  };
  std::map<std::string, Due> due_;  // by name of a gang: when so many of its pods run
  int round_ = 0;
};

TEST(ConsolidationProperty, WhoWaitsBeginsWhoIsMovedIsBackAndNoneTakeTurns) {
  int moved = 0;
  for (unsigned seed = 0; seed < testutil::Worlds(2000) && !HasFailure(); ++seed) {
    Life life(seed);
    Dice dice(seed + 1'000'000);
    const int gangs = 3 + dice.Below(8);
    for (int i = 0; i < gangs && !HasFailure(); ++i) {
      life.Come(i);
      if (dice.Chance(60)) moved += life.Round();
    }
    int quiet = 0, rounds = 0;
    for (; quiet < 10 && rounds < 200 && !HasFailure(); ++rounds) {
      const int now = life.Round();
      moved += now;
      quiet = now == 0 ? quiet + 1 : 0;
    }
    EXPECT_LT(rounds, 200) << "seed " << seed << ": gangs are moved for ever";
  }
  EXPECT_GT(moved, 60);
}

}  // namespace
}  // namespace gangway::gang
