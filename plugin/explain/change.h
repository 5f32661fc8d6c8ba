// What might be otherwise in a cluster, and the events that would make it so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/explain/cluster_facts.h"
#include "plugin/phrases/words.h"

namespace gangway::explain {

struct MoreNodes {
  int count = 1;
  std::string
      like;  // an existing node, whose allocatable, labels and taints they have; they are empty and not cordoned
};
struct OtherQueue {
  std::string queue;
};
// What it asks to be let in becomes what its first so many pods ask for, as a Job's controller would write it.
struct Minimum {
  int min = 1;
};
struct Priority {
  std::string priority_class;         // one that is there, or
  std::optional<std::int32_t> value;  // a number that no class has
};
struct Capability {
  std::string queue;
  model::NamedAmounts amounts;
};
// It is opened; one that is not there is made.
struct QueueOpen {
  std::string queue;
};
struct Uncordon {
  std::vector<std::string> nodes;
};
struct GangEnds {
  GangKey gang;
};
// Its pods of that role without a node ask for so much.
struct Request {
  std::string role, dim;
  std::int64_t amount = 0;
};
struct Tolerate {
  model::TaintFacts taint;
};
// Without nodeSelector and required node affinity.
struct AnyNode {};
struct NoGates {};
using Change = std::variant<MoreNodes, OtherQueue, Minimum, Priority, Capability, QueueOpen, Uncordon, GangEnds,
                            Request, Tolerate, AnyNode, NoGates>;

// Facts by name. The facts must outlive it and stay as they are.
class FactIndex {
 public:
  explicit FactIndex(const ClusterFacts& facts);
  const ClusterFacts& facts() const { return facts_; }
  // nullptr: there is none.
  const model::NodeFacts* FindNode(absl::string_view name) const;
  const model::GangFacts* FindGang(const GangKey& key) const;
  const model::QueueFacts* FindQueue(absl::string_view name) const;
  const model::PriorityClassFacts* FindClass(absl::string_view name) const;
  const model::PodFacts* FindPod(absl::string_view ns, absl::string_view name) const;
  // Those to come are the last.
  std::vector<const model::PodFacts*> PodsOf(const GangKey& key) const;

 private:
  const ClusterFacts& facts_;
  absl::flat_hash_map<std::string, const model::NodeFacts*> nodes_;
  absl::flat_hash_map<std::string, const model::GangFacts*> gangs_;
  absl::flat_hash_map<std::string, const model::QueueFacts*> queues_;
  absl::flat_hash_map<std::string, const model::PriorityClassFacts*> classes_;
  absl::flat_hash_map<std::string, const model::PodFacts*> pods_;
  absl::flat_hash_map<std::string, std::vector<const model::PodFacts*>> pods_by_gang_;
};

// Objects that are new or otherwise, each once, and those that are gone.
struct Events {
  std::vector<model::NodeFacts> nodes;
  std::vector<model::QueueFacts> queues;
  std::vector<model::PriorityClassFacts> priority_classes;
  std::vector<model::GangFacts> gangs;
  std::vector<model::PodFacts> pods;
  std::vector<GangKey> gone_gangs, gone_pods;
};

// All of the changes, of which those that say no gang are about `gang`. NotFound: a node, class or gang that a change
// names is not there. InvalidArgument: a PodGroup of the gang's kind has no field for it.
absl::StatusOr<Events> EventsOf(const FactIndex& index, const GangKey& gang, absl::Span<const Change> changes);

// The facts as they are then.
ClusterFacts FactsWith(const ClusterFacts& facts, const Events& events);

// "2 more nodes like n17"
Words TextOf(const Change& change);
// As --what-if has it, "nodes=+2:n17"; "": it has no word for it.
std::string WhatIfOf(const Change& change);
// The other way round. InvalidArgument names the word and what it could be. nodes=+2 without a node leaves `like`
// empty.
absl::StatusOr<Change> ParseChange(absl::string_view word);

}  // namespace gangway::explain
