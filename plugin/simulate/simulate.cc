#include "plugin/simulate/simulate.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "plugin/gang/carry_out.h"
#include "plugin/gang/reclaim.h"
#include "plugin/gang/schedule.h"
#include "plugin/model/cluster.h"

namespace gangway::simulate {
namespace {

using explain::GangKey;
using model::Decision;
using model::Decisions;
using model::GangFacts;
using model::GangId;
using model::GangPhase;
using model::PodFacts;
using model::PodPhase;
using model::TaskId;

// What a gang's pods hold of the cluster, by resource; pods are counted by nobody.
constexpr char kPodsResource[] = "pods";
// A gang that is past its time already ends so much later.
constexpr absl::Duration kOverdue = absl::Minutes(1);
// So often nodes are looked for that are kept: events are that far apart in a week of a thousand nodes, and looking
// costs more than all else that is done about one.
constexpr absl::Duration kLooksForNodesApart = absl::Minutes(1);

// A controller of Volcano's makes pods once their PodGroup is let in; those of others are there from the beginning.
bool MakesPodsWhenLetIn(const GangFacts& gang) { return gang.kind == model::GangKind::kVolcano; }

bool HasEnded(const PodFacts& pod) { return pod.phase == PodPhase::kSucceeded || pod.phase == PodPhase::kFailed; }

// How much each queue holds of what, and how long it did.
class Holdings {
 public:
  void Hold(const std::string& queue, const model::NamedAmounts& amounts, int times) {
    auto& held = by_queue_[queue];
    for (const auto& [name, amount] : amounts) {
      if (name != kPodsResource) held[name].now += static_cast<double>(amount) * times;
    }
  }
  void Pass(absl::Duration time) {
    const double seconds = absl::ToDoubleSeconds(time);
    for (auto& [queue, held] : by_queue_) {
      for (auto& [name, amount] : held) amount.sum += amount.now * seconds;
    }
  }
  // Of so much of each in so long.
  std::vector<std::pair<std::string, double>> PartsOf(const std::string& queue,
                                                      const std::map<std::string, double>& totals,
                                                      absl::Duration time) const {
    std::vector<std::pair<std::string, double>> out;
    const auto held = by_queue_.find(queue);
    if (held == by_queue_.end() || time <= absl::ZeroDuration()) return out;
    for (const auto& [name, amount] : held->second) {
      const auto total = totals.find(name);
      if (total != totals.end() && total->second > 0)
        out.emplace_back(name, amount.sum / total->second / absl::ToDoubleSeconds(time));
    }
    return out;
  }
  const auto& by_queue() const { return by_queue_; }

 private:
  struct Amount {
    double now = 0, sum = 0;
  };
  std::map<std::string, std::map<std::string, Amount>> by_queue_;
};

enum class State : std::uint8_t { kToCome, kWaits, kRuns, kEnding, kDone };

struct Pod {
  PodFacts facts;
  bool made = false, bound = false;
};

struct Player {
  Story story;
  GangFacts facts;
  std::vector<Pod> pods;
  State state = State::kToCome;
  absl::Duration runs, left;  // in all; from when it begins again, if it does
  int run = 0;                // a number; what was planned of another is no event any more
  int bound = 0;
  absl::Time runs_from, runs_until, waits_from;
  std::optional<model::Reason::Kind> waits_for;
};

class Simulation {
 public:
  Simulation(absl::Time now, const Options& options) : options_(options), begin_(now), now_(now), happened_(now) {
    options_.policy.keeps_same = std::max({options_.policy.keeps_same, options_.evictions_apart, kLooksForNodesApart});
  }

