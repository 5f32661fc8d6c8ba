// Objects as an API server has them, in JSON, as facts of the model: the same field tables and the same ingest as the
// scheduler's own watches have.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/explain/cluster_facts.h"
#include "plugin/model/cluster.h"
#include "plugin/model/facts.h"

namespace gangway::extender {

using Fact =
    std::variant<model::NodeFacts, model::PodFacts, model::GangFacts, model::QueueFacts, model::PriorityClassFacts,
                 model::ClaimFacts, model::VolumeFacts, model::StorageClassFacts, model::CsiNodeFacts,
                 model::CsiDriverFacts, model::StorageCapacityFacts, model::VolumeAttachmentFacts,
                 model::HyperNodeFacts, model::QuotaFacts, model::BudgetFacts, model::NamespaceFacts>;

inline constexpr char kDefaultScheduler[] = "volcano", kDefaultNamespace[] = "default";

// `path` is where the object stands in the message: refusals begin with it. `scheduler_name`: whose pods want nodes.
// InvalidArgument: no JSON, a kind that says nothing about placement, a field that is not known or has the wrong type.
absl::StatusOr<Fact> FactOf(absl::string_view json, const std::string& path, absl::string_view scheduler_name);

// "Pod default/ctr-0": two facts of one key are about one object.
std::string KeyOf(const Fact& fact);

// Amounts of resources that a node's row in the table grows by when their names are new.
inline std::vector<const model::NamedAmounts*> AmountsOf(const model::NodeFacts& fact) { return {&fact.allocatable}; }
inline std::vector<const model::NamedAmounts*> AmountsOf(const model::PodFacts& fact) { return {&fact.wants.requests}; }
inline std::vector<const model::NamedAmounts*> AmountsOf(const model::GangFacts& fact) { return {&fact.min_resources}; }
inline std::vector<const model::NamedAmounts*> AmountsOf(const model::QueueFacts& fact) {
  return {&fact.capability, &fact.guarantee, &fact.deserved};
}
template <class Other>
std::vector<const model::NamedAmounts*> AmountsOf(const Other&) {
  return {};
}

void Tell(const Fact& fact, model::Cluster& cluster);
void Collect(Fact fact, explain::ClusterFacts& facts);

// What `gone` names is not there any more. An empty apiVersion is that of Volcano's PodGroup; of other kinds it need
// not be said. Returns its key. InvalidArgument: no such kind.
absl::StatusOr<std::string> TellGone(absl::string_view api_version, absl::string_view kind, absl::string_view ns,
                                     absl::string_view name, const std::string& path, model::Cluster& cluster);

// A scheduling.volcano.sh/v1beta1 PodGroup as JSON; apiVersion and kind may be left out.
absl::StatusOr<model::GangFacts> PodGroupFactsOf(absl::string_view json, const std::string& path);

// A core/v1 PodTemplateSpec as JSON, as a pod of that namespace and name.
class PodTemplate {
 public:
  static absl::StatusOr<PodTemplate> Read(absl::string_view json, const std::string& path);
  model::PodFacts FactsFor(const std::string& ns, const std::string& name) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace gangway::extender
