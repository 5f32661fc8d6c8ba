#include "tests/plugin/gang/judge.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"

namespace gangway::testutil {
namespace {

using model::NodeFacts;
using model::PodFacts;
using model::PodPhase;
using Labels = std::vector<std::pair<std::string, std::string>>;

template <class T>
const T* Named(const std::vector<T>& list, const std::string& name) {
  const auto it = std::find_if(list.begin(), list.end(), [&](const T& each) { return each.name == name; });
  return it == list.end() ? nullptr : &*it;
}

std::optional<std::string> ValueOf(const Labels& labels, const std::string& key) {
  for (const auto& [name, value] : labels) {
    if (name == key) return value;
  }
  return std::nullopt;
}

// In, NotIn, Exists and DoesNotExist; of a node's name with no key.
bool Holds(const model::RequirementFacts& requirement, const Labels& labels, const std::string& name) {
  const std::optional<std::string> value = requirement.key.empty() ? name : ValueOf(labels, requirement.key);
  const bool listed = value.has_value() && std::count(requirement.values.begin(), requirement.values.end(), *value) > 0;
  switch (requirement.op) {
    case model::Op::kIn: return listed;
    case model::Op::kNotIn: return !listed;
    case model::Op::kExists: return value.has_value();
    case model::Op::kDoesNotExist: return !value.has_value();
    default: return false;  // not drawn
  }
}
bool AllHold(const std::vector<model::RequirementFacts>& requirements, const Labels& labels, const std::string& name = "") {
  return std::all_of(requirements.begin(), requirements.end(), [&](const auto& requirement) { return Holds(requirement, labels, name); });
}
bool AnyTermHolds(const std::vector<model::TermFacts>& terms, const NodeFacts& node) {
  return std::any_of(terms.begin(), terms.end(), [&](const auto& term) { return !term.empty() && AllHold(term, node.labels, node.name); });
}

bool Tolerates(const PodFacts& pod, const model::TaintFacts& taint) {
  const std::string effect = taint.effect == model::TaintEffect::kNoSchedule ? "NoSchedule" : "NoExecute";
  return taint.effect == model::TaintEffect::kPreferNoSchedule ||
         std::any_of(pod.wants.tolerations.begin(), pod.wants.tolerations.end(), [&](const model::TolerationFacts& t) {
           if (!t.effect.empty() && t.effect != effect) return false;
           return t.exists ? t.key.empty() || t.key == taint.key : t.key == taint.key && t.value == taint.value;
         });
}

std::int64_t Amount(const model::NamedAmounts& amounts, const std::string& name) {
  std::int64_t sum = 0;
  for (const auto& [each, amount] : amounts) sum += each == name ? amount : 0;
  return sum;
}

bool Ended(const PodFacts& pod) { return pod.phase == PodPhase::kSucceeded || pod.phase == PodPhase::kFailed; }
bool TakesRoom(const PodFacts& pod) { return !pod.node.empty() && !Ended(pod); }
// What a gang has begun with: what has succeeded stays done though it is removed.
bool IsThere(const PodFacts& pod) {
  return pod.phase == PodPhase::kSucceeded || (!pod.node.empty() && !pod.terminating && (pod.phase == PodPhase::kPending || pod.phase == PodPhase::kRunning));
}

bool SharePort(const PodFacts& a, const PodFacts& b) {
  for (const auto& x : a.wants.host_ports) {
    for (const auto& y : b.wants.host_ports) {
      if (x.protocol == y.protocol && x.port == y.port) return true;  // every address is drawn
    }
  }
  return false;
}

class Judging {
 public:
  Judging(const Events& before, const Placed& placed, const std::vector<std::string>& let_in) : before_(before), after_(before), let_in_(let_in.begin(), let_in.end()) {
    for (const auto& [pod, node] : placed) Put(pod, node);
  }

  std::vector<std::string> Run() && {
    std::set<std::string> gangs;
    for (const PodFacts* const pod : placed_) {
      JudgeNode(*pod, *Named(after_.nodes, pod->node));
      JudgeNeighbours(*pod);
      JudgeClaims(*pod);
      JudgeSubGroup(*pod);
      JudgeQueue(*pod);
      gangs.insert(pod->gang);
    }
    for (const std::string& gang : gangs) JudgeGang(gang);
    return std::move(wrong_);
  }

