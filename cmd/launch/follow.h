// A job that somebody waits for in a terminal: what happens to it, and how it ends. Used on the caller's loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/paddle/paddle_job.h"
#include "api/resource.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "cmd/caller/api_caller.h"
#include "cmd/run/account.h"
#include "kube/runtime/informer.h"

namespace gangway::cmd {

// What a job's phase means for who waits. Absent: it goes on. Ok: it is done; Cancelled: it never will be.
std::optional<absl::Status> JudgeEnd(const std::string& phase);

struct FollowWish {
  const api::Resource* resource = &api::kJobs;  // or paddlejobs of batch.paddlepaddle.org
  api::NamespacedName key;
  std::string uid;
  absl::Duration patience = absl::InfiniteDuration();
  // Absent: only the job is watched, and nothing told before its end. Its pods and its gang may be forbidden to see.
  std::function<void(const AccountLine&, absl::Duration since_start)> tell;
};

class Follow {
 public:
  Follow(ApiCaller& caller, FollowWish wish);
  // Until it has ended, is gone, time is up or somebody presses Ctrl-C, which stops the waiting and not the job.
  // Ok: "Completed: 4 succeeded" is last_words(). Cancelled: the job did not, or not yet, complete. Unavailable: it
  // cannot be watched. Called at most once.
  absl::Status Run();
  const std::string& last_words() const { return last_words_; }

 private:
  template <class T>
  void Watch(kube::Informer<T>& objects, bool judged);
  void Judge();
  void OnTimeout();
  void End(absl::Status status);

  ApiCaller& caller_;
  const FollowWish wish_;
  const absl::Time start_;
  kube::Informer<api::volcano::Job> jobs_;
  kube::Informer<api::paddle::PaddleJob> paddle_jobs_;
  kube::Informer<api::volcano::PodGroup> groups_;
  kube::Informer<api::core::Pod> pods_;
  kube::Informer<api::core::Event> events_;
  std::string last_words_, waits_for_;
  std::optional<absl::Status> end_;
  Owner owner_;
};

}  // namespace gangway::cmd
