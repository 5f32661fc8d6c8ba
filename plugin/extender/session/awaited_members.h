// Pods that a gang's controller makes once it is let in, as far as its PodGroup tells what they ask for: so that a gang
// can be tried before it is let in.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plugin/model/cluster.h"

namespace gangway::extender {

// Puts them into the cluster for as long as this lives: its minimum of pods for each of Volcano's gangs that is not let
// in, has none, and is of one task, so that each of them asks for an equal part of its minResources. They go wherever
// there is room: which nodes the task's template allows is not known, and a gang that could run is not to be kept out.
// Of other gangs nothing is known that a trial could be made with.
class AwaitedMembers {
 public:
  // Of all gangs together; of those that come after that many, none are tried.
  static constexpr int kMaxMembers = 50'000;

  explicit AwaitedMembers(model::Cluster& cluster);
  ~AwaitedMembers();
  AwaitedMembers(const AwaitedMembers&) = delete;
  AwaitedMembers& operator=(const AwaitedMembers&) = delete;

 private:
  void Add(const model::Gang& gang);

  model::Cluster& cluster_;
  std::vector<std::pair<std::string, std::string>> pods_;  // namespace and name
};

}  // namespace gangway::extender
