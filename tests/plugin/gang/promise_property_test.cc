// What queues and gangs are promised, on many small clusters of one resource, found out by trying everything. A failure
// names the seed.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "plugin/gang/carry_out.h"
#include "plugin/gang/queue_tree.h"
#include "plugin/gang/schedule.h"
#include "plugin/gang/shares.h"
#include "plugin/model/reason.h"
#include "tests/plugin/gang/dice.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using model::Decision;
using model::Decisions;
using testutil::At;
using testutil::Dice;

// Whole cpus, in time: who is placed runs at once, who is evicted is gone and made anew at once.
class Life {
 public:
  explicit Life(const Policy& policy) : policy_(policy) {}

  void AddNode(int cpu) {
    model::NodeFacts node = testutil::Node(absl::StrCat("n", nodes_.size()), cpu);
    nodes_.push_back(cpu);
    cluster_.SetNode(node);
  }
  void AddQueue(const model::QueueFacts& queue) {
    queues_[queue.name] = queue;
    cluster_.SetQueue(queue);
  }
  // Most to a part of the cluster.
  void LimitQueues(Dice& dice) {
    int cpus = 0;
    for (const int cpu : nodes_) cpus += cpu;
    for (auto& [name, queue] : queues_) {
      if (!dice.Chance(70)) continue;
      queue.capability = {{"cpu", 1000 * (cpus / 3 + dice.Below(cpus))}};
      cluster_.SetQueue(queue);
    }
  }
  // `pods` of so many cpus each. Those that say so end `minutes` after they began.
  void Come(const std::string& name, const std::string& queue, int min_member, int pods, int cpu, int minutes = 0) {
    model::GangFacts gang = testutil::Gang(name, min_member);
    gang.queue = queue;
    gang.created = now_ + absl::Milliseconds(static_cast<int>(gangs_.size()));
    gang.phase = model::GangPhase::kPending;
    gang.has_min_resources = true;
    gang.min_resources = {{"cpu", 1000 * std::int64_t{cpu} * min_member}};
    cluster_.SetGang(gang);
    gangs_[name] = {gang, cpu, minutes, now_, absl::InfiniteFuture()};
    for (int i = 0; i < pods; ++i) {
      model::Wants wants;
      wants.requests = {{"cpu", 1000 * cpu}, {"pods", 1}};
      model::PodFacts pod = testutil::Pod(name, "w", i, wants);
      pod.created = now_;
      if (minutes > 0) pod.lasts = absl::Minutes(minutes);
      cluster_.SetPod(pod);
      pods_[pod.name] = pod;
    }
  }

  // Whether anything was done.
  bool Round() {
    const Decisions decisions = Schedule(cluster_, policy_, now_, scratch_);
    std::vector<std::string> gone;
    std::map<std::string, std::string> hit;  // gangs, and for whom
    bool done = false;
    why_.clear();
    for (const Decision& decision : decisions) {
      if (decision.reason.has_value())
        absl::StrAppend(&why_, "; ", cluster_.gang(decision.gang).name, " ", model::Render(*decision.reason));
      CarryOut(decision, cluster_);
      done = done || decision.admit || !decision.placements.empty() || !decision.evicted.empty();
      if (decision.admit) gangs_.at(cluster_.gang(decision.gang).name).facts.phase = model::GangPhase::kInqueue;
      for (const model::Placement& placement : decision.placements) {
        model::PodFacts& pod = pods_.at(cluster_.task(placement.task).name);
        pod.node = std::string(cluster_.node_name(placement.row));
        pod.phase = model::PodPhase::kRunning;
        pod.started = now_;
        pod.nominated.clear();
        if (pod.lasts != absl::InfiniteDuration()) pod.ends = now_ + pod.lasts;
      }
      if (decision.nominations.has_value()) {
        for (const model::TaskId task : cluster_.gang(decision.gang).tasks)
          pods_.at(cluster_.task(task).name).nominated.clear();
        for (const model::Placement& placement : *decision.nominations)
          pods_.at(cluster_.task(placement.task).name).nominated = std::string(cluster_.node_name(placement.row));
      }
      for (const model::TaskId task : decision.evicted) {
        gone.push_back(cluster_.task(task).name);
        hit[pods_.at(gone.back()).gang] = model::KeyOf("default", cluster_.gang(decision.gang).name);
      }
    }
    EndRound(decisions, policy_.victims_take, now_, cluster_);
    evicted += static_cast<int>(gone.size());
    for (const auto& [name, for_whom] : hit) {
      ++gangs_.at(name).facts.evictions;
      gangs_.at(name).facts.last_evicted = now_;
      gangs_.at(name).facts.evicted_for = for_whom;
    }
    for (const std::string& name : gone) MakeAnew(pods_.at(name));
    for (auto& [name, gang] : gangs_) {
      if (PodsThatRun(name) >= gang.facts.min_member) {
        gang.facts.was_whole = true;
        gang.began = std::min(gang.began, now_);
      }
      cluster_.SetGang(gang.facts);
    }
    for (const auto& [name, pod] : pods_) cluster_.SetPod(pod);
    EXPECT_TRUE(cluster_.Audit().empty());
    return done;
  }

