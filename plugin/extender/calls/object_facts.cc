#include "plugin/extender/calls/object_facts.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/core/node.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/core/pod_groups.h"
#include "api/core/storage.h"
#include "api/json.h"
#include "api/name.h"
#include "api/scheduling_resources.h"
#include "api/volcano/hyper_node.h"
#include "api/volcano/scheduling.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "plugin/extender/calls/field_path.h"
#include "plugin/ingest/ingest.h"

namespace gangway::extender {
namespace {

using model::Cluster;

// Of what an object says first.
struct TypeMeta {
  std::string api_version, kind;
  static constexpr std::string_view kName = "TypeMeta";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&TypeMeta::api_version>("apiVersion", ""),
                           api::MakeField<&TypeMeta::kind>("kind", ""));
  }
};

struct PodTemplateSpec {
  api::ObjectMeta metadata;
  api::core::PodSpec spec;
  static constexpr std::string_view kName = "PodTemplateSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&PodTemplateSpec::metadata>("metadata", ""),
                           api::MakeField<&PodTemplateSpec::spec>("spec", ""));
  }
};

// Bytes from outside: all of them are judged before any is believed.
absl::Status CheckJson(absl::string_view json, const std::string& path) {
  std::vector<std::string> duplicates;
  if (const absl::Status whole = api::ParseCompletely(json, {}, &duplicates); !whole.ok())
    return Wrong(path, Quoted(whole.message()).substr(0, 300));
  if (!duplicates.empty()) return WrongIn(path, absl::StrCat(duplicates.front(), ": is there twice"));
  return absl::OkStatus();
}

template <class T>
absl::StatusOr<T> Read(absl::string_view json, const std::string& path) {
  T object;
  const api::DecodeReport report = api::DecodeInto(json, api::TypeOf<T>(), &object);
  if (!report.status.ok()) return WrongIn(path, report.status.message());
  if (!report.unknown.empty())
    return WrongIn(path, absl::StrCat(report.unknown.front(), ": is no field that is known"));
  return object;
}

absl::Status CheckNames(const api::ObjectMeta& metadata, bool namespaced, const std::string& path) {
  if (const api::Complaints wrong = api::CheckDns1123Subdomain(metadata.name); !wrong.empty())
    return Wrong(path + ".metadata.name", absl::StrCat(Quoted(metadata.name), ": ", wrong.front()));
  if (!namespaced || metadata.ns.empty()) return absl::OkStatus();
  const api::Complaints wrong = api::CheckDns1123Label(metadata.ns);
  return wrong.empty() ? absl::OkStatus()
                       : Wrong(path + ".metadata.namespace", absl::StrCat(Quoted(metadata.ns), ": ", wrong.front()));
}

// One that says no namespace is of "default".
template <class T>
absl::StatusOr<T> ReadNamed(absl::string_view json, const std::string& path, bool namespaced) {
  GW_ASSIGN_OR_RETURN(T object, Read<T>(json, path));
  GW_RETURN_IF_ERROR(CheckNames(object.metadata, namespaced, path));
  if (namespaced && object.metadata.ns.empty()) object.metadata.ns = kDefaultNamespace;
  return object;
}

using Reader = absl::StatusOr<Fact> (*)(absl::string_view json, const std::string& path, bool namespaced,
                                        absl::string_view scheduler_name);
using Remover = void (*)(Cluster& cluster, absl::string_view ns, absl::string_view name);

template <class T, auto F>
absl::StatusOr<Fact> ReadAs(absl::string_view json, const std::string& path, bool namespaced, absl::string_view) {
  GW_ASSIGN_OR_RETURN(const T object, ReadNamed<T>(json, path, namespaced));
  return Fact(F(object));
}

absl::StatusOr<Fact> ReadPod(absl::string_view json, const std::string& path, bool namespaced,
                             absl::string_view scheduler_name) {
  GW_ASSIGN_OR_RETURN(const api::core::Pod pod, ReadNamed<api::core::Pod>(json, path, namespaced));
  return Fact(ingest::PodFactsOf(pod, scheduler_name));
}

absl::StatusOr<Fact> ReadQuota(absl::string_view json, const std::string& path, bool namespaced, absl::string_view) {
  GW_ASSIGN_OR_RETURN(const auto quota, ReadNamed<api::core::ResourceQuota>(json, path, namespaced));
  std::optional<model::QuotaFacts> facts = ingest::QuotaFactsOf(quota);
  if (!facts.has_value())
    return Wrong(path + (quota.spec.scopes.empty() ? ".spec.scopeSelector" : ".spec.scopes"),
                 "a quota about some of its namespace's pods is not modelled; leave it out");
  return Fact(*std::move(facts));
}

model::NamespaceFacts FactsOfNamespace(const api::core::PartialObject& object) {
  return ingest::NamespaceFactsOf(object);
}

