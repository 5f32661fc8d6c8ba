#include "plugin/ingest/foresight.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/core/pod.h"
#include "api/core/storage.h"
#include "api/field_table.h"
#include "api/selector.h"
#include "base/pattern.h"
#include "plugin/ingest/ingest.h"
#include "plugin/ingest/wants.h"
#include "plugin/model/hyper_nodes.h"
#include "plugin/model/reason.h"

namespace gangway::ingest {
namespace {

constexpr char kUnknown[] = "gangway's scheduler does not know it: ";
constexpr absl::string_view kOurName = "volcano";

void Add(std::vector<Foresight>& foresights, std::string field, absl::string_view what) {
  if (foresights.size() < kMaxForesights) foresights.push_back({std::move(field), std::string(what)});
}

bool ForOnePod(const api::Document& volume_claim) {
  if (volume_claim.empty()) return false;
  const auto spec = api::Decode<api::core::PersistentVolumeClaimSpec>(volume_claim.json);
  return spec.ok() && std::count(spec->access_modes.begin(), spec->access_modes.end(), "ReadWriteOncePod") > 0;
}

// "...: pods of task w would wait for ever", and what to do where there is something.
std::string WaitForEver(absl::string_view whose, absl::string_view field) {
  const std::string instead = model::InsteadOf(field).English();
  return absl::StrCat(kUnknown, whose, " would wait for ever", instead.empty() ? "" : "; ", instead);
}

// `at`: the path of the spec.
std::vector<Foresight> ForeseeJobs(const api::volcano::JobSpec& spec, absl::string_view at,
                                   absl::string_view scheduler_name) {
  std::vector<Foresight> out;
  if (!spec.scheduler_name.empty() && spec.scheduler_name != scheduler_name) return out;
  std::int64_t pods = 0;
  for (std::size_t i = 0; i < spec.tasks.size(); ++i) {
    const api::volcano::TaskSpec& task = spec.tasks[i];
    pods += task.replicas;
    if (i >= kMaxTasksLookedAt) continue;
    const std::string path = absl::StrCat(at, ".tasks[", i, "]");
    const std::string whose = absl::StrCat("pods of task ", task.name.empty() ? absl::StrCat(i) : task.name);
    if (task.topology_policy == "restricted" || task.topology_policy == "single-numa-node")
      Add(out, absl::StrCat(path, ".topologyPolicy"), WaitForEver(whose, "topologyPolicy"));
    const auto pod = api::Decode<api::core::Pod>(task.pod_template.empty() ? "{}" : task.pod_template.json);
    if (!pod.ok()) continue;  // admission says so
    if (const std::string gang = api::core::SchedulingGroupOf(pod->spec); !gang.empty()) {
      Add(out, absl::StrCat(path, ".template.", kSchedulingGroupField),
          absl::StrCat("names the gang ", gang, " beside the job's own: ", whose, " would wait for ever"));
    }
    for (const std::string& field : UnknownFields(*pod))
      Add(out, absl::StrCat(path, ".template.", field), WaitForEver(whose, field));
  }
  for (std::size_t i = 0; i < spec.volumes.size(); ++i) {
    if (pods < 2 || !ForOnePod(spec.volumes[i].volume_claim)) continue;
    Add(out, absl::StrCat(at, ".volumes[", i, "].volumeClaim.accessModes"),
        absl::StrCat("ReadWriteOncePod lets one pod at a time use the claim, and the job has ", pods,
                     "; ReadWriteMany lets all"));
  }
  return out;
}

// `at`: the path of the pod, or of its template.
std::vector<Foresight> ForeseePods(const api::core::Pod& pod, absl::string_view at) {
  std::vector<Foresight> out;
  if (pod.spec.scheduler_name != kOurName) return out;
  const auto annotated = pod.metadata.annotations.find(std::string(kGroupNameAnnotation));
  const std::string gang = api::core::SchedulingGroupOf(pod.spec);
  if (annotated != pod.metadata.annotations.end() && !annotated->second.empty() && !gang.empty()) {
    Add(out, absl::StrCat(at, kSchedulingGroupField),
        absl::StrCat("names the gang ", gang, " beside ", annotated->second, " of metadata.annotations[",
                     kGroupNameAnnotation, "]: ", at.empty() ? "the pod" : "its pods",
                     " would wait for ever; name one"));
  }
  for (const std::string& field : UnknownFields(pod))
    Add(out, absl::StrCat(at, field), WaitForEver(at.empty() ? "the pod" : "its pods", field));
  return out;
}

// What makes pods of a template: a Deployment and its like.
struct PodMaker {
  struct Spec {
    api::core::Pod pod_template;
    static constexpr std::string_view kName = "PodMakerSpec";
    static constexpr bool kView = true;
    static constexpr auto Fields() { return api::MakeFields(api::MakeField<&Spec::pod_template>("template", "")); }
  };
  Spec spec;
  static constexpr std::string_view kName = "PodMaker";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&PodMaker::spec>("spec", "")); }
};