  absl::Status Begin(const explain::ClusterFacts& facts, std::vector<Arrival> arrivals) {
    explain::Tell(facts, cluster_);
    nodes_ = static_cast<int>(facts.nodes.size());
    for (const model::NodeFacts& node : facts.nodes) {
      for (const auto& [name, amount] : node.allocatable) totals_[name] += static_cast<double>(amount);
    }
    GW_RETURN_IF_ERROR(TakeOver(facts));
    for (Arrival& arrival : arrivals) {
      Player player;
      player.facts = std::move(arrival.gang);
      for (PodFacts& pod : arrival.pods) player.pods.push_back({std::move(pod)});
      player.story.came = std::max(arrival.comes, begin_);
      GW_RETURN_IF_ERROR(Add(std::move(player)));
    }
    for (std::size_t i = 0; i < players_.size(); ++i) {
      if (players_[i].state == State::kToCome) Plan(players_[i].story.came, What::kComes, i);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Course> Live() {
    while (true) {
      while (!events_.empty() && events_.top().at <= now_) {
        const Event event = events_.top();
        events_.pop();
        Happen(event);
        stirred_ = true;
        happened_ = now_;
      }
      GW_RETURN_IF_ERROR(Decide());
      absl::Time next = events_.empty() ? absl::InfiniteFuture() : events_.top().at;
      if (events_.empty() && (waiting_ == 0 || look_again_ > happened_ + options_.patience)) break;
      next = std::min(next, look_again_);
      if (next == absl::InfiniteFuture()) break;
      held_.Pass(next - now_);
      now_ = next;
    }
    return Finish();
  }

 private:
  enum class What : std::uint8_t { kEnds, kGone, kComes };
  struct Event {
    absl::Time at;
    What what = What::kComes;
    std::size_t player = 0;
    int run = 0;
    friend bool operator>(const Event& a, const Event& b) {
      return std::tie(a.at, a.what, a.player, a.run) > std::tie(b.at, b.what, b.player, b.run);
    }
  };
  struct Place {
    std::size_t player = 0, pod = 0;
  };

  void Plan(absl::Time at, What what, std::size_t player) { events_.push({at, what, player, players_[player].run}); }

  absl::Status Add(Player player) {
    const GangKey key{player.facts.ns, player.facts.name, player.facts.kind};
    if (!by_key_.emplace(key.ToString(), players_.size()).second)
      return absl::InvalidArgumentError(absl::StrCat("gang ", key.ToString(), ": is there twice"));
    player.story.ns = player.facts.ns;
    player.story.name = player.facts.name;
    player.story.queue = player.facts.queue;
    player.story.pods = static_cast<int>(player.pods.size());
    player.runs = absl::ZeroDuration();
    for (const Pod& pod : player.pods) {
      if (pod.facts.lasts != absl::InfiniteDuration()) player.runs = std::max(player.runs, pod.facts.lasts);
    }
    if (player.runs == absl::ZeroDuration())
      player.runs = player.facts.past_runs.runs > 0 ? player.facts.past_runs.longest : options_.runs;
    player.left = player.runs;
    players_.push_back(std::move(player));
    return absl::OkStatus();
  }

  // The gangs that are there: those that hold their minimum run, the others wait with what they have.
  absl::Status TakeOver(const explain::ClusterFacts& facts) {
    absl::flat_hash_map<std::string, std::vector<const PodFacts*>> there, to_come;
    const auto key_of = [](const PodFacts& pod) { return GangKey{pod.ns, pod.gang, pod.gang_kind}.ToString(); };
    for (const PodFacts& pod : facts.pods) {
      if (!pod.gang.empty() && !HasEnded(pod) && !pod.terminating) there[key_of(pod)].push_back(&pod);
    }
    for (const PodFacts& pod : facts.to_come) to_come[key_of(pod)].push_back(&pod);
    for (const GangFacts& gang : facts.gangs) {
      const std::string key = GangKey{gang.ns, gang.name, gang.kind}.ToString();
      if (gang.phase == GangPhase::kCompleted || (!there.contains(key) && !to_come.contains(key))) continue;
      const auto concerns_us = [](const PodFacts* pod) { return pod->ours || !pod->node.empty(); };
      if (!to_come.contains(key) && std::none_of(there[key].begin(), there[key].end(), concerns_us)) continue;
      Player player;
      player.facts = gang;
      player.story.came = gang.created == absl::InfinitePast() ? begin_ : std::min(gang.created, begin_);
      for (const PodFacts* const pod : there[key]) player.pods.push_back({*pod, true, !pod->node.empty()});
      for (const PodFacts* const pod : to_come[key]) player.pods.push_back({*pod});
      GW_RETURN_IF_ERROR(Add(std::move(player)));
      Seat(players_.size() - 1);
    }
    return absl::OkStatus();
  }

  void Seat(std::size_t index) {
    Player& player = players_[index];
    Know(IdOf(player), index);
    absl::Time runs_from = absl::InfinitePast(), ends = absl::InfinitePast();
    for (std::size_t i = 0; i < player.pods.size(); ++i) {
      const PodFacts& pod = player.pods[i].facts;
      if (!player.pods[i].made) continue;
      Know(cluster_.FindTask(pod.ns, pod.name), {index, i});
      if (!player.pods[i].bound) continue;
      ++player.bound;
      held_.Hold(player.story.queue, pod.wants.requests, 1);
      runs_from = std::max(runs_from, pod.started);
      if (pod.ends != absl::InfiniteFuture()) ends = std::max(ends, pod.ends);
    }
    player.state = State::kWaits;
    ++waiting_;
    player.waits_from = player.story.came;
    if ((player.facts.phase != GangPhase::kPending && player.facts.phase != GangPhase::kNone) ||
        !MakesPodsWhenLetIn(player.facts))
      MakePods(index);
    if (player.bound < std::max(player.facts.min_member, 1)) return;
    Start(index, runs_from == absl::InfinitePast() ? begin_ : std::min(runs_from, begin_), ends);
  }

  GangId IdOf(const Player& player) const {
    return cluster_.FindGang(player.facts.ns, player.facts.name, player.facts.kind);
  }
  void Know(GangId gang, std::size_t player) {
    const auto at = static_cast<std::size_t>(gang);
    if (player_of_.size() <= at) player_of_.resize(at + 1, kNobody);
    player_of_[at] = player;
  }
  void Know(TaskId task, Place place) {
    const auto at = static_cast<std::size_t>(task);
    if (place_of_.size() <= at) place_of_.resize(at + 1);
    place_of_[at] = place;
  }
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
  // Of a gang that nobody simulates, such as one that no pod names.
  std::size_t PlayerOf(GangId gang) const {
    const auto at = static_cast<std::size_t>(gang);
    return at < player_of_.size() ? player_of_[at] : kNobody;
  }

  void Happen(const Event& event) {
    Player& player = players_[event.player];
    if (event.run != player.run) return;
    switch (event.what) {
      case What::kComes:
        player.state = State::kWaits;
        ++waiting_;
        player.waits_from = now_;
        player.facts.created = player.story.came;
        player.facts.phase = GangPhase::kPending;
        Know(cluster_.SetGang(player.facts), event.player);
        break;
      case What::kEnds:
        player.story.ended = now_;
        player.story.ran.push_back({player.runs_from, now_});
        player.state = State::kDone;
        RemovePods(player);
        cluster_.RemoveGang(player.facts.ns, player.facts.name, player.facts.kind);
        break;
      case What::kGone:
        ComeAgain(event.player);
        break;
    }
  }

  void RemovePods(Player& player) {
    for (Pod& pod : player.pods) {
      if (!pod.made) continue;
      if (pod.bound) held_.Hold(player.story.queue, pod.facts.wants.requests, -1);
      cluster_.RemovePod(pod.facts.ns, pod.facts.name);
      pod.made = pod.bound = false;
    }
    player.bound = 0;
  }

  // Its pods are gone, and its controller makes others.
  void ComeAgain(std::size_t index) {
    Player& player = players_[index];
    if (player.state == State::kDone) return;
    if (player.state == State::kEnding) {
      RemovePods(player);
      player.state = State::kWaits;
      ++waiting_;
      player.waits_from = now_;
      player.facts.phase = MakesPodsWhenLetIn(player.facts) ? GangPhase::kPending : GangPhase::kNone;
      player.facts.was_whole = false;
      Know(cluster_.SetGang(player.facts), index);
      if (!MakesPodsWhenLetIn(player.facts)) MakePods(index);
      return;
    }
    for (Pod& pod : player.pods) {  // those beyond the minimum
      if (!pod.made || !pod.facts.terminating) continue;
      held_.Hold(player.story.queue, pod.facts.wants.requests, -1);
      cluster_.RemovePod(pod.facts.ns, pod.facts.name);
      pod.made = pod.bound = false;
    }
    MakePods(index);
  }

  void MakePods(std::size_t index) {
    Player& player = players_[index];
    for (std::size_t i = 0; i < player.pods.size(); ++i) {
      Pod& pod = player.pods[i];
      if (pod.made) continue;
      pod.facts.uid = absl::StrCat(pod.facts.ns, "/", pod.facts.name, "/", ++made_);
      pod.facts.node.clear();
      pod.facts.phase = PodPhase::kPending;
      pod.facts.terminating = pod.facts.leaving = false;
      pod.facts.grace_ends = pod.facts.ends = absl::InfiniteFuture();
      pod.facts.started = absl::InfinitePast();
      pod.facts.created = now_;
      pod.made = true;
      Know(cluster_.SetPod(pod.facts), {index, i});
    }
  }

  absl::Status Decide() {
    look_again_ = absl::InfiniteFuture();
    gang::Policy policy = options_.policy;
    const bool evicts = policy.choose_victims && (policy.preempt || policy.reclaim || policy.consolidate);
    policy.choose_victims = evicts && now_ >= evict_from_;
    if (policy.choose_victims) {
      evict_from_ = now_ + options_.evictions_apart;
      stirred_ = false;
    }
    for (bool again = true; again;) {
      if (++rounds_ > options_.max_rounds)
        return absl::ResourceExhaustedError(absl::StrCat("more than ", options_.max_rounds, " rounds"));
      if (gang::StandsStill(cluster_, policy, now_, scratch_)) {
        look_again_ = std::min(look_again_, again_at_);
        break;
      }
      again = CarryOut(gang::Schedule(cluster_, policy, now_, scratch_,
                                      [this](GangId gang, model::Reason::Kind kind) { return IsTold(gang, kind); }));
    }
    if (look_again_ <= now_) look_again_ = now_ + absl::Seconds(1);
    if (evicts && waiting_ > 0 && stirred_) look_again_ = std::min(look_again_, evict_from_);
    return absl::OkStatus();
  }

  // Whether it would be decided otherwise now.
  bool CarryOut(const Decisions& decisions) {
    bool again = false;
    again_at_ = absl::InfiniteFuture();
    for (const Decision& decision : decisions) {
      gang::CarryOut(decision, cluster_);
      again_at_ = std::min(again_at_, decision.look_again);
      const std::size_t index = PlayerOf(decision.gang);
      if (index != kNobody) {
        if (decision.admit) {
          players_[index].facts.phase = GangPhase::kInqueue;
          cluster_.SetGang(players_[index].facts);
          MakePods(index);
          again = true;
        }
        Bind(index, decision);
        NoteReason(players_[index], decision);
      }
      Evict(decision);
    }
    look_again_ = std::min(look_again_, again_at_);
    gang::EndRound(decisions, options_.policy.victims_take, now_, cluster_);
    return again;
  }

  void Bind(std::size_t index, const Decision& decision) {
    Player& player = players_[index];
    for (const model::Placement& placement : decision.placements) {
      Pod& pod = player.pods[place_of_[static_cast<std::size_t>(placement.task)].pod];
      pod.facts.node = std::string(cluster_.node_name(placement.row));
      pod.facts.phase = PodPhase::kRunning;
      pod.facts.started = now_;
      pod.facts.ends = pod.facts.lasts == absl::InfiniteDuration() ? absl::InfiniteFuture() : now_ + pod.facts.lasts;
      pod.bound = true;
      ++player.bound;
      held_.Hold(player.story.queue, pod.facts.wants.requests, 1);
      cluster_.SetPod(pod.facts);
    }
    if (player.state == State::kWaits && !decision.placements.empty() && !decision.short_of_minimum &&
        player.bound >= std::max(player.facts.min_member, 1))
      Start(index, now_, absl::InfinitePast());
  }

  // `ends`: as its pods say; InfinitePast: nobody says so.
  void Start(std::size_t index, absl::Time from, absl::Time ends) {
    Player& player = players_[index];
    StopWaiting(player);
    --waiting_;
    player.state = State::kRuns;
    player.runs_from = from;
    if (!player.story.started.has_value()) player.story.started = from;
    player.facts.phase = GangPhase::kRunning;
    player.facts.was_whole = true;
    cluster_.SetGang(player.facts);
    if (ends == absl::InfinitePast()) ends = from + player.left;
    player.runs_until = ends <= now_ ? now_ + kOverdue : ends;
    Plan(player.runs_until, What::kEnds, index);
  }

  // What NoteReason would not note.
  bool IsTold(GangId gang, model::Reason::Kind kind) const {
    const std::size_t index = PlayerOf(gang);
    return index == kNobody || players_[index].state != State::kWaits || players_[index].waits_for == kind;
  }

  void NoteReason(Player& player, const Decision& decision) {
    if (player.state != State::kWaits || !decision.reason.has_value()) return;
    if (player.waits_for == decision.reason->kind) return;
    StopWaiting(player);
    player.waits_for = decision.reason->kind;
    WaitOf(player, *player.waits_for).reason = model::Render(*decision.reason);
  }
  static Wait& WaitOf(Player& player, model::Reason::Kind kind) {
    for (Wait& wait : player.story.waits) {
      if (wait.kind == kind) return wait;
    }
    return player.story.waits.emplace_back(Wait{kind, absl::ZeroDuration(), ""});
  }
  void StopWaiting(Player& player) {
    if (player.waits_for.has_value()) WaitOf(player, *player.waits_for).lasted += now_ - player.waits_from;
    player.waits_for.reset();
    player.waits_from = now_;
  }

  void Evict(const Decision& decision) {
    const model::Gang& for_whom = cluster_.gang(decision.gang);
    std::set<std::size_t> hit, moved;
    std::map<std::size_t, int> going;
    for (const model::Placement& move : decision.moves) moved.insert(PlayerOf(cluster_.task(move.task).gang));
    for (const TaskId task : decision.evicted) {
      const std::size_t index = PlayerOf(cluster_.task(task).gang);
      if (index == kNobody) continue;
      hit.insert(index);
      ++going[index];
      Pod& pod = players_[index].pods[place_of_[static_cast<std::size_t>(task)].pod];
      End(pod);
    }
    for (const std::size_t index : hit) {
      Player& player = players_[index];
      if (player.bound - going[index] < player.facts.min_member && player.state == State::kRuns) {
        player.story.ran.push_back({player.runs_from, now_});
        const bool goes_on = moved.contains(index);
        ++(goes_on ? player.story.moved : player.story.evicted);
        player.left = goes_on ? player.runs_until - now_ : player.runs;
        if (goes_on) {
          player.facts.moved = now_;
        } else {
          player.facts.evictions = gang::EvictionsOfLate(cluster_.gang(IdOf(player)), now_) + 1;
          player.facts.last_evicted = now_;
          player.facts.evicted_for = model::KeyOf(for_whom.ns, for_whom.name);
        }
        player.state = State::kEnding;
        ++player.run;
        for (Pod& pod : player.pods) {
          if (pod.bound && !pod.facts.terminating) End(pod);
        }
      }
      player.bound -= going[index];
      Plan(now_ + options_.grace, What::kGone, index);
    }
  }
  void End(Pod& pod) {
    pod.facts.terminating = true;
    pod.facts.grace_ends = now_ + options_.grace;
    cluster_.SetPod(pod.facts);
  }

  Course Finish() {
    Course out;
    out.from = begin_;
    out.to = happened_;
    out.nodes = nodes_;
    out.rounds = static_cast<int>(rounds_);
    std::map<std::string, QueueUse> queues;
    for (Player& player : players_) {
      if (player.state == State::kWaits) StopWaiting(player);
      if (player.state == State::kRuns) player.story.ran.push_back({player.runs_from, now_});
      std::stable_sort(player.story.waits.begin(), player.story.waits.end(),
                       [](const Wait& a, const Wait& b) { return a.lasted > b.lasted; });
      QueueUse& queue = queues[player.story.queue];
      ++queue.gangs;
      queue.ended += player.story.ended.has_value() ? 1 : 0;
      out.gangs.push_back(std::move(player.story));
    }
    std::stable_sort(out.gangs.begin(), out.gangs.end(), [](const Story& a, const Story& b) {
      return std::tie(a.came, a.ns, a.name) < std::tie(b.came, b.ns, b.name);
    });
    for (auto& [name, queue] : queues) {
      queue.name = name;
      queue.held = held_.PartsOf(name, totals_, happened_ - begin_);
      out.queues.push_back(std::move(queue));
    }
    return out;
  }

  Options options_;
  const absl::Time begin_;
  absl::Time now_, happened_;
  model::Cluster cluster_;
  gang::Scratch scratch_;
  int nodes_ = 0, waiting_ = 0;
  std::uint64_t made_ = 0;
  std::size_t rounds_ = 0;
  std::map<std::string, double> totals_;
  std::vector<Player> players_;
  absl::flat_hash_map<std::string, std::size_t> by_key_;
  std::vector<std::size_t> player_of_;  // by gang
  std::vector<Place> place_of_;         // by task
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  Holdings held_;
  absl::Time look_again_ = absl::InfiniteFuture(), again_at_ = absl::InfiniteFuture();
  absl::Time evict_from_ = absl::InfinitePast();
  bool stirred_ = false;  // something came or ended since it was looked at whom to evict
};

}  // namespace

absl::StatusOr<Course> Simulate(const explain::ClusterFacts& facts, absl::Time now, std::vector<Arrival> arrivals,
                                const Options& options) {
  Simulation simulation(now, options);
  GW_RETURN_IF_ERROR(simulation.Begin(facts, std::move(arrivals)));
  return simulation.Live();
}

}  // namespace gangway::simulate
