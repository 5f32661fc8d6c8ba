#include "tests/simulation/checkers.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/field_table.h"
#include "api/json_value.h"
#include "api/volcano/controlling_job.h"
#include "api/volcano/release.h"
#include "base/check.h"
#include "base/strings.h"
#include "tests/simulation/gang_name.h"

namespace gangway::testutil {
namespace {

using api::NamespacedName;
using api::core::Container;
using api::core::ContainerPort;
using api::core::Node;
using api::core::Pod;
using api::core::Taint;
using api::core::Toleration;
using api::volcano::Job;
using api::volcano::PodGroup;
using api::volcano::Queue;
using sandbox::JournalRecord;

template <class T>
T DecodeRecord(const Bytes& bytes) {
  auto object = api::Decode<T>(*bytes);
  GW_CHECK(object.ok());
  return *std::move(object);
}

bool TakesRoom(const Pod& pod) { return pod.bound() && !pod.ended(); }

// The plain sum: the jobs of a history have neither init containers nor overhead.
api::ResourceList Requests(const Pod& pod) {
  api::ResourceList sum{{"pods", api::Quantity::FromUnits(1)}};
  for (const Container& container : pod.spec.containers) {
    for (const auto& [name, quantity] : container.resources.requests) sum[name] = *sum[name].Plus(quantity);
  }
  return sum;
}
void Add(const api::ResourceList& more, api::ResourceList& sum) {
  for (const auto& [name, quantity] : more) sum[name] = *sum[name].Plus(quantity);
}

std::string Where(const JournalRecord& record) {
  return absl::StrCat("revision ", record.revision, " by ", record.client, " (", record.verb,
                      record.subresource.empty() ? "" : "/", record.subresource, " ",
                      std::string(record.resource->plural), " ", record.key.ToString(), ")");
}

std::string AnnotationOf(const Pod& pod, const char* key) {
  const auto it = pod.metadata.annotations.find(key);
  return it == pod.metadata.annotations.end() ? std::string() : it->second;
}

bool Final(const std::string& phase) {
  return phase == "Completed" || phase == "Failed" || phase == "Terminated" || phase == "Aborted";
}
bool Works(const std::string& phase) { return phase.empty() || phase == "Pending" || phase == "Running"; }

// As its status tells.
bool SaysEvicted(const Pod& pod) {
  return std::any_of(pod.status.conditions.begin(), pod.status.conditions.end(),
                     [](const api::core::PodCondition& condition) {
                       return condition.type == "DisruptionTarget" && condition.status == "True" &&
                              condition.reason == api::volcano::kPreemptionByScheduler;
                     });
}

bool WasWhole(const PodGroup& group) {
  return group.status.phase == "Running" || group.status.phase == "Unknown" || group.status.phase == "Completed" ||
         std::any_of(group.status.conditions.begin(), group.status.conditions.end(),
                     [](const auto& condition) { return condition.type == "Scheduled"; });
}

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  return (toleration.effect.empty() || toleration.effect == taint.effect) &&
         (toleration.op == "Exists" ? toleration.key.empty() || toleration.key == taint.key
                                    : toleration.key == taint.key && toleration.value == taint.value);
}
bool Tolerates(const Pod& pod, const Taint& taint) {
  return taint.effect == "PreferNoSchedule" ||
         std::any_of(pod.spec.tolerations.begin(), pod.spec.tolerations.end(),
                     [&](const Toleration& toleration) { return Tolerates(toleration, taint); });
}

std::set<std::string> PortsOf(const Pod& pod) {
  std::set<std::string> ports;
  for (const Container& container : pod.spec.containers) {
    for (const ContainerPort& port : container.ports) {
      if (port.host_port != 0)
        ports.insert(absl::StrCat(port.host_port, "/", port.protocol.empty() ? "TCP" : port.protocol));
    }
  }
  return ports;
}

template <class T>
void Keep(const JournalRecord& record, std::map<api::NamespacedName, T>& kept) {
  if (record.after == nullptr) {
    kept.erase(record.key);
  } else {
    kept[record.key] = DecodeRecord<T>(record.after);
  }
}

// Any object, of which only this is looked at.
struct Meta {
  api::ObjectMeta metadata;
  static constexpr std::string_view kName = "Meta";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&Meta::metadata>("metadata", "")); }
};

}  // namespace

