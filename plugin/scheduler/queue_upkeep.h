// The scheduler's queues: those that every cluster has are made where they are missing, and each says in its status
// what its pods hold, and those of the queues below.
//
// In: which queues there are, and the cluster. Out: what should be written of one. Pure; used on the scheduler's loop.
#pragma once

#include <map>
#include <string>

#include "absl/container/btree_set.h"
#include "absl/strings/string_view.h"
#include "api/meta.h"
#include "api/volcano/scheduling.h"
#include "kube/plan/plan.h"
#include "plugin/model/cluster.h"

namespace gangway::scheduler {

class QueueUpkeep {
 public:
  // `writes_statuses`: not for who serves some namespaces only, and knows a part of what queues hold. The cluster must
  // outlive it.
  QueueUpkeep(const model::Cluster& cluster, bool writes_statuses)
      : cluster_(cluster), writes_statuses_(writes_statuses) {}

  bool writes_statuses() const { return writes_statuses_; }
  // There is such a queue; there is none any more.
  void Came(const std::string& name) { there_.insert(name); }
  void Went(const std::string& name) { there_.erase(name); }
  // What queues hold is reckoned anew, and stays so until the next time.
  void Reckon();

  // Its status says something else than it should.
  bool Lags(const api::volcano::Queue& queue) const;
  // `queue`: as it is shown; nullptr: it is not.
  kube::Plan PlanFor(const std::string& name, const api::volcano::Queue* queue) const;

 private:
  api::ResourceList Wanted(const std::string& name) const;

  const model::Cluster& cluster_;
  const bool writes_statuses_;
  absl::btree_set<std::string> there_;
  std::map<std::string, api::ResourceList> allocated_;  // by queue, as of the last time
};

}  // namespace gangway::scheduler
