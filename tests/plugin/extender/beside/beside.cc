#include "tests/plugin/extender/beside/beside.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/check.h"
#include "plugin/extender/http/answer.h"
#include "plugin/extender/session/session_plan.h"
#include "plugin/extender/session/session_planner.h"
#include "plugin/model/facts.h"

namespace gangway::beside {
namespace {

using extender::Mode;
using extender::SessionPlan;
using extender::Verb;

constexpr Seconds kPeriod = 1;
constexpr double kOvercommit = 1.2;
const absl::Duration kPlanEvery = absl::Milliseconds(100);  // as plugin/extender/watch

class Scheduler {
 public:
  Scheduler(const Workload& workload, const Options& options)
      : workload_(workload), options_(options), world_(workload), draw_(options.seed), order_(workload.jobs.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return JobOf(a).priority > JobOf(b).priority; });
  }

  Outcome Run() {
    while (now_ < options_.until && !AllSettled()) {
      End();
      Come();
      Open();
      Enqueue();
      Allocate();
      MakeRoom();
      NoteFragments();
      if (HasSessions()) Call(Verb::kOnSessionClose, "{}");
      now_ += kPeriod;
    }
    for (std::size_t i = 0; i < workload_.jobs.size(); ++i) {
      const std::string& name = workload_.jobs[i].name;
      if (out_.placed.contains(name)) continue;
      out_.never.push_back(name);
      if (world_.jobs[i].phase == Phase::kInqueue) out_.let_in_vain.push_back(name);
    }
    if (waiting_cycles_ > 0) out_.fragments /= waiting_cycles_;
    out_.undone = placements_ > undone_ ? undone_ / (placements_ - undone_) : 0;
    return std::move(out_);
  }

 private:
  JobState& StateOf(int job) { return world_.jobs[static_cast<std::size_t>(job)]; }
  const Job& JobOf(int job) const { return workload_.jobs[static_cast<std::size_t>(job)]; }
  int job_count() const { return static_cast<int>(workload_.jobs.size()); }
  bool HasSessions() const { return options_.mode.has_value() && *options_.mode != Mode::kLight; }

  // Nobody runs or comes any more, and in two cycles nothing has changed: who waits waits for ever.
  bool AllSettled() {
    const bool over = std::all_of(world_.jobs.begin(), world_.jobs.end(), [](const JobState& state) {
      return state.phase != Phase::kAbsent && state.phase != Phase::kRunning;
    });
    idle_cycles_ = over && !changed_in_cycle_ ? idle_cycles_ + 1 : 0;
    changed_in_cycle_ = false;
    return idle_cycles_ > 3;
  }
  void Changed() {
    stale_ = true;
    changed_in_cycle_ = true;
  }

  void End() {
    for (const int job : evicted_) BeginAnew(job);
    evicted_.clear();
    for (int job = 0; job < job_count(); ++job) {
      if (StateOf(job).phase != Phase::kRunning || StateOf(job).ends > now_) continue;
      for (int pod = 0; pod < JobOf(job).pods; ++pod) world_.GiveBack(job, pod);
      StateOf(job).phase = Phase::kDone;
      Changed();
    }
  }
  // Its controller makes it anew when a pod of it is evicted.
  void BeginAnew(int job) {
    JobState& state = StateOf(job);
    for (int pod = 0; pod < JobOf(job).pods; ++pod) world_.GiveBack(job, pod);
    state.bound.assign(state.bound.size(), false);
    state.phase = Phase::kPending;
    state.has_pods = false;
    for (Stay& stay : out_.stays) {
      if (stay.job == job && stay.to > now_) stay.to = now_, stay.evicted = true;
    }
    ++out_.begun_anew;
    out_.lost += (now_ - state.starts) * JobOf(job).pods;
    out_.placed.erase(JobOf(job).name);
    Changed();
  }
  // Jobs that came since, and the pods of those that were let in.
  void Come() {
    for (int job = 0; job < job_count(); ++job) {
      JobState& state = StateOf(job);
      if (state.phase == Phase::kAbsent && JobOf(job).comes <= now_) {
        state.phase = Phase::kPending;
        Changed();
      } else if (state.phase == Phase::kInqueue && !state.has_pods) {
        state.has_pods = true;
        Changed();
      }
    }
  }

  // ---- what is asked