absl::string_view NameOf(Rule rule) {
  switch (rule) {
    case Rule::kBoundTwice:
      return "bound-twice";
    case Rule::kOvercommitted:
      return "overcommitted";
    case Rule::kSelector:
      return "node-selector";
    case Rule::kTaint:
      return "taint";
    case Rule::kPorts:
      return "host-ports";
    case Rule::kAffinity:
      return "affinity";
    case Rule::kAntiAffinity:
      return "anti-affinity";
    case Rule::kSpread:
      return "spread";
    case Rule::kVolumeBound:
      return "volume-bound";
    case Rule::kVolumeReach:
      return "volume-reach";
    case Rule::kVolumeTwice:
      return "volume-twice";
    case Rule::kTopology:
      return "topology";
    case Rule::kPartTopology:
      return "part-topology";
    case Rule::kCapability:
      return "capability";
    case Rule::kTwoWriters:
      return "two-writers";
    case Rule::kStranger:
      return "stranger";
    case Rule::kPartBound:
      return "part-bound";
    case Rule::kRoleMinimum:
      return "role-minimum";
    case Rule::kEvictedHigher:
      return "evicted-higher";
    case Rule::kNeverPreempts:
      return "never-preempts";
    case Rule::kEvictedProtected:
      return "evicted-protected";
    case Rule::kPartEvicted:
      return "part-evicted";
    case Rule::kEvictedWithoutGain:
      return "evicted-without-gain";
    case Rule::kBelowShare:
      return "below-share";
    case Rule::kBelowGuarantee:
      return "below-guarantee";
    case Rule::kTakesTurns:
      return "takes-turns";
    case Rule::kMovedUndeclared:
      return "moved-undeclared";
    case Rule::kMovedAgain:
      return "moved-again";
    case Rule::kNotBack:
      return "not-back";
    case Rule::kLostRoom:
      return "lost-room";
    case Rule::kLostEarly:
      return "lost-early";
    case Rule::kLostHeld:
      return "lost-held";
    case Rule::kDelayed:
      return "delayed";
    case Rule::kStarved:
      return "starved";
    case Rule::kReleased:
      return "released";
    case Rule::kVersion:
      return "version";
    case Rule::kRetries:
      return "retries";
    case Rule::kFinished:
      return "finished";
    case Rule::kCommand:
      return "command";
    case Rule::kEnd:
      return "end";
    case Rule::kEndedPods:
      return "ended-pods";
    case Rule::kCounters:
      return "counters";
    case Rule::kLeftovers:
      return "leftovers";
    case Rule::kQuiet:
      return "quiet";
  }
  return "";
}

template <class... Parts>
void Checker::Violation(Rule rule, const Parts&... parts) {
  violations_.push_back(absl::StrCat(NameOf(rule), ": ", parts...));
  broken_.insert(rule);
}

Checker::Checker(Rules rules)
    : rules_(std::move(rules)),
      places_(
          {rules_.scheduler, rules_.node_known, rules_.bindings_take, rules_.bindings_fail}, pods_,
          [this](const Pod& pod) {
            const Gang* const gang = GangOf(pod);
            return gang == nullptr ? nullptr : &gang->group;
          },
          [this](Rule rule, const std::string& text) { Violation(rule, text); }),
      evicted_(
          {rules_.scheduler, rules_.node_known, rules_.bindings_take,
           rules_.bindings_fail ? absl::InfiniteDuration() : rules_.gain_takes, rules_.idle},
          pods_, queues_,
          [this](const Pod& pod) {
            const Gang* const gang = GangOf(pod);
            return gang == nullptr ? nullptr : &gang->group;
          },
          [this](Rule rule, const std::string& text) { Violation(rule, text); }),
      kept_({rules_.scheduler, rules_.bindings_fail ? absl::InfiniteDuration() : rules_.begin_takes,
             rules_.keeps_all_nodes},
            pods_, [this](Rule rule, const std::string& text) { Violation(rule, text); }) {
  if (!rules_.lost_members) return;
  lost_.emplace(
      Lost::Rules{rules_.node_known, rules_.bindings_take, gang::Policy().lost_member_grace, rules_.lost_takes}, pods_,
      queues_, [this](Rule rule, const std::string& text) { Violation(rule, text); });
}

void Checker::Disturbed(absl::Time until) {
  anew_ = std::max(anew_, until);
  evicted_.Disturbed(until);
  DisturbedInPart(until);
}

void Checker::OnFault(absl::Time now, absl::Time until, FaultOf of) {
  CheckDeadlines(now);
  calm_.Disturbed(now, until);
  if (of != FaultOf::kOthers) anew_ = std::max(anew_, until);
  evicted_.OnFault(now, until, of);
}

void Checker::ClocksAreWrong() {
  evicted_.ClocksAreWrong();
  if (lost_.has_value()) lost_->ClocksAreWrong();
}

void Checker::DisturbedInPart(absl::Time until) {
  disturbed_ = std::max(disturbed_, until);
  places_.Disturbed(until);
  kept_.Disturbed(until);
  if (lost_.has_value()) lost_->Disturbed(until);
}

