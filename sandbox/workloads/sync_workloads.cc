#include "sandbox/workloads/sync_workloads.h"

#include <algorithm>
#include <set>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "base/hash.h"
#include "kube/plan/writes.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using PodPtr = std::shared_ptr<const HostedPod>;

constexpr char kHashLabel[] = "pod-template-hash";

// As Kubernetes' names end: without vowels, so that no word comes of it (k8s.io/apimachinery: rand.SafeEncodeString).
std::string SafeHash(absl::string_view text) {
  constexpr absl::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string out;
  for (std::uint64_t h = StableHash(text); out.size() < 8; h /= kLetters.size()) out += kLetters[h % kLetters.size()];
  return out;
}

bool Ended(const HostedPod& pod) { return pod.status.phase == "Succeeded" || pod.status.phase == "Failed"; }
bool Ready(const HostedPod& pod) {
  return std::any_of(pod.status.conditions.begin(), pod.status.conditions.end(),
                     [](const auto& each) { return each.type == "Ready" && each.status == "True"; });
}

json::object& ObjectAt(json::object& in, absl::string_view key) {
  json::value& value = in[api::JsonView(key)];
  if (!value.is_object()) value = json::object();
  return value.get_object();
}

// Of a template: its labels, annotations and spec, in the hands of its controller.
json::object FromTemplate(const api::Document& pod_template, const api::Resource& owner, const api::ObjectMeta& of,
                          const std::string& name) {
  json::object out;
  if (auto value = api::ParseJson(pod_template.json); value.ok() && value->is_object()) out = value->get_object();
  json::object& metadata = ObjectAt(out, "metadata");
  metadata["name"] = name;
  metadata["namespace"] = of.ns;
  metadata["ownerReferences"] = {{{"apiVersion", owner.ApiVersion()},
                                  {"kind", api::JsonView({owner.kind.data(), owner.kind.size()})},
                                  {"name", of.name},
                                  {"uid", of.uid},
                                  {"controller", true},
                                  {"blockOwnerDeletion", true}}};
  return out;
}

kube::Write Creation(const api::Resource& resource, const api::ObjectMeta& of, const std::string& name,
                     json::object body) {
  body["apiVersion"] = resource.ApiVersion();
  body["kind"] = api::JsonView({resource.kind.data(), resource.kind.size()});
  kube::Write write;
  write.resource = &resource;
  write.ns = of.ns;
  write.name = name;
  write.body = api::ToJson(body);
  return write;
}

std::string ScaleBody(std::int32_t replicas) { return absl::StrCat(R"({"spec":{"replicas":)", replicas, "}}"); }

void AddStage(std::vector<kube::Write> writes, kube::Plan& plan) {
  if (!writes.empty()) plan.stages.push_back(std::move(writes));
}

// First those that are the smallest loss.
bool GoesBefore(const PodPtr& a, const PodPtr& b) {
  const auto rank = [](const HostedPod& pod) { return Ready(pod) ? 2 : pod.spec.node_name.empty() ? 0 : 1; };
  if (rank(*a) != rank(*b)) return rank(*a) < rank(*b);
  return a->metadata.name > b->metadata.name;
}

// A condition that says what it said before keeps its time.
std::string StatusOfDeployment(const WorkloadStatus& status, std::int32_t wanted, absl::Time now) {
  const bool available = status.available >= wanted;
  const bool done = available && status.updated >= wanted && status.replicas == status.updated;
  const auto condition = [&](absl::string_view type, bool holds, absl::string_view reason) {
    absl::Time since = now;
    for (const WorkloadCondition& each : status.conditions)
      if (each.type == type && each.status == (holds ? "True" : "False")) since = each.last_transition_time.at;
    return absl::StrCat(R"({"type":")", type, R"(","status":")", holds ? "True" : "False", R"(","reason":")", reason,
                        R"(","lastTransitionTime":")", api::FormatTime(since), R"(","lastUpdateTime":")",
                        api::FormatTime(now), R"("})");
  };
  return absl::StrCat(
      R"({"status":{"replicas":)", status.replicas, R"(,"updatedReplicas":)", status.updated, R"(,"readyReplicas":)",
      status.ready, R"(,"availableReplicas":)", status.available, R"(,"unavailableReplicas":)",
      std::max(0, std::max(wanted, status.replicas) - status.available), R"(,"observedGeneration":)",
      status.observed_generation, R"(,"conditions":[)",
      condition("Available", available, available ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable"), ",",
      condition("Progressing", true, done ? "NewReplicaSetAvailable" : "ReplicaSetUpdated"), "]}}");
}

}  // namespace

