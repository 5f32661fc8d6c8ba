#include "plugin/notify/notifier.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/resource.h"

namespace gangway::notify {

using api::NamespacedName;
using api::volcano::Job;
using api::volcano::PodGroup;

Notifier::Notifier(kube::Informers& informers, kube::ComponentOptions options, NotifierOptions about, Deliver deliver)
    : Component(informers, std::move(options)),
      about_(std::move(about)),
      deliver_(std::move(deliver)),
      jobs_(Watch<controller::StoredJob>(
          api::kJobs, {}, [this](const auto& key, const auto& before, const auto& after) { OnJob(key, before, after); },
          kube::Undecodable::kIgnored)),
      groups_(Watch<PodGroup>(api::kPodGroups, {}, nullptr, kube::Undecodable::kIgnored)) {}

void Notifier::Wake() {
  jobs_.ForEach([this](const NamespacedName& key, const JobPtr& job) { OnJob(key, nullptr, job); });
}

void Notifier::OnJob(const NamespacedName& key, const JobPtr& before, const JobPtr& after) {
  if (!deciding()) return;
  for (const Notice& notice : NoticesOf(before.get(), after.get())) {
    if (before != nullptr || loop().Now() - notice.at <= about_.catch_up) Tell(notice);
  }
  LookAtWait(key, after.get());
}

// One timer for each job that waits.
void Notifier::LookAtWait(const NamespacedName& key, const Job* job) {
  const std::optional<absl::Time> since = job == nullptr ? std::nullopt : WaitsSince(*job);
  const auto known = waits_.find(key);
  if (known != waits_.end()) {
    if (since == known->second.since) return;
    if (known->second.timer.has_value()) loop().Cancel(*known->second.timer);
    waits_.erase(known);
  }
  if (!since.has_value() || !about_.events.contains(Event::kWaiting)) return;
  Waiting& waiting = waits_[key];
  waiting.since = *since;
  const absl::Time due = *since + about_.waiting;
  if (due + about_.catch_up < loop().Now()) return;  // another leader has told it
  waiting.timer = loop().PostAt(due, token(), [this, key, uid = job->metadata.uid, since = *since] {
    if (const auto told = waits_.find(key); told != waits_.end()) told->second.timer.reset();
    OnWaited(key, uid, since);
  });
}

void Notifier::OnWaited(const NamespacedName& key, const std::string& uid, absl::Time since) {
  const JobPtr job = jobs_.Get(key);
  if (job == nullptr || job->metadata.uid != uid || WaitsSince(*job) != since) return;
  Tell(WaitingNotice(*job, since, ReasonOf(*job)));
}

std::string Notifier::ReasonOf(const Job& job) const {
  std::string reason;
  groups_.ForEach([&](const NamespacedName& key, const std::shared_ptr<const PodGroup>& group) {
    const api::OwnerReference* const owner = key.ns == job.metadata.ns ? group->metadata.Controller() : nullptr;
    if (owner == nullptr || owner->uid != job.metadata.uid) return;
    for (const api::volcano::PodGroupCondition& condition : group->status.conditions) {
      if (condition.type == "Unschedulable" && condition.status == "True") reason = condition.message;
    }
  });
  return reason;
}

void Notifier::Tell(const Notice& notice) {
  if (!about_.events.contains(notice.event)) return;
  if (!about_.queues.empty() && !about_.queues.contains(notice.queue)) return;
  deliver_(NoticeJson(notice, about_.cluster));
}

}  // namespace gangway::notify
