#include "plugin/controller/cron_job_controller.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/volcano/defaults.h"
#include "base/strings.h"
#include "kube/plan/writes.h"

namespace gangway::controller {
namespace {

using api::NamespacedName;

// The CronJob that controls the Job; null when none does.
const api::OwnerReference* ControllingCronJob(const api::volcano::Job* job) {
  const api::OwnerReference* owner = job == nullptr ? nullptr : job->metadata.Controller();
  const bool ours =
      owner != nullptr && owner->kind == api::kCronJobs.kind && owner->api_version == api::kCronJobs.ApiVersion();
  return ours ? owner : nullptr;
}

bool Names(const api::volcano::CronJob& cron, const std::string& job) {
  const auto& active = cron.status.active;
  return std::any_of(active.begin(), active.end(),
                     [&](const api::ObjectReference& entry) { return entry.name == job; });
}

}  // namespace

CronJobController::CronJobController(kube::Informers& informers, kube::ComponentOptions options)
    : Component(informers, std::move(options)),
      // Whoever came from an older release has none yet.
      cron_jobs_(Watch<api::volcano::CronJob>(
          api::kCronJobs, {.optional = true},
          [this](const auto& key, const auto& before, const auto& after) { OnCronJob(key, before, after); })),
      jobs_(Watch<StoredJob>(
          api::kJobs, {},
          [this](const auto& key, const auto& before, const auto& after) { OnJob(key, before, after); })),
      driver_(Drive("cronjob", [this](const NamespacedName& key, absl::Time now) { return Decide(key, now); })) {
  driver_.SetOnPermanentError([this](const auto& key, const auto& uid, const auto& write, const auto& status) {
    Explain(key, uid, write, status);
  });
}

void CronJobController::OnCronJob(const NamespacedName& key, const CronJobPtr& before, const CronJobPtr& after) {
  if (after == nullptr) {
    if (const auto it = entries_.find(key); it != entries_.end()) {
      Entry left;
      left.runs = std::move(it->second.runs);
      if (left.empty())
        entries_.erase(it);
      else
        it->second = std::move(left);
    }
    return;
  }
  // The starts of the new schedule that have passed are nobody's.
  const bool same_object = before != nullptr && before->metadata.uid == after->metadata.uid;
  if (same_object &&
      (before->spec.schedule != after->spec.schedule || before->spec.time_zone != after->spec.time_zone)) {
    entries_[key].schedule_changed = loop().Now();
  }
  driver_.Enqueue(key);
}

void CronJobController::OnJob(const NamespacedName& key, const JobPtr& before, const JobPtr& after) {
  const api::OwnerReference* was = ControllingCronJob(before.get());
  const api::OwnerReference* is = ControllingCronJob(after.get());
  if (was != nullptr && (is == nullptr || is->name != was->name)) {
    const NamespacedName cron{key.ns, was->name};
    Entry& entry = entries_[cron];
    entry.runs.erase(key.name);
    if (const CronJobPtr owner = cron_jobs_.Get(cron); owner != nullptr && Names(*owner, key.name))
      entry.seen_leaving.insert(key.name);
    if (entry.empty()) entries_.erase(cron);
    driver_.Enqueue(cron);
  }
  if (is == nullptr) return;
  const NamespacedName cron{key.ns, is->name};
  Entry& entry = entries_[cron];
  entry.runs[key.name] = {lifecycle::RunOf(*after), is->uid};
  entry.seen_leaving.erase(key.name);
  if (entry.refused == key.name) entry.refused.clear();
  if (entry.attempted == key.name) entry.attempted.clear();
  driver_.Enqueue(cron);
}

void CronJobController::Wake() {
  cron_jobs_.ForEach([this](const NamespacedName& key, const auto&) { driver_.Enqueue(key); });
}

kube::Plan CronJobController::Decide(const NamespacedName& key, absl::Time now) {
  const CronJobPtr stored = cron_jobs_.Get(key);
  if (stored == nullptr) {
    if (const auto it = entries_.find(key); it != entries_.end() && it->second.runs.empty()) entries_.erase(it);
    return {};
  }
  // No API server need have filled it in.
  api::volcano::CronJob cron = *stored;
  api::volcano::ApplyDefaults(cron);
  Entry& entry = entries_[key];
  absl::erase_if(entry.seen_leaving, [&](const std::string& job) { return !Names(cron, job); });
  lifecycle::CronJobView view;
  view.cron = &cron;
  for (const auto& [name, owned] : entry.runs) {
    if (owned.owner_uid == cron.metadata.uid) view.runs.push_back(owned.run);
  }
  view.runs_current = jobs_.seen_up_to() >= cron.metadata.Version();
  view.seen_leaving = &entry.seen_leaving;
  view.refused = entry.refused;
  view.attempted = entry.attempted;
  view.schedule_changed = entry.schedule_changed;
  kube::Plan plan = lifecycle::ReconcileCronJob(view, now);
  plan.uid = cron.metadata.uid;
  for (const std::vector<kube::Write>& stage : plan.stages) {
    for (const kube::Write& write : stage) {
      if (write.verb == kube::Verb::kCreate) entry.attempted = write.name;
    }
  }
  TellOnce(entry, plan);
  if (entry.empty()) entries_.erase(key);
  return plan;
}

// A warning holds until its cause is gone; it is not told again with everything else that happens. What a plan with
// writes says may yet be lost with them, so it does not count as told.
void CronJobController::TellOnce(Entry& entry, kube::Plan& plan) const {
  std::vector<std::string> told;
  std::erase_if(plan.events, [&](const kube::EventNote& note) {
    if (note.type != kube::EventNote::Type::kWarning) return false;
    std::string text = absl::StrCat(note.reason, ": ", note.message);
    const bool before = std::find(entry.told.begin(), entry.told.end(), text) != entry.told.end();
    if (before || plan.stages.empty()) told.push_back(std::move(text));
    return before;
  });
  entry.told = std::move(told);
}

void CronJobController::Explain(const NamespacedName& key, const std::string& uid, const kube::Write& write,
                                const absl::Status& status) {
  const CronJobPtr cron = cron_jobs_.Get(key);
  if (cron == nullptr || cron->metadata.uid != uid) return;
  const bool create = write.verb == kube::Verb::kCreate;
  if (create) entries_[key].refused = write.name;
  const bool foreign = create && absl::IsAlreadyExists(status);
  const char* reason = foreign                             ? "ForeignJob"
                       : create                            ? "FailedCreate"
                       : write.verb == kube::Verb::kDelete ? "FailedDelete"
                                                           : "FailedUpdate";
  const std::string why =
      foreign ? "it is there already, and this CronJob does not control it" : std::string(status.message());
  recorder().Record({kube::EventNote::Type::kWarning, reason,
                     absl::StrCat(View(write.resource->kind), " ", write.name, ": ", why),
                     kube::ReferenceTo(api::kCronJobs, cron->metadata)});
}

}  // namespace gangway::controller
