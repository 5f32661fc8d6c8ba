#include "cmd/archive/archiver.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "api/paddle_resources.h"
#include "base/backoff.h"
#include "base/log.h"
#include "base/strings.h"
#include "kube/client/status.h"
#include "plugin/lifecycle/words.h"

namespace gangway::cmd {
namespace {

namespace json = boost::json;
using api::core::Pod;

constexpr Backoff kRest = {absl::Milliseconds(500), absl::Minutes(1)};  // after a failure of a sink
constexpr int kMaxEvents = 500;

const std::string* ControllerUid(const api::ObjectMeta& object) {
  const api::OwnerReference* const owner = object.Controller();
  return owner == nullptr ? nullptr : &owner->uid;
}

bool Holds(const api::ObjectMeta& job) {
  return std::count(job.finalizers.begin(), job.finalizers.end(), kArchiveFinalizer) > 0;
}

}  // namespace

Archiver::Archiver(Loop& loop, kube::Client& client, std::vector<std::unique_ptr<Sink>> sinks, ArchiverOptions options,
                   OnEnd on_end)
    : loop_(loop), client_(client), sinks_(std::move(sinks)), options_(std::move(options)), on_end_(std::move(on_end)) {
  const auto informer = [&](const api::Resource& resource) {
    kube::InformerOptions out;
    out.namespaces = options_.namespaces;
    out.optional = true;
    jobs_.push_back(std::make_unique<kube::Informer<Kept>>(loop_, client_, resource, std::move(out)));
  };
  informer(api::kJobs);
  informer(api::paddle::kPaddleJobs);
  informer(api::paddle::kubeflow::kPaddleJobs);
  if (options_.release) return;
  kube::InformerOptions beside;
  beside.namespaces = options_.namespaces;
  beside.optional = beside.unless_forbidden = true;
  groups_ = std::make_unique<kube::Informer<Kept>>(loop_, client_, api::kPodGroups, beside);
  beside.label_selector = std::string(lifecycle::kJobNameKey);
  beside.keep_objects = true;
  pods_ = std::make_unique<kube::Informer<Pod>>(loop_, client_, api::kPods, beside);
}

void Archiver::Start() {
  for (const auto& jobs : jobs_) {
    jobs->Start([this, resource = &jobs->resource()](const api::NamespacedName&, const auto& before,
                                                     const auto& after) { OnJob(*resource, before, after); },
                [this] { OnSynced(); });
  }
  if (groups_ == nullptr) return;
  groups_->Start([this](const api::NamespacedName&, const auto& before, const auto& after) { OnGroup(before, after); },
                 [this] { OnSynced(); });
  pods_->Start([this](const api::NamespacedName&, const auto& before, const auto& after) { OnPod(before, after); },
               [this] { OnSynced(); });
}

void Archiver::OnSynced() {
  const bool all = std::all_of(jobs_.begin(), jobs_.end(), [](const auto& jobs) { return jobs->synced(); });
  if (!all || ready_ || (groups_ != nullptr && !(groups_->synced() && pods_->synced()))) return;
  if (const absl::Status asked = AskSinks(); !asked.ok()) return End(asked);
  ready_ = true;
  std::vector<std::string> uids;
  for (const auto& [uid, entry] : entries_) uids.push_back(uid);
  if (!options_.once && !options_.release)
    log::Info("following", {{"jobs", entries_.size()}, {"archived_before", known_}});
  for (const std::string& uid : uids) Look(uid);
  EndIfDone();
}

// A record is known when all sinks have it; those that cannot say at once are asked when it is put there.
absl::Status Archiver::AskSinks() {
  if (options_.release) return absl::OkStatus();
  std::set<std::string> uids;
  for (const auto& [uid, entry] : entries_) uids.insert(uid);
  for (const std::unique_ptr<Sink>& sink : sinks_) {
    absl::StatusOr<std::set<std::string>> known = sink->Known(uids);
    if (!known.ok()) return known.status();
    uids = *std::move(known);
  }
  for (const std::string& uid : uids) entries_.at(uid).done = true;
  known_ = uids.size();
  return absl::OkStatus();
}

void Archiver::OnJob(const api::Resource& resource, const std::shared_ptr<const Kept>& before,
                     const std::shared_ptr<const Kept>& after) {
  const std::string uid = (after == nullptr ? before : after)->metadata.uid;
  Entry& entry = entries_[uid];
  entry.resource = &resource;
  entry.gone = after == nullptr;
  entry.job = after == nullptr ? before : after;
  if (const std::string* owner = ControllerUid(entry.job->metadata); owner != nullptr) jobs_of_[*owner].insert(uid);
  if (ready_) Look(uid);
}

// What was its is kept until the job is in the archive: its pods and its PodGroup may go before it.
bool Archiver::IsAwaited(const std::string& uid) const {
  const auto entry = entries_.find(uid);
  return !ready_ || (entry != entries_.end() && !entry->second.done);
}

void Archiver::OnPod(const std::shared_ptr<const Pod>& before, const std::shared_ptr<const Pod>& after) {
  const Pod& pod = after == nullptr ? *before : *after;
  const std::string* const owner = ControllerUid(pod.metadata);
  if (owner == nullptr) return;
  if (after == nullptr) {
    if (!IsAwaited(*owner)) pods_of_.erase(*owner);
    return;
  }
  Pods& pods = pods_of_[*owner];
  pods.by_uid[pod.metadata.uid] = EndOf(pod);
  if (pods.by_uid.size() <= options_.max_pods) return;
  const auto oldest = std::min_element(pods.by_uid.begin(), pods.by_uid.end(), [](const auto& a, const auto& b) {
    return a.second.started.at < b.second.started.at;
  });
  pods.by_uid.erase(oldest);
  ++pods.more;
}

void Archiver::OnGroup(const std::shared_ptr<const Kept>& before, const std::shared_ptr<const Kept>& after) {
  const Kept& group = after == nullptr ? *before : *after;
  const std::string* const owner = ControllerUid(group.metadata);
  if (owner == nullptr) return;
  if (after != nullptr) {
    group_of_[*owner] = ObjectJson(api::kPodGroups, group);
  } else if (!IsAwaited(*owner)) {
    group_of_.erase(*owner);
  }
}

// What is to be done about a job as it is now.
void Archiver::Look(const std::string& uid) {
  Entry& entry = entries_.at(uid);
  const api::ObjectMeta& job = entry.job->metadata;
  if (options_.release) {
    if (!entry.gone && Holds(job)) PatchFinalizer(uid, false);
    return;
  }
  if (entry.done || (options_.hold && job.annotations.contains(kArchivedAt))) {
    entry.done = true;
    if (entry.gone && !entry.queued) return Forget(uid);
    if (!entry.gone && Holds(job)) PatchFinalizer(uid, false);
    return;
  }
  const bool leaves = entry.gone || job.deleting();
  if (leaves || HasEnded(*entry.resource, *entry.job)) Queue(uid, leaves ? absl::ZeroDuration() : options_.settle);
  if (options_.hold && !leaves && !Holds(job)) PatchFinalizer(uid, true);
}

void Archiver::Queue(const std::string& uid, absl::Duration delay) {
  Entry& entry = entries_.at(uid);
  if (entry.queued) return;
  entry.queued = true;
  ++waiting_;
  loop_.PostAt(loop_.Now() + delay, owner_.token(), [this, uid] {
    queue_.push_back(uid);
    Next();
  });
}

void Archiver::Next() {
  while (!writing_ && !resting_ && !ended_ && !queue_.empty()) {
    const std::string uid = queue_.front();
    queue_.pop_front();
    if (!entries_.at(uid).done) {
      writing_ = true;
      AskEvents(uid);
    } else {  // another archive that holds it was faster
      Unqueue(uid);
    }
  }
}

void Archiver::Unqueue(const std::string& uid) {
  --waiting_;
  failures_.erase(uid);
  entries_.at(uid).queued = false;
  Look(uid);
}

// Events go after an hour, and with a busy API server sooner; a record without them is better than none.
void Archiver::AskEvents(const std::string& uid) {
  const Entry& entry = entries_.at(uid);
  kube::Request request;
  request.method = "GET";
  request.path = api::PathOf(api::kEvents, entry.job->metadata.ns);
  request.query =
      absl::StrCat("limit=", kMaxEvents, "&fieldSelector=", PercentEncode(absl::StrCat("involvedObject.uid=", uid)));
  client_.Send(std::move(request), owner_.token(), [this, uid](absl::StatusOr<kube::Response> answer) {
    if (!answer.ok()) return OnFailed(uid, answer.status());
    if (!answer->ok()) return Write(uid, "[]", std::string(kube::StatusFromResponse(*answer).message()));
    const absl::StatusOr<json::value> list = api::ParseJson(*answer->body);
    if (!list.ok()) return Write(uid, "[]", std::string(list.status().message()));
    json::array events = api::ListAt(*list, {"items"});
    for (json::value& event : events) {
      if (json::object* const object = event.if_object()) {
        if (json::value* const metadata = object->if_contains("metadata"); metadata != nullptr && metadata->is_object())
          metadata->get_object().erase("managedFields");
      }
    }
    Write(uid, api::ToJson(events), "");
  });
}

std::vector<std::string> Archiver::OwnersOfPods(const Entry& entry) const {
  std::vector<std::string> out{entry.job->metadata.uid};
  if (const auto made = jobs_of_.find(out.front()); made != jobs_of_.end())
    out.insert(out.end(), made->second.begin(), made->second.end());
  return out;
}

Remains Archiver::RemainsOf(const Entry& entry) const {
  Remains out;
  out.resource = entry.resource;
  out.job = entry.job;
  out.deleted = entry.gone || entry.job->metadata.deleting();
  for (const std::string& owner : OwnersOfPods(entry)) {
    if (const auto group = group_of_.find(owner); group != group_of_.end()) out.pod_group = group->second;
    const auto pods = pods_of_.find(owner);
    if (pods == pods_of_.end()) continue;
    for (const auto& [uid, pod] : pods->second.by_uid) out.pods.push_back(pod);
    out.more_pods += pods->second.more;
  }
  std::sort(out.pods.begin(), out.pods.end(), [](const PodEnd& a, const PodEnd& b) {
    return std::tie(a.started.at, a.name, a.uid) < std::tie(b.started.at, b.name, b.uid);
  });
  return out;
}

void Archiver::Write(const std::string& uid, std::string events, std::string problem) {
  Remains remains = RemainsOf(entries_.at(uid));
  remains.events = std::move(events);
  remains.events_problem = std::move(problem);
  auto record = std::make_shared<Record>();
  record->uid = uid;
  record->name = RecordName(remains.job->metadata);
  record->line = RecordLine(remains);
  WriteTo(0, record);
}

void Archiver::WriteTo(std::size_t sink, const std::shared_ptr<const Record>& record) {
  if (sink == sinks_.size()) return OnWritten(record->uid, record->name);
  sinks_[sink]->Put(*record, [this, sink, record](const absl::Status& status) {
    if (!status.ok()) return OnFailed(record->uid, status);
    WriteTo(sink + 1, record);
  });
}

void Archiver::OnWritten(const std::string& uid, const std::string& name) {
  writing_ = false;
  failures_in_a_row_ = 0;
  ++written_;
  log::Info("archived", {{"record", name}});
  entries_.at(uid).done = true;
  Unqueue(uid);
  Next();
  EndIfDone();
}

// The others come first, in case it is this one that the sink does not take.
void Archiver::OnFailed(const std::string& uid, const absl::Status& why) {
  writing_ = false;
  log::Warning("not archived; tried again", {{"uid", uid}, {"why", why.message()}});
  if (options_.once && ++failures_[uid] >= options_.tries) return End(absl::CancelledError(why.message()));
  queue_.push_back(uid);
  resting_ = true;
  loop_.PostAt(loop_.Now() + kRest.Next(failures_in_a_row_++, loop_.Random()), owner_.token(), [this] {
    resting_ = false;
    Next();
  });
}

// With the version that it is about: whoever else has changed the job meanwhile is seen first.
void Archiver::PatchFinalizer(const std::string& uid, bool hold) {
  Entry& entry = entries_.at(uid);
  bool& under_way = hold ? entry.holding : entry.releasing;
  if (under_way) return;
  under_way = true;
  const api::ObjectMeta& job = entry.job->metadata;
  json::array finalizers;
  for (const std::string& each : job.finalizers) {
    if (each != kArchiveFinalizer) finalizers.push_back(json::string(each));
  }
  if (hold) finalizers.push_back(json::string(kArchiveFinalizer));
  json::object metadata{{"resourceVersion", job.resource_version}, {"uid", uid}, {"finalizers", std::move(finalizers)}};
  if (!hold && !options_.release) {
    metadata["annotations"] =
        json::object{{kArchivedAt, absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", loop_.Now(), absl::UTCTimeZone())}};
  }
  kube::Request request;
  request.method = "PATCH";
  request.path = api::PathOf(*entry.resource, job.ns, job.name);
  request.content_type = "application/merge-patch+json";
  request.body = api::ToJson(json::object{{"metadata", std::move(metadata)}});
  ++patches_;
  client_.Send(std::move(request), owner_.token(), [this, uid, hold](absl::StatusOr<kube::Response> answer) {
    OnPatched(uid, hold, answer.ok() ? kube::StatusFromResponse(*answer) : answer.status());
  });
}

void Archiver::OnPatched(const std::string& uid, bool hold, const absl::Status& status) {
  if (absl::IsPermissionDenied(status)) {
    return End(absl::Status(status.code(), absl::StrCat(status.message(), "; --hold needs the right to patch jobs")));
  }
  const bool again = !status.ok() && !absl::IsNotFound(status);
  if (again) log::Debug("a job's finalizer was not changed; tried again", {{"uid", uid}, {"why", status.message()}});
  if (status.ok() && options_.release) ++written_;
  const auto over = [this, uid, hold, again] {
    --patches_;
    if (const auto found = entries_.find(uid); found != entries_.end()) {
      (hold ? found->second.holding : found->second.releasing) = false;
      if (again) Look(uid);
    }
    EndIfDone();
  };
  if (!again) return over();
  loop_.PostAt(loop_.Now() + kRest.Next(0, loop_.Random()), owner_.token(), over);
}

void Archiver::Forget(const std::string& uid) {
  const Entry entry = entries_.at(uid);
  const std::string* const owner = ControllerUid(entry.job->metadata);
  if (owner != nullptr) {
    const auto above = entries_.find(*owner);
    if (above != entries_.end() && !above->second.done) return;  // it asks for this one's pods
    if (const auto made = jobs_of_.find(*owner);
        made != jobs_of_.end() && made->second.erase(uid) > 0 && made->second.empty())
      jobs_of_.erase(made);
  }
  const std::vector<std::string> owners = OwnersOfPods(entry);
  jobs_of_.erase(uid);
  entries_.erase(uid);
  for (const std::string& each : owners) {
    const auto made = entries_.find(each);
    if (made != entries_.end() && made->second.gone && made->second.done && !made->second.queued) {
      Forget(each);
    } else if (made == entries_.end()) {
      pods_of_.erase(each);
      group_of_.erase(each);
    }
  }
}

void Archiver::EndIfDone() {
  if ((!options_.once && !options_.release) || !ready_ || patches_ > 0 || waiting_ > 0) return;
  End(absl::OkStatus());
}

void Archiver::End(absl::Status status) {
  if (std::exchange(ended_, true)) return;
  loop_.Post(owner_.token(), [this, status = std::move(status)] { on_end_(status); });
}

}  // namespace gangway::cmd