  void GoOn(absl::Duration time) { now_ += time; }
  absl::Time now() const { return now_; }
  // All of its pods.
  void End(const std::string& gang) {
    std::erase_if(pods_, [&](const auto& pod) {
      if (pod.second.gang != gang) return false;
      cluster_.RemovePod("default", pod.first);
      return true;
    });
    cluster_.RemoveGang("default", gang, model::GangKind::kVolcano);
    gangs_.erase(gang);
  }

  struct Gang {
    model::GangFacts facts;
    int cpu = 0, minutes = 0;  // 0: it does not say how long it takes
    absl::Time came, began;
  };
  const std::map<std::string, Gang>& gangs() const { return gangs_; }
  int PodsThatRun(const std::string& gang) const {
    return static_cast<int>(std::count_if(pods_.begin(), pods_.end(), [&](const auto& pod) {
      return pod.second.gang == gang && !pod.second.node.empty();
    }));
  }
  // Of the gang when nothing else is there.
  bool FitsTheEmptyCluster(const Gang& gang) const { return Fits(nodes_, gang); }
  bool FitsTheEmptyQueue(const Gang& gang) const {
    const model::NamedAmounts& capability = queues_.at(gang.facts.queue).capability;
    return capability.empty() || 1000 * std::int64_t{gang.cpu} * gang.facts.min_member <= capability.front().second;
  }
  // Its queue is owed as much while all others want all there is.
  bool LiesWithinItsPart(const Gang& gang) const {
    int weights = 0, cpus = 0;
    for (const auto& [name, queue] : queues_) weights += queue.weight;
    for (const int cpu : nodes_) cpus += cpu;
    return gang.cpu * gang.facts.min_member * weights <= cpus * queues_.at(gang.facts.queue).weight;
  }

