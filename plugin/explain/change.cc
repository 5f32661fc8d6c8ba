#include "plugin/explain/change.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "plugin/explain/explain.h"
#include "plugin/phrases/phrases.h"

namespace gangway::explain {
namespace {

constexpr char kHostname[] = "kubernetes.io/hostname";
constexpr char kNewClass[] = "what-if";
// Of nodes that are added, all together.
constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;

std::int64_t BytesOf(const model::NodeFacts& node) {
  auto bytes = static_cast<std::int64_t>(sizeof(node) + node.name.size());
  const auto add = [&](const std::string& key, const std::string& value) {
    bytes += static_cast<std::int64_t>(2 * sizeof(std::string) + key.size() + value.size());
  };
  for (const auto& [key, value] : node.labels) add(key, value);
  for (const model::TaintFacts& taint : node.taints) add(taint.key, taint.value);
  for (const auto& [name, amount] : node.allocatable) add(name, "");
  return bytes;
}

template <class T>
const T* Look(const absl::flat_hash_map<std::string, const T*>& map, absl::string_view name) {
  const auto found = map.find(std::string(name));
  return found == map.end() ? nullptr : found->second;
}

std::string Key(absl::string_view ns, absl::string_view name) { return absl::StrCat(ns, "/", name); }

// The first so many of the pods in the order in which they are placed.
model::NamedAmounts SumOfFirst(std::vector<const model::PodFacts*> pods, int count) {
  std::sort(pods.begin(), pods.end(), [](const auto* a, const auto* b) {
    return std::tie(b->priority, a->index, a->name) < std::tie(a->priority, b->index, b->name);
  });
  model::NamedAmounts sum;
  for (std::size_t i = 0; i < pods.size() && i < static_cast<std::size_t>(std::max(count, 0)); ++i) {
    for (const auto& [dim, amount] : pods[i]->wants.requests) {
      const auto at =
          std::find_if(sum.begin(), sum.end(), [&, &name = dim](const auto& entry) { return entry.first == name; });
      if (at == sum.end()) {
        sum.emplace_back(dim, amount);
      } else {
        at->second += amount;
      }
    }
  }
  return sum;
}

// Collects what the changes, one after the other, make of the facts.
class Edit {
 public:
  Edit(const FactIndex& index, GangKey gang) : index_(index), gang_(std::move(gang)) {}

