#include "tests/day/day.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gangway::day {

// ---- room

Room::Room(int nodes, int gpus_per_node)
    : free_(static_cast<std::size_t>(nodes), 0),
      place_(static_cast<std::size_t>(nodes), 0),
      by_free_(static_cast<std::size_t>(gpus_per_node) + 1) {
  for (int node = 0; node < nodes; ++node) {
    place_[static_cast<std::size_t>(node)] = node;
    by_free_[0].push_back(node);
  }
  for (int node = 0; node < nodes; ++node) Add(node, gpus_per_node);
}

void Room::Add(int node, int gpus) {
  const auto at = static_cast<std::size_t>(node);
  std::vector<int>& before = by_free_[static_cast<std::size_t>(free_[at])];
  const int last = before.back();
  before[static_cast<std::size_t>(place_[at])] = last;
  place_[static_cast<std::size_t>(last)] = place_[at];
  before.pop_back();
  free_[at] += gpus;
  all_free_ += gpus;
  std::vector<int>& now = by_free_[static_cast<std::size_t>(free_[at])];
  place_[at] = static_cast<int>(now.size());
  now.push_back(node);
}

bool Room::Fits(int pods, int gpus) const {
  std::size_t fit = 0;
  for (auto level = static_cast<std::size_t>(gpus); level < by_free_.size(); ++level)
    fit += by_free_[level].size() * (level / static_cast<std::size_t>(gpus));
  return fit >= static_cast<std::size_t>(pods);
}

int Room::BestFit(int gpus) const {
  for (auto level = static_cast<std::size_t>(gpus); level < by_free_.size(); ++level) {
    if (!by_free_[level].empty()) return by_free_[level].back();
  }
  return -1;
}

int Room::AnyFit(int gpus, unsigned draw) const {
  std::size_t nodes = 0;
  for (auto level = static_cast<std::size_t>(gpus); level < by_free_.size(); ++level) nodes += by_free_[level].size();
  if (nodes == 0) return -1;
  std::size_t left = draw % nodes;
  auto level = static_cast<std::size_t>(gpus);
  for (; left >= by_free_[level].size(); ++level) left -= by_free_[level].size();
  return by_free_[level][left];
}

// ---- shares

std::vector<double> Deserved(double all, const std::vector<QueueOf>& queues, const std::vector<double>& asks) {
  std::vector<double> deserved(queues.size(), 0);
  double left = all;
  while (true) {
    double weights = 0;
    for (std::size_t i = 0; i < queues.size(); ++i) weights += deserved[i] < asks[i] ? queues[i].weight : 0;
    if (weights <= 0 || left < 1e-6) return deserved;
    double poured = 0;
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (deserved[i] >= asks[i]) continue;
      const double more = std::min(left * queues[i].weight / weights, asks[i] - deserved[i]);
      deserved[i] = more >= asks[i] - deserved[i] ? asks[i] : deserved[i] + more;
      poured += more;
    }
    left -= poured;
  }
}

// ---- the day

class Cluster {
 public:
  Cluster(const Workload& workload, Scheduler& scheduler, const Rules& rules)
      : workload_(workload),
        scheduler_(scheduler),
        rules_(rules),
        room_(workload.plan.nodes, workload.plan.gpus_per_node),
        states_(workload.jobs.size()),
        running_of_(workload.queues.size(), 0),
        asked_of_(workload.queues.size(), 0) {}

  Outcome Live() {
    Hands hands(*this);
    for (const Job& job : workload_.jobs) events_.push({job.comes, What::kComes, job.id});
    Seconds quiet_since = 0;
    while (true) {
      const Seconds next = std::min(events_.empty() ? kNever : events_.top().at, scheduler_.LookAgain());
      if (next == kNever || next > rules_.gives_up) break;
      // Only the scheduler's own clock moves.
      if (events_.empty() && next > quiet_since + 24 * 3600) break;
      Pass(next);
      while (!events_.empty() && events_.top().at == now_) {
        const Event event = events_.top();
        events_.pop();
        Happen(event);
      }
      const std::uint64_t before = changes_;
      scheduler_.Decide(now_, hands);
      if (changes_ != before || !events_.empty()) quiet_since = now_;
      if (!scheduler_.binds_in_part()) FindParts();
      if (out_.wrong.size() > 20) break;
    }
    Finish();
    return std::move(out_);
  }

