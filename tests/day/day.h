// A cluster through a day in virtual time: jobs come, a scheduler gives their pods nodes and may take them away, jobs
// run and end. What is true is kept here and is judged here; a scheduler knows what it is told.
//
// A job runs once all of its pods have nodes, so long as Workload says, in one piece: one that is evicted begins anew.
// Time goes from second to second in which something happens; in each the scheduler decides once.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tests/day/workload.h"

namespace gangway::day {

inline constexpr Seconds kNever = std::numeric_limits<Seconds>::max();

// How many GPUs of each node are free, and which nodes have so many.
class Room {
 public:
  Room(int nodes, int gpus_per_node);
  int nodes() const { return static_cast<int>(free_.size()); }
  int free(int node) const { return free_[static_cast<std::size_t>(node)]; }
  int all_free() const { return all_free_; }
  void Add(int node, int gpus);  // they become free; negative: are taken

  // Whether so many pods of so many GPUs each find nodes.
  bool Fits(int pods, int gpus) const;
  // The fullest node with so many free; -1: there is none.
  int BestFit(int gpus) const;
  // One of all nodes with so many free, by `draw`; -1: there is none.
  int AnyFit(int gpus, unsigned draw) const;

 private:
  std::vector<int> free_, place_;          // by node; its place in by_free_
  std::vector<std::vector<int>> by_free_;  // nodes
  int all_free_ = 0;
};

class Cluster;

// What a scheduler may do to the cluster.
class Hands {
 public:
  explicit Hands(Cluster& cluster) : cluster_(cluster) {}
  const Room& room() const;
  // The next of the job's pods gets this node.
  void Bind(int job, int node);
  // A job that runs: its pods end after their grace, and it comes again then.
  void Evict(int job);
  // A job that does not run yet: its pods have no nodes any more, at once; it goes on waiting.
  void GiveBack(int job);

 private:
  Cluster& cluster_;
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  virtual void Come(const Job& job, Seconds now) = 0;
  // Its pods are gone, since it is done or because it was evicted; then it comes again.
  virtual void Gone(const Job& job, Seconds now) = 0;
  virtual void Decide(Seconds now, Hands& hands) = 0;
  // When it decides again though nothing happens.
  virtual Seconds LookAgain() const { return kNever; }
  // Pods of a job that does not run yet may hold nodes.
  virtual bool binds_in_part() const { return false; }
};

struct Wait {
  int job = 0;
  Seconds waited = 0;  // from when it came to its end, without the time that it runs: what was lost is waiting, too
};

struct Sample {
  Seconds at = 0;
  int running = 0, waiting = 0;  // GPUs of jobs that run, that wait
  double short_of_share = 0;     // part of the cluster that queues lack of their shares
};

struct Outcome {
  Seconds ends = 0;           // the last job
  std::vector<Wait> waits;    // of jobs that ended
  std::vector<int> stuck;     // jobs that never did
  double used_in_day = 0;     // part of the GPU time of the day in which jobs ran that were not evicted later
  double held_in_vain = 0;    // GPU hours of pods that had nodes while their job did not run, or were ending
  double short_of_share = 0;  // mean over the day, and the most of a sample
  double most_short = 0;
  int evictions = 0;    // of jobs
  int most_of_one = 0;  // of one job
  double lost_pod_hours = 0, lost_gpu_hours = 0;
  std::vector<Sample> samples;     // every five minutes
  std::vector<std::string> wrong;  // rules that were broken
};

struct Rules {
  Seconds grace = 30;
  Seconds gives_up = 4 * 24 * 3600;  // what waits then is stuck
};

Outcome Live(const Workload& workload, Scheduler& scheduler, const Rules& rules = {});

// What each queue deserves of so many GPUs: poured by weight until each has what it asks for.
std::vector<double> Deserved(double all, const std::vector<QueueOf>& queues, const std::vector<double>& asks);

}  // namespace gangway::day
