#include "plugin/scheduler/volume_binding.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/json.h"
#include "api/resource.h"
#include "plugin/gang/order.h"
#include "plugin/ingest/ingest.h"

namespace gangway::scheduler {
namespace {

using kube::Write;
using model::Cluster;
using model::Task;
using model::Volumes;

// Whoever makes volumes of the class makes one that the node reaches.
Write SelectNode(const Volumes::Promised& promised) {
  Write write;
  write.verb = kube::Verb::kMergePatch;
  write.resource = &api::kPersistentVolumeClaims;
  write.ns = promised.ns;
  write.name = promised.name;
  write.uid = promised.uid;
  api::JsonWriter json(write.body);
  json.BeginObject().Key("metadata").BeginObject().Key("annotations").BeginObject();
  json.Field(ingest::kSelectedNodeAnnotation, promised.node).EndObject().EndObject().EndObject();
  return write;
}

// The persistent volume controller does the rest.
Write KeepForClaim(const Volumes::Promised& promised) {
  Write write;
  write.verb = kube::Verb::kMergePatch;
  write.resource = &api::kPersistentVolumes;
  write.name = promised.volume;
  write.uid = promised.volume_uid;
  write.resource_version = promised.volume_version;
  api::JsonWriter json(write.body);
  json.BeginObject()
      .Key("metadata")
      .BeginObject()
      .Key("annotations")
      .BeginObject()
      .Field("pv.kubernetes.io/bound-by-controller", "yes");
  json.EndObject().EndObject().Key("spec").BeginObject().Key("claimRef").BeginObject();
  json.Field("apiVersion", "v1")
      .Field("kind", "PersistentVolumeClaim")
      .Field("namespace", promised.ns)
      .Field("name", promised.name);
  json.Field("uid", promised.uid).EndObject().EndObject().EndObject();
  return write;
}

class Look {
 public:
  Look(const Cluster& cluster, absl::btree_set<std::string>& selected) : cluster_(cluster), selected_(selected) {}

  void At(const Task& task) {
    for (const model::ClaimId claim : cluster_.shape(task.shape).claims) {
      if (!out_.failed.empty()) return;
      if (!cluster_.volumes().ready(claim)) {
        Await(task, claim);
      } else if (!cluster_.volumes().AllSelectors({claim}, [&](const Volumes::Selector& selector) {
                   return cluster_.MatchesAny(task.row, selector.terms);
                 })) {
        Fail(task, claim, "was bound to a volume that the node does not reach");
      }
    }
  }
  VolumesOfGang Result() && {
    out_.ready = out_.waits_for.empty() && out_.failed.empty();
    return std::move(out_);
  }

 private:
  void Await(const Task& task, model::ClaimId claim) {
    if (!cluster_.volumes().awaited(claim)) return Fail(task, claim, "cannot be used any more");
    if (out_.waits_for.empty())
      out_.waits_for =
          absl::StrCat("claim ", cluster_.volumes().NameOf(claim), " on node ", cluster_.node_name(task.row));
    const std::optional<Volumes::Promised> promised = cluster_.volumes().PromisedTo(claim);
    if (!promised.has_value()) return;  // its volume is being bound to it
    if (!promised->made) {
      if (promised->lost) return Fail(task, claim, "lost the volume that was there for it");
      if (!promised->kept) Want(KeepForClaim(*promised));
      return;
    }
    const std::string key = absl::StrCat(promised->uid, "/", promised->node);
    if (promised->selected_node == promised->node) {
      selected_.insert(key);
    } else if (selected_.contains(key)) {
      Fail(task, claim, "got no volume: who makes them gave the node back");
    } else {
      Want(SelectNode(*promised));
    }
  }

  // Once for all pods of a claim.
  void Want(Write write) {
    const bool there = std::any_of(out_.writes.begin(), out_.writes.end(), [&](const Write& other) {
      return other.resource == write.resource && other.ns == write.ns && other.name == write.name;
    });
    if (!there) out_.writes.push_back(std::move(write));
  }
  void Fail(const Task& task, model::ClaimId claim, absl::string_view what) {
    out_.failed = absl::StrCat("claim ", cluster_.volumes().NameOf(claim), " of ", task.name.view(), " on ",
                               cluster_.node_name(task.row), " ", what);
  }

  const Cluster& cluster_;
  absl::btree_set<std::string>& selected_;
  VolumesOfGang out_;
};

}  // namespace

VolumesOfGang LookAtVolumes(const Cluster& cluster, const model::Gang& gang,
                            absl::FunctionRef<bool(const Task&)> accepted, absl::btree_set<std::string>& selected) {
  Look look(cluster, selected);
  std::vector<model::TaskId> tasks = gang.tasks;
  std::erase_if(tasks, [&](model::TaskId id) {
    const Task& task = cluster.task(id);
    return task.status != model::TaskStatus::kBinding || cluster.shape(task.shape).claims.empty() || accepted(task);
  });
  gang::SortTasks(cluster, tasks);
  for (const model::TaskId id : tasks) look.At(cluster.task(id));
  return std::move(look).Result();
}

}  // namespace gangway::scheduler
