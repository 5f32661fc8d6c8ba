#include "cmd/explain/sight.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/core/node.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/core/pod_groups.h"
#include "api/core/storage.h"
#include "api/paddle_resources.h"
#include "api/scheduling_resources.h"
#include "api/volcano/hyper_node.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "plugin/ingest/ingest.h"
#include "plugin/ingest/requests.h"
#include "plugin/lifecycle/job/pod.h"
#include "plugin/lifecycle/words.h"
#include "plugin/phrases/phrases.h"

namespace gangway::cmd {
namespace {

using api::core::Pod;
using api::volcano::Job;
using api::volcano::PodGroup;
using api::volcano::Queue;

absl::Status WithFix(const absl::Status& status, absl::string_view about, absl::string_view fix) {
  return absl::Status(status.code(), absl::StrCat(about, ": ", status.message(), fix.empty() ? "" : "; ", fix));
}

// What the user may do about a kind that cannot be read.
std::string FixOf(const api::Resource& resource, const absl::Status& status) {
  if (absl::IsPermissionDenied(status)) {
    return absl::StrCat("explain reads what the scheduler reads: whoever may, gives you list on ",
                        View(resource.plural), ", such as by the ClusterRole gangway-scheduler (docs/rbac.md)");
  }
  if (absl::IsNotFound(status))
    return absl::StrCat("the type is not served: gangway crds ", View(resource.plural), ".", View(resource.group),
                        " | kubectl apply --server-side -f -");
  return "";
}

class Reader {
 public:
  Reader(ListObjects list, absl::string_view scheduler_name)
      : list_(std::move(list)), scheduler_name_(scheduler_name) {}

  absl::StatusOr<ExplainSight> Read() {
    explain::ClusterFacts& facts = sight_.facts;
    GW_RETURN_IF_ERROR(
        All<api::core::Node>(api::kNodes, [&](const auto& node) { facts.nodes.push_back(ingest::NodeFactsOf(node)); }));
    GW_RETURN_IF_ERROR(All<PodGroup>(api::kPodGroups, [&](const auto& group) {
      facts.gangs.push_back(ingest::GangFactsOf(group, scheduler_name_));
    }));
    GW_RETURN_IF_ERROR(All<Queue>(api::kQueues, [&](const auto& queue) {
      facts.queues.push_back(ingest::QueueFactsOf(queue));
      sight_.deserved[queue.metadata.name] = ingest::ToAmounts(queue.spec.deserved);
    }));
    // Gangs of others, where there are any.
    IfAllowed<api::core::KubernetesPodGroup>(
        api::kKubernetesPodGroups, [&](const auto& group) { facts.gangs.push_back(ingest::GangFactsOf(group)); });
    const bool coscheduling = IfAllowed<api::core::CoschedulingPodGroup>(
        api::kCoschedulingPodGroups, [&](const auto& group) { facts.gangs.push_back(ingest::GangFactsOf(group)); });
    GW_RETURN_IF_ERROR(All<Pod>(api::kPods, [&](const auto& pod) {
      facts.pods.push_back(ingest::PodFactsOf(pod, scheduler_name_, coscheduling));
    }));
    GW_RETURN_IF_ERROR(All<api::core::PriorityClass>(api::kPriorityClasses, [&](const auto& one) {
      facts.priority_classes.push_back(ingest::PriorityClassFactsOf(one));
    }));
    // The scheduler goes on without these, too.
    facts.claims_readable = IfAllowed<api::core::PersistentVolumeClaim>(
        api::kPersistentVolumeClaims, [&](const auto& claim) { facts.claims.push_back(ingest::ClaimFactsOf(claim)); });
    IfAllowed<api::core::PersistentVolume>(
        api::kPersistentVolumes, [&](const auto& volume) { facts.volumes.push_back(ingest::VolumeFactsOf(volume)); });
    IfAllowed<api::core::StorageClass>(api::kStorageClasses, [&](const auto& one) {
      facts.storage_classes.push_back(ingest::StorageClassFactsOf(one));
    });
    IfAllowed<api::core::CsiNode>(api::kCsiNodes,
                                  [&](const auto& one) { facts.csi_nodes.push_back(ingest::CsiNodeFactsOf(one)); });
    IfAllowed<api::core::CsiDriver>(
        api::kCsiDrivers, [&](const auto& one) { facts.csi_drivers.push_back(ingest::CsiDriverFactsOf(one)); });
    IfAllowed<api::core::CsiStorageCapacity>(api::kCsiStorageCapacities, [&](const auto& one) {
      facts.storage_capacities.push_back(ingest::StorageCapacityFactsOf(one));
    });
    IfAllowed<api::core::VolumeAttachment>(api::kVolumeAttachments, [&](const auto& one) {
      facts.attachments.push_back(ingest::VolumeAttachmentFactsOf(one));
    });
    IfAllowed<api::volcano::HyperNode>(api::volcano::kHyperNodes, [&](const auto& one) {
      facts.hyper_nodes.push_back(ingest::HyperNodeFactsOf(one));
    });
    IfAllowed<api::core::PodDisruptionBudget>(
        api::kPodDisruptionBudgets, [&](const auto& one) { facts.budgets.push_back(ingest::BudgetFactsOf(one)); });
    IfAllowed<api::core::ResourceQuota>(api::kResourceQuotas, [&](const auto& quota) {
      if (auto quota_facts = ingest::QuotaFactsOf(quota)) facts.quotas.push_back(*std::move(quota_facts));
    });
    IfAllowed<api::core::PartialObject>(
        api::kNamespaces, [&](const auto& one) { facts.namespaces.push_back(ingest::NamespaceFactsOf(one)); });
    if (!unanswered_.ok()) return unanswered_;
    return std::move(sight_);
  }