kube::Plan SyncReplicaSet(const Workload& set, const std::vector<PodPtr>& pods) {
  kube::Plan plan;
  if (set.metadata.deleting()) return plan;
  std::vector<PodPtr> active;
  std::set<std::string> taken;
  WorkloadStatus status;
  for (const PodPtr& pod : pods) {
    taken.insert(pod->metadata.name);
    if (!Ended(*pod) && pod->metadata.deleting()) ++status.terminating;
    if (Ended(*pod) || pod->metadata.deleting()) continue;
    active.push_back(pod);
    ++status.replicas;
    if (Ready(*pod)) ++status.ready;
  }
  std::vector<kube::Write> writes;
  const auto wanted = static_cast<std::size_t>(std::max(0, set.wanted()));
  std::sort(active.begin(), active.end(), GoesBefore);
  for (std::size_t i = 0; i + wanted < active.size(); ++i)
    writes.push_back(kube::DeletionOf(api::kPods, active[i]->metadata));
  std::size_t count = active.size();
  for (int index = 0; count < wanted; ++index) {
    const std::string name =
        absl::StrCat(set.metadata.name, "-", SafeHash(absl::StrCat(set.metadata.uid, "/", index)).substr(0, 5));
    if (!taken.insert(name).second) continue;
    writes.push_back(Creation(api::kPods, set.metadata, name,
                              FromTemplate(set.spec.pod_template, api::kReplicaSets, set.metadata, name)));
    ++count;
  }
  AddStage(std::move(writes), plan);
  status.available = status.ready;
  status.observed_generation = set.metadata.generation;
  status.updated = set.status.updated;  // a Deployment's
  status.conditions = set.status.conditions;
  if (!(status == set.status)) {
    AddStage(
        {kube::ChangeOf(api::kReplicaSets, set.metadata,
                        absl::StrCat(R"({"status":{"replicas":)", status.replicas, R"(,"readyReplicas":)", status.ready,
                                     R"(,"availableReplicas":)", status.available, R"(,"terminatingReplicas":)",
                                     status.terminating, R"(,"observedGeneration":)", status.observed_generation, "}}"),
                        "status")},
        plan);
  }
  return plan;
}

kube::Plan SyncDeployment(const Workload& deployment, const std::vector<std::shared_ptr<const Workload>>& sets,
                          absl::Time now) {
  kube::Plan plan;
  const api::ObjectMeta& meta = deployment.metadata;
  if (meta.deleting()) return plan;
  const std::string hash = SafeHash(deployment.spec.pod_template.json), name = absl::StrCat(meta.name, "-", hash);
  const Workload* current = nullptr;
  WorkloadStatus status;
  status.conditions = deployment.status.conditions;
  std::int32_t old = 0;  // pods of other templates, also those that are going
  for (const auto& set : sets) {
    status.replicas += set->status.replicas;
    status.ready += set->status.ready;
    status.available += set->status.available;
    if (set->metadata.name == name) {
      current = set.get();
      status.updated = set->status.replicas;
    } else {
      old += set->status.replicas + set->status.terminating;
    }
  }
  const bool recreate = deployment.spec.strategy && deployment.spec.strategy->type == "Recreate";
  const std::int32_t wanted = deployment.wanted(), now_wanted = recreate && old > 0 ? 0 : wanted;
  // The new are there before the old go, unless it is to be the other way round.
  const bool old_go = recreate || (current != nullptr && current->status.available >= wanted);
  std::vector<kube::Write> writes;
  if (current == nullptr) {
    json::object body, spec;
    json::object pod_template = FromTemplate(deployment.spec.pod_template, api::kDeployments, meta, name);
    body["metadata"] = {{"name", name},
                        {"namespace", meta.ns},
                        {"ownerReferences", pod_template["metadata"].get_object()["ownerReferences"]}};
    json::object& template_metadata = pod_template["metadata"].get_object();
    for (const char* const own : {"name", "namespace", "ownerReferences"}) template_metadata.erase(own);
    ObjectAt(template_metadata, "labels")[kHashLabel] = hash;
    body["metadata"].get_object()["labels"] = template_metadata["labels"];
    spec["replicas"] = now_wanted;
    if (auto selector = api::ParseJson(deployment.spec.selector.json); selector.ok() && selector->is_object()) {
      ObjectAt(selector->get_object(), "matchLabels")[kHashLabel] = hash;
      spec["selector"] = *std::move(selector);
    }
    spec["template"] = std::move(pod_template);
    body["spec"] = std::move(spec);
    writes.push_back(Creation(api::kReplicaSets, meta, name, std::move(body)));
  } else if (current->wanted() != now_wanted) {
    writes.push_back(kube::ChangeOf(api::kReplicaSets, current->metadata, ScaleBody(now_wanted)));
  }
  for (const auto& set : sets) {
    if (set.get() != current && old_go && set->wanted() > 0)
      writes.push_back(kube::ChangeOf(api::kReplicaSets, set->metadata, ScaleBody(0)));
  }
  AddStage(std::move(writes), plan);
  status.observed_generation = meta.generation;
  if (!(status == deployment.status)) {
    AddStage({kube::ChangeOf(api::kDeployments, meta, StatusOfDeployment(status, wanted, now), "status")}, plan);
  }
  return plan;
}

}  // namespace gangway::sandbox