void Checker::OnRecord(const JournalRecord& record) {
  ++records_;
  places_.Settle(record.time);
  evicted_.Settle(record.time);
  kept_.Settle(record.time);
  if (lost_.has_value()) lost_->Settle(record.time);
  CheckDeadlines(record.time);
  // Old events expire and leases are renewed; that is no work.
  if (record.resource != &api::kLeases && (record.resource != &api::kEvents || record.after != nullptr)) {
    last_write_ = record.time;
    last_write_text_ = Where(record);
  }
  if (record.resource == &api::kLeases) OnLease(record);
  if (record.resource == &api::kEvents || record.resource == &api::kLeases) return;
  KeepObject(record);
  if (record.resource != &api::kPods) {
    places_.OnRecord(record, Where(record));
    evicted_.OnRecord(record, Where(record));
    kept_.OnRecord(record, Where(record));
    if (lost_.has_value()) lost_->OnRecord(record, Where(record));
  }
  if (record.resource == &api::kPods) {
    OnPod(record);
  } else if (record.resource == &api::kNodes) {
    OnNode(record);
  } else if (record.resource == &api::kPodGroups) {
    OnPodGroup(record);
  } else if (record.resource == &api::kJobs) {
    OnJob(record);
  } else if (record.resource == &api::paddle::kPaddleJobs) {
    Keep(record, paddle_jobs_);
  } else if (record.resource == &api::paddle::kubeflow::kPaddleJobs) {
    Keep(record, kubeflow_jobs_);
  } else if (record.resource == &api::kQueues) {
    if (record.after == nullptr) {
      queues_.erase(record.key.name);
    } else {
      queues_[record.key.name] = DecodeRecord<Queue>(record.after);
    }
  } else if (record.resource == &api::kCommands) {
    OnCommand(record);
  }
}

void Checker::KeepObject(const JournalRecord& record) {
  if (record.after == nullptr) {
    uids_.erase(record.uid);
    made_.erase(record.uid);
    gone_.insert(record.uid);
    return;
  }
  uids_.insert(record.uid);
  const bool by_us = record.client == rules_.controllers || record.client == rules_.paddle_controllers;
  if (record.before != nullptr || !by_us || record.resource == &api::kPersistentVolumeClaims ||
      !record.resource->namespaced)
    return;
  const Meta object = DecodeRecord<Meta>(record.after);
  const api::OwnerReference* const owner = object.metadata.Controller();
  made_[record.uid] = {owner == nullptr ? "" : owner->uid,
                       absl::StrCat(std::string(record.resource->plural), " ", record.key.ToString())};
}

// ---- pods and where they lie

void Checker::OnPod(const JournalRecord& record) {
  const auto it = pods_.find(record.key);
  const Pod old = it == pods_.end() ? Pod{} : it->second;
  const bool same = old.metadata.uid == record.uid;
  if (record.after == nullptr) {
    if (same && !old.metadata.deleting()) CheckDeletion(old, record);
    if (it != pods_.end()) {
      places_.OnPod(&old, nullptr, record.time);
      evicted_.OnPod(&old, nullptr, record.time);
    }
    pods_.erase(record.key);
    made_for_.erase(record.uid);
    if (lost_.has_value() && same) lost_->OnGone(old, record.time);
  } else {
    const Pod pod = DecodeRecord<Pod>(record.after);
    if (same && old.bound() && pod.spec.node_name != old.spec.node_name) {
      Violation(Rule::kBoundTwice, "pod bound to ", old.spec.node_name, " and then to ", pod.spec.node_name, " at ",
                Where(record));
    }
    if (same && pod.metadata.deleting() && !old.metadata.deleting()) CheckDeletion(old, record);
    const bool newly_bound = pod.bound() && !(same && old.spec.node_name == pod.spec.node_name);
    // A pod of nobody is given its gang later.
    if (const auto gang = gangs_.find(GangNameOf(pod)); gang != gangs_.end())
      made_for_.try_emplace(record.uid, gang->second.group.metadata.uid);
    places_.OnPod(it == pods_.end() ? nullptr : &old, &pod, record.time);
    evicted_.OnPod(it == pods_.end() ? nullptr : &old, &pod, record.time);
    pods_[record.key] = pod;
    if (newly_bound) kept_.OnBinding(pod, record.time);
    if (newly_bound && lost_.has_value()) lost_->OnBinding(pod, record.time, Where(record));
    if (newly_bound) CheckBinding(pod, record);
    CheckGang(GangNameOf(pod), record.time);
  }
  CheckGang(GangNameOf(old), record.time);
  const Pod& last = record.after == nullptr ? old : pods_.at(record.key);
  if (const api::OwnerReference* const owner = last.metadata.Controller())
    jobs_counting_[{record.key.ns, owner->name}] = record.time;
  gangs_counting_[GangNameOf(last)] = record.time;
  if (const auto gang = gangs_.find(GangNameOf(last)); gang != gangs_.end())
    NoteCounting(gang->second.group.spec.queue, record.time);
}

void Checker::OnNode(const JournalRecord& record) {
  if (record.after == nullptr) {
    nodes_.erase(record.key.name);
    return;
  }
  SeenNode seen{DecodeRecord<Node>(record.after), record.time};
  const auto taints = [](const Node& node) {
    std::set<std::string> texts;
    for (const Taint& taint : node.spec.taints)
      texts.insert(absl::StrCat(taint.key, "=", taint.value, ":", taint.effect));
    return texts;
  };
  if (const auto it = nodes_.find(record.key.name); it != nodes_.end()) {
    const Node& old = it->second.node;
    const bool same = old.metadata.labels == seen.node.metadata.labels &&
                      old.spec.unschedulable == seen.node.spec.unschedulable && taints(old) == taints(seen.node);
    if (same) seen.since = it->second.since;
  }
  nodes_[record.key.name] = std::move(seen);
}