 private:
  template <class T, class F>
  absl::Status All(const api::Resource& resource, F take) {
    const absl::StatusOr<std::vector<std::string>> items = list_(resource);
    if (!items.ok()) return WithFix(items.status(), View(resource.plural), FixOf(resource, items.status()));
    for (const std::string& item : *items) {
      const absl::StatusOr<T> object = api::Decode<T>(item);
      if (!object.ok()) return ApiCaller::NamedAfter(resource, item, object.status());
      take(*object);
    }
    return absl::OkStatus();
  }

  template <class T, class F>
  bool IfAllowed(const api::Resource& resource, F take) {
    const absl::Status status = All<T>(resource, take);
    if (status.ok()) return true;
    if (ExitCodeOf(status) == kNoAnswer) {
      unanswered_ = status;
    } else if (!absl::IsNotFound(status)) {
      sight_.not_seen.push_back(std::string(status.message()));
    }
    return false;
  }

  const ListObjects list_;
  const std::string scheduler_name_;
  ExplainSight sight_;
  absl::Status unanswered_;
};

// "": it has none. Volcano's older releases named it as the Job.
absl::StatusOr<std::string> PodGroupOfJob(ApiCaller& caller, const Job& job) {
  for (const std::string& name : {lifecycle::PodGroupName(job), job.metadata.name}) {
    const absl::StatusOr<PodGroup> group = caller.Get<PodGroup>(api::kPodGroups, job.metadata.ns, name);
    if (absl::IsNotFound(group.status())) continue;
    if (!group.ok()) return group.status();
    const api::OwnerReference* const owner = group->metadata.Controller();
    if (owner != nullptr && owner->uid == job.metadata.uid) return name;
  }
  return std::string();
}

// A PaddleJob's Job has its name; paddle-operator makes a PodGroup of that name and no Job.
absl::StatusOr<Target> FindPaddleJob(ApiCaller& caller, const std::string& ns, const std::string& name) {
  Target out;
  out.subject = absl::StrCat("paddlejob ", ns, "/", name);
  const absl::Status there = caller.Call("GET", api::PathOf(api::paddle::kPaddleJobs, ns, name)).status();
  if (absl::IsNotFound(there)) {
    return absl::NotFoundError(absl::StrCat(
        "job ", ns, "/", name, ": there is neither a Job nor a PaddleJob of that name; gangway job list -n ", ns,
        " shows what is there"));
  }
  if (!there.ok()) return WithFix(there, out.subject, "");
  const absl::StatusOr<PodGroup> group = caller.Get<PodGroup>(api::kPodGroups, ns, name);
  if (absl::IsNotFound(group.status())) {
    return absl::FailedPreconditionError(absl::StrCat(out.subject,
                                                      ": has no Job and no PodGroup yet; gangway doctor says whether "
                                                      "it can be translated, and whether anybody is at work"));
  }
  if (!group.ok()) return WithFix(group.status(), out.subject, "");
  out.gang = {ns, name};
  return out;
}

absl::StatusOr<Target> FindJob(ApiCaller& caller, const std::string& ns, const std::string& name,
                               absl::string_view scheduler_name) {
  const absl::StatusOr<Job> job = caller.Get<Job>(api::kJobs, ns, name);
  if (absl::IsNotFound(job.status())) return FindPaddleJob(caller, ns, name);
  Target out;
  out.subject = absl::StrCat("job ", ns, "/", name);
  if (!job.ok()) return WithFix(job.status(), out.subject, "");
  GW_ASSIGN_OR_RETURN(const std::string group, PodGroupOfJob(caller, *job));
  const lifecycle::JobPhase phase = lifecycle::ParsePhase(job->status.state.phase);
  if (group.empty() && !lifecycle::KeepsPods(phase)) {
    return absl::FailedPreconditionError(absl::StrCat(
        out.subject, ": is ", lifecycle::NameOf(phase),
        " and has no PodGroup any more: it asks for nothing; gangway job view -n ", ns, " ", name, " says why"));
  }
  if (group.empty())
    return absl::FailedPreconditionError(absl::StrCat(
        out.subject, ": has no PodGroup yet, which its controller makes; gangway doctor says whether one is at work"));
  out.gang = {ns, group};
  out.scheduler_name = job->spec.scheduler_name;
  absl::StatusOr<std::vector<model::PodFacts>> wanted =
      WantedPods(*job, group,
                 scheduler_name.empty() ? out.scheduler_name.empty() ? "volcano" : out.scheduler_name : scheduler_name);
  if (!wanted.ok()) return WithFix(wanted.status(), out.subject, "");
  out.wanted_pods = *std::move(wanted);
  return out;
}

absl::StatusOr<Target> FindPod(ApiCaller& caller, const std::string& ns, const std::string& name) {
  const absl::StatusOr<Pod> pod = caller.Get<Pod>(api::kPods, ns, name);
  Target out;
  out.subject = absl::StrCat("pod ", ns, "/", name);
  if (!pod.ok())
    return WithFix(
        pod.status(), out.subject,
        absl::IsNotFound(pod.status()) ? absl::StrCat("kubectl get pods -n ", ns, " shows what is there") : "");
  const model::PodFacts facts = ingest::PodFactsOf(*pod, pod->spec.scheduler_name);
  if (facts.gang.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(out.subject, ": belongs to no gang (it has neither annotation ", ingest::kGroupNameAnnotation,
                     " nor ", ingest::kSchedulingGroupField, "), and ",
                     pod->spec.scheduler_name.empty() ? "default-scheduler" : pod->spec.scheduler_name,
                     " places it; kubectl describe pod -n ", ns, " ", name, " has its events"));
  }
  out.gang = {ns, facts.gang, facts.gang_kind};
  out.scheduler_name = pod->spec.scheduler_name;
  out.prelude = {phrases::kPodBelongs,
                 out.subject,
                 facts.node.empty() ? Words(phrases::kPodHasNoNode) : Words(phrases::kPodIsOn, facts.node),
                 facts.gated ? Words(phrases::kPodIsGated) : Words(),
                 facts.terminating ? Words(phrases::kPodIsEnding) : Words(),
                 out.gang.ToString()};
  out.subject = absl::StrCat("podgroup ", out.gang.ToString());
  return out;
}

}  // namespace

