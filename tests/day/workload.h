// A day's work for a cluster of GPUs: gangs that come in bursts, drawn from a seed.
//
// After what was published of three clusters: Philly (Jeon and others, ATC 2019), Helios (Hu and others, SC 2021) and
// Alibaba's PAI (Weng and others, NSDI 2022). Most jobs are one pod, gangs are powers of two, and the few large ones
// take most of the GPUs; how long they run spans orders of magnitude, large ones run longer; a user submits many alike
// at once; few come at night.
#pragma once

#include <string>
#include <vector>

namespace gangway::day {

using Seconds = int;  // of virtual time; the day begins at 0

struct Job {
  int id = 0;  // its place in Workload::jobs
  int queue = 0;
  int pods = 1, gpus = 1;  // of each pod
  Seconds comes = 0, runs = 1;
  bool urgent = false;  // of the higher of two priorities
  int all_gpus() const { return pods * gpus; }
};

struct QueueOf {
  std::string name;
  int weight = 1;
  double part = 1;  // of the bursts, to the sum of all
};

struct Plan {
  unsigned seed = 1;
  int nodes = 2000, gpus_per_node = 8;
  int pods = 100'000;
  int largest = 512;  // pods of a gang
  Seconds length = 24 * 3600;
  double load = 0.9;  // GPU time of all jobs as a part of what the cluster has in that time
};

struct Workload {
  Plan plan;
  std::vector<QueueOf> queues;
  std::vector<Job> jobs;  // by when they come
  int all_gpus() const { return plan.nodes * plan.gpus_per_node; }
};

Workload Draw(const Plan& plan);

// Sizes of gangs that are told of together.
struct SizeClass {
  int from = 1, to = 1;  // pods
  std::string Name() const;
};
const std::vector<SizeClass>& SizeClasses();

// What was drawn, as a table in Markdown: of each size how many jobs, pods and GPU hours, and how long they run.
std::string Describe(const Workload& workload);

}  // namespace gangway::day
