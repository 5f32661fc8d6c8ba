#include "tests/simulation/checkers.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/field_table.h"
#include "base/check.h"

namespace gangway::testutil {
namespace {

using api::NamespacedName;
using api::core::Container;
using api::core::Node;
using api::core::Pod;
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
std::map<std::string, api::Quantity> Requests(const Pod& pod) {
  std::map<std::string, api::Quantity> sum{{"pods", api::Quantity::FromUnits(1)}};
  for (const Container& container : pod.spec.containers) {
    for (const auto& [name, quantity] : container.resources.requests) sum[name] = *sum[name].Plus(quantity);
  }
  return sum;
}

std::string Where(const JournalRecord& record) {
  return absl::StrCat("revision ", record.revision, " by ", record.client, " (", record.verb, record.subresource.empty() ? "" : "/", record.subresource, " ",
                      std::string(record.resource->plural), " ", record.key.ToString(), ")");
}

NamespacedName GroupOf(const Pod& pod) {
  const auto it = pod.metadata.annotations.find("scheduling.k8s.io/group-name");
  return {pod.metadata.ns, it == pod.metadata.annotations.end() ? std::string() : it->second};
}

bool Final(const std::string& phase) { return phase == "Completed" || phase == "Failed" || phase == "Terminated" || phase == "Aborted"; }

template <class T>
void Keep(const JournalRecord& record, std::map<api::NamespacedName, T>& kept) {
  if (record.after == nullptr) {
    kept.erase(record.key);
  } else {
    kept[record.key] = DecodeRecord<T>(record.after);
  }
}

}  // namespace

void Checker::OnRecord(const JournalRecord& record) {
  ++records_;
  CheckGangsUntil(record.time);
  // Old events expire and leases are renewed; that is no work.
  if (record.resource != &api::kLeases && (record.resource != &api::kEvents || record.after != nullptr)) {
    last_write_ = record.time;
    last_write_text_ = Where(record);
  }
  if (record.resource == &api::kPods) {
    OnPod(record);
  } else if (record.resource == &api::kNodes) {
    if (record.after == nullptr) {
      nodes_.erase(record.key.name);
    } else {
      nodes_[record.key.name] = DecodeRecord<Node>(record.after);
    }
  } else if (record.resource == &api::kPodGroups) {
    if (record.after == nullptr) {
      gangs_.erase(record.key);
    } else {
      gangs_[record.key].min_member = DecodeRecord<PodGroup>(record.after).spec.min_member;
      CheckGang(record.key, record.time);
    }
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
    if (record.after == nullptr) {
      commands_.erase(record.key);
    } else {
      commands_[record.key] = record.uid;
    }
  }
}

void Checker::OnPod(const JournalRecord& record) {
  const auto it = pods_.find(record.key);
  const bool had = it != pods_.end();
  const std::string old_node = had ? it->second.spec.node_name : "";
  const NamespacedName old_group = had ? GroupOf(it->second) : NamespacedName{};
  if (record.after == nullptr) {
    pods_.erase(record.key);
  } else {
    Pod pod = DecodeRecord<Pod>(record.after);
    if (had && it->second.metadata.uid == pod.metadata.uid && !old_node.empty() && pod.spec.node_name != old_node) {
      Violation(absl::StrCat("pod bound twice: to ", old_node, " and then to ", pod.spec.node_name, " at ", Where(record)));
    }
    const bool newly_bound = pod.bound() && old_node != pod.spec.node_name;
    const std::string node = pod.spec.node_name;
    const NamespacedName group = GroupOf(pod);
    pods_[record.key] = std::move(pod);
    if (newly_bound) CheckNode(node, record);
    if (!group.name.empty()) CheckGang(group, record.time);
  }
  if (!old_group.name.empty()) CheckGang(old_group, record.time);
}

void Checker::CheckNode(const std::string& node, const JournalRecord& record) {
  const auto it = nodes_.find(node);
  if (it == nodes_.end()) return;  // it went while the binding was on its way
  std::map<std::string, api::Quantity> used;
  for (const auto& [key, pod] : pods_) {
    if (pod.spec.node_name != node || !TakesRoom(pod)) continue;
    for (const auto& [name, quantity] : Requests(pod)) used[name] = *used[name].Plus(quantity);
  }
  for (const auto& [name, quantity] : used) {
    const auto room = it->second.status.allocatable.find(name);
    if (room == it->second.status.allocatable.end() ? !quantity.zero() : quantity > room->second) {
      Violation(absl::StrCat("node ", node, " overcommitted: ", quantity.ToString(), " ", name, " of ",
                             room == it->second.status.allocatable.end() ? "0" : room->second.ToString(), " at ", Where(record)));
    }
  }
}

void Checker::CheckGang(const NamespacedName& key, absl::Time now) {
  const auto it = gangs_.find(key);
  if (it == gangs_.end()) return;
  // A gang of which a pod is being deleted was whole, or is being killed. Nobody can make it whole before that pod is gone, and on a
  // silent node that takes as long as the node does.
  int live = 0, leaving = 0;
  for (auto pod = pods_.lower_bound({key.ns, ""}); pod != pods_.end() && pod->first.ns == key.ns; ++pod) {
    if (GroupOf(pod->second) == key && pod->second.bound()) ++(pod->second.metadata.deleting() ? leaving : live);
  }
  const bool part = live > 0 && leaving == 0 && live < it->second.min_member;
  if (!part) {
    it->second.part_bound_since.reset();
  } else if (!it->second.part_bound_since) {
    it->second.part_bound_since = now;
  }
}

void Checker::CheckGangsUntil(absl::Time now) {
  for (auto& [key, gang] : gangs_) {
    if (!gang.part_bound_since || now - *gang.part_bound_since <= rules_.part_bound_deadline) continue;
    Violation(absl::StrCat("gang ", key.ToString(), " was part-bound from ", absl::FormatTime(*gang.part_bound_since, absl::UTCTimeZone()), " for ",
                           absl::FormatDuration(now - *gang.part_bound_since), "; minMember ", gang.min_member));
    gang.part_bound_since = now;  // said once a deadline
  }
}

void Checker::OnJob(const JournalRecord& record) {
  if (record.after == nullptr) {
    jobs_.erase(record.key);
    return;
  }
  Job job = DecodeRecord<Job>(record.after);
  if (const auto it = jobs_.find(record.key); it != jobs_.end() && it->second.metadata.uid == job.metadata.uid) {
    const auto& old = it->second.status;
    if (job.status.version < old.version) Violation(absl::StrCat("job version went from ", old.version, " back to ", job.status.version, " at ", Where(record)));
    if (job.status.retry_count < old.retry_count || job.status.retry_count > old.retry_count + 1) {
      Violation(absl::StrCat("job retryCount went from ", old.retry_count, " to ", job.status.retry_count, " at ", Where(record)));
    }
    if (job.status.retry_count > job.spec.max_retry && job.status.retry_count > old.retry_count) {
      Violation(absl::StrCat("job retryCount ", job.status.retry_count, " exceeds maxRetry ", job.spec.max_retry, " at ", Where(record)));
    }
    const bool finished = Final(old.state.phase) && old.state.phase != "Aborted";
    if (finished && job.status.state.phase != old.state.phase) {
      Violation(absl::StrCat("a job that was ", old.state.phase, " became ", job.status.state.phase, " at ", Where(record)));
    }
  }
  jobs_[record.key] = std::move(job);
}

void Checker::AtEnd(absl::Time now) {
  CheckGangsUntil(now);
  if (now - last_write_ < rules_.quiet) {
    Violation(absl::StrCat("not quiet at the end: the last write was ", absl::FormatDuration(now - last_write_), " before it, ", last_write_text_));
  }
  for (const auto& [key, job] : jobs_) {
    const auto expected = rules_.expected_phase.find(key.name);
    const std::string& phase = job.status.state.phase;
    if (expected != rules_.expected_phase.end() ? phase != expected->second : rules_.must_finish && !Final(phase)) {
      Violation(absl::StrCat("job ", key.ToString(), " ended ", phase, ", not ", expected != rules_.expected_phase.end() ? expected->second : "in a final phase",
                             " (version ", job.status.version, ", retryCount ", job.status.retry_count, ")"));
    }
    const auto retries = rules_.expected_retries.find(key.name);
    if (retries != rules_.expected_retries.end() && job.status.retry_count != retries->second) {
      Violation(absl::StrCat("job ", key.ToString(), " ended with retryCount ", job.status.retry_count, ", not ", retries->second));
    }
    for (const auto& [pod_key, pod] : pods_) {
      const api::OwnerReference* owner = pod.metadata.Controller();
      if (Final(phase) && owner != nullptr && owner->uid == job.metadata.uid && !pod.ended()) {
        Violation(absl::StrCat("pod ", pod_key.ToString(), " is ", pod.status.phase, " though its job ended ", phase));
      }
    }
  }
  for (const auto& [name, phase] : rules_.expected_phase) {
    if (std::none_of(jobs_.begin(), jobs_.end(), [&](const auto& job) { return job.first.name == name; })) {
      Violation(absl::StrCat("job ", name, " is gone"));
    }
  }
}

}  // namespace gangway::testutil