void Checker::CheckBinding(const Pod& pod, const JournalRecord& record) {
  const std::string where = Where(record);
  if (record.client == rules_.scheduler && pod.spec.scheduler_name != "volcano") {
    Violation(Rule::kStranger, "a pod of ", pod.spec.scheduler_name, " was bound at ", where);
  }
  CheckCapability(pod, where);
  const auto it = nodes_.find(pod.spec.node_name);
  if (it == nodes_.end()) return;  // it went while the binding was on its way
  const Node& node = it->second.node;
  CheckRoom(pod, node, where);
  places_.OnBinding(pod, record.time, where);
  if (places_.ChosenAt(pod, record.time) - std::max(it->second.since, disturbed_) < rules_.node_known) return;
  for (const auto& [key, value] : pod.spec.node_selector) {
    const auto label = node.metadata.labels.find(key);
    if (label != node.metadata.labels.end() && label->second == value) continue;
    Violation(Rule::kSelector, "node ", node.metadata.name, " has not the label ", key, "=", value, " at ", where);
  }
  std::vector<Taint> taints = node.spec.taints;
  if (node.spec.unschedulable) taints.push_back({"node.kubernetes.io/unschedulable", "", "NoSchedule"});
  for (const Taint& taint : taints) {
    if (!Tolerates(pod, taint))
      Violation(Rule::kTaint, "node ", node.metadata.name, " has the taint ", taint.key, ":", taint.effect, " at ",
                where);
  }
}

void Checker::CheckRoom(const Pod& pod, const Node& node, const std::string& where) {
  api::ResourceList used;
  const std::set<std::string> ports = PortsOf(pod);
  for (const auto& [key, other] : pods_) {
    if (other.spec.node_name != node.metadata.name || !TakesRoom(other)) continue;
    Add(Requests(other), used);
    if (other.metadata.uid == pod.metadata.uid) continue;
    for (const std::string& port : PortsOf(other)) {
      if (ports.contains(port))
        Violation(Rule::kPorts, "node ", node.metadata.name, " gave port ", port, " to ", key.ToString(),
                  " before, at ", where);
    }
  }
  for (const auto& [name, quantity] : used) {
    const auto room = node.status.allocatable.find(name);
    const bool fits = room == node.status.allocatable.end() ? quantity.zero() : quantity <= room->second;
    if (fits) continue;
    Violation(Rule::kOvercommitted, "node ", node.metadata.name, " has ",
              room == node.status.allocatable.end() ? "0" : room->second.ToString(), " ", name, " for ",
              quantity.ToString(), " at ", where);
  }
}

bool Checker::IsBelow(const std::string& queue, const std::string& above) const {
  std::string name = queue;
  for (int depth = 0; depth < 10 && name != above; ++depth) {
    const auto it = queues_.find(name);
    if (it == queues_.end() || it->second.spec.parent.empty()) return false;
    name = it->second.spec.parent;
  }
  return name == above;
}

// The gang that the pod was made for: when that was killed, one of its name may be there before its last pod is gone.
const Checker::Gang* Checker::GangOf(const Pod& pod) const {
  const auto gang = gangs_.find(GangNameOf(pod));
  const auto made_for = made_for_.find(pod.metadata.uid);
  return gang == gangs_.end() || made_for == made_for_.end() || made_for->second != gang->second.group.metadata.uid
             ? nullptr
             : &gang->second;
}

// Of what the pod asks for; a limit of no cpu and no memory is none, as in Volcano.
void Checker::CheckCapability(const Pod& pod, const std::string& where) {
  const Gang* const gang = GangOf(pod);
  if (gang == nullptr) return;
  for (const auto& [name, queue] : queues_) {
    if (queue.spec.capability.empty() || !IsBelow(gang->group.spec.queue, name)) continue;
    api::ResourceList held;
    for (const auto& [key, other] : pods_) {
      const Gang* const its = TakesRoom(other) ? GangOf(other) : nullptr;
      if (its != nullptr && IsBelow(its->group.spec.queue, name)) Add(Requests(other), held);
    }
    for (const auto& [resource, limit] : queue.spec.capability) {
      const bool counts =
          Requests(pod).contains(resource) && !(limit.zero() && (resource == "cpu" || resource == "memory"));
      if (!counts || held[resource] <= limit) continue;
      Violation(Rule::kCapability, "queue ", name, " may hold ", limit.ToString(), " ", resource, " and holds ",
                held[resource].ToString(), " at ", where);
    }
  }
}

// ---- gangs

void Checker::OnPodGroup(const JournalRecord& record) {
  if (const auto it = gangs_.find(record.key); it != gangs_.end())
    NoteCounting(it->second.group.spec.queue, record.time);
  if (record.after == nullptr) {
    gangs_.erase(record.key);
    return;
  }
  PodGroup group = DecodeRecord<PodGroup>(record.after);
  Gang& gang = gangs_[record.key];
  if (gang.group.metadata.uid != group.metadata.uid) gang = {};
  gang.group = std::move(group);
  const auto* const release = api::volcano::LatestRelease(gang.group.status);
  if (release != nullptr && api::volcano::IsForOthers(release->reason)) {
    for (const api::volcano::ReleasedPod& pod : api::volcano::ReleasedPods(*release)) told_.insert(pod.uid);
  }
  NoteCounting(gang.group.spec.queue, record.time);
  CheckGang(record.key, record.time);
}

