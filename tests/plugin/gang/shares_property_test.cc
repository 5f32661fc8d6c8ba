// What queues deserve, and that they are held to it, over many random trees. A failure names the seed.
#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "absl/strings/str_cat.h"
#include "plugin/gang/schedule.h"
#include "plugin/gang/shares.h"
#include "tests/plugin/gang/dice.h"
#include "tests/plugin/gang/random_root.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using model::Dim;
using model::kNone;
using model::QueueId;
using testutil::At;
using testutil::Cpu;
using testutil::Dice;

// Queues below each other, some of which promise more than there is, with gangs that run and gangs that wait.
std::vector<std::function<void(model::Cluster&)>> RandomTree(Dice& dice) {
  std::vector<std::function<void(model::Cluster&)>> events;
  const int nodes = 1 + dice.Below(4), queues = 1 + dice.Below(12);
  for (int i = 0; i < nodes; ++i)
    events.push_back([node = testutil::Node(absl::StrCat("n", i), 1 + dice.Below(16))](auto& c) { c.SetNode(node); });
  std::vector<model::QueueFacts> root;
  const std::string top = testutil::RandomRoot(dice, root);
  for (const model::QueueFacts& queue : root) events.push_back([queue](auto& c) { c.SetQueue(queue); });
  for (int i = 0; i < queues; ++i) {
    model::QueueFacts queue = testutil::Queue(absl::StrCat("q", i));
    queue.parent = dice.Chance(90) ? top : "";
    if (i > 0 && dice.Chance(70)) queue.parent = absl::StrCat("q", dice.Below(i));
    queue.weight = 1 + dice.Below(5);
    if (dice.Chance(30)) queue.guarantee = {{"cpu", 1000 * dice.Below(12)}};
    if (dice.Chance(30)) queue.capability = {{"cpu", 1000 * (1 + dice.Below(20))}};
    if (dice.Chance(60)) queue.deserved = {{"cpu", 1000 * dice.Below(20)}};
    events.push_back([queue](auto& c) { c.SetQueue(queue); });
    model::GangFacts gang = testutil::Gang(absl::StrCat("g", i), 1);
    gang.queue = queue.name;
    if (dice.Chance(30)) {
      gang.has_min_resources = true;
      gang.min_resources = {{"cpu", 1000 * dice.Below(30)}};
    }
    if (dice.Chance(80)) events.push_back([gang](auto& c) { c.SetGang(gang); });
    for (int pod = 0; pod < dice.Below(4); ++pod) {
      model::PodFacts facts = testutil::Pod(gang.name, "w", pod, Cpu(500 * (1 + dice.Below(12))));
      if (dice.Chance(50)) {
        facts.node = absl::StrCat("n", dice.Below(nodes));
        facts.phase = model::PodPhase::kRunning;
      }
      events.push_back([facts](auto& c) { c.SetPod(facts); });
    }
  }
  if (dice.Chance(30)) {
    model::PodFacts stranger = testutil::Pod("", "x", 0, Cpu(2000));
    stranger.ours = false;
    stranger.node = "n0";
    stranger.phase = model::PodPhase::kRunning;
    events.push_back([stranger](auto& c) { c.SetPod(stranger); });
  }
  return events;
}

std::map<std::string, std::int64_t> DeservedByName(const model::Cluster& cluster, Sharing sharing) {
  const QueueTree tree(cluster);
  const Shares shares(cluster, tree, sharing);
  std::map<std::string, std::int64_t> deserved;
  for (QueueId id = 0; id < cluster.queue_slots(); ++id)
    deserved[cluster.queue(id).name] = shares.Deserved(id, model::kCpu);
  return deserved;
}

// By the queue's own gangs, before anything bounds it.
std::int64_t AskedByOwn(const model::Cluster& cluster, QueueId queue) {
  std::int64_t asked = cluster.queue(queue).held[model::kCpu];
  for (model::GangId id = 0; id < cluster.gang_slots(); ++id) {
    const model::Gang& gang = cluster.gang(id);
    if (gang.queue != queue || (!cluster.waiting().contains(id) && !cluster.awaiting_pods().contains(id))) continue;
    const std::int64_t beyond = gang.has_min_resources ? gang.min_resources[model::kCpu] - gang.held[model::kCpu] : 0;
    asked += std::max({gang.asks[model::kCpu], beyond, std::int64_t{0}});
  }
  return asked;
}

// Those that share what one queue deserves, or the cluster.
struct Sharer {
  std::string name;
  std::int64_t weight, least, most, share;
};