  // A gang with which its queue keeps within what it deserves, and which waits though pods of queues that hold more
  // than they deserve could go for it, none of them taking its own below that; "": there is none.
  std::string WhoIsPassedOver() const {
    for (const auto& [name, gang] : gangs_) {
      if (PodsThatRun(name) >= gang.facts.min_member) continue;
      const std::int64_t needs = 1000 * std::int64_t{gang.cpu} * gang.facts.min_member;
      const std::vector<std::string> own = PathOf(gang.facts.queue);
      if (std::any_of(own.begin(), own.end(),
                      [&](const std::string& level) { return Held(level) + needs > Deserved(level); }))
        continue;
      ++entitled;
      nested += own.size() > 1 ? 1 : 0;
      const auto is_own = [&](const std::string& level) {
        return std::find(own.begin(), own.end(), level) != own.end();
      };
      std::vector<std::string> others;
      for (const auto& [other, facts] : gangs_) {
        const std::vector<std::string> path = PathOf(facts.facts.queue);
        if (facts.facts.queue != gang.facts.queue && PodsThatRun(other) > 0 &&
            std::all_of(path.begin(), path.end(),
                        [&](const std::string& level) { return is_own(level) || queues_.at(level).reclaimable; }))
          others.push_back(other);
      }
      std::map<std::string, std::int64_t> beyond;
      for (const auto& [queue, facts] : queues_)
        beyond[queue] = Held(queue) + (is_own(queue) ? needs : 0) - Deserved(queue);
      if (SomeCanGo(gang, others, 0, Free(), beyond)) return name;
    }
    return "";
  }
  // What there is, for a failure.
  std::string State() const {
    std::string out = "nodes";
    for (const int cpu : nodes_) absl::StrAppend(&out, " ", cpu);
    for (const auto& [name, queue] : queues_) {
      absl::StrAppend(&out, "; queue ", name, " weight ", queue.weight, queue.reclaimable ? "" : " not reclaimable",
                      queue.parent.empty() ? "" : " below ", queue.parent, " holds ", Held(name), " deserves ",
                      Deserved(name));
    }
    for (const auto& [name, gang] : gangs_) {
      absl::StrAppend(&out, "; gang ", name, " in ", gang.facts.queue, " minimum ", gang.facts.min_member, " of ",
                      gang.cpu, " cpu, came ", absl::FormatDuration(now_ - gang.came), " ago, pods:");
      for (const auto& [pod, facts] : pods_) {
        if (facts.gang == name) absl::StrAppend(&out, " ", facts.node.empty() ? "-" : facts.node);
      }
    }
    return out + why_;
  }
  mutable int entitled = 0, nested = 0;  // of a queue below another
  int evicted = 0;

 private:
  static bool Fits(const std::vector<int>& free, const Gang& gang) {
    int pods = 0;
    for (const int cpu : free) pods += cpu / gang.cpu;
    return pods >= gang.facts.min_member;
  }
  void MakeAnew(model::PodFacts& pod) {
    cluster_.RemovePod("default", pod.name);
    pod.node.clear();
    pod.phase = model::PodPhase::kPending;
    pod.started = absl::InfinitePast();
    pod.ends = absl::InfiniteFuture();
    pod.uid += "+";
    pod.created = now_;
  }
  // It and those above it.
  std::vector<std::string> PathOf(const std::string& queue) const {
    std::vector<std::string> path;
    for (std::string level = queue; !level.empty(); level = queues_.at(level).parent) path.push_back(level);
    return path;
  }
  // With those below it.
  std::int64_t Held(const std::string& queue) const {
    std::int64_t held = 0;
    for (const auto& [name, pod] : pods_) {
      const Gang& gang = gangs_.at(pod.gang);
      const std::vector<std::string> path = PathOf(gang.facts.queue);
      if (!pod.node.empty() && std::find(path.begin(), path.end(), queue) != path.end()) held += 1000 * gang.cpu;
    }
    return held;
  }
  std::int64_t Deserved(const std::string& queue) const {
    const QueueTree tree(cluster_);
    return Shares(cluster_, tree, policy_.sharing).Deserved(Id(queue), model::kCpu);
  }
  model::QueueId Id(const std::string& queue) const {
    model::QueueId id = 0;
    while (cluster_.queue(id).name != queue) ++id;
    return id;
  }
  std::vector<int> Free() const {
    std::vector<int> free = nodes_;
    for (const auto& [name, pod] : pods_) Give(pod, -1, free);
    return free;
  }
  void Give(const model::PodFacts& pod, int times, std::vector<int>& free) const {
    if (pod.node.empty()) return;
    free[static_cast<std::size_t>(std::stoi(pod.node.substr(1)))] += times * gangs_.at(pod.gang).cpu;
  }
  // Of each of the others from `next` on what is beyond its minimum, its last pods first, or all of it, or nothing.
  bool SomeCanGo(const Gang& gang, const std::vector<std::string>& others, std::size_t next, std::vector<int> free,
                 std::map<std::string, std::int64_t> beyond) const {
    if (Fits(free, gang)) return true;
    if (next == others.size()) return false;
    if (SomeCanGo(gang, others, next + 1, free, beyond)) return true;
    const Gang& other = gangs_.at(others[next]);
    std::vector<const model::PodFacts*> pods;
    for (const auto& [name, pod] : pods_) {
      if (pod.gang == others[next] && !pod.node.empty()) pods.push_back(&pod);
    }
    std::sort(pods.begin(), pods.end(), [](const auto* a, const auto* b) { return a->index > b->index; });
    const int surplus = static_cast<int>(pods.size()) - other.facts.min_member;
    for (int go = 1; go <= static_cast<int>(pods.size()); ++go) {
      Give(*pods[static_cast<std::size_t>(go - 1)], 1, free);
      for (const std::string& level : PathOf(other.facts.queue)) {
        beyond[level] -= 1000 * other.cpu;
        if (beyond[level] < 0) return false;
      }
      if (go > surplus && go < static_cast<int>(pods.size())) continue;
      if (SomeCanGo(gang, others, next + 1, free, beyond)) return true;
    }
    return false;
  }

