// GET pods/log: what is asked, of whom, and the answer, whole or as it is written.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/field_table.h"
#include "sandbox/apiserver/server_core.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

std::vector<std::string> ContainerNames(const json::object& pod) {
  std::vector<std::string> names;
  for (const absl::string_view list : {"spec.initContainers", "spec.containers"}) {
    const json::value* containers = FindPath(pod, list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (const json::value& each : containers->get_array()) {
      if (each.is_object()) names.emplace_back(FindText(each.get_object(), "name"));
    }
  }
  return names;
}

api::FieldError TooSmall(absl::string_view field, std::int64_t value, absl::string_view rule) {
  return {.type = api::FieldError::Type::kInvalid,
          .field = std::string(field),
          .value = absl::StrCat(value),
          .rule = std::string(rule),
          .fix = {}};
}

// pkg/apis/core/validation: ValidatePodLogOptions. Absent is fine.
api::FieldErrors Check(const Query& query, std::optional<std::int64_t> tail, std::optional<std::int64_t> limit,
                       std::optional<std::int64_t> seconds) {
  const auto forbidden = [](absl::string_view field, absl::string_view rule) {
    return api::FieldError{.type = api::FieldError::Type::kForbidden,
                           .field = std::string(field),
                           .value = {},
                           .rule = std::string(rule),
                           .fix = {}};
  };
  api::FieldErrors errors;
  if (tail.value_or(0) < 0) errors.push_back(TooSmall("tailLines", *tail, "must be greater than or equal to 0"));
  if (limit.value_or(1) < 1) errors.push_back(TooSmall("limitBytes", *limit, "must be greater than 0"));
  if (seconds.has_value() && !query.Get("sinceTime").empty()) {
    errors.push_back(forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
  } else if (seconds.value_or(1) < 1) {
    errors.push_back(TooSmall("sinceSeconds", *seconds, "must be greater than 0"));
  }
  if (!query.Get("stream").empty()) errors.push_back(forbidden("stream", "may not be specified"));
  return errors;
}

Outcome<LogQuery> ParseLogQuery(const Query& query, absl::string_view pod, absl::Time now) {
  LogQuery log;
  log.container = std::string(query.Get("container"));
  Outcome<std::optional<std::int64_t>> tail = query.Integer("tailLines");
  if (!tail.ok()) return tail.refusal();
  Outcome<std::optional<std::int64_t>> limit = query.Integer("limitBytes");
  if (!limit.ok()) return limit.refusal();
  Outcome<std::optional<std::int64_t>> seconds = query.Integer("sinceSeconds");
  if (!seconds.ok()) return seconds.refusal();
  if (const absl::string_view text = query.Get("sinceTime"); !text.empty()) {
    const absl::StatusOr<absl::Time> since = api::ParseTime(text);
    if (!since.ok()) return BadRequest(absl::StrCat("sinceTime: ", since.status().message()));
    log.since = absl::FromUnixSeconds(absl::ToUnixSeconds(*since));  // the API server tells the kubelet whole seconds
  }
  if (const api::FieldErrors errors = Check(query, *tail, *limit, *seconds); !errors.empty())
    return InvalidLogOptions(pod, errors);
  log.tail_lines = *tail;
  log.limit_bytes = *limit;
  if (seconds->has_value()) log.since = now - absl::Seconds(**seconds);
  log.previous = query.Flag("previous");
  log.timestamps = query.Flag("timestamps");
  log.follow = query.Flag("follow");
  return log;
}

// Nobody has anything to say: no content.
kube::Response Nothing() {
  kube::Response nothing;
  nothing.code = 204;
  nothing.body = MakeBytes("");
  return nothing;
}

}  // namespace

Refusal OfKubelet(const absl::Status& status, absl::string_view pod) {
  if (!absl::IsNotFound(status)) return BadRequest(std::string(status.message()));
  Refusal refusal = NotFound(api::kPods, pod);
  refusal.message = std::string(status.message());
  return refusal;
}

Outcome<std::string> ContainerAskedFor(const json::object& pod, absl::string_view pod_name, absl::string_view asked) {
  const std::vector<std::string> names = ContainerNames(pod);
  if (!asked.empty()) {
    if (std::find(names.begin(), names.end(), asked) != names.end()) return std::string(asked);
    return BadRequest(absl::StrCat("container ", asked, " is not valid for pod ", pod_name));
  }
  const json::value* containers = FindPath(pod, "spec.containers");
  if (containers != nullptr && containers->is_array() && containers->get_array().size() > 1) {
    return BadRequest(absl::StrCat("a container name must be specified for pod ", pod_name, ", choose one of: [",
                                   absl::StrJoin(names, " "), "]"));
  }
  return names.empty() ? std::string() : names.back();
}

Outcome<std::optional<LogQuery>> ServerCore::OpenLog(const Exchange& exchange) {
  const Target& target = exchange.target;
  Outcome<LogQuery> log = ParseLogQuery(exchange.query, target.name, loop_.Now());
  if (!log.ok()) return log.refusal();
  const RecordPtr record = store_.Find(api::kPods, target.key());
  if (record == nullptr) return NotFound(api::kPods, target.name);
  const Draft pod = Draft::OfStored(*record->json);
  Outcome<std::string> container = ContainerAskedFor(pod.object(), target.name, log->container);
  if (!container.ok()) return container.refusal();
  log->container = *std::move(container);
  log->ns = target.ns;
  log->pod = target.name;
  log->uid = record->uid;
  log->node = std::string(record->fields.Get("spec.nodeName"));
  if (log->node.empty()) return std::optional<LogQuery>();
  if (!pod_logs_) return NotFound(api::kPods, absl::StrCat(target.name, "/log"));
  return std::optional<LogQuery>(*std::move(log));
}

Outcome<kube::Response> ServerCore::Logs(Exchange& exchange) {
  Outcome<std::optional<LogQuery>> log = OpenLog(exchange);
  if (!log.ok()) return log.refusal();
  if (!log->has_value()) return Nothing();
  absl::StatusOr<std::string> text = pod_logs_(**log);
  if (!text.ok()) return OfKubelet(text.status(), exchange.target.name);
  kube::Response response;
  response.code = 200;
  response.content_type = "text/plain";
  response.body = MakeBytes(*std::move(text));
  return response;
}

ApiServer::WatchAnswer ServerCore::FollowLog(const Exchange& exchange, kube::Client::OnFrames on_frames,
                                             kube::Client::OnEnd on_end) {
  const auto refuse = [](kube::Response response) {
    return ApiServer::WatchAnswer{nullptr, std::move(response), "", false};
  };
  Outcome<std::optional<LogQuery>> log = OpenLog(exchange);
  if (!log.ok()) return refuse(log.refusal().ToResponse());
  if (!log->has_value()) return refuse(Nothing());
  if (!pod_log_streams_) return refuse(NotFound(api::kPods, absl::StrCat(exchange.target.name, "/log")).ToResponse());
  absl::StatusOr<std::unique_ptr<kube::Watch>> stream =
      pod_log_streams_(**log, std::move(on_frames), std::move(on_end));
  if (!stream.ok()) return refuse(OfKubelet(stream.status(), exchange.target.name).ToResponse());
  return {*std::move(stream), std::nullopt, "text/plain", true};
}

}  // namespace gangway::sandbox
