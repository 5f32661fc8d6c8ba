#include "cmd/import/migration_sight.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/core/sidecars.h"
#include "api/json_value.h"
#include "api/volcano/defaults.h"
#include "kube/runtime/write_request.h"

namespace gangway::cmd {
namespace {

using api::paddle::kPaddleJobs;
using paddle_lifecycle::OperatorObject;

bool ControlledBy(const api::ObjectMeta& object, const std::string& uid) {
  const api::OwnerReference* const controller = object.Controller();
  return controller != nullptr && controller->uid == uid;
}

// What there is of the types that matter, in one namespace or all.
struct Surroundings {
  std::vector<api::core::Pod> pods;
  std::vector<api::core::PartialObject> services;
  std::vector<api::core::ConfigMap> config_maps;
  std::vector<std::pair<api::volcano::PodGroup, std::string>> groups;  // with their JSON
  std::vector<api::volcano::Job> jobs;
  std::vector<api::core::PartialObject> namespaces;
};

// A type that is not served has no objects.
template <class T>
absl::StatusOr<std::vector<T>> AllOf(ApiCaller& caller, const api::Resource& resource, const std::string& ns) {
  absl::StatusOr<std::vector<T>> found = caller.List<T>(resource, ns);
  if (absl::IsNotFound(found.status())) return std::vector<T>();
  return found;
}

// Those that we may read: our controller too takes the others as they are without annotations and labels.
std::vector<api::core::PartialObject> NamespacesOf(ApiCaller& caller, const std::string& ns) {
  if (ns.empty())
    return caller.List<api::core::PartialObject>(api::kNamespaces, "")
        .value_or(std::vector<api::core::PartialObject>());
  absl::StatusOr<api::core::PartialObject> one = caller.Get<api::core::PartialObject>(api::kNamespaces, "", ns);
  return one.ok() ? std::vector{*std::move(one)} : std::vector<api::core::PartialObject>();
}

absl::StatusOr<Surroundings> LookAround(ApiCaller& caller, const std::string& ns) {
  Surroundings out;
  GW_ASSIGN_OR_RETURN(out.pods, AllOf<api::core::Pod>(caller, api::kPods, ns));
  GW_ASSIGN_OR_RETURN(out.services, AllOf<api::core::PartialObject>(caller, api::kServices, ns));
  GW_ASSIGN_OR_RETURN(out.config_maps, AllOf<api::core::ConfigMap>(caller, api::kConfigMaps, ns));
  GW_ASSIGN_OR_RETURN(out.jobs, AllOf<api::volcano::Job>(caller, api::kJobs, ns));
  out.namespaces = NamespacesOf(caller, ns);
  absl::StatusOr<std::vector<std::string>> groups = caller.ListJson(api::kPodGroups, ns);
  if (!groups.ok() && !absl::IsNotFound(groups.status())) return groups.status();
  if (!groups.ok()) return out;
  for (std::string& json : *groups) {
    GW_ASSIGN_OR_RETURN(api::volcano::PodGroup group, api::Decode<api::volcano::PodGroup>(json));
    out.groups.emplace_back(std::move(group), std::move(json));
  }
  return out;
}

std::unique_ptr<SeenJob> See(api::paddle::PaddleJob job, std::string json, const Surroundings& around) {
  auto seen = std::make_unique<SeenJob>();
  seen->job = std::move(job);
  const api::ObjectMeta& of = seen->job.metadata;
  paddle_lifecycle::MigrationView& view = seen->view;
  view.job = &seen->job;
  view.job_json = std::move(json);
  for (const api::core::Pod& pod : around.pods) {
    if (ControlledBy(pod.metadata, of.uid)) view.objects.push_back({&api::kPods, pod.metadata, pod.status.phase});
  }
  for (const api::core::PartialObject& service : around.services) {
    if (ControlledBy(service.metadata, of.uid)) view.objects.push_back({&api::kServices, service.metadata});
  }
  const auto here = [&](const api::ObjectMeta& object, absl::string_view name) {
    return object.ns == of.ns && object.name == name;
  };
  for (const api::core::ConfigMap& map : around.config_maps) {
    if (ControlledBy(map.metadata, of.uid)) view.objects.push_back({&api::kConfigMaps, map.metadata});
    if (here(map.metadata, paddle_lifecycle::ImportRecordName(of.name))) {
      seen->record = map.metadata;
      view.record = &*seen->record;
      view.record_data = map.data;
    }
  }
  for (const auto& [group, group_json] : around.groups) {
    if (!here(group.metadata, of.name)) continue;
    seen->group = group;
    view.group = &*seen->group;
    view.group_json = group_json;
  }
  for (const api::core::PartialObject& one : around.namespaces) {
    if (one.metadata.name != of.ns) continue;
    const auto queue = one.metadata.annotations.find(std::string(api::volcano::kQueueNameAnnotation));
    if (queue != one.metadata.annotations.end()) view.namespace_queue = queue->second;
    view.sidecars = api::core::InjectsSidecars(one.metadata.labels);
  }
  for (const api::volcano::Job& other : around.jobs) {
    if (!here(other.metadata, of.name)) continue;
    seen->volcano_job = other;
    view.volcano_job = &*seen->volcano_job;
  }
  return seen;
}

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<SeenJob>>> SeeJobs(ApiCaller& caller, const std::string& ns,
                                                              const std::string& name) {
  std::vector<std::string> jobs;
  if (name.empty()) {
    GW_ASSIGN_OR_RETURN(jobs, caller.ListJson(kPaddleJobs, ns));
  } else {
    GW_ASSIGN_OR_RETURN(const Bytes job, caller.Call("GET", api::PathOf(kPaddleJobs, ns, name)));
    jobs.push_back(*job);
  }
  std::vector<std::unique_ptr<SeenJob>> out;
  if (jobs.empty()) return out;
  GW_ASSIGN_OR_RETURN(const Surroundings around, LookAround(caller, ns));
  for (std::string& json : jobs) {
    GW_ASSIGN_OR_RETURN(api::paddle::PaddleJob job, api::Decode<api::paddle::PaddleJob>(json));
    out.push_back(See(std::move(job), std::move(json), around));
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return std::tie(a->job.metadata.ns, a->job.metadata.name) < std::tie(b->job.metadata.ns, b->job.metadata.name);
  });
  return out;
}

absl::StatusOr<std::string> FindOperator(ApiCaller& caller) {
  ClusterSight sight;
  sight.now = absl::Now();
  for (const auto& [resource, objects] :
       {std::pair{&api::kDeployments, &sight.deployments}, std::pair{&api::kLeases, &sight.leases}}) {
    const absl::StatusOr<std::vector<std::string>> items = caller.ListJson(*resource, "");
    if (absl::IsNotFound(items.status())) continue;
    if (!items.ok()) return items.status();
    for (const std::string& item : *items) {
      GW_ASSIGN_OR_RETURN(boost::json::value object, api::ParseJson(item));
      objects->push_back(std::move(object));
    }
  }
  return ControllersOf(sight).paddle_operator;
}

absl::Status CarryOutPlan(ApiCaller& caller, const kube::Plan& plan) {
  for (const std::vector<kube::Write>& stage : plan.stages) {
    for (const kube::Write& write : stage) {
      GW_ASSIGN_OR_RETURN(kube::Request request, kube::RequestFor(write));
      const absl::Status done = caller
                                    .Call(request.method, request.path, std::move(request.body),
                                          std::move(request.query), std::move(request.content_type))
                                    .status();
      if (done.ok() || (write.verb == kube::Verb::kDelete && absl::IsNotFound(done))) continue;
      return absl::Status(done.code(), absl::StrCat(kube::VerbName(write.verb), " ", View(write.resource->singular),
                                                    " ", write.ns, "/", write.name, ": ", done.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace gangway::cmd
