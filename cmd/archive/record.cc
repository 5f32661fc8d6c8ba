#include "cmd/archive/record.h"

#include <algorithm>
#include <array>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/json.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "api/paddle_resources.h"
#include "base/strings.h"
#include "plugin/lifecycle/words.h"

namespace gangway::cmd {
namespace {

namespace json = boost::json;

constexpr absl::string_view kUidFirst = R"({"uid":")";
constexpr std::array<absl::string_view, 4> kEnds{"Completed", "Failed", "Terminated", "Succeeded"};

json::value StatusOf(const Kept& job) {
  absl::StatusOr<json::value> status = api::ParseJson(job.status.json);
  return status.ok() ? *std::move(status) : json::value();
}

// RFC 3339, or nothing.
void TimeField(api::JsonWriter& json, absl::string_view key, const api::Time& time) {
  if (time.set()) json.Field(key, absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time.at, absl::UTCTimeZone()));
}

api::Time EndOfJob(const json::value& status) {
  for (const std::string& text :
       {api::TextAt(status, {"completionTime"}), api::TextAt(status, {"state", "lastTransitionTime"})}) {
    api::Time out;
    if (!text.empty() && absl::ParseTime(absl::RFC3339_full, text, &out.at, nullptr)) return out;
  }
  return {};
}

void PodField(api::JsonWriter& json, const PodEnd& pod) {
  json.BeginObject().Field("name", pod.name).Field("uid", pod.uid).Field("task", pod.task).Field("node", pod.node);
  json.Field("phase", pod.phase).Field("exitCode", pod.exit_code).Field("restarts", pod.restarts);
  if (!pod.container.empty()) json.Field("container", pod.container);
  if (!pod.reason.empty()) json.Field("reason", pod.reason);
  TimeField(json, "started", pod.started);
  TimeField(json, "ended", pod.ended);
  json.EndObject();
}

}  // namespace

PodEnd EndOf(const api::core::Pod& pod) {
  PodEnd out;
  out.name = pod.metadata.name;
  out.uid = pod.metadata.uid;
  if (const auto task = pod.metadata.annotations.find(std::string(lifecycle::kTaskSpecKey));
      task != pod.metadata.annotations.end())
    out.task = task->second;
  out.node = pod.spec.node_name;
  out.phase = pod.status.phase;
  out.reason = pod.status.reason;
  out.started = pod.status.start_time.set() ? pod.status.start_time : pod.metadata.creation_timestamp;
  bool failed = false;
  for (const api::core::ContainerStatus& container : pod.status.container_statuses) {
    out.restarts += container.restart_count;
    const auto& end = container.state.terminated;
    if (!end.has_value()) continue;
    if (!out.ended.set() || out.ended.at < end->finished_at.at) out.ended = end->finished_at;
    if (failed || (!out.container.empty() && end->exit_code == 0)) continue;
    failed = end->exit_code != 0;
    out.container = container.name;
    out.exit_code = end->exit_code;
    if (out.reason.empty() || failed) out.reason = end->reason;
  }
  return out;
}

std::string PhaseOf(const api::Resource& resource, const Kept& job) {
  const json::value status = StatusOf(job);
  if (&resource == &api::kJobs) return api::TextAt(status, {"state", "phase"});
  if (&resource != &api::paddle::kubeflow::kPaddleJobs) return api::TextAt(status, {"phase"});
  const auto conditions = api::ListAt(status, {"conditions"});
  return conditions.empty() ? "" : api::TextAt(conditions.back(), {"type"});
}

bool HasEnded(const api::Resource& resource, const Kept& job) {
  return std::find(kEnds.begin(), kEnds.end(), PhaseOf(resource, job)) != kEnds.end();
}

std::string ObjectJson(const api::Resource& resource, const Kept& object) {
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject().Field("apiVersion", resource.ApiVersion()).Field("kind", resource.kind);
  json.RawField("metadata", api::Encode(object.metadata));
  if (!object.spec.empty()) json.RawField("spec", object.spec.json);
  if (!object.status.empty()) json.RawField("status", object.status.json);
  json.EndObject();
  return out;
}

std::string RecordLine(const Remains& remains) {
  const Kept& job = *remains.job;
  const json::value status = StatusOf(job);
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject().Field("uid", job.metadata.uid).Field("kind", remains.resource->kind);
  json.Field("namespace", job.metadata.ns).Field("name", job.metadata.name);
  json.Field("phase", PhaseOf(*remains.resource, job)).Field("deleted", remains.deleted);
  TimeField(json, "created", job.metadata.creation_timestamp);
  TimeField(json, "ended", EndOfJob(status));
  json.RawField("job", ObjectJson(*remains.resource, job));
  if (!remains.pod_group.empty()) json.RawField("podGroup", remains.pod_group);
  json.Key("pods").BeginArray();
  for (const PodEnd& pod : remains.pods) PodField(json, pod);
  json.EndArray();
  if (remains.more_pods > 0) json.Field("morePods", static_cast<std::int64_t>(remains.more_pods));
  json.RawField("events", remains.events);
  if (!remains.events_problem.empty()) json.Field("eventsProblem", remains.events_problem);
  json.EndObject();
  return out;
}

absl::string_view UidOfLine(absl::string_view line) {
  if (!absl::ConsumePrefix(&line, kUidFirst)) return "";
  const std::size_t end = line.find('"');
  return end == absl::string_view::npos ? absl::string_view() : line.substr(0, end);
}

std::string RecordName(const api::ObjectMeta& job) {
  return absl::StrCat(job.ns, "/", job.name, "-", job.uid, ".json");
}

}  // namespace gangway::cmd