 private:
  void Wrong(const char* rule, const PodFacts& pod) { wrong_.push_back(absl::StrCat(rule, ": ", pod.name, " on ", pod.node)); }

  void Put(const std::string& name, const std::string& node) {
    const auto it = std::find_if(after_.pods.begin(), after_.pods.end(), [&](const PodFacts& pod) { return pod.name == name; });
    if (it == after_.pods.end() || Named(before_.nodes, node) == nullptr) {
      wrong_.push_back(absl::StrCat("absent: ", name, " on ", node));
      return;
    }
    if (!it->node.empty() || !it->ours || it->gated || it->terminating || Ended(*it)) Wrong("not waiting", *it);
    it->node = node;
    placed_.push_back(&*it);
  }

  void JudgeNode(const PodFacts& pod, const NodeFacts& node) {
    if (node.unschedulable && !Tolerates(pod, {"node.kubernetes.io/unschedulable", "", model::TaintEffect::kNoSchedule})) Wrong("cordoned", pod);
    for (const auto& [key, value] : pod.wants.selector) {
      if (ValueOf(node.labels, key) != value) Wrong("selector", pod);
    }
    if (pod.wants.has_affinity && !AnyTermHolds(pod.wants.affinity, node)) Wrong("affinity", pod);
    for (const model::TaintFacts& taint : node.taints) {
      if (!Tolerates(pod, taint)) Wrong("taint", pod);
    }
    for (const PodFacts& other : after_.pods) {
      if (other.name != pod.name && other.node == node.name && TakesRoom(other) && SharePort(pod, other)) Wrong("port", pod);
    }
    for (const auto& [resource, amount] : pod.wants.requests) {
      std::int64_t used = 0;
      for (const PodFacts& other : after_.pods) used += other.node == node.name && TakesRoom(other) ? Amount(other.wants.requests, resource) : 0;
      if (amount > 0 && used > Amount(node.allocatable, resource)) Wrong("room", pod);
    }
  }

  // `unknown`: what to say of a namespace that nobody told of.
  bool Selects(const model::PodSelectorFacts& selector, const PodFacts& pod, bool unknown) const {
    const model::NamespaceFacts* const ns = Named(after_.namespaces, pod.ns);
    bool in_namespace = std::count(selector.namespaces.begin(), selector.namespaces.end(), pod.ns) > 0;
    if (selector.namespace_selector.has_value()) in_namespace = in_namespace || (ns == nullptr ? unknown : AllHold(*selector.namespace_selector, ns->labels));
    return in_namespace && AllHold(selector.pods, pod.labels);
  }
  std::optional<std::string> DomainOf(const std::string& node, const std::string& key) const {
    const NodeFacts* const facts = Named(after_.nodes, node);
    return facts == nullptr ? std::nullopt : ValueOf(facts->labels, key);
  }
  bool Alike(const std::string& a, const std::string& b, const std::string& key) const {
    const std::optional<std::string> value = DomainOf(a, key);
    return value.has_value() && value == DomainOf(b, key);
  }
  // Of one pod and another that holds room.
  bool Forbids(const PodFacts& keeper, const PodFacts& pod) const {
    return std::any_of(keeper.wants.pod_anti_affinity.begin(), keeper.wants.pod_anti_affinity.end(), [&](const model::PodTermFacts& term) {
      return Selects(term.selector, pod, true) && Alike(keeper.node, pod.node, term.topology_key);
    });
  }

  void JudgeNeighbours(const PodFacts& pod) {
    for (const PodFacts& other : after_.pods) {
      if (!TakesRoom(other) || &other == &pod) continue;
      if (Forbids(other, pod)) Wrong("kept away", pod);
      if (Forbids(pod, other)) Wrong("not away", pod);
    }
    JudgeAffinity(pod);
    for (const model::SpreadFacts& spread : pod.wants.spreads) {
      if (spread.required) JudgeSpread(pod, spread);
    }
  }