  const Policy policy_;
  model::Cluster cluster_;
  Scratch scratch_;
  absl::Time now_ = At(1000);
  std::vector<int> nodes_;  // cpus
  std::map<std::string, model::QueueFacts> queues_;
  std::map<std::string, Gang> gangs_;
  std::map<std::string, model::PodFacts> pods_;
  std::string why_;  // each gang waits
};

// `promises`: some have guarantees, and some lie below others, which have no gangs.
void AddRandomQueues(Dice& dice, int count, bool promises, Life& life) {
  const int above = promises ? dice.Below(3) : 0;
  for (int i = 0; i < above; ++i) {
    model::QueueFacts queue = testutil::Queue(absl::StrCat("above", i));
    queue.weight = 1 + dice.Below(3);
    queue.reclaimable = !dice.Chance(10);
    if (i > 0 && dice.Chance(50)) queue.parent = "above0";
    if (dice.Chance(30)) queue.guarantee = {{"cpu", 1000 * dice.Below(6)}};
    queue.deserved = {{"cpu", 1000 * dice.Below(16)}};
    life.AddQueue(queue);
  }
  for (int i = 0; i < count; ++i) {
    model::QueueFacts queue = testutil::Queue(absl::StrCat("q", i));
    if (above > 0 && dice.Chance(70)) queue.parent = absl::StrCat("above", dice.Below(above));
    queue.weight = 1 + dice.Below(3);
    queue.reclaimable = !dice.Chance(10);
    if (promises && dice.Chance(30)) queue.guarantee = {{"cpu", 1000 * dice.Below(6)}};
    queue.deserved = {{"cpu", 1000 * dice.Below(12)}};
    life.AddQueue(queue);
  }
}