  absl::Status operator()(const MoreNodes& change) {
    const model::NodeFacts* const like = index_.FindNode(change.like);
    if (like == nullptr) return absl::NotFoundError(absl::StrCat("there is no node ", change.like));
    bytes_ += BytesOf(*like) * change.count;
    if (bytes_ > kMostBytes)
      return absl::InvalidArgumentError(absl::StrCat(change.count, " more nodes like ", change.like, ", which has ",
                                                     BytesOf(*like), " bytes of labels, taints and amounts, are more ",
                                                     "than can be tried: at most ", kMostBytes, " bytes of nodes are"));
    for (int i = 1; i <= change.count; ++i) {
      model::NodeFacts node = *like;
      node.name = absl::StrCat(change.like, "+", i);  // no node that is there has such a name
      node.unschedulable = false;
      for (auto& [key, value] : node.labels) value = key == kHostname ? node.name : value;
      events_.nodes.push_back(std::move(node));
    }
    return absl::OkStatus();
  }
  absl::Status operator()(const OtherQueue& change) {
    if (gang_.kind != model::GangKind::kVolcano) return HasNo("queue");
    GW_ASSIGN_OR_RETURN(model::GangFacts * gang, Gang());
    gang->queue = change.queue;
    return absl::OkStatus();
  }
  absl::Status operator()(const Minimum& change) {
    GW_ASSIGN_OR_RETURN(model::GangFacts * gang, Gang());
    const std::vector<const model::PodFacts*> pods = index_.PodsOf(gang_);
    // Where none is known they may be as many as that.
    if (change.min > gang->min_member && !pods.empty() && pods.size() < static_cast<std::size_t>(change.min))
      return absl::InvalidArgumentError(
          absl::StrCat("a minimum of ", change.min, ": podgroup ", gang_.ToString(), " has ", pods.size(),
                       pods.size() == 1 ? " pod" : " pods",
                       ", and never starts with fewer pods than its minimum; try min=", pods.size(), " at most"));
    gang->min_member = change.min;
    if (gang->has_min_resources && pods.size() >= static_cast<std::size_t>(change.min))
      gang->min_resources = SumOfFirst(pods, change.min);
    return absl::OkStatus();
  }
  absl::Status operator()(const Priority& change) {
    if (gang_.kind == model::GangKind::kCoscheduling) return HasNo("priority class");
    GW_ASSIGN_OR_RETURN(model::GangFacts * gang, Gang());
    if (change.value.has_value()) {
      events_.priority_classes.push_back({kNewClass, *change.value, false});
      gang->priority_class = kNewClass;
      return absl::OkStatus();
    }
    if (index_.FindClass(change.priority_class) == nullptr)
      return absl::NotFoundError(absl::StrCat("there is no priority class ", change.priority_class));
    gang->priority_class = change.priority_class;
    return absl::OkStatus();
  }
  absl::Status operator()(const Capability& change) {
    model::QueueFacts& queue = Queue(change.queue);
    for (const auto& [dim, amount] : change.amounts) {
      const auto at = std::find_if(queue.capability.begin(), queue.capability.end(),
                                   [&, &name = dim](const auto& entry) { return entry.first == name; });
      if (at == queue.capability.end()) {
        queue.capability.emplace_back(dim, amount);
      } else {
        at->second = amount;
      }
    }
    return absl::OkStatus();
  }
  absl::Status operator()(const QueueOpen& change) {
    Queue(change.queue).open = true;
    return absl::OkStatus();
  }
  absl::Status operator()(const Uncordon& change) {
    for (const std::string& name : change.nodes) {
      const model::NodeFacts* const node = index_.FindNode(name);
      if (node == nullptr) return absl::NotFoundError(absl::StrCat("there is no node ", name));
      events_.nodes.push_back(*node);
      events_.nodes.back().unschedulable = false;
    }
    return absl::OkStatus();
  }
  absl::Status operator()(const GangEnds& change) {
    if (index_.FindGang(change.gang) == nullptr)
      return absl::NotFoundError(absl::StrCat("there is no podgroup ", change.gang.ToString()));
    for (const model::PodFacts* const pod : index_.PodsOf(change.gang))
      events_.gone_pods.push_back({pod->ns, pod->name});
    events_.gone_gangs.push_back(change.gang);
    return absl::OkStatus();
  }
  absl::Status operator()(const Request& change) {
    ForPods([&](model::PodFacts& pod) {
      if (pod.role != change.role) return;
      for (auto& [dim, amount] : pod.wants.requests) amount = dim == change.dim ? change.amount : amount;
    });
    return absl::OkStatus();
  }
  absl::Status operator()(const Tolerate& change) {
    ForPods([&](model::PodFacts& pod) {
      pod.wants.tolerations.push_back({change.taint.key, change.taint.value, "", false});
    });
    return absl::OkStatus();
  }
  absl::Status operator()(const AnyNode&) {
    ForPods([](model::PodFacts& pod) {
      pod.wants.selector.clear();
      pod.wants.has_affinity = false;
      pod.wants.affinity.clear();
    });
    return absl::OkStatus();
  }
  absl::Status operator()(const NoGates&) {
    ForPods([](model::PodFacts& pod) { pod.gated = false; });
    return absl::OkStatus();
  }

  Events Take() { return std::move(events_); }

 private:
  absl::Status HasNo(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("a PodGroup of ", GroupOf(gang_.kind), " has no ", what));
  }

