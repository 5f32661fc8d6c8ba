// `gangway logs -f JOB`: follows every wanted container of a Job's pods, those to come too, until the Job has ended.
// Used on its loop.
//
// A container's log is followed run by run: a stream that breaks, or ends while the pod's status still calls the run
// alive, is opened again from the last stamp (an API server that loses the kubelet ends the stream as if the container
// had); a run counts as read when a stream that was opened after its end was known has ended. A pod that is made anew
// is another pod.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/loop.h"
#include "cmd/logs/line_cutter.h"
#include "cmd/logs/log_choice.h"
#include "cmd/logs/log_output.h"
#include "kube/client/client.h"
#include "kube/client/text_source.h"
#include "kube/runtime/informer.h"

namespace gangway::cmd {

struct FollowOptions {
  LogChoice choice;                             // previous is false
  int max_streams = 100;                        // at once
  absl::Duration patience = absl::Seconds(35);  // for streams that stay open behind the Job's end: a pod's grace period
};

class LogFollower {
 public:
  using Job = api::volcano::Job;
  // Ok: the Job is Completed. Cancelled: it has ended otherwise, or was deleted. InvalidArgument: more containers run
  // than may be followed. Otherwise what keeps us from following at all. Called once, never within Start().
  using OnEnd = absl::AnyInvocable<void(absl::Status)>;
  // Told each change of the Job, null for none.
  using OnJob = absl::AnyInvocable<void(const Job* before, const Job* after)>;

  LogFollower(Loop& loop, kube::Client& client, kube::TextSource& texts, const Job& job, FollowOptions options,
              LogOutput output, OnJob on_job, OnEnd on_end);
  void Start();

 private:
  using Pod = api::core::Pod;
  using PodPtr = std::shared_ptr<const Pod>;
  using Id = std::pair<std::string, std::string>;  // UID of the pod, container
  struct Container {
    PodPtr pod;  // as it was seen last
    std::string name, prefix;
    bool from_before = false;  // had started when we came: --tail and --since are about it
    bool gone = false;         // the pod is
    LineCutter cutter;
    std::unique_ptr<kube::Watch> stream;
    Loop::TimerId timer = 0;  // to look again
    bool in_line = false;     // for a stream to become free
    int run = -1;             // being read, or read last
    int done = -1;            // the last run that has been read
    bool last_look = false;   // the run was known to have ended when the stream was opened
    int failures = 0;
  };

  void OnPod(const PodPtr& before, const PodPtr& after);
  void SeePod(const PodPtr& pod);
  void LosePod(const Pod& pod);
  void OnPodsSynced();
  void SeeJob(const std::shared_ptr<const Job>& before, const std::shared_ptr<const Job>& after);
  void TellProblem();
  void JobEnded(absl::Status how);
  void OnLastList(const absl::StatusOr<kube::Response>& reply);

  void Drive(const Id& id);
  void Open(const Id& id, Container& container, bool previous);
  void OnText(const Id& id, absl::string_view text);
  void OnStreamEnd(const Id& id, const absl::Status& status);
  void OnBroken(const Id& id, Container& container, const absl::Status& status);
  void LookAgain(const Id& id, Container& container, absl::Duration wait);
  void NextInLine();
  void MaybeEnd();
  void End(absl::Status status);

  Loop& loop_;
  kube::Client& client_;
  kube::TextSource& texts_;
  const Job job_;
  const FollowOptions options_;
  const std::string selector_;
  LogOutput output_;
  OnJob on_job_;
  OnEnd on_end_;
  kube::Informer<Job> jobs_;
  kube::Informer<Pod> pods_;
  absl::btree_map<Id, Container> containers_;
  int open_ = 0;  // streams
  bool told_full_ = false;
  std::string problem_;  // told last
  std::optional<absl::Status> job_end_;
  bool closing_ = false;  // the Job has ended and every pod has been seen as it is since
  bool ended_ = false;
  Owner owner_;
};

}  // namespace gangway::cmd