  const Room& room() const { return room_; }

  void Bind(int id, int node) {
    const Job& job = JobOf(id);
    State& state = StateOf(id);
    if (!state.here || state.ending || static_cast<int>(state.nodes.size()) == job.pods)
      return Wrong(id, "a pod is bound that does not wait");
    if (node < 0 || node >= room_.nodes() || room_.free(node) < job.gpus)
      return Wrong(id, absl::StrCat("node ", node, " is overcommitted"));
    ++changes_;
    room_.Add(node, -job.gpus);
    held_ += job.gpus;
    state.nodes.push_back(node);
    if (static_cast<int>(state.nodes.size()) < job.pods) {
      in_part_.push_back(id);
      return;
    }
    state.started = now_;
    ++state.run;
    running_ += job.all_gpus();
    running_of_[static_cast<std::size_t>(job.queue)] += job.all_gpus();
    events_.push({now_ + job.runs, What::kEnds, id, state.run});
  }

  void Evict(int id) {
    const Job& job = JobOf(id);
    State& state = StateOf(id);
    if (state.ending || static_cast<int>(state.nodes.size()) < job.pods)
      return Wrong(id, "is evicted and does not run");
    ++changes_;
    ++out_.evictions;
    out_.most_of_one = std::max(out_.most_of_one, ++state.evictions);
    const double hours = (now_ - state.started) / 3600.0;
    out_.lost_pod_hours += hours * job.pods;
    out_.lost_gpu_hours += hours * job.all_gpus();
    StopRunning(job);
    state.ending = true;
    ++state.run;  // its end is no event any more
    events_.push({now_ + rules_.grace, What::kGone, id});
  }

  void GiveBack(int id) {
    const Job& job = JobOf(id);
    State& state = StateOf(id);
    if (state.ending || static_cast<int>(state.nodes.size()) == job.pods)
      return Wrong(id, "gives back what it does not hold in part");
    ++changes_;
    Free(job, state);
  }

 private:
  enum class What { kEnds, kGone, kComes };
  struct Event {
    Seconds at = 0;
    What what = What::kComes;
    int job = 0;
    int run = 0;
    friend bool operator>(const Event& a, const Event& b) {
      return std::tie(a.at, a.what, a.job, a.run) > std::tie(b.at, b.what, b.job, b.run);
    }
  };
  struct State {
    bool here = false, ending = false, done = false;
    std::vector<int> nodes;  // of the pods that have one
    Seconds started = 0;
    int run = 0, evictions = 0;
  };

  const Job& JobOf(int id) const { return workload_.jobs[static_cast<std::size_t>(id)]; }
  State& StateOf(int id) { return states_[static_cast<std::size_t>(id)]; }
  void Wrong(int id, std::string what) {
    out_.wrong.push_back(absl::StrCat("at ", now_, " job ", id, " of ", JobOf(id).pods, " pods: ", what));
  }

  void Pass(Seconds until) {
    const double shorter = ShortOfShare();
    for (; next_sample_ <= until; next_sample_ += 300) {
      int asked = 0;
      for (const int gpus : asked_of_) asked += gpus;
      out_.samples.push_back({next_sample_, running_, asked - running_, shorter});
    }
    const double span = until - now_;
    held_time_ += span * held_;
    out_.held_in_vain += span * (held_ - running_) / 3600;
    const double in_day = std::max(0, std::min(until, workload_.plan.length) - std::min(now_, workload_.plan.length));
    out_.short_of_share += in_day * shorter / workload_.plan.length;
    now_ = until;
  }

