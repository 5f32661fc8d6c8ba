#include "plugin/explain/suggest.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/gang/constraint/cordon.h"
#include "plugin/gang/constraint/node.h"
#include "plugin/gang/constraint/taints.h"
#include "plugin/phrases/phrases.h"

namespace gangway::explain {
namespace {

using model::Reason;

constexpr int kMostNodes = 1000;         // that are tried to be added
constexpr int kMostFits = 10'000'000;    // of those, times kinds of pods
constexpr std::size_t kMostTried = 16;   // of one sort of change
constexpr std::size_t kMostSorts = 4;    // of nodes
constexpr std::size_t kMostOfASort = 2;  // suggestions

// Labels that pods of the gang look at.
std::set<std::string> LabelsAskedFor(const FactIndex& index, const GangKey& gang) {
  std::set<std::string> keys;
  for (const model::PodFacts* const pod : index.PodsOf(gang)) {
    for (const auto& [key, value] : pod->wants.selector) keys.insert(key);
    for (const model::TermFacts& term : pod->wants.affinity) {
      for (const model::RequirementFacts& requirement : term) keys.insert(requirement.key);
    }
  }
  return keys;
}

// A node of each sort, the most frequent first.
std::vector<const model::NodeFacts*> SortsOfNodes(const FactIndex& index, const GangKey& gang) {
  struct Sort {
    const model::NodeFacts* example = nullptr;
    int nodes = 0;
  };
  const std::set<std::string> keys = LabelsAskedFor(index, gang);
  std::map<std::string, Sort> sorts;
  for (const model::NodeFacts& node : index.facts().nodes) {
    model::NamedAmounts amounts = node.allocatable;
    std::sort(amounts.begin(), amounts.end());
    std::string text = absl::StrJoin(amounts, ",", [](std::string* out, const auto& amount) {
      absl::StrAppend(out, amount.first, "=", amount.second);
    });
    std::vector<std::string> more;
    for (const model::TaintFacts& taint : node.taints)
      more.push_back(absl::StrCat("taint ", taint.key, "=", taint.value, ":", static_cast<int>(taint.effect)));
    for (const auto& [key, value] : node.labels) {
      if (keys.contains(key)) more.push_back(absl::StrCat("label ", key, "=", value));
    }
    std::sort(more.begin(), more.end());
    absl::StrAppend(&text, ";", absl::StrJoin(more, ";"));
    Sort& sort = sorts[text];
    ++sort.nodes;
    if (sort.example == nullptr || node.name < sort.example->name) sort.example = &node;
  }
  std::vector<Sort> in_order;
  for (const auto& [text, sort] : sorts) in_order.push_back(sort);
  std::sort(in_order.begin(), in_order.end(), [](const Sort& a, const Sort& b) {
    return std::tie(b.nodes, a.example->name) < std::tie(a.nodes, b.example->name);
  });
  std::vector<const model::NodeFacts*> out;
  for (const Sort& sort : in_order) out.push_back(sort.example);
  return out;
}

// Of a node what the gang's pods ask for.
Words SizeText(const model::NodeFacts& node, const Explanation& seen) {
  model::NamedAmounts amounts;
  for (const Ask& ask : seen.asks) {
    for (const auto& [dim, amount] : ask.requests) {
      const auto is = [&name = dim](const auto& entry) { return entry.first == name; };
      const auto there = std::find_if(node.allocatable.begin(), node.allocatable.end(), is);
      if (there != node.allocatable.end() && std::none_of(amounts.begin(), amounts.end(), is))
        amounts.push_back(*there);
    }
  }
  return AmountsText(amounts);
}

class Search {
 public:
  Search(Trial& trial, const Explanation& seen) : trial_(trial), index_(trial.index()), seen_(seen), gang_(seen.gang) {
    if (seen.reason.has_value()) kind_ = seen.reason->kind;
    if (seen.state == State::kRunsPartly) {
      goal_ = Goal::kAll;
    } else if (!seen.admitted && seen.pods + seen.to_come < std::max(seen.min_member, 1)) {
      goal_ = Goal::kLetIn;  // nobody can say yet what its pods will ask for
    }
  }