  absl::StatusOr<model::GangFacts*> Gang() {
    for (model::GangFacts& gang : events_.gangs) {
      if (gang.ns == gang_.ns && gang.name == gang_.name && gang.kind == gang_.kind) return &gang;
    }
    const model::GangFacts* const gang = index_.FindGang(gang_);
    if (gang == nullptr) return absl::NotFoundError(absl::StrCat("there is no podgroup ", gang_.ToString()));
    events_.gangs.push_back(*gang);
    return &events_.gangs.back();
  }

  model::QueueFacts& Queue(const std::string& name) {
    for (model::QueueFacts& queue : events_.queues) {
      if (queue.name == name) return queue;
    }
    const model::QueueFacts* const queue = index_.FindQueue(name);
    model::QueueFacts fresh;
    fresh.name = name;
    events_.queues.push_back(queue == nullptr ? fresh : *queue);
    return events_.queues.back();
  }

  // Of the gang's pods those that have no node.
  template <class F>
  void ForPods(F change) {
    for (const model::PodFacts* const fact : index_.PodsOf(gang_)) {
      if (!fact->node.empty() || fact->phase != model::PodPhase::kPending) continue;
      const auto changed = std::find_if(events_.pods.begin(), events_.pods.end(),
                                        [&](const auto& pod) { return pod.ns == fact->ns && pod.name == fact->name; });
      change(changed == events_.pods.end() ? events_.pods.emplace_back(*fact) : *changed);
    }
  }

  const FactIndex& index_;
  const GangKey gang_;
  Events events_;
  std::int64_t bytes_ = 0;
};

std::string TaintText(const model::TaintFacts& taint) {
  return absl::StrCat(taint.key, taint.value.empty() ? "" : "=", taint.value);
}

}  // namespace

FactIndex::FactIndex(const ClusterFacts& facts) : facts_(facts) {
  for (const auto& each : facts.nodes) nodes_.emplace(each.name, &each);
  for (const auto& each : facts.queues) queues_.emplace(each.name, &each);
  for (const auto& each : facts.priority_classes) classes_.emplace(each.name, &each);
  for (const auto& each : facts.gangs) gangs_.emplace(GangKey{each.ns, each.name, each.kind}.ToString(), &each);
  for (const auto* const pods : {&facts.pods, &facts.to_come}) {
    for (const auto& each : *pods) {
      pods_.emplace(Key(each.ns, each.name), &each);
      if (!each.gang.empty()) pods_by_gang_[GangKey{each.ns, each.gang, each.gang_kind}.ToString()].push_back(&each);
    }
  }
}

const model::NodeFacts* FactIndex::FindNode(absl::string_view name) const { return Look(nodes_, name); }
const model::QueueFacts* FactIndex::FindQueue(absl::string_view name) const { return Look(queues_, name); }
const model::PriorityClassFacts* FactIndex::FindClass(absl::string_view name) const { return Look(classes_, name); }
const model::GangFacts* FactIndex::FindGang(const GangKey& key) const { return Look(gangs_, key.ToString()); }
const model::PodFacts* FactIndex::FindPod(absl::string_view ns, absl::string_view name) const {
  return Look(pods_, Key(ns, name));
}
std::vector<const model::PodFacts*> FactIndex::PodsOf(const GangKey& key) const {
  const auto found = pods_by_gang_.find(key.ToString());
  return found == pods_by_gang_.end() ? std::vector<const model::PodFacts*>() : found->second;
}

absl::StatusOr<Events> EventsOf(const FactIndex& index, const GangKey& gang, absl::Span<const Change> changes) {
  Edit edit(index, gang);
  for (const Change& change : changes) GW_RETURN_IF_ERROR(std::visit(edit, change));
  return edit.Take();
}

