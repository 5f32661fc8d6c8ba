#include "tests/plugin/extender/beside/beside.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/check.h"
#include "plugin/extender/http/answer.h"
#include "plugin/extender/session/decode_session.h"
#include "plugin/extender/session/session_plan.h"
#include "plugin/model/cluster.h"

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
      : workload_(workload), options_(options), world_(workload), draw_(options.seed) {}

  Outcome Run() {
    while (now_ < options_.until && !AllSettled()) {
      End();
      Come();
      Open();
      Enqueue();
      Allocate();
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
    for (int job = 0; job < job_count(); ++job) {
      if (StateOf(job).phase != Phase::kRunning || StateOf(job).ends > now_) continue;
      for (int pod = 0; pod < JobOf(job).pods; ++pod) world_.GiveBack(job, pod);
      StateOf(job).phase = Phase::kDone;
      Changed();
    }
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

  void Plan(const std::string& session) {
    model::Cluster cluster;
    GW_CHECK(extender::DecodeSession(session, {}, cluster).ok());
    for (int rack = 0; rack < workload_.racks; ++rack) {
      model::HyperNodeFacts facts{absl::StrCat("rack-", rack), 1, "", {}, {}};
      for (int node = 0; node < workload_.nodes(); ++node) {
        if (world_.Rack(node) == rack)
          facts.members.push_back({true, model::HyperNodeFacts::By::kName, NodeName(node), {}});
      }
      cluster.SetHyperNode(facts);
    }
    gang::Scratch scratch;
    extender::SessionPlanOptions plan;
    plan.sums = false;  // as `gangway extender` has it
    plan_ = SessionPlan::Make(cluster, plan, absl::FromUnixSeconds(1'790'000'000) + absl::Seconds(now_), scratch,
                              plan_.get());
    ++out_.plans;
  }
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
    const absl::Time now = absl::FromUnixSeconds(1'790'000'000) + absl::Seconds(now_);
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
    for (int job = 0; job < job_count(); ++job) {
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
    for (int job = 0; job < job_count(); ++job) {
      if (StateOf(job).phase == Phase::kInqueue && StateOf(job).has_pods) AllocateJob(job, held);
    }
    for (const auto& [job, pod] : held) TakeBack(job, pod);  // the next session begins without them
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
    state.ends = now_ + JobOf(job).runs;
    std::set<int> racks;
    for (const int node : state.node_of) {
      if (node < 0) out_.broken.push_back(JobOf(job).name);
      racks.insert(world_.Rack(node));
    }
    for (const std::int64_t idle : world_.idle) {
      if (idle < 0) out_.broken.push_back(absl::StrCat("a node holds too much: ", JobOf(job).name));
    }
    out_.placed[JobOf(job).name] = {now_ - JobOf(job).comes, static_cast<int>(racks.size())};
    out_.makespan = std::max(out_.makespan, state.ends);
    Changed();
  }

  int Pick(int job, int pod) {
    std::vector<int> feasible;
    std::string task, nodes;
    if (options_.mode.has_value()) task = TaskJson(world_, job, pod);
    for (int node = 0; node < workload_.nodes(); ++node) {
      if (world_.idle[static_cast<std::size_t>(node)] < JobOf(job).milli) continue;
      if (Asks(Verb::kPredicate) &&
          Call(Verb::kPredicate, absl::StrCat("{\"task\":", task, ",\"node\":", NodeJson(world_, node), "}")) !=
              R"({"status":"","code":0})")
        continue;
      feasible.push_back(node);
    }
    std::string planned;
    if (feasible.size() > 1 && Asks(Verb::kPrioritize)) {
      for (const int node : feasible) absl::StrAppend(&nodes, nodes.empty() ? "" : ",", NodeJson(world_, node));
      planned = Call(Verb::kPrioritize, absl::StrCat("{\"task\":", task, ",\"nodes\":[", nodes, "]}"));
    }
    std::shuffle(feasible.begin(), feasible.end(), draw_);  // of equals any
    const auto score = [&](int node) {
      const bool ours = planned.find(absl::StrCat("\"", NodeName(node), "\"")) != std::string::npos;
      return (ours ? extender::kPlannedScore : 0.0) - static_cast<double>(world_.idle[static_cast<std::size_t>(node)]);
    };
    const auto best =
        std::max_element(feasible.begin(), feasible.end(), [&](int a, int b) { return score(a) < score(b); });
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
  Seconds now_ = 0;
  bool stale_ = true, changed_in_cycle_ = false;
  int idle_cycles_ = 0, waiting_cycles_ = 0;
  double placements_ = 0, undone_ = 0;
  std::shared_ptr<const SessionPlan> plan_;
  Outcome out_;
};

Seconds Median(std::vector<Seconds> all) {
  if (all.empty()) return 0;
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

}  // namespace

std::size_t Outcome::all_calls() const {
  return std::accumulate(calls.begin(), calls.end(), std::size_t{0},
                         [](std::size_t sum, const auto& one) { return sum + one.second; });
}

Outcome Run(const Workload& workload, const Options& options) { return Scheduler(workload, options).Run(); }

Workload Draw(unsigned seed, int jobs, int close) {
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
    out.jobs.push_back(std::move(job));
  }
  return out;
}

std::string TableOf(const Workload& workload, const std::vector<Told>& told) {
  std::string out =
      "| | placed | let in for nothing | makespan | median wait | longest wait of 12 pods | free cpu in fragments | "
      "taken "
      "back, for each placement | in one rack, of those that must | calls a gang | MB | planned, a gang |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Told& one : told) {
    const Outcome& o = one.outcome;
    std::vector<Seconds> waits;
    Seconds large = 0;
    int close = 0, in_one = 0;
    for (const Job& job : workload.jobs) {
      const auto placed = o.placed.find(job.name);
      if (placed == o.placed.end()) continue;
      waits.push_back(placed->second.waited);
      if (job.pods >= 12) large = std::max(large, placed->second.waited);
      close += job.close ? 1 : 0;
      in_one += job.close && placed->second.racks == 1 ? 1 : 0;
    }
    const double gangs = static_cast<double>(std::max<std::size_t>(o.placed.size(), 1));
    absl::StrAppend(
        &out,
        absl::StrFormat(
            "| %s | %d of %d | %d | %.0f s | %.0f s | %.0f s | %.0f %% | %.2f | %d of %d | %.1f | %.1f | %.1f |\n",
            one.name, o.placed.size(), workload.jobs.size(), o.let_in_vain.size(), o.makespan, Median(waits), large,
            100 * o.fragments, o.undone, in_one, close, static_cast<double>(o.all_calls()) / gangs,
            static_cast<double>(o.bytes) / 1e6, static_cast<double>(o.plans) / gangs));
  }
  return out;
}

}  // namespace gangway::beside