  std::vector<Suggestion> Run() {
    OpenQueue();
    RaiseCapability();
    MoveQueue();
    AddNodes();
    UncordonNodes();
    WaitForOthers();
    GoFirst();
    LowerMinimum();
    AskLess();
    TolerateTaints();
    GoAnywhere();
    return std::move(found_);
  }

 private:
  enum class Goal { kLetIn, kStart, kAll };

  bool Lacks(std::initializer_list<Reason::Kind> kinds) const {
    return kind_.has_value() && std::find(kinds.begin(), kinds.end(), *kind_) != kinds.end();
  }

  // Whether any node is kept from its pods by this.
  bool Hindered(absl::string_view constraint) const {
    return std::any_of(seen_.nodes.begin(), seen_.nodes.end(), [&](const RoleNodes& role) {
      return std::any_of(role.groups.begin(), role.groups.end(),
                         [&](const NodeGroup& group) { return group.obstacle == constraint; });
    });
  }

  // Room, of the cluster or of a queue: what others have may be what it lacks.
  bool LacksRoom() const {
    return Lacks(
        {Reason::Kind::kNoRoom, Reason::Kind::kKeptForMinimum, Reason::Kind::kQueueFull, Reason::Kind::kClusterFull});
  }

  // kOthersMayGo: also where pods of others must be evicted for it first.
  enum class Cost { kNobodyGoes, kOthersMayGo };
  std::optional<Outcome> Helps(const std::vector<Change>& changes, Cost cost = Cost::kNobodyGoes) {
    absl::StatusOr<Outcome> outcome = trial_.Try(gang_, changes);
    if (!outcome.ok()) return std::nullopt;
    const bool starts = outcome->at_once || (cost == Cost::kOthersMayGo && outcome->starts);
    const bool reached = goal_ == Goal::kLetIn ? outcome->let_in : goal_ == Goal::kStart ? starts : outcome->complete;
    return reached ? std::optional<Outcome>(*std::move(outcome)) : std::nullopt;
  }

  // The last that was tried.
  void Add(const Change& change, Outcome outcome, const Words& more = {}) {
    Words text = TextOf(change);
    if (!more.empty()) text = {phrases::kAside, text, more};
    if (!outcome.evicts.empty()) text = {phrases::kAside, text, Words(phrases::kEvicts, outcome.evicts)};
    found_.push_back({std::move(text), WhatIfOf(change), std::move(outcome.spots)});
  }

  // The least number from `low` to `high` that helps, which the highest does; more helps where fewer do.
  template <class F>  // Change(int)
  void AddLeast(int low, int high, F change_of, const Words& more = {}) {
    std::optional<Outcome> best = Helps({change_of(high)});
    if (!best.has_value()) return;
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (std::optional<Outcome> outcome = Helps({change_of(middle)}); outcome.has_value()) {
        high = middle;
        best = std::move(outcome);
      } else {
        low = middle + 1;
      }
    }
    Add(change_of(high), *std::move(best), more);
  }

  void OpenQueue() {
    if (!Lacks({Reason::Kind::kQueueClosed, Reason::Kind::kQueueMissing})) return;
    const Change change = QueueOpen{seen_.reason->subject.English()};
    if (std::optional<Outcome> outcome = Helps({change}); outcome.has_value()) Add(change, *std::move(outcome));
  }

  void RaiseCapability() {
    if (!Lacks({Reason::Kind::kQueueFull})) return;
    Capability change{seen_.reason->subject.English(), {}};
    for (const model::SumLack& sum : seen_.reason->sums) change.amounts.emplace_back(sum.dim, sum.in_use + sum.needed);
    if (std::optional<Outcome> outcome = Helps({change}); outcome.has_value()) Add(change, *std::move(outcome));
  }