std::vector<Foresight> ForeseeMade(absl::string_view json) {
  const absl::StatusOr<PodMaker> maker = api::Decode<PodMaker>(json);
  return maker.ok() ? ForeseePods(maker->spec.pod_template, "spec.template.") : std::vector<Foresight>();
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
    {&api::kCronJobs, ForeseeAs<api::volcano::CronJob>},
    {&api::kJobTemplates, ForeseeAs<api::volcano::JobTemplate>},
    {&api::volcano::kHyperNodes, ForeseeAs<api::volcano::HyperNode>},
    {&api::kKubernetesPodGroups, ForeseeAs<api::core::KubernetesPodGroup>},
    {&api::kPods, ForeseeAs<api::core::Pod>},
    {&api::kDeployments, ForeseeMade},
    {&api::kReplicaSets, ForeseeMade},
    {&api::kStatefulSets, ForeseeMade},
    {&api::kDaemonSets, ForeseeMade},
    {&api::kBatchJobs, ForeseeMade},
};

}  // namespace

std::string Foresight::ToString() const { return absl::StrCat(field, ": ", what); }

std::vector<Foresight> Foresee(const api::volcano::Job& job, absl::string_view scheduler_name) {
  return ForeseeJobs(job.spec, "spec", scheduler_name);
}

std::vector<Foresight> Foresee(const api::volcano::CronJob& cron_job) {
  return ForeseeJobs(cron_job.spec.job_template.spec, "spec.jobTemplate.spec", kOurName);
}

std::vector<Foresight> Foresee(const api::volcano::JobTemplate& job_template) {
  return ForeseeJobs(job_template.spec, "spec", kOurName);
}

std::vector<Foresight> Foresee(const api::core::Pod& pod) { return ForeseePods(pod, ""); }

std::vector<Foresight> Foresee(const api::volcano::PodGroup& group) {
  std::vector<Foresight> out;
  const model::GangFacts facts = GangFactsOf(group);
  if (!facts.not_modelled.empty())
    Add(out, facts.not_modelled, absl::StrCat(kUnknown, "no pod of the group would be placed"));
  return out;
}

std::vector<Foresight> Foresee(const api::core::KubernetesPodGroup& group) {
  std::vector<Foresight> out;
  const model::GangFacts facts = GangFactsOf(group);
  if (!facts.not_modelled.empty())
    Add(out, facts.not_modelled,
        absl::StrCat(kUnknown, "none of the group's pods that name it (schedulerName: ", kOurName,
                     ") would be placed"));
  return out;
}

std::vector<Foresight> Foresee(const api::volcano::HyperNode& hyper_node) {
  std::vector<Foresight> out;
  for (std::size_t i = 0; i < hyper_node.spec.members.size(); ++i) {
    const api::volcano::MemberSpec& member = hyper_node.spec.members[i];
    const api::volcano::MemberSelector& selector = member.selector;
    const std::string field = absl::StrCat("spec.members[", i, "].selector");
    if (selector.regex_match.has_value()) {
      if (const auto pattern = Pattern::Compile(selector.regex_match->pattern); !pattern.ok())
        Add(out, absl::StrCat(field, ".regexMatch.pattern"),
            absl::StrCat("selects nothing, since it does not compile: ", pattern.status().message()));
    }
    if (selector.label_match.has_value()) {
      if (const auto labels = api::LabelSelector::FromJson(api::Encode(*selector.label_match)); !labels.ok())
        Add(out, absl::StrCat(field, ".labelMatch"),
            absl::StrCat("selects nothing, since it does not read: ", labels.status().message()));
    }
    if (member.type == "HyperNode" && selector.exact_match.has_value() &&
        selector.exact_match->name == hyper_node.metadata.name)
      Add(out, absl::StrCat(field, ".exactMatch.name"), "is the HyperNode itself, which adds no node; leave it out");
  }
  return out;
}

std::vector<std::pair<std::string, Foresight>> ForeseeCycles(const std::vector<api::volcano::HyperNode>& hyper_nodes) {
  model::HyperNodes all;
  for (const api::volcano::HyperNode& each : hyper_nodes) all.Set(HyperNodeFactsOf(each));
  std::vector<std::pair<std::string, Foresight>> out;
  for (const std::vector<std::string>& way : all.Cycles()) {
    if (out.size() == kMaxForesights) break;
    if (way.size() == 2) continue;  // of one alone Foresee tells, or a rule selects it with others
    out.emplace_back(way.front(), Foresight{"spec.members",
                                            absl::StrCat("it is its own member (", absl::StrJoin(way, " > "),
                                                         "): all of these have the same nodes, whatever their "
                                                         "tiers; take the one of the higher tier out of the other")});
  }
  return out;
}

std::vector<Foresight> Foresee(const api::volcano::Queue& queue) {
  std::vector<Foresight> out;
  const model::QueueFacts facts = QueueFactsOf(queue);
  if (!facts.not_modelled.empty())
    Add(out, facts.not_modelled, absl::StrCat(kUnknown, "no pod of the queue would be placed"));
  for (const auto& [key, time] :
       {std::pair(kMinRuntimeKey, facts.min_runtime), std::pair(kLostMemberGraceKey, facts.lost_member_grace)}) {
    const auto said = queue.metadata.annotations.find(std::string(key));
    if (said == queue.metadata.annotations.end() || said->second.empty() || time.has_value()) continue;
    Add(out, absl::StrCat("metadata.annotations[", key, "]"),
        absl::StrCat("\"", said->second,
                     "\" is no time: the queue is taken as one that says nothing; write it as 10m"));
  }
  return out;
}

std::vector<Foresight> ForeseeIn(const api::Resource& resource, absl::string_view json) {
  for (const Foreseen& one : kForeseen) {
    if (one.resource == &resource) return one.foresee(json);
  }
  return {};
}

}  // namespace gangway::ingest