struct KindOfObject {
  const api::Resource* resource;
  Reader read;
  Remover remove;
};

template <class T>
auto GangOf(const T& group) {
  return ingest::GangFactsOf(group);
}

const KindOfObject kKindsOfObjects[] = {
    {&api::kNodes, &ReadAs<api::core::Node, &ingest::NodeFactsOf>,
     [](Cluster& c, absl::string_view, absl::string_view name) { c.RemoveNode(name); }},
    {&api::kPods, &ReadPod, [](Cluster& c, absl::string_view ns, absl::string_view name) { c.RemovePod(ns, name); }},
    {&api::kPodGroups, &ReadAs<api::volcano::PodGroup, &GangOf<api::volcano::PodGroup>>,
     [](Cluster& c, absl::string_view ns, absl::string_view name) { c.RemoveGang(ns, name); }},
    {&api::kKubernetesPodGroups, &ReadAs<api::core::KubernetesPodGroup, &GangOf<api::core::KubernetesPodGroup>>,
     [](Cluster& c, absl::string_view ns, absl::string_view name) {
       c.RemoveGang(ns, name, model::GangKind::kKubernetes);
     }},
    {&api::kCoschedulingPodGroups, &ReadAs<api::core::CoschedulingPodGroup, &GangOf<api::core::CoschedulingPodGroup>>,
     [](Cluster& c, absl::string_view ns, absl::string_view name) {
       c.RemoveGang(ns, name, model::GangKind::kCoscheduling);
     }},
    {&api::kQueues, &ReadAs<api::volcano::Queue, &ingest::QueueFactsOf>,
     [](Cluster& c, absl::string_view, absl::string_view name) { c.RemoveQueue(name); }},
    {&api::kPriorityClasses, &ReadAs<api::core::PriorityClass, &ingest::PriorityClassFactsOf>,
     [](Cluster& c, absl::string_view, absl::string_view name) { c.RemovePriorityClass(name); }},
    {&api::kPersistentVolumeClaims, &ReadAs<api::core::PersistentVolumeClaim, &ingest::ClaimFactsOf>,
     [](Cluster& c, absl::string_view ns, absl::string_view name) { c.RemoveClaim(ns, name); }},
    {&api::kPersistentVolumes, &ReadAs<api::core::PersistentVolume, &ingest::VolumeFactsOf>,
     [](Cluster& c, absl::string_view, absl::string_view name) { c.RemoveVolume(name); }},
    {&api::kStorageClasses, &ReadAs<api::core::StorageClass, &ingest::StorageClassFactsOf>,
     [](Cluster& c, absl::string_view, absl::string_view name) { c.RemoveStorageClass(name); }},
    {&api::kCsiNodes, &ReadAs<api::core::CsiNode, &ingest::CsiNodeFactsOf>,
     [](Cluster& c, absl::string_view, absl::string_view name) { c.RemoveCsiNode(name); }},
    {&api::kCsiDrivers, &ReadAs<api::core::CsiDriver, &ingest::CsiDriverFactsOf>,
     [](Cluster& c, absl::string_view, absl::string_view name) { c.RemoveCsiDriver(name); }},
    {&api::kCsiStorageCapacities, &ReadAs<api::core::CsiStorageCapacity, &ingest::StorageCapacityFactsOf>,
     [](Cluster& c, absl::string_view ns, absl::string_view name) { c.RemoveStorageCapacity(ns, name); }},
    {&api::kVolumeAttachments, &ReadAs<api::core::VolumeAttachment, &ingest::VolumeAttachmentFactsOf>,
     [](Cluster& c, absl::string_view, absl::string_view name) { c.RemoveVolumeAttachment(name); }},
    {&api::volcano::kHyperNodes, &ReadAs<api::volcano::HyperNode, &ingest::HyperNodeFactsOf>,
     [](Cluster& c, absl::string_view, absl::string_view name) { c.RemoveHyperNode(name); }},
    {&api::kResourceQuotas, &ReadQuota,
     [](Cluster& c, absl::string_view ns, absl::string_view name) { c.RemoveQuota(ns, name); }},
    {&api::kPodDisruptionBudgets, &ReadAs<api::core::PodDisruptionBudget, &ingest::BudgetFactsOf>,
     [](Cluster& c, absl::string_view ns, absl::string_view name) { c.RemoveBudget(ns, name); }},
    {&api::kNamespaces, &ReadAs<api::core::PartialObject, &FactsOfNamespace>,
     [](Cluster& c, absl::string_view, absl::string_view name) { c.RemoveNamespace(name); }},
};