  std::vector<model::HyperNodeFacts> Racks() const {
    std::vector<model::HyperNodeFacts> racks;
    for (int rack = 0; rack < workload_.racks; ++rack) {
      model::HyperNodeFacts facts{absl::StrCat("rack-", rack), 1, "", {}, {}};
      for (int node = 0; node < workload_.nodes(); ++node) {
        if (world_.Rack(node) == rack)
          facts.members.push_back({true, model::HyperNodeFacts::By::kName, NodeName(node), {}});
      }
      racks.push_back(std::move(facts));
    }
    return racks;
  }
  void Plan(const std::string& session) {
    extender::SessionPlanOptions options;
    options.sums = false;                                   // as `gangway extender` has it
    if (*options_.mode == Mode::kLight) planner_.Forget();  // plugin/extender/watch plans whenever anything changed
    const auto planned = planner_.Plan(session, {}, racks_, options, Now());
    GW_CHECK(planned.ok());
    plan_ = planned->plan;
    out_.plans += planned->kept ? 0 : 1;
  }
  absl::Time Now() const { return absl::FromUnixSeconds(1'790'000'000) + absl::Seconds(now_); }
  void Open() {
    if (!HasSessions()) return;
    const std::string session = SessionJson(world_);
    Count(Verb::kOnSessionOpen, session.size());
    now_ += static_cast<double>(session.size()) * options_.cost.plan_per_byte;
    Plan(session);
  }
  // By our own watch: planned when something changed since, or time is up.
  void Look() {
    if (*options_.mode != Mode::kLight) return;
    const absl::Time now = Now();
    if (!stale_ && plan_ != nullptr && now < plan_->look_again()) return;
    if (plan_ != nullptr && now < plan_->made() + kPlanEvery) return;
    stale_ = false;
    Plan(SessionJson(world_));
  }
  void Count(Verb verb, std::size_t bytes) {
    ++out_.calls[std::string(extender::VerbName(verb))];
    out_.bytes += bytes;
    const int workers = verb == Verb::kPredicate ? options_.cost.workers : 1;
    now_ += (options_.cost.each + options_.cost.per_byte * static_cast<double>(bytes)) / workers;
  }
  std::string Call(Verb verb, const std::string& body) {
    Count(verb, body.size());
    Look();
    const auto answer = extender::AnswerVerb(verb, body, plan_.get());
    GW_CHECK(answer.ok());
    return answer->body;
  }
  bool Asks(Verb verb) const {
    if (!options_.mode.has_value()) return false;
    // As docs/extender.md configures the modes.
    if (verb == Verb::kPreemptable || verb == Verb::kReclaimable || verb == Verb::kQueueOverused)
      return *options_.mode == Mode::kFull;
    return verb == Verb::kJobEnqueueable || (verb == Verb::kJobReady) == (*options_.mode == Mode::kLight);
  }

  // ---- enqueue

  void Enqueue() {
    std::int64_t promised = 0;
    for (int job = 0; job < job_count(); ++job) {
      if (StateOf(job).phase == Phase::kInqueue) promised += JobOf(job).milli * JobOf(job).pods;
    }
    const std::int64_t used =
        workload_.all_milli() - std::accumulate(world_.idle.begin(), world_.idle.end(), std::int64_t{0});
    for (const int job : order_) {
      JobState& state = StateOf(job);
      const std::int64_t asks = JobOf(job).milli * JobOf(job).pods;
      if (state.phase != Phase::kPending) continue;
      // In mode light ours is asked first, in an earlier tier; else overcommit's.
      const bool fits =
          static_cast<double>(promised + asks + used) <= kOvercommit * static_cast<double>(workload_.all_milli());
      if (!fits && HasSessions()) continue;
      if (Asks(Verb::kJobEnqueueable) &&
          Call(Verb::kJobEnqueueable, absl::StrCat("{\"job\":", JobJson(world_, job), "}")) == R"({"status":-1})")
        continue;
      if (!fits) continue;
      state.phase = Phase::kInqueue;
      promised += asks;
      Changed();
    }
  }

  // ---- allocate

  void Allocate() {
    std::vector<std::pair<int, int>> held;  // of statements that are neither committed nor discarded
    std::set<std::string> overused;
    for (const int job : order_) {
      const std::string& queue = JobOf(job).queue;
      if (StateOf(job).phase != Phase::kInqueue || !StateOf(job).has_pods || overused.contains(queue)) continue;
      if (IsOverused(queue)) {
        overused.insert(queue);
        continue;
      }
      AllocateJob(job, held);
    }
    for (const auto& [job, pod] : held) TakeBack(job, pod);  // the next session begins without them
  }

  bool IsOverused(const std::string& queue) {
    return Asks(Verb::kQueueOverused) && Call(Verb::kQueueOverused, absl::StrCat("{\"queue\":", QueueJson(queue, false),
                                                                                 "}")) == R"({"overused":true})";
  }

  void AllocateJob(int job, std::vector<std::pair<int, int>>& held) {
    int placed = 0;
    for (; placed < JobOf(job).pods; ++placed) {
      const int node = Pick(job, placed);
      if (node < 0) break;  // all are the minimum: nobody goes on
      world_.Take(job, placed, node);
      ++placements_;
    }
    if (placed < JobOf(job).pods) {
      while (placed > 0) TakeBack(job, --placed);
      return;
    }
    // Once by the last pod, once after the loop, once before the commit.
    bool ready = true;
    for (int i = 0; i < 3 && ready && Asks(Verb::kJobReady); ++i)
      ready = Call(Verb::kJobReady, absl::StrCat("{\"job\":", JobJson(world_, job), "}")) == R"({"status":true})";
    if (ready) return Bind(job);
    for (int pod = 0; pod < JobOf(job).pods; ++pod) held.emplace_back(job, pod);
  }
  void TakeBack(int job, int pod) {
    world_.GiveBack(job, pod);
    ++undone_;
  }

  void Bind(int job) {
    JobState& state = StateOf(job);
    state.bound.assign(state.bound.size(), true);
    state.phase = Phase::kRunning;
    state.starts = now_;
    state.ends = now_ + JobOf(job).runs;
    std::set<int> racks;
    for (const int node : state.node_of) {
      if (node < 0) out_.broken.push_back(JobOf(job).name);
      racks.insert(world_.Rack(node));
      out_.stays.push_back({job, node, state.starts, state.ends, false});
    }
    for (const std::int64_t idle : world_.idle) {
      if (idle < 0) out_.broken.push_back(absl::StrCat("a node holds too much: ", JobOf(job).name));
    }
    out_.placed[JobOf(job).name] = {now_ - JobOf(job).comes, static_cast<int>(racks.size())};
    out_.makespan = std::max(out_.makespan, state.ends);
    Changed();
  }

  // ---- preempt and reclaim

  struct Victim {
    int job = 0, pod = 0;
  };

  void MakeRoom() {
    future_ = world_.idle;
    if (options_.preempts) MakeRoom(Verb::kPreemptable);
    if (options_.reclaims) MakeRoom(Verb::kReclaimable);
    gone_.clear();
    pipelined_.clear();
  }

  // Of the gangs that have no room, the first first; each gets room for all of its pods or for none.
  void MakeRoom(Verb verb) {
    for (const int job : order_) {
      if (StateOf(job).phase != Phase::kInqueue || !StateOf(job).has_pods || pipelined_.contains(job)) continue;
      if (verb == Verb::kReclaimable && (!IsDue(job) || IsOverused(JobOf(job).queue))) continue;
      const std::vector<std::int64_t> before = future_;
      std::vector<Victim> victims;
      bool all = true;
      for (int pod = 0; pod < JobOf(job).pods && all; ++pod) all = MakeRoomFor(verb, job, pod, victims);
      if (!all) {
        future_ = before;
        continue;
      }
      for (const Victim& victim : victims) {
        evicted_.insert(victim.job);
        gone_.insert({victim.job, victim.pod});
        ++out_.evicted;
      }
      pipelined_.insert(job);
      if (!victims.empty()) Changed();
    }
  }

  // Whether its queue has less cpu than it deserves, with this job, too.
  bool IsDue(int job) {
    std::map<std::string, std::int64_t> asks, held;
    for (int other = 0; other < job_count(); ++other) {
      const Phase phase = StateOf(other).phase;
      const std::int64_t all = JobOf(other).milli * JobOf(other).pods;
      if (phase != Phase::kAbsent && phase != Phase::kDone) asks[JobOf(other).queue] += all;
      if (phase == Phase::kRunning) held[JobOf(other).queue] += all;
    }
    const std::string& queue = JobOf(job).queue;
    std::int64_t left = workload_.all_milli(), deserved = 0;
    // Who asks for less than an equal part of what is left has what it asks for.
    for (bool more = true; more && asks.contains(queue);) {
      deserved = left / static_cast<std::int64_t>(asks.size());
      const auto small =
          std::find_if(asks.begin(), asks.end(), [&](const auto& one) { return one.second <= deserved; });
      more = small != asks.end();
      if (!more) break;
      left -= small->second;
      if (small->first == queue) deserved = small->second;
      asks.erase(small);
    }
    return held[queue] + JobOf(job).milli * JobOf(job).pods <= deserved;
  }

  bool MakeRoomFor(Verb verb, int job, int pod, std::vector<Victim>& victims) {
    std::vector<int> nodes(static_cast<std::size_t>(workload_.nodes()));
    std::iota(nodes.begin(), nodes.end(), 0);
    if (verb == Verb::kPreemptable) {  // reclaim scores nothing
      const std::string planned = Prioritized(job, pod, nodes);
      std::stable_sort(nodes.begin(), nodes.end(), [&](int a, int b) { return Score(planned, a) > Score(planned, b); });
    }
    return std::any_of(nodes.begin(), nodes.end(), [&](int node) { return MakeRoomOn(verb, node, job, pod, victims); });
  }

  bool MakeRoomOn(Verb verb, int node, int job, int pod, std::vector<Victim>& victims) {
    const auto at = static_cast<std::size_t>(node);
    const std::vector<Victim> candidates = Candidates(verb, node, job, victims);
    if (candidates.empty() && verb == Verb::kReclaimable) return false;
    const std::vector<Victim> offered = Agreed(verb, job, pod, candidates);
    std::int64_t most = future_[at];
    for (const Victim& one : offered) most += JobOf(one.job).milli;
    if (most < JobOf(job).milli) return false;
    std::vector<Victim> taken;
    std::int64_t room = future_[at];
    const bool looks = verb == Verb::kPreemptable;  // at the node anew after each
    for (std::size_t next = 0; room < JobOf(job).milli || (looks && !Fits(node, job, pod)); ++next) {
      if (next == offered.size()) return false;
      taken.push_back(offered[next]);
      room += JobOf(offered[next].job).milli;
    }
    future_[at] = room - JobOf(job).milli;
    victims.insert(victims.end(), taken.begin(), taken.end());
    return true;
  }

  // Those that run there and come after it, or are of other queues, the last first.
  std::vector<Victim> Candidates(Verb verb, int node, int job, const std::vector<Victim>& taken) {
    std::vector<Victim> offered;
    const auto goes = [&](int other, int its_pod) {
      return gone_.contains({other, its_pod}) || std::any_of(taken.begin(), taken.end(), [&](const Victim& one) {
               return one.job == other && one.pod == its_pod;
             });
    };
    for (auto other = order_.rbegin(); other != order_.rend(); ++other) {
      const JobState& state = StateOf(*other);
      const bool same_queue = JobOf(*other).queue == JobOf(job).queue;
      if (state.phase != Phase::kRunning || same_queue != (verb == Verb::kPreemptable)) continue;
      if (same_queue && JobOf(*other).priority >= JobOf(job).priority) continue;
      for (int its_pod = 0; its_pod < JobOf(*other).pods; ++its_pod) {
        if (state.node_of[static_cast<std::size_t>(its_pod)] == node && !goes(*other, its_pod))
          offered.push_back({*other, its_pod});
      }
    }
    return offered;
  }
  // Of those the ones that all plugins agree on.
  std::vector<Victim> Agreed(Verb verb, int job, int pod, std::vector<Victim> offered) {
    if (offered.empty() || !Asks(verb)) return offered;
    std::string evictees;
    for (const Victim& one : offered)
      absl::StrAppend(&evictees, evictees.empty() ? "" : ",", TaskJson(world_, one.job, one.pod));
    const std::string answer =
        Call(verb, absl::StrCat("{\"evictor\":", TaskJson(world_, job, pod), ",\"evictees\":[", evictees, "]}"));
    if (answer == R"({"status":0,"victims":[]})") return offered;  // left to the others
    std::erase_if(offered, [&](const Victim& one) {
      return answer.find(absl::StrCat("\"UID\":\"", PodUid(workload_, one.job, one.pod), "\"")) == std::string::npos;
    });
    return offered;
  }

  bool Fits(int node, int job, int pod) {
    return !Asks(Verb::kPredicate) || Call(Verb::kPredicate, absl::StrCat("{\"task\":", TaskJson(world_, job, pod),
                                                                          ",\"node\":", NodeJson(world_, node), "}")) ==
                                          R"({"status":"","code":0})";
  }
  std::string Prioritized(int job, int pod, const std::vector<int>& among) {
    if (among.size() < 2 || !Asks(Verb::kPrioritize)) return "";
    std::string nodes;
    for (const int node : among) absl::StrAppend(&nodes, nodes.empty() ? "" : ",", NodeJson(world_, node));
    return Call(Verb::kPrioritize, absl::StrCat("{\"task\":", TaskJson(world_, job, pod), ",\"nodes\":[", nodes, "]}"));
  }
  // Ours, and binpack's.
  double Score(const std::string& planned, int node) const {
    const bool ours = planned.find(absl::StrCat("\"", NodeName(node), "\"")) != std::string::npos;
    return (ours ? static_cast<double>(extender::kPlannedScore) : 0.0) -
           static_cast<double>(world_.idle[static_cast<std::size_t>(node)]);
  }

  int Pick(int job, int pod) {
    std::vector<int> feasible;
    for (int node = 0; node < workload_.nodes(); ++node) {
      if (world_.idle[static_cast<std::size_t>(node)] >= JobOf(job).milli && Fits(node, job, pod))
        feasible.push_back(node);
    }
    const std::string planned = Prioritized(job, pod, feasible);
    std::shuffle(feasible.begin(), feasible.end(), draw_);  // of equals any
    const auto best = std::max_element(feasible.begin(), feasible.end(),
                                       [&](int a, int b) { return Score(planned, a) < Score(planned, b); });
    return best == feasible.end() ? -1 : *best;
  }

  void NoteFragments() {
    const bool waits = std::any_of(world_.jobs.begin(), world_.jobs.end(), [](const JobState& state) {
      return state.phase == Phase::kPending || state.phase == Phase::kInqueue;
    });
    if (!waits) return;
    std::int64_t lost = 0;
    for (const std::int64_t idle : world_.idle) lost += idle < workload_.node_milli ? idle : 0;
    out_.fragments += static_cast<double>(lost) / static_cast<double>(workload_.all_milli());
    ++waiting_cycles_;
  }

  const Workload& workload_;
  const Options options_;
  World world_;
  std::mt19937 draw_;
  std::vector<int> order_;              // of jobs: who goes before others, then who came first
  std::vector<std::int64_t> future_;    // of nodes, once those that go are gone
  std::set<int> evicted_;               // jobs that begin anew
  std::set<std::pair<int, int>> gone_;  // pods that go for one who was served before
  std::set<int> pipelined_;             // jobs that have room once others are gone
  Seconds now_ = 0;
  bool stale_ = true, changed_in_cycle_ = false;
  int idle_cycles_ = 0, waiting_cycles_ = 0;
  double placements_ = 0, undone_ = 0;
  const std::vector<model::HyperNodeFacts> racks_ = Racks();
  extender::SessionPlanner planner_;
  std::shared_ptr<const SessionPlan> plan_;
  Outcome out_;
};

}  // namespace

std::size_t Outcome::all_calls() const {
  return std::accumulate(calls.begin(), calls.end(), std::size_t{0},
                         [](std::size_t sum, const auto& one) { return sum + one.second; });
}

Outcome Run(const Workload& workload, const Options& options) { return Scheduler(workload, options).Run(); }

Workload Draw(unsigned seed, int jobs, int close, int urgent) {
  std::mt19937 draw(seed);
  Workload out;
  Seconds comes = 0;
  for (int i = 0; i < jobs; ++i) {
    Job job;
    job.name = absl::StrCat("j", absl::Dec(i, absl::kZeroPad3));
    const int size = static_cast<int>(draw() % 8);  // half are one or two pods
    job.pods = size < 4 ? 1 + size % 2 : size < 7 ? 4 : 12;
    job.milli = std::int64_t{1000} * (std::int64_t{3} + static_cast<std::int64_t>(draw() % 7));
    comes += static_cast<double>(draw() % 9);
    job.comes = comes;
    job.runs = 20 + static_cast<double>(draw() % 100);
    job.close = job.pods == 4 && static_cast<int>(draw() % 4) < close;
    job.priority = urgent > 0 && i % urgent == urgent - 1 ? 100 : 0;
    out.jobs.push_back(std::move(job));
  }
  return out;
}

}  // namespace gangway::beside