// A pod that is about to go counts as there until it is gone, and so does one that has ended: nobody can do better
// before.
void Checker::CheckGang(const NamespacedName& key, absl::Time now) {
  const auto it = gangs_.find(key);
  if (it == gangs_.end()) return;
  Gang& gang = it->second;
  int there = 0, live = 0, ready = 0;
  std::map<std::string, int> by_task;
  for (auto each = pods_.lower_bound({key.ns, ""}); each != pods_.end() && each->first.ns == key.ns; ++each) {
    const Pod& pod = each->second;
    if (!pod.bound() || !IsOfGang(pod, key)) continue;
    ++there;
    ++by_task[AnnotationOf(pod, "volcano.sh/task-spec")];
    if (!pod.metadata.deleting() && !pod.ended() && pod.spec.scheduler_name == "volcano") ++live;
    if (!pod.metadata.deleting() && pod.status.phase != "Failed") ++ready;
  }
  const api::volcano::PodGroupSpec& spec = gang.group.spec;
  int sum = 0;
  bool tasks_whole = true;
  for (const auto& [task, minimum] : spec.min_task_member) {
    sum += minimum;
    tasks_whole = tasks_whole && by_task[task] >= minimum;
  }
  if (sum > spec.min_member) tasks_whole = true;  // they do not count then
  gang.was_whole = gang.was_whole || (there >= spec.min_member && tasks_whole && there > 0);
  const auto note = [now](bool is, auto& since) {
    if (!is) since.reset();
    if (is && !since.has_value()) since.emplace(now);
  };
  const bool may_be_short = live > 0 && !gang.was_whole;
  note(may_be_short && there < spec.min_member, gang.part_bound);
  note(may_be_short && there >= spec.min_member && !tasks_whole, gang.role_short);
  note(live > 0 && ready < spec.min_member, gang.half_bound);
}

bool Checker::LostVolume(const NamespacedName& gang) const {
  return std::any_of(pods_.begin(), pods_.end(), [&](const auto& entry) {
    return !entry.second.bound() && IsOfGang(entry.second, gang) && places_.LostVolume(entry.second);
  });
}

void Checker::CheckDeadlines(absl::Time now) {
  if (rules_.quiet > absl::ZeroDuration()) CheckChangedCounters(now);
  const absl::Time from = std::max(counted_to_, anew_);
  const absl::Duration more = now <= from ? absl::ZeroDuration() : calm_.Between(from, now);
  for (auto& [key, gang] : gangs_) {
    if (!gang.part_bound.has_value() && !gang.role_short.has_value()) continue;
    const bool lost_volume = LostVolume(key), anew = counted_to_ < anew_ || lost_volume;
    const absl::Duration its = lost_volume ? absl::ZeroDuration() : more;
    CheckDeadline(Rule::kPartBound, key, gang, gang.part_bound, its, anew, now);
    CheckDeadline(Rule::kRoleMinimum, key, gang, gang.role_short, its, anew, now);
  }
  counted_to_ = now;
  std::erase_if(given_, [&](const auto& entry) {
    const Given& command = entry.second;
    if (now - std::max(command.at, disturbed_) <= rules_.command_takes) return false;
    Violation(Rule::kCommand, command.action, " to job ", command.job.ToString(), ", of ",
              absl::FormatTime(command.at, absl::UTCTimeZone()), ", has had no effect for ",
              absl::FormatDuration(now - command.at));
    return true;
  });
}

void Checker::CheckDeadline(Rule rule, const NamespacedName& key, const Gang& gang, std::optional<InPart>& in_part,
                            absl::Duration more, bool anew, absl::Time now) {
  if (!in_part.has_value()) return;
  in_part->counted = more + (anew ? absl::ZeroDuration() : in_part->counted);
  if (in_part->counted <= rules_.release_after + rules_.release_takes) return;
  const absl::Time since = in_part->since;
  Violation(rule, "gang ", key.ToString(), ", minMember ", gang.group.spec.min_member, ", had part of it bound from ",
            absl::FormatTime(since, absl::UTCTimeZone()), " for ", absl::FormatDuration(now - since));
  in_part = InPart{now, {}};  // said once a deadline
}

