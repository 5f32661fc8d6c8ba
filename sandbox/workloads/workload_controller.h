// The controllers of Deployments and ReplicaSets of the embedded cluster.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/loop.h"
#include "kube/client/client.h"
#include "kube/runtime/driver.h"
#include "kube/runtime/informer.h"
#include "kube/runtime/recorder.h"
#include "sandbox/workloads/sync_workloads.h"

namespace gangway::sandbox {

// Used on its loop.
class WorkloadController {
 public:
  WorkloadController(Loop& loop, kube::Client& client);
  WorkloadController(const WorkloadController&) = delete;
  WorkloadController& operator=(const WorkloadController&) = delete;

  void Start();

 private:
  kube::Plan DecideSet(const api::NamespacedName& key);
  kube::Plan DecideDeployment(const api::NamespacedName& key, absl::Time now);
  void OnSynced();

  kube::Informer<Workload> deployments_, sets_;
  kube::Informer<api::core::Pod> pods_;
  kube::Recorder recorder_;
  kube::Driver set_driver_, deployment_driver_;
};

}  // namespace gangway::sandbox