  void MoveQueue() {
    if (!LacksRoom() && !Lacks({Reason::Kind::kQueueClosed, Reason::Kind::kQueueMissing, Reason::Kind::kNotModelled}))
      return;
    std::set<std::string> parents, names;
    for (const model::QueueFacts& queue : index_.facts().queues) {
      parents.insert(queue.parent);
      if (queue.open && queue.name != seen_.queue.name && queue.name != "root") names.insert(queue.name);
    }
    std::size_t tried = 0, helped = 0;
    for (const std::string& name : names) {
      if (parents.contains(name)) continue;  // jobs belong to queues that have none below
      if (tried++ == kMostTried || helped == kMostOfASort) return;
      const Change change = OtherQueue{name};
      if (std::optional<Outcome> outcome = Helps({change}, Cost::kOthersMayGo); outcome.has_value()) {
        Add(change, *std::move(outcome));
        ++helped;
      }
    }
  }

  void AddNodes() {
    if (!LacksRoom()) return;
    // A node takes one of its pods at least, or none; gangs before it take some of the new ones.
    std::int64_t most = seen_.before.empty() ? std::max(seen_.min_member, 1) : kMostNodes;
    for (const RoleNodes& role : seen_.nodes) most += role.pods;
    most = std::min({most, std::int64_t{kMostNodes}, std::int64_t{kMostFits / std::max(trial_.kinds(), 1) + 1}});
    std::size_t sorts = 0, helped = 0;
    for (const model::NodeFacts* const node : SortsOfNodes(index_, gang_)) {
      if (sorts++ == kMostSorts || helped == kMostOfASort) return;
      const std::size_t before = found_.size();
      AddLeast(
          1, static_cast<int>(most), [&](int count) { return Change(MoreNodes{count, node->name}); },
          SizeText(*node, seen_));
      helped += found_.size() - before;
    }
  }

  void UncordonNodes() {
    if (!Hindered(constraint::kCordon)) return;
    std::vector<std::string> names;
    for (const model::NodeFacts& node : index_.facts().nodes) {
      if (node.unschedulable) names.push_back(node.name);
    }
    std::sort(names.begin(), names.end());
    // One that is enough alone is a shorter answer than the first few.
    for (std::size_t i = 0; i < names.size() && i < kMostTried; ++i) {
      const Change change = Uncordon{{names[i]}};
      if (std::optional<Outcome> outcome = Helps({change}); outcome.has_value())
        return Add(change, *std::move(outcome));
    }
    AddLeast(1, static_cast<int>(names.size()),
             [&](int count) { return Change(Uncordon{{names.begin(), names.begin() + count}}); });
  }

  // The smallest others whose end is enough.
  void WaitForOthers() {
    if (!LacksRoom()) return;
    std::vector<const GangLine*> others;
    for (const GangLine& line : seen_.holders) others.push_back(&line);
    std::reverse(others.begin(), others.end());  // who holds least of what is lacking first
    std::size_t tried = 0, helped = 0;
    for (const GangLine* const line : others) {
      if (tried++ == kMostTried || helped == kMostOfASort) return;
      const Change change = GangEnds{line->gang};
      if (std::optional<Outcome> outcome = Helps({change}); outcome.has_value()) {
        Add(change, *std::move(outcome), {phrases::kItHolds, AmountsText(line->holds)});
        ++helped;
      }
    }
  }

  // Before others that wait, or in the place of others that run.
  void GoFirst() {
    if ((seen_.before.empty() && seen_.holders.empty()) || !LacksRoom()) return;
    std::vector<std::pair<std::int32_t, std::string>> classes;
    for (const model::PriorityClassFacts& one : index_.facts().priority_classes) {
      // Those of the system are for the cluster's own pods.
      if (one.value > seen_.priority && one.name.rfind("system-", 0) != 0) classes.emplace_back(one.value, one.name);
    }
    std::sort(classes.begin(), classes.end());
    if (classes.size() > kMostTried) classes.resize(kMostTried);
    for (const auto& [value, name] : classes) {
      const Change change = Priority{name, std::nullopt};
      if (std::optional<Outcome> outcome = Helps({change}, Cost::kOthersMayGo); outcome.has_value())
        return Add(change, *std::move(outcome));
    }
    // Without a class that is high enough: whether one would be.
    std::int32_t highest = seen_.priority;
    for (const auto* const lines : {&seen_.before, &seen_.holders}) {
      for (const GangLine& line : *lines) highest = std::max(highest, line.priority);
    }
    if (highest == std::numeric_limits<std::int32_t>::max()) return;
    const Change change = Priority{"", highest + 1};
    if (std::optional<Outcome> outcome = Helps({change}, Cost::kOthersMayGo); outcome.has_value())
      Add(change, *std::move(outcome), phrases::kNoClassHasIt);
  }

