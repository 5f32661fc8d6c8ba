#include "tests/simulation/places.h"

#include <algorithm>
#include <regex>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/field_table.h"
#include "api/json_value.h"
#include "base/check.h"
#include "tests/simulation/checkers.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;
using api::NamespacedName;
using api::core::Node;
using api::core::PersistentVolume;
using api::core::PersistentVolumeClaim;
using api::core::Pod;
using api::volcano::HyperNode;
using api::volcano::PodGroup;
using sandbox::JournalRecord;
using Labels = std::map<std::string, std::string>;

constexpr char kRequired[] = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr absl::Duration kRemembered = absl::Minutes(20);  // longer than a gang awaits its volumes

template <class T>
T Decoded(const Bytes& bytes) {
  auto object = api::Decode<T>(*bytes);
  GW_CHECK(object.ok());
  return *std::move(object);
}

bool Stands(const Pod& pod) { return pod.bound() && !pod.ended(); }
bool Leaves(const Pod& pod) { return pod.ended() || pod.metadata.deleting(); }

const std::string* Find(const Labels& labels, const std::string& key) {
  const auto it = labels.find(key);
  return it == labels.end() ? nullptr : &it->second;
}

bool Holds(const api::core::SelectorRequirement& asked, const Labels& labels) {
  const std::string* const value = Find(labels, asked.key);
  const bool among =
      value != nullptr && std::find(asked.values.begin(), asked.values.end(), *value) != asked.values.end();
  if (asked.op == "In") return among;
  if (asked.op == "NotIn") return !among;
  if (asked.op == "Exists") return value != nullptr;
  if (asked.op == "DoesNotExist") return value == nullptr;
  std::int64_t is = 0, border = 0;
  if (value == nullptr || asked.values.size() != 1 || !absl::SimpleAtoi(*value, &is) ||
      !absl::SimpleAtoi(asked.values[0], &border))
    return false;
  return asked.op == "Gt" ? is > border : is < border;
}

bool ToleratesOne(const api::core::Toleration& toleration, const api::core::Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (toleration.op == "Exists" && toleration.key.empty()) return true;
  return toleration.key == taint.key && (toleration.op == "Exists" || toleration.value == taint.value);
}

json::array Array(const json::object& object, const char* name) {
  const json::value* const part = object.if_contains(name);
  return part == nullptr || !part->is_array() ? json::array() : part->as_array();
}
json::array ArrayOf(const api::Document& document, const char* name) {
  if (document.empty()) return {};
  const auto parsed = api::ParseJson(document.json);
  return parsed.ok() && parsed->is_object() ? Array(parsed->as_object(), name) : json::array();
}

// In Kubernetes' words, of a node's labels.
bool AnyTermHolds(const api::core::NodeSelector& selector, const Node& node) {
  return std::any_of(selector.terms.begin(), selector.terms.end(), [&](const api::core::NodeSelectorTerm& term) {
    return !term.match_expressions.empty() &&
           std::all_of(term.match_expressions.begin(), term.match_expressions.end(),
                       [&](const auto& asked) { return Holds(asked, node.metadata.labels); });
  });
}

// Also its cordon; a taint that only prefers otherwise is none.
bool ToleratesAll(const Pod& pod, const Node& node) {
  std::vector<api::core::Taint> taints = node.spec.taints;
  if (node.spec.unschedulable) taints.push_back({"node.kubernetes.io/unschedulable", "", "NoSchedule"});
  return std::all_of(taints.begin(), taints.end(), [&](const api::core::Taint& taint) {
    return taint.effect == "PreferNoSchedule" ||
           std::any_of(pod.spec.tolerations.begin(), pod.spec.tolerations.end(),
                       [&](const auto& toleration) { return ToleratesOne(toleration, taint); });
  });
}

}  // namespace

// ---- what a pod wants

Places::Term Places::TermOf(const std::string& text) {
  const json::value term = *api::ParseJson(text);
  const json::value* const selector = term.as_object().if_contains("labelSelector");
  Term out;
  const auto parsed = api::LabelSelector::FromJson(selector == nullptr ? "" : api::ToJson(*selector));
  out.selector = parsed.ok() ? *parsed : api::LabelSelector::Nothing();
  out.key = std::string(term.at("topologyKey").as_string());
  for (const json::value& name : Array(term.as_object(), "namespaces"))
    out.namespaces.insert(std::string(name.as_string()));
  return out;
}

