// Volcano's queue `root`, above all others, as random clusters have it or not.
#pragma once

#include <string>
#include <vector>

#include "tests/plugin/model/cluster_builder.h"

namespace gangway::testutil {

// Adds it to the queues, or does not. Returns the parent of those that name no other: "" without it.
template <class Random>
std::string RandomRoot(Random& random, std::vector<model::QueueFacts>& queues) {
  if (!random.Chance(40)) return "";
  queues.push_back(Queue("root"));
  return queues.back().name;
}

}  // namespace gangway::testutil
