// A cluster that is told of whole, again and again, as sessions do: what a telling does not name is gone when it ends.
//
// So that who has planned may keep the plan, changes that the plan has foreseen are told from others: that a pod came
// to the node the plan had for it and runs there, and that its gang therefore runs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "plugin/extender/session/session_plan.h"
#include "plugin/model/cluster.h"

namespace gangway::extender {

// Used by one thread at a time.
class RetoldCluster {
 public:
  // The cluster outlives it, and is changed by nobody else between Begin and End.
  explicit RetoldCluster(model::Cluster& cluster) : cluster_(cluster) {}

  // `plan`: of the last telling, since when nobody else has changed the cluster; null: none.
  void Begin(const SessionPlan* plan);
  // As the events of Cluster.
  void SetNode(const model::NodeFacts& facts);
  void SetPod(const model::PodFacts& facts);
  void RemovePod(absl::string_view ns, absl::string_view name);
  void SetGang(const model::GangFacts& facts);
  void RemoveGang(absl::string_view ns, absl::string_view name);
  void SetQueue(const model::QueueFacts& facts);
  void SetQuota(const model::QuotaFacts& facts);
  void SetHyperNode(const model::HyperNodeFacts& facts);
  // It stays; one name has always the same facts.
  void SetPriorityClass(const model::PriorityClassFacts& facts);
  void End();

  // Since Begin.
  bool Told(absl::string_view ns, absl::string_view pod) const;
  const model::Cluster& cluster() const { return cluster_; }
  // Whether nothing has changed between Begin and End but what the plan has foreseen, and that is there whole.
  bool AsPlanned() const;

 private:
  using Telling = std::uint32_t;  // 0: never

  // By id, which time it was told of last.
  static void Note(std::vector<Telling>& told, int id, Telling telling);
  // What was known of a pod.
  struct Before {
    std::string uid;
    model::Row row;
    model::ShapeId shape;
    std::int32_t priority;
    bool evictable, leaving, runs;
  };
  static Before BeforeOf(const model::Task& task);
  // What was said last, of those for whom the cluster does not see by itself that it is the same.
  template <class Facts>
  struct Said {
    Facts facts;
    Telling told = 0;
  };
  using Key = std::pair<std::string, std::string>;  // namespace and name
  template <class Map, class F>
  void RemoveUntold(Map& said, F remove);

  model::Cluster& cluster_;
  Telling telling_ = 0;
  std::vector<Telling> pods_, nodes_;  // by TaskId, Row
  absl::flat_hash_map<Key, Said<model::GangFacts>> gangs_;
  absl::flat_hash_map<Key, Said<model::QuotaFacts>> quotas_;
  absl::flat_hash_map<std::string, Said<model::QueueFacts>> queues_;
  absl::flat_hash_map<std::string, Said<model::HyperNodeFacts>> hyper_nodes_;
  absl::flat_hash_set<std::string> priority_classes_;

  const SessionPlan* plan_ = nullptr;
  std::uint64_t begun_ = 0, foreseen_ = 0;  // versions
  int on_planned_nodes_ = 0;
};

}  // namespace gangway::extender