Places::Wants Places::WantsOf(const Pod& pod) {
  Wants wants;
  if (pod.spec.affinity.has_value()) {
    for (const json::value& term : ArrayOf(pod.spec.affinity->pod_affinity, kRequired))
      wants.near.push_back(TermOf(api::ToJson(term)));
    for (const json::value& term : ArrayOf(pod.spec.affinity->pod_anti_affinity, kRequired))
      wants.apart.push_back(TermOf(api::ToJson(term)));
  }
  if (!pod.spec.topology_spread_constraints.empty()) {
    const json::value all = *api::ParseJson(pod.spec.topology_spread_constraints.json);
    for (const json::value& each : all.as_array()) {
      const json::object& constraint = each.as_object();
      const auto text = [&](const char* name) {
        return constraint.contains(name) ? std::string(constraint.at(name).as_string()) : std::string();
      };
      const auto number = [&](const char* name) {
        return constraint.contains(name) ? constraint.at(name).to_number<int>() : 1;
      };
      if (text("whenUnsatisfiable") == "ScheduleAnyway") continue;
      Spread spread{TermOf(api::ToJson(each)),
                    number("maxSkew"),
                    number("minDomains"),
                    text("nodeAffinityPolicy") != "Ignore",
                    text("nodeTaintsPolicy") == "Honor",
                    api::ToJson(each)};
      wants.spreads.push_back(std::move(spread));
    }
  }
  if (pod.spec.volumes.empty()) return wants;
  const json::value volumes = *api::ParseJson(pod.spec.volumes.json);
  for (const json::value& volume : volumes.as_array()) {
    if (const json::value* const claim = volume.as_object().if_contains("persistentVolumeClaim"))
      wants.claims.emplace_back(claim->at("claimName").as_string());
  }
  return wants;
}

const Places::Wants& Places::KnownWants(const Pod& pod) const {
  const auto [it, fresh] = wants_.try_emplace(pod.metadata.uid);
  if (fresh) it->second = WantsOf(pod);
  return it->second;
}

bool Places::Selects(const Term& term, const Pod& from, const Pod& pod) {
  const bool in_namespace =
      term.namespaces.empty() ? pod.metadata.ns == from.metadata.ns : term.namespaces.contains(pod.metadata.ns);
  return in_namespace && term.selector.Matches(pod.metadata.labels);
}
bool Places::AllSelect(const std::vector<Term>& terms, const Pod& from, const Pod& pod) {
  return std::all_of(terms.begin(), terms.end(), [&](const Term& term) { return Selects(term, from, pod); });
}

std::optional<std::string> Places::DomainOf(const std::string& node, const std::string& key) const {
  const auto it = nodes_.find(node);
  const std::string* const value = it == nodes_.end() ? nullptr : Find(it->second.metadata.labels, key);
  return value == nullptr ? std::nullopt : std::optional(*value);
}
bool Places::Alike(const std::string& node, const std::string& other, const std::string& key) const {
  const std::optional<std::string> domain = DomainOf(node, key);
  return domain.has_value() && domain == DomainOf(other, key);
}

// ---- what the journal tells

void Places::OnRecord(const JournalRecord& record, const std::string& where) {
  if (record.resource == &api::kNodes) {
    OnNode(record);
  } else if (record.resource == &api::volcano::kHyperNodes) {
    moved_ = record.time;
    nodes_of_.clear();
    hyper_nodes_.erase(record.key.name);
    if (record.after != nullptr) hyper_nodes_.emplace(record.key.name, Decoded<HyperNode>(record.after));
  } else if (record.resource == &api::kPersistentVolumeClaims) {
    OnClaim(record, where);
  } else if (record.resource == &api::kPersistentVolumes) {
    OnVolume(record, where);
  }
}

void Places::OnNode(const JournalRecord& record) {
  const auto it = nodes_.find(record.key.name);
  std::optional<Node> now;
  if (record.after != nullptr) now = Decoded<Node>(record.after);
  const auto taints = [](const Node& node) {
    std::multiset<std::string> texts;
    for (const auto& taint : node.spec.taints)
      texts.insert(absl::StrCat(taint.key, "=", taint.value, ":", taint.effect));
    return texts;
  };
  const bool same = now.has_value() && it != nodes_.end() && it->second.metadata.labels == now->metadata.labels &&
                    it->second.spec.unschedulable == now->spec.unschedulable && taints(it->second) == taints(*now);
  if (!same) {
    moved_ = record.time;
    nodes_of_.clear();
  }
  if (it != nodes_.end()) nodes_.erase(it);
  if (now.has_value()) nodes_.emplace(record.key.name, *std::move(now));
}

