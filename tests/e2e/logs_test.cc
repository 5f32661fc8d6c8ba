// `gangway logs -f` with a real API server between it and a kubelet. The kubelet is the test's: it writes, breaks off
// and begins again.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/serve/http_front.h"
#include "tests/certificates/identity.h"
#include "tests/e2e/control_plane.h"
#include "tests/process/process.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/status_matchers.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// GET /containerLogs/NAMESPACE/POD/CONTAINER?follow=true in TLS, as API servers ask kubelets.
class FakeKubelet : public kube::HttpHandler {
 public:
  explicit FakeKubelet(const std::string& folder) {
    const Identity authority({.common_name = "kubelets"}, nullptr);
    const Identity own({.common_name = "kubelet", .alternative_names = "IP:127.0.0.1"}, &authority);
    kube::HttpFrontOptions options;
    options.tls_certificate_file = folder + "/kubelet.crt";
    options.tls_key_file = folder + "/kubelet.key";
    WriteFile(options.tls_certificate_file, own.CertificatePem());
    WriteFile(options.tls_key_file, own.KeyPem());
    front_ = thread_.Run([&] { return *kube::HttpFront::Start(thread_.loop(), *this, options); });
  }
  ~FakeKubelet() override {
    thread_.Run([this] { front_.reset(); });
  }
  int port() const { return front_->port(); }

  // The path and query of every log that is asked for.
  Inbox<std::string> asked;
  void Write(const std::string& text) {
    thread_.Run([&] { stream_->on_frames({{kube::FrameType::kAdded, MakeBytes(text)}}); });
  }
  // The stream is over; as a connection that breaks when not `orderly`.
  void End(bool orderly) {
    thread_.Run([&] { stream_->on_end(orderly ? absl::OkStatus() : absl::UnavailableError("broken")); });
  }

  bool IsWatch(const kube::Request& request) override { return absl::StrContains(request.query, "follow=true"); }
  void HandleRequest(kube::Request request, kube::HttpCaller, Respond respond) override {
    kube::Response answer;
    answer.code = 404;
    answer.body = MakeBytes(request.path);
    respond(std::move(answer));
  }
  WatchAnswer StartWatch(kube::Request request, kube::HttpCaller, kube::Client::OnFrames on_frames,
                         kube::Client::OnEnd on_end) override {
    stream_ = std::make_shared<Stream>(Stream{std::move(on_frames), std::move(on_end)});
    asked.Put(absl::StrCat(request.path, "?", request.query));
    return {std::make_unique<kube::Watch>(), std::nullopt, "text/plain", true};
  }

 private:
  struct Stream {
    kube::Client::OnFrames on_frames;
    kube::Client::OnEnd on_end;
  };
  LoopThread thread_;
  std::shared_ptr<Stream> stream_;  // the latest; on the loop
  std::unique_ptr<kube::HttpFront> front_;
};

class LogsE2eTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
    auto plane = ControlPlane::Start({.controller_manager = false});
    GW_ASSERT_OK(plane);
    plane_ = *std::move(plane);
    kubelet_ = std::make_unique<FakeKubelet>(plane_->folder());
    ASSERT_TRUE(plane_->Call("POST", "/api/v1/nodes", R"({"metadata":{"name":"n"}})").ok());
    Patch(
        "/api/v1/nodes/n/status",
        absl::StrCat(
            R"({"status":{"addresses":[{"type":"InternalIP","address":"127.0.0.1"}],"daemonEndpoints":{"kubeletEndpoint":{"Port":)",
            kubelet_->port(), "}}}}"));
    const kube::Response job = plane_->Call(
        "POST", api::PathOf(api::kJobs, "default"),
        R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"j"},"spec":{"minAvailable":1,"schedulerName":"volcano",
            "tasks":[{"name":"w","replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})");
    ASSERT_TRUE(job.ok()) << *job.body;
    const std::string uid(api::ParseJson(*job.body)->at("metadata").at("uid").as_string());
    const kube::Response pod = plane_->Call(
        "POST", api::PathOf(api::kPods, "default"),
        absl::StrCat(
            R"({"metadata":{"name":"j-w-0","labels":{"volcano.sh/job-name":"j"},"annotations":{"volcano.sh/task-spec":"w","volcano.sh/task-index":"0"},
            "ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"j","uid":")",
            uid, R"(","controller":true}]},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}})"));
    ASSERT_TRUE(pod.ok()) << *pod.body;
  }
  void Patch(const std::string& path, const std::string& body) {
    const kube::Response reply = plane_->Call("PATCH", path, body, "application/merge-patch+json");
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  void SetContainer(const std::string& phase, const std::string& state) {
    Patch(api::PathOf(api::kPods, "default", "j-w-0", "status"),
          absl::StrCat(
              R"({"status":{"phase":")", phase,
              R"(","containerStatuses":[{"name":"c","image":"i","imageID":"i","ready":false,"restartCount":0,"state":)",
              state, "}]}}"));
  }
  // What has been printed of the pod's log, once it has this text.
  std::vector<std::string> Lines(const std::string& with) {
    std::vector<std::string> lines;
    EXPECT_TRUE(Eventually([&] { return absl::StrContains(ReadFile(Output()), with); })) << ReadFile(Output());
    for (const absl::string_view line : absl::StrSplit(ReadFile(Output()), '\n')) {
      if (absl::StartsWith(line, "[w-0] ")) lines.emplace_back(line.substr(6));
    }
    return lines;
  }
  std::string Output() const { return plane_->folder() + "/logs.txt"; }

  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<FakeKubelet> kubelet_;
};

