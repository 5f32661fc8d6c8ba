// Facts for tests: valid objects to start from; a case states only what matters to it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "plugin/model/cluster.h"

namespace gangway::testutil {

inline constexpr std::int64_t kGi = std::int64_t{1} << 30;

inline absl::Time At(int second) { return absl::FromUnixSeconds(1'790'000'000 + second); }

// 16 cpu, 64Gi, 110 pods, as the nodes of the recordings.
inline model::NodeFacts Node(std::string name, int cpu = 16) {
  model::NodeFacts node;
  node.name = std::move(name);
  node.allocatable = {{"cpu", cpu * 1000}, {"memory", 64 * kGi}, {"ephemeral-storage", 200 * kGi}, {"pods", 110}};
  node.labels = {{"kubernetes.io/hostname", node.name}};
  return node;
}

inline void AddNodes(model::Cluster& cluster, int count, int cpu = 16) {
  for (int i = 0; i < count; ++i) cluster.SetNode(Node(absl::StrCat("node-", absl::Dec(i, absl::kZeroPad3)), cpu));
}

inline model::Wants Cpu(std::int64_t milli) {
  model::Wants wants;
  wants.requests = {{"cpu", milli}, {"memory", 100'000'000}, {"pods", 1}};
  return wants;
}

inline model::PodFacts Pod(const std::string& gang, const std::string& role, int index, model::Wants wants) {
  model::PodFacts pod;
  pod.ns = "default";
  pod.name = absl::StrCat(gang, "-", role, "-", index);
  pod.uid = absl::StrCat("uid-", pod.name);
  pod.gang = gang;
  pod.role = role;
  pod.index = index;
  pod.controlled = true;
  pod.created = At(1);
  pod.wants = std::move(wants);
  return pod;
}

// The sub-groups of a Job's task.
inline model::SubGroupFacts SubGroupsOfTask(const std::string& task, int size, int min_groups,
                                            std::optional<model::TopologyFacts> topology = std::nullopt) {
  return {task,
          {{"volcano.sh/task-spec", model::Op::kIn, {task}}},
          {"volcano.sh/partition-id"},
          size,
          min_groups,
          std::move(topology)};
}

// Puts the pod into that one of these; "": into none.
inline void SetPartition(model::PodFacts& pod, std::string partition) {
  std::erase_if(pod.labels, [](const auto& label) { return label.first.starts_with("volcano.sh/"); });
  pod.labels.emplace_back("volcano.sh/task-spec", pod.role);
  if (!partition.empty()) pod.labels.emplace_back("volcano.sh/partition-id", std::move(partition));
}

inline model::GangFacts Gang(const std::string& name, int min_member) {
  model::GangFacts gang;
  gang.ns = "default";
  gang.name = name;
  gang.uid = absl::StrCat("uid-", name);
  gang.min_member = min_member;
  gang.created = At(0);
  gang.phase = model::GangPhase::kInqueue;
  return gang;
}

inline model::QueueFacts Queue(const std::string& name) {
  model::QueueFacts queue;
  queue.name = name;
  queue.created = At(-100);
  return queue;
}

// A gang of `tasks` equal pods of one role.
inline void AddGang(model::Cluster& cluster, const std::string& name, int min_member, int tasks, std::int64_t milli) {
  cluster.SetGang(Gang(name, min_member));
  for (int i = 0; i < tasks; ++i) cluster.SetPod(Pod(name, "w", i, Cpu(milli)));
}

}  // namespace gangway::testutil