// A volume has one claim, and no claim has another's.
void Places::OnClaim(const JournalRecord& record, const std::string& where) {
  if (record.after == nullptr) {
    claims_.erase(record.key);
    return;
  }
  SeenClaim& seen = claims_[record.key];
  const bool was_bound = seen.claim.status.phase == "Bound";
  if (seen.claim.metadata.uid != record.uid) seen = {};
  seen.claim = Decoded<PersistentVolumeClaim>(record.after);
  const bool is_bound = seen.claim.status.phase == "Bound";
  if (record.client == rules_.scheduler) seen.asked = record.time;
  if (is_bound && !was_bound) seen.bound = record.time;
  if (!is_bound && was_bound) seen.ceased = record.time;
  const std::string& volume = seen.claim.spec.volume_name;
  if (volume.empty()) return;
  for (const auto& [key, other] : claims_) {
    if (key == record.key || other.claim.spec.volume_name != volume) continue;
    tell_(Rule::kVolumeTwice, absl::StrCat("volume ", volume, " is that of ", key.ToString(), " already at ", where));
  }
}

void Places::OnVolume(const JournalRecord& record, const std::string& where) {
  if (record.after == nullptr) {
    volumes_.erase(record.key.name);
    volumes_gone_[record.key.name] = record.time;
    return;
  }
  PersistentVolume volume = Decoded<PersistentVolume>(record.after);
  PersistentVolume& old = volumes_[record.key.name];
  const std::string of = old.metadata.uid == record.uid && old.spec.claim.has_value() ? old.spec.claim->uid : "";
  const std::string to = volume.spec.claim.has_value() ? volume.spec.claim->uid : "";
  if (record.client == rules_.scheduler && volume.spec.claim.has_value()) {
    if (const auto claim = claims_.find({volume.spec.claim->ns, volume.spec.claim->name}); claim != claims_.end())
      claim->second.asked = record.time;
  }
  for (const auto& [key, seen] : claims_) {
    if (of.empty() || of == to || seen.claim.metadata.uid != of) continue;
    tell_(Rule::kVolumeTwice,
          absl::StrCat("volume ", record.key.name, " was kept for ", key.ToString(), ", and then for ",
                       to.empty() ? "nobody" : volume.spec.claim->name, " at ", where));
  }
  old = std::move(volume);
}

void Places::OnPod(const Pod* before, const Pod* after, absl::Time now) {
  const bool same = before != nullptr && after != nullptr && after->metadata.uid == before->metadata.uid;
  if (before != nullptr && !Leaves(*before) && (!same || Leaves(*after))) departed_.push_back({*before, now});
  // One that begins to go is not gone.
  const bool went = before != nullptr && Leaves(*before) && !before->ended() && (!same || after->ended());
  if (went) departed_.push_back({*before, now});
  std::erase_if(departed_, [&](const Departed& each) { return now - each.at > kRemembered; });
  if (before != nullptr && !same) wants_.erase(before->metadata.uid);
}

absl::Time Places::ChosenAt(const Pod& pod, absl::Time bound) const {
  absl::Time chosen = bound;
  if (claims_.empty()) return chosen;
  const PodGroup* const group = group_of_(pod);
  const auto look = [&](const Pod& of) {
    for (const std::string& name : KnownWants(of).claims) {
      const auto claim = claims_.find({of.metadata.ns, name});
      if (claim == claims_.end() || !claim->second.asked.has_value() ||
          claim->second.bound < pod.metadata.creation_timestamp.at)
        continue;
      chosen = std::min(chosen, *claim->second.asked);
    }
  };
  look(pod);
  for (const auto& [key, other] : pods_) {
    if (group != nullptr && !KnownWants(other).claims.empty() && group_of_(other) == group) look(other);
  }
  return chosen;
}

// Nothing is new to the scheduler.
bool Places::StoodStill(absl::Time chosen) const { return chosen - moved_ >= rules_.known; }

// ---- a pod gets its node

