#include "tests/stories/story.h"

#include <fstream>

#include "absl/strings/str_cat.h"
#include "api/core/pod.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "base/check.h"

namespace gangway::testutil {
namespace {

void Append(std::vector<std::string>& sequence, std::string state) {
  if (!state.empty() && (sequence.empty() || sequence.back() != state)) sequence.push_back(std::move(state));
}

bool Final(const std::string& phase) { return phase == "Completed" || phase == "Failed"; }

void TellJob(Story& story, const std::string& phase, int version, int retries) {
  if (phase.empty()) return;
  // The version grows with every event in final phases there (spec: volcano-job, corrections).
  Append(story.job, Final(phase) || phase == "Completing" ? phase : absl::StrCat(phase, " v", version, " r", retries));
}

void TellPod(Story& story, const std::string& name, const std::string& phase, bool bound, bool deleting) {
  story.final_pods[name] = phase;
  Append(story.pods[name], absl::StrCat(phase, bound ? " bound" : "", deleting ? " terminating" : ""));
}

void TellPodGone(Story& story, const std::string& name) {
  story.final_pods.erase(name);
  Append(story.pods[name], "gone");
}

std::string Text(const boost::json::object& object, const char* key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
}
int Number(const boost::json::object& object, const char* key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_int64() ? static_cast<int>(value->as_int64()) : 0;
}

}  // namespace

Story ReadRecording(const std::string& folder, double until) {
  Story story;
  std::ifstream file(GW_SOURCE_DIR "/tests/golden/volcano/" + folder + "/timeline.jsonl");
  for (std::string line; std::getline(file, line);) {
    const auto parsed = api::ParseJson(line);
    GW_CHECK(parsed.ok());
    const boost::json::object& event = parsed->as_object();
    if (event.at("t").to_number<double>() > until) break;
    const std::string kind = Text(event, "kind"), name = Text(event, "name");
    const bool gone = Text(event, "type") == "DELETED";
    static const auto& kNone = *new boost::json::object();
    const auto* status_value = event.if_contains("status");
    const boost::json::object& status = status_value != nullptr && status_value->is_object() ? status_value->as_object() : kNone;
    if (kind == "Job" && !gone) {
      const auto* state = status.if_contains("state");
      TellJob(story, state != nullptr ? Text(state->as_object(), "phase") : "", Number(status, "version"), Number(status, "retryCount"));
    } else if (kind == "PodGroup") {
      Append(story.pod_group, gone ? "gone" : Text(status, "phase"));
    } else if (kind == "Pod" && gone) {
      TellPodGone(story, name);
    } else if (kind == "Pod") {
      TellPod(story, name, Text(event, "phase"), !Text(event, "node").empty(), event.if_contains("deletionTimestamp") != nullptr &&
                                                                                      !event.at("deletionTimestamp").is_null());
    }
  }
  return story;
}

void Tell(Story& story, const sandbox::JournalRecord& record) {
  if (record.resource == &api::kJobs && record.after != nullptr) {
    const auto job = api::Decode<api::volcano::Job>(*record.after);
    TellJob(story, job->status.state.phase, job->status.version, job->status.retry_count);
  } else if (record.resource == &api::kPodGroups) {
    Append(story.pod_group, record.after == nullptr ? "gone" : api::Decode<api::volcano::PodGroup>(*record.after)->status.phase);
  } else if (record.resource == &api::kPods && record.after == nullptr) {
    TellPodGone(story, record.key.name);
  } else if (record.resource == &api::kPods) {
    const auto pod = api::Decode<api::core::Pod>(*record.after);
    TellPod(story, record.key.name, pod->status.phase, pod->bound(), pod->metadata.deleting());
  }
}

}  // namespace gangway::testutil