  // Near another pod that all terms hold for, in each of them; or the first of pods that follow it.
  void JudgeAffinity(const PodFacts& pod) {
    const std::vector<model::PodTermFacts>& terms = pod.wants.pod_affinity;
    const auto all_hold = [&](const PodFacts& other) {
      return std::all_of(terms.begin(), terms.end(), [&](const model::PodTermFacts& term) { return Selects(term.selector, other, false); });
    };
    const bool itself = all_hold(pod);
    for (const model::PodTermFacts& term : terms) {
      bool near = false, elsewhere = false;
      for (const PodFacts& other : after_.pods) {
        if (&other == &pod || !TakesRoom(other) || !all_hold(other)) continue;
        const bool alike = Alike(other.node, pod.node, term.topology_key);
        // Those that are placed with it and do not follow may have come later.
        const bool before = other.wants.pod_affinity == terms || std::find(placed_.begin(), placed_.end(), &other) == placed_.end();
        near = near || alike;
        elsewhere = elsewhere || (!alike && before && DomainOf(other.node, term.topology_key).has_value());
      }
      const bool labelled = DomainOf(pod.node, term.topology_key).has_value();
      if (!labelled || !(near || (itself && !elsewhere))) Wrong("not near", pod);
    }
  }

  // The fewest only grow while pods are placed, so those that were placed with the constraint stay within its skew.
  void JudgeSpread(const PodFacts& pod, const model::SpreadFacts& spread) {
    const std::optional<std::string> here = DomainOf(pod.node, spread.term.topology_key);
    if (!here.has_value()) return Wrong("spread", pod);
    std::map<std::string, int> pods;
    for (const NodeFacts& node : after_.nodes) {
      if (CountsFor(pod, spread, node)) pods[*ValueOf(node.labels, spread.term.topology_key)];
    }
    int of_others = 0;
    for (const PodFacts& other : after_.pods) {
      const NodeFacts* const node = Named(after_.nodes, other.node);
      if (!TakesRoom(other) || other.terminating || node == nullptr || !CountsFor(pod, spread, *node) || !Selects(spread.term.selector, other, false)) continue;
      const std::string domain = *ValueOf(node->labels, spread.term.topology_key);
      ++pods[domain];
      const bool placed = std::find(placed_.begin(), placed_.end(), &other) != placed_.end();
      const bool same = std::count(other.wants.spreads.begin(), other.wants.spreads.end(), spread) > 0;
      if (placed && !same && domain == *here) ++of_others;
    }
    int fewest = pods.empty() || static_cast<int>(pods.size()) < spread.min_domains ? 0 : pods.begin()->second;
    for (const auto& [domain, count] : pods) fewest = static_cast<int>(pods.size()) < spread.min_domains ? 0 : std::min(fewest, count);
    const auto there = pods.find(*here);
    if ((there == pods.end() ? 0 : there->second) - of_others > spread.max_skew + fewest && Selects(spread.term.selector, pod, false)) Wrong("spread", pod);
  }
  bool CountsFor(const PodFacts& pod, const model::SpreadFacts& spread, const NodeFacts& node) const {
    for (const model::SpreadFacts& each : pod.wants.spreads) {
      if (each.required && !ValueOf(node.labels, each.term.topology_key).has_value()) return false;
    }
    if (spread.honors_affinity) {
      for (const auto& [key, value] : pod.wants.selector) {
        if (ValueOf(node.labels, key) != value) return false;
      }
      if (pod.wants.has_affinity && !AnyTermHolds(pod.wants.affinity, node)) return false;
    }
    return !spread.honors_taints || std::all_of(node.taints.begin(), node.taints.end(), [&](const auto& taint) { return Tolerates(pod, taint); });
  }