void Places::OnBinding(const Pod& pod, absl::Time now, const std::string& where) {
  if (!nodes_.contains(pod.spec.node_name)) return;
  const absl::Time chosen = ChosenAt(pod, now);
  CheckVolumes(pod, now, chosen, where);
  if (!StoodStill(chosen)) return;
  CheckApart(pod, where);
  CheckTopology(pod, where);
  const Wants& wants = KnownWants(pod);
  if (rules_.bindings_fail || (wants.near.empty() && wants.spreads.empty())) return;
  Settling settling{{pod.metadata.ns, pod.metadata.name}, pod.metadata.uid, where, now, chosen,
                    AllSelect(wants.near, pod, pod)};
  for (const auto& [key, other] : pods_) {
    if (other.metadata.uid == pod.metadata.uid || !Stands(other) || !AllSelect(wants.near, pod, other)) continue;
    for (const Term& term : wants.near)
      settling.first = settling.first && !DomainOf(other.spec.node_name, term.key).has_value();
  }
  settling_.push_back(std::move(settling));
}

void Places::CheckApart(const Pod& pod, const std::string& where) {
  const auto apart = [&](const Pod& from, const Pod& other) {
    const auto& terms = KnownWants(from).apart;
    return std::any_of(terms.begin(), terms.end(), [&](const Term& term) {
      return Selects(term, from, other) && Alike(from.spec.node_name, other.spec.node_name, term.key);
    });
  };
  for (const auto& [key, other] : pods_) {
    if (other.metadata.uid == pod.metadata.uid || !Stands(other)) continue;
    if (apart(pod, other))
      tell_(Rule::kAntiAffinity,
            absl::StrCat("a pod was put beside ", key.ToString(), ", which it keeps away from, at ", where));
    if (apart(other, pod))
      tell_(Rule::kAntiAffinity,
            absl::StrCat("a pod was put beside ", key.ToString(), ", which keeps it away, at ", where));
  }
}

bool Places::LostVolume(const Pod& pod) const {
  const Wants& wants = KnownWants(pod);
  return std::any_of(wants.claims.begin(), wants.claims.end(), [&](const std::string& name) {
    const auto claim = claims_.find({pod.metadata.ns, name});
    if (claim == claims_.end()) return false;
    const PersistentVolumeClaim& known = claim->second.claim;
    return known.status.phase == "Lost" ||
           (!known.spec.volume_name.empty() && !volumes_.contains(known.spec.volume_name));
  });
}

void Places::CheckVolumes(const Pod& pod, absl::Time now, absl::Time chosen, const std::string& where) {
  const auto lately = [&](absl::Time at) { return now - std::max(at, disturbed_) < rules_.known; };
  for (const std::string& name : KnownWants(pod).claims) {
    const auto claim = claims_.find({pod.metadata.ns, name});
    if (claim == claims_.end()) {
      if (!lately(absl::InfinitePast()))
        tell_(Rule::kVolumeBound, absl::StrCat("claim ", name, " is not there at ", where));
      continue;
    }
    const SeenClaim& seen = claim->second;
    if (seen.claim.status.phase != "Bound") {
      if (!lately(seen.ceased))
        tell_(Rule::kVolumeBound, absl::StrCat("claim ", name, " is ", seen.claim.status.phase, " at ", where));
      continue;
    }
    const auto volume = volumes_.find(seen.claim.spec.volume_name);
    if (volume == volumes_.end()) {
      const auto gone = volumes_gone_.find(seen.claim.spec.volume_name);
      if (gone == volumes_gone_.end() || !lately(gone->second))
        tell_(Rule::kVolumeBound,
              absl::StrCat("volume ", seen.claim.spec.volume_name, " of claim ", name, " is not there at ", where));
      continue;
    }
    const auto& affinity = volume->second.spec.node_affinity;
    if (!StoodStill(chosen) || !affinity.has_value() || !affinity->required.has_value() ||
        AnyTermHolds(*affinity->required, nodes_.at(pod.spec.node_name)))
      continue;
    tell_(Rule::kVolumeReach, absl::StrCat("node ", pod.spec.node_name, " does not reach volume ", volume->first,
                                           " of claim ", name, " at ", where));
  }
}

// ---- HyperNodes

