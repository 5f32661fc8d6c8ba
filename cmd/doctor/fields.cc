// What jobs, PodGroups, pods that no job made and queues ask for that our scheduler does not know or will not do: it
// waits for ever. And HyperNodes that select less than they say.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/field_table.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "api/volcano/hyper_node.h"
#include "base/strings.h"
#include "cmd/doctor/checks.h"
#include "plugin/ingest/foresight.h"

namespace gangway::cmd {
namespace {

namespace json = boost::json;
using api::TextAt;

constexpr char kRemedy[] =
    "leave the field out, or let a scheduler that knows it place the pods; docs/volcano.md lists what is known";

void Foretell(const json::value& object, const api::Resource& resource, Ailments& out) {
  const std::vector<ingest::Foresight> foresights = ingest::ForeseeIn(resource, api::ToJson(object));
  if (foresights.empty()) return;
  const std::string what = absl::StrJoin(foresights, "; ", [](std::string* text, const ingest::Foresight& each) {
    absl::StrAppend(text, each.ToString());
  });
  out.push_back(
      {"D-UNKNOWN-FIELD",
       absl::StrCat(View(resource.singular), " ", NamespaceOf(object).empty() ? NameOf(object) : KeyOf(object)), what,
       kRemedy});
}

std::string EditOf(const std::string& hyper_node) { return absl::StrCat("kubectl edit hypernode ", Word(hyper_node)); }

}  // namespace

Ailments FieldsThatWaitForEver(const ClusterSight& sight) {
  Ailments out;
  if (!ControllersOf(sight).volcano_scheduler.empty()) return out;  // it knows more
  for (const json::value& job : sight.jobs) {
    const std::string phase = PhaseOf(job);
    if (IsUnfinishedJob(job) && (phase.empty() || phase == "Pending")) Foretell(job, api::kJobs, out);
  }
  for (const json::value& group : sight.pod_groups) {
    const json::value* const owner = ControllerOf(group);
    if (owner == nullptr || !absl::StartsWith(TextAt(*owner, {"apiVersion"}), "batch.volcano.sh/"))
      Foretell(group, api::kPodGroups, out);
  }
  for (const json::value& pod : sight.pods) {
    const json::value* const owner = ControllerOf(pod);
    const bool of_a_job = owner != nullptr && absl::StartsWith(TextAt(*owner, {"apiVersion"}), "batch.volcano.sh/");
    if (!of_a_job && TextAt(pod, {"status", "phase"}) == "Pending") Foretell(pod, api::kPods, out);
  }
  for (const json::value& group : sight.kubernetes_pod_groups) {
    const bool has_ours = std::any_of(sight.pods.begin(), sight.pods.end(), [&](const json::value& pod) {
      return NamespaceOf(pod) == NamespaceOf(group) &&
             TextAt(pod, {"spec", "schedulingGroup", "podGroupName"}) == NameOf(group) &&
             TextAt(pod, {"spec", "schedulerName"}) == "volcano";
    });
    if (has_ours) Foretell(group, api::kKubernetesPodGroups, out);
  }
  for (const json::value& queue : sight.queues) Foretell(queue, api::kQueues, out);
  return out;
}

Ailments HyperNodesThatSelectNothing(const ClusterSight& sight) {
  Ailments out;
  std::vector<api::volcano::HyperNode> hyper_nodes;
  for (const json::value& object : sight.hyper_nodes) {
    const std::string json = api::ToJson(object);
    if (auto hyper_node = api::Decode<api::volcano::HyperNode>(json); hyper_node.ok())
      hyper_nodes.push_back(*std::move(hyper_node));
    for (const ingest::Foresight& each : ingest::ForeseeIn(api::volcano::kHyperNodes, json))
      out.push_back(
          {"D-HYPERNODE", absl::StrCat("hypernode ", NameOf(object)), each.ToString(), EditOf(NameOf(object))});
  }
  for (const auto& [name, each] : ingest::ForeseeCycles(hyper_nodes))
    out.push_back({"D-HYPERNODE", absl::StrCat("hypernode ", name), each.ToString(), EditOf(name)});
  return out;
}

}  // namespace gangway::cmd
