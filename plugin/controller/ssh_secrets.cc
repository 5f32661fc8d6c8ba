#include "plugin/controller/ssh_secrets.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/core/objects.h"
#include "api/resource.h"
#include "base/backoff.h"
#include "kube/client/status.h"
#include "kube/runtime/write_request.h"
#include "plugin/lifecycle/job_plugins/job_plugin.h"
#include "plugin/lifecycle/words.h"

namespace gangway::controller {
namespace {

constexpr int kMaxQuestions = 16;  // under way at a time
constexpr Backoff kAskAgain = {absl::Seconds(1), absl::Minutes(1)};
constexpr absl::Duration kPredecessorGoes = absl::Seconds(1);

constexpr char kSuffix[] = "-ssh";  // lifecycle::SshSecretName

bool MayHaveOne(const api::volcano::Job& job) { return job.status.controlled_resources.contains("plugin-ssh"); }
// Grows with every one.
std::int32_t RestartsOf(const api::volcano::Job& job) { return job.status.version + job.status.retry_count; }

}  // namespace

SshSecrets::SshSecrets(Loop& loop, kube::Client& client, SshKeys& keys, OnNews on_news, OnTrouble on_trouble)
    : loop_(loop), client_(client), keys_(keys), on_news_(std::move(on_news)), on_trouble_(std::move(on_trouble)) {}

SshSecrets::Entry& SshSecrets::EntryFor(const JobKey& key, const api::volcano::Job& job) {
  Entry& entry = entries_[key];
  if (entry.job_uid != job.metadata.uid) {
    entry = Entry{};
    entry.job_uid = job.metadata.uid;
    entry.number = ++entries_made_;
    entry.restarts = RestartsOf(job);
  }
  return entry;
}

SshSecrets::Entry* SshSecrets::Find(const JobKey& key, std::uint64_t number) {
  const auto it = entries_.find(key);
  return it == entries_.end() || it->second.number != number ? nullptr : &it->second;
}

bool SshSecrets::Fill(const JobKey& key, lifecycle::JobView& view) {
  const api::volcano::Job& job = *view.job;
  if (!lifecycle::WantsSsh(job)) return true;
  const bool keeps_pods = lifecycle::KeepsPods(lifecycle::ParsePhase(job.status.state.phase));
  if (!keeps_pods && !MayHaveOne(job)) {
    Forget(key);
    return true;
  }
  Entry& entry = EntryFor(key, job);
  // The status says so before the Secret is made, and until it is gone.
  if (entry.known == Known::kNothing && !MayHaveOne(job)) entry.known = Known::kAbsent;
  if (entry.known == Known::kNothing) {
    Ask(key, entry);
    return false;
  }
  // Somebody may have removed it meanwhile: pods made anew could not start.
  if (RestartsOf(job) > entry.restarts) {
    entry.restarts = RestartsOf(job);
    if (entry.known == Known::kThere) Ask(key, entry);
  }
  if (entry.known == Known::kThere) {
    view.objects.push_back(entry.secret);
  } else if (keeps_pods && lifecycle::WantsSshKey(job)) {
    if (!entry.key) TakeKey(key, entry);
    view.ssh_key = entry.key ? &*entry.key : nullptr;
  }
  return true;
}

void SshSecrets::TakeKey(const JobKey& key, Entry& entry) {
  if (std::exchange(entry.making_key, true)) return;
  keys_.Take(owner_.token(), [this, key, number = entry.number](absl::StatusOr<lifecycle::SshKeyPair> pair) {
    Entry* const asker = Find(key, number);
    if (asker == nullptr) return;
    asker->making_key = false;
    if (!pair.ok()) {
      on_trouble_(key, pair.status());
      return NewsAt(loop_.Now() + kAskAgain.Next(asker->failures++, loop_.Random()), key, number);
    }
    asker->key = *std::move(pair);
    on_news_(key);
  });
}

void SshSecrets::Ask(const JobKey& key, Entry& entry) {
  if (std::exchange(entry.asking, true)) return;
  questions_.push_back({key, entry.number});
  SendNext();
}

void SshSecrets::SendNext() {
  while (!questions_.empty() && in_flight_ < kMaxQuestions) {
    const Question question = std::move(questions_.front());
    questions_.pop_front();
    const Entry* const entry = Find(question.key, question.number);
    if (entry == nullptr) continue;
    kube::Request request;
    request.method = "GET";
    request.path = api::PathOf(api::kSecrets, question.key.ns, absl::StrCat(question.key.name, kSuffix));
    request.accept = std::string(kube::AcceptFor(api::kSecrets));
    ++in_flight_;
    client_.Send(std::move(request), owner_.token(),
                 [this, question, writes = entry->writes](const absl::StatusOr<kube::Response>& reply) {
                   --in_flight_;
                   Answered(question.key, question.number, writes, reply);
                   SendNext();
                 });
  }
}

void SshSecrets::Answered(const JobKey& key, std::uint64_t number, std::uint64_t writes,
                          const absl::StatusOr<kube::Response>& reply) {
  Entry* const entry = Find(key, number);
  if (entry == nullptr) return;
  entry->asking = false;
  if (entry->writes != writes && entry->known != Known::kNothing) return;
  if (reply.ok() && (reply->ok() || reply->code == 404)) {
    entry->failures = 0;
    if (reply->ok())
      Learn(*entry, key, *reply->body);
    else
      entry->known = Known::kAbsent;
    return on_news_(key);
  }
  // A server that is away for a moment is no news for the user of a Job.
  if (reply.ok() && reply->code < 500 && reply->code != 429) {
    const absl::Status why = kube::StatusFromResponse(*reply);
    on_trouble_(key, absl::Status(why.code(), absl::StrCat("Secret ", key.name, kSuffix, ": ", why.message())));
  }
  NewsAt(loop_.Now() + kAskAgain.Next(entry->failures++, loop_.Random()), key, number);
}

void SshSecrets::NewsAt(absl::Time when, const JobKey& key, std::uint64_t number) {
  loop_.PostAt(when, owner_.token(), [this, key, number] {
    if (Find(key, number) != nullptr) on_news_(key);
  });
}

// What an API server says of the Secret of that name.
void SshSecrets::Learn(Entry& entry, const JobKey& key, absl::string_view json) {
  entry.known = Known::kAbsent;
  entry.predecessor = false;
  const auto object = api::Decode<api::core::PartialObject>(json);
  if (!object.ok()) return;
  const api::ObjectMeta& metadata = object->metadata;
  const api::OwnerReference* const owner = metadata.Controller();
  if (owner == nullptr || owner->uid != entry.job_uid) {
    entry.predecessor = owner != nullptr && owner->kind == api::kJobs.kind && owner->name == key.name;
    return;
  }
  entry.known = Known::kThere;
  entry.key.reset();
  entry.secret = {&api::kSecrets, metadata.name, metadata.uid, "", metadata.deleting(), {}, ""};
  const auto revision = metadata.annotations.find(lifecycle::kSshConfigKey);
  if (revision != metadata.annotations.end()) entry.secret.revision = revision->second;
}

void SshSecrets::ObserveReply(const kube::Write& write, const kube::Response& response) {
  if (write.resource != &api::kSecrets) return;
  const JobKey key{write.ns, std::string(absl::StripSuffix(write.name, kSuffix))};
  const auto it = entries_.find(key);
  if (it == entries_.end()) return;
  Entry& entry = it->second;
  ++entry.writes;
  if (write.verb == kube::Verb::kDelete) {
    if (response.ok() || response.code == 404) entry.known = Known::kAbsent;
  } else if (response.ok()) {
    Learn(entry, key, *response.body);
    if (entry.predecessor) return NewsAt(loop_.Now() + kPredecessorGoes, key, entry.number);
  } else if (write.verb != kube::Verb::kCreate && (response.code == 404 || response.code == 409)) {
    entry.known = Known::kNothing;  // removed, or another one has its name; the next look asks
  }
  on_news_(key);  // no watch will tell
}

bool SshSecrets::HeldByPredecessor(const JobKey& key) const {
  const auto it = entries_.find(key);
  return it != entries_.end() && it->second.predecessor;
}

}  // namespace gangway::controller
