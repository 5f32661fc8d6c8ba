#include "plugin/controller/losses_seen.h"

#include <utility>

#include "api/resource.h"
#include "base/backoff.h"
#include "kube/runtime/write_request.h"

namespace gangway::controller {
namespace {

constexpr absl::Duration kLongestDoubt = absl::Seconds(2);  // where others go all the time
constexpr Backoff kBetweenQuestions = {absl::Milliseconds(200), absl::Seconds(10)};

}  // namespace

LossesSeen::LossesSeen(Loop& loop, kube::Client& client, kube::Informer<api::volcano::PodGroup>& groups, OnNews on_news)
    : loop_(loop), client_(client), groups_(groups), on_news_(std::move(on_news)) {}

void LossesSeen::Lost(const JobKey& job, std::uint64_t version) {
  Loss& loss = losses_.try_emplace(job, Loss{.since = loop_.Now()}).first->second;
  loss.version = version;
  loss.number = ++losses_seen_;
}

bool LossesSeen::KnowsGroup(const JobKey& job, const api::NamespacedName& group) {
  const auto it = losses_.find(job);
  if (it == losses_.end()) return true;
  if (groups_.seen_up_to(group) >= it->second.version) {
    losses_.erase(it);
    return true;
  }
  if (!it->second.asking) Ask(job, group, it->second);
  return false;
}

void LossesSeen::Ask(const JobKey& job, const api::NamespacedName& group, Loss& loss) {
  loss.asking = true;
  kube::Request request;
  request.method = "GET";
  request.path = api::PathOf(api::kPodGroups, group.ns, group.name);
  request.accept = std::string(kube::AcceptFor(api::kPodGroups));
  client_.Send(
      std::move(request), owner_.token(),
      [this, job, number = loss.number](const absl::StatusOr<kube::Response>& reply) { Answered(job, number, reply); });
}

void LossesSeen::Answered(const JobKey& job, std::uint64_t number, const absl::StatusOr<kube::Response>& reply) {
  // Where there is none, or none that we may read, it says nothing.
  const bool answered = reply.ok() && reply->code < 500 && reply->code != 429;
  if (answered && reply->ok()) groups_.Observe(reply->body);
  const auto it = losses_.find(job);
  if (it == losses_.end()) return;
  Loss& loss = it->second;
  if (!answered) {
    loop_.PostAt(loop_.Now() + kBetweenQuestions.Next(loss.failures++, loop_.Random()), owner_.token(),
                 [this, job] { MayAsk(job); });
    return;
  }
  if (loss.number == number || loop_.Now() >= loss.since + kLongestDoubt) {
    losses_.erase(it);
    return on_news_(job);
  }
  MayAsk(job);
}

void LossesSeen::MayAsk(const JobKey& job) {
  if (const auto it = losses_.find(job); it != losses_.end()) it->second.asking = false;
  on_news_(job);
}

}  // namespace gangway::controller
