// A small cluster and the gangs that come to it, in virtual time, and its session as Volcano's scheduler sends it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gangway::beside {

using Seconds = double;

struct Job {
  std::string name;
  int pods = 1;               // all of them its minimum
  std::int64_t milli = 1000;  // of cpu, of each pod
  Seconds comes = 0, runs = 60;
  bool close = false;  // must lie in one rack
  int priority = 0;
  std::string queue = "default";  // all weigh the same
};

struct Workload {
  int racks = 4, nodes_per_rack = 6;
  std::int64_t node_milli = 16'000;
  std::vector<Job> jobs;  // by when they come
  int nodes() const { return racks * nodes_per_rack; }
  std::int64_t all_milli() const { return node_milli * nodes(); }
};

enum class Phase { kAbsent, kPending, kInqueue, kRunning, kDone };

struct JobState {
  Phase phase = Phase::kAbsent;
  bool has_pods = false;
  Seconds starts = 0, ends = 0;
  std::vector<int> node_of;  // by pod; -1: none
  std::vector<bool> bound;
};

// What is so at one moment. A pod that has a node takes its cpu there.
struct World {
  explicit World(const Workload& of);
  const Workload* workload;
  std::vector<JobState> jobs;
  std::vector<std::int64_t> idle;  // by node

  void Take(int job, int pod, int node);
  void GiveBack(int job, int pod);
  int Rack(int node) const { return node / workload->nodes_per_rack; }
};

// The names by which answers are looked up.
std::string NodeName(int node);
std::string PodUid(const Workload& workload, int job, int pod);

// TaskInfo, JobInfo, NodeInfo and a whole session, with the members and the size that recorded ones have
// (tests/golden/extender): each pod stands four times in its job, and once in its node.
std::string TaskJson(const World& world, int job, int pod);
std::string JobJson(const World& world, int job);
std::string NodeJson(const World& world, int node);
std::string QueueJson(const std::string& queue, bool whole);  // else without the object
std::string SessionJson(const World& world);

}  // namespace gangway::beside
