// A kubelet's pods with a host that does what the test says.
#include "sandbox/process/process_runtime.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/resource.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/cluster/cluster.h"
#include "tests/testing/files.h"

namespace gangway::sandbox {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ScriptedHost final : public ContainerHost {
 public:
  void SetEvents(HostEvents heard) override { events = std::move(heard); }
  void Prepare(const PodOrder& pod) override { prepared.push_back(pod); }
  void Start(const StartOrder& run) override { started.push_back(run); }
  void Signal(const SignalOrder&) override {}
  void Drop(const std::string&) override {}
  void Open(const StreamOrder&) override {}
  void Write(absl::string_view, absl::string_view) override {}
  void Say(const StreamWord&) override {}

  HostEvents events;
  std::vector<PodOrder> prepared;
  std::vector<StartOrder> started;
};

class ProcessRuntimeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ProcessOptions options;
    options.folder = temporary_.path();
    options.claims = temporary_.path() + "/claims";
    options.on_line = [this](const api::ObjectMeta&, absl::string_view line) { shown_.emplace_back(line); };
    ClusterOptions cluster;
    cluster.kubelets.nodes = MakeNodes({*ParseNodeShape("")}, 1);
    cluster.kubelets.make_runtime = [this, options](Loop& loop, kube::Client& client, OnContainers on_containers) {
      return std::make_unique<ProcessRuntime>(loop, client, options, host_, std::move(on_containers));
    };
    cluster_ = std::make_unique<Cluster>(loop_, std::move(cluster));
    cluster_->Start(Component::kKubelets);
    loop_.RunFor(absl::Seconds(1));
  }
  kube::Response Ask(const std::string& method, const std::string& path, const std::string& body = "") {
    kube::Request request;
    request.method = method;
    request.path = path;
    request.body = body;
    return cluster_->api_server().Handle(request, {"user"});
  }
  // `container` goes on in its container, `pod` after its containers.
  void MakePod(const std::string& name, const std::string& container = "", const std::string& pod = "") {
    const kube::Response made =
        Ask("POST", api::PathOf(api::kPods, "default"),
            absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
                         R"("},"spec":{"nodeName":"node-000","restartPolicy":"Never","containers":[)",
                         R"({"name":"main","image":"x","command":["true"])", container, "}]", pod, "}}"));
    ASSERT_EQ(made.code, 201) << *made.body;
    loop_.RunFor(absl::Seconds(1));
  }
  void Prepared() {
    News news;
    news.id = host_.prepared.back().uid;
    host_.events.on_pod(news);
    loop_.RunFor(absl::Seconds(1));
  }
  std::string PodText(const std::string& name) { return *Ask("GET", api::PathOf(api::kPods, "default", name)).body; }
  std::string EventsText() { return *Ask("GET", "/api/v1/namespaces/default/events").body; }

  testutil::TemporaryFolder temporary_{"process-runtime"};
  SimulatedLoop loop_{7};
  ScriptedHost host_;
  std::vector<std::string> shown_;
  std::unique_ptr<Cluster> cluster_;
};

TEST_F(ProcessRuntimeTest, APodThatWasBeingPreparedHearsOfTheHostsEnd) {
  MakePod("waits");
  ASSERT_THAT(host_.prepared, SizeIs(1));
  host_.events.on_gone();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(EventsText(), AllOf(HasSubstr("FailedCreatePodSandBox"), HasSubstr("start the sandbox anew")));
}

TEST_F(ProcessRuntimeTest, ALastLineWithoutItsEndIsShown) {
  MakePod("writes");
  Prepared();
  ASSERT_THAT(host_.started, SizeIs(1));
  News news;
  news.id = host_.started[0].id;
  host_.events.on_started(news);
  host_.events.on_output(news.id, "first\nlast");
  EXPECT_THAT(shown_, ElementsAre("first"));
  host_.events.on_ended(news);
  EXPECT_THAT(shown_, ElementsAre("first", "last"));
}

TEST_F(ProcessRuntimeTest, WhatIsTooLongIsNotOrdered) {
  std::string twice = "$(A)$(A)";
  for (int i = 0; i < 4; ++i) twice += twice;
  std::string env = absl::StrCat(R"(,"env":[{"name":"A","value":")", std::string(1024, 'x'), R"("})");
  // Each 32 times the one before.
  for (int i = 0; i < 6; ++i) absl::StrAppend(&env, R"(,{"name":"A","value":")", twice, R"("})");
  MakePod("long", env + "]");
  Prepared();
  EXPECT_THAT(host_.started, IsEmpty());
  EXPECT_THAT(PodText("long"), AllOf(HasSubstr("CreateContainerConfigError"), HasSubstr("argument list too long")));
  // Within that, but each mount has it.
  std::string mounts;
  for (int i = 0; i < 8000; ++i)
    absl::StrAppend(&mounts, i > 0 ? "," : "", R"({"name":"v","mountPath":"/)", i, R"x(","subPathExpr":"$(B)"})x");
  MakePod(
      "wide",
      absl::StrCat(R"(,"env":[{"name":"B","value":")", std::string(3000, 'y'), R"("}],"volumeMounts":[)", mounts, "]"),
      R"(,"volumes":[{"name":"v","emptyDir":{}}])");
  Prepared();
  EXPECT_THAT(host_.started, IsEmpty());
  EXPECT_THAT(PodText("wide"), HasSubstr("too many to be started"));
  MakePod("short");
  Prepared();
  EXPECT_THAT(host_.started, SizeIs(1));
}

TEST_F(ProcessRuntimeTest, AChangeOfNoNameMakesNoNamesAnew) {
  MakePod("quiet");
  Prepared();
  const auto patch = [&](const std::string& body) {
    kube::Request request;
    request.method = "PATCH";
    request.path = api::PathOf(api::kPods, "default", "quiet");
    request.content_type = "application/merge-patch+json";
    request.body = body;
    EXPECT_TRUE(cluster_->api_server().Handle(request, {"user"}).ok());
    loop_.RunFor(absl::Milliseconds(1));  // all but the names, which settle for 2 ms
    const std::uint64_t before = loop_.steps();
    loop_.RunFor(absl::Milliseconds(2));
    return loop_.steps() - before;
  };
  EXPECT_GT(patch(R"({"metadata":{"labels":{"app":"x"}}})"), 0u) << "a Service may select it";
  EXPECT_EQ(patch(R"({"metadata":{"annotations":{"note":"x"}}})"), 0u);
}

TEST_F(ProcessRuntimeTest, OnceItIsGoneItHearsNothing) {
  ASSERT_TRUE(host_.events.on_output);
  cluster_->Stop(Component::kKubelets);
  EXPECT_FALSE(host_.events.on_output);
}

}  // namespace
}  // namespace gangway::sandbox