ClusterFacts FactsWith(const ClusterFacts& facts, const Events& events) {
  ClusterFacts out = facts;
  const auto put = [](const auto& all, auto key, auto& list) {
    if (all.empty()) return;
    absl::flat_hash_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < list.size(); ++i) places.emplace(key(list[i]), i);
    for (const auto& each : all) {
      const auto place = places.find(key(each));
      if (place == places.end()) {
        list.push_back(each);
      } else {
        list[place->second] = each;
      }
    }
  };
  const auto by_name = [](const auto& each) { return each.name; };
  const auto by_gang = [](const auto& each) { return GangKey{each.ns, each.name, each.kind}.ToString(); };
  const auto by_pod = [](const auto& each) { return Key(each.ns, each.name); };
  put(events.nodes, by_name, out.nodes);
  put(events.queues, by_name, out.queues);
  put(events.priority_classes, by_name, out.priority_classes);
  put(events.gangs, by_gang, out.gangs);
  std::set<std::string> to_come, gone_gangs, gone_pods;
  for (const model::PodFacts& pod : out.to_come) to_come.insert(by_pod(pod));
  std::vector<model::PodFacts> made, not_made;
  for (const model::PodFacts& pod : events.pods) (to_come.contains(by_pod(pod)) ? not_made : made).push_back(pod);
  put(made, by_pod, out.pods);
  put(not_made, by_pod, out.to_come);
  for (const GangKey& gone : events.gone_gangs) gone_gangs.insert(gone.ToString());
  for (const GangKey& gone : events.gone_pods) gone_pods.insert(Key(gone.ns, gone.name));
  std::erase_if(out.gangs, [&](const auto& gang) { return gone_gangs.contains(by_gang(gang)); });
  for (auto* const pods : {&out.pods, &out.to_come})
    std::erase_if(*pods, [&](const auto& pod) { return gone_pods.contains(by_pod(pod)); });
  return out;
}

Words TextOf(const Change& change) {
  struct Texts {
    Words operator()(const MoreNodes& c) const {
      return c.like.empty() ? Words(phrases::kMoreNodes(c.count), c.count)
                            : Words(phrases::kMoreNodesLike(c.count), c.count, c.like);
    }
    Words operator()(const OtherQueue& c) const { return {phrases::kQueueNamed, c.queue}; }
    Words operator()(const Minimum& c) const { return {phrases::kMinimumOf, Counted(c.min, phrases::kPods)}; }
    Words operator()(const Priority& c) const {
      return c.value.has_value() ? Words(phrases::kPriorityOf, *c.value)
                                 : Words(phrases::kPriorityClassOf, c.priority_class);
    }
    Words operator()(const Capability& c) const { return {phrases::kCapabilityOf, AmountsText(c.amounts), c.queue}; }
    Words operator()(const QueueOpen& c) const { return {phrases::kQueueMade, c.queue}; }
    Words operator()(const Uncordon& c) const {
      return {phrases::kUncordoned(static_cast<std::int64_t>(c.nodes.size())), absl::StrJoin(c.nodes, ", ")};
    }
    Words operator()(const GangEnds& c) const { return {phrases::kEndOf, c.gang.ToString()}; }
    Words operator()(const Request& c) const {
      const std::string amount = model::AmountText(c.dim, c.amount);
      return c.role.empty() ? Words(phrases::kPodsAskFor, c.dim, amount)
                            : Words(phrases::kPodsOfRoleAskFor, c.role, c.dim, amount);
    }
    Words operator()(const Tolerate& c) const { return {phrases::kTolerating, TaintText(c.taint)}; }
    Words operator()(const AnyNode&) const { return phrases::kAnywhere; }
    Words operator()(const NoGates&) const { return phrases::kUngated; }
  };
  return std::visit(Texts(), change);
}

