// Watches jobs, gathers what is left of them, and hands each that has ended to the sinks, once. Used on its loop.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "api/core/pod.h"
#include "base/loop.h"
#include "cmd/archive/record.h"
#include "cmd/archive/sink.h"
#include "kube/client/client.h"
#include "kube/runtime/informer.h"

namespace gangway::cmd {

// Keeps a job that is deleted until it is in the archive.
inline constexpr char kArchiveFinalizer[] = "gangway.io/archive";
// When it was put there.
inline constexpr char kArchivedAt[] = "gangway.io/archived-at";

struct ArchiverOptions {
  std::vector<std::string> namespaces;       // empty: all
  bool hold = false;                         // jobs wait for us before they go
  bool once = false;                         // what has ended by now, and no more
  bool release = false;                      // nothing is archived: the finalizer goes from all jobs, once
  absl::Duration settle = absl::Seconds(2);  // after its end: the last events and pods come a little later
  int tries = 5;                             // with `once`: of a record
  std::size_t max_pods = 1000;               // of a record
};

class Archiver {
 public:
  // Ok: with `once` or `release`, all is done. Otherwise why it cannot go on. Called at most once.
  using OnEnd = absl::AnyInvocable<void(absl::Status)>;
  Archiver(Loop& loop, kube::Client& client, std::vector<std::unique_ptr<Sink>> sinks, ArchiverOptions options,
           OnEnd on_end);
  void Start();
  std::size_t written() const { return written_; }
  std::size_t known() const { return known_; }  // were there before

 private:
  struct Pods {
    std::map<std::string, PodEnd> by_uid;
    std::size_t more = 0;
  };
  struct Entry {
    const api::Resource* resource = nullptr;
    std::shared_ptr<const Kept> job;
    bool gone = false, queued = false, done = false, holding = false, releasing = false;
  };

  void WatchJobs(const api::Resource& resource);
  void OnJob(const api::Resource& resource, const std::shared_ptr<const Kept>& before,
             const std::shared_ptr<const Kept>& after);
  void OnPod(const std::shared_ptr<const api::core::Pod>& before, const std::shared_ptr<const api::core::Pod>& after);
  void OnGroup(const std::shared_ptr<const Kept>& before, const std::shared_ptr<const Kept>& after);
  void OnSynced();
  absl::Status AskSinks();
  void Look(const std::string& uid);
  void Queue(const std::string& uid, absl::Duration delay);
  bool IsAwaited(const std::string& uid) const;
  void Next();
  void Unqueue(const std::string& uid);
  void AskEvents(const std::string& uid);
  void Write(const std::string& uid, std::string events, std::string problem);
  void WriteTo(std::size_t sink, const std::shared_ptr<const Record>& record);
  void OnWritten(const std::string& uid, const std::string& name);
  void OnFailed(const std::string& uid, const absl::Status& why);
  void PatchFinalizer(const std::string& uid, bool hold);
  void OnPatched(const std::string& uid, bool hold, const absl::Status& status);
  void Forget(const std::string& uid);
  Remains RemainsOf(const Entry& entry) const;
  // The Job's own UID, and of a PaddleJob that of the Job it made.
  std::vector<std::string> OwnersOfPods(const Entry& entry) const;
  void EndIfDone();
  void End(absl::Status status);

  Loop& loop_;
  kube::Client& client_;
  const std::vector<std::unique_ptr<Sink>> sinks_;
  const ArchiverOptions options_;
  OnEnd on_end_;
  std::vector<std::unique_ptr<kube::Informer<Kept>>> jobs_;
  std::unique_ptr<kube::Informer<Kept>> groups_;
  std::unique_ptr<kube::Informer<api::core::Pod>> pods_;
  std::map<std::string, Entry> entries_;                  // by the job's UID
  std::map<std::string, Pods> pods_of_;                   // by the UID of the Job that made them
  std::map<std::string, std::string> group_of_;           // JSON, by the same
  std::map<std::string, std::set<std::string>> jobs_of_;  // UIDs of Jobs, by that of the PaddleJob that made them
  std::deque<std::string> queue_;
  std::map<std::string, int> failures_;  // of those in the queue
  bool ready_ = false, writing_ = false, resting_ = false, ended_ = false;
  int failures_in_a_row_ = 0, patches_ = 0;
  std::size_t written_ = 0, known_ = 0, waiting_ = 0;
  Owner owner_;
};

}  // namespace gangway::cmd