const KindOfObject* FindKindOfObject(absl::string_view api_version, absl::string_view kind) {
  for (const KindOfObject& each : kKindsOfObjects) {
    if (kind == View(each.resource->kind) && (api_version.empty() || api_version == each.resource->ApiVersion()))
      return &each;
  }
  return nullptr;
}

std::string Named(const api::Resource& resource, absl::string_view ns, absl::string_view name) {
  return absl::StrCat(View(resource.kind), resource.group.empty() ? "" : ".", View(resource.group), " ", ns, "/", name);
}

struct Keys {
  std::string operator()(const model::NodeFacts& f) const { return Named(api::kNodes, "", f.name); }
  std::string operator()(const model::PodFacts& f) const { return Named(api::kPods, f.ns, f.name); }
  std::string operator()(const model::GangFacts& f) const { return Named(ingest::ResourceOf(f.kind), f.ns, f.name); }
  std::string operator()(const model::QueueFacts& f) const { return Named(api::kQueues, "", f.name); }
  std::string operator()(const model::PriorityClassFacts& f) const { return Named(api::kPriorityClasses, "", f.name); }
  std::string operator()(const model::ClaimFacts& f) const { return Named(api::kPersistentVolumeClaims, f.ns, f.name); }
  std::string operator()(const model::VolumeFacts& f) const { return Named(api::kPersistentVolumes, "", f.name); }
  std::string operator()(const model::StorageClassFacts& f) const { return Named(api::kStorageClasses, "", f.name); }
  std::string operator()(const model::CsiNodeFacts& f) const { return Named(api::kCsiNodes, "", f.name); }
  std::string operator()(const model::CsiDriverFacts& f) const { return Named(api::kCsiDrivers, "", f.name); }
  std::string operator()(const model::StorageCapacityFacts& f) const {
    return Named(api::kCsiStorageCapacities, f.ns, f.name);
  }
  std::string operator()(const model::VolumeAttachmentFacts& f) const {
    return Named(api::kVolumeAttachments, "", f.name);
  }
  std::string operator()(const model::HyperNodeFacts& f) const { return Named(api::volcano::kHyperNodes, "", f.name); }
  std::string operator()(const model::QuotaFacts& f) const { return Named(api::kResourceQuotas, f.ns, f.name); }
  std::string operator()(const model::BudgetFacts& f) const { return Named(api::kPodDisruptionBudgets, f.ns, f.name); }
  std::string operator()(const model::NamespaceFacts& f) const { return Named(api::kNamespaces, "", f.name); }
};

struct Telling {
  Cluster& cluster;
  void operator()(const model::NodeFacts& f) const { cluster.SetNode(f); }
  void operator()(const model::PodFacts& f) const { cluster.SetPod(f); }
  void operator()(const model::GangFacts& f) const { cluster.SetGang(f); }
  void operator()(const model::QueueFacts& f) const { cluster.SetQueue(f); }
  void operator()(const model::PriorityClassFacts& f) const { cluster.SetPriorityClass(f); }
  void operator()(const model::ClaimFacts& f) const { cluster.SetClaim(f); }
  void operator()(const model::VolumeFacts& f) const { cluster.SetVolume(f); }
  void operator()(const model::StorageClassFacts& f) const { cluster.SetStorageClass(f); }
  void operator()(const model::CsiNodeFacts& f) const { cluster.SetCsiNode(f); }
  void operator()(const model::CsiDriverFacts& f) const { cluster.SetCsiDriver(f); }
  void operator()(const model::StorageCapacityFacts& f) const { cluster.SetStorageCapacity(f); }
  void operator()(const model::VolumeAttachmentFacts& f) const { cluster.SetVolumeAttachment(f); }
  void operator()(const model::HyperNodeFacts& f) const { cluster.SetHyperNode(f); }
  void operator()(const model::QuotaFacts& f) const { cluster.SetQuota(f); }
  void operator()(const model::BudgetFacts& f) const { cluster.SetBudget(f); }
  void operator()(const model::NamespaceFacts& f) const { cluster.SetNamespace(f); }
};