void Places::AddNodesOf(const HyperNode& of, std::set<std::string>& seen, std::set<std::string>& nodes) const {
  if (!seen.insert(of.metadata.name).second) return;
  for (const api::volcano::MemberSpec& member : of.spec.members) {
    const auto selects = [&selector = member.selector](const std::string& name, const Labels& labels) {
      if (selector.exact_match.has_value()) return name == selector.exact_match->name;
      if (selector.regex_match.has_value()) return std::regex_search(name, std::regex(selector.regex_match->pattern));
      const auto by_labels = selector.label_match.has_value()
                                 ? api::LabelSelector::FromJson(api::Encode(*selector.label_match))
                                 : absl::NotFoundError("");
      return by_labels.ok() && by_labels->Matches(labels);
    };
    for (const auto& [name, node] : nodes_) {
      if (member.type == "Node" && selects(name, node.metadata.labels)) nodes.insert(name);
    }
    for (const auto& [name, other] : hyper_nodes_) {
      if (member.type == "HyperNode" && selects(name, other.metadata.labels)) AddNodesOf(other, seen, nodes);
    }
  }
}

const std::set<std::string>& Places::NodesOf(const HyperNode& hyper_node) {
  const auto [it, fresh] = nodes_of_.try_emplace(hyper_node.metadata.name);
  std::set<std::string> seen;
  if (fresh) AddNodesOf(hyper_node, seen, it->second);
  return it->second;
}

// One HyperNode of the tier has them all.
bool Places::LieTogether(const api::volcano::NetworkTopologySpec& topology, const std::vector<const Pod*>& pods) {
  if (!topology.hard() || (!topology.highest_tier_allowed.has_value() && topology.highest_tier_name.empty()))
    return true;
  std::int64_t widest = topology.highest_tier_allowed.value_or(-1);
  for (const auto& [name, each] : hyper_nodes_) {
    if (!topology.highest_tier_allowed.has_value() && each.spec.tier_name == topology.highest_tier_name)
      widest = std::max(widest, each.spec.tier);
  }
  return std::any_of(hyper_nodes_.begin(), hyper_nodes_.end(), [&](const auto& each) {
    if (each.second.spec.tier > widest) return false;
    const std::set<std::string>& nodes = NodesOf(each.second);
    return std::all_of(pods.begin(), pods.end(), [&](const Pod* pod) { return nodes.contains(pod->spec.node_name); });
  });
}

void Places::CheckTopology(const Pod& pod, const std::string& where) {
  const PodGroup* const group = group_of_(pod);
  const auto asks = [](const auto& of) { return of.network_topology.has_value(); };
  if (group == nullptr || (!asks(group->spec) && std::none_of(group->spec.sub_group_policy.begin(),
                                                              group->spec.sub_group_policy.end(), asks)))
    return;
  std::vector<const Pod*> all;
  for (const auto& [key, other] : pods_) {
    if (Stands(other) && !other.metadata.deleting() && group_of_(other) == group &&
        nodes_.contains(other.spec.node_name))
      all.push_back(&other);
  }
  if (group->spec.network_topology.has_value() && !LieTogether(*group->spec.network_topology, all)) {
    tell_(Rule::kTopology, absl::StrCat("gang ", group->metadata.name, " lies in no HyperNode of its tier at ", where));
  }
  for (const api::volcano::SubGroupPolicySpec& policy : group->spec.sub_group_policy) {
    const auto selector = policy.label_selector.has_value()
                              ? api::LabelSelector::FromJson(api::Encode(*policy.label_selector))
                              : absl::NotFoundError("");
    if (!policy.network_topology.has_value() || !selector.ok() || !selector->Matches(pod.metadata.labels)) continue;
    std::vector<const Pod*> part;
    std::copy_if(all.begin(), all.end(), std::back_inserter(part), [&](const Pod* other) {
      return selector->Matches(other->metadata.labels) &&
             std::all_of(policy.match_label_keys.begin(), policy.match_label_keys.end(), [&](const std::string& key) {
               const std::string* const value = Find(pod.metadata.labels, key);
               const std::string* const its = Find(other->metadata.labels, key);
               return value != nullptr && its != nullptr && *value == *its;
             });
    });
    if (!LieTogether(*policy.network_topology, part))
      tell_(Rule::kPartTopology,
            absl::StrCat("a sub-group of ", group->metadata.name, " lies in no HyperNode of its tier at ", where));
  }
}

// ---- what holds when all bindings of a decision have arrived

void Places::Settle(absl::Time now) {
  if (settling_.empty() || now - settling_.front().bound < rules_.settles) return;
  for (const Settling& settling : settling_) {
    if (now - settling.bound >= rules_.settles) JudgeSettled(settling);
  }
  std::erase_if(settling_, [&](const Settling& settling) { return now - settling.bound >= rules_.settles; });
}

