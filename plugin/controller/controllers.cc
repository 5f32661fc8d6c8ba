#include "plugin/controller/controllers.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/runtime/recorder.h"
#include "plugin/controller/bare_pod_controller.h"
#include "plugin/controller/job_controller.h"
#include "plugin/controller/queue_controller.h"

namespace gangway::controller {
namespace {

kube::RecorderOptions RecorderFor(const ControllersOptions& options) {
  kube::RecorderOptions out;
  out.component = "vc-controller-manager";
  out.metrics = options.metrics;
  return out;
}

kube::DriverOptions DriverFor(const ControllersOptions& options, std::string name) {
  kube::DriverOptions out;
  out.name = std::move(name);
  out.qps = options.qps;
  out.burst = options.burst;
  out.metrics = options.metrics;
  return out;
}

}  // namespace

class Controllers::Impl {
 public:
  Impl(Loop& loop, kube::Client& client, const ControllersOptions& options)
      : recorder_(loop, client, RecorderFor(options)), caches_(loop, client, options.metrics),
        jobs_(loop, client, recorder_, caches_, DriverFor(options, "job")),
        queues_(loop, client, recorder_, caches_, DriverFor(options, "queue")),
        bare_pods_(loop, client, recorder_, caches_, options.scheduler_name, DriverFor(options, "podgroup")) {}

  // Pods are listed after Jobs, so that no pod that a Job's status speaks of is missing only because the list is older; PodGroups after
  // pods, so that a release that explains a missing pod is known with it.
  void Start() {
    jobs_.Hold();
    queues_.Hold();
    bare_pods_.Hold();
    caches_.SetOnDecodeError([this](const api::ObjectReference& regarding, const absl::Status& status) { Report(regarding, status); });
    caches_.jobs.Start([this](const auto& key, const auto&, const auto& after) { jobs_.OnJob(key, after.get()); },
                       [this] { StartPods(); });
    caches_.commands.Start(
        [this](const auto& key, const auto& before, const auto& after) {
          jobs_.OnCommand(key, before, after);
          queues_.OnCommand(before, after);
        },
        [this] { OnSynced(); });
    caches_.queues.Start([this](const auto& key, const auto&, const auto&) { queues_.OnQueue(key.name); }, [this] { OnSynced(); });
    caches_.priority_classes.Start(
        [this](const auto&, const auto& before, const auto& after) { jobs_.OnPriorityClass(before.get(), after.get()); },
        [this] { OnSynced(); });
    StartObjects();
  }

  bool synced() const { return caches_.synced(); }

 private:
  void StartPods() {
    caches_.pods.Start(
        [this](const auto& key, const auto&, const auto& after) {
          jobs_.OnPod(key, after.get());
          bare_pods_.OnPod(key, after);
        },
        [this] {
          StartPodGroups();
          OnSynced();
        });
  }

  void StartPodGroups() {
    caches_.pod_groups.Start(
        [this](const auto& key, const auto& before, const auto& after) {
          jobs_.OnPodGroup(after != nullptr ? *after : *before);
          queues_.OnPodGroup(key, after.get());
        },
        [this] { OnSynced(); });
  }

  void StartObjects() {
    caches_.config_maps.Start(
        [this](const auto& key, const auto&, const auto& after) {
          jobs_.OnObject(api::kConfigMaps, key, after ? &after->metadata : nullptr, after ? &after->data : nullptr);
        },
        [this] { OnSynced(); });
    StartPartial(caches_.services, api::kServices);
    StartPartial(caches_.network_policies, api::kNetworkPolicies);
    caches_.claims.Start([this](const auto& key, const auto&, const auto& after) { jobs_.OnClaim(key, after != nullptr); },
                         [this] { OnSynced(); });
  }

  void StartPartial(kube::Cache<api::core::PartialObject>& cache, const api::Resource& resource) {
    cache.Start(
        [this, &resource](const auto& key, const auto&, const auto& after) {
          jobs_.OnObject(resource, key, after ? &after->metadata : nullptr);
        },
        [this] { OnSynced(); });
  }

  void OnSynced() {
    if (!caches_.synced()) return;
    jobs_.Release();
    queues_.Release();
    bare_pods_.Release();
  }

  void Report(const api::ObjectReference& regarding, const absl::Status& status) {
    if (regarding.name.empty()) return;
    recorder_.Record({kube::EventNote::Type::kWarning, "InvalidObject",
                      absl::StrCat("this version of the object cannot be read and is ignored: ", status.message()), regarding});
  }

  kube::Recorder recorder_;
  Caches caches_;
  JobController jobs_;
  QueueController queues_;
  BarePodController bare_pods_;
};

Controllers::Controllers(Loop& loop, kube::Client& client, ControllersOptions options)
    : impl_(std::make_unique<Impl>(loop, client, options)) {}
Controllers::~Controllers() = default;
void Controllers::Start() { impl_->Start(); }
bool Controllers::synced() const { return impl_->synced(); }

}  // namespace gangway::controller
