// Pods of Jobs that went, and nothing that is seen says why.
//
// Whoever evicts a Job's pods names them in its PodGroup first (api/volcano/release.h). PodGroups and pods come by a
// watch each, and either may lag behind the other. So the end of a pod is a loss of the Job only when its PodGroup is
// known as it was after that: by its watch, or by a question to the API server. Used on the controller's loop.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/volcano/scheduling.h"
#include "base/loop.h"
#include "kube/client/client.h"
#include "kube/runtime/informer.h"
#include "plugin/controller/job_index.h"

namespace gangway::controller {

class LossesSeen {
 public:
  using OnNews = absl::AnyInvocable<void(const JobKey&)>;

  // The answers are shown to `groups`; both must outlive it. `on_news` is called with Jobs whose question is answered,
  // or may be asked again.
  LossesSeen(Loop& loop, kube::Client& client, kube::Informer<api::volcano::PodGroup>& groups, OnNews on_news);

  // We delete the pod of this UID: nobody else needs to say why.
  void Deleted(const std::string& uid) { deleted_.insert(uid); }
  // It is gone. True: that was us.
  bool WasDeleted(const std::string& uid) { return deleted_.erase(uid) > 0; }
  // A pod of the Job is gone, for what reason nobody said; pods are known up to this version.
  void Lost(const JobKey& job, std::uint64_t version);
  // Whether the PodGroup is known as it was after the last loss, or of many one after the other as it was meanwhile. If
  // not, it is asked for.
  bool KnowsGroup(const JobKey& job, const api::NamespacedName& group);
  void Forget(const JobKey& job) { losses_.erase(job); }

 private:
  struct Loss {
    std::uint64_t version = 0;
    std::uint64_t number = 0;  // another one has another
    absl::Time since;          // of the first of which it was not known
    int failures = 0;
    bool asking = false;
  };
  void Ask(const JobKey& job, const api::NamespacedName& group, Loss& loss);
  void Answered(const JobKey& job, std::uint64_t number, const absl::StatusOr<kube::Response>& reply);
  void MayAsk(const JobKey& job);

  Loop& loop_;
  kube::Client& client_;
  kube::Informer<api::volcano::PodGroup>& groups_;
  OnNews on_news_;
  absl::flat_hash_map<JobKey, Loss> losses_;  // the last of each Job
  absl::flat_hash_set<std::string> deleted_;  // UIDs of pods that are still there
  std::uint64_t losses_seen_ = 0;
  Owner owner_;
};

}  // namespace gangway::controller
