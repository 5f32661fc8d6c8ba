#include "plugin/lifecycle/job/last_failure.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/json.h"

namespace gangway::lifecycle {
namespace {

bool IsFailure(Event event) {
  return event == Event::kPodFailed || event == Event::kPodEvicted || event == Event::kTaskFailed ||
         event == Event::kUnknown;
}

std::string PolicyPath(const api::volcano::Job& job, const Happening& cause) {
  const std::optional<PolicyRef> found = FindPolicy(job, cause);
  if (!found.has_value()) return "";
  return absl::StrCat("spec.", found->task >= 0 ? absl::StrCat("tasks[", found->task, "].") : "", "policies[",
                      found->index, "]");
}

std::string ToJson(const LastFailure& failure) {
  std::string out;
  api::JsonWriter json(out);
  const auto text = [&json](absl::string_view key, const std::string& value) {
    if (!value.empty()) json.Field(key, value);
  };
  json.BeginObject().Field("event", failure.event);
  text("action", failure.action);
  text("policy", failure.policy);
  text("task", failure.task);
  text("pod", failure.pod);
  text("container", failure.container);
  if (failure.exit_code != 0) json.Field("exitCode", failure.exit_code);
  text("reason", failure.reason);
  json.Field("version", failure.version);
  if (failure.at.set()) json.Field("at", api::FormatTime(failure.at.at));
  text("message", failure.message);
  json.EndObject();
  return out;
}

}  // namespace

std::optional<LastFailure> MakeLastFailure(const api::volcano::Job& job, const Happening& cause, Action action,
                                           absl::Time now) {
  if (!IsFailure(cause.event)) return std::nullopt;
  LastFailure out;
  out.event = std::string(NameOf(cause.event));
  if (action != Action::kSyncJob) {
    out.action = std::string(NameOf(action));
    out.policy = PolicyPath(job, cause);
  }
  out.task = cause.task;
  out.pod = cause.pod;
  out.version = job.status.version;
  out.exit_code = cause.exit_code;
  out.at.at = now;
  if (cause.failure != nullptr) {
    out.container = cause.failure->container;
    out.exit_code = cause.failure->exit_code;
    out.reason = cause.failure->reason;
    out.message = cause.failure->message;
    if (cause.failure->at != absl::InfiniteFuture()) out.at.at = cause.failure->at;
  }
  return out;
}

std::string EncodeLastFailure(LastFailure failure) {
  std::string out = ToJson(failure);
  while (out.size() > LastFailure::kMaxBytes && !failure.message.empty()) {
    // Escapes make a byte up to six; what is too much is taken off the beginning.
    const std::size_t over = out.size() - LastFailure::kMaxBytes;
    failure.message = TailOf(
        failure.message, failure.message.size() - std::min(failure.message.size(), std::max<std::size_t>(over / 6, 1)));
    out = ToJson(failure);
  }
  return out.size() > LastFailure::kMaxBytes ? std::string() : out;
}

std::optional<LastFailure> ReadLastFailure(const ControlledResources& from) {
  const auto it = from.find(kLastFailureKey);
  if (it == from.end()) return std::nullopt;
  absl::StatusOr<LastFailure> failure = api::Decode<LastFailure>(it->second);
  return failure.ok() ? std::optional<LastFailure>(*std::move(failure)) : std::nullopt;
}

}  // namespace gangway::lifecycle