// Some run, in all queues alike or in one alone; then others come. When nothing happens any more, nobody waits for what
// others hold beyond what they deserve: between rounds lie more hours than patience is asked for, and than who was
// evicted is protected.
TEST(PromiseProperty, NoQueueBelowItsShareWaitsWhileAnotherIsAboveAndCanGive) {
  int entitled = 0, nested = 0, evicted = 0;
  for (unsigned seed = 0; seed < testutil::Worlds(3000); ++seed) {
    Dice dice(seed);
    Policy policy;
    policy.overcommit_percent.reset();
    policy.admit_by_queues = false;
    policy.keeps_after = absl::Hours(10'000);  // nobody has nodes kept
    policy.reclaim_after = dice.Chance(50) ? absl::Hours(1) : absl::ZeroDuration();
    policy.sharing = dice.Chance(50) ? Sharing::kByWeight : Sharing::kAsWritten;
    Life life(policy);
    const int nodes = 1 + dice.Below(3);
    for (int i = 0; i < nodes; ++i) life.AddNode(3 + dice.Below(6));
    const int queues = 2 + dice.Below(2);
    AddRandomQueues(dice, queues, /*promises=*/true, life);
    const int greedy = dice.Chance(60) ? 0 : -1;
    int gangs = 0;
    const auto come = [&](int count, int queue) {
      for (int i = 0; i < count; ++i) {
        const int of = queue >= 0 ? queue : dice.Below(queues);
        const int least = 1 + dice.Below(3);
        life.Come(absl::StrCat("g", gangs++), absl::StrCat("q", of), least, least + dice.Below(3), 1 + dice.Below(3));
      }
    };
    come(2 + dice.Below(4), greedy);
    for (int i = 0; i < 5; ++i) life.Round();
    come(1 + dice.Below(3), -1);
    int rounds = 0, quiet = 0;
    for (; quiet < 2 && rounds < 60; ++rounds) {
      life.GoOn(absl::Hours(9));
      quiet = life.Round() ? 0 : quiet + 1;
    }
    ASSERT_LT(rounds, 60) << "seed " << seed << ": it goes on for ever";
    ASSERT_EQ(life.WhoIsPassedOver(), "") << "seed " << seed << ": " << life.State();
    entitled += life.entitled;
    nested += life.nested;
    evicted += life.evicted;
  }
  EXPECT_GT(evicted, 500);
  EXPECT_GT(entitled, 100) << "waited although their queue is owed as much";
  EXPECT_GT(nested, 15) << "of these in queues below others";
}

// Everybody ends 20 minutes after it began at the latest, some say when and keep to it, and each minute others may
// come, of the same priority. A gang with which its queue keeps within its part of the cluster waits for the one that
// has nodes when it comes, for those that came before it in its queue, and for as many of each other queue, each for as
// long as it takes until all that runs has ended. `capabilities`: queues have some, which may keep gangs out; then each
// may wait first until its queue has the room, and then until nodes have.
void EveryGangStartsWithinABound(bool capabilities) {
  constexpr int kLife = 20, kBeforeItIsKept = 5;  // minutes: nodes are kept for who is older than one
  int begun = 0, longest = 0;
  for (unsigned seed = 0; seed < testutil::Worlds(200); ++seed) {
    Dice dice(seed);
    Policy policy;
    policy.overcommit_percent.reset();
    policy.admit_by_queues = capabilities && dice.Chance(50);
    policy.preempt = false;
    policy.reclaim = dice.Chance(30);
    Life life(policy);
    const int nodes = 1 + dice.Below(4);
    for (int i = 0; i < nodes; ++i) life.AddNode(4 + dice.Below(5));
    const int queues = 1 + dice.Below(3);
    AddRandomQueues(dice, queues, /*promises=*/false, life);
    if (capabilities) life.LimitQueues(dice);
    std::map<std::string, int> bound;  // in minutes from when it came
    int gangs = 0;
    for (int minute = 0; minute < 150; ++minute) {
      const int come = dice.Below(3);
      for (int i = 0; i < come && static_cast<int>(life.gangs().size()) < 16; ++i) {
        const int least = 1 + (dice.Chance(20) ? dice.Below(nodes + 2) : 0);
        const std::string name = absl::StrCat("g", gangs++);
        const std::string queue = absl::StrCat("q", dice.Below(queues));
        const auto before = std::count_if(life.gangs().begin(), life.gangs().end(), [&](const auto& other) {
          return other.second.began == absl::InfiniteFuture() && other.second.facts.queue == queue;
        });
        life.Come(name, queue, least, least + dice.Below(2), 1 + dice.Below(6),
                  dice.Chance(40) ? 1 + dice.Below(kLife) : 0);
        bound[name] = (capabilities ? 2 : 1) * (static_cast<int>(before + 1) * queues + 1) * (kLife + kBeforeItIsKept);
      }
      life.Round();
      life.GoOn(absl::Minutes(1));
      std::vector<std::string> ended;
      for (const auto& [name, gang] : life.gangs()) {
        if (gang.began == absl::InfiniteFuture()) {
          if (!life.FitsTheEmptyCluster(gang) || !life.FitsTheEmptyQueue(gang) || !life.LiesWithinItsPart(gang))
            continue;
          const auto waits = static_cast<int>((life.now() - gang.came) / absl::Minutes(1));
          longest = std::max(longest, waits);
          ASSERT_LE(waits, bound.at(name)) << "seed " << seed << ": " << name << "; " << life.State();
          continue;
        }
        const auto ran = static_cast<int>((life.now() - gang.began) / absl::Minutes(1));
        if (ran >= (gang.minutes > 0 ? gang.minutes : kLife) || dice.Chance(10)) ended.push_back(name);
      }
      for (const std::string& name : ended) {
        ++begun;
        life.End(name);
      }
    }
  }
  EXPECT_GT(begun, 4'000);
  EXPECT_GT(longest, 60) << "minutes: some wait long";
}

TEST(PromiseProperty, EveryGangThatFitsTheEmptyClusterStartsWithinABoundWhenOthersEnd) {
  EveryGangStartsWithinABound(/*capabilities=*/false);
}

TEST(PromiseProperty, EveryGangThatFitsItsEmptyQueueStartsWithinABoundWhenOthersEnd) {
  EveryGangStartsWithinABound(/*capabilities=*/true);
}

// There are nodes enough. Small gangs of the queue wait at any time, and one comes that needs most of what the queue
// may hold. All end 20 minutes after they began at the latest: it has its turn when those have ended who were there,
// and those who came before it.
TEST(PromiseProperty, AGangThatNeedsMostOfItsQueueIsNotPassedForEver) {
  constexpr int kLife = 20, kBound = 2 * kLife + 10;  // minutes
  int passed = 0;
  for (unsigned seed = 0; seed < testutil::Worlds(200); ++seed) {
    Dice dice(seed);
    Policy policy;
    policy.overcommit_percent.reset();
    policy.admit_by_queues = dice.Chance(50);
    policy.preempt = policy.reclaim = false;
    Life life(policy);
    for (int i = 0; i < 10; ++i) life.AddNode(8);
    const int most = 8 + dice.Below(9);
    model::QueueFacts queue = testutil::Queue("q0");
    queue.capability = {{"cpu", 1000 * most}};
    life.AddQueue(queue);
    life.AddQueue(testutil::Queue("q1"));
    life.Come("elsewhere", "q1", 1, 1, 1, 1000);
    int gangs = 0;
    bool begun = false;
    for (int minute = 0; minute < 90 && !begun; ++minute) {
      if (minute == 15) life.Come("large", "q0", (3 * most / 4 + 1) / 2, (3 * most / 4 + 1) / 2, 2);
      int wait = 0;
      for (const auto& [name, gang] : life.gangs()) wait += gang.began == absl::InfiniteFuture() ? 1 : 0;
      for (; wait < 4; ++wait)
        life.Come(absl::StrCat("g", gangs++), "q0", 1, 1, 1 + dice.Below(2),
                  dice.Chance(40) ? 1 + dice.Below(kLife) : 0);
      life.Round();
      life.GoOn(absl::Minutes(1));
      std::vector<std::string> ended;
      for (const auto& [name, gang] : life.gangs()) {
        if (gang.began == absl::InfiniteFuture()) continue;
        begun = begun || name == "large";
        if (minute > 15 && gang.came > life.gangs().at("large").came && name != "large") ++passed;
        const auto ran = static_cast<int>((life.now() - gang.began) / absl::Minutes(1));
        if (name != "elsewhere" && (ran >= (gang.minutes > 0 ? gang.minutes : kLife) || dice.Chance(10)))
          ended.push_back(name);
      }
      ASSERT_TRUE(begun || minute < 15 + kBound) << "seed " << seed << ": " << life.State();
      for (const std::string& name : ended) life.End(name);
    }
    ASSERT_TRUE(begun) << "seed " << seed;
  }
  EXPECT_GT(passed, 100) << "some end in time";
}

}  // namespace
}  // namespace gangway::gang