// By whomever; what our scheduler deletes are leftovers of a gang, and pods that go for another one.
void Checker::CheckDeletion(const Pod& pod, const JournalRecord& record) {
  if (record.client != rules_.scheduler) return;
  const std::string where = Where(record);
  if (pod.spec.scheduler_name != "volcano")
    Violation(Rule::kStranger, "a pod of ", pod.spec.scheduler_name, " was deleted at ", where);
  const bool told_of_job = told_.contains(pod.metadata.uid) && api::volcano::ControllingJob(pod.metadata) != nullptr;
  if (SaysEvicted(pod) || told_of_job) return CheckEviction(pod, where);
  if (!pod.bound() || pod.status.phase != "Pending")
    Violation(Rule::kReleased, "a pod that is ", pod.status.phase, " was deleted at ", where);
  if (pod.metadata.Controller() == nullptr)
    Violation(Rule::kReleased, "a pod that nobody makes again was deleted at ", where);
  const auto gang = gangs_.find(GangNameOf(pod));
  if (gang == gangs_.end()) return;
  if (WasWhole(gang->second.group)) Violation(Rule::kReleased, "a pod of a gang that was whole was deleted at ", where);
  const std::optional<absl::Time>& since = gang->second.half_bound;
  if (since.has_value() && record.time - *since < rules_.release_after) {
    Violation(Rule::kReleased, "a pod was deleted when its gang was half-bound for ",
              absl::FormatDuration(record.time - *since), " at ", where);
  }
}

// Its PodGroup says first that it goes, and for whom; who says that he may not be evicted is not.
void Checker::CheckEviction(const Pod& pod, const std::string& where) {
  if (AnnotationOf(pod, "volcano.sh/preemptable") == "false")
    Violation(Rule::kReleased, "a pod that may not be evicted was at ", where);
  const auto gang = gangs_.find(GangNameOf(pod));
  if (gang == gangs_.end()) return;
  const api::volcano::PodGroupCondition* const told = api::volcano::LatestRelease(gang->second.group.status);
  const bool by_name = told != nullptr &&
                       (told->reason == "Preempted" || told->reason == "Reclaimed" || told->reason == "Moved" ||
                        told->reason == api::volcano::kLostMember) &&
                       absl::StrContains(told->message, absl::StrCat(pod.metadata.name, "/", pod.metadata.uid));
  if (!by_name) Violation(Rule::kReleased, "a pod was evicted without a word of its PodGroup at ", where);
}

// ---- jobs

void Checker::OnJob(const JournalRecord& record) {
  if (record.after == nullptr) {
    jobs_.erase(record.key);
    jobs_counting_.erase(record.key);
    std::erase_if(given_, [&](const auto& command) { return command.second.job == record.key; });
    return;
  }
  Job job = DecodeRecord<Job>(record.after);
  if (const auto it = jobs_.find(record.key); it != jobs_.end() && it->second.metadata.uid == job.metadata.uid)
    CheckJobChange(it->second, job, Where(record));
  std::erase_if(given_, [&](const auto& entry) {
    const Given& command = entry.second;
    if (command.job != record.key) return false;
    const bool resumed = command.phase == "Aborted" && job.status.state.phase != "Aborted";
    const bool obeyed =
        command.phase != "Aborted" && (!Works(job.status.state.phase) || job.status.version != command.version);
    return resumed || obeyed || job.metadata.deleting();
  });
  jobs_[record.key] = std::move(job);
}

void Checker::CheckJobChange(const Job& before, const Job& after, const std::string& where) {
  const auto& old = before.status;
  const auto& status = after.status;
  if (status.version < old.version)
    Violation(Rule::kVersion, "a job's went from ", old.version, " back to ", status.version, " at ", where);
  if (status.retry_count < old.retry_count || status.retry_count > old.retry_count + 1) {
    Violation(Rule::kRetries, "a job's retryCount went from ", old.retry_count, " to ", status.retry_count, " at ",
              where);
  }
  if (status.retry_count > after.spec.max_retry && status.retry_count > old.retry_count) {
    Violation(Rule::kRetries, "a job's retryCount ", status.retry_count, " exceeds maxRetry ", after.spec.max_retry,
              " at ", where);
  }
  const bool finished = Final(old.state.phase) && old.state.phase != "Aborted";
  if (finished && status.state.phase != old.state.phase) {
    Violation(Rule::kFinished, "a job that was ", old.state.phase, " became ", status.state.phase, " at ", where);
  }
}

void Checker::OnCommand(const JournalRecord& record) {
  if (record.after == nullptr) {
    commands_.erase(record.key);
    return;
  }
  commands_[record.key] = record.uid;
  if (record.before != nullptr) return;
  const auto command = DecodeRecord<api::volcano::Command>(record.after);
  if (!command.target.has_value() || command.target->kind != "Job") return;
  const auto job = jobs_.find({record.key.ns, command.target->name});
  if (job == jobs_.end() || job->second.metadata.deleting()) return;
  const auto& status = job->second.status;
  const bool matters = command.action == "ResumeJob" ? status.state.phase == "Aborted" : Works(status.state.phase);
  if (matters) given_[record.uid] = {job->first, command.action, status.state.phase, status.version, record.time};
}

// ---- leases

void Checker::OnLease(const JournalRecord& record) {
  Held& held = leases_[record.key.name];
  held.by = record.after == nullptr
                ? ""
                : std::string(View(api::ParseJson(*record.after)->at("spec").at("holderIdentity").as_string()));
  if (held.by.empty()) return;
  if (!held.last.empty() && held.last != held.by) ++held.changes;
  held.last = held.by;
}