struct Collecting {
  explain::ClusterFacts& to;
  void operator()(model::NodeFacts&& f) const { to.nodes.push_back(std::move(f)); }
  void operator()(model::PodFacts&& f) const { to.pods.push_back(std::move(f)); }
  void operator()(model::GangFacts&& f) const { to.gangs.push_back(std::move(f)); }
  void operator()(model::QueueFacts&& f) const { to.queues.push_back(std::move(f)); }
  void operator()(model::PriorityClassFacts&& f) const { to.priority_classes.push_back(std::move(f)); }
  void operator()(model::ClaimFacts&& f) const { to.claims.push_back(std::move(f)); }
  void operator()(model::VolumeFacts&& f) const { to.volumes.push_back(std::move(f)); }
  void operator()(model::StorageClassFacts&& f) const { to.storage_classes.push_back(std::move(f)); }
  void operator()(model::CsiNodeFacts&& f) const { to.csi_nodes.push_back(std::move(f)); }
  void operator()(model::CsiDriverFacts&& f) const { to.csi_drivers.push_back(std::move(f)); }
  void operator()(model::StorageCapacityFacts&& f) const { to.storage_capacities.push_back(std::move(f)); }
  void operator()(model::VolumeAttachmentFacts&& f) const { to.attachments.push_back(std::move(f)); }
  void operator()(model::HyperNodeFacts&& f) const { to.hyper_nodes.push_back(std::move(f)); }
  void operator()(model::QuotaFacts&& f) const { to.quotas.push_back(std::move(f)); }
  void operator()(model::BudgetFacts&& f) const { to.budgets.push_back(std::move(f)); }
  void operator()(model::NamespaceFacts&& f) const { to.namespaces.push_back(std::move(f)); }
};

}  // namespace

absl::StatusOr<Fact> FactOf(absl::string_view json, const std::string& path, absl::string_view scheduler_name) {
  GW_RETURN_IF_ERROR(CheckJson(json, path));
  GW_ASSIGN_OR_RETURN(const TypeMeta type, Read<TypeMeta>(json, path));
  if (type.api_version.empty() || type.kind.empty()) return Wrong(path, "needs apiVersion and kind");
  const KindOfObject* const kind = FindKindOfObject(type.api_version, type.kind);
  if (kind == nullptr)
    return Wrong(path, absl::StrCat("kind ", Quoted(type.kind), " of ", Quoted(type.api_version),
                                    " says nothing about placement; leave it out"));
  return kind->read(json, path, kind->resource->namespaced, scheduler_name);
}

std::string KeyOf(const Fact& fact) { return std::visit(Keys(), fact); }
void Tell(const Fact& fact, Cluster& cluster) { std::visit(Telling{cluster}, fact); }
void Collect(Fact fact, explain::ClusterFacts& facts) { std::visit(Collecting{facts}, std::move(fact)); }

absl::StatusOr<std::string> TellGone(absl::string_view api_version, absl::string_view kind, absl::string_view ns,
                                     absl::string_view name, const std::string& path, Cluster& cluster) {
  const KindOfObject* const row = FindKindOfObject(api_version, kind);
  if (row == nullptr)
    return Wrong(path + ".kind",
                 absl::StrCat(Quoted(kind), api_version.empty() ? "" : " of ",
                              api_version.empty() ? "" : Quoted(api_version), " is no kind that is known"));
  if (name.empty()) return Wrong(path + ".name", "must not be empty");
  const absl::string_view of = !row->resource->namespaced ? "" : ns.empty() ? kDefaultNamespace : ns;
  row->remove(cluster, of, name);
  return Named(*row->resource, of, name);
}

absl::StatusOr<model::GangFacts> PodGroupFactsOf(absl::string_view json, const std::string& path) {
  GW_RETURN_IF_ERROR(CheckJson(json, path));
  GW_ASSIGN_OR_RETURN(const api::volcano::PodGroup group, Read<api::volcano::PodGroup>(json, path));
  const bool is_one = (group.api_version.empty() || group.api_version == api::kPodGroups.ApiVersion()) &&
                      (group.kind.empty() || group.kind == View(api::kPodGroups.kind));
  if (!is_one)
    return Wrong(path,
                 absl::StrCat("is ", Quoted(group.kind), " of ", Quoted(group.api_version), ", not PodGroup of ",
                              api::kPodGroups.ApiVersion(), "; send others among cluster.objects, without tasks"));
  return ingest::GangFactsOf(group);
}

struct PodTemplate::Impl {
  api::core::Pod pod;
};

absl::StatusOr<PodTemplate> PodTemplate::Read(absl::string_view json, const std::string& path) {
  GW_RETURN_IF_ERROR(CheckJson(json, path));
  GW_ASSIGN_OR_RETURN(PodTemplateSpec spec, extender::Read<PodTemplateSpec>(json, path));
  if (!spec.spec.node_name.empty()) return Wrong(path + ".spec.nodeName", "must be empty: it asks for a node");
  auto impl = std::make_shared<Impl>();
  impl->pod.metadata = std::move(spec.metadata);
  impl->pod.spec = std::move(spec.spec);
  impl->pod.spec.scheduler_name = kDefaultScheduler;
  PodTemplate out;
  out.impl_ = std::move(impl);
  return out;
}

model::PodFacts PodTemplate::FactsFor(const std::string& ns, const std::string& name) const {
  api::core::Pod pod = impl_->pod;
  pod.metadata.ns = ns;
  pod.metadata.name = name;
  pod.metadata.uid = name;
  return ingest::PodFactsOf(pod, kDefaultScheduler);
}

}  // namespace gangway::extender
