#include "plugin/notify/notice.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/volcano/restarts.h"
#include "plugin/lifecycle/words.h"

namespace gangway::notify {
namespace {

using api::volcano::Job;
using lifecycle::JobPhase;

constexpr std::array<std::pair<Event, absl::string_view>, 5> kNames{{{Event::kCompleted, "completed"},
                                                                     {Event::kFailed, "failed"},
                                                                     {Event::kAborted, "aborted"},
                                                                     {Event::kRestarted, "restarted"},
                                                                     {Event::kWaiting, "waiting"}}};

std::optional<Event> EventOf(absl::string_view phase) {
  switch (lifecycle::ParsePhase(phase)) {
    case JobPhase::kCompleted:
      return Event::kCompleted;
    case JobPhase::kFailed:
    case JobPhase::kTerminated:
      return Event::kFailed;
    case JobPhase::kAborted:
      return Event::kAborted;
    case JobPhase::kPending:
    case JobPhase::kRunning:
    case JobPhase::kRestarting:
    case JobPhase::kAborting:
    case JobPhase::kCompleting:
    case JobPhase::kTerminating:
      return std::nullopt;
  }
  return std::nullopt;
}

absl::Time EnteredAt(const Job& job) {
  const api::Time entered = job.status.state.last_transition_time;
  return entered.set() ? entered.at : job.metadata.creation_timestamp.at;
}

Notice About(const Job& job, Event event, absl::string_view detail) {
  Notice out;
  out.event = event;
  out.id = absl::StrCat(job.metadata.uid, "/", NameOf(event), detail);
  out.at = EnteredAt(job);
  out.ns = job.metadata.ns;
  out.name = job.metadata.name;
  out.uid = job.metadata.uid;
  if (const api::OwnerReference* const owner = job.metadata.Controller();
      owner != nullptr && owner->kind == "PaddleJob") {
    out.kind = owner->kind;
    out.name = owner->name;
    out.uid = owner->uid;
  }
  out.queue = job.spec.queue;
  out.phase = job.status.state.phase;
  out.reason = job.status.state.message;
  out.restarts = api::volcano::RestartsOf(job.status.retry_count, job.spec.max_retry);
  return out;
}

std::string TextOf(const Notice& notice) {
  std::string out = absl::StrCat(notice.kind, " ", notice.ns, "/", notice.name);
  switch (notice.event) {
    case Event::kCompleted:
      absl::StrAppend(&out, " has completed");
      break;
    case Event::kFailed:
      absl::StrAppend(&out, " has failed");
      break;
    case Event::kAborted:
      absl::StrAppend(&out, " was stopped");
      break;
    case Event::kRestarted:
      absl::StrAppend(&out, " restarts, restart ", notice.restarts);
      break;
    case Event::kWaiting:
      absl::StrAppend(&out, " waits in queue ", notice.queue);
      break;
  }
  return notice.reason.empty() ? out : absl::StrCat(out, ": ", notice.reason);
}

}  // namespace

absl::string_view NameOf(Event event) {
  for (const auto& [each, name] : kNames) {
    if (each == event) return name;
  }
  return "";
}

std::optional<Event> ParseEvent(absl::string_view name) {
  for (const auto& [event, each] : kNames) {
    if (each == name) return event;
  }
  return std::nullopt;
}

std::vector<std::string> EventNames() {
  std::vector<std::string> out;
  for (const auto& [event, name] : kNames) out.emplace_back(name);
  return out;
}

std::vector<Notice> NoticesOf(const Job* before, const Job* after) {
  std::vector<Notice> out;
  if (after == nullptr) return out;
  const bool same = before != nullptr && before->metadata.uid == after->metadata.uid;
  const int restarts = api::volcano::RestartsOf(after->status.retry_count, after->spec.max_retry);
  // Of one that is seen for the first time nobody knows when it restarted.
  if (same && restarts > api::volcano::RestartsOf(before->status.retry_count, before->spec.max_retry))
    out.push_back(About(*after, Event::kRestarted, absl::StrCat("/", restarts)));
  const std::optional<Event> event = EventOf(after->status.state.phase);
  const std::optional<Event> was = same ? EventOf(before->status.state.phase) : std::nullopt;
  if (event.has_value() && event != was) {
    // A job that was aborted may be resumed, and aborted again.
    const std::string detail =
        *event == Event::kAborted ? absl::StrCat("/", absl::ToUnixSeconds(EnteredAt(*after))) : std::string();
    out.push_back(About(*after, *event, detail));
  }
  return out;
}

std::optional<absl::Time> WaitsSince(const Job& job) {
  if (job.metadata.deleting() || lifecycle::ParsePhase(job.status.state.phase) != JobPhase::kPending)
    return std::nullopt;
  return EnteredAt(job);
}

Notice WaitingNotice(const Job& job, absl::Time since, absl::string_view reason) {
  Notice out = About(job, Event::kWaiting, absl::StrCat("/", absl::ToUnixSeconds(since)));
  out.at = since;
  out.reason = std::string(reason);
  return out;
}

std::string NoticeJson(const Notice& notice, absl::string_view cluster) {
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject().Field("id", notice.id).Field("event", NameOf(notice.event));
  json.Field("time", absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", notice.at, absl::UTCTimeZone()));
  if (!cluster.empty()) json.Field("cluster", cluster);
  json.Field("kind", notice.kind).Field("namespace", notice.ns).Field("name", notice.name).Field("uid", notice.uid);
  json.Field("queue", notice.queue).Field("phase", notice.phase).Field("reason", notice.reason);
  json.Field("restarts", notice.restarts);
  json.Field("text", absl::StrCat(TextOf(notice), cluster.empty() ? "" : absl::StrCat(" (", cluster, ")")));
  json.EndObject();
  return out;
}

}  // namespace gangway::notify
