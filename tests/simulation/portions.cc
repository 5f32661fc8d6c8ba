#include "tests/simulation/portions.h"

#include <algorithm>
#include <set>

namespace gangway::testutil {
namespace {

constexpr char kRoot[] = "root";
constexpr std::size_t kDeepest = 10;

std::string AboveOf(const Queues& queues, const std::string& name) {
  if (name == kRoot) return "";
  const auto it = queues.find(name);
  return it == queues.end() || it->second.spec.parent.empty() ? kRoot : it->second.spec.parent;
}

// Milli-units.
std::int64_t Of(const api::ResourceList& amounts, const std::string& resource) {
  const auto it = amounts.find(resource);
  return it == amounts.end() ? 0 : it->second.Milli().value_or(0);
}

}  // namespace

void AddRequests(const api::core::Pod& pod, api::ResourceList& sum) {
  for (const api::core::Container& container : pod.spec.containers) {
    for (const auto& [name, quantity] : container.resources.requests) sum[name] = *sum[name].Plus(quantity);
  }
}

std::vector<std::string> PathOf(const Queues& queues, const std::string& queue) {
  std::vector<std::string> path{queue};
  while (path.back() != kRoot && path.size() < kDeepest) path.push_back(AboveOf(queues, path.back()));
  return path;
}

Branch BranchOf(const Queues& queues, const std::string& queue, const std::string& other) {
  const std::vector<std::string> ours = PathOf(queues, queue), theirs = PathOf(queues, other);
  const std::set<std::string> above(theirs.begin(), theirs.end());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (above.contains(ours[i])) return i == 0 ? Branch{queue, true} : Branch{ours[i - 1], false};
  }
  return {queue, false};
}

bool IsIn(const Queues& queues, const Branch& branch, const std::string& queue) {
  if (branch.own) return queue == branch.queue;
  const std::vector<std::string> path = PathOf(queues, queue);
  return std::find(path.begin(), path.end(), branch.queue) != path.end();
}

// What is guaranteed below a queue may be all that comes down to it.
api::ResourceList DeservesAtLeast(const Queues& queues, const Branch& branch, const api::ResourceList& total) {
  std::vector<std::string> path = PathOf(queues, branch.queue);
  std::reverse(path.begin(), path.end());  // from the root
  const auto sum_below = [&](const std::string& above) {
    double sum = 1;  // its own gangs
    for (const auto& [other, queue] : queues) {
      if (other != kRoot && AboveOf(queues, other) == above) sum += std::max(queue.spec.weight, 1);
    }
    return sum;
  };
  api::ResourceList least;
  for (const auto& [resource, amount] : total) {
    auto left = static_cast<double>(Of(total, resource));
    const auto without_guarantees = [&](const std::string& above) {
      for (const auto& [other, queue] : queues) {
        if (queue.spec.guarantee.has_value() && other != above && IsIn(queues, {above, false}, other))
          left -= static_cast<double>(Of(queue.spec.guarantee->resource, resource));
      }
      left = std::max(left, 0.0);
    };
    for (std::size_t i = 1; i < path.size(); ++i) {
      without_guarantees(path[i - 1]);
      const auto it = queues.find(path[i]);
      left *= (it == queues.end() ? 0 : std::max(it->second.spec.weight, 1)) / sum_below(path[i - 1]);
    }
    if (branch.own) {
      without_guarantees(branch.queue);
      left /= sum_below(branch.queue);
    }
    least[resource] = api::Quantity::FromMilli(static_cast<std::int64_t>(left));
  }
  return least;
}

}  // namespace gangway::testutil
