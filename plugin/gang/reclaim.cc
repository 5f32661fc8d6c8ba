#include "plugin/gang/reclaim.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "plugin/gang/lost_member.h"

namespace gangway::gang {

using model::Dim;
using model::Gang;
using model::GangId;
using model::QueueId;
using model::Resources;
using model::TaskId;

namespace {

// As a part of the cluster: less is rounding.
constexpr double kLeastGain = 1e-9;

// Is lost at once.
constexpr absl::Duration kLittleWork = absl::Minutes(5);

constexpr absl::Duration kLongestRest = absl::Hours(8);

bool Outweighs(double gain, double loss) { return loss < gain - kLeastGain; }

}  // namespace

int EvictionsOfLate(const Gang& gang, absl::Time now) {
  constexpr absl::Duration kOfLate = absl::Hours(24);
  return gang.evictions > 0 && now < gang.last_evicted + kOfLate ? gang.evictions : 0;
}

const Shares& Reclaim::shares() {
  if (shares_ == nullptr) shares_ = std::make_unique<Shares>(cluster_, overlay_.tree(), policy_.sharing);
  return *shares_;
}

// ---- a queue beside another

// As the children of the queue that is above both. Who is above the other is so with its own gangs.
std::pair<Reclaim::Branch, Reclaim::Branch> Reclaim::BranchesOf(QueueId a, QueueId b) const {
  const std::vector<QueueId>& x = overlay_.tree().path(a);
  const std::vector<QueueId>& y = overlay_.tree().path(b);
  std::size_t same = 0;
  while (same < x.size() && same < y.size() && x[x.size() - 1 - same] == y[y.size() - 1 - same]) ++same;
  const auto branch = [same](const std::vector<QueueId>& path) {
    return same == path.size() ? Branch{path.front(), true} : Branch{path[path.size() - 1 - same], false};
  };
  return {branch(x), branch(y)};
}

const Reclaim::Terminating& Reclaim::TerminatingOf(const Branch& of) {
  static const Terminating& none = *new Terminating();
  if (!terminating_.has_value()) {
    terminating_.emplace();
    for (const TaskId id : cluster_.terminating()) {
      const model::Task& task = cluster_.task(id);
      const QueueId queue = task.gang == model::kNone ? model::kNone : cluster_.gang(task.gang).queue;
      if (queue == model::kNone) continue;
      const bool is_stuck = IsStuck(cluster_, policy_, task, now_);
      if (!is_stuck && !IsInGrace(cluster_, overlay_.tree(), policy_, cluster_.gang(task.gang), now_)) continue;
      const auto count = [&](const Branch& branch) {
        Terminating& sum = (*terminating_)[branch];
        (is_stuck ? sum.stuck : sum.kept_for_successors).Add(cluster_.shape(task.shape).request);
      };
      count({queue, true});
      for (const QueueId level : overlay_.tree().path(queue)) count({level, false});
    }
  }
  const auto found = terminating_->find(of);
  return found == terminating_->end() ? none : found->second;
}

std::int64_t Reclaim::HeldBy(const Branch& branch, Dim dim) {
  const std::int64_t held = branch.own
                                ? cluster_.queue(branch.queue).held[dim] + overlay_.taken_from(branch.queue)[dim]
                                : overlay_.tree().held(branch.queue)[dim] + overlay_.taken_below(branch.queue)[dim];
  return held - TerminatingOf(branch).stuck[dim];
}

std::int64_t Reclaim::DeservedBy(const Branch& branch, Dim dim) {
  return branch.own ? shares().OwnDeserved(branch.queue, dim) : shares().Deserved(branch.queue, dim);
}

bool Reclaim::Lacks(const Branch& branch) {
  for (Dim dim = 0; dim < cluster_.dims().count(); ++dim) {
    if (dim != model::kPods && HeldBy(branch, dim) < DeservedBy(branch, dim)) return true;
  }
  return false;
}

bool Reclaim::LacksSomething(QueueId queue) {
  const std::vector<QueueId>& path = overlay_.tree().path(queue);
  return Lacks({queue, true}) ||
         std::any_of(path.begin(), path.end(), [&](QueueId level) { return Lacks({level, false}); });
}

// With what is wanted it stays within what it deserves of something that is wanted. volcano: plugins/capacity,
// PreemptiveFn
bool Reclaim::IsEntitled(const Resources& wanted, const Branch& branch) {
  for (Dim dim = 0; dim < wanted.size(); ++dim) {
    if (wanted[dim] > 0 && dim != model::kPods && HeldBy(branch, dim) + wanted[dim] <= DeservedBy(branch, dim))
      return true;
  }
  return false;
}

int Reclaim::EntitledLevels(QueueId queue, const Resources& wanted) {
  const std::vector<QueueId>& path = overlay_.tree().path(queue);
  return (IsEntitled(wanted, {queue, true}) ? 1 : 0) +
         static_cast<int>(std::count_if(path.begin(), path.end(),
                                        [&](QueueId level) { return IsEntitled(wanted, {level, false}); }));
}

double Reclaim::MostGain(const Resources& wanted) const {
  double sum = 0;
  for (Dim dim = 0; dim < wanted.size(); ++dim) {
    const std::int64_t total = cluster_.total()[dim];
    if (dim != model::kPods && total > 0) sum += static_cast<double>(wanted[dim]) / static_cast<double>(total);
  }
  return sum;
}

bool Reclaim::IsOver(const Branch& branch, const Resources& wanted) {
  for (Dim dim = 0; dim < wanted.size(); ++dim) {
    if (wanted[dim] > 0 && dim != model::kPods && HeldBy(branch, dim) > DeservedBy(branch, dim)) return true;
  }
  return false;
}

bool Reclaim::IsReclaimable(QueueId queue, const Branch& branch) const {
  for (const QueueId level : overlay_.tree().path(queue)) {
    if (!cluster_.queue(level).reclaimable) return false;
    if (level == branch.queue) break;
  }
  return true;
}

// By how much of the cluster it lacks more of what it deserves when it holds so much more or, with -1, less: summed
// over all that is shared.
double Reclaim::ShortageBy(const Branch& branch, const Resources& amounts, int times) {
  double sum = 0;
  for (Dim dim = 0; dim < amounts.size(); ++dim) {
    const std::int64_t total = cluster_.total()[dim];
    if (amounts[dim] == 0 || dim == model::kPods || total <= 0) continue;
    const std::int64_t held = HeldBy(branch, dim), deserved = DeservedBy(branch, dim);
    const auto lack = [&](std::int64_t holds) { return std::max<std::int64_t>(deserved - holds, 0); };
    sum += static_cast<double>(lack(held + times * amounts[dim]) - lack(held)) / static_cast<double>(total);
  }
  return sum;
}

// Whether queues beside this one ask for more than they hold.
bool Reclaim::OthersAsk(QueueId queue, Dim dim) {
  const auto asks = [&](QueueId id) { return shares().Asked(id, dim) - shares().Held(id, dim); };
  const QueueId parent = overlay_.tree().parent(queue);
  if (parent != model::kNone) return asks(parent) > asks(queue);
  const std::vector<QueueId>& all = overlay_.tree().deepest_first();
  return std::any_of(all.begin(), all.end(), [&](QueueId other) {
    return other != queue && overlay_.tree().parent(other) == model::kNone && asks(other) > 0;
  });
}

// Whether a queue above both would lack more of what it deserves than it did, when so much more goes: where others ask
// for it they would use what is left over, and it would take that back.
bool Reclaim::QueuesAboveLose(const Preemptor& preemptor, const Branch& theirs, const Resources& more,
                              const std::vector<Bundle>& chosen) {
  std::vector<QueueId> above = overlay_.tree().path(theirs.queue);
  if (!theirs.own) above.erase(above.begin());
  return std::any_of(above.begin(), above.end(), [&](QueueId level) {
    if (overlay_.tree().IsAboveAll(level)) return false;
    Resources less = more;
    for (const Bundle& bundle : chosen) {
      const std::vector<QueueId>& path = overlay_.tree().path(cluster_.gang(bundle.gang).queue);
      if (std::find(path.begin(), path.end(), level) != path.end()) less.Add(bundle.amounts);
    }
    for (Dim dim = 0; dim < cluster_.dims().count(); ++dim) {
      const Branch branch{level, false};
      const bool loses = dim != model::kPods && less[dim] > preemptor.sum[dim] &&
                         HeldBy(branch, dim) - more[dim] + preemptor.sum[dim] < DeservedBy(branch, dim);
      if (loses && OthersAsk(level, dim)) return true;
    }
    return false;
  });
}

// ---- who may go

GangId Reclaim::LastWentFor(GangId id) const {
  const Gang& gang = cluster_.gang(id);
  if (gang.evicted_for.empty() || EvictionsOfLate(gang, now_) == 0) return model::kNone;
  const std::pair<absl::string_view, absl::string_view> name =
      absl::StrSplit(gang.evicted_for.view(), absl::MaxSplits('/', 1));
  for (const model::GangKind kind :
       {model::GangKind::kVolcano, model::GangKind::kKubernetes, model::GangKind::kCoscheduling}) {
    const GangId other = cluster_.FindGang(name.first, name.second, kind);
    if (other != model::kNone) return other;
  }
  return model::kNone;
}

GangId Reclaim::WentFor(GangId id) {
  const GangId other = LastWentFor(id);
  if (other == model::kNone) return model::kNone;
  const Gang& gang = cluster_.gang(other);
  if (gang.held.zero() || gang.queue == model::kNone || gang.queue == cluster_.gang(id).queue) return model::kNone;
  return Rests(other, id) ? other : model::kNone;
}

absl::Time Reclaim::RestsUntil(GangId id, GangId for_whom) const {
  const Gang& gang = cluster_.gang(id);
  int evictions = EvictionsOfLate(gang, now_);
  absl::Time last = gang.last_evicted;
  if (for_whom != model::kNone && LastWentFor(for_whom) == id) {
    evictions = std::max(evictions, 1);
    last = std::max(last, cluster_.gang(for_whom).last_evicted);
  }
  if (evictions == 0 || gang.leaving > 0) return absl::InfinitePast();
  const absl::Duration least = MinRuntimeOf(cluster_, overlay_.tree(), gang.queue);
  absl::Duration rest = std::max(least, policy_.rests_for);
  for (int i = 1; i < evictions && rest < kLongestRest; ++i) rest *= 2;
  // Who has not begun again, and may never, stays no longer for it.
  const absl::Time from = gang.mean_start() == absl::InfiniteFuture() ? last : gang.mean_start();
  return from + std::max(least, std::min(rest, kLongestRest));
}

bool Reclaim::Rests(GangId gang, GangId for_whom) {
  const absl::Time until = RestsUntil(gang, for_whom);
  if (until > now_) look_again_ = std::min(look_again_, until);
  return until > now_;
}

std::vector<QueueId> Reclaim::QueuesToTakeFrom(const Preemptor& preemptor, const Holders& holders, bool reclaimable) {
  std::vector<QueueId> queues;
  const QueueId own = cluster_.gang(preemptor.gang).queue;
  for (const auto& [queue, gangs] : holders.by_queue()) {
    if (queue == own) continue;
    const auto [ours, theirs] = BranchesOf(own, queue);
    if (IsReclaimable(queue, theirs) == reclaimable && IsEntitled(preemptor.sum, ours) && IsOver(theirs, preemptor.sum))
      queues.push_back(queue);
  }
  return queues;
}

std::vector<Candidate> Reclaim::HoldersOf(const std::vector<QueueId>& queues, const Holders& holders) const {
  std::vector<Candidate> candidates;
  for (const QueueId queue : queues) {
    for (Candidate candidate : holders.by_queue().at(queue)) {
      candidate.queue_priority = cluster_.queue(queue).priority;
      candidates.push_back(candidate);
    }
  }
  return candidates;
}

std::vector<Candidate> Reclaim::CandidatesInTime(const Preemptor& preemptor, const Holders& holders) {
  return HoldersOf(QueuesToTakeFrom(preemptor, holders), holders);
}

std::vector<Candidate> Reclaim::KeptByQueues(const Preemptor& preemptor, const Holders& holders) {
  return HoldersOf(QueuesToTakeFrom(preemptor, holders, /*reclaimable=*/false), holders);
}

absl::Span<const Candidate> Reclaim::Candidates(const Preemptor& preemptor, const Holders& holders) {
  std::vector<QueueId> queues = QueuesToTakeFrom(preemptor, holders);
  if (queues != candidates_of_) {
    candidates_of_ = std::move(queues);
    candidates_.clear();
    for (Candidate& candidate : HoldersOf(candidates_of_, holders)) {
      if (!Rests(candidate.gang, model::kNone)) {
        Holders::Add(candidate, candidates_);
      } else if (candidate.has_surplus) {
        candidate.whole = false;
        candidates_.push_back(candidate);
      }
    }
  }
  if (preemptor.spares == model::kNone) return candidates_;
  without_spared_.clear();
  std::copy_if(candidates_.begin(), candidates_.end(), std::back_inserter(without_spared_),
               [&](const Candidate& candidate) { return candidate.gang != preemptor.spares || !candidate.whole; });
  return without_spared_;
}

Reclaim::Loss Reclaim::LossBy(const Preemptor& preemptor, const Bundle& bundle, const std::vector<Bundle>& chosen) {
  const Resources& sum = bundle.amounts;
  const QueueId queue = cluster_.gang(bundle.gang).queue;
  const auto [ours, theirs] = BranchesOf(cluster_.gang(preemptor.gang).queue, queue);
  Resources relevant;  // of what is wanted
  for (Dim dim = 0; dim < sum.size(); ++dim) {
    if (preemptor.sum[dim] > 0) relevant.Set(dim, sum[dim]);
  }
  if (!IsOver(theirs, relevant)) return {};
  for (const QueueId level : overlay_.tree().path(queue)) {
    for (Dim dim = 0; dim < sum.size(); ++dim) {
      const std::int64_t left =
          HeldBy({level, false}, dim) - TerminatingOf({level, false}).kept_for_successors[dim] - sum[dim];
      const std::int64_t kept = std::min(shares().Kept(level, dim), DeservedBy({level, false}, dim));
      if (sum[dim] > 0 && dim != model::kPods && left < kept) return {};
    }
    if (level == theirs.queue) break;
  }
  const double loss = ShortageBy(theirs, sum, -1);
  if (!preemptor.patient) {
    absl::Duration work = WorkOf(preemptor, bundle);
    for (const Bundle& other : chosen) work += WorkOf(preemptor, other);
    if (work > kLittleWork) return {false, loss, 0};
  }
  double all = loss;
  for (const Bundle& other : chosen) all += other.loss;
  if (!Outweighs(-ShortageBy(ours, preemptor.sum, 1), all)) return {false, loss, all};
  if (QueuesAboveLose(preemptor, theirs, sum, chosen)) return {false, loss, 0};
  return {true, loss};
}

std::set<Reclaim::Branch> Reclaim::BranchesBeside(const Preemptor& preemptor, const std::vector<Bundle>& chosen) const {
  std::set<Branch> ours;
  for (const Bundle& bundle : chosen)
    ours.insert(BranchesOf(cluster_.gang(preemptor.gang).queue, cluster_.gang(bundle.gang).queue).first);
  return ours;
}

absl::Duration Reclaim::WorkOf(const Preemptor& preemptor, const Bundle& bundle) const {
  absl::Duration ran;  // of all its pods
  int pods = 0;
  for (const TaskId id : bundle.tasks) {
    const model::Task& task = cluster_.task(id);
    ++pods;
    if (task.has_started()) ran += std::max(now_ - absl::Time(task.started), absl::ZeroDuration());
  }
  double times = 0;
  int dims = 0;
  for (Dim dim = 0; dim < bundle.amounts.size(); ++dim) {
    if (dim == model::kPods || preemptor.sum[dim] <= 0) continue;
    times += static_cast<double>(bundle.amounts[dim]) / static_cast<double>(preemptor.sum[dim]);
    ++dims;
  }
  return dims == 0 || pods == 0 ? absl::ZeroDuration() : ran / pods * (times / dims);
}

bool Reclaim::WorthIt(const Preemptor& preemptor, const Preemptor& other, const std::vector<Bundle>& chosen) {
  double lost = 0;
  for (const Bundle& bundle : chosen) lost += bundle.loss;
  const std::set<Branch> ours = BranchesBeside(preemptor, chosen);
  return std::all_of(ours.begin(), ours.end(),
                     [&](const Branch& branch) { return Outweighs(-ShortageBy(branch, other.sum, 1), lost); });
}

bool Reclaim::SomeComeBack(const Preemptor& preemptor, const std::vector<Bundle>& chosen, const std::set<GangId>& stay,
                           const std::vector<GangId>& placed, Holders& holders) const {
  using OfPriority = std::pair<QueueId, std::int32_t>;
  const auto of = [&](GangId id) {
    return OfPriority(cluster_.gang(id).queue, cluster_.PriorityOf(cluster_.gang(id)));
  };
  // What lower ones of the queue hold then, beside what they do now.
  std::map<OfPriority, Resources> more;
  const auto count = [&](GangId id, const Resources& amounts, std::int64_t times) {
    const OfPriority at = of(id);
    for (auto& [higher, sum] : more) {
      if (at.first == higher.first && at.second < higher.second) sum.Add(amounts, times);
    }
  };
  for (const Bundle& bundle : chosen) {
    if (bundle.whole) more.try_emplace(of(bundle.gang));
  }
  for (const Bundle& bundle : chosen) {
    if (bundle.whole) count(bundle.gang, cluster_.gang(bundle.gang).held, -1);
  }
  for (const GangId other : placed) count(other, cluster_.gang(other).asks, 1);
  for (const GangId other : stay) count(other, cluster_.gang(other).held, -1);
  return std::any_of(chosen.begin(), chosen.end(), [&](const Bundle& bundle) {
    if (!bundle.whole) return false;
    Resources lower = holders.HeldByLower(bundle.gang);
    lower.Add(more.at(of(bundle.gang)));
    if (lower.zero()) return false;
    const Resources& held = cluster_.gang(bundle.gang).held;
    for (Dim dim = 0; dim < held.size(); ++dim) {
      if (held[dim] != 0 && preemptor.sum[dim] != 0 && lower[dim] <= 0) return false;
    }
    return true;
  });
}

}  // namespace gangway::gang
