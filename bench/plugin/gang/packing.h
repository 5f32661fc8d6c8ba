// Random clusters and gangs that ask for most of them; who else may pack them, for comparison.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugin/model/cluster.h"

namespace gangway::bench {

// Cpu in thousandths, memory in GiB, GPUs.
using Amounts = std::array<std::int64_t, 3>;

struct PackRole {
  int pods = 1;
  Amounts request{};
};
struct PackGang {
  std::vector<PackRole> roles;
};
struct PackCase {
  std::vector<Amounts> nodes;
  std::vector<PackGang> gangs;  // in the order in which they came
};

// Nodes of two kinds, with GPUs and without; gangs until they ask for `percent` of what there is of a resource.
PackCase DrawPackCase(unsigned seed, int nodes, int most_pods, int percent);

// How many gangs are whole, by Gangway's own decisions in one call.
int PackByGangway(const PackCase& cluster);
// As bins are packed: each pod on the node on which least is left after it. Gangs in the order in which they came, or
// the largest first, and of a gang its largest pods first; one that does not fit whole has nothing.
int PackBestFit(const PackCase& cluster, bool decreasing);
// The most that can be whole, by the solver `cbc` (Debian: coinor-cbc); nullopt: it is not there, or did not prove it
// in ten seconds. `in_order`: none is left out for gangs that came later, however many these are.
std::optional<int> PackExactly(const PackCase& cluster, bool in_order);

}  // namespace gangway::bench
