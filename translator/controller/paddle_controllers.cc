#include "translator/controller/paddle_controllers.h"

#include <utility>

#include "api/json.h"
#include "kube/runtime/recorder.h"
#include "kube/runtime/unreadable.h"
#include "translator/controller/paddle_caches.h"
#include "translator/controller/paddle_job_controller.h"

namespace gangway::paddle_controller {
namespace {

kube::RecorderOptions RecorderFor(const PaddleControllersOptions& options) {
  kube::RecorderOptions out;
  out.component = "paddlejob-controller";
  out.metrics = options.metrics;
  return out;
}

kube::DriverOptions DriverFor(const PaddleControllersOptions& options, std::string name) {
  kube::DriverOptions out;
  out.name = std::move(name);
  out.qps = options.qps;
  out.burst = options.burst;
  out.metrics = options.metrics;
  return out;
}

}  // namespace

class PaddleControllers::Impl {
 public:
  Impl(Loop& loop, kube::Client& client, PaddleControllersOptions options)
      : options_(std::move(options)), standby_(options_.standby), recorder_(loop, client, RecorderFor(options_)),
        caches_(loop, client, options_.metrics, options_.namespaces),
        jobs_(loop, client, recorder_, caches_, options_.translate, DriverFor(options_, "paddlejob"), DriverFor(options_, "kubeflowpaddlejob")) {}

  // Jobs are listed after PaddleJobs, and pods after Jobs, so that what is missing is not missing only because its list is older.
  void Start() {
    jobs_.Sleep();
    caches_.SetOnDecodeError([this](const api::ObjectReference& regarding, const absl::Status& status) {
      if (regarding.kind == api::paddle::kPaddleJobs.kind) unreadable_.Tell(regarding, status);  // of what others keep, they tell
    });
    caches_.paddle_jobs.Start(
        [this](const auto& key, const auto& before, const auto& after) {
          jobs_.OnPaddleJob(api::paddle::kPaddleJobs, key, before ? &before->metadata : nullptr, after ? &after->metadata : nullptr);
        },
        [this] { StartJobs(); });
    caches_.kubeflow_jobs.Start(
        [this](const auto& key, const auto& before, const auto& after) {
          jobs_.OnPaddleJob(api::paddle::kubeflow::kPaddleJobs, key, before ? &before->metadata : nullptr, after ? &after->metadata : nullptr);
        },
        [this] { StartJobs(); });
    caches_.queues.Start([this](const auto& key, const auto&, const auto& after) { jobs_.OnQueue(key.name, after.get()); }, [this] { Begin(); });
    caches_.namespace_queues.Start([this] { Begin(); });
  }

  void Lead() {
    standby_ = false;
    Begin();
  }
  void Stop() {
    stopped_ = true;
    deciding_ = false;
    unreadable_.End();
    jobs_.Sleep();
  }
  bool stopped() const { return stopped_ && jobs_.paddle_jobs().under_way() + jobs_.kubeflow_jobs().under_way() == 0; }
  bool synced() const { return caches_.synced(); }
  std::string problem() const { return caches_.problem(); }
  std::size_t events_waiting() const { return recorder_.waiting(); }

  std::string Dump() const {
    std::string out;
    api::JsonWriter json(out);
    json.BeginObject().Key("caches").BeginObject();
    caches_.DumpSizes(json);
    json.EndObject().Key("controllers").BeginObject();
    for (const auto& [name, driver] : {std::pair("kubeflowpaddlejob", &jobs_.kubeflow_jobs()), std::pair("paddlejob", &jobs_.paddle_jobs())}) {
      json.Key(name).BeginObject().Field("queuedKeys", static_cast<std::int64_t>(driver->queued()));
      json.Field("plansUnderWay", static_cast<std::int64_t>(driver->under_way())).EndObject();
    }
    json.EndObject().Field("eventsWaiting", static_cast<std::int64_t>(recorder_.waiting())).EndObject();
    return out;
  }

 private:
  void StartJobs() {
    if (!caches_.paddle_jobs.synced() || !caches_.kubeflow_jobs.synced()) return;
    caches_.jobs.Start([this](const auto& key, const auto&, const auto& after) { jobs_.OnJob(key, after); }, [this] { StartRest(); });
  }

  void StartRest() {
    for (kube::Cache<api::core::Pod>* pods : {&caches_.pods, &caches_.operator_pods, &caches_.kubeflow_pods}) {
      pods->Start([this](const auto& key, const auto&, const auto& after) { jobs_.OnPod(key, after.get()); }, [this] { Begin(); });
    }
    caches_.pod_groups.Start([this](const auto&, const auto& before, const auto& after) { jobs_.OnPodGroup(after != nullptr ? *after : *before); },
                             [this] { Begin(); });
    caches_.commands.Start([this](const auto& key, const auto& before, const auto& after) { jobs_.OnCommand(key, before, after); }, [this] { Begin(); });
    caches_.group_events.Start([this](const auto& key, const auto&, const auto& after) { jobs_.OnGroupEvent(key, after.get()); }, [this] { Begin(); });
    caches_.job_warnings.Start([this](const auto& key, const auto&, const auto& after) { jobs_.OnJobWarning(key, after.get()); }, [this] { Begin(); });
    StartPartial(caches_.services, api::kServices);
    StartPartial(caches_.config_maps, api::kConfigMaps);
  }

  void StartPartial(kube::Cache<api::core::PartialObject>& cache, const api::Resource& resource) {
    cache.Start([this, &resource](const auto& key, const auto&, const auto& after) { jobs_.OnObject(resource, key, after ? &after->metadata : nullptr); },
                [this] { Begin(); });
  }

  void Begin() {
    if (standby_ || deciding_ || stopped_ || !synced()) return;
    deciding_ = true;
    jobs_.Wake();
    unreadable_.Begin();
  }

  const PaddleControllersOptions options_;
  bool standby_ = false, deciding_ = false, stopped_ = false;
  kube::Recorder recorder_;
  kube::Unreadable unreadable_{recorder_};
  PaddleCaches caches_;
  PaddleJobController jobs_;
};

PaddleControllers::PaddleControllers(Loop& loop, kube::Client& client, PaddleControllersOptions options)
    : impl_(std::make_unique<Impl>(loop, client, std::move(options))) {}
PaddleControllers::~PaddleControllers() = default;
void PaddleControllers::Start() { impl_->Start(); }
void PaddleControllers::Lead() { impl_->Lead(); }
void PaddleControllers::Stop() { impl_->Stop(); }
bool PaddleControllers::stopped() const { return impl_->stopped(); }
bool PaddleControllers::synced() const { return impl_->synced(); }
std::string PaddleControllers::problem() const { return impl_->problem(); }
std::size_t PaddleControllers::events_waiting() const { return impl_->events_waiting(); }
std::string PaddleControllers::Dump() const { return impl_->Dump(); }

}  // namespace gangway::paddle_controller
