// The queues, known or named by a gang or by a queue below. A part of the Cluster.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "plugin/model/facts.h"
#include "plugin/model/resources.h"
#include "plugin/model/slot_table.h"
#include "plugin/model/task.h"

namespace gangway::model {

struct Gang;

struct Queue {
  std::string name;
  bool known = false;
  int weight = 1;
  std::int32_t priority = 0;
  bool open = true;
  bool reclaimable = true;
  std::optional<absl::Duration> min_runtime, lost_member_grace;
  QueueId parent = kNone;
  int children = 0;                                      // queues that name it as their parent
  std::vector<std::pair<Dim, std::int64_t>> capability;  // what is limited
  Resources guarantee;
  std::vector<std::pair<Dim, std::int64_t>> deserved;  // what is written, 0 too
  std::string not_modelled;
  absl::Time created = absl::InfinitePast();
  Resources held;  // requests of its gangs' tasks that hold room
  // By dimension, what its gangs held of late; empty: that does not count.
  std::vector<double> used;
  int gangs = 0;

  // kUnlimited for what its capability does not limit.
  std::int64_t Limit(Dim dim) const;
};
inline constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

class Queues {
 public:
  explicit Queues(Dims& dims) : dims_(dims) {}

  void Set(const QueueFacts& facts);
  // False: there is none of that name.
  bool Remove(absl::string_view name);
  QueueId Intern(absl::string_view name);

  // A gang that holds so much comes, or goes.
  void Enter(QueueId id, const Resources& held);
  void Leave(QueueId id, const Resources& held);
  // Its gangs hold more, or with -1 less.
  void Hold(QueueId id, const Resources& amounts, int times) { table_[id].held.Add(amounts, times); }

  void SetUsed(QueueId id, std::vector<double> used) { table_[id].used = std::move(used); }

  const Queue& operator[](QueueId id) const { return table_[id]; }
  int slots() const { return table_.slots(); }

  void Audit(const SlotTable<Gang>& gangs, const Dims& dims, std::vector<std::string>& wrong) const;

 private:
  void FreeIfUnused(QueueId id);
  void SetParent(QueueId id, QueueId parent);

  Dims& dims_;
  SlotTable<Queue> table_;
  absl::flat_hash_map<std::string, QueueId> by_name_;
};

}  // namespace gangway::model
