#include "tests/day/peers.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace gangway::day {

namespace {

// Urgent ones first, then by when they came, or came again.
struct Turn {
  bool urgent = false;
  Seconds came = 0;
  int job = 0;
  friend bool operator<(const Turn& a, const Turn& b) {
    return std::tuple(!a.urgent, a.came, a.job) < std::tuple(!b.urgent, b.came, b.job);
  }
};
using Line = std::set<Turn>;

void BindBestFit(const Job& job, Hands& hands) {
  for (int pod = 0; pod < job.pods; ++pod) hands.Bind(job.id, hands.room().BestFit(job.gpus));
}

class InOrder : public Scheduler {
 public:
  InOrder(const Workload& workload, bool passing) : workload_(workload), passing_(passing) {}
  void Come(const Job& job, Seconds now) override { line_.insert({job.urgent, now, job.id}); }
  void Gone(const Job&, Seconds) override {}
  void Decide(Seconds, Hands& hands) override {
    for (auto it = line_.begin(); it != line_.end() && hands.room().all_free() > 0;) {
      const Job& job = workload_.jobs[static_cast<std::size_t>(it->job)];
      if (hands.room().Fits(job.pods, job.gpus)) {
        BindBestFit(job, hands);
        it = line_.erase(it);
      } else if (passing_) {
        ++it;
      } else {
        return;
      }
    }
  }

 private:
  const Workload& workload_;
  const bool passing_;
  Line line_;
};

class PodByPod : public Scheduler {
 public:
  PodByPod(const Workload& workload, std::optional<Seconds> gives_back)
      : workload_(workload), gives_back_(gives_back), bound_(workload.jobs.size(), 0) {}
  void Come(const Job& job, Seconds now) override { line_.insert({job.urgent, now, job.id}); }
  void Gone(const Job& job, Seconds) override { bound_[static_cast<std::size_t>(job.id)] = 0; }
  Seconds LookAgain() const override { return deadlines_.empty() ? kNever : deadlines_.begin()->first; }
  bool binds_in_part() const override { return true; }
  void Decide(Seconds now, Hands& hands) override {
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) GiveBack(now, hands);
    for (auto it = line_.begin(); it != line_.end() && hands.room().all_free() > 0;) {
      const Job& job = workload_.jobs[static_cast<std::size_t>(it->job)];
      int& bound = bound_[static_cast<std::size_t>(job.id)];
      const bool held = bound > 0;
      while (bound < job.pods && hands.room().BestFit(job.gpus) != -1) {
        hands.Bind(job.id, hands.room().BestFit(job.gpus));
        ++bound;
      }
      if (!held && bound > 0 && bound < job.pods && gives_back_.has_value())
        deadlines_.emplace(now + *gives_back_, *it);
      it = bound == job.pods ? line_.erase(it) : std::next(it);
    }
  }

 private:
  void GiveBack(Seconds now, Hands& hands) {
    const Turn turn = deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    if (line_.erase(turn) == 0) return;  // it runs, or ran
    hands.GiveBack(turn.job);
    bound_[static_cast<std::size_t>(turn.job)] = 0;
    line_.insert({turn.urgent, now, turn.job});
  }

  const Workload& workload_;
  const std::optional<Seconds> gives_back_;
  std::vector<int> bound_;
  Line line_;
  std::multimap<Seconds, Turn> deadlines_;
};

}  // namespace

std::unique_ptr<Scheduler> FirstComeFirstServed(const Workload& workload, bool passing) {
  return std::make_unique<InOrder>(workload, passing);
}

std::unique_ptr<Scheduler> TaskByTask(const Workload& workload, std::optional<Seconds> gives_back) {
  return std::make_unique<PodByPod>(workload, gives_back);
}

// ---- Volcano

namespace {

class Sessions : public Scheduler {
 public:
  Sessions(const Workload& workload, bool packs)
      : workload_(workload), packs_(packs), all_(workload.all_gpus()), queues_(workload.queues.size()) {}

  // Its PodGroup is made; its pods follow when that is Inqueue.
  void Come(const Job& job, Seconds now) override { QueueOfJob(job).pending.insert({job.urgent, now, job.id}); }
  void Gone(const Job& job, Seconds) override {
    QueueOfJob(job).allocated -= job.all_gpus();
    allocated_ -= job.all_gpus();
  }
  Seconds LookAgain() const override { return next_; }

  void Decide(Seconds now, Hands& hands) override {
    next_ = kNever;
    Open();
    // Pods of what is let in are there in the next session.
    const std::vector<std::pair<Queue*, Turn>> let_in = Enqueue();
    Allocate(hands);
    for (const auto& [queue, turn] : let_in) {
      queue->inqueue.insert(turn);
      queue->requested += JobOf(turn).all_gpus();
    }
    if (!let_in.empty()) next_ = now + 1;
  }

