#include "tests/simulation/faulty_connection.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/field_table.h"
#include "api/json_value.h"
#include "kube/client/status.h"
#include "tests/simulation/falsifying_client.h"

namespace gangway::testutil {
namespace {

using sandbox::RequestFate;
using sandbox::WatchFate;

constexpr absl::Duration kRequestTimeout = absl::Seconds(10);  // of a client that gets no answer
constexpr absl::Duration kWebhookTimeout = absl::Seconds(10);
constexpr std::uint64_t kOldest = 40;  // revisions that a replica lags behind

kube::Response TooMany(absl::Duration retry_after) {
  kube::Response response = Refusal(429, "TooManyRequests", "too many requests, please try again later");
  response.retry_after = absl::Ceil(retry_after, absl::Seconds(1));  // the header has whole seconds
  return response;
}
kube::Response Conflict() {
  return Refusal(409, "Conflict",
                 "the object has been modified; please apply your changes to the latest version and try again");
}
kube::Response Error() {
  return Refusal(500, "InternalError", "an error on the server has prevented the request from succeeding");
}
kube::Response Expired() { return Refusal(410, "Expired", "too old resource version"); }
kube::Response WebhookTimedOut() {
  return Refusal(500, "InternalError",
                 "Internal error occurred: failed calling webhook \"pods.gangway.io\": failed to call webhook: Post "
                 "\"https://gangway/pods\": context deadline exceeded");
}

// "a" of ".../pods/a", ".../pods/a/binding" and of a pod that is posted; "" for anything else.
std::string PodOf(const kube::Request& request) {
  const auto at = request.path.find("/pods");
  if (at == std::string::npos) return "";
  absl::string_view rest = absl::string_view(request.path).substr(at + 5);
  if (absl::ConsumePrefix(&rest, "/")) return std::string(rest.substr(0, rest.find('/')));
  const auto body = api::ParseJson(request.body);
  return body.ok() ? std::string(View(body->at("metadata").at("name").as_string())) : "";
}

bool Creates(const kube::Request& request, absl::string_view plural) {
  return request.method == "POST" && absl::EndsWith(request.path, absl::StrCat("/", plural));
}

}  // namespace

bool FaultyConnection::Concerns(IncidentKind kind) { return kind <= IncidentKind::kRepliesCut; }

void FaultyConnection::Begin(const Incident& incident) {
  const absl::Time until = std::min(network_.loop.Now() + incident.lasts, network_.calm_at);
  const bool both = incident.kind == IncidentKind::kPartition;
  if (both || incident.kind == IncidentKind::kRequestsCut) requests_cut_until_ = std::max(requests_cut_until_, until);
  if (both || incident.kind == IncidentKind::kRepliesCut) replies_cut_until_ = std::max(replies_cut_until_, until);
  if (incident.kind < IncidentKind::kPartition) {
    waiting_.push_back(incident);
  } else {
    cut_by_ = incident.kind;
    if (network_.on_fault) network_.on_fault(incident);
  }
}

void FaultyConnection::Count(const Incident& incident) {
  ++network_.counts[{incident.kind, who_}];
  if (network_.on_fault) network_.on_fault(incident);
}

FaultyConnection::Target FaultyConnection::TargetOf(const kube::Request& request) {
  if (request.method != "GET") return absl::StrContains(request.path, "/events") ? Target::kEvent : Target::kWrite;
  if (absl::StrContains(request.query, "watch=true")) return Target::kWatch;
  return absl::StrContains(request.query, "limit=") ? Target::kList : Target::kGet;
}

bool FaultyConnection::Hits(IncidentKind kind, Target target, const kube::Request& request) {
  if (kind == IncidentKind::kWebhookTimeout) return Creates(request, "pods") || Creates(request, "podgroups");
  if (kind == IncidentKind::kRemadeMeanwhile) return target == Target::kWrite && !PodOf(request).empty();
  if (kind == IncidentKind::kListStale || kind == IncidentKind::kListExpired) return target == Target::kList;
  if (kind == IncidentKind::kContinueExpired)
    return target == Target::kList && absl::StrContains(request.query, "&continue=");
  if (kind == IncidentKind::kGetStale) return target == Target::kGet;
  if (kind < IncidentKind::kEventLost) return target == Target::kWrite;
  if (kind < IncidentKind::kReadLost) return target == Target::kEvent;
  if (kind < IncidentKind::kWatchLost) return target == Target::kList || target == Target::kGet;
  return kind < IncidentKind::kFramesLate && target == Target::kWatch;
}

bool FaultyConnection::HitsFrames(IncidentKind kind) {
  return kind >= IncidentKind::kFramesLate && kind < IncidentKind::kPartition;
}

std::optional<Incident> FaultyConnection::Take(const std::function<bool(IncidentKind)>& hits) {
  if (network_.loop.Now() >= network_.calm_at) waiting_.clear();
  const auto it = std::find_if(waiting_.begin(), waiting_.end(), [&](const Incident& each) { return hits(each.kind); });
  if (it == waiting_.end()) return std::nullopt;
  const Incident taken = *it;
  waiting_.erase(it);
  return taken;
}

absl::Duration FaultyConnection::Jitter() {
  return network_.jitter && network_.loop.Now() < network_.calm_at
             ? absl::Microseconds(static_cast<std::int64_t>(random_.Below(20'000)))
             : absl::ZeroDuration();
}

bool FaultyConnection::Cut(RequestFate& fate) {
  const absl::Time now = network_.loop.Now();
  if (now < network_.server_down_until) {
    fate.loss = RequestFate::Loss::kRequest;  // refused: it is known at once
    return true;
  }
  if (now >= requests_cut_until_ && now >= replies_cut_until_) return false;
  fate.loss = now < requests_cut_until_ ? RequestFate::Loss::kRequest : RequestFate::Loss::kReply;
  fate.reply_delay = kRequestTimeout;
  ++network_.counts[{cut_by_, who_}];
  return true;
}

RequestFate FaultyConnection::OnRequest(const kube::Request& request) {
  RequestFate fate;
  fate.request_delay = Jitter();
  fate.reply_delay = Jitter();
  if (Cut(fate)) return fate;
  const Target target = TargetOf(request);
  if (target == Target::kList) fate.query = SmallPage(request);
  if (const auto incident = Take([&](IncidentKind kind) { return Hits(kind, target, request); }))
    Apply(*incident, request, fate);
  return fate;
}

void FaultyConnection::Apply(const Incident& incident, const kube::Request& request, RequestFate& fate) {
  switch (incident.kind) {
    case IncidentKind::kWriteLost:
    case IncidentKind::kEventLost:
    case IncidentKind::kReadLost:
    case IncidentKind::kWatchLost:
      fate.loss = RequestFate::Loss::kRequest;
      break;
    case IncidentKind::kWriteReplyLost:
    case IncidentKind::kEventReplyLost:
      fate.loss = RequestFate::Loss::kReply;
      break;
    case IncidentKind::kWriteConflict:
      fate.answer = Conflict();
      break;
    case IncidentKind::kWriteTooMany:
    case IncidentKind::kEventTooMany:
    case IncidentKind::kReadTooMany:
    case IncidentKind::kWatchTooMany:
      fate.answer = TooMany(incident.lasts);
      break;
    case IncidentKind::kWriteError:
    case IncidentKind::kEventError:
    case IncidentKind::kReadError:
    case IncidentKind::kWatchError:
      fate.answer = Error();
      break;
    case IncidentKind::kListExpired:
    case IncidentKind::kContinueExpired:
    case IncidentKind::kWatchExpired:
      fate.answer = Expired();
      break;
    case IncidentKind::kWriteLate:
      fate.request_delay += incident.lasts;
      break;
    case IncidentKind::kReadLate:
    case IncidentKind::kWriteReplyLate:
      fate.reply_delay += incident.lasts;
      break;
    case IncidentKind::kWebhookTimeout:
      fate.answer = WebhookTimedOut();
      fate.reply_delay = kWebhookTimeout;
      break;
    case IncidentKind::kRemadeMeanwhile:
      return LetItBeRemade(incident, request, fate);  // counted when it comes to that
    case IncidentKind::kListStale:
    case IncidentKind::kGetStale:
      return AnswerFromBefore(incident, request, fate);
    default:
      return;
  }
  Count(incident);
}

// While a continue token shall expire, first pages have one object; "" leaves the request as it is.
std::string FaultyConnection::SmallPage(const kube::Request& request) const {
  const bool wanted = network_.loop.Now() < network_.calm_at &&
                      std::any_of(
                          waiting_.begin(), waiting_.end(),
                          [](const Incident& each) { return each.kind == IncidentKind::kContinueExpired; });
  if (!wanted || absl::StrContains(request.query, "&continue=") || absl::StrContains(request.query, "limit=0"))
    return "";
  const auto limit = request.query.find("limit=");
  const auto rest = request.query.find('&', limit);
  return absl::StrCat(request.query.substr(0, limit), "limit=1",
                      rest == std::string::npos ? "" : request.query.substr(rest));
}

std::uint64_t FaultyConnection::OlderRevision(std::uint64_t pick) const {
  const sandbox::Store& store = network_.server->store();
  const std::uint64_t back = 1 + pick % kOldest;
  return std::max<std::uint64_t>({1, store.compacted_revision(), store.revision() - std::min(back, store.revision())});
}

// A list as of then; of one object, the list of it alone.
void FaultyConnection::AnswerFromBefore(const Incident& incident, const kube::Request& request, RequestFate& fate) {
  const std::uint64_t revision = OlderRevision(incident.pick);
  if (revision >= network_.server->store().revision()) return;
  const std::string exactly = absl::StrCat("resourceVersion=", revision, "&resourceVersionMatch=Exact");
  if (incident.kind == IncidentKind::kListStale) {
    fate.query = absl::StrCat(request.query, "&", exactly);
    return Count(incident);
  }
  const auto slash = request.path.rfind('/');
  kube::Request list;
  list.method = "GET";
  list.path = request.path.substr(0, slash);
  list.query = absl::StrCat("fieldSelector=metadata.name%3D", request.path.substr(slash + 1), "&", exactly);
  const kube::Response then = network_.server->Handle(list, sandbox::Caller{"", false});
  const auto body = api::ParseJson(*then.body);
  if (!then.ok() || !body.ok() || body->as_object().if_contains("items") == nullptr)
    return;  // no object of a kind, or forgotten
  const auto& items = body->at("items").as_array();
  if (items.empty()) {
    fate.answer = Refusal(404, "NotFound", "not found");
  } else {
    boost::json::object object = items[0].as_object();
    const absl::string_view kind = View(body->at("kind").as_string());
    object["kind"] = std::string(absl::StripSuffix(kind, "List"));
    object["apiVersion"] = body->at("apiVersion");
    fate.answer = kube::Response{.code = 200,
                                 .content_type = "application/json",
                                 .body = MakeBytes(api::ToJson(object)),
                                 .retry_after = {},
                                 .warnings = {}};
  }
  Count(incident);
}

void FaultyConnection::LetItBeRemade(const Incident& incident, const kube::Request& request, RequestFate& fate) {
  fate.reply_delay += incident.lasts;
  if (network_.on_fault) network_.on_fault(incident);
  const std::string pod = PodOf(request);
  network_.remake(pod, fate.request_delay + absl::Milliseconds(1));
  const auto uid = [this, pod]() -> std::string {
    const sandbox::RecordPtr found = network_.server->store().Find(api::kPods, {"default", pod});
    return found == nullptr ? "" : found->uid;
  };
  const absl::Time now = network_.loop.Now();
  auto before = std::make_shared<std::string>();
  network_.loop.PostAt(now + fate.request_delay, owner_.token(), [before, uid] { *before = uid(); });
  network_.loop.PostAt(now + fate.request_delay + fate.reply_delay, owner_.token(), [this, before, uid, incident] {
    if (const std::string is = uid(); !before->empty() && !is.empty() && is != *before) Count(incident);
  });
}

WatchFate FaultyConnection::OnFrames() {
  WatchFate fate;
  fate.delay = Jitter();
  const absl::Time now = network_.loop.Now();
  if (now < replies_cut_until_) {
    fate.delay = replies_cut_until_ - now;  // sent again until they arrive
    return fate;
  }
  const auto incident = Take(HitsFrames);
  if (!incident) return fate;
  Count(*incident);
  switch (incident->kind) {
    case IncidentKind::kFramesLate:
      fate.delay = incident->lasts;
      break;
    case IncidentKind::kFramesBroken:
      fate.break_before = true;
      break;
    case IncidentKind::kFramesEnded:
      fate.end_before = true;
      break;
    case IncidentKind::kFramesExpired:
      fate.error_before = Expired();
      break;
    case IncidentKind::kFramesTooMany:
      fate.error_before = TooMany(incident->lasts);
      break;
    case IncidentKind::kFramesError:
      fate.error_before = Error();
      break;
    case IncidentKind::kFramesRepeated:
      fate.repeat = 1 + incident->pick % 10;
      break;
    case IncidentKind::kFramesReordered:
      fate.place = WatchFate::Place::kBehindNext;
      break;
    case IncidentKind::kFramesMissing:
      fate.place = WatchFate::Place::kNever;
      break;
    default:
      break;
  }
  if (fate.place != WatchFate::Place::kInOrder) fate.found_out_after = incident->lasts;
  return fate;
}

}  // namespace gangway::testutil
