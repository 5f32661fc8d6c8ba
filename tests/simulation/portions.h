// What queues may hold and deserve, by weight, judged from the journal in Volcano's words: only as far as it is certain
// whatever others ask for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/meta.h"
#include "api/volcano/scheduling.h"

namespace gangway::testutil {

// The plain sum: the jobs of a history have neither init containers nor overhead.
void AddRequests(const api::core::Pod& pod, api::ResourceList& sum);

using Queues = std::map<std::string, api::volcano::Queue>;

// The queue, the one above it, up to Volcano's `root`, which is above all.
std::vector<std::string> PathOf(const Queues& queues, const std::string& queue);

// One of two queues that lie side by side below the queue above both of them; where that is the queue itself, its own
// gangs beside the queues below it.
struct Branch {
  std::string queue;
  bool own = false;
};
// Of `queue`, beside `other`.
Branch BranchOf(const Queues& queues, const std::string& queue, const std::string& other);
bool IsIn(const Queues& queues, const Branch& branch, const std::string& queue);

// What a branch deserves at least when it asks for as much, of `total`, which all queues share: nothing that is
// guaranteed to anybody, and its part by weight of the rest.
api::ResourceList DeservesAtLeast(const Queues& queues, const Branch& branch, const api::ResourceList& total);

}  // namespace gangway::testutil