  double ShortOfShare() const {
    const double all = workload_.all_gpus();
    const std::vector<double> deserved =
        Deserved(all, workload_.queues, std::vector<double>(asked_of_.begin(), asked_of_.end()));
    double shorter = 0;
    for (std::size_t i = 0; i < deserved.size(); ++i) shorter += std::max(0.0, deserved[i] - running_of_[i]);
    return shorter / all;
  }

  void Happen(const Event& event) {
    const Job& job = JobOf(event.job);
    State& state = StateOf(event.job);
    switch (event.what) {
      case What::kComes:
        state.here = true;
        asked_of_[static_cast<std::size_t>(job.queue)] += job.all_gpus();
        scheduler_.Come(job, now_);
        break;
      case What::kEnds:
        if (event.run != state.run) break;
        StopRunning(job);
        Free(job, state);
        state.here = false;
        state.done = true;
        asked_of_[static_cast<std::size_t>(job.queue)] -= job.all_gpus();
        done_time_ += static_cast<double>(job.runs) * job.all_gpus();
        out_.ends = now_;
        out_.used_in_day +=
            static_cast<double>(job.all_gpus()) *
            std::max(0, std::min(now_, workload_.plan.length) - std::min(state.started, workload_.plan.length));
        out_.waits.push_back({job.id, now_ - job.comes - job.runs});
        scheduler_.Gone(job, now_);
        break;
      case What::kGone:
        Free(job, state);
        state.ending = false;
        scheduler_.Gone(job, now_);
        scheduler_.Come(job, now_);
        break;
    }
  }

  void StopRunning(const Job& job) {
    running_ -= job.all_gpus();
    running_of_[static_cast<std::size_t>(job.queue)] -= job.all_gpus();
  }
  void Free(const Job& job, State& state) {
    for (const int node : state.nodes) room_.Add(node, job.gpus);
    held_ -= job.gpus * static_cast<int>(state.nodes.size());
    state.nodes.clear();
  }

  void FindParts() {
    for (const int id : in_part_) {
      const std::size_t bound = StateOf(id).nodes.size();
      if (bound > 0 && static_cast<int>(bound) < JobOf(id).pods) Wrong(id, absl::StrCat("only ", bound, " have nodes"));
    }
    in_part_.clear();
  }

  void Finish() {
    for (const Job& job : workload_.jobs) {
      if (!StateOf(job.id).done) out_.stuck.push_back(job.id);
    }
    const double day = static_cast<double>(workload_.all_gpus()) * workload_.plan.length;
    out_.used_in_day /= day;
    for (const Sample& sample : out_.samples) out_.most_short = std::max(out_.most_short, sample.short_of_share);
    if (!out_.stuck.empty()) return;
    // What pods held is what their jobs did, what was lost, and what was held in vain.
    const double sum = done_time_ + (out_.lost_gpu_hours + out_.held_in_vain) * 3600;
    if (std::abs(sum - held_time_) > 1e-6 * held_time_ + 1)
      out_.wrong.push_back(absl::StrCat("GPU seconds held are ", held_time_, ", those accounted for ", sum));
    if (held_ != 0 || room_.all_free() != workload_.all_gpus()) out_.wrong.push_back("GPUs are held in the end");
  }

  const Workload& workload_;
  Scheduler& scheduler_;
  const Rules rules_;
  Room room_;
  std::vector<State> states_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  Seconds now_ = 0, next_sample_ = 0;
  std::uint64_t changes_ = 0;
  int held_ = 0, running_ = 0;              // GPUs
  std::vector<int> running_of_, asked_of_;  // by queue; asked: of jobs that are there
  std::vector<int> in_part_;
  double held_time_ = 0, done_time_ = 0;
  Outcome out_;
};

const Room& Hands::room() const { return cluster_.room(); }
void Hands::Bind(int job, int node) { cluster_.Bind(job, node); }
void Hands::Evict(int job) { cluster_.Evict(job); }
void Hands::GiveBack(int job) { cluster_.GiveBack(job); }

Outcome Live(const Workload& workload, Scheduler& scheduler, const Rules& rules) {
  return Cluster(workload, scheduler, rules).Live();
}

}  // namespace gangway::day