absl::StatusOr<Target> FindTarget(ApiCaller& caller, TargetKind kind, std::optional<model::GangKind> group,
                                  const std::string& ns, const std::string& name, absl::string_view scheduler_name) {
  absl::StatusOr<Target> target = Target{};
  switch (kind) {
    case TargetKind::kJob:
      target = FindJob(caller, ns, name, scheduler_name);
      break;
    case TargetKind::kPod:
      target = FindPod(caller, ns, name);
      break;
    case TargetKind::kPodGroup:
      target->gang = {ns, name, group.value_or(model::GangKind::kVolcano)};
      target->subject = absl::StrCat("podgroup ", target->gang.ToString());
      target->any_kind = !group.has_value();
      break;
    case TargetKind::kQueue:
      target->subject = absl::StrCat("queue ", name);
      target->gang = {"", name};
      break;
  }
  if (target.ok()) target->kind = kind;
  return target;
}

absl::StatusOr<ExplainSight> ReadCluster(ListObjects list, absl::string_view scheduler_name) {
  return Reader(std::move(list), scheduler_name).Read();
}

absl::StatusOr<std::vector<model::PodFacts>> WantedPods(const Job& job, const std::string& group,
                                                        absl::string_view scheduler_name) {
  std::vector<model::PodFacts> out;
  if (!lifecycle::KeepsPods(lifecycle::ParsePhase(job.status.state.phase))) return out;
  const lifecycle::PluginEffects none;  // plugins change neither what a pod asks for nor where it may go
  for (const api::volcano::TaskSpec& task : job.spec.tasks) {
    GW_ASSIGN_OR_RETURN(
        const lifecycle::PodDocument document,
        lifecycle::PodDocument::Make(job, task, none, {job.status.version, job.status.retry_count, false}));
    for (std::int32_t i = 0; i < task.replicas; ++i) {
      GW_ASSIGN_OR_RETURN(Pod pod, api::Decode<Pod>(document.ForIndex(i)));
      pod.metadata.ns = job.metadata.ns;
      pod.metadata.uid = absl::StrCat("to-come-", pod.metadata.name);
      if (pod.spec.scheduler_name.empty()) pod.spec.scheduler_name = std::string(scheduler_name);
      out.push_back(ingest::PodFactsOf(pod, scheduler_name));
      out.back().gang = group;
    }
  }
  return out;
}

std::vector<model::PodFacts> NotMadeYet(const std::vector<model::PodFacts>& wanted,
                                        const explain::ClusterFacts& facts) {
  absl::flat_hash_set<std::string> there;
  for (const model::PodFacts& pod : facts.pods) there.insert(absl::StrCat(pod.ns, "/", pod.name));
  std::vector<model::PodFacts> out;
  for (const model::PodFacts& pod : wanted) {
    if (!there.contains(absl::StrCat(pod.ns, "/", pod.name))) out.push_back(pod);
  }
  return out;
}

}  // namespace gangway::cmd
