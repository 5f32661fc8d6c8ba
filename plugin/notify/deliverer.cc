#include "plugin/notify/deliverer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"

namespace gangway::notify {
namespace {

constexpr char kName[] = "gangway_notifications_total";
constexpr char kHelp[] = "Notices for the webhook: sent, refused for good, dropped unsent, and tries that failed";
constexpr absl::Duration kMostRetryAfter = absl::Minutes(10);

// Who answers so wants to be asked again; any other 4xx will not change its mind.
bool Passes(int code) { return code == 408 || code == 425 || code == 429 || code >= 500; }

}  // namespace

Deliverer::Deliverer(Loop& loop, kube::Client& client, std::string path, std::string query, Metrics* metrics,
                     DeliveryOptions options)
    : loop_(loop), client_(client), path_(std::move(path)), query_(std::move(query)), options_(options) {
  if (metrics == nullptr) return;
  sent_ = metrics->AddCounter(kName, kHelp, {{"result", "sent"}});
  refused_ = metrics->AddCounter(kName, kHelp, {{"result", "refused"}});
  dropped_ = metrics->AddCounter(kName, kHelp, {{"result", "dropped"}});
  failed_ = metrics->AddCounter(kName, kHelp, {{"result", "failed"}});
  waiting_gauge_ = metrics->AddGauge("gangway_notifications_waiting", "Notices that the webhook has not taken yet");
}

void Deliverer::Add(std::string json) {
  if (waiting_.size() >= options_.most_waiting) {  // not the one that may have been taken by now
    const auto oldest = waiting_.begin() + (under_way_ ? 1 : 0);
    if (oldest != waiting_.end()) waiting_.erase(oldest);
    dropped_.Add();
    log::Warning("a notification is dropped: too many wait for the webhook", {{"most", options_.most_waiting}});
  }
  waiting_.push_back({std::move(json), loop_.Now()});
  waiting_gauge_.Set(static_cast<double>(waiting_.size()));
  Next();
}

void Deliverer::Next() {
  if (under_way_ || resting_) return;
  while (!waiting_.empty() && loop_.Now() - waiting_.front().since > options_.patience) Drop("too old");
  if (waiting_.empty()) return;
  under_way_ = true;
  kube::Request request;
  request.method = "POST";
  request.path = path_;
  request.query = query_;
  request.body = waiting_.front().json;
  client_.Send(std::move(request), owner_.token(),
               [this](absl::StatusOr<kube::Response> answer) { OnAnswer(std::move(answer)); });
}

void Deliverer::OnAnswer(absl::StatusOr<kube::Response> answer) {
  under_way_ = false;
  if (answer.ok() && answer->ok()) {
    failures_ = 0;
    sent_.Add();
    Pop();
    return Next();
  }
  if (answer.ok() && !Passes(answer->code)) {
    failures_ = 0;
    refused_.Add();
    log::Warning("the webhook refuses a notification", {{"code", answer->code}});
    Pop();
    return Next();
  }
  failed_.Add();
  // Not the error's text: the webhook's address may be its secret.
  log::Warning("a notification was not taken; tried again",
               {{"why", answer.ok() ? absl::StrCat("answer ", answer->code)
                                    : std::string(absl::StatusCodeToString(answer.status().code()))},
                {"waiting", waiting_.size()}});
  const absl::Duration rest = options_.rest.Next(failures_++, loop_.Random());
  Again(answer.ok() && answer->retry_after.has_value()
            ? std::clamp(*answer->retry_after, rest, std::max(rest, kMostRetryAfter))
            : rest);
}

void Deliverer::Again(absl::Duration rest) {
  resting_ = true;
  loop_.PostAt(loop_.Now() + rest, owner_.token(), [this] {
    resting_ = false;
    Next();
  });
}

void Deliverer::Drop(absl::string_view why) {
  dropped_.Add();
  log::Warning("a notification is dropped", {{"why", why}});
  Pop();
}

void Deliverer::Pop() {
  waiting_.pop_front();
  waiting_gauge_.Set(static_cast<double>(waiting_.size()));
}

}  // namespace gangway::notify
