// One run in an embedded cluster: applies job files, prints the account, waits for the goal. Used on its loop.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/manifest/manifest.h"
#include "api/paddle/paddle_job.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "base/loop.h"
#include "cmd/run/account.h"
#include "cmd/run/goal.h"
#include "kube/client/client.h"
#include "kube/runtime/informer.h"

namespace gangway::cmd {

class Run {
 public:
  struct Options {
    std::vector<api::ManifestDocument> documents;  // applied in order, once
    // They are another cluster's: what is here already stays as it is, and fields that this server does not know go.
    bool of_another_cluster = false;
    std::optional<Goal> goal;
    absl::Duration timeout = absl::InfiniteDuration();
    bool print_account = true;
    bool colours = false;
    absl::AnyInvocable<void(absl::string_view line)> print;  // a line, without its line break
    absl::AnyInvocable<void(const api::core::Pod&)> on_pod;  // may be null: a pod as it is now
    absl::AnyInvocable<void()> on_started;  // may be null: every Job that is there has started; called once
  };
  // Ok: the goal was reached. Otherwise one sentence that says why not; InvalidArgument: an object of the documents was
  // refused. Called at most once, never within Start().
  using OnEnd = absl::AnyInvocable<void(absl::Status)>;

  Run(Loop& loop, kube::Client& client, Options options, OnEnd on_end);
  void Start();

 private:
  template <class T>
  void Watch(kube::Informer<T>& cache, Goal::Kind kind);
  void OnSynced();
  void ApplyNext();
  void OnDiscovered(const api::ManifestDocument& document, const absl::StatusOr<kube::Response>& reply);
  void Create(const api::ManifestDocument& document, const api::Resource& resource);
  void OnApplied(const api::ManifestDocument& document, absl::StatusOr<kube::Response> reply);
  void Hand(const api::core::Pod* pod);
  void LookForStart();
  void Judge(Goal::Kind kind, const api::NamespacedName& key, absl::string_view phase, bool deleted);
  void OnTimeout();
  void Print(const AccountLine& line);
  void End(absl::Status status);

  Loop& loop_;
  kube::Client& client_;
  Options options_;
  OnEnd on_end_;
  absl::Time start_;
  kube::Informer<api::volcano::Job> jobs_;
  kube::Informer<api::paddle::PaddleJob> paddle_jobs_;
  kube::Informer<api::paddle::kubeflow::PaddleJob> kubeflow_jobs_;
  kube::Informer<api::volcano::JobFlow> flows_;
  kube::Informer<api::volcano::PodGroup> groups_;
  kube::Informer<api::core::Pod> pods_;
  kube::Informer<api::core::Event> events_;
  std::size_t applied_ = 0;
  bool ended_ = false, started_ = false;
  Owner owner_;
};

}  // namespace gangway::cmd
