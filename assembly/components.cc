#include "assembly/components.h"

#include <algorithm>
#include <utility>

#include "api/scheduling_resources.h"
#include "plugin/controller/admission_watch.h"
#include "plugin/controller/cron_job_controller.h"
#include "plugin/controller/hyper_node_controller.h"
#include "plugin/controller/job_flow_controller.h"
#include "plugin/controller/queue_controller.h"
#include "plugin/controller/workload_group_controller.h"
#include "plugin/shadow/shadow_scheduler.h"
#include "translator/controller/paddle_job_controller.h"

namespace gangway::assembly {
namespace {

using kube::Component;
using kube::Informers;

kube::ComponentOptions Base(const Options& options, const char* event_source) {
  kube::ComponentOptions out;
  out.event_source = event_source;
  out.standby = options.standby;
  return out;
}
// As Volcano's name themselves in events.
kube::ComponentOptions Volcano(const Options& options) { return Base(options, "vc-controller-manager"); }

template <class T>
std::unique_ptr<Component> MakeVolcano(Informers& informers, const Options& options) {
  return std::make_unique<T>(informers, Volcano(options));
}

std::unique_ptr<Component> MakeAdmission(Informers& informers, const Options& options) {
  if (options.admission_facts == nullptr) return nullptr;
  return std::make_unique<controller::AdmissionWatch>(informers, options.admission_facts);
}

std::unique_ptr<Component> MakeNotifier(Informers& informers, const Options& options) {
  if (options.notifications == nullptr) return nullptr;
  return std::make_unique<notify::Notifier>(informers, Base(options, ""), options.notifications->about,
                                            options.notifications->deliver);
}

std::unique_ptr<Component> MakeJob(Informers& informers, const Options& options) {
  return std::make_unique<controller::JobController>(informers, Volcano(options), options.ssh);
}

std::unique_ptr<Component> MakeHyperNode(Informers& informers, const Options& options) {
  if (options.label_source == nullptr) return nullptr;
  return std::make_unique<controller::HyperNodeController>(informers, Volcano(options), options.label_source);
}

std::unique_ptr<Component> MakePodGroup(Informers& informers, const Options& options) {
  return std::make_unique<controller::WorkloadGroupController>(informers, Volcano(options), options.scheduler_name,
                                                               options.inherit_owner_annotations);
}

template <class T>
std::unique_ptr<Component> MakePaddle(Informers& informers, const Options& options) {
  return std::make_unique<paddle_controller::PaddleJobController<T>>(informers, Base(options, "paddlejob-controller"),
                                                                     options.translate);
}

std::unique_ptr<Component> MakeScheduler(Informers& informers, const Options& options) {
  if (options.shadow) {
    return std::make_unique<shadow::ShadowScheduler>(
        informers, Base(options, ""),
        shadow::ShadowOptions{options.scheduler_name, options.scheduler.policy, options.scheduler.live_policy});
  }
  scheduler::Options own = options.scheduler;
  own.name = options.scheduler_name;
  return scheduler::Scheduler::Make(informers, Base(options, ""), std::move(own));
}

std::vector<Writes> PaddleWrites(const api::Resource& paddle_jobs) {
  return {{&paddle_jobs, "", "delete patch"},       {&paddle_jobs, "status", "patch"},
          {&api::kJobs, "", "create delete patch"}, {&api::kPodGroups, "", "delete"},
          {&api::kCommands, "", "create"},          {&api::kPods, "", "delete"},
          {&api::kConfigMaps, "", "create delete"}, {&api::kServices, "", "create delete"}};
}

std::vector<ComponentRow> MakeTable() {
  using controller::CronJobController;
  using controller::JobFlowController;
  using controller::QueueController;
  return {
      {"admission", kControllers.name, "", MakeAdmission, {}},
      {"job",
       kControllers.name,
       "job",
       MakeJob,
       {{&api::kJobs, "", "delete patch"},
        {&api::kJobs, "status", "patch"},
        {&api::kPodGroups, "", "create delete patch"},
        {&api::kPods, "", "create delete"},
        {&api::kCommands, "", "delete"},
        {&api::kConfigMaps, "", "create delete patch"},
        {&api::kServices, "", "create delete"},
        {&api::kNetworkPolicies, "", "create delete"},
        {&api::kPersistentVolumeClaims, "", "create"},
        {&api::kSecrets, "", "create delete patch"}}},
      {"cronjob",
       kControllers.name,
       "cronjob",
       MakeVolcano<CronJobController>,
       {{&api::kJobs, "", "create delete"}, {&api::kCronJobs, "status", "patch"}}},
      {"jobflow",
       kControllers.name,
       "jobflow",
       MakeVolcano<JobFlowController>,
       {{&api::kJobs, "", "create delete"},
        {&api::kJobFlows, "status", "patch"},
        {&api::kJobTemplates, "status", "patch"}}},
      {"podgroup",
       kControllers.name,
       "podgroup",
       MakePodGroup,
       {{&api::kPodGroups, "", "create delete patch"}, {&api::kPods, "", "patch"}}},
      {"queue",
       kControllers.name,
       "queue",
       MakeVolcano<QueueController>,
       {{&api::kQueues, "", "create patch"}, {&api::kQueues, "status", "patch"}, {&api::kCommands, "", "delete"}}},
      {"hypernode",
       kControllers.name,
       "hypernode",
       MakeHyperNode,
       {{&api::volcano::kHyperNodes, "", "create delete patch"}, {&api::volcano::kHyperNodes, "status", "patch"}}},
      // After those whose watches of all pods and Jobs they share.
      {"paddlejob", kPaddleControllers.name, "paddlejob", MakePaddle<api::paddle::PaddleJob>,
       PaddleWrites(api::paddle::kPaddleJobs)},
      {"kubeflowpaddlejob", kPaddleControllers.name, "paddlejob", MakePaddle<api::paddle::kubeflow::PaddleJob>,
       PaddleWrites(api::paddle::kubeflow::kPaddleJobs)},
      {"notifications", kControllers.name, "", MakeNotifier, {}},
      {"scheduler",
       kScheduler.name,
       "",
       MakeScheduler,
       {{&api::kPods, "", "delete"},
        {&api::kPods, "binding", "create"},
        {&api::kPods, "status", "patch"},
        {&api::kPodGroups, "", "patch"},
        {&api::kKubernetesPodGroups, "status", "patch"},
        {&api::kCoschedulingPodGroups, "status", "patch"},
        {&api::kPersistentVolumeClaims, "", "patch"},
        {&api::kPersistentVolumes, "", "patch"},
        {&api::kQueues, "", "create patch"},
        {&api::kQueues, "status", "patch"}}},
  };
}

}  // namespace

absl::Span<const ComponentRow> AllComponents() {
  static const auto& table = *new std::vector<ComponentRow>(MakeTable());
  return table;
}

std::vector<std::string> Reconcilers() {
  std::vector<std::string> names;
  for (const ComponentRow& row : AllComponents()) {
    if (row.reconciler[0] != '\0') names.push_back(row.reconciler);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool Runs(const Options& options, absl::string_view reconciler) {
  return options.only.empty() || reconciler.empty() ||
         std::find(options.only.begin(), options.only.end(), reconciler) != options.only.end();
}

std::vector<Reads> AllReads(Loop& loop, kube::Client& client, Options options) {
  if (options.admission_facts == nullptr) options.admission_facts = std::make_shared<controller::AdmissionFacts>();
  if (options.label_source == nullptr)
    options.label_source = std::make_shared<controller::LiveLabelSource>(lifecycle::LabelSource{true, {}});
  std::vector<Reads> out;
  const auto reads_of = [&](const api::Resource& resource) -> Reads& {
    for (Reads& reads : out) {
      if (reads.resource == &resource) return reads;
    }
    return out.emplace_back(Reads{&resource, {}});
  };
  if (options.notifications == nullptr) options.notifications = std::make_shared<const Options::Notifications>();
  for (const ComponentRow& row : AllComponents()) {
    kube::Informers informers(loop, client);
    const auto component = row.make(informers, options);
    for (const kube::AnyInformer* const informer : component->watched()) {
      std::vector<Reads::Selection>& known = reads_of(informer->resource()).selections;
      const Reads::Selection one{informer->options().label_selector, informer->options().field_selector};
      if (std::find(known.begin(), known.end(), one) == known.end()) known.push_back(one);
    }
  }
  const Reads::Selection all;
  for (Reads& reads : out) {
    if (std::find(reads.selections.begin(), reads.selections.end(), all) != reads.selections.end())
      reads.selections.clear();
  }
  return out;
}

std::unique_ptr<kube::Components> MakeComponents(Loop& loop, kube::Client& client,
                                                 absl::Span<const absl::string_view> processes,
                                                 const Options& options) {
  auto components = std::make_unique<kube::Components>(loop, client, options.metrics, options.namespaces);
  for (const ComponentRow& row : AllComponents()) {
    if (std::find(processes.begin(), processes.end(), row.process) == processes.end() || !Runs(options, row.reconciler))
      continue;
    if (auto component = row.make(components->informers(), options); component != nullptr)
      components->Add(std::move(component));
  }
  return components;
}

}  // namespace gangway::assembly
