// Rules of PodGroups and Queues (Volcano: pkg/webhooks/admission/podgroups and queues).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/json.h"
#include "api/volcano/admission_rules.h"
#include "api/volcano/defaults.h"
#include "base/strings.h"

namespace gangway::api::volcano {
namespace {

constexpr char kHierarchy[] = "volcano.sh/hierarchy";
constexpr char kHierarchyWeights[] = "volcano.sh/hierarchy-weights";

void CheckNotNegative(const ResourceList& list, absl::string_view path, FieldErrors& errors) {
  for (const auto& [name, amount] : list) {
    if (amount.negative())
      AddInvalid(errors, ChildPath(path, name), JsonString(amount.ToString()), "must be at least 0");
  }
}

// guarantee <= deserved <= capability, for every resource.
void CheckAmounts(const QueueSpec& spec, FieldErrors& errors) {
  static const ResourceList kNone;
  const ResourceList& guarantee = spec.guarantee.has_value() ? spec.guarantee->resource : kNone;
  CheckNotNegative(spec.capability, "spec.capability", errors);
  CheckNotNegative(spec.deserved, "spec.deserved", errors);
  CheckNotNegative(guarantee, "spec.guarantee.resource", errors);
  for (const auto& [name, deserved] : spec.deserved) {
    const auto limit = spec.capability.find(name);
    if (limit == spec.capability.end() || deserved <= limit->second) continue;
    AddInvalid(errors, ChildPath("spec.deserved", name), JsonString(deserved.ToString()),
               absl::StrCat("must not be greater than the capability, ", limit->second.ToString()));
  }
  for (const auto& [name, least] : guarantee) {
    const auto deserved = spec.deserved.find(name);
    if (deserved != spec.deserved.end() && deserved->second >= least) continue;
    AddInvalid(errors, ChildPath("spec.deserved", name),
               deserved == spec.deserved.end() ? std::string() : JsonString(deserved->second.ToString()),
               absl::StrCat("must be given, and at least the guarantee, ", least.ToString()));
  }
}

std::string Annotation(const Queue& queue, const char* key) {
  const auto it = queue.metadata.annotations.find(key);
  return it == queue.metadata.annotations.end() ? std::string() : it->second;
}

void CheckHierarchy(const Queue& queue, FieldErrors& errors) {
  const std::string path = Annotation(queue, kHierarchy), weights = Annotation(queue, kHierarchyWeights);
  if (path.empty() && weights.empty()) return;
  const std::string field = absl::StrCat("metadata.annotations[", kHierarchyWeights, "]");
  const std::string shown = JsonString(weights);
  const auto slashes = std::count(path.begin(), path.end(), '/');
  if (std::count(weights.begin(), weights.end(), '/') != slashes) {
    return AddInvalid(errors, field, shown, absl::StrCat("must have as many parts as ", kHierarchy, ", ", slashes + 1));
  }
  for (const absl::string_view part : absl::StrSplit(weights, '/')) {
    if (Full(errors)) return;
    double weight = 0;
    if (absl::SimpleAtod(part, &weight) && std::isfinite(weight) && weight > 0) continue;
    AddInvalid(errors, field, shown, absl::StrCat("its parts must be numbers greater than 0, but one is ", part));
  }
}

// Walks up from the parent; true when it comes back to `name`.
bool IsBelow(const std::string& name, std::string parent, const QueueLookup& queues) {
  std::set<std::string> seen;
  while (!parent.empty() && parent != kRootQueue && seen.insert(parent).second) {
    if (parent == name) return true;
    const std::optional<QueueFacts> facts = queues(parent);
    if (!facts.has_value()) return false;
    parent = facts->parent;
  }
  return false;
}

void CheckParent(const Queue* before, const Queue& after, const QueueLookup& queues, FieldErrors& errors) {
  const std::string& parent = after.spec.parent;
  if (parent.empty() || (before != nullptr && before->spec.parent == parent)) return;
  if (parent == after.metadata.name) {
    return AddInvalid(errors, "spec.parent", JsonString(parent), "a queue can not be its own parent");
  }
  if (parent == kRootQueue || !queues) return;
  const std::optional<QueueFacts> facts = queues(parent);
  if (!facts.has_value()) {
    return AddError(errors, FieldError::Type::kNotFound, "spec.parent", JsonString(parent),
                    "there is no queue of this name");
  }
  if (facts->allocated_pods > 0) {
    AddInvalid(errors, "spec.parent", JsonString(parent),
               absl::StrCat("can not become a parent while ", facts->allocated_pods, " pods run in it"),
               "wait until they have ended, or choose another");
  }
  if (before != nullptr && IsBelow(after.metadata.name, parent, queues)) {
    AddInvalid(errors, "spec.parent", JsonString(parent), "is itself below this queue");
  }
}

}  // namespace

void CheckPodGroupCreate(const PodGroup& group, const QueueLookup& queues, FieldErrors& errors) {
  const PodGroupSpec& spec = group.spec;
  if (spec.network_topology.has_value()) CheckTopology(*spec.network_topology, "spec.networkTopology", errors);
  for (std::size_t i = 0; i < spec.sub_group_policy.size(); ++i) {
    const SubGroupPolicySpec& policy = spec.sub_group_policy[i];
    if (!policy.network_topology.has_value()) continue;
    CheckTopology(*policy.network_topology, absl::StrCat("spec.subGroupPolicy[", i, "].networkTopology"), errors);
  }
  if (!queues) return;
  const std::string queue = spec.queue.empty() ? std::string(kDefaultQueue) : spec.queue;
  const std::optional<QueueFacts> facts = queues(queue);
  if (!facts.has_value()) {
    AddError(errors, FieldError::Type::kNotFound, "spec.queue", JsonString(queue), "there is no queue of this name");
  } else if (facts->state != "Open") {
    AddInvalid(errors, "spec.queue", JsonString(queue),
               absl::StrCat("the queue takes no pod groups: its state is ",
                            facts->state.empty() ? "not known yet" : facts->state, ", not Open"));
  }
}

void CheckQueueWrite(const Queue* before, const Queue& after, const QueueLookup& queues, FieldErrors& errors) {
  if (before != nullptr && after.metadata.name == kRootQueue) {
    const auto amounts = [](const Queue& queue) {
      static const ResourceList kNone;
      const QueueSpec& spec = queue.spec;
      return std::vector<ResourceList>{spec.capability, spec.deserved,
                                       spec.guarantee.has_value() ? spec.guarantee->resource : kNone};
    };
    if (amounts(*before) != amounts(after)) {
      AddError(errors, FieldError::Type::kForbidden, "spec", "",
               "capability, deserved and guarantee of the root queue are the cluster's and may not be changed");
    }
  }
  CheckHierarchy(after, errors);
  CheckAmounts(after.spec, errors);
  CheckParent(before, after, queues, errors);
}

void CheckQueueDelete(absl::string_view name, const QueueLookup& queues, FieldErrors& errors) {
  if (StdView(name) == kDefaultQueue || StdView(name) == kRootQueue) {
    return AddError(errors, FieldError::Type::kForbidden, "metadata.name", JsonString(name),
                    "this queue can not be deleted");
  }
  const std::optional<QueueFacts> facts = queues ? queues(name) : std::nullopt;
  if (!facts.has_value() || facts->children.empty()) return;
  AddError(errors, FieldError::Type::kForbidden, "metadata.name", JsonString(name),
           absl::StrCat("the queue has ", facts->children.size(), " children: ", absl::StrJoin(facts->children, ", ")),
           "delete these first");
}

}  // namespace gangway::api::volcano
