// The seed job in the embedded cluster goes the way that a real cluster with Volcano was recorded to go: Job, PodGroup and pod
// phases without repetitions, and the pods that are left. Counters in between, versions in final phases and times are not compared.
#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/core/pod.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "api/resource.h"
#include "api/volcano/scheduling.h"
#include "base/check.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/cluster/cluster.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;

const std::string kGolden = GW_SOURCE_DIR "/tests/golden/volcano/";

// What an observer saw, each sequence without repetitions.
struct Story {
  std::vector<std::string> job;                            // phases, with version and retryCount while they are exact
  std::vector<std::string> pod_group;                      // phases; "gone"
  std::map<std::string, std::vector<std::string>> pods;    // by name
  std::map<std::string, std::string> final_pods;           // phases
};

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

// `until`: seconds since the recording began; what follows is the recorder's own clean-up.
Story ReadRecording(const std::string& folder, double until) {
  Story story;
  std::ifstream file(kGolden + folder + "/timeline.jsonl");
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

class RecordingsTest : public ::testing::Test {
 protected:
  RecordingsTest() {
    ClusterOptions options;
    options.kubelets.nodes = MakeNodes({*ParseNodeShape("")}, 6);
    options.kubelets.times.stop = absl::Seconds(1);
    options.api_server.journal = [this](const JournalRecord& record) { OnRecord(record); };
    cluster_ = std::make_unique<Cluster>(loop_, std::move(options));
    user_ = cluster_->NewClient("user");
    cluster_->Start();
    Run(1);
    const auto documents = api::ReadManifest(ReadFile(GW_SOURCE_DIR "/examples/ctr-volcano.yaml"), "ctr-volcano.yaml");
    GW_CHECK(documents.ok());
    Send("POST", api::PathOf(api::kJobs, "default"), documents->front().json);
    Run(5);
  }

  static std::string ReadFile(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Run(int seconds) { loop_.RunFor(absl::Seconds(seconds)); }
  void Send(std::string method, std::string path, std::string body) {
    kube::Request request;
    request.content_type = method == "PATCH" ? "application/merge-patch+json" : "application/json";
    request.method = std::move(method);
    request.path = std::move(path);
    request.body = std::move(body);
    user_->Send(std::move(request), owner_.token(), [](absl::StatusOr<kube::Response> reply) {
      GW_CHECK(reply.ok());
      EXPECT_TRUE(reply->ok()) << *reply->body;
    });
  }
  std::string PodPath(const std::string& name, absl::string_view subresource = "") { return api::PathOf(api::kPods, "default", "ctr-volcano-" + name, subresource); }
  void EndPod(const std::string& name, const std::string& phase, int exit_code) {
    Send("PATCH", PodPath(name, "status"),
         absl::StrCat(R"({"status":{"phase":")", phase, R"(","containerStatuses":[{"name":"trainer","ready":false,"restartCount":0,"image":"i","imageID":"i","state":{"terminated":{"exitCode":)",
                      exit_code, "}}}]}}"));
  }

  void OnRecord(const JournalRecord& record) {
    if (record.resource == &api::kJobs && record.after != nullptr) {
      const auto job = api::Decode<api::volcano::Job>(*record.after);
      TellJob(story_, job->status.state.phase, job->status.version, job->status.retry_count);
    } else if (record.resource == &api::kPodGroups) {
      Append(story_.pod_group, record.after == nullptr ? "gone" : api::Decode<api::volcano::PodGroup>(*record.after)->status.phase);
    } else if (record.resource == &api::kPods && record.after == nullptr) {
      TellPodGone(story_, record.key.name);
    } else if (record.resource == &api::kPods) {
      const auto pod = api::Decode<api::core::Pod>(*record.after);
      TellPod(story_, record.key.name, pod->status.phase, pod->bound(), pod->metadata.deleting());
    }
  }

  SimulatedLoop loop_{1};
  Story story_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<kube::Client> user_;
  Owner owner_;
};

TEST_F(RecordingsTest, TheSeedJobToCompleted) {
  EndPod("trainer-0", "Succeeded", 0);
  Run(1);
  EndPod("trainer-1", "Succeeded", 0);
  Run(5);
  const Story recorded = ReadRecording("seed-ctr-volcano", 20.6);
  EXPECT_EQ(story_.job, recorded.job);
  EXPECT_EQ(story_.pod_group, recorded.pod_group);
  EXPECT_EQ(story_.pods, recorded.pods);
  EXPECT_EQ(story_.final_pods, recorded.final_pods);
  EXPECT_THAT(recorded.job, ElementsAre("Pending v0 r0", "Running v0 r0", "Completing", "Completed"));
}

TEST_F(RecordingsTest, AnEvictionADeletionAndAFailureRestartUntilTheThirdFails) {
  Send("DELETE", PodPath("trainer-0"), "");
  Run(10);
  Send("POST", PodPath("pserver-1", "eviction"), R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"ctr-volcano-pserver-1","namespace":"default"}})");
  Run(10);
  EndPod("trainer-1", "Failed", 7);
  Run(10);
  const Story recorded = ReadRecording("seed-evict", 17.2);
  EXPECT_EQ(story_.job, recorded.job);
  EXPECT_EQ(story_.final_pods, recorded.final_pods);
  EXPECT_EQ(recorded.job.back(), "Failed");
  EXPECT_THAT(recorded.final_pods, ElementsAre(std::pair<const std::string, std::string>("ctr-volcano-trainer-1", "Failed")));
}

}  // namespace
}  // namespace gangway::sandbox