// One who has more than is kept for it has no more by weight than who could have more, but for rounding.
void ExpectPouredByWeight(const std::vector<Sharer>& sharers) {
  const auto rounding = static_cast<std::int64_t>(sharers.size()) + 1;
  for (const Sharer& a : sharers) {
    for (const Sharer& b : sharers) {
      if (a.share <= a.least || b.share >= b.most) continue;
      EXPECT_LE(a.share * b.weight, b.share * a.weight + rounding * (a.weight + b.weight))
          << a.name << " has " << a.share << " by weight " << a.weight << ", " << b.name << " " << b.share << " by "
          << b.weight;
    }
  }
}

TEST(SharesProperty, EachIsItsWeightTimesOneLevel) {
  for (unsigned seed = 0; seed < testutil::Worlds(3000) && !HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Dice dice(seed);
    model::Cluster cluster;
    for (const auto& event : RandomTree(dice)) event(cluster);
    const QueueTree tree(cluster);
    const Dim dim = model::kCpu;
    const Shares by_weight(cluster, tree, Sharing::kByWeight), as_written(cluster, tree, Sharing::kAsWritten);
    std::map<QueueId, std::vector<Sharer>> weighed;
    std::map<QueueId, std::int64_t> asked_below, written;
    for (const QueueId id : tree.deepest_first()) {
      const model::Queue& queue = cluster.queue(id);
      const std::int64_t limit = queue.Limit(dim), least = std::min(by_weight.Kept(id, dim), limit);
      const std::int64_t own = AskedByOwn(cluster, id);
      EXPECT_EQ(by_weight.Asked(id, dim), std::min(asked_below[id] + own, limit)) << queue.name;
      asked_below[tree.parent(id)] += by_weight.Asked(id, dim);
      const std::int64_t most = std::max(by_weight.Asked(id, dim), least);
      weighed[tree.parent(id)].push_back({queue.name, queue.weight, least, most, by_weight.Deserved(id, dim)});
      if (queue.children > 0) weighed[id].push_back({"own", 1, 0, own, by_weight.OwnDeserved(id, dim)});
      // As it is written, or else as those below it.
      const auto said = std::find_if(queue.deserved.begin(), queue.deserved.end(),
                                     [&](const auto& amount) { return amount.first == dim; });
      written[id] = std::min(said != queue.deserved.end() ? said->second : written[id], limit);
      if (tree.parent(id) != kNone) written[tree.parent(id)] += written[id];
      EXPECT_LE(as_written.Deserved(id, dim), std::max(written[id], least)) << queue.name;
    }
    for (const auto& [parent, sharers] : weighed) ExpectPouredByWeight(sharers);
  }
}

TEST(SharesProperty, TheyLieWithinTheirBoundsAndAddUp) {
  for (unsigned seed = 0; seed < testutil::Worlds(3000); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Dice dice(seed);
    std::vector<std::function<void(model::Cluster&)>> events = RandomTree(dice);
    model::Cluster cluster, other;
    for (const auto& event : events) event(cluster);
    std::shuffle(events.begin(), events.end(), dice.engine());
    for (const auto& event : events) event(other);
    for (const Sharing sharing : {Sharing::kByWeight, Sharing::kAsWritten}) {
      EXPECT_EQ(DeservedByName(cluster, sharing), DeservedByName(other, sharing)) << "whatever the order of events";
      const QueueTree tree(cluster);
      const Shares shares(cluster, tree, sharing);
      const Dim dim = model::kCpu;
      struct Below {
        std::int64_t sum = 0, kept = 0;
        int queues = 0;
        bool all_full = true;
      };
      std::map<QueueId, Below> below;
      for (QueueId id = 0; id < cluster.queue_slots(); ++id) {
        const std::int64_t deserved = shares.Deserved(id, dim), limit = cluster.queue(id).Limit(dim);
        EXPECT_LE(deserved, limit);
        Below& above = below[tree.parent(id)];
        ++above.queues;
        above.sum += deserved;
        above.kept += std::min(shares.Kept(id, dim), limit);
        if (sharing == Sharing::kByWeight) {
          EXPECT_LE(deserved, std::max(shares.Asked(id, dim), shares.Kept(id, dim)));
          above.all_full = above.all_full && deserved >= std::min(shares.Asked(id, dim), limit);
        }
      }
      for (const auto& [id, sums] : below) {
        const std::int64_t all = id == kNone ? tree.ToShare(dim) : shares.Deserved(id, dim);
        const std::int64_t own = id == kNone || sharing == Sharing::kAsWritten ? 0 : shares.OwnDeserved(id, dim);
        EXPECT_LE(sums.sum + own, all);
        // Nothing is left over while somebody asks for more, but what rounding leaves.
        if (sharing == Sharing::kByWeight && !sums.all_full && sums.kept < all) {
          EXPECT_GE(sums.sum + own, all - sums.queues - 1);
        }
      }
      for (QueueId id = 0; id < cluster.queue_slots(); ++id) {
        const QueueId parent = tree.parent(id);
        const std::int64_t all = parent == kNone ? tree.ToShare(dim) : shares.Deserved(parent, dim);
        if (below[parent].kept <= all) {
          EXPECT_GE(shares.Deserved(id, dim), std::min(shares.Kept(id, dim), cluster.queue(id).Limit(dim)));
        }
      }
    }
  }
}