int Checker::changes_of(const std::string& lease) const {
  const auto it = leases_.find(lease);
  return it == leases_.end() ? 0 : it->second.changes;
}

void Checker::OnSent(const std::string& lease, const std::string& identity, const std::string& write, absl::Time now) {
  const std::string& holder = leases_[lease].by;
  if (absl::StartsWith(holder, identity)) return;
  Violation(Rule::kTwoWriters, identity, " sent ", write, " at ", absl::FormatTime(now, absl::UTCTimeZone()),
            ", while ", holder.empty() ? "nobody" : holder, " held ", lease);
}

// ---- the end

void Checker::AtEnd(absl::Time now) {
  places_.Settle(now);
  evicted_.Settle(now);
  kept_.Settle(now);
  if (lost_.has_value()) lost_->Settle(now);
  CheckDeadlines(now);
  if (now - last_write_ < rules_.quiet) {
    Violation(Rule::kQuiet, "the last write was ", absl::FormatDuration(now - last_write_), " before the end, ",
              last_write_text_);
  }
  for (const auto& [key, job] : jobs_) CheckEnd(key, job);
  for (const auto& [name, phase] : rules_.expected_phase) {
    if (std::none_of(jobs_.begin(), jobs_.end(), [&](const auto& job) { return job.first.name == name; }))
      Violation(Rule::kEnd, "job ", name, " is gone");
  }
  const std::map<std::string, std::string> ended = EndedPaddleJobs();
  for (const auto& [name, phase] : rules_.expected_paddle) {
    const auto is = ended.find(name);
    if (is != ended.end() && (phase.empty() || is->second == phase)) continue;
    Violation(Rule::kEnd, "PaddleJob ", name, " ended ", is == ended.end() ? "never" : is->second,
              phase.empty() ? "" : absl::StrCat(", not ", phase));
  }
  if (rules_.quiet == absl::ZeroDuration()) return;
  for (const auto& [key, uid] : commands_) Violation(Rule::kCommand, key.ToString(), " is still there");
  for (const auto& [key, job] : jobs_) CheckCounters(key, job);
  for (const auto& [key, gang] : gangs_) CheckCounters(key, gang);
  for (const auto& [name, queue] : queues_) CheckCounters(name, queue);
  CheckLeftovers();
}

// In the words of paddle-operator.
std::map<std::string, std::string> Checker::EndedPaddleJobs() const {
  std::map<std::string, std::string> ended;
  for (const auto& [key, job] : paddle_jobs_) {
    if (job.status.phase == "Completed" || job.status.phase == "Failed") ended[key.name] = job.status.phase;
  }
  for (const auto& [key, job] : kubeflow_jobs_) {
    for (const auto& condition : job.status.conditions) {
      if (condition.status != "True" || (condition.type != "Succeeded" && condition.type != "Failed")) continue;
      ended[key.name] = condition.type == "Failed" ? "Failed" : "Completed";
    }
  }
  return ended;
}

void Checker::CheckEnd(const NamespacedName& key, const Job& job) {
  const auto expected = rules_.expected_phase.find(key.name);
  const std::string& phase = job.status.state.phase;
  if (expected != rules_.expected_phase.end() ? phase != expected->second : rules_.must_finish && !Final(phase)) {
    Violation(Rule::kEnd, "job ", key.ToString(), " ended ", phase, ", not ",
              expected != rules_.expected_phase.end() ? expected->second : "in a final phase", " (version ",
              job.status.version, ", retryCount ", job.status.retry_count, ")");
  }
  const auto retries = rules_.expected_retries.find(key.name);
  if (retries != rules_.expected_retries.end() && job.status.retry_count != retries->second) {
    Violation(Rule::kEnd, "job ", key.ToString(), " ended with retryCount ", job.status.retry_count, ", not ",
              retries->second);
  }
  for (const auto& [pod_key, pod] : pods_) {
    const api::OwnerReference* const owner = pod.metadata.Controller();
    if (Final(phase) && owner != nullptr && owner->uid == job.metadata.uid && !pod.ended()) {
      Violation(Rule::kEndedPods, "pod ", pod_key.ToString(), " is ", pod.status.phase, " though its job ended ",
                phase);
    }
  }
}

