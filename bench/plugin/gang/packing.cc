#include "bench/plugin/gang/packing.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "plugin/gang/schedule.h"

namespace gangway::bench {

namespace {

constexpr std::int64_t kGi = std::int64_t{1} << 30;

Amounts SumOf(const PackCase& cluster) {
  Amounts sum{};
  for (const Amounts& node : cluster.nodes) {
    for (std::size_t dim = 0; dim < sum.size(); ++dim) sum[dim] += node[dim];
  }
  return sum;
}

// Of everything there is, the mean over resources.
double SizeOf(const Amounts& request, const Amounts& all) {
  double size = 0;
  for (std::size_t dim = 0; dim < all.size(); ++dim) {
    if (all[dim] > 0) size += static_cast<double>(request[dim]) / static_cast<double>(all[dim]);
  }
  return size;
}

bool Fits(const Amounts& request, const Amounts& free) {
  for (std::size_t dim = 0; dim < free.size(); ++dim) {
    if (request[dim] > free[dim]) return false;
  }
  return true;
}

PackGang DrawGangOf(std::mt19937& draws, int most_pods) {
  const auto below = [&](int limit) { return static_cast<int>(draws() % static_cast<unsigned>(limit)); };
  static constexpr int kGpus[] = {1, 1, 2, 4, 8};
  PackGang gang;
  const int pods = 1 + below(most_pods);
  const std::int64_t gpus = below(2) == 0 ? 0 : kGpus[below(5)];
  const Amounts worker = gpus > 0 ? Amounts{gpus * 1000 * (2 + below(6)), gpus * 4 * (2 + below(12)), gpus}
                                  : Amounts{1000 * (1 + below(16)), 2 * (1 + below(32)), 0};
  gang.roles.push_back({pods, worker});
  if (below(4) == 0) gang.roles.push_back({1 + below(4), {1000 * (1 + below(4)), 4 * (1 + below(8)), 0}});
  return gang;
}

}  // namespace

PackCase DrawPackCase(unsigned seed, int nodes, int most_pods, int percent) {
  std::mt19937 draws(seed);
  PackCase cluster;
  for (int i = 0; i < nodes; ++i)
    cluster.nodes.push_back(draws() % 2 == 0 ? Amounts{64'000, 512, 8} : Amounts{32'000, 128, 0});
  const Amounts all = SumOf(cluster);
  Amounts asked{};
  // One that would ask for too much of anything is not taken; when many were not, it is full.
  for (int refused = 0; refused < 50;) {
    PackGang gang = DrawGangOf(draws, most_pods);
    Amounts with = asked;
    for (const PackRole& role : gang.roles) {
      for (std::size_t dim = 0; dim < with.size(); ++dim) with[dim] += role.pods * role.request[dim];
    }
    bool fits = true;
    for (std::size_t dim = 0; dim < with.size(); ++dim) fits = fits && with[dim] * 100 <= all[dim] * percent;
    refused += fits ? 0 : 1;
    if (!fits) continue;
    asked = with;
    cluster.gangs.push_back(std::move(gang));
  }
  return cluster;
}

int PackByGangway(const PackCase& cluster) {
  model::Cluster table;
  const auto named = [](const Amounts& amounts, int pods) {
    model::NamedAmounts all = {{"cpu", amounts[0]}, {"memory", amounts[1] * kGi}, {"pods", pods}};
    if (amounts[2] > 0) all.emplace_back("nvidia.com/gpu", amounts[2]);
    return all;
  };
  for (std::size_t i = 0; i < cluster.nodes.size(); ++i) {
    model::NodeFacts node;
    node.name = absl::StrCat("node-", absl::Dec(i, absl::kZeroPad3));
    node.allocatable = named(cluster.nodes[i], 110);
    table.SetNode(node);
  }
  model::QueueFacts queue;
  queue.name = "default";
  table.SetQueue(queue);
  for (std::size_t i = 0; i < cluster.gangs.size(); ++i) {
    model::GangFacts gang;
    gang.ns = "default";
    gang.name = gang.uid = absl::StrCat("gang-", absl::Dec(i, absl::kZeroPad3));
    gang.created = absl::UnixEpoch() + absl::Milliseconds(i);
    gang.phase = model::GangPhase::kInqueue;
    for (const PackRole& role : cluster.gangs[i].roles) gang.min_member += role.pods;
    table.SetGang(gang);
    for (std::size_t r = 0; r < cluster.gangs[i].roles.size(); ++r) {
      const PackRole& role = cluster.gangs[i].roles[r];
      for (int p = 0; p < role.pods; ++p) {
        model::PodFacts pod;
        pod.ns = "default";
        pod.name = pod.uid = absl::StrCat(gang.name, "-", r, "-", p);
        pod.gang = gang.name;
        pod.role = absl::StrCat("role-", r);
        pod.index = p;
        pod.wants.requests = named(role.request, 1);
        table.SetPod(pod);
      }
    }
  }
  gang::Scratch scratch;
  int whole = 0;
  for (const model::Decision& decision :
       gang::Schedule(table, gang::Policy(), absl::UnixEpoch() + absl::Seconds(30), scratch))
    whole += decision.placements.empty() ? 0 : 1;
  return whole;
}

int PackBestFit(const PackCase& cluster, bool decreasing) {
  const Amounts all = SumOf(cluster);
  std::vector<std::vector<Amounts>> gangs;  // the requests of the pods
  for (const PackGang& gang : cluster.gangs) {
    gangs.emplace_back();
    for (const PackRole& role : gang.roles)
      gangs.back().insert(gangs.back().end(), static_cast<std::size_t>(role.pods), role.request);
    std::stable_sort(gangs.back().begin(), gangs.back().end(),
                     [&](const Amounts& a, const Amounts& b) { return SizeOf(a, all) > SizeOf(b, all); });
  }
  const auto sum = [&](const std::vector<Amounts>& pods) {
    double size = 0;
    for (const Amounts& pod : pods) size += SizeOf(pod, all);
    return size;
  };
  if (decreasing)
    std::stable_sort(gangs.begin(), gangs.end(), [&](const auto& a, const auto& b) { return sum(a) > sum(b); });
  std::vector<Amounts> free = cluster.nodes;
  int whole = 0;
  for (const std::vector<Amounts>& pods : gangs) {
    std::vector<Amounts> trial = free;
    const bool fits = std::all_of(pods.begin(), pods.end(), [&](const Amounts& pod) {
      Amounts* best = nullptr;
      double least = 0;
      for (Amounts& node : trial) {
        if (!Fits(pod, node)) continue;
        const double left = SizeOf(node, all);
        if (best != nullptr && left >= least) continue;
        best = &node;
        least = left;
      }
      for (std::size_t dim = 0; best != nullptr && dim < pod.size(); ++dim) (*best)[dim] -= pod[dim];
      return best != nullptr;
    });
    if (!fits) continue;
    free = std::move(trial);
    ++whole;
  }
  return whole;
}

std::optional<int> PackExactly(const PackCase& cluster, bool in_order) {
  if (std::system("command -v cbc >/dev/null") != 0) return std::nullopt;  // NOLINT: nobody else runs here
  const std::string stem = absl::StrCat("/tmp/gangway-packing-", getpid());
  {
    std::ofstream lp(stem + ".lp");
    lp << "Maximize\n whole:";
    for (std::size_t g = 0; g < cluster.gangs.size(); ++g) {
      // More than all that came later together.
      const std::size_t later = cluster.gangs.size() - 1 - g;
      lp << " + " << (in_order ? std::int64_t{1} << later : 1) << " y" << g;
    }
    lp << "\nSubject To\n";
    for (std::size_t g = 0; g < cluster.gangs.size(); ++g) {
      for (std::size_t r = 0; r < cluster.gangs[g].roles.size(); ++r) {
        for (std::size_t n = 0; n < cluster.nodes.size(); ++n) lp << " + x" << g << "_" << r << "_" << n;
        lp << " - " << cluster.gangs[g].roles[r].pods << " y" << g << " = 0\n";
      }
    }
    for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
      for (std::size_t dim = 0; dim < 3; ++dim) {
        std::string sum;
        for (std::size_t g = 0; g < cluster.gangs.size(); ++g) {
          for (std::size_t r = 0; r < cluster.gangs[g].roles.size(); ++r) {
            const std::int64_t amount = cluster.gangs[g].roles[r].request[dim];
            if (amount > 0) absl::StrAppend(&sum, " + ", amount, " x", g, "_", r, "_", n);
          }
        }
        if (!sum.empty()) lp << sum << " <= " << cluster.nodes[n][dim] << "\n";
      }
    }
    lp << "Bounds\n";
    std::string generals = "Generals\n", binaries = "Binaries\n";
    for (std::size_t g = 0; g < cluster.gangs.size(); ++g) {
      absl::StrAppend(&binaries, " y", g, "\n");
      for (std::size_t r = 0; r < cluster.gangs[g].roles.size(); ++r) {
        for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
          lp << " 0 <= x" << g << "_" << r << "_" << n << " <= " << cluster.gangs[g].roles[r].pods << "\n";
          absl::StrAppend(&generals, " x", g, "_", r, "_", n, "\n");
        }
      }
    }
    lp << generals << binaries << "End\n";
  }
  const int status = std::system(  // NOLINT
      absl::StrCat("cbc ", stem, ".lp sec 10 solve solu ", stem, ".sol >/dev/null 2>&1").c_str());
  std::ifstream file(stem + ".sol");
  const std::string solution((std::istreambuf_iterator<char>(file)), {});
  std::remove((stem + ".lp").c_str());
  std::remove((stem + ".sol").c_str());
  if (status != 0 || solution.rfind("Optimal - objective value ", 0) != 0) return std::nullopt;
  // Of what is not zero a line each: number, name, value.
  int whole = 0;
  for (const absl::string_view line : absl::StrSplit(solution, '\n')) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    whole += words.size() > 2 && words[1][0] == 'y' && words[2] != "0" ? 1 : 0;
  }
  return whole;
}

}  // namespace gangway::bench