// Nodes and pods of 1 cpu, so that a gang fits where there are as many nodes as it has pods.
TEST(SharesProperty, NoQueueGetsPastItsShareWhileAnotherWaitsForItsOwn) {
  int beyond = 0;
  for (unsigned seed = 0; seed < testutil::Worlds(3000); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Dice dice(seed);
    model::Cluster cluster;
    const int nodes = 4 + dice.Below(20), queues = 2 + dice.Below(3);
    testutil::AddNodes(cluster, nodes, 1);
    std::vector<model::QueueFacts> root;
    const std::string top = testutil::RandomRoot(dice, root);
    for (const model::QueueFacts& queue : root) cluster.SetQueue(queue);
    int next_node = 0, free = nodes;
    std::map<std::string, int> size;
    for (int q = 0; q < queues; ++q) {
      model::QueueFacts queue = testutil::Queue(absl::StrCat("q", q));
      queue.parent = q > 1 && dice.Chance(40) ? "q0" : top;
      queue.weight = 1 + dice.Below(4);
      cluster.SetQueue(queue);
      for (int g = 0; g < 1 + dice.Below(4); ++g) {
        model::GangFacts gang = testutil::Gang(absl::StrCat("g", q, "-", g), 1 + dice.Below(8));
        gang.queue = queue.name;
        gang.created = At(dice.Below(5));
        const bool runs = dice.Chance(30) && next_node + gang.min_member <= nodes;
        if (runs) gang.was_whole = true;
        cluster.SetGang(gang);
        size[gang.name] = gang.min_member;
        for (int i = 0; i < gang.min_member; ++i) {
          model::PodFacts pod = testutil::Pod(gang.name, "w", i, Cpu(1000));
          if (runs) {
            pod.node = absl::StrCat("node-", absl::Dec(next_node++, absl::kZeroPad3));
            pod.phase = model::PodPhase::kRunning;
            --free;
          }
          cluster.SetPod(pod);
        }
      }
    }
    const QueueTree tree(cluster);
    const Shares shares(cluster, tree, Sharing::kByWeight);
    Policy policy;
    policy.keeps_for = absl::ZeroDuration();
    policy.preempt = policy.reclaim = false;
    Scratch scratch;
    const model::Decisions decisions = Schedule(cluster, policy, At(100), scratch);
    const auto name = [&](const model::Decision& decision) { return cluster.gang(decision.gang).name; };
    std::map<QueueId, std::int64_t> held;
    for (QueueId id = 0; id < cluster.queue_slots(); ++id) held[id] = tree.held(id)[model::kCpu];
    std::map<QueueId, int> last;  // by queue: the size of the gang that was placed last
    for (const model::Decision& decision : decisions) {
      if (decision.placements.empty()) continue;
      const int pods = size.at(name(decision));
      free -= pods;
      for (const QueueId level : tree.path(cluster.gang(decision.gang).queue)) held[level] += 1000 * pods;
      last[cluster.gang(decision.gang).queue] = pods;
    }
    const auto within = [&](QueueId id, int pods) {
      const auto& path = tree.path(id);
      return std::all_of(path.begin(), path.end(),
                         [&](QueueId level) {
                           return tree.IsAboveAll(level) ||
                                  held[level] + 1000 * pods <= shares.Deserved(level, model::kCpu);
                         }) &&
             cluster.queue(id).held[model::kCpu] + 1000 * pods <= shares.OwnDeserved(id, model::kCpu);
    };
    for (const auto& [queue, pods] : last) {
      if (within(queue, 0) || cluster.queue(queue).children > 0) continue;
      ++beyond;
      for (const model::Decision& decision : decisions) {
        const QueueId other = cluster.gang(decision.gang).queue;
        if (!decision.placements.empty() || other == queue || cluster.queue(other).children > 0) continue;
        const int waits = size.at(name(decision));
        EXPECT_FALSE(within(other, waits) && waits <= free + pods) << name(decision) << " waits for " << waits;
      }
    }
    // And nothing stays free that somebody could use.
    for (const model::Decision& decision : decisions) {
      if (!decision.placements.empty()) continue;
      EXPECT_GT(size.at(name(decision)), free) << name(decision) << ": " << model::Render(*decision.reason);
    }
  }
  EXPECT_GT(beyond, 300);
}

}  // namespace
}  // namespace gangway::gang