TEST_F(LogsE2eTest, GoesOnWhereItWasOverBrokenConnections) {
  const std::string kOne = "2026-11-21T05:11:53.100000000Z one\n", kTwo = "2026-11-21T05:11:53.200000000Z two\n",
                    kThree = "2026-11-21T05:11:54.000000001Z three\n", kFour = "2026-11-21T05:11:54.000000001Z four\n",
                    kFive = "2026-11-21T05:11:55.000000000Z five\n";
  ChildProcess logs({GW_GANGWAY, "logs", "-f", "j", "--kubeconfig", plane_->admin_kubeconfig()}, Output());
  SetContainer("Running", R"({"running":{"startedAt":"2026-11-21T05:11:53Z"}})");
  EXPECT_THAT(kubelet_->asked.Take().value(),
              AllOf(HasSubstr("/containerLogs/default/j-w-0/c?"), HasSubstr("follow=true"),
                    HasSubstr("timestamps=true"), Not(HasSubstr("since"))));
  kubelet_->Write(kOne + kTwo + "2026-11-21T05:11:53.300000000Z two and");
  EXPECT_THAT(Lines("two"), ElementsAre("one", "two"));

  kubelet_->End(false);  // the API server ends the log as if the container had
  EXPECT_THAT(kubelet_->asked.Take().value(), HasSubstr("sinceTime=2026-11-21T05%3A11%3A53Z"));
  kubelet_->Write(kOne + kTwo + "2026-11-21T05:11:53.300000000Z two and a half\n" + kThree);
  EXPECT_THAT(Lines("three"), ElementsAre("one", "two", "two and a half", "three"));

  plane_->StopApiServer();
  GW_ASSERT_OK(plane_->StartApiServer());
  EXPECT_THAT(kubelet_->asked.Take().value(), HasSubstr("sinceTime=2026-11-21T05%3A11%3A54Z"));
  kubelet_->Write(kThree + kFour);
  EXPECT_THAT(Lines("four"), ElementsAre("one", "two", "two and a half", "three", "four"));

  // The last line reaches the log behind the end of the stream: one more look finds it.
  SetContainer(
      "Succeeded",
      R"({"terminated":{"exitCode":0,"startedAt":"2026-11-21T05:11:53Z","finishedAt":"2026-11-21T05:11:55Z"}})");
  kubelet_->End(true);
  EXPECT_THAT(kubelet_->asked.Take().value(), HasSubstr("sinceTime=2026-11-21T05%3A11%3A54Z"));
  kubelet_->Write(kThree + kFour + kFive);
  kubelet_->End(true);
  Patch(api::PathOf(api::kJobs, "default", "j", "status"), R"({"status":{"state":{"phase":"Completed"}}})");
  EXPECT_EQ(logs.Wait(), 0) << ReadFile(Output());
  EXPECT_THAT(Lines("five"), ElementsAre("one", "two", "two and a half", "three", "four", "five"));
}

}  // namespace
}  // namespace gangway::testutil
