// The shapes of all pods, each once. A part of the Cluster.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "plugin/model/facts.h"
#include "plugin/model/names.h"
#include "plugin/model/pod_terms.h"
#include "plugin/model/resources.h"
#include "plugin/model/shape.h"
#include "plugin/model/slot_table.h"
#include "plugin/model/task.h"
#include "plugin/model/volumes.h"

namespace gangway::model {

class Shapes {
 public:
  Shapes(Dims& dims, Names& names, Volumes& volumes, PodTerms& pod_terms, Domains& domains)
      : dims_(dims), names_(names), volumes_(volumes), pod_terms_(pod_terms), domains_(domains) {}

  // For one pod more, of pods that want this. `matched` says which terms hold for it, asked when its own are known;
  // `rematched` as PodTerms says.
  ShapeId Intern(const Wants& wants, absl::FunctionRef<std::vector<TermId>()> matched, std::vector<TaskId>& rematched);
  // The same wants, of pods that other terms hold for.
  ShapeId InternLike(ShapeId alike, const std::vector<TermId>& matched);
  // For one pod less.
  void Release(ShapeId id);
  // Their nodes may be others than before.
  void Stir(const std::vector<ShapeId>& shapes);

  const Shape& operator[](ShapeId id) const { return table_[id].shape; }
  std::uint64_t version(ShapeId id) const { return table_[id].version; }
  int slots() const { return table_.slots(); }

  template <class F>  // void(ShapeId, const Shape&)
  void ForEach(F visit) const {
    table_.ForEach([&](ShapeId id, const Entry& entry) { visit(id, entry.shape); });
  }

  // `others`: uses beside those of tasks.
  void Audit(const SlotTable<Task>& tasks, const std::vector<ShapeId>& others, std::vector<std::string>& wrong) const;

 private:
  struct Entry {
    Shape shape;
    std::uint64_t version = 0;
  };
  // The shape of this key for one pod more; -1: there is none.
  ShapeId FindFor(const std::string& key);
  ShapeId Add(Shape shape);
  std::string KeyWith(std::string wants, const std::vector<TermId>& matched) const;

  Dims& dims_;
  Names& names_;
  Volumes& volumes_;
  PodTerms& pod_terms_;
  Domains& domains_;
  SlotTable<Entry> table_;
  absl::flat_hash_map<std::string, ShapeId> by_key_;
  std::uint64_t last_version_ = 0;
};

}  // namespace gangway::model
