#include "tests/day/gangway_day.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gangway::day {

using model::Decision;
using model::Decisions;
using model::GangId;
using model::GangPhase;
using model::TaskId;

namespace {

constexpr char kNamespace[] = "default", kUrgent[] = "urgent", kUsual[] = "usual";
constexpr std::int64_t kGi = std::int64_t{1} << 30;

absl::Time At(Seconds second) { return absl::FromUnixSeconds(1'790'000'000) + absl::Seconds(second); }

// Cpu and memory in proportion: only GPUs are scarce.
model::NamedAmounts WithGpus(std::int64_t gpus, std::int64_t pods) {
  return {{"nvidia.com/gpu", gpus}, {"cpu", 8000 * gpus}, {"memory", 64 * kGi * gpus}, {"pods", pods}};
}

std::string NameOf(const Job& job) { return absl::StrCat("job-", absl::Dec(job.id, absl::kZeroPad5)); }
std::string NameOf(const Job& job, int pod) { return absl::StrCat(NameOf(job), "-w-", pod); }

}  // namespace

GangwayDay::GangwayDay(const Workload& workload, GangwayOptions options)
    : workload_(workload),
      options_(std::move(options)),
      came_(workload.jobs.size(), absl::InfiniteFuture()),
      evicted_(workload.jobs.size()) {
  for (int node = 0; node < workload.plan.nodes; ++node) {
    nodes_.push_back(absl::StrCat("node-", absl::Dec(node, absl::kZeroPad5)));
    model::NodeFacts facts;
    facts.name = nodes_.back();
    facts.allocatable = WithGpus(workload.plan.gpus_per_node, 110);
    facts.labels = {{"kubernetes.io/hostname", facts.name}};
    cluster_.SetNode(facts);
    const auto row = static_cast<std::size_t>(cluster_.FindNode(facts.name));
    if (node_of_row_.size() <= row) node_of_row_.resize(row + 1, -1);
    node_of_row_[row] = node;
  }
  for (std::size_t i = 0; i < workload.queues.size(); ++i) {
    model::QueueFacts queue;
    queue.name = workload.queues[i].name;
    queue.weight = workload.queues[i].weight;
    queue.created = At(-1000) + absl::Seconds(i);
    queue.min_runtime = options_.min_runtime;
    cluster_.SetQueue(queue);
  }
  cluster_.SetPriorityClass({kUrgent, 1000});
  cluster_.SetPriorityClass({kUsual, 0});
}

model::GangFacts GangwayDay::GangOf(const Job& job, GangPhase phase) const {
  model::GangFacts gang;
  gang.ns = kNamespace;
  gang.name = NameOf(job);
  gang.uid = gang.name;
  gang.queue = workload_.queues[static_cast<std::size_t>(job.queue)].name;
  gang.priority_class = job.urgent ? kUrgent : kUsual;
  gang.min_member = job.pods;
  gang.has_min_resources = true;
  gang.min_resources = WithGpus(job.all_gpus(), job.pods);
  gang.created = came_[static_cast<std::size_t>(job.id)];
  gang.phase = phase;
  const Evicted& evicted = evicted_[static_cast<std::size_t>(job.id)];
  gang.evictions = evicted.times;
  gang.last_evicted = evicted.last;
  gang.evicted_for = evicted.for_whom;
  gang.was_whole = phase == GangPhase::kRunning;
  return gang;
}

model::PodFacts GangwayDay::PodOf(const Job& job, int pod) const {
  model::PodFacts facts;
  facts.ns = kNamespace;
  facts.name = NameOf(job, pod);
  facts.uid = facts.name;
  facts.gang = NameOf(job);
  facts.role = "w";
  facts.index = pod;
  facts.controlled = true;
  facts.priority = job.urgent ? 1000 : 0;
  facts.created = came_[static_cast<std::size_t>(job.id)];
  facts.wants.requests = WithGpus(job.gpus, 1);
  return facts;
}

const Job& GangwayDay::JobOf(GangId gang) const {
  return workload_.jobs[static_cast<std::size_t>(job_of_.at(cluster_.gang(gang).name))];
}

void GangwayDay::Come(const Job& job, Seconds now) {
  absl::Time& came = came_[static_cast<std::size_t>(job.id)];
  came = std::min(came, At(now));
  job_of_[NameOf(job)] = job.id;
  cluster_.SetGang(GangOf(job, GangPhase::kPending));
}

void GangwayDay::Gone(const Job& job, Seconds) {
  for (int pod = 0; pod < job.pods; ++pod) cluster_.RemovePod(kNamespace, NameOf(job, pod));
  cluster_.RemoveGang(kNamespace, NameOf(job));
}

Decisions GangwayDay::Ask(Seconds now) {
  gang::Policy policy = options_.policy;
  const bool may_evict = policy.preempt || policy.reclaim;
  policy.choose_victims = policy.choose_victims && At(now) >= evict_from_;
  if (may_evict && At(now) >= evict_from_) evict_from_ = At(now) + options_.evictions_apart;
  const absl::Duration begun = options_.clock ? options_.clock() : absl::ZeroDuration();
  rounds_.most_waiting = std::max(rounds_.most_waiting, cluster_.waiting().size());
  Decisions decisions = gang::Schedule(cluster_, policy, At(now), scratch_);
  ++rounds_.count;
  if (options_.clock) {
    const absl::Duration took = options_.clock() - begun;
    rounds_.all += took;
    rounds_.longest = std::max(rounds_.longest, took);
  }
  return decisions;
}

void GangwayDay::Decide(Seconds now, Hands& hands) {
  look_again_ = kNever;
  while (CarryOut(Ask(now), now, hands)) {
  }
}

bool GangwayDay::CarryOut(const Decisions& decisions, Seconds now, Hands& hands) {
  bool again = false;
  std::optional<model::Reservation> kept;
  for (const Decision& decision : decisions) {
    const Job& job = JobOf(decision.gang);
    if (decision.look_again != absl::InfiniteFuture()) {
      const double seconds = std::ceil(absl::ToDoubleSeconds(decision.look_again - At(0)));
      look_again_ = std::min(look_again_, std::max(static_cast<Seconds>(seconds), now + 1));
    }
    cluster_.Claim(decision.gang, decision.claim);
    cluster_.SetEntitled(decision.gang, decision.entitled_since);
    if (decision.passed_over_until != absl::InfinitePast())
      cluster_.PassOver(decision.gang, decision.passed_over_until);
    if (decision.kept.has_value()) kept = {decision.gang, cluster_.gang(decision.gang).uid, *decision.kept};
    if (decision.admit) {
      cluster_.SetAdmitted(decision.gang, true);
      cluster_.SetGang(GangOf(job, GangPhase::kInqueue));
      for (int pod = 0; pod < job.pods; ++pod) cluster_.SetPod(PodOf(job, pod));
      again = true;
    }
    if (!decision.placements.empty()) Start(job, decision, now, hands);
    if (decision.nominations.has_value()) {
      for (const TaskId task : cluster_.gang(decision.gang).tasks) cluster_.Nominate(task, model::kNone);
      for (const model::Placement& placement : *decision.nominations) cluster_.Nominate(placement.task, placement.row);
    }
    if (!decision.evicted.empty()) Evict(decision, now, hands);
  }
  cluster_.SetReservation(std::move(kept));
  return again;
}

void GangwayDay::Start(const Job& job, const Decision& decision, Seconds now, Hands& hands) {
  for (const model::Placement& placement : decision.placements) {
    const int node = node_of_row_[static_cast<std::size_t>(placement.row)];
    hands.Bind(job.id, node);
    model::PodFacts pod = PodOf(job, cluster_.task(placement.task).index);
    pod.node = NodeName(node);
    pod.phase = model::PodPhase::kRunning;
    pod.started = At(now);
    cluster_.SetPod(pod);
  }
  cluster_.SetGang(GangOf(job, GangPhase::kRunning));
}

// The minimum of each is all of its pods, so it goes whole.
void GangwayDay::Evict(const Decision& decision, Seconds now, Hands& hands) {
  std::set<int> jobs;
  for (const TaskId task : decision.evicted) jobs.insert(JobOf(cluster_.task(task).gang).id);
  for (const TaskId task : decision.evicted) cluster_.SetEvicted(task, true);
  (decision.evict_for == model::EvictFor::kPriority ? rounds_.evicted_for_priority : rounds_.evicted_for_share) +=
      static_cast<int>(jobs.size());
  for (const int id : jobs) {
    const Job& job = workload_.jobs[static_cast<std::size_t>(id)];
    hands.Evict(id);
    Evicted& evicted = evicted_[static_cast<std::size_t>(id)];
    ++evicted.times;
    evicted.last = At(now);
    evicted.for_whom = model::KeyOf(kNamespace, NameOf(JobOf(decision.gang)));
    for (int i = 0; i < job.pods; ++i) {
      const model::Task& task = cluster_.task(cluster_.FindTask(kNamespace, NameOf(job, i)));
      model::PodFacts pod = PodOf(job, i);
      pod.node = std::string(cluster_.node_name(task.row));
      pod.phase = model::PodPhase::kRunning;
      pod.started = task.started;
      pod.terminating = true;
      pod.grace_ends = At(now) + absl::Seconds(30);
      cluster_.SetPod(pod);
    }
  }
}

}  // namespace gangway::day
