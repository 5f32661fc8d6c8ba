#include "plugin/ingest/foresight.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/core/pod.h"
#include "api/core/storage.h"
#include "api/field_table.h"
#include "plugin/ingest/ingest.h"
#include "plugin/ingest/wants.h"
#include "plugin/model/reason.h"

namespace gangway::ingest {
namespace {

constexpr char kUnknown[] = "gangway's scheduler does not know it: ";

void Add(std::vector<Foresight>& foresights, std::string field, absl::string_view what) {
  if (foresights.size() < kMaxForesights) foresights.push_back({std::move(field), std::string(what)});
}

bool ForOnePod(const api::Document& volume_claim) {
  if (volume_claim.empty()) return false;
  const auto spec = api::Decode<api::core::PersistentVolumeClaimSpec>(volume_claim.json);
  return spec.ok() && std::count(spec->access_modes.begin(), spec->access_modes.end(), "ReadWriteOncePod") > 0;
}

template <class T>
std::vector<Foresight> ForeseeAs(absl::string_view json) {
  const absl::StatusOr<T> object = api::Decode<T>(json);
  return object.ok() ? Foresee(*object) : std::vector<Foresight>();
}

struct Foreseen {
  const api::Resource* resource;
  std::vector<Foresight> (*foresee)(absl::string_view json);
};
constexpr Foreseen kForeseen[] = {
    {&api::kJobs, ForeseeAs<api::volcano::Job>},
    {&api::kPodGroups, ForeseeAs<api::volcano::PodGroup>},
    {&api::kQueues, ForeseeAs<api::volcano::Queue>},
};

}  // namespace

std::string Foresight::ToString() const { return absl::StrCat(field, ": ", what); }

std::vector<Foresight> Foresee(const api::volcano::Job& job, absl::string_view scheduler_name) {
  std::vector<Foresight> out;
  const api::volcano::JobSpec& spec = job.spec;
  if (!spec.scheduler_name.empty() && spec.scheduler_name != scheduler_name) return out;
  std::int64_t pods = 0;
  for (std::size_t i = 0; i < spec.tasks.size(); ++i) {
    const api::volcano::TaskSpec& task = spec.tasks[i];
    pods += task.replicas;
    if (i >= kMaxTasksLookedAt) continue;
    const std::string path = absl::StrCat("spec.tasks[", i, "]");
    const std::string tasks_pods = absl::StrCat(
        kUnknown, "pods of task ", task.name.empty() ? absl::StrCat(i) : task.name, " would wait for ever");
    if (task.topology_policy == "restricted" || task.topology_policy == "single-numa-node")
      Add(out, absl::StrCat(path, ".topologyPolicy"), tasks_pods);
    const auto pod = api::Decode<api::core::Pod>(task.pod_template.empty() ? "{}" : task.pod_template.json);
    if (!pod.ok()) continue;  // admission says so
    if (const std::string gang = api::core::SchedulingGroupOf(pod->spec); !gang.empty()) {
      Add(out, absl::StrCat(path, ".template.", kSchedulingGroupField),
          absl::StrCat("names the gang ", gang, " beside the job's own: pods of task ",
                       task.name.empty() ? absl::StrCat(i) : task.name, " would wait for ever"));
    }
    for (const std::string& field : UnknownFields(*pod)) {
      const std::string instead = model::InsteadOf(field);
      Add(out, absl::StrCat(path, ".template.", field),
          instead.empty() ? tasks_pods : absl::StrCat(tasks_pods, "; ", instead));
    }
  }
  for (std::size_t i = 0; i < spec.volumes.size(); ++i) {
    if (pods < 2 || !ForOnePod(spec.volumes[i].volume_claim)) continue;
    Add(out, absl::StrCat("spec.volumes[", i, "].volumeClaim.accessModes"),
        absl::StrCat("ReadWriteOncePod lets one pod at a time use the claim, and the job has ", pods,
                     "; ReadWriteMany lets all"));
  }
  return out;
}

std::vector<Foresight> Foresee(const api::volcano::PodGroup& group) {
  std::vector<Foresight> out;
  const model::GangFacts facts = GangFactsOf(group);
  if (!facts.not_modelled.empty())
    Add(out, facts.not_modelled, absl::StrCat(kUnknown, "no pod of the group would be placed"));
  return out;
}

std::vector<Foresight> Foresee(const api::volcano::Queue& queue) {
  std::vector<Foresight> out;
  const model::QueueFacts facts = QueueFactsOf(queue);
  if (!facts.not_modelled.empty())
    Add(out, facts.not_modelled, absl::StrCat(kUnknown, "no pod of the queue would be placed"));
  return out;
}

std::vector<Foresight> ForeseeIn(const api::Resource& resource, absl::string_view json) {
  for (const Foreseen& one : kForeseen) {
    if (one.resource == &resource) return one.foresee(json);
  }
  return {};
}

}  // namespace gangway::ingest
