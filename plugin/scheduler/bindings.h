// The scheduler's bindings: what becomes of pods that were given nodes, until they are bound or the nodes are given
// back.
//
// In: replies to bindings, and a look at a gang whenever something of it changed. Out: facts of the cluster (nodes
// given back; a gang that rests after it was refused), what volumes need first, and which pods of a gang stand
// half-bound. Used on the scheduler's loop.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/core/pod.h"
#include "api/meta.h"
#include "base/loop.h"
#include "base/metrics.h"
#include "kube/client/client.h"
#include "kube/plan/plan.h"
#include "kube/runtime/informers.h"
#include "kube/runtime/recorder.h"
#include "plugin/model/cluster.h"
#include "plugin/scheduler/feed.h"
#include "plugin/scheduler/release.h"
#include "plugin/scheduler/volume_binding.h"

namespace gangway::scheduler {

struct BindingTimes {
  absl::Duration retry;                            // how long a gang rests after a binding was refused
  absl::Duration shown_after = absl::Seconds(30);  // how long one that was taken may go without being shown
};

class Bindings {
 public:
  struct Calls {
    std::function<void(const api::NamespacedName&)> look;  // at the gang again
    std::function<void()> want_round;
  };
  // All that is not a value must outlive it; what is posted and asked for ends with the token's owner.
  struct Edges {
    Loop& loop;
    Token token;
    kube::Client& client;
    kube::Recorder& recorder;
    kube::Informer<api::core::Pod>& pods;
  };
  Bindings(model::Cluster& cluster, Feed& feed, Edges edges, BindingTimes times, Calls calls)
      : cluster_(cluster), feed_(feed), edges_(edges), times_(times), calls_(std::move(calls)) {}

  void CountIn(Metrics& metrics);

  // Whether the API server has accepted the binding of this pod, which is not shown yet.
  bool accepted(const model::Task& task) const { return accepted_.contains(task.uid.text()); }
  // Whether the API server answered a binding of this gang by "later", or by an error of its own.
  bool put_off(const model::Gang& gang) const;
  // The pod is given a node.
  void Given(const model::Task& task);
  // It is shown with a node, or is gone.
  void ForgetPod(const std::string& uid) {
    accepted_.erase(uid);
    put_off_.erase(uid);
  }
  void OnReply(const kube::Write& write, const kube::Response& reply);

  // Volumes before pods. When `failed` is set, the gang is to be given up: also because it has waited for them for
  // `volumes_take`.
  struct Awaited {
    VolumesOfGang of_gang;
    absl::Time since = absl::InfiniteFuture();
    absl::Time due = absl::InfiniteFuture();  // when waiting for them ends
  };
  Awaited LookAtVolumes(const api::NamespacedName& key, model::GangId id, absl::Duration volumes_take, absl::Time now);
  const absl::btree_set<api::NamespacedName>& awaiting_volumes() const { return awaiting_volumes_; }
  // Claims or volumes may not be patched: gangs that need this one are given up.
  void OnVolumesForbidden(const kube::Write& write, absl::string_view why);

  // Asks for pods of the gang whose binding was taken long ago and is not shown: where that is not so, their nodes are
  // given back. Returns when to look again.
  absl::Time LookAtAccepted(model::GangId id, absl::Time now);

  // Some of its pods have nodes and others do not, and it never was whole since this process watches.
  struct Half {
    std::optional<Leftovers> leftovers;
    absl::Time since = absl::InfinitePast();  // since when, as this process saw it
  };
  Half LookAtHalf(const api::NamespacedName& key, model::GangId id, absl::Time now);

  // All nodes of the gang that no binding was accepted for.
  void GiveNodeBack(model::TaskId task);
  void GiveNodesBack(model::GangId id);
  // The same; then it rests.
  void GiveUp(model::GangId id, const std::string& why);
  // Its PodGroup is gone, or another.
  void Forget(const api::NamespacedName& key);

 private:
  struct State {
    bool was_whole = false;
    absl::Time half_bound_since = absl::InfinitePast();
    Loop::TimerId rest = 0;
    absl::Time volumes_since = absl::InfinitePast();  // since when pods with nodes wait for volumes
    absl::btree_set<std::string> selected;            // see scheduler::LookAtVolumes
  };

  model::TaskId AssumedTask(const api::NamespacedName& key, const std::string& uid) const;
  void LookAtPod(const api::NamespacedName& key, const std::string& uid, std::string why);
  void TellScheduled(const model::Task& task);
  bool NeedsWritten(const model::Gang& gang, const kube::Write& write) const;
  void Rest(model::GangId id, const std::string& why);

  model::Cluster& cluster_;
  Feed& feed_;
  const Edges edges_;
  const BindingTimes times_;
  const Calls calls_;
  absl::btree_map<api::NamespacedName, State> states_;
  absl::btree_set<api::NamespacedName> awaiting_volumes_;
  absl::flat_hash_map<std::string, absl::Time> accepted_;  // UIDs of assumed pods, and since when, or asked for
  absl::flat_hash_set<std::string> put_off_;               // UIDs
  Counter bound_, refused_;
  Histogram gang_latency_, given_latency_, bound_latency_;
};

}  // namespace gangway::scheduler
