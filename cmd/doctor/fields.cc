// What jobs, PodGroups, pods that no job made and queues ask for that our scheduler does not know or will not do: it
// waits for ever.
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "api/resource.h"
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
  for (const json::value& queue : sight.queues) Foretell(queue, api::kQueues, out);
  return out;
}

}  // namespace gangway::cmd
