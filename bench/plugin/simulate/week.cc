#include "bench/plugin/simulate/week.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace gangway::bench {
namespace {

constexpr int kGpusOfNode = 8;
constexpr std::array<const char*, 3> kPriorities = {"low", "middle", "high"};
const absl::Time kMonday = absl::FromUnixSeconds(1'795'478'400);

simulate::Arrival DrawGang(std::mt19937& random, int number, int queues) {
  // The same everywhere, which the distributions of the standard library are not.
  const auto below = [&](std::uint32_t bound) { return static_cast<int>(random() % bound); };
  const int pods = std::min(1 + below(1u << (1 + below(6))), 64), gpus = 1 << below(4), priority = below(10);
  const absl::Duration runs = absl::Minutes(10) * (1 + below(48));
  simulate::Arrival out;
  out.comes = kMonday + absl::Seconds(below(7 * 24 * 3600));
  out.gang.ns = "team";
  out.gang.name = out.gang.uid = absl::StrCat("g", number);
  out.gang.queue = absl::StrCat("q", below(static_cast<std::uint32_t>(queues)));
  out.gang.priority_class = kPriorities[priority < 2 ? 0 : priority < 9 ? 1 : 2];
  out.gang.min_member = pods;
  out.gang.has_min_resources = true;
  out.gang.min_resources = {{"cpu", 4000 * gpus * pods}, {"nvidia.com/gpu", gpus * pods}, {"pods", pods}};
  for (int i = 0; i < pods; ++i) {
    model::PodFacts pod;
    pod.ns = out.gang.ns;
    pod.name = pod.uid = absl::StrCat(out.gang.name, "-w-", i);
    pod.gang = out.gang.name;
    pod.role = "w";
    pod.index = i;
    pod.controlled = pod.ours = true;
    pod.lasts = runs;
    pod.wants.requests = {{"cpu", 4000 * gpus}, {"nvidia.com/gpu", gpus}, {"pods", 1}};
    out.pods.push_back(std::move(pod));
  }
  return out;
}

}  // namespace

Week DrawWeek(unsigned seed, int pods, int percent, int queues) {
  std::mt19937 random(seed);
  Week out;
  double gpu_seconds = 0;
  for (int drawn = 0, number = 0; drawn < pods; ++number) {
    out.arrivals.push_back(DrawGang(random, number, queues));
    const std::vector<model::PodFacts>& of_gang = out.arrivals.back().pods;
    drawn += static_cast<int>(of_gang.size());
    for (const model::PodFacts& pod : of_gang)
      gpu_seconds += static_cast<double>(pod.wants.requests[1].second) * absl::ToDoubleSeconds(pod.lasts);
  }
  const double week = absl::ToDoubleSeconds(absl::Hours(7 * 24));
  const int nodes = std::max(static_cast<int>(gpu_seconds / week / kGpusOfNode * 100 / percent), 1);
  for (const simulate::Arrival& arrival : out.arrivals)
    out.fit += arrival.gang.min_resources[1].second <= nodes * kGpusOfNode ? 1 : 0;
  for (int i = 0; i < nodes; ++i) {
    model::NodeFacts node;
    node.name = absl::StrCat("node-", absl::Dec(i, absl::kZeroPad5));
    node.allocatable = {{"cpu", 96'000}, {"nvidia.com/gpu", kGpusOfNode}, {"pods", 110}};
    node.labels = {{"kubernetes.io/hostname", node.name}};
    out.facts.nodes.push_back(std::move(node));
  }
  for (int i = 0; i < queues; ++i) {
    model::QueueFacts queue;
    queue.name = absl::StrCat("q", i);
    out.facts.queues.push_back(std::move(queue));
  }
  for (std::size_t i = 0; i < kPriorities.size(); ++i)
    out.facts.priority_classes.push_back({kPriorities[i], static_cast<std::int32_t>(100 * i)});
  return out;
}

}  // namespace gangway::bench
