#include "tests/plugin/gang/judge.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
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
    case model::Op::kIn:
      return listed;
    case model::Op::kNotIn:
      return !listed;
    case model::Op::kExists:
      return value.has_value();
    case model::Op::kDoesNotExist:
      return !value.has_value();
    default:
      return false;  // not drawn
  }
}
bool AllHold(const std::vector<model::RequirementFacts>& requirements, const Labels& labels,
             const std::string& name = "") {
  return std::all_of(requirements.begin(), requirements.end(),
                     [&](const auto& requirement) { return Holds(requirement, labels, name); });
}
bool AnyTermHolds(const std::vector<model::TermFacts>& terms, const NodeFacts& node) {
  return std::any_of(terms.begin(), terms.end(),
                     [&](const auto& term) { return !term.empty() && AllHold(term, node.labels, node.name); });
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
  return pod.phase == PodPhase::kSucceeded || (!pod.node.empty() && !pod.terminating &&
                                               (pod.phase == PodPhase::kPending || pod.phase == PodPhase::kRunning));
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
  Judging(const Events& before, const Placed& placed, const std::vector<std::string>& let_in)
      : before_(before), after_(before), let_in_(let_in.begin(), let_in.end()) {
    for (const auto& [pod, node] : placed) Put(pod, node);
  }

  std::vector<std::string> Run() && {
    std::set<std::string> gangs;
    for (const PodFacts* const pod : placed_) {
      JudgeNode(*pod, *Named(after_.nodes, pod->node));
      JudgeNeighbours(*pod);
      JudgeClaims(*pod);
      JudgeSubGroup(*pod);
      JudgeTopology(*pod);
      JudgeQueue(*pod);
      gangs.insert(pod->gang);
    }
    for (const std::string& gang : gangs) JudgeGang(gang);
    std::set<std::string> given;
    if (!CanAllHaveVolumes(nodes_of_open_.begin(), given))
      wrong_.push_back("no volume: for some of the claims that wait for pods");
    return std::move(wrong_);
  }

 private:
  void Wrong(const char* rule, const PodFacts& pod) {
    wrong_.push_back(absl::StrCat(rule, ": ", pod.name, " on ", pod.node));
  }

  void Put(const std::string& name, const std::string& node) {
    const auto it =
        std::find_if(after_.pods.begin(), after_.pods.end(), [&](const PodFacts& pod) { return pod.name == name; });
    if (it == after_.pods.end() || Named(before_.nodes, node) == nullptr) {
      wrong_.push_back(absl::StrCat("absent: ", name, " on ", node));
      return;
    }
    if (!it->node.empty() || !it->ours || it->gated || it->terminating || Ended(*it)) Wrong("not waiting", *it);
    it->node = node;
    placed_.push_back(&*it);
  }

  void JudgeNode(const PodFacts& pod, const NodeFacts& node) {
    if (node.unschedulable &&
        !Tolerates(pod, {"node.kubernetes.io/unschedulable", "", model::TaintEffect::kNoSchedule}))
      Wrong("cordoned", pod);
    for (const auto& [key, value] : pod.wants.selector) {
      if (ValueOf(node.labels, key) != value) Wrong("selector", pod);
    }
    if (pod.wants.has_affinity && !AnyTermHolds(pod.wants.affinity, node)) Wrong("affinity", pod);
    for (const model::TaintFacts& taint : node.taints) {
      if (!Tolerates(pod, taint)) Wrong("taint", pod);
    }
    for (const PodFacts& other : after_.pods) {
      if (other.name != pod.name && other.node == node.name && TakesRoom(other) && SharePort(pod, other))
        Wrong("port", pod);
    }
    for (const auto& [resource, amount] : pod.wants.requests) {
      std::int64_t used = 0;
      for (const PodFacts& other : after_.pods)
        used += other.node == node.name && TakesRoom(other) ? Amount(other.wants.requests, resource) : 0;
      if (amount > 0 && used > Amount(node.allocatable, resource)) Wrong("room", pod);
    }
  }

  // `unknown`: what to say of a namespace that nobody told of.
  bool Selects(const model::PodSelectorFacts& selector, const PodFacts& pod, bool unknown) const {
    const model::NamespaceFacts* const ns = Named(after_.namespaces, pod.ns);
    bool in_namespace = std::count(selector.namespaces.begin(), selector.namespaces.end(), pod.ns) > 0;
    if (selector.namespace_selector.has_value())
      in_namespace = in_namespace || (ns == nullptr ? unknown : AllHold(*selector.namespace_selector, ns->labels));
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
    return std::any_of(keeper.wants.pod_anti_affinity.begin(), keeper.wants.pod_anti_affinity.end(),
                       [&](const model::PodTermFacts& term) {
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

  // A pod that all terms of the affinity hold for, and that stands with it in this one.
  bool NearAnother(const PodFacts& pod, const std::vector<model::PodTermFacts>& terms,
                   const model::PodTermFacts& term) const {
    return std::any_of(after_.pods.begin(), after_.pods.end(), [&](const PodFacts& other) {
      return &other != &pod && TakesRoom(other) && AllHoldFor(terms, other) &&
             Alike(other.node, pod.node, term.topology_key);
    });
  }
  bool AllHoldFor(const std::vector<model::PodTermFacts>& terms, const PodFacts& pod) const {
    return std::all_of(terms.begin(), terms.end(),
                       [&](const model::PodTermFacts& term) { return Selects(term.selector, pod, false); });
  }

  // Near another; or the first, which others follow: no such pod was there, and no other was the first elsewhere.
  void JudgeAffinity(const PodFacts& pod) {
    const std::vector<model::PodTermFacts>& terms = pod.wants.pod_affinity;
    for (const model::PodTermFacts& term : terms) {
      const auto was_first = [&](const PodFacts& other) {
        const bool placed = std::find(placed_.begin(), placed_.end(), &other) != placed_.end();
        return !placed || (other.wants.pod_affinity == terms && !NearAnother(other, terms, term));
      };
      const bool elsewhere = std::any_of(after_.pods.begin(), after_.pods.end(), [&](const PodFacts& other) {
        return &other != &pod && TakesRoom(other) && AllHoldFor(terms, other) &&
               DomainOf(other.node, term.topology_key).has_value() && was_first(other);
      });
      const bool first = AllHoldFor(terms, pod) && !elsewhere;
      if (!DomainOf(pod.node, term.topology_key).has_value() || !(NearAnother(pod, terms, term) || first))
        Wrong("not near", pod);
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
      if (!TakesRoom(other) || other.terminating || node == nullptr || !CountsFor(pod, spread, *node) ||
          !Selects(spread.term.selector, other, false))
        continue;
      const std::string domain = *ValueOf(node->labels, spread.term.topology_key);
      ++pods[domain];
      const bool placed = std::find(placed_.begin(), placed_.end(), &other) != placed_.end();
      const bool same = std::count(other.wants.spreads.begin(), other.wants.spreads.end(), spread) > 0;
      if (placed && !same && domain == *here) ++of_others;
    }
    int fewest = pods.empty() || static_cast<int>(pods.size()) < spread.min_domains ? 0 : pods.begin()->second;
    for (const auto& [domain, count] : pods)
      fewest = static_cast<int>(pods.size()) < spread.min_domains ? 0 : std::min(fewest, count);
    const auto there = pods.find(*here);
    if ((there == pods.end() ? 0 : there->second) - of_others > spread.max_skew + fewest &&
        Selects(spread.term.selector, pod, false))
      Wrong("spread", pod);
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
    return !spread.honors_taints || std::all_of(node.taints.begin(), node.taints.end(),
                                                [&](const auto& taint) { return Tolerates(pod, taint); });
  }

  // Of a class that waits for its pod, and without a volume.
  bool IsOpen(const model::ClaimFacts& claim) const {
    const model::StorageClassFacts* const its_class = Named(after_.classes, claim.storage_class);
    return claim.phase == model::ClaimPhase::kPending && claim.volume.empty() && !claim.ending &&
           its_class != nullptr && its_class->waits_for_pod;
  }

  void JudgeClaims(const PodFacts& pod) {
    for (const std::string& key : pod.wants.claims) {
      const model::ClaimFacts* const claim = Named(after_.claims, key.substr(key.find('/') + 1));
      if (claim != nullptr) JudgeUsers(*claim, key, pod);
      if (claim != nullptr && IsOpen(*claim)) {
        nodes_of_open_[claim->name].push_back(pod.node);
        continue;
      }
      const model::VolumeFacts* const volume = claim == nullptr ? nullptr : Named(after_.volumes, claim->volume);
      if (volume == nullptr || claim->phase != model::ClaimPhase::kBound || claim->ending) {
        Wrong("claim", pod);
        continue;
      }
      if (!Reached(*volume, pod.node)) Wrong("volume", pod);
    }
  }
  bool Reached(const model::VolumeFacts& volume, const std::string& node) const {
    return std::all_of(volume.selectors.begin(), volume.selectors.end(),
                       [&](const auto& terms) { return AnyTermHolds(terms, *Named(after_.nodes, node)); });
  }
  void JudgeUsers(const model::ClaimFacts& claim, const std::string& key, const PodFacts& pod) {
    for (const PodFacts& other : after_.pods) {
      const bool uses = std::count(other.wants.claims.begin(), other.wants.claims.end(), key) > 0;
      if (claim.one_pod && other.name != pod.name && uses && TakesRoom(other)) Wrong("claim for one pod", pod);
    }
  }

  // Each gets a volume of its own that all of its pods' nodes reach, or one that is made for one of them.
  bool CanAllHaveVolumes(std::map<std::string, std::vector<std::string>>::const_iterator claim_at,
                         std::set<std::string>& given) const {
    if (claim_at == nodes_of_open_.end()) return true;
    const model::ClaimFacts& claim = *Named(after_.claims, claim_at->first);
    const model::StorageClassFacts& its_class = *Named(after_.classes, claim.storage_class);
    const auto& nodes = claim_at->second;
    const bool made =
        its_class.makes_volumes &&
        (its_class.topologies.empty() || std::any_of(nodes.begin(), nodes.end(), [&](const std::string& node) {
           return AnyTermHolds(its_class.topologies, *Named(after_.nodes, node));
         }));
    if (made && CanAllHaveVolumes(std::next(claim_at), given)) return true;
    for (const model::VolumeFacts& volume : after_.volumes) {
      const bool suits = volume.available && volume.storage_class == claim.storage_class &&
                         volume.bytes >= claim.bytes && volume.not_modelled.empty();
      const bool reached =
          std::all_of(nodes.begin(), nodes.end(), [&](const std::string& node) { return Reached(volume, node); });
      if (!suits || !reached || !given.insert(volume.name).second) continue;
      if (CanAllHaveVolumes(std::next(claim_at), given)) return true;
      given.erase(volume.name);
    }
    return false;
  }

  int There(const std::string& gang, const std::string& role = "") const {
    return static_cast<int>(std::count_if(after_.pods.begin(), after_.pods.end(), [&](const PodFacts& pod) {
      return pod.gang == gang && (role.empty() || pod.role == role) && IsThere(pod);
    }));
  }

  // The sub-group of a pod.
  struct Part {
    const model::SubGroupFacts* policy = nullptr;
    std::vector<std::string> values;
    friend bool operator==(const Part&, const Part&) = default;
  };
  static std::optional<Part> PartOf(const model::GangFacts& gang, const PodFacts& pod) {
    for (const model::SubGroupFacts& policy : gang.sub_groups) {
      if (!AllHold(policy.selector, pod.labels)) continue;
      Part part{&policy, {}};
      for (const std::string& key : policy.keys) {
        for (const auto& [name, value] : pod.labels) {
          if (name == key && !value.empty()) part.values.push_back(value);
        }
      }
      if (part.values.size() == policy.keys.size()) return part;
    }
    return std::nullopt;
  }
  int There(const model::GangFacts& gang, const Part& part) const {
    return static_cast<int>(std::count_if(after_.pods.begin(), after_.pods.end(), [&](const PodFacts& pod) {
      return pod.gang == gang.name && IsThere(pod) && PartOf(gang, pod) == part;
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
      std::set<std::vector<std::string>> whole;
      for (const PodFacts& pod : after_.pods) {
        if (pod.gang != name) continue;
        const std::optional<Part> part = PartOf(*gang, pod);
        if (part.has_value() && part->policy == &policy && There(*gang, *part) >= policy.size)
          whole.insert(part->values);
      }
      if (static_cast<int>(whole.size()) < policy.min_groups) wrong("sub-groups");
    }
  }

  void AddNodesOf(const model::HyperNodeFacts& of, std::set<std::string>& seen, std::set<std::string>& nodes) const {
    if (!seen.insert(of.name).second) return;
    for (const model::HyperNodeFacts::Member& member : of.members) {
      const auto selects = [&](const std::string& name, const Labels& labels) {
        if (member.by == model::HyperNodeFacts::By::kLabels) return AllHold(member.labels, labels);
        return member.by == model::HyperNodeFacts::By::kName ? name == member.text
                                                             : std::regex_search(name, std::regex(member.text));
      };
      for (const NodeFacts& node : after_.nodes) {
        if (member.node && selects(node.name, node.labels)) nodes.insert(node.name);
      }
      for (const model::HyperNodeFacts& other : after_.hyper_nodes) {
        if (!member.node && selects(other.name, other.labels)) AddNodesOf(other, seen, nodes);
      }
    }
  }

  // One HyperNode of the tier has all of the pods that stay.
  bool LieTogether(const model::TopologyFacts& topology, const std::vector<const PodFacts*>& pods) const {
    if (!topology.required) return true;
    std::int64_t widest = topology.tier.value_or(-1);
    for (const model::HyperNodeFacts& each : after_.hyper_nodes) {
      if (!topology.tier.has_value() && each.tier_name == topology.tier_name) widest = std::max(widest, each.tier);
    }
    return std::any_of(after_.hyper_nodes.begin(), after_.hyper_nodes.end(), [&](const model::HyperNodeFacts& each) {
      std::set<std::string> seen, nodes;
      if (each.tier <= widest) AddNodesOf(each, seen, nodes);
      return std::all_of(pods.begin(), pods.end(), [&](const PodFacts* pod) { return nodes.contains(pod->node); });
    });
  }

  void JudgeTopology(const PodFacts& pod) {
    const model::GangFacts* const gang = Named(after_.gangs, pod.gang);
    if (gang == nullptr) return;
    std::vector<const PodFacts*> of_gang, of_part;
    for (const PodFacts& other : after_.pods) {
      if (other.gang != pod.gang || !TakesRoom(other) || other.terminating ||
          Named(after_.nodes, other.node) == nullptr)
        continue;
      of_gang.push_back(&other);
      if (PartOf(*gang, other) == PartOf(*gang, pod)) of_part.push_back(&other);
    }
    if (gang->topology.has_value() && !LieTogether(*gang->topology, of_gang)) Wrong("topology", pod);
    const std::optional<Part> part = PartOf(*gang, pod);
    if (part.has_value() && part->policy->topology.has_value() && !LieTogether(*part->policy->topology, of_part))
      Wrong("sub-group's topology", pod);
  }

  void JudgeSubGroup(const PodFacts& pod) {
    const model::GangFacts* const gang = Named(after_.gangs, pod.gang);
    if (gang == nullptr) return;
    const std::optional<Part> part = PartOf(*gang, pod);
    if (part.has_value() && There(*gang, *part) < part->policy->size) Wrong("part of a sub-group", pod);
  }

  // Of what the pod asks for; no limit of cpu and memory is one of zero.
  void JudgeQueue(const PodFacts& pod) {
    const model::GangFacts* const gang = Named(after_.gangs, pod.gang);
    if (gang == nullptr) return;
    for (const model::QueueFacts* queue = Named(after_.queues, gang->queue); queue != nullptr;
         queue = Named(after_.queues, queue->parent)) {
      for (const auto& [resource, limit] : queue->capability) {
        const bool limited = limit > 0 || (resource != "cpu" && resource != "memory");
        if (limited && Amount(pod.wants.requests, resource) > 0 && HeldBelow(*queue, resource) > limit)
          Wrong("capability", pod);
      }
    }
  }
  std::int64_t HeldBelow(const model::QueueFacts& above, const std::string& resource) const {
    std::int64_t held = 0;
    for (const PodFacts& pod : after_.pods) {
      const model::GangFacts* const gang = Named(after_.gangs, pod.gang);
      if (gang == nullptr || !TakesRoom(pod)) continue;
      for (const model::QueueFacts* queue = Named(after_.queues, gang->queue); queue != nullptr;
           queue = Named(after_.queues, queue->parent)) {
        if (queue == &above) held += Amount(pod.wants.requests, resource);
      }
    }
    return held;
  }

  const Events& before_;
  Events after_;
  const std::set<std::string> let_in_;
  std::vector<const PodFacts*> placed_;
  std::map<std::string, std::vector<std::string>> nodes_of_open_;  // by claim
  std::vector<std::string> wrong_;
};

}  // namespace

std::vector<std::string> Judge(const Events& events, const Placed& placed, const std::vector<std::string>& let_in) {
  return Judging(events, placed, let_in).Run();
}

}  // namespace gangway::testutil
