#include "cmd/simulate/snapshot_cluster.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "api/scheduling_resources.h"
#include "api/volcano/defaults.h"
#include "api/volcano/job.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "cmd/caller/api_caller.h"
#include "cmd/explain/sight.h"
#include "cmd/simulate/jobs.h"
#include "plugin/lifecycle/job/pod.h"
#include "plugin/lifecycle/words.h"

namespace gangway::cmd {
namespace {

using api::volcano::Job;

bool KeepsPods(const Job& job) { return lifecycle::KeepsPods(lifecycle::ParsePhase(job.status.state.phase)); }

}  // namespace

absl::StatusOr<SnapshotCluster> ClusterOf(const snapshot::Snapshot& snapshot, absl::string_view scheduler_name) {
  absl::flat_hash_map<const api::Resource*, std::vector<std::string>> by_kind;
  for (const snapshot::SnapshotObject& object : snapshot.objects) by_kind[object.resource].push_back(object.json);
  const auto list = [&](const api::Resource& resource) -> absl::StatusOr<std::vector<std::string>> {
    const auto found = by_kind.find(&resource);
    if (found != by_kind.end()) return found->second;
    // That there are such PodGroups says what a label of pods means.
    if (&resource == &api::kCoschedulingPodGroups) return absl::NotFoundError(View(resource.plural));
    return std::vector<std::string>();
  };
  GW_ASSIGN_OR_RETURN(ExplainSight sight, ReadCluster(list, scheduler_name));
  SnapshotCluster out;
  out.facts = std::move(sight.facts);
  for (const model::PriorityClassFacts& one : out.facts.priority_classes) out.classes[one.name] = one.value;
  absl::flat_hash_set<std::string> groups;
  for (const model::GangFacts& gang : out.facts.gangs) {
    if (gang.kind == model::GangKind::kVolcano) groups.insert(absl::StrCat(gang.ns, "/", gang.name));
  }
  std::vector<model::PodFacts> wanted;
  std::vector<Job> jobs;
  for (const std::string& json : by_kind[&api::kJobs]) {
    absl::StatusOr<Job> job = api::Decode<Job>(json);
    if (!job.ok()) return ApiCaller::NamedAfter(api::kJobs, json, job.status());
    Job filled_in = *job;
    api::volcano::ApplyDefaults(filled_in);
    out.history.Put({job->metadata.ns, job->metadata.name}, &filled_in);
    jobs.push_back(*std::move(job));
  }
  for (Job& job : jobs) {
    ++out.jobs;
    if (!KeepsPods(job)) continue;
    std::string group = lifecycle::PodGroupName(job);
    if (!groups.contains(absl::StrCat(job.metadata.ns, "/", group))) group = job.metadata.name;
    if (groups.contains(absl::StrCat(job.metadata.ns, "/", group))) {
      out.job_of[absl::StrCat(job.metadata.ns, "/", group)] = job.metadata.name;
      GW_ASSIGN_OR_RETURN(std::vector<model::PodFacts> pods, WantedPods(job, group, scheduler_name));
      std::move(pods.begin(), pods.end(), std::back_inserter(wanted));
    } else {
      GW_ASSIGN_OR_RETURN(simulate::Arrival arrival, ArrivalOf(std::move(job), out.jobs, snapshot.taken, out.classes,
                                                               scheduler_name, out.history));
      out.without_group.push_back(std::move(arrival));
    }
  }
  out.facts.to_come = NotMadeYet(wanted, out.facts);
  return out;
}

}  // namespace gangway::cmd