std::string WhatIfOf(const Change& change) {
  struct Words {
    std::string operator()(const MoreNodes& c) const {
      return absl::StrCat("nodes=+", c.count, c.like.empty() ? "" : ":", c.like);
    }
    std::string operator()(const OtherQueue& c) const { return absl::StrCat("queue=", c.queue); }
    std::string operator()(const Minimum& c) const { return absl::StrCat("min=", c.min); }
    std::string operator()(const Priority& c) const {
      return c.value.has_value() ? absl::StrCat("priority=", *c.value) : absl::StrCat("priority=", c.priority_class);
    }
    std::string operator()(const Capability&) const { return ""; }
    std::string operator()(const QueueOpen&) const { return ""; }
    std::string operator()(const Uncordon& c) const {
      return c.nodes.size() == 1 ? absl::StrCat("uncordon=", c.nodes.front()) : "";
    }
    std::string operator()(const GangEnds& c) const {
      const bool plain = c.gang.kind == model::GangKind::kVolcano;
      return absl::StrCat("without=", plain ? "" : absl::StrCat("podgroup.", GroupOf(c.gang.kind), "/"), c.gang.ns, "/",
                          c.gang.name);
    }
    std::string operator()(const Request&) const { return ""; }
    std::string operator()(const Tolerate&) const { return ""; }
    std::string operator()(const AnyNode&) const { return ""; }
    std::string operator()(const NoGates&) const { return ""; }
  };
  return std::visit(Words(), change);
}

absl::StatusOr<Change> ParseChange(absl::string_view word) {
  constexpr int kMostNodes = 100'000, kMostMembers = 1'000'000;
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(word, absl::MaxSplits('=', 1));
  const auto& [key, value] = parts;
  const auto wrong = [&](absl::string_view wanted) {
    return absl::InvalidArgumentError(absl::StrCat("--what-if ", word, ": write ", wanted));
  };
  if (key == "nodes") {
    const std::pair<absl::string_view, absl::string_view> of = absl::StrSplit(value, absl::MaxSplits(':', 1));
    MoreNodes change;
    change.like = std::string(of.second);
    if (!absl::SimpleAtoi(absl::StripPrefix(of.first, "+"), &change.count) || change.count < 1 ||
        change.count > kMostNodes)
      return wrong("nodes=+2, or nodes=+2:NODE for nodes like that one");
    return change;
  }
  if (key == "queue")
    return value.empty() ? absl::StatusOr<Change>(wrong("queue=NAME")) : OtherQueue{std::string(value)};
  if (key == "min") {
    Minimum change;
    if (!absl::SimpleAtoi(value, &change.min) || change.min < 0 || change.min > kMostMembers) return wrong("min=3");
    return change;
  }
  if (key == "priority") {
    std::int32_t number = 0;
    if (absl::SimpleAtoi(value, &number)) return Priority{"", number};
    return value.empty() ? absl::StatusOr<Change>(wrong("priority=CLASS or priority=100"))
                         : Priority{std::string(value), std::nullopt};
  }
  if (key == "uncordon")
    return value.empty() ? absl::StatusOr<Change>(wrong("uncordon=NODE")) : Uncordon{{std::string(value)}};
  if (key == "without") {
    GangKey gang;
    absl::string_view rest = value;
    for (const model::GangKind kind : {model::GangKind::kKubernetes, model::GangKind::kCoscheduling}) {
      if (absl::ConsumePrefix(&rest, absl::StrCat("podgroup.", GroupOf(kind), "/"))) gang.kind = kind;
    }
    const std::pair<absl::string_view, absl::string_view> of = absl::StrSplit(rest, absl::MaxSplits('/', 1));
    if (of.first.empty() || of.second.empty()) return wrong("without=NAMESPACE/PODGROUP");
    gang.ns = std::string(of.first);
    gang.name = std::string(of.second);
    return GangEnds{std::move(gang)};
  }
  return wrong("nodes=+2, queue=NAME, min=3, priority=CLASS, uncordon=NODE or without=NAMESPACE/PODGROUP");
}

}  // namespace gangway::explain