  // The largest that starts: fewer would do, too.
  void LowerMinimum() {
    if (goal_ == Goal::kAll || seen_.min_member <= 1) return;
    const int most = seen_.min_member - 1;
    AddLeast(0, most - 1, [&](int less) { return Change(Minimum{most - less}); });
  }

  void AskLess() {
    if (!Lacks({Reason::Kind::kNoRoom})) return;
    for (const model::RoleReason& role : seen_.reason->roles) {
      for (const model::Lack& lack : role.lacks) {
        if (lack.dim != "pods") AskLess(role.role, lack);
      }
    }
  }

  // What one node has left may be too much for all of them: then half of it, and so on.
  void AskLess(const std::string& role, const model::Lack& lack) {
    const int halvings = goal_ == Goal::kAll ? 0 : 3;  // some of its pods run as they are
    std::int64_t amount = lack.best_free;
    for (int i = 0; i <= halvings && amount > 0; ++i, amount /= 2) {
      const Change change = Request{role, lack.dim, amount};
      if (std::optional<Outcome> outcome = Helps({change}); outcome.has_value())
        return Add(change, *std::move(outcome), {phrases::kInsteadOf, model::AmountText(lack.dim, lack.needed)});
    }
  }

  void TolerateTaints() {
    if (!Hindered(constraint::kTaints)) return;
    std::map<std::pair<std::string, std::string>, model::TaintFacts> taints;
    for (const model::NodeFacts& node : index_.facts().nodes) {
      for (const model::TaintFacts& taint : node.taints) {
        if (taint.effect != model::TaintEffect::kPreferNoSchedule) taints[{taint.key, taint.value}] = taint;
      }
    }
    std::size_t tried = 0;
    for (const auto& [key, taint] : taints) {
      if (tried++ == kMostTried) return;
      const Change change = Tolerate{taint};
      if (std::optional<Outcome> outcome = Helps({change}); outcome.has_value()) Add(change, *std::move(outcome));
    }
  }

  void GoAnywhere() {
    if (Hindered(constraint::kNode)) {
      if (std::optional<Outcome> outcome = Helps({AnyNode{}}); outcome.has_value()) Add(AnyNode{}, *std::move(outcome));
    }
    if (Lacks({Reason::Kind::kGated})) {
      if (std::optional<Outcome> outcome = Helps({NoGates{}}); outcome.has_value()) Add(NoGates{}, *std::move(outcome));
    }
  }

  Trial& trial_;
  const FactIndex& index_;
  const Explanation& seen_;
  const GangKey& gang_;
  std::optional<Reason::Kind> kind_;
  Goal goal_ = Goal::kStart;
  std::vector<Suggestion> found_;
};

}  // namespace

std::vector<Suggestion> Suggest(Trial& trial, const Explanation& seen) {
  const bool waits = seen.state == State::kQueued || seen.state == State::kWaits ||
                     (seen.state == State::kRunsPartly && seen.reason.has_value());
  return waits ? Search(trial, seen).Run() : std::vector<Suggestion>();
}

std::string NodeToCopy(Trial& trial, const GangKey& gang) {
  for (const model::NodeFacts* const node : SortsOfNodes(trial.index(), gang)) {
    const absl::StatusOr<Explanation> with = trial.ExplainWith(gang, {MoreNodes{1, node->name}});
    if (!with.ok()) continue;
    const std::string fresh = absl::StrCat(node->name, "+1");
    const bool taken =
        std::any_of(with->spots.begin(), with->spots.end(), [&](const Spot& spot) { return spot.node == fresh; });
    const bool has_room = std::any_of(with->nodes.begin(), with->nodes.end(), [&](const RoleNodes& role) {
      return std::any_of(role.groups.begin(), role.groups.end(), [&](const NodeGroup& group) {
        return group.obstacle.empty() && std::binary_search(group.nodes.begin(), group.nodes.end(), fresh);
      });
    });
    if (taken || has_room) return node->name;
  }
  return "";
}

}  // namespace gangway::explain
