#include "plugin/controller/job_index.h"

#include <algorithm>
#include <utility>

#include "api/resource.h"
#include "api/volcano/controlling_job.h"
#include "base/check.h"
#include "plugin/lifecycle/job/pod.h"

namespace gangway::controller {
namespace {

bool ForJob(const api::volcano::Command& command) {
  return command.target && command.target->kind == api::kJobs.kind &&
         command.target->api_version == api::kJobs.ApiVersion();
}

std::tuple<absl::Time, std::string> CommandKey(const api::volcano::Command& command) {
  return {command.metadata.creation_timestamp.at, command.metadata.name};
}

}  // namespace

JobIndex::Entry& JobIndex::At(const JobKey& key) {
  std::unique_ptr<Entry>& entry = entries_[key];
  if (entry == nullptr) entry = std::make_unique<Entry>();
  return *entry;
}

void JobIndex::DropIfEmpty(const JobKey& key) {
  auto it = entries_.find(key);
  if (it != entries_.end() && it->second->empty()) entries_.erase(it);
}

void JobIndex::RemovePod(const api::NamespacedName& key, const std::string& job) {
  Entry& entry = At({key.ns, job});
  auto pod = entry.pods.find(key.name);
  GW_CHECK(pod != entry.pods.end());  // else another Job would go on counting it
  if (pod->second.released || pod->second.out_of_sync) entry.released_leaving.insert(key.name);
  if (pod->second.failure != nullptr) entry.leaving_failures[key.name] = pod->second.failure;
  entry.pods.erase(pod);
  entry.seen_leaving.insert(key.name);
}

JobKey JobIndex::PutPod(const api::NamespacedName& key, const api::core::Pod* pod) {
  const std::string job = pod == nullptr ? std::string() : lifecycle::JobOf(*pod);
  auto known = job_of_pod_.find(key);
  std::string before = known == job_of_pod_.end() ? std::string() : known->second;
  if (!before.empty() && before != job) RemovePod(key, before);
  if (job.empty()) {
    if (known != job_of_pod_.end()) job_of_pod_.erase(known);
    return {key.ns, std::move(before)};
  }
  if (before != job) job_of_pod_[key] = job;
  Entry& entry = At({key.ns, job});
  lifecycle::JobPod& slot = entry.pods[key.name];
  const bool named = slot.named && slot.uid == pod->metadata.uid;
  slot = lifecycle::JobPodOf(*pod);
  slot.named = named;
  entry.seen_leaving.erase(key.name);
  entry.released_leaving.erase(key.name);
  entry.leaving_failures.erase(key.name);
  return {key.ns, job};
}

void JobIndex::Name(const api::NamespacedName& key) {
  if (const auto job = job_of_pod_.find(key); job != job_of_pod_.end())
    At({key.ns, job->second}).pods.at(key.name).named = true;
}

const lifecycle::JobPod* JobIndex::FindPod(const api::NamespacedName& key) const {
  const auto job = job_of_pod_.find(key);
  if (job == job_of_pod_.end()) return nullptr;
  const lifecycle::PodTable& pods = entries_.at({key.ns, job->second})->pods;
  const auto pod = pods.find(key.name);
  return pod == pods.end() ? nullptr : &pod->second;
}

JobKey JobIndex::PutCommand(const api::NamespacedName& key, const CommandPtr& before, const CommandPtr& after) {
  if (before != nullptr && ForJob(*before)) {
    const JobKey job{key.ns, before->target->name};
    At(job).commands.erase(CommandKey(*before));
    DropIfEmpty(job);
    if (after == nullptr) return job;
  }
  if (after == nullptr || !ForJob(*after)) return {};
  const JobKey job{key.ns, after->target->name};
  At(job).commands[CommandKey(*after)] = after;
  return job;
}

JobKey JobIndex::PutObject(const api::Resource& resource, const api::NamespacedName& key,
                           const api::ObjectMeta* metadata, const std::map<std::string, std::string>* data) {
  const api::OwnerReference* owner = metadata == nullptr ? nullptr : api::volcano::ControllingJob(*metadata);
  auto known = job_of_object_.find({&resource, key});
  if (owner == nullptr && known == job_of_object_.end()) return {};
  if (known != job_of_object_.end()) {
    const JobKey job{key.ns, known->second};
    GW_CHECK(At(job).objects.erase({&resource, key.name}) == 1);  // else another Job would go on taking it for its own
    if (owner == nullptr) {
      job_of_object_.erase(known);
      DropIfEmpty(job);
      return job;
    }
  }
  job_of_object_[{&resource, key}] = owner->name;
  Owned& owned = At({key.ns, owner->name}).objects[{&resource, key.name}];
  owned.owner_uid = owner->uid;
  owned.object = {&resource, key.name, metadata->uid, metadata->resource_version, metadata->deleting(), {}, {}};
  if (data != nullptr) owned.object.data = *data;
  return {key.ns, owner->name};
}

void JobIndex::PutJob(const JobKey& key, const api::volcano::Job* job) {
  auto it = entries_.find(key);
  if (it != entries_.end()) {
    for (const std::string& claim : it->second->claims) {
      auto users = jobs_of_claim_.find({key.ns, claim});
      if (users == jobs_of_claim_.end()) continue;
      users->second.erase(key.name);
      if (users->second.empty()) jobs_of_claim_.erase(users);
    }
    it->second->claims.clear();
  }
  if (job == nullptr) {
    ForgetLeaving(key);
    DropIfEmpty(key);
    return;
  }
  for (std::size_t i = 0; i < job->spec.volumes.size(); ++i) {
    const std::string claim = lifecycle::ClaimName(*job, i);
    At(key).claims.push_back(claim);
    jobs_of_claim_[{key.ns, claim}].insert(key.name);
  }
}

std::vector<JobKey> JobIndex::PutClaim(const api::NamespacedName& key, bool exists) {
  if (exists) {
    if (!claims_[key.ns].insert(key.name).second) return {};
  } else {
    auto of_namespace = claims_.find(key.ns);
    if (of_namespace == claims_.end() || of_namespace->second.erase(key.name) == 0) return {};
    if (of_namespace->second.empty()) claims_.erase(of_namespace);
  }
  std::vector<JobKey> jobs;
  if (auto users = jobs_of_claim_.find(key); users != jobs_of_claim_.end()) {
    for (const std::string& job : users->second) jobs.push_back({key.ns, job});
  }
  return jobs;
}

void JobIndex::Fill(const JobKey& key, const std::string& job_uid, lifecycle::JobView& view) const {
  if (auto claims = claims_.find(key.ns); claims != claims_.end()) view.claims = &claims->second;
  auto it = entries_.find(key);
  if (it == entries_.end()) return;
  const Entry& entry = *it->second;
  view.pods = &entry.pods;
  view.seen_leaving = &entry.seen_leaving;
  view.released_leaving = &entry.released_leaving;
  view.leaving_failures = &entry.leaving_failures;
  view.commands = CommandsFor(key);
  for (const auto& [name, owned] : entry.objects) {
    if (owned.owner_uid == job_uid) view.objects.push_back(owned.object);
  }
  // The map's order is that of addresses; plans must not depend on it.
  std::sort(view.objects.begin(), view.objects.end(), [](const auto& a, const auto& b) {
    return std::tie(a.resource->plural, a.name) < std::tie(b.resource->plural, b.name);
  });
}

std::vector<const api::volcano::Command*> JobIndex::CommandsFor(const JobKey& key) const {
  std::vector<const api::volcano::Command*> out;
  if (auto it = entries_.find(key); it != entries_.end()) {
    for (const auto& [order, command] : it->second->commands) out.push_back(command.get());
  }
  return out;
}

std::vector<JobKey> JobIndex::Commanded() const {
  std::vector<JobKey> jobs;
  for (const auto& [key, entry] : entries_) {
    if (!entry->commands.empty()) jobs.push_back(key);
  }
  std::sort(jobs.begin(), jobs.end());
  return jobs;
}

void JobIndex::ForgetLeaving(const JobKey& key) {
  auto it = entries_.find(key);
  if (it == entries_.end() || it->second->seen_leaving.empty()) return;
  it->second->seen_leaving.clear();
  it->second->released_leaving.clear();
  it->second->leaving_failures.clear();
  DropIfEmpty(key);
}

}  // namespace gangway::controller
