// A random cluster with gangs of few kinds: many are alike, or want more of the same.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/plugin/gang/dice.h"
#include "tests/plugin/gang/random_root.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::testutil {

struct Crowd {
  model::Cluster cluster;
  std::map<std::string, model::PodFacts> pods;
  std::vector<std::string> queues = {"default"};
  std::vector<model::Wants> wants;
};

inline void AddToCrowd(Crowd& crowd, Dice& dice, const std::string& name) {
  const auto any = [&](const auto& list) {
    return list[static_cast<std::size_t>(dice.Below(static_cast<int>(list.size())))];
  };
  model::GangFacts gang = Gang(name, 1 + dice.Below(3));
  gang.queue = any(crowd.queues);
  gang.priority_class = any(std::vector<std::string>{"low", "mid", "high"});
  gang.created = At(dice.Below(50));
  const int pods = gang.min_member + (dice.Chance(20) ? 1 : 0);
  const bool several = dice.Chance(15);
  const model::Wants one = any(crowd.wants), other = several ? any(crowd.wants) : one;
  for (int i = 0; i < pods; ++i) {
    model::PodFacts pod = Pod(name, i % 2 == 1 ? "ps" : "w", i, i % 2 == 1 ? other : one);
    pod.preempts = !dice.Chance(3);
    pod.movable = true;
    if (dice.Chance(30)) pod.labels = {{"app", "a"}};
    crowd.pods[pod.name] = pod;
    crowd.cluster.SetPod(pod);
  }
  crowd.cluster.SetGang(gang);
}

inline void MakeCrowd(Crowd& crowd, Dice& dice) {
  model::Cluster& cluster = crowd.cluster;
  const int nodes = 1 + dice.Below(4);
  for (int i = 0; i < nodes; ++i) cluster.SetNode(Node(absl::StrCat("n", i), 3 + dice.Below(6)));
  for (const auto& [name, value] : {std::pair("low", 1), {"mid", 5}, {"high", 9}})
    cluster.SetPriorityClass({name, value});
  std::vector<model::QueueFacts> queues = {Queue("default")};
  const std::string top = RandomRoot(dice, queues);
  queues.front().parent = top;
  const int more = dice.Below(3);
  for (int i = 0; i < more; ++i) {
    model::QueueFacts queue = Queue(absl::StrCat("q", i));
    queue.parent = top;
    queue.weight = 1 + dice.Below(3);
    if (dice.Chance(50)) queue.deserved = {{"cpu", 1000 * dice.Below(8)}};
    if (dice.Chance(20)) queue.capability = {{"cpu", 1000 * (2 + dice.Below(8))}};
    crowd.queues.push_back(queue.name);
    queues.push_back(queue);
  }
  for (const model::QueueFacts& queue : queues) cluster.SetQueue(queue);
  if (dice.Chance(20)) cluster.SetBudget({"default", "b", {{"app", model::Op::kIn, {"a"}}}, dice.Below(3)});
  for (int i = 0; i < 2; ++i) {
    model::Wants wants = Cpu(1000 * (1 + dice.Below(3)));
    if (dice.Chance(10)) wants.host_ports = {{"TCP", "", 80}};
    const model::PodTermFacts term{"kubernetes.io/hostname",
                                   {{"default"}, std::nullopt, {{"app", model::Op::kIn, {"a"}}}}};
    if (dice.Chance(15)) wants.pod_anti_affinity = {term};
    if (dice.Chance(10)) wants.pod_affinity = {term};
    if (dice.Chance(10)) {
      model::SpreadFacts spread;
      spread.term = term;
      wants.spreads = {spread};
    }
    crowd.wants.push_back(wants);
  }
}

// Who has a node runs; some of those who were told to go are gone.
inline void PassTime(Crowd& crowd, Dice& dice, bool may_move) {
  for (auto& [name, pod] : crowd.pods) {
    const model::TaskId task = crowd.cluster.FindTask(pod.ns, pod.name);
    if (task == model::kNone || crowd.cluster.task(task).row == model::kNone) continue;
    pod.node = std::string(crowd.cluster.node_name(crowd.cluster.task(task).row));
    pod.phase = model::PodPhase::kRunning;
    pod.started = At(dice.Below(90));
    pod.movable = may_move;
    pod.terminating = pod.terminating || dice.Chance(4);
    crowd.cluster.SetPod(pod);
  }
}

}  // namespace gangway::testutil