  void JudgeClaims(const PodFacts& pod) {
    for (const std::string& key : pod.wants.claims) {
      const model::ClaimFacts* const claim = Named(after_.claims, key.substr(key.find('/') + 1));
      const model::VolumeFacts* const volume = claim == nullptr ? nullptr : Named(after_.volumes, claim->volume);
      if (volume == nullptr || claim->phase != model::ClaimPhase::kBound || claim->ending) {
        Wrong("claim", pod);
        continue;
      }
      for (const auto& terms : volume->selectors) {
        if (!AnyTermHolds(terms, *Named(after_.nodes, pod.node))) Wrong("volume", pod);
      }
      for (const PodFacts& other : after_.pods) {
        const bool uses = std::count(other.wants.claims.begin(), other.wants.claims.end(), key) > 0;
        if (claim->one_pod && other.name != pod.name && uses && TakesRoom(other)) Wrong("claim for one pod", pod);
      }
    }
  }

  int There(const std::string& gang, const std::string& role = "", const std::string& partition = "") const {
    return static_cast<int>(std::count_if(after_.pods.begin(), after_.pods.end(), [&](const PodFacts& pod) {
      return pod.gang == gang && (role.empty() || pod.role == role) && (partition.empty() || pod.partition == partition) && IsThere(pod);
    }));
  }

  void JudgeGang(const std::string& name) {
    const model::GangFacts* const gang = Named(after_.gangs, name);
    const auto wrong = [&](const char* rule) { wrong_.push_back(absl::StrCat(rule, ": ", name)); };
    if (gang == nullptr) return wrong("no gang");
    if (gang->phase == model::GangPhase::kPending && !let_in_.contains(name)) wrong("not let in");
    if (There(name) < gang->min_member) wrong("minimum");
    int sum = 0;
    for (const auto& [role, minimum] : gang->min_task_member) sum += minimum;
    for (const auto& [role, minimum] : gang->min_task_member) {
      if (sum <= gang->min_member && There(name, role) < minimum) wrong("role's minimum");  // else they do not count
    }
    for (const model::SubGroupFacts& policy : gang->sub_groups) {
      std::set<std::string> whole;
      for (const PodFacts& pod : after_.pods) {
        if (pod.gang == name && pod.role == policy.role && !pod.partition.empty() && There(name, policy.role, pod.partition) >= policy.size) whole.insert(pod.partition);
      }
      if (static_cast<int>(whole.size()) < policy.min_groups) wrong("sub-groups");
    }
  }

  void JudgeSubGroup(const PodFacts& pod) {
    const model::GangFacts* const gang = Named(after_.gangs, pod.gang);
    if (gang == nullptr || pod.partition.empty()) return;
    for (const model::SubGroupFacts& policy : gang->sub_groups) {
      if (policy.role == pod.role && There(pod.gang, pod.role, pod.partition) < policy.size) Wrong("part of a sub-group", pod);
    }
  }

  // Of what the pod asks for; no limit of cpu and memory is one of zero.
  void JudgeQueue(const PodFacts& pod) {
    const model::GangFacts* const gang = Named(after_.gangs, pod.gang);
    if (gang == nullptr) return;
    for (const model::QueueFacts* queue = Named(after_.queues, gang->queue); queue != nullptr; queue = Named(after_.queues, queue->parent)) {
      for (const auto& [resource, limit] : queue->capability) {
        const bool limited = limit > 0 || (resource != "cpu" && resource != "memory");
        if (limited && Amount(pod.wants.requests, resource) > 0 && HeldBelow(*queue, resource) > limit) Wrong("capability", pod);
      }
    }
  }
  std::int64_t HeldBelow(const model::QueueFacts& above, const std::string& resource) const {
    std::int64_t held = 0;
    for (const PodFacts& pod : after_.pods) {
      const model::GangFacts* const gang = Named(after_.gangs, pod.gang);
      if (gang == nullptr || !TakesRoom(pod)) continue;
      for (const model::QueueFacts* queue = Named(after_.queues, gang->queue); queue != nullptr; queue = Named(after_.queues, queue->parent)) {
        if (queue == &above) held += Amount(pod.wants.requests, resource);
      }
    }
    return held;
  }

  const Events& before_;
  Events after_;
  const std::set<std::string> let_in_;
  std::vector<const PodFacts*> placed_;
  std::vector<std::string> wrong_;
};

}  // namespace

std::vector<std::string> Judge(const Events& events, const Placed& placed, const std::vector<std::string>& let_in) { return Judging(events, placed, let_in).Run(); }

}  // namespace gangway::testutil