 private:
  struct Queue {
    Line pending, inqueue;  // PodGroups that wait to be let in; pods that wait
    double allocated = 0;   // GPUs
    double requested = 0;   // by pods that wait
    double reserved = 0;    // by PodGroups that were let in and do not run
    double deserved = 0;
    double Share() const { return allocated == 0 ? 0 : deserved == 0 ? 1 : allocated / deserved; }
    bool in_session() const { return !pending.empty() || !inqueue.empty() || allocated > 0; }
  };

  const Job& JobOf(const Turn& turn) const { return workload_.jobs[static_cast<std::size_t>(turn.job)]; }
  Queue& QueueOfJob(const Job& job) { return queues_[static_cast<std::size_t>(job.queue)]; }

  // What queues deserve in this session. volcano: plugins/proportion
  void Open() {
    double left = all_;
    std::vector<bool> met(queues_.size());
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      queues_[i].deserved = 0;
      met[i] = !queues_[i].in_session();
    }
    while (left > 1e-9) {
      double weights = 0;
      for (std::size_t i = 0; i < queues_.size(); ++i) weights += met[i] ? 0 : workload_.queues[i].weight;
      if (weights == 0) return;
      const double before = left, round = left;
      for (std::size_t i = 0; i < queues_.size(); ++i) {
        if (met[i]) continue;
        Queue& queue = queues_[i];
        const double old = queue.deserved, request = queue.allocated + queue.requested;
        queue.deserved = std::min(old + round * workload_.queues[i].weight / weights, request);
        met[i] = request <= queue.deserved || queue.deserved == old;
        left -= queue.deserved - old;
      }
      if (left == before) return;
    }
  }

  // Queues by share, then by age, which here is their place.
  std::vector<Queue*> InOrderOfShare() {
    std::vector<Queue*> order;
    for (Queue& queue : queues_) order.push_back(&queue);
    std::stable_sort(order.begin(), order.end(),
                     [](const Queue* a, const Queue* b) { return a->Share() < b->Share(); });
    return order;
  }

  std::vector<std::pair<Queue*, Turn>> Enqueue() {
    std::vector<std::pair<Queue*, Turn>> let_in;
    for (Queue* const queue : InOrderOfShare()) {
      for (auto it = queue->pending.begin(); it != queue->pending.end();) {
        const double asks = JobOf(*it).all_gpus();
        const bool overcommit = reserved_ + asks <= all_ * 1.2 - allocated_;
        const bool proportion = asks + queue->allocated + queue->reserved <= all_;
        if (!overcommit || !proportion) {
          ++it;
          continue;
        }
        reserved_ += asks;
        queue->reserved += asks;
        let_in.emplace_back(queue, *it);
        it = queue->pending.erase(it);
      }
    }
    return let_in;
  }

  void Allocate(Hands& hands) {
    struct Work {
      Queue* queue;
      std::vector<Turn> jobs;
      std::size_t next = 0;
    };
    std::vector<Work> works;
    for (Queue& queue : queues_) {
      if (!queue.inqueue.empty()) works.push_back({&queue, {queue.inqueue.begin(), queue.inqueue.end()}});
    }
    while (true) {
      Work* best = nullptr;
      for (Work& work : works) {
        if (work.next < work.jobs.size() && (best == nullptr || work.queue->Share() < best->queue->Share()))
          best = &work;
      }
      if (best == nullptr) return;
      Queue& queue = *best->queue;
      if (queue.deserved <= queue.allocated) {  // overused
        best->next = best->jobs.size();
        continue;
      }
      const Turn turn = best->jobs[best->next++];
      const Job& job = JobOf(turn);
      // A task that is not allocatable or finds no node is not placed, and then the gang is not: all of it is its
      // minimum. So nothing of it needs to be tried.
      if (queue.allocated + job.all_gpus() > queue.deserved + 1e-9 || !hands.room().Fits(job.pods, job.gpus)) continue;
      Place(job, hands);
      queue.inqueue.erase(turn);
      queue.requested -= job.all_gpus();
      queue.reserved -= job.all_gpus();
      reserved_ -= job.all_gpus();
      queue.allocated += job.all_gpus();
      allocated_ += job.all_gpus();
    }
  }

  void Place(const Job& job, Hands& hands) {
    for (int pod = 0; pod < job.pods; ++pod) {
      draw_ = draw_ * 1664525 + 1013904223;
      hands.Bind(job.id, packs_ ? hands.room().BestFit(job.gpus) : hands.room().AnyFit(job.gpus, draw_ >> 8));
    }
  }

  const Workload& workload_;
  const bool packs_;
  const double all_;
  std::vector<Queue> queues_;
  double allocated_ = 0, reserved_ = 0;
  unsigned draw_ = 1;
  Seconds next_ = kNever;
};

}  // namespace

std::unique_ptr<Scheduler> VolcanoSessions(const Workload& workload, bool packs) {
  return std::make_unique<Sessions>(workload, packs);
}

}  // namespace gangway::day