// Nobody can know of what moved, or was broken, a moment before; or put the others where they should be afterwards.
void Places::JudgeSettled(const Settling& settling) {
  const auto it = pods_.find(settling.key);
  if (it == pods_.end() || it->second.metadata.uid != settling.uid || Leaves(it->second)) return;
  if (settling.chosen - std::max(moved_, disturbed_) < rules_.known) return;
  const Pod& pod = it->second;
  const Wants& wants = KnownWants(pod);
  if (!wants.near.empty()) JudgeNear(settling, pod, wants);
  for (const Spread& spread : wants.spreads) JudgeSpread(settling, pod, wants, spread);
}

bool Places::OneHasLeft(const Term& term, const Pod& pod, absl::Time since) const {
  return std::any_of(departed_.begin(), departed_.end(),
                     [&](const Departed& each) { return each.at >= since && Selects(term, pod, each.pod); });
}

void Places::JudgeNear(const Settling& settling, const Pod& pod, const Wants& wants) {
  for (const Term& term : wants.near) {
    if (OneHasLeft(term, pod, settling.chosen - rules_.known)) continue;
    const bool near = std::any_of(pods_.begin(), pods_.end(), [&](const auto& each) {
      const Pod& other = each.second;
      return other.metadata.uid != pod.metadata.uid && Stands(other) && AllSelect(wants.near, pod, other) &&
             Alike(other.spec.node_name, pod.spec.node_name, term.key);
    });
    if (near || (settling.first && DomainOf(pod.spec.node_name, term.key).has_value())) continue;
    tell_(Rule::kAffinity,
          absl::StrCat("no pod that this one wants to be near is in its ", term.key, " after ", settling.where));
  }
}

bool Places::CountsFor(const Pod& pod, const Wants& wants, const Spread& spread, const Node& node) const {
  for (const Spread& each : wants.spreads) {
    if (Find(node.metadata.labels, each.term.key) == nullptr) return false;
  }
  if (spread.honors_affinity) {
    for (const auto& [key, value] : pod.spec.node_selector) {
      const std::string* const is = Find(node.metadata.labels, key);
      if (is == nullptr || *is != value) return false;
    }
    const bool asks = pod.spec.affinity.has_value() && pod.spec.affinity->node_affinity.has_value() &&
                      pod.spec.affinity->node_affinity->required.has_value();
    if (asks && !AnyTermHolds(*pod.spec.affinity->node_affinity->required, node)) return false;
  }
  return !spread.honors_taints || ToleratesAll(pod, node);
}

// Where the fewest are, there only come more while a decision's bindings arrive; so those that were placed by the
// constraint stay within its skew.
void Places::JudgeSpread(const Settling& settling, const Pod& pod, const Wants& wants, const Spread& spread) {
  const std::optional<std::string> here = DomainOf(pod.spec.node_name, spread.term.key);
  if (!here.has_value())
    return tell_(Rule::kSpread, absl::StrCat("the node has no ", spread.term.key, " at ", settling.where));
  if (!Selects(spread.term, pod, pod) || OneHasLeft(spread.term, pod, settling.chosen - rules_.known)) return;
  std::map<std::string, int> pods;
  for (const auto& [name, node] : nodes_) {
    if (CountsFor(pod, wants, spread, node)) pods[*Find(node.metadata.labels, spread.term.key)];
  }
  for (const auto& [key, other] : pods_) {
    const auto node = nodes_.find(other.spec.node_name);
    if (!Stands(other) || other.metadata.deleting() || !Selects(spread.term, pod, other) || node == nodes_.end() ||
        !CountsFor(pod, wants, spread, node->second))
      continue;
    const auto& its = KnownWants(other).spreads;
    if (std::none_of(its.begin(), its.end(), [&](const Spread& each) { return each.text == spread.text; }))
      return;  // it may have come here since
    ++pods[*Find(node->second.metadata.labels, spread.term.key)];
  }
  int fewest = pods.empty() || static_cast<int>(pods.size()) < spread.min_domains ? 0 : pods.begin()->second;
  if (fewest > 0) {
    for (const auto& [domain, count] : pods) fewest = std::min(fewest, count);
  }
  if (pods[*here] - fewest <= spread.max_skew) return;
  tell_(Rule::kSpread, absl::StrCat(spread.term.key, " ", *here, " has ", pods[*here], " pods, another ", fewest,
                                    ", and the skew is ", spread.max_skew, " at most, after ", settling.where));
}

}  // namespace gangway::testutil
