#include "translator/controller/paddle_index.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/paddle_resources.h"
#include "base/check.h"
#include "base/strings.h"

namespace gangway::paddle_controller {
namespace {

using paddle_lifecycle::NearbyObject;

// Whether a PaddleJob of either kind controls it.
bool IsOfPaddleJob(const api::ObjectMeta& metadata) {
  const api::OwnerReference* owner = metadata.Controller();
  return owner != nullptr && owner->kind == api::paddle::kPaddleJobs.kind &&
         (owner->api_version == api::paddle::kPaddleJobs.ApiVersion() ||
          owner->api_version == api::paddle::kubeflow::kPaddleJobs.ApiVersion());
}

bool IsForJob(const api::volcano::Command& command) {
  return command.target.has_value() && command.target->kind == api::kJobs.kind;
}

}  // namespace

void PaddleIndex::PutJob(const JobKey& key, const JobPtr& job, bool kept) {
  if (job != nullptr && !IsOfPaddleJob(job->metadata)) ForgetFactsOfStranger(key, job->metadata);
  if (job == nullptr) {
    jobs_.erase(key);
  } else if (kept || IsOfPaddleJob(job->metadata)) {
    jobs_[key] = job;
  } else {
    auto stranger = std::make_shared<api::volcano::Job>();
    stranger->metadata = job->metadata;
    jobs_[key] = std::move(stranger);
  }
}

const api::volcano::Job* PaddleIndex::JobOf(const JobKey& key) const {
  const auto it = jobs_.find(key);
  return it == jobs_.end() ? nullptr : it->second.get();
}

std::string PaddleIndex::KnownJobOf(const api::NamespacedName& pod) const {
  if (const auto odd = job_of_odd_pod_.find(pod); odd != job_of_odd_pod_.end()) return odd->second;
  for (std::size_t dash = pod.name.find('-'); dash != std::string::npos; dash = pod.name.find('-', dash + 1)) {
    const auto it = pods_.find(JobKey{pod.ns, pod.name.substr(0, dash)});
    if (it != pods_.end() && it->second->Has(pod.name)) return it->first.name;
  }
  return "";
}

void PaddleIndex::RemovePod(const api::NamespacedName& key, const std::string& job) {
  job_of_odd_pod_.erase(key);
  const auto it = pods_.find(JobKey{key.ns, job});
  GW_CHECK(it != pods_.end() && it->second->Has(key.name));  // else another Job would go on counting it
  it->second->table.erase(key.name);
  it->second->of_strangers.erase(key.name);
  if (it->second->table.empty() && it->second->of_strangers.empty()) pods_.erase(it);
}

bool PaddleIndex::IsOfStranger(const api::core::Pod& pod, const JobKey& job) const {
  const auto it = jobs_.find(job);
  const api::OwnerReference* const owner = pod.metadata.Controller();
  return it != jobs_.end() && owner != nullptr && owner->uid == it->second->metadata.uid &&
         !IsOfPaddleJob(it->second->metadata);
}

void PaddleIndex::ForgetFactsOfStranger(const JobKey& key, const api::ObjectMeta& job) {
  const auto it = pods_.find(key);
  if (it == pods_.end()) return;
  Pods& pods = *it->second;
  for (auto pod = pods.table.begin(); pod != pods.table.end();) {
    if (pod->second.owner_uid != job.uid) {
      ++pod;
      continue;
    }
    pods.of_strangers.insert(pod->first);
    pod = pods.table.erase(pod);
  }
}

JobKey PaddleIndex::PutPod(const api::NamespacedName& key, const api::core::Pod* pod) {
  const std::string was = KnownJobOf(key);
  const std::string job = pod == nullptr ? std::string() : paddle_lifecycle::JobOf(*pod);
  if (!was.empty() && job != was) RemovePod(key, was);
  if (job.empty()) return was.empty() ? JobKey{} : JobKey{key.ns, was};
  if (!absl::StartsWith(key.name, absl::StrCat(job, "-"))) job_of_odd_pod_[key] = job;
  std::unique_ptr<Pods>& pods = pods_[JobKey{key.ns, job}];
  if (pods == nullptr) pods = std::make_unique<Pods>();
  if (IsOfStranger(*pod, {key.ns, job})) {
    pods->table.erase(key.name);
    pods->of_strangers.insert(key.name);
  } else {
    pods->of_strangers.erase(key.name);
    pods->table[key.name] = paddle_lifecycle::PaddlePodOf(*pod);
  }
  return {key.ns, job};
}

PaddleIndex::CommandOrder PaddleIndex::OrderOf(const api::volcano::Command& command) {
  return {command.metadata.creation_timestamp.at, command.metadata.name};
}

JobKey PaddleIndex::PutCommand(const api::NamespacedName& key, const CommandPtr& before, const CommandPtr& after) {
  JobKey concerned;
  if (before != nullptr && IsForJob(*before)) {
    concerned = {key.ns, before->target->name};
    if (const auto it = commands_.find(concerned); it != commands_.end()) {
      it->second.erase(OrderOf(*before));
      if (it->second.empty()) commands_.erase(it);
    }
  }
  if (after != nullptr && IsForJob(*after)) {
    concerned = {key.ns, after->target->name};
    commands_[concerned][OrderOf(*after)] = after;
  }
  return concerned;
}

std::vector<JobKey> PaddleIndex::PutObject(const api::Resource& resource, const api::NamespacedName& key,
                                           const api::ObjectMeta* metadata) {
  auto& here = objects_[key.ns];
  const std::pair<std::string, std::string_view> place{key.name, resource.plural};
  if (metadata != nullptr) {
    here.insert_or_assign(place, paddle_lifecycle::NearbyOf(resource, *metadata));
  } else {
    here.erase(place);
    if (here.empty()) objects_.erase(key.ns);
  }
  std::vector<JobKey> concerned;
  for (std::size_t dash = key.name.find('-'); dash != std::string::npos; dash = key.name.find('-', dash + 1)) {
    concerned.push_back({key.ns, key.name.substr(0, dash)});
  }
  concerned.push_back(key);
  return concerned;
}

api::NamespacedName PaddleIndex::PutEvent(const api::NamespacedName& key, const api::core::Event* event) {
  if (event == nullptr) {
    const auto known = subject_of_event_.find(key);
    if (known == subject_of_event_.end()) return {};
    const auto [uid, name] = known->second;
    subject_of_event_.erase(known);
    // Events go when they are old; an older one of the same object is not worth keeping for that.
    if (const auto it = events_.find(uid); it != events_.end() && it->second.name == key.name) events_.erase(it);
    return {key.ns, name};
  }
  const std::string& uid = event->involved_object.uid;
  if (uid.empty()) return {};
  subject_of_event_[key] = {uid, event->involved_object.name};
  NewestEvent& newest = events_[uid];
  const std::uint64_t version = event->metadata.Version();
  if (version < newest.version) return {};
  newest = {version, key.name, {event->reason, event->message}};
  return {key.ns, event->involved_object.name};
}

const paddle_lifecycle::EventText& PaddleIndex::EventOf(const std::string& uid) const {
  static const auto& kNone = *new paddle_lifecycle::EventText();
  const auto it = events_.find(uid);
  return it == events_.end() ? kNone : it->second.text;
}

bool PaddleIndex::PutQueue(const std::string& name, const api::volcano::Queue* queue) {
  if (queue == nullptr) return queues_.erase(name) > 0;
  const auto [it, added] = queues_.try_emplace(name);
  if (!added && it->second == queue->status.state) return false;
  it->second = queue->status.state;
  return true;
}

void PaddleIndex::Fill(const JobKey& key, paddle_lifecycle::PaddleJobView& view) const {
  view.volcano_job = JobOf(key);
  if (const auto it = pods_.find(key); it != pods_.end()) {
    Pods& pods = *it->second;
    for (const std::string& name : pods.of_strangers)
      pods.table.try_emplace(name);  // there they are, and that is all that matters
    view.pods = &pods.table;
  }
  if (const auto given = commands_.find(key); given != commands_.end()) {
    for (const auto& [order, command] : given->second) view.commands.push_back(command.get());
  }
  if (const auto here = objects_.find(key.ns); here != objects_.end()) {
    const std::string prefix = absl::StrCat(key.name, "-");
    const auto take = [&](const std::string& from, auto belongs) {
      for (auto it = here->second.lower_bound({from, {}}); it != here->second.end() && belongs(it->first.first); ++it)
        view.objects.push_back(it->second);
    };
    take(key.name, [&](const std::string& name) { return name == key.name; });
    take(prefix, [&](const std::string& name) { return absl::StartsWith(name, prefix); });
  }
  view.queues = &queues_;
}

}  // namespace gangway::paddle_controller