// What has ended may be gone since; it stays counted.
void Checker::CheckCounters(const NamespacedName& key, const Job& job) {
  if (job.metadata.deleting()) return;
  std::map<std::string, int> pods;
  std::map<std::pair<std::string, std::string>, int> of_tasks;
  for (const auto& [pod_key, pod] : pods_) {
    const api::OwnerReference* const owner = pod.metadata.Controller();
    if (owner == nullptr || owner->uid != job.metadata.uid) continue;
    ++pods[pod.metadata.deleting() ? "Terminating" : pod.status.phase];
    if (!pod.metadata.deleting()) ++of_tasks[{AnnotationOf(pod, "volcano.sh/task-spec"), pod.status.phase}];
  }
  const auto& s = job.status;
  const auto check = [&](const char* phase, int told, bool exact) {
    if (exact ? told == pods[phase] : told >= pods[phase]) return;
    Violation(Rule::kCounters, "job ", key.ToString(), " tells ", told, " pods ", phase, ", and there are ",
              pods[phase]);
  };
  check("Pending", s.pending, true);
  check("Running", s.running, true);
  check("Terminating", s.terminating, true);
  check("Succeeded", s.succeeded, false);
  check("Failed", s.failed, false);
  std::map<std::pair<std::string, std::string>, int> told;
  for (const auto& [task, state] : s.task_status_count) {
    for (const auto& [phase, count] : state.phase) {
      told[{task, phase}] = count;
      of_tasks.try_emplace({task, phase}, 0);
    }
  }
  for (const auto& [of, count] : of_tasks) {
    const bool ended = of.second == "Succeeded" || of.second == "Failed";
    if (ended ? told[of] >= count : told[of] == count) continue;
    Violation(Rule::kCounters, "job ", key.ToString(), " tells ", told[of], " pods ", of.second, " of task ", of.first,
              ", and there are ", count);
  }
}

void Checker::CheckCounters(const NamespacedName& key, const Gang& gang) {
  std::map<std::string, int> pods;
  for (const auto& [pod_key, pod] : pods_) {
    if (IsOfGang(pod, key) && (pod.ended() || !pod.metadata.deleting())) ++pods[pod.status.phase];
  }
  const api::volcano::PodGroupStatus& s = gang.group.status;
  for (const auto& [phase, told] :
       {std::pair{"Running", s.running}, std::pair{"Succeeded", s.succeeded}, std::pair{"Failed", s.failed}}) {
    if (pods[phase] != told)
      Violation(Rule::kCounters, "PodGroup ", key.ToString(), " tells ", told, " pods ", phase, ", and there are ",
                pods[phase]);
  }
}

// Its PodGroups, and what pods hold of those and of the queues below. One without a state has not been looked at yet.
void Checker::CheckCounters(const std::string& name, const Queue& queue) {
  if (queue.status.state.empty()) return;
  std::map<std::string, int> groups;
  for (const auto& [key, gang] : gangs_) {
    const std::string& phase = gang.group.status.phase;
    if (gang.group.spec.queue == name) ++groups[phase.empty() ? "Pending" : phase];
  }
  const api::volcano::QueueStatus& s = queue.status;
  for (const auto& [phase, told] :
       {std::pair{"Pending", s.pending}, std::pair{"Inqueue", s.inqueue}, std::pair{"Running", s.running},
        std::pair{"Unknown", s.unknown}, std::pair{"Completed", s.completed}}) {
    if (groups[phase] != told)
      Violation(Rule::kCounters, "queue ", name, " tells ", told, " PodGroups ", phase, ", and there are ",
                groups[phase]);
  }
  // Of whom the PodGroup is gone before him, or another one, nobody knows which queue's he was; and who waits for
  // volumes may have been given his node.
  api::ResourceList held, with_others;
  for (const auto& [key, pod] : pods_) {
    const bool may_wait = !pod.bound() && absl::StrContains(pod.spec.volumes.json, "persistentVolumeClaim");
    if (!TakesRoom(pod) && !may_wait) continue;
    const Gang* const gang = GangOf(pod);
    const bool its = gang != nullptr && IsBelow(gang->group.spec.queue, name);
    if (its && !may_wait) Add(Requests(pod), held);
    if (its || (gang == nullptr && IsOfSomeGang(pod))) Add(Requests(pod), with_others);
  }
  for (const char* const resource : {"cpu", "memory"}) {
    const auto told = s.allocated.find(resource);
    const api::Quantity amount = told == s.allocated.end() ? api::Quantity() : told->second;
    if (amount < held[resource] || amount > with_others[resource])
      Violation(Rule::kCounters, "queue ", name, " tells that ", amount.ToString(), " ", resource,
                " is allocated, and its pods hold ", held[resource].ToString());
  }
}

void Checker::NoteCounting(const std::string& queue, absl::Time now) {
  for (const std::string& level : PathOf(queues_, queue)) queues_counting_[level] = now;
}

void Checker::CheckChangedCounters(absl::Time now) {
  const auto check = [&](auto& counting, const auto& objects) {
    for (auto it = counting.begin(); it != counting.end();) {
      if (now - std::max(it->second, disturbed_) <= rules_.counting_takes) {
        ++it;
        continue;
      }
      if (const auto object = objects.find(it->first); object != objects.end())
        CheckCounters(it->first, object->second);
      it = counting.erase(it);
    }
  };
  check(jobs_counting_, jobs_);
  check(gangs_counting_, gangs_);
  check(queues_counting_, queues_);
}

void Checker::CheckLeftovers() {
  for (const auto& [uid, made] : made_) {
    if (!uids_.contains(made.owner) && (made.owner.empty() || gone_.contains(made.owner))) {
      Violation(Rule::kLeftovers, made.name, " is there",
                made.owner.empty() ? " and nobody's" : " though its owner is gone");
    }
  }
}

}  // namespace gangway::testutil
